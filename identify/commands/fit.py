"""`identify fit`: logs in, estimate.json, report.html and a table out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from tyro.conf import Positional, UseAppendAction

from identify.commands.answer import answer
from identify.commands.bodies import AT, PoseNumbers, read_bodies
from identify.commands.command import (
    Command,
    Flag,
    Number,
    UsageError,
    Vector,
    defer_what_no_fit_uses,
    numbers,
    option,
)
from identify.commands.output import require_writable
from identify.commands.pair import CARRIER, ESTIMATE, REPORT, RESULT, write_pair
from identify.commands.prior import PriorWords, joined_box
from identify.commands.reasons import status_of
from identify.commands.runs import require_time_limit, require_workers, without_fit_each
from identify.commands.stages import shown_stages
from identify.commands.terminal import say
from identify.findings import reasons_in_words

if TYPE_CHECKING:
    from identify.estimation.terms import Term
    from identify.inertia import InertialParameters
    from identify.logs import LogFile, Recording
    from identify.pipeline import FitResult, FitSettings

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fit(Command):
    """Fit one body to one or more logs of it: mass, centre of mass and inertia.

    Writes OUT/estimate.json, OUT/report.html and OUT/result.npz, of which identify report makes the
    report anew, and prints the ten parameters. With --unloaded the logs are of a payload on a
    carrier, such as a gripper: OUT/estimate.json is then the payload's, and OUT/carrier.json the
    carrier's. Exit status: 0 only for an estimate that is proved possible
    and optimal, and that no finding forbids to use; 2 for bad use or bad input, 3 when mass or
    centre of mass is not identifiable or the problem cannot be solved, 4 for an estimate that is
    not to be used (all files are written). With --each the least of those of the logs that is not
    0, when all of them were tried.
    """

    removed: ClassVar[Mapping[str, str]] = {
        "--robust": "what --apply corrects is nearer the body: run identify check and name what it "
        "finds, as in --apply contact,spikes"
    }

    logs: Annotated[tuple[Path, ...], Positional, option("LOG [LOG ...]", "(required)")]
    """Logs of the same body, of any format that identify reads, or a folder of such files."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """What the columns of the logs mean; identify init LOG writes a first one."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Folder of the results, made if need be; those of an earlier fit are replaced."""

    unloaded: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """A log without the payload; once for each. What is known below is of the payload."""

    truth: Annotated[Path | None, option("FILE.json")] = None
    """The true body, to show beside: JSON with phi, or mass, com and inertia; model.urdf#LINK."""

    mass: Annotated[Number, option("KG")] = None
    """Known mass."""

    mass_between: Annotated[tuple[float, float] | None, numbers(2), option("LO HI")] = None
    """Bounds of the mass [kg]."""

    known_mass_check: Annotated[Number, option("KG")] = None
    """The mass of a weighed body: print the force gain of the sensor that makes it so, as lines for
    the schema of its other logs; the estimate is as without."""

    com_box: Annotated[
        tuple[float, float, float, float, float, float] | None,
        numbers(6),
        option("X0 X1 Y0 Y1 Z0 Z1"),
    ] = None
    """Box that the centre of mass lies in, along the axes of B [m]."""

    shape: Annotated[str | None, option("FILE | box X Y Z")] = None
    """Shape of the body: STL, OBJ, CSV x,y,z[,volume][,part], or a box that it lies in [m]."""

    shape_at: Annotated[PoseNumbers | None, option(AT, "(default: B)")] = None
    """Pose of the shape in B: position [m] and rotation vector [rad]."""

    shape_scale: Annotated[Number, option("S", "(default: 1)")] = None
    """Metres per unit of the shape's file, 0.001 for one in millimetres."""

    shape_error: Annotated[Number, option("M", "(default: spacing of its points)")] = None
    """How well the shape's outline is known [m]."""

    prior: Annotated[str | None, option("PRIOR", "(default: even with --shape, else ball)")] = None
    """What else is known of the body: even (its density), ball (stands in for what the log does not
    identify), none (that has no number), an earlier estimate.json, or model.urdf#LINK."""

    prior_error: Annotated[Number, option("SHARE")] = None
    """How well the body of --prior is known, as 0.1 for 10 %, where it does not say."""
    com: Annotated[Vector, option("X Y Z")] = None
    """Known centre of mass in B [m]."""

    bounding_box: Annotated[
        tuple[float, float, float, float, float, float] | None,
        numbers(6),
        option("X0 X1 Y0 Y1 Z0 Z1"),
    ] = None
    """Box that all of the body lies in, along the axes of B [m]."""

    no_bias: Flag = False
    """The sensor has no offset."""

    shared_bias: Flag = False
    """One sensor offset for all logs, where it was not zeroed between them."""

    cutoff: Annotated[Number, option("HZ", "(default: 5 Hz or rate/10)")] = None
    """Highest frequency that is used, of all signals alike."""

    gravity: Annotated[Vector, option("X Y Z", "(default: the schema's)")] = None
    """Gravity in world axes [m/s²]."""

    need: Annotated[str, option("NEEDS")] = ""
    """What the intervals have to reach, as "mass 1%, com 2mm, inertia 10%"; the verdict says it."""

    interval: Annotated[Literal["formula", "bootstrap"], option("ROUTE")] = "formula"
    """How intervals come about: "formula", from the noise that is found, or "bootstrap", from the
    spread of refits to blocks of time."""

    simultaneous: Flag = False
    """Intervals that hold all at once at 95 %, not each by itself."""

    bounds: Flag = False
    """Work out certified bounds: the least and greatest of each over all bodies that are left."""

    check: Flag = False
    """Try all other readings of the logs too, as `identify check` does."""

    apply: Annotated[str, option("CODE[,CODE ...]")] = ""
    """Correct what was found before the fit, by the codes of findings; it is in the provenance."""

    no_report: Flag = False
    """Write no report.html, which takes a second, and no result.npz to make it of."""

    follow: Flag = False
    """Watch the LOG as it grows, advise turns, and fit it once --need is met or on Ctrl-C."""

    each: Flag = False
    """Fit every log by itself: OUT/NAME of each, a table, a page. LOG may be 'runs/*.csv'."""

    workers: Annotated[int | None, option("N", "(default: the cores there are)")] = None
    """With --each: local processes; 0 runs in this one."""

    timeout: Annotated[Number, option("S")] = None
    """With --each: seconds that a log may take; one that takes longer is a row that says so."""

    retry_failed: Flag = False
    """With --each: fit logs again whose row is an error."""

    quiet: Flag = False
    """Print nothing but errors."""

    @classmethod
    def words(cls, argv: Sequence[str]) -> Sequence[str]:
        """The words, the sides of a box joined to one."""
        return joined_box(argv)

    def with_more(self, words: Sequence[str]) -> Fit:
        """The same fit, of the logs that stand after an option too."""
        return replace(self, logs=(*self.logs, *map(Path, words)))

    def run(self, invocation: str) -> int:
        """Fit, write all files, print the tables."""
        defer_what_no_fit_uses()
        if not self.logs:
            raise UsageError("fit: missing LOG [LOG ...]; see identify fit --help")
        if self.known_mass_check is not None:
            if self.each or self.mass is not None:
                other = "--each" if self.each else "--mass"
                raise UsageError(f"fit: --known-mass-check KG goes without {other}")
            if not self.known_mass_check > 0.0:
                raise UsageError(
                    f"fit: --known-mass-check {self.known_mass_check:g}: expected a mass above 0 kg"
                )
        if self.each:
            return self._fit_each(invocation)
        for name in ("workers", "timeout", "retry_failed"):
            if getattr(self, name) not in (None, False):
                raise UsageError(f"fit: --{name.replace('_', '-')} goes with --each")
        settings = self._settings()
        if self.follow and (len(self.logs) != 1 or self.unloaded or self.apply or not self.need):
            raise UsageError(
                "fit: --follow watches one log until --need is met: give one LOG, --need, and no "
                "--unloaded or --apply"
            )
        names = (
            ESTIMATE,
            *(CARRIER,) * bool(self.unloaded),
            *(RESULT, REPORT) * (not self.no_report),
        )
        require_writable(self.output, names)
        with without_fit_each(self.output):
            pass  # one that runs already is said before the work, which may take long
        truth = None if self.truth is None else _read_truth(self.truth)
        if self.follow:
            from identify.commands.follow import follow
            from identify.logs import load_schema

            shown = (lambda line: None) if self.quiet else say
            follow(self.logs[0], load_schema(self.schema), settings, shown)
        with shown_stages(shown=not self.quiet):
            result = self._fit(settings, invocation, truth)
            _LOG.info("writing the report")
            with without_fit_each(self.output):
                write_pair(self.output, result, truth, report=not self.no_report)
        files = tuple(self.output / name for name in names)
        answer(lambda: {**result.to_dict(), "files": files})
        if not self.quiet:
            from identify.commands.summary import print_summary

            print_summary(result, truth, files)
        for code in result.not_applied:
            seen = any(finding.code == code for finding in result.findings)
            what = "its size is in the note on it" if seen else "none was found here"
            line = (
                f"identify: --apply {code}: nothing was applied, as it is part of every fit; {what}"
            )
            say(line, file=sys.stderr)
        status = status_of(result.verdict)
        if (known := self.known_mass_check) is not None and not status:
            from identify.commands.summary import gain_lines
            from identify.pipeline.known_mass import force_gain

            answer(lambda: {"force_gain": force_gain(result, known)})
            if not self.quiet:
                say(*gain_lines(result, known))
        if status:
            codes = ", ".join(result.verdict.reasons)
            line = f"identify: error: this estimate is not to be used ({codes})"
            say(line, *reasons_in_words(result.all_findings) * self.quiet, file=sys.stderr)
        return status

    def _fit_each(self, invocation: str) -> int:
        for name in ("unloaded", "shared_bias"):
            if getattr(self, name):
                raise UsageError(
                    f"fit: --{name.replace('_', '-')} joins logs, and --each keeps them apart: "
                    "leave one of them out"
                )
        if self.follow:
            raise UsageError("fit: --follow watches one log, and --each fits many: leave one out")
        if self.prior == "none":
            raise UsageError(
                "fit: --each needs a number for every parameter, and --prior none leaves those "
                "open that a log does not tell: leave one of them out"
            )
        require_workers(self.workers, "fit --each")
        require_time_limit(self.timeout, "fit --each")
        settings = self._settings()
        from identify.commands.fit_each import EachFit, fit_each
        from identify.logs import load_schema

        asked = EachFit(
            schema=load_schema(self.schema),
            settings=settings,
            truth=None if self.truth is None else _read_truth(self.truth),
            output=self.output,
            report=not self.no_report,
            invocation=invocation,
        )
        return fit_each(
            self.logs,
            self.schema,
            asked,
            workers=self.workers,
            timeout=self.timeout,
            retry_failed=self.retry_failed,
            quiet=self.quiet,
        )

    def _settings(self) -> FitSettings:
        if self.no_bias and self.shared_bias:
            raise UsageError("fit: --no-bias and --shared-bias exclude each other")
        from identify.pipeline import FitSettings

        return FitSettings(
            bias="none" if self.no_bias else "shared" if self.shared_bias else "per_log",
            mass=self.mass,
            cutoff_hz=self.cutoff,
            gravity=self.gravity,
            terms=self._terms(),
            prior=PriorWords(
                shape=self.shape,
                at=self.shape_at,
                scale=self.shape_scale,
                error=self.shape_error,
                prior=self.prior,
                prior_error=self.prior_error,
            ).prior_of_fit(),
            needs=self.need,
            interval=self.interval,
            simultaneous=self.simultaneous,
            apply=tuple(code.strip() for code in self.apply.split(",") if code.strip()),
            check=self.check,
            bounds=self.bounds,
        )

    def _terms(self) -> tuple[Term, ...]:
        from identify.estimation.errors import TermError
        from identify.estimation.terms import ComInBox, KnownCom, MassBetween, MassInBox

        terms: list[Term] = []
        option = "--mass-between LO HI"
        try:
            if self.mass_between is not None:
                terms.append(MassBetween(*self.mass_between))
            option = "--com-box X0 X1 Y0 Y1 Z0 Z1"
            if self.com_box is not None:
                x0, x1, y0, y1, z0, z1 = self.com_box
                terms.append(ComInBox((x0, y0, z0), (x1, y1, z1)))
            option = "--com X Y Z"
            if self.com is not None:
                terms.append(KnownCom(self.com))
            option = "--bounding-box X0 X1 Y0 Y1 Z0 Z1"
            if self.bounding_box is not None:
                x0, x1, y0, y1, z0, z1 = self.bounding_box
                terms.append(MassInBox((x0, y0, z0), (x1, y1, z1)))
        except TermError as error:
            raise UsageError(f"fit: {option}: {error}") from error
        return tuple(terms)

    def _fit(
        self,
        settings: FitSettings,
        invocation: str,
        truth: InertialParameters | None,
    ) -> FitResult:
        from identify.logs import load_schema, open_log
        from identify.pipeline import fit

        schema = load_schema(self.schema)

        def read(logs: Sequence[Path]) -> Iterator[Recording | LogFile]:
            for log in logs:
                _LOG.info("reading %s", log)
                yield open_log(log, schema)

        return fit(
            list(read(self.logs)),
            settings,
            unloaded=list(read(self.unloaded)),
            command=invocation,
            truth=truth,
        )


def _read_truth(path: Path) -> InertialParameters:
    """The true body; beside one that cannot be, errors of the estimate would mean nothing."""
    from identify.exchange import require_unedited
    from identify.inertia import check

    (saved,) = read_bodies(path)
    require_unedited(saved, path)
    truth = saved.parameters
    verdict = check(truth.phi)
    if verdict.impossible or not truth.phi[0] > 0.0:
        raise UsageError(f"fit: --truth {path}: {verdict}")
    return truth

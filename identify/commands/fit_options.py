"""Options of `identify fit` in the groups of its help, and the settings made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, UseAppendAction

from identify.commands.arm_options import Arm, flag
from identify.commands.bodies import POSE_METAVAR, PoseNumbers
from identify.commands.command import (
    SCHEMA_OPTION,
    Command,
    Flag,
    GravityVector,
    Number,
    UsageError,
    Vector,
    choice_parser,
    number_parser,
    option,
    require_time_limit,
    require_workers,
)

if TYPE_CHECKING:
    from identify.estimation.priors import Prior
    from identify.estimation.terms import Term

_BOX_SHAPE = "box"

_KNOWN_MASS_HELP = (
    "Weighed mass: print the force gain that reproduces it, as schema lines for other logs of this "
    "sensor. Does not change the estimate."
)
_PRIOR_HELP = (
    "Prior of the body: even (uniform density in --shape), ball (default body for unidentifiable "
    "parameters), none (unidentifiable parameters stay empty), an estimate.json, or "
    "model.urdf#LINK."
)
_INTERVAL_HELP = (
    "Method for the intervals: formula (from the noise of the residual) or bootstrap (from refits "
    "to resampled blocks of time; for logs of 100 s or more)."
)

MISSING_LOG = "fit: missing LOG [LOG ...]; see identify fit --help"
"""Message for a fit without logs."""

Box = Annotated[
    tuple[float, float, float, float, float, float] | None,
    number_parser(6, "-0.1 0.1 -0.1 0.1 0 0.2 [m]"),
    option("X0 X1 Y0 Y1 Z0 Z1"),
]
"""Lower and upper end of a box along each axis."""


@dataclass(frozen=True, slots=True)
class Input:
    """Logs and schema of the fit."""

    logs: Annotated[tuple[Path, ...], Positional, option("LOG [LOG ...]", "(required)")]
    """Logs of the same body, in any supported format, or folders of such files."""

    schema: Annotated[Path | None, SCHEMA_OPTION] = None
    """Schema that names columns, units and frames."""

    unloaded: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """Log without the payload; options on the body then describe the payload."""


@dataclass(frozen=True, slots=True)
class KnownBody:
    """Prior knowledge of the body."""

    mass: Annotated[Number, option("KG")] = None
    """Known mass [kg]."""

    mass_between: Annotated[
        tuple[float, float] | None, number_parser(2, "1.2 1.4 [kg]"), option("LO HI")
    ] = None
    """Bounds of the mass [kg]."""

    com: Annotated[Vector, number_parser(3, "0 0 0.05 [m]"), option("X Y Z")] = None
    """Known centre of mass in B [m]."""

    com_box: Box = None
    """Box that contains the centre of mass, along the axes of B [m]."""

    bounding_box: Box = None
    """Box that contains the whole body, along the axes of B [m]."""

    shape: Annotated[str | None, option("FILE | box X Y Z")] = None
    """Shape of the body: STL, OBJ or CSV x,y,z[,volume][,part], or a box around it [m]."""

    shape_at: Annotated[PoseNumbers | None, option(POSE_METAVAR, "(default: B)")] = None
    """Pose of the shape in B: position [m] and rotation vector [rad]."""

    shape_scale: Annotated[Number, option("S", "(default: 1)")] = None
    """Length unit of the shape file [m], 0.001 for millimetres."""

    shape_error: Annotated[Number, option("M", "(default: spacing of its points)")] = None
    """Accuracy of the shape's outline [m]."""

    prior: Annotated[
        str | None, option("PRIOR", "(default: even with --shape, else ball)", help=_PRIOR_HELP)
    ] = None

    prior_error: Annotated[Number, option("SHARE")] = None
    """Relative 1σ error of the --prior body (0.1 is 10 %), if its file has no covariance."""

    prior_weight: Annotated[str | None, option("W")] = None
    """Weight of the --prior body, by entropic distance: number, evidence or cross-validation."""

    def terms(self) -> tuple[Term, ...]:
        """Return the constraints on the body.

        Raises `UsageError`: invalid numbers, such as a lower bound above the upper one.
        """
        if (self.mass_between, self.com_box, self.com, self.bounding_box) == (None,) * 4:
            return ()
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

    def make_prior(self) -> Prior:
        """Return the prior given by the options on shape and prior.

        Raises `SchemaError`: options cannot be combined, or one is invalid; `ModelError`: a file
        does not contain a valid shape or body.
        """
        from identify.pipeline.prior_words import PriorWords

        words = PriorWords(
            self.prior,
            self.prior_error,
            self.shape,
            self.shape_at,
            self.shape_scale,
            self.shape_error,
            self.prior_weight,
        )
        return words.make(flag)


@dataclass(frozen=True, slots=True)
class Signals:
    """Processing of the logs."""

    no_bias: Flag = False
    """Fit no sensor offset; by default one is fitted for each log."""

    shared_bias: Flag = False
    """Fit one sensor offset for all logs, if the sensor was not zeroed between them."""

    cutoff: Annotated[Number, option("HZ", "(default: 5 Hz or rate/10)")] = None
    """Cut-off of the low-pass of all signals; fast motion and short segments raise the default."""

    gravity: Annotated[GravityVector, option("X Y Z", "(default: the schema's)")] = None
    """Gravity in world axes [m/s²]."""

    check: Flag = False
    """Also test alternative interpretations of the logs, like `identify check`."""

    apply: Annotated[str, option("CODE[,CODE ...]")] = ""
    """Correct these findings before fitting: another reading of the log, spans of time, spikes."""

    known_mass_check: Annotated[Number, option("KG", help=_KNOWN_MASS_HELP)] = None


_NEED_HELP = (
    'Required half-widths that the verdict checks, as "mass 1%, com 2mm, inertia 10%"; or what the '
    'estimate is for: compensation, controller or simulation. After "total", as in "mass 1% '
    "total\", the error of the sensor's scale counts, too."
)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Computation and required widths of the intervals."""

    need: Annotated[str, option("NEEDS", help=_NEED_HELP)] = ""

    interval: Annotated[
        Literal["formula", "bootstrap"] | None,
        choice_parser("formula", "bootstrap"),
        option(
            "formula|bootstrap", "(default: formula; with --robot bootstrap)", help=_INTERVAL_HELP
        ),
    ] = None

    simultaneous: Flag = False
    """Compute simultaneous 95 % intervals instead of one interval at a time."""

    bounds: Flag = False
    """Compute certified bounds over all consistent bodies compatible with the data at 95 %."""


@dataclass(frozen=True, slots=True)
class Output:
    """Written files and printed text."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Result folder, created if it does not exist; results of an earlier fit are replaced."""

    truth: Annotated[Path | None, option("FILE.json")] = None
    """Body to compare and replay: JSON with phi, or mass, com, inertia_about_com; or MODEL#LINK."""

    no_report: Flag = False
    """Skip report.html (about 1 s) and result.npz."""

    quiet: Flag = False
    """Print nothing but errors."""

    verbose: Flag = False
    """Print notes, parameters about the origin, logs, proof and replay, too."""


@dataclass(frozen=True, slots=True)
class ManyLogs:
    """Separate fits of many logs, and the fit of a log while it is recorded."""

    each: Flag = False
    """Fit each log separately: a folder per log, a table and a comparison page."""

    workers: Annotated[int | None, option("N", "(default: number of cores)")] = None
    """With --each: number of local processes; 0 uses this process."""

    timeout: Annotated[Number, option("S")] = None
    """With --each: time limit per log [s]; slower logs are reported as failed."""

    retry_failed: Flag = False
    """With --each: refit logs that failed before."""

    follow: Flag = False
    """Watch LOG while it is recorded, advise motions, and fit once --need is met or on Ctrl-C."""

    def require_compatible(self) -> None:
        """Raise `UsageError` if options cannot be combined."""
        if self.each and self.follow:
            raise UsageError("fit: --follow cannot be combined with --each")
        for name in ("workers", "timeout", "retry_failed"):
            if not self.each and getattr(self, name) not in (None, False):
                raise UsageError(f"fit: {flag(name)} requires --each")
        require_workers(self.workers, "fit --each")
        require_time_limit(self.timeout, "fit --each")


@dataclass(frozen=True, slots=True)
class FitArguments(Command):
    """Arguments of `identify fit`, in the groups of its help."""

    input: Input
    known_body: KnownBody
    signals: Signals
    intervals: Intervals
    output: Output
    many_logs: ManyLogs
    arm: Arm = field(default_factory=Arm)


def merge_box_argument(argv: Sequence[str]) -> list[str]:
    """Return the arguments with the value of `--shape box X Y Z` joined to one argument."""
    words = list(argv)
    for k, word in enumerate(words):
        if word == "--shape" and words[k + 1 : k + 2] == [_BOX_SHAPE]:
            sides = words[k + 2 : k + 5]
            if len(sides) < 3 or any(side.startswith("--") for side in sides):
                raise UsageError("--shape box X Y Z: expected three side lengths [m]")
            return [*words[: k + 1], " ".join((_BOX_SHAPE, *sides)), *words[k + 5 :]]
    return words

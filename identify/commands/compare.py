"""`identify compare`: compare the bodies of separate fits, and test whether they agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from tyro.conf import Positional, UseAppendAction

from identify.commands.bodies import (
    POSE_METAVAR,
    POSE_OF_EACH_BODY_HELP,
    UNUSABLE_STATUS,
    PoseNumbers,
    change_frame,
    exit_status,
    flange_mismatch_notes,
    pose_from_numbers,
    read_bodies,
    require_one_frame,
    require_pose_of_each,
    verdict_messages,
)
from identify.commands.command import Command, Outcome, UsageError, option
from identify.commands.output import (
    ESTIMATE,
    REPORT,
    report_matches,
    require_writable_file,
    write_file,
)
from identify.texts import sentence

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate


@dataclass(frozen=True, slots=True)
class Compare(Command):
    """Compare the bodies of separate fits, and test whether they agree; or two models of a robot.

    All must be about the same point in the same axes, unless --at gives their poses. The test
    assumes that the fits share no data. Of two bodies one may be exact, such as that of a CAD text:
    its values stand beside the other's. Of two models (URDF, SDF, MJCF, USD) it lists the links
    whose simulated bodies differ, with fixed joints merged, and the total masses. Exit status: 1
    for models that differ; 2 for bad use or a body without intervals; 4 if one of the estimates
    must not be used (it is shown but not compared).
    """

    first: Annotated[Path, Positional, option("OUT", "(required)")]
    """Result folder of a fit, an estimate.json, or a model."""

    others: Annotated[tuple[str, ...], Positional, option("OUT ...", "(required)")] = ()
    """The other folders or files."""

    at: Annotated[
        tuple[PoseNumbers, ...],
        UseAppendAction,
        option(POSE_METAVAR, "(default: the same)", help=POSE_OF_EACH_BODY_HELP),
    ] = ()

    output: Annotated[Path | None, option("PAGE.html", "(default: print)", short="-o")] = None
    """File for an HTML page with figures and links to the reports."""

    def run(self, invocation: str) -> Outcome:
        """Compare the bodies, and write the page if an output file is given."""
        from identify.exchange.body_files import is_model_file

        paths = [self.first, *map(Path, self.others)]
        if any(map(is_model_file, paths)):
            return self._compare_models(paths)
        require_pose_of_each(self.at, self.others, "compare", "OUT")
        require_writable_file(self.output)
        from identify.reporting.comparison import Comparison, FittedLog, comparison_lines
        from identify.reporting.comparison_page import comparison_html

        files = [path / ESTIMATE if path.is_dir() else path for path in paths]
        bodies = list(read_bodies(*files))
        notes = self._move_to_first_frame(files, bodies)
        names = _unique_names(files)
        exact = len(bodies) == 2 and any(body.covariance is None for body in bodies)
        if exact and self.output is None:
            return _compare_with_exact(names, bodies, notes)
        logs = tuple(
            FittedLog(name, str(file), "fitted", body, link=self._report_link(file))
            for name, file, body in zip(names, files, bodies, strict=True)
        )
        comparison = Comparison(logs, notes=(*notes, *_shared_logs(names, bodies)))
        if self.output is not None:
            title = f"Inertia of {len(logs)} fits, side by side"
            html = comparison_html(comparison, title=title, folder=invocation)
            write_file(self.output, html.encode("utf-8", errors="backslashreplace"))
        return Outcome(
            lines=comparison_lines(comparison),
            document=lambda: {"logs": comparison.frame().to_dict("records")},
            files=[] if self.output is None else [self.output],
            status=UNUSABLE_STATUS if any(log.usable == "no" for log in logs) else 0,
        )

    def _compare_models(self, paths: Sequence[Path]) -> Outcome:
        """Compare the simulated bodies of two models of one robot."""
        from identify.exchange.body_files import is_model_file
        from identify.exchange.model_comparison import (
            comparison_lines,
            merged_pair,
            model_differences,
        )

        if len(paths) != 2 or not all(map(is_model_file, paths)) or self.at or self.output:
            raise UsageError("compare: expected two models, without --at and -o: compare A B")
        a, b = merged_pair(*paths)
        differences = model_differences(a, b)
        masses = {str(model.path): model.total_mass for model in (a, b)}
        return Outcome(
            lines=comparison_lines(a, b, differences),
            document=lambda: {"differences": differences, "total_mass": masses},
            status=1 if differences else 0,
        )

    def _move_to_first_frame(self, files: Sequence[Path], bodies: list[SavedEstimate]) -> list[str]:
        """Transform the other bodies to the frame of the first by `--at`, and return notes."""
        if not self.at:
            require_one_frame(files, bodies)
            return []
        from identify.estimation.intervals import intervals_of
        from identify.inertia import PHI
        from identify.validation.pooling import average_degrees_of_freedom

        poses = [pose_from_numbers(at, "compare") for at in self.at]
        notes = flange_mismatch_notes(files, bodies, poses)
        for number, (body, X_AB) in enumerate(zip(bodies[1:], poses, strict=True), 1):
            moved_body = change_frame(body, X_AB, bodies[0])
            if body.covariance is not None and body.intervals:
                phi, covariance = moved_body.parameters.phi, moved_body.covariance
                assert covariance is not None
                degrees = average_degrees_of_freedom(body)
                moved_body = replace(
                    moved_body,
                    intervals=intervals_of(phi, covariance, degrees, moved_body.decided_by),
                    interval_kind=body.interval_kind,
                    degrees_of_freedom=dict.fromkeys(PHI, degrees),
                )
            bodies[number] = moved_body
        return [sentence(note) for note in notes]

    def _report_link(self, file: Path) -> str:
        """Return the link from the page to the report of an estimate, or to the estimate."""
        target = file.with_name(REPORT) if report_matches(file) else file
        here = Path.cwd() if self.output is None else self.output.parent
        try:
            return quote(Path(os.path.relpath(target, here)).as_posix())
        except ValueError:  # on another drive
            return target.resolve().as_uri()


def _compare_with_exact(
    names: Sequence[str], bodies: Sequence[SavedEstimate], notes: Sequence[str]
) -> Outcome:
    """Return the parameters of one of two bodies beside those of the exact one.

    A value of the exact body outside the interval of the other is marked by a star.
    """
    from identify.reporting.parameter_table import parameter_rich_table

    (name, body), (exact_name, exact) = zip(names, bodies, strict=True)
    if body.covariance is None and exact.covariance is not None:
        (exact_name, exact), (name, body) = (name, body), (exact_name, exact)
    table = parameter_rich_table(body, exact.parameters, title=f"{name}, and {exact_name} as true")
    difference = body.parameters.phi - exact.parameters.phi
    return Outcome(
        lines=[table, *notes],
        messages=verdict_messages(body),
        document=lambda: {"estimate": body.to_dict(), "difference": difference.tolist()},
        files=[],
        status=exit_status(body.verdict),
    )


def _unique_names(files: Sequence[Path]) -> list[str]:
    """Return the shortest unique suffix of each path."""
    parts = [(file.parent if file.name == ESTIMATE else file).resolve().parts[1:] for file in files]
    names = []
    for path in parts:
        length = next(
            (
                n
                for n in range(1, len(path))
                if sum(path[-n:] == other[-n:] for other in parts) == 1
            ),
            len(path),
        )
        names.append("/".join(path[-length:]))
    return [f"{name} ({k})" if names.count(name) > 1 else name for k, name in enumerate(names, 1)]


def _shared_logs(names: Sequence[str], bodies: Sequence[SavedEstimate]) -> list[str]:
    """Return a note for each pair of estimates that share a log."""
    estimate_by_log: dict[str, str] = {}
    notes = []
    for name, body in zip(names, bodies, strict=True):
        for bias in body.bias:
            other = estimate_by_log.setdefault(bias.sha256, name)
            if bias.sha256 and other != name:
                notes.append(
                    f"{name} and {other} share a log, so their errors are not independent: they "
                    "differ by less than the test assumes, and agreement is weak evidence."
                )
    return list(dict.fromkeys(notes))

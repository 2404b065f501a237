"""`identify compare`: bodies of days, tools or estimators side by side, and whether they agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from tyro.conf import Positional, UseAppendAction

from identify.commands.bodies import (
    AT,
    AT_EACH,
    NOT_TO_BE_USED,
    PoseNumbers,
    flange_notes,
    moved,
    pose_of,
    read_bodies,
    require_one_frame,
)
from identify.commands.command import Command, Outcome, UsageError, option
from identify.commands.output import (
    ESTIMATE,
    REPORT,
    report_is_of,
    require_writable_file,
    write_file,
)

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate


@dataclass(frozen=True, slots=True)
class Compare(Command):
    """Compare the bodies of separate fits, and test whether they are one body.

    All must be about the same point in the same axes, or --at says where the others are. The test
    takes them to rest on different data. Exit status: 2 for bad use or a body without intervals;
    4 where one of the estimates is not to be used (it is shown and not compared).
    """

    first: Annotated[Path, Positional, option("OUT", "(required)")]
    """Folder of the results of a fit, or an estimate.json."""

    others: Annotated[tuple[str, ...], Positional, option("OUT ...", "(required)")] = ()
    """The others, likewise."""

    at: Annotated[
        tuple[PoseNumbers, ...], UseAppendAction, option(AT, "(default: the same)", help=AT_EACH)
    ] = ()

    output: Annotated[Path | None, option("PAGE.html", "(default: print)", short="-o")] = None
    """File for a page with figures, which leads to the reports."""

    def with_more(self, words: Sequence[str]) -> Compare:
        """The same, with the folders that stand after an option too."""
        return replace(self, others=(*self.others, *words))

    def run(self, invocation: str) -> Outcome:
        """Print the table and the verdict, and write the page if asked to."""
        if not self.others:
            raise UsageError("compare: missing OUT; expected two or more")
        if len(self.at) not in (0, len(self.others)):
            raise UsageError(
                f"compare: {len(self.at)} times --at for {len(self.others)} bodies after the "
                "first; expected one for each, in their order, or none"
            )
        require_writable_file(self.output)
        from identify.reporting.comparison import Comparison, FittedLog, comparison_lines
        from identify.reporting.comparison_page import comparison_html

        places = [self.first, *map(Path, self.others)]
        files = [place / ESTIMATE if place.is_dir() else place for place in places]
        bodies = list(read_bodies(*files))
        notes = self._in_one_frame(files, bodies)
        names = _names(files)
        logs = tuple(
            FittedLog(
                name,
                str(file),
                "fitted",
                body,
                link=self._link(file),
            )
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
            status=NOT_TO_BE_USED if any(log.usable == "no" for log in logs) else 0,
        )

    def _in_one_frame(self, files: Sequence[Path], bodies: list[SavedEstimate]) -> list[str]:
        """Move all but the first into its frame as `--at` says; notes on that."""
        if not self.at:
            require_one_frame(files, bodies, "--at")
            return []
        from identify.estimation.intervals import intervals_of
        from identify.inertia import PHI
        from identify.validation.pooling import average_degrees_of_freedom

        poses = [pose_of(at, "compare") for at in self.at]
        notes = flange_notes(files, bodies, poses)
        for number, (body, X_AB) in enumerate(zip(bodies[1:], poses, strict=True), 1):
            there = moved(body, X_AB, bodies[0])
            if body.covariance is not None and body.intervals:
                phi, covariance = there.parameters.phi, there.covariance
                assert covariance is not None
                degrees = average_degrees_of_freedom(body)
                there = replace(
                    there,
                    intervals=intervals_of(phi, covariance, degrees, there.decided_by),
                    interval_kind=body.interval_kind,
                    degrees_of_freedom=dict.fromkeys(PHI, degrees),
                )
            bodies[number] = there
        return [f"{note}." for note in notes]

    def _link(self, file: Path) -> str:
        """Where the report of an estimate is from the page, or the estimate itself."""
        target = file.with_name(REPORT) if report_is_of(file) else file
        here = Path.cwd() if self.output is None else self.output.parent
        try:
            return quote(Path(os.path.relpath(target, here)).as_posix())
        except ValueError:  # on another drive
            return target.resolve().as_uri()


def _names(files: Sequence[Path]) -> list[str]:
    """What each is called: by the shortest end of its path that no other has."""
    parts = [(file.parent if file.name == ESTIMATE else file).resolve().parts[1:] for file in files]
    names = []
    for own in parts:
        length = next(
            (n for n in range(1, len(own)) if sum(own[-n:] == one[-n:] for one in parts) == 1),
            len(own),
        )
        names.append("/".join(own[-length:]))
    return [f"{name} ({k})" if names.count(name) > 1 else name for k, name in enumerate(names, 1)]


def _shared_logs(names: Sequence[str], bodies: Sequence[SavedEstimate]) -> list[str]:
    """That two estimates rest on one log, which the test does not know."""
    found: dict[str, str] = {}
    notes = []
    for name, body in zip(names, bodies, strict=True):
        for one in body.bias:
            other = found.setdefault(one.sha256, name)
            if one.sha256 and other != name:
                notes.append(
                    f"{name} and {other} rest on one log: they differ by less than the test takes "
                    "chance to make, and that they agree says less."
                )
    return list(dict.fromkeys(notes))

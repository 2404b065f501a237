"""`identify report`: the report of a fit made anew, without its logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from identify.commands.bodies import reasons_of, status_of
from identify.commands.command import Command, Outcome, UsageError, option
from identify.commands.output import REPORT, require_writable_file, write_file


@dataclass(frozen=True, slots=True)
class Report(Command):
    """Make the report of a fit anew, from the result.npz that it wrote; no log is read.

    Exit status: 2 where result.npz is missing, damaged or of another estimate.json; 4 for an
    estimate that is not to be used (the report is written).
    """

    folder: Annotated[Path, Positional, option("OUT", "(required)")]
    """Folder of the results of a fit."""

    output: Annotated[
        Path | None, option("FILE.html", "(default: OUT/report.html)", short="-o")
    ] = None
    """File of the report."""

    def run(self, invocation: str) -> Outcome:
        """Write the report."""
        output = self.folder / REPORT if self.output is None else self.output
        if self.output is not None and output.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"report: -o {output}: expected the name of an HTML file")
        require_writable_file(output)
        from identify.pipeline.saved_result import load_result
        from identify.reporting.page import report_html

        result, truth = load_result(self.folder)
        html = report_html(result, truth)
        write_file(output, html.encode("utf-8", errors="backslashreplace"))
        return Outcome(
            messages=reasons_of(result.estimate),
            document=result.to_dict,
            files=[output],
            status=status_of(result.verdict),
        )

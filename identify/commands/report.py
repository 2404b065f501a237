"""`identify report`: the report of a fit made anew, without its logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from identify.commands.answer import answer
from identify.commands.command import Command, UsageError, option
from identify.commands.output import require_writable_file, write_file
from identify.commands.pair import REPORT
from identify.commands.reasons import reasons_of, say_reasons, status_of
from identify.commands.terminal import say


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

    def run(self, invocation: str) -> int:
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
        say(output)
        answer(lambda: {**result.to_dict(), "files": [output]})
        say_reasons(reasons_of(result.estimate))
        return status_of(result.verdict)

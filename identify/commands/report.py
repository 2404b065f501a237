"""`identify report`: the report of a fit made anew, without its logs; and as PDF."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional

from identify.commands.answer import answer
from identify.commands.command import Command, Flag, UsageError, option
from identify.commands.output import require_writable_file, write_file
from identify.commands.pair import REPORT
from identify.commands.reasons import reasons_of, say_reasons, status_of
from identify.commands.terminal import say


@dataclass(frozen=True, slots=True)
class Report(Command):
    """Make the report of a fit anew, from the result.npz that it wrote; no log is read.

    With --pdf it is printed too, by a chromium that is there. Exit status: 2 where result.npz is
    missing, damaged or of another estimate.json, or where nothing can print; 4 for an estimate that
    is not to be used (the report is written).
    """

    folder: Annotated[Path, Positional, option("OUT", "(required)")]
    """Folder of the results of a fit."""

    output: Annotated[
        Path | None, option("FILE.html", "(default: OUT/report.html)", short="-o")
    ] = None
    """File of the report."""

    pdf: Flag = False
    """Print it too, to a PDF of the same name."""

    paper: Annotated[Literal["a4", "letter"], option("SIZE")] = "a4"
    """Of the PDF: a4 or letter."""

    def run(self, invocation: str) -> int:
        """Write the report, and print it if asked to."""
        output = self.folder / REPORT if self.output is None else self.output
        pdf = output.with_suffix(".pdf")
        if self.output is not None and output.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"report: -o {output}: expected the name of an HTML file")
        require_writable_file(output)
        from identify.commands.browser import find_browser, printed

        if self.pdf:
            require_writable_file(pdf)
            find_browser()
        from identify.pipeline.saved_result import load_result
        from identify.reporting.page import report_html

        result, truth = load_result(self.folder)
        html = report_html(result, truth)
        content = printed(html, self.paper) if self.pdf else None
        write_file(output, html.encode("utf-8", errors="backslashreplace"))
        if content is not None:
            write_file(pdf, content)
        files = [output, pdf] if self.pdf else [output]
        say(*files)
        answer(lambda: {**result.to_dict(), "files": files})
        say_reasons(reasons_of(result.estimate))
        return status_of(result.verdict)

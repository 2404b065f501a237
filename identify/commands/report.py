"""`identify report`: rebuild the report of a fit without its logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from identify.commands.bodies import exit_status, verdict_messages
from identify.commands.command import Command, Outcome, UsageError, option
from identify.commands.look import require_page
from identify.commands.output import ARM, ESTIMATE, REPORT, RESULT, write_file


@dataclass(frozen=True, slots=True)
class Report(Command):
    """Rebuild the report of a fit from its result.npz, without the logs.

    Exit status: 2 if result.npz is missing, damaged or does not match estimate.json; 4 if the
    estimate must not be used (the report is written).
    """

    folder: Annotated[Path, Positional, option("OUT", "(required)")]
    """Result folder of a fit."""

    output: Annotated[
        Path | None, option("FILE.html", "(default: OUT/report.html)", short="-o")
    ] = None
    """HTML file to write."""

    def run(self, invocation: str) -> Outcome:
        """Write the report."""
        output = self.folder / REPORT if self.output is None else self.output
        require_page(output, "report")
        fitted = any((self.folder / name).is_file() for name in (ESTIMATE, ARM))
        if fitted and not (self.folder / RESULT).is_file():
            raise UsageError(
                f"report: {self.folder} has no {RESULT}: fits with --no-report write none; fit the "
                "logs again"
            )
        from identify.pipeline.saved_result import load_result
        from identify.reporting.page import report_html

        result, truth = load_result(self.folder)
        html = report_html(result, truth)
        write_file(output, html.encode("utf-8", errors="backslashreplace"))
        return Outcome(
            messages=verdict_messages(result.estimate),
            document=result.to_dict,
            files=[output],
            status=exit_status(result.verdict),
        )

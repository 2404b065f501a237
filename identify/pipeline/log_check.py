"""`check_logs`: findings of logs, with or without an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from identify.errors import ProblemError, SolveError
from identify.findings import Finding, Verdict, derive_verdict, sort_findings
from identify.logs.schema import SchemaLike
from identify.pipeline.fitting import FitLog, fit
from identify.pipeline.result import Result
from identify.pipeline.settings import FitOptions, FitSettings


@dataclass(frozen=True, slots=True)
class LogCheck:
    """Findings of a check of logs, and their verdict.

    Attributes:
        findings: the most severe first, faults before symptoms.
        verdict: of the findings; "no" where there is no estimate.
        result: the fit; None if it failed.
        fit_error: the error of the fit.
    """

    findings: tuple[Finding, ...]
    verdict: Verdict
    result: Result | None = None
    fit_error: str = ""

    @property
    def passed(self) -> bool:
        """Whether no finding is a warning or an error."""
        return not self.fit_error and all(f.severity == "info" for f in self.findings)

    @property
    def conclusion(self) -> str:
        """Sentence on a check without a warning or an error; empty for others."""
        if not self.passed:
            return ""
        if not self.findings:
            return "No faults were found."
        return (
            "No faults that need a correction were found: the notes are on what the fit allows "
            "for, or what limits the estimate."
        )

    def record(self) -> dict[str, object]:
        """Return the check as plain values for a file."""
        record: dict[str, object] = {
            "findings": [finding.record() for finding in self.findings],
            "verdict": self.verdict.record(),
        }
        return record | ({"failure": self.fit_error} if self.fit_error else {})


def check_logs(
    recordings: FitLog | Sequence[FitLog],
    settings: FitSettings | None = None,
    *,
    schema: SchemaLike | None = None,
    unloaded: FitLog | Sequence[FitLog] = (),
    **options: Unpack[FitOptions],
) -> LogCheck:
    """Check logs of one body or one arm, and their schema, for all known faults.

    Args:
        recordings: the logs, read or opened, or with a `schema` what `read_log` takes.
        settings: of the fit.
        schema: of the logs that are not read yet.
        unloaded: logs of the carrier alone, or of the arm without the load.
        options: of the fit, as those of `fit`, such as `robot` and `frame` for logs of joints.

    Raises:
        LogError: a log cannot be used as it is.
        SchemaError: a choice is invalid.
    """
    try:
        checked: FitOptions = {**options, "check": True}
        result = fit(recordings, settings, schema=schema, unloaded=unloaded, **checked)
    except (ProblemError, SolveError) as error:
        cause = getattr(error, "finding", None)
        findings = (cause,) if isinstance(cause, Finding) else ()
        verdict = derive_verdict(findings, possible=False, optimal=False, identifiable=())
        return LogCheck(findings, verdict, fit_error=str(error))
    return LogCheck(sort_findings(result.all_findings), result.verdict, result)

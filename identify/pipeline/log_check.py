"""`check_logs`: what may be wrong with logs, whether or not there is an estimate of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from identify.errors import ProblemError, SolveError
from identify.findings import Finding, Verdict, ranked, verdict_of
from identify.logs import LogFile, Recording
from identify.pipeline.fitting import fit
from identify.pipeline.result import FitResult
from identify.pipeline.settings import FitSettings


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What was found of logs.

    Attributes:
        findings: the gravest first, faults before symptoms.
        verdict: what they come to; "no" where there is no estimate.
        result: the fit, where there is one.
        failure: why there is none.
    """

    findings: tuple[Finding, ...]
    verdict: Verdict
    result: FitResult | None = None
    failure: str = ""

    @property
    def clear(self) -> bool:
        """Whether no finding is a warning or an error."""
        return not self.failure and all(f.severity == "info" for f in self.findings)

    def record(self) -> dict[str, object]:
        """Plain values, as a file keeps them."""
        record: dict[str, object] = {
            "findings": [finding.record() for finding in self.findings],
            "verdict": self.verdict.record(),
        }
        return record | ({"failure": self.failure} if self.failure else {})


def check_logs(
    recordings: Recording | LogFile | Sequence[Recording | LogFile],
    settings: FitSettings | None = None,
    *,
    unloaded: Recording | LogFile | Sequence[Recording | LogFile] = (),
) -> LogCheck:
    """Look for all that may be wrong with logs of one body, or of how they are read.

    Args:
        recordings: the logs, read or opened.
        settings: of the fit that is tried.
        unloaded: logs of the carrier alone.

    Raises:
        LogError: a log cannot be used as it is.
        SchemaError: a choice is none.
    """
    try:
        result = fit(recordings, settings, unloaded=unloaded, check=True)
    except (ProblemError, SolveError) as error:
        found = getattr(error, "finding", None)
        findings = (found,) if isinstance(found, Finding) else ()
        verdict = verdict_of(findings, possible=False, optimal=False, identifiable=())
        return LogCheck(findings, verdict, failure=str(error))
    return LogCheck(ranked(result.all_findings), result.verdict, result)

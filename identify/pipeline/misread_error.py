"""Error of a log that contradicts its schema."""

from __future__ import annotations

from identify.errors import IdentifyError, ProblemError
from identify.findings import Finding


class MisreadLog(ProblemError):
    """A log cannot be fitted as its schema describes it, but can be under another interpretation.

    Attributes:
        finding: finding of the likeliest fault.
        as_read: error of the fit under the schema; empty if no fit was tried.
    """

    def __init__(self, fit_error: str, finding: Finding) -> None:
        self.as_read, self.finding = fit_error, finding
        failure = f" (As read: {fit_error})" if fit_error else ""
        super().__init__(f"the log does not match its schema: {finding}{failure}")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments of the constructor."""
        return MisreadLog, (self.as_read, self.finding)


def reason_without_advice(error: IdentifyError) -> str:
    """Return the reason of an error, without its advice for logs that match their schema."""
    finding = getattr(error, "finding", None)
    return finding.text.rstrip(".") if isinstance(finding, Finding) else str(error)

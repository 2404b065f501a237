"""What the commands that use an estimate say of it, and the status that they end with."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from identify.commands.terminal import say
from identify.errors import IdentifyError
from identify.findings import Finding, completion, reasons_in_words

if TYPE_CHECKING:
    from pathlib import Path

    from identify.exchange import SavedEstimate
    from identify.findings import Verdict

NOT_TO_BE_USED = 4
"""Exit status: there is an estimate, and a finding says not to use it."""


class UnusableEstimate(IdentifyError):
    """An estimate that a finding says not to use was to be handed on."""

    exit_code = NOT_TO_BE_USED

    def __init__(self, path: Path, reasons: Iterable[str]) -> None:
        super().__init__(
            f"{path}: this estimate is not to be used, nothing is written: {' '.join(reasons)} "
            f"(--accept-findings uses it all the same)"
        )


def reasons_of(estimate: SavedEstimate) -> tuple[str, ...]:
    """Errors and warnings of an estimate that was read, a line each.

    One of another hand, or of a fit before there were findings, says at least what a default body
    completes.
    """
    findings: Iterable[Finding] = estimate.findings
    if estimate.verdict is None:
        findings = completion(estimate.decided_by, estimate.default_body)
    return reasons_in_words(findings)


def status_of(verdict: Verdict | None) -> int:
    """0, or that an estimate is not to be used."""
    return NOT_TO_BE_USED if verdict is not None and verdict.usable == "no" else 0


def say_reasons(reasons: Iterable[str]) -> None:
    """Print reasons on standard error."""
    say(*(f"identify: {reason}" for reason in reasons), file=sys.stderr)

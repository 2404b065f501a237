"""`Hypothesis`: something that may be wrong with the logs of a fit, of any sensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from identify.arrays import Array, Phi
from identify.findings import Finding

if TYPE_CHECKING:
    from identify.pipeline.corrected_logs import CorrectedLogs
    from identify.pipeline.scanned_log import ScannedLog

Outcome: TypeAlias = Literal["refuses", "corrects", "widens", "notes"]
"""Consequence of a hypothesis: the estimate is refused, the fit corrects it, the intervals cover
it, or it is only said."""

Correction: TypeAlias = "Callable[[Sequence[ScannedLog]], CorrectedLogs]"
"""Function that reads logs without a fault. Raises `NotCorrected`: they do not allow it."""


class AlternativeBody(NamedTuple):
    """Parameters under a hypothesis, shape (10 n,), and a covariance of them, (10 n, 10 n)."""

    phi: Phi
    covariance: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """Something that may be wrong with the logs of a fit, as their checks left it.

    Attributes:
        code: of its findings, and of `--apply`.
        outcome: what follows of it.
        findings: what is said of it; none where a hypothesis before it says it.
        explains_logs: whether it accounts for all that is seen: nothing after it is said.
        correct: function that reads the logs without it; None if no reading corrects it.
        alternatives: bodies under it. Without any, they follow from the corrected logs.
        is_of_sensor: whether it is common to all logs of the sensor.
    """

    code: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    explains_logs: bool = False
    correct: Correction | None = None
    alternatives: tuple[AlternativeBody, ...] = ()
    is_of_sensor: bool = False


def reported(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses whose findings are said: up to the first that explains the logs."""
    until_explained = list[Hypothesis]()
    for hypothesis in hypotheses:
        until_explained.append(hypothesis)
        if hypothesis.explains_logs:
            break
    return until_explained


def findings_of(hypotheses: Iterable[Hypothesis]) -> list[Finding]:
    """Return the findings of the reported hypotheses."""
    return [finding for hypothesis in reported(hypotheses) for finding in hypothesis.findings]

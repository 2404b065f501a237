"""Sensor offsets that wander, by generalised least squares on the means of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from identify.estimation.least_squares import LeastSquaresFit
from identify.regressors import Statistics

DriftKind: TypeAlias = Literal["random_walk", "linear", "step"]


@dataclass(frozen=True, slots=True)
class Drift:
    """An offset that does not stay.

    Attributes:
        kind: how it moves; the finding's code is "bias_step" for a step, else "drift".
        strength: variance of a step of the walk from block to block over the noise of a block's
            mean; zero unless a random walk.
        block: first block after a step, of its log; zero unless a step.
        log: which log; all where negative.
        gain: twice the log-likelihood it gains, its parameters paid for.
        p_value: of no drift.
        statistics: of the logs with it taken off.
        fit: least squares of those; its intervals know of the drift.
        refused: why it is not to be applied, or empty.
    """

    kind: DriftKind
    strength: float
    block: int
    log: int
    gain: float
    p_value: float
    statistics: Statistics
    fit: LeastSquaresFit
    refused: str = ""

    @property
    def code(self) -> str:
        """Of the finding."""
        return "bias_step" if self.kind == "step" else "drift"


def drift(fit: LeastSquaresFit) -> Drift | None:
    """The likeliest wandering of the offsets of a fit's logs, or None where they stay."""
    raise NotImplementedError


def without_drift(
    statistics: Statistics, kind: DriftKind, *, strength: float = 0.0, block: int = 0, log: int = -1
) -> Statistics:
    """Statistics that know of a drift: rows of block means, whitened or turned against it.

    Args:
        statistics: of rows by frequency or of still poses.
        kind: of the drift.
        strength: of a random walk, in the noise of a block's mean.
        block: first block after a step.
        log: which log; all where negative.
    """
    raise NotImplementedError

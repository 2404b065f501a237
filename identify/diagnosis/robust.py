"""Times at which the model fails, and weights that bound what single blocks say."""

from __future__ import annotations

from typing import Literal

from identify.arrays import Array, Indices
from identify.diagnosis.spans import Span
from identify.estimation.least_squares import LeastSquaresFit
from identify.regressors import Statistics


def segments(time: Array, rows: Array, segment_ids: Indices) -> tuple[Span, ...]:
    """Spans of time whose wrench no rigid body explains: contact, a cable's pull.

    Args:
        time: of the series [s], shape (n,).
        rows: z = [1, ψ, w, …] averaged over short stretches (`PreparedLog.rows`), shape (n, K).
        segment_ids: of the rows, shape (n,).
    """
    raise NotImplementedError


def robust_weights(fit: LeastSquaresFit, loss: Literal["huber", "student"] = "huber") -> Array:
    """Weight of each cell of a fit's statistics by a robust loss, shape (cells,)."""
    raise NotImplementedError


def weighted_cells(statistics: Statistics, weights: Array) -> Statistics:
    """Statistics whose cells count as much as their weights say, shape (cells,)."""
    raise NotImplementedError

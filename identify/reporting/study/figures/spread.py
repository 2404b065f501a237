"""What is drawn of a metric over a study's cells at each place of a horizontal axis."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from identify.arrays import Array, Flags
from identify.reporting.study.wording import heading

EXACT = 1e-6
"""A median error below it, in the unit of its axis, is rounding: without noise, or nearly so. On a
logarithmic axis it would leave no room for the others."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One estimator's values of a metric, in the unit shown; arrays have an entry a place.

    Attributes:
        low: 10th percentile.
        middle: median, or the share.
        high: 90th percentile.
        few: whether fewer than half of the cells have the metric.
        exact: whether the median is below `EXACT`; it is not drawn.
    """

    low: Array
    middle: Array
    high: Array
    few: Flags
    exact: Flags

    @property
    def points(self) -> int:
        """How many places have a value, drawn or not."""
        return int(np.isfinite(self.middle).sum())

    def drawn(self) -> Spread:
        """The same with NaN for what is not drawn."""
        low, middle, high = (
            np.where(self.exact, np.nan, values) for values in (self.low, self.middle, self.high)
        )
        return Spread(low, middle, high, self.few, self.exact)


def share(part: Any, column: str, places: Sequence[Hashable], metric: str) -> Spread:
    """The mean of a metric that is 0 or 1, at each value of a column."""
    means = _numbers(part.groupby(column)[metric].mean(), places)
    no = np.zeros(len(places), dtype=bool)
    values = heading(metric).factor * means
    return Spread(values, values, values, no, no)


def quantiles(part: Any, column: str, places: Sequence[Hashable], metric: str) -> Spread:
    """Median and percentiles of an error, at each value of a column."""
    groups = part.groupby(column)[metric]
    factor = heading(metric).factor
    low, middle, high = (
        factor * _numbers(groups.quantile(level), places) for level in (0.1, 0.5, 0.9)
    )
    few = _numbers(2 * groups.count() < groups.size(), places) == 1.0
    return Spread(low, middle, high, few, np.asarray(middle < EXACT))


def exact_note(spreads: Sequence[Spread]) -> str:
    """How many medians a panel leaves out; empty where it has all."""
    exact = sum(int(spread.exact.sum()) for spread in spreads)
    points = sum(spread.points for spread in spreads)
    return f"exact (below 10⁻⁶), not drawn: {exact} of {points} medians" if exact else ""


def _numbers(values: Any, places: Sequence[Hashable]) -> Array:
    return np.asarray(values.reindex(list(places)).astype(float), dtype=np.float64)

"""How sure scores of a study are: intervals of means over trials, and of shares of trials."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from identify.arrays import Array

_LEVEL = 0.95
_NORMAL = 1.959964
_DRAWS = 2000
_MOST = 1000
"""Trials up to which they are drawn; of more, the mean's own normal interval is the same."""


class Interval(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


def mean_interval(values: ArrayLike) -> Interval:
    """95 % interval of a mean by the bootstrap: percentiles of the means of trials drawn anew.

    The draws are the same for the same number of trials. NaN where there are fewer than two.

    Args:
        values: of trials; those that are not finite do not count.
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if len(x) < 2:
        return Interval(np.nan, np.nan)
    if len(x) > _MOST:
        half = _NORMAL * float(x.std(ddof=1)) / np.sqrt(len(x))
        return Interval(float(x.mean() - half), float(x.mean() + half))
    tail = 0.5 * (1.0 - _LEVEL)
    low, high = np.quantile(_weights(len(x)) @ x, (tail, 1.0 - tail))
    return Interval(float(low), float(high))


@lru_cache(maxsize=4)
def _weights(count: int) -> Array:
    """How often each of some trials is drawn, of their number, shape (draws, count)."""
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1.0 / count), _DRAWS)
    return drawn / count


def share_interval(hits: int, trials: int) -> Interval:
    """95 % interval of a share that trials have (Clopper and Pearson 1934).

    Its ends are the shares at which so many hits or more, and so many or fewer, have a chance of
    2.5 %: quantiles of beta distributions. NaN without trials.
    """
    if trials == 0:
        return Interval(np.nan, np.nan)
    tail = 0.5 * (1.0 - _LEVEL)
    low = betaincinv(hits, trials - hits + 1, tail) if hits else 0.0
    high = betaincinv(hits + 1, trials - hits, 1.0 - tail) if hits < trials else 1.0
    return Interval(float(low), float(high))


def counts_within(trials: int, low: float, high: float) -> range:
    """How many hits of some trials are a share from `low` to `high`."""
    return range(
        int(np.ceil(low * trials - 1e-9)),
        int(np.floor(high * trials + 1e-9)) + 1,
    )

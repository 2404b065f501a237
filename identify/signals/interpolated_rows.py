"""Detection of rows interpolated between the samples of a slower sensor, and of these samples.

A linearly interpolated signal changes its slope only at samples. A sample at k + θ, between the
uniform rows k and k + 1, where the slope changes by s, gives second differences of (1 − θ) s at k
and θ s at k + 1, whose centroid is the place of the sample. An attitude interpolated along great
circles has q(k+1) + q(k−1) along q(k).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.spatial import unwrap_quaternions
from identify.spatial.rotations import normalised_quaternion, vector_norms

_MIN_SAMPLES = 20
"""Fewest samples whose regularity can be judged."""

_MAX_PERIOD_ROWS = 250.0
"""Largest sampling period of a slower sensor [rows]; slope changes further apart are motion."""

_MIN_PERIOD_ROWS = 1.5
"""Smallest sampling period [rows] that leaves enough straight rows between samples."""

_BEND_RATIO = 5.0
"""Smallest ratio of the slope changes at samples to those of nearly all rows between them."""

_SHARED_BEND_RATIO = 2.0
"""Smallest ratio of slope changes for another signal with the same samples, which may have been
interpolated in other coordinates, such as a quaternion from interpolated angles."""

_MIN_SHARP_BEND_FRACTION = 0.9
"""Smallest share of the slope changes that consist of one row or two rows of one direction."""

_MIN_REGULAR_FRACTION = 0.8
"""Smallest share of samples within half a period of one period after their predecessor."""

_TRIED_ROUNDING_FRACTIONS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85)
"""Tried shares of the rows whose slope changes by rounding alone."""

_ROUNDING_FACTOR = 4.0
"""Ratio to the largest slope change by rounding below which another also counts as rounding."""

_DOUBLE_ROUNDING = 64.0 * np.finfo(float).eps
"""Rounding of double precision, as a share of the largest value."""

_PROBE_RUNS, _PROBE_ROWS = 5, 1024
"""Number and length [rows] of the runs of rows tested first for interpolation."""

_MIN_STRAIGHT_FRACTION = 0.15
"""Smallest share of rows in a tested run with less than a tenth of its largest slope changes."""

_MIN_BENDS_PER_PROBE = 4
"""Fewest slope changes in a tested run of rows."""

_MAX_CLOCK_RMS = 0.1
"""Largest RMS jitter [rows] of a slower sensor's samples that are put on a uniform clock."""

_GAP_STEPS = 2.5
"""Step between stamps, in median steps, above which rows are missing."""


@dataclass(frozen=True, slots=True)
class SlowerSamples:
    """The samples of a slower sensor between which all rows of a log were interpolated.

    Attributes:
        clock: time of the rows, used for the interpolation [rows], shape (n,).
        sample_times: times of the samples on that clock, shape (k,).
    """

    clock: Array
    sample_times: Array

    def times(self, time: Array) -> Array:
        """Return the times of the samples from the stamps of the rows, shape (k,)."""
        return np.interp(self.sample_times, self.clock, time)

    def signal_at_samples(self, values: Array) -> Array:
        """Return a signal at the samples, where the straight lines before and after a sample meet.

        `values`: of the rows, shape (n, ·).
        """
        is_quaternion = values.shape[1] == 4
        values = unwrap_quaternions(values) if is_quaternion else values
        last = len(values) - 1
        below = np.searchsorted(self.clock, self.sample_times, side="right") - 1
        above = np.searchsorted(self.clock, self.sample_times, side="left").clip(max=last)
        lines = (
            self._lines_at_samples(values, (below - 1).clip(min=0), below),
            self._lines_at_samples(values, above, (above + 1).clip(max=last)),
        )
        # A line counts only if both its rows lie between this sample and the next on that side.
        two_before, two_after = np.diff(above, prepend=0) > 1, np.diff(below, append=last) > 1
        weights = np.stack((two_before, two_after)).astype(float)[..., None]
        mean = (weights * lines).sum(axis=0) / weights.sum(axis=0).clip(min=1.0)
        # Samples on a row, or without such a line, are interpolated between the adjacent rows.
        between = ((two_before | two_after) & (below < above))[:, None]
        at_samples = np.where(between, mean, self._lines_at_samples(values, below, above))
        return normalised_quaternion(at_samples) if is_quaternion else at_samples

    def _lines_at_samples(self, values: Array, start: Indices, stop: Indices) -> Array:
        """Evaluate at each sample the straight line through two rows."""
        run = np.where(stop > start, self.clock[stop] - self.clock[start], 1.0)[:, None]
        slope = (values[stop] - values[start]) / run
        return values[start] + (self.sample_times - self.clock[start])[:, None] * slope

    def shared_by(self, values: Array) -> bool:
        """Return whether another signal has kinks at the same samples, as if interpolated there."""
        near = np.zeros(len(values), dtype=bool)
        for side in ("left", "right"):
            rows = np.searchsorted(self.clock, self.sample_times, side=side) - (side == "right")
            near[rows.clip(max=len(near) - 1)] = True
        near = near[1:-1]
        size = vector_norms(_slope_changes(values, self.clock))
        if near.all() or not near.any():
            return False
        at_samples, between = np.quantile(size[near], 0.75), np.quantile(size[~near], 0.9)
        return bool(
            at_samples > _SHARED_BEND_RATIO * max(between, _DOUBLE_ROUNDING * np.abs(values).max())
        )


def slower_samples(values: Array, time: Array) -> SlowerSamples | None:
    """Find the samples of a slower sensor between which all rows of a signal were interpolated.

    Where no slope changes, samples are placed at the period of the others: the signal is the same
    for any placement there.

    `values`: of one signal, shape (n, 3), quaternions (n, 4); `time`: stamps of the rows [s], shape
    (n,).
    Returns the samples; None if the rows were not interpolated.
    """
    if not _may_be_interpolated(values):
        return None
    steps = np.diff(time)
    gaps = steps > _GAP_STEPS * np.median(steps)
    beside_gap = gaps[1:] | gaps[:-1]
    for clock in _candidate_row_clocks(time):
        sample_times = _find_sample_times(values, clock, beside_gap)
        if sample_times is not None:
            return SlowerSamples(clock, sample_times)
    return None


def _candidate_row_clocks(time: Array) -> Iterator[Array]:
    """Yield clocks that the interpolation may have used [rows]: uniform, or the rows' stamps."""
    rows = np.arange(len(time), dtype=float)
    yield rows
    steps = np.diff(time)
    period = float(np.median(steps))
    if steps.min() > 0.0 and np.abs(steps - period).max() > 1e-6 * period:
        yield (time - time[0]) / period


def _slope_changes(values: Array, clock: Array) -> Array:
    """Return the change of slope at each row but the first and last, shape (n − 2, ·)."""
    if values.shape[1] == 4:
        values = unwrap_quaternions(values)
    slopes = np.diff(values, axis=0) / np.diff(clock)[:, None]
    bends = np.diff(slopes, axis=0)
    if values.shape[1] == 4:
        q = values[1:-1]
        bends -= np.sum(bends * q, axis=1, keepdims=True) * q
    return bends


def _may_be_interpolated(values: Array) -> bool:
    """Return whether the slope hardly changes at most rows of every tested run."""
    if len(values) < _MIN_SAMPLES:
        return False
    starts = np.linspace(0, max(len(values) - _PROBE_ROWS, 0), _PROBE_RUNS).astype(np.intp)
    for start in starts[[2, 0, 4, 1, 3]]:
        probe = values[start : start + _PROBE_ROWS]
        size = np.sort(vector_norms(_slope_changes(probe, np.arange(len(probe), dtype=float))))
        straight, bent = size[int(_MIN_STRAIGHT_FRACTION * len(size))], size[-_MIN_BENDS_PER_PROBE]
        if straight > 0.1 * bent > _DOUBLE_ROUNDING * np.abs(probe).max():
            return False
    return True


def _find_sample_times(values: Array, clock: Array, beside_gap: Flags) -> Array | None:
    bends = np.where(beside_gap[:, None], 0.0, _slope_changes(values, clock))
    size = vector_norms(bends)
    least = _DOUBLE_ROUNDING * float(np.abs(values).max())
    beyond_rounding = np.sort(size[size > least])
    if len(beyond_rounding) < _MIN_SAMPLES:
        return None
    quantiles = (len(beyond_rounding) * np.array(_TRIED_ROUNDING_FRACTIONS)).astype(np.intp)
    rounding_bends = np.append(0.0, beyond_rounding[quantiles])
    limits = np.unique(np.maximum(_ROUNDING_FACTOR * rounding_bends, least))
    regular = [
        sample_times
        for limit in limits
        if (sample_times := _find_regular_bends(bends, size, clock, limit)) is not None
    ]
    best = max(regular, key=lambda sample_times: sample_times.regular_count, default=None)
    return None if best is None else _fill_straight_stretches(best, clock)


class _RegularBends(NamedTuple):
    """Times at which the slope of a signal changes by more than rounding.

    Attributes:
        sample_times: in order, on the clock of the rows.
        period: median distance between isolated bends [rows].
        regular_count: number of bends about one period after their predecessor.
    """

    sample_times: Array
    period: float
    regular_count: int


def _find_regular_bends(
    bends: Array, size: Array, clock: Array, rounding: float
) -> _RegularBends | None:
    """Find the times at which the slope changes by more than rounding; None if irregular."""
    high = np.flatnonzero(size > rounding)
    if len(high) < _MIN_SAMPLES:
        return None
    starts = high[np.diff(high, prepend=-2) > 1]
    stops = high[np.diff(high, append=len(size) + 1) > 1] + 1
    one_side = np.sum(bends[starts] * bends[stops - 1], axis=1) > 0.0
    single = (stops - starts <= 2) & one_side
    if len(starts) < _MIN_SAMPLES or np.mean(single) < _MIN_SHARP_BEND_FRACTION:
        return None
    straight = np.delete(size, high)
    if not len(straight) or np.median(size[high]) < _BEND_RATIO * np.quantile(straight, 0.95):
        return None
    ends = (starts == 0) | (stops == len(size))  # of which a part may be missing
    runs = [clock[1 + a : 1 + b] for a, b in zip(starts[~single], stops[~single], strict=True)]
    isolated = _mean_bend_times(bends, clock, starts[single & ~ends], stops[single & ~ends])
    apart = np.diff(isolated)
    period = float(np.median(apart))
    near = apart[apart < 2.5 * period]
    regular_count = int(np.sum(np.abs(near - period) < 0.5 * period))
    if not _MIN_PERIOD_ROWS < period < _MAX_PERIOD_ROWS or regular_count < max(
        _MIN_SAMPLES, _MIN_REGULAR_FRACTION * len(near)
    ):
        return None
    return _RegularBends(np.sort(np.concatenate((isolated, *runs))), period, regular_count)


def _mean_bend_times(bends: Array, clock: Array, starts: Indices, stops: Indices) -> Array:
    """Return the mean time of each slope change of one or two rows, weighted by its rows' parts."""
    rows = starts[:, None] + np.arange(-1, 3)
    valid = (rows >= 0) & (rows < len(bends)) & (rows <= stops[:, None])
    rows = rows.clip(0, len(bends) - 1)
    bend = np.where(valid[..., None], bends[rows], 0.0)
    weight = np.einsum("nri,ni->nr", bend, bend.sum(axis=1)).clip(min=0.0)
    return np.sum(weight * clock[1 + rows], axis=1) / weight.sum(axis=1)


def _fill_straight_stretches(bent: _RegularBends, clock: Array) -> Array:
    """Add sample times where the slope does not change, from the first row to the last."""
    steps = np.maximum(np.rint(np.diff(bent.sample_times) / bent.period), 1.0)
    numbers = np.concatenate(([0.0], np.cumsum(steps)))
    period, start = np.polyfit(numbers, bent.sample_times, 1)
    if (
        float(np.sqrt(np.mean((bent.sample_times - start - period * numbers) ** 2)))
        < _MAX_CLOCK_RMS
    ):
        first, last = (clock[[0, -1]] - start) / period
        return start + period * np.arange(np.ceil(first), np.floor(last) + 1.0)
    counts = np.rint(np.diff(bent.sample_times, prepend=clock[0], append=clock[-1]) / bent.period)
    counts = np.maximum(counts, 1.0).astype(np.intp)
    within = np.concatenate([np.arange(1, count + 1) / count for count in counts])
    knots = np.concatenate((clock[:1], bent.sample_times, clock[-1:]))
    starts, steps = np.repeat(knots[:-1], counts), np.repeat(np.diff(knots), counts)
    return (starts + within * steps)[: -1 if bent.sample_times[-1] < clock[-1] else None]

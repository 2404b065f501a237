"""Rows that were interpolated between the samples of a slower sensor, and where its samples are.

Interpolated linearly, a signal runs straight from sample to sample: its slope changes at samples
alone. A sample between the rows k and k + 1 of even rows, at k + θ, where the slope changes by s,
leaves second differences of (1 − θ) s at k and θ s at k + 1, whose mean place is that of the
sample. Of an attitude that is interpolated along great circles, q(k+1) + q(k−1) is along q(k).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.spatial import unwrap_quaternions
from identify.spatial.rotations import lengths, normalised_quaternion

_MIN_SAMPLES = 20
"""Samples below which they are not known to be regular."""

_MAX_PERIOD_ROWS = 250.0
"""Rows a sample beyond which bends are those of the motion …"""

_MIN_PERIOD_ROWS = 1.5
"""… and below which too few rows are straight to see it."""

_BEND_RATIO = 5.0
"""Factor by which the slope changes more at samples than at nearly all rows between them …"""

_SHARED_BEND_RATIO = 2.0
"""… and in the median for another signal of the same samples, which may be interpolated otherwise:
a quaternion that was made of interpolated angles."""

_MIN_SINGLE_SHARE = 0.9
"""Share of the bends that one or two rows have, both to one side, at the least …"""

_MIN_REGULAR_SHARE = 0.8
"""… and of samples that are within half a period of one after the last."""

_ROUNDING_QUANTILES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85)
"""Shares of rows that bend by rounding alone, to be tried."""

_BEND_ROUNDING = 4.0
"""Of those the bend is within so many times their largest …"""

_DOUBLE_ROUNDING = 64.0 * np.finfo(float).eps
"""… and this share of the values."""

_PROBES, _PROBE = 5, 1024
"""Runs of rows, and their length, that are looked at first …"""

_MIN_STRAIGHT_SHARE = 0.15
"""… in each of which this share bends less than a tenth of what a few rows do, at the least."""

_MIN_BENDS_PER_PROBE = 4
"""Bent rows that a sensor of the longest period leaves in such a run."""

_MAX_CLOCK_RMS = 0.1
"""Root mean square of what samples may be off an even clock [rows], to be taken at its times."""


_GAP_STEPS = 2.5
"""Usual times from row to row beyond which rows are missing, and slopes are of a longer time."""


@dataclass(frozen=True, slots=True)
class SlowerSamples:
    """The samples of a slower sensor between which all rows of a log were interpolated.

    Attributes:
        clock: of the rows, by which they were interpolated [rows], shape (n,).
        places: of the samples on that clock, shape (k,).
    """

    clock: Array
    places: Array

    def times(self, time: Array) -> Array:
        """When the samples were taken, by the stamps of the rows, shape (k,)."""
        return np.interp(self.places, self.clock, time)

    def signal_at_samples(self, values: Array) -> Array:
        """A signal at the samples: where the straight lines before and after each meet.

        Args:
            values: of the rows, shape (n, ·).
        """
        turning = values.shape[1] == 4
        values = unwrap_quaternions(values) if turning else values
        last = len(values) - 1
        below = np.searchsorted(self.clock, self.places, side="right") - 1
        above = np.searchsorted(self.clock, self.places, side="left").clip(max=last)
        lines = (
            self._on_line(values, (below - 1).clip(min=0), below),
            self._on_line(values, above, (above + 1).clip(max=last)),
        )
        two_before, two_after = np.diff(above, prepend=0) > 1, np.diff(below, append=last) > 1
        weights = np.stack((two_before, two_after)).astype(float)[..., None]
        mean = (weights * lines).sum(axis=0) / weights.sum(axis=0).clip(min=1.0)
        between = ((two_before | two_after) & (below < above))[:, None]
        found = np.where(between, mean, self._on_line(values, below, above))
        return normalised_quaternion(found) if turning else found

    def _on_line(self, values: Array, start: Indices, stop: Indices) -> Array:
        """The lines through two rows each, at the samples."""
        run = np.where(stop > start, self.clock[stop] - self.clock[start], 1.0)[:, None]
        slope = (values[stop] - values[start]) / run
        return values[start] + (self.places - self.clock[start])[:, None] * slope

    def shared_by(self, values: Array) -> bool:
        """Tell whether another signal bends clearly more at the samples than between them."""
        near = np.zeros(len(values), dtype=bool)
        for side in ("left", "right"):
            rows = np.searchsorted(self.clock, self.places, side=side) - (side == "right")
            near[rows.clip(max=len(near) - 1)] = True
        near = near[1:-1]
        size = lengths(_bends(values, self.clock))
        if near.all() or not near.any():
            return False
        at_samples, between = np.quantile(size[near], 0.75), np.quantile(size[~near], 0.9)
        return bool(
            at_samples > _SHARED_BEND_RATIO * max(between, _DOUBLE_ROUNDING * np.abs(values).max())
        )


def slower_samples(values: Array, time: Array) -> SlowerSamples | None:
    """The samples of a slower sensor, where all rows of its signal are interpolated between them.

    Where no slope changes, samples are put as evenly as the others come: there the signal is the
    same between any two of them.

    Args:
        values: of one signal, shape (n, 3), quaternions (n, 4).
        time: stamps of the rows [s], shape (n,).

    Returns:
        None where the rows are no such.
    """
    if not _may_be_straight(values):
        return None
    apart = np.diff(time)
    gaps = apart > _GAP_STEPS * np.median(apart)
    beside_gap = gaps[1:] | gaps[:-1]
    for clock in _clocks(time):
        places = _sample_places(values, clock, beside_gap)
        if places is not None:
            return SlowerSamples(clock, places)
    return None


def _clocks(time: Array) -> Iterator[Array]:
    """Clocks by which rows may have been interpolated, in rows: even ones, or their stamps."""
    rows = np.arange(len(time), dtype=float)
    yield rows
    steps = np.diff(time)
    period = float(np.median(steps))
    if steps.min() > 0.0 and np.abs(steps - period).max() > 1e-6 * period:
        yield (time - time[0]) / period


def _bends(values: Array, clock: Array) -> Array:
    """Change of the slope at each row but the first and last, shape (n − 2, ·)."""
    if values.shape[1] == 4:
        values = unwrap_quaternions(values)
    slopes = np.diff(values, axis=0) / np.diff(clock)[:, None]
    bends = np.diff(slopes, axis=0)
    if values.shape[1] == 4:
        q = values[1:-1]
        bends -= np.sum(bends * q, axis=1, keepdims=True) * q
    return bends


def _may_be_straight(values: Array) -> bool:
    """Tell whether many rows bend little in every run of rows that is looked at."""
    if len(values) < _MIN_SAMPLES:
        return False
    starts = np.linspace(0, max(len(values) - _PROBE, 0), _PROBES).astype(np.intp)
    for start in starts[[2, 0, 4, 1, 3]]:
        some = values[start : start + _PROBE]
        size = np.sort(lengths(_bends(some, np.arange(len(some), dtype=float))))
        few, most = size[int(_MIN_STRAIGHT_SHARE * len(size))], size[-_MIN_BENDS_PER_PROBE]
        if few > 0.1 * most > _DOUBLE_ROUNDING * np.abs(some).max():
            return False
    return True


def _sample_places(values: Array, clock: Array, beside_gap: Flags) -> Array | None:
    bends = np.where(beside_gap[:, None], 0.0, _bends(values, clock))
    size = lengths(bends)
    least = _DOUBLE_ROUNDING * float(np.abs(values).max())
    beyond = np.sort(size[size > least])
    if len(beyond) < _MIN_SAMPLES:
        return None
    tried = [0.0, *(beyond[(len(beyond) * np.array(_ROUNDING_QUANTILES)).astype(np.intp)]).tolist()]
    limits = np.unique(np.maximum(_BEND_ROUNDING * np.array(tried), least))
    found = [
        one
        for limit in limits
        if (one := _find_regular_bends(bends, size, clock, limit)) is not None
    ]
    best = max(found, key=lambda each: each.even, default=None)
    return None if best is None else _fill_straight_stretches(best, clock)


class _BendPlaces(NamedTuple):
    """Places where the slope changes beyond rounding.

    Attributes:
        places: in order, on the clock of the rows.
        period: of most of them [rows].
        even: how many come about that long after the one before.
    """

    places: Array
    period: float
    even: int


def _find_regular_bends(
    bends: Array, size: Array, clock: Array, rounding: float
) -> _BendPlaces | None:
    """Find where the slope changes by more than rounding; None where it does so irregularly."""
    high = np.flatnonzero(size > rounding)
    if len(high) < _MIN_SAMPLES:
        return None
    starts = high[np.diff(high, prepend=-2) > 1]
    stops = high[np.diff(high, append=len(size) + 1) > 1] + 1
    one_side = np.sum(bends[starts] * bends[stops - 1], axis=1) > 0.0
    single = (stops - starts <= 2) & one_side
    if len(starts) < _MIN_SAMPLES or np.mean(single) < _MIN_SINGLE_SHARE:
        return None
    straight = np.delete(size, high)
    if not len(straight) or np.median(size[high]) < _BEND_RATIO * np.quantile(straight, 0.95):
        return None
    ends = (starts == 0) | (stops == len(size))  # of which a part may be missing
    several = [clock[1 + a : 1 + b] for a, b in zip(starts[~single], stops[~single], strict=True)]
    alone = _mean_places(bends, clock, starts[single & ~ends], stops[single & ~ends])
    apart = np.diff(alone)
    period = float(np.median(apart))
    near = apart[apart < 2.5 * period]
    even = int(np.sum(np.abs(near - period) < 0.5 * period))
    if not _MIN_PERIOD_ROWS < period < _MAX_PERIOD_ROWS or even < max(
        _MIN_SAMPLES, _MIN_REGULAR_SHARE * len(near)
    ):
        return None
    return _BendPlaces(np.sort(np.concatenate((alone, *several))), period, even)


def _mean_places(bends: Array, clock: Array, starts: Indices, stops: Indices) -> Array:
    """Mean place of the bends of one or two rows each and the rows beside, along their sum."""
    rows = starts[:, None] + np.arange(-1, 3)
    there = (rows >= 0) & (rows < len(bends)) & (rows <= stops[:, None])
    rows = rows.clip(0, len(bends) - 1)
    each = np.where(there[..., None], bends[rows], 0.0)
    weight = np.einsum("nri,ni->nr", each, each.sum(axis=1)).clip(min=0.0)
    return np.sum(weight * clock[1 + rows], axis=1) / weight.sum(axis=1)


def _fill_straight_stretches(bent: _BendPlaces, clock: Array) -> Array:
    """The places with others where nothing bends, from the first row to the last."""
    steps = np.maximum(np.rint(np.diff(bent.places) / bent.period), 1.0)
    numbers = np.concatenate(([0.0], np.cumsum(steps)))
    period, start = np.polyfit(numbers, bent.places, 1)
    if float(np.sqrt(np.mean((bent.places - start - period * numbers) ** 2))) < _MAX_CLOCK_RMS:
        first, last = (clock[[0, -1]] - start) / period
        return start + period * np.arange(np.ceil(first), np.floor(last) + 1.0)
    counts = np.rint(np.diff(bent.places, prepend=clock[0], append=clock[-1]) / bent.period)
    counts = np.maximum(counts, 1.0).astype(np.intp)
    within = np.concatenate([np.arange(1, count + 1) / count for count in counts])
    whole = np.concatenate((clock[:1], bent.places, clock[-1:]))
    starts, steps = np.repeat(whole[:-1], counts), np.repeat(np.diff(whole), counts)
    return (starts + within * steps)[: -1 if bent.places[-1] < clock[-1] else None]

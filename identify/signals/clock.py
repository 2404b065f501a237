"""A uniform clock for rows whose stamps jitter, repeat or leave gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgtsv

from identify.arrays import Array, Indices


def cubic_spline(x: Array, y: Array, at: Array) -> Array:
    """The cubic spline through points, without a knot at the second and the last but one.

    Through fewer than four points it is the polynomial of least degree. Written out, as to import
    `scipy.interpolate` takes as long as to read a log.

    Args:
        x: increasing, shape (n,).
        y: shape (n, k).
        at: where it is wanted, within the range of x or near it, shape (m,).

    Returns:
        Shape (m, k).
    """
    if len(x) < 4:
        powers = np.arange(len(x))
        weights = np.linalg.inv(np.power.outer(x - x[0], powers))
        return np.power.outer(at - x[0], powers) @ (weights @ y)
    step = np.diff(x)[:, None]
    chord = np.diff(y, axis=0) / step
    slope = _slopes(step, chord)
    i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    h, u = step[i], (at - x[i])[:, None]
    # Hermite's form by powers of u: both bends vanish where the slopes are those of the chord.
    first, last = (chord - slope[:-1])[i] / h, (slope[1:] - chord)[i] / h
    return y[i] + u * (slope[i] + u * (2.0 * first - last + (u / h) * (last - first)))


def _slopes(step: Array, chord: Array) -> Array:
    """Derivatives at the points, by the tridiagonal equations of an even second derivative."""
    middle = np.empty(len(step) + 1)
    below, above = np.empty((2, len(step)))
    right = np.empty((len(step) + 1, chord.shape[1]))
    before, after = step[:-1], step[1:]
    middle[1:-1] = 2.0 * (before + after)[:, 0]
    below[:-1], above[1:] = after[:, 0], before[:, 0]
    right[1:-1] = 3.0 * (after * chord[:-1] + before * chord[1:])
    for end, (near, far), (close, next_chord) in (
        (0, step[:2], chord[:2]),
        (-1, step[:-3:-1], chord[:-3:-1]),
    ):
        both = near + far
        middle[end], right[end] = (
            far[0],
            ((near + 2.0 * both) * far * close + near**2 * next_chord) / both,
        )
        (below if end else above)[end] = both[0]
    return dgtsv(below, middle, above, right)[3]


_GAP_PERIODS = 5.5
"""Stamps further apart than so many periods are a gap; smaller holes are interpolated."""

_UNIFORM = 1e-3
"""Stamps within this share of a period of a uniform grid are taken to be on it."""

_MOST_LATENESS = 5.0
"""Root mean square lateness, in periods, up to which stamps may be those of even rows."""

_TOO_CLOSE = 0.25
"""Rows stamped closer together than this share of a period are not both interpolated through."""

_SMOOTHER = 0.7
"""A less likely clock is believed where it makes the signal smoother by this factor."""


@dataclass(frozen=True, slots=True)
class UniformRows:
    """Rows on a uniform clock.

    Attributes:
        time: [s], shape (n,).
        rate_hz: sampling rate [Hz].
        columns: shape (n, k).
    """

    time: Array
    rate_hz: float
    columns: Array


def sampling_period(time: Array) -> float:
    """Typical time between rows [s]: the median step, or the mean where most stamps repeat."""
    steps = np.diff(time)
    median = float(np.median(steps))
    return median if median > 0.0 else float(np.mean(steps))


def gap_starts(time: Array) -> Indices:
    """Indices of rows that follow a gap in the stamps."""
    # Over several rows lateness averages out; the median over all of those ignores the gaps.
    rows = int(np.clip(len(time) // 20, 1, 10))
    period = float(np.median(time[rows:] - time[:-rows])) / rows
    return np.flatnonzero(np.diff(time) > _GAP_PERIODS * max(period, sampling_period(time))) + 1


def uniform_rows(time: Array, columns: Array, probe: Indices) -> UniformRows:
    """Rows without gaps put on a uniform clock.

    Two clocks explain stamps that jitter: the rows were taken evenly and the stamps are late by
    chance, or the rows were taken at the stamps. The one that makes the probe smoother is right.

    Args:
        time: stamps, not decreasing and not all alike [s], shape (n,), n ≥ 4.
        columns: shape (n, k).
        probe: columns to judge smoothness by: those to be differentiated, if any.
    """
    repeated = np.diff(time) == 0.0
    again = repeated & (columns[1:] == columns[:-1]).all(axis=1)
    keep = np.concatenate(([True], ~again))
    time, columns = time[keep], columns[keep]
    clocks = _even_clocks(time)
    candidates = [_fill_holes(clock, columns) for clock in clocks]
    exact = any(clock.latest <= _UNIFORM for clock in clocks)
    # Rows of one stamp that differ were not taken at their stamps.
    if not exact and (not candidates or not (repeated & ~again).any()):
        candidates.append(_resample(time, columns))
    best = candidates[0]
    for other in candidates[1:]:
        if _roughness(other.columns[:, probe]) < _SMOOTHER * _roughness(best.columns[:, probe]):
            best = other
    return best


@dataclass(frozen=True, slots=True)
class _EvenClock:
    """Even slots that rows were taken in, start + period · slot, and how late the stamps are.

    Lateness, root mean square and at the most, is in periods.
    """

    start: float
    period: float
    slots: Indices
    lateness: float
    latest: float


def _even_clocks(time: Array) -> list[_EvenClock]:
    """Even clocks that may explain the stamps: with every row there, and with rows missing."""
    whole = _fit_clock(time, np.arange(len(time)))
    clocks = [whole]
    period = sampling_period(time)
    if time[-1] - time[0] > _GAP_PERIODS * period * len(
        time
    ):  # bursts: no hole is as long as a gap
        return clocks if whole.lateness <= _MOST_LATENESS else []
    # Number the slots by the steps, if those are even, or by the stamps, if they come in order.
    steps = np.maximum(np.rint(np.diff(time) / period), 1.0).astype(np.intp)
    holed = _fit_clock(time, np.concatenate(([0], np.cumsum(steps))))
    if holed.latest <= _UNIFORM and holed.slots[-1] > len(time) - 1:
        clocks = [holed, whole]
    for _ in range(0 if len(clocks) > 1 else 2):
        slots = np.rint((time - time[0]) / period).astype(np.intp)
        if not (np.diff(slots) > 0).all():
            break
        holed = _fit_clock(time, slots)
        if slots[-1] > len(time) - 1 and holed.lateness < 0.5 * whole.lateness:
            clocks = [holed, whole]
        period = holed.period
    return [clock for clock in clocks if clock.lateness <= _MOST_LATENESS]


def _fit_clock(time: Array, slots: Indices) -> _EvenClock:
    centred = slots - slots.mean()
    period = float(centred @ time / (centred @ centred))
    start = float(time.mean() - period * slots.mean())
    late = np.abs(time - (start + period * slots)) / period
    return _EvenClock(start, period, slots, float(np.sqrt(np.mean(late**2))), float(late.max()))


def _fill_holes(clock: _EvenClock, columns: Array) -> UniformRows:
    """Rows in their slots; only what is missing between them is interpolated."""
    first, last = int(clock.slots[0]), int(clock.slots[-1])
    every = np.arange(first, last + 1)
    time = clock.start + clock.period * every
    rate = 1.0 / clock.period
    if len(every) == len(columns):
        return UniformRows(time, rate, columns)
    filled = np.empty((len(every), columns.shape[1]))
    filled[clock.slots - first] = columns
    holes = np.setdiff1d(every, clock.slots)
    filled[holes - first] = cubic_spline(clock.slots.astype(float), columns, holes.astype(float))
    return UniformRows(time, rate, filled)


def _resample(time: Array, columns: Array) -> UniformRows:
    """Rows interpolated between their stamps."""
    count = len(time)
    period = float(time[-1] - time[0]) / (count - 1)
    slots = np.floor((time - time[0]) / (_TOO_CLOSE * period))
    keep = np.concatenate(([True], np.diff(slots) > 0.0))
    grid = time[0] + period * np.arange(count)
    return UniformRows(grid, 1.0 / period, cubic_spline(time[keep], columns[keep], grid))


def _roughness(columns: Array) -> float:
    """Size of the fourth differences, which no smooth motion has, against that of the values."""
    power = np.var(columns, axis=0)
    moving = power > 0.0
    if not moving.any():
        return 0.0
    bends = np.mean(np.diff(columns[:, moving], n=4, axis=0) ** 2, axis=0)
    return float(np.sqrt(np.mean(bends / power[moving])))

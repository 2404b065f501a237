"""A uniform clock for rows whose stamps jitter, repeat or leave gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Indices

_GAP = 5.5
"""Stamps further apart than so many periods are a gap; smaller holes are interpolated."""

_UNIFORM = 1e-3
"""Stamps within this share of a period of a uniform grid are taken to be on it."""

_SMOOTHER = 0.7
"""Stamps are believed against an even clock where they make the signal smoother by this factor."""


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
    steps = np.diff(time)
    return np.flatnonzero(steps > _GAP * sampling_period(time)) + 1


def uniform_rows(time: Array, columns: Array, probe: slice) -> UniformRows:
    """Rows without gaps put on a uniform clock.

    Two clocks explain stamps that jitter: the rows were taken evenly and the stamps are late by
    chance, or the rows were taken at the stamps. The one that makes the probe smoother is right.

    Args:
        time: stamps, not decreasing [s], shape (n,), n ≥ 4.
        columns: shape (n, k).
        probe: columns to judge smoothness by: those to be differentiated, if any.
    """
    even, on_grid = _even_clock(time)
    candidates = []
    if even is not None:
        candidates.append((even, 1.0))
    if not on_grid:
        candidates.append((time, _SMOOTHER))
    results = [_resample(clock, columns) for clock, _ in candidates]
    if len(results) == 1:
        return results[0]
    rough = [
        _roughness(result.columns[:, probe]) / handicap
        for result, (_, handicap) in zip(results, candidates, strict=True)
    ]
    return results[int(np.argmin(rough))]


def _even_clock(time: Array) -> tuple[Array | None, bool]:
    """Stamps moved to even slots, or None; and whether they were there already."""
    count = len(time)
    slots = np.arange(count, dtype=np.float64)
    for _ in range(2):
        period, start = np.polyfit(slots, time, 1)
        if period <= 0.0:
            return None, False
        error = np.abs(time - (start + period * slots)).max() / period
        if error <= 0.5 or not (np.diff(time) > 0.0).all():
            return start + period * slots, bool(error <= _UNIFORM)
        # Rows are missing: number the slots by the stamps, if they still come in order.
        slots = np.round((time - time[0]) / sampling_period(time))
        if not (np.diff(slots) > 0.0).all():
            return None, False
    return None, False


def _resample(clock: Array, columns: Array) -> UniformRows:
    steps = np.diff(clock)
    keep = np.concatenate(([True], steps > 0.0))
    clock, columns = clock[keep], columns[keep]
    period = sampling_period(clock)
    count = round(float(clock[-1] - clock[0]) / period) + 1
    period = (clock[-1] - clock[0]) / (count - 1)
    grid = clock[0] + period * np.arange(count)
    if count == len(clock) and np.abs(grid - clock).max() <= _UNIFORM * period:
        return UniformRows(grid, 1.0 / period, columns)
    from scipy.interpolate import CubicSpline  # slow to import, and rarely needed

    return UniformRows(grid, 1.0 / period, CubicSpline(clock, columns, axis=0)(grid))


def _roughness(columns: Array) -> float:
    """Fourth differences: what no smooth motion has."""
    return float(np.linalg.norm(np.diff(columns, n=4, axis=0)))

"""A uniform clock for rows whose stamps jitter, repeat or leave gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dgtsv

from identify.arrays import Array, Indices


def cubic_spline(x: Array, y: Array, at: Array) -> Array:
    """Evaluate the not-a-knot cubic spline through points.

    Fewer than four points are interpolated by the polynomial of lowest degree. Implemented here
    because importing `scipy.interpolate` takes as long as reading a log.

    `x`: increasing, shape (n,); `y`: shape (n, k); `at`: abscissae to evaluate at, within the range
    of x or near it, shape (m,).
    Shape (m, k).
    """
    if len(x) < 4:
        powers = np.arange(len(x))
        weights = np.linalg.inv(np.power.outer(x - x[0], powers))
        return np.power.outer(at - x[0], powers) @ (weights @ y)
    step = np.diff(x)[:, None]
    chord = np.diff(y, axis=0) / step
    slope = _spline_slopes(step, chord)
    i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    h, u = step[i], (at - x[i])[:, None]
    # Hermite form in powers of u; the curvature terms vanish where the slopes equal the chord's.
    first, last = (chord - slope[:-1])[i] / h, (slope[1:] - chord)[i] / h
    return y[i] + u * (slope[i] + u * (2.0 * first - last + (u / h) * (last - first)))


def _spline_slopes(step: Array, chord: Array) -> Array:
    """Solve for a spline's slopes at its knots: the second derivative is continuous there."""
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
"""Distance between stamps [sampling periods] above which they enclose a gap."""

_UNIFORM_JITTER = 1e-3
"""Largest jitter of stamps that count as uniform, as a share of the sampling period."""

_MAX_RMS_JITTER = 5.0
"""Largest RMS jitter [sampling periods] at which a uniform clock may explain the stamps."""

_BURST_STEP_RATIO = 10.0
"""Smallest ratio of the time between two bursts of rows to the median step between rows."""

_MAX_BURST_SHARE = 0.05
"""Largest share of the time from burst to burst in which its rows are stamped: what was sampled
while a logger slept is longer."""

_MIN_BURSTS = 4
"""Fewest bursts of rows of a log that is stamped so."""

_MISSING_ROWS_JITTER_RATIO = 0.5
"""Ratio of the jitter with missing rows to that without, below which rows are missing."""

_MIN_STEP_PERIODS = 0.25
"""Shortest step between interpolated rows, as a share of the sampling period."""

_ROUGHNESS_RATIO = 0.7
"""Ratio of the roughness of the signals on two clocks below which the less likely one is chosen."""


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


class _Bursts(NamedTuple):
    """Rows that were stamped in bursts, as a logger that reads a buffer stamps them.

    Attributes:
        rows: median number of rows in a burst.
        interval: median time from burst to burst [s].
    """

    rows: float
    interval: float


def _find_bursts(time: Array) -> _Bursts | None:
    """Find out whether rows were stamped in bursts; None if not."""
    steps = np.diff(time)
    starts = np.flatnonzero(steps > _BURST_STEP_RATIO * np.median(steps)) + 1
    if len(starts) < _MIN_BURSTS:
        return None
    interval = float(np.median(np.diff(time[starts])))
    duration = float(np.median(time[starts[1:] - 1] - time[starts[:-1]]))
    rows = float(np.median(np.diff(starts)))
    is_short = duration < _MAX_BURST_SHARE * interval
    return _Bursts(rows, interval) if is_short and rows > 1.0 else None


def sampling_period(time: Array) -> float:
    """Return the median time between rows [s]; of rows stamped in bursts, that of the sampling."""
    steps = np.diff(time)
    bursts = _find_bursts(time)
    if bursts is not None:
        return bursts.interval / bursts.rows
    median = float(np.median(steps))
    return median if median > 0.0 else float(np.mean(steps))


def gap_starts(time: Array) -> Indices:
    """Return the indices of rows that follow a gap in the stamps."""
    bursts = _find_bursts(time)
    if bursts is not None:
        return np.flatnonzero(np.diff(time) > _GAP_PERIODS * bursts.interval) + 1
    # Jitter averages out over several rows; the median over all of those ignores the gaps.
    rows = int(np.clip(len(time) // 20, 1, 10))
    period = float(np.median(time[rows:] - time[:-rows])) / rows
    return np.flatnonzero(np.diff(time) > _GAP_PERIODS * max(period, sampling_period(time))) + 1


def uniform_rows(time: Array, columns: Array, judged_columns: Indices) -> UniformRows:
    """Put rows without gaps on a uniform clock.

    Two hypotheses explain jittering stamps: uniform sampling with randomly late stamps, or
    sampling at the stamps. The one with the smoother judged columns is chosen.

    `time`: non-decreasing stamps, not all equal [s], shape (n,), n ≥ 4; `columns`: shape (n, k);
    `judged_columns`: columns whose smoothness decides: those to be differentiated, if any.
    """
    repeated = np.diff(time) == 0.0
    duplicate = repeated & (columns[1:] == columns[:-1]).all(axis=1)
    keep = np.concatenate(([True], ~duplicate))
    time, columns = time[keep], columns[keep]
    clocks = candidate_uniform_clocks(time)
    candidates = [_interpolate_missing_ticks(clock, columns) for clock in clocks]
    has_exact_clock = any(clock.max_jitter <= _UNIFORM_JITTER for clock in clocks)
    # Different rows with the same stamp were not sampled at their stamps.
    if not has_exact_clock and (not candidates or not (repeated & ~duplicate).any()):
        candidates.append(_resample_uniformly(time, columns))
    best = candidates[0]
    for rows in candidates[1:]:
        limit = _ROUGHNESS_RATIO * _roughness(best.columns[:, judged_columns])
        if _roughness(rows.columns[:, judged_columns]) < limit:
            best = rows
    return best


@dataclass(frozen=True, slots=True)
class _UniformClock:
    """Uniform clock fitted to time stamps: start + period · tick.

    Attributes:
        start: time of tick 0 [s].
        period: [s].
        ticks: tick number of each row.
        rms_jitter: of the stamps [periods].
        max_jitter: of the stamps [periods].
    """

    start: float
    period: float
    ticks: Indices
    rms_jitter: float
    max_jitter: float


def candidate_uniform_clocks(time: Array) -> list[_UniformClock]:
    """Return uniform clocks that may explain the stamps, without and with missing rows.

    Without: the rows are consecutive ticks. With: the ticks are numbered by rounded steps, if these
    are uniform; else by rounded stamps, twice, the second time with the period of the first.
    """
    contiguous = _fit_clock(time, np.arange(len(time)))
    clocks = [contiguous]
    bursts = _find_bursts(time)
    if bursts is not None:  # on a uniform clock, the stamps of a burst are a saw-tooth
        return clocks if contiguous.rms_jitter <= max(_MAX_RMS_JITTER, bursts.rows) else []
    period = sampling_period(time)
    if time[-1] - time[0] > _GAP_PERIODS * period * len(time):  # no hole is as long as a gap
        return clocks if contiguous.rms_jitter <= _MAX_RMS_JITTER else []
    # Number the slots by the steps if these are uniform, or by the stamps if these increase.
    steps = np.maximum(np.rint(np.diff(time) / period), 1.0).astype(np.intp)
    with_gaps = _fit_clock(time, np.concatenate(([0], np.cumsum(steps))))
    if with_gaps.max_jitter <= _UNIFORM_JITTER and with_gaps.ticks[-1] > len(time) - 1:
        clocks = [with_gaps, contiguous]
    rounds = 2 if len(clocks) == 1 else 0
    for _ in range(rounds):
        slots = np.rint((time - time[0]) / period).astype(np.intp)
        if not (np.diff(slots) > 0).all():
            break
        with_gaps = _fit_clock(time, slots)
        is_better = with_gaps.rms_jitter < _MISSING_ROWS_JITTER_RATIO * contiguous.rms_jitter
        if slots[-1] > len(time) - 1 and is_better:
            clocks = [with_gaps, contiguous]
        period = with_gaps.period
    return [clock for clock in clocks if clock.rms_jitter <= _MAX_RMS_JITTER]


def _fit_clock(time: Array, ticks: Indices) -> _UniformClock:
    centred = ticks - ticks.mean()
    period = float(centred @ time / (centred @ centred))
    start = float(time.mean() - period * ticks.mean())
    jitter = np.abs(time - (start + period * ticks)) / period
    return _UniformClock(
        start, period, ticks, float(np.sqrt(np.mean(jitter**2))), float(jitter.max())
    )


def _interpolate_missing_ticks(clock: _UniformClock, columns: Array) -> UniformRows:
    """Place rows at the ticks of a uniform clock and interpolate missing ticks."""
    first, last = int(clock.ticks[0]), int(clock.ticks[-1])
    every = np.arange(first, last + 1)
    time = clock.start + clock.period * every
    rate = 1.0 / clock.period
    if len(every) == len(columns):
        return UniformRows(time, rate, columns)
    filled = np.empty((len(every), columns.shape[1]))
    filled[clock.ticks - first] = columns
    holes = np.setdiff1d(every, clock.ticks)
    filled[holes - first] = cubic_spline(clock.ticks.astype(float), columns, holes.astype(float))
    return UniformRows(time, rate, filled)


def _resample_uniformly(time: Array, columns: Array) -> UniformRows:
    """Interpolate rows between their stamps onto a uniform grid."""
    count = len(time)
    period = float(time[-1] - time[0]) / (count - 1)
    slots = np.floor((time - time[0]) / (_MIN_STEP_PERIODS * period))
    keep = np.concatenate(([True], np.diff(slots) > 0.0))
    grid = time[0] + period * np.arange(count)
    return UniformRows(grid, 1.0 / period, cubic_spline(time[keep], columns[keep], grid))


def _roughness(columns: Array) -> float:
    """Return the RMS of the columns' fourth differences, relative to their standard deviation."""
    power = np.var(columns, axis=0)
    moving = power > 0.0
    if not moving.any():
        return 0.0
    fourth_differences = np.mean(np.diff(columns[:, moving], n=4, axis=0) ** 2, axis=0)
    return float(np.sqrt(np.mean(fourth_differences / power[moving])))

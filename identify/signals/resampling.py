"""Alias-free resampling of uniform samples to the times of a slower clock.

Kaiser, "Nonrecursive digital filter design using the I0-sinh window function" (1974).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from identify.arrays import Array
from identify.signals.segments import MIN_SEGMENT_ROWS, EvenSegment
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate, rotate_back

KERNEL_HALF_WIDTH = 12
"""Half width of the resampling kernel [samples of the slower clock]."""

_KAISER_BETA = 7.0
"""Shape of the Kaiser window: 70 dB attenuation, flat up to 80 % of the slower Nyquist rate."""

_TABLE_PHASES = 1024
"""Tabulated phases of the kernel between two samples; others are interpolated."""

_CHUNK_ROWS = 2**18
"""Rows of the fast clock processed at once."""


def kernel_reach(rate_hz: float, to_hz: float) -> float:
    """Return the time lost at each end of the samples by resampling [s]."""
    return float(np.ceil(KERNEL_HALF_WIDTH / _rate_ratio(rate_hz, to_hz))) / rate_hz


def resample(columns: Array, start: float, rate_hz: float, time: Array, to_hz: float) -> Array:
    """Resample uniform samples at other times with a low-pass at the slower Nyquist rate.

    A windowed sinc (Kaiser 1974) is evaluated at the times themselves, so the two clocks need no
    common multiple. Its weights sum to one: a constant is unchanged. White noise keeps its density,
    which a fit estimates from the samples.

    `columns`: uniform samples, shape (n, k); `start`: time of the first [s]; `time`: of the values,
    `kernel_reach` or more from either end of the samples [s], shape (m,).
    Shape (m, k).
    """
    table = _kernel_table(_rate_ratio(rate_hz, to_hz))
    taps = table.shape[1]
    windows = np.lib.stride_tricks.sliding_window_view(columns, taps, axis=0)
    position = (time - start) * rate_hz
    before = np.floor(position).astype(np.intp)
    phase = (position - before) * _TABLE_PHASES
    phase_index = np.minimum(phase.astype(np.intp), _TABLE_PHASES - 1)
    fraction = (phase - phase_index)[:, None]
    first_tap = before - (taps // 2 - 1)
    values = np.empty((len(time), columns.shape[1]))
    step = max(1, _CHUNK_ROWS // taps)
    for a in range(0, len(time), step):
        part = slice(a, a + step)
        weights = (
            table[phase_index[part]] * (1.0 - fraction[part])
            + table[phase_index[part] + 1] * fraction[part]
        )
        values[part] = (windows[first_tap[part]] @ weights[:, :, None])[:, :, 0]
    return values


def _rate_ratio(rate_hz: float, to_hz: float) -> float:
    """Return the ratio of the slower to the faster rate, rounded so that segments share a table."""
    return float(f"{min(1.0, to_hz / rate_hz):.3g}")


@lru_cache(maxsize=16)
def _kernel_table(rate_ratio: float) -> Array:
    """Tabulate the weights of the samples around a time, for all phases between two samples.

    Shape (_TABLE_PHASES + 1, taps), taps even: those of sample 1 − taps/2 to taps/2.
    """
    half = int(np.ceil(KERNEL_HALF_WIDTH / rate_ratio))
    distance = (
        np.arange(1 - half, half + 1) - np.linspace(0.0, 1.0, _TABLE_PHASES + 1)[:, None]
    ) * rate_ratio
    taper = np.sqrt(np.maximum(1.0 - (distance / KERNEL_HALF_WIDTH) ** 2, 0.0))
    weights = np.sinc(distance) * np.where(
        np.abs(distance) <= KERNEL_HALF_WIDTH, np.i0(_KAISER_BETA * taper), 0.0
    )
    return weights / weights.sum(axis=1, keepdims=True)


def compensate_wrench_delay(
    segment: EvenSegment, delay: float, *, rotated: bool = False
) -> EvenSegment | None:
    """Advance the wrench of a segment by its delay τ: w(t + τ) as logged.

    Delays of whole samples shift the rows; others are interpolated by a windowed sinc, which does
    not change the motion's band.

    `delay`: τ by which the wrench of a row is older than its motion [s]; `rotated`: whether the
    wrench was delayed in body axes and then rotated into the world axes in which it is logged:
    f_W(t) = R(t) f_B(t − τ).
    Returns the rows that have both motion and wrench; None if they are too few.
    """
    if not delay:
        return segment
    rate = segment.rate_hz
    start, samples = float(segment.time[0]), delay * rate
    lost = (
        kernel_reach(rate, rate) if abs(samples - round(samples)) > _WHOLE_SAMPLE_TOLERANCE else 0.0
    )
    wrench_time = segment.time + delay
    rows = np.flatnonzero(
        (wrench_time >= start + lost - _WHOLE_SAMPLE_TOLERANCE / rate)
        & (wrench_time <= segment.time[-1] - lost + _WHOLE_SAMPLE_TOLERANCE / rate)
    )
    if len(rows) < MIN_SEGMENT_ROWS:
        return None
    signals = {name: values[rows] for name, values in segment.signals.items()}
    rotated = rotated and "quaternion" in segment.signals
    R = rotation_from_quaternion(segment.signals["quaternion"]) if rotated else None
    for name in ("force", "torque"):
        values = segment.signals[name]
        if R is not None:
            values = rotate_back(R, values)
        if lost:
            values = resample(values, start, rate, wrench_time[rows], rate)
        else:
            values = values[rows + round(samples)]
        signals[name] = values if R is None else rotate(R[rows], values)
    count = round(segment.row_count * len(rows) / len(segment))
    return replace(segment, time=segment.time[rows], signals=signals, row_count=count)


_WHOLE_SAMPLE_TOLERANCE = 1e-3
"""Largest deviation of a delay that counts as whole samples [samples]."""

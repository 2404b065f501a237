"""Even samples of a fast clock taken to a slower one, with nothing folded into its band.

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
"""Samples of the slower clock that the kernel reaches to either side."""

_KAISER_BETA = 7.0
"""Of the Kaiser window: 70 dB, and flat up to four fifths of half the slower rate."""

_TABLE_PHASES = 1024
"""Places between two samples for which the kernel is tabled; it is interpolated between them."""

_CHUNK_ROWS = 2**18
"""Rows of the fast clock that are weighed at once."""


def kernel_reach(rate_hz: float, to_hz: float) -> float:
    """How far from the ends of the samples values can be had [s]."""
    return float(np.ceil(KERNEL_HALF_WIDTH / _rate_ratio(rate_hz, to_hz))) / rate_hz


def resample(columns: Array, start: float, rate_hz: float, time: Array, to_hz: float) -> Array:
    """Low-passed values of even samples at other times.

    A windowed sinc (Kaiser 1974) with its edge at half the slower rate is evaluated at the times
    themselves, so the two clocks need no common multiple. Its weights sum to one: a constant stays
    what it is. White noise keeps its density, which a fit reads off the samples.

    Args:
        columns: even samples, shape (n, k).
        start: time of the first [s].
        rate_hz: their rate.
        time: where values are wanted, `reach` or more from either end of the samples [s], shape
            (m,).
        to_hz: the rate of those.

    Returns:
        Shape (m, k).
    """
    table = _kernel_table(_rate_ratio(rate_hz, to_hz))
    taps = table.shape[1]
    windows = np.lib.stride_tricks.sliding_window_view(columns, taps, axis=0)
    place = (time - start) * rate_hz
    before = np.floor(place).astype(np.intp)
    phase = (place - before) * _TABLE_PHASES
    number = np.minimum(phase.astype(np.intp), _TABLE_PHASES - 1)
    share = (phase - number)[:, None]
    first = before - (taps // 2 - 1)
    values = np.empty((len(time), columns.shape[1]))
    step = max(1, _CHUNK_ROWS // taps)
    for a in range(0, len(time), step):
        part = slice(a, a + step)
        weights = table[number[part]] * (1.0 - share[part]) + table[number[part] + 1] * share[part]
        values[part] = (windows[first[part]] @ weights[:, :, None])[:, :, 0]
    return values


def _rate_ratio(rate_hz: float, to_hz: float) -> float:
    """The slower rate by the faster, in few digits: segments of one log share a table."""
    return float(f"{min(1.0, to_hz / rate_hz):.3g}")


@lru_cache(maxsize=16)
def _kernel_table(slower: float) -> Array:
    """Weights of the samples around a place, for places from one sample to the next.

    Args:
        slower: the slower rate by the faster.

    Returns:
        Shape (_PHASES + 1, taps), taps even: those of sample 1 − taps/2 to taps/2.
    """
    half = int(np.ceil(KERNEL_HALF_WIDTH / slower))
    away = (
        np.arange(1 - half, half + 1) - np.linspace(0.0, 1.0, _TABLE_PHASES + 1)[:, None]
    ) * slower
    inside = np.sqrt(np.maximum(1.0 - (away / KERNEL_HALF_WIDTH) ** 2, 0.0))
    weights = np.sinc(away) * np.where(
        np.abs(away) <= KERNEL_HALF_WIDTH, np.i0(_KAISER_BETA * inside), 0.0
    )
    return weights / weights.sum(axis=1, keepdims=True)


def compensate_wrench_delay(
    segment: EvenSegment, delay: float, *, turned: bool = False
) -> EvenSegment | None:
    """A segment whose wrench is that of the time of each row, w(t + τ) of what was logged.

    Whole samples are shifted as they are; between samples a windowed sinc is evaluated, which
    leaves the motion's band as it is.

    Args:
        segment: as logged.
        delay: τ by which the wrench of a row is older than its motion [s].
        turned: whether it was late in body axes, and then turned into the world's, in which it is
            logged: f_W(t) is R(t) f_B(t − τ).

    Returns:
        The rows that have both; None where they are too few.
    """
    if not delay:
        return segment
    rate = segment.rate_hz
    start, samples = float(segment.time[0]), delay * rate
    lost = (
        kernel_reach(rate, rate) if abs(samples - round(samples)) > _WHOLE_SAMPLE_TOLERANCE else 0.0
    )
    late = segment.time + delay
    rows = np.flatnonzero(
        (late >= start + lost - _WHOLE_SAMPLE_TOLERANCE / rate)
        & (late <= segment.time[-1] - lost + _WHOLE_SAMPLE_TOLERANCE / rate)
    )
    if len(rows) < MIN_SEGMENT_ROWS:
        return None
    signals = {name: values[rows] for name, values in segment.signals.items()}
    turned = turned and "quaternion" in segment.signals
    R = rotation_from_quaternion(segment.signals["quaternion"]) if turned else None
    for name in ("force", "torque"):
        values = segment.signals[name]
        if R is not None:
            values = rotate_back(R, values)
        if lost:
            values = resample(values, start, rate, late[rows], rate)
        else:
            values = values[rows + round(samples)]
        signals[name] = values if R is None else rotate(R[rows], values)
    count = round(segment.rows * len(rows) / len(segment))
    return replace(segment, time=segment.time[rows], signals=signals, rows=count)


_WHOLE_SAMPLE_TOLERANCE = 1e-3
"""Share of a sample by which a delay may miss whole samples and be taken for them."""

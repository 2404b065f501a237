"""A wrench that was logged late is taken back to the time of its motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.signals.resampling import reach, resample
from identify.signals.segments import FEWEST_ROWS, EvenSegment
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate, rotate_back


def without_delay(
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
    lost = reach(rate, rate) if abs(samples - round(samples)) > _WHOLE else 0.0
    late = segment.time + delay
    rows = np.flatnonzero(
        (late >= start + lost - _WHOLE / rate) & (late <= segment.time[-1] - lost + _WHOLE / rate)
    )
    if len(rows) < FEWEST_ROWS:
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


_WHOLE = 1e-3
"""Share of a sample by which a delay may miss whole samples and be taken for them."""

"""A wrench that was logged late is taken back to the time of its motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.signals.resampling import reach, resample
from identify.signals.segments import FEWEST_ROWS, EvenSegment


def without_delay(segment: EvenSegment, delay: float) -> EvenSegment | None:
    """A segment whose wrench is that of the time of each row, w(t + τ) of what was logged.

    Whole samples are shifted as they are; between samples a windowed sinc is evaluated, which
    leaves the motion's band as it is.

    Args:
        segment: as logged.
        delay: τ by which the wrench of a row is older than its motion [s].

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
    for name in ("force", "torque"):
        values = segment.signals[name]
        if lost:
            signals[name] = resample(values, start, rate, late[rows], rate)
        else:
            signals[name] = values[rows + round(samples)]
    count = round(segment.rows * len(rows) / len(segment))
    return replace(segment, time=segment.time[rows], signals=signals, rows=count)


_WHOLE = 1e-3
"""Share of a sample by which a delay may miss whole samples and be taken for them."""

"""Spans of time of a log, and runs of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Flags, Indices


@dataclass(frozen=True, slots=True)
class Span:
    """Span of time of a log with a fault.

    Attributes:
        code: code of the finding: "contact", "saturation", "spikes", "frozen_pose",
            "frozen_wrench", "dead_channel", "bias_step".
        start, stop: time in the log [s]; for spikes that of the first and of the last.
        rows: number of rows of the log, or of the series, in the span.
        size: size of the fault. For a contact the residual's energy over that of noise; for
            saturation the extreme [N or N m]; for spikes the ratio of the largest to the median
            size; for a freeze the ratio of its length to the usual hold; for a dead channel its
            last value.
        channel: name "fx" … "tz" or column of a single faulty channel; else empty.
        jump: jump of the sensor's offset in its axes for a "bias_step" [N, N m]; else empty.
    """

    code: str
    start: float
    stop: float
    rows: int
    size: float = 0.0
    channel: str = ""
    jump: tuple[float, ...] = ()


def true_runs(flags: Flags) -> Indices:
    """Return the first index of each run of true flags and the index after its last, (runs, 2)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return edges.reshape(-1, 2)

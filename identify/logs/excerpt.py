"""Some rows of a log with their neighbours: what one chunk of a scan is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from identify.logs.recording import Recording
from identify.logs.rows import RowCounts

ReadExcerpt: TypeAlias = Callable[[int, int, int], "Excerpt"]
"""Reads the rows of a log from one number to another, with a margin on either side."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some rows of a log, and rows on either side that serve derivatives alone.

    Attributes:
        recording: rows and neighbours.
        span: the time of the rows themselves [s]: infinite where the log begins or ends.
        rows: how many there are without the neighbours, dropped ones included.
        counts: of those left out.
    """

    recording: Recording
    span: tuple[float, float] = (-np.inf, np.inf)
    rows: int = 0
    counts: RowCounts = field(default_factory=RowCounts)


def excerpt(recording: Recording, start: int, stop: int, margin: int) -> Excerpt:
    """Rows of a recording in memory and a margin of neighbours on either side, as views."""
    if start <= 0 and stop >= len(recording):
        return Excerpt(recording, rows=recording.rows, counts=RowCounts(recording.dropped))
    first, last = max(0, start - margin), min(len(recording), stop + margin)
    part = rows_of(recording, first, last)
    return Excerpt(part, span_of(part, start - first, stop - first), stop - start)


def rows_of(recording: Recording, start: int, stop: int) -> Recording:
    """A recording of some of the rows, as views of the arrays; its name and digest stay."""
    time = None if recording.time is None else recording.time[start:stop]
    signals = {name: values[start:stop] for name, values in recording.signals.items()}
    numbers = recording.rotation_numbers
    numbers = None if numbers is None else numbers[start:stop]
    return replace(recording, time=time, signals=signals, rotation_numbers=numbers)


def span_of(recording: Recording, start: int, stop: int) -> tuple[float, float]:
    """The span of time of some rows: edges lie halfway to the rows before and after, if any."""
    time = np.zeros(0) if recording.time is None else recording.time

    def edge(row: int, beyond: float) -> float:
        return float(0.5 * (time[row - 1] + time[row])) if 0 < row < len(time) else beyond

    return edge(start, -np.inf), edge(stop, np.inf)

"""Runs of rows in which a signal is constant, as frozen and saturated channels have them.

Rows arrive in blocks, and none is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.diagnosis.spans import Span, true_runs
from identify.signals.spikes import MIN_ROWS_FOR_SPIKES
from identify.spatial.columns import WRENCH_NAMES

FROZEN_SECONDS = 0.3
"""Shortest time for which a frozen signal is constant, in a log where it changes elsewhere [s]."""

_FROZEN_HOLDS = 8.0
"""Smallest ratio of the duration of a freeze to the usual hold of the signal's samples."""

SATURATED_ROWS = 4
"""Fewest successive rows of a saturated channel at its extreme: clean signals have one or two where
they turn; held signals have as many as their hold."""

_MIN_SATURATED_RATIO = 3
"""Smallest ratio of a saturated run of rows to the longest constant run away from the extreme."""

_MAX_GAP_SECONDS = 0.25
"""Longest time between two saturated runs that are reported as one span [s]."""

MAX_COUNTED_HOLD = 4096
"""Largest length of a hold that is counted [rows]; longer holds count as this length."""

_MAX_RUNS = 50_000
"""Largest number of runs stored for a signal; the longest are kept."""


@dataclass(slots=True)
class _Runs:
    """Runs of true flags that arrive in blocks.

    A row of an array of runs is [first row, one past the last row, start time, stop time].

    Attributes:
        open_run: run that continues at the end of the last block, if any, shape (4,).
        stored_runs: stored runs, shape (n, 4).
    """

    open_run: Array | None = None
    stored_runs: Array = field(default_factory=lambda: np.zeros((0, 4)))

    def update(self, flags: Flags, first: int, begins: Array, ends: Array) -> Array:
        """Return the runs that end in a block; a run that reaches its end stays open.

        `first`: number of its first row.
        """
        at = true_runs(flags)
        closed = np.zeros((len(at), 4))
        closed[:, :2] = at + first
        closed[:, 2], closed[:, 3] = begins[at[:, 0]], ends[at[:, 1] - 1]
        if self.open_run is not None:
            if len(at) and at[0, 0] == 0:
                closed[0, [0, 2]] = self.open_run[[0, 2]]
            else:
                closed = np.concatenate((self.open_run[None], closed))
        self.open_run = None
        if len(at) and at[-1, 1] == len(flags):
            self.open_run, closed = closed[-1], closed[:-1]
        return closed

    def close(self) -> Array:
        """Close and return the run that is still open at the end of the log, shape (0 or 1, 4)."""
        last = np.zeros((0, 4)) if self.open_run is None else self.open_run[None]
        self.open_run = None
        return last

    def store(self, new_runs: Array) -> None:
        """Store runs; if there are too many, only the longest."""
        if not len(new_runs):
            return
        self.stored_runs = np.concatenate((self.stored_runs, new_runs))
        if len(self.stored_runs) > _MAX_RUNS:
            rows = self.stored_runs[:, 1] - self.stored_runs[:, 0]
            longest = np.argpartition(-rows, _MAX_RUNS // 2)[: _MAX_RUNS // 2]
            self.stored_runs = self.stored_runs[np.sort(longest)]


class RepeatRuns:
    """Runs of rows in which a signal repeats the row before, and a histogram of their lengths."""

    def __init__(self) -> None:
        self._runs = _Runs()
        self._lengths = np.zeros(MAX_COUNTED_HOLD + 1, dtype=np.int64)

    def update(self, same: Flags, first: int, stamps: Array) -> None:
        """Process flags of repeated rows, numbered from `first`; stamps begin one row earlier."""
        if same.any() or self._runs.open_run is not None:
            self._store(self._runs.update(same, first, stamps[:-1], stamps[1:]))

    def _store(self, new_runs: Array) -> None:
        rows = (new_runs[:, 1] - new_runs[:, 0]).astype(np.intp)
        self._lengths += np.bincount(
            np.minimum(rows, MAX_COUNTED_HOLD), minlength=MAX_COUNTED_HOLD + 1
        )
        long = (new_runs[:, 3] - new_runs[:, 2] >= FROZEN_SECONDS) & (rows > _FROZEN_HOLDS)
        self._runs.store(new_runs[long])

    def frozen_spans(
        self, code: str, step: float, duration: float, rows: int
    ) -> list[tuple[Span, tuple[float, float]]]:
        """Return spans in which the signal is frozen: runs far longer than its usual hold.

        `step`: usual time from row to row [s]; `duration`: duration of the log [s].
        Returns Spans and rows; empty if the spans take half of the log or more.
        """
        self._store(self._runs.close())
        count = int(self._lengths.sum())
        usual = max(_histogram_quantile(self._lengths, 0.5), 1) if count > 0.01 * rows else 1
        frozen = []
        for first, last, start, stop in self._runs.stored_runs.tolist():
            if last - first > _FROZEN_HOLDS * usual:
                ratio = (stop - start) / max(usual * step, 1e-300)
                span = Span(code, start, stop, int(last - first) + 1, ratio)
                frozen.append((span, (first - 1.0, last)))
        seconds = sum(span.stop - span.start for span, _ in frozen)
        return frozen if seconds < 0.5 * duration else []


class HoldLengths:
    """Histogram of the numbers of rows for which a channel keeps its value."""

    def __init__(self) -> None:
        self.lengths = np.zeros(MAX_COUNTED_HOLD + 1, dtype=np.int64)
        self._since: int | None = None

    @property
    def change_count(self) -> int:
        """Number of changes of the channel's value."""
        return int(self.lengths.sum()) + (self._since is not None)

    @property
    def typical_hold(self) -> int:
        """90 % quantile of the hold lengths, in rows."""
        return max(1, _histogram_quantile(self.lengths, 0.9))

    def longest_hold(self, excluded: Array, length_limit: int) -> int:
        """Return the length of the longest hold below a limit, outside excluded runs [rows].

        With a coarse resolution it is long where the signal turns: saturation has to last longer.

        `excluded`: runs that are not counted, shape (n, 4).
        Returns zero if the longest hold is shorter than a saturated run.
        """
        rows = np.minimum(excluded[:, 1] - excluded[:, 0], MAX_COUNTED_HOLD).astype(np.intp)
        others = self.lengths - np.bincount(rows, minlength=MAX_COUNTED_HOLD + 1)
        longest = np.flatnonzero(others[:length_limit] > 0).max(initial=0)
        return int(longest) if longest >= SATURATED_ROWS else 0  # extremes have short holds too

    def update(self, changed: Flags) -> None:
        """Process flags of rows that differ from the row before."""
        at = np.flatnonzero(changed)
        if not len(at):
            self._since = None if self._since is None else self._since + len(changed)
            return
        if len(at) == len(changed):
            self.lengths[1] += len(at) - 1
        else:
            rows = np.minimum(np.diff(at), MAX_COUNTED_HOLD)
            self.lengths += np.bincount(rows, minlength=MAX_COUNTED_HOLD + 1)
        if self._since is not None:
            self.lengths[min(self._since + int(at[0]), MAX_COUNTED_HOLD)] += 1
        self._since = len(changed) - int(at[-1])


def _histogram_quantile(counts: Indices, fraction: float) -> int:
    """Return a quantile of a histogram, given by counts of the values 0, 1 and so on."""
    return int(np.searchsorted(np.cumsum(counts), fraction * counts.sum()))


class SaturationDetector:
    """Runs of a channel at its largest or smallest value, as saturation causes them."""

    def __init__(self, channel: int, sign: float) -> None:
        self.channel, self._sign = channel, sign
        self._extreme = -np.inf
        self._runs = _Runs()

    def update(self, values: Array, first: int, time: Array) -> None:
        """Process the channel's values in the rows from number `first`."""
        values = self._sign * values
        largest = float(values.max())
        if largest > self._extreme:
            self._extreme, self._runs = largest, _Runs()
        if largest == self._extreme:
            self._store(self._runs.update(values == largest, first, time, time))
        else:
            self._store(self._runs.close())

    def _store(self, new_runs: Array) -> None:
        self._runs.store(new_runs[new_runs[:, 1] - new_runs[:, 0] >= SATURATED_ROWS])

    def runs_at_extreme(self, frozen_rows: list[tuple[float, float]]) -> Array:
        """Return the runs of the channel at its extreme, outside frozen rows, shape (n, 4)."""
        self._store(self._runs.close())
        kept = self._runs.stored_runs
        for first, last in frozen_rows:
            kept = kept[(kept[:, 1] <= first) | (kept[:, 0] >= last)]
        return kept

    def saturated_spans(
        self, holds: HoldLengths, runs_at_end: Array, elsewhere: int
    ) -> Iterator[Span]:
        """Yield the spans in which the channel is saturated.

        `runs_at_end`: runs of the channel at this end of its range, shape (n, 4); `elsewhere`: rows
        of its longest hold at neither end; with a coarse resolution these are long too, where the
        signal turns.
        """
        if holds.change_count < MIN_ROWS_FOR_SPIKES:
            return
        least = max(SATURATED_ROWS * holds.typical_hold, _MIN_SATURATED_RATIO * elsewhere)
        rows = runs_at_end[:, 1] - runs_at_end[:, 0]
        long = runs_at_end[rows >= least]
        # A single run may be chance with a coarse resolution; saturation repeats or lasts.
        if (long[:, 1] - long[:, 0]).sum() < 2 * least:
            return
        size, name = abs(self._extreme), WRENCH_NAMES[self.channel]
        edges = np.flatnonzero(long[1:, 2] - long[:-1, 3] > _MAX_GAP_SECONDS) + 1
        for joined in np.split(long, edges):
            count = int((joined[:, 1] - joined[:, 0]).sum())
            start, stop = float(joined[0, 2]), float(joined[-1, 3])
            yield Span("saturation", start, stop, count, size, name)

"""Detection of spans in which a raw signal is invalid: frozen, saturated, or with spikes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.logs import Recording
from identify.signals.offset_steps import SIDE_SAMPLES, OffsetStep, offset_steps, zeroing_steps
from identify.signals.spikes import MIN_ROWS_FOR_SPIKES, find_spikes
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate_back

FROZEN_SECONDS = 0.3
"""Shortest time for which a frozen signal is constant, in a log where it changes elsewhere [s]."""

_FROZEN_HOLDS = 8.0
"""Smallest ratio of a freeze to the usual hold of the signal's samples."""

_ERRORS_OF_ROTATION = 4.0
"""Smallest change of a logged wrench that is constant in the sensor's axes, in rounding errors."""

SATURATED_ROWS = 4
"""Fewest successive rows of a saturated channel at its extreme: clean signals have one or two where
they turn; held signals have as many as their hold."""

_MIN_SATURATED_RATIO = 3
"""Smallest ratio of a run at the end of the range to the longest constant run elsewhere."""

_MAX_GAP_SECONDS = 0.25
"""Longest time between two saturated runs that one span joins [s]."""

MIN_SPIKE_SHARE = 1e-3
"""Smallest share of the rows with spikes; edges of a contact or a freeze are fewer."""

_MIN_SPIKES = 5
"""Fewest spikes in a block."""

_BLOCK_ROWS = 32_768
"""Rows that are processed together; results do not depend on how a log is read."""

_MAX_COUNTED_HOLD = 4096
"""Number of rows as which longer holds are counted."""

_MAX_RUNS = 50_000
"""Largest number of runs stored for a signal; the longest are kept."""

_CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")


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
            size; for a freeze the ratio of its length to the usual hold.
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


class SignalMonitor:
    """Monitor of a log's raw signals as it is read in parts of any size; stores no rows."""

    def __init__(self) -> None:
        self._pending: list[tuple[Array, Array, Array]] = []
        self._waiting = self._rows = self._pose_size = 0
        self._step = self._begin = self._end = 0.0
        self._last: tuple[Array, Array, Array] | None = None
        self._wrench, self._pose = _RepeatRuns(), _RepeatRuns()
        self._ends = [
            _SaturationDetector(channel, sign) for channel in range(6) for sign in (1.0, -1.0)
        ]
        self._holds = [_HoldLengths() for _ in range(6)]
        self._fresh: Array | None = None
        self._fresh_time = np.zeros(0)
        self._spikes: list[Span] = []
        self._steps: list[OffsetStep] = []
        self._last_samples, self._last_times = np.zeros((6, 0)), np.zeros(0)
        self._last_poses = np.zeros((0, 0))

    def update(self, recording: Recording, rows: slice = slice(None)) -> None:
        """Process the next rows of a log; rows of static poses are ignored."""
        if recording.time is None:
            return
        signals, time = recording.signals, recording.time[rows]
        pose = [signals[name][rows] for name in ("position", "quaternion") if name in signals]
        wrench = np.hstack((signals["force"][rows], signals["torque"][rows]))
        if recording.frames["wrench"] == "world" and "quaternion" in signals:
            wrench = np.hstack((wrench, _in_sensor_axes(wrench, signals["quaternion"][rows])))
        self._pending.append((time, wrench, np.hstack(pose) if pose else np.zeros((len(time), 0))))
        self._waiting += len(time)
        if self._waiting >= _BLOCK_ROWS:
            self._process_pending(_BLOCK_ROWS)

    def spans(self) -> tuple[Span, ...]:
        """Return the faulty spans in order of time; the monitor takes no more rows afterwards."""
        self._process_pending(1)
        if self._rows < MIN_ROWS_FOR_SPIKES:
            return ()
        duration = self._end - self._begin
        frozen = self._wrench.frozen("frozen_wrench", self._step, duration, self._rows)
        spans = [span for span, _ in frozen]
        if self._pose_size:
            spans += [
                span
                for span, _ in self._pose.frozen("frozen_pose", self._step, duration, self._rows)
            ]
        frozen_rows = [rows for _, rows in frozen]
        held = min(
            (int(last - first) for first, last in frozen_rows), default=_MAX_COUNTED_HOLD + 1
        )
        for holds, *ends in zip(self._holds, self._ends[::2], self._ends[1::2], strict=True):
            runs_at_ends = [end.runs(frozen_rows) for end in ends]
            elsewhere = holds.longest(np.concatenate(runs_at_ends), below=held)
            for end, runs_at_end in zip(ends, runs_at_ends, strict=True):
                spans += end.saturated(holds, runs_at_end, elsewhere)
        spans += self._zeroing_spans([span for span, _ in frozen])
        if self._spikes:
            spans.append(
                Span(
                    "spikes",
                    self._spikes[0].start,
                    self._spikes[-1].stop,
                    sum(span.rows for span in self._spikes),
                    max(span.size for span in self._spikes),
                )
            )
        return tuple(sorted(spans, key=lambda span: span.start))

    def _zeroing_spans(self, frozen: Sequence[Span]) -> Iterator[Span]:
        """Yield jumps of the wrench by which the sensor may have been zeroed, outside freezes."""
        for step in zeroing_steps(self._steps):
            ends = (step.before - self._step, step.after + self._step)
            if not any(span.start <= ends[1] and ends[0] <= span.stop for span in frozen):
                size = float(np.linalg.norm(step.jump[:3]))
                yield Span("bias_step", step.before, step.after, 0, size, jump=step.jump)

    def _process_pending(self, least: int) -> None:
        """Process pending rows in blocks while at least a given number is pending."""
        if self._waiting < least:
            return
        time, wrench, pose = (np.concatenate(each) for each in zip(*self._pending, strict=True))
        start = 0
        while len(time) - start >= least:
            block = slice(start, start + _BLOCK_ROWS)
            self._process(time[block], wrench[block], pose[block])
            start += _BLOCK_ROWS
        self._pending = [(time[start:], wrench[start:], pose[start:])]
        self._waiting = max(len(time) - start, 0)

    def _process(self, time: Array, wrench: Array, pose: Array) -> None:
        if self._last is None:
            self._begin, self._pose_size = float(time[0]), pose.shape[1]
            self._step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
            before = time[:0], wrench[:0], pose[:0]
        else:
            before = self._last
        overlap = len(before[0])  # one row, except for the first block
        first = self._rows + 1 - overlap
        stamps = np.concatenate((before[0], time))
        columns = np.concatenate((before[1], wrench)).T.copy()
        changed = columns[:, 1:] != columns[:, :-1]
        # The logged wrench or that in the sensor's axes may be constant.
        fresh = changed[:6].any(axis=0) & changed[-6:].any(axis=0)
        if len(columns) > 6:
            fresh &= ~_constant_in_sensor_axes(columns, np.concatenate((before[2], pose))[:, -4:])
        both, columns, changed = columns, columns[-6:], changed[-6:]
        self._wrench.update(~fresh, first, stamps)
        if self._pose_size:
            poses = np.concatenate((before[2], pose))
            self._pose.update(~(poses[1:] != poses[:-1]).any(axis=1), first, stamps)
        for holds, flags in zip(self._holds, changed, strict=True):
            holds.update(flags)
        for end in self._ends:
            end.update(columns[end.channel, overlap:], self._rows, time)
        # Spikes have to be in both axes: noise of the attitude enters a rotated wrench.
        is_sample = np.concatenate((np.ones(1 - overlap, dtype=np.bool_), fresh))
        self._find_spikes(both, is_sample, time)
        self._find_steps(columns[:, overlap:][:, is_sample], time[is_sample], pose[is_sample])
        self._rows += len(time)
        self._end = float(time[-1])
        self._last = time[-1:], wrench[-1:], pose[-1:]

    def _find_spikes(self, wrench: Array, fresh: Flags, time: Array) -> None:
        """Find spikes in the distinct samples of the block and the last two of the block before.

        Args:
            wrench: wrench as logged and, if that is in other axes, also in the sensor's axes, shape
                (6 or 12, rows).
            fresh: flags of rows that do not repeat the sample before.
            time: time of the rows of the block [s].
        """
        block = wrench[:, wrench.shape[1] - len(time) :]
        samples, stamps = (block, time) if fresh.all() else (block[:, fresh], time[fresh])
        if self._fresh is not None:
            samples = np.concatenate((self._fresh, samples), axis=1)
        stamps = np.concatenate((self._fresh_time, stamps))
        spikes, sizes = find_spikes(samples[:6])
        if len(samples) > 6 and len(spikes):
            in_sensor_axes = np.isin(spikes, find_spikes(samples[6:])[0])
            spikes, sizes = spikes[in_sensor_axes], sizes[in_sensor_axes]
        if len(spikes) >= max(_MIN_SPIKES, MIN_SPIKE_SHARE * len(time)):
            start, stop = float(stamps[spikes[0]]), float(stamps[spikes[-1]])
            self._spikes.append(Span("spikes", start, stop, len(spikes), float(sizes.max())))
        self._fresh, self._fresh_time = samples[:, -2:], stamps[-2:]

    def _find_steps(self, samples: Array, time: Array, pose: Array) -> None:
        """Find jumps in the samples of the block and the last ones of the block before."""
        samples = np.concatenate((self._last_samples, samples), axis=1)
        time = np.concatenate((self._last_times, time))
        pose = np.concatenate((self._last_poses, pose)) if len(self._last_poses) else pose
        quaternion = pose[:, -4:] if pose.shape[1] >= 4 else None
        self._steps += offset_steps(samples, time, quaternion)
        kept = 2 * SIDE_SAMPLES - 1
        self._last_samples, self._last_times = samples[:, -kept:], time[-kept:]
        self._last_poses = pose[-kept:]


def _in_sensor_axes(wrench: Array, quaternion: Array) -> Array:
    """Rotate a wrench from world axes to body axes and round it, shape (n, 6)."""
    R = rotation_from_quaternion(quaternion)
    return np.round(np.hstack([rotate_back(R, part) for part in np.split(wrench, 2, axis=1)]), 9)


def _constant_in_sensor_axes(columns: Array, quaternion: Array) -> Flags:
    """Flag rows whose wrench is constant in the sensor's axes but changes in world axes.

    Args:
        columns: wrench as logged in world axes, and in the sensor's axes, shape (12, n).
        quaternion: attitude that rotates between them, shape (n, 4).

    Returns:
        Flags of the steps between rows, to the log's decimals, shape (n − 1,).
    """
    steps = np.abs(np.diff(columns)).reshape(2, 2, 3, -1).max(axis=2)
    rotation_error = 4.0 * _resolution(quaternion) + 2.0 * float(np.finfo(np.float32).eps)
    parts = columns[:6].reshape(2, -1)
    errors = [2.0 * _resolution(part) + rotation_error * np.abs(part).max() for part in parts]
    logged, sensed = steps / np.array(errors)[:, None]
    return (sensed <= 1.0).all(axis=0) & (logged > _ERRORS_OF_ROTATION).any(axis=0)


def _resolution(values: Array) -> float:
    """Return the value of the last decimal of numbers with at most nine decimals."""
    return next((10.0**-d for d in range(9) if (np.round(values, d) == values).all()), 1e-9)


def runs(flags: Flags) -> Indices:
    """Return the first and one past the last index of each run of true flags, (runs, 2)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return edges.reshape(-1, 2)


@dataclass(slots=True)
class _Runs:
    """Runs of true flags that arrive in blocks.

    A row of an array of runs is [first row, one past the last row, start time, stop time].

    Attributes:
        open: run that continues at the end of the last block, if any, shape (4,).
        kept: stored runs, shape (n, 4).
    """

    open: Array | None = None
    kept: Array = field(default_factory=lambda: np.zeros((0, 4)))

    def update(self, flags: Flags, first: int, begins: Array, ends: Array) -> Array:
        """Return the runs that end in a block; a run that reaches its end stays open.

        Args:
            flags: flags of the rows of the block.
            first: number of its first row.
            begins: start time of a run that begins at each row.
            ends: stop time of a run that ends with each row.
        """
        at = runs(flags)
        closed = np.zeros((len(at), 4))
        closed[:, :2] = at + first
        closed[:, 2], closed[:, 3] = begins[at[:, 0]], ends[at[:, 1] - 1]
        if self.open is not None:
            if len(at) and at[0, 0] == 0:
                closed[0, [0, 2]] = self.open[[0, 2]]
            else:
                closed = np.concatenate((self.open[None], closed))
        self.open = None
        if len(at) and at[-1, 1] == len(flags):
            self.open, closed = closed[-1], closed[:-1]
        return closed

    def close(self) -> Array:
        """Close and return the run that is open at the end of the log, shape (0 or 1, 4)."""
        last = np.zeros((0, 4)) if self.open is None else self.open[None]
        self.open = None
        return last

    def keep(self, added: Array) -> None:
        """Store runs; if there are too many, only the longest."""
        if not len(added):
            return
        self.kept = np.concatenate((self.kept, added))
        if len(self.kept) > _MAX_RUNS:
            rows = self.kept[:, 1] - self.kept[:, 0]
            longest = np.argpartition(-rows, _MAX_RUNS // 2)[: _MAX_RUNS // 2]
            self.kept = self.kept[np.sort(longest)]


class _RepeatRuns:
    """Runs of rows that repeat the row before."""

    def __init__(self) -> None:
        self._runs = _Runs()
        self._lengths = np.zeros(_MAX_COUNTED_HOLD + 1, dtype=np.int64)

    def update(self, same: Flags, first: int, stamps: Array) -> None:
        """Process flags of the rows from `first`; stamps begin one row earlier."""
        if same.any() or self._runs.open is not None:
            self._keep(self._runs.update(same, first, stamps[:-1], stamps[1:]))

    def _keep(self, added: Array) -> None:
        rows = (added[:, 1] - added[:, 0]).astype(np.intp)
        self._lengths += np.bincount(
            np.minimum(rows, _MAX_COUNTED_HOLD), minlength=_MAX_COUNTED_HOLD + 1
        )
        long = (added[:, 3] - added[:, 2] >= FROZEN_SECONDS) & (rows > _FROZEN_HOLDS)
        self._runs.keep(added[long])

    def frozen(
        self, code: str, step: float, duration: float, rows: int
    ) -> list[tuple[Span, tuple[float, float]]]:
        """Return the spans of runs far longer than the usual hold, with their rows.

        Args:
            code: code of the finding.
            step: usual time from row to row [s].
            duration: duration of the log [s].
            rows: number of rows of the log.

        Returns:
            Spans and rows; empty if the spans take half of the log or more.
        """
        self._keep(self._runs.close())
        count = int(self._lengths.sum())
        usual = max(_quantile(self._lengths, 0.5), 1) if count > 0.01 * rows else 1
        frozen = []
        for first, last, start, stop in self._runs.kept.tolist():
            if last - first > _FROZEN_HOLDS * usual:
                ratio = (stop - start) / max(usual * step, 1e-300)
                span = Span(code, start, stop, int(last - first) + 1, ratio)
                frozen.append((span, (first - 1.0, last)))
        seconds = sum(span.stop - span.start for span, _ in frozen)
        return frozen if seconds < 0.5 * duration else []


class _HoldLengths:
    """Histogram of the numbers of rows for which a channel keeps its value."""

    def __init__(self) -> None:
        self.lengths = np.zeros(_MAX_COUNTED_HOLD + 1, dtype=np.int64)
        self._since: int | None = None

    @property
    def count(self) -> int:
        """Number of changes of the value."""
        return int(self.lengths.sum()) + (self._since is not None)

    @property
    def hold(self) -> int:
        """90 % quantile of the hold lengths, in rows."""
        return max(1, _quantile(self.lengths, 0.9))

    def longest(self, without: Array, below: int) -> int:
        """Return the rows of the longest hold, without some runs and holds that are too long.

        Args:
            without: runs that are not counted, shape (n, 4).
            below: smallest length that is too long.

        Returns:
            Zero if the longest hold is shorter than a saturated run.
        """
        rows = np.minimum(without[:, 1] - without[:, 0], _MAX_COUNTED_HOLD).astype(np.intp)
        others = self.lengths - np.bincount(rows, minlength=_MAX_COUNTED_HOLD + 1)
        longest = np.flatnonzero(others[:below] > 0).max(initial=0)
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
            rows = np.minimum(np.diff(at), _MAX_COUNTED_HOLD)
            self.lengths += np.bincount(rows, minlength=_MAX_COUNTED_HOLD + 1)
        if self._since is not None:
            self.lengths[min(self._since + int(at[0]), _MAX_COUNTED_HOLD)] += 1
        self._since = len(changed) - int(at[-1])


def _quantile(counts: Indices, share: float) -> int:
    """Return the quantile of a histogram of counts by value."""
    return int(np.searchsorted(np.cumsum(counts), share * counts.sum()))


class _SaturationDetector:
    """Runs of a channel at its largest or smallest value, as saturation causes them."""

    def __init__(self, channel: int, sign: float) -> None:
        self.channel, self._sign = channel, sign
        self._extreme = -np.inf
        self._runs = _Runs()

    def update(self, values: Array, first: int, time: Array) -> None:
        """Process the values of the rows from `first`."""
        values = self._sign * values
        largest = float(values.max())
        if largest > self._extreme:
            self._extreme, self._runs = largest, _Runs()
        if largest == self._extreme:
            self._keep(self._runs.update(values == largest, first, time, time))
        else:
            self._keep(self._runs.close())

    def _keep(self, added: Array) -> None:
        self._runs.keep(added[added[:, 1] - added[:, 0] >= SATURATED_ROWS])

    def runs(self, frozen_rows: list[tuple[float, float]]) -> Array:
        """Return the runs at the end of the range outside frozen rows, shape (n, 4)."""
        self._keep(self._runs.close())
        kept = self._runs.kept
        for first, last in frozen_rows:
            kept = kept[(kept[:, 1] <= first) | (kept[:, 0] >= last)]
        return kept

    def saturated(self, holds: _HoldLengths, runs_at_end: Array, elsewhere: int) -> Iterator[Span]:
        """Yield the spans in which the channel is saturated.

        Args:
            holds: hold lengths of the channel.
            runs_at_end: runs of the channel at this end of its range, shape (n, 4).
            elsewhere: rows of its longest hold at neither end; with a coarse resolution these are
                long too, where the signal turns.
        """
        if holds.count < MIN_ROWS_FOR_SPIKES:
            return
        least = max(SATURATED_ROWS * holds.hold, _MIN_SATURATED_RATIO * elsewhere)
        rows = runs_at_end[:, 1] - runs_at_end[:, 0]
        long = runs_at_end[rows >= least]
        # A single run may be chance with a coarse resolution; saturation repeats or lasts.
        if (long[:, 1] - long[:, 0]).sum() < 2 * least:
            return
        size, name = abs(self._extreme), _CHANNELS[self.channel]
        edges = np.flatnonzero(long[1:, 2] - long[:-1, 3] > _MAX_GAP_SECONDS) + 1
        for joined in np.split(long, edges):
            count = int((joined[:, 1] - joined[:, 0]).sum())
            start, stop = float(joined[0, 2]), float(joined[-1, 3])
            yield Span("saturation", start, stop, count, size, name)

"""Spans of time in which a signal cannot be what it says: frozen, at its end, with spikes."""

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
"""A signal that does not change for so long while it moves elsewhere is frozen …"""

_FROZEN_HOLDS = 8.0
"""… unless its samples are held nearly that long throughout: so many times as long as usual."""

_ERRORS_OF_ROTATION = 4.0
"""Errors of rounding by which a wrench changes, as logged, that stands as the sensor had it."""

SATURATED_ROWS = 4
"""Rows in a row at a channel's extreme that are an end of its range: clean signals have one or two,
where they are turning; those that are held have as many as they are held for."""

_BEYOND_OTHERS, _JOINED_SECONDS = 3, 0.25
"""Times as long as such runs elsewhere those at an end of range are at the least, and time between
two of them that is left out with them."""

SPIKE_SHARE = 1e-3
"""Least share of the rows that has spikes: edges of a contact or a freeze are a few."""

_FEWEST_SPIKES = 5

_PIECE_ROWS = 32_768
"""Rows that are looked at together: what is found does not depend on how a log was read."""

_LONGEST_COUNTED = 4096
"""Rows from which a hold is counted as one of so many."""

_MOST_RUNS = 50_000
"""Runs that are kept of a signal, the longest."""

_CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time of a log, and what is wrong there.

    Attributes:
        code: of the finding: "contact", "saturation", "spikes", "frozen_pose", "frozen_wrench",
            "dead_channel", "bias_step".
        start, stop: time in the log [s]; of spikes those of the first and the last.
        rows: of the log, or of the series, that are in it.
        size: how far beyond what is expected, as the code has it: of a contact the residual's
            energy over that of noise; of a saturation the extreme [N or N m]; of spikes the largest
            in the median size; of a freeze its length over the longest hold elsewhere.
        channel: which, where it is one: "fx" … "tz", or its column; else empty.
        jump: of the sensor's offset, in its axes, of a "bias_step" [N, N m]; else empty.
    """

    code: str
    start: float
    stop: float
    rows: int
    size: float = 0.0
    channel: str = ""
    jump: tuple[float, ...] = ()


class SignalMonitor:
    """Looks at the raw signals of a log as it is read, in parts of any size; keeps no rows."""

    def __init__(self) -> None:
        self._pending: list[tuple[Array, Array, Array]] = []
        self._waiting = self._rows = self._pose_size = 0
        self._step = self._begin = self._end = 0.0
        self._last: tuple[Array, Array, Array] | None = None
        self._wrench, self._pose = _RepeatRuns(), _RepeatRuns()
        self._ends = [
            _SaturationDetector(channel, sign) for channel in range(6) for sign in (1.0, -1.0)
        ]
        self._changes = [_Changes() for _ in range(6)]
        self._fresh: Array | None = None
        self._fresh_time = np.zeros(0)
        self._spikes: list[Span] = []
        self._steps: list[OffsetStep] = []
        self._last_samples, self._last_times = np.zeros((6, 0)), np.zeros(0)
        self._last_poses = np.zeros((0, 0))

    def update(self, recording: Recording, rows: slice = slice(None)) -> None:
        """Look at some rows of a log, those after the ones before; of still poses at none."""
        if recording.time is None:
            return
        signals, time = recording.signals, recording.time[rows]
        pose = [signals[name][rows] for name in ("position", "quaternion") if name in signals]
        wrench = np.hstack((signals["force"][rows], signals["torque"][rows]))
        if recording.frames["wrench"] == "world" and "quaternion" in signals:
            wrench = np.hstack((wrench, _in_sensor_axes(wrench, signals["quaternion"][rows])))
        self._pending.append((time, wrench, np.hstack(pose) if pose else np.zeros((len(time), 0))))
        self._waiting += len(time)
        if self._waiting >= _PIECE_ROWS:
            self._look(_PIECE_ROWS)

    def spans(self) -> tuple[Span, ...]:
        """What was seen, in order of time. Nothing more can be taken after."""
        self._look(1)
        if self._rows < MIN_ROWS_FOR_SPIKES:
            return ()
        whole = self._end - self._begin
        frozen = self._wrench.frozen("frozen_wrench", self._step, whole, self._rows)
        spans = [span for span, _ in frozen]
        if self._pose_size:
            spans += [
                span for span, _ in self._pose.frozen("frozen_pose", self._step, whole, self._rows)
            ]
        left_out = [rows for _, rows in frozen]
        held = min((int(last - first) for first, last in left_out), default=_LONGEST_COUNTED + 1)
        for changes, *ends in zip(self._changes, self._ends[::2], self._ends[1::2], strict=True):
            runs_at = [end.runs(left_out) for end in ends]
            elsewhere = changes.longest(np.concatenate(runs_at), below=held)
            for end, kept in zip(ends, runs_at, strict=True):
                spans += end.saturated(changes, kept, elsewhere)
        spans += self._zeroed([span for span, _ in frozen])
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

    def _zeroed(self, holds: Sequence[Span]) -> Iterator[Span]:
        """Jumps of the wrench that may be of a sensor that was zeroed, not the ends of a hold."""
        for step in zeroing_steps(self._steps):
            ends = (step.before - self._step, step.after + self._step)
            if not any(hold.start <= ends[1] and ends[0] <= hold.stop for hold in holds):
                size = float(np.linalg.norm(step.jump[:3]))
                yield Span("bias_step", step.before, step.after, 0, size, jump=step.jump)

    def _look(self, least: int) -> None:
        """Look at what waits, in pieces, as long as so many rows wait."""
        if self._waiting < least:
            return
        time, wrench, pose = (np.concatenate(each) for each in zip(*self._pending, strict=True))
        start = 0
        while len(time) - start >= least:
            piece = slice(start, start + _PIECE_ROWS)
            self._look_at(time[piece], wrench[piece], pose[piece])
            start += _PIECE_ROWS
        self._pending = [(time[start:], wrench[start:], pose[start:])]
        self._waiting = max(len(time) - start, 0)

    def _look_at(self, time: Array, wrench: Array, pose: Array) -> None:
        if self._last is None:
            self._begin, self._pose_size = float(time[0]), pose.shape[1]
            self._step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
            before = time[:0], wrench[:0], pose[:0]
        else:
            before = self._last
        own = len(before[0])  # one row before, but for the first
        first = self._rows + 1 - own
        stamps = np.concatenate((before[0], time))
        columns = np.concatenate((before[1], wrench)).T.copy()
        changed = columns[:, 1:] != columns[:, :-1]
        # As logged or as sensed: either may have stood still.
        fresh = changed[:6].any(axis=0) & changed[-6:].any(axis=0)
        if len(columns) > 6:
            fresh &= ~_constant_in_sensor_axes(columns, np.concatenate((before[2], pose))[:, -4:])
        both, columns, changed = columns, columns[-6:], changed[-6:]
        self._wrench.update(~fresh, first, stamps)
        if self._pose_size:
            poses = np.concatenate((before[2], pose))
            self._pose.update(~(poses[1:] != poses[:-1]).any(axis=1), first, stamps)
        for changes, flags in zip(self._changes, changed, strict=True):
            changes.update(flags)
        for end in self._ends:
            end.update(columns[end.channel, own:], self._rows, time)
        # In both: what turns a wrench brings noise of its own in, and hides where it is cut off.
        seen = np.concatenate((np.ones(1 - own, dtype=np.bool_), fresh))
        self._find_spikes(both, seen, time)
        self._find_steps(columns[:, own:][:, seen], time[seen], pose[seen])
        self._rows += len(time)
        self._end = float(time[-1])
        self._last = time[-1:], wrench[-1:], pose[-1:]

    def _find_spikes(self, wrench: Array, fresh: Flags, time: Array) -> None:
        """Look at each held sample of the piece once, behind two of the piece before.

        Args:
            wrench: as logged and, where that is in other axes, as sensed, (6 or 12, rows).
            fresh: rows that do not hold the sample before.
            time: of those of the piece [s].
        """
        own = wrench[:, wrench.shape[1] - len(time) :]
        samples, stamps = (own, time) if fresh.all() else (own[:, fresh], time[fresh])
        if self._fresh is not None:
            samples = np.concatenate((self._fresh, samples), axis=1)
        stamps = np.concatenate((self._fresh_time, stamps))
        found, sizes = find_spikes(samples[:6])
        if len(samples) > 6 and len(found):
            as_sensed = np.isin(found, find_spikes(samples[6:])[0])
            found, sizes = found[as_sensed], sizes[as_sensed]
        if len(found) >= max(_FEWEST_SPIKES, SPIKE_SHARE * len(time)):
            start, stop = float(stamps[found[0]]), float(stamps[found[-1]])
            self._spikes.append(Span("spikes", start, stop, len(found), float(sizes.max())))
        self._fresh, self._fresh_time = samples[:, -2:], stamps[-2:]

    def _find_steps(self, samples: Array, time: Array, pose: Array) -> None:
        """Look for jumps in the samples of the piece, behind some of the piece before."""
        samples = np.concatenate((self._last_samples, samples), axis=1)
        time = np.concatenate((self._last_times, time))
        pose = np.concatenate((self._last_poses, pose)) if len(self._last_poses) else pose
        quaternion = pose[:, -4:] if pose.shape[1] >= 4 else None
        self._steps += offset_steps(samples, time, quaternion)
        kept = 2 * SIDE_SAMPLES - 1
        self._last_samples, self._last_times = samples[:, -kept:], time[-kept:]
        self._last_poses = pose[-kept:]


def _in_sensor_axes(wrench: Array, quaternion: Array) -> Array:
    """A wrench logged in world axes as a sensor on the body had it, but for rounding, (n, 6)."""
    R = rotation_from_quaternion(quaternion)
    return np.round(np.hstack([rotate_back(R, part) for part in np.split(wrench, 2, axis=1)]), 9)


def _constant_in_sensor_axes(columns: Array, quaternion: Array) -> Flags:
    """Rows whose wrench stands as sensed, to the log's decimals, and turns as logged.

    Args:
        columns: of the wrench as logged, in world axes, and as sensed, shape (12, n).
        quaternion: that turns them, shape (n, 4).
    """
    steps = np.abs(np.diff(columns)).reshape(2, 2, 3, -1).max(axis=2)
    turned = 4.0 * _resolution(quaternion) + 2.0 * float(np.finfo(np.float32).eps)
    parts = columns[:6].reshape(2, -1)
    errors = [2.0 * _resolution(part) + turned * np.abs(part).max() for part in parts]
    logged, sensed = steps / np.array(errors)[:, None]
    return (sensed <= 1.0).all(axis=0) & (logged > _ERRORS_OF_ROTATION).any(axis=0)


def _resolution(values: Array) -> float:
    """The last decimal of values, of at most nine."""
    return next((10.0**-d for d in range(9) if (np.round(values, d) == values).all()), 1e-9)


def runs(flags: Flags) -> Indices:
    """First and one past the last index of each run of true flags, shape (runs, 2)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return edges.reshape(-1, 2)


@dataclass(slots=True)
class _Runs:
    """Runs of true flags that come in pieces: rows and times of first and last, shape (n, 4)."""

    open: Array | None = None
    kept: Array = field(default_factory=lambda: np.zeros((0, 4)))

    def update(self, flags: Flags, first: int, begins: Array, ends: Array) -> Array:
        """The runs that end in a piece; one that goes on at its end stays open.

        Args:
            flags: of the rows of the piece.
            first: number of its first row.
            begins: time that a run has which begins at a row.
            ends: time that a run has which ends with a row.
        """
        at = runs(flags)
        found = np.zeros((len(at), 4))
        found[:, :2] = at + first
        found[:, 2], found[:, 3] = begins[at[:, 0]], ends[at[:, 1] - 1]
        if self.open is not None:
            if len(at) and at[0, 0] == 0:
                found[0, [0, 2]] = self.open[[0, 2]]
            else:
                found = np.concatenate((self.open[None], found))
        self.open = None
        if len(at) and at[-1, 1] == len(flags):
            self.open, found = found[-1], found[:-1]
        return found

    def close(self) -> Array:
        """The run that is open at the end of the log, if any."""
        last = np.zeros((0, 4)) if self.open is None else self.open[None]
        self.open = None
        return last

    def keep(self, found: Array) -> None:
        """Keep runs; of too many the longest."""
        if not len(found):
            return
        self.kept = np.concatenate((self.kept, found))
        if len(self.kept) > _MOST_RUNS:
            rows = self.kept[:, 1] - self.kept[:, 0]
            longest = np.argpartition(-rows, _MOST_RUNS // 2)[: _MOST_RUNS // 2]
            self.kept = self.kept[np.sort(longest)]


class _RepeatRuns:
    """Runs of rows that are the same as the row before."""

    def __init__(self) -> None:
        self._runs = _Runs()
        self._lengths = np.zeros(_LONGEST_COUNTED + 1, dtype=np.int64)

    def update(self, same: Flags, first: int, stamps: Array) -> None:
        """Flags of the rows from `first`; stamps begin one row earlier."""
        if same.any() or self._runs.open is not None:
            self._keep(self._runs.update(same, first, stamps[:-1], stamps[1:]))

    def _keep(self, found: Array) -> None:
        rows = (found[:, 1] - found[:, 0]).astype(np.intp)
        self._lengths += np.bincount(
            np.minimum(rows, _LONGEST_COUNTED), minlength=_LONGEST_COUNTED + 1
        )
        long = (found[:, 3] - found[:, 2] >= FROZEN_SECONDS) & (rows > _FROZEN_HOLDS)
        self._runs.keep(found[long])

    def frozen(
        self, code: str, step: float, whole: float, rows: int
    ) -> list[tuple[Span, tuple[float, float]]]:
        """Those far longer than such runs are elsewhere, and their rows.

        Args:
            code: of the finding.
            step: usual time from row to row [s].
            whole: time the log takes [s].
            rows: of the log.
        """
        self._keep(self._runs.close())
        count = int(self._lengths.sum())
        usual = max(_quantile(self._lengths, 0.5), 1) if count > 0.01 * rows else 1
        found = []
        for first, last, start, stop in self._runs.kept.tolist():
            if last - first > _FROZEN_HOLDS * usual:
                lasts = (stop - start) / max(usual * step, 1e-300)
                span = Span(code, start, stop, int(last - first) + 1, lasts)
                found.append((span, (first - 1.0, last)))
        frozen = sum(span.stop - span.start for span, _ in found)
        return found if frozen < 0.5 * whole else []


class _Changes:
    """For how many rows a channel keeps its value."""

    def __init__(self) -> None:
        self.lengths = np.zeros(_LONGEST_COUNTED + 1, dtype=np.int64)
        self._since: int | None = None

    @property
    def count(self) -> int:
        """How often it changes."""
        return int(self.lengths.sum()) + (self._since is not None)

    @property
    def hold(self) -> int:
        """Rows that hardly any value is kept longer for."""
        return max(1, _quantile(self.lengths, 0.9))

    def longest(self, without: Array, below: int) -> int:
        """Rows of the longest run but for some, and for those that are too short or too long.

        Args:
            without: the runs that do not count, shape (n, 4).
            below: a length that is too long.
        """
        rows = np.minimum(without[:, 1] - without[:, 0], _LONGEST_COUNTED).astype(np.intp)
        others = self.lengths - np.bincount(rows, minlength=_LONGEST_COUNTED + 1)
        found = np.flatnonzero(others[:below] > 0).max(initial=0)
        return int(found) if found >= SATURATED_ROWS else 0  # shorter ones are of the ends, too

    def update(self, changed: Flags) -> None:
        """Flags of rows that differ from the row before."""
        at = np.flatnonzero(changed)
        if not len(at):
            self._since = None if self._since is None else self._since + len(changed)
            return
        if len(at) == len(changed):
            self.lengths[1] += len(at) - 1
        else:
            rows = np.minimum(np.diff(at), _LONGEST_COUNTED)
            self.lengths += np.bincount(rows, minlength=_LONGEST_COUNTED + 1)
        if self._since is not None:
            self.lengths[min(self._since + int(at[0]), _LONGEST_COUNTED)] += 1
        self._since = len(changed) - int(at[-1])


def _quantile(counts: Indices, share: float) -> int:
    """The least value that so large a share of what was counted does not exceed."""
    return int(np.searchsorted(np.cumsum(counts), share * counts.sum()))


class _SaturationDetector:
    """Runs of a channel at its largest or smallest value, as an end of range makes them."""

    def __init__(self, channel: int, sign: float) -> None:
        self.channel, self._sign = channel, sign
        self._extreme = -np.inf
        self._runs = _Runs()

    def update(self, values: Array, first: int, time: Array) -> None:
        """Values of the rows from `first`."""
        values = self._sign * values
        largest = float(values.max())
        if largest > self._extreme:
            self._extreme, self._runs = largest, _Runs()
        if largest == self._extreme:
            self._keep(self._runs.update(values == largest, first, time, time))
        else:
            self._keep(self._runs.close())

    def _keep(self, found: Array) -> None:
        self._runs.keep(found[found[:, 1] - found[:, 0] >= SATURATED_ROWS])

    def runs(self, left_out: list[tuple[float, float]]) -> Array:
        """Runs at the end, but for those in rows in which it is frozen, shape (n, 4)."""
        self._keep(self._runs.close())
        kept = self._runs.kept
        for first, last in left_out:
            kept = kept[(kept[:, 1] <= first) | (kept[:, 0] >= last)]
        return kept

    def saturated(self, changes: _Changes, kept: Array, elsewhere: int) -> Iterator[Span]:
        """The spans in which the channel is at an end of range.

        Args:
            changes: of the channel.
            kept: its runs at this end.
            elsewhere: rows of its longest run at neither end: of a coarse resolution those are
                long too, where the signal turns.
        """
        if changes.count < MIN_ROWS_FOR_SPIKES:
            return
        least = max(SATURATED_ROWS * changes.hold, _BEYOND_OTHERS * elsewhere)
        rows = kept[:, 1] - kept[:, 0]
        long = kept[rows >= least]
        # One run may be chance of a coarse resolution; an end of range is met again, or stays.
        if (long[:, 1] - long[:, 0]).sum() < 2 * least:
            return
        size, name = abs(self._extreme), _CHANNELS[self.channel]
        parts = np.flatnonzero(long[1:, 2] - long[:-1, 3] > _JOINED_SECONDS) + 1
        for own in np.split(long, parts):
            count = int((own[:, 1] - own[:, 0]).sum())
            yield Span("saturation", float(own[0, 2]), float(own[-1, 3]), count, size, name)

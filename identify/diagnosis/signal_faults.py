"""Detection of spans in which a raw signal is invalid: frozen, saturated, or with spikes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from identify.arrays import Array, Flags
from identify.diagnosis.constant_runs import (
    MAX_COUNTED_HOLD,
    HoldLengths,
    RepeatRuns,
    SaturationDetector,
)
from identify.diagnosis.spans import Span
from identify.logs import Recording
from identify.signals.offset_steps import SIDE_SAMPLES, OffsetStep, offset_steps, zeroing_steps
from identify.signals.spikes import MIN_ROWS_FOR_SPIKES, find_spikes
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate_back

_MIN_ROTATION_CHANGE = 4.0
"""Smallest change in world axes of a wrench that is frozen in sensor axes, in rounding errors."""

MIN_SPIKE_FRACTION = 1e-3
"""Smallest fraction of rows with spikes; edges of a contact or a freeze are fewer."""

_MIN_SPIKES = 5
"""Fewest spikes in a block of rows for which a span of spikes is reported."""

_BLOCK_ROWS = 32_768
"""Rows that are processed together; results do not depend on how a log is read."""


class SignalMonitor:
    """Monitor of a log's raw signals as it is read in parts of any size; stores no rows."""

    def __init__(self) -> None:
        self._pending: list[tuple[Array, Array, Array]] = []
        self._waiting = self._rows = self._pose_size = 0
        self._period = self._begin = self._end = 0.0
        self._last: tuple[Array, Array, Array] | None = None
        self._wrench, self._pose = RepeatRuns(), RepeatRuns()
        self._ends = [
            SaturationDetector(channel, sign) for channel in range(6) for sign in (1.0, -1.0)
        ]
        self._holds = [HoldLengths() for _ in range(6)]
        self._last_spike_samples: Array | None = None
        self._last_spike_times = np.zeros(0)
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
        frozen = self._wrench.frozen_spans("frozen_wrench", self._period, duration, self._rows)
        spans = [span for span, _ in frozen]
        if self._pose_size:
            spans += [
                span
                for span, _ in self._pose.frozen_spans(
                    "frozen_pose", self._period, duration, self._rows
                )
            ]
        frozen_rows = [rows for _, rows in frozen]
        held = min((int(last - first) for first, last in frozen_rows), default=MAX_COUNTED_HOLD + 1)
        for holds, *ends in zip(self._holds, self._ends[::2], self._ends[1::2], strict=True):
            runs_at_ends = [end.runs_at_extreme(frozen_rows) for end in ends]
            elsewhere = holds.longest_hold(np.concatenate(runs_at_ends), length_limit=held)
            for end, runs_at_end in zip(ends, runs_at_ends, strict=True):
                spans += end.saturated_spans(holds, runs_at_end, elsewhere)
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
            ends = (step.time_before - self._period, step.time_after + self._period)
            if not any(span.start <= ends[1] and ends[0] <= span.stop for span in frozen):
                size = float(np.linalg.norm(step.wrench_jump[:3]))
                yield Span(
                    "bias_step", step.time_before, step.time_after, 0, size, jump=step.wrench_jump
                )

    def _process_pending(self, min_rows: int) -> None:
        """Process pending rows in blocks while at least `min_rows` rows are pending."""
        if self._waiting < min_rows:
            return
        time, wrench, pose = (np.concatenate(each) for each in zip(*self._pending, strict=True))
        start = 0
        while len(time) - start >= min_rows:
            block = slice(start, start + _BLOCK_ROWS)
            self._process_block(time[block], wrench[block], pose[block])
            start += _BLOCK_ROWS
        self._pending = [(time[start:], wrench[start:], pose[start:])]
        self._waiting = max(len(time) - start, 0)

    def _process_block(self, time: Array, wrench: Array, pose: Array) -> None:
        if self._last is None:
            self._begin, self._pose_size = float(time[0]), pose.shape[1]
            self._period = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
            before = time[:0], wrench[:0], pose[:0]
        else:
            before = self._last
        overlap = len(before[0])  # one row, except for the first block
        first = self._rows + 1 - overlap
        stamps = np.concatenate((before[0], time))
        both = np.concatenate((before[1], wrench)).T.copy()
        changed = both[:, 1:] != both[:, :-1]
        # The logged wrench or that in the sensor's axes may be constant.
        fresh = changed[:6].any(axis=0) & changed[-6:].any(axis=0)
        if len(both) > 6:
            fresh &= ~_constant_in_sensor_axes(both, np.concatenate((before[2], pose))[:, -4:])
        columns = both[-6:]
        changed = changed[-6:]
        self._wrench.update(~fresh, first, stamps)
        if self._pose_size:
            poses = np.concatenate((before[2], pose))
            self._pose.update(~(poses[1:] != poses[:-1]).any(axis=1), first, stamps)
        for holds, flags in zip(self._holds, changed, strict=True):
            holds.update(flags)
        for end in self._ends:
            end.update(columns[end.channel, overlap:], self._rows, time)
        is_sample = np.concatenate((np.ones(1 - overlap, dtype=np.bool_), fresh))
        self._find_spikes(both[:, overlap:], is_sample, time)
        self._find_steps(columns[:, overlap:][:, is_sample], time[is_sample], pose[is_sample])
        self._rows += len(time)
        self._end = float(time[-1])
        self._last = time[-1:], wrench[-1:], pose[-1:]

    def _find_spikes(self, wrench: Array, is_new: Flags, time: Array) -> None:
        """Find spikes in the distinct samples of the block and the last two of the block before.

        The wrench is as logged and, if that is in other axes, also in the sensor's, 6 or 12 rows.
        """
        samples, stamps = (wrench, time) if is_new.all() else (wrench[:, is_new], time[is_new])
        if self._last_spike_samples is not None:
            samples = np.concatenate((self._last_spike_samples, samples), axis=1)
        stamps = np.concatenate((self._last_spike_times, stamps))
        spikes, sizes = find_spikes(samples[:6])
        # Spikes have to be in both axes: noise of the attitude enters a rotated wrench.
        if len(samples) > 6 and len(spikes):
            in_sensor_axes = np.isin(spikes, find_spikes(samples[6:])[0])
            spikes, sizes = spikes[in_sensor_axes], sizes[in_sensor_axes]
        if len(spikes) >= max(_MIN_SPIKES, MIN_SPIKE_FRACTION * len(time)):
            start, stop = float(stamps[spikes[0]]), float(stamps[spikes[-1]])
            self._spikes.append(Span("spikes", start, stop, len(spikes), float(sizes.max())))
        self._last_spike_samples, self._last_spike_times = samples[:, -2:], stamps[-2:]

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

    `columns`: wrench as logged in world axes, and in the sensor's axes, shape (12, n);
    `quaternion`: attitude that rotates between them, shape (n, 4).
    Returns flags of the steps between rows, to the log's decimals, shape (n − 1,).
    """
    steps = np.abs(np.diff(columns)).reshape(2, 2, 3, -1).max(axis=2)
    rotation_error = 4.0 * _resolution(quaternion) + 2.0 * float(np.finfo(np.float32).eps)
    parts = columns[:6].reshape(2, -1)
    errors = [2.0 * _resolution(part) + rotation_error * np.abs(part).max() for part in parts]
    logged, sensed = steps / np.array(errors)[:, None]
    return (sensed <= 1.0).all(axis=0) & (logged > _MIN_ROTATION_CHANGE).any(axis=0)


def _resolution(values: Array) -> float:
    """Return the value of the last decimal of numbers with at most nine decimals."""
    return next((10.0**-d for d in range(9) if (np.round(values, d) == values).all()), 1e-9)

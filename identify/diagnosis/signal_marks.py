"""Marks of a log before any fit: gaps, rests, constant values, spikes, and its clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Indices
from identify.diagnosis.constant_runs import RepeatRuns
from identify.diagnosis.spans import Span, true_runs
from identify.logs import Recording
from identify.relevance import MAX_RATE_AT_REST, MIN_POSE_JUMP_DISTANCE
from identify.signals.sample_and_hold import sampled_rows
from identify.signals.spikes import find_spikes
from identify.signals.uniform_clock import candidate_uniform_clocks, gap_starts, sampling_period
from identify.spatial import unwrap_quaternions

_REST_WINDOW_SECONDS = 0.2
"""Shortest rest, and time over which the motion is averaged [s]."""

_MIN_ROWS = 8
"""Fewest rows whose clock is judged."""

_MIN_SPIKE_HEIGHT = 0.01
"""Smallest height of a spike that is marked, relative to the range of its channel: in smooth
signals the rounding of the log stands out, too."""


@dataclass(frozen=True, slots=True)
class ClockSummary:
    """Stamps of a table, or of a stream.

    Attributes:
        rows: their number.
        duration: from the first to the last stamp [s].
        rate_hz: stamps a second outside gaps [Hz]; zero if they never advance.
        jitter: RMS difference of the stamps from a uniform clock [sampling periods]; NaN if none
            explains them.
        gaps: steps of more than five periods.
        repeated: rows with the stamp of the row before.
        backward: rows with an earlier stamp than the row before.
        missing: rows without a stamp.
    """

    rows: int
    duration: float
    rate_hz: float
    jitter: float
    gaps: int
    repeated: int
    backward: int
    missing: int


def summarise_clock(time: Array) -> ClockSummary:
    """Summarise stamps [s] in the order of the rows, shape (n,), n ≥ 2."""
    stamps = time[np.isfinite(time)]
    steps = np.diff(stamps)
    ordered = np.unique(stamps)
    has_enough_rows = len(ordered) >= _MIN_ROWS
    gaps = gap_starts(ordered) if has_enough_rows else np.zeros(0, dtype=np.intp)
    within = np.delete(np.diff(ordered), gaps - 1)
    clocks = candidate_uniform_clocks(ordered) if has_enough_rows else []
    return ClockSummary(
        rows=len(time),
        duration=float(np.ptp(stamps)) if len(stamps) else 0.0,
        rate_hz=1.0 / float(within.mean()) if len(within) else 0.0,
        jitter=min((clock.rms_jitter for clock in clocks), default=np.nan),
        gaps=len(gaps),
        repeated=int((steps == 0.0).sum()),
        backward=int((steps < 0.0).sum()),
        missing=len(time) - len(stamps),
    )


def signal_marks(time: Array, signals: Mapping[str, Array]) -> tuple[Span, ...]:
    """Return gaps of the stamps, and constant values and spikes of each signal.

    `time`: increasing stamps [s], shape (n,); `signals`: by name, finite, shape (n, ·).
    """
    if len(time) < _MIN_ROWS or not time[-1] > time[0]:
        return ()
    gaps = gap_starts(time).tolist()
    marks = [Span("gap", float(time[k - 1]), float(time[k]), 0) for k in gaps]
    step, duration = sampling_period(time), float(time[-1] - time[0])
    for name, values in signals.items():
        changed = (values[1:] != values[:-1]).any(axis=1)
        runs = RepeatRuns()
        runs.update(~changed, 1, time)
        constant = runs.frozen_spans("constant", step, duration, len(time))
        marks += [Span("constant", s.start, s.stop, s.rows, s.size, name) for s, _ in constant]
        fresh = np.flatnonzero(np.concatenate(([True], changed)))
        samples = values[fresh]
        spikes, sizes = find_spikes(samples.T.copy())
        heights = np.abs(samples[spikes] - 0.5 * (samples[spikes - 1] + samples[spikes + 1]))
        high = (heights > _MIN_SPIKE_HEIGHT * np.ptp(values, axis=0)).any(axis=1)
        at = zip(time[fresh[spikes[high]]].tolist(), sizes[high].tolist(), strict=True)
        marks += [Span("spike", when, when, 1, size, name) for when, size in at]
    return tuple(sorted(marks, key=lambda span: span.start))


def rows_per_sample(values: Array) -> float:
    """Return the mean number of rows for which a slower sensor's sample is held; 1 if none is."""
    rows = sampled_rows([values])
    return 1.0 if rows is None else len(values) / len(rows)


def rest_spans(recording: Recording) -> tuple[Span, ...]:
    """Return the spans in which the body, or every joint, is at rest.

    The motion is averaged over windows: of angles and positions their change, of rates their root
    mean square.
    """
    time = recording.time
    if time is None or len(time) < 2 * _MIN_ROWS:
        return ()
    signals = recording.signals
    count = max(2, round(_REST_WINDOW_SECONDS / max(sampling_period(time), 1e-9)))
    edges = np.arange(0, len(time), count)
    seconds = np.diff(time[edges])
    joints = recording.joints
    limits: list[tuple[Array, Array | float]] = []
    if joints is not None and "joint_position" in signals:
        limits.append(
            (np.abs(np.diff(signals["joint_position"][edges], axis=0)), joints.still_below)
        )
    for name in ("gyro", "angular_velocity"):
        if name in signals:
            squares = np.add.reduceat((signals[name] ** 2).sum(axis=1), edges)[: len(seconds)]
            limits.append(((np.sqrt(squares / count) * seconds)[:, None], MAX_RATE_AT_REST))
    if "quaternion" in signals:
        chords = np.diff(unwrap_quaternions(signals["quaternion"][edges]), axis=0)
        limits.append((2.0 * np.linalg.norm(chords, axis=1)[:, None], MAX_RATE_AT_REST))
    if "position" in signals:
        moved = np.linalg.norm(np.diff(signals["position"][edges], axis=0), axis=1)[:, None]
        limits.append((moved, MIN_POSE_JUMP_DISTANCE / _REST_WINDOW_SECONDS))
    if not limits:
        return ()
    slow = [(moved < limit * seconds[:, None]).all(axis=1) for moved, limit in limits]
    still = np.all(slow, axis=0) & (seconds < 5.0 * _REST_WINDOW_SECONDS)
    return tuple(
        Span("rest", float(time[edges[a]]), float(time[edges[b]]), int(edges[b] - edges[a]))
        for a, b in true_runs(still).tolist()
        if _stays(signals, edges[a : b + 1])
    )


def _stays(signals: Mapping[str, Array], rows: Indices) -> bool:
    """Return whether the attitude keeps to what one window at rest allows: no slow turn does."""
    if "quaternion" not in signals:
        return True
    q = unwrap_quaternions(signals["quaternion"][rows])
    turned = 2.0 * np.linalg.norm(q - q[0], axis=1)
    return bool(turned.max() < MAX_RATE_AT_REST * _REST_WINDOW_SECONDS)


def recording_marks(recording: Recording) -> tuple[Span, ...]:
    """Return gaps, rests, constant values and spikes of a recording."""
    if recording.time is None:
        return ()
    marks = [*rest_spans(recording), *signal_marks(recording.time, recording.signals)]
    for stream in recording.streams:
        marks += signal_marks(stream.time, stream.signals)
    return tuple(marks)

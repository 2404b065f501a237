"""Uninterrupted segments of a log on a uniform clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from identify.arrays import Array, Indices, Vec4
from identify.errors import LogError
from identify.logs import Recording
from identify.relevance import LONGEST_SAMPLE_PERIOD, MIN_POSE_JUMP_ANGLE, MIN_POSE_JUMP_DISTANCE
from identify.signals.sample_and_hold import LONGEST_HOLD
from identify.signals.static_poses import IF_STATIC_POSES
from identify.signals.uniform_clock import gap_starts, uniform_rows
from identify.spatial import unwrap_quaternions
from identify.spatial.rotations import normalised_quaternion, rotation_angle, vector_norms

MIN_SEGMENT_ROWS = 8
"""Fewest rows of a segment of motion."""

_MAX_TURN_PER_ROW = 0.5
"""Largest median rotation between neighbouring rows of a sampled motion [rad]."""

_JUMP_RATIO = 8.0
"""Smallest ratio of a jump to the second longest step near it; a glitch steps out and back."""

_ROWS_BESIDE_JUMP = 4
"""Changed rows on either side of a jump with which it is compared."""

_MIN_REST_ROWS = 2
"""Rows with the same pose, for `LONGEST_SAMPLE_PERIOD` or longer, of a body at rest."""


@dataclass(frozen=True, slots=True)
class EvenSegment:
    """Uniformly sampled signals of a segment without gaps or jumps.

    Attributes:
        time: [s], shape (n,).
        rate_hz: sampling rate [Hz].
        signals: by name, in the frames of the recording; quaternions unwrapped.
        row_count: number of rows of the log in the segment.
    """

    time: Array
    rate_hz: float
    signals: Mapping[str, Array]
    row_count: int

    def __len__(self) -> int:
        return len(self.time)


def even_segments(recording: Recording) -> list[EvenSegment]:
    """Cut a log at gaps and jumps and resample each sufficiently long segment to a uniform clock.

    Raises `LogError`: too few rows, constant stamps, or attitudes that are not a sampled motion.
    """
    return even_segments_of(recording.name, recording.time, recording.signals)


def even_segments_of(
    name: str, time: Array | None, signals: Mapping[str, Array]
) -> list[EvenSegment]:
    """Cut signals with one clock at gaps and jumps into uniformly sampled segments.

    `time`: their stamps [s], shape (n,); `signals`: by name, shape (n, ·).
    """
    count = 0 if time is None else len(time)
    if time is None or count < MIN_SEGMENT_ROWS:
        raise LogError(
            f"{name}: {len(next(iter(signals.values())))} rows are too few for a motion (need "
            f"{MIN_SEGMENT_ROWS} or more); {IF_STATIC_POSES}"
        )
    if not time[-1] > time[0]:
        raise LogError(f"{name}: the time stamps never advance: check [log] time")
    quaternion = signals.get("quaternion")
    if quaternion is not None:
        quaternion = unwrap_quaternions(quaternion)
        _require_resolved(name, quaternion)
    cuts = np.union1d(gap_starts(time), jump_starts(time, signals.get("position"), quaternion))
    edges = [0, *(int(cut) for cut in cuts), count]
    return [
        _even_segment(signals, time, slice(start, stop))
        for start, stop in pairwise(edges)
        if stop - start >= MIN_SEGMENT_ROWS and time[stop - 1] > time[start]
    ]


def _require_resolved(name: str, quaternion: Vec4) -> None:
    """Raise LogError if the attitude rotates too far between rows to be a sampled motion."""
    step = float(np.median(rotation_angle(quaternion[:-1], quaternion[1:])))
    if step > _MAX_TURN_PER_ROW:
        raise LogError(
            f"{name}: the attitude turns by {step:.2g} rad from row to row (median), "
            f"which is too far to be differentiated: {IF_STATIC_POSES}; else check `time_unit`, "
            "that of each stream where there are several, and `angle_unit`, `order` and `maps` in "
            "[pose], or `unit` in [joints]"
        )


def _even_segment(signals: Mapping[str, Array], time: Array, rows: slice) -> EvenSegment:
    parts = {name: values[rows] for name, values in signals.items()}
    if "quaternion" in parts:
        parts["quaternion"] = unwrap_quaternions(parts["quaternion"])
    edges = np.cumsum([0, *(values.shape[1] for values in parts.values())]).tolist()
    slices = {name: slice(*pair) for name, pair in zip(parts, pairwise(edges), strict=True)}
    # The pose is what is differentiated, and the smoothest signal of a motion.
    pose = [slices[name] for name in ("position", "quaternion") if name in parts]
    judged_columns = np.r_[tuple(pose or slices.values())]
    even = uniform_rows(time[rows], np.concatenate(list(parts.values()), axis=1), judged_columns)
    on_clock = {name: even.columns[:, part] for name, part in slices.items()}
    if "quaternion" in on_clock:
        on_clock["quaternion"] = normalised_quaternion(on_clock["quaternion"])
    return EvenSegment(even.time, even.rate_hz, on_clock, rows.stop - rows.start)


def jump_starts(time: Array, position: Array | None, quaternion: Array | None) -> Indices:
    """Return the indices of rows whose pose jumps from the row before.

    `time`: [s], shape (n,); `position`: [m], shape (n, 3), or None; `quaternion`: shape (n, 4), or
    None.
    """
    starts: list[Indices] = [np.empty(0, dtype=np.intp)]
    if quaternion is not None:
        chords = vector_norms(np.diff(unwrap_quaternions(quaternion), axis=0))
        starts.append(_isolated_steps(time, 2.0 * chords, MIN_POSE_JUMP_ANGLE))
    if position is not None:
        distances = vector_norms(np.diff(position, axis=0))
        starts.append(_isolated_steps(time, distances, MIN_POSE_JUMP_DISTANCE))
    return np.unique(np.concatenate(starts))


def _isolated_steps(time: Array, steps: Array, min_length: float) -> Indices:
    """Return the indices of rows after isolated long steps, ignoring held rows."""
    fresh = np.flatnonzero(steps > 0.0)
    if len(fresh) == 0:
        return fresh
    lengths = np.pad(steps[fresh], _ROWS_BESIDE_JUMP)
    neighbours = np.lib.stride_tricks.sliding_window_view(lengths, 2 * _ROWS_BESIDE_JUMP + 1).copy()
    neighbours[:, _ROWS_BESIDE_JUMP] = 0.0
    second_longest = np.partition(neighbours, -2, axis=1)[:, -2]
    isolated = steps[fresh] > _JUMP_RATIO * second_longest
    edges = np.concatenate(([0], fresh + 1, [len(time)]))
    rows = np.diff(edges)
    durations = np.diff(time[edges[:-1]])
    durations = np.append(durations, durations[-1])  # the last hold has no end in the log
    rests = (rows > LONGEST_HOLD) | ((rows >= _MIN_REST_ROWS) & (durations > LONGEST_SAMPLE_PERIOD))
    jumps = (steps[fresh] > min_length) & (isolated | (rests[:-1] & rests[1:]))
    return fresh[jumps] + 1

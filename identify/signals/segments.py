"""Uninterrupted segments of a log, on an even clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from identify.arrays import Array, Indices, Vec4
from identify.errors import LogError
from identify.logs import Recording
from identify.relevance import POSE_JUMP_ANGLE, POSE_JUMP_DISTANCE
from identify.signals.clock import gap_starts, uniform_rows
from identify.signals.sample_and_hold import LONGEST_HOLD
from identify.spatial import unwrap_quaternions
from identify.spatial.rotations import lengths, normalised_quaternion, rotation_angle

MIN_SEGMENT_ROWS = 8
"""Rows below which no motion can be seen."""

_MAX_TURN_PER_ROW = 0.5
"""Turn between neighbouring rows beyond which no motion can be seen between them [rad]."""

_JUMP_RATIO = 8.0
"""Length of a jump in that of the steps near it but one: a glitch steps out and back."""

_NEIGHBOURS = 4
"""Fresh rows to either side of a jump whose steps are near it."""


@dataclass(frozen=True, slots=True)
class EvenSegment:
    """Signals of a segment without gaps or jumps, evenly sampled.

    Attributes:
        time: [s], shape (n,).
        rate_hz: sampling rate [Hz].
        signals: by name, in the frames of the recording; quaternions unwrapped.
        rows: how many rows of the log it was made of.
    """

    time: Array
    rate_hz: float
    signals: Mapping[str, Array]
    rows: int

    def __len__(self) -> int:
        return len(self.time)


def even_segments(recording: Recording) -> list[EvenSegment]:
    """Cut a log at gaps and jumps, and put each segment that has a few rows on an even clock.

    Raises:
        LogError: too few rows, stamps that never advance, or attitudes that are no motion.
    """
    return even_segments_of(recording.name, recording.time, recording.signals)


def even_segments_of(
    name: str, time: Array | None, signals: Mapping[str, Array]
) -> list[EvenSegment]:
    """As `even_segments`, of signals with one clock.

    Args:
        name: of what has them, for messages.
        time: their stamps [s], shape (n,).
        signals: by name, shape (n, ·).
    """
    count = 0 if time is None else len(time)
    if time is None or count < MIN_SEGMENT_ROWS:
        raise LogError(
            f"{name}: {len(next(iter(signals.values())))} rows are too few to see a motion (need "
            f"{MIN_SEGMENT_ROWS} or more); if each is a still pose, set `still = true` in "
            "[log]"
        )
    if not time[-1] > time[0]:
        raise LogError(f"{name}: the time stamps never advance: check [log] time")
    quaternion = signals.get("quaternion")
    if quaternion is not None:
        quaternion = unwrap_quaternions(quaternion)
        _require_resolved(name, quaternion)
    cuts = np.union1d(gap_starts(time), jump_starts(signals.get("position"), quaternion))
    edges = [0, *(int(cut) for cut in cuts), count]
    return [
        _even_segment(signals, time, slice(start, stop))
        for start, stop in pairwise(edges)
        if stop - start >= MIN_SEGMENT_ROWS and time[stop - 1] > time[start]
    ]


def _require_resolved(name: str, quaternion: Vec4) -> None:
    """Raise where the attitude turns too far from row to row to be a sampled motion."""
    step = float(np.median(rotation_angle(quaternion[:-1], quaternion[1:])))
    if step > _MAX_TURN_PER_ROW:
        raise LogError(
            f"{name}: the attitude turns by {step:.2g} rad from row to row (median), "
            f"which is no motion that could be differentiated. If each row is a still pose, set "
            f"`still = true` in [log]; else check `time_unit`, that of each stream where there are "
            f"several, and `angle_unit`, `order` and `maps` in [pose]"
        )


def _even_segment(signals: Mapping[str, Array], time: Array, rows: slice) -> EvenSegment:
    parts = {name: values[rows] for name, values in signals.items()}
    if "quaternion" in parts:
        parts["quaternion"] = unwrap_quaternions(parts["quaternion"])
    edges = np.cumsum([0, *(values.shape[1] for values in parts.values())]).tolist()
    slices = {name: slice(*pair) for name, pair in zip(parts, pairwise(edges), strict=True)}
    posed = [slices[name] for name in ("position", "quaternion") if name in parts]
    probe = np.r_[tuple(posed or slices.values())]
    even = uniform_rows(time[rows], np.concatenate(list(parts.values()), axis=1), probe)
    on_clock = {name: even.columns[:, part] for name, part in slices.items()}
    if "quaternion" in on_clock:
        on_clock["quaternion"] = normalised_quaternion(on_clock["quaternion"])
    return EvenSegment(even.time, even.rate_hz, on_clock, rows.stop - rows.start)


def jump_starts(position: Array | None, quaternion: Array | None) -> Indices:
    """Indices of rows whose pose no motion explains, seen from the row before.

    Args:
        position: [m], shape (n, 3), or None.
        quaternion: shape (n, 4), or None.
    """
    starts: list[Indices] = [np.empty(0, dtype=np.intp)]
    if quaternion is not None:
        chords = lengths(np.diff(unwrap_quaternions(quaternion), axis=0))
        starts.append(_isolated_steps(2.0 * chords, POSE_JUMP_ANGLE))
    if position is not None:
        starts.append(_isolated_steps(lengths(np.diff(position, axis=0)), POSE_JUMP_DISTANCE))
    return np.unique(np.concatenate(starts))


def _isolated_steps(steps: Array, least: float) -> Indices:
    """Indices after steps that stand alone, held rows left out of the comparison."""
    fresh = np.flatnonzero(steps > 0.0)
    if len(fresh) == 0:
        return fresh
    lengths = np.pad(steps[fresh], _NEIGHBOURS)
    around = np.lib.stride_tricks.sliding_window_view(lengths, 2 * _NEIGHBOURS + 1).copy()
    around[:, _NEIGHBOURS] = 0.0
    second_longest = np.partition(around, -2, axis=1)[:, -2]
    alone = steps[fresh] > _JUMP_RATIO * second_longest
    after_hold = np.diff(fresh, prepend=-1) > LONGEST_HOLD
    before_hold = np.diff(fresh, append=len(steps)) > LONGEST_HOLD
    jumps = (steps[fresh] > least) & (alone | (after_hold & before_hold))
    return fresh[jumps] + 1

"""Rows of one static pose, averaged to one observation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.logs import Recording
from identify.relevance import MIN_POSE_JUMP_ANGLE, MIN_POSE_JUMP_DISTANCE
from identify.spatial.rotations import rotation_angle, vector_norms

IF_STATIC_POSES = (
    "if its rows are static poses, set `still = true` in [log] in place of `time` or `rate_hz`"
)
"""Remedy of a log whose rows are no sampled motion."""

_POSE_SIGNALS = frozenset({"position", "quaternion"})


def with_one_row_a_pose(recording: Recording) -> Recording:
    """Return static poses with one row for each: the mean of what was measured there.

    What a pose adds to the errors of the wrench (friction of the mount, a hose, hysteresis) is the
    same in all of its rows, so that they are one observation. Returns the same object if no pose
    has several rows, or if the log has none.
    """
    if not recording.still or "quaternion" not in recording.signals:
        return recording
    starts = _pose_starts(recording.signals["quaternion"], recording.signals.get("position"))
    if len(starts) == len(recording):
        return recording
    middle = (starts + np.append(starts[1:], len(recording)) - 1) // 2
    counts = np.diff(np.append(starts, len(recording)))[:, None]
    signals = {
        name: values[middle]
        if name in _POSE_SIGNALS
        else np.add.reduceat(values, starts, axis=0) / counts
        for name, values in recording.signals.items()
    }
    angles = recording.attitude_coordinates
    return replace(
        recording,
        signals=signals,
        attitude_coordinates=None if angles is None else angles[middle],
    )


def _pose_starts(quaternion: Array, position: Array | None) -> Indices:
    """Return the first row of each pose; rows that creep farther than noise are one pose each."""

    def differ(rows: Indices, others: Indices) -> Flags:
        far = rotation_angle(quaternion[rows], quaternion[others]) > MIN_POSE_JUMP_ANGLE
        if position is not None:
            far |= vector_norms(position[rows] - position[others]) > MIN_POSE_JUMP_DISTANCE
        return far

    rows = np.arange(len(quaternion))
    is_start = np.concatenate(([True], differ(rows[1:], rows[:-1])))
    run = np.cumsum(is_start) - 1
    creeps = np.logical_or.reduceat(differ(rows, rows[is_start][run]), rows[is_start])
    return np.flatnonzero(is_start | creeps[run])

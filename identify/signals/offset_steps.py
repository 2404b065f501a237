"""Detection of permanent jumps in a wrench, as when a sensor is zeroed while logging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from identify.arrays import Array
from identify.logs import Recording
from identify.relevance import MIN_ZEROING_JUMP
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate

SIDE_SAMPLES = 5
"""Samples on either side of a jump from which it is estimated."""

_MIN_JUMP_PER_MEDIAN = 12.0
"""Smallest jump, as a multiple of the median difference between two sides; noise stays below."""

_MAX_JUMPS = 3
"""Most jumps of a zeroed sensor in a log; more are attributed to contacts."""

_MAX_RETURN_RESIDUE = 0.5
"""Largest sum of two jumps that count as start and end of a contact, as a share of the larger."""


@dataclass(frozen=True, slots=True)
class OffsetStep:
    """Jump of the sensor's offset.

    Attributes:
        time_before, time_after: times of the samples on either side [s], or numbers of static
            poses.
        wrench_jump: change of the wrench in the sensor's axes, shape (6,) [N, N m].
        world_force_jump: change of the force in the world's axes, shape (3,) [N]; empty without a
            pose.
    """

    time_before: float
    time_after: float
    wrench_jump: tuple[float, ...]
    world_force_jump: tuple[float, ...] = ()


def offset_steps(wrench: Array, time: Array, quaternion: Array | None = None) -> list[OffsetStep]:
    """Find permanent jumps from straight lines fitted to the samples on both sides.

    `wrench`: samples that are not held, in the sensor's axes, shape (6, n); `time`: of them [s],
    shape (n,); `quaternion`: of the body in the world, shape (n, 4); None without one.
    Returns the jumps; none for a wrench with a constant channel.
    """
    if wrench.shape[1] < 10 * SIDE_SAMPLES or not np.ptp(wrench, axis=1).all():
        return []
    sides = np.lib.stride_tricks.sliding_window_view(wrench, SIDE_SAMPLES, axis=1)
    before, after = sides[:, :-SIDE_SAMPLES], sides[:, SIDE_SAMPLES:]
    centred = np.arange(SIDE_SAMPLES) - 0.5 * (SIDE_SAMPLES - 1)
    to_edge = np.full(SIDE_SAMPLES, 1.0 / SIDE_SAMPLES) + 0.5 * SIDE_SAMPLES * centred / (
        centred @ centred
    )
    by_lines = after @ to_edge[::-1] - before @ to_edge
    sizes, channel_range = np.abs(by_lines), np.ptp(wrench, axis=1)
    vector_range = np.repeat(channel_range.reshape(2, 3).max(axis=1), 3)  # an axis may be unloaded
    least = np.maximum(
        _MIN_JUMP_PER_MEDIAN * np.median(sizes, axis=1), MIN_ZEROING_JUMP * vector_range
    )[:, None]
    offset_jumps, candidates = [], np.flatnonzero((sizes > least).any(axis=0))
    # A spike moves a line, but not a median.
    by_medians = np.median(after[:, candidates], axis=-1) - np.median(
        before[:, candidates], axis=-1
    )
    same_sign = np.sign(by_lines[:, candidates]) == np.sign(by_medians)
    stays = same_sign & (np.minimum(sizes[:, candidates], np.abs(by_medians)) > least)
    candidates = candidates[stays.any(axis=0)]
    for cluster in (
        np.split(candidates, np.flatnonzero(np.diff(candidates) > SIDE_SAMPLES) + 1)
        if len(candidates)
        else []
    ):
        k = int(cluster[np.argmax((sizes[:, cluster] / channel_range[:, None]).max(axis=0))])
        edge = k + SIDE_SAMPLES
        jump, in_world = by_lines[:, k], np.zeros(0)
        if quaternion is not None:
            in_world = rotate(rotation_from_quaternion(quaternion[edge]), jump[:3])
        edge_times = float(time[edge - 1]), float(time[edge])
        offset_jumps.append(OffsetStep(*edge_times, tuple(jump.tolist()), tuple(in_world.tolist())))
    return offset_jumps


def zeroing_steps(steps: Sequence[OffsetStep]) -> list[OffsetStep]:
    """Return the jumps if zeroing of the sensor may cause them: few, and none reverts another.

    A force that is constant in the axes of the sensor or the world appears and disappears by equal
    jumps.
    """
    for first, second in combinations(steps, 2):
        for a, b in (
            (first.wrench_jump[:3], second.wrench_jump[:3]),
            (first.world_force_jump, second.world_force_jump),
        ):
            sizes = [float(np.linalg.norm(jump)) for jump in (np.add(a, b), a, b)]
            if a and sizes[0] < _MAX_RETURN_RESIDUE * max(sizes):
                return []
    return list(steps) if len(steps) <= _MAX_JUMPS else []


def without_offset_steps(recording: Recording, steps: Sequence[OffsetStep]) -> Recording:
    """Subtract jumps of the sensor's offset from the wrench of a recording.

    The time of static poses is their number, from zero.
    """
    time = np.arange(len(recording)) if recording.time is None else recording.time
    offset = np.zeros((len(time), 6))
    for step in steps:
        offset[time > 0.5 * (step.time_before + step.time_after)] += step.wrench_jump
    parts = [offset[:, :3], offset[:, 3:]]
    if recording.frames["wrench"] == "world":
        R = rotation_from_quaternion(recording.signals["quaternion"])
        parts = [rotate(R, part) for part in parts]
    changed = {
        name: recording.signals[name] - part
        for name, part in zip(("force", "torque"), parts, strict=True)
    }
    return replace(recording, signals={**recording.signals, **changed})

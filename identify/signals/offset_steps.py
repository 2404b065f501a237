"""Jumps of all that follows in a wrench, as of a sensor that is zeroed while it is logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from identify.arrays import Array
from identify.logs import Recording
from identify.relevance import ZEROING_SHARE
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate

SIDE_SAMPLES = 5
"""Samples on either side of a jump that it is read from."""

_MIN_JUMP_MEDIANS = 12.0
"""Jumps, in the median size of differences between the sides, that no noise makes."""

_MAX_JUMPS = 3
"""Jumps beyond which they are those of contacts, not of a sensor that is zeroed."""

_RETURN_SHARE = 0.5
"""Two jumps whose sum is less than this share of the larger are the ends of a contact."""


@dataclass(frozen=True, slots=True)
class OffsetStep:
    """A jump of the sensor's offset.

    Attributes:
        before, after: times of the samples on either side [s], or numbers of still poses.
        jump: change of the wrench in the sensor's axes, shape (6,) [N, N m].
        in_world: change of the force in the world's axes, shape (3,) [N]; empty without a pose.
    """

    before: float
    after: float
    jump: tuple[float, ...]
    in_world: tuple[float, ...] = ()


def offset_steps(wrench: Array, time: Array, quaternion: Array | None = None) -> list[OffsetStep]:
    """Find jumps that stay, each by straight lines through the samples on its two sides.

    Args:
        wrench: samples that are not held, in the sensor's axes, shape (6, n).
        time: of them [s], shape (n,).
        quaternion: of the body in the world, shape (n, 4); None without one.

    Returns:
        Those found; none of a wrench of which a channel is the same throughout.
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
    sizes, reach = np.abs(by_lines), np.ptp(wrench, axis=1)
    least = np.maximum(_MIN_JUMP_MEDIANS * np.median(sizes, axis=1), ZEROING_SHARE * reach)[:, None]
    found, at = [], np.flatnonzero((sizes > least).any(axis=0))
    # A spike moves a line, but no median.
    by_medians = np.median(after[:, at], axis=-1) - np.median(before[:, at], axis=-1)
    same_way = np.sign(by_lines[:, at]) == np.sign(by_medians)
    stays = same_way & (np.minimum(sizes[:, at], np.abs(by_medians)) > least)
    at = at[stays.any(axis=0)]
    for own in np.split(at, np.flatnonzero(np.diff(at) > SIDE_SAMPLES) + 1) if len(at) else []:
        k = int(own[np.argmax((sizes[:, own] / reach[:, None]).max(axis=0))])
        edge = k + SIDE_SAMPLES
        jump, in_world = by_lines[:, k], np.zeros(0)
        if quaternion is not None:
            in_world = rotate(rotation_from_quaternion(quaternion[edge]), jump[:3])
        at_edge = float(time[edge - 1]), float(time[edge])
        found.append(OffsetStep(*at_edge, tuple(jump.tolist()), tuple(in_world.tolist())))
    return found


def zeroing_steps(steps: Sequence[OffsetStep]) -> list[OffsetStep]:
    """Jumps that may be of a sensor that was zeroed: a few, none of which takes another back.

    A force that stands in the axes of the sensor or of the world comes and goes by equal jumps.
    """
    for first, second in combinations(steps, 2):
        for a, b in ((first.jump[:3], second.jump[:3]), (first.in_world, second.in_world)):
            sizes = [float(np.linalg.norm(jump)) for jump in (np.add(a, b), a, b)]
            if a and sizes[0] < _RETURN_SHARE * max(sizes):
                return []
    return list(steps) if len(steps) <= _MAX_JUMPS else []


def without_offset_steps(recording: Recording, steps: Sequence[OffsetStep]) -> Recording:
    """A recording whose wrench is without jumps of the sensor's offset.

    Still poses have their numbers, from zero, for a time.
    """
    time = np.arange(len(recording)) if recording.time is None else recording.time
    offset = np.zeros((len(time), 6))
    for step in steps:
        offset[time > 0.5 * (step.before + step.after)] += step.jump
    parts = [offset[:, :3], offset[:, 3:]]
    if recording.frames["wrench"] == "world":
        R = rotation_from_quaternion(recording.signals["quaternion"])
        parts = [rotate(R, part) for part in parts]
    changed = {
        name: recording.signals[name] - part
        for name, part in zip(("force", "torque"), parts, strict=True)
    }
    return replace(recording, signals={**recording.signals, **changed})

"""Poses that jump: rows of separate recordings or still poses, joined without a motion between."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Indices
from identify.spatial import unwrap_quaternions

_RATIO = 8.0
"""A jump is so many times longer than the steps near it, but one: a glitch steps out and back …"""

_NEIGHBOURS = 4
"""… this many fresh rows to either side …"""

_ANGLE = 5e-3
"""… and longer than this [rad] …"""

_DISTANCE = 2e-3
"""… or this [m]."""

_HOLD = 25
"""A pose held for more rows than this was still; held rows of a slower sensor are fewer."""


def jump_starts(position: Array | None, quaternion: Array | None) -> Indices:
    """Indices of rows whose pose no motion explains, seen from the row before.

    Args:
        position: [m], shape (n, 3), or None.
        quaternion: shape (n, 4), or None.
    """
    starts: list[Indices] = [np.empty(0, dtype=np.intp)]
    if quaternion is not None:
        chords = np.linalg.norm(np.diff(unwrap_quaternions(quaternion), axis=0), axis=1)
        starts.append(_isolated_steps(2.0 * chords, _ANGLE))
    if position is not None:
        starts.append(_isolated_steps(np.linalg.norm(np.diff(position, axis=0), axis=1), _DISTANCE))
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
    alone = steps[fresh] > _RATIO * second_longest
    after_hold = np.diff(fresh, prepend=-1) > _HOLD
    before_hold = np.diff(fresh, append=len(steps)) > _HOLD
    jumps = (steps[fresh] > least) & (alone | (after_hold & before_hold))
    return fresh[jumps] + 1

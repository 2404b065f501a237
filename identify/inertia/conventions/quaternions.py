"""Quaternions with the scalar first, as MuJoCo's and Gazebo's; ours have it last."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Mat33, Vec4
from identify.spatial import quaternion_from_rotation, rotation_from_quaternion


def wxyz_from_rotation(rotation: Mat33) -> Vec4:
    """Unit quaternion [w, x, y, z] of a rotation, w ≥ 0, shape (..., 3, 3) to (..., 4)."""
    return np.roll(quaternion_from_rotation(rotation), 1, axis=-1)


def rotation_from_wxyz(quaternion: ArrayLike) -> Mat33:
    """Rotation of a quaternion [w, x, y, z], of any length but zero, shape (..., 3, 3)."""
    return rotation_from_quaternion(np.roll(np.asarray(quaternion), -1, axis=-1))

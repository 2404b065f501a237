"""Axes as other tools say them: principal ones, fixed angles, quaternions with the scalar first."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Mat33, Vec3, Vec4, as_real
from identify.spatial import quaternion_from_rotation, rotation_from_quaternion
from identify.spatial.rotations import cross

Sorting = Literal["ascending", "descending", "unless diagonal"]
"""Order of the moments: `unless diagonal` keeps the body's axes where they are principal already,
and is ascending elsewhere."""

_SIGNS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
"""Of the axes of a right-handed frame, so that it stays one."""
_ZERO_PRODUCT = 4.0 * np.finfo(np.float64).eps
"""Products of inertia below this, relative to the largest moment, are zero but for rounding."""


class PrincipalFrame(NamedTuple):
    """I = R diag(moments) Rᵀ; the columns of R are the principal axes in B."""

    moments: Vec3
    rotation: Mat33


def principal_frame(inertia: Mat33, sorting: Sorting = "ascending") -> PrincipalFrame:
    """Principal moments and a right-handed set of principal axes.

    Axes are defined up to their signs, and within the plane or space of a repeated moment not at
    all: of the four right-handed choices of sign the one nearest to the body's axes is taken, and
    eigenvectors are orthonormal for repeated moments too, so R is always a proper rotation.

    Args:
        inertia: symmetric matrices, shape (..., 3, 3).
        sorting: order of the moments.

    Returns:
        Moments (..., 3) and rotations R_BC (..., 3, 3).
    """
    inertia = _without_rounding(as_real(inertia, "inertia"))
    moments, axes = np.linalg.eigh(inertia)  # ascending
    diagonal = np.diagonal(inertia, axis1=-2, axis2=-1)
    is_diagonal = (inertia == diagonal[..., None, :] * np.eye(3)).all(axis=(-2, -1))
    moments[is_diagonal], axes[is_diagonal] = diagonal[is_diagonal], np.eye(3)
    if sorting == "descending" or (sorting == "ascending" and np.any(is_diagonal)):
        keys = moments if sorting == "ascending" else -moments
        order = np.argsort(keys, axis=-1, kind="stable")  # repeated moments keep their axes
        moments = np.take_along_axis(moments, order, axis=-1)
        axes = np.take_along_axis(axes, order[..., None, :], axis=-1)
    axes[..., 2] = cross(axes[..., 0], axes[..., 1])
    return PrincipalFrame(moments, axes * _nearest_signs(axes)[..., None, :])


def rotation_from_rpy(rpy: Vec3) -> Mat33:
    """Rotation of angles about the fixed axes x, y, z, R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        rpy: roll, pitch, yaw [rad], as URDF and SDF have them, shape (..., 3).

    Returns:
        Shape (..., 3, 3).
    """
    rpy = as_real(rpy, "rpy")
    sr, sp, sy = np.moveaxis(np.sin(rpy), -1, 0)
    cr, cp, cy = np.moveaxis(np.cos(rpy), -1, 0)
    rows = (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rpy_from_rotation(rotation: Mat33) -> Vec3:
    """Fixed-axis angles of a rotation, exact at a pitch of ±π/2 too.

    Yaw comes first, and roll from what remains after it is taken off, Rz(−yaw) R: at a pitch of
    ±π/2, where only their sum or difference is determined, any yaw then finds its roll.

    Args:
        rotation: shape (..., 3, 3).

    Returns:
        Roll and yaw in [−π, π], pitch in [−π/2, π/2] [rad], shape (..., 3).
    """
    R = as_real(rotation, "rotation")
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-R[..., 2, 0], np.hypot(R[..., 0, 0], R[..., 1, 0]))
    roll = np.arctan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    return np.stack((roll, pitch, yaw), axis=-1)


def wxyz_from_rotation(rotation: Mat33) -> Vec4:
    """Unit quaternion [w, x, y, z] of a rotation, w ≥ 0, shape (..., 3, 3) to (..., 4)."""
    return np.roll(quaternion_from_rotation(rotation), 1, axis=-1)


def rotation_from_wxyz(quaternion: ArrayLike) -> Mat33:
    """Rotation of a quaternion [w, x, y, z], of any length but zero, shape (..., 3, 3)."""
    return rotation_from_quaternion(np.roll(np.asarray(quaternion), -1, axis=-1))


def _without_rounding(inertia: Mat33) -> Mat33:
    scale = np.abs(inertia).max(axis=(-2, -1), keepdims=True, initial=0.0)
    negligible = (np.abs(inertia) <= _ZERO_PRODUCT * scale) & ~np.eye(3, dtype=bool)
    return np.where(negligible, 0.0, inertia)


def _nearest_signs(axes: Mat33) -> Vec3:
    """Signs of the columns of right-handed frames that leave them so, with the largest trace."""
    traces = np.diagonal(axes, axis1=-2, axis2=-1) @ _SIGNS.T
    return _SIGNS[np.argmax(traces, axis=-1)]

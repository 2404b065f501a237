"""Representations of axes in other tools: principal axes, fixed-axis angles, wxyz quaternions."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Mat33, Vec3, Vec4, as_real
from identify.spatial import quaternion_from_rotation, rotation_from_quaternion
from identify.spatial.rotations import cross

MomentOrder = Literal["ascending", "descending", "unless diagonal"]
"""Order of the moments: `unless diagonal` keeps the body's axes if they are principal already,
and is ascending otherwise."""

_AXIS_SIGNS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
"""Sign changes of three axes that keep a right-handed frame right-handed, shape (4, 3)."""
_ROUNDING_TOLERANCE = 4.0 * np.finfo(np.float64).eps
"""Products of inertia, relative to the largest moment, that count as zero."""


class PrincipalFrame(NamedTuple):
    """Principal moments and axes, I = R diag(moments) Rᵀ; the columns of R are the axes in B."""

    moments: Vec3
    rotation: Mat33


def principal_frame(inertia: Mat33, sorting: MomentOrder = "ascending") -> PrincipalFrame:
    """Compute principal moments and a right-handed set of principal axes.

    Axes are defined up to their signs, and are arbitrary within the plane or space of a repeated
    moment: of the four right-handed choices of sign the one nearest to the body's axes is used, and
    eigenvectors are orthonormal for repeated moments too, so R is always a proper rotation.

    Args:
        inertia: symmetric matrices, shape (..., 3, 3).
        sorting: order of the moments.

    Returns:
        Moments (..., 3) and rotations R_BC (..., 3, 3).
    """
    inertia = _zero_negligible_products(as_real(inertia, "inertia"))
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
    """Compute the rotation by fixed-axis angles, R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        rpy: roll, pitch, yaw [rad], as in URDF and SDF, shape (..., 3).

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
    """Compute the fixed-axis angles of a rotation, exact also at a pitch of ±π/2.

    Yaw is computed first, then roll from the remaining rotation Rz(−yaw) R: at a pitch of ±π/2,
    where only their sum or difference is determined, any yaw then has its matching roll.

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
    """Return the unit quaternion [w, x, y, z], w ≥ 0, of rotations (..., 3, 3), shape (..., 4)."""
    return np.roll(quaternion_from_rotation(rotation), 1, axis=-1)


def rotation_from_wxyz(quaternion: ArrayLike) -> Mat33:
    """Return the rotation of quaternions [w, x, y, z] of any nonzero norm, shape (..., 3, 3)."""
    return rotation_from_quaternion(np.roll(np.asarray(quaternion), -1, axis=-1))


def _zero_negligible_products(inertia: Mat33) -> Mat33:
    scale = np.abs(inertia).max(axis=(-2, -1), keepdims=True, initial=0.0)
    negligible = (np.abs(inertia) <= _ROUNDING_TOLERANCE * scale) & ~np.eye(3, dtype=bool)
    return np.where(negligible, 0.0, inertia)


def _nearest_signs(axes: Mat33) -> Vec3:
    """Return column signs that keep frames right-handed and bring them nearest to the identity."""
    traces = np.diagonal(axes, axis1=-2, axis2=-1) @ _AXIS_SIGNS.T
    return _AXIS_SIGNS[np.argmax(traces, axis=-1)]

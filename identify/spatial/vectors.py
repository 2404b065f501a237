"""Spatial vectors, linear first: change of frame of twists [v; w] and wrenches [f; t]."""

from __future__ import annotations

import numpy as np

from identify.arrays import Mat66, Vec6, as_real
from identify.spatial.pose import Pose, PoseLike
from identify.spatial.rotations import hat

STANDARD_GRAVITY = 9.80665
"""Standard acceleration of gravity [m/s²], which defines the kilogram-force."""
GRAVITY_W = (0.0, 0.0, -STANDARD_GRAVITY)
"""Default gravity, in a world whose z points up [m/s²]."""

_GRAVITY_VARIATION = 0.01
"""Largest relative difference of the gravity on Earth from standard gravity."""


def is_usual_gravity(size: float) -> bool:
    """Return whether a magnitude of gravity [m/s²] occurs on Earth."""
    return abs(size / STANDARD_GRAVITY - 1.0) < _GRAVITY_VARIATION


def adjoint(X_AB: PoseLike) -> Mat66:
    """Return the matrix that maps a twist about Bo in B to Ao in A: V_A = Ad V_B.

        Ad = [[R, p× R], [0, R]]

    Returns:
        Shape (..., 6, 6).
    """
    return _turn_with_lever(X_AB, slice(0, 3), slice(3, 6))


def coadjoint(X_AB: PoseLike) -> Mat66:
    """Return the matrix that maps a wrench about Bo in B to Ao in A: F_A = Ad* F_B.

        Ad* = [[R, 0], [p× R, R]] = Ad⁻ᵀ

    Power is the same in both frames: F_Aᵀ V_A = F_Bᵀ V_B.

    Returns:
        Shape (..., 6, 6).
    """
    return _turn_with_lever(X_AB, slice(3, 6), slice(0, 3))


def _turn_with_lever(X_AB: PoseLike, rows: slice, columns: slice) -> Mat66:
    """Return the matrix with R on its diagonal, and p× R in the block of some rows and columns."""
    X_AB = Pose.of(X_AB)
    R, p = X_AB.rotation, X_AB.position
    matrix = np.zeros((*np.broadcast_shapes(R.shape[:-2], p.shape[:-1]), 6, 6))  # one may be shared
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = R
    matrix[..., rows, columns] = hat(p) @ R
    return matrix


def cross_motion(V: Vec6) -> Mat66:
    """Return the matrix of the motion cross product, [[w×, v×], [0, w×]], shape (..., 6, 6).

    It gives d/dt of a twist that is fixed in a frame moving with V.
    """
    V = as_real(V, "V")
    matrix = np.zeros((*V.shape, 6))
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = hat(V[..., 3:])
    matrix[..., :3, 3:] = hat(V[..., :3])
    return matrix


def cross_force(V: Vec6) -> Mat66:
    """Return the matrix of the force cross product, −(motion cross)ᵀ, shape (..., 6, 6)."""
    return -np.swapaxes(cross_motion(V), -1, -2)

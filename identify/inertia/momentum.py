"""Momentum and kinetic energy of a moving body, and the momentum in another frame."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Phi, PhiLike, Vec6, as_real
from identify.spatial import Pose, PoseLike
from identify.spatial.rotations import cross, rotate


def spatial_momentum(phi: PhiLike, V: Vec6) -> Vec6:
    """Momentum [p; L] about Bo in B: p = m v + ω × h, L = h × v + I ω; M V without the 6×6.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10).
        V: twist [v; ω] of the body, v of Bo, in B [m/s, rad/s], shape (..., 6).

    Returns:
        [p; L] [kg m/s, kg m²/s], shape (..., 6).
    """
    phi, V = as_real(phi, "phi"), as_real(V, "V")
    m, h, v, w = phi[..., :1], phi[..., 1:4], V[..., :3], V[..., 3:]
    return np.concatenate((m * v + cross(w, h), cross(h, v) + _inertia_times(phi, w)), axis=-1)


def kinetic_energy(phi: PhiLike, V: Vec6) -> Array:
    """Kinetic energy ½ Vᵀ M V [J]; the same in every frame.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10).
        V: twist [v; ω], v of Bo, in B [m/s, rad/s], shape (..., 6).

    Returns:
        Shape (...).
    """
    return 0.5 * np.sum(spatial_momentum(phi, V) * V, axis=-1)


def momentum_in_frame(momentum: Vec6, X_AB: PoseLike) -> Vec6:
    """The same momentum about Ao in A: p_A = R p, L_A = R L + p_AB × p_A; Ad*_AB [p; L].

    A wrench, the rate of a momentum, goes the same way.

    Args:
        momentum: [p; L] about Bo in B, shape (..., 6).
        X_AB: pose of B in A; a batch of poses broadcasts with `momentum`.

    Returns:
        Shape (..., 6).
    """
    momentum, X_AB = as_real(momentum, "momentum"), Pose.of(X_AB)
    linear = rotate(X_AB.rotation, momentum[..., :3])
    angular = rotate(X_AB.rotation, momentum[..., 3:]) + cross(X_AB.position, linear)
    return np.concatenate((np.broadcast_to(linear, angular.shape), angular), axis=-1)


def _inertia_times(phi: Phi, w: Array) -> Array:
    """I ω of the six entries, shape (..., 3)."""
    xx, xy, xz, yy, yz, zz = np.moveaxis(phi[..., 4:], -1, 0)
    x, y, z = np.moveaxis(w, -1, 0)
    rows = (xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z)
    return np.stack(rows, axis=-1)

"""How attitudes change: rates of quaternions and of rotation vectors."""

from __future__ import annotations

import numpy as np

from identify.arrays import Vec3, Vec4
from identify.spatial import quaternion_product
from identify.spatial.rotations import cross

_SMALL = 0.1
"""Angle [rad] below which a series replaces the cotangent; its first omitted term is 1e-15."""


def quaternion_rate(q: Vec4, w: Vec3) -> Vec4:
    """dq/dt = ½ q ⊗ ω of an angular velocity in body axes, shape (..., 4)."""
    return 0.5 * quaternion_product(q, np.concatenate((w, np.zeros_like(w[..., :1])), axis=-1))


def rotation_vector_rate(v: Vec3, w: Vec3) -> Vec3:
    """dv/dt of the rotation vector in q = q₀ ⊗ exp(v), of an angular velocity in body axes.

        dv/dt = ω + ½ v × ω + c v × (v × ω),    c = (1 − (θ/2) cot(θ/2)) / θ²,    θ = |v| < 2π

    Args:
        v: rotation vectors [rad], shape (..., 3).
        w: [rad/s], shape (..., 3).

    Returns:
        Shape (..., 3).
    """
    squared = np.sum(v * v, axis=-1, keepdims=True)
    angle = np.sqrt(np.maximum(squared, _SMALL**2))
    far = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    terms = 1.0 / 720.0 + squared * (1.0 / 30240.0 + squared * (1.0 / 1209600.0))
    near = 1.0 / 12.0 + squared * terms
    c = np.where(squared < _SMALL**2, near, far)
    twist = cross(v, w)
    return w + 0.5 * twist + c * cross(v, twist)

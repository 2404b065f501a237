"""Rotations as matrices, rotation vectors and quaternions [x, y, z, w]; all batched.

The quaternion is the Hamilton one, scalar last as in SciPy; q and −q are the same rotation.
Reference: Sola, Deray and Atchuthan, "A micro Lie theory for state estimation in robotics" (2018).
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec4, as_real
from identify.errors import ModelError

MAX_ROTATION_ANGLE = 6.3
"""Largest angle of a rotation vector [rad], slightly above a full turn: a larger angle is probably
in degrees."""

_YZX, _ZXY = np.array([1, 2, 0]), np.array([2, 0, 1])


def hat(v: Vec3) -> Mat33:
    """Return the skew-symmetric matrix of a vector, hat(a) b = a × b.

    Args:
        v: shape (..., 3).

    Returns:
        Shape (..., 3, 3).
    """
    v = as_real(v, "v")
    matrix = np.zeros((*v.shape, 3))
    matrix[..., 0, 1], matrix[..., 0, 2] = -v[..., 2], v[..., 1]
    matrix[..., 1, 0], matrix[..., 1, 2] = v[..., 2], -v[..., 0]
    matrix[..., 2, 0], matrix[..., 2, 1] = -v[..., 1], v[..., 0]
    return matrix


def cross(a: Vec3, b: Vec3) -> Vec3:
    """Compute the cross product a × b, batched; faster than `np.cross` on small batches."""
    return a[..., _YZX] * b[..., _ZXY] - a[..., _ZXY] * b[..., _YZX]


def vee(matrix: Mat33) -> Vec3:
    """Return the vector of the skew-symmetric part of a matrix, the inverse of `hat`."""
    skew = matrix - np.swapaxes(matrix, -1, -2)
    return 0.5 * np.stack((skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]), axis=-1)


def exp_rotation(v: Vec3) -> Vec4:
    """Compute the quaternion of a rotation vector (axis times angle) [rad].

    Args:
        v: shape (..., 3).

    Returns:
        Unit quaternions, shape (..., 4).
    """
    v = as_real(v, "v")
    half = 0.5 * np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate((0.5 * np.sinc(half / np.pi) * v, np.cos(half)), axis=-1)


def log_rotation(q: Vec4) -> Vec3:
    """Compute the rotation vector of a unit quaternion, with an angle in [0, π] [rad].

    Args:
        q: unit quaternions, shape (..., 4).

    Returns:
        Shape (..., 3).
    """
    q = as_real(q, "q")
    q = np.where(q[..., 3:] < 0.0, -q, q)
    vector, scalar = q[..., :3], q[..., 3:]
    length = np.linalg.norm(vector, axis=-1, keepdims=True)
    small = length < 1e-8
    safe = np.where(small, 1.0, length)
    # angle / sin(angle/2): towards zero it is 2 / cos(angle/2) to second order.
    scale = np.where(small, 2.0 / np.maximum(scalar, 0.5), 2.0 * np.arctan2(length, scalar) / safe)
    return scale * vector


def quaternion_product(a: Vec4, b: Vec4) -> Vec4:
    """Compute the Hamilton product a ⊗ b; rotations compose as R(a ⊗ b) = R(a) R(b).

    Args:
        a: shape (..., 4).
        b: shape (..., 4), broadcast with `a`.

    Returns:
        Shape (..., 4).
    """
    ax, ay, az, aw = np.moveaxis(as_real(a, "a"), -1, 0)
    bx, by, bz, bw = np.moveaxis(as_real(b, "b"), -1, 0)
    return np.stack(
        (
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ),
        axis=-1,
    )


def quaternion_conjugate(q: Vec4) -> Vec4:
    """Return the conjugate of a quaternion: the inverse rotation of a unit quaternion."""
    return as_real(q, "q") * np.array([-1.0, -1.0, -1.0, 1.0])


def rotation_from_quaternion(q: Vec4) -> Mat33:
    """Compute the rotation matrix of a quaternion, which need not have unit norm.

    Args:
        q: shape (..., 4).

    Returns:
        Shape (..., 3, 3).

    Raises:
        ModelError: a quaternion of zeros.
    """
    return rotation_from_unit_quaternion(normalised_quaternion(q))


def rotation_from_unit_quaternion(q: Vec4) -> Mat33:
    """Compute rotation matrices (..., 3, 3) of unit quaternions (..., 4), without a check."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rotation = np.empty((*q.shape[:-1], 3, 3))
    rotation[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    rotation[..., 0, 1] = 2.0 * (x * y - z * w)
    rotation[..., 0, 2] = 2.0 * (x * z + y * w)
    rotation[..., 1, 0] = 2.0 * (x * y + z * w)
    rotation[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    rotation[..., 1, 2] = 2.0 * (y * z - x * w)
    rotation[..., 2, 0] = 2.0 * (x * z - y * w)
    rotation[..., 2, 1] = 2.0 * (y * z + x * w)
    rotation[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return rotation


def quaternion_from_rotation(rotation: Mat33) -> Vec4:
    """Compute the unit quaternion, w ≥ 0, of a rotation matrix by its largest component.

    Args:
        rotation: rotation matrices, shape (..., 3, 3).

    Returns:
        Shape (..., 4).
    """
    m = as_real(rotation, "rotation")
    trace = np.trace(m, axis1=-2, axis2=-1)
    # Rows of 4 q qᵀ: whichever has the largest diagonal entry is well conditioned.
    outer = np.empty((*m.shape[:-2], 4, 4))
    for i in range(3):
        for j in range(3):
            outer[..., i, j] = m[..., i, j] + m[..., j, i]
        outer[..., i, i] = 1.0 + 2.0 * m[..., i, i] - trace
    outer[..., 3, :3] = 2.0 * vee(m)
    outer[..., :3, 3] = outer[..., 3, :3]
    outer[..., 3, 3] = 1.0 + trace
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., 3:] < 0.0, -q, q)


def vector_norms(v: Array) -> Array:
    """Compute vector norms along the last axis, faster than NumPy for short vectors."""
    return np.sqrt(np.einsum("...i,...i->...", v, v))


def normalised_quaternion(q: Vec4) -> Vec4:
    """Scale quaternions to unit norm.

    Raises `ModelError`: a quaternion of zeros.
    """
    q = as_real(q, "q")
    norm = vector_norms(q)[..., None]
    if not (norm > 0.0).all():
        where = np.flatnonzero(~(norm.reshape(-1) > 0.0))[0]
        raise ModelError(
            f"quaternion {int(where)} has no length; a rotation needs a unit quaternion"
        )
    return q / norm


def unwrap_quaternions(q: Vec4) -> Vec4:
    """Choose the signs of quaternions so that they are continuous in time.

    Args:
        q: quaternions over time, shape (n, 4).

    Returns:
        The same rotations, shape (n, 4), as a continuous path on the 3-sphere.
    """
    q = as_real(q, "q")
    flips = np.einsum("ij,ij->i", q[1:], q[:-1]) < 0.0
    sign = np.concatenate(([1.0], np.where(np.cumsum(flips) % 2 == 1, -1.0, 1.0)))
    return q * sign[:, None]


def rotate(rotation: Mat33, v: Vec3) -> Vec3:
    """Compute R v, batched over rotations and vectors."""
    return np.einsum("...ij,...j->...i", rotation, v)


def rotate_back(rotation: Mat33, v: Vec3) -> Vec3:
    """Compute Rᵀ v, batched over rotations and vectors."""
    return np.einsum("...ji,...j->...i", rotation, v)


def rotation_angle(q: Array, p: Array) -> Array:
    """Compute the angle between two attitudes given as unit quaternions [rad], in [0, π]."""
    return vector_norms(log_rotation(quaternion_product(quaternion_conjugate(q), p)))

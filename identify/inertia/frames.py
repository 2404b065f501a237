"""Change of the frame that the ten parameters are given in, by three routes."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat33, Mat44, Mat66, Phi, Vec3
from identify.inertia.components import move_each, rotate_each, shift_each
from identify.inertia.matrices import six_from_symmetric, spatial_inertia
from identify.inertia.pseudo_inertia import (
    PSEUDO_INERTIA_BASIS,
    phi_from_pseudo_inertia,
    pseudo_inertia,
)
from identify.spatial import Pose, coadjoint, vee

_PHI_OF_PI: Array = phi_from_pseudo_inertia(np.eye(16).reshape(16, 4, 4)).T
"""Matrix of the linear map vec(Pi) → phi, shape (10, 16)."""


def in_frame(phi: Phi, X_AB: Pose) -> Phi:
    """The same body's parameters about Ao in A.

    On the ten numbers themselves: h' = R h + m p and
    I' = R I Rᵀ + 2 (k · p) 1 − k pᵀ − p kᵀ with k = R h + ½ m p. Where all bodies share one pose it
    is one product with the matrix of `frame_map`. `in_frame_by_sandwich` gives the same, and for a
    rotation that is orthonormal to the last bit `in_frame_by_coadjoint` too.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10).
        X_AB: pose of B in A; a batch of poses broadcasts with `phi`.

    Returns:
        Shape (..., 10).
    """
    phi = np.asarray(phi, dtype=np.float64)
    if X_AB.rotation.ndim == 2 and X_AB.position.ndim == 1:
        return _mapped(phi, frame_map(X_AB))
    return move_each(phi, X_AB.rotation, X_AB.position)


def rotate_frame(phi: Phi, R_AB: Mat33) -> Phi:
    """The same body about the same point, in axes of A: R h and R I Rᵀ.

    Args:
        phi: ten parameters in axes of B, shape (..., 10).
        R_AB: rotation matrices, shape (..., 3, 3); they are not checked.

    Returns:
        Shape (..., 10).
    """
    phi, R_AB = np.asarray(phi, dtype=np.float64), np.asarray(R_AB, dtype=np.float64)
    if R_AB.ndim == 2:
        T = np.eye(4)
        T[:3, :3] = R_AB
        return _mapped(phi, congruence_map(T))
    return rotate_each(phi, R_AB)


def shift_origin(phi: Phi, p_AB: Vec3) -> Phi:
    """The same body in the same axes, about Ao: h' = h + m p and the parallel axis theorem for I.

    Args:
        phi: ten parameters about Bo, shape (..., 10).
        p_AB: position of Bo from Ao [m], shape (..., 3).

    Returns:
        Shape (..., 10).
    """
    phi, p_AB = np.asarray(phi, dtype=np.float64), np.asarray(p_AB, dtype=np.float64)
    if p_AB.ndim == 1:
        T = np.eye(4)
        T[:3, 3] = p_AB
        return _mapped(phi, congruence_map(T))
    return shift_each(phi, p_AB)


def in_frame_by_sandwich(phi: Phi, X_AB: Pose) -> Phi:
    """As `in_frame`, by the sandwich rule Pi_A = T_AB Pi_B T_ABᵀ."""
    T = X_AB.matrix
    return phi_from_pseudo_inertia(T @ pseudo_inertia(phi) @ T.swapaxes(-1, -2))


def in_frame_by_coadjoint(phi: Phi, X_AB: Pose) -> Phi:
    """As `in_frame`, by the congruence of the 6×6 spatial inertia, M_A = Ad*_AB M_B Ad_BA."""
    return phi_from_spatial_inertia(spatial_inertia_in_frame(spatial_inertia(phi), X_AB))


def spatial_inertia_in_frame(M: Mat66, X_AB: Pose) -> Mat66:
    """A 6×6 inertia, linear first, about Ao in A: M_A = Ad*_AB M_B Ad_BA.

    Ad_BA is the transpose of Ad*_AB, so this is a congruence. It holds for any symmetric 6×6 mass
    matrix, an added mass too.

    Args:
        M: about Bo in B, shape (..., 6, 6).
        X_AB: pose of B in A; a batch of poses broadcasts with `M`.

    Returns:
        Shape (..., 6, 6).
    """
    C = coadjoint(X_AB)
    return C @ M @ C.swapaxes(-1, -2)


def phi_from_spatial_inertia(M: Mat66) -> Phi:
    """Ten parameters of a rigid body's spatial inertia, the inverse of `spatial_inertia`.

    m is the mean of the upper diagonal, ĥ the skew part of the lower left block less that of the
    upper right, I the symmetric part of the lower right. Of any 6×6 matrix that is the nearest that
    a rigid body has, in the Frobenius norm.

    Args:
        M: linear first, shape (..., 6, 6).

    Returns:
        Shape (..., 10).
    """
    M = np.asarray(M, dtype=np.float64)
    mass = np.trace(M[..., :3, :3], axis1=-2, axis2=-1)[..., None] / 3.0
    h = 0.5 * (vee(M[..., 3:, :3]) - vee(M[..., :3, 3:]))
    return np.concatenate((mass, h, six_from_symmetric(M[..., 3:, 3:])), axis=-1)


def frame_map(X_AB: Pose) -> Array:
    """Matrix of the linear map phi_B → phi_A; a covariance moves by it as F cov Fᵀ.

    Returns:
        Shape (..., 10, 10).
    """
    return congruence_map(X_AB.matrix)


def congruence_map(T: Mat44) -> Array:
    """Matrix of the linear map of phi that the congruence Pi → T Pi Tᵀ is.

    Args:
        T: any 4×4 matrices, shape (..., 4, 4).

    Returns:
        Shape (..., 10, 10).
    """
    kronecker = T[..., :, None, :, None] * T[..., None, :, None, :]
    return _PHI_OF_PI @ kronecker.reshape(*T.shape[:-2], 16, 16) @ PSEUDO_INERTIA_BASIS


def _mapped(phi: Phi, matrix: Array) -> Phi:
    return (phi.reshape(-1, 10) @ matrix.T).reshape(phi.shape)

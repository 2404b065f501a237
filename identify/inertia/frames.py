"""Change of the frame that the ten parameters are given in, by three routes.

The one that is used works on the ten numbers by as few operations as it takes. Its arrays have the
component first, shapes (10, n), (3, 3, n) and (3, n): every operation then runs over contiguous
memory. The bodies go through in chunks that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from identify.arrays import Array, Mat33, Mat44, Mat66, Phi, Vec3
from identify.inertia.matrices import (
    PSEUDO_INERTIA_BASIS,
    phi_from_pseudo_inertia,
    pseudo_inertia,
    six_from_symmetric,
    spatial_inertia,
)
from identify.spatial import Pose, coadjoint, vee

_PHI_OF_PI: Array = phi_from_pseudo_inertia(np.eye(16).reshape(16, 4, 4)).T
"""Matrix of the linear map vec(Pi) → phi, shape (10, 16)."""

_CHUNK = 8192
"""Bodies at a time: enough to hide NumPy's cost of a call, few enough for the cache."""

_PRODUCTS = ((5, 0, 1), (6, 0, 2), (8, 1, 2))
"""Index in phi and axes of Ixy, Ixz, Iyz."""


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
    return _by_chunks(
        lambda phi, R, p: _shifted(_rotated(phi, R), p),
        phi,
        (X_AB.rotation, 2),
        (X_AB.position, 1),
    )


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
    return _by_chunks(_rotated, phi, (R_AB, 2))


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
    return _by_chunks(_shifted, phi, (p_AB, 1))


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


def _rotated(phi: Array, R: Array) -> Array:
    """Components in axes of A: R h and the inertia of R S Rᵀ, of which six entries are formed.

    It is R I Rᵀ where R is orthonormal. Where R is so only to the digits of a file, the congruence
    of S still keeps a plate a plate.

    Args:
        phi: shape (10, n or 1).
        R: R_AB, shape (3, 3, n or 1).

    Returns:
        Shape (10, n).
    """
    xx, xy, xz, yy, yz, zz = phi[4:]
    half = 0.5 * (xx + yy + zz)
    rows = (  # of −S
        np.stack((xx - half, xy, xz)),
        np.stack((xy, yy - half, yz)),
        np.stack((xz, yz, zz - half)),
    )
    RS = [_apply(R, row) for row in rows]  # the columns of −R S
    out = np.empty((10, max(phi.shape[-1], R.shape[-1])))
    out[0] = phi[0]
    out[1:4] = _apply(R, phi[1:4])
    Sx, Sy, Sz = (RS[0][i] * R[i, 0] + RS[1][i] * R[i, 1] + RS[2][i] * R[i, 2] for i in range(3))
    for k, first, second in ((4, Sy, Sz), (7, Sx, Sz), (9, Sx, Sy)):
        np.subtract(-first, second, out=out[k])
    for k, i, j in _PRODUCTS:
        out[k] = RS[0][i] * R[j, 0] + RS[1][i] * R[j, 1] + RS[2][i] * R[j, 2]
    return out


def _shifted(phi: Array, p: Array) -> Array:
    """Components about Ao, with axes unchanged.

        h' = h + m p,    I' = I + 2 (k · p) 1 − k pᵀ − p kᵀ,    k = h + ½ m p

    Args:
        phi: about Bo, shape (10, n or 1).
        p: p_AoBo, shape (3, n or 1).

    Returns:
        Shape (10, n).
    """
    out = np.empty((10, max(phi.shape[-1], p.shape[-1])))
    out[0] = phi[0]
    mp = phi[0] * p
    np.add(phi[1:4], mp, out=out[1:4])
    k = phi[1:4] + 0.5 * mp
    kp = 2.0 * (k * p)
    np.add(phi[4], kp[1] + kp[2], out=out[4])
    np.add(phi[7], kp[0] + kp[2], out=out[7])
    np.add(phi[9], kp[0] + kp[1], out=out[9])
    for index, i, j in _PRODUCTS:
        np.subtract(phi[index], k[i] * p[j] + k[j] * p[i], out=out[index])
    return out


def _apply(R: Array, v: Array) -> Array:
    """R v of components first, shape (3, n)."""
    out = R[:, 0] * v[0]
    out += R[:, 1] * v[1]
    out += R[:, 2] * v[2]
    return out


def _by_chunks(function: Callable[..., Array], phi: Phi, *fields: tuple[Array, int]) -> Phi:
    """Run a function of components-first arrays over bodies and what moves them.

    Args:
        function: takes (10, n) and one array a field, n the same or 1; returns (10, n).
        phi: shape (..., 10).
        fields: each an array and how many of its trailing dimensions are not the batch.
    """
    arrays = ((phi, 1), *fields)
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - rank] for a, rank in arrays))
    tails = [a.shape[a.ndim - rank :] for a, rank in arrays]
    rows = [_rows(a, batch, tail) for (a, _), tail in zip(arrays, tails, strict=True)]
    count = int(np.prod(batch))
    out = np.empty((count, 10))
    for start in range(0, count, _CHUNK):
        part = slice(start, start + _CHUNK)
        chunks = (
            np.ascontiguousarray((row if len(row) == 1 else row[part]).T).reshape(*tail, -1)
            for row, tail in zip(rows, tails, strict=True)
        )
        out[part] = function(*chunks).T
    return out.reshape(*batch, 10)


def _rows(array: Array, batch: tuple[int, ...], tail: tuple[int, ...]) -> Array:
    """One row a body, shape (n, size of the tail), or a single row where all share it."""
    width = int(np.prod(tail))
    if array.size == width:
        return array.reshape(1, width)
    return np.broadcast_to(array, (*batch, *tail)).reshape(-1, width)

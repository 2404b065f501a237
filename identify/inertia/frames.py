"""Change of frame of the ten parameters, computed without 4×4 or 6×6 matrices.

Arrays have the component first, shapes (10, n), (3, 3, n) and (3, n): every operation then runs
over contiguous memory. Bodies are processed in chunks that fit into the cache.
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat44, Mat66, Phi
from identify.inertia.matrices import PSEUDO_INERTIA_BASIS, phi_from_pseudo_inertia
from identify.spatial import Pose, PoseLike, coadjoint

_PHI_FROM_VEC_PI: Array = phi_from_pseudo_inertia(np.eye(16).reshape(16, 4, 4)).T
"""Matrix of the linear map vec(Pi) → phi, shape (10, 16)."""

_CHUNK_BODIES = 8192
"""Number of bodies processed together: many enough for NumPy, few enough for the cache."""

_PRODUCT_INDICES = ((5, 0, 1), (6, 0, 2), (8, 1, 2))
"""Index in phi, and the two axes, of Ixy, Ixz and Iyz."""


def phi_in_frame(phi: Phi, X_AB: Pose) -> Phi:
    """Return the ten parameters about Ao in A, shape (..., 10), for arrays of parameters.

    If all bodies share one pose, it is one product with the matrix of `frame_map`.
    """
    if X_AB.rotation.ndim == 2 and X_AB.position.ndim == 1:
        return (phi.reshape(-1, 10) @ frame_map(X_AB).T).reshape(phi.shape)
    batch = np.broadcast_shapes(phi.shape[:-1], X_AB.rotation.shape[:-2], X_AB.position.shape[:-1])
    tens = _flatten_batch(phi, batch, (10,))
    rotations = _flatten_batch(X_AB.rotation, batch, (3, 3))
    positions = _flatten_batch(X_AB.position, batch, (3,))
    out = np.empty((int(np.prod(batch)), 10))
    for start in range(0, len(out), _CHUNK_BODIES):
        chunk = slice(start, start + _CHUNK_BODIES)  # temporaries of a chunk are reused
        rotated = _rotate(
            _components_first(tens, chunk), _components_first(rotations, chunk).reshape(3, 3, -1)
        )
        out[chunk] = _shift_origin(rotated, _components_first(positions, chunk)).T
    return out.reshape(*batch, 10)


def spatial_inertia_in_frame(M: Mat66, X_AB: PoseLike) -> Mat66:
    """Return a 6×6 spatial inertia about Ao in A, linear first: M_A = Ad*_AB M_B Ad_BA.

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


def frame_map(X_AB: PoseLike) -> Array:
    """Return the matrix that maps ten parameters in frame B to those in A, shape (..., 10, 10)."""
    return congruence_map(Pose.of(X_AB).matrix)


def congruence_map(T: Mat44) -> Array:
    """Return the matrix of the linear map of phi that corresponds to Pi → T Pi Tᵀ.

    Args:
        T: any 4×4 matrices, shape (..., 4, 4).

    Returns:
        Shape (..., 10, 10).
    """
    kronecker = T[..., :, None, :, None] * T[..., None, :, None, :]
    return _PHI_FROM_VEC_PI @ kronecker.reshape(*T.shape[:-2], 16, 16) @ PSEUDO_INERTIA_BASIS


def _rotate(phi: Array, R: Array) -> Array:
    """Rotate parameters into axes of A: first moment R h and second moment R S Rᵀ.

    The inertia is R I Rᵀ if R is orthonormal. If R is so only to the digits of a file, the
    congruence of S still keeps a plate a plate.

    Shapes (10, n or 1) and, for R_AB, (3, 3, n or 1) give (10, n).
    """
    xx, xy, xz, yy, yz, zz = phi[4:]
    half = 0.5 * (xx + yy + zz)
    rows = (  # of −S
        np.stack((xx - half, xy, xz)),
        np.stack((xy, yy - half, yz)),
        np.stack((xz, yz, zz - half)),
    )
    RS = [_rotate_vectors(R, row) for row in rows]  # the columns of −R S
    out = np.empty((10, max(phi.shape[-1], R.shape[-1])))
    out[0] = phi[0]
    out[1:4] = _rotate_vectors(R, phi[1:4])
    Sx, Sy, Sz = (RS[0][i] * R[i, 0] + RS[1][i] * R[i, 1] + RS[2][i] * R[i, 2] for i in range(3))
    for k, first, second in ((4, Sy, Sz), (7, Sx, Sz), (9, Sx, Sy)):
        np.subtract(-first, second, out=out[k])
    for k, i, j in _PRODUCT_INDICES:
        out[k] = RS[0][i] * R[j, 0] + RS[1][i] * R[j, 1] + RS[2][i] * R[j, 2]
    return out


def _shift_origin(phi: Array, p: Array) -> Array:
    """Shift parameters from Bo to Ao, with axes unchanged.

        h' = h + m p,    I' = I + 2 (k · p) 1 − k pᵀ − p kᵀ,    k = h + ½ m p

    phi about Bo, shape (10, n or 1), and p_AoBo, shape (3, n or 1), give (10, n).
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
    for index, i, j in _PRODUCT_INDICES:
        np.subtract(phi[index], k[i] * p[j] + k[j] * p[i], out=out[index])
    return out


def _rotate_vectors(R: Array, v: Array) -> Array:
    """Compute R v with components first, shape (3, n)."""
    out = R[:, 0] * v[0]
    out += R[:, 1] * v[1]
    out += R[:, 2] * v[2]
    return out


def _components_first(rows: Array, chunk: slice) -> Array:
    """Transpose the rows of a chunk of bodies, or the one row that all bodies share."""
    return np.ascontiguousarray((rows if len(rows) == 1 else rows[chunk]).T)


def _flatten_batch(array: Array, batch: tuple[int, ...], tail: tuple[int, ...]) -> Array:
    """Flatten a batch of values to one row for each body, or to one row that all bodies share."""
    width = int(np.prod(tail))
    if array.size == width:
        return array.reshape(1, width)
    return np.broadcast_to(array, (*batch, *tail)).reshape(-1, width)

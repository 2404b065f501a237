"""The change of frame of the ten numbers by as few operations as it takes, many bodies at a time.

Arrays here have the component first, shapes (10, n), (3, 3, n) and (3, n): every operation then
runs over contiguous memory. The bodies go through in chunks that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from identify.arrays import Array, Mat33, Phi, Vec3

_CHUNK = 8192
"""Bodies at a time: enough to hide NumPy's cost of a call, few enough for the cache."""

_PRODUCTS = ((5, 0, 1), (6, 0, 2), (8, 1, 2))
"""Index in phi and axes of Ixy, Ixz, Iyz."""


def rotated(phi: Array, R: Array) -> Array:
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


def shifted(phi: Array, p: Array) -> Array:
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


def rotate_each(phi: Phi, R: Mat33) -> Phi:
    """`rotated` of bodies (..., 10) by rotations (..., 3, 3) that broadcast with them."""
    return _by_chunks(rotated, phi, (R, 2))


def shift_each(phi: Phi, p: Vec3) -> Phi:
    """`shifted` of bodies (..., 10) by vectors (..., 3) that broadcast with them."""
    return _by_chunks(shifted, phi, (p, 1))


def move_each(phi: Phi, R: Mat33, p: Vec3) -> Phi:
    """`rotated`, then `shifted`."""
    return _by_chunks(lambda phi, R, p: shifted(rotated(phi, R), p), phi, (R, 2), (p, 1))


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

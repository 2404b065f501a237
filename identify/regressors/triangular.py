"""Triangular factors (QR, Cholesky), singular values and eigenvalues of small matrices."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dgeqrf, dpotrf, dtrtri

from identify.arrays import Array, Flags


def qr_factor(rows: Array) -> Array:
    """Return the upper triangular QR factor R of rows, RᵀR = rowsᵀ rows, always square.

    `rows`: shape (n, k).
    Shape (k, k).
    """
    width = rows.shape[1]
    if not len(rows):
        return np.zeros((width, width))
    reduced = dgeqrf(rows)[0][:width]
    reduced = np.where(_upper_indices(width)[: len(reduced)], reduced, 0.0)
    if len(reduced) == width:
        return reduced
    return np.concatenate((reduced, np.zeros((width - len(reduced), width))))


def cholesky(matrix: Array) -> Array:
    """Return the upper triangular Cholesky factor R, RᵀR = matrix, shape (k, k).

    Raises `numpy.linalg.LinAlgError`: the matrix is not positive definite.
    """
    if not matrix.size:
        return matrix
    R, info = dpotrf(matrix, lower=0, clean=1)
    if info:
        raise np.linalg.LinAlgError("a matrix is not positive definite")
    return R


def invert_triangular(R: Array) -> Array:
    """Return the inverse R⁻¹ of an upper triangular matrix.

    Raises `numpy.linalg.LinAlgError`: R is singular.
    """
    if not R.size:
        return R
    inverse, info = dtrtri(R)
    if info:
        raise np.linalg.LinAlgError("a triangular factor is singular")
    return inverse


def solve_transposed(R: Array, right: Array) -> Array:
    """Solve Rᵀ X = right for X, with R upper triangular and of any scaling of its columns.

    Raises `numpy.linalg.LinAlgError`: R is singular.
    """
    if not right.size:
        return right
    if not R.diagonal().all():
        raise np.linalg.LinAlgError("a triangular factor is singular")
    # LAPACK's dtrtrs would set threads to work on matrices this small, for milliseconds.
    return dtrsm(1.0, R, right, trans_a=1)


def whiten_moment(moment: Array, R: Array) -> Array:
    """Whiten a symmetric matrix N by an upper triangular R: R⁻ᵀ N R⁻¹, shape (k, k).

    Raises `numpy.linalg.LinAlgError`: R is singular.
    """
    whitened = solve_transposed(R, solve_transposed(R, moment).T)
    return 0.5 * (whitened + whitened.T)


@lru_cache
def _upper_indices(width: int) -> Flags:
    return np.triu(np.ones((width, width), dtype=np.bool_))


def moment_root(moment: Array) -> Array:
    """Return a square root ν of a positive semidefinite matrix, νᵀν = moment.

    `moment`: shape (k, k).
    """
    size = np.sqrt(np.diag(moment))
    unit = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(moment / np.outer(unit, unit))
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * size


class SVD(NamedTuple):
    """Singular value decomposition U diag(s) Vᵀ, with square U and V."""

    U: Array
    singular_values: Array
    Vt: Array


def svd(matrix: Array) -> SVD:
    """Return the singular value decomposition of a matrix, shape (m, n).

    Divide and conquer (LAPACK's gesdd and syevd) does not converge for some matrices that are
    singular to rounding, as those of an arm whose parameters depend on each other; QR iteration
    does.
    """
    try:
        return SVD(*np.linalg.svd(matrix))
    except np.linalg.LinAlgError:
        from scipy.linalg import svd as qr_iteration

        return SVD(*qr_iteration(matrix, lapack_driver="gesvd"))


def singular_values(matrix: Array) -> Array:
    """Return the singular values of a matrix, descending, where `svd` computes vectors as well."""
    try:
        return np.linalg.svd(matrix, compute_uv=False)
    except np.linalg.LinAlgError:
        return svd(matrix).singular_values


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return ascending eigenvalues, and eigenvectors, of a symmetric matrix, shape (n, n)."""
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        from scipy.linalg import eigh as qr_iteration

        values, vectors = qr_iteration(matrix, driver="ev")
    return values, vectors

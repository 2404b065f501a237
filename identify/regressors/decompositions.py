"""Singular values and eigenvalues of matrices whose rows differ by many orders of magnitude.

Divide and conquer (LAPACK's gesdd and syevd) does not converge for some matrices that are singular
to rounding, as those of an arm whose parameters depend on each other; QR iteration does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array


class SVD(NamedTuple):
    """Singular value decomposition U diag(s) Vᵀ, with square U and V."""

    U: Array
    singular: Array
    Vt: Array


def svd(matrix: Array) -> SVD:
    """Return the singular value decomposition of a matrix, shape (m, n)."""
    try:
        return SVD(*np.linalg.svd(matrix))
    except np.linalg.LinAlgError:
        from scipy.linalg import svd as qr_iteration

        return SVD(*qr_iteration(matrix, lapack_driver="gesvd"))


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return ascending eigenvalues and eigenvectors of a symmetric matrix, shape (n, n)."""
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        from scipy.linalg import eigh as qr_iteration

        values, vectors = qr_iteration(matrix, driver="ev")
    return values, vectors

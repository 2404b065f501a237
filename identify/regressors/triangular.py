"""Triangular factors of small stacks of rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgeqrf

from identify.arrays import Array


def triangle(rows: Array) -> Array:
    """Upper triangular factor R of rows, RᵀR = rowsᵀ rows, square whatever their number.

    Args:
        rows: shape (n, k).

    Returns:
        Shape (k, k).
    """
    width = rows.shape[1]
    if not len(rows):
        return np.zeros((width, width))
    reduced = np.triu(dgeqrf(rows)[0][:width])
    if len(reduced) == width:
        return reduced
    return np.concatenate((reduced, np.zeros((width - len(reduced), width))))

"""Arrays with the component first, shape (3, n, b): their memory, made once, and products."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array

TURNS, QUATERNION, MATRIX, ROTATION = 0, 12, 18, 24
"""Rows at which a layer's intermediate results begin. What one layer leaves there for the next is
out of the next one's way; everything else is written over."""

_WORKSPACE_ROWS = 33


class Workspace:
    """Rows of numbers, each for all nodes and bodies of a chunk.

    Arrays are never made while a rollout runs. A temporary above the allocator's mmap threshold
    would be mapped, filled with zeros page by page and unmapped at every operation: half of the
    running time. Rows that are written over while they are still in the cache save as much again.
    """

    def __init__(self, nodes: int, bodies: int) -> None:
        self._bodies = bodies
        self._memory = np.empty((_WORKSPACE_ROWS, nodes * bodies))

    def rows(self, first: int, count: int, nodes: int) -> Array:
        """Real numbers, shape (count, nodes, bodies)."""
        part = self._memory[first : first + count, : nodes * self._bodies]
        return part.reshape(count, nodes, self._bodies)

    def complex_rows(self, first: int, count: int, nodes: int) -> np.ndarray:
        """Complex numbers, shape (count, nodes, bodies), in twice as many rows."""
        whole = self._memory[first : first + 2 * count].reshape(count, -1).view(np.complex128)
        return whole[:, : nodes * self._bodies].reshape(count, nodes, self._bodies)


def transform_into(out: Array, matrix: Array, v: Array) -> Array:
    """The products of matrices and vectors, written into `out`.

    Args:
        out: shape (i, n, b); not `v`.
        matrix: shape (i, j, n, b), or (i, j, b) where it is the same at all nodes.
        v: shape (j, n, b), or (j, 1, b) or (j, n, 1) where it is.
    """
    return np.einsum("ijnb,jnb->inb" if matrix.ndim == 4 else "ijb,jnb->inb", matrix, v, out=out)


def cross_into(out: Array, a: Array, b: Array, scratch: Array) -> Array:
    """The cross products a × b, written into `out`, which is neither of them.

    All have shape (3, n, b), but n or b may be 1 of a or b.
    """
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[j], b[k], out=out[i])
        np.multiply(a[k], b[j], out=scratch[i])
    out -= scratch
    return out


def bodies_last(matrices: Array) -> Array:
    """Matrices (bodies, i, j) as the functions here take them, shape (i, j, bodies)."""
    return np.moveaxis(matrices, 0, -1).copy()

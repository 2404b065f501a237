"""Preallocated memory and products of arrays with the component first, shape (3, n, b)."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array

TURNS = 0
QUATERNION = 12
MATRIX = 18
ROTATION = 24
"""First rows of intermediate results that a later layer needs; all other rows are overwritten."""

_WORKSPACE_ROWS = 33
"""Number of rows of a `Workspace`, the most that a rollout uses at once."""


class Workspace:
    """Preallocated rows of numbers for intermediate results of all nodes and bodies of a chunk.

    No array is allocated while a rollout runs. A temporary above the allocator's mmap threshold
    would be mapped, filled with zeros page by page and unmapped at every operation: half of the
    running time. Overwriting rows that are still in the cache saves as much again.
    """

    def __init__(self, nodes: int, bodies: int) -> None:
        self._bodies = bodies
        self._memory = np.empty((_WORKSPACE_ROWS, nodes * bodies))

    def rows(self, first: int, count: int, nodes: int) -> Array:
        """Return a view of rows as real numbers, shape (count, nodes, bodies)."""
        part = self._memory[first : first + count, : nodes * self._bodies]
        return part.reshape(count, nodes, self._bodies)

    def complex_rows(self, first: int, count: int, nodes: int) -> np.ndarray:
        """Return a view of 2 × `count` rows as complex numbers, shape (count, nodes, bodies)."""
        whole = self._memory[first : first + 2 * count].reshape(count, -1).view(np.complex128)
        return whole[:, : nodes * self._bodies].reshape(count, nodes, self._bodies)


def transform_into(out: Array, matrix: Array, v: Array) -> Array:
    """Multiply matrices and vectors into `out`.

    `out`: shape (i, n, b); not `v`; `matrix`: shape (i, j, n, b), or (i, j, b) where it is the same
    at all nodes; `v`: shape (j, n, b), or (j, 1, b) or (j, n, 1) where it is.
    """
    return np.einsum("ijnb,jnb->inb" if matrix.ndim == 4 else "ijb,jnb->inb", matrix, v, out=out)


def cross_into(out: Array, a: Array, b: Array, scratch: Array) -> Array:
    """Compute the cross products a × b into `out`, which must differ from a and b.

    All have shape (3, n, b), but n or b may be 1 of a or b.
    """
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[j], b[k], out=out[i])
        np.multiply(a[k], b[j], out=scratch[i])
    out -= scratch
    return out


def bodies_last(matrices: Array) -> Array:
    """Move the axis of bodies last: matrices (bodies, i, j) to shape (i, j, bodies)."""
    return np.moveaxis(matrices, 0, -1).copy()

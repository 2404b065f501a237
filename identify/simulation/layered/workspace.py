"""Memory that the layers use one after the other, made once."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array

TURNS, QUATERNION, MATRIX, ROTATION = 0, 12, 18, 24
"""Rows at which a layer's intermediate results begin. What one layer leaves there for the next is
out of the next one's way; everything else is written over."""

_ROWS = 33


class Workspace:
    """Rows of numbers, each for all nodes and bodies of a chunk.

    Arrays are never made while a rollout runs. A temporary above the allocator's mmap threshold
    would be mapped, filled with zeros page by page and unmapped at every operation: half of the
    running time. Rows that are written over while they are still in the cache save as much again.
    """

    def __init__(self, nodes: int, bodies: int) -> None:
        self._bodies = bodies
        self._memory = np.empty((_ROWS, nodes * bodies))

    def rows(self, first: int, count: int, nodes: int) -> Array:
        """Real numbers, shape (count, nodes, bodies)."""
        part = self._memory[first : first + count, : nodes * self._bodies]
        return part.reshape(count, nodes, self._bodies)

    def complex_rows(self, first: int, count: int, nodes: int) -> np.ndarray:
        """Complex numbers, shape (count, nodes, bodies), in twice as many rows."""
        whole = self._memory[first : first + 2 * count].reshape(count, -1).view(np.complex128)
        return whole[:, : nodes * self._bodies].reshape(count, nodes, self._bodies)

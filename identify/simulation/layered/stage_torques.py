"""The torque at the stages of every Runge-Kutta step of a chunk."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array


class StageTorques:
    """Scaled torque τ at the beginning, the middle and the end of each step of a chunk.

    Each step's is in one piece of memory, which is what NumPy works on without preparation. The
    arrays stay where they are from chunk to chunk, so that views of them can be kept.

    Attributes:
        samples: τ, shape (3, steps + 1, ...) where linear, else (3, steps, ...).
        linear: whether it is a straight line between samples, or held.
        now: at the beginning, shape (steps, 3, ...).
        middle: half-way.
        twice_middle: 2 τ(½), as the third stage wants it.
        ahead: at the end.
    """

    __slots__ = ("_by_node", "ahead", "linear", "middle", "now", "samples", "twice_middle")

    def __init__(self, samples: Array, *, linear: bool) -> None:
        """Follow samples that others write; see `refresh`."""
        self.samples, self.linear = samples, linear
        self._by_node = np.empty(samples.swapaxes(0, 1).shape)
        self.now = self._by_node[:-1] if linear else self._by_node
        self.ahead = self._by_node[1:] if linear else self._by_node
        self.twice_middle = np.empty(self.now.shape)
        self.middle = np.empty(self.now.shape) if linear else self.now

    def refresh(self) -> None:
        """Say that the samples have changed."""
        np.copyto(self._by_node, self.samples.swapaxes(0, 1))
        np.add(self.now, self.ahead, out=self.twice_middle)
        if self.middle is not self.now:
            np.multiply(self.twice_middle, 0.5, out=self.middle)

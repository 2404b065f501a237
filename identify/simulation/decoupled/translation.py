"""Translation of centres of mass: cumulative sums of forces in world axes (layer 3 of 3).

The force in W, F(t) = R(t) f(t), has the slope F' = R (ω × f + f'), so that the corrected trapezoid
of the nodes is of order four and needs no attitude half-way. With θ = (h/2) ω and s = (h/2) v, what
half a step turns and travels,

    A = (h²/4m) (F + h F'/6) at the beginning,    B = (h²/4m) (F − h F'/6) at the end
    s⁺ = s + A + B + h² g/2,    p⁺ = p + s + s⁺ + (A − B)/2

The second is exact for forces that are quadratic in time, as order four asks of it. In axes of the
body, with φ = (h²/12m) f,

    A = R0 [3 φ0 + θ0 × φ0 + (φ1 − φ0)/2],    B = R1 [3 φ1 − θ1 × φ1 − (φ1 − φ0)/2]

and φ1 = φ0 where the load is held.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from identify.arrays import Array, Vec3
from identify.simulation.decoupled.workspace import Workspace, cross_into, transform_into

_MIN_BATCHED_BODIES = 64
"""Number of bodies from which on a cumulative sum by rows is faster than `add.accumulate`."""


class TranslationLayer:
    """Positions and velocities of the centres of mass at the nodes of a chunk of time.

    Attributes:
        position: p_WoBcm_W [m], shape (3, steps + 1, bodies); the first node is given.
        travel: s = (h/2) v_WBcm_W [m], likewise.
    """

    def __init__(
        self, position: Vec3, velocity: Vec3, gravity: Vec3, step: float, steps: int
    ) -> None:
        """Allocate the arrays; the first node has the given position and velocity in W."""
        self.position, self.travel = np.empty((2, 3, steps + 1, len(position)))
        self.position[:, 0], self.travel[:, 0] = position.T, (0.5 * step) * velocity.T
        self._fall = (0.5 * step**2) * gravity.T[:, None]
        self._count = np.arange(steps + 1.0)[:, None]

    def advance_free(self, nodes: slice) -> None:
        """Compute positions and velocities at nodes for bodies on which gravity alone acts.

        s_n = s + n h² g/2,    p_n = p + n (s + s_n)
        """
        count, position = self._count[nodes], self.position[:, nodes]
        travel = np.multiply(self._fall, count, out=self.travel[:, nodes])
        travel += self.travel[:, :1]
        np.add(travel, self.travel[:, :1], out=position)
        position *= count
        position += self.position[:, :1]

    def advance(
        self, theta: Array, R: Array, force: Array, workspace: Workspace, *, linear: bool
    ) -> None:
        """Compute positions and velocities at the nodes of a chunk from the forces on the bodies.

        `theta`: θ at the nodes in axes of the body, shape (3, steps + 1, bodies); `R`: attitudes at
        the nodes, from those axes to W, shape (3, 3, steps + 1, bodies); `force`: φ in those axes,
        shape (3, steps + 1, bodies) where linear, else (3, steps, …).
        """
        steps = theta.shape[1] - 1
        first, last, turned, scratch = workspace.rows(0, 12, steps).reshape(4, 3, steps, -1)
        begin, end = (force[:, :-1], force[:, 1:]) if linear else (force, force)
        cross_into(first, theta[:, :-1], begin, scratch)
        cross_into(last, end, theta[:, 1:], scratch)
        first += np.multiply(begin, 3.0, out=scratch)
        last += np.multiply(end, 3.0, out=scratch) if linear else scratch
        if linear:
            np.subtract(end, begin, out=scratch)
            scratch *= 0.5
            first += scratch
            last -= scratch
        transform_into(turned, R[:, :, :-1], first)
        transform_into(first, R[:, :, 1:], last)
        A = turned
        B = first
        travel = self.travel[:, : steps + 1]
        position = self.position[:, : steps + 1]
        np.add(A, B, out=travel[:, 1:])
        travel[:, 1:] += self._fall
        _running_sum(travel)
        A -= B
        A *= 0.5
        A += travel[:, :-1]
        np.add(A, travel[:, 1:], out=position[:, 1:])
        _running_sum(position)

    def restart(self, steps: int) -> None:
        """Copy the last node to the first node of the next chunk of time."""
        for nodes in (self.position, self.travel):
            nodes[:, 0] = nodes[:, steps]


def _running_sum(rows: Array) -> None:
    """Compute the cumulative sum over the nodes, in place."""
    if rows.shape[2] < _MIN_BATCHED_BODIES:
        np.add.accumulate(rows, axis=1, out=rows)
        return
    add = np.add
    by_node = rows.swapaxes(0, 1)
    for before, now in pairwise(by_node):
        add(before, now, now)

"""Layer 1, angular velocity: Euler's equations in principal axes, for many bodies at a time.

A torque given in the body's own frame leaves ω a system of three unknowns that knows nothing of
attitude and place. With θ = (h/2) ω_WB_P, half of what a step turns, and one step as the unit of
time,

    dθ/ds = 2 F(θ, s),    F(θ, s) = a ∘ (θ2 θ3, θ3 θ1, θ1 θ2) + τ(s),
    a = ((I2 − I3)/I1, (I3 − I1)/I2, (I1 − I2)/I3),    τ = (h²/4) I⁻¹ t

and the classical Runge-Kutta step has no factors but small integers:

    x = θ + F(θ, 0),    y = θ + F(x, ½),    z = θ + 2 F(y, ½)
    θ⁺ = [2 F(y, ½) + x + 2 y + F(z, 1)] / 3
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Vec3
from identify.simulation.layered.stage_torques import StageTorques

add, multiply, divide = np.add, np.multiply, np.divide


def euler_ratios(moments: Vec3) -> Vec3:
    """a = ((I2 − I3)/I1, (I3 − I1)/I2, (I1 − I2)/I3) of principal moments, shape (..., 3)."""
    I1, I2, I3 = np.moveaxis(moments, -1, 0)
    return np.stack(((I2 - I3) / I1, (I3 - I1) / I2, (I1 - I2) / I3), axis=-1)


class _Rows:
    """Three components of many bodies in one piece of memory, and each of them."""

    __slots__ = ("all", "first", "second", "third")

    def __init__(self, rows: Array) -> None:
        self.all = rows
        self.first, self.second, self.third = rows[0], rows[1], rows[2]


class BatchRungeKutta:
    """Integrates the θ of a block of bodies, chunk by chunk."""

    def __init__(self, ratios: Array, theta: Array, torques: StageTorques | None) -> None:
        """Prepare for a chunk whose arrays stay where they are.

        Args:
            ratios: a, shape (3, bodies).
            theta: shape (3, steps + 1, bodies), its first node given.
            torques: of as many steps; None for free bodies.
        """
        self._theta = theta
        self._steps = BatchSteps(ratios, theta.shape[1] - 1, torques)

    def advance(self, steps: int) -> None:
        """Fill the nodes 1 … steps of θ."""
        path = self._steps.path
        path[0] = self._theta[:, 0]
        self._steps.march(steps)
        np.copyto(self._theta[:, 1 : steps + 1], path[1 : steps + 1].swapaxes(0, 1))


class BatchSteps:
    """Steps of many bodies together, with some two dozen NumPy calls each.

    What a step works on is in one piece of memory: on rows that are apart, a call takes twice as
    long.

    Attributes:
        path: θ at the nodes, shape (steps + 1, 3, ...), its first given.
    """

    def __init__(self, ratios: Array, steps: int, torques: StageTorques | None) -> None:
        """Make the arrays.

        Args:
            ratios: a, shape (3, ...).
            steps: most that are taken.
            torques: of as many steps; None for free bodies.
        """
        self._ratios, self._twice_ratios = ratios.copy(), 2.0 * ratios
        self.path = np.empty((steps + 1, *ratios.shape))
        self._nodes = [_Rows(self.path[n]) for n in range(steps + 1)]
        self._stages = [_Rows(np.empty(ratios.shape)) for _ in range(5)]
        self._torques: list[tuple[Array, ...]] = []
        if torques is not None:
            stages = (torques.now, torques.middle, torques.twice_middle, torques.ahead)
            self._torques = list(zip(*stages, strict=True))

    def march(self, steps: int) -> None:
        """Fill the nodes 1 … steps of the path."""
        ends = zip(self._nodes[:steps], self._nodes[1:], strict=False)
        if self._torques:
            for (theta, after), torques in zip(ends, self._torques, strict=False):
                self._step(theta, after, *torques)
        else:
            for theta, after in ends:
                self._free_step(theta, after)

    def _step(
        self, theta: _Rows, after: _Rows, now: Array, middle: Array, twice: Array, ahead: Array
    ) -> None:
        x, y, z, F, last = self._stages
        _gyroscopic(F, theta, self._ratios)
        add(F.all, now, F.all)
        add(F.all, theta.all, x.all)
        _gyroscopic(F, x, self._ratios)
        add(F.all, middle, F.all)
        add(F.all, theta.all, y.all)
        _gyroscopic(F, y, self._twice_ratios)
        add(F.all, twice, F.all)
        add(F.all, theta.all, z.all)
        _gyroscopic(last, z, self._ratios)
        add(last.all, ahead, last.all)
        _combine(F.all, x.all, y.all, last.all, after.all)

    def _free_step(self, theta: _Rows, after: _Rows) -> None:
        x, y, z, F, last = self._stages
        _gyroscopic(F, theta, self._ratios)
        add(F.all, theta.all, x.all)
        _gyroscopic(F, x, self._ratios)
        add(F.all, theta.all, y.all)
        _gyroscopic(F, y, self._twice_ratios)
        add(F.all, theta.all, z.all)
        _gyroscopic(last, z, self._ratios)
        _combine(F.all, x.all, y.all, last.all, after.all)


def _gyroscopic(out: _Rows, v: _Rows, ratios: Array) -> None:
    """a ∘ (v2 v3, v3 v1, v1 v2)."""
    multiply(v.second, v.third, out.first)
    multiply(v.third, v.first, out.second)
    multiply(v.first, v.second, out.third)
    multiply(out.all, ratios, out.all)


def _combine(F: Array, x: Array, y: Array, last: Array, after: Array) -> None:
    """[F + x + 2 y + last] / 3."""
    add(F, x, F)
    add(F, y, F)
    add(F, y, F)
    add(F, last, F)
    divide(F, 3.0, after)  # times a rounded ⅓ would bias every step by the same digit

"""Angular velocity of many bodies at once: Euler's equations in principal axes (layer 1 of 3).

With a torque given in the body's frame, ω is a system of three unknowns that is independent of
attitude and position. With θ = (h/2) ω_WB_P, half the rotation of a step, and one step as the unit
of time,

    dθ/ds = 2 F(θ, s),    F(θ, s) = a ∘ (θ2 θ3, θ3 θ1, θ1 θ2) + τ(s),
    a = ((I2 − I3)/I1, (I3 − I1)/I2, (I1 − I2)/I3),    τ = (h²/4) I⁻¹ t

and the classical Runge-Kutta step has no factors but small integers:

    x = θ + F(θ, 0),    y = θ + F(x, ½),    z = θ + 2 F(y, ½)
    θ⁺ = [2 F(y, ½) + x + 2 y + F(z, 1)] / 3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TypeAlias

import numpy as np

from identify.arrays import Array, Vec3


class StageTorques:
    """Scaled torques at the beginning, middle and end of each step of a chunk of time.

    Values of a step are contiguous in memory. The arrays are reused for all chunks, so that views
    of them stay valid.

    Attributes:
        samples: scaled torque τ, shape (3, steps + 1, ...) where linear, else (3, steps, ...).
        linear: whether it is a straight line between samples, or held.
        now: at the beginning, shape (steps, 3, ...).
        middle: half-way.
        twice_middle: 2 τ(½), as the third stage wants it.
        ahead: at the end.
    """

    __slots__ = ("_by_node", "ahead", "linear", "middle", "now", "samples", "twice_middle")

    def __init__(self, samples: Array, *, linear: bool) -> None:
        """Create views of `samples`, which the caller fills; see `refresh`."""
        self.samples, self.linear = samples, linear
        self._by_node = np.empty(samples.swapaxes(0, 1).shape)
        self.now = self._by_node[:-1] if linear else self._by_node
        self.ahead = self._by_node[1:] if linear else self._by_node
        self.twice_middle = np.empty(self.now.shape)
        self.middle = np.empty(self.now.shape) if linear else self.now

    def refresh(self) -> None:
        """Update the torques of the stages after the samples have changed."""
        np.copyto(self._by_node, self.samples.swapaxes(0, 1))
        np.add(self.now, self.ahead, out=self.twice_middle)
        if self.middle is not self.now:
            np.multiply(self.twice_middle, 0.5, out=self.middle)


add = np.add
multiply = np.multiply
divide = np.divide


def euler_ratios(moments: Vec3) -> Vec3:
    """Return ratios ((I2 − I3)/I1, (I3 − I1)/I2, (I1 − I2)/I3) of principal moments, (..., 3)."""
    I1, I2, I3 = np.moveaxis(moments, -1, 0)
    return np.stack(((I2 - I3) / I1, (I3 - I1) / I2, (I1 - I2) / I3), axis=-1)


ComponentRows: TypeAlias = tuple[Array, Array, Array, Array]
"""Contiguous array of vectors of many bodies, components first, and a view of each component."""


def _component_rows(all_three: Array) -> ComponentRows:
    return (all_three, *all_three)


AngularVelocityLayer: TypeAlias = Callable[
    [Array, Array, StageTorques | None], Callable[[int], None]
]
"""Factory of an integrator of angular velocity, for arrays of ratios a, θ and torques that are
reused; the integrator fills the nodes 1 … steps of θ from node 0."""


def batched_layer(
    ratios: Array, theta: Array, torques: StageTorques | None
) -> Callable[[int], None]:
    """Create an integrator of the angular velocity of many bodies in one batch.

    `ratios`: a, shape (3, bodies); `theta`: shape (3, steps + 1, bodies); stays where it is from
    chunk to chunk; `torques`: of as many steps; None for free bodies.
    """
    together = BatchRungeKutta(ratios, theta.shape[1] - 1, torques)

    def advance(steps: int) -> None:
        together.path[0] = theta[:, 0]
        together.integrate(steps)
        np.copyto(theta[:, 1 : steps + 1], together.path[1 : steps + 1].swapaxes(0, 1))

    return advance


def scalar_layer(
    ratios: Array, theta: Array, torques: StageTorques | None
) -> Callable[[int], None]:
    """Create an integrator like `batched_layer`, for few bodies one by one in Python floats.

    For one body a NumPy call costs more than the step itself.
    """

    def advance(steps: int) -> None:
        for body in range(theta.shape[-1] if steps > 0 else 0):
            a, nodes = ratios[:, body].tolist(), theta[:, :, body]
            path = integrate_scaled_rate(
                nodes[:, 0].tolist(), a, torques_by_step(torques, steps, body), steps
            )
            nodes[:, 1 : steps + 1] = list(zip(*path, strict=True))

    return advance


class BatchRungeKutta:
    """Runge-Kutta integrator of the angular velocity of many bodies in one batch.

    Arrays of a step are contiguous, because calls on strided rows take twice as long.

    Attributes:
        path: θ at the nodes, shape (steps + 1, 3, ...), its first given.
    """

    def __init__(self, ratios: Array, steps: int, torques: StageTorques | None) -> None:
        """Allocate the arrays for ratios a, shape (3, ...), and torques of the steps, or None."""
        self._ratios, self._twice_ratios = ratios.copy(), 2.0 * ratios
        self.path = np.empty((steps + 1, *ratios.shape))
        self._nodes = [_component_rows(self.path[n]) for n in range(steps + 1)]
        self._stages = [_component_rows(np.empty(ratios.shape)) for _ in range(5)]
        self._torques: Iterable[tuple[Array | None, ...]] = repeat((None,) * 4)
        if torques is not None:
            stages = (torques.now, torques.middle, torques.twice_middle, torques.ahead)
            self._torques = list(zip(*stages, strict=True))

    def integrate(self, steps: int) -> None:
        """Fill the nodes 1 … steps with the integrated angular velocity."""
        stages = self._stages
        x, y, z, F, last = (rows[0] for rows in stages)
        a, twice_a = self._ratios, self._twice_ratios
        ends = zip(self._nodes[:steps], self._nodes[1:], strict=False)
        for (before, after), torques in zip(ends, self._torques, strict=False):
            theta, (now, middle, twice, ahead) = before[0], torques
            _scaled_acceleration(stages[3], before, a, now)
            add(F, theta, x)
            _scaled_acceleration(stages[3], stages[0], a, middle)
            add(F, theta, y)
            _scaled_acceleration(stages[3], stages[1], twice_a, twice)
            add(F, theta, z)
            _scaled_acceleration(stages[4], stages[2], a, ahead)
            add(F, x, F)
            add(F, y, F)
            add(F, y, F)
            add(F, last, F)
            divide(F, 3.0, after[0])  # times a rounded ⅓ would bias every step by the same digit


def _scaled_acceleration(
    out: ComponentRows, v: ComponentRows, ratios: Array, torque: Array | None
) -> None:
    """Compute the scaled angular acceleration a ∘ (v2 v3, v3 v1, v1 v2) + τ into `out`."""
    slope, first, second, third = out
    _, v1, v2, v3 = v
    multiply(v2, v3, first)
    multiply(v3, v1, second)
    multiply(v1, v2, third)
    multiply(slope, ratios, slope)
    if torque is not None:
        add(slope, torque, slope)


FloatTriple: TypeAlias = tuple[float, float, float]
StepTorques: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]
"""Scaled torque at the beginning, the middle and the end of a step, three components each."""


def torques_by_step(
    torques: StageTorques | None, steps: int, body: int = 0
) -> Iterable[StepTorques]:
    """Yield the torques on one body in each step, as Python floats."""
    if torques is None:
        return repeat((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    stages = (torques.now, torques.middle, torques.ahead)
    return zip(*(row.tolist() for s in stages for row in s[:steps, :, body].T), strict=True)


def integrate_scaled_rate(
    theta: Sequence[float], ratios: Sequence[float], stages: Iterable[StepTorques], steps: int
) -> Iterator[FloatTriple]:
    """Yield the scaled angular velocity of one body after each classical Runge-Kutta step."""
    a1, a2, a3 = ratios
    t1, t2, t3 = theta
    for _, (now1, now2, now3, mid1, mid2, mid3, end1, end2, end3) in zip(
        range(steps), stages, strict=False
    ):
        x1 = t1 + (a1 * t2 * t3 + now1)
        x2 = t2 + (a2 * t3 * t1 + now2)
        x3 = t3 + (a3 * t1 * t2 + now3)
        y1 = t1 + (a1 * x2 * x3 + mid1)
        y2 = t2 + (a2 * x3 * x1 + mid2)
        y3 = t3 + (a3 * x1 * x2 + mid3)
        k1 = 2.0 * (a1 * y2 * y3 + mid1)
        k2 = 2.0 * (a2 * y3 * y1 + mid2)
        k3 = 2.0 * (a3 * y1 * y2 + mid3)
        z1 = t1 + k1
        z2 = t2 + k2
        z3 = t3 + k3
        t1 = (k1 + x1 + 2.0 * y1 + (a1 * z2 * z3 + end1)) / 3.0
        t2 = (k2 + x2 + 2.0 * y2 + (a2 * z3 * z1 + end2)) / 3.0
        t3 = (k3 + x3 + 2.0 * y3 + (a3 * z1 * z2 + end3)) / 3.0
        yield t1, t2, t3

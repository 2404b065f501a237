"""Layer 1 for one body, in Python's own numbers: a NumPy call costs more than the step itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TypeAlias

from identify.arrays import Array
from identify.simulation.layered.stage_torques import StageTorques

Triple: TypeAlias = tuple[float, float, float]
Stages: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]
"""τ at the beginning, the middle and the end of a step, three components each."""


class FloatRungeKutta:
    """Steps one body after the other; the formulas are those of `angular_velocity`."""

    def __init__(self, ratios: Array, theta: Array, torques: StageTorques | None) -> None:
        """Prepare for a chunk.

        Args:
            ratios: a, shape (3, bodies).
            theta: shape (3, steps + 1, bodies), its first node given.
            torques: of as many steps; None for free bodies.
        """
        self._ratios, self._theta, self._torques = ratios, theta, torques

    def advance(self, steps: int) -> None:
        """Fill the nodes 1 … steps of θ."""
        for body in range(self._theta.shape[-1]):
            a = self._ratios[:, body].tolist()
            theta = self._theta[:, :, body]
            stages = stages_of(self._torques, slice(0, steps), body)
            path = list(runge_kutta(theta[:, 0].tolist(), a, stages, steps))
            theta[:, 1 : steps + 1] = list(zip(*path, strict=True))


def stages_of(torques: StageTorques | None, steps: slice, body: int = 0) -> Iterable[Stages]:
    """The stages' torques of one body as Python's numbers, step by step."""
    if torques is None:
        return repeat((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    stages = (torques.now, torques.middle, torques.ahead)
    return zip(*(row.tolist() for s in stages for row in s[steps, :, body].T), strict=True)


def runge_kutta(
    theta: Sequence[float], ratios: Sequence[float], stages: Iterable[Stages], steps: int
) -> Iterator[Triple]:
    """The classical Runge-Kutta method for θ of one body; yields θ after each step."""
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
        z1, z2, z3 = t1 + k1, t2 + k2, t3 + k3
        t1 = (k1 + x1 + 2.0 * y1 + (a1 * z2 * z3 + end1)) / 3.0
        t2 = (k2 + x2 + 2.0 * y2 + (a2 * z3 * z1 + end2)) / 3.0
        t3 = (k3 + x3 + 2.0 * y3 + (a3 * z1 * z2 + end3)) / 3.0
        yield t1, t2, t3

"""Runge-Kutta-Munthe-Kaas: the attitude moves on the group of rotations itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.simulation.forced_body import ForcedBody
from identify.simulation.free_body import ATTITUDE, MOMENTUM, POSITION
from identify.simulation.integrators.attitude import rotation_vector_rate
from identify.simulation.integrators.interface import Integrator
from identify.spatial import exp_rotation, quaternion_product
from identify.spatial.rotations import rotation_from_unit_quaternion


class MuntheKaas4(Integrator):
    """Fourth order: the classical Runge-Kutta method in the chart q = q₀ ⊗ exp(θ) of each step.

    The attitude stays a rotation in every stage, and a rotation about a fixed axis is exact.
    Reference: Munthe-Kaas, "High order Runge-Kutta methods on manifolds" (1999).
    """

    name: ClassVar[str] = "rkmk4"
    order: ClassVar[int] = 4

    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """One step."""
        half = 0.5 * step
        k1 = _derivative(motion, phase, np.zeros_like(phase[..., :12]), time)
        k2 = _derivative(motion, phase, half * k1, time + half)
        k3 = _derivative(motion, phase, half * k2, time + half)
        k4 = _derivative(motion, phase, step * k3, time + step)
        after = _moved(phase, step * (k1 + 2.0 * (k2 + k3) + k4) / 6.0)
        # A product of unit quaternions is one but for rounding, which would add up.
        after[..., ATTITUDE] /= np.linalg.norm(after[..., ATTITUDE], axis=-1, keepdims=True)
        return after


def _derivative(motion: ForcedBody, start: Array, change: Array, time: float) -> Array:
    """Rates of the change [θ, Δx, Δp, ΔL] from the phase at the start of the step."""
    phase = _moved(start, change)
    R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
    v, w, force = motion.rates(phase, R, time)
    return np.concatenate((rotation_vector_rate(change[..., :3], w), v, force), axis=-1)


def _moved(start: Array, change: Array) -> Array:
    phase = np.empty_like(start)
    phase[..., ATTITUDE] = quaternion_product(start[..., ATTITUDE], exp_rotation(change[..., :3]))
    phase[..., POSITION] = start[..., POSITION] + change[..., 3:6]
    phase[..., MOMENTUM] = start[..., MOMENTUM] + change[..., 6:]
    return phase

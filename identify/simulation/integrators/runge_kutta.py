"""The classical Runge-Kutta method on the thirteen numbers of a phase."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.simulation.forced_body import ForcedBody
from identify.simulation.free_body import ATTITUDE
from identify.simulation.integrators.attitude import quaternion_rate
from identify.simulation.integrators.interface import Integrator
from identify.spatial.rotations import rotation_from_unit_quaternion


class RungeKutta4(Integrator):
    """Fourth order; the quaternion, a point of the 3-sphere, is renormalised after each step."""

    name: ClassVar[str] = "rk4"
    order: ClassVar[int] = 4

    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """One step."""
        half = 0.5 * step
        k1 = _derivative(motion, phase, time)
        k2 = _derivative(motion, phase + half * k1, time + half)
        k3 = _derivative(motion, phase + half * k2, time + half)
        k4 = _derivative(motion, phase + step * k3, time + step)
        after = phase + step * (k1 + 2.0 * (k2 + k3) + k4) / 6.0
        after[..., ATTITUDE] /= np.linalg.norm(after[..., ATTITUDE], axis=-1, keepdims=True)
        return after


def _derivative(motion: ForcedBody, phase: Array, time: float) -> Array:
    q = phase[..., ATTITUDE]
    unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
    v, w, force = motion.rates(phase, rotation_from_unit_quaternion(unit), time)
    return np.concatenate((v, quaternion_rate(q, w), force), axis=-1)

"""Semi-implicit Euler: momentum first, then the pose with the velocities it gives."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.simulation.forced_body import ForcedBody
from identify.simulation.free_body import ANGULAR, ATTITUDE, LINEAR, MOMENTUM, POSITION
from identify.simulation.integrators.attitude import quaternion_rate
from identify.simulation.integrators.interface import Integrator
from identify.spatial.rotations import cross, rotate, rotation_from_unit_quaternion


class SemiImplicitEuler(Integrator):
    """First order, in momentum form: p and L are the state, ω is formed from them when needed.

        p, L += h [f; t];    ω = R I⁻¹ Rᵀ L;    x += h v;    q = (q + h q̇) / |q + h q̇|

    L is kept from step to step, so ω follows the attitude and a free body precesses. Where instead
    L is formed anew from the last ω and the attitude of that same step, ω never changes. In a fluid
    it is L about a fixed point that is kept; about the centre it changes by −h v × p.
    """

    name: ClassVar[str] = "semi-implicit-euler"
    order: ClassVar[int] = 1

    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """One step."""
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        after = phase.copy()
        after[..., MOMENTUM] += step * motion.wrench(phase, R, time)
        V = self.body.twist(R, after)
        path = step * rotate(R, V[..., :3])
        after[..., POSITION] += path
        if self.body.in_fluid:
            after[..., ANGULAR] -= cross(path, after[..., LINEAR])
            V = self.body.twist(R, after)
        after[..., ATTITUDE] += step * quaternion_rate(phase[..., ATTITUDE], V[..., 3:])
        after[..., ATTITUDE] /= np.linalg.norm(after[..., ATTITUDE], axis=-1, keepdims=True)
        return after

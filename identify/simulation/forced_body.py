"""Equations of motion of a body under loads, in momentum form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec6
from identify.simulation.free_body import ATTITUDE, LINEAR, MOMENTUM, FreeBody
from identify.simulation.load_piece import LoadPiece
from identify.spatial.rotations import cross, rotate, rotation_from_unit_quaternion


@dataclass(frozen=True, slots=True)
class ForcedBody:
    """A batch of bodies and the loads on them, over a time in which the loads are smooth.

    Attributes:
        body: inertia about C.
        loads: their sum.
    """

    body: FreeBody
    loads: LoadPiece

    def rates(self, phase: Array, R_WC: Mat33, time: float) -> tuple[Vec3, Vec3, Vec6]:
        """Velocity of C in W, angular velocity in C, and rate of the momentum [p; L] in W.

        Args:
            phase: shape (..., 13).
            R_WC: attitudes of the phases, shape (..., 3, 3).
            time: [s].

        Returns:
            Shapes (..., 3), (..., 3) and (..., 6).
        """
        V = self.body.twist(R_WC, phase)
        velocity = rotate(R_WC, V[..., :3])
        return velocity, V[..., 3:], self.force(phase, R_WC, velocity, time)

    def force(self, phase: Array, R_WC: Mat33, velocity: Vec3, time: float) -> Vec6:
        """Rate of the momentum [p; L] about C in W: the wrench, and −v × p where a fluid is."""
        rate = self.wrench(phase, R_WC, time)
        if self.body.in_fluid:  # without it this is zero, and computing it would leave rounding
            rate[..., 3:] -= cross(velocity, phase[..., LINEAR])
        return rate

    def wrench(self, phase: Array, R_WC: Mat33, time: float) -> Vec6:
        """[f; t] of all loads about C in W, shape (..., 6)."""
        if self.loads.none:
            return np.zeros_like(phase[..., MOMENTUM])
        return self.loads.wrench(R_WC, time)

    def spin(self, phase: Array) -> Array:
        """How fast the bodies turn, |ω| [rad/s], shape (...)."""
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        return np.linalg.norm(self.body.twist(R, phase)[..., 3:], axis=-1)

"""Rotations at a constant angular velocity, each at its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3, Vec4
from identify.simulation.free_rotation.double_double import (
    PI,
    DoubleDouble,
    double_double,
    remainder,
    sqrt,
    total,
)
from identify.spatial import quaternion_product


@dataclass(frozen=True, slots=True)
class SteadyRotation:
    """Bodies that turn about a fixed axis.

    Attributes:
        start: R_WB at time zero, shape (n, 4).
        angular_velocity: w_WB_B, shape (n, 3).
        speed: its length to twice the precision, shape (n,).
    """

    start: Vec4
    angular_velocity: Vec3
    speed: DoubleDouble

    @classmethod
    def of(cls, angular_velocity: Vec3, quaternion: Vec4) -> SteadyRotation:
        """Rotations from an attitude at a constant ω."""
        w = double_double(angular_velocity)
        return cls(quaternion, angular_velocity, sqrt(total(w * w, axis=1)))

    def at(self, time: Array) -> tuple[Vec4, Vec3]:
        """Quaternions (n, k, 4) and angular velocities (n, k, 3) at times (n, k)."""
        half = 0.5 * remainder(self.speed[:, None] * time, 4.0 * PI)
        speed = self.speed.value[:, None]
        axis = self.angular_velocity / np.where(speed > 0.0, speed, 1.0)
        turned = np.concatenate(
            (np.sin(half)[..., None] * axis[:, None], np.cos(half)[..., None]), axis=-1
        )
        w = np.broadcast_to(self.angular_velocity[:, None], (*time.shape, 3))
        return quaternion_product(self.start[:, None], turned), w

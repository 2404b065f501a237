"""Rotations whose angular velocity moves in the body, between the frames of body and world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Mat44, Vec3, Vec4
from identify.simulation.free_rotation.attitude import PolhodeMotion
from identify.simulation.free_rotation.polhode import polhode
from identify.simulation.free_rotation.regimes import OrderedSpin
from identify.spatial import quaternion_from_rotation, quaternion_product
from identify.spatial.rotations import quaternion_conjugate


@dataclass(frozen=True, slots=True)
class SwingingRotation:
    """Bodies whose ω runs along a polhode.

    Attributes:
        axes: R_BP of the ordered principal axes, shape (n, 3, 3).
        motion: in those axes, relative to a frame N that has L as its third axis.
        frames: maps the quaternion of R_NP to that of R_WB, shape (n, 4, 4).
    """

    axes: Mat33
    motion: PolhodeMotion
    frames: Mat44

    @classmethod
    def of(cls, ordered: OrderedSpin, quaternion: Vec4) -> SwingingRotation:
        """Rotations from an attitude R_WB, shape (n, 4)."""
        motion = PolhodeMotion(polhode(ordered))
        first = motion.at(np.zeros((len(quaternion), 1)))[0][..., 0]
        q_PB = quaternion_conjugate(quaternion_from_rotation(ordered.axes))
        q_BN = quaternion_conjugate(quaternion_product(first, q_PB))
        q_WN = quaternion_product(quaternion, q_BN)
        return cls(ordered.axes, motion, _left(q_WN) @ _right(q_PB))

    def at(self, time: Array) -> tuple[Vec4, Vec3]:
        """Quaternions (n, k, 4) and angular velocities (n, k, 3) at times (n, k)."""
        q_NP, w = self.motion.at(time)
        return (self.frames @ q_NP).swapaxes(1, 2), (self.axes @ w).swapaxes(1, 2)


def _left(q: Vec4) -> Mat44:
    """The matrix of p ↦ q ⊗ p, shape (n, 4, 4)."""
    return quaternion_product(q[:, None, :], np.eye(4)).swapaxes(1, 2)


def _right(q: Vec4) -> Mat44:
    """The matrix of p ↦ p ⊗ q, shape (n, 4, 4)."""
    return quaternion_product(np.eye(4), q[:, None, :]).swapaxes(1, 2)

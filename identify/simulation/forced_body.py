"""Equations of motion of a body under the sum of all its loads, in momentum form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec6
from identify.simulation.free_body import ATTITUDE, LINEAR, MOMENTUM, FreeBody
from identify.simulation.loads import Impulse, Load
from identify.simulation.state import Trajectory
from identify.spatial import vee
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion

_WORLD, _LEVERS = slice(6, 12), slice(12, 21)


@dataclass(frozen=True, slots=True)
class ForcedBody:
    """A batch of bodies and the loads on them, over a time in which each is a straight line.

    Loads in axes of C add up to one wrench, those in axes of W to a second one. The torque of world
    forces f_i at levers ρ_i, fixed in the body, depends on the attitude; with K = Σ f_i ρ_iᵀ it is

        Σ (R ρ_i) × f_i = 2 vee(K Rᵀ),

    so that any number of loads costs as much as one.

    Attributes:
        body: inertia about C.
        time: the instant the loads are of [s].
        loads: about C, [wrench in C, wrench in W, K by rows], shape (..., 21).
        rate: their rate of change.
        free: whether there is no load at all.
    """

    body: FreeBody
    time: float
    loads: Array
    rate: Array
    free: bool

    @classmethod
    def of(cls, body: FreeBody, loads: Sequence[Load], gravity: Vec3, time: float) -> ForcedBody:
        """The loads around a time that is no break of any of them.

        Gravity acts on the rigid body's mass alone, at C: no torque, and none of the fluid's share.
        """
        weight = body.mass[..., None] * gravity
        value, rate = _padded(weight, 6), np.zeros(21)
        lines = [(load, line) for load in loads if (line := load.line(time)) is not None]
        for load, (wrench, slope) in lines:
            value = value + _about_centre(load, body, wrench)
            rate = rate + _about_centre(load, body, slope)
        return cls(body, time, value, rate, free=not lines and not weight.any())

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
        force = self.wrench(phase, R_WC, time)
        if self.body.in_fluid:  # without it this is zero, and computing it would leave rounding
            force[..., 3:] -= cross(velocity, phase[..., LINEAR])
        return velocity, V[..., 3:], force

    def wrench(self, phase: Array, R_WC: Mat33, time: float) -> Vec6:
        """[f; t] of all loads about C in axes of W, shape (..., 6)."""
        if self.free:
            return np.zeros_like(phase[..., MOMENTUM])
        return _in_world(self.loads + (time - self.time) * self.rate, R_WC)

    def spin(self, phase: Array) -> Array:
        """How fast the bodies turn, |ω| [rad/s], shape (...)."""
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        return np.linalg.norm(self.body.twist(R, phase)[..., 3:], axis=-1)


def jump_of(impulse: Impulse, body: FreeBody, R_WC: Mat33) -> Vec6:
    """[Δp; ΔL] about C in axes of W by an impulse, shape (..., 6)."""
    shape = np.broadcast_shapes(impulse.linear.shape, impulse.angular.shape)
    parts = [np.broadcast_to(part, shape) for part in (impulse.linear, impulse.angular)]
    return _in_world(_about_centre(impulse, body, np.concatenate(parts, axis=-1)), R_WC)


def _in_world(loads: Array, R_WC: Mat33) -> Vec6:
    """The wrench about C in axes of W that the 21 numbers of loads are at an attitude."""
    K = loads[..., _LEVERS].reshape(*loads.shape[:-1], 3, 3)
    force = rotate(R_WC, loads[..., 0:3])
    torque = rotate(R_WC, loads[..., 3:6]) + 2.0 * vee(K @ np.swapaxes(R_WC, -1, -2))
    return np.concatenate((force, torque), axis=-1) + loads[..., _WORLD]


def _about_centre(load: Load | Impulse, body: FreeBody, wrench: Vec6) -> Array:
    """The 21 numbers of one load; linear in its wrench, so its rate goes the same way."""
    force, torque = wrench[..., :3], wrench[..., 3:]
    R_BC = rotation_from_unit_quaternion(body.axes)
    lever = rotate_back(R_BC, load.point - body.centre)
    if load.frame == "world":
        K = force[..., :, None] * lever[..., None, :]
        return _padded(wrench, 6) + _padded(K.reshape(*K.shape[:-2], 9), 12)
    force = rotate_back(R_BC, force)
    return _padded(force, 0) + _padded(rotate_back(R_BC, torque) + cross(lever, force), 3)


def _padded(part: Array, first: int) -> Array:
    """The 21 numbers that are zero but for `part`, from entry `first` on."""
    value = np.zeros((*part.shape[:-1], 21))
    value[..., first : first + part.shape[-1]] = part
    return value


def total_wrench(loads: Sequence[Load], path: Trajectory) -> Vec6:
    """The sum of all loads at every time of a trajectory: what a sensor at Bo would measure.

    Gravity and impulses are not among them. A load counts from its start on and not at its end.

    Args:
        loads: those that made the motion.
        path: the motion, shape (..., n, ·).

    Returns:
        [f; t] on the body at Bo in B [N, N m], shape (..., n, 6).
    """
    R = rotation_from_unit_quaternion(path.quaternion)
    total = np.zeros((*path.quaternion.shape[:-1], 6))
    for load in loads:
        for k, time in enumerate(path.time):
            line = load.line(float(time))
            if line is None:
                continue
            force, torque = line[0][..., :3], line[0][..., 3:]
            if load.frame == "world":
                R_WB = R[..., k, :, :]
                force, torque = rotate_back(R_WB, force), rotate_back(R_WB, torque)
            torque = torque + cross(np.broadcast_to(load.point, force.shape), force)
            total[..., k, :] += np.concatenate((force, torque), axis=-1)
    return total

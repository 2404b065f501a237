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
        return velocity, V[..., 3:], self.force(phase, R_WC, velocity, time)

    def force(self, phase: Array, R_WC: Mat33, velocity: Vec3, time: float) -> Vec6:
        """Rate of the momentum [p; L] about C in W: the wrench, and −v × p where a fluid is."""
        rate = self.wrench(phase, R_WC, time)
        if self.body.in_fluid:  # without it this is zero, and computing it would leave rounding
            rate[..., 3:] -= cross(velocity, phase[..., LINEAR])
        return rate

    def wrench(self, phase: Array, R_WC: Mat33, time: float) -> Vec6:
        """[f; t] of all loads about C in axes of W, shape (..., 6)."""
        if self.free:
            return np.zeros_like(phase[..., MOMENTUM])
        now = self.loads + (time - self.time) * self.rate
        K = now[..., _LEVERS].reshape(*now.shape[:-1], 3, 3)
        force = rotate(R_WC, now[..., 0:3])
        torque = rotate(R_WC, now[..., 3:6]) + 2.0 * vee(K @ np.swapaxes(R_WC, -1, -2))
        return np.concatenate((force, torque), axis=-1) + now[..., _WORLD]

    def spin(self, phase: Array) -> Array:
        """How fast the bodies turn, |ω| [rad/s], shape (...)."""
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        return np.linalg.norm(self.body.twist(R, phase)[..., 3:], axis=-1)


def jump_of(impulse: Impulse, body: FreeBody, R_WC: Mat33) -> Vec6:
    """[Δp; ΔL] about C in axes of W by an impulse, shape (..., 6)."""
    lever = _lever(impulse.point, body)
    linear, angular = impulse.linear, impulse.angular
    if impulse.frame == "body":
        to_C = rotation_from_unit_quaternion(body.axes)
        linear, angular = rotate_back(to_C, linear), rotate_back(to_C, angular)
        linear, angular = rotate(R_WC, linear), rotate(R_WC, angular)
    angular = angular + cross(rotate(R_WC, lever), linear)
    return np.concatenate((np.broadcast_to(linear, angular.shape), angular), axis=-1)


def _about_centre(load: Load, body: FreeBody, wrench: Vec6) -> Array:
    """The 21 numbers of one load; linear in its wrench, so its rate goes the same way."""
    force, torque = wrench[..., :3], wrench[..., 3:]
    lever = _lever(load.point, body)
    if load.frame == "world":
        K = force[..., :, None] * lever[..., None, :]
        K = K.reshape(*K.shape[:-2], 9)
        return _padded(wrench, 6) + _padded(K, 12)
    to_C = rotation_from_unit_quaternion(body.axes)
    force = rotate_back(to_C, force)
    return _padded(force, 0) + _padded(rotate_back(to_C, torque) + cross(lever, force), 3)


def _lever(point: Vec3, body: FreeBody) -> Vec3:
    """From C to a point of the body, in axes of C."""
    return rotate_back(rotation_from_unit_quaternion(body.axes), point - body.centre)


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
            if line is not None:
                total[..., k, :] += _at_origin(load, line[0], R[..., k, :, :])
    return total


def _at_origin(load: Load, wrench: Vec6, R_WB: Array) -> Vec6:
    force, torque = wrench[..., :3], wrench[..., 3:]
    if load.frame == "world":
        force, torque = rotate_back(R_WB, force), rotate_back(R_WB, torque)
    torque = torque + cross(np.broadcast_to(load.point, force.shape), force)
    return np.concatenate((force, torque), axis=-1)

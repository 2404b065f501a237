"""Equations of motion of a body under the sum of all its loads, in momentum form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec6
from identify.simulation.free_body import ATTITUDE, LINEAR, MOMENTUM, FreeBody
from identify.simulation.loads import Impulse, Law, Load, StateLoad, split_loads
from identify.simulation.state import State, Trajectory
from identify.spatial import vee
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion

_WORLD_COLUMNS, _LEVER_COLUMNS = slice(6, 12), slice(12, 21)


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
        laws: loads by a law of the state, which are no lines.
        free: whether there is no load at all.
    """

    body: FreeBody
    time: float
    loads: Array
    rate: Array
    laws: Sequence[StateLoad]
    free: bool

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
        loads = self.loads + (time - self.time) * self.rate
        if self.laws:
            phase = phase.copy()  # of a stage: its quaternion is not of unit norm
            phase[..., ATTITUDE] /= np.linalg.norm(phase[..., ATTITUDE], axis=-1, keepdims=True)
            state = State.unchecked(self.body.states_of(phase))
            for law in self.laws:
                loads = loads + _about_centre(law, self.body, law.wrench(time, state))
        return _in_world(loads, R_WC)

    def spin(self, phase: Array) -> Array:
        """How fast the bodies turn, |ω| [rad/s], shape (...)."""
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        return np.linalg.norm(self.body.twist(R, phase)[..., 3:], axis=-1)


@dataclass(frozen=True, slots=True)
class Forces:
    """All that acts on a batch of bodies, but impulses.

    Attributes:
        body: inertia about C.
        lines: loads that are straight lines in time between their breaks.
        laws: loads by a law of the state.
        gravity: g in W [m/s²], shape (..., 3).
    """

    body: FreeBody
    lines: Sequence[Load]
    laws: Sequence[StateLoad]
    gravity: Vec3

    def around(self, time: float) -> ForcedBody:
        """The bodies under the loads around a time that is no break of any of them.

        Gravity acts on the rigid body's mass alone, at C: no torque, and none of the fluid's share.
        """
        weight = self.body.mass[..., None] * self.gravity
        value, rate = _padded(weight, 6), np.zeros(21)
        lines = [(load, line) for load in self.lines if (line := load.line(time)) is not None]
        for load, (wrench, slope) in lines:
            value = value + _about_centre(load, self.body, wrench)
            rate = rate + _about_centre(load, self.body, slope)
        free = not lines and not self.laws and not weight.any()
        return ForcedBody(self.body, time, value, rate, self.laws, free=free)


def jump_of(impulse: Impulse, body: FreeBody, R_WC: Mat33) -> Vec6:
    """[Δp; ΔL] about C in axes of W by an impulse, shape (..., 6)."""
    shape = np.broadcast_shapes(impulse.linear.shape, impulse.angular.shape)
    parts = [np.broadcast_to(part, shape) for part in (impulse.linear, impulse.angular)]
    return _in_world(_about_centre(impulse, body, np.concatenate(parts, axis=-1)), R_WC)


def _in_world(loads: Array, R_WC: Mat33) -> Vec6:
    """The wrench about C in axes of W that the 21 numbers of loads are at an attitude."""
    K = loads[..., _LEVER_COLUMNS].reshape(*loads.shape[:-1], 3, 3)
    force = rotate(R_WC, loads[..., 0:3])
    torque = rotate(R_WC, loads[..., 3:6]) + 2.0 * vee(K @ np.swapaxes(R_WC, -1, -2))
    return np.concatenate((force, torque), axis=-1) + loads[..., _WORLD_COLUMNS]


def _about_centre(load: Load | StateLoad | Impulse, body: FreeBody, wrench: Vec6) -> Array:
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


def total_wrench(loads: Sequence[Load | StateLoad | Law], path: Trajectory) -> Vec6:
    """The sum of all loads at every time of a trajectory: what a sensor at Bo would measure.

    Gravity and impulses are not among them. A load counts from its start on and not at its end.

    It is [f; t] on the body at Bo in B [N, N m], shape (..., n, 6).
    """
    R = rotation_from_unit_quaternion(path.quaternion)
    total, states = np.zeros((*path.quaternion.shape[:-1], 6)), path.states.vector
    lines, laws = split_loads(loads)
    for load in (*lines, *laws):
        for k, time in enumerate(path.time.tolist()):
            if isinstance(load, StateLoad):
                wrench = load.wrench(time, State.unchecked(states[..., k, :]))
            elif (line := load.line(time)) is not None:
                wrench = line[0]
            else:
                continue
            force, torque = wrench[..., :3], wrench[..., 3:]
            if load.frame == "world":
                R_WB = R[..., k, :, :]
                force, torque = rotate_back(R_WB, force), rotate_back(R_WB, torque)
            torque = torque + cross(np.broadcast_to(load.point, force.shape), force)
            total[..., k, :] += np.concatenate((force, torque), axis=-1)
    return total

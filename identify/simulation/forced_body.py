"""Equations of motion of a body under all its loads, in momentum form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec6
from identify.simulation.free_body import ATTITUDE, LINEAR, MOMENTUM, FreeBody
from identify.simulation.loads import Impulse, Load, LoadLaw, StateLoad, split_loads
from identify.simulation.state import State, Trajectory
from identify.spatial import vee
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion

_WORLD_COLUMNS, _LEVER_COLUMNS = slice(6, 12), slice(12, 21)
"""Coefficients of a wrench in world axes."""


@dataclass(frozen=True, slots=True)
class ForcedBody:
    """Bodies and their loads during an interval in which loads are linear in time.

    Loads in axes of C add up to one wrench, those in axes of W to a second one. The torque of world
    forces f_i at levers ρ_i, fixed in the body, depends on the attitude; with K = Σ f_i ρ_iᵀ it is

        Σ (R ρ_i) × f_i = 2 vee(K Rᵀ),

    so that any number of loads costs as much as one.

    Attributes:
        body: inertia about C.
        time: time of the loads [s].
        loads: about C, [wrench in C, wrench in W, K by rows], shape (..., 21).
        load_rates: their rate of change.
        state_loads: loads that depend on the state.
        is_free: whether there is no load.
    """

    body: FreeBody
    time: float
    loads: Array
    load_rates: Array
    state_loads: Sequence[StateLoad]
    is_free: bool

    def rates(self, phase: Array, R_WC: Mat33, time: float) -> tuple[Vec3, Vec3, Vec6]:
        """Return the time derivatives of a phase-space state: velocities and rate of momentum.

        `phase`: shape (..., 13); `R_WC`: attitudes of the phases, shape (..., 3, 3); `time`: [s].
        Shapes (..., 3), (..., 3) and (..., 6).
        """
        V = self.body.twist(R_WC, phase)
        velocity = rotate(R_WC, V[..., :3])
        force = self.wrench(phase, R_WC, time)
        if self.body.in_fluid:  # without it this is zero, and computing it would leave rounding
            force[..., 3:] -= cross(velocity, phase[..., LINEAR])
        return velocity, V[..., 3:], force

    def wrench(self, phase: Array, R_WC: Mat33, time: float) -> Vec6:
        """Return the wrench [f; t] of all loads about C in axes of W, shape (..., 6)."""
        if self.is_free:
            return np.zeros_like(phase[..., MOMENTUM])
        loads = self.loads + (time - self.time) * self.load_rates
        if self.state_loads:
            phase = phase.copy()  # of a stage: its quaternion is not of unit norm
            phase[..., ATTITUDE] /= np.linalg.norm(phase[..., ATTITUDE], axis=-1, keepdims=True)
            state = State.from_unchecked_vector(self.body.states_of(phase))
            for law in self.state_loads:
                loads = loads + _load_coefficients(law, self.body, law.wrench(time, state))
        return _world_wrench(loads, R_WC)

    def angular_speed(self, phase: Array) -> Array:
        """Return the angular speed |ω| of a state in phase space [rad/s], shape (...)."""
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        return np.linalg.norm(self.body.twist(R, phase)[..., 3:], axis=-1)


@dataclass(frozen=True, slots=True)
class Forces:
    """Loads and gravity on a batch of bodies, without impulses.

    Attributes:
        body: inertia about C.
        linear_loads: loads that are linear in time between their breaks.
        state_loads: loads that depend on the state.
        gravity: g in W [m/s²], shape (..., 3).
    """

    body: FreeBody
    linear_loads: Sequence[Load]
    state_loads: Sequence[StateLoad]
    gravity: Vec3

    def forced_body_at(self, time: float) -> ForcedBody:
        """Return the bodies with their loads, linear in time, around a time without a load jump.

        Gravity acts on the rigid body's mass alone, at C, without torque, not on the added mass.
        """
        weight = self.body.mass[..., None] * self.gravity
        value, rate = _pad_coefficients(weight, 6), np.zeros(21)
        lines = [
            (load, line)
            for load in self.linear_loads
            if (line := load.value_and_rate(time)) is not None
        ]
        for load, (wrench, slope) in lines:
            value = value + _load_coefficients(load, self.body, wrench)
            rate = rate + _load_coefficients(load, self.body, slope)
        free = not lines and not self.state_loads and not weight.any()
        return ForcedBody(self.body, time, value, rate, self.state_loads, is_free=free)


def momentum_jump(impulse: Impulse, body: FreeBody, R_WC: Mat33) -> Vec6:
    """Return the change [Δp; ΔL] of momentum about C in axes of W by an impulse, shape (..., 6)."""
    shape = np.broadcast_shapes(impulse.linear.shape, impulse.angular.shape)
    parts = [np.broadcast_to(part, shape) for part in (impulse.linear, impulse.angular)]
    return _world_wrench(_load_coefficients(impulse, body, np.concatenate(parts, axis=-1)), R_WC)


def _world_wrench(loads: Array, R_WC: Mat33) -> Vec6:
    """Return the wrench about C in axes of W from 21 load coefficients at an attitude."""
    K = loads[..., _LEVER_COLUMNS].reshape(*loads.shape[:-1], 3, 3)
    force = rotate(R_WC, loads[..., 0:3])
    torque = rotate(R_WC, loads[..., 3:6]) + 2.0 * vee(K @ np.swapaxes(R_WC, -1, -2))
    return np.concatenate((force, torque), axis=-1) + loads[..., _WORLD_COLUMNS]


def _load_coefficients(load: Load | StateLoad | Impulse, body: FreeBody, wrench: Vec6) -> Array:
    """Return 21 coefficients of a load, which are linear in its wrench."""
    force, torque = wrench[..., :3], wrench[..., 3:]
    R_BC = rotation_from_unit_quaternion(body.axes)
    lever = rotate_back(R_BC, load.point - body.centre)
    if load.frame == "world":
        K = force[..., :, None] * lever[..., None, :]
        return _pad_coefficients(wrench, 6) + _pad_coefficients(K.reshape(*K.shape[:-2], 9), 12)
    force = rotate_back(R_BC, force)
    return _pad_coefficients(force, 0) + _pad_coefficients(
        rotate_back(R_BC, torque) + cross(lever, force), 3
    )


def _pad_coefficients(part: Array, first: int) -> Array:
    """Return the 21 coefficients of a load that has only `part`, from entry `first` on."""
    value = np.zeros((*part.shape[:-1], 21))
    value[..., first : first + part.shape[-1]] = part
    return value


def total_wrench(loads: Sequence[Load | StateLoad | LoadLaw], trajectory: Trajectory) -> Vec6:
    """Sum all loads at each time of a trajectory, as a wrench sensor at Bo would measure them.

    Gravity and impulses are not included. A load counts at its start, but not at its end.

    It is [f; t] on the body at Bo in B [N, N m], shape (..., n, 6).
    """
    R = rotation_from_unit_quaternion(trajectory.quaternion)
    total, states = np.zeros((*trajectory.quaternion.shape[:-1], 6)), trajectory.states.vector
    lines, laws = split_loads(loads)
    for load in (*lines, *laws):
        for k, time in enumerate(trajectory.time.tolist()):
            if isinstance(load, StateLoad):
                wrench = load.wrench(time, State.from_unchecked_vector(states[..., k, :]))
            elif (line := load.value_and_rate(time)) is not None:
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

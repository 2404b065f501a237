"""States of rigid bodies, and trajectories of states over time; batched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, PhiLike, Vec3, Vec4, Vec6, as_array, as_real
from identify.errors import SimulationError
from identify.inertia import kinetic_energy, momentum_in_frame, spatial_momentum
from identify.simulation.checks import broadcast_batches
from identify.spatial import Pose
from identify.spatial.rotations import (
    normalised_quaternion,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)
from identify.spatial.vectors import GRAVITY_W

_PARTS_OF_STATE = (("position", 3), ("quaternion", 4), ("velocity", 3), ("angular_velocity", 3))
"""Slices of position, quaternion, velocity and angular velocity in a state vector."""


@dataclass(frozen=True, slots=True)
class State:
    """States of a batch of bodies; the batch shapes of the four fields are broadcast.

    Defaults are those of a body at rest in the frame of the world.

    Attributes:
        position: p_WoBo_W [m], shape (..., 3).
        quaternion: R_WB as [x, y, z, w], shape (..., 4).
        velocity: v_WBo_W [m/s], shape (..., 3).
        angular_velocity: w_WB_B [rad/s], shape (..., 3).

    Raises:
        SimulationError: a field that is not finite numbers of its shape, or batch shapes that do
            not broadcast.
    """

    position: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    quaternion: Vec4 = (0.0, 0.0, 0.0, 1.0)  # pyright: ignore[reportAssignmentType]
    velocity: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    angular_velocity: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]

    def __post_init__(self) -> None:
        fields = {
            name: as_array(getattr(self, name), f"state: {name}", (..., length), SimulationError)
            for name, length in _PARTS_OF_STATE
        }
        batch = broadcast_batches(
            {f"state: {name}": array.shape[:-1] for name, array in fields.items()}
        )
        for name, array in fields.items():
            object.__setattr__(self, name, np.broadcast_to(array, (*batch, array.shape[-1])))

    @property
    def pose(self) -> Pose:
        """Pose X_WB."""
        return Pose.from_quaternion(self.quaternion, self.position)

    @property
    def twist(self) -> Vec6:
        """Twist [v; ω] of the body, v of Bo, in B [m/s, rad/s], shape (..., 6)."""
        R = rotation_from_quaternion(self.quaternion)
        return np.concatenate((rotate_back(R, self.velocity), self.angular_velocity), axis=-1)

    @property
    def vector(self) -> Array:
        """State vector [p, q, v, ω] with q of unit norm, shape (..., 13)."""
        parts = (
            self.position,
            normalised_quaternion(self.quaternion),
            self.velocity,
            self.angular_velocity,
        )
        return np.concatenate(parts, axis=-1)

    @classmethod
    def from_vector(cls, vector: Array) -> State:
        """Create states from vectors [p, q, v, ω], shape (..., 13)."""
        return cls(*_split_vector(vector))

    @classmethod
    def from_unchecked_vector(cls, vector: Array) -> State:
        """Create states from vectors without checks, for intermediate steps of integrators."""
        state = object.__new__(cls)
        for (name, _), part in zip(_PARTS_OF_STATE, _split_vector(vector), strict=True):
            object.__setattr__(state, name, part)
        return state


def _split_vector(vector: Array) -> tuple[Array, Array, Array, Array]:
    return vector[..., 0:3], vector[..., 3:7], vector[..., 7:10], vector[..., 10:13]


@dataclass(frozen=True, slots=True)
class StateJump:
    """Change of a state by an impulse.

    Attributes:
        time: time of the impulse [s].
        before, after: the states before and after it; they differ in their velocities.
    """

    time: float
    before: State
    after: State


@dataclass(frozen=True, slots=True, repr=False)
class Trajectory:
    """States of a batch of bodies over time.

    Attributes:
        time: [s], shape (n,).
        position, velocity: position and velocity of Bo in W [m, m/s], shape (..., n, 3).
        quaternion: R_WB, shape (..., n, 4).
        angular_velocity: w_WB_B [rad/s], shape (..., n, 3).
        jumps: velocity jumps by impulses; at their times the trajectory has the state after.
    """

    time: Array
    position: Vec3
    quaternion: Vec4
    velocity: Vec3
    angular_velocity: Vec3
    jumps: tuple[StateJump, ...] = ()

    def __repr__(self) -> str:
        n, batch = len(self.time), self.position.shape[:-2]
        bodies = f"batch {batch}, " if batch else ""
        span = f" from {self.time[0]:.6g} to {self.time[-1]:.6g} s" if n else ""
        jumps = f", {len(self.jumps)} jumps" if self.jumps else ""
        return f"Trajectory({bodies}{n} states{span}{jumps})"

    @property
    def states(self) -> State:
        """States at all times, batch shape (..., n)."""
        return State(self.position, self.quaternion, self.velocity, self.angular_velocity)

    def momentum(self, body: PhiLike) -> Vec6:
        """Compute the momentum [p; L] of the rigid body about Wo in W, constant for a free body.

        Args:
            body: ten parameters about Bo in B, shape (..., 10).

        Returns:
            [kg m/s, kg m²/s], shape (..., n, 6).
        """
        states = self.states
        return momentum_in_frame(spatial_momentum(_with_time_axis(body), states.twist), states.pose)

    def kinetic_energy(self, body: PhiLike) -> Array:
        """Compute the kinetic energy of the rigid body, without added mass [J], shape (..., n).

        Args:
            body: as in `momentum`.
        """
        return kinetic_energy(_with_time_axis(body), self.states.twist)

    def potential_energy(self, body: PhiLike, gravity: ArrayLike = GRAVITY_W) -> Array:
        """Compute the potential energy −m g · p_WBcm, zero at Wo [J], shape (..., n).

        Args:
            body: as in `momentum`.
            gravity: g in W [m/s²], shape (3,) or (..., 3).
        """
        phi = _with_time_axis(body)
        first = rotate(rotation_from_quaternion(self.quaternion), phi[..., 1:4])
        moment = phi[..., :1] * self.position + first
        return -np.sum(moment * as_real(gravity, "gravity")[..., None, :], axis=-1)

    def energy(self, body: PhiLike, gravity: ArrayLike = GRAVITY_W) -> Array:
        """Compute the sum of kinetic and potential energy [J], shape (..., n)."""
        return self.kinetic_energy(body) + self.potential_energy(body, gravity)

    @classmethod
    def from_vectors(
        cls, time: Array, vectors: Array, jumps: tuple[StateJump, ...] = ()
    ) -> Trajectory:
        """Create a trajectory from state vectors [p, q, v, ω], shape (n, ..., 13), time first."""
        return cls(time, *_split_vector(np.moveaxis(vectors, 0, -2)), jumps)


def _with_time_axis(body: PhiLike) -> Array:
    """Return ten parameters with an additional axis for time, shape (..., 1, 10)."""
    return as_array(body, "body", (..., 10), SimulationError)[..., None, :]

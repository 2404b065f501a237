"""State of a rigid body, and states over time; batched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3, Vec4
from identify.simulation.checks import as_numbers, broadcast_batches
from identify.spatial.rotations import normalised_quaternion

_LENGTHS = (("position", 3), ("quaternion", 4), ("velocity", 3), ("angular_velocity", 3))


@dataclass(frozen=True, slots=True)
class State:
    """States of a batch of bodies; the batch shapes of the four fields are broadcast.

    Attributes:
        position: p_WoBo_W [m], shape (..., 3).
        quaternion: R_WB as [x, y, z, w], shape (..., 4).
        velocity: v_WBo_W [m/s], shape (..., 3).
        angular_velocity: w_WB_B [rad/s], shape (..., 3).

    Raises:
        SimulationError: a field that is not finite numbers of its shape, or batch shapes that do
            not go together.
    """

    position: Vec3
    quaternion: Vec4
    velocity: Vec3
    angular_velocity: Vec3

    def __post_init__(self) -> None:
        fields = {
            name: as_numbers(getattr(self, name), f"state: {name}", length)
            for name, length in _LENGTHS
        }
        batch = broadcast_batches(
            {f"state: {name}": array.shape[:-1] for name, array in fields.items()}
        )
        for name, array in fields.items():
            object.__setattr__(self, name, np.broadcast_to(array, (*batch, array.shape[-1])))

    @property
    def vector(self) -> Array:
        """[p, q, v, ω] with q of unit norm, shape (..., 13)."""
        parts = (
            self.position,
            normalised_quaternion(self.quaternion),
            self.velocity,
            self.angular_velocity,
        )
        return np.concatenate(parts, axis=-1)

    @classmethod
    def from_vector(cls, vector: Array) -> State:
        """States of vectors [p, q, v, ω], shape (..., 13)."""
        return cls(vector[..., 0:3], vector[..., 3:7], vector[..., 7:10], vector[..., 10:13])


@dataclass(frozen=True, slots=True)
class Jump:
    """What an impulse did.

    Attributes:
        time: of the impulse [s].
        before, after: the states on either side of it; they differ in their velocities.
    """

    time: float
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class Trajectory:
    """States of a batch of bodies over time.

    Attributes:
        time: [s], shape (n,).
        position, velocity: of Bo in W [m, m/s], shape (..., n, 3).
        quaternion: R_WB, shape (..., n, 4).
        angular_velocity: w_WB_B [rad/s], shape (..., n, 3).
        jumps: of the velocities, by impulses; at such a time the trajectory has the state after.
    """

    time: Array
    position: Vec3
    quaternion: Vec4
    velocity: Vec3
    angular_velocity: Vec3
    jumps: tuple[Jump, ...] = ()

    @classmethod
    def from_vectors(cls, time: Array, vectors: Array, jumps: tuple[Jump, ...] = ()) -> Trajectory:
        """Trajectory of state vectors [p, q, v, ω], shape (n, ..., 13), time first."""
        states = np.moveaxis(vectors, 0, -2)
        return cls(
            time=time,
            position=states[..., 0:3],
            quaternion=states[..., 3:7],
            velocity=states[..., 7:10],
            angular_velocity=states[..., 10:13],
            jumps=jumps,
        )

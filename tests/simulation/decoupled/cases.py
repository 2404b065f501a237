"""Bodies, starts and loads of these tests, and the error of one trajectory against another."""

import numpy as np

from identify.inertia import inertia_about_com
from identify.simulation import State, Trajectory
from identify.spatial.rotations import rotation_angle
from tests.strategies import random_body

STATE = ("position", "quaternion", "velocity", "angular_velocity")
GRAVITY = np.array([0.3, -0.2, -9.8])


def some_bodies(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([random_body(rng, mass=1.5, size=0.2) for _ in range(count)])


def some_states(batch: tuple[int, ...], seed: int = 1, spin: float = 3.0) -> State:
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(*batch, 4))
    return State(
        position=rng.normal(size=(*batch, 3)),
        quaternion=q / np.linalg.norm(q, axis=-1, keepdims=True),
        velocity=rng.normal(size=(*batch, 3)),
        angular_velocity=spin * rng.normal(size=(*batch, 3)),
    )


def still(batch: tuple[int, ...] = ()) -> State:
    q = np.zeros((*batch, 4))
    q[..., 3] = 1.0
    return State(np.zeros((*batch, 3)), q, np.zeros((*batch, 3)), np.zeros((*batch, 3)))


def pick(state: State, index) -> State:
    return State(*(getattr(state, name)[index] for name in STATE))


def wavy_wrench(time: np.ndarray, phi: np.ndarray, seed: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0])
    amplitude = 5.0 * phi[0] * np.repeat([1.0, size], 3) * rng.uniform(0.3, 1.0, 6)
    return amplitude * np.sin(np.outer(time, rng.uniform(2.0, 8.0, 6)) + rng.uniform(0, 6, 6))


def state_at(path: Trajectory, node: int) -> State:
    return State(*(getattr(path, name)[..., node, :] for name in STATE))


def errors(path: Trajectory, other: Trajectory) -> np.ndarray:
    """Largest differences of position, attitude [rad], velocity and angular velocity."""
    p, _, v, w = (np.abs(getattr(path, n) - getattr(other, n)).max() for n in STATE)
    angle = rotation_angle(path.quaternion, other.quaternion).max()
    return np.array([p, angle, v, w])

"""The whole motion of a free body: against the plain rollout, and what it must keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from identify.errors import SimulationError
from identify.inertia import in_frame
from identify.simulation.free_rotation import free_motion
from identify.simulation.state import State
from identify.spatial import Pose, quaternion_from_rotation
from identify.spatial.rotations import cross, rotate, rotation_angle, rotation_from_quaternion
from tests.close import assert_close
from tests.simulation.plain_rollout import plain_rollout
from tests.strategies import poses, random_body, seeds

GRAVITY = np.array([0.0, 0.0, -9.80665])


def random_state(rng: np.random.Generator, batch: tuple[int, ...] = ()) -> State:
    q = rng.normal(size=(*batch, 4))
    return State(
        position=rng.normal(size=(*batch, 3)),
        quaternion=q / np.linalg.norm(q, axis=-1, keepdims=True),
        velocity=rng.normal(size=(*batch, 3)),
        angular_velocity=3.0 * rng.normal(size=(*batch, 3)),
    )


@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_the_plain_rollout(seed):
    rng = np.random.default_rng(seed)
    phi, start, step = random_body(rng), random_state(rng), 5e-4
    plain = plain_rollout(phi, start, np.zeros((2001, 6)), step, GRAVITY)
    exact = free_motion(phi, start, plain.time[::400], GRAVITY)
    assert_close(exact.position, plain.position[::400], 1e-9)
    assert_close(exact.velocity, plain.velocity[::400], 1e-9)
    assert_close(exact.angular_velocity, plain.angular_velocity[::400], 1e-9)
    assert rotation_angle(exact.quaternion, plain.quaternion[::400]).max() < 1e-9


@given(seeds())
def test_the_centre_of_mass_flies_on_a_parabola(seed):
    rng = np.random.default_rng(seed)
    phi, start, g = random_body(rng), random_state(rng), rng.normal(size=3)
    t = np.array([-3.0, 0.0, 0.4, 11.0])
    motion = free_motion(phi, start, t, g)
    R, c = rotation_from_quaternion(motion.quaternion), phi[1:4] / phi[0]
    com = motion.position + rotate(R, np.broadcast_to(c, (4, 3)))
    velocity = motion.velocity + rotate(R, cross(motion.angular_velocity, c[None]))
    s = t[:, None]
    assert_close(com, com[1] + velocity[1] * s + 0.5 * g * s**2, 1e-13)
    assert_close(velocity, velocity[1] + g * s, 1e-13)
    assert_close(motion.position[1], start.position, 1e-14)
    assert_close(motion.velocity[1], start.velocity, 1e-13)


@given(poses(), seeds())
def test_another_body_frame_is_the_same_motion(X_BC, seed):
    """Described at C of the body instead of B: poses of C, of one and the same body."""
    rng = np.random.default_rng(seed)
    phi, start, t = random_body(rng), random_state(rng), np.array([0.0, 0.7, 5.0])
    motion = free_motion(phi, start, t)
    R_BC, p = X_BC.rotation, X_BC.position
    phi_C = in_frame(phi, X_BC.inverse())
    R = rotation_from_quaternion(start.quaternion)
    w = start.angular_velocity
    there = State(
        position=start.position + R @ p,
        quaternion=quaternion_from_rotation(R @ R_BC),
        velocity=start.velocity + R @ np.cross(w, p),
        angular_velocity=R_BC.T @ w,
    )
    other = free_motion(phi_C, there, t)
    X_WC = [
        Pose(r, x) @ X_BC
        for r, x in zip(rotation_from_quaternion(motion.quaternion), motion.position, strict=True)
    ]
    assert_close(other.position, [X.position for X in X_WC], 1e-11)
    q = quaternion_from_rotation(np.array([X.rotation for X in X_WC]))
    assert rotation_angle(other.quaternion, q).max() < 1e-10
    assert_close(other.angular_velocity, motion.angular_velocity @ R_BC, 1e-10)


def test_bodies_and_states_broadcast():
    rng = np.random.default_rng(0)
    phi = np.array([random_body(rng) for _ in range(2)])[:, None]
    start, t = random_state(rng, (3,)), np.linspace(0.0, 2.0, 5)
    whole = free_motion(phi, start, t)
    assert whole.position.shape == (2, 3, 5, 3)
    one = free_motion(
        phi[1, 0],
        State(*(getattr(start, name)[2] for name in State.__dataclass_fields__)),
        t,
    )
    assert_close(whole.position[1, 2], one.position, 1e-14)
    assert_close(whole.velocity[1, 2], one.velocity, 1e-14)
    gravities = free_motion(phi[0, 0], start, t, np.zeros((4, 1, 3)))
    assert gravities.position.shape == (4, 3, 5, 3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"time": 1.0}, r"time: expected shape \(n,\)"),
        ({"phi": np.ones(9)}, r"phi: expected shape \(..., 10\)"),
        ({"gravity": [0.0, np.nan, 0.0]}, "gravity: entry"),
        ({"phi": [1.0, 0, 0, 0, 1, 0, 0, 1, 0, 3]}, "triangle inequality"),
    ],
)
def test_bad_input_says_what_is_wrong(changed, message):
    rng = np.random.default_rng(0)
    usual = {"phi": random_body(rng), "start": random_state(rng), "time": [0.0]}
    with pytest.raises(SimulationError, match=message):
        free_motion(**(usual | changed))

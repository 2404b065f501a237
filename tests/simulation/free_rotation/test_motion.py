import numpy as np
import pytest
from hypothesis import given

from identify.errors import SimulationError
from identify.simulation.free_rotation import free_motion
from identify.spatial.rotations import cross, rotate, rotation_angle, rotation_from_quaternion
from tests.close import assert_close
from tests.recordings import GRAVITY
from tests.simulation.exact import random_state
from tests.simulation.plain_rollout import plain_rollout
from tests.strategies import random_body, seeds


def test_exact_motion_agrees_with_plain_rollout():
    rng = np.random.default_rng(0)
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


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"time": 1.0}, r"time: expected shape \(n,\)"),
        ({"phi": np.ones(9)}, r"phi: expected shape \(..., 10\)"),
        ({"gravity": [0.0, np.nan, 0.0]}, "gravity: entry"),
        ({"phi": [1.0, 0, 0, 0, 1, 0, 0, 1, 0, 3]}, "triangle inequality"),
    ],
)
def test_invalid_motion_input_is_rejected(changed, message):
    rng = np.random.default_rng(0)
    usual = {"phi": random_body(rng), "start": random_state(rng), "time": [0.0]}
    with pytest.raises(SimulationError, match=message):
        free_motion(**(usual | changed))

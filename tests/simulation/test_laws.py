import functools

import numpy as np
import pytest

from identify.errors import SimulationError
from identify.inertia import InertialParameters
from identify.inertia.shapes import Sphere
from identify.simulation import (
    INTEGRATORS,
    ConstantLoad,
    SampledLoad,
    State,
    StateLoad,
    simulate,
)
from identify.simulation.forced_body import total_wrench
from identify.spatial.rotations import rotate, rotation_from_quaternion
from identify.spatial.vectors import GRAVITY_W
from tests.close import assert_close
from tests.strategies import random_body

BODY = InertialParameters(random_body(np.random.default_rng(8)))
TUMBLING = State(
    position=[0.2, -0.1, 1.0],
    quaternion=[0.1, 0.2, -0.3, 0.9],
    velocity=[0.4, 0.3, -0.2],
    angular_velocity=[1.0, -2.0, 1.5],
)
DRAG = np.array([0.8, 0.7, 0.9, 0.03, 0.02, 0.04])


def drag(time, state):
    """Linear in the twist of Bo, in B."""
    return -DRAG * state.twist


def drag_and_push(time, state):
    return drag(time, state) + np.sin(3.0 * time) * np.array([1.0, 0, 0, 0, 0.05, 0])


@functools.cache
def truth_under_drag_and_push():
    loads = [drag_and_push]
    return simulate(BODY, TUMBLING, duration=0.4, step=2e-3, loads=loads, integrator="rkmk4")


def ends(path):
    return np.concatenate([part[..., -1, :] for part in (path.position, path.velocity)], axis=-1)


@pytest.mark.parametrize("integrator", sorted(INTEGRATORS))
@pytest.mark.parametrize("frame", ["body", "world"])
def test_constant_law_equals_constant_load(integrator, frame):
    wrench, point = np.array([1.0, -2.0, 0.5, 0.1, 0.2, -0.3]), [0.1, 0.0, -0.2]
    setting = {"duration": 0.2, "step": 0.02, "integrator": integrator}
    constant = ConstantLoad(wrench[:3], wrench[3:], point, frame)
    law = StateLoad(lambda time, state: wrench, point, frame)
    one = simulate(BODY, TUMBLING, loads=[constant], **setting)
    other = simulate(BODY, TUMBLING, loads=[law], **setting)
    assert_close(other.states.vector, one.states.vector, 1e-13)


def test_a_hundred_balls_slow_down_as_the_exponential():
    """v = v₀ exp(−c t / m), ω = ω₀ exp(−k t / I), each with its own c and k."""
    count, rng = 100, np.random.default_rng(0)
    mass = rng.uniform(0.5, 2.0, count)
    balls = InertialParameters(np.array([Sphere(0.1).body(mass=m).phi for m in mass]))
    c, k = rng.uniform(0.1, 1.0, count), rng.uniform(1e-3, 4e-3, count)
    strength = np.concatenate((np.repeat(c[:, None], 3, 1), np.repeat(k[:, None], 3, 1)), axis=1)
    start = State(velocity=[1.0, -2.0, 3.0], angular_velocity=[0.5, 1.0, -0.7])
    path = simulate(
        balls,
        start,
        duration=1.0,
        step=0.02,
        loads=[lambda time, state: -strength * state.twist],
        gravity=[0.0, 0.0, 0.0],
    )
    assert path.position.shape == (100, 51, 3)
    slower = np.exp(-np.outer(c / mass, path.time))[..., None]
    assert_close(path.velocity, slower * start.velocity, 1e-8)
    inertia = balls.inertia_about_com[:, 0, 0]
    turned = np.exp(-np.outer(k / inertia, path.time))[..., None]
    assert_close(path.angular_velocity, turned * start.angular_velocity, 1e-6)
    one = simulate(
        balls[7],
        start,
        duration=1.0,
        step=0.02,
        loads=[lambda time, state: -strength[7] * state.twist],
        gravity=[0.0, 0.0, 0.0],
    )
    assert_close(path.position[7], one.position, 1e-14)


@pytest.mark.parametrize("integrator", sorted(INTEGRATORS))
def test_integrators_keep_their_order_under_drag_and_a_force_in_time(integrator):
    def at_end(step):
        path = simulate(
            BODY, TUMBLING, duration=0.4, step=step, loads=[drag_and_push], integrator=integrator
        )
        return ends(path)

    exact = ends(truth_under_drag_and_push())
    errors = [np.abs(at_end(step) - exact).max() for step in (0.04, 0.02)]
    order = INTEGRATORS[integrator].order
    assert errors[0] / errors[1] > 0.75 * 2.0**order


@pytest.mark.parametrize("frame", ["body", "world"])
def test_power_is_the_rate_of_energy_and_the_wrench_that_of_momentum(frame):
    """Both against the integrals of the wrench of all loads, at Bo, by Simpson's rule."""

    def spring(time, state):
        if frame == "world":
            force = -2.0 * state.position - 0.3 * state.velocity
            return np.concatenate(
                (force, -0.02 * rotate(state.pose.rotation, state.twist[..., 3:])), axis=-1
            )
        return drag(time, state)

    loads = [
        StateLoad(spring, frame=frame),
        ConstantLoad([1.0, 0, 2.0], [0, 0.1, 0], point=[0.1, 0.2, 0], frame="world"),
        ConstantLoad([0, 3.0, 0], point=[0, 0, 0.03]),
        SampledLoad([0.0, 1.0], np.eye(2, 6), point=[0.05, 0, 0], frame="world"),
    ]
    path = simulate(BODY, TUMBLING, duration=1.0, step=5e-3, loads=loads)
    wrench = total_wrench(loads, path)
    weights = np.ones(len(path.time))
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    weights *= path.time[1] / 3.0
    work = weights @ np.sum(wrench * path.states.twist, axis=-1)
    gained = path.energy(BODY)[-1] - path.energy(BODY)[0]
    assert_close(gained, work, 1e-7)
    assert abs(gained) > 0.1  # it is not that nothing happens
    R = rotation_from_quaternion(path.quaternion)
    force, torque = rotate(R, wrench[:, :3]), rotate(R, wrench[:, 3:])
    com = path.position + rotate(R, np.broadcast_to(BODY.com, force.shape))
    weight = BODY.mass * np.array(GRAVITY_W)
    pushed = np.concatenate(
        (force + weight, torque + np.cross(path.position, force) + np.cross(com, weight)), axis=-1
    )
    momentum = path.momentum(BODY)
    assert_close(momentum[-1] - momentum[0], weights @ pushed, 1e-7)


def test_default_state_is_at_rest_at_origin():
    rest = State()
    assert np.array_equal(rest.vector, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    assert np.array_equal(rest.pose.matrix, np.eye(4))
    assert State(velocity=np.ones((5, 3))).position.shape == (5, 3)
    falling = simulate(BODY, duration=0.5, step=0.05)
    assert_close(falling.velocity[-1], 0.5 * np.array(GRAVITY_W), 1e-12)
    with pytest.raises(SimulationError, match="state: velocity"):
        State(velocity=[0.0, 1.0])


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda t, s: np.zeros(3), r"load: <lambda> at 0 s: expected shape \(..., 6\), got \(3,\)"),
        (
            lambda t, s: np.full(6, np.nan),
            r"at 0 s: entry \(0,\) is nan; every entry",
        ),
        (lambda t, s: np.zeros((2, 6)), r"do not broadcast.*law 0 \(2,\)"),
        (lambda t, s: np.zeros(6 if t < 0.05 else 5), r"at 0\.05 s: expected shape"),
        ("drag", r"expected a law \(t, state\) → \[f; t\], or a load .* got 'drag'"),
    ],
)
def test_invalid_load_law_is_rejected(law, message):
    three = InertialParameters(np.tile(BODY.phi, (3, 1)))
    with pytest.raises(SimulationError, match=message):
        simulate(three, duration=0.2, step=0.1, loads=[law])

import functools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.inertia import phi_from_inertia
from identify.simulation import (
    INTEGRATORS,
    ConstantLoad,
    SampledLoad,
    State,
    simulate,
)
from identify.simulation.forced_body import Forces
from identify.simulation.free_body import FreeBody
from identify.simulation.integrators.explicit import rotation_vector_rate
from identify.spatial import exp_rotation, log_rotation, quaternion_product
from identify.spatial.rotations import rotation_angle, rotation_from_quaternion
from tests.close import assert_close
from tests.recordings import GRAVITY
from tests.simulation.exact import distance, exact_end, random_added_mass, random_state, state_at
from tests.strategies import quaternions, random_body, vectors

PHI = random_body(np.random.default_rng(0), mass=2.0, size=0.3)
FLUID = random_added_mass(np.random.default_rng(1), PHI)
START = random_state(np.random.default_rng(2))
NAMES = tuple(INTEGRATORS)

LINE = np.array([[1.0, 2, 3, 0.1, 0.05, 0], [4.0, -2, 1, -0.2, 0.1, 0.1]])
"""A body wrench that changes along a straight line in the first second."""

WORLD = ConstantLoad([3.0, 1, -2], [0.1, 0.2, -0.1], [0.1, 0.2, -0.3], "world")
POINT = np.array([0.3, 0.1, 0.0])


def wrench(t: float, R: np.ndarray) -> np.ndarray:
    """The same two loads, at Bo in B, told again."""
    line = (1.0 - t) * LINE[0] + t * LINE[1]
    f, torque = R.T @ WORLD.force, R.T @ WORLD.torque
    return np.r_[
        line[:3] + f,
        line[3:] + np.cross(POINT, line[:3]) + torque + np.cross(WORLD.point, f),
    ]


@functools.cache
def truth_after_half_a_second(wet: bool) -> np.ndarray:
    fluid = FLUID if wet else None
    return exact_end(PHI, START, 0.5, gravity=GRAVITY, wrench=wrench, added_mass=fluid)


@pytest.mark.parametrize("fluid", [None, FLUID], ids=["free", "fluid"])
@pytest.mark.parametrize("name", NAMES)
def test_the_error_falls_with_the_order_of_the_integrator(name, fluid):
    """Against DOP853 on momenta in body axes: gravity, a world and a body load, all at points."""
    loads = (WORLD, SampledLoad([0.0, 1.0], LINE, POINT))
    truth = truth_after_half_a_second(fluid is not None)
    errors = []
    steps = np.array([0.01, 0.005])
    if name == "semi-implicit-euler":  # of first order: it takes small steps to see it
        steps = steps / 10.0
    for step in steps:
        path = simulate(
            PHI,
            START,
            duration=0.5,
            step=step,
            loads=loads,
            gravity=GRAVITY,
            integrator=name,
            added_mass=fluid,
            every=100_000,
        )
        errors.append(distance(state_at(path), truth))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - INTEGRATORS[name].order).max() < 0.2, (errors, orders)
    assert errors[-1] < {1: 0.2, 2: 1e-2, 4: 1e-6}[INTEGRATORS[name].order]


@pytest.mark.parametrize("interpolation", ["linear", "hold"])
def test_samples_between_steps_do_not_cost_the_order(interpolation):
    """Eleven samples in half a second, at no step's end: the steps are cut there."""
    rng = np.random.default_rng(3)
    start = random_state(rng)
    time = np.sort(np.r_[-0.01, rng.uniform(0.01, 0.49, 9), 0.51])
    samples = rng.normal(size=(11, 6)) * [5, 5, 5, 0.3, 0.3, 0.3]

    def held(t: float, R: np.ndarray) -> np.ndarray:
        if interpolation == "hold":
            return samples[np.searchsorted(time, t, side="right") - 1]
        return np.array([np.interp(t, time, column) for column in samples.T])

    inside = time[1:-1] - 1e-15 if interpolation == "hold" else time[1:-1]
    truth = exact_end(PHI, start, 0.5, gravity=GRAVITY, wrench=held, breaks=tuple(inside))
    load = SampledLoad(time, samples, interpolation=interpolation)
    errors = [
        distance(
            state_at(simulate(PHI, start, duration=0.5, step=h, loads=[load], gravity=GRAVITY)),
            truth,
        )
        for h in (0.02, 0.01)
    ]
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] > 8.0  # a step across a jump would be of first order


@pytest.mark.parametrize("name", NAMES)
def test_a_free_rigid_body_keeps_its_momentum_to_the_last_bit(name):
    body = FreeBody.of(PHI)
    phase = body.phase_of(random_state(np.random.default_rng(4)))
    first = phase.copy()
    motion = Forces(body, (), (), np.zeros(3)).forced_body_at(0.0)
    integrator = INTEGRATORS[name](body)
    for k in range(200):
        phase = integrator.advance(motion, phase, 0.01 * k, 0.01)
    np.testing.assert_array_equal(phase[7:], first[7:])
    assert np.abs(phase[3:7] - first[3:7]).max() > 0.1


def test_splitting_integrator_is_time_reversible():
    body = FreeBody.of(PHI, FLUID)
    motion = Forces(body, [WORLD], (), GRAVITY).forced_body_at(0.5)
    phase = body.phase_of(random_state(np.random.default_rng(8)))
    integrator = INTEGRATORS["suzuki"](body)
    there = integrator.advance(motion, phase, 0.5, 0.05)
    assert_close(integrator.advance(motion, there, 0.55, -0.05), phase, 1e-14)
    assert np.abs(there - phase).max() > 1e-2


@pytest.mark.parametrize("moments", [(1.0, 1.0, 1.6), (2.0, 1.1, 1.1), (1.0, 1.0, 1.0)])
def test_a_splitting_is_exact_for_symmetric_tops(moments):
    """q(t) = exp(L t / A) ⊗ q₀ ⊗ exp(t ω₃ (1 − C/A) e₃), with C about the axis of symmetry."""
    axis = int(np.argmax(np.abs(np.array(moments) - np.median(moments))))
    A, C = np.median(moments), moments[axis]
    start = State(np.zeros(3), np.array([0.1, 0.3, -0.2, 0.9]), np.zeros(3), np.array([1.0, 2, 3]))
    phi = phi_from_inertia(1.0, np.zeros(3), np.diag(moments))
    path = simulate(phi, start, duration=2.0, step=0.1, gravity=np.zeros(3), integrator="suzuki")
    q0 = start.vector[3:7]
    L = rotation_from_quaternion(q0) @ (np.array(moments) * start.angular_velocity)
    own = np.eye(3)[axis] * start.angular_velocity[axis] * (1.0 - C / A)
    precession = exp_rotation(np.outer(path.time, L / A))
    q = quaternion_product(
        quaternion_product(precession, q0), exp_rotation(np.outer(path.time, own))
    )
    assert rotation_angle(path.quaternion, q).max() < 1e-13


@given(quaternions(), vectors(3, 2.0), st.floats(-9.0, 0.4))
def test_the_rate_of_the_rotation_vector_matches_the_attitude(q, w, exponent):
    """Difference quotient of log(exp(v) ⊗ exp(ω h)), across the change from series to cotangent."""
    v = log_rotation(q)
    if np.linalg.norm(v) > 0.0:
        v = v / np.linalg.norm(v) * 10.0**exponent
    h = 1e-5
    ahead, back = (
        log_rotation(quaternion_product(exp_rotation(v), exp_rotation(s * h * w))) for s in (1, -1)
    )
    assert_close(rotation_vector_rate(v, w), (ahead - back) / (2.0 * h), 1e-8, scale=10.0)

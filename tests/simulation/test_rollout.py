"""The plain rollout: order of accuracy, invariants, change of frame, and other integrators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from identify.errors import SimulationError
from identify.inertia import (
    InertialParameters,
    in_frame,
    inertia_about_com,
    phi_from_inertia,
    spatial_inertia,
)
from identify.regressors import newton_euler_wrench
from identify.simulation import RigidBodyDynamics, State, rollout
from identify.spatial import BodyMotion, Pose, coadjoint, quaternion_from_rotation
from identify.spatial.rotations import rotation_angle, rotation_from_quaternion
from tests.close import assert_close
from tests.recordings import GRAVITY, Path
from tests.strategies import bodies, poses, random_body, seeds

PHI = random_body(np.random.default_rng(0), mass=1.5, size=0.2)
STEP = 2e-3


def random_state(rng: np.random.Generator, batch: tuple[int, ...] = ()) -> State:
    q = rng.normal(size=(*batch, 4))
    return State(
        position=rng.normal(size=(*batch, 3)),
        quaternion=q / np.linalg.norm(q, axis=-1, keepdims=True),
        velocity=rng.normal(size=(*batch, 3)),
        angular_velocity=3.0 * rng.normal(size=(*batch, 3)),
    )


def smooth_wrench(time: np.ndarray, phi: np.ndarray, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    size = np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0])
    amplitude = 5.0 * phi[0] * np.repeat([1.0, size], 3) * rng.uniform(0.3, 1.0, 6)
    return amplitude * np.sin(np.outer(time, rng.uniform(2.0, 8.0, 6)) + rng.uniform(0, 6, 6))


def end(path) -> np.ndarray:
    return np.concatenate(
        [
            x[..., -1, :]
            for x in (path.position, path.quaternion, path.velocity, path.angular_velocity)
        ],
        axis=-1,
    )


def mechanical(path, phi: np.ndarray, gravity: np.ndarray = GRAVITY):
    """Energy, and linear and angular momentum about the world's origin, of a path."""
    R = rotation_from_quaternion(path.quaternion)
    v = np.einsum("nji,nj->ni", R, path.velocity)
    V = np.concatenate((v, path.angular_velocity), axis=1)
    momentum = V @ spatial_inertia(phi)
    com = path.position + R @ (phi[1:4] / phi[0])
    energy = 0.5 * np.sum(V * momentum, axis=1) - phi[0] * com @ gravity
    linear = np.einsum("nij,nj->ni", R, momentum[:, :3])
    angular = np.einsum("nij,nj->ni", R, momentum[:, 3:]) + np.cross(path.position, linear)
    return energy, linear, angular


# Against other integrators -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_a_high_order_integrator_of_the_rates_of_momentum(seed):
    """DOP853 on pose and momentum in world axes: other unknowns, equations and method."""
    rng = np.random.default_rng(seed)
    phi = random_body(rng, mass=2.0)
    start = random_state(rng)
    time = np.arange(0.0, 1.0 + 1e-9, 5e-4)
    M_inverse = np.linalg.inv(spatial_inertia(phi))

    def load(t: float) -> np.ndarray:
        return smooth_wrench(np.array([t]), phi, seed)[0]

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q = y[3:7] / np.linalg.norm(y[3:7])
        R = Rotation.from_quat(q).as_matrix()
        X = Pose(R, y[:3])
        V = M_inverse @ coadjoint(X.inverse()) @ y[7:]
        weight = phi[0] * GRAVITY
        com = R @ (phi[1:4] / phi[0]) + y[:3]
        force = coadjoint(X) @ load(t) + np.r_[weight, np.cross(com, weight)]
        w = V[3:]
        q_dot = 0.5 * np.r_[q[3] * w + np.cross(q[:3], w), -q[:3] @ w]
        return np.r_[R @ V[:3], q_dot, force]

    X = Pose.from_quaternion(start.quaternion, start.position)
    V = np.r_[X.rotation.T @ start.velocity, start.angular_velocity]
    y0 = np.r_[start.position, start.quaternion, coadjoint(X) @ spatial_inertia(phi) @ V]
    exact = solve_ivp(rate, (0.0, 1.0), y0, method="DOP853", rtol=1e-11, atol=1e-12)
    path = rollout(phi, start, smooth_wrench(time, phi, seed), 5e-4)
    # The rollout takes the wrench between samples as a straight line: 1e-6 of it here.
    assert_close(path.position[-1], exact.y[:3, -1], 2e-6)
    assert (
        rotation_angle(path.quaternion[-1], exact.y[3:7, -1] / np.linalg.norm(exact.y[3:7, -1]))
        < 1e-5
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_free_body_moves_as_in_mujoco(mujoco, seed):
    """A force in world axes at the centre of mass, as MuJoCo applies it."""
    rng = np.random.default_rng(seed)
    phi = random_body(rng, mass=2.0)
    body = InertialParameters(phi)
    Ic = body.inertia_about_com
    six = " ".join(f"{x:.17g}" for x in (*np.diag(Ic), Ic[0, 1], Ic[0, 2], Ic[1, 2]))
    com = " ".join(f"{x:.17g}" for x in body.com)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{STEP}" integrator="RK4" gravity="0 0 -9.80665"/>
        <compiler boundmass="0" boundinertia="0"/><worldbody><body><freejoint/>
        <inertial pos="{com}" mass="{body.mass:.17g}" fullinertia="{six}"/>
        </body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    start = random_state(rng)
    data.qpos[:3], data.qpos[3:] = start.position, start.quaternion[[3, 0, 1, 2]]
    data.qvel[:3], data.qvel[3:] = start.velocity, start.angular_velocity
    count = 300
    # A force fixed in the world is the same in each stage of a step.
    force = 10.0 * rng.normal(size=3)
    positions, quaternions = [data.qpos[:3].copy()], [data.qpos[[4, 5, 6, 3]].copy()]
    for _ in range(count):
        data.xfrc_applied[1, :3] = force
        mujoco.mj_step(model, data)
        positions.append(data.qpos[:3].copy())
        quaternions.append(data.qpos[[4, 5, 6, 3]].copy())
    # In our terms a constant force in world axes through the centre of mass is more gravity.
    gravity = GRAVITY + force / phi[0]
    path = rollout(phi, start, np.zeros((count + 1, 6)), STEP, gravity)
    assert_close(path.position, np.array(positions), 1e-7)
    assert rotation_angle(path.quaternion, np.array(quaternions)).max() < 1e-6


def test_a_wrench_in_body_axes_moves_a_body_as_in_mujoco(mujoco):
    """Applied as MuJoCo's generalised force, step by step, converted to world axes at the com."""
    rng = np.random.default_rng(5)
    phi = random_body(rng, mass=2.0)
    body = InertialParameters(phi)
    Ic = body.inertia_about_com
    six = " ".join(f"{x:.17g}" for x in (*np.diag(Ic), Ic[0, 1], Ic[0, 2], Ic[1, 2]))
    com = " ".join(f"{x:.17g}" for x in body.com)
    step = 1e-4
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{step}" integrator="Euler" gravity="0 0 -9.80665"/>
        <compiler boundmass="0" boundinertia="0"/><worldbody><body><freejoint/>
        <inertial pos="{com}" mass="{body.mass:.17g}" fullinertia="{six}"/>
        </body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    start = random_state(rng)
    data.qpos[:3], data.qpos[3:] = start.position, start.quaternion[[3, 0, 1, 2]]
    data.qvel[:3], data.qvel[3:] = start.velocity, start.angular_velocity
    time = step * np.arange(3001)
    loads = smooth_wrench(time, phi, 5)
    for load in loads[:-1]:
        R = rotation_from_quaternion(data.qpos[[4, 5, 6, 3]])
        data.xfrc_applied[1, :3] = R @ load[:3]
        data.xfrc_applied[1, 3:] = R @ (load[3:] - np.cross(body.com, load[:3]))
        mujoco.mj_step(model, data)
    path = rollout(phi, start, loads, step)
    # MuJoCo's Euler is of first order, so the agreement is that of its step.
    assert_close(path.position[-1], data.qpos[:3], 1e-3)
    assert rotation_angle(path.quaternion[-1], data.qpos[[4, 5, 6, 3]]) < 5e-3
    assert_close(path.angular_velocity[-1], data.qvel[3:], 5e-3)


def test_halving_the_step_divides_the_error_by_sixteen():
    """Fourth order, for a wrench that is a straight line in time: sampling adds nothing."""
    rng = np.random.default_rng(1)
    start = random_state(rng)
    slope, offset = rng.normal(size=6) * [5, 5, 5, 0.3, 0.3, 0.3], rng.normal(size=6)

    def final(count: int) -> np.ndarray:
        time = np.linspace(0.0, 0.5, count + 1)
        return end(rollout(PHI, start, offset + np.outer(time, slope), 0.5 / count))

    reference = final(4000)
    errors = [np.linalg.norm(final(n) - reference) for n in (25, 50, 100)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all(), errors
    assert (orders < 4.5).all(), errors


def test_a_wrench_held_between_samples_is_a_staircase():
    rng = np.random.default_rng(2)
    start = random_state(rng)
    coarse = rng.normal(size=(6, 6)) * [5, 5, 5, 0.3, 0.3, 0.3]
    fine = np.repeat(coarse, 20, axis=0)
    held = rollout(PHI, start, coarse, 0.02, interpolation="hold")
    # The staircase itself, in small steps that end where the next stair begins.
    stairs = rollout(PHI, start, fine[: 5 * 20 + 1], 0.001, interpolation="hold")
    assert_close(held.position[-1], stairs.position[-1], 1e-6)
    straight = rollout(PHI, start, coarse, 0.02)
    assert np.abs(straight.position[-1] - held.position[-1]).max() > 1e-4


# Invariants --------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(bodies(flat=False, offset=1.0), seeds())
def test_a_free_body_without_gravity_keeps_energy_and_both_momenta(phi, seed):
    rng = np.random.default_rng(seed)
    size = np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0])
    state = random_state(rng)
    start = State(
        size * state.position, state.quaternion, size * state.velocity, state.angular_velocity
    )
    path = rollout(phi, start, np.zeros((401, 6)), 2.5e-3, np.zeros(3))
    energy, linear, angular = mechanical(path, phi, np.zeros(3))
    assert_close(energy, np.full(401, energy[0]), 1e-6)
    assert_close(linear, np.tile(linear[0], (401, 1)), 1e-6, scale=phi[0] * size * 5.0)
    assert_close(angular, np.tile(angular[0], (401, 1)), 1e-6, scale=phi[0] * size**2 * 10.0)
    assert_close(np.linalg.norm(path.quaternion, axis=1), np.ones(401), 1e-15)


def test_a_body_that_falls_keeps_its_energy_and_its_centre_a_parabola():
    rng = np.random.default_rng(3)
    start = random_state(rng)
    path = rollout(PHI, start, np.zeros((501, 6)), STEP)
    energy, linear, _ = mechanical(path, PHI)
    assert_close(energy, np.full(501, energy[0]), 1e-8)
    assert_close(linear, linear[0] + np.outer(path.time, PHI[0] * GRAVITY), 1e-8)
    com = path.position + rotation_from_quaternion(path.quaternion) @ (PHI[1:4] / PHI[0])
    velocity = linear[0] / PHI[0]
    parabola = com[0] + np.outer(path.time, velocity) + 0.5 * np.outer(path.time**2, GRAVITY)
    assert_close(com, parabola, 1e-9)


def test_the_work_of_the_wrench_is_the_gain_of_energy():
    rng = np.random.default_rng(4)
    time = STEP * np.arange(1001)
    loads = smooth_wrench(time, PHI, 4)
    path = rollout(PHI, random_state(rng), loads, STEP)
    R = rotation_from_quaternion(path.quaternion)
    V = np.concatenate((np.einsum("nji,nj->ni", R, path.velocity), path.angular_velocity), axis=1)
    power = np.sum(loads * V, axis=1)
    work = np.concatenate(([0.0], np.cumsum(0.5 * STEP * (power[1:] + power[:-1]))))
    energy, _, _ = mechanical(path, PHI)
    assert_close(energy - energy[0], work, 1e-4)


@settings(max_examples=10)
@given(seeds(), poses(0.3))
def test_the_motion_does_not_depend_on_the_body_frame(seed, X_CB):
    """The same body, wrench and motion told of another frame C that is fixed in it."""
    rng = np.random.default_rng(seed)
    start = random_state(rng)
    time = STEP * np.arange(201)
    loads = smooth_wrench(time, PHI, seed)
    path = rollout(PHI, start, loads, STEP)
    X_BC = X_CB.inverse()
    X_WC = Pose.from_quaternion(start.quaternion, start.position) @ X_BC
    R = rotation_from_quaternion(start.quaternion)
    start_C = State(
        X_WC.position,
        quaternion_from_rotation(X_WC.rotation),
        start.velocity + R @ np.cross(start.angular_velocity, X_BC.position),
        X_CB.rotation @ start.angular_velocity,
    )
    moved = rollout(in_frame(PHI, X_CB), start_C, loads @ coadjoint(X_CB).T, STEP)
    back = Pose(rotation_from_quaternion(moved.quaternion), moved.position) @ Pose(
        np.broadcast_to(X_CB.rotation, (201, 3, 3)), np.broadcast_to(X_CB.position, (201, 3))
    )
    assert_close(back.position, path.position, 1e-7, scale=1.0)
    assert_close(back.rotation, rotation_from_quaternion(path.quaternion), 1e-7)


def test_the_wrench_of_the_equations_gives_the_motion_back():
    """Inverse then forward dynamics of a path known in closed form."""
    path = Path.random(6)
    time = 1e-3 * np.arange(1001)
    start = State(
        path.position(time[:1])[0],
        path.rotation(time[:1]).as_quat()[0],
        path.velocity(time[:1])[0],
        path.angular_velocity(time[:1])[0],
    )
    loads = newton_euler_wrench(PHI, path.motion(time))
    replayed = rollout(PHI, start, loads, 1e-3)
    # Between samples the wrench is a straight line, and what is off adds up over a second.
    assert_close(replayed.position, path.position(time), 1e-4)
    assert rotation_angle(replayed.quaternion, path.rotation(time).as_quat()).max() < 1e-4


@settings(max_examples=10)
@given(bodies(flat=False, offset=1.0), seeds())
def test_accelerations_undo_the_newton_euler_wrench(phi, seed):
    rng = np.random.default_rng(seed)
    size = np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0])
    motion = BodyMotion(*(rng.normal(size=(1, 3)) * s for s in (size, 1.0, 1.0)))
    wrench = newton_euler_wrench(phi, motion)[0]
    dynamics = RigidBodyDynamics.of(phi, np.zeros(3))
    state = np.r_[np.zeros(3), 0, 0, 0, 1, np.zeros(3), motion.angular_velocity[0]]
    rate = dynamics.derivative(state, wrench)
    assert_close(rate[7:10], motion.proper_acceleration[0], 1e-9, scale=10.0 * size)
    assert_close(rate[10:13], motion.angular_acceleration[0], 1e-9, scale=10.0)


# Batches -----------------------------------------------------------------------------------------


def test_a_batch_of_states_is_a_loop_over_them():
    rng = np.random.default_rng(7)
    states = random_state(rng, (4,))
    loads = np.stack([smooth_wrench(STEP * np.arange(51), PHI, k) for k in range(4)])
    batch = rollout(PHI, states, loads, STEP)
    assert batch.position.shape == (4, 51, 3)
    for k in range(4):
        one = rollout(
            PHI,
            State(
                *(
                    getattr(states, n)[k]
                    for n in ("position", "quaternion", "velocity", "angular_velocity")
                )
            ),
            loads[k],
            STEP,
        )
        assert_close(batch.position[k], one.position, 1e-13)
        assert_close(batch.quaternion[k], one.quaternion, 1e-13)
        assert_close(batch.angular_velocity[k], one.angular_velocity, 1e-12)


def test_many_bodies_from_one_state_and_one_wrench_broadcast():
    rng = np.random.default_rng(8)
    phis = np.array([random_body(rng) for _ in range(3)])
    start = random_state(rng)
    loads = smooth_wrench(STEP * np.arange(21), PHI, 0)
    fan = rollout(phis, start, loads, STEP)
    assert fan.position.shape == (3, 21, 3)
    assert fan.time.shape == (21,)
    assert_close(fan.position[2], rollout(phis[2], start, loads, STEP).position, 1e-13)


def test_one_sample_is_the_start_itself():
    start = random_state(np.random.default_rng(9))
    path = rollout(PHI, start, np.zeros((1, 6)), STEP)
    assert path.position.shape == (1, 3)
    assert_close(path.position[0], start.position, 0.0)
    assert path.time.tolist() == [0.0]


# Errors ------------------------------------------------------------------------------------------


def still(batch: tuple[int, ...] = ()) -> State:
    q = np.zeros((*batch, 4))
    q[..., 3] = 1.0
    return State(*(np.zeros((*batch, 3)), q, np.zeros((*batch, 3)), np.zeros((*batch, 3))))


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (-PHI, "not physically possible"),
        (np.array([1.0, 0, 0, 0, 1.0, 0, 0, 0.1, 0, 0.1]), "repair the body first"),
        (np.array([0.0, 0, 0, 0, 1.0, 0, 0, 1, 0, 1]), "not physically possible"),
        (np.full(10, np.nan), "not physically possible"),
        (phi_from_inertia(1.0, np.zeros(3), np.diag([0.0, 1.0, 1.0])), r"a point or a rod"),
        (phi_from_inertia(1.0, np.ones(3), np.zeros((3, 3))), r"a point or a rod"),
        (np.stack([PHI, -PHI]), "not physically possible"),
    ],
)
def test_a_body_that_cannot_be_simulated_is_refused(phi, message):
    with pytest.raises(SimulationError, match=message):
        rollout(phi, still(phi.shape[:-1]), np.zeros((3, 6)), STEP)


@pytest.mark.parametrize("step", [0.0, -1e-3, np.nan, np.inf])
def test_a_step_that_is_none_is_refused(step):
    with pytest.raises(SimulationError, match="time step must be positive and finite"):
        rollout(PHI, still(), np.zeros((3, 6)), step)


@pytest.mark.parametrize("shape", [(6,), (3, 5), (0, 6)])
def test_a_wrench_of_another_shape_is_refused(shape):
    with pytest.raises(SimulationError, match=r"wrench: expected shape \(..., n, 6\)"):
        rollout(PHI, still(), np.zeros(shape), STEP)


def test_numbers_that_are_none_are_refused():
    with pytest.raises(SimulationError, match="wrench: some samples are not finite"):
        rollout(PHI, still(), np.full((3, 6), np.nan), STEP)
    with pytest.raises(SimulationError, match="state: velocity has entries that are not finite"):
        State(np.zeros(3), np.array([0, 0, 0, 1.0]), np.full(3, np.inf), np.zeros(3))


def test_a_motion_that_diverges_says_when_and_which_body_without_a_warning():
    loads = np.zeros((3, 60, 6))
    loads[1, :, 3] = 1e12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SimulationError, match=r"\b1\b.*grew beyond all bounds at \d.* s"):
            rollout(PHI, still((3,)), loads, 0.1)


def test_a_way_to_interpolate_that_does_not_exist_is_refused():
    way: Any = "cubic"
    with pytest.raises((SimulationError, ValueError), match="cubic"):
        rollout(PHI, still(), np.zeros((3, 6)), STEP, interpolation=way)


def test_a_plate_is_simulated_although_it_is_at_the_edge():
    phi = phi_from_inertia(1.0, np.array([0.1, 0.0, 0.2]), np.diag([0.01, 0.02, 0.03]))
    path = rollout(phi, still(), np.ones((11, 6)), STEP)
    assert np.isfinite(path.position).all()

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from identify.inertia import (
    inertia_about_com,
    spatial_inertia,
)
from identify.regressors import newton_euler_wrench
from identify.simulation import State, fast_rollout
from identify.spatial import Pose, coadjoint
from identify.spatial.rotations import rotation_angle
from tests.close import assert_close
from tests.recordings import GRAVITY, Path
from tests.simulation.plain_rollout import plain_rollout
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0), mass=1.5, size=0.2)


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


@pytest.mark.parametrize("way", [plain_rollout, fast_rollout])
@pytest.mark.parametrize("seed", [0])
def test_it_agrees_with_a_high_order_integrator_of_the_rates_of_momentum(way, seed):
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
    path = way(phi, start, smooth_wrench(time, phi, seed), 5e-4)
    # The rollout takes the wrench between samples as a straight line: 1e-6 of it here.
    assert_close(path.position[-1], exact.y[:3, -1], 2e-6)
    assert (
        rotation_angle(path.quaternion[-1], exact.y[3:7, -1] / np.linalg.norm(exact.y[3:7, -1]))
        < 1e-5
    )


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
    replayed = fast_rollout(PHI, start, loads, 1e-3)
    # Between samples the wrench is a straight line, and what is off adds up over a second.
    assert_close(replayed.position, path.position(time), 1e-4)
    assert rotation_angle(replayed.quaternion, path.rotation(time).as_quat()).max() < 1e-4

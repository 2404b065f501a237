import numpy as np
from hypothesis import given, settings
from scipy.integrate import solve_ivp

from identify.inertia import inertia_about_com
from identify.simulation.free_rotation import (
    angular_acceleration,
    angular_velocity_of_momentum,
    inertia_in_world,
    inertia_rate_in_world,
    quaternion_rate,
    quaternion_rate_in_world,
    rotate_freely,
)
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotation_angle
from tests.close import assert_close
from tests.strategies import random_body, seeds


def unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def torque(t: float) -> np.ndarray:
    """In axes of the world."""
    return 0.02 * np.array([np.sin(3.0 * t), np.cos(2.0 * t), 0.5])


def integrate(rate, start: np.ndarray, times: np.ndarray) -> np.ndarray:
    return solve_ivp(rate, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-14).y.T


@settings(max_examples=2)
@given(seeds())
def test_three_forms_of_euler_equations_agree_under_torque(seed):
    rng = np.random.default_rng(seed)
    I, q, w = inertia_about_com(random_body(rng)), unit(rng.normal(size=4)), rng.normal(size=3)
    times = np.linspace(0.0, 3.0, 4)
    R = rotation_from_quaternion(q)

    def in_body(t, y):
        q, w = y[:4], y[4:]
        tau = rotation_from_quaternion(q).T @ torque(t)
        return np.r_[quaternion_rate(q, w), angular_acceleration(I, w, tau)]

    def in_world(t, y):
        q, w = y[:4], y[4:]
        I_W = inertia_in_world(I, q)
        return np.r_[quaternion_rate_in_world(q, w), angular_acceleration(I_W, w, torque(t))]

    def by_momentum(t, y):
        q, L = y[:4], y[4:]
        return np.r_[quaternion_rate_in_world(q, angular_velocity_of_momentum(I, q, L)), torque(t)]

    body = integrate(in_body, np.r_[q, w], times)
    world = integrate(in_world, np.r_[q, R @ w], times)
    momentum = integrate(by_momentum, np.r_[q, R @ I @ w], times)
    for other in (world, momentum):
        assert rotation_angle(unit(other[:, :4]), unit(body[:, :4])).max() < 1e-9
    turned = np.einsum("nij,nj->ni", rotation_from_quaternion(body[:, :4]), body[:, 4:])
    assert_close(world[:, 4:], turned, 1e-9)
    L = np.einsum("nij,nj->ni", inertia_in_world(I, world[:, :4]), world[:, 4:])
    assert_close(momentum[:, 4:], L, 1e-9)


@given(seeds())
def test_the_inertia_turns_with_the_body(seed):
    """İ_W = [ω×] I_W − I_W [ω×], against differences along an exact motion; L̇ = 0."""
    rng = np.random.default_rng(seed)
    I, q, w = inertia_about_com(random_body(rng)), rng.normal(size=4), rng.normal(size=3)
    h = 1e-4
    motion = rotate_freely(I, q, w, [-h, 0.0, h])
    R = rotation_from_quaternion(motion.quaternion)
    I_W = inertia_in_world(I, motion.quaternion)
    w_W = np.einsum("nij,nj->ni", R, motion.angular_velocity)
    rate = inertia_rate_in_world(I_W[1], w_W[1])
    assert_close((I_W[2] - I_W[0]) / (2.0 * h), rate, 1e-6, scale=np.abs(I_W).max() * 10.0)
    alpha = angular_acceleration(I_W[1], w_W[1], np.zeros(3))
    assert_close((w_W[2] - w_W[0]) / (2.0 * h), alpha, 1e-6, scale=10.0)
    # The product rule: İ_W ω + I_W ω̇ = L̇ = 0, and İ_W ω = ω × I_W ω.
    assert_close(rate @ w_W[1], np.cross(w_W[1], I_W[1] @ w_W[1]), 1e-13)
    assert_close(rate @ w_W[1], -I_W[1] @ alpha, 1e-12)

"""The systems and formulas of the reference texts, one test each.

"Inertia tensor for rigid-body simulation" (in Japanese), by its section numbers, and "Free rotation
of a rigid body", by its equations.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given

from identify.inertia import phi_from_inertia
from identify.simulation import (
    ConstantLoad,
    Impulse,
    PrincipalBody,
    State,
    free_rotation,
    simulate,
)
from identify.simulation.free_rotation import quaternion_rate
from identify.spatial import quaternion_product
from identify.spatial.rotations import quaternion_conjugate, rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import quaternions, vectors

MASS, MOMENTS = 2.0, np.array([0.04, 0.055, 0.07])
OWN_AXES = np.array([0.2, -0.4, 0.1, 0.8]) / np.linalg.norm([0.2, -0.4, 0.1, 0.8])
O = rotation_from_quaternion(OWN_AXES)
INERTIA = O @ np.diag(MOMENTS) @ O.T
PHI = phi_from_inertia(MASS, np.zeros(3), INERTIA)
STORED = PrincipalBody(np.array(MASS), np.zeros(3), MOMENTS, OWN_AXES)
Q = np.array([0.5, 0.1, -0.2, 0.7]) / np.linalg.norm([0.5, 0.1, -0.2, 0.7])
R = rotation_from_quaternion(Q)
W_WORLD = np.array([0.3, -1.0, 0.7])
START = State(np.array([1.0, 2, 3]), Q, np.array([0.5, 0, -1]), R.T @ W_WORLD)
STEP = 1e-2


def one_step(**acting):
    """A semi-implicit Euler step, weightless, and its momentum L in W."""
    path = simulate(
        PHI,
        START,
        duration=STEP,
        step=STEP,
        gravity=np.zeros(3),
        integrator="semi-implicit-euler",
        **acting,
    )
    end = rotation_from_quaternion(path.quaternion[-1])
    return path, end @ INERTIA @ path.angular_velocity[-1]


L_START = R @ INERTIA @ R.T @ W_WORLD


@given(quaternions(), vectors(3, 3.0))
def test_1_and_2_momentum_in_principal_local_and_world_axes(q, w):
    """L_local = O L_I and L_world = R L_local, with I = O I_I O⁻¹ and I_world = R I R⁻¹."""
    R = rotation_from_quaternion(q)
    in_principal = MOMENTS * (O.T @ R.T @ w)
    in_local = INERTIA @ (R.T @ w)
    in_world = R @ INERTIA @ R.T @ w
    assert_close(O @ in_principal, in_local, 1e-14, scale=1.0)
    assert_close(R @ in_local, in_world, 1e-14, scale=1.0)
    assert_close(STORED.angular_momentum(q, w), in_world, 1e-14, scale=1.0)


def test_3_1_a_force_and_an_impulse_at_the_centre_change_the_velocity():
    F, J = np.array([1.0, -2, 3]), np.array([0.1, 0.3, -0.2])
    path, _ = one_step(loads=[ConstantLoad(F, frame="world")])
    assert_close(path.velocity[-1], START.velocity + F / MASS * STEP, 1e-14)
    assert_close(path.position[-1], START.position + STEP * path.velocity[-1], 1e-14)
    path, _ = one_step(impulses=[Impulse(0.0, J, frame="world")])
    assert_close(path.velocity[-1], START.velocity + J / MASS, 1e-14)


def test_3_2_a_torque_and_an_angular_impulse_change_the_angular_momentum():
    torque, H = np.array([0.2, -0.1, 0.3]), np.array([0.01, 0.02, -0.03])
    _, L = one_step(loads=[ConstantLoad(torque=torque, frame="world")])
    assert_close(L, L_START + torque * STEP, 1e-14)
    _, L = one_step(impulses=[Impulse(0.0, angular=H, frame="world")])
    assert_close(L, L_START + H, 1e-14)


def test_3_3_at_a_point_both():
    """τ = r × F and H = r × J, with r from the centre to the point."""
    point = np.array([0.1, -0.2, 0.3])
    r, F, J = R @ point, np.array([1.0, -2, 3]), np.array([0.1, 0.3, -0.2])
    path, L = one_step(loads=[ConstantLoad(F, point=point, frame="world")])
    assert_close(L, L_START + np.cross(r, F) * STEP, 1e-14)
    assert_close(path.velocity[-1], START.velocity + F / MASS * STEP, 1e-14)
    path, L = one_step(impulses=[Impulse(0.0, J, point=point, frame="world")])
    assert_close(L, L_START + np.cross(r, J), 1e-14)
    assert_close(path.velocity[-1], START.velocity + J / MASS, 1e-14)


def test_4_the_attitude_moves_with_the_new_angular_velocity():
    """q̇ = ½ ω ⊗ q with ω in W, an Euler step, normalised; ω = I_world⁻¹ (L + τ Δt)."""
    torque = np.array([0.2, -0.1, 0.3])
    path, _ = one_step(loads=[ConstantLoad(torque=torque, frame="world")])
    w = np.linalg.solve(R @ INERTIA @ R.T, L_START + torque * STEP)
    q = Q + STEP * 0.5 * quaternion_product(np.r_[w, 0.0], Q)
    assert_close(path.quaternion[-1], q / np.linalg.norm(q), 1e-14)


@given(quaternions(), vectors(), vectors())
def test_5_the_same_with_three_moments_and_a_quaternion(q, w, change):
    """L = q ◇ (I_d ⊙ (q⁻¹ ◇ ω)), ω = q ◇ (I_d⁻¹ ⊙ (q⁻¹ ◇ L)), with q = q_r ⊗ q_o."""
    whole = quaternion_product(q, OWN_AXES)
    back = quaternion_conjugate(whole)

    def turned(a: np.ndarray, v: np.ndarray) -> np.ndarray:
        return quaternion_product(quaternion_product(a, np.r_[v, 0]), quaternion_conjugate(a))[:3]

    L = turned(whole, MOMENTS * turned(back, w)) + change
    assert_close(STORED.angular_momentum(q, w) + change, L, 1e-14, scale=1.0)
    new = turned(whole, turned(back, L) / MOMENTS)
    assert_close(STORED.angular_velocity(q, L), new, 1e-14, scale=30.0)


@given(vectors(3, 5.0))
def test_eulers_equations_in_principal_axes(w):
    """dω_X/dt = (I_Y − I_Z)/I_X ω_Y ω_Z, and cyclic."""
    A, B, C = MOMENTS
    expected = [(B - C) / A * w[1] * w[2], (C - A) / B * w[2] * w[0], (A - B) / C * w[0] * w[1]]
    found = free_rotation.angular_acceleration(np.diag(MOMENTS), w, np.zeros(3))
    assert_close(found, expected, 1e-13, scale=25.0)


@given(quaternions(), vectors(3, 5.0))
def test_equations_b_and_c_of_the_quaternions_rate(q, w):
    """dR_q/dt = ½ R_q ω_q^B as the 4×4 matrix (scalar first), and ½ ω_q^S R_q the same."""
    x, y, z = w
    matrix = np.array([[0, -x, -y, -z], [x, 0, z, -y], [y, -z, 0, x], [z, y, -x, 0]])
    scalar_first = np.roll(q, 1)
    assert_close(np.roll(quaternion_rate(q, w), 1), 0.5 * matrix @ scalar_first, 1e-15, scale=5.0)
    w_S = rotation_from_quaternion(q) @ w
    assert_close(
        quaternion_rate(q, w), 0.5 * quaternion_product(np.r_[w_S, 0.0], q), 1e-14, scale=5.0
    )

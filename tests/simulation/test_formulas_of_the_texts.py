"""The systems and formulas of the reference texts, one test each.

"Inertia tensor for rigid-body simulation" (in Japanese), by its section numbers, and "Free rotation
of a rigid body", by its equations.
"""

import numpy as np
from hypothesis import given

from identify.inertia import phi_from_inertia
from identify.simulation import (
    ConstantLoad,
    Impulse,
    PrincipalBody,
    State,
    simulate,
)
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

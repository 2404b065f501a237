"""Formulas of "Inertia tensor for rigid-body simulation" (in Japanese), by section numbers."""

import numpy as np

from identify.inertia import phi_from_inertia
from identify.simulation import (
    ConstantLoad,
    Impulse,
    State,
    simulate,
)
from identify.spatial import quaternion_product
from identify.spatial.rotations import rotation_from_quaternion
from tests.close import assert_close

MASS, MOMENTS = 2.0, np.array([0.04, 0.055, 0.07])
OWN_AXES = np.array([0.2, -0.4, 0.1, 0.8]) / np.linalg.norm([0.2, -0.4, 0.1, 0.8])
O = rotation_from_quaternion(OWN_AXES)
INERTIA = O @ np.diag(MOMENTS) @ O.T
PHI = phi_from_inertia(MASS, np.zeros(3), INERTIA)
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

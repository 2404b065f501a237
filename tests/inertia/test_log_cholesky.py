"""The log-Cholesky chart: there and back, its derivative, and its edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import (
    PHI,
    is_consistent,
    phi_from_inertia,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.inertia.log_cholesky import (
    LOG_CHOLESKY,
    log_cholesky_from_phi,
    log_cholesky_jacobian,
    phi_from_log_cholesky,
)
from tests.close import assert_close, assert_same_body, body_scale
from tests.strategies import bodies, masses, random_body, vectors

# Position of each of ours in Pinocchio's dynamic parameters m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def as_published(theta: np.ndarray) -> np.ndarray:
    """The ten numbers written out, as Rucker and Wensing have them; takes complex numbers."""
    a, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    e1, e2, e3 = np.exp(d1), np.exp(d2), np.exp(d3)
    return np.exp(2.0 * a) * np.array(
        [
            1.0 + 0.0 * a,
            t1,
            t2,
            t3,
            s23**2 + t2**2 + t3**2 + e2**2 + e3**2,
            -s12 * e2 - s13 * s23 - t1 * t2,
            -s13 * e3 - t1 * t3,
            s12**2 + s13**2 + t1**2 + t3**2 + e1**2 + e3**2,
            -s23 * e3 - t2 * t3,
            s12**2 + s13**2 + s23**2 + t1**2 + t2**2 + e1**2 + e2**2,
        ]
    )


@given(vectors(10, 2.0))
def test_the_body_is_the_published_one_and_possible(theta):
    phi = phi_from_log_cholesky(theta)
    assert_close(phi, as_published(theta), 1e-14)
    assert is_consistent(phi)
    assert smallest_pseudo_eigenvalue(phi) > 0.0


@given(vectors(10, 2.0))
def test_a_point_of_the_chart_comes_back(theta):
    back = log_cholesky_from_phi(phi_from_log_cholesky(theta))
    # The chart stretches where the body is thin: e^-2 of its own spread.
    assert_close(back, theta, 1e-10, scale=1.0)


@given(bodies(flat=False, offset=1.0))
def test_a_body_comes_back(phi):
    theta = log_cholesky_from_phi(phi)
    assert_same_body(phi_from_log_cholesky(theta), phi, 1e-14)
    assert_close(np.exp(2.0 * theta[0]), phi[0], 1e-14)
    assert_close(theta[7:], phi[1:4] / phi[0], 1e-15)


@given(bodies(flat=False, offset=1.0))
def test_the_factor_is_the_cholesky_factor_in_reversed_order(phi):
    flipped = np.linalg.cholesky(pseudo_inertia(phi)[::-1, ::-1])[::-1, ::-1]
    theta = log_cholesky_from_phi(phi)
    U = flipped / flipped[3, 3]
    expected = np.r_[
        np.log(flipped[3, 3]), np.log(np.diag(U)[:3]), U[0, 1], U[1, 2], U[0, 2], U[:3, 3]
    ]
    scale = np.r_[np.ones(4), np.full(6, np.abs(U[:3]).max())]
    assert_close(theta, expected, 1e-9, scale=10.0 * scale)


@given(vectors(10, 2.0))
def test_the_jacobian_is_the_complex_step_of_the_published_formula(theta):
    step = 1e-30
    columns = [as_published(theta + 1j * step * axis).imag / step for axis in np.eye(10)]
    J = log_cholesky_jacobian(theta)
    assert_close(J, np.array(columns).T, 1e-14, scale=np.abs(columns).max())


@given(vectors(10, 1.5))
def test_the_jacobian_is_the_central_difference_of_the_chart(theta):
    step = 1e-6
    ahead, behind = (phi_from_log_cholesky(theta + s * step * np.eye(10)) for s in (1.0, -1.0))
    J = log_cholesky_jacobian(theta)
    assert_close((ahead - behind).T / (2.0 * step), J, 1e-8, scale=np.abs(J).max())


@given(vectors(10, 1.0))
def test_the_inverse_jacobian_is_that_of_the_inverse_chart(theta):
    phi = phi_from_log_cholesky(theta)
    step = 1e-7 * body_scale(phi)
    ahead, behind = (log_cholesky_from_phi(phi + s * np.diag(step)) for s in (1.0, -1.0))
    inverse = (ahead - behind).T / (2.0 * step)
    assert_close(inverse @ log_cholesky_jacobian(theta), np.eye(10), 1e-4)


@given(vectors(10, 2.0))
def test_the_chart_is_regular_everywhere_by_the_determinant_in_closed_form(theta):
    """U ↦ U Uᵀ has the determinant 2⁴ Π U_ii^i, which is zero nowhere."""
    U = np.exp(theta[0] + np.r_[theta[1:4], 0.0])
    pi_by_U = 2.0**4 * U[0] * U[1] ** 2 * U[2] ** 3 * U[3] ** 4
    # e^α for each of s and t, U_ii for each d, and of U itself only the last entry is new by α.
    U_by_theta = np.exp(theta[0]) ** 6 * np.prod(U[:3]) * U[3]
    # I = tr(S) 1 − S has the determinant 2 on the diagonal, −1 for each product.
    expected = np.log(2.0 * pi_by_U * U_by_theta)
    sign, logarithm = np.linalg.slogdet(log_cholesky_jacobian(theta))
    assert sign != 0.0
    assert_close(logarithm, expected, 1e-9, scale=10.0)


@given(bodies(flat=False, offset=1.0), st.floats(-0.3, 0.3))
def test_alpha_scales_the_density_and_nothing_else(phi, step):
    theta = log_cholesky_from_phi(phi)
    denser = phi_from_log_cholesky(theta + step * np.eye(10)[0])
    assert_same_body(denser, np.exp(2.0 * step) * phi, 1e-14)


@given(vectors(10, 1.5))
def test_chart_and_jacobian_are_those_of_pinocchio(pinocchio, theta):
    theirs = pinocchio.LogCholeskyParameters(theta)
    phi = phi_from_log_cholesky(theta)
    assert_close(theirs.toDynamicParameters()[PINOCCHIO], phi, 1e-14)
    J = log_cholesky_jacobian(theta)
    assert_close(theirs.calculateJacobian()[PINOCCHIO], J, 1e-13)


@given(masses(), st.floats(-3.0, 1.0))
def test_a_ball_has_no_shear_and_equal_stretches(mass, exponent):
    radius = 10.0**exponent
    com = radius * np.array([1.0, -2.0, 0.5])
    theta = log_cholesky_from_phi(phi_from_inertia(mass, com, 0.4 * mass * radius**2 * np.eye(3)))
    assert_close(theta[1:4], np.full(3, np.log(radius / np.sqrt(5.0))), 1e-12, scale=1.0)
    assert_close(theta[4:7], np.zeros(3), 1e-14, scale=radius)


def test_batches():
    rng = np.random.default_rng(3)
    phi = np.array([random_body(rng) for _ in range(6)]).reshape(2, 3, 10)
    theta = log_cholesky_from_phi(phi)
    assert theta.shape == (2, 3, 10)
    assert_close(theta[1, 2], log_cholesky_from_phi(phi[1, 2]), 1e-14)
    assert_close(phi_from_log_cholesky(theta), phi, 1e-14)
    J = log_cholesky_jacobian(theta)
    assert J.shape == (2, 3, 10, 10)
    assert_close(J[1, 0], log_cholesky_jacobian(theta[1, 0]), 1e-15)
    assert len(LOG_CHOLESKY) == len(PHI)


@pytest.mark.parametrize(
    ("phi", "kind"),
    [
        (phi_from_inertia(1.0, np.ones(3), np.diag([1.0, 1.0, 2.0])), "plate"),
        (phi_from_inertia(1.0, np.ones(3), np.diag([0.0, 1.0, 1.0])), "rod"),
        (phi_from_inertia(1.0, np.ones(3), np.zeros((3, 3))), "point"),
        (np.zeros(10), "massless"),
        (phi_from_inertia(-1.0, np.ones(3), np.eye(3)), "impossible"),
        (phi_from_inertia(1.0, np.ones(3), np.diag([1.0, 1.0, 3.0])), "impossible"),
    ],
)
def test_the_edge_and_beyond_is_refused_and_named(phi, kind):
    with pytest.raises(ModelError, match=f"the body is of kind '{kind}'; the chart covers solid"):
        log_cholesky_from_phi(phi)
    solid = random_body(np.random.default_rng(0))
    with pytest.raises(ModelError, match=rf"body \(0, 1\) is of kind '{kind}'"):
        log_cholesky_from_phi(np.array([[solid, phi]]))

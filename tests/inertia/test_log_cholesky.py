import numpy as np
import pytest
from hypothesis import given

from identify.errors import ModelError
from identify.inertia import (
    PHI,
    is_consistent,
    phi_from_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.inertia.log_cholesky import (
    LOG_CHOLESKY,
    log_cholesky_from_phi,
    log_cholesky_jacobian,
    phi_from_log_cholesky,
)
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, random_body, vectors


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
def test_body_matches_published_formula_and_is_consistent(theta):
    phi = phi_from_log_cholesky(theta)
    assert_close(phi, as_published(theta), 1e-14)
    assert is_consistent(phi)
    assert smallest_pseudo_eigenvalue(phi) > 0.0


@given(bodies(flat=False, offset=1.0))
def test_log_cholesky_round_trip(phi):
    theta = log_cholesky_from_phi(phi)
    assert_same_body(phi_from_log_cholesky(theta), phi, 1e-14)
    assert_close(np.exp(2.0 * theta[0]), phi[0], 1e-14)
    assert_close(theta[7:], phi[1:4] / phi[0], 1e-15)


@given(vectors(10, 2.0))
def test_the_jacobian_is_the_complex_step_of_the_published_formula(theta):
    step = 1e-30
    columns = [as_published(theta + 1j * step * axis).imag / step for axis in np.eye(10)]
    J = log_cholesky_jacobian(theta)
    assert_close(J, np.array(columns).T, 1e-14, scale=np.abs(columns).max())


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
def test_boundary_and_inconsistent_bodies_are_rejected(phi, kind):
    with pytest.raises(
        ModelError, match=f"the body is of kind '{kind}'; the coordinates exist for solid"
    ):
        log_cholesky_from_phi(phi)
    solid = random_body(np.random.default_rng(0))
    with pytest.raises(ModelError, match=rf"body \(0, 1\) is of kind '{kind}'"):
        log_cholesky_from_phi(np.array([[solid, phi]]))

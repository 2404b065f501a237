import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.errors import ModelError
from identify.inertia import is_consistent, pseudo_inertia
from identify.inertia.shapes import DensityField
from tests.close import assert_close
from tests.strategies import poses

UNIT = np.ones(3)


def gaussian(mass: float, mean: np.ndarray, covariance: np.ndarray):
    inverse = np.linalg.inv(covariance)
    peak = mass / np.sqrt((2.0 * np.pi) ** 3 * np.linalg.det(covariance))
    return lambda r: peak * np.exp(-0.5 * np.sum((r - mean) @ inverse * (r - mean), axis=1))


def test_a_polynomial_is_integrated_exactly_at_once():
    body = DensityField(lambda r: 1.0 + r[:, 0] ** 2 * r[:, 1] ** 2, -UNIT, UNIT)
    assert_close(body.measure, 8.0 + 8.0 / 9.0, 1e-14)
    second = 8.0 / 3.0 + 8.0 / 15.0
    assert_close(pseudo_inertia(body.body())[0, 0], second, 1e-14)
    assert body.error < 1e-12


@settings(max_examples=3)
@given(poses(0.3), st.floats(-3.0, 3.0))
def test_mean_and_covariance_of_a_gaussian_are_its_own(X, exponent):
    """Also where it fills a small part of the box: the error is in units of its own σ."""
    mass = 10.0**exponent
    covariance = X.rotation @ np.diag([0.1, 0.14, 0.2]) ** 2 @ X.rotation.T
    density = gaussian(mass, X.position, covariance)
    body = DensityField(density, -2.0 * UNIT, 2.0 * UNIT, tolerance=1e-7)
    assert body.error <= 1e-7
    assert_close(body.measure, mass, 1e-8)
    assert_close(body.centroid, X.position, 1e-8, scale=0.1)
    assert_close(body.covariance, covariance, 1e-8)
    S = mass * (covariance + np.outer(X.position, X.position))
    assert_close(pseudo_inertia(body.body())[:3, :3], S, 1e-8)
    assert is_consistent(body.body())


@pytest.mark.parametrize("tolerance", [3e-2, 1e-2])
def test_a_density_that_jumps_keeps_its_promise(tolerance):
    body = DensityField(
        lambda r: (np.sum(r * r, axis=1) <= 1.0).astype(float), -UNIT, UNIT, tolerance=tolerance
    )
    assert body.error <= tolerance
    assert_close(body.measure, 4.0 / 3.0 * np.pi, tolerance)
    assert_close(body.covariance, np.eye(3) / 5.0, tolerance)


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (lambda r: r[:, 0], r"density: -0.9\d+ kg/m³ at \[-0.9.*\] m; expected zero or more"),
        (lambda r: np.full(len(r), np.nan), "density: nan kg/m³"),
        (lambda r: np.zeros(len(r)), "zero at all 2525042 points looked at; choose a box"),
        (lambda r: 1.0, r"expected 256 numbers for points of shape \(256, 3\), got shape \(\)"),
        (lambda r: r, r"got shape \(256, 3\); it is asked at many points at once"),
    ],
)
def test_what_is_no_density_is_refused(density, message):
    with pytest.raises(ModelError, match=message):
        DensityField(density, -UNIT, UNIT)


def test_a_tolerance_out_of_reach_is_told_with_what_was_reached():
    with pytest.raises(ModelError, match=r"known to a relative \d\.\de-0\d only, expected 1.0e-08"):
        DensityField(lambda r: (r[:, 0] > 0.1234).astype(float), -UNIT, UNIT, evaluations=200_000)


@pytest.mark.parametrize(
    ("lower", "upper", "tolerance", "message"),
    [
        (UNIT, UNIT, 1e-6, r"from \[1.0, 1.0, 1.0\] to \[1.0, 1.0, 1.0\] m is empty"),
        (-np.ones(2), UNIT, 1e-6, r"density: lower: expected shape \(3\), got \(2,\)"),
        (-UNIT, np.inf * UNIT, 1e-6, r"density: upper: entry \(0,\) is inf"),
        (-UNIT, UNIT, 0.0, "density: tolerance: expected a positive, finite number"),
    ],
)
def test_a_box_that_is_none_is_refused(lower, upper, tolerance, message):
    with pytest.raises(ModelError, match=message):
        DensityField(lambda r: np.ones(len(r)), lower, upper, tolerance=tolerance)

import numpy as np
import pytest

from identify.simulation.free_rotation import Regime, rotate_freely, rotation_invariants
from tests.simulation.free_rotation.cases import OSCILLATING, QUATERNION, body
from tests.simulation.free_rotation.reference import attitude_error, period, reference

EPS = np.finfo(float).eps


@pytest.fixture
def mp():
    return pytest.importorskip("mpmath", reason="mpmath is not installed")


def allowed(w: np.ndarray, times: np.ndarray) -> np.ndarray:
    """4 eps a radian turned, the rounding of the rates; at least 2e-13."""
    return np.maximum(2e-13, 4.0 * EPS * np.linalg.norm(w) * np.abs(times))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", OSCILLATING)
def test_attitude_spin_and_period_match_60_digit_reference(mp, name, turned):
    inertia, w = body(OSCILLATING[name], turned)
    T = period(mp, inertia, w)
    times = T * np.array([0.0, 0.123, 0.5, -0.9, 10.3, 12345.6])
    rotations, spins = reference(mp, inertia, QUATERNION, w, times.tolist())
    found = rotate_freely(inertia, QUATERNION, w, times)
    errors = [attitude_error(mp, q, R) for q, R in zip(found.quaternion, rotations, strict=True)]
    errors = np.array(errors)
    assert (errors <= allowed(w, times)).all(), errors
    assert errors[np.abs(times) * np.linalg.norm(w) <= 100.0].max() < 1e-13
    spin_errors = np.abs(found.angular_velocity - spins).max(axis=1) / np.abs(w).max()
    assert (spin_errors <= allowed(w, times)).all(), spin_errors
    assert abs(rotation_invariants(inertia, w).period / T - 1.0) < 4.0 * EPS
    assert np.abs(np.linalg.norm(found.quaternion, axis=-1) - 1.0).max() < 1e-14


def test_start_within_1e31_of_separatrix():
    """p² − 3 q² = 1: with I = (1, 2, 3) only the last bit of a product of 2⁵¹ tells the side."""
    p, q = 2, 1
    while p < 2**49:
        p, q = 2 * p + 3 * q, p + 2 * q
    w = np.array([p, 0.0, q]) / 2.0**50
    found = rotation_invariants(np.diag([1.0, 2.0, 3.0]), w)
    assert found.regime == Regime.ABOUT_SMALLEST
    rate = w[0] / np.sqrt(3.0)
    # 1 − m = 1/p² here, so K = ln(4 p).
    assert found.period == pytest.approx(4.0 * np.log(4.0 * p) / rate, rel=1e-15)

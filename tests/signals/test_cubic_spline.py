import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from identify.signals.uniform_clock import cubic_spline


@pytest.mark.parametrize("count", [2, 3, 4, 5, 40, 3000])
def test_spline_matches_scipy(count):
    rng = np.random.default_rng(count)
    x = 1e3 + np.cumsum(rng.uniform(0.2, 3.0, count))
    y = rng.standard_normal((count, 3)) * [1.0, 1e-6, 1e4]
    at = np.concatenate((x, np.linspace(x[0] - 0.1, x[-1] + 0.1, 4 * count)))
    expected = CubicSpline(x, y, axis=0)(at)
    error = np.abs(cubic_spline(x, y, at) - expected).max(axis=0)
    assert (error <= 1e-11 * np.abs(expected).max(axis=0)).all()


def test_spline_interpolates_points_exactly():
    rng = np.random.default_rng(1)
    x, y = np.cumsum(rng.uniform(0.2, 3.0, 100)), rng.standard_normal((100, 2))
    assert (cubic_spline(x, y, x)[:-1] == y[:-1]).all()


def test_spline_reproduces_cubics():
    x = np.array([0.0, 0.3, 1.0, 1.1, 2.0, 2.5])
    at = np.linspace(0.0, 2.5, 50)
    found = cubic_spline(x, (x**3 - x)[:, None], at)
    np.testing.assert_allclose(found[:, 0], at**3 - at, atol=1e-14)

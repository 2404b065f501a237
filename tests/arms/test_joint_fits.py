import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import nnls

from identify.arms.joint_fits import _bounded_solution
from tests.close import assert_close
from tests.strategies import seeds


@settings(max_examples=100)
@given(seeds(), st.integers(1, 25), st.integers(0, 25))
def test_bounded_least_squares_is_that_of_lawson_and_hanson(seed, count, free):
    """Their method for rows, with two columns of opposite sign for each free unknown."""
    rng, free = np.random.default_rng(seed), min(free, count)
    units = 10.0 ** rng.uniform(-3.0, 3.0, count)
    A, b = rng.normal(size=(2 * count, count)), rng.normal(size=2 * count)
    rows = np.column_stack((A * units, b))
    x = _bounded_solution(rows.T @ rows, free) * units
    parts, residual = nnls(np.column_stack((A, -A[:, :free])), b)
    expected = parts[:count]
    expected[:free] -= parts[count:]
    assert np.all(x[free:] >= 0.0)
    assert_close(np.linalg.norm(A @ x - b), residual, 1e-8, scale=np.linalg.norm(b))
    assert_close(x, expected, 1e-6)


@pytest.mark.parametrize("free", [0, 2])
def test_bounded_least_squares_of_dependent_columns_ends(free):
    A = np.random.default_rng(0).normal(size=(9, 4))
    A[:, 3] = -2.0 * A[:, 2]
    b = A @ [-1.0, 2.0, 0.5, 0.0]
    rows = np.column_stack((A, b))
    x = _bounded_solution(rows.T @ rows, free)
    _, residual = nnls(np.column_stack((A, -A[:, :free])), b)
    assert np.all(x[free:] >= 0.0)
    assert abs(np.linalg.norm(A @ x - b) - residual) < 1e-4 * np.linalg.norm(b)


def test_columns_and_torques_of_zeros_have_no_friction():
    assert_close(_bounded_solution(np.zeros((4, 4)), 1), np.zeros(3), 1e-12)

"""Triangular factors against NumPy's general routines."""

import numpy as np
import pytest

from identify.regressors.triangular import (
    cholesky,
    invert_triangular,
    qr_factor,
    solve_transposed,
    whiten_moment,
)
from tests.close import assert_close


def test_factors_and_inverses_match_general_matrices():
    rng = np.random.default_rng(2)
    for k in (1, 4, 10):
        rows, N = rng.normal(size=(3 * k, k)), rng.normal(size=(k, k))
        R, moment = qr_factor(rows), N @ N.T
        assert_close(np.tril(R, -1), np.zeros((k, k)), 0.0)
        factor = cholesky(rows.T @ rows)
        assert_close(np.tril(factor, -1), np.zeros((k, k)), 0.0)
        assert_close(factor, np.linalg.cholesky(R.T @ R).T, 1e-10)
        assert_close(invert_triangular(R), np.linalg.inv(R), 1e-10)
        assert_close(solve_transposed(R, N), np.linalg.solve(R.T, N), 1e-10)
        assert_close(solve_transposed(R, N[0]), np.linalg.solve(R.T, N[0]), 1e-10)
        assert_close(whiten_moment(moment, R), np.linalg.inv(R).T @ moment @ np.linalg.inv(R), 1e-9)


@pytest.mark.parametrize(
    "solved",
    [cholesky, invert_triangular, lambda R: solve_transposed(R, np.ones(2))],
    ids=["root", "inverse", "solution"],
)
def test_a_singular_factor_is_rejected(solved):
    with pytest.raises(np.linalg.LinAlgError, match=r"singular|not positive definite"):
        solved(np.diag([1.0, 0.0]))


def test_empty_triangular_factors():
    nothing = np.zeros((0, 0))
    for found in (
        cholesky(nothing),
        invert_triangular(nothing),
        solve_transposed(nothing, nothing),
    ):
        assert found.shape == (0, 0)

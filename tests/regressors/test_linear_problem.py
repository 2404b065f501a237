import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import PHI
from identify.regressors import LinearProblem
from tests.close import assert_close
from tests.strategies import seeds


@given(seeds(), st.integers(1, 60))
def test_residual_norm_matches_all_rows(seed, count):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 11))
    problem = LinearProblem.from_rows(rows, equations=count)
    x = rng.normal(size=10)
    expected = np.linalg.norm(rows[:, :10] @ x - rows[:, 10])
    assert_close(problem.residual_norm(x), expected, 1e-13, scale=10.0 * np.sqrt(count))
    assert_close(problem.A, np.triu(problem.A), 0.0)
    assert problem.min_residual >= 0.0


def test_fewer_rows_than_unknowns_leave_zero_rows_and_no_floor():
    rows = np.random.default_rng(0).normal(size=(4, 11))
    problem = LinearProblem.from_rows(rows, equations=4)
    assert not problem.A[4:].any()
    assert problem.min_residual == 0.0
    assert problem.degrees_of_freedom == 1.0


def test_degrees_of_freedom_are_equations_less_all_unknowns():
    rows = np.random.default_rng(1).normal(size=(40, 11))
    problem = LinearProblem.from_rows(rows, equations=40.0, nuisances=6)
    assert problem.degrees_of_freedom == 24.0
    assert problem.names == PHI


def test_other_parameters_have_their_own_names():
    rows = np.random.default_rng(2).normal(size=(9, 3))
    problem = LinearProblem.from_rows(rows, equations=9, names=("stiffness", "damping"))
    assert problem.A.shape == (2, 2)
    with pytest.raises(ModelError, match=r"A: expected shape \(10, 10\)"):
        LinearProblem(A=np.eye(3), b=np.zeros(10), min_residual=0.0, equations=1.0)
    with pytest.raises(ModelError, match=r"b: entry \(0,\) is nan"):
        LinearProblem(A=np.eye(10), b=np.full(10, np.nan), min_residual=0.0, equations=1.0)

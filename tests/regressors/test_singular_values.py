import numpy as np
import pytest

from identify.regressors.triangular import eigh, svd
from tests.close import assert_close


@pytest.fixture(params=[False, True], ids=["divide and conquer", "it does not converge"])
def solver(request, monkeypatch):
    def fails(matrix):
        raise np.linalg.LinAlgError("did not converge")

    if request.param:
        monkeypatch.setattr("numpy.linalg.svd", fails)
        monkeypatch.setattr("numpy.linalg.eigh", fails)


def graded(m: int, n: int) -> np.ndarray:
    """A matrix whose rows fall by fifteen orders of magnitude."""
    return np.random.default_rng(m).normal(size=(m, n)) * np.logspace(0, -15, m)[:, None]


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("shape", [(12, 12), (12, 7)])
def test_singular_values_restore_the_matrix(shape):
    matrix = graded(*shape)
    U, singular, Vt = svd(matrix)
    count = len(singular)
    assert count == min(shape)
    assert (np.diff(singular) <= 0.0).all()
    assert_close(U[:, :count] * singular @ Vt[:count], matrix, 1e-14)
    assert_close(U.T @ U, np.eye(shape[0]), 1e-13)
    assert_close(Vt @ Vt.T, np.eye(shape[1]), 1e-13)


@pytest.mark.usefixtures("solver")
def test_eigenvectors_restore_the_matrix():
    matrix = graded(9, 9)
    matrix = matrix @ matrix.T
    values, vectors = eigh(matrix)
    assert (np.diff(values) >= 0.0).all()
    assert_close(vectors * values @ vectors.T, matrix, 1e-13)
    assert_close(vectors.T @ vectors, np.eye(9), 1e-13)

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import base_columns
from tests.close import assert_close


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32))
def test_columns_are_combinations_of_the_independent_ones(rank, extra, seed):
    rng = np.random.default_rng(seed)
    W = (rng.normal(size=(30, rank)) @ rng.normal(size=(rank, rank + extra)))[
        :, rng.permutation(rank + extra)
    ]
    base = base_columns(W, tolerance=1e-9)
    assert len(base.independent) == np.linalg.matrix_rank(W, rtol=1e-9)
    assert_close(W[:, base.independent] @ base.dependence, W, 1e-6)
    assert_close(base.dependence[:, base.independent], np.eye(len(base.independent)), 1e-14)
    assert (np.diff(base.independent) > 0).all()


def test_combinations_name_what_is_added_to_each_independent_column():
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    base = base_columns(np.stack((2.0 * x, -x, 3.0 * y, 0.0 * x, 1.5 * y), axis=1))
    assert base.independent.tolist() == [0, 2]
    assert base.describe("abcde") == ("a − 0.5 b", "c + 0.5 e")
    assert base_columns(np.stack((x, x), axis=1)).describe("ab")[0] in ("a + b", "b + a")
    with pytest.raises(ModelError, match=r"names: expected 5, one for each column, got 2"):
        base.describe("ab")


def test_column_that_only_rounding_makes_independent_is_dependent():
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    W = np.stack((x, x + 3e-6 * y), axis=1)
    assert len(base_columns(W).independent) == 1
    assert len(base_columns(W, tolerance=1e-7).independent) == 2


def test_regressor_of_nothing_is_refused():
    with pytest.raises(ModelError, match=r"regressor: every entry is zero"):
        base_columns(np.zeros((5, 3)))
    with pytest.raises(ModelError, match=r"regressor: expected shape \(n, n\)"):
        base_columns(np.zeros(3))

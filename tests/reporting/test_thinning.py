import numpy as np
from hypothesis import given, strategies as st

from identify.reporting.timeline import thin_signal


@given(st.integers(1, 5000), st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_peaks_and_ends_stay(count, buckets, seed):
    rng = np.random.default_rng(seed)
    x = np.arange(count) / 100.0
    y = rng.standard_normal(count) ** 3
    thin_x, thin_y = thin_signal(x, y, buckets)
    assert thin_y.max() == y.max()
    assert thin_y.min() == y.min()
    assert (thin_x[0], thin_x[-1]) == (x[0], x[-1])
    assert (np.diff(thin_x) > 0.0).all()
    np.testing.assert_array_equal(thin_y, y[np.searchsorted(x, thin_x)])
    assert len(thin_x) <= max(2 * buckets + 2, min(count, 2 * buckets))


@given(st.integers(1, 60), st.integers(40, 400), st.integers(0, 2**32 - 1))
def test_the_peaks_of_every_bucket_stay(buckets, size, seed):
    y = np.random.default_rng(seed).standard_normal(buckets * size)
    _, thin_y = thin_signal(np.arange(y.size, dtype=float), y, buckets)
    kept = set(thin_y)
    for part in y.reshape(buckets, size):
        assert {part.min(), part.max()} <= kept

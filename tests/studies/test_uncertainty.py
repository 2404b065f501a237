import numpy as np
import pytest
from scipy.stats import beta, binom

from identify.studies.results import hit_counts_within, mean_interval, proportion_interval
from tests.close import assert_close


@pytest.mark.parametrize("trials", [1, 7, 20, 400])
def test_share_interval_has_tail_probability_of_one_fortieth(trials):
    """By the sums of the binomial distribution, and by SciPy's quantiles of the beta one."""
    for hits in {0, 1, trials // 2, trials - 1, trials}:
        low, high = proportion_interval(hits, trials)
        if hits:
            assert_close(binom.sf(hits - 1, trials, low), 0.025, 1e-9)
            assert_close(low, beta.ppf(0.025, hits, trials - hits + 1), 1e-9)
        if hits < trials:
            assert_close(binom.cdf(hits, trials, high), 0.025, 1e-9)
        assert proportion_interval(trials - hits, trials) == pytest.approx((1.0 - high, 1.0 - low))
    assert proportion_interval(0, trials).low == 0.0
    assert proportion_interval(trials, trials).high == 1.0
    assert np.isnan(proportion_interval(0, 0)).all()


def test_mean_interval_covers_95_percent():
    rng = np.random.default_rng(3)
    for draw, mean in ((rng.normal, 0.0), (rng.exponential, 1.0)):
        found = [mean_interval(draw(size=60)) for _ in range(400)]
        held = [low < mean < high for low, high in found]
        assert 0.89 < np.mean(held) < 0.985


def test_mean_interval_ignores_non_finite_values():
    assert mean_interval([1.0, np.nan, 2.0, np.inf]) == mean_interval([1.0, 2.0])
    assert np.isnan(mean_interval([1.0, np.nan])).all()
    assert mean_interval([2.0, 2.0, 2.0]) == (2.0, 2.0)


def test_counts_within_a_share():
    assert list(hit_counts_within(20, 0.92, 0.98)) == [19]
    assert list(hit_counts_within(50, 0.92, 0.98)) == [46, 47, 48, 49]
    assert list(hit_counts_within(10, 0.92, 0.98)) == []

import numpy as np
import pytest

from identify.design import AxisLimits, PeriodicBasis
from identify.design.periodic import harmonics_within, limited_motion, scaled_coefficients
from identify.errors import ProblemError
from tests.close import assert_close

LIMITS = AxisLimits(
    low=np.array([-0.4, -1.0]),
    high=np.array([0.9, 1.0]),
    speed=np.array([1.0, 2.0]),
    acceleration=np.array([3.0, 6.0]),
    names=("a", "b"),
)
BASIS = PeriodicBasis(6.0, 5)


def test_every_series_is_at_rest_at_both_ends():
    ends = BASIS.at(np.array([0.0, 6.0, 12.0]))
    largest = np.abs(BASIS.at(BASIS.times())).max(axis=(1, 2))
    assert_close(ends / largest[:, None, None], np.zeros_like(ends), 1e-12, scale=1.0)


def test_rates_and_second_derivatives_are_those_of_the_values():
    t, h = np.linspace(0.0, 6.0, 40), 1e-4
    value, rate, second = BASIS.at(t)
    before, after = BASIS.at(t - h)[0], BASIS.at(t + h)[0]
    assert_close(rate, (after - before) / (2.0 * h), 1e-6)
    assert_close(second, (after - 2.0 * value + before) / h**2, 1e-5)


@pytest.mark.parametrize("refinement", [10, 1000])
def test_a_scaled_motion_meets_a_limit_and_keeps_all_on_any_grid(rng, refinement):
    coefficients = scaled_coefficients(BASIS, rng.normal(size=(2, BASIS.size)), LIMITS)
    q, v, a = BASIS.at(BASIS.times(refinement)) @ coefficients.T
    used = np.maximum.reduce(
        [
            (q / LIMITS.high).max(axis=0),
            (q / LIMITS.low).max(axis=0),
            np.abs(v / LIMITS.speed).max(axis=0),
            np.abs(a / LIMITS.acceleration).max(axis=0),
        ]
    )
    assert used.max() <= 1.0
    assert used.min() >= np.cos(np.pi / 80.0) * (1.0 - 1e-12)


def test_pullback_is_the_gradient_of_a_limited_motion(rng):
    series = BASIS.at(BASIS.times())
    c, d = rng.normal(size=(2, 2, BASIS.size))
    weights, h = rng.normal(size=(3, series.shape[1], 2)), 1e-6
    _, pullback = limited_motion(series, c, LIMITS)
    up, down = (np.sum(weights * limited_motion(series, c + s * d, LIMITS)[0]) for s in (h, -h))
    assert_close(np.sum(pullback(weights) * d), (up - down) / (2.0 * h), 1e-6)


def test_wider_acceleration_needs_more_harmonics():
    fast = AxisLimits(LIMITS.low, LIMITS.high, LIMITS.speed, 4.0 * LIMITS.acceleration, ("a", "b"))
    assert harmonics_within(fast, 20.0) == pytest.approx(2 * harmonics_within(LIMITS, 20.0), abs=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": np.array([-0.4, 0.1])}, "b: expected limits about the start"),
        ({"low": LIMITS.high, "high": LIMITS.low}, "a: expected limits about the start"),
        ({"speed": np.array([0.0, 1.0])}, "a: expected a limit of the speed above zero, got 0"),
        ({"acceleration": np.array([1.0, np.nan])}, "b: expected a limit of the acceleration"),
    ],
)
def test_zero_crossed_and_missing_limits_are_errors_that_name_the_axis(change, message):
    values = {name: getattr(LIMITS, name) for name in AxisLimits.__slots__}
    with pytest.raises(ProblemError, match=message):
        AxisLimits(**values | change)

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from identify.signals.sample_and_hold import LONGEST_HOLD, sampled_rows
from tests.strategies import seeds

ROWS = 4000


def walk(rng: np.random.Generator) -> np.ndarray:
    return np.cumsum(rng.standard_normal((ROWS, 3)), axis=0)


def sampled(period: float, jitter: float = 0.0, rng: np.random.Generator | None = None):
    """Number of the sample that each row holds, of a sensor with a sample every so many rows."""
    late = 0.0 if rng is None else jitter * rng.uniform(-0.5, 0.5, int(ROWS / period) + 2)
    times = np.arange(int(ROWS / period) + 2) * period + late
    return np.maximum(np.searchsorted(times, np.arange(ROWS), side="right") - 1, 0)


@given(st.floats(1.25, LONGEST_HOLD - 0.5), seeds())
@example(3.24609375, 0)  # the last sample is held for four rows
def test_rows_of_regular_slow_sensor_are_found(period, seed):
    number = sampled(period)
    fresh = np.flatnonzero(np.diff(number, prepend=-1))
    values = walk(np.random.default_rng(seed))[number]
    np.testing.assert_array_equal(sampled_rows([values[:, :2], values[:, 2:]]), fresh)


@pytest.mark.parametrize("period", [2, 4, 10, 20])
def test_samples_that_come_a_row_early_or_late(period):
    rng = np.random.default_rng(period)
    number = sampled(period, 1.0, rng)
    fresh = np.flatnonzero(np.diff(number, prepend=-1))
    np.testing.assert_array_equal(sampled_rows([walk(rng)[number]]), fresh)


@pytest.mark.parametrize("period", [1.43, 3, 10])
def test_held_samples_continue_while_body_is_at_rest(period):
    """Samples that are alike are as many as passed, evenly."""
    number = sampled(period)
    still = (number > int(1500 / period)) & (number < int(2500 / period))
    values = walk(np.random.default_rng(2))
    values = values[np.where(still, int(1500 / period), number)]
    kept = sampled_rows([values])
    assert kept is not None
    assert abs(len(kept) - len(np.unique(number))) <= 1
    assert np.abs(np.diff(kept) - period).max() < 1.0 + 1e-9


@given(st.floats(0.2, 0.95), seeds())
def test_rows_that_repeat_by_chance_are_no_samples(share, seed):
    rng = np.random.default_rng(seed)
    fresh = rng.uniform(size=ROWS) > share
    last = np.maximum.accumulate(np.where(fresh, np.arange(ROWS), 0))
    assert sampled_rows([walk(rng)[last]]) is None


def test_rows_that_repeat_evenly_only_now_and_then_are_no_samples():
    rng = np.random.default_rng(3)
    fresh = np.diff(sampled(1.25), prepend=-1) > 0
    by_chance = np.arange(ROWS) % 1000 < 400
    fresh[by_chance] = rng.uniform(size=by_chance.sum()) > 0.2
    last = np.maximum.accumulate(np.where(fresh, np.arange(ROWS), 0))
    assert sampled_rows([walk(rng)[last]]) is None


def test_signals_without_sample_and_hold_are_not_detected():
    rng = np.random.default_rng(0)
    time = np.arange(ROWS)[:, None] * 1e-3
    assert sampled_rows([walk(rng)]) is None
    assert sampled_rows([np.ones((ROWS, 3))]) is None  # still all the time
    assert sampled_rows([np.round(np.sin(time * [7.0, 9.0, 5.0]) * 50) / 50]) is None  # quantised
    poses = np.arange(ROWS) // 200  # a row of poses, each held
    assert sampled_rows([walk(rng)[poses]]) is None
    resting = np.where(np.arange(ROWS) < 1000, np.arange(ROWS), 1000)
    assert sampled_rows([walk(rng)[resting]]) is None  # comes to rest
    assert sampled_rows([walk(rng)[np.arange(60) // 5]]) is None  # too few to know

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.signals.uniform_clock import gap_starts, sampling_period, uniform_rows
from tests.close import assert_close
from tests.strategies import seeds

FIRST = slice(0, 1)


def smooth(time: np.ndarray) -> np.ndarray:
    return np.column_stack((np.sin(3.0 * time), np.cos(2.0 * time + 0.5)))


def even(rate: float, count: int) -> np.ndarray:
    return np.arange(count) / rate


@given(st.sampled_from([10.0, 100.0, 333.3, 1000.0]), st.integers(8, 500))
def test_rows_on_an_even_clock_are_left_untouched_bit_by_bit(rate, count):
    time = even(rate, count)
    columns = np.random.default_rng(count).normal(size=(count, 3))
    rows = uniform_rows(time, columns, FIRST)
    assert np.array_equal(rows.columns, columns)
    assert_close(rows.time, time, 1e-12)
    assert_close(rows.rate_hz, rate, 1e-12)


@given(st.floats(1e-6, 4e-4))
def test_stamps_off_by_less_than_a_thousandth_of_a_period_change_nothing(share):
    time = even(100.0, 200)
    late = time + share * 0.01 * np.sign(np.sin(np.arange(200.0)))
    columns = smooth(time)
    assert np.array_equal(uniform_rows(late, columns, FIRST).columns, columns)


@pytest.mark.parametrize("jitter", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("rate", [50.0, 500.0])
def test_rows_taken_evenly_with_late_stamps_keep_their_values(jitter, rate):
    rng = np.random.default_rng(int(rate))
    time = even(rate, 1000)
    stamps = time + jitter / rate * rng.uniform(-0.5, 0.5, 1000)
    columns = smooth(time)
    rows = uniform_rows(stamps, columns, FIRST)
    assert np.array_equal(rows.columns, columns)
    assert_close(rows.rate_hz, rate, 1e-4)


@pytest.mark.parametrize("jitter", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("rate", [50.0, 500.0])
def test_rows_taken_at_stamps_that_jitter_are_interpolated(jitter, rate):
    rng = np.random.default_rng(int(rate))
    stamps = even(rate, 1000) + jitter / rate * rng.uniform(-0.5, 0.5, 1000)
    rows = uniform_rows(stamps, smooth(stamps), FIRST)
    assert_close(np.diff(rows.time), np.full(len(rows.time) - 1, 1.0 / rows.rate_hz), 1e-9)
    assert_close(rows.columns[5:-5], smooth(rows.time)[5:-5], 20.0 / rate**3)


@pytest.mark.parametrize(
    ("rate", "tick"), [(500.0, 1e-3), (300.0, 1e-3), (150.0, 1e-2), (90.0, 1e-2)]
)
def test_stamps_rounded_to_ticks_keep_the_values_and_give_the_true_rate(rate, tick):
    time = even(rate, 3000)
    columns = smooth(time)
    rows = uniform_rows(np.round(time / tick) * tick, columns, FIRST)
    assert np.array_equal(rows.columns, columns)
    assert_close(rows.rate_hz, rate, 1e-4)


def test_stamps_that_repeat_in_bursts_are_spread_evenly():
    time = even(1000.0, 2000)
    stamps = np.floor(time / 4e-3) * 4e-3
    columns = smooth(time)
    rows = uniform_rows(stamps, columns, FIRST)
    assert_close(rows.rate_hz, 1000.0, 1e-3)
    assert len(rows.time) == pytest.approx(2000, abs=4)
    assert_close(rows.columns[10:-10], smooth(rows.time + 1.5e-3)[10:-10], 5e-3)


@pytest.mark.parametrize("size", [6, 10, 40])
@pytest.mark.parametrize("step", [0.0, 2e-5])
def test_rows_stamped_when_a_buffer_is_read_are_one_segment_at_their_rate(size, step):
    time = even(100.0, 2000)
    row = np.arange(len(time))
    stamps = time[np.minimum(row // size * size + size - 1, len(time) - 1)] + step * (row % size)
    assert_close(sampling_period(stamps), 0.01, 1e-3)
    assert not len(gap_starts(stamps))
    assert np.array_equal(uniform_rows(stamps, smooth(time), FIRST).columns, smooth(time))
    pause = stamps + np.where(row < 1000, 0.0, 30.0)
    assert gap_starts(pause).tolist() == [1000]


def test_rows_logged_with_pauses_are_no_bursts():
    """A logger that records a tenth of a second in each second."""
    row = np.arange(1000)
    stamps = 0.01 * (row % 10) + 1.0 * (row // 10)
    assert_close(sampling_period(stamps), 0.01, 1e-9)
    assert gap_starts(stamps).tolist() == list(range(10, 1000, 10))


@given(seeds(), st.floats(0.01, 0.2))
def test_missing_rows_are_filled_in(seed, share):
    rng = np.random.default_rng(seed)
    time = even(100.0, 400)
    keep = rng.uniform(size=400) > share
    # No hole longer than two rows: those are gaps or nearly.
    keep[::3] = True
    keep[-1] = True
    rows = uniform_rows(time[keep], smooth(time)[keep], FIRST)
    assert_close(rows.time, time, 1e-9)
    assert_close(rows.columns, smooth(time), 1e-4)


def test_duplicate_stamp_keeps_single_row_when_others_are_missing():
    time = np.delete(even(100.0, 300), [50, 51, 120, 121, 200])
    stamps = np.insert(time, 80, time[80])
    columns = np.insert(smooth(time), 80, smooth(time)[80], axis=0)
    rows = uniform_rows(stamps, columns, FIRST)
    assert_close(rows.time, even(100.0, 300), 1e-9)
    assert_close(rows.columns, smooth(rows.time), 1e-4)


@pytest.mark.parametrize(
    ("stamps", "period"),
    [
        ([0, 1, 2, 3.0], 1.0),
        ([0, 1, 2, 7, 8, 9.0], 1.0),
        ([0, 0, 0, 1, 1, 1, 2, 2, 2.0], 0.25),
    ],
)
def test_the_period_is_the_median_step_or_the_mean_where_stamps_repeat(stamps, period):
    assert_close(sampling_period(np.array(stamps)), period, 1e-15)


def test_gaps_are_holes_of_more_than_five_periods():
    time = np.array([0, 1, 2, 3, 8, 9, 10, 16, 17, 18, 19.0])
    assert gap_starts(time).tolist() == [7]
    assert gap_starts(even(10.0, 50)).tolist() == []


@pytest.mark.parametrize("missing", [[1500], [3, 4, 700, 2100, 2101]])
def test_a_few_missing_rows_leave_the_others_as_they_are(missing):
    """Noise and all: to interpolate every row would smooth it. Stamps in whole microseconds."""
    time = np.round(even(700.0, 3000), 6)
    columns = smooth(time) + np.random.default_rng(0).normal(0.0, 0.05, (3000, 2))
    there = np.delete(np.arange(3000), missing)
    rows = uniform_rows(time[there], columns[there], FIRST)
    assert_close(rows.rate_hz, 700.0, 1e-6)
    assert np.array_equal(rows.columns[there], columns[there])


@pytest.mark.parametrize("apart", [1e-6, 1e-12])
def test_bursts_of_rows_use_bounded_memory(apart):
    """By the median step, thousands of rows or millions would be missing between two bursts."""
    index = np.arange(2000)
    stamps = np.floor(index / 4) * 0.04 + index % 4 * apart
    tracemalloc.start()
    rows = uniform_rows(stamps, smooth(even(100.0, 2000)), FIRST)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows.time) == 2000
    assert_close(rows.rate_hz, 100.0, 1e-3)
    assert peak < 4e6

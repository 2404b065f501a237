import numpy as np

from identify.validation import replay
from identify.validation.windows import averaged, cut_windows
from tests.close import assert_close
from tests.validation.test_replay import BIAS, PHI, segment


def test_windows_follow_one_another_and_share_their_ends():
    (windows,) = cut_windows([(segment(100.0, 5.0), BIAS)], 1.0)
    assert windows.time.shape == (4, 101)
    assert_close(windows.time[1:, 0], windows.time[:-1, -1], 1e-12)
    assert_close(windows.wrench, segment(100.0, 5.0).wrench[:404].reshape(4, 101, 6) - BIAS, 2.0)


def test_rates_are_stacked_apart_and_none_is_left_out():
    parts = [(segment(rate, 6.0, k), BIAS) for k, rate in enumerate((100.0, 500.0, 100.1))]
    stacks = cut_windows(parts, 1.0)
    assert [windows.time.shape for windows in stacks] == [(5, 501), (11, 101)]
    assert_close([windows.step for windows in stacks], [2e-3, 1e-2], 2e-3)


def test_errors_of_two_rates_are_pooled_over_all_windows():
    parts = [(segment(100.0, 6.0, 1), BIAS), (segment(500.0, 6.0, 2), BIAS)]
    wrong = PHI * np.r_[1.05, np.ones(9)]
    apart = [replay([part], {"wrong": wrong}) for part in parts]
    together = replay(parts, {"wrong": wrong})
    assert together.windows == sum(one.windows for one in apart)
    squares = [one.windows * one.errors["wrong"].position[-1] ** 2 for one in apart]
    assert_close(together.errors["wrong"].position[-1] ** 2, sum(squares) / together.windows, 1e-9)
    assert together.times.shape == together.simulated.shape[:2] == (10, 101)


def test_the_most_windows_are_shared_by_the_rates():
    parts = [(segment(50.0, 300.0, 1), BIAS), (segment(100.0, 100.0, 2), BIAS)]
    counts = [len(windows.time) for windows in cut_windows(parts, 1.0)]
    assert sum(counts) <= 200
    assert counts[0] < counts[1]


def test_the_wrench_of_a_thinned_window_is_the_mean_around_each_sample():
    wrench = np.arange(12.0)[:, None] * np.ones(6)
    assert_close(averaged(wrench, 3)[1:-1, 0], [3.0, 6.0], 1e-15)

from dataclasses import replace

import numpy as np
import pytest

from identify.simulation import fast_rollout
from identify.simulation.checks import Diverged
from identify.validation import replay
from identify.validation.windows import block_means, cut_windows, first_state, neighbouring_motions
from tests.close import assert_close
from tests.validation.test_replay import BIAS, PHI, segment


def test_consecutive_windows_share_end_points():
    (windows,) = cut_windows([(segment(100.0, 5.0), BIAS)], 1.0)
    assert windows.time.shape == (4, 101)
    assert_close(windows.time[1:, 0], windows.time[:-1, -1], 1e-12)
    assert_close(windows.wrench, segment(100.0, 5.0).wrench[:404].reshape(4, 101, 6) - BIAS, 2.0)


def test_errors_of_two_rates_are_pooled_over_all_windows():
    parts = [(segment(100.0, 6.0, 1), BIAS), (segment(500.0, 6.0, 2), BIAS)]
    wrong = PHI * np.r_[1.05, np.ones(9)]
    apart = [replay([part], {"wrong": wrong}) for part in parts]
    together = replay(parts, {"wrong": wrong})
    assert together.windows == sum(one.windows for one in apart)
    squares = [one.windows * one.errors["wrong"].position[-1] ** 2 for one in apart]
    assert_close(together.errors["wrong"].position[-1] ** 2, sum(squares) / together.windows, 1e-9)
    assert together.times.shape == together.simulated.shape[:2] == (10, 101)


def test_the_wrench_of_a_thinned_window_is_the_mean_around_each_sample():
    wrench = np.arange(12.0)[:, None] * np.ones(6)
    assert_close(block_means(wrench, 3)[1:-1, 0], [3.0, 6.0], 1e-15)
    ends = np.concatenate((np.repeat(wrench[:1], 2, axis=0), wrench, wrench[-1:]))
    means = np.lib.stride_tricks.sliding_window_view(ends, 4, axis=0).mean(axis=-1)[::4]
    assert_close(block_means(np.stack((wrench, -wrench)), 4), np.stack((means, -means)), 1e-15)


def motions_of(windows, phi, every):
    """Those of `neighbouring_motions`, and the same in steps of the samples."""
    sampled = windows.wrench, windows.step
    few = neighbouring_motions(phi, windows, *sampled, "linear", every)
    start = first_state(windows)
    return few, fast_rollout(phi, start, *sampled, windows.gravity, every=every)


def test_coarse_steps_suffice_for_differences_between_bodies():
    (windows,) = cut_windows([(segment(500.0, 6.0), BIAS)], 1.0)
    slow = replace(windows, angular_velocity=windows.angular_velocity / 100.0)  # believed slow
    phi = PHI * np.stack((np.ones(10), np.r_[1.001, np.ones(9)]))[:, None]
    few, all_steps = motions_of(slow, phi, 10)
    assert_close(few.time, all_steps.time, 1e-12)
    one, other = (path.position[1] - path.position[0] for path in (few, all_steps))
    assert not np.array_equal(few.position, all_steps.position)
    assert_close(one, other, 0.01)


def test_a_body_that_turns_fast_is_simulated_at_every_sample():
    (windows,) = cut_windows([(segment(500.0, 6.0), BIAS)], 1.0)
    few, all_steps = motions_of(windows, PHI, 50)
    np.testing.assert_array_equal(few.position, all_steps.position)


def test_motion_diverging_in_long_steps_is_simulated_at_every_sample():
    (windows,) = cut_windows([(segment(500.0, 6.0), BIAS)], 1.0)
    spun = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 40.0 * PHI[9]])
    still = replace(
        windows, angular_velocity=np.zeros_like(windows.angular_velocity), wrench=windows.wrench * 0
    )
    spinning = replace(still, wrench=still.wrench + spun)
    few, all_steps = motions_of(spinning, PHI, 25)
    np.testing.assert_array_equal(few.position, all_steps.position)
    with pytest.raises(Diverged):
        fast_rollout(
            PHI, first_state(spinning), block_means(spinning.wrench, 25), 0.05, spinning.gravity
        )

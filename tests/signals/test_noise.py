"""The noise floor read off the high band, against noise that was really there."""

from __future__ import annotations

import numpy as np
import pytest

from identify.signals import prepare
from identify.signals.kernels import Differentiator, LowPass
from identify.signals.noise import filtered_noise
from tests.close import assert_close
from tests.recordings import POSE, Path, record
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
ALL = (
    *POSE,
    "linear_velocity",
    "angular_velocity",
    "linear_acceleration",
    "angular_acceleration",
)
GROUPS = {
    "a'": slice(0, 3),
    "alpha": slice(3, 6),
    "squares": slice(6, 9),
    "products": slice(9, 12),
    "wrench": slice(12, 18),
}


def estimated_over_true(
    rate: float,
    duration: float,
    give: tuple[str, ...],
    noise: dict[str, float],
    seeds: int,
    **frames,
) -> dict[str, float]:
    """Ratio of the variance read off the log to that of what the noise did to the rows."""
    time = np.arange(0.0, duration, 1.0 / rate)
    clean = prepare(record(PATH, PHI, time, give, **frames)).rows[:, 1:]
    estimated, true = np.zeros(18), np.zeros(18)
    for seed in range(seeds):
        noisy = prepare(record(PATH, PHI, time, give, noise=noise, seed=seed, **frames))
        estimated += noisy.noise
        true += np.mean((noisy.rows[:, 1:] - clean) ** 2, axis=0)
    return {
        name: float(estimated[columns].sum() / true[columns].sum())
        for name, columns in GROUPS.items()
        if true[columns].any()
    }


def within(ratios: dict[str, float], factor: float, names: str) -> None:
    for name in names.split():
        assert 1.0 / factor < ratios[name] < factor, f"{name}: {ratios}"


@pytest.mark.parametrize(("rate", "duration"), [(100.0, 60.0), (500.0, 15.0)])
def test_white_noise_of_measured_accelerations_rates_and_wrench_is_told_within_a_third(
    rate, duration
):
    noise = {
        "linear_acceleration": 0.1,
        "angular_acceleration": 0.5,
        "angular_velocity": 0.01,
        "force": 0.1,
        "torque": 0.01,
    }
    ratios = estimated_over_true(rate, duration, ALL, noise, seeds=4)
    within(ratios, 1.3, "a' alpha squares products wrench")


@pytest.mark.parametrize(("rate", "duration"), [(100.0, 60.0), (500.0, 15.0)])
def test_noise_of_the_pose_that_is_differentiated_is_told_within_a_third(rate, duration):
    noise = {"position": 1e-3, "quaternion": 1e-3, "force": 0.1, "torque": 0.01}
    ratios = estimated_over_true(rate, duration, POSE, noise, seeds=4)
    within(ratios, 1.3, "a' alpha squares products wrench")


def test_noise_of_a_gyro_is_told_in_its_derivative_and_in_the_products():
    give = ("quaternion", "angular_velocity", "linear_acceleration")
    noise = {"angular_velocity": 0.01, "linear_acceleration": 0.1, "force": 0.1, "torque": 0.01}
    ratios = estimated_over_true(200.0, 30.0, give, noise, seeds=4, kind="proper")
    within(ratios, 1.3, "a' alpha squares products wrench")


def test_noise_of_a_velocity_that_is_differentiated_is_told_within_a_third():
    give = ("quaternion", "linear_velocity", "angular_velocity")
    noise = {"linear_velocity": 1e-3, "angular_velocity": 0.01, "force": 0.1, "torque": 0.01}
    ratios = estimated_over_true(200.0, 30.0, give, noise, seeds=4, twist="world")
    within(ratios, 1.3, "a' alpha wrench")


def test_a_short_log_tells_its_noise_as_well_as_a_long_one():
    """Six seconds at 100 Hz: a median over few averaged spectra is lower than their mean."""
    noise = {"linear_acceleration": 0.1, "angular_acceleration": 0.5, "force": 0.1, "torque": 0.01}
    ratios = estimated_over_true(100.0, 6.0, ALL, noise, seeds=12)
    within(ratios, 1.3, "a' alpha wrench")


def test_a_log_without_noise_has_next_to_none():
    log = prepare(record(PATH, PHI, np.arange(0.0, 30.0, 0.01), ALL))
    power = np.mean(log.rows[:, 1:] ** 2, axis=0)
    assert (log.noise < 1e-9 * power).all()


def test_still_poses_have_no_floor_to_read():
    lowpass, differentiator = LowPass.design(100.0, 5.0), Differentiator.design(100.0, 5.0)
    flat = filtered_noise(np.ones((400, 18)), np.full(18, -1), lowpass, differentiator)
    assert_close(flat, np.zeros(18), 1e-20, scale=1.0)


def test_a_line_of_vibration_is_not_counted_as_noise():
    rng = np.random.default_rng(1)
    lowpass, differentiator = LowPass.design(200.0, 5.0), Differentiator.design(200.0, 5.0)
    time = np.arange(20_000) / 200.0
    white = rng.normal(0.0, 0.1, (len(time), 1))
    hum = 2.0 * np.sin(2 * np.pi * 50.0 * time)[:, None]
    orders = np.array([-1])
    without = filtered_noise(white, orders, lowpass, differentiator)
    with_hum = filtered_noise(white + hum, orders, lowpass, differentiator)
    assert_close(with_hum, without, 0.05)
    assert_close(without, [0.01 * lowpass.independent_share], 0.1)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_noise_that_went_through_the_differentiator_is_judged_by_its_response(order):
    rng = np.random.default_rng(2)
    lowpass, differentiator = LowPass.design(200.0, 5.0), Differentiator.design(200.0, 5.0)
    white = rng.normal(0.0, 1e-3, (40_000, 1))
    through = differentiator.apply(white, order)
    estimated = filtered_noise(through, np.array([order]), lowpass, differentiator)
    taps = np.convolve(differentiator.kernels[order], lowpass.taps)
    assert_close(estimated, [1e-6 * np.sum(taps**2)], 0.15)

"""The study's noise: of the stated size, white, where it belongs and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.stars_study.corruptions import LEVELS, LOWEST_SIGMAS, corrupt, noise_generator
from identify.logs import Recording
from identify.logs.synthetic import synthetic_recording

PHI = np.array([0.6, 0.012, -0.018, 0.03, 3e-3, 1e-4, -2e-4, 3e-3, 1e-4, 1.2e-3])
UNTOUCHED = ("position", "quaternion", "linear_velocity", "angular_velocity")


@pytest.fixture(scope="module")
def recording() -> Recording:
    rng = np.random.default_rng(0)
    return synthetic_recording(PHI, rng=rng, duration=40.0, include="all", frame="world")


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_noise_has_the_published_sigma_and_is_white(recording, level):
    noisy = corrupt(recording, level, np.random.default_rng(1))
    for name, sigma in LOWEST_SIGMAS.items():
        noise = noisy.signals[name] - recording.signals[name]
        count = noise.size
        if level.factor == 0.0:
            assert not noise.any()
            continue
        unit = noise / (level.factor * sigma)
        assert unit.std() == pytest.approx(1.0, abs=5.0 / np.sqrt(2.0 * count))
        assert unit.mean() == pytest.approx(0.0, abs=5.0 / np.sqrt(count))
        assert np.mean(unit[1:] * unit[:-1]) == pytest.approx(0.0, abs=5.0 / np.sqrt(count))
        assert np.mean(unit[:, 0] * unit[:, 1]) == pytest.approx(0.0, abs=5.0 / np.sqrt(len(unit)))


def test_levels_are_the_published_ones():
    assert {level.name: level.factor for level in LEVELS} == {
        "none": 0.0,
        "low": 1.0,
        "moderate": 2.0,
        "high": 4.0,
    }
    assert LOWEST_SIGMAS == {
        "linear_acceleration": 0.025,
        "angular_acceleration": 0.25,
        "force": 0.05,
        "torque": 0.0025,
    }


def test_pose_and_twist_stay_exact(recording):
    noisy = corrupt(recording, LEVELS[-1], np.random.default_rng(1))
    for name in UNTOUCHED:
        np.testing.assert_array_equal(noisy.signals[name], recording.signals[name])
    assert set(noisy.signals) == set(recording.signals)
    assert noisy.frames == recording.frames


def test_the_same_seed_gives_the_same_noise_and_another_another(recording):
    first, again, other = (
        corrupt(recording, LEVELS[1], noise_generator(1, 3, seed)).signals["force"]
        for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_no_two_runs_share_their_noise():
    runs = [(level, tool, seed) for level in range(4) for tool in range(20) for seed in range(10)]
    draws = {noise_generator(*run).standard_normal() for run in runs}
    assert len(draws) == len(runs)

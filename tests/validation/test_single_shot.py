import numpy as np
import pytest

from identify.errors import SimulationError
from identify.inertia import is_consistent
from identify.validation import posterior_bodies, replay, replay_in_one_shot
from tests.close import assert_close
from tests.validation.test_replay import BIAS, PHI, segment

SPREAD = np.diag((1e-2 * np.array([PHI[0], *[0.05 * PHI[0]] * 3, *[PHI[4]] * 6])) ** 2)


def test_single_shot_covers_longest_segment():
    parts = [(segment(500.0, 1.0, 1), BIAS), (segment(500.0, 4.0, 2), BIAS)]
    done = replay_in_one_shot(parts, {"true": PHI})
    assert len(done.time) == 2000
    assert_close(done.position, done.measured_position, 2e-2)
    errors = done.errors["true"]
    assert errors.position[0] == 0.0
    assert errors.position.max() < 5e-3
    assert errors.attitude.max() < 5e-3


def test_wrong_body_drifts_in_single_shot():
    wrong = PHI * np.r_[1.02, np.ones(9)]
    done = replay_in_one_shot([(segment(200.0, 4.0), BIAS)], {"true": PHI, "wrong": wrong})
    assert list(done.errors) == ["true", "wrong"]
    assert done.errors["wrong"].position[-1] > 20.0 * done.errors["true"].position[-1]


def test_a_band_holds_most_of_the_samples_errors():
    parts = [(segment(200.0, 3.0), BIAS)]
    samples = posterior_bodies(PHI, SPREAD, np.random.default_rng(0))
    for done in (
        replay(parts, {"true": PHI}, samples=samples),
        replay_in_one_shot(parts, {"true": PHI}, samples=samples),
    ):
        band = done.band
        assert band.samples == len(samples) == 32
        assert band.horizon[-1] == pytest.approx(done.errors["true"].horizon[-1], rel=1e-9)
        each = [
            (
                replay(parts, {"x": phi})
                if done.__class__.__name__ == "Replay"
                else replay_in_one_shot(parts, {"x": phi})
            )
            for phi in samples[:8]
        ]
        ends = np.array([one.errors["x"].position[-1] for one in each])
        low, high = band.position[:, -1]
        assert 0.0 < low < high
        assert np.mean((ends >= low) & (ends <= high)) >= 0.75


def test_posterior_bodies_are_possible_and_have_the_covariance():
    samples = posterior_bodies(PHI, SPREAD, np.random.default_rng(1), 4000)
    assert np.all(is_consistent(samples))
    assert_close(samples.mean(axis=0), PHI, 1e-2)
    assert_close(np.sqrt(np.diag(np.cov(samples.T))), np.sqrt(np.diag(SPREAD)), 0.1)


def test_posterior_without_consistent_bodies_has_no_samples():
    impossible = PHI * np.r_[np.ones(4), -np.ones(6)]
    assert posterior_bodies(impossible, 1e-6 * SPREAD, np.random.default_rng(0)) is None


def test_single_shot_needs_body_and_segment():
    with pytest.raises(SimulationError, match="at least one body"):
        replay_in_one_shot([(segment(100.0, 2.0), BIAS)], {})
    assert replay_in_one_shot([], {"true": PHI}) is None


@pytest.mark.parametrize("size", [0.1, 1.0, 20.0])
def test_the_band_of_linear_motions_matches_all_bodies(size):
    """Within 5 % of its widest; where motions are not linear in the body, they are simulated."""
    parts = [(segment(200.0, 4.0, 1), BIAS), (segment(200.0, 3.0, 2), BIAS)]
    samples = posterior_bodies(PHI, size**2 * SPREAD, np.random.default_rng(0))
    band = replay(parts, {"true": PHI}, samples=samples).band
    full = replay(parts, {str(k): phi for k, phi in enumerate(samples)}).errors
    for name in ("position", "attitude"):
        each = np.array([getattr(one, name) for one in full.values()])
        at = np.linspace(0, each.shape[1] - 1, getattr(band, name).shape[1]).astype(int)
        expected = np.quantile(each[:, at], (0.025, 0.975), axis=0)
        assert_close(getattr(band, name), expected, 0.05)

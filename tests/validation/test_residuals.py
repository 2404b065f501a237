import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

from identify.regressors import summarise_log
from identify.validation import assess_residuals, noise_rms, residual_and_noise
from tests.recordings import POSE, Path, record, still_poses, with_signals, with_wrench
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(4))
TIME = np.arange(0.0, 20.0, 0.01)
BIAS = np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])
NOISE = {"force": 0.2, "torque": 0.02}


def log(seed: int, extra=None):
    recording = record(Path.random(seed), PHI, TIME, POSE, bias=BIAS, noise=NOISE, seed=seed)
    if extra is not None:
        recording = with_signals(recording, force=recording.signals["force"] + extra)
    return summarise_log(recording)


def test_white_noise_through_the_low_pass_is_noise():
    """Of 40 logs, 240 axes, none is flagged by chance."""
    for seed in range(40):
        assert not assess_residuals([log(seed)], PHI, BIAS[None]).systematic.any()


def test_predicted_noise_rms_matches_simulated_noise():
    """White noise of 0.2 N at 100 Hz, of which 5 Hz of 50 are kept; the body is the true one."""
    logs, biases = [log(seed) for seed in range(3)], np.array([BIAS] * 3)
    made = noise_rms(logs, PHI, biases)
    np.testing.assert_allclose(made[:3], 0.2 * np.sqrt(5.0 / 50.0), rtol=0.1)
    np.testing.assert_allclose(made[3:], 0.02 * np.sqrt(5.0 / 50.0), rtol=0.1)
    left = np.concatenate([residual_and_noise(each, PHI, BIAS)[0] for each in logs])
    ratio = assess_residuals(logs, PHI, biases).noise_power_ratio
    np.testing.assert_allclose(ratio, np.mean(left**2, axis=0) / made**2, rtol=1e-9)


@pytest.mark.parametrize("seconds", [0.05, 0.15])
def test_slow_noise_is_noise(seconds):
    """Its correlation falls by e in so many seconds; its size is five times that of the white."""
    step = np.exp(-0.01 / seconds)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        white = np.sqrt(1.0 - step**2) * rng.standard_normal((len(TIME), 3))
        found = assess_residuals(
            [log(seed, lfilter([1.0], [1.0, -step], white, axis=0))], PHI, BIAS[None]
        ).systematic
        assert not found.any()


def test_residual_of_late_wrench_correlates_with_rate_of_motion():
    path = Path.random(3)
    late = record(path, PHI, TIME, POSE, bias=BIAS, noise=NOISE)
    wrench = path.wrench(PHI, TIME - 0.05) - path.wrench(PHI, TIME)
    assert assess_residuals(
        [summarise_log(with_wrench(late, wrench))], PHI, BIAS[None]
    ).systematic.all()


@pytest.mark.parametrize(
    "extra",
    [
        lambda t: np.sin(2.0 * np.pi * 0.4 * t),  # swings
        lambda t: t / 20.0,  # drifts
        lambda t: np.where((t > 8.0) & (t < 8.4), 4.0, 0.0),  # a push
        lambda t: Path.random(7).acceleration(t)[:, 0],  # correlated with the motion
    ],
)
def test_unmodelled_wrench_exceeds_noise_on_its_axis_only(extra):
    added = np.zeros((len(TIME), 3))
    added[:, 1] = extra(TIME)
    found = assess_residuals([log(7, added)], PHI, BIAS[None]).systematic
    assert found.tolist() == [False, True, False, False, False, False]


def test_residual_of_wrong_body_correlates_with_motion():
    assert assess_residuals([log(8)], 1.3 * PHI, BIAS[None]).systematic.all()


def test_static_poses_have_no_order_in_time_and_are_compared_with_their_attitude():
    poses = still_poses(PHI, Rotation.random(30, random_state=2), bias=BIAS, noise=0.01)
    still = [summarise_log(poses)]
    assert not assess_residuals(still, PHI, BIAS[None]).systematic.any()
    assert assess_residuals(still, 1.2 * PHI, BIAS[None]).systematic[:3].all()


def test_residual_test_needs_more_rows_than_terms():
    few = [summarise_log(still_poses(PHI, Rotation.random(4, random_state=2), bias=BIAS))]
    assert not assess_residuals(few, 1.2 * PHI, BIAS[None]).systematic.any()

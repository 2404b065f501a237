"""What expected from wrench noise of a replay, beside what it was seen to make."""

from dataclasses import replace

import numpy as np
import pytest

from identify import InertialParameters, fit
from identify.commands.summary import detail_lines
from identify.errors import SimulationError
from identify.logs import Noise, synthetic_recording
from identify.reporting.replays import replay_section
from identify.signals import Segment
from identify.validation import Replays, replay, replay_in_one_shot, wrench_noise
from identify.validation.noise_growth import simulate_noise_growth
from tests.close import assert_close
from tests.validation.test_replay import BIAS, PHI, segment

RATE = 200.0
SIGMA = np.repeat([0.05, 0.002], 3)


def noisy(share=1.0, duration=30.0, seed=0):
    """A log of the true body with noise on its wrench alone, and that noise as replays take it."""
    log = segment(RATE, duration)
    added = share * SIGMA * np.random.default_rng(seed).normal(size=log.wrench.shape)
    return replace(log, wrench=log.wrench + added), np.diag((share * SIGMA) ** 2) / RATE


def test_errors_of_the_true_body_match_the_yardstick():
    log, noise = noisy()
    done = replay([(log, BIAS)], {"true": PHI}, noise=noise, horizon=1.0)
    errors, alone = done.errors["true"], done.noise
    at = np.interp(alone.horizon, errors.horizon, np.arange(len(errors.horizon))).astype(int)
    for name in ("position", "attitude"):
        ratio = getattr(errors, name)[at][5:] / getattr(alone, name)[5:]
        assert 0.7 < np.median(ratio) < 1.4, name


def test_position_error_of_force_noise_grows_as_double_integral():
    """A point-like body that does not turn: var = S t³ / (3 m²) on each axis."""
    n, step, density = 401, 0.005, 1e-4
    still = Segment(
        time=step * np.arange(n),
        position=np.zeros((n, 3)),
        velocity=np.zeros((n, 3)),
        quaternion=np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)),
        angular_velocity=np.zeros((n, 3)),
        wrench=np.tile([0.0, 0.0, 9.81 * 2.0, 0.0, 0.0, 0.0], (n, 1)),
        gravity=np.array([0.0, 0.0, -9.81]),
    )
    windows = [np.repeat(getattr(still, k)[None], 200, axis=0) for k in Segment.__annotations__]
    body = InertialParameters.from_com(2.0, [0.0, 0.0, 0.0], np.eye(3)).phi
    noise = density * np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    growth = simulate_noise_growth(Segment(*windows), body, noise, step, "linear")
    expected = np.sqrt(3.0 * density * growth.time**3 / 3.0) / 2.0
    assert_close(growth.position[20:], expected[20:], 0.1)
    assert growth.attitude.max() < 1e-12
    assert growth.horizon == 0.0


def test_windows_are_so_short_that_noise_stays_below_a_tenth_of_the_motion():
    log, noise = noisy(10.0)
    done = replay([(log, BIAS)], {"true": PHI}, noise=noise)
    length = done.errors["true"].horizon[-1]
    assert 10 / RATE <= length < 0.9
    asked = replay([(log, BIAS)], {"true": PHI}, noise=noise, horizon=1.0)
    assert asked.errors["true"].horizon[-1] == pytest.approx(1.0)
    moved = np.linalg.norm(done.measured - done.measured[:, :1], axis=-1)
    motion = np.sqrt((moved**2).mean(axis=0)).max()
    assert done.noise.position[-1] < 0.15 * motion
    assert done.windows > asked.windows


def test_single_shot_ends_when_noise_exceeds_tenth_of_motion():
    log, noise = noisy(10.0)
    shot = replay_in_one_shot([(log, BIAS)], {"true": PHI}, noise=noise)
    assert shot.ended
    assert 10 / RATE <= shot.time[-1] - shot.time[0] < 2.0
    assert shot.noise.horizon[-1] <= shot.time[-1] - shot.time[0] + 1e-9
    whole = replay_in_one_shot([(log, BIAS)], {"true": PHI}, noise=1e-18 * noise)
    assert not whole.ended
    assert len(whole.time) == len(log.time)


def test_noise_above_motion_is_reported_as_reason():
    log, noise = noisy(300.0)
    with pytest.raises(SimulationError, match="noise of the wrench alone is more than a tenth"):
        replay([(log, BIAS)], {"true": PHI}, noise=noise)
    done = Replays(((log, BIAS),), {"estimate": PHI}, noise=noise)
    assert done.windows is None
    assert done.single_shot is None
    assert all("noise of the wrench alone" in why for why in done.missing)


def test_terminal_and_report_show_noise_yardstick():
    rng = np.random.default_rng(1)
    noise = Noise(force=0.2, torque=5e-3, position=1e-4, orientation=1e-4)
    result = fit(synthetic_recording(PHI, rng=rng, noise=noise, bias=BIAS, duration=60.0))
    of_log = wrench_noise(result.logs)
    assert_close(np.sqrt(np.diag(of_log) * 200.0), np.repeat([0.2, 5e-3], 3), 0.05)
    windows = result.validation.replay
    assert windows.noise is not None
    lines = " ".join(detail_lines(result))
    assert "(RMS); noise of the wrench alone causes" in lines
    section = str(replay_section(result, None))
    assert "expected from wrench noise" in section
    assert "It ends when the noise of the wrench causes a tenth of the motion" in section

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.signals import prepare
from identify.signals.differentiator import Differentiator
from identify.signals.transform import CONSTANT_GROUP, UNSMOOTHED
from identify.signals.white_noise import SignalNoise, rate_product_bias, signal_noise
from tests.close import assert_close
from tests.recordings import ALL, POSE, Path, record
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
SLOW = Path.random(3, fastest_hz=0.15)
CUTOFF = 5.0
COLUMNS = {
    "a'": slice(0, 3),
    "alpha": slice(3, 6),
    "squares": slice(6, 9),
    "products": slice(9, 12),
    "force": slice(12, 15),
    "torque": slice(15, 18),
}


def noisy(recording, noise: dict[str, float], rng: np.random.Generator):
    """The recording with white noise; of the attitude, small turns about the body's axes."""
    signals = dict(recording.signals)
    for name, sigma in noise.items():
        white = rng.normal(0.0, sigma, (len(recording), 3))
        if name == "quaternion":
            turned = Rotation.from_quat(signals[name]) * Rotation.from_rotvec(white)
            signals[name] = turned.as_quat()
        else:
            signals[name] = signals[name] + white
    return replace(recording, signals=signals)


def moments_over_true(
    rate: float,
    duration: float,
    give: tuple[str, ...],
    noise: dict[str, float],
    seeds: int,
    path: Path = PATH,
    **frames,
) -> dict[tuple[str, int], float]:
    """Ratio of the variance said of rows to the true one, by kind of column and group of rows."""
    recording = record(path, PHI, np.arange(0.0, duration, 1.0 / rate), give, **frames)
    clean = prepare(recording, CUTOFF).blocks
    said: dict[tuple[str, int], float] = {}
    true: dict[tuple[str, int], float] = {}
    for seed in range(seeds):
        log = prepare(noisy(recording, noise, np.random.default_rng(seed)), CUTOFF)
        for block, pure in zip(log.blocks, clean, strict=True):
            error = (block.rows - pure.rows)[:, 1:]
            for group, moment in block.noise.items():
                mine = error[block.groups == group]
                for name, at in COLUMNS.items():
                    key = name, group
                    said[key] = said.get(key, 0.0) + len(mine) * float(np.diag(moment)[at].sum())
                    true[key] = true.get(key, 0.0) + float((mine[:, at] ** 2).sum())
    return {key: said[key] / true[key] for key in said if true[key] > 0.0}


def assert_within(ratios: dict[tuple[str, int], float], factor: float, names: str) -> None:
    groups = {group for _, group in ratios}
    for name in names.split():
        # The constant's row is one a block: too few to see its variance.
        for group in groups - {CONSTANT_GROUP}:
            assert 1.0 / factor < ratios[name, group] < factor, f"{name} {group}: {ratios}"
    assert len(groups) > 4


EVERY = "a' alpha squares products force torque"


@pytest.mark.parametrize(("rate", "duration"), [(100.0, 60.0), (500.0, 15.0)])
def test_noise_of_measured_signals_is_known_in_every_band(rate, duration):
    noise = {
        "linear_acceleration": 0.1,
        "angular_acceleration": 0.5,
        "angular_velocity": 0.01,
        "force": 0.1,
        "torque": 0.01,
    }
    ratios = moments_over_true(rate, duration, ALL, noise, 8 if duration < 30.0 else 4)
    assert_within(ratios, 1.3, EVERY)
    assert_close(np.mean([ratios["force", group] for group in range(1, 7)]), 1.0, 0.08)


@pytest.mark.parametrize(("rate", "duration"), [(100.0, 60.0), (500.0, 15.0)])
def test_noise_of_a_pose_that_is_differentiated_is_known_in_every_band(rate, duration):
    """The lowest too, where what edges let in of fast noise is nearly all there is."""
    noise = {"position": 2e-4, "quaternion": 1e-3, "force": 0.1, "torque": 0.01}
    seeds = 10 if duration < 30.0 else 5
    ratios = moments_over_true(rate, duration, POSE, noise, seeds, path=SLOW)
    assert_within(ratios, 1.3, EVERY)


def test_noise_of_a_pose_that_turns_briskly_is_known_above_the_band_of_its_turning():
    """Noise is averaged over a block's time; a body that turns at 0.8 Hz also shifts what is fast,
    and strong, into rows slower than that, by factors of two that the average does not see.
    """
    noise = {"position": 2e-4, "quaternion": 1e-3, "force": 0.1, "torque": 0.01}
    ratios = moments_over_true(100.0, 60.0, POSE, noise, 5)
    fast = {key: ratio for key, ratio in ratios.items() if key[1] not in (1, 2)}
    assert_within(fast, 1.5, EVERY)
    slow = {key: ratio for key, ratio in ratios.items() if key[1] in (1, 2)}
    assert 1.0 / 3.0 < min(slow.values()) < max(slow.values()) < 3.0


def test_noise_of_a_gyro_is_known_in_its_derivative_and_in_the_products():
    give = ("quaternion", "angular_velocity", "linear_acceleration")
    noise = {"angular_velocity": 0.01, "linear_acceleration": 0.1, "force": 0.1, "torque": 0.01}
    ratios = moments_over_true(200.0, 30.0, give, noise, 6, kind="proper")
    assert_within(ratios, 1.3, EVERY)


def test_noise_of_a_velocity_that_is_differentiated_is_known():
    give = ("quaternion", "linear_velocity", "angular_velocity")
    noise = {"linear_velocity": 1e-3, "angular_velocity": 0.01, "force": 0.1, "torque": 0.01}
    for twist in ("world", "body"):
        ratios = moments_over_true(200.0, 30.0, give, noise, 6, path=SLOW, twist=twist)
        assert_within(ratios, 1.3, EVERY)


def test_second_order_noise_of_rate_products_is_included():
    """A body that hardly turns: what noise there is in the products is noise squared."""
    path = Path.random(3, angle=1e-8)
    noise = {"angular_velocity": 0.1, "force": 0.1, "torque": 0.01}
    ratios = moments_over_true(200.0, 30.0, ALL, noise, 6, path=path)
    assert_within(ratios, 1.3, "squares products")
    noise = {"quaternion": 3e-3, "force": 0.1, "torque": 0.01}
    ratios = moments_over_true(200.0, 30.0, POSE, noise, 6, path=path)
    # What is said is that of slow rows: filtered noise has less of its square in fast ones.
    slow = {key: ratio for key, ratio in ratios.items() if key[1] < 6}
    assert_within(slow, 1.35, "squares products")
    fast = [ratio for key, ratio in ratios.items() if key[0] in ("squares", "products")]
    assert max(fast) < 2.0


def test_covariances_between_columns_match_their_noise():
    """What the attitude brings is in gravity, rates and a turned wrench at once."""
    recording = record(PATH, PHI, np.arange(0.0, 20.0, 0.005), POSE, wrench="world")
    clean = prepare(recording, CUTOFF).blocks
    noise = {"position": 1e-7, "quaternion": 2e-3}
    said, true = np.zeros((18, 18)), np.zeros((18, 18))
    for seed in range(25):
        log = prepare(noisy(recording, noise, np.random.default_rng(seed)), CUTOFF)
        for block, pure in zip(log.blocks, clean, strict=True):
            error = (block.rows - pure.rows)[1:, 1:]
            true += error.T @ error
            for group, moment in block.noise.items():
                said += np.count_nonzero(block.groups[1:] == group) * moment
    sizes = np.sqrt(np.diag(true))
    assert_close(np.sqrt(np.diag(said)) / sizes, np.ones(18), 0.15)
    assert np.abs(true / np.outer(sizes, sizes) - np.eye(18)).max() > 0.7
    assert_close(said / np.outer(sizes, sizes), true / np.outer(sizes, sizes), 0.3)


@pytest.mark.parametrize(
    ("give", "sigmas"),
    [(ALL, {"angular_velocity": 0.2}), (POSE, {"quaternion": 5e-3})],
    ids=["gyro", "attitude"],
)
def test_noise_in_the_rates_does_not_bias_their_squares(give, sigmas):
    """It adds its variance to the mean of ω², which no other row sees; that is taken off."""
    recording = record(PATH, PHI, np.arange(0.0, 10.0, 0.005), give)
    (pure,) = prepare(recording, CUTOFF).blocks
    errors, offsets = [], []
    for seed in range(12):
        log = prepare(noisy(recording, sigmas, np.random.default_rng(seed)), CUTOFF)
        errors.append((log.blocks[0].rows - pure.rows)[0, 7:13] / pure.rows[0, 0])
        differentiator = Differentiator.design(200.0, 5.0)
        found = signal_noise(log.recording.signals, 200.0, differentiator)
        offsets.append(rate_product_bias(found, differentiator))
    mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(11)
    offset = np.mean(offsets, axis=0)
    assert (offset[:3] > 6.0 * spread[:3]).all()  # it would be seen
    assert (np.abs(mean) < 3.5 * spread + 0.05 * offset[:3].max()).all()
    assert_close(offset[3:], np.zeros(3), 0.1, scale=offset[:3].max())
    if "angular_velocity" in sigmas:
        assert_close(offset[:3], np.full(3, 0.04), 0.1)


def of(noise: SignalNoise, name: str) -> np.ndarray:
    """Standard deviations of a signal's three components."""
    return np.sqrt(np.diag(noise.covariance_of(((name, UNSMOOTHED),))))


def read(recording, rate: float, cutoff: float = 5.0) -> SignalNoise:
    return signal_noise(recording.signals, rate, Differentiator.design(rate, cutoff))


@pytest.mark.parametrize("rate", [50.0, 100.0, 500.0])
def test_sigmas_of_white_noise_are_read_within_a_few_percent(rate):
    recording = record(PATH, PHI, np.arange(30_000) / rate, (*POSE, "angular_velocity"))
    sigmas = {
        "position": 2e-4,
        "quaternion": 2e-3,
        "angular_velocity": 0.02,
        "force": 0.5,
        "torque": 0.03,
    }
    found = read(noisy(recording, sigmas, np.random.default_rng(1)), rate)
    for name, sigma in sigmas.items():
        assert_close(of(found, name), np.full(3, sigma), 0.06)
    size = np.sqrt(np.diag(found.covariance))
    correlation = found.covariance / np.outer(size, size)
    assert_close(correlation, np.eye(len(size)), 0.12)


def test_noise_that_is_common_to_two_channels_is_read_as_correlated():
    rng = np.random.default_rng(2)
    recording = record(PATH, PHI, np.arange(0.0, 60.0, 0.01))
    common = rng.normal(0.0, 0.3, (len(recording), 1))
    force, torque = recording.signals["force"] + common, recording.signals["torque"] + 0.1 * common
    force = force + rng.normal(0.0, 0.3, force.shape)
    torque = torque + rng.normal(0.0, 0.001, torque.shape)
    signals = {**recording.signals, "force": force, "torque": torque}
    found = read(replace(recording, signals=signals), 100.0)
    block = found.covariance_of((("force", UNSMOOTHED), ("torque", UNSMOOTHED)))
    ones = np.ones((3, 3))
    assert_close(block[:3, :3], 0.09 * (ones + np.eye(3)), 0.08)
    assert_close(block[3:, :3], 0.009 * ones, 0.08)


def test_noise_estimate_of_short_log_is_unbiased():
    """Six seconds at 100 Hz: a median over few averaged spectra is lower than their mean."""
    recording = record(PATH, PHI, np.arange(0.0, 6.0, 0.01))
    found = [
        read(noisy(recording, {"force": 0.1}, np.random.default_rng(seed)), 100.0)
        for seed in range(30)
    ]
    variance = np.mean([of(noise, "force") ** 2 for noise in found])
    assert_close(variance, 0.01, 0.06)


def test_a_line_of_vibration_is_not_counted_as_noise():
    rng = np.random.default_rng(1)
    time = np.arange(0.0, 60.0, 0.005)
    recording = noisy(record(PATH, PHI, time), {"force": 0.1, "torque": 0.1}, rng)
    hum = 2.0 * np.sin(2 * np.pi * 30.0 * time)[:, None]
    shaken = {**recording.signals, "force": recording.signals["force"] + hum}
    found = read(replace(recording, signals=shaken), 200.0)
    assert_close(of(found, "force"), np.full(3, 0.1), 0.08)
    assert_close(of(found, "force"), of(read(recording, 200.0), "force"), 0.06)


def test_noise_that_a_controller_smoothed_is_read_where_the_motion_ends():
    """A first-order filter of 40 Hz at 500 Hz: its noise near the motion's band is what counts."""
    rng = np.random.default_rng(4)
    recording = record(PATH, PHI, np.arange(0.0, 60.0, 0.002))
    keep = np.exp(-2.0 * np.pi * 40.0 / 500.0)
    white = rng.normal(size=(len(recording), 3))
    smoothed = np.zeros_like(white)
    for k in range(1, len(white)):
        smoothed[k] = keep * smoothed[k - 1] + (1.0 - keep) * white[k]
    signals = {**recording.signals, "force": recording.signals["force"] + 0.1 * smoothed}
    found = of(read(replace(recording, signals=signals), 500.0), "force")
    # White noise of the spectral density that rows below 5 Hz see has sigma 0.1; the filter takes a
    # quarter off in the octaves above the motion, where noise is read. The mean square of the
    # smoothed noise would say less than half.
    assert np.std(smoothed) < 0.5
    assert (found > 0.07).all()
    assert (found < 0.105).all()


@pytest.mark.parametrize("rows", [14, 30])
def test_short_log_noise_is_finite(rows):
    recording = record(PATH, PHI, np.arange(rows) / 50.0, ALL, noise={"force": 0.1})
    log = prepare(recording)
    assert np.isfinite(log.signal_noise.covariance).all()
    assert all(np.isfinite(moment).all() for block in log.blocks for moment in block.noise.values())

"""Small faults of a sensor, fitted with the body: what was done to a log is found, and no more."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import identify
from identify import Estimate, Recording, Result
from identify.estimation import EstimatorSettings, FittedEffects, estimate_body, fit_effects
from identify.estimation.posterior import posterior_of
from identify.estimation.priors.prior import BALL
from identify.estimation.random_effects_fit import LogDrift
from identify.inertia import PHI as NAMES
from identify.regressors import summarise_log
from identify.signals import Interpretation
from tests.checks import checks_of, effects_of
from tests.close import assert_close, assert_same_body, body_scale
from tests.recordings import ALL, Path, record, still_poses, without_effects
from tests.slow import few_or_many, mostly_slow
from tests.small_faults import (
    CROSSTALK,
    LEVER,
    NOISE,
    PHI,
    SHIFT,
    TILT,
    TURN,
    UNITS,
    WEIGHT,
    displaced,
    drifting,
    exact,
    late,
    logged,
    low_passed,
    mapped,
    misaligned,
    slow_clock,
    still,
    tilted,
    with_schema,
)
from tests.strategies import random_body

CARRIER = random_body(np.random.default_rng(2), 2.0, 0.1)


def columns_of(effects: FittedEffects, name: str, sensor: int = 0) -> slice:
    blocks = effects.model.blocks
    (columns,) = [b.columns for b in blocks if (b.fault.name, b.sensor) == (name, sensor)]
    return columns


def drift_errors(effects: FittedEffects) -> list[np.ndarray]:
    """Standard errors of the amplitudes of each log's drift."""
    errors = np.sqrt(np.diag(effects.covariance))[effects.model.effect_count :]
    counts = [drift.amplitudes.size for drift in effects.drifts]
    return [
        own.reshape(drift.amplitudes.shape)
        for own, drift in zip(np.split(errors, np.cumsum(counts)[:-1]), effects.drifts, strict=True)
    ]


def half_widths(estimate: Estimate) -> np.ndarray:
    """Of the intervals of the ten; NaN where there is none."""
    found = [estimate.intervals[name] or (np.nan, np.nan) for name in NAMES]
    return 0.5 * (np.diff(found)[:, 0])


def farthest(estimate: Estimate, phi: np.ndarray = PHI) -> float:
    """Largest error of the ten in half-widths of its interval."""
    return float(np.nanmax(np.abs(estimate.parameters.phi - phi) / half_widths(estimate)))


def without_small_faults(log: Recording) -> Estimate:
    """The fit that leaves all groups out, as a test below has it, without looking for causes."""
    return estimate_body([summarise_log(log, wide=True).statistics])


CLEAN = {
    **{f"moving, seed {seed}": logged(exact(seed), seed) for seed in range(3)},
    **{f"still, seed {seed}": still(seed) for seed in range(3)},
}


BOTH = {"moving": CLEAN["moving, seed 1"], "still": CLEAN["still, seed 1"]}


@pytest.fixture(scope="module", params=BOTH)
def effects_of_clean_log(request) -> FittedEffects:
    return effects_of(identify.fit(BOTH[request.param]))


@pytest.mark.parametrize("name", mostly_slow(CLEAN, {"moving, seed 0", "still, seed 0"}))
def test_a_clean_log_has_no_effect_beyond_four_errors(name):
    result = identify.fit(CLEAN[name])
    effects = effects_of(result)
    assert (effects.errors > 0.0).all()
    assert (np.abs(effects.eta) <= 4.0 * effects.errors).all()
    for drift, errors in zip(effects.drifts, drift_errors(effects), strict=True):
        assert drift.amplitudes.size
        assert (np.abs(drift.amplitudes) <= 4.0 * errors).all()
    assert effects.at_cap == ()
    assert farthest(result.estimate) < 1.5


LAG = 1.0 / (2.0 * np.pi * 20.0)
FAULTS = {
    "late": (lambda log: late(log, 7e-3), {"delay_s": [7e-3], "filter_s": [0.0]}),
    "low-passed": (
        lambda log: low_passed(log, 20.0),
        {"delay_s": [LAG], "filter_s": [-0.5 * LAG**2]},
    ),
    "misaligned": (lambda log: misaligned(log, TURN), {"misalignment_deg": -TURN}),
    "tilted": (lambda log: tilted(log, TILT), {"tilt_deg": [TILT[0], -TILT[1]]}),
    "displaced": (lambda log: displaced(log, SHIFT), {"point_m": -SHIFT}),
    "slow clock": (lambda log: slow_clock(log, 5e-3), {"clock": [5e-3]}),
    "crosstalk": (
        lambda log: mapped(log, CROSSTALK),
        {"crosstalk": np.linalg.inv(CROSSTALK)[~np.eye(6, dtype=bool)]},
    ),
    "one gain": (
        lambda log: mapped(log, np.diag([1.0, 1.02, 1.0, 1.0, 1.0, 1.0])),
        {"gain": [0.0, 1.0 / 1.02 - 1.0, *[0.0] * 4]},
    ),
}


@pytest.mark.parametrize("seed", few_or_many(3, 4))
@pytest.mark.parametrize("name", FAULTS)
def test_small_fault_is_estimated_and_body_is_unbiased(monkeypatch, name, seed):
    # Other readings, which displaced and slow clock resemble, are not compared.
    monkeypatch.setattr("identify.pipeline.checks._is_noise_free", lambda fit: True)
    fault, expected = FAULTS[name]
    log = logged(fault(exact(seed)), seed)
    result = identify.fit(log)
    effects = effects_of(result)
    for group, sizes in expected.items():
        own = columns_of(effects, group)
        assert (np.abs(effects.eta[own] - sizes) < 3.0 * effects.errors[own]).all()
    assert farthest(result.estimate) < 1.5
    assert farthest(without_small_faults(log)) > 1.5


AMPLITUDES = WEIGHT * np.array([0.7, -1.0, 0.3, 0.3 * LEVER, 0.7 * LEVER, -0.7 * LEVER])


def assert_drift_is_found(result: Result, amplitudes: np.ndarray) -> None:
    effects = effects_of(result)
    (drift,), (errors,) = effects.drifts, drift_errors(effects)
    true = np.zeros_like(drift.amplitudes)
    true[0] = amplitudes
    assert (np.abs(drift.amplitudes - true) < 3.0 * errors).all()
    assert np.abs(drift.amplitudes[0] / errors[0]).max() > 10.0
    assert farthest(result.estimate) < 1.5


@pytest.mark.parametrize("seed", few_or_many(3, 4))
def test_a_drift_of_a_moving_log_is_found_at_its_size_and_intervals_are_narrower(seed):
    """Left out, it is taken for noise of the means: intervals are wider, and none misses."""
    log = logged(drifting(exact(seed), 0.03 * AMPLITUDES), seed)
    result = identify.fit(log)
    assert_drift_is_found(result, 0.03 * AMPLITUDES)
    without = without_small_faults(log)
    assert np.nanmax(half_widths(without) / half_widths(result.estimate)) > 1.3


@pytest.mark.parametrize("seed", few_or_many(0, 1))
@pytest.mark.parametrize("share", [0.01, 0.03, 0.1])
def test_the_body_of_static_poses_with_a_drift_is_inside_its_intervals(share, seed):
    """Of few poses a drift that all channels share may be taken for their correlated noise."""
    result = identify.fit(drifting(still(seed), share * AMPLITUDES))
    assert farthest(result.estimate) < 2.0


def test_means_of_a_drift_match_its_function_of_time():
    drift = LogDrift(np.random.default_rng(0).normal(size=(4, 6)))
    edges = np.array([0.0, 0.1, 0.35, 0.5, 1.0])
    expected = []
    for start, stop in pairwise(edges.tolist()):
        share = start + (stop - start) * (np.arange(20_000) + 0.5) / 20_000
        cosines = np.sqrt(2.0) * np.cos(np.pi * np.outer(share, [1, 2, 3, 4]))
        expected.append(cosines.mean(axis=0) @ drift.amplitudes)
    assert_close(drift.means(edges[:-1], edges[1:]), expected, 1e-8)


EXACT = {
    "moving": record(Path.random(3), PHI, np.arange(0.0, 20.0, 0.01), ALL),
    "moving, by its pose": exact(3),
    "misaligned": misaligned(record(Path.random(3), PHI, np.arange(0.0, 20.0, 0.01), ALL), TURN),
}


@pytest.mark.parametrize("log", EXACT.values(), ids=EXACT)
def test_a_log_without_noise_gives_the_body(log):
    assert_same_body(identify.fit(log).estimate.parameters.phi, PHI, 1e-6)


def test_a_gain_that_all_axes_have_in_common_is_in_the_interval_but_not_in_the_repeatability():
    """Static poses tell gains apart but for their mean: that of three axes and the common one.

    Its variance is (1 + 1/3) σ², and that of six numbers, which say that none is common, σ²/3.
    """
    sigma, log = 0.02, still(0)
    for accuracy, factor in ((sigma, np.sqrt(4.0 / 3.0)), ([sigma] * 6, np.sqrt(1.0 / 3.0))):
        result = identify.fit(with_schema(log, wrench={"gain_accuracy": accuracy}))
        estimate = result.estimate
        half_width = half_widths(estimate)[0]
        assert_close(half_width, 1.96 * factor * sigma * estimate.mass, 0.02)
        assert np.sqrt(estimate.repeatability[0, 0]) < 0.05 * sigma * estimate.mass
        assert_close(np.sqrt(estimate.calibration[0, 0]), factor * sigma * estimate.mass, 0.02)
        assert estimate.interval_kind.endswith("its scale as given")
        if factor > 1.0:
            assert half_width >= 1.96 * sigma * estimate.mass * 0.9
    plain = identify.fit(log).estimate
    assert half_widths(plain)[0] < 0.1 * 1.96 * sigma * plain.mass
    assert plain.interval_kind.endswith("as far as the log identifies it")


@pytest.mark.parametrize("log", BOTH.values(), ids=BOTH)
def test_without_effects_the_estimate_matches_the_statistics(log):
    result = identify.fit(without_effects(log))
    plain = without_small_faults(log)
    assert_close(result.estimate.parameters.phi, plain.parameters.phi, 1e-12)
    assert_close(result.estimate.covariance, plain.covariance, 1e-12)
    assert result.estimate.calibration is None
    assert checks_of(result).small_faults is None


def test_scale_covariance_is_part_of_effect_covariance(effects_of_clean_log):
    effects = effects_of_clean_log
    whole, of_scale = effects.covariances(posterior_of(effects.fit, BALL))
    for all_of_it, part in ((effects.covariance, effects.scale_covariance), (whole, of_scale)):
        size = np.sqrt(np.diag(all_of_it))
        size[size == 0.0] = 1.0
        left = (all_of_it - part) / np.outer(size, size)
        assert np.linalg.eigvalsh(left)[0] > -1e-9
        assert np.linalg.eigvalsh(part / np.outer(size, size))[0] > -1e-9
        assert part.any()


def test_a_gain_that_all_channels_have_in_common_scales_the_body(effects_of_clean_log, request):
    """Whatever the weights: readings that are all 1 % larger are those of a body of 1 % more."""
    effects = effects_of_clean_log
    common = np.zeros(len(effects.covariance))
    common[columns_of(effects, "common_gain")] = 1.0  # of force and of torque
    known = replace(effects, covariance=np.outer(common, common))
    posterior = posterior_of(effects.fit, BALL)
    scaled, _ = known.covariances(posterior)
    told = slice(0, 4) if "still" in request.node.name else slice(0, 10)
    scale, x = body_scale(PHI)[told], posterior.x[told]
    found = scaled[told, told] / np.outer(scale, scale)
    assert_close(found, np.outer(x / scale, x / scale), 1e-3)


@pytest.mark.parametrize("share", mostly_slow([1.0, 1e-2, 1e-4, 1e-6], {1.0, 1e-6}))
def test_intervals_include_unidentified_effects_at_any_noise(share):
    turns = Rotation.random(24, rng=np.random.default_rng(3))
    noise = share * np.repeat([NOISE.force, NOISE.torque], 3)
    log = mapped(still_poses(PHI, turns, noise=noise, seed=3), CROSSTALK)
    estimate = identify.fit(log).estimate
    assert farthest(estimate) < 1.5
    assert np.sqrt(estimate.covariance[0, 0]) > 1e-3 * estimate.mass


def loaded() -> list[Recording]:
    """Two logs of a payload on a carrier, by a sensor that is turned."""
    return [logged(misaligned(exact(seed, phi=PHI + CARRIER), TURN), seed) for seed in (3, 4)]


def test_rounding_of_the_rows_of_a_short_log_changes_no_effect():
    """Its rows are fewer than the unknowns of its drift, its effects and its body together."""
    log = logged(exact(3, 12.0), 3)
    statistics = summarise_log(log, Interpretation(), wide=True).statistics
    noise = np.random.default_rng(0).normal(size=statistics.factors.shape)
    rounded = replace(statistics, factors=statistics.factors * (1.0 + 1e-13 * noise))
    as_it_is, other = (fit_effects([s], [log], EstimatorSettings()) for s in (statistics, rounded))
    moved = np.abs(other.all_effects - as_it_is.all_effects) / as_it_is.all_errors
    assert moved.max() < 1e-6
    assert_close(other.all_errors, as_it_is.all_errors, 1e-6)
    assert abs(other.laplace_penalty - as_it_is.laplace_penalty) < 1e-6


def test_payload_and_carrier_share_the_map_of_their_sensor():
    empty = logged(misaligned(exact(5, phi=CARRIER), TURN), 5)
    result = identify.fit(loaded(), unloaded=[empty])
    effects = effects_of(result)
    assert effects.model.sensors == (0, 0, 0)
    own = columns_of(effects, "misalignment_deg")
    assert (np.abs(effects.eta[own] + TURN) < 3.0 * effects.errors[own]).all()
    maps = effects.model.maps(effects.eta)
    assert_close(maps[0], maps[2], 0.0)
    # Each log tells it, and so all of them more than one.
    alone = effects_of(identify.fit(empty))
    assert (effects.errors[own] < alone.errors[columns_of(alone, "misalignment_deg")]).all()
    assert result.carrier is not None
    assert farthest(result.estimate, PHI) < 1.5
    assert farthest(result.carrier.estimate, CARRIER) < 1.5


def test_logs_of_two_sensors_have_effects_of_their_own():
    straight = logged(exact(5, phi=CARRIER), 5)
    named = [with_schema(log, wrench={"sensor": "turned"}) for log in loaded()]
    other = with_schema(straight, wrench={"sensor": "straight"})
    result = identify.fit(named, unloaded=[other])
    effects = effects_of(result)
    for sensor, turn in ((0, -TURN), (1, 0.0)):
        own = columns_of(effects, "misalignment_deg", sensor)
        assert (np.abs(effects.eta[own] - turn) < 3.0 * effects.errors[own]).all()
    assert farthest(result.estimate, PHI) < 1.5


def test_delayed_log_is_corrected_alongside_static_poses():
    result = identify.fit([logged(late(exact(3), 7e-3), 3), still(2)])
    assert farthest(result.estimate) < 1.5
    effects = effects_of(result)
    own = columns_of(effects, "delay_s")
    assert np.abs(effects.eta[own] - 7e-3) < 3.0 * effects.errors[own]


@pytest.mark.parametrize("logs", few_or_many(2, 12))
def test_intervals_cover_the_bodies_of_logs_whose_effects_are_drawn(logs):
    rng, held = np.random.default_rng(5), []
    for seed in range(logs):
        across = UNITS[:, None] * rng.normal(size=(6, 6)) * (1.0 - np.eye(6)) / UNITS
        log = mapped(exact(seed), np.eye(6) + 5e-3 * (np.diag(rng.normal(size=6)) + across))
        log = misaligned(log, np.radians(0.5) * rng.normal(size=3))
        estimate = identify.fit(logged(late(log, 5e-3 * rng.normal()), seed)).estimate
        held.append(np.abs(estimate.parameters.phi - PHI) < half_widths(estimate))
    assert np.mean(held) > 0.9

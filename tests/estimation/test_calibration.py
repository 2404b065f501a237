"""Errors of scale: through the sensitivity of a fit, against refits of logs that have them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import identify
from identify.errors import SchemaError
from identify.estimation import Calibration, EstimatorSettings, estimate_body
from identify.estimation.calibration import NOT_INCLUDED, gain_errors
from identify.estimation.intervals import COM, INERTIA_ABOUT_COM, derived
from identify.inertia import PHI
from identify.logs import Recording
from identify.logs.patch import patched
from identify.logs.writing import write_log
from identify.regressors import block_statistics
from identify.signals import prepare
from identify.spatial import Pose
from identify.spatial.rotations import exp_rotation
from tests.close import assert_close
from tests.estimation.simulated import samples, wrench_noise
from tests.recordings import ACCELERATIONS, ALL, POSE, Path, record
from tests.strategies import random_body

RNG = np.random.default_rng(7)
BODY, CARRIER = random_body(RNG, 1.0, 0.1), random_body(RNG, 2.0, 0.1)
SENSOR = Pose.from_quaternion(exp_rotation(np.array([0.3, -0.5, 0.9])), np.array([0.02, 0.01, 0.1]))
TIME = np.arange(0.0, 20.0, 0.01)
NOISE = {"force": 0.02, "torque": 0.002}


def log_of(body=BODY, seed=3, **how) -> Recording:
    how = {"wrench": "sensor", "X_BS": SENSOR, "noise": NOISE, "seed": seed} | how
    return record(Path.random(seed), body, TIME, **how)


def accurate(recording: Recording, gain=0.01, gravity=0.0) -> Recording:
    said = {"wrench": {"gain_accuracy": gain}, "world": {"gravity_accuracy": gravity}}
    return replace(recording, schema=said)


def scaled(recording: Recording, G: np.ndarray) -> Recording:
    """The log of a sensor that reads G [f; t]."""
    signals = recording.signals
    wrench = np.concatenate((signals["force"], signals["torque"]), axis=1) @ G.T
    read = {"force": wrench[:, :3], "torque": wrench[:, 3:]}
    return replace(recording, signals={**signals, **read}, sha256=recording.sha256 + repr(G[0]))


def unknowns(result) -> np.ndarray:
    return np.concatenate([body.parameters.phi for body in result.estimate.bodies])


@pytest.mark.parametrize("bias", ["per_log", "shared"])
@pytest.mark.parametrize("both", [False, True], ids=["one body", "payload on carrier"])
def test_the_sensitivity_to_each_gain_is_what_refits_of_scaled_logs_say(both, bias):
    empty = [log_of(CARRIER, 5)] if both else []
    logs = [log_of(BODY + (CARRIER if both else 0.0)), log_of(BODY + both * CARRIER, 4)]
    settings = identify.FitSettings(bias=bias, cutoff_hz=5.0)

    def fit(G=None, gain=None):
        read = [log if G is None else scaled(log, G) for log in (*logs, *empty)]
        read = [log if gain is None else accurate(log, gain) for log in read]
        return identify.fit(read[: len(logs)], settings, unloaded=read[len(logs) :])

    step, plain = 1e-5, fit()  # so small that weights stay as they are
    every = 0.0
    for channel in (2, 4):
        gain = np.zeros(6)
        gain[channel] = 0.01
        said = fit(gain=gain.tolist()).estimate
        found = np.concatenate([np.diag(body.calibration) for body in said.bodies])
        refit = unknowns(fit(np.eye(6) + np.diag(gain * step / 0.01))) - unknowns(plain)
        refit = refit * (0.01 / step)
        size = np.abs(refit).reshape(-1, 10).max(axis=1).repeat(10)
        # What a refit makes of its weights is random, and more where two bodies are told apart.
        most = 0.15 if both else 0.02
        assert_allclose(np.sqrt(found) / size, np.abs(refit) / size, rtol=0.0, atol=most)
        every = every + found
    said = fit(gain=[0.0, 0.0, 0.01, 0.0, 0.01, 0.0]).estimate
    together = np.concatenate([np.diag(body.calibration) for body in said.bodies])
    assert_close(together, every, 1e-6)


def test_the_sensitivity_of_an_offset_is_what_a_refit_says():
    log = log_of(bias=np.array([5.0, -3.0, 8.0, 0.1, 0.2, -0.3]))
    G = np.eye(6)
    G[2, 2] += 1e-5
    settings = identify.FitSettings(cutoff_hz=5.0)
    wider = identify.fit(accurate(log, [0.0, 0.0, 0.2, 0.0, 0.0, 0.0]), settings).estimate
    offsets = [identify.fit(one, settings).estimate.biases[0] for one in (log, scaled(log, G))]
    moved = 0.2 / 1e-5 * np.abs(offsets[1] - offsets[0])
    assert_allclose(wider.bias_half_widths[0] / 1.96, moved, rtol=0.05, atol=0.02 * moved.max())


def test_cross_talk_is_that_of_the_entry():
    log, G = log_of(), np.zeros((6, 6))
    G[0, 4] = 1e-4  # of the force along x, in N of each N m about y
    said = identify.fit(accurate(log, G.tolist()), cutoff_hz=5.0).estimate
    pair = [identify.fit(one, cutoff_hz=5.0).estimate for one in (log, scaled(log, np.eye(6) + G))]
    away = pair[1].parameters.phi - pair[0].parameters.phi
    errors = np.sqrt(np.diag(said.calibration))
    assert_allclose(errors, np.abs(away), rtol=0.05, atol=0.02 * np.abs(away).max())


@pytest.mark.parametrize("give", [("position", "quaternion"), ALL], ids=["differentiated", "given"])
def test_the_sensitivity_to_gravity_is_what_a_refit_says(give):
    log, accuracy = log_of(give=give), 2e-3
    said = identify.fit(accurate(log, 0.0, accuracy), cutoff_hz=5.0).estimate
    other = replace(log, gravity=(1.0 + accuracy) * log.gravity)
    away = (
        identify.fit(other, cutoff_hz=5.0).estimate.parameters.phi
        - identify.fit(log, cutoff_hz=5.0).estimate.parameters.phi
    )
    errors = np.sqrt(np.diag(said.calibration))
    assert_allclose(errors, np.abs(away), rtol=0.05, atol=2e-2 * np.abs(away).max())
    assert 0.5 * accuracy < errors[0] / said.parameters.mass < 1.5 * accuracy


def test_gravity_does_not_matter_where_an_accelerometer_measured_it():
    log = log_of(give=ALL, kind="proper")
    assert identify.fit(accurate(log, 0.0, 0.01), cutoff_hz=5.0).estimate.calibration is None


def test_still_poses_have_the_gravity_error_as_that_of_their_mass():
    rng = np.random.default_rng(0)
    quaternions = exp_rotation(rng.uniform(-2.0, 2.0, (40, 3)))
    pulls = Pose.from_quaternion(quaternions, np.zeros((40, 3))).rotation
    acceleration = np.einsum("nji,j->ni", pulls, [0.0, 0.0, 9.81])
    force = 1.5 * acceleration + rng.normal(size=(40, 3)) * 0.02
    torque = np.cross([0.01, 0.02, 0.05], 1.5 * acceleration) + rng.normal(size=(40, 3)) * 0.002
    log = Recording.from_arrays(
        still=True,
        quaternion=quaternions,
        force=force,
        torque=torque,
        wrench_frame="body",
        acts_on="body",
        gravity=[0.0, 0.0, -9.81],
        gravity_accuracy=0.002,
        gain_accuracy=0.0,
    )
    found = identify.fit(log).estimate
    assert_close(np.sqrt(found.calibration[0, 0]), 0.002 * found.parameters.mass, 1e-2)
    assert found.variance_shares["m"]["calibration"] > 0.1


def test_a_gain_common_to_all_channels_is_that_of_all_parameters():
    """[f; t] × 1.03 is a body that is 3 % heavier; one number holds it, as sheets do not say."""
    off = scaled(log_of(), 1.03 * np.eye(6))
    plain, said = (identify.fit(log).estimate for log in (off, accurate(off, 0.03)))
    low, high = plain.intervals["m"]
    assert not low < BODY[0] < high
    assert plain.interval_kind.endswith(NOT_INCLUDED)
    assert said.interval_kind.endswith("calibration of the sensor included")
    truth = dict(zip((*PHI, *COM, *INERTIA_ABOUT_COM), (*BODY, *derived(BODY)), strict=True))
    outside = [
        name
        for name, true in truth.items()
        if not said.intervals[name][0] < true < said.intervals[name][1]
    ]
    assert not outside
    error = np.sqrt(said.calibration[0, 0]) / said.parameters.mass
    assert 0.03 <= error <= 0.03 * np.sqrt(2.0)
    assert said.variance_shares["m"]["calibration"] > 0.99


def test_intervals_hold_the_body_of_sensors_whose_gains_were_drawn():
    rng, sigma = np.random.default_rng(11), np.array([0.02, 0.01, 0.015, 0.01, 0.02, 0.01])
    calibration = Calibration.of([accurate(log_of(wrench="body"), sigma.tolist())])
    truth = dict(zip((*PHI, *COM, *INERTIA_ABOUT_COM), (*BODY, *derived(BODY)), strict=True))
    held, alone = [], []
    for _ in range(100):
        log = samples(BODY, rng, 400, noise=wrench_noise(BODY, 0.1))
        log = replace(log, wrench=log.wrench * (1.0 + sigma * rng.normal(size=6)))
        for into, known in ((held, calibration), (alone, None)):
            found = estimate_body([log.blocks()], calibration=known).intervals
            into.append([found[name][0] < true < found[name][1] for name, true in truth.items()])
    assert 0.93 < np.mean(held) < 0.97
    assert np.mean(held, axis=0).min() > 0.88
    assert np.mean(alone, axis=0)[0] < 0.75


@pytest.mark.parametrize("interval", ["formula", "bootstrap"])
def test_what_is_given_has_no_part_of_the_calibration(interval):
    time = np.arange(0.0, 120.0, 0.02)
    long = record(Path.random(3), BODY, time, (*POSE, *ACCELERATIONS), noise=NOISE)
    settings = EstimatorSettings(mass=float(BODY[0]), interval=interval)
    statistics = block_statistics(prepare(long, 5.0))
    calibration = Calibration.of([accurate(long, 0.02)])
    said = estimate_body([statistics], settings, calibration)
    plain = estimate_body([statistics], settings)
    assert "m" not in said.variance_shares
    assert not said.calibration[0].any()
    assert said.intervals["m"] == plain.intervals["m"]
    assert_close(said.repeatability, plain.covariance, 1e-9)
    free = estimate_body([statistics], replace(settings, mass=None), calibration)
    assert free.intervals["m"][1] - free.intervals["m"][0] > 0.04 * BODY[0]
    assert free.variance_shares["hx"]["calibration"] > 0.9


def test_gains_count_where_every_log_gives_them_and_by_sensor():
    one, other = accurate(log_of(), 0.01), log_of(seed=4)
    assert Calibration.of([one, other]).said == NOT_INCLUDED
    assert len(Calibration.of([one, other]).maps) == 0
    assert len(Calibration.of([one, accurate(other, 0.01)]).maps) == 8
    assert len(Calibration.of([one, accurate(other, 0.02)]).maps) == 16
    assert Calibration.of([accurate(other, 0.0)]).said == "the sensor's scale taken as exact"


def test_what_is_known_of_the_scale_is_written_with_a_log_and_read_again(tmp_path):
    gain = np.diag([0.01] * 6).tolist()
    write_log(accurate(log_of(), gain, 1e-3), tmp_path / "log.csv")
    (log,) = [identify.read_log(tmp_path / "log.csv", tmp_path / "log.toml")]
    assert len(Calibration.of([log]).maps) == 7


def test_errors_of_a_number_are_common_and_of_each_axis():
    covariance = np.einsum("kii,kjj->ij", *[gain_errors(0.02)] * 2)
    assert_close(np.diag(covariance), np.full(6, 2 * 0.02**2), 1e-12)
    assert_close(covariance[0, 1], 0.02**2, 1e-12)
    assert covariance[0, 3] == 0.0
    assert_close(gain_errors([0.02, 0.02]), gain_errors(0.02), 0.0)
    assert gain_errors([0.0, 0.01]).shape == (4, 6, 6)
    assert gain_errors(np.diag([0.01] * 6).tolist()).shape == (6, 6, 6)


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        (-0.01, "expected shares from 0 to 0.5, as 0.01 for 1 %; got -0.01"),
        (1, "as 0.01 for 1 %; got 1"),
        ([0.01] * 5, "expected a number, two .* got 5"),
        (float("nan"), "expected a number"),
        ("1 %", "expected a number"),
        ([[0.01] * 6] * 5, "six rows of six"),
        ([[0.01] * 6] * 5 + [[0.01] * 5], "six rows of six"),
    ],
)
def test_an_accuracy_that_is_none_says_what_to_write(gain, said):
    with pytest.raises(SchemaError, match=said):
        patched(log_of(wrench="body"), {"wrench.gain_accuracy": gain})


@pytest.mark.parametrize("gravity", [-0.01, 1.0, float("nan")])
def test_an_accuracy_of_gravity_that_is_none_is_refused(gravity):
    with pytest.raises(SchemaError, match="gravity_accuracy"):
        patched(log_of(wrench="body"), {"world.gravity_accuracy": gravity})

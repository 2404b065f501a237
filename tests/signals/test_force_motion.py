"""A gyro and a wrench alone: the mass by rests, the rest of the body by the torque."""

import re
from dataclasses import replace

import numpy as np
import pytest

import identify
from identify.errors import LogError, SchemaError
from identify.estimation.terms import KnownCom
from identify.inertia import PHI as NAMES
from identify.pipeline import compensate_log
from identify.regressors import summarise_log
from identify.signals import prepare
from identify.signals.force_motion import calibrate_at_rest
from identify.signals.segments import EvenSegment
from identify.spatial import Pose
from identify.spatial.rotations import exp_rotation
from tests.close import assert_close
from tests.recordings import without_effects
from tests.still_and_moving import PHI, still_and_moving

SCALES = np.array([1.3, *[0.08] * 3, *[0.02] * 6])
OFFSET = np.array([3.0, -2.0, 5.0, 0.1, -0.2, 0.05])


def test_the_body_is_found_to_the_accuracy_of_derivatives_without_noise():
    result = identify.fit(still_and_moving(3))
    assert np.abs((result.estimate.parameters.phi - PHI) / SCALES).max() < 5e-6
    assert_close(result.estimate.biases[0], OFFSET, 1e-5)
    assert result.verdict.usable == "yes"
    assert [finding.code for finding in result.findings] == ["force_motion"]
    assert re.search(r"the mass is from (9|10) attitudes at rest", result.findings[0].text)


@pytest.mark.slow
def test_intervals_cover_body_and_offset_with_noise():
    away, of_offsets, held = [], [], []
    for seed in range(6):
        estimate = identify.fit(without_effects(still_and_moving(seed, noise=1.0))).estimate
        phi, errors = estimate.parameters.phi, np.sqrt(np.diag(estimate.covariance))
        away.append((phi - PHI) / errors)
        of_offsets.append((estimate.biases[0] - OFFSET) / estimate.bias_half_widths[0])
        intervals = [estimate.intervals[name] for name in NAMES]
        held += [low < true < high for true, (low, high) in zip(PHI, intervals, strict=True)]
        assert errors[0] > 5e-5  # the mass has an error, though its rows leave nothing
        assert errors[1:4].min() > 5e-6
    assert np.mean(held) > 0.85
    assert 0.6 < np.sqrt(np.mean(np.square(away))) < 1.4
    assert np.abs(of_offsets).max() < 1.6


def test_a_sensor_turned_and_displaced_in_the_body_gives_the_same_body():
    X_BS = Pose.from_quaternion(exp_rotation(np.array([0.4, -0.7, 0.2])), np.array([0.1, 0, -0.05]))
    alone = still_and_moving()
    mounted = still_and_moving(gyro_turn=X_BS.rotation, frame="sensor", mount=X_BS)
    one, other = (identify.fit(log).estimate.parameters for log in (alone, mounted))
    assert_close(other.phi, one.in_frame(X_BS).phi, 1e-5)


def test_body_far_from_frame_origin_is_accepted():
    far = still_and_moving(frame="sensor", mount=Pose(np.eye(3), np.array([0.0, 5.0, 0.0])))
    (said,) = prepare(far).imu.findings
    assert said.code == "force_motion"


def test_too_few_attitudes_at_rest_are_rejected_with_how_many_there_are():
    with pytest.raises(LogError, match=r"and 5 attitudes at rest; the mass needs 6 of them"):
        prepare(still_and_moving(attitudes=5))


def test_a_body_that_never_stands_still_is_rejected():
    log = still_and_moving(still=0.1, noise=1.0)
    with pytest.raises(LogError, match=r"and 0 attitudes .*Add such rests, or give \[pose\]"):
        prepare(log)


def test_coplanar_attitudes_are_rejected():
    angles = np.repeat(np.arange(8) * np.pi / 4, 200)
    force = 10.0 * np.column_stack((np.cos(angles), np.sin(angles), np.zeros_like(angles)))
    force += [1.0, 2.0, 3.0] + 0.01 * np.random.default_rng(0).standard_normal(force.shape)
    still = {"gyro": np.zeros_like(force), "force": force}
    segments = [
        EvenSegment(np.arange(200) / 200.0, 200.0, {k: v[own] for k, v in still.items()}, 200)
        for own in (slice(start, start + 200) for start in range(0, 1600, 200))
    ]
    with pytest.raises(LogError, match="they lie near one plane"):
        calibrate_at_rest(still_and_moving(), segments)


def test_translation_without_rotation_is_not_static():
    log = still_and_moving(attitudes=6)
    t = log.time
    pushed = log.signals["force"].copy()
    pushed[t < 1.2, 0] += 2.0 * t[t < 1.2]
    with pytest.raises(LogError, match="and 5 attitudes"):
        prepare(replace(log, signals={**log.signals, "force": pushed}))


def test_a_wrench_of_the_other_sign_is_rejected():
    with pytest.raises(LogError, match=r"moments of inertia are negative.* change acts_on"):
        prepare(still_and_moving(noise=1.0, acts_on="sensor"))


def test_gyro_with_wrong_sign_or_unit_states_likely_cause():
    log = still_and_moving(noise=1.0)
    read = log.signals["gyro"]
    with pytest.raises(LogError, match=r"are negative.* minus before the columns of the gyro"):
        prepare(replace(log, signals={**log.signals, "gyro": -read}))
    with pytest.raises(LogError, match=r"and 0 attitudes at .*check angle_unit in \[imu\]"):
        prepare(replace(log, signals={**log.signals, "gyro": np.degrees(read)}))


def test_contacts_need_measured_motion():
    log = still_and_moving(noise=1.0)
    with pytest.raises(LogError, match="so that contacts cannot be separated"):
        list(compensate_log(log, identify.fit(log).estimate).chunks())


@pytest.mark.parametrize("given", [{"mass": 1.3}, {"terms": [KnownCom(PHI[1:4] / PHI[0])]}])
def test_parameters_found_by_static_calibration_cannot_be_given(given):
    """The force leaves nothing with the mass that was found: no other is weighed against it."""
    with pytest.raises(
        SchemaError,
        match=r"is determined at rest, 1\.(3|29\d+|30\d+) kg.*known mass.*cannot be imposed",
    ):
        identify.fit(still_and_moving(noise=1.0), **given)


@pytest.mark.parametrize(
    ("of_force", "of_torque", "code", "unit"),
    [
        (1e3, 1.0, "too_dense", '`force_unit = "mN"`'),
        (1e3, 1e3, "too_dense", '`torque_unit = "mNm"`'),
        (1.0, 1e3, "torque_unit", '`torque_unit = "mNm"`'),
    ],
)
def test_a_wrench_in_another_unit_is_an_error_that_names_it(of_force, of_torque, code, unit):
    log = still_and_moving(noise=1.0)
    wrench = {
        "force": of_force * log.signals["force"],
        "torque": of_torque * log.signals["torque"],
    }
    findings = prepare(replace(log, signals={**log.signals, **wrench})).imu.findings
    (said,) = (finding for finding in findings if finding.severity == "error")
    assert said.code == code
    assert unit in said.remedy


def test_wrong_wrench_unit_is_reported_once_and_makes_estimate_unusable():
    log = still_and_moving(noise=1.0)
    wrench = {name: 1e3 * log.signals[name] for name in ("force", "torque")}
    result = identify.fit(replace(log, signals={**log.signals, **wrench}))
    assert [f.code for f in result.findings if f.severity == "error"] == ["too_dense"]
    assert result.verdict.usable == "no"


def test_gravity_of_another_size_is_a_mass_of_another_size():
    log = still_and_moving(noise=1.0, gravity_accuracy=1e-3)
    error = np.sqrt(identify.fit(log).estimate.covariance[0, 0])
    assert 1.0e-3 < error / PHI[0] < 1.05e-3


def test_agreement_of_logs_uses_mass_errors():
    first, second = (replace(still_and_moving(k, noise=1.0), name=str(k)) for k in (0, 1))
    assert identify.fit([first, second]).verdict.usable == "yes"
    heavier = replace(still_and_moving(1, noise=1.0, phi=1.03 * PHI), name="heavier")
    assert "bodies_differ" in identify.fit([first, heavier]).verdict.reasons


def test_a_change_too_small_to_matter_is_covered_by_the_intervals():
    first = replace(still_and_moving(0, noise=1.0), name="first")
    heavier = replace(still_and_moving(1, noise=1.0, phi=1.01 * PHI), name="heavier")
    result = identify.fit([first, heavier])
    assert result.verdict.usable == "yes"
    (found,) = [f for f in result.findings if f.code == "bodies_differ"]
    assert found.severity == "info"
    assert "too little to matter" in found.text
    low, high = result.estimate.intervals["m"]
    assert low < PHI[0] < 1.01 * PHI[0] < high


def test_chunks_share_static_calibration_of_whole_log(monkeypatch):
    log = still_and_moving(noise=1.0)
    whole = summarise_log(log)
    monkeypatch.setattr("identify.regressors.log_scan.CHUNK_ROWS", 2000)
    parts = summarise_log(log)
    one, other = parts.imu, whole.imu
    assert (one.static_calibration, one.covariance) == (other.static_calibration, other.covariance)
    assert [f.code for f in parts.imu.findings] == ["force_motion"]
    assert len(np.unique(parts.statistics.block)) > 1


def test_noise_of_the_force_that_is_given_is_not_counted_twice():
    """The force leaves nothing then either: its noise is the accelerometer's."""
    told = prepare(replace(still_and_moving(noise=1.0), noise={"force": 0.1}))
    C = told.signal_noise.covariance
    names = told.signal_noise.names
    force, unit = (3 * names.index(name) for name in ("force", "accelerometer"))
    mass = told.imu.static_calibration[0]
    assert_close(C[force : force + 3, force : force + 3], 0.01 * np.eye(3), 1e-12)
    assert_close(C[unit : unit + 3, force : force + 3], 0.01 / mass * np.eye(3), 1e-12)
    of_first = told.blocks[0].noise[3]
    left = np.hstack((-mass * np.eye(3), np.eye(3)))  # f − m a'
    columns = np.r_[0:3, 12:15]
    of_force = left @ of_first[np.ix_(columns, columns)] @ left.T
    assert np.abs(of_force).max() < 0.05 * of_first[12, 12]

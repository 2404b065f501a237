"""What schemas say of the sensor's scale and of gravity's, and what a fit makes of it."""

from dataclasses import replace

import numpy as np
import pytest

import identify
from identify.errors import SchemaError
from identify.estimation import EstimatorSettings, body_system
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.scale_accuracy import gain_accuracy, gain_deviations, gravity_error
from identify.logs import Recording
from identify.logs.log_writing import write_log
from identify.logs.patch import patched
from identify.regressors import summarise_log
from identify.signals import Interpretation
from identify.spatial import Pose
from identify.spatial.rotations import exp_rotation
from tests.close import assert_close, body_scale
from tests.recordings import ALL, Path, record, without_effects
from tests.small_faults import fit_at_weights
from tests.strategies import random_body

BODY = random_body(np.random.default_rng(7), 1.0, 0.1)
SENSOR = Pose.from_quaternion(exp_rotation(np.array([0.3, -0.5, 0.9])), np.array([0.02, 0.01, 0.1]))
TIME = np.arange(0.0, 20.0, 0.01)
NOISE = {"force": 0.02, "torque": 0.002}
SIZE = 1e-6  # far less than the log tells of a gain


def log_of(**how) -> Recording:
    how = {"wrench": "sensor", "X_BS": SENSOR, "noise": NOISE, "seed": 3} | how
    return record(Path.random(3), BODY, TIME, **how)


def accurate(recording: Recording, gain=None, gravity=None) -> Recording:
    """The log with no effects but those whose accuracy is given."""
    alone = without_effects(recording)
    tables = {"wrench": {"gain_accuracy": gain}, "world": {"gravity_accuracy": gravity}}
    return replace(alone, schema={**alone.schema, **tables})


def scaled(recording: Recording, G: np.ndarray) -> Recording:
    """The log of a sensor that reads G [f; t]."""
    signals = recording.signals
    wrench = np.concatenate((signals["force"], signals["torque"]), axis=1) @ G.T
    read = {"force": wrench[:, :3], "torque": wrench[:, 3:]}
    return replace(recording, signals={**signals, **read}, sha256=recording.sha256 + repr(G[0]))


def shift_of(plain: Recording, other: Recording) -> np.ndarray:
    """Of the ten parameters, by what is other with a log, at weights that stay."""
    statistics = [
        summarise_log(log, Interpretation(cutoff_hz=5.0), wide=True).statistics
        for log in (plain, other)
    ]
    fit = weighted_least_squares(body_system(statistics[:1], EstimatorSettings()))
    before, after = (fit_at_weights(each, fit)[0] for each in statistics)
    return after - before


def test_scalar_accuracy_covers_axis_and_common_errors():
    """WeightInputs of a kind then vary together by half of it, and those of two kinds do not."""
    deviations, crosstalk = gain_deviations(0.02)
    assert crosstalk is None
    J = np.hstack((np.eye(6), np.kron(np.eye(2), np.ones((3, 1)))))
    covariance = (J * deviations**2) @ J.T
    assert_close(np.diag(covariance), np.full(6, 2 * 0.02**2), 1e-12)
    assert_close(covariance[0, 1], 0.02**2, 1e-12)
    assert covariance[0, 3] == 0.0
    assert_close(gain_deviations([0.02, 0.02])[0], deviations, 0.0)


def test_vector_accuracy_is_per_channel_and_matrix_per_entry():
    six = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    deviations, crosstalk = gain_deviations(six)
    assert deviations.tolist() == [*six, 0.0, 0.0]
    assert crosstalk is None
    matrix = 1e-3 * np.arange(1.0, 37.0).reshape(6, 6)
    deviations, crosstalk = gain_deviations(matrix.tolist())
    assert deviations.tolist() == [*np.diag(matrix), 0.0, 0.0]
    assert_close(crosstalk, matrix, 0.0)


def test_gravity_is_exact_by_default_or_with_accelerometer():
    log = log_of()
    assert gain_accuracy(log) is None
    assert gravity_error(log) == 0.0
    said = accurate(log, 0.01, 0.002)
    assert gain_accuracy(said) == 0.01
    assert gravity_error(said) == 0.002
    assert gravity_error(accurate(log_of(give=ALL), 0.01, 0.002)) == 0.002
    measured = accurate(log_of(give=ALL, kind="proper"), None, 0.01)
    assert gravity_error(measured) == 0.0
    assert identify.fit(measured, cutoff_hz=5.0).estimate.calibration is None


@pytest.mark.parametrize(("row", "column"), [(2, 2), (4, 4), (0, 4)])
def test_the_error_of_an_entry_is_the_shift_of_a_refit_of_a_log_that_has_it(row, column):
    accuracy, G = np.zeros((6, 6)), np.eye(6)
    accuracy[row, column] = SIZE
    G[row, column] += SIZE
    log = log_of(wrench="body")
    estimate = identify.fit(accurate(log, accuracy.tolist()), cutoff_hz=5.0).estimate
    shift = shift_of(log, scaled(log, G))
    scale = body_scale(BODY)
    errors = np.sqrt(np.diag(estimate.calibration))
    assert_close(errors / scale, np.abs(shift) / scale, 0.15)


@pytest.mark.parametrize("give", [("position", "quaternion"), ALL], ids=["differentiated", "given"])
def test_the_error_of_gravity_is_the_shift_of_a_refit_with_another(give):
    log = log_of(give=give)
    estimate = identify.fit(accurate(log, None, SIZE), cutoff_hz=5.0).estimate
    shift = shift_of(log, replace(log, gravity=(1.0 + SIZE) * log.gravity))
    scale = body_scale(BODY)
    errors = np.sqrt(np.diag(estimate.calibration))
    assert_close(errors / scale, np.abs(shift) / scale, 0.15)
    assert 0.5 * SIZE < errors[0] / estimate.mass < 1.5 * SIZE


def test_a_gain_of_the_sensor_is_in_the_interval_of_its_offset():
    """Gains of each axis and of all, 2 % each: the log tells what is not common to all of them."""
    bias = np.array([5.0, -3.0, 8.0, 0.1, 0.2, -0.3])
    log = log_of(wrench="body", bias=bias)
    estimate = identify.fit(accurate(log, 0.02), cutoff_hz=5.0).estimate
    assert (estimate.bias_half_widths[0, :3] > 1.96 * 0.02 * np.abs(bias[:3]) * 0.8).all()


def test_the_offset_of_a_log_whose_gains_are_off_matches_its_readings():
    bias = np.array([5.0, -3.0, 8.0, 0.1, 0.2, -0.3])
    G = np.diag([1.0, 1.0, 1.05, 1.0, 1.0, 1.0])
    estimate = identify.fit(scaled(log_of(wrench="body", bias=bias), G)).estimate
    assert (np.abs(estimate.biases[0] - G @ bias) < 1.5 * estimate.bias_half_widths[0]).all()


def test_given_mass_has_no_calibration_error():
    log = accurate(log_of(wrench="body"), 0.02)
    estimate = identify.fit(log, mass=float(BODY[0]), cutoff_hz=5.0).estimate
    assert "m" not in estimate.variance_shares
    assert not estimate.calibration[0].any()
    assert estimate.intervals["m"] == (BODY[0], BODY[0])
    free = identify.fit(log, cutoff_hz=5.0).estimate
    assert np.diff(free.intervals["m"])[0] > 0.04 * BODY[0]
    assert free.variance_shares["m"]["calibration"] > 0.99


def test_scale_accuracy_is_written_and_read_back(tmp_path):
    gain = np.diag([0.01] * 6).tolist()
    write_log(accurate(log_of(), gain, 1e-3), tmp_path / "log.csv")
    log = identify.read_log(tmp_path / "log.csv", tmp_path / "log.toml")
    assert gain_accuracy(log) == gain
    assert gravity_error(log) == 1e-3


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
def test_invalid_gain_accuracy_states_remedy(gain, said):
    with pytest.raises(SchemaError, match=said):
        patched(log_of(wrench="body"), {"wrench.gain_accuracy": gain})


@pytest.mark.parametrize("gravity", [-0.01, 1.0, float("nan")])
def test_invalid_gravity_accuracy_is_rejected(gravity):
    with pytest.raises(SchemaError, match="gravity_accuracy"):
        patched(log_of(wrench="body"), {"world.gravity_accuracy": gravity})

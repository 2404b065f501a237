"""Errors of an accelerometer's place, scale and offset that were found, in the estimate."""

from dataclasses import replace

import numpy as np
import pytest

from identify.estimation import AccelerometerErrors, EstimatorSettings, body_system, estimate_body
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.posterior import Posterior, posterior_of
from identify.estimation.priors.prior import BALL
from identify.logs import Recording
from identify.regressors import SCAN_LAYOUT, Statistics, summarise_log
from identify.signals.imu_calibration import ImuCalibration
from identify.spatial import Pose
from tests.close import assert_close, body_scale
from tests.recordings import ACCELERATIONS, POSE, Path, record
from tests.small_faults import fit_at_weights
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(7), 1.0, 0.1)
TIME = np.arange(0.0, 20.0, 0.01)
PATH = Path.random(3)
PLACE = np.array([0.03, -0.04, 0.05])
NOISE = {"force": 0.02, "torque": 0.002, "linear_acceleration": 0.02}
BIAS = np.array([5.0, -3.0, 8.0, 0.1, 0.2, -0.3])
LOG = record(
    PATH, PHI, TIME, (*POSE, *ACCELERATIONS), kind="proper", noise=NOISE, bias=BIAS, seed=3
)
ERRORS = np.diag([1e-4, 1e-4, 1e-4, 1e-4, 1e-3, 1e-3, 1e-3])
"""Of place [m], scale and offset [m/s²]."""


def found_with(covariance: np.ndarray, share: float = 1.0) -> ImuCalibration:
    """Calibration of an accelerometer whose place has been found, with its covariance."""
    return ImuCalibration(
        Pose(np.eye(3), PLACE),
        covariance=tuple(map(tuple, covariance.tolist())),
        accelerometer_weights=(share,) * len(SCAN_LAYOUT.groups),
    )


def moved(error: np.ndarray) -> Recording:
    """The log that is read with the accelerometer's place, scale and offset off by an error."""
    motion = PATH.motion(TIME)
    w, alpha = motion.angular_velocity, motion.angular_acceleration

    def carried(p: np.ndarray) -> np.ndarray:
        return np.cross(alpha, p) + np.cross(w, np.cross(w, p))

    a = LOG.signals["linear_acceleration"]
    there = (1.0 + error[3]) * (a + carried(PLACE)) + error[4:]
    signals = {**LOG.signals, "linear_acceleration": there - carried(PLACE + error[:3])}
    return replace(LOG, signals=signals)


def statistics_of(log: Recording) -> Statistics:
    return summarise_log(log, wide=True).statistics


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    system = body_system([statistics_of(LOG)], EstimatorSettings())
    return posterior_of(weighted_least_squares(system), BALL)


def of_one(posterior: Posterior, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Changes of unknowns and offset by one error, of whatever sign."""
    places = AccelerometerErrors.of([found_with(np.outer(error, error))])
    assert len(places.calibration_maps) == 1
    (of_x,), (of_offsets,) = places.changes_by_error(posterior)
    return of_x, of_offsets[0]


def of_reading(posterior: Posterior, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of a log that is read with the error."""
    plain, other = (
        fit_at_weights(statistics_of(log), posterior.fit) for log in (LOG, moved(error))
    )
    return other[0] - plain[0], (other[1] - plain[1])[0]


SCALE = np.concatenate((body_scale(PHI), 9.81 * body_scale(PHI)[[0, 0, 0, 1, 2, 3]]))


@pytest.mark.parametrize("kind", range(7))
def test_the_change_by_an_error_matches_a_log_read_with_it(posterior, kind):
    found = np.concatenate(of_one(posterior, ERRORS[kind])) / SCALE
    expected = np.concatenate(of_reading(posterior, ERRORS[kind])) / SCALE
    assert_close(np.sign(found @ expected) * found, expected, 5e-3)


def test_errors_that_go_together_have_the_covariance_of_all(posterior):
    root = np.diag(ERRORS)[:, None] * np.random.default_rng(0).normal(size=(7, 7))
    places = AccelerometerErrors.of([found_with(root @ root.T)])
    assert len(places.calibration_maps) == 7
    of_x, _ = places.changes_by_error(posterior)
    expected = np.array([of_reading(posterior, error)[0] for error in root.T])
    scale = np.outer(SCALE[:10], SCALE[:10])
    assert_close(of_x.T @ of_x / scale, expected.T @ expected / scale, 1e-2)


def test_the_error_counts_as_much_as_the_accelerometer_does(posterior):
    whole, half = (
        AccelerometerErrors.of([found_with(ERRORS**2, share)]).changes_by_error(posterior)[0]
        for share in (1.0, 0.5)
    )
    assert_close(half.T @ half, 0.25 * whole.T @ whole, 1e-3)


def test_a_place_that_is_given_has_no_error(posterior):
    for unit in (found_with(np.zeros((7, 7))), ImuCalibration()):
        places = AccelerometerErrors.of([unit])
        assert places.calibration_maps == ()
        of_x, of_offsets = places.changes_by_error(posterior)
        assert (of_x.shape, of_offsets.shape) == ((0, 10), (0, 1, 6))


def test_errors_are_of_the_log_that_they_were_found_from():
    places = AccelerometerErrors.of([ImuCalibration(), found_with(ERRORS**2)])
    assert len(places.calibration_maps) == 7
    as_read = np.eye(43, 19)
    for maps in places.calibration_maps:
        assert_close(maps[0], np.tile(as_read, (len(SCAN_LAYOUT.groups), 1, 1)), 0.0)
        assert np.abs(maps[1] - as_read).max() > 1e-5


def test_the_error_of_a_place_is_in_the_repeatability_and_the_intervals():
    statistics = [statistics_of(LOG)]
    places = AccelerometerErrors.of([found_with(1e4 * ERRORS**2)])
    plain, counted = (
        estimate_body(statistics),
        estimate_body(statistics, accelerometer_errors=places),
    )
    assert_close(counted.parameters.phi, plain.parameters.phi, 1e-14)
    added = counted.repeatability - plain.repeatability
    values = np.linalg.eigvalsh(added / np.sqrt(np.outer(np.diag(added), np.diag(added))))
    assert values[0] > -1e-9
    assert added[0, 0] > 10.0 * plain.covariance[0, 0]
    widths = [np.diff(one.intervals["m"])[0] for one in (counted, plain)]
    assert widths[0] > 3.0 * widths[1]
    assert (counted.bias_half_widths > plain.bias_half_widths).all()

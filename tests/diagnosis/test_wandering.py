"""Offsets that wander: found, taken off as generalised least squares would, and refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis import drift, without_drift
from identify.diagnosis.drift_over_time import DriftKind
from identify.estimation import EstimatorSettings, body_system
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import weighted_least_squares
from identify.regressors import FEATURE_TENSOR, System, block_statistics
from identify.regressors.wrench import PSI, W
from identify.signals import prepare
from tests.close import assert_close
from tests.diagnosis.logs import PHI, fitted, moving, still, time_of, with_signals, with_wrench
from tests.recordings import still_poses

POSES = 40
SIZES = np.array([0.5] * 3 + [0.05] * 3)


def walk(seed: int) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(size=(POSES, 6))
    return SIZES * np.cumsum(steps, axis=0) / np.sqrt(POSES)


LINE = np.linspace(-1.0, 1.0, POSES)[:, None] * SIZES
STEP = (np.arange(POSES) >= 25)[:, None] * SIZES


@pytest.mark.parametrize(
    ("wandering", "kind", "code"),
    [(walk(0), "random_walk", "drift"), (LINE, "linear", "drift"), (STEP, "step", "bias_step")],
)
def test_a_drift_of_still_poses_is_found_and_taken_off(wandering, kind, code):
    fit, _ = fitted(still(3, POSES, wandering))
    found = drift(fit)
    assert found is not None
    assert (found.kind, found.code, found.refused) == (kind, code, "")
    assert found.block == (25 if kind == "step" else 0)
    assert found.gain > 20.0
    assert found.p_value < 1e-4
    before, after = (np.sqrt(np.diag(covariance_of(f))[:4]) for f in (fit, found.fit))
    assert (after < before).all()
    assert (np.abs(found.fit.x - PHI)[:4] < 4.0 * after).all()


def test_a_step_of_a_moving_log_is_found_in_its_block():
    log = moving(3, 80.0)
    late = (time_of(log) > 40.0)[:, None] * (0.3 * SIZES)
    found = drift(fitted(with_wrench(log, late))[0])
    assert found is not None
    assert (found.kind, found.block) == ("step", 4)


@pytest.mark.parametrize(
    "log", [still(0, POSES), still(1, POSES), moving(1, 60.0), moving(2, 90.0)]
)
def test_offsets_that_stay_do_not_drift(log):
    assert drift(fitted(log)[0]) is None


def basis_of(kind: DriftKind) -> np.ndarray:
    """Covariance of the offsets over time, as far as they move, by the definition."""
    n = np.arange(float(POSES))
    if kind == "random_walk":
        return 0.7 * np.minimum.outer(n, n)
    shape = n if kind == "linear" else (n >= 25).astype(float)
    return 1e9 * np.outer(shape, shape)


@pytest.mark.parametrize("kind", ["random_walk", "linear", "step"])
def test_statistics_without_a_drift_are_generalised_least_squares(kind):
    """By the inverse of the whole covariance of all readings, for weights that are given."""
    fit, _ = fitted(still(0, POSES, walk(1)))
    statistics, equations = fit.data.system.data[0]
    rows = statistics.factors[:, 0]
    V = np.eye(POSES) + basis_of(kind)
    A = np.zeros((POSES, 6, 16))
    A[..., :10] = np.tensordot(rows[:, PSI], FEATURE_TENSOR, axes=1)
    A[..., 10:] = np.eye(6)
    A, b = A[:, :, [0, 1, 2, 3, *range(10, 16)]], rows[:, W]
    inverse = np.linalg.inv(V)
    normal = np.einsum("tmp,ts,smq->pq", A, inverse, A)
    expected = np.linalg.solve(normal, np.einsum("tmp,ts,sm->p", A, inverse, b))[:4]
    corrected = without_drift(statistics, kind, strength=0.7, block=25)
    problem = System.of([(corrected, equations)]).problem([np.eye(6)])
    found = np.linalg.lstsq(problem.A[:, :4], problem.b, rcond=None)[0]
    assert_close(found, expected, 1e-5)
    plain = fit.data.system.problem([np.eye(6)])
    assert np.abs(np.linalg.lstsq(plain.A[:, :4], plain.b, rcond=None)[0] - found).max() > 1e-4


@pytest.mark.parametrize(
    ("misread", "reason"),
    [
        (lambda turns: turns.inv(), "without noise beside it"),
        (lambda turns: Rotation.from_euler("x", 60.0, degrees=True) * turns, "mass|without noise"),
    ],
)
def test_a_log_that_is_misread_has_no_drift_that_is_believed(misread, reason):
    """Attitudes that follow each other smoothly, so that what is misread wanders with them."""
    along = np.linspace(0.0, 1.0, POSES)
    angles = np.stack((200.0 * along, 50.0 * np.sin(5.0 * along), 100.0 * along), axis=1)
    turns = Rotation.from_euler("zyx", angles, degrees=True)
    log = still_poses(PHI, turns)
    noise = np.array([0.03] * 3 + [0.003] * 3) * np.random.default_rng(0).normal(size=(POSES, 6))
    log = with_wrench(log, noise)
    assert drift(fitted(log)[0]) is None
    found = drift(fitted(with_signals(log, quaternion=misread(turns).as_quat()))[0])
    assert found is not None
    assert re.search(reason, found.refused)


def test_the_corrected_fit_is_that_of_its_statistics():
    found = drift(fitted(still(3, POSES, LINE))[0])
    assert found is not None
    again = weighted_least_squares(
        System.of([(found.statistics[0], found.fit.data.system.data[0][1])])
    )
    assert_close(found.fit.x, again.x, 1e-12)


ONE_AXIS = {
    "linear": lambda share: share,
    "step": lambda share: (share > 0.43).astype(float),
    "random_walk": lambda share: np.sin(2.0 * np.pi * share),
}


@pytest.mark.parametrize(("kind", "axis"), list(zip(ONE_AXIS, range(3), strict=True)))
def test_a_drift_of_one_axis_is_found_over_time(kind, axis):
    """Of six blocks the means of one channel are too few."""
    log = moving(1, 60.0)
    share = time_of(log) / time_of(log)[-1]
    prepared = prepare(
        with_wrench(log, np.outer(ONE_AXIS[kind](share), np.eye(6)[axis])), wide=True
    )
    fit = weighted_least_squares(body_system([block_statistics(prepared)], EstimatorSettings()))
    assert drift(fit) is None
    found = drift(fit, (), [(prepared.time, prepared.rows)])
    assert found is not None
    assert (found.kind, len(found.over_time)) == (kind, 1)
    assert found.block == (3 if kind == "step" else 0)
    assert abs(found.fit.x[0] - PHI[0]) < 0.01 * PHI[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_clean_log_has_no_drift_over_time(seed):
    prepared = prepare(moving(seed, 60.0), wide=True)
    fit = weighted_least_squares(body_system([block_statistics(prepared)], EstimatorSettings()))
    assert drift(fit, (), [(prepared.time, prepared.rows)]) is None

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis import Drift, drift
from identify.diagnosis.sensor_drift import DriftShape, without_drift
from identify.estimation import EstimatorSettings, body_system
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import weighted_least_squares
from identify.logs import Recording
from identify.regressors import FEATURE_TENSOR, System, block_statistics
from identify.regressors.wrench import PSI, W
from identify.signals import prepare
from tests.close import assert_close
from tests.diagnosis.logs import PHI, fitted, moving, still, time_of, with_signals, with_wrench
from tests.recordings import still_poses

POSES = 40
SIZES = np.array([0.5] * 3 + [0.05] * 3)


def found_in(*logs: Recording) -> Drift | None:
    """What is found in the series of some logs beside their fit."""
    prepared = [prepare(log, wide=True) for log in logs]
    fit = weighted_least_squares(
        body_system([block_statistics(log) for log in prepared], EstimatorSettings())
    )
    return drift(fit, [(log.time, log.rows) for log in prepared])


def walk(seed: int) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(size=(POSES, 6))
    return SIZES * np.cumsum(steps, axis=0) / np.sqrt(POSES)


LINE = np.linspace(-1.0, 1.0, POSES)[:, None] * SIZES
STEP = (np.arange(POSES) >= 25)[:, None] * SIZES


@pytest.mark.parametrize(
    ("moving_offset", "kind", "code"),
    [(walk(0), "random_walk", "drift"), (LINE, "linear", "drift"), (STEP, "step", "bias_step")],
)
def test_a_drift_of_still_poses_is_found_and_taken_off(moving_offset, kind, code):
    log = still(3, POSES, moving_offset)
    fit, _ = fitted(log)
    found = found_in(log)
    assert found is not None
    assert (found.kind, found.code, found.refused) == (kind, code, "")
    if kind == "step":
        assert_close(found.offsets[0][0, 0], 24.5, 0.02)
    assert found.gain > 20.0
    assert found.p_value < 1e-4
    before, after = (np.sqrt(np.diag(covariance_of(f))[:4]) for f in (fit, found.fit))
    assert (after < before).all()
    assert (np.abs(found.fit.x - PHI)[:4] < 4.0 * after).all()


def test_a_step_of_a_moving_log_is_found_when_it_is():
    log = moving(3, 80.0)
    late = (time_of(log) > 41.3)[:, None] * (0.3 * SIZES)
    found = found_in(with_wrench(log, late))
    assert found is not None
    assert found.kind == "step"
    (offset,) = found.offsets
    assert abs(offset[0, 0] - 41.3) < 0.1
    assert_close(offset[1, 1:] - offset[0, 1:], 0.3 * SIZES, 0.1)


@pytest.mark.parametrize(
    "log", [still(0, POSES), still(1, POSES), moving(1, 60.0), moving(2, 90.0)]
)
def test_offsets_that_stay_do_not_drift(log):
    assert found_in(log) is None


def covariance_over_time(kind: str) -> np.ndarray:
    """Of the offsets over time, as far as they move, by the definition."""
    n = np.arange(float(POSES))
    if kind == "random_walk":
        shape = np.cos(np.pi * np.outer((n + 0.5) / POSES, [1, 2, 3]))
    else:
        shape = (n if kind == "linear" else (n >= 25).astype(float))[:, None]
    return 1e9 * shape @ shape.T


@pytest.mark.parametrize("kind", ["random_walk", "linear", "step"])
def test_statistics_without_a_drift_are_generalised_least_squares(kind):
    """By the inverse of the whole covariance of all readings, for weights that are given."""
    fit, _ = fitted(still(0, POSES, walk(1)))
    statistics, equations = fit.data.system.data[0]
    rows = statistics.factors[:, 0]
    V = np.eye(POSES) + covariance_over_time(kind)
    A = np.zeros((POSES, 6, 16))
    A[..., :10] = np.tensordot(rows[:, PSI], FEATURE_TENSOR, axes=1)
    A[..., 10:] = np.eye(6)
    A, b = A[:, :, [0, 1, 2, 3, *range(10, 16)]], rows[:, W]
    inverse = np.linalg.inv(V)
    normal = np.einsum("tmp,ts,smq->pq", A, inverse, A)
    expected = np.linalg.solve(normal, np.einsum("tmp,ts,sm->p", A, inverse, b))[:4]
    corrected = without_drift(statistics, {0: DriftShape(kind, 25 / POSES)})
    problem = System.of([(corrected, equations)]).problem([np.eye(6)])
    found = np.linalg.lstsq(problem.A[:, :4], problem.b, rcond=None)[0]
    assert_close(found, expected, 1e-5)
    plain = fit.data.system.problem([np.eye(6)])
    assert np.abs(np.linalg.lstsq(plain.A[:, :4], plain.b, rcond=None)[0] - found).max() > 1e-4


@pytest.mark.parametrize(
    "misread",
    [
        lambda turns: turns.inv(),
        lambda turns: Rotation.from_euler("x", 60.0, degrees=True) * turns,
    ],
)
def test_a_log_that_is_misread_has_no_drift_that_is_believed(misread):
    """Attitudes that follow each other smoothly, so that what is misread drifts with them."""
    along = np.linspace(0.0, 1.0, POSES)
    angles = np.stack((200.0 * along, 50.0 * np.sin(5.0 * along), 100.0 * along), axis=1)
    turns = Rotation.from_euler("zyx", angles, degrees=True)
    log = still_poses(PHI, turns)
    noise = np.array([0.03] * 3 + [0.003] * 3) * np.random.default_rng(0).normal(size=(POSES, 6))
    log = with_wrench(log, noise)
    assert found_in(log) is None
    found = found_in(with_signals(log, quaternion=misread(turns).as_quat()))
    assert found is None or found.refused


ONE_AXIS = {
    "linear": lambda share: share,
    "step": lambda share: (share > 0.43).astype(float),
    "random_walk": lambda share: np.sin(2.0 * np.pi * share),
}


@pytest.mark.parametrize(("kind", "axis"), list(zip(ONE_AXIS, range(3), strict=True)))
def test_a_drift_of_one_axis_is_found_over_time(kind, axis):
    log = moving(1, 60.0)
    share = time_of(log) / time_of(log)[-1]
    found = found_in(with_wrench(log, np.outer(ONE_AXIS[kind](share), np.eye(6)[axis])))
    assert found is not None
    assert found.kind == kind
    assert abs(found.fit.x[0] - PHI[0]) < 0.01 * PHI[0]


def test_only_the_log_that_drifts_is_corrected():
    steady, log = moving(1, 60.0), moving(2, 60.0)
    share = time_of(log)[:, None] / time_of(log)[-1]
    found = found_in(steady, with_wrench(log, share * SIZES))
    assert found is not None
    assert [len(offset) for offset in found.offsets] == [0, 2]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_clean_log_has_no_drift(seed):
    assert found_in(moving(seed, 60.0)) is None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_small_drift_of_a_short_slow_log_is_found(seed):
    log = moving(seed, 10.0, bandwidth_hz=0.3)
    line = np.linspace(-0.15, 0.15, len(time_of(log)))[:, None] * (2.0 * SIZES)
    found = found_in(with_wrench(log, line))
    assert found is not None
    assert found.code == "drift"
    assert found_in(log) is None

"""Static poses among which some rows hold the attitude or the wrench of another pose."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis.contacts import wrong_pose_runs
from identify.inertia import InertialParameters
from identify.pipeline import check_logs, fit
from identify.pipeline.misread_error import MisreadLog
from identify.regressors import summarise_log
from tests.recordings import still_poses, with_signals
from tests.slow import mostly_slow
from tests.small_faults import NOISE, PHI, WEIGHT, still, with_wrench, wrench_of

SIZES = np.repeat([NOISE.force, NOISE.torque], 3)


@pytest.mark.parametrize(
    ("columns", "rows"), [(("force", "torque"), [13]), (("quaternion",), [2, 3, 9, 20])]
)
def test_wrong_rows_are_named_and_left_out_on_request(columns, rows):
    log = still(5)
    changed = {name: log.signals[name].copy() for name in columns}
    for name in columns:
        changed[name][rows] = log.signals[name][[5, 7, 11, 17][: len(rows)]]
    wrong = with_signals(log, **changed)
    first = check_logs(wrong).findings[0]
    assert (first.code, first.severity) == ("wrong_rows", "error")
    assert first.evidence["rows"] == [row + 1 for row in rows]
    again = fit(wrong, apply=("wrong_rows",))
    assert len(again.logs[0].time) == 24 - len(rows)
    assert abs(again.estimate.parameters.mass - PHI[0]) < 0.01 * PHI[0]
    assert "wrong_rows" not in [finding.code for finding in again.findings]


def rows_of(turns: Rotation, seed: int) -> np.ndarray:
    return summarise_log(still_poses(PHI, turns, noise=SIZES, seed=seed), wide=True).rows


@pytest.mark.parametrize("seed", mostly_slow(range(10), {0, 1, 2}))
def test_clean_or_uniquely_informative_rows_are_not_reported(seed):
    rng = np.random.default_rng(seed)
    assert wrong_pose_runs(rows_of(Rotation.random(8 + seed, rng=rng), seed)) == ()
    upright = Rotation.from_euler("z", rng.uniform(0.0, 6.0, (9, 1)))
    tilted = Rotation.concatenate([upright, Rotation.from_euler("x", [[1.0]])])
    assert wrong_pose_runs(rows_of(tilted, seed)) == ()


def test_sensor_that_warms_up_over_static_poses_has_no_wrong_rows():
    log = still(3, 16)
    fading = np.exp(-np.arange(16) / 1.5)[:, None] * [0.04, -0.03, 0.05, 0.002, 0.003, -0.002]
    drifting = with_wrench(log, wrench_of(log) + fading * WEIGHT)
    found = fit(drifting)
    assert "wrong_rows" not in {one.code for one in found.findings}
    assert found.verdict.usable != "no"
    low, high = found.estimate.intervals["m"]
    assert low < PHI[0] < high


def with_column(log, name, axis, value):
    values = np.array(log.signals[name])
    values[:, axis] = value
    return with_signals(log, **{name: values})


@pytest.mark.parametrize(("name", "axis"), [("force", 1), ("torque", 0), ("torque", 2)])
@pytest.mark.parametrize("seed", mostly_slow([3, 4], {3}))
def test_channel_that_is_dead_in_all_poses_is_named(name, axis, seed):
    with pytest.raises(MisreadLog) as caught:
        fit(with_column(still(seed), name, axis, -0.08))
    assert caught.value.finding.code == "dead_channel"
    assert f"({name[0]}{'xyz'[axis]}): all poses" in str(caught.value)


def test_torque_of_a_centre_of_mass_on_the_axis_is_no_dead_channel():
    """Without noise it is zero in all poses; a coarse register reads zero in spite of noise."""
    phi = InertialParameters.from_com(1.3, [0.0, 0.0, 0.06], np.diag([4e-3, 4e-3, 2e-3])).phi
    turns = Rotation.random(20, rng=np.random.default_rng(2))
    exact = still_poses(phi, turns)
    coarse = still_poses(phi, turns, noise=np.repeat([0.01, 2e-3], 3), seed=1)
    rounded = {name: np.round(coarse.signals[name], 1) for name in ("force", "torque")}
    for log in (exact, with_signals(coarse, **rounded)):
        assert np.ptp(log.signals["torque"][:, 2]) < 1e-12
        log = with_column(log, "torque", 2, 0.0)
        assert "dead_channel" not in [one.code for one in fit(log).findings]


def test_mass_of_static_poses_that_few_arms_hold_is_a_warning():
    turns = Rotation.random(14, rng=np.random.default_rng(4))
    phi = InertialParameters.from_com(390.0, [0.1, 0.0, 0.2], 8.0 * np.eye(3)).phi
    found = fit(still_poses(phi, turns, noise=np.repeat([0.5, 0.1], 3), seed=1)).findings
    assert ("not_held", "warning") in [(one.code, one.severity) for one in found]
    assert "not_held" not in [one.code for one in fit(still(3)).findings]


NOT_HELD = [
    (137.0, 1.0, 9, "the force is too large"),
    (1000.0, 1.0, 9, "the force is too large"),
    (137.0, 2900.0, 9, "may be in counts"),
    (300.0, 300.0, 0, "are whole numbers"),
]


@pytest.mark.parametrize(
    ("force", "torque", "decimals", "reason"), mostly_slow(NOT_HELD, NOT_HELD[1:])
)
def test_static_poses_in_counts_or_in_thousandths_are_an_error(force, torque, decimals, reason):
    log = still(3)
    scaled = {"force": force * log.signals["force"], "torque": torque * log.signals["torque"]}
    scaled = {name: np.round(values, decimals) for name, values in scaled.items()}
    found = check_logs(with_signals(log, **scaled))
    (finding,) = [one for one in found.findings if one.code == "not_held"]
    assert finding.severity == "error"
    assert reason in finding.text
    assert "calibration" in finding.remedy


@pytest.mark.slow
def test_heavy_payload_of_a_large_arm_is_not_refused():
    turns = Rotation.random(14, rng=np.random.default_rng(4))
    for mass, com in ((480.0, [0.1, 0.0, 0.2]), (150.0, [0.0, 0.3, 0.6]), (60.0, [0.0, 0.0, 0.1])):
        phi = InertialParameters.from_com(mass, com, 0.02 * mass * np.eye(3)).phi
        log = still_poses(phi, turns, noise=np.repeat([0.5, 0.1], 3), seed=1)
        assert fit(log).verdict.usable == "with care"


@pytest.mark.parametrize("seed", mostly_slow([17, 50, 82, 6, 9, 16], {17}))
def test_few_static_poses_without_fault_raise_no_alarm(seed):
    turns = Rotation.random(8, rng=np.random.default_rng(seed))
    log = still_poses(PHI, turns, noise=np.repeat([0.03, 0.002], 3), seed=seed)
    assert {one.severity for one in check_logs(log).findings} <= {"info"}

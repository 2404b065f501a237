"""Still poses among which some rows hold the attitude or the wrench of another pose."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis.robust import wrong_rows
from identify.inertia import InertialParameters
from identify.pipeline import check_logs, fit
from identify.pipeline.misread import MisreadLog
from identify.regressors import scan
from tests.recordings import still_poses, with_signals
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
    return scan(still_poses(PHI, turns, noise=SIZES, seed=seed), wide=True).rows


@pytest.mark.parametrize("seed", range(10))
def test_no_row_of_a_clean_log_is_named_nor_one_that_alone_tells_something(seed):
    rng = np.random.default_rng(seed)
    assert wrong_rows(rows_of(Rotation.random(8 + seed, rng=rng), seed)) == ()
    upright = Rotation.from_euler("z", rng.uniform(0.0, 6.0, (9, 1)))
    tilted = Rotation.concatenate([upright, Rotation.from_euler("x", [[1.0]])])
    assert wrong_rows(rows_of(tilted, seed)) == ()


def test_sensor_that_warms_up_over_still_poses_has_no_wrong_rows():
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
@pytest.mark.parametrize("seed", [3, 4])
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


def test_mass_of_still_poses_that_few_arms_hold_is_a_warning():
    log = still(3)
    counts = {name: 300.0 * log.signals[name] for name in ("force", "torque")}
    found = fit(with_signals(log, **counts)).findings
    assert ("not_held", "warning") in [(one.code, one.severity) for one in found]
    assert "not_held" not in [one.code for one in fit(log).findings]

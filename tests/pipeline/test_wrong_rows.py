"""Still poses among which some rows hold the attitude or the wrench of another pose."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis.robust import wrong_rows
from identify.pipeline import check_logs, fit
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

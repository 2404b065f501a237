"""A sensor that was zeroed among static poses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis.zeroed_poses import find_zeroed_poses
from identify.logs import read_log
from identify.logs.log_writing import write_log
from identify.pipeline import check_logs, fit
from identify.pipeline.corrected_logs import NotCorrected
from identify.regressors import summarise_log
from tests.recordings import still_poses
from tests.small_faults import NOISE, PHI, WEIGHT, still, with_wrench, wrench_of


def zeroed(log, pose, size=1.0):
    """At a pose the reading becomes so much less of what it is."""
    wrench = wrench_of(log)
    wrench[pose:] -= size * wrench[pose - 1]
    return with_wrench(log, wrench)


def spans(log):
    return find_zeroed_poses(summarise_log(log, wide=True).rows)


@pytest.mark.parametrize(("poses", "pose"), [(8, 3), (12, 10), (24, 2), (24, 12)])
@pytest.mark.parametrize("size", [0.1, 1.0])
def test_zeroing_is_found_with_its_pose_and_size(poses, pose, size):
    log = still(3, poses)
    (span,) = spans(zeroed(log, pose, size))
    assert (span.code, span.start, span.stop) == ("bias_step", pose - 1, pose)
    jump = -size * wrench_of(log)[pose - 1]
    assert np.abs(np.array(span.jump) - jump).max() < 5.0 * NOISE.force
    assert spans(log) == ()


def test_zeroing_with_the_payload_on_is_named_and_cut(tmp_path):
    whole = zeroed(still(3, 24), 9)
    write_log(whole, tmp_path / "log.csv", tmp_path / "schema.toml")
    log = read_log(tmp_path / "log.csv", tmp_path / "schema.toml")
    found = check_logs(log)
    finding = found.findings[0]
    assert (finding.code, finding.severity, found.verdict.usable) == ("bias_step", "error", "no")
    assert "between poses 9 and 10" in finding.text
    assert not {"contact", "body_changed", "wrong_rows"} & {each.code for each in found.findings}
    with pytest.raises(NotCorrected, match="give both parts to one fit"):
        fit(log, apply=("bias_step",))
    parts = [
        replace(
            log,
            signals={name: values[own] for name, values in log.signals.items()},
            sha256=f"part {k}",
            rows=(9, 15)[k],
        )
        for k, own in enumerate((slice(0, 9), slice(9, 24)))
    ]
    together = fit(parts)
    assert "bias_step" not in {each.code for each in together.findings}
    interval = together.estimate.intervals["m"]
    assert interval is not None
    assert interval[0] < PHI[0] < interval[1]


@pytest.mark.parametrize("poses", [8, 12, 24])
@pytest.mark.parametrize("seed", range(6))
def test_other_faults_are_not_reported_as_zeroing(poses, seed):
    log, rng = still(seed, poses), np.random.default_rng(seed)
    wrench, number = wrench_of(log), np.arange(poses)[:, None]
    sizes = WEIGHT * rng.normal(size=6) * np.repeat([0.05, 0.005], 3)
    assert spans(with_wrench(log, wrench + number / poses * sizes)) == ()
    assert spans(with_wrench(log, wrench + np.exp(-number / 1.5) * sizes)) == ()
    turns = Rotation.from_quat(log.signals["quaternion"])
    noise = np.repeat([NOISE.force, NOISE.torque], 3)
    other = wrench_of(still_poses(1.3 * PHI, turns, noise=noise, seed=seed))
    assert spans(with_wrench(log, np.where(number < poses // 2, wrench, other))) == ()
    swapped = wrench.copy()
    swapped[-1] = wrench[1]
    assert spans(with_wrench(log, swapped)) == ()

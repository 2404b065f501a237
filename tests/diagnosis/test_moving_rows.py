"""Rows of a motion that a schema calls static poses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from identify.diagnosis.moving_rows import find_moving_rows, fit_sampling_rate
from identify.logs import read_log
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.pipeline import check_logs
from identify.regressors import summarise_log
from tests.recordings import still_poses
from tests.strategies import random_body

NOISE = Noise(position=1e-4, orientation=5e-4, force=0.03, torque=0.003)
PHI = random_body(np.random.default_rng(1), 1.3, 0.1)


def motion(seed, rate_hz, noise=NOISE):
    rng = np.random.default_rng(seed)
    return synthetic_recording(PHI, rng=rng, duration=20.0, rate_hz=rate_hz, noise=noise)


def sweep(seed, pull=0.0):
    """Static poses along a slow sweep, with a spring to a point in the world [N/m]."""
    rng, keys, at = np.random.default_rng(seed), np.arange(8.0), np.linspace(0.0, 7.0, 400)
    turns = RotationSpline(keys, Rotation.random(8, rng=rng))(at)
    places = CubicSpline(keys, rng.uniform(-0.3, 0.3, (8, 3)))(at)
    log = still_poses(PHI, turns, noise=np.repeat([0.03, 0.003], 3), seed=seed)
    force = log.signals["force"] - pull * turns.inv().apply(places)
    return replace(log, signals={**log.signals, "position": places, "force": force})


@pytest.mark.parametrize("rate_hz", [20.0, 100.0, 1000.0])
def test_moving_log_declared_as_static_poses_is_reported(tmp_path, rate_hz):
    write_log(motion(3, rate_hz), tmp_path / "log.csv", tmp_path / "schema.toml")
    schema = tmp_path / "schema.toml"
    schema.write_text(schema.read_text().replace('time = "t"', "still = true"))
    found = check_logs(read_log(tmp_path / "log.csv", schema))
    assert found.verdict.usable == "no"
    (finding,) = found.findings
    assert (finding.code, finding.severity) == ("not_still", "error")
    assert 0.4 * rate_hz < finding.evidence["rate_hz"] < 2.0 * rate_hz
    assert "in place of `still = true`" in finding.remedy


def test_the_rate_of_exact_rows_matches_the_log():
    log = motion(5, 100.0, Noise())
    rows = summarise_log(replace(log, time=np.arange(len(log)) / 25.0), wide=True).rows
    found = fit_sampling_rate(rows, 25.0, log.gravity)
    assert abs(found.rate_hz - 100.0) < 5.0  # the grid's step
    assert found.explained_share > 0.98


@pytest.mark.parametrize("seed", range(4))
def test_static_poses_are_not_reported_as_moving(seed):
    turns = Rotation.random(60, rng=np.random.default_rng(seed))
    repeated = Rotation.from_quat(np.repeat(turns.as_quat(), 20, axis=0))
    for poses in (turns, repeated):
        log = still_poses(PHI, poses, noise=np.repeat([0.03, 0.003], 3), seed=seed)
        assert find_moving_rows(log) is None
    assert find_moving_rows(sweep(seed)) is None
    assert find_moving_rows(sweep(seed, pull=3.0)) is None


def test_poses_at_rest_of_which_a_few_were_logged_in_motion_are_wrong_rows():
    rng = np.random.default_rng(2)
    log = still_poses(PHI, Rotation.random(24, rng=rng), noise=np.repeat([0.03, 0.003], 3))
    force = log.signals["force"].copy()
    force[[4, 11, 17]] += PHI[0] * rng.uniform(1.0, 3.0, (3, 3))
    finding = check_logs(replace(log, signals={**log.signals, "force": force})).findings[0]
    assert (finding.code, finding.evidence["rows"]) == ("wrong_rows", [5, 12, 18])
    assert "or the body moved" in finding.text

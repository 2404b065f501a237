"""Logs whose wrench is in coarse steps: fitted without what rounding makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import identify
from identify.inertia import PHI, InertialParameters
from identify.logs import Noise, Recording, synthetic_recording
from identify.logs.recording import recording_rows
from identify.logs.synthetic import random_motion
from identify.pipeline import wrench_fit
from tests.recordings import still_poses, without_effects

BODY = InertialParameters.from_com(2.0, [0.03, -0.02, 0.08], np.diag([8e-3, 9e-3, 5e-3]))
NOISE = np.repeat([0.03, 0.003], 3)
STEP = 5.0 * NOISE


def logged(seed: int, step: np.ndarray | None = STEP, **changes) -> Recording:
    rng = np.random.default_rng(seed)
    log = synthetic_recording(
        BODY,
        rng=rng,
        motion=random_motion(rng, bandwidth_hz=0.6),
        duration=20.0,
        rate_hz=400.0,
        bias=[2.0, -1.0, 0.7, 0.05, 0.1, -0.08],
        noise=Noise(force=NOISE[0], torque=NOISE[3], position=3e-5, orientation=5e-5),
        **changes,
    )
    wrench = np.hstack((log.signals["force"], log.signals["torque"]))
    if step is not None:
        wrench = step * np.rint(wrench / step)
    return replace(log, signals={**log.signals, "force": wrench[:, :3], "torque": wrench[:, 3:]})


def errors(result: identify.Result) -> np.ndarray:
    """Of each parameter, in half-widths of its interval."""
    estimate = result.estimate
    low, high = np.array([estimate.intervals[name] for name in PHI]).T
    return np.abs(estimate.parameters.phi - BODY.phi) / (0.5 * (high - low))


@pytest.mark.slow
def test_intervals_cover_where_steps_are_five_times_the_noise(monkeypatch):
    logs = [without_effects(logged(seed)) for seed in range(2)]
    found = [identify.fit(log) for log in logs]
    assert all("wrench_rounded" in [f.code for f in each.all_findings] for each in found)
    assert all(each.verdict.usable == "yes" for each in found)
    off = np.array([errors(each) for each in found])
    assert off.max() < 1.7
    assert np.mean(off < 1.0) > 0.9
    monkeypatch.setattr(wrench_fit.ScannedLog, "may_be_rounded", property(lambda log: False))
    as_read = [identify.fit(log) for log in logs]
    before = np.array([errors(each) for each in as_read])
    assert np.mean(off**2) < 0.6 * np.mean(before**2)
    for one, other in zip(found, as_read, strict=True):
        assert one.estimate.intervals["m"][1] - one.estimate.intervals["m"][0] < (
            other.estimate.intervals["m"][1] - other.estimate.intervals["m"][0]
        )


def test_fine_quantisation_is_ignored():
    for step in (0.5 * NOISE, None):
        result = identify.fit(logged(1, step))
        assert result.logs[0].reading.quantisation is None


def test_each_log_uses_its_own_quantisation():
    result = identify.fit([logged(1), logged(9, None)])
    assert [log.reading.quantisation is not None for log in result.logs] == [True, False]
    assert errors(result).max() < 2.0


def test_a_long_file_is_read_as_the_log_in_memory(tmp_path, monkeypatch):
    import pandas as pd

    from identify.logs import open_log

    log = logged(3)
    table = {"t": log.time}
    for name, columns in (("position", "xyz"), ("quaternion", "abcd")):
        table |= dict(zip(columns, log.signals[name].T, strict=True))
    table |= {f"f{axis}": v for axis, v in zip("xyz", log.signals["force"].T, strict=True)}
    table |= {f"t{axis}": v for axis, v in zip("xyz", log.signals["torque"].T, strict=True)}
    path, schema = tmp_path / "log.parquet", tmp_path / "schema.toml"
    pd.DataFrame(table).to_parquet(path)
    schema.write_text(
        '[log]\ntime = "t"\n[pose]\nposition = ["x", "y", "z"]\nquaternion = ["a", "b", "c", "d"]\n'
        'maps = "body_to_world"\n[wrench]\nforce = ["fx", "fy", "fz"]\n'
        'torque = ["tx", "ty", "tz"]\nacts_on = "body"\nframe = "body"\n',
        encoding="utf-8",
    )
    whole = identify.fit(identify.read_log(path, schema))
    monkeypatch.setattr("identify.regressors.log_scan.CHUNK_ROWS", 6000)
    monkeypatch.setattr("identify.logs.log_file.MIN_ROWS_IN_CHUNKS", 6000)
    opened = open_log(path, schema)
    result = identify.fit(opened)
    assert result.logs[0].reading.quantisation is not None
    np.testing.assert_allclose(errors(result), errors(whole), atol=0.2)


def test_stretch_without_rows_does_not_break_rounding_detection(monkeypatch):
    """Of a long log some stretches are read, and one of them may have nothing but gaps."""
    from identify.pipeline import wrench_rounding

    read = wrench_rounding.iterate_excerpts

    def with_an_empty_one(source, reading):
        for part in read(source, reading):
            yield replace(part, recording=recording_rows(part.recording, 0, 0))
            yield part

    monkeypatch.setattr(wrench_rounding, "iterate_excerpts", with_an_empty_one)
    assert identify.fit(logged(1)).logs[0].reading.quantisation is not None


@pytest.mark.parametrize("maps", ["right", "inverse"])
def test_few_distinct_attitudes_are_not_quantisation(maps):
    """Nor are they where the attitude is read wrongly, so that much of the wrench is left."""
    turns = Rotation.create_group("O")
    body = InertialParameters.from_com(0.35, [0.01, -0.02, 0.09], 1e-3 * np.eye(3))
    log = still_poses(body.phi, turns)
    if maps == "inverse":
        log = replace(log, signals={**log.signals, "quaternion": turns.inv().as_quat()})
    found = identify.fit(log)
    assert "wrench_rounded" not in [finding.code for finding in found.findings]
    for finding in found.findings:  # what another reading promises
        if "gain" in finding.evidence:
            assert finding.evidence["mass"] == pytest.approx(0.35, rel=1e-3)

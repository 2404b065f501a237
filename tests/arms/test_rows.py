from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from identify.arms import ArmColumns, scan_arm, torque_errors
from identify.arms.model import arm_system
from identify.errors import LogError
from identify.logs import LogFile, open_log, read_log
from identify.logs.recording_parts import Stream
from tests.arms.simulated import (
    FRICTION,
    RATE_HZ,
    ROTORS,
    Motion,
    recording,
    simulate,
    torques,
    true_links,
)
from tests.close import assert_close


def true_unknowns(robot):
    return np.concatenate((true_links(robot).ravel(), ROTORS, FRICTION.ravel()))


def test_true_unknowns_leave_nothing_of_a_log_without_noise(robot):
    log = scan_arm(simulate(robot, 1), ArmColumns.of(robot))
    system = arm_system(log.statistics, log.columns, runs=(0,))
    errors = torque_errors(system, true_unknowns(robot))
    assert errors.total < 1e-6
    assert (errors.joints < 1e-6).all()


def test_factors_are_those_of_the_masked_samples_at_any_size_of_chunks(robot, monkeypatch):
    log, columns = simulate(robot, 2, seconds=20.0), ArmColumns.of(robot)
    expected = scan_arm(log, columns).statistics.total_factors[0]
    monkeypatch.setattr("identify.arms.rows._CHUNK_SAMPLES", 64)
    totals = scan_arm(log, columns).statistics.total_factors[0]
    products = totals.swapaxes(1, 2) @ totals
    assert_close(products, expected.swapaxes(1, 2) @ expected, 1e-12)


@pytest.fixture
def short_chunks(monkeypatch):
    """Chunks of 20 s, and files of more than 10 s read in chunks."""
    monkeypatch.setattr("identify.regressors.log_scan.CHUNK_ROWS", 2000)
    monkeypatch.setattr("identify.logs.log_file.MIN_ROWS_IN_CHUNKS", 1000)
    monkeypatch.setattr("identify.logs.log_file._HEAD_ROWS", 200)


def test_true_unknowns_leave_nothing_of_a_log_in_chunks(robot, short_chunks):
    log = simulate(robot, 6, seconds=90.0)
    gap = np.r_[:3000, 3100:9000]
    signals = {name: values[gap] for name, values in log.signals.items()}
    log = replace(log, time=log.time[gap], signals=signals, rows=len(gap))
    scanned = scan_arm(log, ArmColumns.of(robot))
    assert (
        torque_errors(
            arm_system(scanned.statistics, scanned.columns, runs=(0,)), true_unknowns(robot)
        ).total
        < 1e-6
    )
    lost = 4 * 60  # half windows at both ends and beside the gap
    assert len(gap) - lost < scanned.samples <= len(gap)
    assert (np.diff(scanned.time) > 0.0).all()
    assert scanned.duration == log.time[-1]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_in_a_file_is_scanned_as_in_memory(robot, short_chunks, tmp_path, suffix):
    path, schema = written(simulate(robot, 7, noise=0.1, seconds=90.0), tmp_path, suffix)
    log, whole = open_log(path, schema), read_log(path, schema)
    assert isinstance(log, LogFile)
    ours, theirs = (scan_arm(each, ArmColumns.of(robot)) for each in (log, whole))
    products, expected = (
        factors.swapaxes(-1, -2) @ factors
        for factors in (ours.statistics.factors, theirs.statistics.factors)
    )
    assert_close(products, expected, 1e-9)
    assert_close(ours.statistics.effective_samples, theirs.statistics.effective_samples, 1e-12)
    assert_close(ours.moving, theirs.moving, 1e-12)
    assert (ours.duration, ours.samples) == (theirs.duration, theirs.samples)
    assert (ours.recording.rows, ours.sha256) == (whole.rows, whole.sha256)


def test_a_file_without_effort_is_refused(robot, short_chunks, tmp_path):
    log = simulate(robot, 8, seconds=90.0)
    signals = {**log.signals, "effort": np.zeros_like(log.signals["effort"])}
    path, schema = written(replace(log, signals=signals), tmp_path, "csv")
    with pytest.raises(LogError, match=r"log\.csv: the effort of all joints is zero in all 9000"):
        scan_arm(open_log(path, schema), ArmColumns.of(robot))


def written(log, folder, suffix):
    """Path and schema of a log of joints as a file."""
    table = {"t": log.time} | {
        f"{word}{k}": values
        for word, name in (("q", "joint_position"), ("u", "effort"))
        for k, values in enumerate(log.signals[name].T)
    }
    frame, path = pd.DataFrame(table), folder / f"log.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    columns = {
        key: [f"{word}{k}" for k in range(3)] for key, word in (("position", "q"), ("effort", "u"))
    }
    joints = {"names": list(log.joint_axes.names), **columns}
    return path, {"log": {"time": "t"}, "joints": joints}


def test_time_at_rest_does_not_count(robot):
    # The motion slows down, rests for 4 s, and goes on; at rest the drives hold any torque.
    columns, time = ArmColumns.of(robot), np.arange(4000) / RATE_HZ
    slow = 1.0 - np.clip(1.6 - np.abs(time - 20.0) / 4.0, 0.0, 1.0) ** 2
    s = np.cumsum(slow) / RATE_HZ
    warped = Motion.along(3, s, slow, np.gradient(slow, 1.0 / RATE_HZ), time)
    effort = torques(robot, warped, true_links(robot))
    rest = slow == 0.0
    assert rest.sum() > 400
    logs = [recording(warped.time, warped.q, effort + 9.0 * rest[:, None] * k, "") for k in (0, 1)]
    free, held = (scan_arm(log, columns).statistics for log in logs)
    assert_close(held.total_factors, free.total_factors, 1e-12)


def test_log_in_which_nothing_moves_is_refused(robot):
    log = simulate(robot, 4)
    q, effort = log.signals["joint_position"], log.signals["effort"]
    held = recording(log.time, np.full_like(q, 0.3), effort, "held")
    with pytest.raises(LogError, match=r"than 0.02 rad/s anywhere, the fastest .* check `unit`"):
        scan_arm(held, ArmColumns.of(robot))


def test_log_without_effort_is_refused(robot):
    log = replace(simulate(robot, 4), signals={"joint_position": np.zeros((10, 3))}, name="angles")
    with pytest.raises(LogError, match=r"angles: has no effort; name its columns in \[joints\]"):
        scan_arm(log, ArmColumns.of(robot))


def test_effort_with_a_clock_of_its_own_gets_the_positions_at_its_times(robot):
    log, columns = simulate(robot, 5), ArmColumns.of(robot)
    at = slice(3, None, 2)
    q, effort = log.signals["joint_position"], log.signals["effort"]
    stream = Stream("torques", log.time[at], {"effort": effort[at]})
    apart = replace(log, signals={"joint_position": q}, streams=(stream,))
    scanned = scan_arm(apart, columns)
    assert_close(scanned.rate_hz, 50.0, 1e-6)
    system = arm_system(scanned.statistics, columns, runs=(0,))
    assert torque_errors(system, true_unknowns(robot)).total < 2e-5  # that of the resampling

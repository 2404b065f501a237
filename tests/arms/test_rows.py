from dataclasses import replace

import numpy as np
import pytest

from identify.arms import ArmColumns, scan_arm, torque_errors
from identify.arms.model import arm_system
from identify.errors import LogError
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

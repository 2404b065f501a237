"""Friction by load, Stribeck's and that of gears that warm up: where logs show it, else not."""

import numpy as np
import pytest

import identify
from identify.arms import JointDynamics
from identify.arms.arm_fit import scan_logs
from identify.arms.columns import FURTHER_OF_RUN
from identify.arms.further_friction import further_friction, lasting_friction
from identify.regressors import join_logs
from identify.reporting.arm_sections import friction_section, friction_table
from identify.reporting.content import terminal_lines
from identify.robots import inverse_dynamics
from tests.arms.simulated import LOAD, Motion, recording, torques

GEAR, STRIBECK, SLOW = 0.15, 1.2, 0.1


def friction_by_load(robot, motion, effort, rigid):
    return effort + GEAR * np.abs(rigid) * np.sign(motion.v) * np.array([0.0, 1.0, 1.0])


def stribeck(robot, motion, effort, rigid):
    rise = np.sign(motion.v) * np.exp(-((motion.v / SLOW) ** 2))
    return effort + STRIBECK * rise * np.array([0.0, 1.0, 0.0])


def warming(robot, motion, effort, rigid):
    cold = np.linspace(0.25, -0.25, len(effort))[:, None] * np.array([0.0, 0.0, 1.0])
    return effort + cold * (0.5 * motion.v + 0.4 * np.sign(motion.v))


def plain(robot, motion, effort, rigid):
    return effort


def log_of(robot, add, seed, load=None, noise=0.1, seconds=80.0):
    motion, links = Motion.random(seed, seconds), robot.phi * [[1.05], [0.95], [1.03]]
    effort = torques(robot, motion, links, load)
    no_friction = inverse_dynamics(robot, motion.q, motion.v, motion.a, links)
    effort = add(robot, motion, effort, no_friction)
    effort += noise * np.random.default_rng(seed).normal(size=effort.shape)
    return recording(motion.time, motion.q, effort, f"log {seed} {load is not None}")


@pytest.fixture(scope="module")
def fits(robot):
    return {
        add: identify.fit(log_of(robot, add, 1, seconds=400.0), robot=robot)
        for add in (plain, friction_by_load, stribeck, warming)
    }


def further_of(result):
    return {k: v for k, v in result.arm.scalars.items() if k.split(" ")[1] not in USUAL}


USUAL = ("rotor_inertia", "viscous", "coulomb", "offset")


@pytest.mark.parametrize(
    ("add", "values"),
    [
        (plain, {}),
        (friction_by_load, {"joint_1 load_friction": GEAR, "joint_2 load_friction": GEAR}),
        (stribeck, {"joint_1 stribeck_slow": STRIBECK}),
        (warming, {"joint_2 coulomb_change": -0.2, "joint_2 viscous_change": -0.25}),
    ],
)
def test_friction_is_found_where_it_is(fits, add, values):
    found = further_of(fits[add])
    assert set(found) == set(values)
    for name, (value, error) in found.items():
        assert abs(value - values[name]) < 4.0 * error


def test_a_change_is_said_and_drawn(fits):
    (finding,) = [each for each in fits[warming].findings if each.code == "friction_change"]
    assert "of joint_2 fell by" in finding.text
    assert "6.7 min" in finding.text
    assert not [each for each in fits[plain].findings if each.code == "friction_change"]
    blocks = friction_section(fits[warming], None).blocks
    assert len(blocks) == 3
    lines = "\n".join(terminal_lines(friction_table(fits[warming].arm)))
    assert "Coulomb, change" in lines
    assert "By load" not in lines


def test_exports_name_what_they_leave_out(fits):
    assert JointDynamics.of(fits[plain].arm).left_out == ()
    left_out = JointDynamics.of(fits[friction_by_load].arm).left_out
    assert left_out == ("joint_1 load_friction", "joint_2 load_friction")


def test_a_load_is_better_known_with_friction_by_load(robot, monkeypatch):
    logs = [log_of(robot, friction_by_load, seed, load) for seed, load in ((3, LOAD), (4, None))]

    def interval():
        fitted = identify.fit(logs[0], unloaded=logs[1], robot=robot, frame="tool")
        return fitted.estimate.intervals["m"]

    low, high = interval()
    assert low < LOAD.mass < high
    monkeypatch.setattr("identify.arms.payload_fit.further_friction", lambda *_: ())
    assert high - low < 0.7 * float(np.diff(interval())[0])


def test_right_logs_have_no_further_friction(robot):
    names = []
    for seed in range(10, 18):
        pair = [log_of(robot, plain, seed), log_of(robot, plain, 90 + seed, LOAD)]
        columns, logs = scan_logs(pair, robot, None)
        names += further_friction(columns, join_logs([log.statistics for log in logs]), (0, 1))
    assert names == []


def test_changes_do_not_last():
    names = ["a load_friction", *(f"a {kind} 1" for kind in FURTHER_OF_RUN)]
    assert lasting_friction(names) == ("a load_friction",)


@pytest.mark.parametrize("seed", [21, 22])
def test_torques_of_the_model_without_friction_are_commanded_ones(robot, seed):
    def codes(friction):
        motion = Motion.random(seed)
        commanded = inverse_dynamics(robot, motion.q, motion.v, motion.a, robot.phi)
        effort = commanded + friction * np.sign(motion.v)
        log = recording(motion.time, motion.q, np.roll(effort, -1, axis=0), f"log {seed}")
        return [finding.code for finding in identify.fit(log, robot=robot).findings]

    assert codes(friction=0.0)[0] == "effort_commanded"
    assert "effort_commanded" not in codes(friction=0.8)

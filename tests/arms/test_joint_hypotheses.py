"""Findings on logs of the small simulated arm: each fault is named first, a right log has none."""

import re
from dataclasses import replace

import numpy as np
import pytest

from identify.arms import TorqueScale
from identify.arms.findings import gain_findings, impossible_links
from identify.arms.gains import FittedGains
from identify.findings import Finding
from identify.logs import Recording
from identify.pipeline.hypotheses import findings_of
from identify.pipeline.joint_hypotheses import JointLogs, joint_hypotheses
from identify.robots import RobotModel
from tests.arms.simulated import JOINTS, LOAD, simulate

NOISE = 0.3


@pytest.fixture(scope="module")
def log(robot) -> Recording:
    return simulate(robot, 3, noise=NOISE)


def changed(
    log: Recording, *, position=1.0, effort=1.0, zero=0.0, order=(0, 1, 2), delay=0
) -> Recording:
    q = log.signals["joint_position"][:, order] * position + zero
    tau = np.roll(log.signals["effort"][:, order] * effort, delay, axis=0)
    signals = {"joint_position": q, "effort": tau}
    return replace(log, signals=signals)


def findings_on(*logs: Recording, robot: RobotModel, **options) -> list[Finding]:
    judged = JointLogs(logs=logs, robot=robot, **options)
    return [*findings_of(joint_hypotheses(judged)), *impossible_links(robot)]


def codes(*logs: Recording, robot: RobotModel, **options) -> list[str]:
    return [finding.code for finding in findings_on(*logs, robot=robot, **options)]


@pytest.mark.parametrize("seed", range(3))
def test_right_logs_have_no_finding(robot, seed):
    loaded = simulate(robot, seed, load=LOAD, noise=NOISE)
    empty = simulate(robot, seed + 10, noise=NOISE)
    assert codes(loaded, empty, robot=robot, loaded=1, frame="tool") == []


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ({"effort": np.array([1.0, -1.0, 1.0])}, "effort_sign", "joint_1"),
        ({"effort": np.array([-1.0, 1.0, 1.0])}, "effort_sign", "joint_0"),
        ({"effort": -1.0}, "effort_sign", "all joints"),
        ({"position": np.degrees(1.0)}, "joint_unit", "degrees"),
        ({"effort": 0.1}, "effort_scale", "joint_1"),
        ({"order": (0, 2, 1)}, "joint_order", "joint_1 and joint_2"),
        ({"order": (2, 1, 0)}, "joint_order", "joint_0 and joint_2"),
        ({"zero": np.array([0.0, -np.pi / 2, 0.0])}, "joint_zero", "joint_1 is +90"),
        ({"zero": np.array([0.0, 0.0, np.pi / 2])}, "joint_zero", "joint_2 is -90"),
        ({"delay": 10}, "effort_delay", "100 ms later"),
        ({"effort": np.array([1.0, 1.0, 0.0])}, "effort_constant", "joint_2"),
    ],
)
def test_a_fault_is_named_first_with_its_remedy(robot, log, change, code, word):
    first = findings_on(changed(log, **change), robot=robot)[0]
    assert first.code == code
    assert word in first.text
    assert "e+" not in first.text
    assert first.remedy
    assert first.where == log.name


@pytest.mark.parametrize("axis", ["+x", "-y", "+z"])
def test_base_on_a_wall_or_ceiling_is_seen_by_the_model_s_links(robot, log, axis):
    sign = 1.0 if axis[0] == "+" else -1.0
    wrong = replace(robot, gravity=9.81 * sign * np.eye(3)["xyz".index(axis[1])])
    (finding,) = findings_on(log, robot=wrong)
    assert finding.code == "gravity_direction"
    assert "along -z of the robot's base: the base is upright" in finding.text
    assert "gravity = [0, 0, -9.81]" in finding.remedy
    assert "--gravity 0 0 -9.81" in finding.remedy
    assert finding.evidence["after"] < 0.5 * finding.evidence["before"]


@pytest.mark.parametrize("joint", range(3))
@pytest.mark.parametrize("prismatic_in", ["model", "log"])
def test_joint_of_another_type_than_in_the_model_is_named(robot, log, joint, prismatic_in):
    other = with_other_type(robot, joint)
    if prismatic_in == "model":
        found, is_type = findings_on(log, robot=other), "revolute"
    else:
        found, is_type = findings_on(simulate(other, 3, noise=NOISE), robot=robot), "prismatic"
    assert found[0].code == "joint_type"
    assert f"joint_{joint} is {is_type}" in found[0].text
    assert f'type of joint_{joint} to "{is_type}"' in found[0].remedy


def with_other_type(robot: RobotModel, joint: int) -> RobotModel:
    tree = list(robot.tree)
    tree[joint] = replace(tree[joint], prismatic=not tree[joint].prismatic)
    return replace(robot, tree=tuple(tree))


def test_remedy_of_all_efforts_negated_holds_for_either_setting_of_the_schema(robot, log):
    first = findings_on(changed(log, effort=-1.0), robot=robot)[0]
    assert 'set `effort_acts_on = "motor"`' in first.remedy
    assert 'where it is "motor" already, write "joint" (the default)' in first.remedy


def test_two_faults_are_named_one_after_the_other(robot, log):
    wrong = changed(log, position=np.degrees(1.0), effort=np.array([1.0, -1.0, 1.0]))
    assert codes(wrong, robot=robot) == ["joint_unit", "effort_sign"]


def test_low_passed_torques_are_not_only_late(robot, log):
    effort = log.signals["effort"]
    filtered = effort.copy()
    for k in range(1, len(filtered)):  # first order, 80 ms
        filtered[k] = filtered[k - 1] + (effort[k] - filtered[k - 1]) * 0.01 / 0.08
    slow = replace(log, signals={**log.signals, "effort": filtered})
    (finding,) = findings_on(slow, robot=robot)
    assert finding.code == "effort_low_passed"
    assert 0.05 < finding.evidence["lag"] < 0.12
    assert finding.evidence["gain_at_8_hz"] < 0.5 < finding.evidence["gain_at_0.5_hz"]


def test_one_run_given_as_both_is_seen_by_its_rows(robot, log):
    part = slice(500, 3000)
    excerpt = replace(
        log,
        name="excerpt",
        time=log.time[part] - log.time[500],
        signals={name: values[part] for name, values in log.signals.items()},
    )
    assert codes(excerpt, log, robot=robot, loaded=1, frame="tool") == ["same_run"]


def test_impossible_link_of_the_model_is_named(robot, log):
    phi = robot.phi.copy()
    phi[1, 4] += phi[1, 7] + phi[1, 9]  # breaks the triangle inequality
    (finding,) = findings_on(log, robot=replace(robot, phi=phi))
    assert finding.code == "impossible_links"
    assert robot.links[1] in finding.text


def test_links_of_another_arm_are_told_from_a_wrong_log(robot, log):
    others = replace(robot, phi=robot.phi * 0.05)
    assert codes(log, robot=others)[0] in ("torque_unexplained", "effort_scale")


def test_joint_that_neither_links_nor_friction_explain_is_named(robot, log):
    effort = log.signals["effort"].copy()
    effort[:, 2] += 0.8 * effort[:, 2].std() * np.sin(2.0 * np.pi * 2.3 * log.time)
    signals = {**log.signals, "effort": effort}
    (finding,) = findings_on(replace(log, signals=signals), robot=robot)
    assert (finding.code, finding.severity) == ("torque_unexplained", "warning")
    assert re.search(r"some joints: \d\d % of that of joint_2\.$", finding.text)
    assert "[joints.motor]" in finding.remedy


def test_velocity_that_runs_against_the_position_is_named(robot, log):
    velocity = np.gradient(log.signals["joint_position"], log.time, axis=0)
    signals = {**log.signals, "joint_velocity": velocity}
    assert codes(replace(log, signals=signals), robot=robot) == codes(log, robot=robot)
    wrong = {**signals, "joint_velocity": velocity * [1.0, 1.0, -1.0]}
    (finding,) = findings_on(replace(log, signals=wrong), robot=robot)
    assert (finding.code, finding.severity) == ("joint_sign", "error")
    assert "velocity of joint_2 has the other sign" in finding.text
    assert finding.evidence["correlation"] < -0.9


def test_a_joint_that_does_not_move_is_not_judged(robot, log):
    position = log.signals["joint_position"].copy()
    position[:, 2] = 0.4
    signals = {**log.signals, "joint_position": position}
    model = replace(log, signals=signals)
    assert "joint_2" not in "".join(f.text for f in findings_on(model, robot=robot))


def test_sign_of_a_joint_that_its_gain_shows_is_said_as_one_that_is_read():
    scale = TorqueScale(np.array([1.0, -1.1, 1.0]), np.diag([0.02, 0.09, 0.02]) ** 2, "by links")
    (finding,) = gain_findings(FittedGains(scale, None, are_free=True), JOINTS)
    assert (finding.code, finding.severity) == ("effort_sign", "warning")
    assert "the effort of joint_1 has the other sign" in finding.text
    scale = replace(scale, gains=np.array([1.0, -1.1, 1.6]))
    (finding,) = gain_findings(FittedGains(scale, None, are_free=True), JOINTS)
    assert finding.code == "joint_gain"

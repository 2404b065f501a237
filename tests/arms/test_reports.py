"""Results and reports of fits of a small arm."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from identify.arms import fit_payload
from identify.findings import Finding
from identify.logs.recording_parts import DroppedRows
from identify.pipeline import payload_result
from identify.pipeline.arm_failures import raise_likeliest_fault
from identify.pipeline.misread_logs import MisreadLog
from identify.reporting.arm_page import payload_report_html
from identify.reporting.arm_torques import JointTorques, friction_columns, torque_columns
from identify.robots import FramePlacement, read_robot
from identify.spatial import Pose
from tests.arms.simulated import AXES, LOAD, arm_text, simulate
from tests.close import assert_close
from tests.reporting.page import Page

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def logs_of(robot, **changes):
    return tuple(
        replace(simulate(robot, seed, load=load, noise=0.1, seconds=25), **changes)
        for seed, load in ((1, LOAD), (2, None))
    )


@pytest.fixture(scope="module")
def fit(robot):
    return fit_payload(*logs_of(robot), robot=robot, frame="tool", friction="shared")


def test_result_is_about_the_frame_with_the_offsets_of_the_torques(fit, robot):
    logs = logs_of(robot, dropped=DroppedRows(not_finite=3))
    result = payload_result(fit, logs, needs="mass 20%, com 1mm", command="identify fit …")
    estimate = result.estimate
    assert (estimate.frames.name, estimate.frames.flange) == ("tool", None)
    assert estimate.log_ids == tuple(log.sha256 for log in logs)
    offsets = [fit.estimate.scalars[f"joint_{k} offset"][0] for k in range(3)]
    assert_close(estimate.biases, [offsets, offsets])
    assert not estimate.others
    assert result.verdict.needs == {"mass 20%": True, "com 1mm": False}
    assert result.verdict.usable == "no"
    codes = [finding.code for finding in result.findings]
    assert codes.count("rows_dropped") == 2
    assert estimate.dropped_rows == 6
    document = json.loads(json.dumps(result.to_dict()))
    assert document["estimate"]["provenance"]["command"] == "identify fit …"
    assert set(document["joints"]) == set(fit.estimate.scalars)


@pytest.mark.parametrize("link", ["link_1", "link_2"])
def test_flange_is_that_of_the_robot_where_the_load_is_on_its_link(fit, robot, link):
    X_TF = Pose(np.eye(3), np.array([0.0, 0.01, 0.2]))
    tool0 = FramePlacement(robot.frame(link).link, robot.frame("tool").X_LF @ X_TF)
    other = replace(robot, frames={**robot.frames, "tool0": tool0})
    flange = payload_result(replace(fit, robot=other), logs_of(robot)).estimate.frames.flange
    if link == "link_1":
        assert flange is None
    else:
        assert_close(flange.matrix, X_TF.matrix)


def test_negative_mass_is_explained_by_the_fault_of_the_logs_alone(robot):
    logs = [
        replace(log, signals={**log.signals, "effort": -log.signals["effort"]})
        for log in logs_of(robot)
    ]
    with (
        pytest.raises(
            MisreadLog, match=r"other sign.*\(As read: the .* mass .* a sign is wrong\)$"
        ),
        raise_likeliest_fault(logs, robot, loaded=1, frame="tool"),
    ):
        fit_payload(*logs, robot=robot, frame="tool")


def test_findings_of_the_reader_are_those_of_the_load(fit, robot):
    finding = Finding("counter_wrapped", "info", "the clock wrapped.")
    logs = logs_of(robot, findings=(finding,))
    found = payload_result(fit, logs).findings
    assert replace(finding, where=logs[0].name) in found


def test_samples_held_in_a_faster_log_are_named(fit, robot):
    slow = logs_of(robot)
    logs = [
        replace(
            log,
            time=np.arange(2 * len(log)) * (log.time[1] / 2.0),
            signals={name: np.repeat(values, 2, axis=0) for name, values in log.signals.items()},
            rows=2 * log.rows,
        )
        for log in slow
    ]
    codes = [finding.code for finding in payload_result(fit, logs).findings]
    assert codes.count("held_samples") == 2
    codes = [finding.code for finding in payload_result(fit, slow).findings]
    assert "held_samples" not in codes


def test_report_shows_a_joint_that_does_not_move(robot):
    logs = logs_of(robot, joints=replace(AXES, still_below=np.array([99.0, 0.02, 0.02])))
    fit = fit_payload(*logs, robot=robot, frame="tool")
    html = payload_report_html(payload_result(fit, logs), written=NOON)
    page = Page(html)
    assert ["joint_0", "–", "–"] in page.cells
    assert "at rest" in html
    assert not re.search(r"\bnan\b", html)


def test_report_of_shared_friction_has_one_row_a_joint(fit, robot):
    html = payload_report_html(payload_result(fit, logs_of(robot)), LOAD, written=NOON)
    page = Page(html)
    assert page.rows("joint_1")
    assert "Error against the reference body" in html
    assert html == payload_report_html(payload_result(fit, logs_of(robot)), LOAD, written=NOON)


def test_long_name_of_a_joint_makes_its_panel_higher(robot, tmp_path):
    name = "left_shoulder_pitch_joint"
    path = tmp_path / "arm.urdf"
    path.write_text(arm_text().replace('"joint_1"', f'"{name}"'))
    names = ("joint_0", name, "joint_2")
    logs = logs_of(robot, joints=replace(AXES, names=names))
    renamed = read_robot(path, joints=names, gravity=[0.0, 0.0, -9.81])
    fit = fit_payload(*logs, robot=renamed, frame="tool", interval="formula")
    torques = JointTorques.of(fit.logs, fit.solution, fit.loaded)
    for columns in (torque_columns(torques)[:1], friction_columns(torques)):
        short, long, other = (panel for column in columns for panel in column.panels)
        assert long.ylabel.startswith(name)
        assert long.height > 1.2 * short.height == 1.2 * other.height

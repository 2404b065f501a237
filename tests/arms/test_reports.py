"""Results and reports of fits of a small arm."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

import identify
from identify.errors import LogError, ModelError, ProblemError, SchemaError
from identify.findings import Finding
from identify.logs import synthetic_recording
from identify.logs.recording_parts import DroppedRows
from identify.pipeline import check_logs, load_result, saved_arm
from identify.pipeline.misread_error import MisreadLog
from identify.pipeline.saved_result import result_bytes, result_digest, result_texts
from identify.reporting import report_html
from identify.reporting.arm_torques import fitted_arm, friction_columns, torque_columns
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


def fit_load(logs, robot, **options):
    return identify.fit(logs[0], unloaded=logs[1], robot=robot, frame="tool", **options)


@pytest.fixture(scope="module")
def logs(robot):
    return logs_of(robot)


@pytest.fixture(scope="module")
def result(robot, logs):
    return fit_load(logs, robot, friction="shared", command="identify fit …")


@pytest.fixture(scope="module")
def arm(robot, logs):
    return identify.fit(logs[1], robot=robot, interval="formula")


def test_result_is_about_the_frame_with_the_offsets_of_the_torques(robot):
    logs = logs_of(robot, dropped=DroppedRows(not_finite=3))
    result = fit_load(logs, robot, friction="shared", needs="mass 20%, com 1mm")
    estimate, arm = result.estimate, fitted_arm(result)
    assert (estimate.frames.name, estimate.frames.flange) == ("tool", None)
    assert [bias.sha256 for bias in estimate.bias] == [log.sha256 for log in logs]
    offsets = [arm.scalars[f"joint_{k} offset"][0] for k in range(3)]
    assert_close(estimate.biases, [offsets, offsets])
    assert not estimate.others
    assert result.verdict.needs == {"mass 20%": True, "com 1mm": False}
    assert result.verdict.usable == "no"
    codes = [finding.code for finding in result.findings]
    assert codes.count("rows_dropped") == 2
    assert estimate.dropped_rows == 6


def test_result_as_plain_data_has_logs_errors_and_friction(result, logs):
    document = json.loads(json.dumps(result.to_dict()))
    provenance = document["estimate"]["provenance"]
    assert provenance["command"] == "identify fit …"
    assert provenance["options"]["friction"] == "shared"
    assert [log["loaded"] for log in provenance["logs"]] == [True, False]
    assert [log["sha256"] for log in document["logs"]] == [log.sha256 for log in logs]
    assert set(document["joints"]) == set(fitted_arm(result).scalars)
    assert set(document["torque_errors"]["first half"]) == {"total", *robot_joints(result)}


def robot_joints(result):
    return fitted_arm(result).joints


@pytest.mark.parametrize("link", ["link_1", "link_2"])
def test_flange_is_that_of_the_robot_where_the_load_is_on_its_link(robot, logs, link):
    X_TF = Pose(np.eye(3), np.array([0.0, 0.01, 0.2]))
    tool0 = FramePlacement(robot.frame(link).link, robot.frame("tool").X_LF @ X_TF)
    other = replace(robot, frames={**robot.frames, "tool0": tool0})
    flange = fit_load(logs, other, interval="formula").estimate.frames.flange
    if link == "link_1":
        assert flange is None
    else:
        assert_close(flange.matrix, X_TF.matrix)


def test_negative_mass_is_explained_by_the_fault_of_the_logs_alone(robot, logs):
    reversed_efforts = [
        replace(log, signals={**log.signals, "effort": -log.signals["effort"]}) for log in logs
    ]
    with pytest.raises(
        MisreadLog, match=r"other sign.*\(As read: the .* mass .* not those of its weight\)$"
    ):
        fit_load(reversed_efforts, robot)
    check = check_logs(
        reversed_efforts[0],
        unloaded=reversed_efforts[1],
        robot=robot,
        frame="tool",
    )
    assert not check.passed
    assert [finding.code for finding in check.findings] == ["effort_sign"]


def test_findings_of_the_reader_are_those_of_the_load(robot):
    finding = Finding("counter_wrapped", "info", "the clock wrapped.")
    logs = logs_of(robot, findings=(finding,))
    found = fit_load(logs, robot, interval="formula").findings
    assert replace(finding, where=logs[0].name) in found


def test_samples_held_in_a_faster_log_are_named(result, robot, logs):
    held = [
        replace(
            log,
            time=np.arange(2 * len(log)) * (log.time[1] / 2.0),
            signals={name: np.repeat(values, 2, axis=0) for name, values in log.signals.items()},
            rows=2 * log.rows,
            sha256=log.sha256[::-1],
        )
        for log in logs
    ]
    codes = [finding.code for finding in fit_load(held, robot, interval="formula").findings]
    assert codes.count("held_samples") == 2
    assert "held_samples" not in [finding.code for finding in result.findings]


def test_report_shows_a_joint_that_does_not_move(robot):
    logs = logs_of(robot, joints=replace(AXES, still_below=np.array([99.0, 0.02, 0.02])))
    html = report_html(fit_load(logs, robot, interval="formula"), written=NOON)
    page = Page(html)
    assert ["joint_0", "–", "–"] in page.cells
    assert "at rest" in html
    assert not re.search(r"\bnan\b", html)


def test_report_of_shared_friction_has_one_row_a_joint(result):
    html = report_html(result, LOAD, written=NOON)
    assert Page(html).rows("joint_1")
    assert "Error against the reference body" in html
    assert html == report_html(result, LOAD, written=NOON)


@pytest.mark.parametrize("of", ["load", "arm"])
def test_report_is_rebuilt_without_the_logs(request, tmp_path, of):
    result = request.getfixturevalue({"load": "result", "arm": "arm"}[of])
    for name, text in result_texts(result).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "result.npz").write_bytes(result_bytes(result))
    loaded, truth = load_result(tmp_path)
    assert truth is None
    assert result_digest(loaded) == result_digest(result)
    assert report_html(loaded, written=NOON) == report_html(result, written=NOON)
    assert json.dumps(loaded.to_dict()) == json.dumps(result.to_dict())
    if of == "arm":
        with pytest.raises(ProblemError, match="only a fit of an arm from its logs"):
            saved_arm(loaded)


def test_options_of_another_sensor_or_without_a_load_are_named(robot, logs):
    load = {"robot": robot, "frame": "tool", "unloaded": logs[1]}
    with pytest.raises(SchemaError, match=r"bias, bounds do not apply to logs of the joints"):
        identify.fit(logs[0], bias="none", bounds=True, **load)
    with pytest.raises(SchemaError, match=r"a known load: given for a load, so give the link"):
        identify.fit(logs[0], robot=robot, known_load=1.0)
    with pytest.raises(SchemaError, match=r"need the model of the arm \(--robot ARM.urdf"):
        identify.fit(logs[0])
    with pytest.raises(SchemaError, match=r"held_out\) score a fit of the arm itself"):
        identify.fit(logs[0], held_out=[logs[1]], **load)
    with pytest.raises(ProblemError, match=r"plot.wrench shows logs of a wrench"):
        identify.plot.wrench(identify.fit(logs[0], interval="formula", **load))


def test_arm_is_that_of_an_earlier_result(robot, logs, arm):
    loads = [
        identify.fit(logs[0], robot=robot, frame="tool", arm=each, interval="formula")
        for each in (arm, saved_arm(arm))
    ]
    assert_close(loads[0].estimate.parameters.phi, loads[1].estimate.parameters.phi)
    with pytest.raises(SchemaError, match=r"expected the result of a fit of the arm .* got dict"):
        identify.fit(logs[0], robot=robot, frame="tool", arm={})
    with pytest.raises(SchemaError, match='friction: expected "own" or "shared", got \'sharde\''):
        identify.fit(logs[0], robot=robot, friction="sharde")
    with pytest.raises(ModelError, match="no offset of a wrench sensor; give offset="):
        identify.Compensator(loads[0].estimate)
    assert repr(arm).startswith("Result(links link_0, link_1, link_2; ")
    assert "\nlink_1: " in str(arm).replace("\n\n", "\n")


def test_logs_of_two_sensors_are_named(robot, logs):
    wrench = synthetic_recording(LOAD.phi, rng=np.random.default_rng(1), duration=5.0)
    with pytest.raises(LogError, match=r"is of the joints of an arm and .* is of a wrench sensor"):
        identify.fit([logs[0], wrench], robot=robot)
    with pytest.raises(SchemaError, match=r"robot, frame do not apply to logs of a wrench sensor"):
        identify.fit(wrench, robot=robot, frame="tool")


def test_long_name_of_a_joint_makes_its_panel_higher(robot, tmp_path):
    name = "left_shoulder_pitch_joint"
    path = tmp_path / "arm.urdf"
    path.write_text(arm_text().replace('"joint_1"', f'"{name}"'))
    names = ("joint_0", name, "joint_2")
    logs = logs_of(robot, joints=replace(AXES, names=names))
    renamed = read_robot(path, joints=names, gravity=[0.0, 0.0, -9.81])
    arm = fitted_arm(fit_load(logs, renamed, interval="formula"))
    for columns in (torque_columns(arm)[:2], friction_columns(arm)):
        assert [len(column.panels) for column in columns] == [2, 1]
        short, long, other = (panel for column in columns for panel in column.panels)
        assert long.ylabel.startswith(name)
        assert long.height > 1.2 * short.height == 1.2 * other.height

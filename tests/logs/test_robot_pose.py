"""Logs whose pose comes from the joint positions of a robot: `robot` and `frame` in `[pose]`."""

import sys
from pathlib import Path

import numpy as np
import pytest

from identify import fit
from identify.commands.fit_each import BatchFitSettings
from identify.errors import MissingExtra, MissingFile, ModelError, SchemaError
from identify.logs import load_schema, read_log
from identify.logs.log_file import MIN_ROWS_IN_CHUNKS, open_log
from identify.logs.patch import patched
from identify.pipeline import FitSettings, check_logs
from identify.regressors import newton_euler_wrench
from identify.reporting.page import report_html
from identify.robots import frame_motion, frame_pose, read_robot
from identify.spatial import quaternion_from_rotation
from identify.studies.sources import SOURCES
from tests.close import assert_close
from tests.robots.arms import wrist_text

NAMES = ["pan", "lift", "roll"]
BODY = [2.0, 0.02, -0.03, 0.16, 0.03, 0.001, -0.002, 0.028, 0.003, 0.01]
RATE = 100.0

SCHEMA = """
[log]
time = "t"
[joints]
names = ["pan", "lift", "roll"]
position = ["q0", "q1", "q2"]
unit = "deg"
[pose]
robot = "models/arm.urdf"
frame = "tool0"
[wrench]
force = ["fx", "fy", "fz"]
torque = ["tx", "ty", "tz"]
frame = "body"
acts_on = "body"
"""


@pytest.fixture
def folder(tmp_path, pinocchio):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "arm.urdf").write_text(wrist_text())
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def joint_motion(t):
    """Positions, velocities and accelerations of the three joints, shape (n, 3)."""
    q = v = a = 0.0
    for k, size in ((1, 0.5), (2, 0.3), (3, 0.2)):
        rate = k * np.array([1.1, 1.7, 2.3])
        angle = rate * t[:, None] + k * np.array([0.3, 1.0, 2.0])
        q = q + size * np.sin(angle)
        v = v + size * rate * np.cos(angle)
        a = a - size * rate**2 * np.sin(angle)
    return q, v, a


def columns(folder, count=2000):
    """Joint positions in degrees with the wrench on `BODY`, which moves with tool0."""
    t = np.arange(count) / RATE
    robot = read_robot(folder / "models" / "arm.urdf", NAMES)
    q, v, a = joint_motion(t)
    w = newton_euler_wrench(BODY, frame_motion(robot, "tool0", q, v, a))
    X = frame_pose(robot, "tool0", q)
    table = {"t": t}
    table |= {f"q{k}": np.degrees(q[:, k]) for k in range(3)}
    table |= {name: w[:, k] for k, name in enumerate(("fx", "fy", "fz", "tx", "ty", "tz"))}
    table |= {f"p{k}": X.position[:, k] for k in range(3)}
    quaternion = quaternion_from_rotation(X.rotation)
    return table | {f"o{k}": quaternion[:, k] for k in range(4)}


def write_csv(path, table):
    rows = np.stack(list(table.values()), axis=-1)
    np.savetxt(path, rows, delimiter=",", header=",".join(table), comments="", fmt="%.12g")
    return path


def test_fit_by_joints_is_that_of_the_logged_pose(folder):
    table = columns(folder)
    by_joints = read_log(table, folder / "schema.toml")
    given = {
        "log": {"time": "t"},
        "pose": {"position": "p", "quaternion": "o"},
        "wrench": load_schema(folder / "schema.toml").wrench.model_dump(exclude_unset=True),
    }
    logged = read_log(table, given)
    for name in ("position", "quaternion", "force", "torque"):
        assert_close(by_joints.signals[name], logged.signals[name], 1e-12)
    estimate = fit(by_joints).estimate
    assert_close(estimate.parameters.phi, fit(logged).estimate.parameters.phi, 1e-6)
    assert_close(estimate.parameters.phi, BODY, 1e-3)
    assert estimate.frames.name == "tool0"


def test_joints_that_the_log_lacks_are_named(folder):
    log = read_log(columns(folder, 50), folder / "schema.toml")
    (finding,) = [each for each in log.findings if each.code == "robot_pose"]
    assert finding.severity == "info"
    assert "is that of tool0 of arm.urdf (sha256 " in finding.text
    assert finding.text.endswith("are kept fixed: finger at 0.01.")
    assert log.body_frame.name == "tool0"


def test_degrees_read_as_radians_are_beyond_the_limits_of_the_joints(folder):
    table, schema = columns(folder, 200), folder / "schema.toml"
    assert [each.code for each in read_log(table, schema).findings] == ["robot_pose"]
    schema.write_text(SCHEMA.replace('unit = "deg"\n', ""))
    finding, _ = read_log(table, schema).findings
    assert (finding.code, finding.severity) == ("angle_unit", "error")
    assert "rad, and its limit in the robot's model is 2.5; the positions" in finding.text
    assert finding.remedy.endswith('[joints], set `unit = "deg"`.')


def test_robot_is_recorded_as_the_schema_has_it(folder):
    path = write_csv(folder / "log.csv", columns(folder, 500))
    result = fit(read_log(path, folder / "schema.toml"))
    (record,) = result.estimate.provenance["logs"]
    assert record["schema"]["pose"]["robot"] == "models/arm.urdf"
    assert str(folder) not in report_html(result)


@pytest.mark.parametrize(
    ("before", "after", "code", "remedy"),
    [
        pytest.param(
            *('"q0", "q1"', '"q1", "q0"', "joint_order", 'set `position = ["q0", "q1", "q2"]`.'),
            marks=pytest.mark.slow,
        ),
        ('"q2"]', '"-q2"]', "joint_sign", 'set `position = ["q0", "q1", "q2"]`.'),
        ('unit = "deg"', "", "angle_unit", 'set `unit = "deg"`.'),
    ],
)
def test_wrong_joints_are_named(folder, before, after, code, remedy):
    table, schema = columns(folder, 1000), folder / "schema.toml"
    if code == "angle_unit":  # so slow that no limit of a joint is passed
        table |= {name: 0.05 * table[name] for name in ("q0", "q1", "q2")}
        q, v, a = (0.05 * each for each in joint_motion(table["t"]))
        robot = read_robot(folder / "models" / "arm.urdf", NAMES)
        w = newton_euler_wrench(BODY, frame_motion(robot, "tool0", q, v, a))
        table |= {n: w[:, k] for k, n in enumerate(("fx", "fy", "fz", "tx", "ty", "tz"))}
    rng = np.random.default_rng(0)
    for name in ("fx", "fy", "fz", "tx", "ty", "tz"):
        table[name] = table[name] + rng.normal(scale=5e-2 if name[0] == "f" else 3e-3, size=1000)
    assert before in SCHEMA
    schema.write_text(SCHEMA.replace(before, after))
    read = read_log(table, schema)
    check = check_logs([read])
    finding = next(iter(check.findings))
    assert (finding.code, finding.severity) == (code, "error")
    assert finding.remedy.endswith(remedy)
    schema.write_text(SCHEMA)
    right = read_log(table, schema)
    patch = {"joints.position": ["q0", "q1", "q2"], "joints.unit": "deg"}
    again = patched(read, patch)
    for signal in ("position", "quaternion"):
        assert_close(again.signals[signal], right.signals[signal], 1e-12)


def test_path_of_the_robot_is_relative_to_the_schema(folder, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    path = write_csv(folder / "log.csv", columns(folder, 50))
    log = read_log(path, folder / "schema.toml")
    again = read_log(path, log.schema)
    assert Path(log.schema["pose"]["robot"]) == folder / "models" / "arm.urdf"
    assert_close(again.signals["position"], log.signals["position"], 0.0)


def test_robot_that_changed_is_read_again(folder):
    table, path = columns(folder, 50), folder / "models" / "arm.urdf"
    before = read_log(table, folder / "schema.toml")
    path.write_text(wrist_text().replace('xyz="0 0 0.1"', 'xyz="0 0 0.2"'))
    after = read_log(table, folder / "schema.toml")
    moved = np.linalg.norm(after.signals["position"] - before.signals["position"], axis=1)
    assert_close(moved, np.full(50, 0.1), 1e-12)


def test_still_poses_of_a_robot_are_read(folder):
    still = SCHEMA.replace('time = "t"', "still = true")
    (folder / "schema.toml").write_text(still)
    table = columns(folder, 60)
    log = read_log(table, folder / "schema.toml")
    assert log.still
    assert_close(log.signals["position"][:, 2], table["p2"], 1e-12)


def test_long_log_is_read_in_chunks(folder):
    table = columns(folder, 2000)
    long = {name: np.resize(values, MIN_ROWS_IN_CHUNKS + 10) for name, values in table.items()}
    long["t"] = np.arange(MIN_ROWS_IN_CHUNKS + 10) / RATE
    pandas = pytest.importorskip("pandas")
    path = folder / "long.parquet"
    pandas.DataFrame(long).to_parquet(path)
    opened = open_log(path, folder / "schema.toml")
    assert not hasattr(opened, "signals")
    part = opened.reader()(100_000, 100_100, 5).recording
    assert_close(part.signals["position"][:, 0], long["p0"][99_995:100_105], 1e-10)


def test_joint_states_and_wrench_of_a_bag_have_clocks_of_their_own(folder):
    pytest.importorskip("rosbags")
    pytest.importorskip("h5py")
    from tests.logs.containers import Bag

    start, table = 1_700_000_000_000_000_000, columns(folder, 300)
    with Bag(folder / "bag", "mcap") as bag:
        for k, t in enumerate(table["t"]):
            ns = start + round(1e9 * t)
            q = np.radians([table[f"q{j}"][k] for j in range(3)])
            w = [table[name][k] for name in ("fx", "fy", "fz", "tx", "ty", "tz")]
            # The fingers come first, and the arm's joints in another order.
            bag.joints(
                "/joint_states",
                ns,
                ["finger", "roll", "pan", "lift"],
                [0.02, *q[[2, 0, 1]]],
                [],
                [],
            )
            bag.wrench("/wrench", ns + 3_000_000, w[:3], w[3:])
    schema = {
        "log": {"time": "header.stamp"},
        "streams": {"joints": {"topic": "/joint_states"}, "wrench": {"topic": "/wrench"}},
        "joints": {"names": NAMES, "position": "position[names]"},
        "pose": {"robot": str(folder / "models" / "arm.urdf"), "frame": "tool0"},
        "wrench": {
            "force": [f"wrench.force.{axis}" for axis in "xyz"],
            "torque": [f"wrench.torque.{axis}" for axis in "xyz"],
            "frame": "body",
            "acts_on": "body",
        },
    }
    log = read_log(folder / "bag", schema)
    (pose,) = log.streams
    assert pose.name == "pose"
    assert_close(pose.signals["position"][:, 1], table["p1"], 1e-12)
    assert_close(log.signals["force"][:, 1], table["fy"], 1e-12)
    assert_close(log.time[0] - pose.time[0], 3e-3, 1e-6)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('frame = "tool0"\n', "", r"schema.toml: \[pose\] frame: missing: give both"),
        ('robot = "models/arm.urdf"\n', "", r"\[pose\] .*exactly one of .*robot, got none"),
        (
            'frame = "tool0"',
            'frame = "tool0"\nmaps = "body_to_world"',
            r"maps: with robot, the pose",
        ),
        ('frame = "tool0"', 'frame = "tool0"\neuler = ["a"]', r"exactly one of .*euler and robot"),
        (
            SCHEMA[SCHEMA.index("[pose]") : SCHEMA.index("[wrench]")],
            "",
            r'give \[pose\] with robot = "arm.urdf" and frame = "tool0", or',
        ),
        ('robot = "models/arm.urdf"', "robot = 3", r"\[pose\] robot: "),
        ('robot = "models/arm.urdf"', 'robot = ""', r"\[pose\] robot: "),
        (
            SCHEMA[SCHEMA.index("[joints]") : SCHEMA.index("[pose]")],
            "",
            r"\[pose\] robot needs \[joints\] with names and position",
        ),
    ],
)
def test_schema_that_contradicts_itself_is_refused(folder, before, after, message):
    assert before in SCHEMA
    (folder / "schema.toml").write_text(SCHEMA.replace(before, after))
    with pytest.raises(SchemaError, match=message):
        load_schema(folder / "schema.toml")


@pytest.mark.parametrize(
    ("before", "after", "error", "message"),
    [
        ("arm.urdf", "ram.urdf", MissingFile, r"models/ram.urdf"),
        ('"tool0"', '"tool_0"', ModelError, r"no frame of .*'tool_0'.*did you mean 'tool0'\?"),
        ('"tool0"', '"base"', ModelError, r"no joint of the log moves the frame 'base'.*tool0"),
        ('"roll"]', '"rol"]', ModelError, r"no moving joint 'rol'; .*did you mean 'roll'\?"),
    ],
)
def test_robot_of_other_joints_or_frames_is_refused(folder, before, after, error, message):
    table = columns(folder, 50)
    (folder / "schema.toml").write_text(SCHEMA.replace(before, after))
    with pytest.raises(error, match=message):
        read_log(table, folder / "schema.toml")


def test_pose_by_joints_needs_the_extra(folder, monkeypatch):
    table = columns(folder, 50)
    path = folder / "models" / "arm.urdf"
    path.write_text(wrist_text() + "\n")  # not the one that was read already
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(MissingExtra, match=r"pip install 'inertia-identify\[robots\]'"):
        read_log(table, folder / "schema.toml")


def test_log_of_a_study_depends_on_the_robot(folder):
    write_csv(folder / "log.csv", columns(folder, 50))
    source = SOURCES["files"].model_validate({"pattern": "log.csv", "schema": "schema.toml"})
    (before,) = source.logs(folder, 0)
    (again,) = source.logs(folder, 0)
    (folder / "models" / "arm.urdf").write_text(wrist_text() + "\n")
    (after,) = source.logs(folder, 0)
    assert before.identity_digest == again.identity_digest != after.identity_digest


def test_fits_of_a_folder_depend_on_the_robot(folder):
    schema = load_schema(folder / "schema.toml")
    batch = BatchFitSettings(
        schema, "wrench", FitSettings(), None, folder, report=False, invocation=""
    )
    before = batch.key()
    assert batch.key() == before
    (folder / "models" / "arm.urdf").write_text(wrist_text() + "\n")
    assert batch.key() != before

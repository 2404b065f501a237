"""Joint states in bags, and drafts of `[joints]`."""

import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from identify.commands.main import main
from identify.errors import LogError, MissingColumn, MissingFile
from identify.logs import load_schema, read_log
from identify.logs.draft_schema import draft_schema
from identify.robots import read_robot
from tests.close import assert_close

pytest.importorskip("rosbags")
pytest.importorskip("h5py")
from tests.logs.containers import Bag

ARMS = Path(__file__).parents[2] / "datasets" / "arms"
NAMES = ["shoulder", "elbow", "wrist"]
START = 1_700_000_000_123_456_789
TIME = np.arange(60) / 100.0
Q = 0.4 * np.sin(TIME[:, None] * [3.0, 5.0, 7.0] + [0.1, 0.2, 0.3])
V = 0.4 * np.array([3.0, 5.0, 7.0]) * np.cos(TIME[:, None] * [3.0, 5.0, 7.0] + [0.1, 0.2, 0.3])
TAU = 10.0 * np.cos(TIME[:, None] * [2.0, 4.0, 6.0])
SCHEMA = {
    "log": {"time": "header.stamp"},
    "joints": {
        "names": NAMES,
        "position": "position[names]",
        "velocity": "velocity[names]",
        "effort": "effort[names]",
    },
}


def write_states(path, kind="mcap", *, shuffled=False, gripper=False, effort=True):
    """A bag of `/joint_states`; the messages of a gripper on the same topic come first."""
    rng = np.random.default_rng(3)
    with Bag(path, kind) as bag:
        for k, seconds in enumerate(TIME):
            ns = START + round(1e9 * seconds)
            order = rng.permutation(3).tolist() if shuffled else [0, 1, 2]
            if gripper:
                bag.joints("/joint_states", ns - 3_000_000, ["finger"], [0.01], [0.0], [1.0])
            names = [NAMES[j] for j in order]
            efforts = TAU[k, order] if effort else []
            bag.joints("/joint_states", ns, names, Q[k, order], V[k, order], efforts)
    return path


@pytest.mark.parametrize("kind", ["ros1", "mcap", "sqlite"])
@pytest.mark.parametrize("others", [{}, {"shuffled": True}, {"gripper": True, "shuffled": True}])
def test_joint_states_are_read_by_name_in_any_order(tmp_path, kind, others):
    path = write_states(tmp_path / ("a.bag" if kind == "ros1" else "a"), kind, **others)
    log = read_log(path, SCHEMA)
    assert_close(log.time, TIME, rtol=1e-8)
    np.testing.assert_array_equal(log.signals["joint_position"], Q)
    np.testing.assert_array_equal(log.signals["joint_velocity"], V)
    np.testing.assert_array_equal(log.signals["effort"], TAU)
    assert log.rows == 60
    assert log.dropped.total == 0


def test_an_unknown_joint_names_the_nearest(tmp_path):
    path = write_states(tmp_path / "a", gripper=True)
    joints = {**SCHEMA["joints"], "names": ["shoulder", "elbow", "wirst"]}
    expected = r"/joint_states.*'position\[wirst\]'.*did you mean 'position\[wrist\]'"
    with pytest.raises(MissingColumn, match=expected):
        read_log(path, SCHEMA | {"joints": joints})


def test_joint_states_without_efforts_lack_the_column(tmp_path):
    path = write_states(tmp_path / "a", effort=False)
    with pytest.raises(MissingColumn, match=r"no column 'effort\[shoulder\]'"):
        read_log(path, SCHEMA)


def test_a_message_without_the_efforts_of_the_first_is_named(tmp_path):
    with Bag(tmp_path / "a", "mcap") as bag:
        bag.joints("/joint_states", START, NAMES, Q[0], V[0], TAU[0])
        bag.joints("/joint_states", START + 10_000_000, NAMES, Q[1], V[1], [])
    with pytest.raises(LogError, match=r"message 1: has not all of .*effort\[shoulder\]"):
        read_log(tmp_path / "a", SCHEMA)


def test_joint_states_are_drafted_with_their_names(tmp_path):
    path = write_states(tmp_path / "a", gripper=True)
    draft = draft_schema(path)
    assert draft.missing_signals == ()
    made = tmp_path / "s.toml"
    made.write_text(draft.text)
    log = read_log(path, made)
    assert log.joints.names == tuple(NAMES)
    np.testing.assert_array_equal(log.signals["effort"], TAU)
    assert 'topic = "/joint_states"' in draft.text


def test_joint_states_beside_a_wrench_are_streams_of_their_own(tmp_path):
    with Bag(tmp_path / "a", "mcap") as bag:
        for k, seconds in enumerate(TIME):
            ns = START + round(1e9 * seconds)
            bag.pose("/pose", ns, Q[k], [0.0, 0.0, 0.0, 1.0])
            bag.wrench("/ft", ns, Q[k], V[k])
            bag.joints("/joint_states", ns, NAMES, Q[k], V[k], TAU[k])
    draft = draft_schema(tmp_path / "a")
    schema = load_schema(tomllib.loads(draft.text))
    assert set(schema.groups) == {"pose", "wrench"}
    np.testing.assert_array_equal(read_log(tmp_path / "a", schema, "joints").signals["effort"], TAU)


def test_joint_states_give_the_pose_of_a_wrench(tmp_path):
    """The usual bag: the draft names a model, and is read with that of the robot beside it."""
    pytest.importorskip("pinocchio")
    names = [f"joint{k}" for k in range(1, 7)]
    with Bag(tmp_path / "a", "mcap") as bag:
        for k, seconds in enumerate(TIME):
            ns = START + round(1e9 * seconds)
            bag.wrench("/ft", ns, Q[k], V[k])
            bag.joints("/joint_states", ns, names, [*Q[k], *V[k]], [], [])
    draft = draft_schema(tmp_path / "a")
    assert draft.missing_signals == ()
    made = tmp_path / "s.toml"
    made.write_text(draft.text)
    with pytest.raises(MissingFile, match=r"arm\.urdf"):
        read_log(tmp_path / "a", made)
    shutil.copy(ARMS / "six_axes" / "arm.urdf", tmp_path / "arm.urdf")
    log = read_log(tmp_path / "a", made)
    assert {"position", "quaternion", "force"} <= set(log.signals)
    assert log.body_frame.name == "tool0"


def columns_of(*arrays, rows=60):
    """Arrays of a count of columns each, named `NAME_0`, …, that move without a pattern."""
    rng = np.random.default_rng(4)
    names = [f"{name}_{k}" for name, count in arrays for k in range(count)]
    return {"time": np.arange(rows) / 100.0, **{n: 0.3 * rng.normal(size=rows) for n in names}}


def draft_of(tmp_path, columns):
    rows = np.column_stack(list(columns.values()))
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, "%.17g", ",", header=",".join(columns), comments="")
    return path, draft_schema(path)


def test_a_record_of_libfranka_is_drafted(tmp_path):
    columns = columns_of(("q", 7), ("dq", 7), ("tau_J", 7), ("tau_J_d", 7), ("O_T_EE", 16))
    path, draft = draft_of(tmp_path, columns)
    assert draft.missing_signals == ()
    log = read_log(path, tomllib.loads(draft.text))
    assert log.joints.names == tuple(f"panda_joint{k}" for k in range(1, 8))
    for signal, array in (
        ("joint_position", "q"),
        ("joint_velocity", "dq"),
        ("effort", "tau_J"),
    ):
        expected = np.column_stack([columns[f"{array}_{k}"] for k in range(7)])
        np.testing.assert_array_equal(log.signals[signal], expected)


KUKA_AND_ABB = {
    "AIPos.A": ("GearTorque.A", "", 6),
    "AIPos_A": ("GearTorque_A", "", 6),
    "$AXIS_ACT.A": ("$TORQUE_AXIS_ACT[", "]", 6),
    "$AXIS_ACT_MEAS.A": ("TORQUE_AXIS_ACT_", "", 6),
    "mp": ("mt", "", 7),
    "measured_joint_position_": ("measured_torque_", "", 7),
    "J": ("torque_", "", 6),
}


@pytest.mark.parametrize("position", KUKA_AND_ABB)
def test_joints_of_kuka_and_abb_are_drafted(tmp_path, position):
    effort, end, count = KUKA_AND_ABB[position]
    rng, numbers = np.random.default_rng(1), range(1, count + 1)
    degrees = position.startswith(("AIPos", "$", "J"))
    turn = 40.0 if degrees else 0.4
    columns = {"time": np.arange(60) / 100.0}
    columns |= {f"{position}{k}": turn * rng.normal(size=60) for k in numbers}
    columns |= {f"{effort}{k}{end}": rng.normal(size=60) for k in numbers}
    columns |= {f"RIst.{axis}": rng.normal(size=60) for axis in "XYZABC"}
    path, draft = draft_of(tmp_path, columns)
    assert draft.missing_signals == ()
    log = read_log(path, tomllib.loads(draft.text))
    expected = np.column_stack([columns[f"{position}{k}"] for k in numbers])
    q = log.signals["joint_position"]
    assert_close(np.cos(q), np.cos(np.radians(expected) if degrees else expected))
    np.testing.assert_array_equal(log.signals["effort"][:, 1], columns[f"{effort}2{end}"])


def test_names_of_joints_are_those_of_the_model(tmp_path, capsys):
    pytest.importorskip("pinocchio")
    path, _ = draft_of(tmp_path, columns_of(("q", 6), ("tau", 6)))
    (tmp_path / "models").mkdir()
    shutil.copy(ARMS / "seven_axes" / "arm.urdf", tmp_path / "models" / "seven.urdf")
    shutil.copy(ARMS / "six_axes" / "arm.urdf", tmp_path / "models" / "arm.urdf")
    made = tmp_path / "s.toml"
    command = ["init", str(path), "-o", str(made), "--yes", "--robot"]
    # 3: written, but efforts that are noise give no estimate
    assert main([*command, str(tmp_path / "models" / "arm.urdf")]) == 3
    assert load_schema(made).joints.names == tuple(f"joint{k}" for k in range(1, 7))
    assert "the names of arm.urdf, in this order" in made.read_text()
    made.unlink()
    draft_of(tmp_path, columns_of(("q", 8), ("tau", 8)))
    assert main([*command, str(tmp_path / "models" / "seven.urdf")]) == 2
    assert "the log has 8 joints without names" in capsys.readouterr().err


def test_model_of_a_pose_is_named_relative_to_the_schema(tmp_path):
    pytest.importorskip("pinocchio")
    path, _ = draft_of(tmp_path, columns_of(("q", 6), ("force", 3), ("torque", 3)))
    (tmp_path / "models").mkdir()
    shutil.copy(ARMS / "six_axes" / "arm.urdf", tmp_path / "models" / "arm.urdf")
    made, robot = tmp_path / "s.toml", tmp_path / "models" / "arm.urdf"
    main(["init", str(path), "-o", str(made), "--yes", "--robot", str(robot)])
    pose = tomllib.loads(made.read_text())["pose"]
    assert pose == {"robot": "models/arm.urdf", "frame": "tool0"}


def test_fingers_that_the_model_has_not_are_left_out(tmp_path):
    pytest.importorskip("pinocchio")
    robot = read_robot(ARMS / "six_axes" / "arm.urdf")
    names = ["finger", *(f"joint{k}" for k in range(6, 0, -1))]
    with Bag(tmp_path / "a", "mcap") as bag:
        for k, seconds in enumerate(TIME):
            values = [0.01, *Q[k], *V[k]]
            bag.joints("/joint_states", START + round(1e9 * seconds), names, values, values, values)
    draft = draft_schema(tmp_path / "a", robot=robot)
    log = read_log(tmp_path / "a", tomllib.loads(draft.text))
    assert log.joints.names == tuple(names[1:])
    np.testing.assert_array_equal(log.signals["joint_position"][:, :3], Q)


def test_currents_of_universal_robots_need_no_gains(tmp_path):
    arrays = ("target_q", 6), ("actual_q", 6), ("actual_qd", 6), ("actual_current", 6)
    path, draft = draft_of(tmp_path, columns_of(*arrays, ("target_moment", 6)))
    assert draft.missing_signals == ()
    assert not read_log(path, tomllib.loads(draft.text)).joints.has_torque
    with_gains = draft.text.replace("# gains = []", "gains = [12, 12, 10, 10, 10, 10]")
    log = read_log(path, tomllib.loads(with_gains))
    assert log.joints.has_torque
    assert log.joints.names[3:] == ("wrist_1_joint", "wrist_2_joint", "wrist_3_joint")


def test_targets_of_universal_robots_take_the_place_of_gains(tmp_path):
    arrays = ("actual_q", 6), ("actual_current", 6), ("target_current", 6), ("target_moment", 6)
    _, draft = draft_of(tmp_path, columns_of(*arrays))
    assert draft.missing_signals == ()
    joints = load_schema(tomllib.loads(draft.text)).joints
    assert joints.effort == tuple(f"actual_current[{k}]" for k in range(6))
    assert joints.target_effort == tuple(f"target_moment[{k}]" for k in range(6))


def test_torques_of_a_model_are_marked_where_nothing_is_measured(tmp_path):
    _, draft = draft_of(tmp_path, columns_of(("actual_q", 6), ("target_moment", 6)))
    assert re.search(r'effort = "target_moment" .*\(\?\) .*not measured', draft.text)
    _, draft = draft_of(
        tmp_path,
        columns_of(("actual_q", 6), ("target_moment", 6), ("actual_current_as_torque", 6)),
    )
    assert 'effort = "actual_current_as_torque"\n' in draft.text


def test_currents_beside_a_wrench_are_a_comment(tmp_path):
    arrays = ("actual_TCP_pose", 6), ("actual_TCP_force", 6), ("actual_q", 6)
    _, draft = draft_of(tmp_path, columns_of(*arrays, ("actual_current", 6)))
    assert load_schema(tomllib.loads(draft.text)).joints is None
    assert '# effort = "actual_current"' in draft.text


def test_numbered_columns_of_a_body_are_no_joints(tmp_path):
    arrays = ("position", 3), ("quaternion", 4), ("force", 3), ("torque", 3), ("velocity", 3)
    _, draft = draft_of(tmp_path, columns_of(*arrays))
    assert load_schema(tomllib.loads(draft.text)).joints is None


def test_angles_larger_than_a_turn_are_marked_as_degrees(tmp_path):
    columns = columns_of(("q", 6), ("tau", 6))
    columns["q_2"] = columns["q_2"] * 100.0
    _, draft = draft_of(tmp_path, columns)
    assert re.search(r'unit = "deg" .*\(\?\)', draft.text)


def test_the_command_reads_the_joints_with_its_draft(tmp_path, capsys):
    path, _ = draft_of(tmp_path, columns_of(("q", 6), ("tau", 6)))
    assert main(["init", str(path), "-o", str(tmp_path / "s.toml"), "--yes"]) == 0
    out = capsys.readouterr().out
    assert "Read: log, 60 rows, 0.59 s at 100 Hz; 6 joints, with position, effort." in out
    assert re.search(r"joint_1 +-0\.\d+ … 0\.\d+ +-0", out)
    assert "--robot" in out

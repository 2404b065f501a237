import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from identify.design.plan import SUPERVISION, MotionPlan
from identify.design.programs import PROGRAMS, joint_trajectory, krl, rapid, urscript
from identify.errors import ProblemError
from tests.close import assert_close
from tests.design.problems import WRIST_BASIS, motion_of, wrist

REMARK = "Not checked: collisions."
MOTION = motion_of(wrist(), WRIST_BASIS)
NUMBER = r"-?\d+(?:\.\d+)?"


AXES = ("pan", "lift", "elbow", "bend", "swing", "roll")
START = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])


def joint_motion(times):
    """Positions, velocities and accelerations of six joints."""
    values = MOTION.at(times)
    values = np.concatenate((values, 0.5 * values), axis=2)
    values[0] += START
    return values


def plan_of(robot: bool, prismatic=(False,) * 6):
    times = np.linspace(0.0, 8.0, 801)
    values = joint_motion(times) if robot else MOTION.at(times)
    axes = AXES if robot else ("rz", "ry", "rx")
    return MotionPlan(axes, times, values, robot, np.array(prismatic), (SUPERVISION, REMARK))


JOINTS, WRIST = plan_of(robot=True), plan_of(robot=False)


def numbers_in(text: str) -> list[float]:
    return [float(word) for word in re.findall(NUMBER, text)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_says_in_its_head_what_holds_and_that_a_person_stays(name):
    _, write = PROGRAMS[name]
    head = write(JOINTS, "motion").splitlines()[:2]
    marks = {"ur": "#", "kuka": ";", "abb": "!", "ros": "#"}
    assert head == [f"{marks[name]} {remark}" for remark in (SUPERVISION, REMARK)]


def test_table_has_the_motion_with_its_derivatives(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(JOINTS.csv())
    names = path.read_text().splitlines()[2].split(",")
    assert names[:7] == ["t", *(f"q[{axis}]" for axis in AXES)]
    table = np.loadtxt(path, delimiter=",", skiprows=3)
    assert_close(table[:, 0], JOINTS.times, 1e-8)
    assert_close(table[:, 1:], np.column_stack(JOINTS.values), 1e-8)
    assert_close(table[[0, -1], 7:], np.zeros((2, 12)), 1e-12, scale=1.0)


class Urscript:
    """A small grammar of URScript: one function with a statement a line."""

    def __init__(self, text: str) -> None:
        code = "\n".join(line.partition("#")[0].rstrip() for line in text.splitlines())
        name, body = re.fullmatch(r"\s*def (\w+)\(\):\n((?:  .*\n)+)end\n\1\(\)", code).groups()
        assert name == "motion"
        self.body = [line.strip() for line in body.splitlines()]
        call = r"(?:\w+ = \w+\(\)|(?:movej|sleep|servoj|stopj)\(.*\))"
        assert all(re.fullmatch(call, line) for line in self.body), self.body
        assert all(line.count(b) == line.count(e) for line in self.body for b, e in ("()", "[]"))
        moves = [line for line in self.body if line.startswith("servoj(")]
        self.points = np.array([numbers_in(re.findall(r"\[(.*?)\]", move)[0]) for move in moves])
        self.spacing = float(re.search(rf"\bt=({NUMBER})", moves[0])[1])


def test_urscript_moves_joints_to_their_start_and_through_the_motion():
    program = Urscript(urscript(JOINTS, "motion"))
    times = program.spacing * np.arange(len(program.points))
    assert_close(program.points, joint_motion(times)[0], 1e-5)
    assert times[-1] == pytest.approx(8.0)
    assert program.body[0].startswith("movej([")
    assert_close(numbers_in(program.body[0])[:6], program.points[0])
    assert program.body[-1] == "stopj(1.0)"


def test_urscript_turns_the_tool_by_the_rotation_vectors_of_the_motion():
    program = Urscript(urscript(WRIST, "motion"))
    times = program.spacing * np.arange(len(program.points))
    expected = Rotation.from_euler("ZYX", MOTION.at(times)[0])
    assert not program.points[:, :3].any()
    assert_close(
        Rotation.from_rotvec(program.points[:, 3:]).as_matrix(), expected.as_matrix(), 1e-5
    )
    assert program.body[0] == "start = get_actual_tcp_pose()"


def test_krl_has_the_angles_of_the_axes_and_the_time_of_the_spline():
    text = krl(JOINTS, "motion")
    points = np.array(
        [numbers_in(re.sub(r"A\d ", "", line)) for line in re.findall(r"SPTP \{(.*)\}", text)]
    )
    (begin,) = re.findall(r"  PTP \{(.*)\}", text)
    first = numbers_in(re.sub(r"A\d ", "", begin))
    times = 8.0 / len(points) * np.arange(len(points) + 1)
    expected = np.degrees(joint_motion(times)[0])
    assert_close(np.vstack((first, points)), expected, 1e-5)
    assert text.count("TIME_BLOCK PART = 1\n") == len(points)
    assert "TIME_BLOCK END = 8.000\n  ENDSPLINE\nEND\n" in text


def test_krl_turns_the_tool_by_angles_about_z_y_and_x():
    lines = re.findall(r"SPL first_pose : \{X 0, Y 0, Z 0, (.*)\}", krl(WRIST, "motion"))
    points = np.array([numbers_in(line) for line in lines])
    times = 8.0 / len(points) * np.arange(1, len(points) + 1)
    assert_close(points, np.degrees(MOTION.at(times)[0]), 1e-5)


def test_rapid_has_the_angles_of_the_joints_and_the_time_of_each_move():
    moves = re.findall(
        r"MoveAbsJ \[\[(.*?)\], \[(?:9E9(?:, )?){6}\]\], (.*);", rapid(JOINTS, "motion")
    )
    points = np.array([numbers_in(point) for point, _ in moves])
    spacing = float(re.search(rf"\\T:=({NUMBER})", moves[-1][1])[1])
    assert spacing * (len(points) - 1) == pytest.approx(8.0)
    times = spacing * np.arange(len(points))
    assert_close(points, np.degrees(joint_motion(times)[0]), 1e-5)


def test_rapid_stops_at_the_end_of_a_motion_of_any_length():
    count = len(JOINTS.times) - 10  # a tenth of a second less
    short = replace(JOINTS, times=JOINTS.times[:count], values=JOINTS.values[:, :count])
    text = rapid(short, "motion")
    moves = re.findall(rf"\\T:=({NUMBER}), (\w+), tool0", text)
    assert sum(float(each) for each, _ in moves) == pytest.approx(short.times[-1])
    assert [zone for _, zone in moves].index("fine") == len(moves) - 1
    assert max(float(each) for each, _ in moves) == 0.25
    assert "corner path failure" in text


def test_rapid_turns_the_tool_by_angles_about_z_y_and_x():
    text = rapid(WRIST, "motion")
    moves = re.findall(r"MoveL turned\(start, (.*?)\), .*, sensor;", text)
    points = np.array([numbers_in(move) for move in moves])
    times = 8.0 / len(moves) * np.arange(1, len(moves) + 1)
    assert_close(points, np.degrees(MOTION.at(times)[0]), 1e-5)
    assert re.findall(r"\\R(.):=r\1", text) == ["z", "y", "x"]  # innermost first
    assert text.count("PROC motion()") == text.count("ENDPROC") == text.count("ENDMODULE") == 1


def test_joint_trajectory_is_yaml_with_the_fields_of_the_message():
    message = yaml.safe_load(joint_trajectory(JOINTS, "motion"))
    assert set(message) == {"joint_names", "points"}
    assert message["joint_names"] == list(AXES)
    stamps = [point["time_from_start"] for point in message["points"]]
    assert_close([s["sec"] + 1e-9 * s["nanosec"] for s in stamps], JOINTS.times)
    for name, values in zip(
        ("positions", "velocities", "accelerations"), JOINTS.values, strict=True
    ):
        assert_close([point[name] for point in message["points"]], values, 1e-7)


def test_programs_that_cannot_have_the_axes_are_errors():
    message = "KRL: expected the 6 revolute joints of an arm, got pan, .* some of them prismatic"
    with pytest.raises(ProblemError, match=message):
        krl(plan_of(robot=True, prismatic=(False, True, False, False, False, False)), "motion")
    with pytest.raises(ProblemError, match=r"RAPID: expected the 6 .*, got pan, lift, elbow; use"):
        rapid(replace(JOINTS, axes=AXES[:3], values=JOINTS.values[..., :3]), "motion")
    with pytest.raises(ProblemError, match="a JointTrajectory needs the joints of a robot"):
        joint_trajectory(WRIST, "motion")

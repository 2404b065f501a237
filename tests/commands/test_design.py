import json
import re
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from identify.commands.design_summary import _need_lines
from identify.commands.main import main
from identify.design.starts import read_starts
from identify.errors import ModelError
from identify.logs import read_log
from identify.pipeline.required_precision import parse_required_precision
from identify.robots import inverse_dynamics, read_robot
from tests.close import assert_close
from tests.robots.arms import arm_text

ARM = Path(__file__).parents[2] / "datasets" / "arms" / "six_axes" / "arm.urdf"
START = "0 -86 86 -80 -92 0"
SLOW = ("--speed", 60, "--acceleration", 120)


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    monkeypatch.setattr("identify.design.d_optimal._STAGES", (10,))
    monkeypatch.setattr("identify.design.d_optimal._RANDOM_MOTIONS", 4)


def test_a_wrist_motion_is_written_with_its_programs(cli, tmp_path):
    out = tmp_path / "new" / "motion.csv"
    words = ("--wrist", "--time", 8, "--starts", 1, *SLOW, "--program", "ur", "--program", "abb")
    printed = cli.done("design", *words, "-o", out)
    assert "Motion of 8 s, from rest to rest." in printed
    assert "A person stays at the stop button while the robot moves." in printed
    table = np.loadtxt(out, delimiter=",", skiprows=out.read_text().count("#") + 1)
    assert table[-1, 0] == 8.0
    assert np.abs(np.degrees(table[:, 1:4])).max() <= 45.0 + 1e-5
    assert np.abs(np.degrees(table[:, 4:7])).max() <= 60.0 + 1e-5
    assert {path.name for path in out.parent.iterdir()} >= {"motion.script", "motion.mod"}
    assert not list(out.parent.glob(".*"))
    page = out.with_suffix(".html").read_text()
    assert "Motion of 8 s to log, not yet run" in page
    assert "What it will give" in page
    assert page.count("<svg") == 3  # three axes; no other limit was given


def test_a_joint_motion_is_a_document(cli, tmp_path, pinocchio):
    words = ("--robot", ARM, "--payload-at", "tool0", "--start", START, "--time", 10)
    outcome = cli("design", *words, "--starts", 1, "--json", "-o", tmp_path / "m.csv")
    document = json.loads(outcome.out)
    assert document["axes"] == [f"joint{k}" for k in range(1, 7)]
    assert 0.0 < max(document["shares"].values()) <= 1.0 + 1e-9
    assert document["half_widths"]["m"] > 0.0
    assert document["relative_to_unplanned"] < 1.0
    page = (tmp_path / "m.html").read_text()
    assert "path, xy" in page
    assert "torque, %" in page


def test_joints_that_do_not_carry_the_payload_are_at_rest(cli, tmp_path, pinocchio):
    finger = """<joint name="finger" type="prismatic"><parent link="tool0"/><child link="tip"/>
      <axis xyz="0 1 0"/><limit lower="0" upper=".04" velocity=".2" effort="20"/></joint>
      <link name="tip"/></robot>"""
    (tmp_path / "hand.urdf").write_text(ARM.read_text().replace("</robot>", finger))
    words = ("design", "--robot", tmp_path / "hand.urdf", "--payload-at", "tool0", "--json")
    words = (*words, "--start", START, "--time", 8, "--starts", 1, "-o", tmp_path / "m.csv")
    names = [f"joint{k}" for k in range(1, 7)]
    assert json.loads(cli(*words).out)["axes"] == names
    assert (
        "# Joints of hand.urdf that are at rest, with torques not checked: finger at 0."
        in (tmp_path / "m.csv").read_text()
    )
    short = (*words[: words.index("--start")], "--joints", "joint4 joint5 joint6")
    short = (*short, "--start", "5 -80 0", *words[words.index("--time") :])
    assert json.loads(cli(*short).out)["axes"] == ["joint4", "joint5", "joint6"]
    assert "joint9" in cli(*words, "--joints", "joint9").err


def test_a_start_in_radians_is_asked_about(cli, tmp_path, pinocchio):
    words = ("design", "--robot", ARM, "--payload-at", "tool0", "--time", 8, "--starts", 1)
    radians = cli(*words, "--start", "0 -1.5 1.5 -1.4 -1.6 0", "-o", tmp_path / "m.csv")
    assert "--start is in degrees, and all its angles are below 7; are they radians?" in radians.err
    assert "radians" not in cli(*words, "--start", START, "-o", tmp_path / "m.csv").err


def test_gravity_of_an_arm_on_a_wall_enters_its_torques(cli, tmp_path, pinocchio):
    words = ("design", "--robot", ARM, "--payload-at", "tool0", "--time", 8, "--starts", 1)
    words = (*words, "--start", START, "--json", "-o", tmp_path / "m.csv")
    upright, on_wall = (
        json.loads(cli(*words, "--gravity", *gravity).out)["shares"]["the torque of joint1"]
        for gravity in ((0, 0, -9.80665), (0, 9.80665, 0))
    )
    assert on_wall > 1.2 * upright


def test_init_knows_the_columns_of_a_designed_motion_itself(cli, tmp_path, pinocchio):
    cli("design", "--robot", ARM, "--time", 8, "--starts", 1, "-o", tmp_path / "m.csv")
    outcome = cli("init", tmp_path / "m.csv", "-o", tmp_path / "schema.toml")
    drafted = (tmp_path / "schema.toml").read_text()
    assert outcome.status in (0, 2)
    assert 'position = "q[names]"' in drafted
    assert "no columns look like the efforts of joints" in drafted
    assert "separator" not in drafted


def test_a_log_of_a_designed_motion_has_a_schema_by_init(cli, tmp_path, pinocchio):
    words = ("--robot", ARM, "--payload-at", "tool0", "--start", START, "--time", 8)
    cli("design", *words, "--starts", 1, "-o", tmp_path / "m.csv")
    log = pd.read_csv(tmp_path / "m.csv", comment="#")
    robot = read_robot(ARM)
    motion = [log[[f"{kind}[{joint}]" for joint in robot.joints]] for kind in ("q", "qd", "qdd")]
    torque = inverse_dynamics(robot, *(signal.to_numpy() for signal in motion))
    log[[f"tau[{joint}]" for joint in robot.joints]] = torque
    log.to_csv(tmp_path / "log.csv", index=False)
    cli("init", tmp_path / "log.csv", "-o", tmp_path / "schema.toml")
    drafted = read_log(tmp_path / "log.csv", tmp_path / "schema.toml")
    assert drafted.joints.names == robot.joints
    assert_close(drafted.signals["joint_position"], motion[0].to_numpy())
    assert_close(drafted.signals["effort"], torque)


def test_an_unmet_need_has_the_time_it_takes_and_a_status(cli, tmp_path):
    words = ("--wrist", "--time", 4, "--starts", 1, *SLOW, "--need", "inertia 5%")
    outcome = cli("design", *words, "-o", tmp_path / "m.csv")
    assert outcome.status == 4
    assert "Need inertia 5%: not met" in outcome.out
    assert "of such a motion (--time " in outcome.out


@pytest.mark.parametrize(
    ("limit", "within_logs", "total", "sentence"),
    [
        (5.0, 5.02, 6.3, "not met, ± 5.02 mm is predicted; the sensor's scale limits it to ± 6.3"),
        (5.0, 4.98, 6.3, "met, ± 5 mm is predicted; the sensor's scale limits it to ± 6.3 mm."),
        (5.0, 4.96, 5.003, "met, ± 5 mm is predicted."),
        (5.0, 7.7, 7.7, "not met, ± 7.7 mm is predicted."),
        (5.0, None, None, "not met, has no interval."),
    ],
)
def test_the_predicted_width_of_a_need_shows_whether_it_is_met(limit, within_logs, total, sentence):
    """As many digits as it takes, and both widths where the scale of the sensor matters."""
    (need,) = parse_required_precision(f"com {limit:g}mm")
    prediction = Mock(seconds_for=lambda needs, period: None)
    prediction.widest_half_width = lambda need, seconds: total if need.total else within_logs
    unmet = () if within_logs is not None and within_logs <= limit else (need,)
    design = Mock(needs=(need,), unmet=unmet, seconds=4.0)
    first, *_ = _need_lines(design, prediction)
    assert first.startswith(f"Need com 5mm: {sentence}")


def test_static_poses_are_written_as_a_table(cli, tmp_path):
    out = tmp_path / "poses.csv"
    printed = cli.done("design", "--wrist", "--poses", 5, "--tilt", 40, "-o", out)
    assert "Predicted inertia about the centre of mass: not identified.\n" in printed
    table = np.loadtxt(out, delimiter=",", skiprows=4)
    angles, directions = table[:, 1:4], table[:, 4:]
    down = Rotation.from_euler("ZYX", angles, degrees=True).inv().apply([0.0, 0.0, -1.0])
    assert_close(down, directions, 1e-6, scale=1.0)
    assert "R = Rz Ry Rx from the attitude at the start" in out.read_text()


def test_an_interrupted_run_continues_after_its_finished_starts(cli, tmp_path, monkeypatch):
    out = tmp_path / "m.csv"
    words = ("design", "--wrist", "--time", 6, "--starts", 2, *SLOW, "-o", out)
    designed = []

    def start(problem, basis, rng):
        designed.append(1)
        if len(designed) == 2:
            raise KeyboardInterrupt
        return original(problem, basis, rng)

    from identify.design import d_optimal

    original = d_optimal.design_from_start
    monkeypatch.setattr("identify.design.d_optimal.design_from_start", start)
    outcome = cli(*words)
    assert outcome.status == 130
    assert "m.csv.starts.json; run the same command to resume" in outcome.err
    assert not out.exists()
    cli.done(*words)
    assert len(designed) == 3


def test_starts_of_other_settings_or_a_damaged_file_are_not_used(tmp_path):
    path = tmp_path / "starts.json"
    assert read_starts(path, "key") == {}
    path.write_text("{")
    assert read_starts(path, "key") == {}
    path.write_text('{"key": "other", "starts": {}}')
    assert read_starts(path, "key") == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give either --wrist or --robot arm.urdf"),
        (("--wrist", "--robot", ARM), "give either --wrist or --robot arm.urdf"),
        (("--wrist", "--time", 0), "--time S: expected 1 to 3600 s, got 0"),
        (("--wrist", "--starts", 0), "--starts N: expected 1 or more, got 0"),
        (("--robot", ARM, "--poses", 4), "--poses needs --wrist"),
        (("--wrist", "--mass", 0), "--mass KG: expected"),
        (("--wrist", "--noise", 0, 1, 1), "--noise: expected positive numbers"),
        (("--wrist", "--program", "fanuc"), "fanuc"),
        (("--robot", ARM, "--start", "1 2"), "--start: expected 6 numbers in quotes"),
        (("--wrist", "--payload-at", "tool0"), "--payload-at needs --robot arm.urdf"),
        (("--robot", ARM, "--angle", 9, 9, 9), "--angle needs --wrist"),
        (("--wrist", "--com", "nan", 0, 0), "--com: expected a number, got nan"),
        (("--robot", ARM, "--floor", "nan"), "--floor: expected a number, got nan"),
        (("--wrist", "--com", 0, 0, 80), "--com: expected metres within ±5"),
        (("--wrist", "--program", "ros"), "--program ros needs the joints of a robot"),
        (("--robot", ARM, "--need", "mass 1%"), "--need needs --payload-at FRAME"),
        (("--robot", ARM, "--mass", 30), "--mass needs --payload-at FRAME"),
        (("--robot", ARM, "--start", "0 -90 90 nan -90 0"), "--start: expected 6 numbers"),
        (("--wrist", "--gravity", 0, 0, 9806), "--gravity: expected a vector of 1 to 30 m/s²"),
        (("--wrist", "--gravity", 0, 0, 0), "--gravity: expected a vector of 1 to 30 m/s²"),
        (("--wrist", "--angle", 0, 45, 45), "angle: expected above 0 deg about each axis, got 0"),
        (("--wrist", "--speed", 0), "expected a limit of the speed above zero, got 0"),
        (("--wrist", "--poses", 5, "--tilt", 0), "tilt: expected an angle above 0"),
        (("--wrist", "--tilt", 0), "tilt: expected an angle above 0"),
        (("--wrist", "--poses", 2), "poses: expected at least 3, got 2"),
        (("--wrist", "--poses", 5, "--tilt", 1e-4), "tilt: poses within 0.0001 degrees do not"),
        (("--wrist", "--sensor-range", 0, 5), "range of the sensor: expected a force and a"),
        (
            ("--robot", ARM, "--payload-at", "tool0", "--start", "0 0 0 400 0 0"),
            "joint4: the start, 400 deg, is not between -342 and 342 deg, the share of its limits",
        ),
        (
            ("--robot", ARM, "--payload-at", "tool0", "--box", 1, 0, 0, 1, 0, 1),
            "box: expected a lower x below the upper one",
        ),
        (("--robot", ARM, "--shares", 95, 80, 80), "--shares: expected above 0 and up to 1"),
        (("--robot", ARM, "--payload-at", "base_link"), "moves the frame 'base_link'"),
        (("--robot", ARM, "--excursion", 0), "--excursion DEG: expected a positive"),
        (
            ("--robot", ARM, "--joints", "joint2 joint1", "--start", "0 0", "--program", "kuka"),
            "count joints from the base of the arm: expected joint1, joint2",
        ),
        (("--robot", ARM, "--box", 0, 1, 0, 1, 0, 1), "--box needs --payload-at FRAME"),
        (("--wrist", "--poses", 4, "--need", "mass 1%"), "--need needs a motion, not --poses"),
        (("--wrist", "--poses", 4, "--time", 9), "--time needs a motion, not --poses"),
        (("--wrist", "--poses", 4, "--angle", 9, 9, 9), "--angle needs a motion, not --poses"),
    ],
)
def test_bad_use_is_an_error_that_names_the_option(cli, tmp_path, words, message, pinocchio):
    assert message in cli.refused("design", *words, "-o", tmp_path / "m.csv")


def test_a_table_with_another_ending_is_an_error_that_names_it(cli, tmp_path):
    printed = cli.refused("design", "--wrist", "-o", tmp_path / "motion.html")
    assert "expected a name that ends in .csv, got" in printed


def test_a_program_has_the_name_of_its_file(cli, tmp_path):
    words = ("--wrist", "--time", 8, "--starts", 1, *SLOW, "--program", "kuka")
    cli.done("design", *words, "-o", tmp_path / "7-my.motion.csv")
    assert "DEF motion_7_my_motion()" in (tmp_path / "motion_7_my_motion.src").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--wrist", "--mass", 9, "--sensor-range", 50, 5), "the limit of the force on z"),
        (("--robot", ARM, "--payload-at", "tool0", "--mass", 90), "the torque of joint"),
        (
            ("--robot", ARM, "--payload-at", "tool0", "--box", 3, 4, -1, 1, -1, 2),
            "the lower x of the box: the start is 3",
        ),
    ],
)
def test_infeasible_limits_are_errors_with_their_name(cli, tmp_path, words, message, pinocchio):
    words = (*words, "--time", 4, "--starts", 1, "-o", tmp_path / "m.csv")
    assert message in cli.refused("design", *words, status=3)


def test_a_start_that_collides_is_an_error_before_the_search(cli, tmp_path, pinocchio, monkeypatch):
    text = arm_text(3)
    for name, z in (("link_0", 0.2), ("link_2", 0.3)):
        shape = f'<collision><origin xyz="0 0 {z}"/><geometry><box size=".08 .08 .3"/></geometry>'
        old = f'<link name="{name}">'
        text = text.replace(old, f"{old}{shape}</collision>", 1)
    (tmp_path / "chain.urdf").write_text(text)
    monkeypatch.setattr("identify.design.d_optimal.minimize", None)
    words = ("--robot", tmp_path / "chain.urdf", "--start", "0 120 120", "-o", tmp_path / "m.csv")
    message = cli.refused("design", *words, status=3)
    assert "self-collision: link_0_0 and link_2_0 touch at the start" in message


@pytest.fixture(scope="module")
def fitted_arm(tmp_path_factory):
    pytest.importorskip("pinocchio")
    folder, out = ARM.parent, tmp_path_factory.mktemp("arm")
    words = [str(folder / "empty.parquet"), "--schema", str(folder / "schema.toml")]
    words += ["--robot", str(ARM), "-o", str(out), "--quiet", "--no-report"]
    assert main(["fit-arm", *words, "--interval", "formula"]) == 0
    return out / "arm.json"


def test_a_design_after_a_fit_of_the_arm_has_its_noise_and_links(cli, tmp_path, fitted_arm):
    out = tmp_path / "m.csv"
    words = ("--robot", ARM, "--payload-at", "tool0", "--start", START, "--time", 8, "--json")
    plain, after = (
        json.loads(cli("design", *words, "--starts", 1, *more, "-o", out).out)
        for more in ((), ("--after", fitted_arm))
    )
    assert 0.0 < after["half_widths"]["m"] < plain["half_widths"]["m"]
    message = cli.refused("design", "--wrist", "--after", fitted_arm, "-o", out)
    assert "is a fit of the joint torques of an arm; expected one of a wrist sensor" in message
    seven = ARM.parents[1] / "seven_axes" / "arm.urdf"
    words = ("--robot", seven, "--payload-at", "tool0", "--after", fitted_arm)
    message = cli.refused("design", *words, "-o", out)
    assert "arm.json: the fitted arm has other kinematics than the robot" in message
    truth = ARM.parent / "truth.json"
    message = cli.refused("design", "--wrist", "--after", truth, "-o", out)
    assert "truth.json: has no residuals; expected the file of a fit" in message


def test_limits_of_the_model_without_a_range_are_an_error(cli, tmp_path, pinocchio):
    text = re.sub(r'lower="[^"]*" upper="[^"]*"', 'lower="2" upper="2"', ARM.read_text(), count=1)
    (tmp_path / "arm.urdf").write_text(text)
    message = cli.refused("design", "--robot", tmp_path / "arm.urdf", "-o", tmp_path / "m.csv")
    assert "joint joint1 has limits of position from 114.592 to 114.592 deg" in message


def test_a_table_in_a_file_is_an_error(cli, tmp_path):
    (tmp_path / "p.csv").write_text("")
    message = cli.refused("design", "--wrist", "-o", tmp_path / "p.csv" / "m.csv")
    assert "is a file, so m.csv cannot be created in it" in message


def test_joints_rest_where_they_are_told_to(cli, tmp_path, pinocchio):
    words = ("--robot", ARM, "--joints", "joint4 joint5", "--payload-at", "tool0", "--time", 8)
    out = tmp_path / "m.csv"
    text = cli("design", *words, "--starts", 1, "--rest", "joint2=-90 joint3=45", "-o", out).out
    assert "joint1 at 0, joint2 at -1.571, joint3 at 0.7854, joint6 at 0" in text
    for wrong in ("joint4=10", "joint2=x", "joint9=1"):
        message = cli.refused("design", *words, "--rest", wrong, "-o", out)
        assert "for joints that rest (joint1, joint2, joint3, joint6)" in message
    message = r"rest: expected joints that are locked, got joint4"
    with pytest.raises(ModelError, match=message):
        read_robot(ARM, ["joint4"], rest={"joint4": 1.0})
    robot = read_robot(ARM, ["joint4"], rest={"joint2": -0.5})
    assert robot.locked["joint2"] == -0.5

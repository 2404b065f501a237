import re
import sys

import numpy as np
import pytest

from identify.errors import MissingExtra, MissingFile, ModelError
from identify.robots import inverse_dynamics, read_robot
from tests.close import assert_close
from tests.robots.arms import LIMIT, arm_text, link_text, robot_text

ARM = arm_text()


@pytest.fixture
def read(tmp_path, pinocchio):
    def read(text, joints=None, name="arm.urdf", **options):
        path = tmp_path / name
        path.write_text(text)
        return read_robot(path, joints, **options)

    return read


def test_joints_are_those_of_the_file_in_its_order(read):
    robot = read(ARM)
    assert robot.joints == ("joint_0", "joint_1", "joint_2")
    assert robot.links == ("link_0", "link_1", "link_2")
    assert_close(robot.gravity, [0.0, 0.0, -9.80665], 0.0)
    assert_close(robot.position_limits, [[-2.0, 2.5]] * 3, 0.0)
    assert_close(robot.velocity_limits, [3.0] * 3, 0.0)
    assert_close(robot.effort_limits, [40.0] * 3, 0.0)
    assert not robot.locked
    assert not robot.prismatic.any()
    assert not robot.phi.flags.writeable


def test_limits_that_the_file_does_not_have_are_infinite(read):
    limit = '<limit lower="-1" upper="1" velocity="0" effort="0"/>'
    robot = read(
        ARM.replace(LIMIT, limit).replace(
            '"joint_1" type="revolute"', '"joint_1" type="continuous"'
        )
    )
    assert np.isinf(robot.velocity_limits).all()
    assert np.isinf(robot.effort_limits).all()
    assert robot.position_limits.tolist() == [[-1.0, 1.0], [-np.inf, np.inf], [-1.0, 1.0]]


def test_joint_that_the_log_lacks_is_locked_at_the_limit_nearest_to_zero(read):
    away = ARM.replace(LIMIT, LIMIT.replace('"-2"', '"0.5"'), 1)
    robot = read(away, ["joint_2", "joint_1"])
    assert robot.joints == ("joint_2", "joint_1")
    assert robot.locked == {"joint_0": 0.5}
    full = read(away)
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 3))
    q[:, 0], v[:, 0], a[:, 0] = 0.5, 0.0, 0.0
    swapped = [2, 1]
    assert_close(
        inverse_dynamics(robot, q[:, swapped], v[:, swapped], a[:, swapped]),
        inverse_dynamics(full, q, v, a)[:, swapped],
        1e-13,
    )


def test_mimic_follows_the_locked_joint_that_leads_it(read):
    mimic = '<mimic joint="joint_0" multiplier="-2" offset="0.25"/>'
    text = ARM.replace(LIMIT, LIMIT.replace('"-2"', '"0.5"'), 1)
    head, tail = text.split('name="joint_2"')
    robot = read(head + 'name="joint_2"' + tail.replace(LIMIT, LIMIT + mimic), ["joint_1"])
    assert robot.locked == {"joint_0": 0.5, "joint_2": -0.75}


def test_frame_is_on_the_moving_link_that_carries_it(read):
    tool = """<joint name="tool_joint" type="fixed"><parent link="link_2"/><child link="tool0"/>
      <origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/></joint><link name="tool0"/>"""
    robot = read(ARM.replace("</robot>", tool + "</robot>"))
    link, X_LF = robot.frame("tool0")
    assert robot.links[link] == "link_2"
    assert_close(X_LF.position, [0.0, 0.0, 0.1], 0.0)
    assert_close(X_LF.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], 1e-15)
    assert robot.frame("base").link == -1
    with pytest.raises(ModelError, match=r"no frame of .*'tool_0'.*did you mean 'tool0'\?"):
        robot.frame("tool_0")


def test_meshes_that_are_not_there_do_not_matter(read):
    mesh = """<visual><geometry><mesh filename="package://absent/arm.stl"/></geometry></visual>
      <collision><geometry><mesh filename="absent.dae"/></geometry></collision></link>"""
    assert read(ARM.replace("</link>", mesh)).joints == read(ARM).joints


def test_robot_without_inertias_has_kinematics_but_no_dynamics(read):
    robot = read(re.sub(r"<inertial>.*?</inertial>", "", ARM, flags=re.DOTALL))
    still = np.zeros((1, 3))
    with pytest.raises(ModelError, match=r"arm\.urdf: no moving link has a mass.*<inertial>"):
        inverse_dynamics(robot, still, still, still)
    assert inverse_dynamics(robot, still, still, still, np.ones((3, 10))).any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ARM.replace("revolute", "floating", 1), r"urdf:\d+: joint 'joint_0' has the type 'float"),
        (ARM.replace("revolute", "planar", 1), r"has the type 'planar'; expected fixed, revolute"),
        (ARM[: len(ARM) // 2], r"urdf:\d+: not well-formed XML"),
        ("", r"urdf:1: not well-formed XML: no element found"),
        ("joint_0,joint_1\n0.1,0.2\n", r"urdf:1: not well-formed XML"),
        ("<mujoco/>", r"urdf:1: a robot is read from a URDF, and this is a MJCF model"),
        ("<html/>", r"urdf:1: <html> is not a robot model"),
        (
            ARM.replace("0 0 0.4", "0 0 ${height}", 1),
            r"a xacro file; expand it first: xacro .*urdf",
        ),
        (robot_text(""), r"urdf:1: the URDF has no joint that moves"),
        (ARM.replace('"joint_1" type', '"joint_0" type'), r"urdf:\d+: a second joint 'joint_0'"),
        (ARM.replace(' name="joint_1"', ""), r"urdf:\d+: a joint without a name"),
        (
            ARM.replace('lower="-2"', 'lower="3"', 1),
            r"urdf:\d+: joint 'joint_0' has limits from 3 to 2.5",
        ),
        (
            ARM.replace('upper="2.5"', 'upper="two"', 1),
            r"urdf:\d+: <limit upper>: expected a finite decimal",
        ),
        (
            ARM.replace('value="2.5"', 'value="x"', 2),
            r"urdf:\d+: link 'base': <mass value>: expect",
        ),
        (
            ARM.replace(LIMIT, LIMIT + '<mimic joint="absent"/>', 1),
            r"urdf:\d+: joint 'joint_0' mimics 'absent', which does not move",
        ),
        (
            ARM.replace(LIMIT, LIMIT + '<mimic joint="joint_0"/>', 1),
            r"joint 'joint_0' mimics 'joint_0', which does not move",
        ),
    ],
)
def test_file_that_is_no_arm_is_refused(read, text, message):
    with pytest.raises(ModelError, match=message):
        read(text)


def test_tree_that_is_not_connected_is_refused(read, capfd):
    with pytest.raises(ModelError, match=r"Pinocchio cannot build the robot .* to one root"):
        read(ARM.replace("</robot>", link_text("alone") + "</robot>"))
    assert "alone" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (["joint_0", "jiont_1"], r"no moving joint 'jiont_1'; .*did you mean 'joint_1'"),
        (["a", "b"], r"no moving joint 'a', 'b'; write those .* in `names` .*joint_2$"),
        (["joint_2", "joint_1", "joint_3"], r"did you mean 'joint_0'"),
        (["joint_0", "joint_0"], r"joints: expected different names, got \['joint_0', 'joint_0'\]"),
        ([], r"joints: expected different names, got \[\]"),
    ],
)
def test_joints_that_the_robot_does_not_have_are_refused(read, joints, message):
    with pytest.raises(ModelError, match=message):
        read(ARM, joints)


def test_mimic_joint_is_no_joint_of_a_log(read):
    head, tail = ARM.split('name="joint_2"')
    text = head + 'name="joint_2"' + tail.replace(LIMIT, LIMIT + '<mimic joint="joint_0"/>')
    assert read(text).joints == ("joint_0", "joint_1")
    with pytest.raises(ModelError, match=r"'joint_2' follows 'joint_0' by <mimic>; leave it out"):
        read(text, ["joint_0", "joint_2"])


def test_missing_file_and_missing_pinocchio_are_named(read, tmp_path, monkeypatch):
    with pytest.raises(MissingFile, match=r"absent\.urdf"):
        read_robot(tmp_path / "absent.urdf")
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    with pytest.raises(
        MissingExtra, match=r"needs pin, .*pip install 'inertia-identify\[robots\]'"
    ):
        read(ARM)


@pytest.mark.parametrize(
    ("limit", "position", "velocity"),
    [
        ("", (-np.inf, np.inf), np.inf),
        ("<limit/>", (-np.inf, np.inf), np.inf),
        ('<limit lower="-inf" upper="Inf" effort="inf" velocity="3"/>', (-np.inf, np.inf), 3.0),
        ('<limit lower="0" upper="0" effort="0" velocity="0"/>', (-np.inf, np.inf), np.inf),
        ('<limit lower="-1" upper="2"/><dynamics damping=""/>', (-1.0, 2.0), np.inf),
        (LIMIT + "<safety_controller/><calibration rising='0'/>", (-2.0, 2.5), 3.0),
    ],
)
def test_limits_that_programs_write_are_taken(read, limit, position, velocity):
    whole = read(ARM, name="whole.urdf")
    robot = read(ARM.replace(LIMIT, limit, 1))
    assert tuple(robot.position_limits[0]) == position
    assert robot.velocity_limits[0] == velocity
    assert_close(robot.position_limits[1:], whole.position_limits[1:], 0.0)
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 3))
    torques = (inverse_dynamics(each, q, v, a, each.phi) for each in (robot, whole))
    assert_close(next(torques), next(torques), 1e-12)


def test_axes_of_fixed_joints_massless_links_and_missing_meshes_are_taken(read):
    mesh = '<visual><geometry><mesh filename="package://none/x.stl"/></geometry></visual>'
    tail = f"""<joint name="f" type="fixed"><parent link="link_2"/><child link="t"/>
      <axis xyz="0 0 0"/><limit lower="0" upper="0"/></joint><link name="t">{mesh}</link></robot>"""
    assert_close(read(ARM.replace("</robot>", tail)).phi, read(ARM).phi, 0.0)

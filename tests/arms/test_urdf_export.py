import numpy as np
import pytest

from identify.arms import fitted_model
from identify.arms.mjcf_export import fitted_mjcf
from identify.arms.urdf_export import JointDynamics
from identify.exchange import read_model
from identify.inertia import InertialParameters
from identify.robots import frame_pose, read_robot
from tests.arms.simulated import (
    FRICTION,
    GRAVITY,
    JOINTS,
    ROTORS,
    Motion,
    arm_text,
    read_arm_model,
    torques,
    true_links,
)
from tests.close import assert_close

GRIPPER = """<joint name="mount" type="fixed"><parent link="link_2"/><child link="gripper"/>
  <origin xyz="0.02 0.03 0.4" rpy="0.2 -0.3 0.5"/></joint>
<link name="gripper"><inertial><origin xyz="0 0.01 0.05"/><mass value="{mass}"/>
  <inertia ixx="0.004" iyy="0.003" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="finger_joint" type="prismatic"><parent link="gripper"/><child link="finger"/>
  <origin xyz="0 0 0.1"/><axis xyz="0 1 0"/><limit lower="0.01" upper="0.04" effort="1"
  velocity="1"/></joint>
<link name="finger"><inertial><mass value="0.05"/>
  <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def written(folder, mass, *, with_gripper=True):
    """The robot with a gripper of a mass, fitted links, and the robot of the written file."""
    path, bare = folder / "arm.urdf", folder / "bare.urdf"
    path.write_text(arm_text().replace("</robot>", GRIPPER.format(mass=mass)))
    bare.write_text(arm_text())
    robot = read_robot(path, JOINTS)
    links = 1.1 * robot.phi if with_gripper else true_links(read_robot(bare, JOINTS))
    fixed = folder / "fixed.urdf"
    fixed.write_bytes(fitted_model(robot, links).content)
    return robot, links, read_robot(fixed, JOINTS)


def phi_of(path, name):
    return next(link.phi for link in read_model(path).links if link.name == name)


def test_links_that_are_fixed_or_locked_keep_their_inertias(tmp_path, pinocchio):
    robot, links, fixed = written(tmp_path, 0.3)
    assert_close(fixed.phi, links, 1e-7)
    for name in ("gripper", "finger"):
        assert_close(phi_of(fixed.path, name), phi_of(robot.path, name), 1e-12)
    assert "finger_joint" in robot.locked


def test_links_that_outweigh_the_fitted_one_are_scaled_down(tmp_path, pinocchio):
    robot, links, fixed = written(tmp_path, 50.0, with_gripper=False)
    assert_close(fixed.phi, links, 1e-7)
    before, after = (phi_of(each.path, "gripper") for each in (robot, fixed))
    share = after[0] / before[0]
    assert 0.0 < share < 0.1
    assert_close(after, share * before, 1e-6)
    assert all(
        InertialParameters(link.phi).consistent
        for link in read_model(fixed.path).links
        if link.phi is not None
    )


@pytest.mark.parametrize("mass", [0.3, 50.0])
def test_all_else_in_the_file_is_as_it_was(mass, tmp_path, pinocchio):
    robot, _, fixed = written(tmp_path, mass)
    assert fixed.joints == robot.joints
    assert_close(fixed.position_limits, robot.position_limits, 1e-12)
    for name, (link, pose) in robot.frames.items():
        assert fixed.frame(name).link == link
        assert_close(fixed.frame(name).X_LF.matrix, pose.matrix, 1e-12)


def dynamics() -> JointDynamics:
    return JointDynamics(FRICTION[:, 0], FRICTION[:, 1], ROTORS)


def motion_without_reversals(count=40):
    """Random states whose velocities are above those of stiction."""
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, count, 3))
    return q, v + 0.3 * np.sign(v), a


def torques_without_offset(robot, links, q, v, a):
    return torques(robot, Motion(np.zeros(len(q)), q, v, a), links) - FRICTION[:, 2]


def test_friction_in_a_urdf_is_read_by_pinocchio_as_it_was_fitted(tmp_path, pinocchio):
    path = tmp_path / "arm.urdf"
    path.write_text(arm_text().replace("<axis", '<dynamics damping="9"/><axis', 1))
    robot = read_robot(path, JOINTS, gravity=GRAVITY)
    links = true_links(robot)
    text = fitted_model(robot, links, dynamics()).content.decode()
    assert text.count("<dynamics") == 3
    model = pinocchio.buildModelFromXML(text)
    model.gravity.linear = np.array(GRAVITY)
    assert_close(model.damping, FRICTION[:, 0])
    assert_close(model.friction, FRICTION[:, 1])
    model.armature, data = ROTORS, model.createData()
    q, v, a = motion_without_reversals()
    found = [pinocchio.rnea(model, data, *state) for state in zip(q, v, a, strict=True)]
    found += model.damping * v + model.friction * np.sign(v)
    assert_close(found, torques_without_offset(robot, links, q, v, a), 1e-6)


def test_an_mjcf_moves_in_mujoco_as_the_fitted_arm(tmp_path, pinocchio):
    mujoco = pytest.importorskip("mujoco")
    robot = read_arm_model(tmp_path)
    links = true_links(robot)
    model = mujoco.MjModel.from_xml_string(fitted_mjcf(robot, links, dynamics()).decode())
    data = mujoco.MjData(model)
    assert_close(model.dof_armature, ROTORS)
    q, v, a = motion_without_reversals()
    q = np.clip(q, -1.5, 1.5)  # within the limits, whose forces would count
    found = []
    for state in zip(q, v, a, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = state
        mujoco.mj_inverse(model, data)
        found.append(data.qfrc_inverse.copy())
    expected = torques_without_offset(robot, links, q, v, a)
    assert np.abs(found - expected).max() < 1e-3 * np.abs(expected).max()
    # and forward, by the torques of the arm: it follows the motion that these are of
    motion = Motion.random(3, 2.0)
    effort = torques(robot, motion, links) - FRICTION[:, 2]
    data.qpos[:], data.qvel[:] = motion.q[0], motion.v[0]
    model.opt.timestep = 1e-3
    for k in range(50):
        for _ in range(10):
            data.qfrc_applied[:] = effort[k]
            mujoco.mj_step(model, data)
    assert np.abs(data.qpos - motion.q[50]).max() < 0.03
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "tool")
    mujoco.mj_kinematics(model, data)
    assert_close(data.site_xpos[site], frame_pose(robot, "tool", data.qpos[None]).position[0], 1e-9)

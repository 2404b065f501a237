import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.robots import frame_motion, frame_pose, inverse_dynamics, read_robot
from identify.spatial import hat
from tests.close import assert_close
from tests.robots.arms import FullModel, arm_text, trees


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pinocchio):
    return tmp_path_factory.mktemp("robots")


@given(tree=trees(), seed=st.integers(0, 2**32), data=st.data())
def test_pose_and_motion_of_any_frame_are_those_of_pinocchio(tree, seed, data, folder, pinocchio):
    path = folder / "tree.urdf"
    path.write_text(tree.text)
    rng = np.random.default_rng(seed)
    robot = read_robot(path, tree.logged, gravity=rng.normal(size=3))
    links = ["base", *(joint.child for joint in tree.joints)]
    name = data.draw(st.sampled_from(links))
    q, v, a = rng.normal(size=(3, 3, len(tree.logged)))
    X, motion = frame_pose(robot, name, q), frame_motion(robot, name, q, v, a)
    full = FullModel(pinocchio, tree, robot.gravity)
    model, frame = full.model, full.model.getFrameId(name)
    local = pinocchio.ReferenceFrame.LOCAL
    for k, state in enumerate(full.states(q, v, a)):
        pinocchio.forwardKinematics(model, full.data, *state)
        placement = pinocchio.updateFramePlacement(model, full.data, frame)
        twist = pinocchio.getFrameVelocity(model, full.data, frame, local)
        acceleration = pinocchio.getFrameClassicalAcceleration(model, full.data, frame, local)
        assert_close(X.rotation[k], placement.rotation, 1e-12)
        assert_close(X.position[k], placement.translation, 1e-12, scale=1.0)
        assert_close(motion.angular_velocity[k], twist.angular, 1e-12, scale=10.0)
        scale = 1.0 + max(abs(acceleration.vector))
        assert_close(motion.angular_acceleration[k], acceleration.angular, 1e-12, scale=scale)
        proper = acceleration.linear - placement.rotation.T @ robot.gravity
        assert_close(motion.proper_acceleration[k], proper, 1e-12, scale=scale)


def test_accelerations_are_second_derivatives_of_the_pose(folder):
    path = folder / "arm.urdf"
    path.write_text(arm_text())
    robot = read_robot(path)
    q, v, a = np.random.default_rng(0).normal(size=(3, 1, 3))
    step = 1e-3
    t = step * np.array([[-1.0], [0.0], [1.0]])
    X = frame_pose(robot, "link_2", q + v * t + 0.5 * a * t**2)
    motion = frame_motion(robot, "link_2", q, v, a)
    R = X.rotation[1]
    second = (X.position[0] - 2.0 * X.position[1] + X.position[2]) / step**2
    proper = R.T @ (second - robot.gravity)
    assert_close(motion.proper_acceleration[0], proper, 1e-5, scale=20.0)
    turn = R.T @ (X.rotation[2] - X.rotation[0]) / (2.0 * step)
    assert_close(hat(motion.angular_velocity[0]), turn, 1e-5, scale=5.0)


def test_frame_of_the_base_rests(folder):
    path = folder / "arm.urdf"
    path.write_text(arm_text())
    robot = read_robot(path)
    q, v, a = np.random.default_rng(0).normal(size=(3, 4, 3))
    X, motion = frame_pose(robot, "base", q), frame_motion(robot, "base", q, v, a)
    assert_close(X.matrix, np.tile(np.eye(4), (4, 1, 1)), 0.0)
    assert_close(motion.proper_acceleration, np.tile([0.0, 0.0, 9.80665], (4, 1)), 0.0)
    assert not motion.angular_velocity.any()


def test_power_of_gravity_is_that_of_the_torques_at_rest(folder):
    path = folder / "arm.urdf"
    path.write_text(arm_text(1))
    robot = read_robot(path)
    q, still = np.array([[0.7]]), np.zeros((1, 1))
    # The body's weight at its centre of mass moves down by as much as the joint's torque works.
    mass, *moment = robot.phi[0, :4]
    com = np.array(moment) / mass
    step = 1e-5
    below, above = (
        (X := frame_pose(robot, "link_0", q + side)).position[0] + X.rotation[0] @ com
        for side in (-step, step)
    )
    work = -mass * robot.gravity @ (above - below) / (2.0 * step)
    assert_close(inverse_dynamics(robot, q, still, still)[0, 0], work, 1e-8)


def test_frame_that_is_not_there_names_the_nearest(folder):
    path = folder / "arm.urdf"
    path.write_text(arm_text())
    robot = read_robot(path)
    with pytest.raises(ModelError, match=r"no frame of .*'link2' among .*did you mean 'link_2'\?"):
        frame_pose(robot, "link2", np.zeros((1, 3)))
    with pytest.raises(ModelError, match=r"positions of the joints: expected shape \(n, 3\)"):
        frame_pose(robot, "link_2", np.zeros((1, 2)))

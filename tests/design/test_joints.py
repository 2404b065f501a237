from dataclasses import replace

import numpy as np
import pytest

from identify.design import Search, design_motion, joint_limits, joint_problem, middle_of_range
from identify.design.d_optimal import within_limits
from identify.design.joints import SIGN_SPEED
from identify.errors import ProblemError
from identify.inertia import InertialParameters, in_frame
from identify.robots import read_robot
from tests.close import assert_close
from tests.design.problems import ARM, ARM_BASIS, BODY, arm, drawn, motion_of

pytestmark = pytest.mark.usefixtures("pinocchio")


def torques_by_rnea(pinocchio, problem, motion):
    """Torques of an arm with its payload added to the last link, by Pinocchio."""
    model = pinocchio.buildModelFromUrdf(str(problem.robot.path))
    link, X_LF = problem.space.tool
    load = InertialParameters(in_frame(problem.payload, X_LF)).to_pinocchio()
    model.inertias[link + 1] = model.inertias[link + 1] + load
    model.gravity = pinocchio.Motion(problem.robot.gravity, np.zeros(3))
    data = model.createData()
    q, v, a = motion
    states = zip(problem.start + q, v, a, strict=True)
    return np.array([pinocchio.rnea(model, data, *state).copy() for state in states])


def test_rows_give_the_torques_of_pinocchio_with_friction(pinocchio):
    problem = arm()
    motion = motion_of(problem, ARM_BASIS).at(ARM_BASIS.times())
    torque = torques_by_rnea(pinocchio, problem, motion)
    rows = problem.rows(motion)
    assert_close(rows.shares, np.abs(torque) / problem.torque_limits)
    bare = replace(problem, payload=np.zeros(10))
    viscous, coulomb, offset = np.arange(18.0).reshape(3, 6)
    friction = viscous * motion[1] + coulomb * np.tanh(motion[1] / SIGN_SPEED) + offset
    unknowns = np.concatenate((BODY.phi, viscous, coulomb, offset))
    expected = torque - torques_by_rnea(pinocchio, bare, motion) + friction
    assert_close(rows.regressor @ unknowns * problem.noise.sigma, expected, 1e-9)


@pytest.mark.usefixtures("few_iterations")
def test_torque_limits_hold_for_a_designed_motion_by_pinocchio(pinocchio):
    problem = replace(arm(), torque_limits=np.array([60.0, 110.0, 60.0, 9.0, 9.0, 4.0]))
    motion = design_motion(problem, ARM_BASIS, Search(starts=1))
    fine = motion.at(ARM_BASIS.times(refinement=10))
    shares = np.abs(torques_by_rnea(pinocchio, problem, fine)) / problem.torque_limits
    assert 0.5 < shares.max() <= 1.0 + 1e-9
    assert np.abs(problem.limits.shares(fine)).max() <= 1.0 + 1e-9


def test_a_payload_that_the_torques_do_not_hold_is_an_error_that_names_the_joint():
    problem = arm()
    heavy = replace(problem, payload=20.0 * BODY.phi)
    with pytest.raises(ProblemError, match=r"limit of the torque of joint\d: the start"):
        within_limits(heavy, ARM_BASIS, drawn(heavy, ARM_BASIS))


def test_a_start_outside_the_range_is_an_error_that_names_the_joint():
    robot = read_robot(ARM)
    with pytest.raises(ProblemError, match=r"joint3: the start, 401\.07 deg, is not between"):
        joint_limits(robot, np.array([0, 0, 7.0, 0, 0, 0]), excursion=1.0, shares=(0.9, 0.9))


def test_limits_are_those_of_the_model_by_their_shares_about_the_start():
    robot = read_robot(ARM.parents[1] / "seven_axes" / "arm.urdf")
    start = middle_of_range(robot)
    low, high = robot.position_limits.T
    assert_close(start, 0.5 * (low + high))
    limits = joint_limits(robot, start, excursion=10.0, shares=(0.8, 0.5), acceleration=3.0)
    assert_close(limits.high - limits.low, 0.8 * (high - low))
    assert_close(limits.speed, 0.5 * robot.velocity_limits)
    assert_close(limits.acceleration, np.full(7, 3.0))
    near = joint_limits(robot, start, excursion=0.3, shares=(0.8, 0.5))
    assert_close(near.high, np.full(7, 0.3))


@pytest.mark.parametrize("name", ["velocity", "effort"])
def test_a_model_without_a_limit_is_an_error_that_names_the_joint(tmp_path, name):
    path = tmp_path / "arm.urdf"
    text = ARM.read_text()
    value = text.partition(f'{name}="')[2].partition('"')[0]
    path.write_text(text.replace(f'{name}="{value}"', f'{name}="0"', 1))
    with pytest.raises(ProblemError, match=f"joint1 has no limit of {name}"):
        whole_arm(path)


def whole_arm(path):
    robot, start = read_robot(path), np.zeros(6)
    limits = joint_limits(robot, start, excursion=1.0, shares=(0.9, 0.9))
    return joint_problem(robot, limits, start, torque_share=1.0, placement=None, body=None)

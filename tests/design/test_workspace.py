import numpy as np
import pytest

from identify.design.problem import DesignRows
from identify.design.workspace import reach_limits
from identify.errors import ProblemError
from identify.inertia.parameters import default_radius
from identify.robots import read_robot
from tests.close import assert_close
from tests.design.problems import ARM, ARM_BASIS, BODY, arm, drawn
from tests.robots.arms import INERTIAL, LIMIT, link_text, robot_text

pytestmark = pytest.mark.usefixtures("pinocchio")

SHAPES = """<collision><origin xyz="0 0 0.2" rpy="0 1.5707963267948966 0"/>
  <geometry><cylinder radius="0.05" length="0.6"/></geometry></collision>
  <visual><geometry><sphere radius="3"/></geometry></visual>"""


@pytest.fixture
def boom(tmp_path):
    """A link that turns about y, with a cylinder along x, and a hand fixed to its end."""
    path = tmp_path / "boom.urdf"
    path.write_text(
        robot_text(
            f"""<joint name="joint" type="revolute"><parent link="base"/><child link="link"/>
            <origin xyz="0 0 1"/><axis xyz="0 1 0"/>{LIMIT}</joint>
            {link_text("link", INERTIAL + SHAPES)}
            <joint name="fixed" type="fixed"><parent link="link"/><child link="hand"/>
            <origin xyz="0.5 0 0"/></joint><link name="hand"><collision><origin xyz="0.1 0 0"/>
            <geometry><box size="0.2 0.1 0.1"/></geometry></collision></link>"""
        )
    )
    return read_robot(path)


def test_shares_of_the_floor_are_those_of_the_lowest_corner(boom):
    space = reach_limits(boom, boom.frame("hand"), floor=0.25)
    assert space.all_have_geometry
    assert space.names == ("the floor under link",)
    # Turned by 90°, x points down: the far side of the box of the hand is 0.7 m below the joint.
    q = np.array([[0.0], [np.pi / 2]])
    assert_close(space.shares(boom, q)[:, 0], [-1.0, 1.0 - (0.3 - 0.25) / 0.1])
    high = reach_limits(boom, boom.frame("hand"), floor=0.9)
    assert_close(high.shares(boom, q[:1])[0, 0], 1.0 - (0.95 - 0.9) / 0.1)


def test_a_payload_is_a_ball_about_its_centre_of_mass(boom):
    space = reach_limits(boom, boom.frame("hand"), floor=0.3, payload=BODY)
    x, z = 0.5 + BODY.com[0], BODY.com[2]
    q = np.array([[np.pi / 2 - 1.2]])
    angle = q[0, 0]
    ball = 1.0 - x * np.sin(angle) + z * np.cos(angle) - default_radius(BODY.mass)
    boxes = reach_limits(boom, boom.frame("hand"), floor=0.3).shares(boom, q)
    expected = max(1.0 - (ball - 0.3) / 0.1, boxes[0, 0], -1.0)
    assert_close(space.shares(boom, q)[0, 0], expected)


def test_links_without_geometry_have_the_origins_of_their_frames():
    robot = read_robot(ARM)
    space = reach_limits(robot, robot.frame("tool0"), floor=0.0)
    assert not space.all_have_geometry
    assert all(len(points) for points in space.points)


def test_shares_of_a_box_are_those_of_the_tool(boom):
    box = np.array([[-np.inf, 0.6], [-0.1, np.inf], [-np.inf, np.inf]])
    space = reach_limits(boom, boom.frame("hand"), box=box)
    assert space.names == ("the upper x of the box", "the lower y of the box")
    assert_close(space.shares(boom, np.zeros((1, 1))), [[0.0, 0.0]], 1e-9, scale=1.0)
    assert_close(space.tool_path(boom, np.zeros((1, 1))), [[0.5, 0.0, 1.0]])


def test_slopes_of_the_shares_are_those_of_their_differences(rng):
    problem = arm(floor=0.1, box=np.array([[-0.9, 0.9], [-0.9, 0.9], [0.2, 0.9]]))
    motion = ARM_BASIS.at(rng.uniform(0.0, 10.0, 5)) @ (0.1 * drawn(problem, ARM_BASIS)).T
    step, h = np.zeros_like(motion), 1e-5
    step[0] = rng.normal(size=step[0].shape)
    ahead, behind = (problem.rows(motion + s * step).shares for s in (h, -h))
    rows, pullback = problem.rows_with_pullback(motion)
    of_shares = rng.normal(size=rows.shares.shape)
    gradient = pullback(DesignRows(np.zeros_like(rows.regressor), of_shares))
    expected = np.sum(of_shares * (ahead - behind), axis=1) / (2.0 * h)
    assert_close(np.sum(gradient * step, axis=(0, 2)), expected, 1e-5)


def test_a_crossed_box_is_an_error_that_names_the_side(boom):
    with pytest.raises(ProblemError, match="box: expected a lower y below the upper one"):
        reach_limits(boom, boom.frame("hand"), box=np.array([[0, 1], [1, 0], [0, 1]]))

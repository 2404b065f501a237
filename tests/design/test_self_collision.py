from dataclasses import replace

import numpy as np
import pytest

from identify.design import joint_limits, joint_problem
from identify.design.d_optimal import design_from_start, motion_cost, within_limits
from identify.design.periodic import PeriodicBasis, limited_motion
from identify.design.self_collision import SelfCollision
from identify.errors import ProblemError
from identify.robots import read_robot
from tests.close import assert_close
from tests.design.problems import ARM, ARM_BASIS, drawn
from tests.robots.arms import arm_text

pytestmark = pytest.mark.usefixtures("pinocchio")


@pytest.fixture
def chain(tmp_path):
    """Three links of 0.4 m that turn about y; the first and the last have boxes."""
    path = tmp_path / "chain.urdf"
    text = arm_text(3)
    for name, z in (("link_0", 0.2), ("link_2", 0.3)):
        shape = (
            f'<link name="{name}"><collision><origin xyz="0 0 {z}"/><geometry>'
            '<box size="0.08 0.08 0.3"/></geometry></collision>'
        )
        text = text.replace(f'<link name="{name}">', shape, 1)
    path.write_text(text)
    return read_robot(path)


def test_a_chain_that_folds_onto_itself_collides(chain):
    folded = np.array([0.0, 2.1, 2.1])
    motion = np.linspace(0.0, 1.0, 30)[:, None] * folded
    assert SelfCollision.of(chain).first_pair(motion) == "link_0_0 and link_2_0"
    assert SelfCollision.of(chain).first_pair(0.3 * motion) == ""


def test_shapes_that_overlap_in_every_position_are_left_out(chain):
    text = chain.path.read_text()
    chain.path.write_text(text.replace("0.08 0.08 0.3", "3 3 3"))
    assert SelfCollision.of(read_robot(chain.path)) is None


def test_an_arm_without_shapes_cannot_be_checked():
    assert SelfCollision.of(read_robot(ARM)) is None


def folding(chain, start):
    start = np.array(start)
    limits = joint_limits(chain, start, excursion=2.5, shares=(1.0, 1.0), acceleration=8.0)
    return joint_problem(chain, limits, start, torque_share=1.0)


def test_a_motion_that_collides_shrinks_until_it_does_not(chain):
    problem = folding(chain, [0.0, 1.4, 1.4])
    motion = within_limits(problem, ARM_BASIS, drawn(problem, ARM_BASIS, seed=1))
    assert motion.scale < 1.0
    assert problem.contact(motion.at(ARM_BASIS.times(refinement=10))) == ""
    assert problem.contact(motion.at(ARM_BASIS.times()) / motion.scale) == "link_0_0 and link_2_0"


def test_a_start_that_collides_is_an_error_that_names_the_shapes(chain):
    problem = folding(chain, [0.0, 2.1, 2.1])
    with pytest.raises(ProblemError, match="self-collision: link_0_0 and link_2_0 touch"):
        within_limits(problem, ARM_BASIS, drawn(problem, ARM_BASIS))


def test_the_proximity_of_shapes_has_the_derivatives_of_their_distances(chain, rng):
    check = SelfCollision.of(chain)
    q = np.array([0.0, 2.0, 2.0]) + rng.uniform(-0.3, 0.3, (40, 3))
    step, h = rng.normal(size=q.shape), 1e-6
    ahead, behind = (check.proximity(q + s * step)[0] for s in (h, -h))
    proximity, slopes = check.proximity(q)
    assert (proximity > 0.0).sum() > 5
    assert (proximity > 0.2).any()  # deeper than the clearance: the boxes overlap
    assert_close(np.einsum("tpn,tn->tp", slopes, step), (ahead - behind) / (2.0 * h), 1e-6)


@pytest.mark.parametrize("kind", ["revolute", "continuous"])
def test_mimicking_and_locked_joints_move_the_shapes_as_the_robot_says(chain, rng, kind):
    text = chain.path.read_text()
    mimic = '<mimic joint="joint_1" multiplier="0.9" offset="0.3"/></joint>'
    first, second, third = text.split("</joint>")[:3]
    rest = text.split("</joint>", 3)[3]
    second = second.replace("revolute", kind)
    chain.path.write_text(f"{first}</joint>{second}</joint>{third}{mimic}{rest}")
    robot = read_robot(chain.path, ["joint_1"])
    assert (robot.joints, dict(robot.locked)) == (("joint_1",), {"joint_0": 0.0})
    check, full = SelfCollision.of(robot), SelfCollision.of(read_robot(chain.path))
    assert full.model.njoints == check.model.njoints + 1
    q = rng.uniform(1.2, 2.4, (60, 1))
    proximity, slopes = check.proximity(q)
    assert (proximity > 0.0).any()
    assert (proximity == 0.0).any()
    assert_close(proximity, full.proximity(np.pad(q, ((0, 0), (1, 0))))[0])
    ahead, behind = (check.proximity(q + s)[0] for s in (1e-6, -1e-6))
    assert_close(slopes[..., 0], (ahead - behind) / 2e-6, 1e-6)


def test_shapes_that_come_close_are_penalized_in_the_search(chain):
    problem = folding(chain, [0.0, 1.4, 1.4])
    series = ARM_BASIS.at(ARM_BASIS.times())
    coefficients = drawn(problem, ARM_BASIS, seed=1)
    motion, _ = limited_motion(series, coefficients, problem.limits)
    without = motion_cost(replace(problem, collision=None), series, coefficients, 0.98)[0]
    penalty = motion_cost(problem, series, coefficients, 0.98)[0] - without
    assert penalty > 1.0
    assert_close(penalty, 30.0 * np.square(problem.proximity(motion)[0]).sum())


def test_a_searched_motion_does_not_touch_before_it_shrinks(chain, monkeypatch):
    monkeypatch.setattr("identify.design.d_optimal._STAGES", (60,))
    problem, basis = folding(chain, [0.0, 1.6, 1.6]), PeriodicBasis(10.0, 6)
    for collision, expected in ((None, "link_0_0 and link_2_0"), (problem.collision, "")):
        searched = replace(problem, collision=collision)
        motion = design_from_start(searched, basis, np.random.default_rng(0))
        assert problem.contact(motion.at(basis.times(refinement=10)) / motion.scale) == expected

import numpy as np
import pytest

from identify.design import joint_limits, joint_problem
from identify.design.d_optimal import within_limits
from identify.design.self_collision import SelfCollision
from identify.errors import ProblemError
from identify.robots import read_robot
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

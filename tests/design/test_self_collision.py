import numpy as np
import pytest

from identify.design.self_collision import colliding_links
from identify.robots import read_robot
from tests.design.problems import ARM
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
    assert colliding_links(chain, motion) == "link_0_0 and link_2_0"
    assert colliding_links(chain, 0.3 * motion) == ""


def test_shapes_that_touch_at_the_start_are_left_out(chain):
    folded = np.array([[0.0, 2.1, 2.1], [0.0, 2.0, 2.1]])
    assert colliding_links(chain, folded) is None


def test_an_arm_without_shapes_cannot_be_checked():
    assert colliding_links(read_robot(ARM), np.zeros((2, 6))) is None

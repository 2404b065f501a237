from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.robots import parameter_names, read_robot, robot_base_columns, torque_regressor
from tests.close import assert_close
from tests.robots.arms import arm_text, trees


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pinocchio):
    return tmp_path_factory.mktemp("robots")


@settings(max_examples=15)
@given(tree=trees(), seed=st.integers(0, 2**32))
def test_regressor_of_any_motion_is_that_of_the_independent_columns(tree, seed, folder):
    path = folder / "tree.urdf"
    path.write_text(tree.text)
    robot = read_robot(path, tree.logged)
    base = robot_base_columns(robot)
    Y = torque_regressor(robot, *np.random.default_rng(seed).normal(size=(3, 5, len(robot.joints))))
    assert_close(Y[..., base.independent] @ base.dependence, Y, 1e-4)


def test_planar_arm_has_two_parameters_a_link_and_one_more_for_the_first(folder):
    path = folder / "planar.urdf"
    path.write_text(arm_text())
    robot = read_robot(path)
    base = robot_base_columns(robot)
    # All joints turn about y: hx, hz and Iyy of each link, and masses add to hz of the link below.
    names = parameter_names(robot)
    assert [names[k] for k in base.independent] == [
        f"{name} of link_{i}" for i in range(3) for name in ("hx", "hz", "Iyy")
    ]
    assert base.describe(names)[1] == "hz of link_0 + 0.4 m of link_1 + 0.4 m of link_2"


@pytest.mark.parametrize("name", ["ur10e_payload/ur10e.urdf", "tx40/tx40.urdf"])
def test_arm_of_six_axes_has_thirty_six(name, shared_data, pinocchio):
    assert len(robot_base_columns(read_robot(shared_data / name)).independent) == 36


@pytest.mark.parametrize(("name", "count"), [("six_axes", 36), ("seven_axes", 43)])
def test_shipped_arms_have_as_many_as_such_arms_have(name, count, pinocchio):
    path = Path(__file__).parents[2] / "datasets" / "arms" / name / "arm.urdf"
    assert len(robot_base_columns(read_robot(path)).independent) == count

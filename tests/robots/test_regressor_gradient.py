from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.robots import read_robot, torque_regressor
from identify.robots.regressor_gradient import regressor_with_pullback
from tests.close import assert_close
from tests.robots.arms import trees

ARMS = Path(__file__).parents[2] / "datasets" / "arms"
STEP = 1e-5


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pinocchio):
    return tmp_path_factory.mktemp("robots")


@given(tree=trees(), seed=st.integers(0, 2**32))
def test_gradient_of_a_random_tree_is_that_of_differences(tree, seed, folder):
    """Trees have joints that slide, mimic joints and branches."""
    path = folder / "tree.urdf"
    path.write_text(tree.text)
    rng = np.random.default_rng(seed)
    robot = read_robot(path, tree.logged, gravity=rng.normal(size=3))
    motion = rng.normal(size=(3, 4, len(robot.joints)))
    regressor, pullback = regressor_with_pullback(robot, *motion)
    np.testing.assert_array_equal(regressor, torque_regressor(robot, *motion))
    weights = rng.normal(size=regressor.shape)
    gradient = pullback(weights)
    assert gradient.shape == motion.shape
    scale = max(1.0, abs(gradient).max())
    for order, joint in np.ndindex(3, len(robot.joints)):
        step = np.zeros_like(motion)
        step[order, :, joint] = STEP
        ahead, behind = (torque_regressor(robot, *(motion + s * step)) for s in (1, -1))
        expected = np.einsum("tjc,tjc->t", weights, ahead - behind) / (2.0 * STEP)
        assert_close(gradient[order, :, joint], expected, 1e-7, scale=scale)


@pytest.mark.parametrize("name", ["six_axes", "seven_axes"])
def test_gradient_of_torques_is_that_of_the_derivatives_of_pinocchio(name, pinocchio):
    """Weights of λ φᵀ give λᵀτ, whose derivatives Pinocchio has in closed form."""
    path = ARMS / name / "arm.urdf"
    robot = read_robot(path, gravity=(0.0, 0.0, -9.81))  # as of Pinocchio
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    rng = np.random.default_rng(0)
    samples, n = 10, len(robot.joints)
    motion, of_torque = rng.normal(size=(3, samples, n)), rng.normal(size=(samples, n))
    _, pullback = regressor_with_pullback(robot, *motion)
    gradient = pullback(of_torque[..., None] * robot.phi.ravel())
    for t in range(samples):
        of_q, of_v, of_a = pinocchio.computeRNEADerivatives(model, data, *motion[:, t])
        expected = np.stack([of_torque[t] @ of for of in (of_q, of_v, of_a)])
        assert_close(gradient[:, t], expected, 1e-11)

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.robots import inverse_dynamics, read_robot, torque_regressor
from identify.robots.regressor import _CHUNK_SAMPLES
from tests.close import assert_close
from tests.robots.arms import LIMIT, FullModel, arm_text, tree_of, trees

ARMS = Path(__file__).parents[2] / "datasets" / "arms"
SHIPPED = ["six_axes", "seven_axes"]
MEASURED = ["ur10e_payload/ur10e.urdf", "tx40/tx40.urdf"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pinocchio):
    return tmp_path_factory.mktemp("robots")


def motions(rng, robot, samples=3):
    return rng.normal(size=(3, samples, len(robot.joints)))


@given(tree=trees(), seed=st.integers(0, 2**32))
def test_torques_of_a_random_tree_are_those_of_pinocchio(tree, seed, folder, pinocchio):
    path = folder / "tree.urdf"
    path.write_text(tree.text)
    rng = np.random.default_rng(seed)
    robot = read_robot(path, tree.logged, gravity=rng.normal(size=3))
    assert robot.joints == tree.logged
    q, v, a = motions(rng, robot)
    expected = FullModel(pinocchio, tree, robot.gravity).torques(q, v, a)
    scale = max(1.0, abs(expected).max())
    assert_close(inverse_dynamics(robot, q, v, a), expected, 1e-12, scale=scale)
    Y = torque_regressor(robot, q, v, a)
    assert Y.shape == (3, len(robot.joints), 10 * len(robot.links))
    assert_close(Y @ robot.phi.ravel(), expected, 1e-12, scale=scale)


@pytest.mark.parametrize("name", MEASURED)
def test_regressor_of_a_measured_arm_is_that_of_pinocchio(name, shared_data, pinocchio):
    assert_regressor_is_that_of_pinocchio(shared_data / name, pinocchio)


@pytest.mark.parametrize("name", SHIPPED)
def test_regressor_of_a_shipped_arm_is_that_of_pinocchio(name, pinocchio):
    assert_regressor_is_that_of_pinocchio(ARMS / name / "arm.urdf", pinocchio)


def assert_regressor_is_that_of_pinocchio(path, pinocchio):
    robot = read_robot(path, gravity=(1.0, -2.0, 3.0))
    model = pinocchio.buildModelFromXML(path.read_text())
    model.gravity = pinocchio.Motion(robot.gravity, np.zeros(3))
    data = model.createData()
    q, v, a = motions(np.random.default_rng(0), robot, 20)
    # Pinocchio's columns of a body: m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
    order = np.array([0, 1, 2, 3, 4, 5, 7, 6, 8, 9])
    columns = (10 * np.arange(len(robot.links))[:, None] + order).ravel()
    expected = np.array(
        [
            pinocchio.computeJointTorqueRegressor(model, data, *sample).copy()
            for sample in zip(q, v, a, strict=True)
        ]
    )
    assert_close(torque_regressor(robot, q, v, a), expected[..., columns], 1e-12)


EXAMPLES = [
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "kinova_description/robots/kinova.urdf",
    "talos_data/robots/talos_reduced.urdf",
]


def assert_torques_are_those_of_pinocchio(path, pinocchio):
    tree, rng = tree_of(path), np.random.default_rng(4)
    robot = read_robot(path, gravity=rng.normal(size=3))
    assert robot.joints == tree.logged
    q, v, a = motions(rng, robot, 20)
    expected = FullModel(pinocchio, tree, robot.gravity).torques(q, v, a)
    assert_close(torque_regressor(robot, q, v, a) @ robot.phi.ravel(), expected, 1e-12)


@pytest.mark.parametrize("name", SHIPPED)
def test_torques_of_a_shipped_arm_are_those_of_pinocchio(name, pinocchio):
    assert_torques_are_those_of_pinocchio(ARMS / name / "arm.urdf", pinocchio)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_torques_of_a_known_robot_are_those_of_pinocchio(name, pinocchio):
    loader = pytest.importorskip("example_robot_data.robots_loader")
    assert_torques_are_those_of_pinocchio(Path(loader.getModelPath(name)) / name, pinocchio)


def test_mimic_joints_are_those_of_a_model_of_pinocchio_with_mimics(folder, pinocchio):
    mimic = '<mimic joint="joint_0" multiplier="-1.5" offset="0.2"/>'
    head, tail = arm_text().split('name="joint_2"')
    text = head + 'name="joint_2"' + tail.replace(LIMIT, LIMIT + mimic)
    path = folder / "mimic.urdf"
    path.write_text(text)
    robot = read_robot(path, gravity=(0.0, 0.0, -9.81))
    model = pinocchio.buildModelFromXML(text, mimic=True)
    data = model.createData()
    q, v, a = motions(np.random.default_rng(5), robot, 10)
    expected = [pinocchio.rnea(model, data, *each).copy() for each in zip(q, v, a, strict=True)]
    assert_close(inverse_dynamics(robot, q, v, a), expected, 1e-12)


def test_samples_of_several_chunks_are_those_of_each_alone(folder):
    path = folder / "arm.urdf"
    path.write_text(arm_text())
    robot = read_robot(path)
    q, v, a = motions(np.random.default_rng(1), robot, 2 * _CHUNK_SAMPLES + 5)
    rows = [0, _CHUNK_SAMPLES - 1, _CHUNK_SAMPLES, 2 * _CHUNK_SAMPLES + 4]
    Y, torque = torque_regressor(robot, q, v, a), inverse_dynamics(robot, q, v, a)
    assert_close(Y[rows], torque_regressor(robot, q[rows], v[rows], a[rows]), 1e-14)
    assert_close(torque[rows], inverse_dynamics(robot, q[rows], v[rows], a[rows]), 1e-14)
    assert torque_regressor(robot, q[:0], v[:0], a[:0]).shape == (0, 3, 30)


def test_power_of_the_torques_is_the_rate_of_energy(folder):
    path = folder / "energy.urdf"
    path.write_text(arm_text())
    robot = read_robot(path, gravity=(0.0, 0.0, 0.0))
    q, v, a = motions(np.random.default_rng(2), robot, 1)

    def energy(t):
        # The kinetic energy ½ vᵀ M v, with M v the torques of an acceleration v at rest.
        position, rate = q + v * t + 0.5 * a * t**2, v + a * t
        return 0.5 * float(
            np.sum(rate * inverse_dynamics(robot, position, np.zeros_like(rate), rate))
        )

    step = 1e-4
    rate_of_energy = (energy(step) - energy(-step)) / (2.0 * step)
    power = float(np.sum(v * inverse_dynamics(robot, q, v, a)))
    assert_close(rate_of_energy, power, 1e-6)


def test_pickled_robot_has_the_same_torques(folder):
    path = folder / "pickled.urdf"
    path.write_text(arm_text())
    robot = read_robot(path, ["joint_2", "joint_0"])
    again = pickle.loads(pickle.dumps(robot))  # noqa: S301
    q, v, a = motions(np.random.default_rng(3), robot)
    assert_close(inverse_dynamics(again, q, v, a), inverse_dynamics(robot, q, v, a), 0.0)
    assert again.locked == robot.locked == {"joint_1": 0.0}


def test_motion_of_another_shape_is_refused(folder):
    path = folder / "shape.urdf"
    path.write_text(arm_text())
    robot = read_robot(path)
    q = np.zeros((4, 3))
    with pytest.raises(ModelError, match=r"velocities of the joints: expected shape \(4, 3\)"):
        torque_regressor(robot, q, q[:3], q)
    with pytest.raises(ModelError, match=r"positions of the joints: expected shape \(n, 3\)"):
        inverse_dynamics(robot, q[:, :2], q, q)
    with pytest.raises(ModelError, match=r"phi: expected shape \(3, 10\)"):
        inverse_dynamics(robot, q, q, q, np.zeros((2, 10)))

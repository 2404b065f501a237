import numpy as np
import pytest

from identify.catalog import (
    dataset_logs,
    dataset_path,
    find_dataset,
    read_joint_log,
)
from identify.catalog.logs import JointLayout, to_joints
from identify.errors import DatasetError
from tests.close import assert_close

LAYOUT = JointLayout(
    rate_hz=100.0,
    positions="p.csv",
    torques="t.csv",
    columns=("a", "b"),
    motor_per_joint=((30.0, 0.0), (20.0, -40.0)),
    joint_offset=(0.5, -0.25),
)


def test_stars_logs_have_schema_truth_and_points(shared):
    logs = dataset_logs("stars")
    assert len(logs) == 20
    assert [log.name for log in logs] == sorted(log.name for log in logs)
    for log in logs:
        assert log.path == shared / "stars_tools" / f"{log.name}.csv"
        assert log.points == shared / "stars_tools" / "points" / f"{log.name}.csv"
        assert log.truth is not None
        assert log.truth.consistent
        assert log.sides is not None
        assert log.sides.shape == (3,)
        assert not log.sides.flags.writeable


def test_tx40_starts_at_rest_in_its_zero_position(shared):
    log = read_joint_log("tx40")
    assert log.rate_hz == 5000.0
    assert log.positions.shape == log.torques.shape == (45_000, 6)
    assert np.abs(log.positions[:100]).max() < 1e-3
    assert np.ptp(log.positions, axis=0).min() > 1.5  # every joint moves
    assert np.abs(log.torques).max() < 131.84  # the largest effort of the model


def test_tx40_has_model_and_reference(shared):
    folder = dataset_path("tx40")
    names = [
        file.path for role in ("model", "reference") for file in find_dataset("tx40").of_role(role)
    ]
    assert names == ["tx40.urdf", "reference_base_parameters.csv"]
    assert all((folder / name).is_file() for name in names)


def test_motors_and_joints_have_the_same_power():
    rng = np.random.default_rng(7)
    angles, torques = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    log = to_joints(LAYOUT, angles, torques)
    motor_work = np.sum(torques[:-1] * np.diff(angles, axis=0), axis=1)
    joint_work = np.sum(log.torques[:-1] * np.diff(log.positions, axis=0), axis=1)
    assert_close(joint_work, motor_work, rtol=1e-12)


def test_the_transmission_moves_the_motors_from_the_offset():
    q = np.array([[0.5, -0.25], [1.5, -0.25], [0.5, 0.75]])
    motors = np.array([[0.0, 0.0], [30.0, 20.0], [0.0, -40.0]])
    assert_close(to_joints(LAYOUT, motors, motors).positions, q, rtol=1e-14)


def test_each_kind_of_log_points_to_its_reader():
    with pytest.raises(DatasetError, match=r"joint torques.*read_joint_log\('tx40'\)"):
        dataset_logs("tx40")
    with pytest.raises(DatasetError, match=r"dataset_logs\('stars'\)"):
        read_joint_log("stars")


@pytest.mark.parametrize(("read", "name"), [(dataset_logs, "stars"), (read_joint_log, "tx40")])
def test_missing_logs_name_environment_variable(read, name):
    with pytest.raises(DatasetError, match="IDENTIFY_DATA is not set"):
        read(name)

import numpy as np
import pytest

from identify.catalog import dataset_logs, dataset_path, find_dataset
from identify.errors import DatasetError
from identify.logs import read_log
from tests.close import assert_close


def test_stars_logs_have_schema_truth_and_points(mirror_of_sets):
    logs = dataset_logs("stars")
    assert len(logs) == 20
    assert [log.name for log in logs] == sorted(log.name for log in logs)
    for log in logs:
        assert log.path == mirror_of_sets / "stars_tools" / f"{log.name}.csv"
        assert log.points_file == mirror_of_sets / "stars_tools" / "points" / f"{log.name}.csv"
        assert log.truth is not None
        assert log.truth.consistent
        assert log.box_sides is not None
        assert log.box_sides.shape == (3,)
        assert not log.box_sides.flags.writeable


def test_tx40_is_one_log_of_joints_at_rest_in_its_zero_position(mirror_of_sets):
    (log,) = dataset_logs("tx40")
    assert (log.name, log.path) == ("tx40", mirror_of_sets / "tx40")
    recording = read_log(log.path, log.schema)
    assert recording.sha256 == log.sha256
    assert recording.joints.names == tuple(f"joint_{k}" for k in range(1, 7))
    rows = len((log.path / "curr_data.csv").read_text().splitlines()) - 1
    assert recording.time[-1] == (rows - 1) / 5000
    position, effort = recording.signals["joint_position"], recording.signals["effort"]
    assert position.shape == effort.shape == (rows, 6)
    assert np.abs(position[:100]).max() < 1e-3
    assert np.ptp(position, axis=0).min() > 1.5  # every joint moves
    assert np.abs(effort).max() < 131.84  # the largest effort of the model


def test_tx40_follows_the_gears_of_its_authors(mirror_of_sets):
    folder = mirror_of_sets / "tx40"
    (log,) = dataset_logs("tx40")
    recording = read_log(folder, log.schema)
    q, tau = (
        np.loadtxt(folder / name, delimiter=",", skiprows=1)
        for name in ("pos_read_data.csv", "curr_data.csv")
    )
    ratios = np.array([32, 32, 45, -48, 45, 32])
    q, tau = q / ratios, tau * ratios
    q[:, 5] -= q[:, 4]  # motor 6 is at 32 (q5 + q6)
    tau[:, 4] += tau[:, 5]
    q[:, 1] -= np.pi / 2
    q[:, 2] += np.pi / 2
    assert_close(recording.signals["joint_position"], q, rtol=1e-12)
    assert_close(recording.signals["effort"], tau, rtol=1e-12)


def test_tx40_has_model_and_reference(mirror_of_sets):
    folder = dataset_path("tx40")
    names = [
        file.path for role in ("model", "reference") for file in find_dataset("tx40").of_role(role)
    ]
    assert names == ["tx40.urdf", "reference_base_parameters.csv"]
    assert all((folder / name).is_file() for name in names)


@pytest.mark.parametrize("name", ["stars", "tx40"])
def test_missing_logs_name_environment_variable(name):
    with pytest.raises(DatasetError, match="IDENTIFY_DATA is not set"):
        dataset_logs(name)

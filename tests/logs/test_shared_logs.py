import tomllib

import numpy as np
import pytest

from identify.logs import read_log
from identify.spatial import rotation_from_quaternion


def test_panda_optoforce(shared_data):
    path = shared_data / "panda_optoforce" / "run_11-32-28.txt"
    recording = read_log(path, shared_data / "schemas" / "panda_optoforce.toml")
    raw = np.loadtxt(path, skiprows=1)
    assert len(recording) == recording.rows == len(raw) == 17379
    assert recording.time is not None
    assert recording.time[-1] == pytest.approx(17.378, abs=1e-12)
    assert recording.gravity.tolist() == [0.0, 0.0, -9.81]
    w, x, y, z = raw[:, 6:10].T
    R_BW = rotation_from_quaternion(np.stack((x, y, z, w), axis=-1))
    R_WB = rotation_from_quaternion(recording.signals["quaternion"])
    np.testing.assert_allclose(R_WB, R_BW.transpose(0, 2, 1), rtol=0, atol=1e-14)
    p_W = -np.einsum("nji,nj->ni", R_BW, raw[:, :3])
    np.testing.assert_allclose(recording.signals["position"], p_W, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(recording.signals["force"], raw[:, 13:16])


def test_axia80_static(still_poses):
    """Two files without header; the wrench acts on the sensor."""
    folder = still_poses / "axia80_static"
    recording = read_log(folder, still_poses / "schemas" / "axia80_static.toml")
    raw = np.loadtxt(folder / "recorded_messages_wrench.txt", delimiter=",")
    assert recording.still
    assert recording.name == "axia80_static"
    assert dict(recording.frames) == {"wrench": "world"}
    np.testing.assert_array_equal(recording.signals["force"], -raw[:, :3])
    np.testing.assert_array_equal(recording.signals["torque"], -raw[:, 3:])
    assert len(recording.sources) == 2


def test_stars_tools(tool_logs):
    paths = sorted((tool_logs / "stars_tools").glob("[A-Z]*.csv"))
    assert len(paths) == 20
    schema = tool_logs / "schemas" / "stars_tools.toml"
    for path in paths:
        recording = read_log(path, schema)
        raw = np.genfromtxt(path, delimiter=",", names=True)
        np.testing.assert_array_equal(recording.time, raw["t"])
        np.testing.assert_array_equal(recording.signals["angular_acceleration"][:, 1], raw["aly"])
        assert recording.name == path.stem
        assert set(recording.frames.values()) == {"world"}
        assert dict(recording.schema) == tomllib.loads(schema.read_text())

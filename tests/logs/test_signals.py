import numpy as np
import pytest

from identify.errors import LogError
from identify.logs import read_log
from identify.logs.units import FORCE_UNITS, TORQUE_UNITS

G, LB, INCH = 9.80665, 4.4482216152605, 0.0254


@pytest.fixture
def archive(tmp_path):
    """A log of every signal, each an array with three columns (the quaternion four)."""
    rng = np.random.default_rng(0)
    names = ("p", "v", "w", "a", "b", "f", "n")
    data = {name: rng.standard_normal((30, 3)) for name in names}
    q = rng.standard_normal((30, 4))
    data["q"] = q / np.linalg.norm(q, axis=1, keepdims=True)
    data["t"] = np.arange(30) / 100
    np.savez(tmp_path / "log.npz", **data)
    return data


def columns(name, n=3):
    return [f"{name}[{k}]" for k in range(n)]


@pytest.fixture
def tables(schema):

    def make(**changes):
        base = schema(
            pose={"position": columns("p"), "quaternion": columns("q", 4)},
            wrench={"force": columns("f"), "torque": columns("n")},
        )
        return base | {k: base.get(k, {}) | v for k, v in changes.items()}

    return make


def test_recording_has_logged_signals_only(archive, tables, tmp_path):
    recording = read_log(tmp_path / "log.npz", tables())
    assert list(recording.signals) == ["position", "quaternion", "force", "torque"]
    assert dict(recording.frames) == {"wrench": "body"}
    assert recording.X_BS is None
    recording = read_log(
        tmp_path / "log.npz", tables(twist={"angular": columns("w"), "frame": "body"})
    )
    assert "linear_velocity" not in recording.signals
    assert dict(recording.frames) == {"twist": "body", "wrench": "body"}


@pytest.mark.parametrize("frame", ["body", "world"])
def test_twist(archive, tables, tmp_path, frame):
    twist = {"linear": columns("v"), "angular": columns("w"), "frame": frame}
    recording = read_log(tmp_path / "log.npz", tables(twist=twist))
    np.testing.assert_array_equal(recording.signals["linear_velocity"], archive["v"])
    np.testing.assert_array_equal(recording.signals["angular_velocity"], archive["w"])
    assert recording.frames["twist"] == frame
    twist["angle_unit"] = "deg"
    recording = read_log(tmp_path / "log.npz", tables(twist=twist))
    np.testing.assert_array_equal(recording.signals["linear_velocity"], archive["v"])
    np.testing.assert_allclose(recording.signals["angular_velocity"], np.radians(archive["w"]))


@pytest.mark.parametrize("kind", ["classical", "spatial", "proper"])
@pytest.mark.parametrize(("unit", "factor"), [("m/s^2", 1.0), ("g", G)])
def test_acceleration(archive, tables, tmp_path, kind, unit, factor):
    acceleration = {"linear": columns("a"), "angular": columns("b"), "frame": "world"}
    changes = {"kind": kind, "unit": unit, "angle_unit": "deg"}
    recording = read_log(tmp_path / "log.npz", tables(acceleration=acceleration | changes))
    np.testing.assert_allclose(recording.signals["linear_acceleration"], factor * archive["a"])
    np.testing.assert_allclose(recording.signals["angular_acceleration"], np.radians(archive["b"]))
    assert recording.acceleration_kind == kind
    assert recording.frames["acceleration"] == "world"


def test_the_wrench_acts_on_the_body(archive, tables, tmp_path):
    for acts_on, sign in (("body", 1.0), ("sensor", -1.0)):
        recording = read_log(tmp_path / "log.npz", tables(wrench={"acts_on": acts_on}))
        np.testing.assert_array_equal(recording.signals["force"], sign * archive["f"])
        np.testing.assert_array_equal(recording.signals["torque"], sign * archive["n"])


UNITS = {
    "force_unit": {"N": 1.0, "mN": 1e-3, "kN": 1e3, "kgf": G, "lbf": LB},
    "torque_unit": {
        "Nm": 1.0, "mNm": 1e-3, "kNm": 1e3, "Ncm": 1e-2, "Nmm": 1e-3, "kgfcm": G / 100, "kgfm": G,
        "lbfin": LB * INCH, "lbfft": 12 * LB * INCH,
    },
}  # fmt: skip


def test_units_of_the_wrench(archive, tables, tmp_path):
    assert set(UNITS["force_unit"]) == set(FORCE_UNITS)
    assert set(UNITS["torque_unit"]) == set(TORQUE_UNITS)
    for key, signal, name in (("force_unit", "force", "f"), ("torque_unit", "torque", "n")):
        for unit, factor in UNITS[key].items():
            recording = read_log(tmp_path / "log.npz", tables(wrench={key: unit}))
            np.testing.assert_allclose(recording.signals[signal], factor * archive[name], 1e-14)
    for spelling in ("N m", "N*m", "N·m", "N-m"):
        recording = read_log(tmp_path / "log.npz", tables(wrench={"torque_unit": spelling}))
        np.testing.assert_array_equal(recording.signals["torque"], archive["n"])


def test_the_mount_of_the_sensor(archive, tables, tmp_path):
    mount = {"translation": [0.1, 0, 0.2], "quaternion": [0, 0, 0.6, 0.8]}
    recording = read_log(tmp_path / "log.npz", tables(wrench={"frame": "sensor", "mount": mount}))
    assert recording.frames["wrench"] == "sensor"
    assert recording.X_BS is not None
    np.testing.assert_array_equal(recording.X_BS.position, [0.1, 0, 0.2])
    expected = [[0.28, -0.96, 0], [0.96, 0.28, 0], [0, 0, 1]]
    np.testing.assert_allclose(recording.X_BS.rotation, expected, atol=1e-15)
    np.testing.assert_array_equal(recording.signals["force"], archive["f"])


def test_gravity(archive, tables, tmp_path):
    assert read_log(tmp_path / "log.npz", tables()).gravity.tolist() == [0, 0, -G]
    recording = read_log(tmp_path / "log.npz", tables(world={"gravity": [0, 0, 1.62]}))
    assert recording.gravity.tolist() == [0, 0, 1.62]


def test_an_imu_without_pose(archive, schema, tmp_path):
    imu = schema(
        pose=None,
        twist={"angular": columns("w"), "frame": "body"},
        acceleration={"linear": columns("a"), "frame": "body", "kind": "proper"},
        wrench={"force": columns("f"), "torque": columns("n")},
    )
    recording = read_log(tmp_path / "log.npz", imu)
    assert "quaternion" not in recording.signals
    assert len(recording) == 30


def test_overflow_in_unit_conversion_is_rejected(write, schema, lines):
    lines[4] = ",".join([*lines[4].split(",")[:8], "1e307", *lines[4].split(",")[9:]])
    with pytest.raises(LogError, match=r"line 5: column .* is 1e\+307, which is implausible"):
        read_log(write(lines), schema(wrench={"force_unit": "kN"}))

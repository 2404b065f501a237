import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import IdentifyError, LogError
from identify.logs import Recording, read_log
from identify.spatial import Pose
from tests.logs.conftest import NAMES

MOUNT = {"translation": [0.01, -0.02, 0.045], "quaternion": [0.0, 0.0, 0.6, 0.8]}
RATES = ["vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az", "bx", "by", "bz"]
TWIST = {"linear": RATES[:3], "angular": RATES[3:6], "frame": "world"}
ACCELERATION = {"linear": RATES[6:9], "angular": RATES[9:], "frame": "body", "kind": "proper"}

SAME = {
    "pose": ({}, {}),
    "wxyz": ({"pose": {"order": "wxyz"}}, {"quaternion_order": "wxyz"}),
    "inverse": ({"pose": {"maps": "world_to_body"}}, {"maps": "world_to_body"}),
    "reaction": ({"wrench": {"acts_on": "sensor"}}, {"acts_on": "sensor"}),
    "world": ({"wrench": {"frame": "world"}}, {"wrench_frame": "world"}),
    "mount": (
        {"wrench": {"frame": "sensor", "mount": MOUNT}},
        {"wrench_frame": "sensor", "mount": MOUNT},
    ),
    "mount as a pose": (
        {"wrench": {"frame": "sensor", "mount": MOUNT}},
        {
            "wrench_frame": "sensor",
            "mount": Pose.from_quaternion(MOUNT["quaternion"], MOUNT["translation"]),
        },
    ),
    "gravity": ({"world": {"gravity": [0.0, 0.0, 9.81]}}, {"gravity": np.array([0, 0, 9.81])}),
    "rate": ({"log": {"time": None, "rate_hz": 250}}, {"time": None, "rate_hz": 250}),
    "still": ({"log": {"time": None, "still": True}}, {"time": None, "still": True}),
    "rates": (
        {"twist": TWIST, "acceleration": ACCELERATION},
        {"twist_frame": "world", "acceleration_frame": "body", "acceleration_kind": "proper"},
    ),
}


TURNED = ("matrix", "transform", "by columns", "rotation vector", "angles", "one angle")


@pytest.fixture
def table(rows) -> pd.DataFrame:
    rates = np.random.default_rng(7).standard_normal((len(rows), 12))
    return pd.DataFrame(np.hstack((rows, rates)), columns=[*NAMES, *RATES])


@pytest.fixture
def given(rows) -> dict:
    return {
        "time": rows[:, 0],
        "position": rows[:, 1:4],
        "quaternion": rows[:, 4:8],
        "force": rows[:, 8:11],
        "torque": rows[:, 11:14],
        "wrench_frame": "body",
        "acts_on": "body",
    }


def _assert_same(got: Recording, want: Recording) -> None:
    assert list(got.signals) == list(want.signals)
    for name, signal in want.signals.items():
        np.testing.assert_array_equal(got.signals[name], signal)
        assert not got.signals[name].flags.writeable
    if want.time is None:
        assert got.time is None
    else:
        np.testing.assert_array_equal(got.time, want.time)
    np.testing.assert_array_equal(got.gravity, want.gravity)
    assert (got.frames, got.acceleration_kind) == (want.frames, want.acceleration_kind)
    assert (got.rows, got.dropped) == (want.rows, want.dropped)
    assert (got.X_BS is None) == (want.X_BS is None)
    if got.X_BS is not None and want.X_BS is not None:
        np.testing.assert_array_equal(got.X_BS.matrix, want.X_BS.matrix)


@pytest.mark.parametrize(("changes", "arguments"), SAME.values(), ids=SAME)
def test_arrays_and_tables_are_read_as_a_file(tmp_path, schema, table, given, changes, arguments):
    path, document = tmp_path / "log.parquet", schema(**changes)
    table.to_parquet(path)
    want = read_log(path, document)
    if "twist" in changes:
        names = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
        rates = table[RATES].to_numpy()
        given |= {name: rates[:, 3 * k : 3 * k + 3] for k, name in enumerate(names)}
    _assert_same(Recording.from_arrays(**given | arguments), want)
    _assert_same(read_log(table, document), want)
    _assert_same(read_log({name: table[name].tolist() for name in table}, document), want)


def test_in_memory_recording_has_no_file(given, table, schema):
    arrays, frame = Recording.from_arrays(**given), read_log(table, schema())
    assert (arrays.name, frame.name) == ("arrays", "table")
    assert arrays.sources == frame.sources == ()
    assert arrays.sha256 == Recording.from_arrays(**given).sha256 != frame.sha256
    other = given | {"force": np.nextafter(given["force"], 9.0)}
    assert len(arrays.sha256) == 64
    assert Recording.from_arrays(**other).sha256 != arrays.sha256


def _as(kind: str, rotation, position) -> tuple[dict, dict]:
    """Arguments for a rotation of some kind, and the table of a schema that says the same."""
    transform = np.tile(np.eye(4), (len(position), 1, 1))
    transform[:, :3, :3], transform[:, :3, 3] = rotation.as_matrix(), position
    match kind:
        case "matrix":
            return {"matrix": rotation.as_matrix()}, {"matrix": "R[0:9]"}
        case "transform":
            return {"matrix": transform, "position": None}, {"matrix": "R[0:16]", "position": None}
        case "by columns":
            flat = transform.swapaxes(1, 2).reshape(-1, 16)
            order = {"rotation_order": "column"}, {"order": "column", "position": None}
            return {"matrix": flat, "position": None, **order[0]}, {"matrix": "R", **order[1]}
        case "rotation vector":
            return {"rotation_vector": rotation.as_rotvec()}, {"rotation_vector": "R"}
        case "angles":
            angles = {"euler": rotation.as_euler("ZYX"), "rotation_order": "ZYX"}
            return angles, {"euler": [f"R[{k}]" for k in range(3)], "order": "ZYX"}
        case _:
            about_z = rotation.as_euler("ZYX")[:, :1]
            return {"euler": about_z, "rotation_order": "z"}, {"euler": ["R[0]"], "order": "z"}


@pytest.mark.parametrize("kind", TURNED)
def test_every_kind_of_rotation_is_read_as_a_file(schema, table, given, kind):
    rotation = Rotation.from_quat(given["quaternion"])
    arguments, pose = _as(kind, rotation, given["position"])
    document = schema(pose={"quaternion": None, **pose})
    (name,) = {"matrix", "rotation_vector", "euler"} & arguments.keys()
    columns = {key: table[key].to_numpy() for key in table}
    columns["R"] = np.reshape(arguments[name], (len(table), -1))
    got = Recording.from_arrays(**given | {"quaternion": None} | arguments)
    _assert_same(got, read_log(columns, document))
    if kind != "one angle":
        R = Rotation.from_quat(got.signals["quaternion"])
        np.testing.assert_allclose((R.inv() * rotation).magnitude(), 0.0, atol=1e-14)
        np.testing.assert_allclose(got.signals["position"], given["position"], atol=1e-15)


def test_an_inertial_measurement_unit_is_read_as_a_file(schema, table, given):
    gyro, read = np.random.default_rng(1).standard_normal((2, 20, 3))
    mount = {"translation": [0.03, -0.04, 0.0], "rotation_vector": [0.1, 0.2, 0.3]}
    document = schema(imu={"gyro": "g", "accelerometer": "a", "mount": mount})
    columns = {key: table[key].to_numpy() for key in table} | {"g": gyro, "a": read}
    got = Recording.from_arrays(**given, gyro=gyro, accelerometer=read, imu_mount=mount)
    want = read_log(columns, document)
    _assert_same(got, want)
    np.testing.assert_array_equal(got.imu.X_BI.matrix, want.imu.X_BI.matrix)
    turned = Rotation.from_rotvec(mount["rotation_vector"]).apply(gyro)
    np.testing.assert_allclose(got.signals["gyro"], turned, atol=1e-15)


def _with(array, place, value) -> np.ndarray:
    array = np.array(array)
    array[place] = value
    return array


ROWS = np.ones((20, 3))
BAD = {
    "time": [
        {"time": np.arange(19.0)},
        {"time": _with(np.arange(20.0), 4, np.nan)},
        {"time": _with(np.arange(20.0), 4, 1.0)},
        {"time": np.zeros(20)},
        {"time": _with(np.arange(20).astype("M8[ms]"), 4, "NaT")},
        {"time": ["now"] * 20},
        {"time": np.ones((20, 1))},
        {"time": None},
    ],
    "rate_hz": [{"rate_hz": 100}, {"time": None, "rate_hz": -1}],
    "still": [{"still": True}],
    "position": [{"position": np.ones((20, 2))}, {"position": ROWS[:3]}, {"position": None}],
    "quaternion": [
        {"quaternion": np.full((20, 4), 0.9)},
        {"quaternion": np.zeros((20, 4))},
        {"quaternion": ROWS},
        {"quaternion": None},
        {"quaternion": None, "position": None},
    ],
    "quaternion_order": [{"quaternion_order": "zyxw"}],
    "maps": [{"maps": "both"}],
    "matrix": [
        {"matrix": np.tile(np.eye(3), (20, 1, 1))},
        {"quaternion": None, "matrix": np.ones((20, 3, 4))},
        {"quaternion": None, "matrix": np.tile(np.eye(4), (20, 1, 1))},
        {"quaternion": None, "matrix": np.ones((20, 3, 3))},
        {"quaternion": None, "matrix": np.tile(np.eye(3), (19, 1, 1))},
    ],
    "rotation_vector": [{"quaternion": None, "rotation_vector": ROWS[:, :2]}],
    "euler": [
        {"quaternion": None, "euler": ROWS, "rotation_order": "xy"},
        {"quaternion": None, "euler": np.ones((20, 4))},
    ],
    "rotation_order": [
        {"quaternion": None, "euler": ROWS, "rotation_order": "xxy"},
        {"quaternion": None, "matrix": np.tile(np.eye(3), (20, 1, 1)), "rotation_order": "xyz"},
        {"rotation_order": "wxyz"},
    ],
    "gyro": [{"gyro": ROWS[:3]}],
    "imu_mount": [
        {"accelerometer": ROWS},
        {"accelerometer": ROWS, "imu_mount": 2 * np.eye(4)},
        {"accelerometer": ROWS, "imu_mount": {"quaternion": [0, 0, 0, 1]}},
        {"accelerometer": ROWS, "imu_mount": {"translation": [0, 0, 60]}},
        {"accelerometer": ROWS, "imu_mount": {"fitted": True}, "position": None, "quaternion": None}
        | {"gyro": ROWS},
    ],
    "velocity": [{"velocity": ROWS[:3], "twist_frame": "body"}, {"twist_frame": "body"}],
    "angular_velocity": [{"angular_velocity": ROWS[0], "twist_frame": "body"}],
    "twist_frame": [{"velocity": ROWS}, {"velocity": ROWS, "twist_frame": "tool"}],
    "acceleration": [
        {"acceleration": ROWS * np.inf, "acceleration_frame": "body"},
        {"acceleration_frame": "body"},
    ],
    "angular_acceleration": [{"angular_acceleration": 3.0, "acceleration_frame": "body"}],
    "acceleration_frame": [{"acceleration": ROWS}, {"angular_acceleration": ROWS}],
    "acceleration_kind": [
        {"acceleration": ROWS, "acceleration_frame": "body", "acceleration_kind": "free"}
    ],
    "force": [{"force": _with(ROWS, (3, 1), np.nan)}, {"force": None}, {"force": []}],
    "torque": [{"torque": ROWS[:7]}, {"torque": [["a", "b", "c"]] * 20}, {"torque": None}],
    "wrench_frame": [{"wrench_frame": "tool"}, {"wrench_frame": None}, {"wrench_frame": "sensor"}],
    "acts_on": [{"acts_on": "hand"}, {"acts_on": None}],
    "wrench_point": [{"wrench_point": "tool"}, {"wrench_point": "flange"}],
    "body_name": [{"body_name": ""}, {"body_name": "two\nlines"}],
    "flange": [{"flange": np.eye(4), "tcp": np.eye(4)}, {"flange": {"translation": [9, 0, 0]}}],
    "tcp": [{"tcp": {}}, {"tcp": {"pose": [9, 0, 0, 0, 0, 0]}}, {"tcp": {"pose": [0] * 5 + [9]}}],
    "gravity": [{"gravity": 9.81}, {"gravity": [0, np.nan, 0]}],
    "mount": [
        {"mount": MOUNT},
        {"wrench_frame": "sensor"},
        {"wrench_frame": "sensor", "mount": 3},
        {"wrench_frame": "sensor", "mount": 2 * np.eye(4)},
        {"wrench_frame": "sensor", "mount": {"quaternion": [0, 0, 0, 3]}},
        {"wrench_frame": "sensor", "mount": {"origin": [0, 0, 0]}},
    ],
}


@pytest.mark.parametrize(
    ("name", "changes"), [(name, changes) for name, all_ in BAD.items() for changes in all_]
)
def test_an_error_names_the_argument(given, name, changes):
    with pytest.raises(IdentifyError, match=rf"arrays: .*\b{name}\b") as error:
        Recording.from_arrays(**given | changes)
    for table in ("[log]", "[pose]", "[twist]", "[acceleration]", "[wrench", "[body", "[imu"):
        assert table not in str(error.value)


def test_empty_or_invalid_table_is_rejected(table, schema):
    with pytest.raises(LogError, match="table: has columns but no rows"):
        read_log(table[:0], schema())
    with pytest.raises(LogError, match=r"expected a file, a pandas DataFrame .* got list"):
        read_log([1, 2], schema())  # pyright: ignore[reportArgumentType]
    with pytest.raises(LogError, match="'px' has 20 rows, but 'fx' has 19"):
        read_log({**table, "fx": table["fx"].to_numpy()[1:]}, schema())
    with pytest.raises(LogError, match="column 'fx': is no array"):
        read_log({**table, "fx": [[1.0], [2.0, 3.0]]}, schema())


def test_a_log_in_memory_has_no_files(table, schema, tmp_path, monkeypatch):
    with pytest.raises(LogError, match=r"\[streams.wrench\] names a file, 'w.csv'"):
        read_log(table, schema(streams={"wrench": {"file": "w.csv"}}))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table").mkdir()  # a folder that happens to have its name
    assert len(read_log(table, schema())) == 20


def test_missing_numbers_are_left_out_and_counted(table, schema):
    got = read_log(table.assign(fx=_with(table["fx"], 3, np.nan)), schema())
    assert (got.dropped.not_finite, len(got), got.rows) == (1, 19, 20)
    nullable = table.assign(fx=pd.array([None, *table["fx"][1:]], dtype="Float64"))
    assert read_log(nullable, schema()).dropped.not_finite == 1


def test_masked_rows_are_left_out_and_counted(table, schema, given):
    force = np.ma.masked_array(given["force"].copy())
    force[::4] = np.ma.masked
    force.data[::4] = 0.0
    got = Recording.from_arrays(**given | {"force": force})
    assert (got.dropped.not_finite, len(got), got.rows) == (5, 15, 20)
    kept = np.flatnonzero(np.arange(20) % 4)
    np.testing.assert_array_equal(got.signals["force"], given["force"][kept])
    np.testing.assert_array_equal(got.signals["torque"], given["torque"][kept])
    as_rows = Recording.from_arrays(**given | {"force": list(force)})
    np.testing.assert_array_equal(as_rows.signals["force"], given["force"][kept])
    columns = {name: table[name].to_numpy() for name in table}
    with pytest.raises(LogError, match="5 of 20 rows are unusable"):
        read_log(columns | {"fx": force[:, 0]}, schema())
    admitted = read_log(columns | {"fx": force[:, 0]}, schema(log={"drop_bad_rows": True}))
    np.testing.assert_array_equal(admitted.signals["force"], given["force"][kept])
    force[:12] = np.ma.masked
    with pytest.raises(LogError, match="14 of 20 rows are unusable, more than 50%"):
        Recording.from_arrays(**given | {"force": force})


@pytest.mark.parametrize("kind", ["f8", "i8", "M8[ns]"])
def test_masked_stamps_are_left_out(table, schema, given, kind):
    stamps = np.ma.masked_array(np.arange(20) * 10_000_000 + 1_700_000_000_000_000_001)
    stamps = stamps.astype(kind)
    stamps[3] = np.ma.masked
    document = schema(log={"time_unit": "ns"})
    columns = {name: table[name].to_numpy() for name in table}
    got = read_log(columns | {"t": stamps}, document)
    assert (got.dropped.not_finite, len(got)) == (1, 19)
    whole = np.delete(np.arange(20), 3) / 100
    exact = 0.0 if kind != "f8" else 1e-6
    np.testing.assert_allclose(got.time, whole, rtol=0, atol=exact)
    if kind != "i8":
        return
    nullable = table.assign(t=pd.Series(stamps.filled(0)).astype("Int64").mask(stamps.mask))
    np.testing.assert_array_equal(read_log(nullable, document).time, whole)


@pytest.mark.parametrize("name", ["time", "position", "quaternion", "force", "torque"])
def test_complex_numbers_are_rejected(given, table, schema, tmp_path, name):
    with pytest.raises(LogError, match=f"{name}: expected real numbers, got complex128"):
        Recording.from_arrays(**given | {name: given[name] + 0j})
    columns = {column: table[column].to_numpy() for column in table}
    columns["fx"] = columns["fx"] + 1j
    np.savez(tmp_path / "log.npz", **columns)
    for log in (columns, pd.DataFrame(columns), tmp_path / "log.npz"):
        with pytest.raises(LogError, match="column 'fx': expected numbers, got complex128"):
            read_log(log, schema())


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_stamps_bring_their_own_unit(table, schema, given, zone):
    stamps = pd.date_range("2024-05-05", periods=20, freq="10ms", tz=zone)
    time = read_log(table.assign(t=stamps), schema()).time
    np.testing.assert_allclose(time, np.arange(20) / 100, rtol=0, atol=1e-15)
    again = Recording.from_arrays(**given | {"time": pd.Series(stamps)})
    np.testing.assert_array_equal(again.time, time)

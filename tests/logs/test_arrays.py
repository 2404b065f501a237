import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import IdentifyError, LogError, SchemaError
from identify.logs import Recording, read_log
from identify.spatial import Pose
from tests.logs.conftest import NAMES

MOUNT = {"translation": [0.01, -0.02, 0.045], "quaternion": [0.0, 0.0, 0.6, 0.8]}
RATES = ["vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az", "bx", "by", "bz"]
TWIST = {"linear": RATES[:3], "angular": RATES[3:6], "frame": "world"}
ACCELERATION = {"linear": RATES[6:9], "angular": RATES[9:], "frame": "body", "kind": "proper"}

SAME = {
    "pose": {},
    "reaction": {"wrench": {"acts_on": "sensor"}},
    "mount": {"wrench": {"frame": "sensor", "mount": MOUNT}},
    "gravity": {"world": {"gravity": np.array([0.0, 0.0, 9.81])}},
    "rate": {"log": {"time": None, "rate_hz": 250}},
    "still": {"log": {"time": None, "still": True}},
    "rates": {"twist": TWIST, "acceleration": ACCELERATION},
}


@pytest.fixture
def table(rows) -> pd.DataFrame:
    rates = np.random.default_rng(7).standard_normal((len(rows), 12))
    return pd.DataFrame(np.hstack((rows, rates)), columns=[*NAMES, *RATES])


@pytest.fixture
def arrays(table) -> dict[str, np.ndarray]:
    """The table as stamps and one array for each signal."""
    columns = {"p": NAMES[1:4], "q": NAMES[4:8], "f": NAMES[8:11], "m": NAMES[11:]}
    columns |= {"v": RATES[:3], "w": RATES[3:6], "a": RATES[6:9], "b": RATES[9:]}
    return {"t": table["t"].to_numpy()} | {k: table[v].to_numpy() for k, v in columns.items()}


@pytest.fixture
def of_arrays(schema):
    """Returns the schema of those arrays with changes."""
    names = {"pose": {"position": "p", "quaternion": "q"}, "wrench": {"force": "f", "torque": "m"}}
    rates = {"twist": {"linear": "v", "angular": "w"}}
    rates |= {"acceleration": {"linear": "a", "angular": "b"}}

    def with_names(**changes) -> dict:
        document = schema(**changes)
        given = names | {name: rates[name] for name in rates.keys() & changes}
        return document | {name: document[name] | given[name] for name in given}

    return with_names


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


@pytest.mark.parametrize("changes", SAME.values(), ids=SAME)
def test_tables_and_arrays_are_read_as_a_file(tmp_path, schema, of_arrays, table, arrays, changes):
    path, document = tmp_path / "log.parquet", schema(**changes)
    table.to_parquet(path)
    want = read_log(path, document)
    _assert_same(read_log(table, document), want)
    _assert_same(read_log({name: table[name].tolist() for name in table}, document), want)
    _assert_same(read_log(arrays, of_arrays(**changes)), want)
    frames = {name: table[NAMES[k : k + 3]] for name, k in (("p", 1), ("f", 8), ("m", 11))}
    _assert_same(read_log(arrays | frames, of_arrays(**changes)), want)


def test_in_memory_recording_has_no_file(arrays, of_arrays):
    log = read_log(arrays, of_arrays())
    assert (log.name, log.sources, len(log.sha256)) == ("table", (), 64)
    assert log.sha256 == read_log(arrays, of_arrays()).sha256
    other = arrays | {"f": np.nextafter(arrays["f"], 9.0)}
    assert read_log(other, of_arrays()).sha256 != log.sha256


def _as(kind: str, rotation: Rotation, position: np.ndarray) -> tuple[np.ndarray, dict]:
    """Return a rotation of some kind as an array, and the keys of its pose."""
    transform = np.tile(np.eye(4), (len(position), 1, 1))
    transform[:, :3, :3], transform[:, :3, 3] = rotation.as_matrix(), position
    match kind:
        case "matrix":
            return rotation.as_matrix(), {"matrix": "R[0:9]"}
        case "transform":
            return transform, {"matrix": "R", "position": None}
        case "by columns":
            flat = transform.swapaxes(1, 2).reshape(-1, 16)
            return flat, {"matrix": "R", "order": "column", "position": None}
        case "rotation vector":
            return rotation.as_rotvec(), {"rotation_vector": "R"}
        case "angles":
            return rotation.as_euler("ZYX"), {"euler": "R", "order": "ZYX"}
        case _:
            scalar_first = rotation.inv().as_quat()[:, [3, 0, 1, 2]]
            order = {"order": "wxyz", "maps": "world_to_body", "position_axes": "world"}
            return scalar_first, {"quaternion": "R"} | order


KINDS = ("matrix", "transform", "by columns", "rotation vector", "angles", "inverse quaternion")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_rotation_is_read(of_arrays, arrays, kind):
    rotation = Rotation.from_quat(arrays["q"])
    array, pose = _as(kind, rotation, arrays["p"])
    document = of_arrays()
    pose = {"position": "p"} | pose
    document["pose"] = {key: value for key, value in pose.items() if value is not None}
    got = read_log(arrays | {"R": array}, document).signals
    R = Rotation.from_quat(got["quaternion"])
    np.testing.assert_allclose((R.inv() * rotation).magnitude(), 0.0, atol=1e-14)
    np.testing.assert_allclose(got["position"], arrays["p"], atol=1e-15)


def test_one_angle_is_an_array_of_one_column(of_arrays, arrays):
    document = of_arrays() | {"pose": {"euler": ["R[0]"], "order": "z", "position": "p"}}
    got = read_log(arrays | {"R": np.full((20, 1), 0.3)}, document).signals["quaternion"]
    np.testing.assert_allclose(got, [[0.0, 0.0, np.sin(0.15), np.cos(0.15)]] * 20, atol=1e-15)


def test_readings_of_an_inertial_measurement_unit_are_turned_into_the_body(of_arrays, arrays):
    gyro, read = np.random.default_rng(1).standard_normal((2, 20, 3))
    mount = {"translation": [0.03, -0.04, 0.0], "rotation_vector": [0.1, 0.2, 0.3]}
    document = of_arrays(imu={"gyro": "g", "accelerometer": "a", "mount": mount})
    got = read_log(arrays | {"g": gyro, "a": read}, document)
    np.testing.assert_array_equal(got.imu.X_BI.position, mount["translation"])
    turned = Rotation.from_rotvec(mount["rotation_vector"]).apply(gyro)
    np.testing.assert_allclose(got.signals["gyro"], turned, atol=1e-15)


PLACES = {
    "sensor": ({"wrench": {"frame": "sensor"}}, "wrench", "mount", lambda log: log.X_BS),
    "flange": ({}, "body", "flange", lambda log: log.body_frame.flange),
    "tool point": ({}, "body", "tcp", lambda log: log.body_frame.tcp),
    "unit": ({"imu": {"gyro": "v"}}, "imu", "mount", lambda log: log.imu.X_BI),
}


@pytest.mark.parametrize(("changes", "name", "key", "placed"), PLACES.values(), ids=PLACES)
def test_a_place_may_be_a_pose_or_its_matrix(of_arrays, arrays, changes, name, key, placed):
    X = Pose.from_quaternion(MOUNT["quaternion"], MOUNT["translation"])
    for given in (X, X.matrix, X.matrix.tolist()):
        document = of_arrays(**changes)
        document[name] = document.get(name, {}) | {key: given}
        log = read_log(arrays, document)
        np.testing.assert_allclose(placed(log).matrix, X.matrix, rtol=0, atol=1e-15)
        assert isinstance(log.schema[name][key], dict)  # which a file can hold
    document[name][key] = 2.0 * np.eye(4)
    with pytest.raises(SchemaError, match=rf"\[{name}\.{key}\] expected a table, or a pose: exp"):
        read_log(arrays, document)


def _with(array, place, value) -> np.ndarray:
    array = np.array(array)
    array[place] = value
    return array


ROWS = np.ones((20, 3))
BAD = {
    "t": [np.arange(19.0), _with(np.arange(20.0), 4, 1.0), np.zeros(20), ["now"] * 20, 1.0],
    "p": [np.ones((20, 2)), ROWS[:7], ROWS + 0j],
    "q": [np.full((20, 4), 0.9), np.zeros((20, 4)), ROWS, ROWS[:7]],
    "f": [[], None, 3.0, ROWS[:7], ROWS + 0j, [["a", "b", "c"]] * 20, 1e200 * ROWS],
}
PLACE_OF_ERROR = {"t": r"row|'t'|time|stamps", "q": r"'q|quaternion", "p": "'p", "f": "'f|force"}


@pytest.mark.parametrize(
    ("name", "values"), [(name, values) for name, all_ in BAD.items() for values in all_]
)
def test_an_error_names_the_array(arrays, of_arrays, name, values):
    with pytest.raises(IdentifyError, match=rf"table: .*({PLACE_OF_ERROR[name]})"):
        read_log(arrays | {name: values}, of_arrays())


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


def test_masked_rows_are_left_out_and_counted(arrays, of_arrays):
    plain = arrays["f"]
    force = np.ma.masked_array(plain.copy())
    force[::4] = np.ma.masked
    force.data[::4] = 0.0
    with pytest.raises(LogError, match="5 of 20 rows are unusable"):
        read_log(arrays | {"f": force}, of_arrays())
    document = of_arrays(log={"drop_bad_rows": True})
    kept = np.flatnonzero(np.arange(20) % 4)
    for given in (force, list(force)):
        got = read_log(arrays | {"f": given}, document)
        assert (got.dropped.not_finite, len(got), got.rows) == (5, 15, 20)
        np.testing.assert_array_equal(got.signals["force"], plain[kept])
        np.testing.assert_array_equal(got.signals["torque"], arrays["m"][kept])
    force[:12] = np.ma.masked
    with pytest.raises(LogError, match="14 of 20 rows are unusable, more than 50%"):
        read_log(arrays | {"f": force}, document)


@pytest.mark.parametrize("kind", ["f8", "i8", "M8[ns]"])
def test_masked_stamps_are_left_out(table, schema, kind):
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


def test_complex_numbers_in_a_file_are_rejected(table, schema, tmp_path):
    columns = {column: table[column].to_numpy() for column in table}
    columns["fx"] = columns["fx"] + 1j
    np.savez(tmp_path / "log.npz", **columns)
    for log in (pd.DataFrame(columns), tmp_path / "log.npz"):
        with pytest.raises(LogError, match="column 'fx': expected numbers, got complex128"):
            read_log(log, schema())


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_stamps_bring_their_own_unit(table, schema, arrays, of_arrays, zone):
    stamps = pd.date_range("2024-05-05", periods=20, freq="10ms", tz=zone)
    time = read_log(table.assign(t=stamps), schema()).time
    np.testing.assert_allclose(time, np.arange(20) / 100, rtol=0, atol=1e-15)
    again = read_log(arrays | {"t": pd.Series(stamps)}, of_arrays())
    np.testing.assert_array_equal(again.time, time)

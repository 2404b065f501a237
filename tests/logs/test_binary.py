import io
import zipfile
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from identify.errors import LogError, MissingColumn
from identify.logs import LogFile, open_log, read_log

NAMES = ["t", "px", "py", "pz", "qx", "qy", "qz", "qw", "fx", "fy", "fz", "tx", "ty", "tz"]


@pytest.fixture
def columns(rows):
    return dict(zip(NAMES, rows.T.copy(), strict=True))


@pytest.fixture
def save(tmp_path):
    """Writes columns in the format that the name says."""

    def write(columns, name):
        path = tmp_path / name
        if path.suffix == ".npz":
            np.savez(path, **{k: np.asarray(v) for k, v in columns.items()})
        else:
            pq.write_table(pa.table(columns), path)
        return path

    return write


@pytest.fixture(params=["log.npz", "log.parquet", "log.pq", "log.PARQUET"])
def name(request):
    return request.param


def test_columns_by_name(save, schema, columns, rows, name):
    columns |= {"label": np.array(["a"] * 20)}
    recording = read_log(save(columns, name), schema())
    np.testing.assert_array_equal(recording.time, rows[:, 0])
    np.testing.assert_array_equal(recording.signals["force"], rows[:, 8:11])
    assert recording.rows == 20


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_nanoseconds_lose_nothing(save, schema, columns, name, kind):
    steps = np.cumsum(np.arange(20) * 1_000_003)
    columns["t"] = (1_700_000_000_123_456_789 + steps).astype(kind)
    time = read_log(save(columns, name), schema(log={"time_unit": "ns"})).time
    np.testing.assert_array_equal(time, steps / 1e9)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_time_stamps_bring_their_own_unit(save, schema, columns, name, unit):
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    columns["t"] = (np.arange(20) + 1_700_000_000 * ticks).astype(f"datetime64[{unit}]")
    recording = read_log(save(columns, name), schema())
    np.testing.assert_array_equal(recording.time, np.arange(20) / ticks)
    columns["t"][3] = np.datetime64("NaT")
    recording = read_log(save(columns, name), schema())
    np.testing.assert_array_equal(recording.time, np.delete(np.arange(20), 3) / ticks)
    assert recording.dropped.not_finite == 1


def test_rows_that_are_not_finite(save, schema, columns, rows, name):
    columns["fx"][4], columns["t"][9] = np.nan, np.inf
    recording = read_log(save(columns, name), schema())
    kept = np.delete(np.arange(20), [4, 9])
    np.testing.assert_array_equal(recording.signals["position"], rows[kept, 1:4])
    assert recording.dropped.not_finite == recording.dropped.total == 2


def test_the_row_of_an_error_counts_from_zero(save, schema, columns, name):
    columns["t"][7] = 0.0
    with pytest.raises(LogError, match=r"row 7 \(counted from 0\): time goes back") as caught:
        read_log(save(columns, name), schema())
    assert caught.value.row == 7


def test_missing_columns(save, schema, columns, name):
    with pytest.raises(MissingColumn, match=r"no column 'f_x' among \['t', .*did you mean 'fx'"):
        read_log(save(columns, name), schema(wrench={"force": ["f_x", "fy", "fz"]}))
    with pytest.raises(MissingColumn, match=r"no column 14: it has 14 columns"):
        read_log(save(columns, name), schema(wrench={"force": [14, "fy", "fz"]}))
    with pytest.raises(MissingColumn, match=r"no column 'stamp'"):
        read_log(save(columns, name), schema(log={"time": "stamp"}))


@pytest.mark.parametrize("column", ["fx", "t"])
@pytest.mark.parametrize("kind", [str, bool])
def test_columns_that_are_not_numbers(save, schema, columns, name, column, kind):
    columns[column] = np.arange(20).astype(kind)
    with pytest.raises(LogError, match=rf"column '{column}': expected numbers, got") as caught:
        read_log(save(columns, name), schema())
    assert (caught.value.exit_code, caught.value.column) == (2, column)


def test_no_rows(save, schema, columns, name):
    with pytest.raises(LogError, match="has columns but no rows"):
        read_log(save({k: v[:0] for k, v in columns.items()}, name), schema())


@pytest.mark.parametrize("junk", [b"", b"PAR1", b"PK\x03\x04", b"not at all", bytes(4000)])
def test_junk_bytes_are_rejected(write, schema, name, junk):
    with pytest.raises(LogError, match=rf"{name}: cannot be read as a (NPZ|Parquet)") as caught:
        read_log(write(junk, name), schema())
    assert caught.value.exit_code == 2


# Parquet alone


def test_parquet_nulls_and_decimals(save, schema, columns):
    fx = [Decimal(k) / 4 for k in range(20)]
    columns |= {"fx": pa.array([None, *fx[1:]]), "t": pa.array([*range(19), None], pa.int32())}
    recording = read_log(save(columns, "log.parquet"), schema())
    np.testing.assert_array_equal(recording.signals["force"][:, 0], np.arange(1, 19) / 4)
    assert recording.dropped.not_finite == 2


def test_parquet_names_with_dots_and_row_groups(tmp_path, schema, columns):
    columns["wrench.force.x"] = columns.pop("fx")
    pq.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=7)
    recording = read_log(
        tmp_path / "log.parquet", schema(wrench={"force": ["wrench.force.x", "fy", "fz"]})
    )
    np.testing.assert_array_equal(recording.signals["force"][:, 0], columns["wrench.force.x"])


def test_parquet_lists_and_twins(tmp_path, schema, columns):
    lists = {k: pa.array(v) for k, v in columns.items()} | {"fx": pa.array([[1.0, 2.0]] * 20)}
    pq.write_table(pa.table(lists), tmp_path / "log.parquet")
    with pytest.raises(LogError, match="column 'fx': expected numbers, got list"):
        read_log(tmp_path / "log.parquet", schema())
    twins = pa.Table.from_arrays([pa.array(v) for v in columns.values()], [*NAMES[:-1], "fx"])
    pq.write_table(twins, tmp_path / "log.parquet")
    for fx in ("fx", 8):
        with pytest.raises(LogError, match=r"columns \[8, 13\] are all called 'fx'"):
            read_log(
                tmp_path / "log.parquet",
                schema(wrench={"force": [fx, "fy", "fz"], "torque": ["tx", "ty", 5]}),
            )


# NPZ alone


def test_npz_arrays_of_two_dimensions(tmp_path, schema, rows):
    arrays = {"t": rows[:, 0], "pose": np.asfortranarray(rows[:, 1:8]), "wrench": rows[:, 8:]}
    np.savez_compressed(
        tmp_path / "log.npz", **arrays, info=np.array("text"), cube=np.ones((2, 2, 2))
    )
    named = schema(
        pose={"position": [1, 2, 3], "quaternion": [f"pose[{k}]" for k in range(3, 7)]},
        wrench={"force": [f"wrench[{k}]" for k in range(3)], "torque": [11, 12, 13]},
    )
    recording = read_log(tmp_path / "log.npz", named)
    np.testing.assert_array_equal(recording.signals["position"], rows[:, 1:4])
    np.testing.assert_array_equal(recording.signals["torque"], rows[:, 11:])
    with pytest.raises(MissingColumn, match=r"no column 'wrench\[6\]'.*did you mean 'wrench\[5\]'"):
        read_log(
            tmp_path / "log.npz",
            named | {"wrench": named["wrench"] | {"torque": [11, 12, "wrench[6]"]}},
        )


@pytest.mark.parametrize("turned", [False, True])
def test_npy_columns_are_addressed_by_file_name(tmp_path, schema, rows, turned):
    path = tmp_path / "run.npy"
    np.save(path, rows.T if turned else rows)
    numbers = {
        "log": {"time": 0},
        "pose": {"position": [1, 2, 3], "quaternion": "run[4:8]"},
        "wrench": {"force": "run[8:11]", "torque": [11, 12, 13]},
    }
    recording = read_log(path, schema(**numbers))
    np.testing.assert_array_equal(recording.signals["torque"], rows[:, 11:14])
    np.testing.assert_array_equal(recording.time, rows[:, 0])
    assert [f.code for f in recording.findings] == ["transposed"] * turned
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(LogError, match=r"run\.npy: cannot be read as a NPY file"):
        read_log(path, schema(**numbers))


def test_npy_records_have_their_fields(tmp_path, schema, rows):
    kinds = [("t", float), ("p", float, 3), ("q", float, 4), ("f", float, 3), ("m", float, 3)]
    records = np.zeros(len(rows), kinds)
    for name, part in zip("tpqfm", np.split(rows, [1, 4, 8, 11], axis=1), strict=True):
        records[name] = part.reshape(records[name].shape)
    np.save(tmp_path / "run.npy", records)
    vectors = {
        "pose": {"position": "p", "quaternion": "q"},
        "wrench": {"force": "f", "torque": "m"},
    }
    recording = read_log(tmp_path / "run.npy", schema(**vectors))
    np.testing.assert_array_equal(recording.signals["force"], rows[:, 8:11])


def test_npz_pickles_are_never_loaded(tmp_path, schema, columns):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    trap = np.empty(20, dtype=object)
    trap[:] = [Trap() for _ in range(20)]
    np.savez(tmp_path / "log.npz", **columns, other=trap)
    assert len(read_log(tmp_path / "log.npz", schema())) == 20
    np.savez(tmp_path / "log.npz", **(columns | {"fx": trap}))
    with pytest.raises(
        LogError, match=r"column 'fx': .* got Python objects, and pickles are never"
    ):
        read_log(tmp_path / "log.npz", schema())


def test_npz_arrays_of_other_lengths(tmp_path, schema, columns):
    np.savez(tmp_path / "log.npz", **(columns | {"fx": np.ones(19)}))
    with pytest.raises(LogError, match=r"array '\w+' has \d+ rows, but 'fx' has 19|'fx' has 19"):
        read_log(tmp_path / "log.npz", schema())
    np.savez(tmp_path / "log.npz", **columns, other=np.ones(19))
    assert len(read_log(tmp_path / "log.npz", schema())) == 20


def test_npz_with_false_size_is_rejected(tmp_path, schema, columns, monkeypatch):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)}
    )
    path = tmp_path / "log.npz"
    np.savez(path, **{k: v for k, v in columns.items() if k != "fx"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("fx.npy", header.getvalue())
    with pytest.raises(LogError, match=r"array 'fx.npy' claims \d+ bytes, but has \d+"):
        read_log(path, schema())
    monkeypatch.setattr("identify.files._ACCEPTED_EXPANDED_BYTES", 10_000)
    np.savez_compressed(path, **(columns | {"fx": np.zeros(1_000_000)}))
    with pytest.raises(LogError, match=r"compressed bytes expand to \d+ or more"):
        read_log(path, schema())


def still_log(path, rows, **options) -> None:
    """A log whose columns are constant, which compress to next to nothing."""
    columns = {name: np.full(rows, float(name == "qw")) for name in NAMES}
    pq.write_table(pa.table(columns), path, compression="zstd", **options)


def test_parquet_decompression_bomb_is_rejected(tmp_path, schema, monkeypatch):
    """Numbers that repeat take no room in a file, and all of it in memory."""
    monkeypatch.setattr("identify.files._ACCEPTED_EXPANDED_BYTES", 2**20)
    document = schema(log={"time": None, "rate_hz": 1000.0})
    still_log(tmp_path / "log.parquet", 400_000)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("was read"))
    with pytest.raises(LogError, match=r"bytes expand to 41600000 or more.*without compression"):
        read_log(tmp_path / "log.parquet", document)


def test_a_long_parquet_log_of_constant_columns_is_read_in_parts(tmp_path, schema, monkeypatch):
    monkeypatch.setattr("identify.files._ACCEPTED_EXPANDED_BYTES", 2**20)
    document = schema(log={"time": None, "rate_hz": 1000.0})
    still_log(tmp_path / "log.parquet", 400_000)
    log = open_log(tmp_path / "log.parquet", document)
    assert isinstance(log, LogFile)
    part = log.reader()(200_000, 210_000, 10).recording
    np.testing.assert_array_equal(part.signals["quaternion"][:, 3], 1.0)
    plain = {"use_dictionary": False, "row_group_size": 400_000, "data_page_size": 2**30}
    still_log(tmp_path / "page.parquet", 400_000, **plain)
    with pytest.raises(LogError, match=r"bytes expand to 416\d+ or more; expected at most"):
        open_log(tmp_path / "page.parquet", document)

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from identify.errors import LogError, MissingColumn, MissingFile
from identify.logs import SourceFile, read_log
from tests.logs.conftest import NAMES

POSE, WRENCH = slice(1, 8), slice(8, 14)


@pytest.fixture
def halves(lines):
    fields = [line.split(",") for line in lines]
    return tuple([",".join([f[0], *f[part]]) for f in fields] for part in (POSE, WRENCH))


@pytest.fixture
def streams(schema):

    def make(**changes):
        files = {"pose": {"file": "pose.csv"}, "wrench": {"file": "wrench.csv"}}
        return schema(**({"streams": files} | changes))

    return make


def test_a_folder(write, streams, halves, rows, tmp_path):
    paths = [
        write(half, f"run 3/{name}.csv")
        for half, name in zip(halves, ("pose", "wrench"), strict=True)
    ]
    recording = read_log(tmp_path / "run 3", streams())
    np.testing.assert_array_equal(recording.time, rows[:, 0])
    np.testing.assert_array_equal(recording.signals["position"], rows[:, 1:4])
    np.testing.assert_array_equal(recording.signals["torque"], rows[:, 11:])
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    assert recording.name == "run 3"
    assert recording.sources == tuple(map(SourceFile, paths, digests))
    assert recording.sha256 == hashlib.sha256("".join(digests).encode()).hexdigest()


def test_files_beside_the_log(write, streams, halves, rows):
    pose = write(halves[0], "pose.csv")
    write(halves[1], "forces/wrench.csv")
    files = {"wrench": {"file": "forces/wrench.csv"}}
    recording = read_log(pose, streams(streams=files))
    np.testing.assert_array_equal(recording.signals["force"], rows[:, 8:11])
    assert recording.name == "pose"
    assert [source.path.name for source in recording.sources] == ["pose.csv", "wrench.csv"]


def test_single_file_log_has_one_digest(write, schema, lines):
    path = write(lines)
    recording = read_log(path, schema())
    assert recording.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert recording.sources == (SourceFile(path, recording.sha256),)
    assert recording.name == "log"
    assert json.loads(json.dumps(dict(recording.schema))) == schema()


def test_stream_layouts_may_differ(write, streams, halves, rows, tmp_path):
    write([line.replace(",", ";") for line in halves[0]], "pose.csv")
    np.savez(tmp_path / "wrench.npz", w=rows[:, 8:])
    changed = streams(
        streams={"pose": {"file": "pose.csv", "separator": ";"}, "wrench": {"file": "wrench.npz"}},
        wrench={"force": ["w[0]", "w[1]", "w[2]"], "torque": [3, 4, 5]},
    )
    recording = read_log(tmp_path, changed)
    np.testing.assert_array_equal(recording.time, rows[:, 0])
    np.testing.assert_array_equal(recording.signals["torque"], rows[:, 11:])


def test_the_stamps_may_be_in_any_of_the_files(write, streams, halves, rows, tmp_path):
    write([line.split(",", 1)[1] for line in halves[0]], "pose.csv")
    write(halves[1], "wrench.csv")
    np.testing.assert_array_equal(read_log(tmp_path, streams()).time, rows[:, 0])
    write([line.split(",", 1)[1] for line in halves[1]], "wrench.csv")
    with pytest.raises(LogError, match="no file of the log has the column 't' of time stamps"):
        read_log(tmp_path, streams())


def test_prose_instead_of_names_where_columns_are_numbered(write, streams, halves, rows, tmp_path):
    write(halves[0], "pose.csv")
    numbers = [line.split(",", 1)[1] for line in halves[1]]
    write(["raw wrench, as recorded", *numbers[1:]], "wrench.csv")
    numbered = streams(wrench={"force": [0, 1, 2], "torque": [3, 4, 5]})
    recording = read_log(tmp_path, numbered)
    np.testing.assert_array_equal(recording.time, rows[:, 0])
    np.testing.assert_array_equal(recording.signals["torque"], rows[:, 11:])


def test_a_stream_may_name_its_own_stamps(write, streams, halves, rows, tmp_path):
    write(halves[0], "pose.csv")
    write(["stamp" + halves[1][0][1:], *halves[1][1:]], "wrench.csv")
    files = {"pose": {"file": "pose.csv"}, "wrench": {"file": "wrench.csv", "time": "stamp"}}
    np.testing.assert_array_equal(read_log(tmp_path, streams(streams=files)).time, rows[:, 0])
    files["wrench"]["time"] = "stmp"
    with pytest.raises(MissingColumn, match=r"wrench.csv: no column 'stmp'.*did you mean 'stamp'"):
        read_log(tmp_path, streams(streams=files))


def stamped(half: list[str], stamps) -> list[str]:
    pairs = zip(stamps, half[1:], strict=True)
    return [half[0], *(f"{stamp!r},{line.split(',', 1)[1]}" for stamp, line in pairs)]


def test_files_of_the_same_rows_may_start_at_zeros_of_their_own(write, streams, halves, tmp_path):
    write(halves[0], "pose.csv")
    write(stamped(halves[1], [100 + i / 100 for i in range(20)]), "wrench.csv")
    recording = read_log(tmp_path, streams())
    assert (len(recording), recording.rows, recording.streams) == (20, 20, ())


def test_files_with_stamps_of_their_own_share_their_zero(write, streams, halves, rows, tmp_path):
    write(stamped(halves[0], [1.7e9 + i / 64 for i in range(20)]), "pose.csv")
    write(stamped(halves[1], [1.7e9 + 0.125 + i / 128 for i in range(20)]), "wrench.csv")
    recording = read_log(tmp_path, streams())
    (pose,) = recording.streams
    np.testing.assert_array_equal(recording.time, np.arange(20) / 128)
    np.testing.assert_array_equal(recording.signals["force"], rows[:, 8:11])
    np.testing.assert_array_equal(pose.time, np.arange(20) / 64 - 0.125)
    np.testing.assert_array_equal(pose.signals["position"], rows[:, 1:4])
    assert (len(recording), len(pose), recording.rows) == (20, 20, 40)
    assert set(recording.signals) == {"force", "torque"}
    assert "; pose: 20 rows, 0.2969 s at 64 Hz)" in repr(recording)


def test_stamps_of_a_stream_may_be_in_another_unit(write, streams, halves, tmp_path):
    write(stamped(halves[0], [5 + i / 100 for i in range(20)]), "pose.csv")
    write(stamped(halves[1], [5010 + 7 * i for i in range(20)]), "wrench.csv")
    files = {"pose": {"file": "pose.csv"}, "wrench": {"file": "wrench.csv", "time_unit": "ms"}}
    recording = read_log(tmp_path, streams(streams=files))
    np.testing.assert_allclose(recording.time, 7e-3 * np.arange(20), atol=1e-15)
    np.testing.assert_allclose(recording.streams[0].time, np.arange(20) / 100 - 0.01, atol=1e-15)


def test_files_of_other_lengths_are_streams(write, streams, halves, tmp_path):
    write(halves[0], "pose.csv")
    write(halves[1][:-3], "wrench.csv")
    recording = read_log(tmp_path, streams())
    assert (len(recording), len(recording.streams[0]), recording.rows) == (17, 20, 37)


def test_arrays_of_different_lengths_become_streams(schema, rows, tmp_path):
    arrays = {"pose_t": rows[:, 0], "t": rows[:-3, 0]}
    arrays |= {name: rows[:, k] for k, name in enumerate(NAMES[1:8], 1)}
    arrays |= {name: rows[:-3, k] for k, name in enumerate(NAMES[8:14], 8)}
    np.savez(tmp_path / "log.npz", **arrays)
    for log in (arrays, tmp_path / "log.npz"):
        recording = read_log(log, schema(streams={"pose": {"time": "pose_t"}}))
        assert (len(recording), len(recording.streams[0]), recording.rows) == (17, 20, 37)


@pytest.mark.parametrize("rate", [None, 100])
def test_files_of_other_lengths_without_a_clock_each(write, streams, halves, tmp_path, rate):
    write(halves[0], "pose.csv")
    write([line.split(",", 1)[1] for line in halves[1][:-3]], "wrench.csv")
    schema = streams() if rate is None else streams(log={"time": None, "rate_hz": rate})
    message = r"pose.csv has 20 rows, but .*wrench.csv has 17; .*or a clock each: a column time"
    with pytest.raises(LogError, match=message) as caught:
        read_log(tmp_path, schema)
    assert caught.value.exit_code == 2


def test_a_stream_at_a_rate_starts_with_the_log(write, streams, halves, tmp_path):
    write(stamped(halves[0], [40 + i / 100 for i in range(20)]), "pose.csv")
    write(halves[1], "wrench.csv")
    files = {"pose": {"file": "pose.csv"}, "wrench": {"file": "wrench.csv", "rate_hz": 100}}
    recording = read_log(tmp_path, streams(streams=files))
    assert recording.findings == ()
    np.testing.assert_allclose(recording.time, np.arange(20) / 100, atol=1e-14)
    np.testing.assert_allclose(recording.streams[0].time, np.arange(20) / 100, atol=1e-14)
    files["wrench"]["rate_hz"] = 250
    (finding,) = read_log(tmp_path, streams(streams=files)).findings
    assert (finding.code, finding.severity) == ("clock_rate", "warning")
    assert (
        "the wrench lasts 0.076 s by its rate_hz, but the log lasts 0.19 s by its time"
        in finding.text
    )
    assert "rate_hz = 100 in [streams.*]" in finding.remedy


def test_streams_without_time_in_common(write, streams, halves, tmp_path):
    write(halves[0], "pose.csv")
    write(stamped(halves[1], [3 + i / 50 for i in range(20)]), "wrench.csv")
    message = (
        r"no time in common: wrench \(.*wrench.csv\) from 3 to 3.38 s, "
        r"pose \(.*pose.csv\) from 0 to 0.19 s. Check time_unit .* a common zero"
    )
    with pytest.raises(LogError, match=message) as caught:
        read_log(tmp_path, streams())
    assert caught.value.exit_code == 2


def test_bad_rows_of_a_stream_are_left_out_of_it_alone(write, streams, halves, rows, tmp_path):
    pose = stamped(halves[0], [i / 64 for i in range(20)])
    pose[3] = pose[3].rpartition(",")[0] + ",nan"
    write(pose, "pose.csv")
    write(halves[1], "wrench.csv")
    recording = read_log(tmp_path, streams())
    assert (len(recording), len(recording.streams[0]), recording.rows) == (20, 19, 40)
    assert recording.dropped.not_finite == recording.dropped.total == 1


def alternating(rows, kinds: str) -> list[str]:
    """Rows of the pose ("p"), of the wrench ("w"), of both ("b") and of nothing ("n")."""
    lines = [",".join(NAMES)]
    for i, (row, kind) in enumerate(zip(rows, kinds, strict=True)):
        fields = [repr(float(x)) for x in row[1:]]
        if kind in "wn":
            fields[:7] = [""] * 7
        if kind in "pn":
            fields[7:] = [""] * 6
        lines.append(",".join([str(i), *fields]))
    return lines


@pytest.fixture
def many(rows):
    return np.tile(rows, (4, 1))


def test_rows_that_alternate_are_streams(write, schema, many):
    kinds = "pww" * 26 + "pw"
    recording = read_log(write(alternating(many, kinds)), schema())
    (pose,) = recording.streams
    of_wrench = np.array([kind == "w" for kind in kinds])
    np.testing.assert_array_equal(recording.time, np.flatnonzero(of_wrench) - 1.0)
    np.testing.assert_array_equal(recording.signals["torque"], many[of_wrench, 11:])
    np.testing.assert_array_equal(pose.time, np.flatnonzero(~of_wrench) - 1.0)
    np.testing.assert_array_equal(pose.signals["position"], many[~of_wrench, 1:4])
    assert (recording.rows, recording.dropped.total) == (80, 0)
    (finding,) = recording.findings
    assert (finding.code, finding.severity) == ("clocks_joined", "info")
    assert "log.csv: its rows belong to several streams: 27 pose, 53 wrench" in finding.text


def test_flawed_rows_of_an_alternating_log_are_counted(write, schema, many):
    lines = alternating(many, "pw" * 20 + "n" + "w" + "pw" * 19)
    lines[2] = lines[2].rpartition(",")[0] + ","  # a wrench without its last field
    lines[-1] = lines[-1][:12]
    recording = read_log(write(lines), schema())
    assert (recording.rows, len(recording), len(recording.streams[0])) == (80, 38, 39)
    assert (recording.dropped.not_finite, recording.dropped.cut_short) == (2, 1)


def test_counter_wrap_applies_to_all_streams(write, schema, many):
    """One of them begins after that, where its stamps alone would not tell."""
    lines = alternating(many, "p" * 40 + "pw" * 20)
    ticks = (2**32 - 38_000 + 1000 * np.arange(80)) % 2**32
    rest = [line.split(",", 1)[1] for line in lines[1:]]
    lines[1:] = [f"{tick},{row}" for tick, row in zip(ticks, rest, strict=True)]
    recording = read_log(write(lines), schema(log={"time_unit": "us"}))
    assert_allclose(recording.time, np.arange(20) * 2e-3)
    assert_allclose(recording.streams[0].time[[0, -1]], [-0.041, 0.037])
    assert [finding.code for finding in recording.findings] == ["counter_wrapped", "clocks_joined"]


@pytest.mark.parametrize(
    "kinds",
    [
        "b" * 40 + "p" * 40,  # the wrench was off from then on
        "bbbbpppp" * 2 + "b" * 32 + "p" * 32,
        "n" * 40 + "b" * 40,
        "nb" * 40,  # rows without anything
    ],
)
def test_logs_that_are_not_of_alternating_rows_are_rejected(write, schema, many, kinds):
    with pytest.raises(LogError, match=r"of 80 rows are unusable"):
        read_log(write(alternating(many, kinds)), schema())


def test_few_rows_without_a_stream_are_dropped(write, schema, many):
    recording = read_log(write(alternating(many, "bbbbbbbbbp" * 8)), schema())
    assert (len(recording), recording.streams, recording.dropped.not_finite) == (72, (), 8)
    allowed = schema(log={"drop_bad_rows": True})
    recording = read_log(write(alternating(many, "bp" * 40)), allowed)
    assert (len(recording), recording.streams, recording.dropped.not_finite) == (40, (), 40)


def test_parquet_and_tables_in_memory_alternate_too(schema, many, tmp_path):
    of_pose = np.arange(80) % 3 == 0
    columns = {name: many[:, k].copy() for k, name in enumerate(NAMES)}
    columns["t"] = np.arange(80.0)
    for name in NAMES[1:]:
        columns[name][of_pose != (name[0] in "pq")] = np.nan
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    for log in (columns, tmp_path / "log.parquet"):
        recording = read_log(log, schema())
        assert (len(recording), len(recording.streams[0])) == (53, 27)
        assert recording.dropped.total == 0


def test_row_dropped_in_one_file_is_dropped_in_every_file(write, streams, halves, rows, tmp_path):
    pose, wrench = list(halves[0]), list(halves[1])
    pose[3] = pose[3].rpartition(",")[0] + ",nan"
    wrench[6] = wrench[6].rpartition(",")[0] + ",inf"
    wrench[-1] = wrench[-1][:9]
    write(pose, "pose.csv")
    write(wrench, "wrench.csv")
    recording = read_log(tmp_path, streams())
    kept = np.delete(np.arange(20), [2, 5, 19])
    np.testing.assert_array_equal(recording.time, rows[kept, 0])
    np.testing.assert_array_equal(recording.signals["position"], rows[kept, 1:4])
    np.testing.assert_array_equal(recording.signals["force"], rows[kept, 8:11])
    assert recording.rows == 20
    assert (recording.dropped.not_finite, recording.dropped.cut_short) == (2, 1)


def test_a_folder_without_streams(write, schema, streams, lines, tmp_path):
    write(lines, "all.csv")
    message = r"is a folder, and the schema does not say which of its files has the pose; add \[str"
    with pytest.raises(LogError, match=message) as caught:
        read_log(tmp_path, schema())
    assert caught.value.exit_code == 2
    with pytest.raises(LogError, match=r"has the wrench; add \[streams.wrench\]"):
        read_log(tmp_path, streams(streams={"pose": {"file": "all.csv"}}))


def test_missing_files_name_the_nearest(write, schema, streams, lines, tmp_path):
    path = write(lines, "run_1.csv")
    with pytest.raises(MissingFile, match=r"run1.csv: no such file; did you mean 'run_1.csv'\?"):
        read_log(tmp_path / "run1.csv", schema())
    with pytest.raises(MissingFile, match=r"pose.csv: no such file; .* has run_1.csv") as caught:
        read_log(tmp_path, streams())
    assert (caught.value.exit_code, caught.value.path) == (2, tmp_path / "pose.csv")
    with pytest.raises(MissingFile, match=r"the folder .*nowhere does not exist either"):
        read_log(tmp_path / "nowhere" / "a.csv", schema())
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingFile, match="empty is empty"):
        read_log(tmp_path / "empty" / "a.csv", schema())
    with pytest.raises(MissingFile, match="no such file or folder"):
        read_log(tmp_path / "run_2", streams())
    with pytest.raises(FileNotFoundError, match="is a folder; expected a file"):
        read_log(path, streams(streams={"pose": {"file": "empty"}}))


@pytest.mark.parametrize(("count", "step"), [(2**16, 10), (2**32, 10_000)])
def test_a_counter_that_started_again_before_a_stream_began_is_named(
    write, streams, halves, tmp_path, count, step
):
    """The pose runs over the end of the counter's range; the wrench begins behind it."""
    ticks = count - 12 * step + step * np.arange(20)
    write(stamped(halves[0], (ticks % count).tolist()), "pose.csv")
    write(stamped(halves[1], (ticks + 13 * step - count).tolist()), "wrench.csv")
    units = {"log": {"time_unit": "ms" if count == 2**16 else "us"}}
    said = rf"no time in common.*counter of the wrench had wrapped after {count} ticks"
    with pytest.raises(LogError, match=said):
        read_log(tmp_path, streams(**units))
    write(stamped(halves[1], (ticks + 13 * step).tolist()), "wrench.csv")
    assert len(read_log(tmp_path, streams(**units))) == 20
    write(stamped(halves[1], (ticks + 40 * step).tolist()), "wrench.csv")
    with pytest.raises(LogError, match=r"no time in common.*need a common zero"):
        read_log(tmp_path, streams(**units))

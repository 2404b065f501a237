"""Logs in several files of the same rows, and the account of files and rows."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from identify.errors import LogError, MissingColumn, MissingFile
from identify.logs import SourceFile, read_log

POSE, WRENCH = slice(1, 8), slice(8, 14)


@pytest.fixture
def halves(lines):
    """The small log as two files, each with the time stamps."""
    fields = [line.split(",") for line in lines]
    return tuple([",".join([f[0], *f[part]]) for f in fields] for part in (POSE, WRENCH))


@pytest.fixture
def streams(schema):
    """Its schema."""

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


def test_one_file_has_one_digest(write, schema, lines):
    path = write(lines)
    recording = read_log(path, schema())
    assert recording.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert recording.sources == (SourceFile(path, recording.sha256),)
    assert recording.name == "log"
    assert json.loads(json.dumps(dict(recording.schema))) == schema()


def test_layouts_may_differ(write, streams, halves, rows, tmp_path):
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


def test_files_whose_stamps_differ(write, streams, halves, tmp_path):
    write(halves[0], "pose.csv")
    late = [
        halves[1][0],
        *(f"{100 + i / 100},{x.split(',', 1)[1]}" for i, x in enumerate(halves[1][1:])),
    ]
    write(late, "wrench.csv")
    assert read_log(tmp_path, streams()).rows == 20
    late[9:] = [f"{101 + i / 100},{x.split(',', 1)[1]}" for i, x in enumerate(halves[1][9:])]
    write(late, "wrench.csv")
    message = r"wrench.csv: line 10: is stamped .* but the same row of .*pose.csv .* the same rows"
    with pytest.raises(LogError, match=message):
        read_log(tmp_path, streams())


def test_files_of_other_lengths(write, streams, halves, tmp_path):
    write(halves[0], "pose.csv")
    write(halves[1][:-3], "wrench.csv")
    with pytest.raises(LogError, match=r"pose.csv has 20 rows, but .*wrench.csv has 17") as caught:
        read_log(tmp_path, streams())
    assert caught.value.exit_code == 2


def test_a_row_dropped_in_one_file_is_dropped_in_all(write, streams, halves, rows, tmp_path):
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


@pytest.mark.parametrize("cut_in", [0, 1])
def test_a_row_cut_short_in_one_file_and_absent_in_the_other(
    write, streams, halves, tmp_path, cut_in
):
    names = ["pose.csv", "wrench.csv"]
    write("\n".join([*halves[cut_in][:-1], halves[cut_in][-1][:9]]), names[cut_in])
    write(halves[1 - cut_in][:-1], names[1 - cut_in])
    recording = read_log(tmp_path, streams())
    assert (len(recording), recording.rows, recording.dropped.cut_short) == (19, 20, 1)


def test_one_file_for_two_groups_is_read_once(write, streams, halves, tmp_path, schema, lines):
    write(lines, "all.csv")
    recording = read_log(
        tmp_path, streams(streams={"pose": {"file": "all.csv"}, "wrench": {"file": "all.csv"}})
    )
    assert len(recording.sources) == 1
    assert recording.sha256 == recording.sources[0].sha256


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

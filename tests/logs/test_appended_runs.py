"""Runs in one file, texts of other encodings and languages, and messages that are no table."""

import numpy as np
import pytest

from identify.errors import LogError
from identify.logs import open_log, read_log
from identify.logs.draft_schema import draft_schema
from identify.logs.log_file import open_runs
from identify.logs.named_vectors import find_named_vectors
from identify.logs.table import TableInfo


@pytest.mark.parametrize("header", [True, False])
def test_runs_in_one_file(write, schema, lines, header):
    path = write([*lines, *lines[(0 if header else 1) :]])
    log = read_log(path, schema())
    assert [finding.code for finding in log.findings] == ["runs_appended"]
    assert "line 23" in str(log.findings[0]) or "line 22" in str(log.findings[0])
    first, second = open_runs(path, schema())
    assert (first.name, second.name) == ("log run 1", "log run 2")
    for run in (first, second):
        np.testing.assert_array_equal(
            run.signals["force"], read_log(write(lines, "a.csv"), schema()).signals["force"]
        )
    assert np.diff(log.time)[19] == pytest.approx(1.0)
    assert log.dropped.total == 0


def test_a_short_fall_of_time_is_no_new_run(write, schema, lines):
    with pytest.raises(LogError, match="time goes back"):
        read_log(write([*lines, *lines[8:]]), schema())


def test_runs_of_a_long_file(tmp_path, schema, monkeypatch):
    monkeypatch.setattr("identify.logs.log_file.MIN_ROWS_IN_CHUNKS", 5_000)
    table = np.random.default_rng(0).standard_normal((14_000, 14)).astype(np.float32)
    table[:, 0] = np.arange(len(table)) % 7_000 / 500.0
    table[:, 4:8] = 0.5
    np.savetxt(
        tmp_path / "log.csv", table, "%.3f", ",", header=",".join(["t", *_NAMES]), comments=""
    )
    assert len(open_runs(tmp_path / "log.csv", schema())) == 2
    assert len(open_log(tmp_path / "log.csv", schema())) == 14_000


_NAMES = ["px", "py", "pz", "qx", "qy", "qz", "qw", "fx", "fy", "fz", "tx", "ty", "tz"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(write, schema, lines, encoding):
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    path = write(mark + "\n".join(lines).encode(encoding), "log.csv")
    log = read_log(path, schema())
    np.testing.assert_array_equal(
        log.signals["torque"], read_log(write(lines, "b.csv"), schema()).signals["torque"]
    )
    assert 'force = ["fx"' in draft_schema(path).text


@pytest.mark.parametrize(
    "text",
    [
        "---\nheader:\n  stamp:\n    sec: 1\n    nanosec: 2\nwrench:\n  force:\n    x: 1.0\n",
        "header: \n  seq: 5\n  stamp: \n    secs: 1\n",
        "force:\n  x: 1.0\n  y: 2.0\ntorque:\n  x: 0.1\n---\n",
        "name:\n- joint_1\n- joint_2\nposition:\n- 0.1\n- 0.2\n",
    ],
)
def test_printed_messages_are_recognised(write, schema, text):
    path = write(text.encode(), "log.txt")
    for read in (draft_schema, lambda path: read_log(path, schema())):
        with pytest.raises(LogError, match=r"as `topic echo` prints them.*ros2 bag record"):
            read(path)


@pytest.mark.parametrize(
    ("force", "torque"),
    [
        ("Kraft_{}", "Moment_{}"),
        ("Kräfte {} [N]", "Momente {} [Nm]"),
        ("Kraft in {}", "Drehmoment um {}"),
        ("Kraft in {}-Richtung", "Moment um {}-Achse"),
        ("effort_{}", "couple_{}"),
        ("Force suivant {} (N)", "Couple autour de {} (N·m)"),
    ],
)
def test_german_and_french_names(force, torque):
    names = {
        role: [word.format(a) for a in "XYZ"]
        for role, word in (("force", force), ("torque", torque))
    }
    table = TableInfo((*names["force"], *names["torque"]))
    vectors = find_named_vectors(table)
    assert {role: vectors.likeliest(role) for role in names} == names


def test_decimal_commas_with_german_names(write, lines):
    heads = ["Zeit", "x", "y", "z", "qx", "qy", "qz", "qw"]
    heads += [f"{word} {a}" for word in ("Kraft in", "Moment um") for a in "XYZ"]
    rows = [";".join(heads), *(line.replace(",", ";").replace(".", ",") for line in lines[1:])]
    draft = draft_schema(write(rows))
    assert draft.missing_signals == ()
    assert 'decimal = ","' in draft.text

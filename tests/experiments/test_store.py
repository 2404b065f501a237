"""The store: crashes, full disks, two writers, other versions, damaged files, odd texts."""

from __future__ import annotations

import errno
import json
import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from identify.errors import StudyError
from identify.experiments import open_results, run_study
from identify.experiments.code_mark import code_mark
from identify.experiments.store import (
    RESULTS,
    Store,
    StoreInfo,
    columns as columns_module,
    read_info,
    read_rows,
    store as store_module,
)
from identify.experiments.store.columns import COLUMNS, read_table, table_of
from identify.experiments.store.store import DATABASE
from tests.experiments.studies import quick

INFO = StoreInfo("test", {"estimator": ["ols"]})


def row(number: int, **values: Any) -> dict[str, Any]:
    return {
        "key": f"{number:032x}",
        "code": "c",
        "log": "a",
        "estimator": "ols",
        "seed": number,
    } | (values)


def keys(folder: Path) -> list[str]:
    return read_rows(folder)["key"].to_pylist()


def killed(store: Store) -> None:
    """The process is gone before its end: nothing is put in order."""
    store._behind = True
    store.close()


def test_rows_are_there_after_a_crash_without_a_table(tmp_path: Path) -> None:
    store = Store(tmp_path, INFO)
    store._next_table = float("inf")
    store.add([row(1, mass_error=0.1), row(2)])
    killed(store)
    assert not (tmp_path / RESULTS).exists()
    assert read_rows(tmp_path)["mass_error"].to_pylist() == [0.1, None]
    with Store(tmp_path, INFO) as store:
        assert len(store) == 2
        assert store.has(row(1)["key"])
        assert not store.has(row(3)["key"])


def test_a_torn_end_of_the_write_ahead_log_costs_the_last_rows_alone(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    with Store(source, INFO) as store:
        store._next_table = float("inf")
        for number in range(5):
            store.add([row(number, error="x" * 1000)])
        shutil.copytree(source, copy)  # as a crash would leave it
    wal = copy / f"{DATABASE}-wal"
    os.truncate(wal, wal.stat().st_size - 100)
    assert keys(copy) == [row(number)["key"] for number in range(4)]


def test_a_full_disk_leaves_no_half_row(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(StudyError, match=r"cannot be written to: .*full.*make room"):
            store.add([row(2), *(row(n, error="x" * 1900) for n in range(3, 50))])
        assert not store.has(row(2)["key"])
        store._db.execute("PRAGMA max_page_count = 1000000")
        store.add([row(2)])
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of a process")
def test_a_real_limit_on_the_size_of_files(tmp_path: Path) -> None:
    """The system itself refuses the write."""
    code = f"""
import resource, signal
from pathlib import Path
from identify.errors import StudyError
from identify.experiments.store import Store, StoreInfo
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(Path({str(tmp_path)!r}), StoreInfo("test"))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    for number in range(1000):
        store.add([{{"key": str(number), "code": "c", "error": "x" * 200}}])
except StudyError as error:
    print(number, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd(), check=True
    )
    reported, message = done.stdout.split(" ", 1)
    assert "cannot be written to" in message
    assert len(keys(tmp_path)) == int(reported) > 0


def test_a_table_that_cannot_be_written_costs_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, INFO)
    store.add([row(1)])
    store.write_table()
    store.add([row(2)])

    def fails(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(columns_module, "write_bytes", fails)
    with pytest.raises(StudyError, match="every row that was reported done is kept"):
        store.write_table()
    monkeypatch.undo()
    assert keys(tmp_path) == [row(1)["key"]]  # what readers have while it is at work
    killed(store)
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "lock",
        "results.parquet",
        "results.sqlite",
        "store.json",
    ]


def test_the_later_row_of_a_key_counts(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error_type="WorkerDied", error="gone")])
        assert not store.has(row(1)["key"])
        assert store.failed(row(1)["key"])
        store.write_table()
        store.add([row(1, status="solved")])
        assert store.has(row(1)["key"])
    table = read_rows(tmp_path)
    assert table["status"].to_pylist() == ["solved"]
    assert table["error"].to_pylist() == [None]


def test_a_failed_row_may_be_tried_again(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error_type="SolveError", error="no")])
        assert store.has(row(1)["key"])
        assert not store.has(row(1)["key"], retry_failed=True)


@pytest.mark.skipif(os.name == "nt", reason="links need rights")
@pytest.mark.parametrize("name", ["lock", "store.json", RESULTS, DATABASE, f"{DATABASE}-wal"])
@pytest.mark.parametrize("there", [True, False])
def test_no_link_is_followed(tmp_path: Path, name: str, there: bool) -> None:
    folder, target = tmp_path / "out", tmp_path / "target"
    folder.mkdir()
    if there:
        target.write_text("mine")
    (folder / name).symlink_to(target)
    with pytest.raises(StudyError, match=f"{name}: is a symbolic link, .* remove it, or choose"):
        Store(folder, INFO)
    assert target.read_text() == "mine" if there else not target.exists()
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_in_place_of_the_lock_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(StudyError, match="lock is not a regular file, where a lock would be"):
        Store(tmp_path, INFO)


def test_a_lack_of_memory_passes(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error_type="MemoryError", error="")])
        assert store.failed(row(1)["key"])
        assert not store.has(row(1)["key"])


def test_a_second_writer_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    with Store(tmp_path, INFO):
        with pytest.raises(StudyError, match=f"process {os.getpid()} on .* is running a study"):
            Store(tmp_path, INFO)
        assert read_rows(tmp_path).num_rows == 0  # readers may
    Store(tmp_path, INFO).close()


@pytest.mark.parametrize("version", [1, 99])
def test_another_schema_version_is_refused(tmp_path: Path, version: int) -> None:
    Store(tmp_path, INFO).close()
    path = tmp_path / "store.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": version}))
    for use in (lambda: Store(tmp_path, INFO), lambda: read_rows(tmp_path)):
        with pytest.raises(
            StudyError, match=f"version {version}, and this program reads and writes version 2"
        ):
            use()


@pytest.mark.parametrize("text", ["[]", "{}", "3", '{"format": 1, "schema_version": []}', "\xff"])
def test_a_description_that_is_none_is_refused_and_the_lock_let_go(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "store.json").write_text(text, encoding="latin-1")
    with pytest.raises(StudyError, match=r"is not the description|results of 1 version"):
        Store(tmp_path, INFO)
    (tmp_path / "store.json").unlink()
    Store(tmp_path, INFO).close()


def test_results_without_a_description_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_bytes(b"mine")
    with pytest.raises(StudyError, match=r"has results but no store\.json"):
        Store(tmp_path, INFO)
    with pytest.raises(StudyError, match=r"has results but no store\.json"):
        read_rows(tmp_path)


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot be written to"):
        Store(tmp_path / "file", INFO)


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="holds no results; run a study with -o"):
        read_rows(tmp_path)


def test_the_codes_that_ran_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path, INFO).close()
    newer = type(code_mark())("newer", ())
    monkeypatch.setattr(store_module, "code_mark", lambda: newer)
    Store(tmp_path, StoreInfo("renamed")).close()
    info = read_info(tmp_path)
    assert info is not None
    assert info.study == "renamed"
    assert set(info.codes) == {newer.short, code_mark().short}


def test_columns_of_settings_take_the_type_that_fits() -> None:
    table = table_of(
        [
            row(2, a=1, b=True, c="x", d=None, e=1.5, mass="known"),
            row(1, a=2.5, b=None, c=2.0, d=None, mass=2.0, new=True),
        ]
    )
    assert table["seed"].to_pylist() == [1, 2]
    assert table["a"].to_pylist() == [2.5, 1.0]
    assert table["b"].to_pylist() == [None, True]
    assert table["c"].to_pylist() == ["2.0", "x"]
    assert table["d"].to_pylist() == [None, None]
    assert table["e"].to_pylist() == [None, 1.5]
    assert table["mass"].to_pylist() == ["2.0", "known"]
    assert table["new"].to_pylist() == [True, None]
    assert list(table.column_names)[: len(COLUMNS)] == list(COLUMNS)


def test_numbers_come_back_to_the_bit(tmp_path: Path) -> None:
    values = [0.1 + 0.2, 1e-300, -1.0 / 3.0, 2.0**60 + 1.0]
    with Store(tmp_path, INFO) as store:
        store.add([row(i, mass_error=value) for i, value in enumerate(values)])
    assert read_rows(tmp_path)["mass_error"].to_pylist() == values


def test_texts_of_any_origin_are_escaped_and_bounded(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error="x" * 5_000_000), row(2, error="\udcff\0µ", log="bad\udcff")])
    assert (tmp_path / DATABASE).stat().st_size < 50_000
    table = read_rows(tmp_path)
    assert set(table["log"].to_pylist()) == {"a", "bad\\udcff"}
    long, odd = sorted(table["error"].to_pylist(), reverse=True)
    assert (len(long), odd) == (2000, "\\udcff\0µ")


def test_pyarrow_reads_the_sealed_table(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1), row(2)])
    assert pq.read_table(tmp_path / RESULTS).equals(read_table(tmp_path))


def test_a_lost_table_or_database_is_made_anew_of_the_other(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, c=2.5), row(2, c="known", error_type="SolveError")])
    before = read_rows(tmp_path)
    for lost in (RESULTS, DATABASE):
        (tmp_path / lost).unlink()
        with Store(tmp_path, INFO) as store:
            assert len(store) == 2
            assert store.failed(row(2)["key"])
        assert read_rows(tmp_path).equals(before)


def test_a_database_that_is_none_is_said_and_its_rows_come_from_the_table(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
    (tmp_path / DATABASE).write_bytes(b"not a database, not at all " * 1000)
    with Store(tmp_path, INFO) as store:
        assert store.has(row(1)["key"])
        store.add([row(2)])
    assert f"{DATABASE}: is damaged: file is not a database" in caplog.text
    assert (tmp_path / f"{DATABASE}.damaged").exists()
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]


def test_a_row_whose_checksum_does_not_hold_counts_as_not_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, mass_error=1.0)])
    (tmp_path / RESULTS).unlink()
    with sqlite3.connect(tmp_path / DATABASE) as db:
        db.execute(
            "UPDATE results "
            "SET content = CAST(replace(CAST(content AS TEXT), '1.0', '2.0') AS BLOB)"
        )
    db.close()
    with Store(tmp_path, INFO) as store:
        assert not store.has(row(1)["key"])
    assert "the checksum of a row does not hold" in caplog.text


def flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    bit = rng.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "out"
    run_study(quick(), folder, workers=0)
    return folder


@pytest.mark.parametrize("name", [RESULTS, "store.json", DATABASE])
def test_flipped_bits_are_never_read_as_other_numbers(
    whole: Path, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Read as they were, or the damage is said; and a run of the study makes the table again."""
    caplog.set_level(logging.WARNING)
    rng = random.Random(name)
    expected = open_results(whole).frame
    settled = ["seconds", "prepare_seconds", "finished"]
    for flip in range(120):
        folder = tmp_path / str(flip)
        shutil.copytree(whole, folder)
        flipped(folder / name, rng)
        if flip % 2:  # as if the run had been killed: readers go to the database
            (folder / "lock").write_text("process 1 on nowhere")
        try:
            assert open_results(folder).frame.equals(expected), "read as others without a word"
        except StudyError:
            assert name == "store.json"
            (folder / "store.json").unlink()
        if flip % 6 == 0:
            caplog.clear()
            done = run_study(quick(), folder, workers=0)
            assert done.done == 0 or caplog.text
            frame = open_results(folder).frame
            assert frame.drop(columns=settled).equals(expected.drop(columns=settled))


def test_flipped_bits_of_the_database_alone_are_found(whole: Path, tmp_path: Path) -> None:
    """Without a table to fall back on: rows are lost and run again, none is read as another."""
    rng = random.Random(5)
    expected = {row["key"]: row for row in read_rows(whole).to_pylist()}
    for flip in range(120):
        folder = tmp_path / str(flip)
        shutil.copytree(whole, folder)
        (folder / RESULTS).unlink()
        flipped(folder / DATABASE, rng)
        for found in read_rows(folder).to_pylist():
            assert found == expected[found["key"]]


@pytest.mark.parametrize(
    "changes",
    [{"study": float("nan")}, {"codes": [1]}, {"schema_version": {}}, {"order": 3}, {"extra": 1}],
)
def test_a_description_with_a_wrong_type_is_no_description(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    with Store(tmp_path, INFO):
        pass
    path = tmp_path / "store.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(StudyError, match=r"store.json: (is|results of)"):
        read_rows(tmp_path)

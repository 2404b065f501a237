import errno
import logging
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from identify.errors import StudyError
from identify.experiments import (
    open_results,
    rows as rows_module,
    run_study,
    store as store_module,
)
from identify.experiments.keys import code_fingerprint
from identify.experiments.rows import COLUMNS, RESULTS, table_of
from identify.experiments.store import DATABASE, Store, StoreInfo, read_info, read_rows
from tests.experiments.studies import quick

FLIPS = 12 * int(os.environ.get("IDENTIFY_KILL_ROUNDS", "2"))
"""Copies of a database with a flipped bit: 240 in a long run."""

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


def test_a_transaction_that_was_cut_off_costs_its_own_rows_alone(tmp_path: Path) -> None:
    """A reader and the next run take it back; the copy is what a killed process leaves."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    with Store(source, INFO) as store:
        for number in range(5):
            store.add([row(number, error="x" * 1000)])
        store._db.execute("PRAGMA cache_spill = 1")
        store._db.execute("PRAGMA cache_size = 1")
        store._db.execute("BEGIN")
        store._db.execute("UPDATE results SET content = replace(content, 'x', 'y')")
        shutil.copytree(source, copy)
        store._db.rollback()
    assert (copy / f"{DATABASE}-journal").stat().st_size > 0
    assert b"yyy" in (copy / DATABASE).read_bytes()
    shutil.copytree(copy, tmp_path / "again")
    with Store(tmp_path / "again", INFO) as store:
        assert len(store) == 5
    for folder in (copy, tmp_path / "again"):
        assert set(read_rows(folder)["error"].to_pylist()) == {"x" * 1000}


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


def test_a_table_that_cannot_be_written_costs_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, INFO)
    store.add([row(1)])
    store.export()
    store.add([row(2)])

    def fails(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(rows_module, "write_bytes", fails)
    with pytest.raises(StudyError, match="every row that was reported done is kept"):
        store.export()
    monkeypatch.undo()
    store.close()
    assert pq.read_table(tmp_path / RESULTS)["key"].to_pylist() == [row(1)["key"]]
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "lock",
        "results.parquet",
        "results.sqlite",
    ]


@pytest.mark.parametrize("passing", ["WorkerDied", "MemoryError"])
def test_the_later_row_of_a_key_counts(tmp_path: Path, passing: str) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error_type=passing, error="gone")])
        assert not store.has(row(1)["key"])
        assert store.failed(row(1)["key"])
        store.add([row(1, status="solved")])
        assert store.has(row(1)["key"])
    table = read_rows(tmp_path)
    assert table["status"].to_pylist() == ["solved"]
    assert table["error"].to_pylist() == [None]


@pytest.mark.skipif(os.name == "nt", reason="links need rights")
@pytest.mark.parametrize("name", ["lock", RESULTS, DATABASE, f"{DATABASE}-journal"])
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


def test_a_second_writer_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    with Store(tmp_path, INFO):
        with pytest.raises(StudyError, match=f"process {os.getpid()} on .* is running a study"):
            Store(tmp_path, INFO)
        assert read_rows(tmp_path).num_rows == 0  # readers may
        assert not (tmp_path / RESULTS).exists()
    Store(tmp_path, INFO).close()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def older(folder: Path) -> None:
    folder.mkdir()
    (folder / "store.json").write_text('{"schema_version": 2}')
    (folder / RESULTS).write_bytes(b"rows")
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute("CREATE TABLE results (key TEXT PRIMARY KEY, content BLOB, checksum INTEGER)")


def older_without_its_description(folder: Path) -> None:
    older(folder)
    (folder / "store.json").unlink()


def newer(folder: Path) -> None:
    Store(folder, INFO).close()
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "version"), [(older, "1 or 2"), (older_without_its_description, "0"), (newer, "99")]
)
def test_another_schema_version_is_named_and_refused_and_stays_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], version: str
) -> None:
    folder = tmp_path / "out"
    make(folder)
    (folder / "lock").unlink(missing_ok=True)
    before = contents(folder)
    message = f"version {version}, and this program reads and writes version 3; choose another"
    for use in (lambda: Store(folder, INFO), lambda: read_rows(folder)):
        with pytest.raises(StudyError, match=message):
            use()
        (folder / "lock").unlink(missing_ok=True)
        assert contents(folder) == before


@pytest.mark.parametrize("database", [None, b""])
def test_a_table_without_a_database_is_left_alone(tmp_path: Path, database: bytes | None) -> None:
    (tmp_path / RESULTS).write_bytes(b"mine")
    if database is not None:
        (tmp_path / DATABASE).write_bytes(database)
    before = contents(tmp_path)
    for use in (lambda: Store(tmp_path, INFO), lambda: read_rows(tmp_path)):
        with pytest.raises(StudyError, match=r"has results\.parquet but no results\.sqlite"):
            use()
    assert contents(tmp_path) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do anything")
def test_a_database_that_may_not_be_read_is_not_taken_for_damaged(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
    for mode, uses in ((0o000, (Store, read_rows)), (0o444, (Store,))):
        (tmp_path / DATABASE).chmod(mode)
        for use in uses:
            with pytest.raises(StudyError, match=r"cannot be (read|written to)"):
                use(*(tmp_path, INFO)[: 2 if use is Store else 1])
        (tmp_path / DATABASE).chmod(0o644)
        assert keys(tmp_path) == [row(1)["key"]]


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot be written to"):
        Store(tmp_path / "file", INFO)


def test_the_codes_that_ran_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path, INFO).close()
    newer = type(code_fingerprint())("newer", ())
    monkeypatch.setattr(store_module, "code_fingerprint", lambda: newer)
    Store(tmp_path, StoreInfo("renamed")).close()
    info = read_info(tmp_path)
    assert info.study == "renamed"
    assert set(info.codes) == {newer.short, code_fingerprint().short}


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
    assert (len(long), odd) == (2000, "\\udcff\\x00µ")


def test_the_export_has_the_rows_and_checksums_of_its_pages(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1), row(2)])
    path = tmp_path / RESULTS
    exported = pq.read_table(path, page_checksum_verification=True)
    assert exported.equals(read_rows(tmp_path))
    keys_stored = pq.read_metadata(path).row_group(0).column(0)
    content = bytearray(path.read_bytes())
    content[keys_stored.dictionary_page_offset + keys_stored.total_compressed_size - 1] ^= 1
    path.write_bytes(content)
    with pytest.raises(OSError, match=r"CRC|checksum"):
        pq.read_table(path, page_checksum_verification=True)
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]  # nothing reads it back
    Store(tmp_path, INFO).__exit__(None)
    assert pq.read_table(path, page_checksum_verification=True).equals(exported)


def test_a_database_that_is_none_is_said_and_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
    (tmp_path / DATABASE).write_bytes(b"not a database, not at all " * 1000)
    assert read_rows(tmp_path).num_rows == 0
    assert f"{DATABASE}: is damaged: file is not a database" in caplog.text
    caplog.clear()
    with Store(tmp_path, INFO) as store:
        assert not store.has(row(1)["key"])
        store.add([row(2)])
    assert f"{DATABASE}: is damaged: file is not a database" in caplog.text
    assert (tmp_path / f"{DATABASE}.damaged").read_bytes().startswith(b"not a database")
    assert keys(tmp_path) == [row(2)["key"]]


def changed(folder: Path, statement: str) -> None:
    """Change the database, not its checksums."""
    with closing(sqlite3.connect(folder / DATABASE)) as db, db:
        db.execute(statement)


def test_a_row_whose_checksum_does_not_hold_is_named_and_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, mass_error=1.0), row(2, mass_error=3.0)])
    changed(
        tmp_path,
        "UPDATE results SET content = CAST(replace(CAST(content AS TEXT), '1.0', '2.0') AS BLOB)",
    )
    for use in (read_rows, lambda folder: Store(folder, INFO).close()):
        caplog.clear()
        use(tmp_path)
        assert f"the checksum of row {row(1)['key']} does not hold" in caplog.text
        assert row(2)["key"] not in caplog.text
        assert keys(tmp_path) == [row(2)["key"]]
    with Store(tmp_path, INFO) as store:
        assert not store.has(row(1)["key"])
        assert store.row(row(1)["key"]) is None
        store.add([row(1, mass_error=1.0)])
    caplog.clear()
    assert read_rows(tmp_path)["mass_error"].to_pylist() == [1.0, 3.0]
    assert not caplog.text


def test_a_damaged_page_costs_no_row_of_another(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Rows before it and behind it are kept; what is lost counts as not done."""
    with Store(tmp_path, INFO) as store:
        store.add([row(number, error="x" * 1500) for number in range(40)])
    content = bytearray((tmp_path / DATABASE).read_bytes())
    page = content.index(b'{"key":"%b"' % row(20)["key"].encode()) // 4096  # not of the index
    content[4096 * page : 4096 * page + 8] = bytes(8)
    (tmp_path / DATABASE).write_bytes(content)
    with Store(tmp_path, INFO) as store:
        assert 30 < len(store) < 40
        assert store.has(row(0)["key"])
        assert store.has(row(39)["key"])
    assert "malformed" in caplog.text
    assert len(keys(tmp_path)) == len(store)


def test_a_damaged_description_costs_no_row(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
    changed(tmp_path, "UPDATE info SET checksum = checksum + 1")
    assert read_info(tmp_path) == StoreInfo("")
    assert "names of codes and labels does not hold" in caplog.text
    with Store(tmp_path, INFO) as store:
        assert store.has(row(1)["key"])
    assert set(read_info(tmp_path).codes) == {code_fingerprint().short}


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


def test_flipped_bits_are_never_read_as_other_numbers(
    whole: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Rows are read as they were, or their damage is said; a run of the study makes them again."""
    caplog.set_level(logging.WARNING)
    rng = random.Random(5)
    expected = {row["key"]: row for row in read_rows(whole).to_pylist()}
    settled = ["seconds", "prepare_seconds", "finished"]
    frame = open_results(whole).frame.drop(columns=settled)
    lost = 0
    for flip in range(FLIPS):
        folder = tmp_path / str(flip)
        shutil.copytree(whole, folder)
        flipped(folder / DATABASE, rng)
        caplog.clear()
        try:
            found = read_rows(folder).to_pylist()
        except StudyError as error:
            assert DATABASE in str(error)  # noqa: PT017 - damage that is said
            continue
        assert all(row == expected[row["key"]] for row in found)
        assert len(found) == len(expected) or caplog.text, "rows are gone without a word"
        lost += len(found) < len(expected)
        if flip % 8 == 0:
            run_study(quick(), folder, workers=0)
            again = open_results(folder).frame.drop(columns=settled)
            assert again.equals(frame)
    assert lost >= FLIPS // 8

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from identify.errors import StudyError
from identify.studies import (
    store as store_module,
)
from identify.studies.keys import code_fingerprint
from identify.studies.rows import COLUMN_TYPES, RESULTS_FILE, to_arrow_table
from identify.studies.store import DATABASE_FILE, Store, StoreInfo, read_info, read_rows

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


def test_a_full_disk_leaves_no_half_row(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(StudyError, match=r"cannot be written to: .*full.*make room"):
            store.add([row(2), *(row(n, error="x" * 1900) for n in range(3, 50))])
        assert not store.has_result(row(2)["key"])
        store._db.execute("PRAGMA max_page_count = 1000000")
        store.add([row(2)])
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]


@pytest.mark.parametrize("passing", ["WorkerDied", "MemoryError"])
def test_the_later_row_of_a_key_counts(tmp_path: Path, passing: str) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error_type=passing, error="gone")])
        assert not store.has_result(row(1)["key"])
        assert store.failed(row(1)["key"])
        store.add([row(1, status="solved")])
        assert store.has_result(row(1)["key"])
    table = read_rows(tmp_path)
    assert table["status"].to_pylist() == ["solved"]
    assert table["error"].to_pylist() == [None]


def test_second_writer_is_rejected_with_process_of_first(tmp_path: Path) -> None:
    with Store(tmp_path, INFO):
        with pytest.raises(StudyError, match=f"process {os.getpid()} on .* is running a study"):
            Store(tmp_path, INFO)
        assert read_rows(tmp_path).num_rows == 0  # readers may
        assert not (tmp_path / RESULTS_FILE).exists()
    Store(tmp_path, INFO).close()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def newer(folder: Path) -> None:
    Store(folder, INFO).close()
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as db:
        db.execute("PRAGMA user_version = 99")


def test_another_schema_version_is_named_and_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    newer(tmp_path)
    before = contents(tmp_path)
    message = "version 99, expected version 4; choose another"
    for use in (lambda: Store(tmp_path, INFO), lambda: read_rows(tmp_path)):
        with pytest.raises(StudyError, match=message):
            use()
        assert contents(tmp_path) == before


def test_a_table_without_a_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / RESULTS_FILE).write_bytes(b"mine")
    with pytest.raises(StudyError, match=r"has results\.parquet but no results\.sqlite"):
        Store(tmp_path, INFO)
    assert (tmp_path / RESULTS_FILE).read_bytes() == b"mine"


def test_fingerprints_of_all_codes_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(tmp_path, INFO).close()
    newer = type(code_fingerprint())("newer", ())
    monkeypatch.setattr(store_module, "code_fingerprint", lambda: newer)
    Store(tmp_path, StoreInfo("renamed")).close()
    info = read_info(tmp_path)
    assert info.study == "renamed"
    assert set(info.codes) == {newer.short, code_fingerprint().short}


def test_columns_of_settings_take_the_type_that_fits() -> None:
    table = to_arrow_table(
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
    assert list(table.column_names)[: len(COLUMN_TYPES)] == list(COLUMN_TYPES)


def test_texts_of_any_origin_are_escaped_and_bounded(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error="x" * 5_000_000), row(2, error="\udcff\0µ", log="bad\udcff")])
    assert (tmp_path / DATABASE_FILE).stat().st_size < 50_000
    table = read_rows(tmp_path)
    assert set(table["log"].to_pylist()) == {"a", "bad\\udcff"}
    long, odd = sorted(table["error"].to_pylist(), reverse=True)
    assert (len(long), odd) == (2000, "\\udcff\\x00µ")


def unusable(folder: Path) -> None:
    (folder / DATABASE_FILE).write_bytes(b"not a database, not at all " * 1000)


def with_a_damaged_page(folder: Path) -> None:
    content = bytearray((folder / DATABASE_FILE).read_bytes())
    page = content.index(row(20)["key"].encode()) // 4096
    content[4096 * page : 4096 * page + 8] = bytes(8)
    (folder / DATABASE_FILE).write_bytes(content)


def with_a_damaged_row(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as db, db:
        db.execute("UPDATE results SET content = substr(content, 1, 20)")


@pytest.mark.parametrize("damage", [unusable, with_a_damaged_page, with_a_damaged_row])
def test_a_damaged_database_is_named_and_left_as_it_is(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(number, error="x" * 1500) for number in range(40)])
    damage(tmp_path)
    before = (tmp_path / DATABASE_FILE).read_bytes()
    for use in (lambda: Store(tmp_path, INFO), lambda: read_rows(tmp_path)):
        with pytest.raises(
            StudyError, match=rf"{DATABASE_FILE}: is damaged: .* run the study again"
        ):
            use()
    assert (tmp_path / DATABASE_FILE).read_bytes() == before
    (tmp_path / DATABASE_FILE).unlink()
    (tmp_path / RESULTS_FILE).unlink()
    Store(tmp_path, INFO).close()

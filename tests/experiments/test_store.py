"""The store: torn lines, full disks, two writers, other versions, compaction cut short."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from identify.errors import StudyError
from identify.experiments.code_mark import code_mark
from identify.experiments.store import RESULTS, Store, StoreInfo, read_info, read_rows
from identify.experiments.store import journal as journal_module
from identify.experiments.store import store as store_module
from identify.experiments.store.columns import COLUMNS, join, to_table
from identify.experiments.store.journal import Journal, read_journal

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


def test_rows_are_there_after_a_crash_without_compaction(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, mass_error=0.1), row(2)])
    assert not (tmp_path / RESULTS).exists()
    assert read_rows(tmp_path)["mass_error"].to_pylist() == [0.1, None]
    with Store(tmp_path, INFO) as store:
        assert len(store) == 2
        assert store.has(row(1)["key"])
        assert not store.has(row(3)["key"])


@pytest.mark.parametrize("lost", [1, 10, 60])
def test_a_torn_last_line_is_cut_off(tmp_path: Path, lost: int) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append([row(1), row(2)])
    whole = journal.size
    journal.append([row(3, error="x" * 100)])
    journal.close()
    os.truncate(tmp_path / "journal", journal.size - lost)
    assert [r["seed"] for r in read_journal(tmp_path / "journal")] == [1, 2]
    mended = Journal(tmp_path / "journal")
    assert mended.size == whole
    mended.append([row(4)])
    mended.close()
    assert [r["seed"] for r in read_journal(tmp_path / "journal")] == [1, 2, 4]


def test_a_line_of_zeros_after_a_power_cut_is_cut_off(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append([row(1)])
    journal.close()
    with open(tmp_path / "journal", "ab") as file:
        file.write(b"\0" * 500)
    assert Journal(tmp_path / "journal").size == journal.size


def test_a_damaged_line_is_not_believed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append([row(1, status="good"), row(2)])
    journal.close()
    path = tmp_path / "journal"
    path.write_bytes(path.read_bytes().replace(b"good", b"goad"))
    assert [r["seed"] for r in read_journal(path)] == [2]


def test_a_full_disk_leaves_no_half_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
        written = os.write

        def fills_up(handle: int, content: Any) -> int:
            if len(content) > 50:
                return written(handle, content[:50])
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(journal_module.os, "write", fills_up)
        with pytest.raises(StudyError, match=r"cannot be written to: No space left.*make room"):
            store.add([row(2), row(3)])
        monkeypatch.undo()
        assert keys(tmp_path) == [row(1)["key"]]
        assert not store.has(row(2)["key"])
        store.add([row(2)])
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of a process")
def test_a_real_limit_on_the_size_of_files(tmp_path: Path) -> None:
    """The system itself refuses the write, in the middle of a line."""
    code = f"""
import resource, signal
from pathlib import Path
from identify.errors import StudyError
from identify.experiments.store import Store, StoreInfo
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Store(Path({str(tmp_path)!r}), StoreInfo("test")) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    try:
        for number in range(100):
            store.add([{{"key": str(number), "code": "c", "error": "x" * 200}}])
    except StudyError as error:
        print(number, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd(), check=True
    )
    reported, message = done.stdout.split(" ", 1)
    assert "File too large" in message
    assert len(keys(tmp_path)) == int(reported) > 0


def test_compaction_cut_short_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
        store.compact()
        store.add([row(2)])

        def fails(*paths: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(store_module.os, "replace", fails)
        with pytest.raises(StudyError, match="every row that was reported done is kept"):
            store.compact()
        monkeypatch.undo()
        assert sorted(keys(tmp_path)) == [row(1)["key"], row(2)["key"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "journal.jsonl",
        "lock",
        "results.parquet",
        "store.json",
    ]


def test_compaction_cut_short_after_the_rename(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1), row(2)])
        journal = (tmp_path / "journal.jsonl").read_bytes()
        store.compact()
    (tmp_path / "journal.jsonl").write_bytes(journal)  # as if it had not been cleared
    assert keys(tmp_path) == [row(1)["key"], row(2)["key"]]
    with Store(tmp_path, INFO) as store:
        assert len(store) == 2
        store.compact()
    assert pq.read_table(tmp_path / RESULTS)["key"].to_pylist() == keys(tmp_path)


def test_the_journal_is_compacted_when_it_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_COMPACT_FROM", 10)
    with Store(tmp_path, INFO) as store:
        for number in range(25):
            store.add([row(number)])
        assert pq.read_metadata(tmp_path / RESULTS).num_rows == 20
        assert len(keys(tmp_path)) == len(store) == 25


def test_the_later_row_of_a_key_counts(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error_type="WorkerDied", error="gone")])
        assert not store.has(row(1)["key"])
        assert store.failed(row(1)["key"])
        store.compact()
        store.add([row(1, status="solved")])
        assert store.has(row(1)["key"])
        store.compact()
    table = read_rows(tmp_path)
    assert table["status"].to_pylist() == ["solved"]
    assert table["error"].to_pylist() == [None]


def test_a_failed_row_may_be_tried_again(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1, error_type="SolveError", error="no")])
        assert store.has(row(1)["key"])
        assert not store.has(row(1)["key"], retry_failed=True)


def test_a_second_writer_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    with Store(tmp_path, INFO):
        with pytest.raises(StudyError, match=f"process {os.getpid()} on .* is running a study"):
            Store(tmp_path, INFO)
        assert read_rows(tmp_path).num_rows == 0  # readers may
    Store(tmp_path, INFO).close()


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    Store(tmp_path, INFO).close()
    path = tmp_path / "store.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 99}))
    for use in (lambda: Store(tmp_path, INFO), lambda: read_rows(tmp_path)):
        with pytest.raises(StudyError, match="version 99, and this program writes version 1"):
            use()
    path.write_text("[]")
    with pytest.raises(StudyError, match="is not the description of a results folder"):
        Store(tmp_path, INFO)


def test_the_lock_is_let_go_after_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text("{}")
    with pytest.raises(StudyError, match="is not the description"):
        Store(tmp_path, INFO)
    (tmp_path / "store.json").unlink()
    Store(tmp_path, INFO).close()


def test_results_without_a_description_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_bytes(b"mine")
    with pytest.raises(StudyError, match=r"has results but no store\.json"):
        Store(tmp_path, INFO)


def test_a_damaged_parquet_file_is_said(tmp_path: Path) -> None:
    with Store(tmp_path, INFO) as store:
        store.add([row(1)])
        store.compact()
    (tmp_path / RESULTS).write_bytes(b"not parquet, not at all")
    with pytest.raises(StudyError, match=r"results\.parquet: cannot be read"):
        read_rows(tmp_path)


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot be written to"):
        Store(tmp_path / "file", INFO)


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="holds no results; run a study with -o"):
        read_rows(tmp_path)


def test_the_codes_that_ran_are_kept(tmp_path: Path) -> None:
    Store(tmp_path, INFO).close()
    path = tmp_path / "store.json"
    content = json.loads(path.read_text())
    content["codes"]["older"] = {"source_sha256": "x", "versions": {}, "first_run": "2026-01-01"}
    path.write_text(json.dumps(content))
    Store(tmp_path, StoreInfo("renamed")).close()
    info = read_info(tmp_path)
    assert info is not None
    assert info.study == "renamed"
    assert set(info.codes) == {"older", code_mark().short}


def test_columns_of_settings_take_the_type_that_fits() -> None:
    table = to_table(
        [
            row(1, a=1, b=True, c="x", d=None, e=1.5),
            row(2, a=2.5, b=None, c=2.0, d=None, e=None),
        ]
    )
    assert table["a"].to_pylist() == [1.0, 2.5]
    assert table["b"].to_pylist() == [True, None]
    assert table["c"].to_pylist() == ["x", "2.0"]
    assert list(table.column_names)[: len(COLUMNS)] == list(COLUMNS)


def test_tables_with_other_columns_join() -> None:
    older = to_table([row(2, mass="known", gone=1.0), row(3, mass="known")])
    newer = to_table([row(1, mass=2.0, new=True), row(2, mass=None)])
    joined = join(older, newer)
    assert joined["seed"].to_pylist() == [1, 2, 3]
    assert joined["mass"].to_pylist() == ["2.0", None, "known"]
    assert joined["new"].to_pylist() == [True, None, None]
    assert joined["gone"].to_pylist() == [None, None, None]


def test_numbers_come_back_to_the_bit(tmp_path: Path) -> None:
    values = [0.1 + 0.2, 1e-300, -1.0 / 3.0, 2.0**60 + 1.0]
    with Store(tmp_path, INFO) as store:
        store.add([row(i, mass_error=value) for i, value in enumerate(values)])
        assert read_rows(tmp_path)["mass_error"].to_pylist() == values
        store.compact()
    assert read_rows(tmp_path)["mass_error"].to_pylist() == values

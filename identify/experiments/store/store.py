"""`Store`: the results of a study on disk, safe against crashes at any moment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from identify.errors import StudyError
from identify.experiments.code_mark import code_mark
from identify.experiments.store.columns import join, to_table
from identify.experiments.store.journal import Journal, read_journal
from identify.experiments.store.layout import JOURNAL, RESULTS, StoreInfo, read_info
from identify.experiments.store.lock import FolderLock
from identify.experiments.work import Row

if TYPE_CHECKING:
    import pyarrow as pa

_COMPACT_FROM, _COMPACT_SHARE = 5_000, 0.25
"""The journal is compacted when it has so many rows, and this share of those compacted already."""

_AT_A_TIME = 1_000
"""Rows of the journal that are in memory as JSON."""

WORKER_DIED = "WorkerDied"
"""Error of a cell whose worker died every time: a later run tries it again."""


class Store:
    """Results that one process at a time adds to.

    New rows go to a journal (`journal.jsonl`), which is synced to the disk before they count as
    done. From time to time, and at the end, they are joined with `results.parquet`, which is
    written under another name and renamed. Between the rename and the clearing of the journal a row
    may be in both; readers and the next run take it once.
    """

    def __init__(self, folder: Path, info: StoreInfo) -> None:
        """Open or make the folder's store, and lock it.

        Args:
            folder: made where it is not there.
            info: of the study that is going to run; codes that ran before stay.

        Raises:
            StudyError: another process holds it, its results are of another schema version, or it
                cannot be written.
        """
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(folder)
        except OSError as error:
            raise StudyError(f"{folder}: cannot be written to: {error}") from error
        try:
            before = read_info(folder)
            codes = {} if before is None else before.codes
            replace(info, codes=codes).with_code(code_mark()).write(folder)
            self._journal = Journal(folder / JOURNAL)
            self._read_keys()
        except OSError as error:
            self._lock.close()
            raise StudyError(f"{folder}: cannot be written to: {error}") from error
        except BaseException:
            self._lock.close()
            raise

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._failed)

    def has(self, key: str, *, retry_failed: bool = False) -> bool:
        """Whether the row of a cell is there, and is to stay."""
        error = self._failed.get(key)
        if key not in self._failed or error == WORKER_DIED:
            return False
        return not (retry_failed and error)

    def failed(self, key: str) -> bool:
        """Whether the row of a cell is one of a failure."""
        return bool(self._failed.get(key))

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows; when this returns they are on the disk.

        Raises:
            StudyError: the disk is full, or fails: none of these rows is there.
        """
        try:
            self._journal.append(rows)
        except OSError as error:
            raise self._unwritable(error) from error
        self._note(rows)
        self._in_journal += len(rows)
        if self._in_journal >= max(_COMPACT_FROM, _COMPACT_SHARE * self._compacted):
            self.compact()

    def compact(self) -> None:
        """Join the journal's rows with `results.parquet`.

        Raises:
            StudyError: the disk is full, or fails; every row is still there.
        """
        if not self._in_journal and (self.folder / RESULTS).exists():
            return
        try:
            table = join(_read_parquet(self.folder), _read_journal(self._journal.path))
            _write_parquet(self.folder, table)
            self._journal.clear()
        except OSError as error:
            raise self._unwritable(error) from error
        self._in_journal, self._compacted = 0, len(table)

    def close(self) -> None:
        """Let go of the folder."""
        self._journal.close()
        self._lock.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read_keys(self) -> None:
        """Find the error of each row by its key, None where it has none."""
        self._failed: dict[str, str | None] = {}
        self._in_journal = 0
        table = _read_parquet(self.folder, ["key", "error_type"])
        self._compacted = 0 if table is None else len(table)
        if table is not None:
            pairs = zip(table["key"].to_pylist(), table["error_type"].to_pylist(), strict=True)
            self._failed |= dict(pairs)
        for row in read_journal(self._journal.path):
            self._note([row])
            self._in_journal += 1

    def _note(self, rows: Iterable[Row]) -> None:
        for row in rows:
            error = row.get("error_type")
            self._failed[str(row["key"])] = None if error is None else str(error)

    def _unwritable(self, error: OSError) -> StudyError:
        return StudyError(
            f"{self.folder}: cannot be written to: {error.strerror or error}; every row that was "
            f"reported done is kept, so make room and run the study again"
        )


def read_rows(folder: Path) -> pa.Table:
    """All rows of a results folder, each once, whether or not a study is writing to it.

    Raises:
        StudyError: it holds no results, or results of another schema version.
    """
    if read_info(folder) is None:
        raise StudyError(f"{folder}: holds no results; run a study with -o {folder}")
    # The journal first: it is cleared only after its rows are in the Parquet file.
    recent = _read_journal(folder / JOURNAL)
    return join(_read_parquet(folder), recent)


def _read_journal(path: Path) -> pa.Table:
    """The journal's rows, each key once, without all of them in memory as JSON."""
    rows = read_journal(path)
    table = to_table(islice(rows, _AT_A_TIME))
    while part := list(islice(rows, _AT_A_TIME)):
        table = join(table, to_table(part))
    return table


def _read_parquet(folder: Path, columns: list[str] | None = None) -> pa.Table | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / RESULTS
    if not path.exists():
        return None
    try:
        return pq.read_table(path, columns=columns, use_threads=False)
    except pa.ArrowInvalid as error:
        raise StudyError(f"{path}: cannot be read: {error}; move it away") from error


def _write_parquet(folder: Path, table: pa.Table) -> None:
    """Write `results.parquet` under another name, sync it and rename it."""
    import pyarrow.parquet as pq

    path, temporary = folder / RESULTS, folder / f".{RESULTS}.part"
    try:
        pq.write_table(table, temporary)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Make a rename last (a folder cannot be synced on Windows, and need not be)."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""`Store`: the results of a study on disk, safe against crashes at any moment."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from identify.errors import StudyError
from identify.experiments.code_mark import code_mark
from identify.experiments.store.columns import RESULTS, read_table, table_of, write_table
from identify.experiments.store.folder import (
    LOCK,
    STORE,
    FolderLock,
    StoreInfo,
    left_unfinished,
    read_info,
    write_info,
)
from identify.experiments.work import Row
from identify.texts import plain_text

if TYPE_CHECKING:
    import pyarrow as pa

_LOG = logging.getLogger(__name__)

DATABASE = "results.sqlite"

WORKER_DIED = "WorkerDied"
"""Error of a cell whose worker died every time."""

_PASSING = (WORKER_DIED, MemoryError.__name__)
"""Errors of the machine, not of a cell: a later run tries it again."""

_SHOWN_EVERY, _COST = 5.0, 50.0
"""Seconds between tables that a run writes for readers, and how many times what one takes."""

_BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names of files that sqlite puts beside its own."""

_OF_THE_DISK = {3, 5, 6, 7, 10, 13, 14}
"""Primary codes of sqlite: permission, busy, locked, memory, input or output, full, cannot open."""


class Store(AbstractContextManager["Store"]):
    """Results that one process at a time adds to; only this process opens the database.

    A row is a record of `results.sqlite`, with a checksum, and on the disk before it counts as
    done. Readers have `results.parquet`, which is made of the database now and then while a study
    runs, and at its end. A damaged database is made anew of the rows of that file: those of the
    last seconds count as not done.
    """

    def __init__(self, folder: Path, info: StoreInfo | None = None) -> None:
        """Open or make the folder's store, and lock it.

        Args:
            folder: made where it is not there.
            info: of the study that is going to run; codes that ran before stay. None leaves what
                there is.

        Raises:
            StudyError: another process holds it (`FolderInUse`), its results are of another schema
                version, one of its files is a link, or it cannot be written.
        """
        self.folder = folder
        _require_no_links(folder)
        with self._written():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(folder)
        self._behind = self._lock.left_unfinished
        """Whether there are rows that the Parquet file does not have."""
        self._next_table = time.monotonic()
        try:
            with self._written():
                before = read_info(folder) or _described_anew(folder)
                if info is not None:
                    write_info(folder, replace(info, codes=before.codes), code_mark())
                self._db, self._errors = self._opened()
                self._take_from_table()
        except BaseException:
            self._lock.close(finished=not self._behind)
            raise

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._errors)

    def has(self, key: str, *, retry_failed: bool = False) -> bool:
        """Whether the row of a cell is there, and is to stay."""
        if key not in self._errors or self._errors[key] in _PASSING:
            return False
        return not (retry_failed and self.failed(key))

    def failed(self, key: str) -> bool:
        """Whether the row of a cell is one of a failure."""
        return bool(self._errors.get(key))

    def row(self, key: str) -> Row | None:
        """The row of a cell, where it is there."""
        found = self._db.execute("SELECT content FROM results WHERE key = ?", (key,)).fetchone()
        return None if found is None else json.loads(found[0])

    def select(self, keys: Iterable[str]) -> None:
        """Note which cells the study has that is going to run: their rows are `current`.

        All cells of the study count, also those that a run leaves out or does not come to: rows
        that earlier runs of the same study made stay rows of it.
        """
        wanted, code = set(keys), code_mark().short
        mine = [row for row in _rows(self._db) if row["code"] == code]
        changed = [row for row in mine if row["current"] != (row["key"] in wanted)]
        if changed:
            self._insert([row | {"current": row["key"] in wanted} for row in changed])

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows of the study that runs; when this returns they are on the disk.

        Raises:
            StudyError: the disk is full, or fails: none of these rows is there.
        """
        self._insert([row | {"current": True} for row in rows])
        if time.monotonic() >= self._next_table:
            self.write_table()

    def write_table(self) -> None:
        """Write `results.parquet` for readers, where it lacks rows.

        Raises:
            StudyError: the disk is full, or fails; every row is still there.
        """
        if not self._behind:
            return
        began = time.monotonic()
        with self._written():
            write_table(self.folder, table_of(_rows(self._db)))
        self._behind = False
        ended = time.monotonic()
        self._next_table = ended + max(_SHOWN_EVERY, _COST * (ended - began))

    def close(self) -> None:
        """Let go of the folder."""
        with suppress(sqlite3.Error):
            self._db.close()
        self._lock.close(finished=not self._behind)

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        try:
            with suppress(*(() if kind is None else (StudyError,))):
                self.write_table()
        finally:
            self.close()

    def _opened(self) -> tuple[sqlite3.Connection, dict[str, Any]]:
        """The database, and the error of each row by its key; empty where it was damaged."""
        path = self.folder / DATABASE
        try:
            return _verified(path)
        except (sqlite3.Error, OverflowError, TypeError, ValueError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK:
                raise
            for suffix in ("", "-wal"):
                with suppress(FileNotFoundError):
                    os.replace(f"{path}{suffix}", f"{path}.damaged{suffix}")
            _LOG.warning(
                "%s: is damaged: %s; its rows that are not in %s either count as not done: run the "
                "study again. What was there is kept as %s.damaged",
                *(path, error, RESULTS, DATABASE),
            )
            return _verified(path)

    def _take_from_table(self) -> None:
        """Take in rows of the Parquet file that the database lacks."""
        try:
            table = read_table(self.folder)
        except StudyError as error:
            _LOG.warning("%s; it is made anew of %s", error, DATABASE)
            table = None
        if table is None:
            self._behind |= bool(self._errors)
        elif lost := [row for row in table.to_pylist() if row["key"] not in self._errors]:
            self._insert(lost)

    def _insert(self, rows: Iterable[Row]) -> None:
        """Write rows in one transaction: all of them, or none."""
        rows = [{k: plain_text(v) if isinstance(v, str) else v for k, v in r.items()} for r in rows]
        contents = [json.dumps(row, separators=(",", ":")).encode("ascii") for row in rows]
        records = [
            (row["key"], content, zlib.crc32(content))
            for row, content in zip(rows, contents, strict=True)
        ]
        with self._written(), self._db:
            self._db.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", records)
        self._behind = True
        self._errors |= {str(row["key"]): row.get("error_type") for row in rows}

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Errors of the disk as a `StudyError`."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise StudyError(
                f"{self.folder}: cannot be written to: {reason}; every row that was reported done "
                f"is kept, so make room and run the study again"
            ) from error


def _verified(path: Path) -> tuple[sqlite3.Connection, dict[str, Any]]:
    """The database, made where it is not there, and the error of each row by its key.

    Raises:
        sqlite3.Error, OverflowError, TypeError, ValueError: it is damaged, or the disk fails.
    """
    db = sqlite3.connect(path)
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute(
            "CREATE TABLE IF NOT EXISTS results "
            "(key TEXT PRIMARY KEY, content BLOB, checksum INTEGER)"
        )
        (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(str(verdict))
        return db, {str(row["key"]): row.get("error_type") for row in _rows(db)}
    except BaseException:
        db.close()
        raise


def _rows(db: sqlite3.Connection) -> Iterator[Row]:
    """All rows.

    Raises:
        sqlite3.DatabaseError: the checksum of one does not hold.
    """
    for key, content, checksum in db.execute("SELECT key, content, checksum FROM results"):
        row = json.loads(content) if zlib.crc32(content) == checksum else {}
        if row.get("key") != key:
            raise sqlite3.DatabaseError("the checksum of a row does not hold")
        yield row


def _require_no_links(folder: Path) -> None:
    """Raise where a file of the store is a symbolic link: what it leads to is not ours to write."""
    for name in (LOCK, STORE, RESULTS, DATABASE, *(DATABASE + end for end in _BESIDE)):
        if (folder / name).is_symlink():
            raise StudyError(
                f"{folder / name}: is a symbolic link, and the files of results are none: remove "
                f"it, or choose another folder"
            )


def _described_anew(folder: Path) -> StoreInfo:
    """What is known of a folder without a `store.json`: nothing.

    Raises:
        StudyError: it has results all the same, which are not ours.
    """
    if (folder / RESULTS).exists() and not (folder / DATABASE).exists():
        raise StudyError(f"{folder}: has results but no {STORE}; choose another folder")
    return StoreInfo("")


def read_rows(folder: Path) -> pa.Table:
    """All rows of a results folder, each once, whether or not a study is writing to it.

    While another process writes to it they are those of the table that it wrote last. Where one
    ended before its end, or the table is damaged, it is first made anew from the database.

    Raises:
        StudyError: it holds no results, results of another schema version, or damaged ones.
    """
    if read_info(folder) is None:
        _described_anew(folder)
        raise StudyError(f"{folder}: holds no results; run a study with -o {folder}")
    try:
        table = None if left_unfinished(folder) else read_table(folder)
    except StudyError:
        table = None
    if table is None:
        with suppress(StudyError), Store(folder):  # refused while another process writes
            pass
        table = read_table(folder)
    return table_of([]) if table is None else table

"""`Store`: the results of a study in one SQLite file, safe against crashes at any moment."""

from __future__ import annotations

import logging
import os
import socket
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from identify.errors import StudyError
from identify.experiments.database import (
    DATABASE,
    JOURNALS,
    check_integrity,
    connect,
    other_version,
    read_description,
    read_row,
    whole_rows,
    write_description,
    write_rows,
)
from identify.experiments.keys import code_fingerprint
from identify.experiments.rows import RESULTS, Row, table_of, write_table
from identify.files import open_lock, try_lock
from identify.texts import plain_text

if TYPE_CHECKING:
    import pyarrow as pa

_LOG = logging.getLogger(__name__)

LOCK = "lock"


_OLDER = "store.json"
"""A file that folders of versions 1 and 2 have."""

WORKER_DIED = "WorkerDied"
"""Error of a trial whose worker died every time."""


_PASSING = (WORKER_DIED, MemoryError.__name__)
"""Errors of the machine, not of a trial: a later run tries it again."""


class FolderInUse(StudyError):
    """Another process, `owner` in words, writes to the folder."""

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder, self.owner = folder, owner
        super().__init__(
            f"{folder}: {owner} is running a study in this folder; wait for it or choose another "
            f"folder"
        )


class FolderLock:
    """An advisory lock on a folder's file `lock`, which names its owner; held until closed.

    The system drops it when the process ends, however it ends: a lock is never left behind.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            FolderInUse: another process holds it.
            OSError: the file cannot be written, or is a link.
        """
        self._file: IO[str] = open_lock(folder / LOCK)
        owner = self._file.read()
        if not try_lock(self._file):
            self._file.close()
            raise FolderInUse(folder, owner.strip() or "another process")
        self._file.truncate(0)
        self._file.seek(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()

    def close(self) -> None:
        """Let go of the lock."""
        self._file.truncate(0)
        self._file.close()


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store says of its rows.

    Attributes:
        study: name of the study that was run last.
        order: labels of its logs, perturbations and estimators, and its seeds, in the order of the
            study file, by the name of their column.
        codes: by fingerprint: digest of the source, versions of the solvers, when it first ran, and
            `seconds`, the wall time of all its runs.
    """

    study: str
    order: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Store(AbstractContextManager["Store"]):
    """Results that one process at a time adds to; others may read them meanwhile.

    A row is a record of `results.sqlite` with a checksum, and on the disk before it counts as done.
    When the store is closed the rows are exported to `results.parquet`, which nothing reads back.
    """

    def __init__(self, folder: Path, info: StoreInfo) -> None:
        """Open or make the folder's store, and lock it.

        Rows of a damaged database that are whole are kept; the others count as not done.

        Args:
            folder: made where it is not there.
            info: of the study that is going to run; codes that ran before stay.

        Raises:
            StudyError: another process holds it (`FolderInUse`), its results are of another schema
                version, one of its files is a link, or it cannot be written.
        """
        self.folder = folder
        _require_own(folder)
        with self._written():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(folder)
        try:
            with self._written():
                self._db, before = self._opened()
                _describe(self._db, replace(info, codes=before.codes))
        except BaseException:
            self._lock.close()
            raise

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._errors)

    def has(self, key: str, *, retry_failed: bool = False) -> bool:
        """Whether the row of a trial is there, and is to stay."""
        if key not in self._errors or self._errors[key] in _PASSING:
            return False
        return not (retry_failed and self.failed(key))

    def failed(self, key: str) -> bool:
        """Whether the row of a trial is one of a failure."""
        return bool(self._errors.get(key))

    def row(self, key: str) -> Row | None:
        """The row of a trial, where it is there and whole."""
        return read_row(self._db, key)

    def select(self, keys: Iterable[str]) -> None:
        """Note which trials the study has that is going to run: their rows are `current`.

        All trials of the study count, also those that a run leaves out or does not come to: rows
        that earlier runs of the same study made stay rows of it.
        """
        wanted, code = set(keys), code_fingerprint().short
        mine = [row for row in whole_rows(self._db, []) if row["code"] == code]
        changed = [row for row in mine if row["current"] != (row["key"] in wanted)]
        if changed:
            self._insert([row | {"current": row["key"] in wanted} for row in changed])

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows of the study that runs; when this returns they are on the disk.

        Raises:
            StudyError: the disk is full, or fails: none of these rows is there.
        """
        self._insert([row | {"current": True} for row in rows])

    def spend(self, seconds: float) -> None:
        """Add to the wall time that the runs of this code took.

        Raises:
            StudyError: the disk is full, or fails.
        """
        with self._written():
            info, mine = _info(self._db, []), code_fingerprint().short
            entry = dict(info.codes.get(mine, {}))
            entry["seconds"] = entry.get("seconds", 0.0) + seconds
            write_description(self._db, asdict(replace(info, codes={**info.codes, mine: entry})))

    def export(self) -> None:
        """Write `results.parquet`.

        Raises:
            StudyError: the disk is full, or fails; every row is still there.
        """
        with self._written():
            write_table(self.folder, table_of(whole_rows(self._db, [])))

    def close(self) -> None:
        """Let go of the folder."""
        with suppress(sqlite3.Error):
            self._db.close()
        self._lock.close()

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        try:
            with suppress(*(() if kind is None else (StudyError,))):
                self.export()
        finally:
            self.close()

    def _opened(self) -> tuple[sqlite3.Connection, StoreInfo]:
        """The database, made where it is not there, and what it says of its rows.

        One that is damaged is set aside, and its whole rows are written to a new one.
        """
        path, damage = self.folder / DATABASE, list[str]()
        with closing(connect(path, damage)) as db:
            check_integrity(db, damage)
            info = _info(db, damage)
            self._errors = {str(r["key"]): r.get("error_type") for r in whole_rows(db, damage)}
            whole = list(whole_rows(db, [])) if damage else []
        if damage:
            for end in ("", *JOURNALS):
                with suppress(FileNotFoundError):
                    os.replace(f"{path}{end}", f"{path}.damaged{end}")
            _warn(path, damage, f"; what was there is kept as {DATABASE}.damaged")
        db = connect(path, [])
        write_rows(db, whole)
        return db, info

    def _insert(self, rows: Sequence[Row]) -> None:
        """Write rows in one transaction: all of them, or none."""
        rows = [{k: plain_text(v) if isinstance(v, str) else v for k, v in r.items()} for r in rows]
        with self._written():
            write_rows(self._db, rows)
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


def read_rows(folder: Path) -> pa.Table:
    """All whole rows of a results folder, each once, whether or not a study is writing to it.

    Damaged rows are left out, which a warning says.

    Raises:
        StudyError: it holds no results, results of another schema version, or cannot be read.
    """
    with _reading(folder) as (db, damage):
        return table_of(whole_rows(db, damage))


def read_info(folder: Path) -> StoreInfo:
    """What a results folder says of its rows; nothing where that is damaged, with a warning.

    Raises:
        StudyError: it holds no results, results of another schema version, or cannot be read.
    """
    with _reading(folder) as (db, damage):
        return _info(db, damage)


@contextmanager
def _reading(folder: Path) -> Iterator[tuple[sqlite3.Connection, list[str]]]:
    """The database of a folder, and a list in which to note what is damaged; a warning says it.

    A transaction that a killed process left half done is taken back; else nothing is written.
    """
    path, damage = folder / DATABASE, list[str]()
    _require_own(folder)
    if not path.exists():
        raise StudyError(f"{folder}: holds no results; run a study with -o {folder}")
    try:
        with closing(connect(path, damage, make=False)) as db:
            yield db, damage
    except (OSError, sqlite3.Error) as error:
        raise StudyError(f"{path}: cannot be read: {error}") from error
    if damage:
        _warn(path, damage)


def _describe(db: sqlite3.Connection, info: StoreInfo) -> None:
    """Write what a store says of its rows, and add the code that is going to run."""
    running = code_fingerprint()
    entry = {
        "source_sha256": running.source,
        "versions": dict(running.versions),
        "first_run": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    info = replace(info, codes={running.short: entry} | dict(info.codes))
    write_description(db, asdict(info))


def _info(db: sqlite3.Connection, damage: list[str]) -> StoreInfo:
    """What a store says of its rows; nothing where it is empty or damaged, which is noted."""
    return StoreInfo(**(read_description(db, damage) or {"study": ""}))


def _warn(path: Path, damage: Sequence[str], kept: str = "") -> None:
    more = f" and {len(damage) - 3} more" if len(damage) > 3 else ""
    _LOG.warning(
        "%s: is damaged: %s%s; rows that cannot be read count as not done: run the study again%s",
        *(path, "; ".join(damage[:3]), more, kept),
    )


def _require_own(folder: Path) -> None:
    """Raise where a folder holds results of another layout, or a file of the store is a link.

    What a link leads to is not ours to write.
    """
    for name in (LOCK, RESULTS, *(DATABASE + end for end in ("", *JOURNALS))):
        if (folder / name).is_symlink():
            raise StudyError(
                f"{folder / name}: is a symbolic link, and the files of results are none: remove "
                f"it, or choose another folder"
            )
    database = folder / DATABASE
    if (folder / _OLDER).exists():
        raise other_version(folder / _OLDER, "1 or 2")
    if (folder / RESULTS).exists() and not (database.exists() and database.stat().st_size):
        raise StudyError(f"{folder}: has {RESULTS} but no {DATABASE}; choose another folder")

"""`Store`: the results of a study in one SQLite file, safe against crashes at any moment."""

from __future__ import annotations

import json
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
from identify.files import take_lock
from identify.studies.keys import code_fingerprint
from identify.studies.rows import RESULTS, Row, table_of, write_table
from identify.texts import plain_text

if TYPE_CHECKING:
    import pyarrow as pa

LOCK = "lock"

DATABASE = "results.sqlite"

STORE_VERSION = 4
"""Raised when a column changes its meaning or the database its layout (SQLite's user_version)."""

_LAYOUT = f"""
BEGIN IMMEDIATE;
CREATE TABLE results (key TEXT PRIMARY KEY, content TEXT);
CREATE TABLE info (number INTEGER PRIMARY KEY, content TEXT);
PRAGMA user_version = {STORE_VERSION};
COMMIT;
"""
"""`content` is JSON."""

_PATIENCE = 30.0
"""Seconds that a reader and the writer wait for each other."""

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
            OSError: the file cannot be written.
        """
        file = take_lock(folder / LOCK)
        if file is None:
            owner = (folder / LOCK).read_text(encoding="utf-8", errors="replace").strip()
            raise FolderInUse(folder, owner or "another process")
        self._file: IO[str] = file
        self._file.truncate(0)
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

    A row is a record of `results.sqlite`, and on the disk before it counts as done.
    When the store is closed the rows are exported to `results.parquet`, which nothing reads back.
    """

    def __init__(self, folder: Path, info: StoreInfo) -> None:
        """Open or make the folder's store, and lock it.

        Args:
            folder: made where it is not there.
            info: of the study that is going to run; codes that ran before stay.

        Raises:
            StudyError: another process holds it (`FolderInUse`), its results are damaged or of
                another schema version, or it cannot be written.
        """
        self.folder = folder
        with self._written():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(folder)
        try:
            if (folder / RESULTS).exists() and not (folder / DATABASE).exists():
                raise StudyError(
                    f"{folder}: has {RESULTS} but no {DATABASE}; choose another folder"
                )
            with self._written():
                self._db = _connect(folder / DATABASE, make=True)
                self._errors = {str(r["key"]): r.get("error_type") for r in _rows(self._db)}
                _describe(self._db, replace(info, codes=_info(self._db).codes))
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
        """The row of a trial, where it is there."""
        return next(_rows(self._db, "WHERE key = ?", key), None)

    def select(self, keys: Iterable[str]) -> None:
        """Note which trials the study has that is going to run: their rows are `current`.

        All trials of the study count, also those that a run leaves out or does not come to: rows
        that earlier runs of the same study made stay rows of it.
        """
        wanted, code = set(keys), code_fingerprint().short
        mine = [row for row in _rows(self._db) if row["code"] == code]
        self._insert(
            [
                row | {"current": row["key"] in wanted}
                for row in mine
                if row["current"] != (row["key"] in wanted)
            ]
        )

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
            info, mine = _info(self._db), code_fingerprint().short
            entry = dict(info.codes.get(mine, {}))
            entry["seconds"] = entry.get("seconds", 0.0) + seconds
            _write_info(self._db, replace(info, codes={**info.codes, mine: entry}))

    def export(self) -> None:
        """Write `results.parquet`.

        Raises:
            StudyError: the disk is full, or fails; every row is still there.
        """
        with self._written():
            write_table(self.folder, table_of(_rows(self._db)))

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

    def _insert(self, rows: Sequence[Row]) -> None:
        """Write rows in one transaction: all of them, or none."""
        rows = [{k: plain_text(v) if isinstance(v, str) else v for k, v in r.items()} for r in rows]
        with self._written(), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?)",
                ((row["key"], json.dumps(row)) for row in rows),
            )
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
    """All rows of a results folder, each once, whether or not a study is writing to it.

    Raises:
        StudyError: it holds no results, or damaged ones or those of another schema version, or
            cannot be read.
    """
    with _reading(folder) as db:
        return table_of(_rows(db))


def read_info(folder: Path) -> StoreInfo:
    """Read the description of the rows of a results folder.

    Raises:
        StudyError: as of `read_rows`.
    """
    with _reading(folder) as db:
        return _info(db)


@contextmanager
def _reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database of a folder, to read.

    A transaction that a killed process left half done is taken back; else nothing is written.
    """
    path = folder / DATABASE
    if not path.exists():
        raise StudyError(f"{folder}: holds no results; run a study with -o {folder}")
    try:
        with closing(_connect(path)) as db:
            yield db
    except (OSError, sqlite3.Error) as error:
        raise StudyError(f"{path}: cannot be read: {error}") from error


def _connect(path: Path, *, make: bool = False) -> sqlite3.Connection:
    """Connect to a database of this version; the file and its tables are made only with `make`.

    Raises:
        StudyError: it is damaged, or of another version.
        sqlite3.Error: the disk fails, or denies it.
    """
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
    db = sqlite3.connect(uri, timeout=_PATIENCE, uri=True)
    try:
        db.execute("PRAGMA synchronous = EXTRA")  # the end of a journal is on the disk too
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if tables and version != STORE_VERSION:
            raise StudyError(
                f"{path}: results of version {version}, and this program reads and writes version "
                f"{STORE_VERSION}; choose another folder, or use the program that wrote them"
            )
        if make and not tables:
            db.executescript(_LAYOUT)
        (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(" ".join(verdict.split()))
    except BaseException as error:
        db.close()
        if type(error) is sqlite3.DatabaseError:  # not of the disk
            raise _damaged(path, error) from error
        raise
    return db


def _damaged(path: object, error: Exception) -> StudyError:
    return StudyError(
        f"{path}: is damaged: {error}; put a copy in its place, or remove it and run "
        "the study again"
    )


def _rows(db: sqlite3.Connection, which: str = "", *values: str) -> Iterator[Row]:
    """All rows, or those that a condition holds of."""
    for (content,) in db.execute(f"SELECT content FROM results {which}", values):
        yield _parsed(content)


def _parsed(content: str) -> dict[str, Any]:
    try:
        return json.loads(content)
    except ValueError as error:
        raise _damaged(DATABASE, error) from error


def _describe(db: sqlite3.Connection, info: StoreInfo) -> None:
    """Write what a store says of its rows, and add the code that is going to run."""
    running = code_fingerprint()
    entry = {
        "source_sha256": running.source,
        "versions": dict(running.versions),
        "first_run": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    _write_info(db, replace(info, codes={running.short: entry} | dict(info.codes)))


def _write_info(db: sqlite3.Connection, info: StoreInfo) -> None:
    with db:
        db.execute("INSERT OR REPLACE INTO info VALUES (1, ?)", (json.dumps(asdict(info)),))


def _info(db: sqlite3.Connection) -> StoreInfo:
    """What a store says of its rows; nothing where it is empty."""
    record = db.execute("SELECT content FROM info").fetchone()
    return StoreInfo(**_parsed(record[0])) if record else StoreInfo("")

"""`Store`: the results of a study in one SQLite file that survives crashes."""

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
from identify.studies.rows import RESULTS_FILE, Row, to_arrow_table, write_table
from identify.texts import plain_text

if TYPE_CHECKING:
    import pyarrow as pa

LOCK_FILE = "lock"
"""Name of the lock file of a results folder."""

DATABASE_FILE = "results.sqlite"
"""Name of the database of a results folder."""

STORE_VERSION = 4
"""Version of the columns and the layout of the database (SQLite's user_version)."""

_TABLE_STATEMENTS = f"""
BEGIN IMMEDIATE;
CREATE TABLE results (key TEXT PRIMARY KEY, content TEXT);
CREATE TABLE info (number INTEGER PRIMARY KEY, content TEXT);
PRAGMA user_version = {STORE_VERSION};
COMMIT;
"""
"""SQL statements that create the tables; `content` is JSON."""

_LOCK_TIMEOUT = 30.0
"""Longest time that the writer and a reader of the database wait for each other [s]."""

WORKER_DIED = "WorkerDied"
"""Error type of a trial whose worker died at every attempt."""

_TRANSIENT_ERRORS = (WORKER_DIED, MemoryError.__name__)
"""Error types caused by the machine, not the trial: a later run tries the trial again."""


class FolderInUse(StudyError):
    """Another process, named in the message, is writing into the results folder."""

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder, self.owner = folder, owner
        super().__init__(
            f"{folder}: {owner} is running a study in this folder; wait for it or choose another "
            f"folder"
        )


class FolderLock:
    """Advisory lock of a folder by its file `lock`, which names the owner; held until closed.

    The system releases it when the process ends in any way.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises `FolderInUse`: another process holds it; `OSError`: the file cannot be written.
        """
        file = take_lock(folder / LOCK_FILE)
        if file is None:
            owner = (folder / LOCK_FILE).read_text(encoding="utf-8", errors="replace").strip()
            raise FolderInUse(folder, owner or "another process")
        self._file: IO[str] = file
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()

    def close(self) -> None:
        """Release the lock."""
        self._file.truncate(0)
        self._file.close()


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Description of a store: study name, order of labels, and versions of the code.

    Attributes:
        study: name of the study that was run last.
        order: labels of its logs, perturbations and estimators, and its seeds, in the order of the
            study file, by the name of their column.
        codes: by fingerprint: digest of the source, versions of the solvers, time of the first run,
            and `seconds`, the wall time of all its runs.
    """

    study: str
    order: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Store(AbstractContextManager["Store"]):
    """Store of results with a single writing process; other processes may read meanwhile.

    A row is a record of `results.sqlite`, and is committed before it counts as done. When the store
    is closed the rows are exported to `results.parquet`, which is never read back.
    """

    def __init__(self, folder: Path, info: StoreInfo) -> None:
        """Open or create the folder's store, and lock it.

        `folder`: created if it does not exist.
        Raises `StudyError`: another process holds it (`FolderInUse`), its results are damaged or of
        another schema version, or it cannot be written.
        """
        self.folder = folder
        with self._disk_errors():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(folder)
        try:
            if (folder / RESULTS_FILE).exists() and not (folder / DATABASE_FILE).exists():
                raise StudyError(
                    f"{folder}: it has {RESULTS_FILE} but no {DATABASE_FILE}; choose another folder"
                )
            with self._disk_errors():
                self._db = _connect(folder / DATABASE_FILE, create=True)
                self._errors = {str(r["key"]): r.get("error_type") for r in _rows(self._db)}
                _add_description(self._db, replace(info, codes=_read_description(self._db).codes))
        except BaseException:
            self._lock.close()
            raise

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._errors)

    def has_result(self, key: str, *, retry_failed: bool = False) -> bool:
        """Return whether a trial has a result row and need not be run again."""
        if key not in self._errors or self._errors[key] in _TRANSIENT_ERRORS:
            return False
        return not (retry_failed and self.failed(key))

    def failed(self, key: str) -> bool:
        """Return whether a trial has a row with an error."""
        return bool(self._errors.get(key))

    def row(self, key: str) -> Row | None:
        """Return the row of a trial, or None."""
        return next(_rows(self._db, "WHERE key = ?", key), None)

    def mark_current(self, keys: Iterable[str]) -> None:
        """Mark the rows of the study to run by the column `current`.

        `keys` are those of all its trials, also of those that the run leaves out, so that rows of
        earlier runs of the same study stay current.
        """
        current, code = set(keys), code_fingerprint().short
        rows = [row for row in _rows(self._db) if row["code"] == code]
        marked = [row | {"current": row["key"] in current} for row in rows]
        self._insert([new for row, new in zip(rows, marked, strict=True) if new != row])

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows of the current study, and commit them.

        Raises `StudyError`: the disk is full, or fails: none of these rows is stored.
        """
        self._insert([row | {"current": True} for row in rows])

    def add_wall_time(self, seconds: float) -> None:
        """Add seconds to the total wall time of the runs by this version of the code.

        Raises `StudyError`: the disk is full, or fails.
        """
        with self._disk_errors():
            info, code = _read_description(self._db), code_fingerprint().short
            entry = dict(info.codes.get(code, {}))
            entry["seconds"] = entry.get("seconds", 0.0) + seconds
            _write_description(self._db, replace(info, codes={**info.codes, code: entry}))

    def export(self) -> None:
        """Write `results.parquet`.

        Raises `StudyError`: the disk is full, or fails; the rows in the database are kept.
        """
        with self._disk_errors():
            write_table(self.folder, to_arrow_table(_rows(self._db)))

    def close(self) -> None:
        """Close the database and release the folder."""
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
        """Write rows in one transaction."""
        rows = [{k: plain_text(v) if isinstance(v, str) else v for k, v in r.items()} for r in rows]
        with self._disk_errors(), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?)",
                ((row["key"], json.dumps(row)) for row in rows),
            )
        self._errors |= {str(row["key"]): row.get("error_type") for row in rows}

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Raise errors of the disk as a `StudyError`."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise StudyError(
                f"{self.folder}: cannot be written to: {reason}; completed rows are kept, so make "
                f"room and run the study again"
            ) from error


def read_rows(folder: Path) -> pa.Table:
    """Read all rows of a results folder, also while a study is running.

    Raises `StudyError`: it has no results, or damaged ones or those of another schema version, or
    cannot be read.
    """
    with _open_for_reading(folder) as db:
        return to_arrow_table(_rows(db))


def read_info(folder: Path) -> StoreInfo:
    """Read the description of the rows of a results folder.

    Raises `StudyError`: as of `read_rows`.
    """
    with _open_for_reading(folder) as db:
        return _read_description(db)


@contextmanager
def _open_for_reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a folder for reading only.

    An incomplete transaction of a killed process is rolled back; nothing else is written.
    """
    path = folder / DATABASE_FILE
    if not path.exists():
        raise StudyError(f"{folder}: it has no results; run a study with -o {folder}")
    try:
        with closing(_connect(path)) as db:
            yield db
    except (OSError, sqlite3.Error) as error:
        raise StudyError(f"{path}: cannot be read: {error}") from error


def _connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Connect to a results database; with `create`, create file and tables if missing."""
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
    db = sqlite3.connect(uri, timeout=_LOCK_TIMEOUT, uri=True)
    try:
        db.execute("PRAGMA synchronous = EXTRA")  # syncs the deletion of the journal too
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if tables and version != STORE_VERSION:
            raise StudyError(
                f"{path}: results of version {version}, expected version {STORE_VERSION}; choose "
                f"another folder, or use the version of identify that wrote them"
            )
        if create and not tables:
            db.executescript(_TABLE_STATEMENTS)
        (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(" ".join(verdict.split()))
    except BaseException as error:
        db.close()
        if type(error) is sqlite3.DatabaseError:  # damaged contents, not a failing disk
            raise _damage_error(path, error) from error
        raise
    return db


def _damage_error(path: object, error: Exception) -> StudyError:
    return StudyError(
        f"{path}: is damaged: {error}; restore a copy, or remove it and run the study again"
    )


def _rows(db: sqlite3.Connection, condition: str = "", *values: str) -> Iterator[Row]:
    """Yield all rows, or the rows that satisfy an SQL condition."""
    for (content,) in db.execute(f"SELECT content FROM results {condition}", values):
        yield _parse_json(content)


def _parse_json(content: str) -> dict[str, Any]:
    try:
        return json.loads(content)
    except ValueError as error:
        raise _damage_error(DATABASE_FILE, error) from error


def _add_description(db: sqlite3.Connection, info: StoreInfo) -> None:
    """Write the description of the rows, including the running version of the code."""
    running = code_fingerprint()
    entry = {
        "source_sha256": running.source,
        "versions": dict(running.versions),
        "first_run": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    _write_description(db, replace(info, codes={running.short: entry} | dict(info.codes)))


def _write_description(db: sqlite3.Connection, info: StoreInfo) -> None:
    with db:
        db.execute("INSERT OR REPLACE INTO info VALUES (1, ?)", (json.dumps(asdict(info)),))


def _read_description(db: sqlite3.Connection) -> StoreInfo:
    """Read the description of the rows, empty for a new store."""
    record = db.execute("SELECT content FROM info").fetchone()
    return StoreInfo(**_parse_json(record[0])) if record else StoreInfo("")

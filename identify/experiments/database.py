"""Records with checksums in one SQLite file, and what can be read of a damaged one."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from identify.errors import StudyError
from identify.experiments.rows import RESULTS, Row

DATABASE = "results.sqlite"

JOURNALS = ("-journal", "-wal", "-shm")
"""Ends of the names of files that SQLite puts beside its own."""

SCHEMA_VERSION = 3
"""Raised when a column changes its meaning or the database its layout (SQLite's user_version)."""

_LAYOUT = f"""
BEGIN IMMEDIATE;
CREATE TABLE results (key TEXT PRIMARY KEY, content BLOB, checksum INTEGER);
CREATE TABLE info (number INTEGER PRIMARY KEY, content BLOB, checksum INTEGER);
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
"""`content` is JSON in ASCII, `checksum` its CRC-32."""

_PATIENCE = 30.0
"""Seconds that a reader and the writer wait for each other."""

_OF_THE_DISK = {3, 5, 6, 7, 8, 10, 13, 14}
"""SQLite's primary codes: permission, busy, locked, memory, read-only, I/O, full, cannot open."""


def connect(path: Path, damage: list[str], *, make: bool = True) -> sqlite3.Connection:
    """A connection to the database of this version.

    What is damaged is added to `damage`; the file and its tables are made only with `make`.

    Raises:
        StudyError: it is of another version.
        sqlite3.Error: the disk fails, or denies it.
    """
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
    db = sqlite3.connect(uri, timeout=_PATIENCE, uri=True)
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        with damage_noted(damage):
            db.execute("PRAGMA synchronous = EXTRA")  # the end of a journal is on the disk too
            (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if tables and version != SCHEMA_VERSION:
                raise other_version(path, version)
            if make and not tables:
                db.executescript(_LAYOUT)
    except BaseException:
        db.close()
        raise
    return db


def check_integrity(db: sqlite3.Connection, damage: list[str]) -> None:
    """Add what SQLite finds damaged in its file."""
    with damage_noted(damage):
        (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        damage += [] if verdict == "ok" else [str(verdict)]


def write_rows(db: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Write rows in one transaction: all of them, or none."""
    with db:
        db.executemany(
            "INSERT OR REPLACE INTO results VALUES (?, ?, ?)",
            ((row["key"], *_sealed(row)) for row in rows),
        )


def read_row(db: sqlite3.Connection, key: str) -> Row | None:
    """The row of a key, where it is there and whole."""
    query = "SELECT content, checksum FROM results WHERE key = ?"
    record = db.execute(query, (key,)).fetchone()
    return None if record is None else _unsealed(*record)


def whole_rows(db: sqlite3.Connection, damage: list[str]) -> Iterator[Row]:
    """All rows whose checksum holds; the others are noted.

    Where a damaged page ends the reading, it goes on from the other end.
    """
    seen: set[str] = set()
    for order in ("ASC", "DESC"):
        with damage_noted(damage):
            query = f"SELECT key, content, checksum FROM results ORDER BY rowid {order}"
            for key, content, checksum in db.execute(query):
                if key in seen:
                    continue
                seen.add(key)
                row = _unsealed(content, checksum)
                if row is not None and row["key"] == key:
                    yield row
                else:
                    damage.append(f"the checksum of row {key} does not hold")
            return


def write_description(db: sqlite3.Connection, description: Mapping[str, Any]) -> None:
    """Write what a store says of its rows."""
    with db:
        db.execute("INSERT OR REPLACE INTO info VALUES (1, ?, ?)", _sealed(description))


def read_description(db: sqlite3.Connection, damage: list[str]) -> Mapping[str, Any] | None:
    """What a store says of its rows; None where it says nothing, or that is damaged and noted."""
    with damage_noted(damage):
        record = db.execute("SELECT content, checksum FROM info").fetchone()
        if record is None:
            return None
        if description := _unsealed(*record):
            return description
        damage.append("the checksum of the names of codes and labels does not hold")
    return None


@contextmanager
def damage_noted(damage: list[str]) -> Iterator[None]:
    """Errors of a damaged database, not of the disk, are added to a list."""
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK:
            raise
        damage.append(str(error))


def other_version(path: Path, version: object) -> StudyError:
    """The error of results that another version of this program wrote."""
    return StudyError(
        f"{path}: results of version {version}, and this program reads and writes version "
        f"{SCHEMA_VERSION}; choose another folder, or use the program that wrote them; nothing of "
        f"them is changed, and anything that reads Parquet reads their {RESULTS}"
    )


def _sealed(value: Mapping[str, Any]) -> tuple[bytes, int]:
    """Content and checksum of a record."""
    content = json.dumps(value, separators=(",", ":")).encode("ascii")
    return content, zlib.crc32(content)


def _unsealed(content: Any, checksum: Any) -> dict[str, Any] | None:
    """What was sealed; None where the checksum does not hold."""
    whole = isinstance(content, bytes) and zlib.crc32(content) == checksum
    return json.loads(content) if whole else None

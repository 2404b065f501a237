"""An append-only file of rows that a crash cannot damage: each line carries its checksum."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from identify.experiments.work import Row


class Journal:
    """Rows as lines `checksum JSON`; what a commit has returned from stays, whatever happens.

    A crash may leave a torn last line. It is cut off when the journal is opened, so that no row is
    ever half there.
    """

    def __init__(self, path: Path) -> None:
        """Open for appending; a torn end is cut off.

        Raises:
            OSError: the file cannot be written.
        """
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self.size = _end_of_last_whole_line(path)
        self._cut()

    def append(self, rows: Iterable[Row]) -> None:
        """Write the rows and wait until they are on the disk: all of them, or none.

        Raises:
            OSError: the disk is full, or fails; the journal is as it was before.
        """
        content = b"".join(map(_line, rows))
        try:
            _write_all(self._handle, content)
            os.fsync(self._handle)
        except OSError:
            self._cut()
            raise
        self.size += len(content)

    def clear(self) -> None:
        """Empty the journal, its rows being elsewhere."""
        self.size = 0
        self._cut()
        os.fsync(self._handle)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def _cut(self) -> None:
        os.ftruncate(self._handle, self.size)
        os.lseek(self._handle, self.size, os.SEEK_SET)


def read_journal(path: Path) -> Iterator[Row]:
    """The whole rows of a journal, in order; none where there is no file."""
    if not path.exists():
        return
    with open(path, "rb") as file:
        for line in file:
            if _is_whole(line):
                yield json.loads(line[9:])


def _line(row: Row) -> bytes:
    content = json.dumps(row, separators=(",", ":")).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(content), content)


def _is_whole(line: bytes) -> bool:
    """Whether a line ends as it should and its checksum holds."""
    return line[-1:] == b"\n" and line[:9] == b"%08x " % zlib.crc32(line[9:-1])


def _end_of_last_whole_line(path: Path) -> int:
    position = end = 0
    with open(path, "rb") as file:
        for line in file:
            position += len(line)
            if _is_whole(line):
                end = position
    return end


def _write_all(handle: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]

"""Where the lines of a large text file are, so that some of them are read without the others."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identify.files import read_error

_BLOCK = 2**18
"""Bytes at a time, which stay in the cache while they are hashed and looked at."""

_LINES_BETWEEN_OFFSETS = 4096
"""Lines from one noted offset to the next."""

HEAD = 2**22
"""Bytes that are looked at for the header and the columns."""

_NEWLINE = 10

_BLANK = 2
"""Characters of the longest blank line, with its end."""


@dataclass(frozen=True, slots=True, eq=False)
class LineIndex:
    """Offsets of lines of a text file that is regular: no comment, no blank line, one line end.

    Attributes:
        number: the one-based line of the first row.
        rows: how many lines follow, that one included.
        offsets: of every so many of them, and the end of the file.
        sha256: of the whole file (hexadecimal).
    """

    number: int
    rows: int
    offsets: NDArray[np.int64]
    sha256: str

    def lines(self, path: Path, start: int, stop: int) -> bytes:
        """The rows of the given numbers, as bytes."""
        first, last = (
            start // _LINES_BETWEEN_OFFSETS,
            min(stop // _LINES_BETWEEN_OFFSETS, len(self.offsets) - 1),
        )
        begin = int(self.offsets[first])
        end = int(self.offsets[min(last + 1, len(self.offsets) - 1)])
        try:
            with path.open("rb") as file:
                file.seek(begin)
                content = file.read(end - begin)
        except OSError as error:
            raise read_error(path, error) from error
        skip = _end_of(content, start - first * _LINES_BETWEEN_OFFSETS, 0)
        take = _end_of(
            content, stop - last * _LINES_BETWEEN_OFFSETS, int(self.offsets[last]) - begin
        )
        return content[skip:take]


def _end_of(content: bytes, lines: int, start: int) -> int:
    """Offset behind so many lines from an offset on, or the end of all."""
    for _ in range(lines):
        start = content.find(b"\n", start) + 1
        if not start:
            return len(content)
    return start


def index_lines(path: Path, begin: int, number: int, comment: bytes) -> LineIndex | None:
    """Go through a text file once; None where it is not regular and has to be read whole.

    Args:
        path: the file.
        begin: offset of the first row.
        number: its one-based line.
        comment: mark of comments; empty for none.
    """
    found, offsets, rows, place = hashlib.sha256(), [begin], 0, 0
    returns, last, end = 0, b"", begin - 1
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                found.update(block)
                rest = block[max(0, begin - place) :]
                start = place + len(block) - len(rest)
                if comment and comment in last[-len(comment) :] + rest:
                    return None
                if b"\r" in rest:
                    returns += rest.count(b"\r")
                ends = start + np.flatnonzero(np.frombuffer(rest, np.uint8) == _NEWLINE)
                if len(ends) and np.diff(ends, prepend=end).min() <= _BLANK:
                    return None
                noted = np.arange(
                    -(rows + 1) % _LINES_BETWEEN_OFFSETS, len(ends), _LINES_BETWEEN_OFFSETS
                )
                offsets += (1 + ends[noted]).tolist()
                end = int(ends[-1]) if len(ends) else end
                rows, place, last = rows + len(ends), place + len(block), block
    except OSError as error:
        raise read_error(path, error) from error
    if returns not in (0, rows) or not rows:
        return None
    if not last.endswith(b"\n"):
        rows += 1
    if offsets[-1] != place:
        offsets.append(place)
    places = np.array(offsets, dtype=np.int64)
    return LineIndex(number, rows, places, found.hexdigest())

"""Index of the lines of a large text file, to read ranges of rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identify.files import read_error

_BLOCK_BYTES = 2**18
"""Block size for reading [bytes], chosen to fit the cache."""

_LINES_BETWEEN_OFFSETS = 4096
"""Number of lines between indexed offsets."""

HEAD_BYTES = 2**22
"""Number of bytes inspected for the header and the columns."""

_NEWLINE = 10

_MAX_BLANK_LINE = 2
"""Maximum length of a blank line with its end [characters]."""


@dataclass(frozen=True, slots=True, eq=False)
class LineIndex:
    """Byte offsets of the rows of a text file without comments, blank lines or mixed line ends.

    Attributes:
        first_line: the one-based line of the first row.
        rows: how many lines follow, that one included.
        offsets: of every so many of them, and the end of the file.
        sha256: of the whole file (hexadecimal).
    """

    first_line: int
    rows: int
    offsets: NDArray[np.int64]
    sha256: str

    def lines(self, path: Path, start: int, stop: int) -> bytes:
        """Return the text lines of a range of rows as bytes."""
        first = start // _LINES_BETWEEN_OFFSETS
        last = min(stop // _LINES_BETWEEN_OFFSETS, len(self.offsets) - 1)
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
    """Return the offset after some lines from an offset, or the end of the content."""
    for _ in range(lines):
        start = content.find(b"\n", start) + 1
        if not start:
            return len(content)
    return start


def index_lines(path: Path, offset: int, first_line: int, comment: bytes) -> LineIndex | None:
    """Index a text file in one pass; None if it is not regular.

    `offset`: offset of the first row; `comment`: mark of comments; empty for none.
    """
    file_hash = hashlib.sha256()
    offsets = [offset]
    rows = 0
    position = 0
    returns = 0
    last = b""
    end = offset - 1
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                file_hash.update(block)
                rest = block[max(0, offset - position) :]
                start = position + len(block) - len(rest)
                if comment and comment in last[-len(comment) :] + rest:
                    return None
                if b"\r" in rest:
                    returns += rest.count(b"\r")
                ends = start + np.flatnonzero(np.frombuffer(rest, np.uint8) == _NEWLINE)
                if len(ends) and np.diff(ends, prepend=end).min() <= _MAX_BLANK_LINE:
                    return None
                noted = np.arange(
                    -(rows + 1) % _LINES_BETWEEN_OFFSETS, len(ends), _LINES_BETWEEN_OFFSETS
                )
                offsets += (1 + ends[noted]).tolist()
                end = int(ends[-1]) if len(ends) else end
                rows = rows + len(ends)
                position = position + len(block)
                last = block
    except OSError as error:
        raise read_error(path, error) from error
    if returns not in (0, rows) or not rows:
        return None
    if not last.endswith(b"\n"):
        rows += 1
    if offsets[-1] != position:
        offsets.append(position)
    offsets_array = np.array(offsets, dtype=np.int64)
    return LineIndex(first_line, rows, offsets_array, file_hash.hexdigest())

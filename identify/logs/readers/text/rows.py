"""Rows of a text file one by one: slower than `fast`, but it knows the line and the column."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array
from identify.logs.errors import BadValue, RaggedRow
from identify.logs.readers.text.fields import is_missing, is_number, is_whole, parse_number
from identify.logs.readers.text.sheet import Sheet, suggest_separator
from identify.logs.table import Flaw, Stamps

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{1,4}[-/:.][0-9]{1,2}[-/:.][0-9]{1,4}.*")


@dataclass(frozen=True, slots=True)
class Rows:
    """The fields asked for, of each row.

    Attributes:
        fields: the values by number of the field, each of shape (rows,).
        stamps: the time stamps, int64 if all are whole numbers.
        flaws: the `Flaw` of each row.
        lines: the one-based line of each row.
    """

    fields: Mapping[int, Array]
    stamps: Stamps | None
    flaws: NDArray[np.uint8]
    lines: Sequence[int] | NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.flaws)


def parse_rows(sheet: Sheet, start: int, first_line: int) -> Rows:
    """Reads the rows from an offset in the text on.

    Args:
        sheet: the file.
        start: the offset in bytes.
        first_line: the one-based line that begins there.

    Raises:
        BadValue: text where a number should be.
        RaggedRow: another number of fields, other than too few in the last row.
    """
    parser = _Parser(sheet, sheet.fields, from_top=start == sheet.header.end)
    pending = None
    for number, content in enumerate(sheet.text[start:].splitlines(), first_line):
        fields = sheet.splitter.fields(content)
        if fields is None:
            continue
        if pending is not None:
            parser.add(pending)
        pending = _Line(number, content, fields)
    if pending is not None:
        parser.add_last(pending, ended=sheet.text.endswith((b"\n", b"\r")))
    return parser.rows()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    content: bytes
    fields: list[str]


@dataclass(slots=True)
class _Parser:
    """Gathers rows in compact arrays."""

    sheet: Sheet
    wanted: tuple[int, ...]
    from_top: bool
    values: array[float] = field(default_factory=lambda: array("d"))
    stamps: array[int] = field(default_factory=lambda: array("q"))
    whole: bool = True
    """Whether every time stamp so far was a whole number that int64 holds."""
    flaws: bytearray = field(default_factory=bytearray)
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, line: _Line) -> None:
        """Reads one row; raises unless it is whole, or bad rows are dropped."""
        if not self._fits(line):
            if not self.sheet.drop_bad_rows:
                raise self._ragged(line)
            return self._leave_out(line, Flaw.NOT_NUMBERS)
        numbers: list[float] = []
        for k in self.wanted:
            try:
                numbers.append(parse_number(line.fields[k]))
            except ValueError:
                if not self.sheet.drop_bad_rows:
                    raise self._bad_value(line, k) from None
                return self._leave_out(line, Flaw.NOT_NUMBERS)
        return self._take(line, numbers)

    def add_last(self, line: _Line, *, ended: bool) -> None:
        """Reads the last row of the file, which may be cut short.

        Args:
            line: the row.
            ended: whether the line end is there.
        """
        final = self.sheet.width - 1
        if len(line.fields) <= final or (
            not ended and final in self.wanted and not is_number(line.fields[final])
        ):
            return self._leave_out(line, Flaw.CUT_SHORT)
        return self.add(line)

    def rows(self) -> Rows:
        """What was read so far."""
        values = np.array(self.values, dtype=np.float64)
        values = values.reshape(len(self.flaws), len(self.wanted))
        fields = {k: np.ascontiguousarray(values[:, i]) for i, k in enumerate(self.wanted)}
        stamps = None
        if self.sheet.stamps is not None:
            whole = np.array(self.stamps, dtype=np.int64)
            stamps = whole if self.whole else fields[self.sheet.stamps]
        flaws = np.frombuffer(bytes(self.flaws), dtype=np.uint8).copy()
        return Rows(fields, stamps, flaws, np.array(self.lines, dtype=np.int64))

    def _fits(self, line: _Line) -> bool:
        width = self.sheet.width
        excess = line.fields[width:]
        return len(line.fields) >= width and not any(text.strip() for text in excess)

    def _take(self, line: _Line, numbers: list[float]) -> None:
        flaw = Flaw.NONE if all(map(math.isfinite, numbers)) else Flaw.NOT_FINITE
        if self.whole and self.sheet.stamps is not None:
            self._take_stamp(line.fields[self.sheet.stamps])
        self.values.extend(numbers)
        self.flaws.append(flaw)
        self.lines.append(line.number)

    def _take_stamp(self, text: str) -> None:
        """Keeps whole numbers whole; a row without a stamp is left out anyway."""
        if not is_whole(text):
            self.whole = is_missing(text)
            text = "0"
        try:
            self.stamps.append(int(text))
        except (ValueError, OverflowError):  # more digits than int64, or than Python, takes
            self.whole = False

    def _leave_out(self, line: _Line, flaw: Flaw) -> None:
        self.values.extend([math.nan] * len(self.wanted))
        self.stamps.append(0)
        self.flaws.append(flaw)
        self.lines.append(line.number)

    def _bad_value(self, line: _Line, k: int) -> BadValue:
        text, remedy = line.fields[k].strip()[:80], ""
        if _DECIMAL_COMMA.fullmatch(text):
            remedy = "; it has a decimal comma: write numbers with a decimal point"
        elif k == self.sheet.stamps and _DATE.fullmatch(text):
            remedy = "; write time stamps as numbers of time_unit, not as dates"
        elif self._may_be_header():
            remedy = _in_header(line)
        return BadValue(self.sheet.path, line.number, self.sheet.column(k), text, remedy)

    def _ragged(self, line: _Line) -> RaggedRow:
        splitter, remedy = self.sheet.splitter, ""
        if splitter.comment and splitter.comment.encode() in line.content:
            remedy = (
                f"; a comment begins at {splitter.comment!r}: "
                "set comment in [log] to another mark if it does not"
            )
        elif self._may_be_header():
            remedy = _in_header(line)
        remedy = remedy or suggest_separator(line.content, splitter)
        got, path = len(line.fields), self.sheet.path
        return RaggedRow(path, line.number, got, self.sheet.width, remedy)

    def _may_be_header(self) -> bool:
        """Whether this is the first row of a file whose columns are numbered."""
        return self.from_top and self.sheet.header.names is None and not self.flaws


def _in_header(line: _Line) -> str:
    return f"; if line {line.number} is of the header, set header_lines = {line.number} in [log]"

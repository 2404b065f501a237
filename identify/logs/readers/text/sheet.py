"""`Sheet`: a text file with its header found, and the fields to read from each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from identify.errors import LogError
from identify.logs.errors import MissingNumberedColumn
from identify.logs.readers.text.fields import Splitter, is_missing, is_number, is_whole
from identify.logs.readers.text.header import SEPARATORS, Header, find_header, spell
from identify.logs.schema import Column
from identify.logs.table import Request, locate

_SURVEYED = 1000
"""Rows looked at to learn how many fields a row has."""
_SURVEYED_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is known of a text file before its rows are read.

    Attributes:
        text: its content.
        header: where its data begin.
        names: names of the columns, or their numbers.
        width: how many fields a row has; a last one that is always empty is not counted.
        separated: how many the separators of the first row make.
        numbers: the field of each column asked for.
        stamps: the field of the time stamps.
        whole_stamps: whether those of the first rows are whole numbers.
    """

    path: Path
    text: bytes
    splitter: Splitter
    header: Header
    names: tuple[str, ...]
    width: int
    separated: int
    numbers: Mapping[Column, int]
    stamps: int | None
    whole_stamps: bool
    drop_bad_rows: bool

    @property
    def fields(self) -> tuple[int, ...]:
        """The fields to read of each row, in order."""
        stamps = () if self.stamps is None else (self.stamps,)
        return tuple(sorted({*self.numbers.values(), *stamps}))

    def column(self, field: int) -> Column:
        """What the schema calls a field."""
        return next(
            (column for column, number in self.numbers.items() if number == field),
            self.names[field],
        )


def survey(path: Path, text: bytes, request: Request) -> Sheet:
    """Finds the header and the columns of a text file.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    layout = request.layout
    splitter = Splitter(layout.separator, layout.comment)
    header = find_header(path, text, splitter, request)
    rows = list(islice(_first_rows(text, header, splitter), _SURVEYED))
    if not rows:
        raise LogError(
            f"{path}: has no data rows after its header ({header.lines} lines)", path=path
        )
    if header.names is None and "header_lines" not in layout.model_fields_set:
        _require_header(path, text, header, splitter, len(rows[0]))
    width, names = _columns(path, header, rows, _highest(request))
    try:
        numbers = {column: locate(path, names, column) for column in request.columns}
        stamps = _stamps(path, names, request)
    except MissingNumberedColumn as error:
        raise _with_separator(error, path, text, header, splitter, width) from None
    return Sheet(
        path=path,
        text=text,
        splitter=splitter,
        header=header,
        names=names,
        width=width,
        separated=len(rows[0]),
        numbers=numbers,
        stamps=stamps,
        whole_stamps=stamps is not None and _whole(rows, stamps),
        drop_bad_rows=layout.drop_bad_rows,
    )


def suggest_separator(line: bytes, splitter: Splitter) -> str:
    """A hint at the separator that the line seems to have, or nothing."""
    here = len(splitter.fields(line) or ())
    for other in SEPARATORS:
        fields = Splitter(other, splitter.comment).fields(line) or ()
        if len(fields) > max(here, 2) and sum(map(is_number, fields)) > 2:
            return f"; set separator = {spell(other)} in [log] if that is what separates them"
    return ""


def _first_rows(text: bytes, header: Header, splitter: Splitter) -> Iterator[list[str]]:
    start = header.end
    while start < len(text):
        stop = min(len(text), start + _SURVEYED_BYTES)
        cut = max(text.rfind(b"\n", start, stop), text.rfind(b"\r", start, stop)) + 1
        stop = cut if start < cut and stop < len(text) else len(text)
        for line in text[start:stop].splitlines():
            fields = splitter.fields(line)
            if fields is not None:
                yield fields
        start = stop


def _columns(
    path: Path, header: Header, rows: list[list[str]], highest: int
) -> tuple[int, tuple[str, ...]]:
    """How many columns the file has, and their names."""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    trailing = width > 1 and all(not row[-1].strip() for row in rows if len(row) == width)
    if header.names is None:
        width -= trailing and highest < width - 1
        return width, tuple(map(str, range(width)))
    names = header.names
    while names and not names[-1] and len(names) > width - trailing:
        names = names[:-1]
    if (trailing and len(names) == width - 1) or (len(rows) == 1 and width < len(names)):
        width = len(names)
    if len(names) != width and not header.names_line:
        return width, tuple(map(str, range(width)))
    if len(names) != width:
        raise LogError(
            f"{path}: line {header.names_line} names {len(names)} columns, but the rows have "
            f"{width} fields; mend the header, or give the columns by zero-based number",
            path=path,
            row=header.names_line,
        )
    return width, names


def _highest(request: Request) -> int:
    columns = (*request.columns, request.stamps)
    return max((column for column in columns if isinstance(column, int)), default=-1)


def _stamps(path: Path, names: tuple[str, ...], request: Request) -> int | None:
    column = request.stamps
    if column is None or (isinstance(column, str) and column not in names):
        return None
    return locate(path, names, column)


def _whole(rows: list[list[str]], field: int) -> bool:
    texts = [row[field] for row in rows if len(row) > field]
    return all(is_whole(text) or is_missing(text) for text in texts)


def _require_header(
    path: Path, text: bytes, header: Header, splitter: Splitter, width: int
) -> None:
    """Refuses to skip a line of numbers only because a header is the default."""
    fields = splitter.fields(text[: header.end])
    if fields is not None and len(fields) == width and all(map(is_number, fields)):
        raise LogError(
            f"{path}: line 1 holds numbers as the rows after it do, and would be skipped as the "
            "header; set header_lines = 0 in [log] to read it, or header_lines = 1 to skip it",
            path=path,
            row=1,
        )


def _with_separator(
    error: MissingNumberedColumn,
    path: Path,
    text: bytes,
    header: Header,
    splitter: Splitter,
    width: int,
) -> MissingNumberedColumn:
    lines = text[header.end : header.end + _SURVEYED_BYTES].lstrip().splitlines()
    column = error.column if isinstance(error.column, int) else width
    remedy = suggest_separator(lines[0], splitter) if lines else ""
    return MissingNumberedColumn(path, column, width, remedy)

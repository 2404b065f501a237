"""Layout of a text file: its header, and the fields to read from each row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from identify.errors import LogError, MissingColumn, did_you_mean
from identify.logs.readers.text_lines import (
    Row,
    Splitter,
    TextLine,
    is_date,
    is_missing,
    is_number,
    is_time_of_day,
    read_lines,
)
from identify.logs.schema_fields import Column
from identify.logs.table import (
    ColumnSource,
    TableInfo,
    column_number_error,
    find_column,
    find_stamps_column,
    match_names,
)
from identify.logs.units import TICKS_PER_SECOND

_MAX_LISTED_NAMES = 30
"""Largest number of columns that an error names."""

_INSPECTED_ROWS = 1000
"""Number of rows inspected for the number of fields."""
_MAX_UNIT_ROWS = 2
"""Maximum number of rows of units and types below the names."""
_NUMBER_START = re.compile(r"[+-]?[.,]?[0-9]")
"""Pattern of the start of a number or a date."""
_MAX_HEADER_LINES = 50
"""Number of lines searched for column names after the header lines given by the schema."""


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Header, separators and columns of a text file, found before its rows are read.

    Attributes:
        text: content of the file, or of a part.
        header: the last line before the data, with number zero if there is none. Blank lines and
            rows of units below the names belong to the header.
        first_row: the first row.
        uses_names: whether the schema gives columns by name.
        names: names or numbers of all columns of a row.
        field_numbers: field number of each requested column.
        stamp_field: field number of the time stamps.
        numeric_fields: numbers of the requested fields that hold numbers, in order.
        has_dates: whether the time stamps are dates.
        time_of_day: whether the time stamps are times of day without date.
        reaches_file_end: whether the text goes to the end of the file, where a row may be cut
            short.
    """

    path: Path
    text: bytes
    splitter: Splitter
    header: TextLine
    first_row: Row
    uses_names: bool
    names: tuple[str, ...]
    field_numbers: Mapping[Column, int]
    stamp_field: int | None
    numeric_fields: tuple[int, ...]
    has_dates: bool
    drop_bad_rows: bool
    time_of_day: bool = False
    reaches_file_end: bool = True

    def column(self, field: int) -> Column:
        """Return the column name or number of a field, as the schema has it."""
        columns = (column for column, number in self.field_numbers.items() if number == field)
        return next(columns, self.names[field])

    @property
    def ticks(self) -> int | None:
        """Ticks per second of the time stamps, if they are dates."""
        return TICKS_PER_SECOND["us"] if self.has_dates else None


def inspect_text(source: ColumnSource, text: bytes) -> TextLayout:
    """Find the header and the columns of a text file."""
    path, layout = source.path, source.layout
    splitter = Splitter(layout.separator, layout.comment, layout.decimal)
    header, names = _find_header(source, text, splitter)
    rows = list(islice(splitter.rows(text, header.next_offset, header.number + 1), _INSPECTED_ROWS))
    if not rows:
        lines = "1 line" if header.number == 1 else f"{header.number} lines"
        raise LogError(f"{path}: has no data rows after its header ({lines})", path=path)
    named, first = names is not None, rows[0]
    if not named and "header_lines" not in layout.model_fields_set:
        _require_header(path, splitter.fields(header.content), len(first[1]))
    names = _columns_of_rows(source, header, names, rows, splitter)
    try:
        numbers = {column: find_column(path, names, column) for column in source.columns}
        stamps = find_stamps_column(path, names, layout.time)
    except MissingColumn as error:
        if not isinstance(error.column, int):
            raise
        remedy = suggest_separator(first[0].content, splitter)
        raise column_number_error(path, error.column, len(names), remedy) from None
    fields: list[int] = sorted({*numbers.values(), *([] if stamps is None else [stamps])})
    for _ in range(_MAX_UNIT_ROWS if named else 0):
        if len(rows) > 1 and _is_units_row(rows[0], fields):
            header, first = rows.pop(0)[0], rows[0]
    stamp = "" if stamps is None else "".join(first[1][stamps : stamps + 1])
    dated = is_date(stamp)
    return TextLayout(
        path=path,
        text=text,
        splitter=splitter,
        header=_line_before_rows(text, header, splitter),
        first_row=first,
        uses_names=named,
        names=names,
        field_numbers=numbers,
        stamp_field=stamps,
        numeric_fields=tuple(k for k in fields if not (dated and k == stamps)),
        has_dates=dated,
        drop_bad_rows=layout.drop_bad_rows,
        time_of_day=dated and is_time_of_day(stamp),
    )


def _is_units_row(row: Row, fields: Sequence[int]) -> bool:
    """Return whether a row below the names has units or types (words, or 1)."""
    words = {row[1][k].strip() for k in fields if k < len(row[1])} - {"", "1"}
    return bool(words) and not any(is_number(word) or _NUMBER_START.match(word) for word in words)


def _line_before_rows(text: bytes, header: TextLine, splitter: Splitter) -> TextLine:
    """Return the last of the blank lines and comments below a line, or the line itself."""
    for line in read_lines(text, header.next_offset, header.number + 1):
        if splitter.fields(line.content) is not None:
            break
        header = line
    return header


def suggest_separator(line: bytes, splitter: Splitter) -> str:
    """Return a hint at the likely separator of a line, or an empty text."""
    other = _likely_separator(line, splitter)
    if other is None:
        return ""
    return f"; set separator = {other.toml_separator} in [log] if that is what separates them"


def _likely_separator(line: bytes, splitter: Splitter) -> Splitter | None:
    """Return another separator by which a row has more numbers, if any."""
    here = len(splitter.fields(line) or ())
    for other in splitter.alternatives():
        if len(other.fields(line) or ()) > max(here, 2) and _count_numbers(line, other) > 2:
            return other
    return None


def _count_numbers(line: bytes, splitter: Splitter) -> int:
    """Count the numeric fields of a line."""
    return sum(map(is_number, splitter.fields(line) or ()))


def _find_header(
    source: ColumnSource, text: bytes, splitter: Splitter
) -> tuple[TextLine, tuple[str, ...] | None]:
    """Return the last line of the header, and its names if the schema uses names.

    It is where the schema says, or where comment lines that it does not count move it.
    """
    path = source.path
    count = source.layout.header_lines
    time = source.layout.time
    lines = list(islice(read_lines(text), count + _MAX_HEADER_LINES))
    if count > len(lines):
        raise LogError(
            f"{path}: header_lines = {count} in [log], but it has only {len(lines)} lines",
            path=path,
        )
    last = lines[count - 1] if count else TextLine(0, b"", 0)
    wanted = [name for name in source.columns if isinstance(name, str)]
    if not wanted and not isinstance(time, str):
        return last, None
    places = _header_candidates(lines, count, splitter)
    for line in places:
        names = splitter.names(line.content)
        if all(match_names(names, str(name)) for name in wanted or [time]):
            return line, names
    if not all(map(str.isdecimal, wanted)):
        raise _no_names_error(path, lines, places, splitter, wanted)
    if wanted or not count:
        return last, None
    return last, splitter.names(last.content)  # another file has the stamps


def _header_candidates(lines: Sequence[TextLine], count: int, splitter: Splitter) -> list[TextLine]:
    """Yield the lines that may hold the column names, first the line given by the schema.

    Then the one it says if comment and blank lines do not count, and the last of the comment lines
    on top.
    """
    if count == 0:
        return []
    plain = [
        line for line in lines if line.content.strip() and not splitter.is_comment(line.content)
    ]
    places = [lines[count - 1], *plain[count - 1 : count]]
    if count == 1 and plain and plain[0].number > 1:
        places.append(lines[plain[0].number - 2])
    return places


def _no_names_error(
    path: Path,
    lines: Sequence[TextLine],
    header_candidates: Sequence[TextLine],
    splitter: Splitter,
    requested: Sequence[str],
) -> LogError:
    def missing(line: TextLine, split: Splitter = splitter) -> list[str]:
        known = split.names(line.content)
        return [name for name in requested if not match_names(known, name)]

    remedy = ""
    if elsewhere := next((line.number for line in lines if not missing(line)), None):
        remedy = f"; line {elsewhere} has these names: set header_lines = {elsewhere} in [log]"
    if not header_candidates:
        return LogError(
            f"{path}: the schema names columns ({', '.join(map(repr, requested[:3]))}, …), but "
            "header_lines = 0 means that no line has names"
            + (remedy or "; give the columns by zero-based number, or set header_lines"),
            path=path,
            column=requested[0],
        )
    best = min(header_candidates, key=lambda line: len(missing(line)))
    known = splitter.names(best.content)
    other = min(splitter.alternatives(), key=lambda other: len(missing(best, other)))
    row = next((line.content for line in lines if line.number > best.number), b"")
    if not remedy and len(missing(best, other)) < len(missing(best)):
        if _count_numbers(row, splitter) > 2:
            remedy = (
                f"; it has {other.toml_separator} between its names, and the rows have "
                f"{splitter.toml_separator}: write the line as the rows are"
            )
        elif not missing(best, other):
            remedy = (
                f"; with another separator it has: set separator = {other.toml_separator} in [log]"
            )
        else:
            known, columns = other.names(best.content), missing(best, other)
            remedy = did_you_mean(columns[0], known)
            remedy += (
                f"; so it is with separator = {other.toml_separator}, to be set in [log] first"
            )
            return _missing_names_error(path, best.number, columns, known, remedy)
    remedy = remedy or suggest_separator(row, splitter)
    if not remedy and all(map(is_number, filter(None, known))):
        remedy = (
            "; it holds numbers: if the file has no header, set header_lines = 0 in [log] "
            "and give the columns by zero-based number"
        )
    return _missing_names_error(path, best.number, missing(best), known, remedy)


def _missing_names_error(
    path: Path, line: int, missing: Sequence[str], known: Sequence[str], remedy: str
) -> MissingColumn:
    """Return the error of a header line without the expected column names."""
    names = ", ".join(map(repr, missing))
    hint = remedy or did_you_mean(missing[0], known)
    listed = ", ".join(repr(name[:60]) for name in known[:_MAX_LISTED_NAMES])
    listed += ", …" if len(known) > _MAX_LISTED_NAMES else ""
    message = f"{path}: line {line} should name the columns, but has no {names} among [{listed}]"
    message += hint
    return MissingColumn(path, missing[0], known, message=message, row=line)


def _columns_of_rows(
    source: ColumnSource,
    header: TextLine,
    names: tuple[str, ...] | None,
    rows: Sequence[Row],
    splitter: Splitter,
) -> tuple[str, ...]:
    """Return the names of the columns of the rows, or column numbers without a header.

    A last column that is empty in every row is none, unless the header or the schema has it.
    """
    asked = (*source.columns, source.layout.time)
    width = Counter(len(fields) for _, fields in rows).most_common(1)[0][0]
    whole = [fields for _, fields in rows if len(fields) == width]
    trailing = width > 1 and all(not fields[-1].strip() for fields in whole)
    if names is None:
        numbered = (column for column in asked if isinstance(column, int))
        width -= trailing and max(numbered, default=-1) < width - 1
        return tuple(map(str, range(width)))
    while names and not names[-1] and len(names) > width - trailing:
        names = names[:-1]
    # A single row shorter than the header is cut short, and is rejected as such.
    if (trailing and len(names) == width - 1) or (len(rows) == 1 and width < len(names)):
        width = len(names)
    if len(names) == width:
        return names
    if not set(asked) & set(names):  # the line is only supposed to hold names
        return tuple(map(str, range(width)))
    remedy = "fix the header, or give the columns by zero-based number"
    if (other := _likely_separator(rows[0][0].content, splitter)) is not None:
        remedy = (
            f"they seem to have {other.toml_separator} between their fields, and the header has "
            f"{splitter.toml_separator}: write it as the rows are, and set "
            f"separator = {other.toml_separator} in [log]"
        )
    raise LogError(
        f"{source.path}: line {header.number} names {len(names)} columns, but the rows have "
        f"{width} fields; {remedy}",
        path=source.path,
        row=header.number,
    )


def _require_header(path: Path, line: Sequence[str] | None, width: int) -> None:
    """Raise if the default header line contains numbers."""
    if line is not None and len(line) == width and all(map(is_number, line)):
        raise LogError(
            f"{path}: line 1 holds numbers as the rows after it do, and would be skipped as the "
            "header; set header_lines = 0 in [log] to read it, or header_lines = 1 to skip it",
            path=path,
            row=1,
        )


def likely_contents(path: Path, lines: Sequence[TextLine]) -> TableInfo:
    """Return the columns by the separator, comment and decimal marks that give the most numbers.

    Raises `LogError`: no two columns hold numbers by any.
    """
    marks = ((comment, decimal) for decimal in ".," for comment in "#%")
    splitters = (splitter for each in marks for splitter in Splitter(",", *each).alternatives())
    guesses = [
        guess for splitter in splitters if (guess := _guess_layout(lines, splitter)) is not None
    ]
    if not guesses:
        raise LogError(
            f"{path}: no two columns hold numbers in lines 1 to {len(lines)}, by whichever "
            "separator: comma, semicolon, tab or blank; name the columns in a schema by hand",
            path=path,
        )
    return max(guesses, key=lambda guess: guess[0])[1]


def _guess_layout(
    lines: Sequence[TextLine], splitter: Splitter
) -> tuple[tuple[int, int, bool], TableInfo] | None:
    """Return the columns by a separator, and a score; None if fewer than two are numeric."""
    rows = [(line, f) for line in lines if (f := splitter.fields(line.content)) is not None]
    counts = Counter(len(fields) for _, fields in rows)
    width = max(counts, key=lambda width: (width > 1, counts[width], width), default=0)
    rows = [(line, fields) for line, fields in rows if len(fields) == width]
    later = [fields for _, fields in rows[len(rows) // 2 :]]
    width -= width > 1 and not any(fields[-1].strip() for _, fields in rows)
    columns = [_are_values(fields[k] for fields in later) for k in range(width)]
    numeric = [k for k, values in enumerate(columns) if values and 2 * sum(values) >= len(values)]
    starts = (_are_values(fields[k] for k in numeric) for _, fields in rows)
    data = next((n for n, values in enumerate(starts) if values and all(values)), None)
    if len(numeric) < 2 or data is None:
        return None
    first = rows[data][0].number
    above = [line for line in reversed(lines[: first - 1]) if line.content.strip()]
    headers = [line for line in above if _names_above(line, splitter, width, numeric)]
    distinct = (line for line in headers if len(set(splitter.names(line.content))) >= width)
    header = next(distinct, next(iter(headers), None))
    names = tuple(map(str, range(width)))
    names = names if header is None else _names_above(header, splitter, width, numeric)
    skipped = first - 1 if header is None else header.number
    below = [row for line, row in rows[:data] if line.number > skipped]
    units = dict(zip(names, map(str.strip, below[0]), strict=False)) if header and below else {}
    layout: dict[str, object] = {} if skipped == 1 else {"header_lines": skipped}
    for key, default in (("separator", ","), ("comment", "#"), ("decimal", ".")):
        if (value := getattr(splitter, key)) != default:
            layout[key] = value
    # A single long comment of numbers does not outweigh the rows.
    numbers = len(numeric) * (len(rows) - data)
    likely = numbers, len(numeric) - width, header is not None
    return likely, TableInfo(names, layout=layout, units=units)


def _names_above(
    line: TextLine, splitter: Splitter, width: int, numeric: Sequence[int]
) -> tuple[str, ...]:
    """Return the column names on a header line; empty if a numeric column has no word there."""
    names = splitter.names(line.content)
    whole = len(names) >= width and not any(names[width:])
    return names[:width] if whole and not any(is_number(names[k]) for k in numeric) else ()


def _are_values(fields: Iterable[str]) -> list[bool]:
    """Return whether each non-missing field is a number or a date."""
    return [is_number(field) or is_date(field) for field in fields if not is_missing(field)]

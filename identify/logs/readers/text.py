"""Reader of delimited text, such as CSV.

Arrow reads a regular file, which is nearly every one. Where anything is out of order, the rows are
gone through one by one, to say in which line and column, or to leave out the bad ones. The last
row, which may be cut short, always is.
"""

from __future__ import annotations

import gzip
import io
import math
import re
import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from identify.arrays import Array
from identify.errors import LogError
from identify.files import check_expansion, read_bytes, read_error
from identify.logs.readers.arrow_columns import as_numbers, as_stamps
from identify.logs.readers.line_index import HEAD_BYTES, LineIndex, index_lines
from identify.logs.readers.list_cells import ECHOED_JOINTS, HAS_LISTS, without_lists
from identify.logs.readers.text_layout import (
    TextLayout,
    inspect_text,
    likely_contents,
    suggest_separator,
)
from identify.logs.readers.text_lines import (
    LINE_END,
    Row,
    TextLine,
    is_date,
    is_missing,
    is_number,
    is_time_of_day,
    microseconds_since_1970,
    parse_numbers,
    read_lines,
)
from identify.logs.table import (
    ColumnSource,
    RowFault,
    RowsReader,
    Stamps,
    Table,
    TableInfo,
)

_CHUNK_BYTES = 2**24
_LIST_BYTES = 2**13
"""Length of the start of a file in which cells that are lists are found."""
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_TOPIC_ECHO = re.compile(
    rb"^\s*(header|pose|wrench|force|position|orientation|transform|name):[ \t]*\r?\n"
    rb"\s*(- |(seq|stamp|force|torque|position|orientation|translation|x):)",
    re.M,
)
"""Pattern of messages printed as YAML."""
_JSON = re.compile(rb'\s*(\[\s*)?\{\s*"')
_INSPECTED_LINES = 200
_MAX_LINE_BYTES = 2**20
_MISSING_WORDS_OF_ARROW = ["", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "null", "NULL", "None"]
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_FIX_OR_DROP_REMEDY = "; fix the line, or set drop_bad_rows = true in [log] to leave it out"
_STAMP_REMEDY = (
    "; write time stamps as numbers of time_unit, or in every row as a date of ISO 8601, such as "
    "2024-05-01T10:00:00.125, or as a time of day, such as 10:00:00.125"
)
_DATE_PATTERN = re.compile(r"[0-9]{1,4}[-/:.][0-9]{1,2}[-/:.][0-9]{1,4}.*")


def read_text(source: ColumnSource) -> Table:
    """Read the requested columns of a text file."""
    return _read_rows(inspect_text(source, _text_content(source.path)))


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the columns of a text file, as its first lines suggest."""
    text = (
        _text_content(path)
        if path.suffix.lower() == ".gz"
        else _require_text(path, _first_bytes(path, HEAD_BYTES))
    )
    return (likely_contents(path, list(islice(read_lines(text), _INSPECTED_LINES))),)


def index_text(source: ColumnSource, min_rows: int) -> LineIndex | None:
    """Return the line index of a long regular text file; None if it must be read at once."""
    path = source.path
    if path.suffix.lower() == ".gz" or path.stat().st_size < 2 * min_rows * len(source.columns):
        return None
    head = _first_bytes(path, HEAD_BYTES)
    if head[:2] in _UTF_16_MARKS or HAS_LISTS.search(head[:_LIST_BYTES]):
        return None
    sheet = inspect_text(source, _require_text(path, head))
    begin = sheet.header.next_offset + len(head) - len(sheet.text)
    return index_lines(path, begin, sheet.header.number + 1, sheet.splitter.comment.encode())


def text_row_reader(source: ColumnSource, index: LineIndex) -> RowsReader:
    """Return a reader of row ranges of a regular text file."""
    head = inspect_text(source, _require_text(source.path, _first_bytes(source.path, HEAD_BYTES)))

    def read(start: int, stop: int) -> Table:
        text = index.lines(source.path, start, stop)
        number = index.first_line + start
        _require_lines(source.path, text, number)
        before = TextLine(number - 1, b"", 0)
        sheet = replace(head, text=text, header=before, reaches_file_end=stop >= index.rows)
        return _read_rows(sheet, min(stop, index.rows) - start)

    return read


def _first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file, up to a line end."""
    try:
        with path.open("rb") as file:
            content = file.read(count)
    except OSError as error:
        raise read_error(path, error) from error
    return content[: content.rfind(b"\n") + 1] or content


def _read_rows(sheet: TextLayout, rows: int | None = None) -> Table:
    """Read the rows of a text file with a known layout."""
    text = sheet.text
    start = sheet.header.next_offset
    line = sheet.header.number + 1
    end = len(text)
    while end and text[end - 1] in b"\r\n":
        end -= 1
    last = max(text.rfind(b"\n", start, end), text.rfind(b"\r", start, end)) + 1
    stop = last if sheet.reaches_file_end else len(text)
    count = text.count(b"\n", start, stop) if rows is None else rows - sheet.reaches_file_end
    head = read_regular_lines(sheet, start, stop, count)
    if head is None:
        return _read_one_by_one(sheet, start, line)
    if not sheet.reaches_file_end:
        return head
    tail, stamps = _read_one_by_one(sheet, last, line + len(head)), None
    if head.stamps is not None and tail.stamps is not None:
        stamps = np.concatenate((head.stamps, tail.stamps))
    return replace(
        head,
        columns={k: np.concatenate((x, tail.columns[k])) for k, x in head.columns.items()},
        faults=np.concatenate((head.faults, tail.faults)),
        stamps=stamps,
        line_numbers=range(line, line + len(head) + len(tail)),
    )


def _text_content(path: Path) -> bytes:
    """Return the bytes of a text file without byte order mark, decompressed for `.gz`.

    Raises `LogError`: it is empty, or not text in an encoding that ASCII is part of.
    """
    content = read_bytes(path)
    if path.suffix.lower() == ".gz":
        content = _decompressed(path, content)
    content = _require_text(path, content)
    _require_lines(path, content)
    return content


def _require_text(path: Path, content: bytes) -> bytes:
    """Return the content without byte order mark; raise `LogError` if it is not text."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise LogError(f"{path}: is empty; expected a log with at least one row", path=path)
    if content[:2] in _UTF_16_MARKS:
        content = content.decode("utf-16", "ignore").encode()
    if HAS_LISTS.search(content[:_LIST_BYTES]) or ECHOED_JOINTS.search(content[:_LIST_BYTES]):
        return without_lists(path, content)
    if _TOPIC_ECHO.search(content[:65536]):
        raise LogError(
            f"{path}: looks like messages as `topic echo` prints them (YAML); record a bag, with "
            "`ros2 bag record TOPIC` or `rosbag record TOPIC`, or a table: `rostopic echo -p TOPIC "
            "> log.csv`",
            path=path,
        )
    binary = b"\0" in content[:65536]
    if binary or _JSON.match(content):
        got = "not text but a binary file" if binary else "JSON"
        raise LogError(
            f"{path}: is {got}; expected delimited text, or a file whose name "
            "ends in .parquet, .npz, .npy, .h5, .mat, .bag, .mcap, .db3 or .ulg. Read another one "
            "into a pandas DataFrame, and give that to identify.read_log in Python or write it "
            "with to_parquet",
            path=path,
        )
    return content


def _require_lines(path: Path, text: bytes, number: int = 1) -> None:
    """Raise `LogError` for a line too long to be a row."""
    start = 0
    while start + _MAX_LINE_BYTES < len(text):
        stop = start + _MAX_LINE_BYTES + 1
        end = max(text.rfind(b"\n", start, stop), text.rfind(b"\r", start, stop))
        if end < 0:
            line = len(re.findall(LINE_END, text[:start])) + number
            raise LogError(
                f"{path}: line {line} is longer than {_MAX_LINE_BYTES} characters, too long for a "
                f"row of a log; write one row per line",
                path=path,
                row=line,
            )
        start = end + 1


def _decompressed(path: Path, packed: bytes) -> bytes:
    chunks, size = [], 0
    try:
        with gzip.open(io.BytesIO(packed)) as file:
            while chunk := file.read(_CHUNK_BYTES):
                size += len(chunk)
                check_expansion(path, len(packed), size)
                chunks.append(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise read_error(path, error, "gzip file") from error
    return b"".join(chunks)


def read_regular_lines(sheet: TextLayout, start: int, stop: int, count: int) -> Table | None:
    """Read the lines between two offsets with Arrow, or None if not all are regular rows.

    Regular means: a row on every line, as many fields in each, only numbers (or nothing, or NaN)
    in the fields asked for, no comment, no blank line. Arrow reads these as `float` does, to the
    last bit.
    """
    text, comment = sheet.text, sheet.splitter.comment.encode()
    if not count or (comment and text.find(comment, start, stop) >= 0):
        return None
    content = memoryview(text)[start:stop]
    if sheet.splitter.whitespace:
        content = _single_spaced(bytes(content))
    types = dict.fromkeys(map(str, sheet.numeric_fields), pa.float64())
    if sheet.has_dates:
        types[str(sheet.stamp_field)] = pa.string()
    parsed = None
    if _may_have_integer_stamps(sheet):
        parsed = _parse_with_arrow(sheet, content, types | {str(sheet.stamp_field): pa.int64()})
    if parsed is None:
        parsed = _parse_with_arrow(sheet, content, types)
    if parsed is None or parsed.num_rows != count:
        return None
    columns = {column: as_numbers(parsed[str(k)]) for column, k in sheet.field_numbers.items()}
    faults, stamps = np.zeros(count, dtype=np.uint8), None
    if sheet.has_dates:
        try:
            texts = parsed[str(sheet.stamp_field)].to_pylist()
            stamps = _dates_of(texts)
        except ValueError:
            return None
        if any(is_time_of_day(text) != sheet.time_of_day for text in texts):
            return None
    elif sheet.stamp_field is not None:
        stamps, missing = as_stamps(parsed[str(sheet.stamp_field)])
        faults[missing] = RowFault.NOT_FINITE
    lines = range(sheet.header.number + 1, sheet.header.number + 1 + count)
    return Table(sheet.path, sheet.names, columns, faults, stamps, sheet.ticks, lines)


def _may_have_integer_stamps(sheet: TextLayout) -> bool:
    """Return whether time stamps may be integers (Arrow would also accept hexadecimal)."""
    if sheet.stamp_field is None or sheet.has_dates:
        return False
    text = sheet.text
    last = text.rfind(b"\n", 0, len(text) - 1) + 1
    for fields in (sheet.first_row[1], sheet.splitter.fields(text[last:]) or ()):
        if sheet.stamp_field < len(fields) and "." in fields[sheet.stamp_field]:
            return False
    # One letter is found many times quicker than two.
    return not ((b"x" in text and b"0x" in text) or (b"X" in text and b"0X" in text))


def _single_spaced(content: bytes) -> bytes:
    """Replace runs of blanks and tabs by one blank, and strip line ends."""
    content = content.replace(b"\t", b" ")
    while b"  " in content:
        content = content.replace(b"  ", b" ")
    return content.replace(b" \r", b"\r").replace(b" \n", b"\n").replace(b"\n ", b"\n").lstrip(b" ")


def _parse_with_arrow(
    sheet: TextLayout, content: bytes | memoryview, types: Mapping[str, pa.DataType]
) -> pa.Table | None:
    whitespace = sheet.splitter.whitespace
    names = [str(number) for number in range(len(sheet.first_row[1]))]
    try:
        return pacsv.read_csv(
            pa.BufferReader(pa.py_buffer(content)),
            pacsv.ReadOptions(column_names=names),
            pacsv.ParseOptions(
                delimiter=" " if whitespace else sheet.splitter.separator,
                quote_char=False if whitespace else '"',
            ),
            pacsv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=_MISSING_WORDS_OF_ARROW,
                decimal_point=sheet.splitter.decimal,
            ),
        )
    except pa.ArrowException:
        return None


def _read_one_by_one(sheet: TextLayout, start: int, number: int) -> Table:
    """Read the rows from an offset on, line by line; only the last row may have too few fields."""
    values = array("d")
    stamps = list[str]()
    faults = bytearray()
    lines = array("q")
    rows = sheet.splitter.rows(sheet.text, start, number)
    following = next(rows, None)
    while (row := following) is not None:
        following = next(rows, None)
        numbers, fault = None, RowFault.CUT_SHORT
        if following is not None or not _is_cut_short(sheet, row):
            try:
                numbers = _convert_row(sheet, row)
                fault = RowFault.NONE if all(map(math.isfinite, numbers)) else RowFault.NOT_FINITE
            except LogError:
                is_header = sheet.splitter.names(row[0].content) == sheet.names
                if not (sheet.drop_bad_rows or is_header):
                    raise
                fault = RowFault.OTHER_STREAM if is_header else RowFault.NOT_NUMBERS
        values.extend(numbers or [math.nan] * len(sheet.numeric_fields))
        if sheet.stamp_field is not None:
            stamps.append(row[1][sheet.stamp_field] if numbers else "")
        faults.append(fault)
        lines.append(row[0].number)
    table = np.array(values).reshape(len(faults), len(sheet.numeric_fields))
    fields = {k: np.ascontiguousarray(table[:, i]) for i, k in enumerate(sheet.numeric_fields)}
    return Table(
        sheet.path,
        sheet.names,
        {column: fields[k] for column, k in sheet.field_numbers.items()},
        np.frombuffer(bytes(faults), dtype=np.uint8).copy(),
        None
        if sheet.stamp_field is None
        else _convert_stamps(sheet, stamps, fields.get(sheet.stamp_field)),
        sheet.ticks,
        np.array(lines),
    )


def _is_cut_short(sheet: TextLayout, row: Row) -> bool:
    """Return whether the last row is truncated."""
    if not sheet.reaches_file_end:
        return False
    fields, final = row[1], len(sheet.names) - 1
    if len(fields) <= final:
        return True
    ended = sheet.text.endswith((b"\n", b"\r"))
    return final in sheet.numeric_fields and not ended and not is_number(fields[final])


def _convert_row(sheet: TextLayout, row: Row) -> list[float]:
    fields, width = row[1], len(sheet.names)
    if len(fields) < width or any(map(str.strip, fields[width:])):
        raise _field_count_error(sheet, row)
    if sheet.has_dates and sheet.stamp_field is not None:
        text = fields[sheet.stamp_field]
        is_stamp = is_date(text) and is_time_of_day(text) == sheet.time_of_day
        if not is_stamp and not is_missing(text):
            raise _not_a_number_error(sheet, row[0].number, sheet.stamp_field, text, _STAMP_REMEDY)
        if not is_stamp:
            return [math.nan] * len(sheet.numeric_fields)
    try:
        return parse_numbers([fields[k] for k in sheet.numeric_fields])
    except ValueError:
        raise _bad_value_error(sheet, row) from None


def _convert_stamps(sheet: TextLayout, texts: Sequence[str], numbers: Array | None) -> Stamps:
    """Convert dates and integers to int64 stamps; return other numbers unchanged."""
    if numbers is None:
        return _dates_of([text if is_date(text) else "1970-01-01T00:00" for text in texts])
    try:
        return np.array([0 if is_missing(text) else int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):  # also more digits than int64, or than Python, takes
        return numbers


def _dates_of(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.array([microseconds_since_1970(text) for text in texts], dtype=np.int64)


def _bad_value_error(sheet: TextLayout, row: Row) -> LogError:
    line, fields = row
    k = next(k for k in sheet.numeric_fields if fields[k].strip() and not is_number(fields[k]))
    text = fields[k].strip()[:80]
    if _DECIMAL_COMMA.fullmatch(text):
        remedy = '; it has a decimal comma: set decimal = "," in [log]'
    elif k == sheet.stamp_field and _DATE_PATTERN.fullmatch(text):
        remedy = _STAMP_REMEDY
    else:
        remedy = _header_hint(sheet, line)
    return _not_a_number_error(sheet, line.number, k, text, remedy)


def _not_a_number_error(
    sheet: TextLayout, line: int, field: int, text: str, remedy: str
) -> LogError:
    column = sheet.column(field)
    return LogError(
        f"{sheet.path}: line {line}, column {column!r}: expected a number, got {text!r}"
        f"{remedy or _FIX_OR_DROP_REMEDY}",
        path=sheet.path,
        column=column,
        row=line,
    )


def _field_count_error(sheet: TextLayout, row: Row) -> LogError:
    line, fields = row
    comment = sheet.splitter.comment
    if comment and comment.encode() in line.content:
        remedy = (
            f"; a comment begins at {comment!r}: "
            "set comment in [log] to another mark if it does not"
        )
    else:
        remedy = _header_hint(sheet, line) or suggest_separator(line.content, sheet.splitter)
    return LogError(
        f"{sheet.path}: line {line.number}: expected {len(sheet.names)} fields as in the other "
        f"rows, got {len(fields)}{remedy or _FIX_OR_DROP_REMEDY}",
        path=sheet.path,
        row=line.number,
    )


def _header_hint(sheet: TextLayout, line: TextLine) -> str:
    """Hint that the first row may be a header, for columns given by number."""
    number = line.number
    if sheet.uses_names or number != sheet.first_row[0].number:
        return ""
    return f"; if line {number} is of the header, set header_lines = {number} in [log]"

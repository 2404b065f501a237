"""The fast way through a regular text file: Arrow's CSV parser, exact to the last bit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from identify.logs.readers.arrow_columns import as_numbers, as_stamps
from identify.logs.readers.text.rows import Rows
from identify.logs.readers.text.sheet import Sheet
from identify.logs.table import Flaw

_NULLS = ["", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "null", "NULL", "None"]


def parse_regular(sheet: Sheet, start: int, stop: int) -> Rows | None:
    """Reads the rows between two offsets, or None where they are not perfectly regular.

    Regular means: a row on every line, as many fields in each, only numbers (or nothing, or NaN)
    in the fields asked for, no comment, no blank line. What this reads, `parse_rows` reads alike.

    Args:
        sheet: the file.
        start: the offset of a line.
        stop: the offset past the end of a line.
    """
    count = sheet.text.count(b"\n", start, stop)
    comment = sheet.splitter.comment.encode()
    if not count or (comment and sheet.text.find(comment, start, stop) >= 0):
        return None
    content = memoryview(sheet.text)[start:stop]
    if sheet.splitter.whitespace:
        content = _single_spaced(bytes(content))
    for stamps in _stamp_types(sheet):
        table = _parse(sheet, content, stamps)
        if table is not None and table.num_rows == count:
            return _rows(sheet, table, count)
    return None


def _single_spaced(content: bytes) -> bytes:
    """Every run of blanks and tabs as one blank, none at the ends of lines."""
    content = content.replace(b"\t", b" ")
    while b"  " in content:
        content = content.replace(b"  ", b" ")
    content = content.replace(b" \r\n", b"\r\n").replace(b" \n", b"\n")
    return content.replace(b"\n ", b"\n").lstrip(b" ")


def _stamp_types(sheet: Sheet) -> Iterable[pa.DataType]:
    """Whole numbers are tried first where the first time stamps are."""
    return (pa.int64(), pa.float64()) if sheet.whole_stamps else (pa.float64(),)


def _parse(sheet: Sheet, content: bytes | memoryview, stamps: pa.DataType) -> pa.Table | None:
    types = {str(number): pa.float64() for number in sheet.fields}
    if sheet.stamps is not None and sheet.stamps not in sheet.numbers.values():
        types[str(sheet.stamps)] = stamps
    whitespace = sheet.splitter.whitespace
    try:
        return pacsv.read_csv(
            pa.BufferReader(pa.py_buffer(content)),
            read_options=pacsv.ReadOptions(
                column_names=[str(number) for number in range(sheet.separated)]
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=" " if whitespace else sheet.splitter.separator,
                quote_char=False if whitespace else '"',
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=_NULLS
            ),
        )
    except pa.ArrowException:
        return None


def _rows(sheet: Sheet, table: pa.Table, count: int) -> Rows:
    flaws = np.zeros(count, dtype=np.uint8)
    fields = {number: as_numbers(table[str(number)]) for number in sheet.fields}
    stamps = None
    if sheet.stamps is not None:
        stamps, missing = as_stamps(table[str(sheet.stamps)])
        flaws[missing] = Flaw.NOT_FINITE
    first = sheet.header.lines + 1
    return Rows(fields, stamps, flaws, range(first, first + count))

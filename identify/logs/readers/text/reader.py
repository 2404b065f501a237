"""Delimited text: CSV and its kin.

A regular file, which is nearly every one, is parsed by Arrow (`fast`). Where anything is out
of order, the rows are gone through one by one (`rows`), which finds the line and the column,
or which rows to drop. Both read the same numbers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from identify.logs.readers.text.content import read_text_content
from identify.logs.readers.text.fast import parse_regular
from identify.logs.readers.text.rows import Rows, parse_rows
from identify.logs.readers.text.sheet import Sheet, survey
from identify.logs.table import Request, Table, flag_not_finite


def read_text(path: Path, request: Request) -> Table:
    """Reads the columns asked for.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    sheet = survey(path, read_text_content(path), request)
    rows = _parse(sheet)
    columns = {column: rows.fields[number] for column, number in sheet.numbers.items()}
    flag_not_finite(rows.flaws, columns, rows.stamps)
    return Table(path, sheet.names, columns, rows.flaws, rows.stamps, None, rows.lines)


def _parse(sheet: Sheet) -> Rows:
    """All rows but the last the fast way if they allow it; the last may be cut short."""
    start, line = sheet.header.end, sheet.header.lines + 1
    end = len(sheet.text.rstrip(b"\r\n"))
    last = max(sheet.text.rfind(b"\n", start, end), sheet.text.rfind(b"\r", start, end)) + 1
    head = parse_regular(sheet, start, last) if last > start else None
    if head is None:
        return parse_rows(sheet, start, line)
    return _join(head, parse_rows(sheet, last, line + len(head)))


def _join(head: Rows, tail: Rows) -> Rows:
    stamps = None
    if head.stamps is not None and tail.stamps is not None:
        stamps = np.concatenate((head.stamps, tail.stamps))
    return Rows(
        {k: np.concatenate((column, tail.fields[k])) for k, column in head.fields.items()},
        stamps,
        np.concatenate((head.flaws, tail.flaws)),
        range(head.lines[0], head.lines[0] + len(head) + len(tail)),
    )

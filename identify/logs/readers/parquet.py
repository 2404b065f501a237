"""Parquet files: only the wanted columns are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from identify.errors import LogError
from identify.files import unreadable
from identify.logs.readers.arrow_columns import as_numbers, as_stamps, is_number
from identify.logs.schema_fields import Column
from identify.logs.table import Flaw, Request, Table, flag_not_finite, locate, locate_stamps
from identify.logs.units import TICKS_PER_SECOND

_UNREADABLE = (pa.ArrowException, OSError, MemoryError, OverflowError, ValueError)


def read_parquet(path: Path, request: Request) -> Table:
    """Reads the columns asked for; time stamps may be a timestamp column, whose unit then counts.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        schema = file.schema_arrow
    except _UNREADABLE as error:
        raise unreadable(path, error, "Parquet file") from error
    names = tuple(schema.names)
    wanted = {column: _field(path, schema, column) for column in request.columns}
    stamps_of = _stamps_field(path, schema, request)
    for column, field in wanted.items():
        if not is_number(field.type):
            raise _not_numbers(path, column, field.type)
    used = {field.name for field in wanted.values()} | ({stamps_of.name} if stamps_of else set())
    try:
        table = _read(file, sorted(used), request.rows)
        columns = {column: as_numbers(table[field.name]) for column, field in wanted.items()}
        stamps, missing = as_stamps(table[stamps_of.name]) if stamps_of else (None, None)
    except (*_UNREADABLE, KeyError) as error:
        raise unreadable(path, error, "Parquet file") from error
    flaws = np.zeros(table.num_rows, dtype=np.uint8)
    if missing is not None:
        flaws[missing] = Flaw.NOT_FINITE
    flag_not_finite(flaws, columns, stamps)
    ticks = _ticks(stamps_of.type) if stamps_of else None
    return Table(path, names, columns, flaws, stamps, ticks)


def _read(file: pq.ParquetFile, names: list[str], rows: tuple[int, int] | None) -> pa.Table:
    """Columns, of all rows or of those asked for: only the row groups that hold them are read."""
    if rows is None:
        return file.read(columns=names)
    start, stop = rows
    sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    edges = np.cumsum([0, *sizes])
    groups = np.flatnonzero((edges[:-1] < stop) & (edges[1:] > start)).tolist()
    table = file.read_row_groups(groups, columns=names)
    return table.slice(start - int(edges[groups[0]]) if groups else 0, stop - start)


def _field(path: Path, schema: pa.Schema, column: Column) -> pa.Field:
    name = schema.names[locate(path, schema.names, column)]
    locate(path, schema.names, name)  # a column given by number is read by its name
    return schema.field(name)


def _stamps_field(path: Path, schema: pa.Schema, request: Request) -> pa.Field | None:
    if request.stamps is None or locate_stamps(path, schema.names, request.stamps) is None:
        return None
    field = _field(path, schema, request.stamps)
    if not (is_number(field.type) or _ticks(field.type)):
        raise _not_numbers(path, request.stamps, field.type)
    return field


def _ticks(kind: pa.DataType) -> int | None:
    if isinstance(kind, pa.TimestampType | pa.DurationType):
        return TICKS_PER_SECOND[kind.unit]
    return None


def _not_numbers(path: Path, column: Column, kind: pa.DataType) -> LogError:
    return LogError(
        f"{path}: column {column!r}: expected numbers, got {kind}; "
        "write the column as numbers, or name another",
        path=path,
        column=column,
    )

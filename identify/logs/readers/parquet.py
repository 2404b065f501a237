"""Parquet files: only the wanted columns are read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from identify.errors import LogError
from identify.files import unreadable
from identify.logs.readers.arrow_columns import as_numbers, as_stamps
from identify.logs.table import Flaw, Source, Table, locate, locate_stamps
from identify.logs.units import TICKS_PER_SECOND

_UNREADABLE = (pa.ArrowException, OSError, MemoryError, OverflowError, ValueError)


def read_parquet(source: Source) -> Table:
    """Reads the columns asked for; time stamps may be a timestamp column, whose unit then counts.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    path = source.path
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        schema = file.schema_arrow
    except _UNREADABLE as error:
        raise unreadable(path, error, "Parquet file") from error
    names, asked = tuple(schema.names), list(source.columns)
    time = source.layout.time
    if time is not None and locate_stamps(path, names, time) is not None:
        asked.append(time)
    fields = {column: schema.field(locate(path, names, column)) for column in asked}
    stamps_of = None if time is None else fields.get(time)
    for column, field in fields.items():
        locate(path, names, field.name)  # a column given by number is read by its name
        if not (_is_number(field.type) or (column not in source.columns and _ticks(field.type))):
            raise LogError(
                f"{path}: column {column!r}: expected numbers, got {field.type}; "
                "write the column as numbers, or name another",
                path=path,
                column=column,
            )
    try:
        table = _read(file, sorted({field.name for field in fields.values()}), source.rows)
        columns = {column: as_numbers(table[fields[column].name]) for column in source.columns}
        stamps, missing = as_stamps(table[stamps_of.name]) if stamps_of else (None, None)
    except (*_UNREADABLE, KeyError) as error:
        raise unreadable(path, error, "Parquet file") from error
    flaws = np.zeros(table.num_rows, dtype=np.uint8)
    if missing is not None:
        flaws[missing] = Flaw.NOT_FINITE
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


def _is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds plain numbers (or nothing at all)."""
    types = pa.types
    return (
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def _ticks(kind: pa.DataType) -> int | None:
    if isinstance(kind, pa.TimestampType | pa.DurationType):
        return TICKS_PER_SECOND[kind.unit]
    return None

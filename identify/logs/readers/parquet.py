"""Reader of Parquet files: only requested columns, in row ranges for long files.

Columns of lists and records are left to `nested_columns`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from identify.errors import LogError
from identify.files import check_expansion, read_error, wrap_decode_errors
from identify.logs.readers.arrow_columns import as_numbers, as_stamps
from identify.logs.readers.nested_columns import is_nested, nested_columns, read_nested
from identify.logs.schema_fields import Column
from identify.logs.table import (
    ColumnSource,
    RowFault,
    RowsReader,
    Table,
    TableInfo,
    find_column,
    find_stamps_column,
    match_names,
)
from identify.logs.units import TICKS_PER_SECOND

_PARQUET_READ_ERRORS = (pa.ArrowException, OSError, MemoryError, OverflowError, ValueError)

_BATCH_ROWS = 2**16
"""Number of rows decoded at a time if only some are requested."""

_BUFFER_BYTES = 2**16
"""Read buffer per column [bytes]."""

_FLOAT64_BYTES = 8
"""Size of a float64 [bytes]."""

_CONVERT_REMEDY = "write it without compression, dictionaries and large row groups"


def read_parquet(source: ColumnSource) -> Table:
    """Read the requested columns; a timestamp column has its own unit."""
    file = _open(source.path)
    if _needs_nested(source, file):
        with wrap_decode_errors(source.path, "Parquet file"):
            return read_nested(source, [file])
    columns = _ParquetColumns.of(source, file)
    columns.require_bounded(whole=True)
    try:
        return columns.table(columns.file.read(columns=columns.names))
    except (*_PARQUET_READ_ERRORS, KeyError) as error:
        raise read_error(source.path, error, "Parquet file") from error


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the columns of a Parquet file."""
    file = _open(path)
    if not is_nested(file.schema_arrow):
        return (TableInfo(tuple(file.schema_arrow.names)),)
    with wrap_decode_errors(path, "Parquet file"):
        return (TableInfo(tuple(ref.name for ref in nested_columns([file]))),)


def count_rows(source: ColumnSource) -> int:
    """Count the rows of a Parquet file; zero if requested columns are parts of lists or records."""
    file = _open(source.path)
    return 0 if _needs_nested(source, file) else file.metadata.num_rows


def _needs_nested(source: ColumnSource, file: pq.ParquetFile) -> bool:
    schema, asked = file.schema_arrow, (*source.columns, source.layout.time)
    names = set(schema.names)
    parts = [name for name in asked if isinstance(name, str) and name not in names]
    return is_nested(schema) and any(not match_names(schema.names, name) for name in parts)


def parquet_row_reader(source: ColumnSource) -> RowsReader:
    """Return a reader of row ranges of a Parquet file; ranges in order are decoded once."""
    pa.default_memory_pool().release_unused()  # of earlier readers
    columns = _ParquetColumns.of(
        source, _open(source.path, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    )
    columns.require_bounded(whole=False)
    stream = _BatchStream(columns)

    def read(start: int, stop: int) -> Table:
        try:
            return stream.columns.table(stream.rows(start, stop), start)
        except (*_PARQUET_READ_ERRORS, KeyError) as error:
            raise read_error(source.path, error, "Parquet file") from error

    return read


class _BatchStream:
    """Row batches of a Parquet file, decoded once for row ranges that are read in order."""

    def __init__(self, columns: _ParquetColumns) -> None:
        self.columns = columns
        meta = columns.file.metadata
        sizes = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
        self._edges = np.cumsum([0, *sizes])
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._held: list[pa.RecordBatch] = []
        self._first = self._end = 0

    def rows(self, start: int, stop: int) -> pa.Table:
        group = int(np.searchsorted(self._edges, start, side="right")) - 1
        if start < self._first or self._edges[group] > self._end or not self._held:
            self._batches = _batches_from(self.columns, range(group, len(self._edges) - 1))
            self._held, self._first = [], int(self._edges[group])
            self._end = self._first
        while self._end < stop and (batch := next(self._batches, None)) is not None:
            self._held.append(batch)
            self._end += batch.num_rows
            while self._held and self._first + self._held[0].num_rows <= start:
                self._first += self._held.pop(0).num_rows
        table = pa.Table.from_batches(self._held)
        return table.slice(start - self._first, stop - start)


def _batches_from(columns: _ParquetColumns, groups: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Yield batches of row groups, each row group separately to free its memory."""
    for number in groups:
        yield from columns.file.iter_batches(
            _BATCH_ROWS, [number], columns.names, use_threads=False
        )


def _open(path: Path, *, buffer_size: int = 0, pre_buffer: bool = True) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(
            path, page_checksum_verification=True, buffer_size=buffer_size, pre_buffer=pre_buffer
        )
        _ = file.schema_arrow
    except _PARQUET_READ_ERRORS as error:
        raise read_error(path, error, "Parquet file") from error
    return file


@dataclass(frozen=True, slots=True)
class _ParquetColumns:
    """Requested columns of a Parquet file.

    Attributes:
        source: file and requested columns.
        file: the opened file.
        fields: field of each column, and of the time stamps if the file has them.
    """

    source: ColumnSource
    file: pq.ParquetFile
    fields: Mapping[Column, pa.Field]

    @classmethod
    def of(cls, source: ColumnSource, file: pq.ParquetFile) -> _ParquetColumns:
        """Find the requested columns in a file."""
        path = source.path
        schema = file.schema_arrow
        time = source.layout.time
        names, asked = tuple(schema.names), list(source.columns)
        if time is not None and find_stamps_column(path, names, time) is not None:
            asked.append(time)
        fields = {column: schema.field(find_column(path, names, column)) for column in asked}
        for column, field in fields.items():
            find_column(path, names, field.name)  # a column given by number is read by its name
            stamps = column not in source.columns and _ticks(field.type)
            if not (_is_number(field.type) or stamps):
                raise LogError(
                    f"{path}: column {column!r}: expected numbers, got {field.type}; "
                    "write the column as numbers, or name another",
                    path=path,
                    column=column,
                )
        return cls(source, file, fields)

    @property
    def names(self) -> list[str]:
        """Names of the requested columns in the file, each once."""
        return sorted({field.name for field in self.fields.values()})

    def require_bounded(self, *, whole: bool) -> None:
        """Raise `LogError` if columns need far more memory than the file's size.

        Either all rows are held (`whole`), or some, decoded out of pages that are at the most as
        large as their row group.
        """
        path, meta = self.source.path, self.file.metadata
        try:
            groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
            places = [
                place
                for place in range(meta.num_columns)
                if groups and groups[0].column(place).path_in_schema in self.names
            ]
            sizes = [
                sum(group.column(place).total_uncompressed_size for place in places)
                for group in groups
            ]
        except _PARQUET_READ_ERRORS as error:
            raise read_error(path, error, "Parquet file") from error
        largest = max(sizes, default=0)
        if whole:
            largest = max(sum(sizes), meta.num_rows * len(self.names) * _FLOAT64_BYTES)
        check_expansion(path, path.stat().st_size, largest, _CONVERT_REMEDY)

    def table(self, read: pa.Table, first: int = 0) -> Table:
        """Return the decoded rows as a table that starts at a row number."""
        source, time = self.source, self.source.layout.time
        stamps_of = None if time is None else self.fields.get(time)
        columns = {name: as_numbers(read[self.fields[name].name]) for name in source.columns}
        stamps, missing = as_stamps(read[stamps_of.name]) if stamps_of else (None, None)
        faults = np.zeros(read.num_rows, dtype=np.uint8)
        if missing is not None:
            faults[missing] = RowFault.NOT_FINITE
        ticks = _ticks(stamps_of.type) if stamps_of else None
        names = tuple(self.file.schema_arrow.names)
        return Table(source.path, names, columns, faults, stamps, ticks, first_row=first)


def _is_number(arrow_type: pa.DataType) -> bool:
    """Return whether an Arrow type is numeric (or null)."""
    types = pa.types
    return (
        types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
        or types.is_decimal(arrow_type)
        or types.is_null(arrow_type)
    )


def _ticks(arrow_type: pa.DataType) -> int | None:
    if isinstance(arrow_type, pa.TimestampType | pa.DurationType):
        return TICKS_PER_SECOND[arrow_type.unit]
    return None

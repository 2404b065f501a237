"""Parquet files: only the wanted columns are read, and of a long file some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from identify.errors import LogError
from identify.files import check_expansion, read_error
from identify.logs.readers.arrow_columns import as_numbers, as_stamps
from identify.logs.schema_fields import Column
from identify.logs.table import Contents, RowFault, RowsReader, Source, Table, locate, locate_stamps
from identify.logs.units import TICKS_PER_SECOND

_UNREADABLE = (pa.ArrowException, OSError, MemoryError, OverflowError, ValueError)

_BATCH = 2**16
"""Rows decoded at a time where not all are wanted …"""

_BUFFER = 2**20
"""… from so many bytes of each column."""

_BYTES_OF_NUMBER = 8
"""Bytes of a float64, which every number becomes."""

_REMEDY = "write it without compression, dictionaries and large row groups"


def read_parquet(source: Source) -> Table:
    """Reads the columns asked for; a timestamp column of time stamps brings its own unit."""
    columns = _Columns.of(source, _open(source.path))
    columns.require_bounded(whole=True)
    try:
        return columns.table(columns.file.read(columns=columns.names))
    except (*_UNREADABLE, KeyError) as error:
        raise read_error(source.path, error, "Parquet file") from error


def contents(path: Path) -> tuple[Contents, ...]:
    """Its columns."""
    return (Contents(tuple(_open(path).schema_arrow.names)),)


def count_rows(path: Path) -> int:
    """How many rows a file has."""
    return _open(path).metadata.num_rows


def parquet_rows(source: Source) -> RowsReader:
    """What reads some rows of a file; ranges in order are decoded once."""
    columns = _Columns.of(source, _open(source.path, buffer_size=_BUFFER, pre_buffer=False))
    columns.require_bounded(whole=False)
    stream = _Stream(columns)

    def read(start: int, stop: int) -> Table:
        try:
            return stream.columns.table(stream.rows(start, stop), start)
        except (*_UNREADABLE, KeyError) as error:
            raise read_error(source.path, error, "Parquet file") from error

    return read


class _Stream:
    """Batches of rows, of which those are held that the next range may begin with."""

    def __init__(self, columns: _Columns) -> None:
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
            self._batches = self._from(group)
            self._held, self._first = [], int(self._edges[group])
            self._end = self._first
        while self._end < stop and (batch := next(self._batches, None)) is not None:
            self._held.append(batch)
            self._end += batch.num_rows
            while self._held and self._first + self._held[0].num_rows <= start:
                self._first += self._held.pop(0).num_rows
        table = pa.Table.from_batches(self._held)
        return table.slice(start - self._first, stop - start)

    def _from(self, group: int) -> Iterator[pa.RecordBatch]:
        """Batches from a row group on; each group by itself, or its bytes would stay."""
        for number in range(group, len(self._edges) - 1):
            yield from self.columns.file.iter_batches(
                _BATCH, [number], self.columns.names, use_threads=False
            )


def _open(path: Path, *, buffer_size: int = 0, pre_buffer: bool = True) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(
            path, page_checksum_verification=True, buffer_size=buffer_size, pre_buffer=pre_buffer
        )
        _ = file.schema_arrow
    except _UNREADABLE as error:
        raise read_error(path, error, "Parquet file") from error
    return file


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns asked for, found in a file.

    Attributes:
        source: what is asked for.
        file: the file.
        fields: of each column, and of the time stamps where the file has them.
    """

    source: Source
    file: pq.ParquetFile
    fields: Mapping[Column, pa.Field]

    @classmethod
    def of(cls, source: Source, file: pq.ParquetFile) -> _Columns:
        """Find them."""
        path, schema, time = source.path, file.schema_arrow, source.layout.time
        names, asked = tuple(schema.names), list(source.columns)
        if time is not None and locate_stamps(path, names, time) is not None:
            asked.append(time)
        fields = {column: schema.field(locate(path, names, column)) for column in asked}
        for column, field in fields.items():
            locate(path, names, field.name)  # a column given by number is read by its name
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
        """What they are called in the file, each once."""
        return sorted({field.name for field in self.fields.values()})

    def require_bounded(self, *, whole: bool) -> None:
        """Raise `LogError` where columns take more memory than a log of the file's size does.

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
        except _UNREADABLE as error:
            raise read_error(path, error, "Parquet file") from error
        largest = max(sizes, default=0)
        if whole:
            largest = max(sum(sizes), meta.num_rows * len(self.names) * _BYTES_OF_NUMBER)
        check_expansion(path, path.stat().st_size, largest, _REMEDY)

    def table(self, read: pa.Table, first: int = 0) -> Table:
        """What was read of them, from a row on."""
        source, time = self.source, self.source.layout.time
        stamps_of = None if time is None else self.fields.get(time)
        columns = {name: as_numbers(read[self.fields[name].name]) for name in source.columns}
        stamps, missing = as_stamps(read[stamps_of.name]) if stamps_of else (None, None)
        faults = np.zeros(read.num_rows, dtype=np.uint8)
        if missing is not None:
            faults[missing] = RowFault.NOT_FINITE
        ticks = _ticks(stamps_of.type) if stamps_of else None
        names = tuple(self.file.schema_arrow.names)
        return Table(source.path, names, columns, faults, stamps, ticks, first=first)


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

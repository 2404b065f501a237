"""Columns of Parquet files whose cells are lists or records: arrays with named elements.

A column of lists is an array, with columns `a[0]`, `a[1]`, or `a.x` where the file names its
elements; a record has the columns `a.x`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from identify.errors import LogError
from identify.files import check_expansion
from identify.logs.readers.array_columns import DESCRIPTIONS, ColumnRef, column_refs, load_table
from identify.logs.table import ColumnSource, Table


def is_nested(schema: pa.Schema) -> bool:
    """Return whether a file has columns of lists or records."""
    return any(pa.types.is_nested(field.type) for field in schema)


def nested_columns(
    files: Sequence[pq.ParquetFile], descriptions: Mapping[str, object] | None = None
) -> list[ColumnRef[str]]:
    """Return the columns of files with the same schema, their rows one after the other.

    `descriptions`: names of the elements of arrays, besides those in the metadata of the fields.
    """
    schema = files[0].schema_arrow
    names = {field.name: _description(field) for field in schema} | dict(descriptions or {})
    rows = sum(file.metadata.num_rows for file in files)
    tops = [field.name for field in schema if not pa.types.is_binary(field.type)]
    batches = (batch for file in files for batch in file.iter_batches(1, columns=tops))
    if (batch := next(batches, None)) is None:
        return []
    first = _flat(pa.Table.from_batches([batch]))
    arrays = []
    for field in first.schema:
        if pa.types.is_nested(field.type):
            width = len(first[field.name][0].as_py() or ())
            dtype = _dtype(field.type.value_type)
            arrays.append((field.name, field.name, (rows, width), dtype))
        else:
            arrays.append((field.name, field.name, (rows,), _dtype(field.type)))
    return column_refs(arrays, names)


def read_nested(
    source: ColumnSource,
    files: Sequence[pq.ParquetFile],
    descriptions: Mapping[str, object] | None = None,
) -> Table:
    """Read the requested columns of all files, one after the other."""
    refs = nested_columns(files, descriptions)
    names = files[0].schema_arrow.names
    groups = [file.metadata.row_group(k) for file in files for k in range(file.num_row_groups)]
    packed = sum(g.column(k).total_compressed_size for g in groups for k in range(g.num_columns))
    expanded = max(
        sum(g.total_byte_size for g in groups), 8 * len(refs) * max(r.rows for r in refs)
    )
    check_expansion(source.path, packed, expanded, "write it without compression")

    def load(key: str) -> NDArray[Any]:
        top = next(name for name in names if key == name or key.startswith(f"{name}."))
        parts = [_flat(file.read(columns=[top]))[key].combine_chunks() for file in files]
        column = pa.chunked_array(parts).combine_chunks()
        rows = len(column)
        if not pa.types.is_nested(column.type):
            return column.to_numpy(zero_copy_only=False)
        values = column.flatten().to_numpy(zero_copy_only=False)
        width = next(len(cell) for cell in column[:1].to_pylist())
        if column.null_count or len(values) != rows * width:
            raise LogError(
                f"{source.path}: column {key!r}: expected lists of {width} numbers in all rows, as "
                "in the first; write lists of the same length",
                path=source.path,
                column=key,
            )
        return values.reshape(rows, width)

    return load_table(source, refs, load)


def _description(field: pa.Field) -> object:
    """Return the names of a field's elements in its metadata, if it has them."""
    metadata = {key.decode(): value for key, value in (field.metadata or {}).items()}
    return next((metadata[key] for key in DESCRIPTIONS if key in metadata), None)


def _flat(table: pa.Table) -> pa.Table:
    """Return a table with the fields of records as columns `record.field`."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _dtype(arrow_type: pa.DataType) -> np.dtype[Any]:
    """Return NumPy's type; text for what is no number."""
    kind = np.dtype(arrow_type.to_pandas_dtype())
    return np.dtype("U") if kind.hasobject else kind

"""Rows of results: columns, rows of failed trials, and export as Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from identify.files import write_bytes

if TYPE_CHECKING:
    import pyarrow as pa

Row: TypeAlias = dict[str, str | int | float | bool | None]
"""A row of the results by column; None for an empty cell."""

RESULTS_FILE = "results.parquet"
"""File name of exported results."""

COLUMN_TYPES: Mapping[str, str] = {
    "key": "string",
    "code": "string",
    "study": "string",
    "current": "bool",
    "log": "string",
    "log_data": "string",
    "perturbation": "string",
    "seed": "int64",
    "noise_seed": "string",
    "estimator": "string",
    "estimator_kind": "string",
    "solver": "string",
    "status": "string",
    "reasons": "string",
    "error_type": "string",
    "error": "string",
    "warnings": "string",
    "seconds": "double",
    "prepare_seconds": "double",
    "finished": "string",
}
"""Data type of each column that every results file has."""

SORT_COLUMNS = ("code", "log", "perturbation", "estimator", "seed", "key")
"""Columns by which rows are sorted."""


def to_arrow_table(rows: Iterable[Row]) -> pa.Table:
    """Convert rows to a sorted Arrow table.

    A column of options with texts as well as numbers becomes a column of texts.
    """
    import pyarrow as pa

    rows = list(rows)
    names = [
        *COLUMN_TYPES,
        *sorted({name for row in rows for name in row}.difference(COLUMN_TYPES)),
    ]
    columns = {name: [row.get(name) for row in rows] for name in names}
    table = pa.table({name: _typed_array(columns[name], COLUMN_TYPES.get(name)) for name in names})
    return table.sort_by([(name, "ascending") for name in SORT_COLUMNS])


def write_table(folder: Path, table: pa.Table) -> None:
    """Write `results.parquet` atomically, with checksums of its pages."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, write_page_checksum=True)
    write_bytes(folder / RESULTS_FILE, stream.getvalue().to_pybytes())


def _typed_array(values: list[str | int | float | bool | None], kind: str | None) -> pa.Array:
    """Return a column as an array of the named type, by default of the type of its values."""
    import pyarrow as pa

    if kind is not None:
        return pa.array(values, type=pa.type_for_alias(kind))
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], type=pa.float64())
    if len(kinds) > 1:
        values = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pa.array(values)


def failure_columns(error_type: str, message: str) -> Row:
    """Return the result columns of a failed trial: error type and message."""
    return {
        "status": "failed",
        "error_type": error_type,
        "error": message,
        "finished": current_time_text(),
    }


def current_time_text() -> str:
    """Return the current time in the format of the column `finished`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")

"""A row of results: its columns, a row of a failure, and rows as a table in Parquet."""

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
"""Columns of the results and their values; None where there is nothing."""

RESULTS = "results.parquet"

COLUMNS: Mapping[str, str] = {
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
    "error_type": "string",
    "error": "string",
    "warnings": "string",
    "seconds": "double",
    "prepare_seconds": "double",
    "finished": "string",
}
"""Columns that every results file has, and their types."""

ORDER = ("code", "log", "perturbation", "estimator", "seed", "key")
"""What rows are sorted by."""


def table_of(rows: Iterable[Row]) -> pa.Table:
    """Rows as a sorted Arrow table.

    A column of options that holds texts as well as numbers becomes one of texts.

    Args:
        rows: each key once.
    """
    import pyarrow as pa

    rows = list(rows)
    names = [*COLUMNS, *sorted({name for row in rows for name in row}.difference(COLUMNS))]
    columns = {name: [row.get(name) for row in rows] for name in names}
    table = pa.table({name: _array(columns[name], COLUMNS.get(name)) for name in names})
    return table.sort_by([(name, "ascending") for name in ORDER])


def write_table(folder: Path, table: pa.Table) -> None:
    """Write `results.parquet`, whole or not at all; its pages carry checksums."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, write_page_checksum=True)
    write_bytes(folder / RESULTS, stream.getvalue().to_pybytes())


def _array(values: list[str | int | float | bool | None], kind: str | None) -> pa.Array:
    """A column of the type of that name, or of the one that fits."""
    import pyarrow as pa

    if kind is not None:
        return pa.array(values, type=pa.type_for_alias(kind))
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], type=pa.float64())
    if len(kinds) > 1:
        values = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pa.array(values)


def failure(kind: str, message: str) -> Row:
    """The part of a row that says why there is no estimate."""
    return {"status": "failed", "error_type": kind, "error": message, "finished": now()}


def now() -> str:
    """The time, as the column `finished` has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")

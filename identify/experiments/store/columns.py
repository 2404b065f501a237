"""Rows as columns of Parquet: fixed ones first, then what settings and metrics add."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from identify.experiments.work import Row

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1
"""Of the store: raised when a column changes its meaning or the files their layout."""

COLUMNS: Mapping[str, str] = {
    "key": "string",
    "code": "string",
    "study": "string",
    "log": "string",
    "log_data": "string",
    "corruption": "string",
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

VOLATILE = ("seconds", "prepare_seconds", "finished")
"""Columns that differ from run to run; all others come out the same to the bit."""

ORDER = ("code", "log", "corruption", "estimator", "seed", "key")
"""What rows are sorted by."""


def to_table(rows: Iterable[Row]) -> pa.Table:
    """Rows as an Arrow table; of two with one key the last stays.

    A column of options that holds texts as well as numbers becomes one of texts.
    """
    import pyarrow as pa

    last = list({row["key"]: row for row in rows}.values())
    extra = dict.fromkeys(name for row in last for name in row if name not in COLUMNS)
    arrays: dict[str, pa.Array] = {}
    for name, kind in COLUMNS.items():
        arrays[name] = pa.array([row.get(name) for row in last], type=pa.type_for_alias(kind))
    for name in extra:
        arrays[name] = _free_column([row.get(name) for row in last])
    return pa.table(arrays)


def join(older: pa.Table | None, newer: pa.Table) -> pa.Table:
    """Both tables' rows, sorted; where they share a key, the newer row."""
    import pyarrow as pa

    tables = [newer]
    if older is not None and len(older):
        replaced = set(newer["key"].to_pylist())
        kept = [key not in replaced for key in older["key"].to_pylist()]
        tables.insert(0, older.filter(pa.array(kept)))
    alike = _same_columns(tables)
    whole = pa.concat_tables(alike)
    return whole.sort_by([(name, "ascending") for name in ORDER]).combine_chunks()


def _free_column(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, type=pa.bool_())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], type=pa.float64())
    return pa.array([_text(value) for value in values], type=pa.string())


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _same_columns(tables: list[pa.Table]) -> list[pa.Table]:
    """The tables with all columns of each, of one type."""
    import pyarrow as pa

    fields: dict[str, set[pa.DataType]] = {}
    for table in tables:
        for field in table.schema:
            fields.setdefault(field.name, set()).add(field.type)
    types = {name: _common(kinds) for name, kinds in fields.items()}
    names = [*COLUMNS, *sorted(name for name in types if name not in COLUMNS)]
    return [pa.table({name: _cast(table, name, types[name]) for name in names}) for table in tables]


def _common(kinds: set[pa.DataType]) -> pa.DataType:
    import pyarrow as pa

    told = {kind for kind in kinds if not pa.types.is_null(kind)}
    if not told:
        return pa.float64()
    return next(iter(told)) if len(told) == 1 else pa.string()


def _cast(table: pa.Table, name: str, kind: pa.DataType) -> Any:
    import pyarrow as pa

    if name not in table.column_names:
        return pa.nulls(len(table), type=kind)
    column = table[name]
    if column.type == kind:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(table), type=kind)
    return pa.array([_text(value) for value in column.to_pylist()], type=kind)

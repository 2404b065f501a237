"""One reader a format. A new format is one file here and one line in `READERS`.

Each raises `MissingColumn` where a column that is asked for is not there, and `LogError` where the
file is not what the schema says; messages name file, row, column and remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

from identify.files import require_file
from identify.logs.readers.line_index import LineIndex
from identify.logs.table import RowsReader, Source, Table

Reader: TypeAlias = Callable[[Source], Table]

READERS: Mapping[str, str] = MappingProxyType(
    {".npz": "npz", ".parquet": "parquet", ".pq": "parquet"}
)
"""The module here of each suffix, which has `read_…`; any other file is delimited text. Arrays in
memory are read by `arrays`."""


def read_table(source: Source) -> Table:
    """The columns asked for, by the reader of the file's format, loaded when first used."""
    path = source.path
    if source.arrays is None:
        require_file(path)
        name = READERS.get(path.suffix.lower(), "text")
    else:
        name = "arrays"
    reader: Reader = getattr(import_module(f"{__name__}.{name}"), f"read_{name}")
    return reader(source)


def measure(source: Source, least: int) -> tuple[int, LineIndex | None] | None:
    """The number of rows of a file of at least so many, and its lines; None: it is read whole."""
    match READERS.get(source.path.suffix.lower(), "text"):
        case "parquet":
            from identify.logs.readers.parquet import count_rows

            rows, lines = count_rows(source.path), None
        case "text":
            from identify.logs.readers.text import index_text

            lines = index_text(source, least)
            rows = 0 if lines is None else lines.rows
        case _:
            return None
    return (rows, lines) if rows >= least else None


def rows_reader(source: Source, lines: LineIndex | None) -> RowsReader:
    """What reads some rows of a long file, of which `measure` says where the lines are."""
    if lines is None:
        from identify.logs.readers.parquet import parquet_rows

        return parquet_rows(source)
    from identify.logs.readers.text import text_rows

    return text_rows(source, lines)

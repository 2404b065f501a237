"""Readers of log formats; a new format is one file here and one line in `READERS`.

Each raises `MissingColumn` where a column that is asked for is not there, and `LogError` where the
file is not what the schema says; messages name file, row, column and remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from identify.errors import LogError
from identify.files import require_file
from identify.logs.table import ColumnSource, RowsReader, Table, TableInfo

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from identify.logs.readers.line_index import LineIndex

Reader: TypeAlias = Callable[[ColumnSource], Table]

RECEIVED, STAMP = "receive_time", "header.stamp"
"""Time columns of a bag: receive time, and the stamp of the message header."""

_FORMATS_OF_SEVERAL_TABLES = ("bag", "hdf5", "lerobot", "ulog")
"""Formats of files that contain several tables."""

PLUGIN_GROUP = "identify.readers"
"""Group of entry points of other packages that read formats of their own: the name is the suffix
without its dot, the object a function from a path to named arrays."""

READERS: Mapping[str, str] = MappingProxyType(
    {
        ".npy": "numpy_files",
        ".npz": "numpy_files",
        ".parquet": "parquet",
        ".pq": "parquet",
        ".h5": "hdf5",
        ".hdf5": "hdf5",
        ".mat": "mat",
        ".ulg": "ulog",
        ".bag": "bag",
        ".mcap": "bag",
        ".db3": "bag",
    }
)
"""Reader module for each suffix; a folder with the `metadata.yaml` of ROS 2 is a bag, one with
`meta/info.json` a data set of LeRobot, and a file of any other suffix that no entry point names
delimited text."""

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".log")


def format_of(path: Path) -> str:
    """Return the name of the reader of a file."""
    if path.is_dir():
        return "bag" if is_bag(path) else "lerobot"
    suffix = path.suffix.lower()
    if suffix in READERS or suffix in (*TEXT_SUFFIXES, ".gz"):
        return READERS.get(suffix, "text")
    return "plugin" if suffix.removeprefix(".") in plugins() else "text"


@cache
def plugins() -> Mapping[str, EntryPoint]:
    """Return the entry points of readers of other packages, by suffix without its dot."""
    from importlib.metadata import entry_points  # which few logs need

    return {point.name.lower(): point for point in entry_points(group=PLUGIN_GROUP)}


def is_bag(path: Path) -> bool:
    """Return whether a folder is a ROS 2 bag."""
    return path.is_dir() and (path / "metadata.yaml").is_file()


def is_log_folder(path: Path) -> bool:
    """Return whether a folder is one log: a ROS 2 bag or a data set of LeRobot."""
    return is_bag(path) or (path / "meta" / "info.json").is_file()


def log_files(path: Path) -> list[Path]:
    """Return the files of a log: the file itself, or all files of a folder that is one log."""
    if not is_log_folder(path):
        return [path]
    parts = (
        path.iterdir() if is_bag(path) else (*path.glob("meta/info.json"), *path.rglob("*.parquet"))
    )
    return sorted(part for part in parts if part.is_file())


def read_table(source: ColumnSource) -> Table:
    """Read the requested columns by the reader of the file's format, imported on first use.

    Raises `LogError`: the schema names a topic, and the format has none.
    """
    path = source.path
    if source.arrays is None:
        if not is_log_folder(path):
            require_file(path)
        name = format_of(path)
    else:
        name = "array_columns"
    if source.layout.topic is not None and name not in _FORMATS_OF_SEVERAL_TABLES:
        raise LogError(
            f"{path}: the schema names the topic {source.layout.topic!r}, but the file holds one "
            "table; leave topic out",
            path=path,
        )
    reader: Reader = getattr(import_module(f"{__name__}.{name}"), f"read_{name}")
    return reader(source)


def list_tables(path: Path) -> tuple[TableInfo, ...]:
    """Return the tables of a log of any format.

    Raises `MissingFile`: there is no such file; `LogError`: it cannot be read.
    """
    if not is_log_folder(path):
        require_file(path)
    contents: Callable[[Path], tuple[TableInfo, ...]] | None
    contents = getattr(import_module(f"{__name__}.{format_of(path)}"), "list_contents", None)
    if contents is None:
        raise LogError(
            f"{path}: columns of this file format cannot be listed; write the schema by hand"
        )
    return contents(path)


def count_rows_if_long(source: ColumnSource, min_rows: int) -> tuple[int, LineIndex | None] | None:
    """Count the rows of a long file, with its line index; None if the file is short."""
    match format_of(source.path):
        case "parquet":
            from identify.logs.readers import parquet

            rows, lines = parquet.count_rows(source), None
        case "hdf5":
            from identify.logs.readers import hdf5

            rows, lines = hdf5.count_rows(source), None
        case "text":
            from identify.logs.readers.text import index_text

            lines = index_text(source, min_rows)
            rows = 0 if lines is None else lines.rows
        case _:
            return None
    return (rows, lines) if rows >= min_rows else None


def chunk_reader(source: ColumnSource, lines: LineIndex | None) -> RowsReader:
    """Return a reader of row ranges of a long file; `lines` are those of a text file."""
    if lines is not None:
        from identify.logs.readers.text import text_row_reader

        return text_row_reader(source, lines)
    if format_of(source.path) == "hdf5":
        from identify.logs.readers.hdf5 import hdf5_row_reader

        return hdf5_row_reader(source)
    from identify.logs.readers.parquet import parquet_row_reader

    return parquet_row_reader(source)

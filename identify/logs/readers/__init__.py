"""One reader a format. A new format is one file here and one line in `READERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

from identify.errors import LogError
from identify.files import require_file
from identify.logs.table import Source, Table

Reader: TypeAlias = Callable[[Source], Table]

READERS: Mapping[str, str] = MappingProxyType(
    {".npz": "npz", ".parquet": "parquet", ".pq": "parquet"}
)
"""The module here of each suffix, which has `read_…`; any other file is delimited text. Arrays in
memory are read by `arrays`."""


def read_table(source: Source) -> Table:
    """The columns asked for, by the reader of the file's format, loaded when first used.

    Raises:
        MissingFile, MissingColumn, LogError: as the message says.
    """
    path = source.path
    if source.arrays is None:
        require_file(path)
        name = READERS.get(path.suffix.lower(), "text")
    else:
        name = "arrays"
    if source.rows is not None and name != "parquet":
        raise LogError(f"{path}: is not Parquet, of which alone some rows can be read", path=path)
    reader: Reader = getattr(import_module(f"{__name__}.{name}"), f"read_{name}")
    return reader(source)

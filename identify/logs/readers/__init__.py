"""One reader a format. A new format is one file here and one line in `READERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from identify.errors import LogError
from identify.files import require_file
from identify.logs.readers.npz import read_npz
from identify.logs.readers.parquet import read_parquet
from identify.logs.readers.text import read_text
from identify.logs.table import Request, Table

Reader: TypeAlias = Callable[[Path, Request], Table]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        ".npz": read_npz,
        ".parquet": read_parquet,
        ".pq": read_parquet,
    }
)
"""The reader of each suffix; any other file is read as delimited text."""


def read_table(path: Path, request: Request) -> Table:
    """The columns asked for of a file, by the reader of its format.

    Raises:
        MissingFile, MissingColumn, LogError: as the message says.
    """
    require_file(path)
    if request.rows is not None and READERS.get(path.suffix.lower()) is not read_parquet:
        raise LogError(f"{path}: is not Parquet, of which alone some rows can be read", path=path)
    return READERS.get(path.suffix.lower(), read_text)(path, request)

"""Formats that other packages read, by entry points of the group `identify.readers`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identify.files import read_error, wrap_decode_errors
from identify.logs.readers import plugins
from identify.logs.readers.array_columns import all_column_refs, load_table
from identify.logs.table import ColumnSource, Table, TableInfo


def read_plugin(source: ColumnSource) -> Table:
    """Read the requested columns of the arrays that the package's function returns."""
    arrays = _arrays(source.path)
    return load_table(source, all_column_refs(arrays), arrays.__getitem__)


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the columns of those arrays."""
    return (TableInfo(tuple(ref.name for ref in all_column_refs(_arrays(path)))),)


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    point = plugins()[path.suffix.lower().removeprefix(".")]
    with wrap_decode_errors(path, f"file of {point.value}"):
        arrays = point.load()(path)
    if not isinstance(arrays, Mapping) and not hasattr(arrays, "items"):
        got = TypeError(f"{point.value} returned {type(arrays).__name__}, expected named arrays")
        raise read_error(path, got, f"file of {point.value}")
    return {str(name): np.asarray(values) for name, values in arrays.items()}

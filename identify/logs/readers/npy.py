"""NPY files: one array, whose columns have the file's name, or one of records, by their fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identify.files import decoding
from identify.logs.readers.arrays import slots_of_all, table_of
from identify.logs.table import Contents, Source, Table


def read_npy(source: Source) -> Table:
    """Reads the columns asked for."""
    arrays = _arrays(source.path)
    return table_of(source, slots_of_all(arrays), arrays.__getitem__)


def contents(path: Path) -> tuple[Contents, ...]:
    """Its columns."""
    return (Contents(tuple(slot.name for slot in slots_of_all(_arrays(path)))),)


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    with decoding(path, "NPY file"):
        array = np.lib.format.open_memmap(path, mode="r")
    fields = array.dtype.names
    return {name: array[name] for name in fields} if fields else {path.stem: array}

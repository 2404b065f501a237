"""MAT files of MATLAB: arrays are columns, and fields of a structure `log.force`.

Those of version 7.3 are HDF5 files, whose arrays stand the other way round.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from identify.errors import LogError
from identify.files import check_expansion, decoding
from identify.logs.readers.arrays import Slot, slots_of_all, table_of
from identify.logs.readers.hdf5 import data_sets, open_hdf5
from identify.logs.table import Contents, Source, Table

LARGEST = 2**31
"""Bytes of arrays that are read whole."""

_HDF5_MARK, _HEADER = b"\x89HDF\r\n\x1a\n", 128
_COMPRESSED = 15

_MOST_NESTED = 8
"""Structures in structures."""


def read_mat(source: Source) -> Table:
    """Reads the arrays asked for; a row or a column of numbers is one column."""
    slots, load = _opened(source.path)
    return table_of(source, slots, load)


def contents(path: Path) -> tuple[Contents, ...]:
    """Its arrays of numbers."""
    slots, _ = _opened(path)
    return (Contents(tuple(slot.name for slot in slots)),)


def _opened(path: Path) -> tuple[list[Slot], Callable[[str], NDArray[Any]]]:
    """The columns of a file, and what loads them."""
    with decoding(path, "MAT file"), path.open("rb") as file:
        head = file.read(_HEADER + 512)
        if _HDF5_MARK in head:
            arrays = _of_hdf5(path)
        else:
            _require_bounded(path, file)
            from scipy.io import loadmat

            arrays = dict(_arrays("", loadmat(path, struct_as_record=True, squeeze_me=False)))
    return slots_of_all(arrays), arrays.__getitem__


def _arrays(prefix: str, value: Any, depth: int = 0) -> list[tuple[str, NDArray[Any]]]:
    """The arrays of numbers in variables and in the fields of structures."""
    if isinstance(value, dict):
        items = [(name, of) for name, of in value.items() if not name.startswith("__")]
    elif isinstance(value, np.ndarray) and value.dtype.names and value.size == 1:
        items = [(name, value.reshape(-1)[0][name]) for name in value.dtype.names]
    elif isinstance(value, np.ndarray) and value.ndim <= 2 and value.dtype.kind in "iufb":
        return [(prefix, _column(value))]
    else:
        return []
    if depth > _MOST_NESTED:
        return []
    dot = f"{prefix}." if prefix else ""
    return [found for name, of in items for found in _arrays(f"{dot}{name}", of, depth + 1)]


def _column(array: NDArray[Any]) -> NDArray[Any]:
    """An array of one row or one column as a column."""
    return array.reshape(-1) if 1 in array.shape and array.ndim == 2 else array


def _of_hdf5(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file of version 7.3."""
    arrays: dict[str, NDArray[Any]] = {}
    whole = 0
    with open_hdf5(path) as file:
        for name, data in data_sets(file):
            if name.startswith("#") or data.ndim > 2 or data.dtype.kind not in "iuf":
                continue
            check_expansion(path, data.id.get_storage_size(), data.nbytes)
            whole += data.nbytes
            _require_size(path, whole)
            arrays[name.replace("/", ".")] = _column(np.asarray(data).T)
    return arrays


def _require_bounded(path: Path, file: BinaryIO) -> None:
    """Raise where variables take more memory than a log of the file's size does.

    A variable is a tag, [type, bytes], and so many bytes; of a compressed one they begin with the
    tag of what it becomes.
    """
    size, whole = path.stat().st_size, 0
    file.seek(0)
    header = file.read(_HEADER)
    order = ">" if header[126:128] == b"MI" else "<"
    if header[126:128] not in (b"MI", b"IM"):
        return  # of version 4, without compression
    while len(tag := file.read(8)) == 8:
        kind, count = struct.unpack(f"{order}II", tag)
        if count > size - file.tell():
            raise LogError(f"{path}: is cut short: a variable ends beyond the file", path=path)
        begins = file.tell()
        expanded = count
        if kind == _COMPRESSED:
            inner = zlib.decompressobj().decompress(file.read(min(count, 256)), 8)
            expanded = struct.unpack(f"{order}II", inner)[1] if len(inner) == 8 else count
            check_expansion(path, count, expanded)
        whole += expanded
        _require_size(path, whole)
        file.seek(begins + count)


def _require_size(path: Path, size: int) -> None:
    if size > LARGEST:
        raise LogError(
            f"{path}: its arrays take more than {LARGEST >> 30} GiB, and a MAT file is read whole; "
            "write the columns of the log into an HDF5 or Parquet file",
            path=path,
        )

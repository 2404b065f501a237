"""MATLAB files: arrays are columns, such as `t`, `log.force` or `log(2).force`.

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
from identify.files import check_expansion, wrap_decode_errors
from identify.logs.readers.array_columns import ColumnRef, all_column_refs, load_table
from identify.logs.readers.hdf5 import data_sets, open_hdf5
from identify.logs.table import ColumnSource, Table, TableInfo

MAX_BYTES = 2**31
"""Maximum size of arrays that are read at once [bytes]."""

_HDF5_MARK, _HEADER_BYTES = b"\x89HDF\r\n\x1a\n", 128
_COMPRESSED_ELEMENT_TYPE = 15

_MAX_DEPTH, _MAX_STRUCTURES = 8, 256
"""Maximum depth of nested structures, and maximum length of an array of structures."""


def read_mat(source: ColumnSource) -> Table:
    """Read the requested arrays; a row or column vector is one column."""
    slots, load = _open_columns(source.path)
    return load_table(source, slots, load)


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the numeric arrays of a MATLAB file."""
    slots, _ = _open_columns(path)
    return (TableInfo(tuple(slot.name for slot in slots)),)


def _open_columns(path: Path) -> tuple[list[ColumnRef[str]], Callable[[str], NDArray[np.generic]]]:
    """Return the columns of a file, and the function that loads them."""
    with wrap_decode_errors(path, "MAT file"), path.open("rb") as file:
        head = file.read(_HEADER_BYTES + 512)
        if _HDF5_MARK in head:
            arrays = _arrays_of_hdf5(path)
        else:
            _require_bounded(path, file)
            from scipy.io import loadmat

            arrays = dict(_arrays("", loadmat(path, struct_as_record=True, squeeze_me=False)))
    return all_column_refs(arrays), arrays.__getitem__


def _arrays(prefix: str, value: object, depth: int = 0) -> list[tuple[str, NDArray[np.generic]]]:
    """Return the numeric arrays in variables and structure fields."""
    if isinstance(value, dict):
        items = [(f".{name}", of) for name, of in value.items() if not name.startswith("__")]
    elif isinstance(value, np.ndarray) and value.dtype.names:
        each = value.reshape(-1)[:_MAX_STRUCTURES]
        numbers = [f"({k})." if len(each) > 1 else "." for k in range(1, len(each) + 1)]
        pairs = list(zip(numbers, each, strict=True))
        items = [(number + name, of[name]) for number, of in pairs for name in value.dtype.names]
        if {"label", "values"} <= set(value.dtype.names):
            items += _labelled_signals(each)
    elif isinstance(value, np.ndarray) and value.ndim <= 3 and value.dtype.kind in "iufb":
        return [(prefix, _column(value))]
    else:
        return []
    if depth > _MAX_DEPTH:
        return []
    names = [(f"{prefix}{name}".removeprefix("."), of) for name, of in items]
    return [found for name, of in names for found in _arrays(name, of, depth + 1)]


def _labelled_signals(signals: NDArray[np.void]) -> list[tuple[str, object]]:
    """Return the values of Simulink's `signals` by their labels, if these are unique."""
    labels = ["".join(map(str, np.ravel(signal["label"]))) for signal in signals]
    return [
        (f".{label}", signal["values"])
        for label, signal in zip(labels, signals, strict=True)
        if label and labels.count(label) == 1
    ]


def _column(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return a row or column vector as a column."""
    return array.reshape(-1) if 1 in array.shape and array.ndim == 2 else array


def _arrays_of_hdf5(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a MATLAB file of version 7.3, which is HDF5."""
    arrays: dict[str, NDArray[Any]] = {}
    whole = 0
    with open_hdf5(path) as file:
        for name, data in data_sets(file):
            if name.startswith("#"):
                continue
            parts: dict[str, Any] = {name: data}
            if data.dtype.kind == "O" and "MATLAB_class" not in data.attrs:  # of several structures
                structure, _, field = name.rpartition("/")
                refs = np.asarray(data).reshape(-1)[:_MAX_STRUCTURES]
                parts = {
                    f"{structure}({k}).{field}": file[ref] for k, ref in enumerate(refs, start=1)
                }
            for full, part in parts.items():
                if getattr(part, "ndim", 4) > 3 or part.dtype.kind not in "iuf":
                    continue
                check_expansion(path, part.id.get_storage_size(), part.nbytes)
                whole += part.nbytes
                _require_size(path, whole)
                arrays[full.replace("/", ".")] = _column(np.asarray(part).T)
    return arrays


def _require_bounded(path: Path, file: BinaryIO) -> None:
    """Raise if variables need far more memory than the file's size.

    A variable is a tag, [type, bytes], and so many bytes; of a compressed one they begin with the
    tag of what it becomes.
    """
    size, whole = path.stat().st_size, 0
    file.seek(0)
    header = file.read(_HEADER_BYTES)
    order = ">" if header[126:128] == b"MI" else "<"
    if header[126:128] not in (b"MI", b"IM"):
        return  # of version 4, without compression
    while len(tag := file.read(8)) == 8:
        kind, count = struct.unpack(f"{order}II", tag)
        if count > size - file.tell():
            raise LogError(f"{path}: is cut short: a variable ends beyond the file", path=path)
        begins = file.tell()
        expanded = count
        if kind == _COMPRESSED_ELEMENT_TYPE:
            inner = zlib.decompressobj().decompress(file.read(min(count, 256)), 8)
            expanded = struct.unpack(f"{order}II", inner)[1] if len(inner) == 8 else count
            check_expansion(path, count, expanded)
        whole += expanded
        _require_size(path, whole)
        file.seek(begins + count)


def _require_size(path: Path, size: int) -> None:
    if size > MAX_BYTES:
        raise LogError(
            f"{path}: its arrays take more than {MAX_BYTES >> 30} GiB, and a MAT file is read "
            "whole; write the columns of the log into an HDF5 or Parquet file",
            path=path,
        )

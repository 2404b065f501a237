"""Readers of NPZ archives and NPY files.

Of an archive only the wanted arrays are read, and pickles never: the header of each array is looked
at first. A single array has the file's name. The fields of records are columns.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from identify.errors import LogError
from identify.files import check_expansion, wrap_decode_errors
from identify.logs.readers.array_columns import (
    DESCRIPTIONS,
    ColumnRef,
    all_column_refs,
    column_refs,
    load_table,
    record_fields,
)
from identify.logs.table import ColumnSource, Table, TableInfo


def read_numpy_files(source: ColumnSource) -> Table:
    """Read the requested columns; datetime64 stamps have their own unit."""
    if source.path.suffix.lower() == ".npy":
        arrays = _arrays_of_npy(source.path)
        return load_table(source, all_column_refs(arrays), arrays.__getitem__)
    with wrap_decode_errors(source.path, "NPZ archive"), zipfile.ZipFile(source.path) as archive:

        @cache
        def read_member(member: str) -> NDArray[Any]:
            with archive.open(member) as file:
                return npy.read_array(file, allow_pickle=False)

        def load(key: tuple[str, str | None]) -> NDArray[Any]:
            member, field = key
            return read_member(member) if field is None else read_member(member)[field]

        return load_table(source, _archive_columns(source.path, archive), load)


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the arrays of an NPZ or NPY file."""
    if path.suffix.lower() == ".npy":
        return (TableInfo(tuple(slot.name for slot in all_column_refs(_arrays_of_npy(path)))),)
    with wrap_decode_errors(path, "NPZ archive"), zipfile.ZipFile(path) as archive:
        return (TableInfo(tuple(slot.name for slot in _archive_columns(path, archive))),)


def _archive_columns(
    path: Path, archive: zipfile.ZipFile
) -> list[ColumnRef[tuple[str, str | None]]]:
    """Return the columns of an archive; `state_names`, of texts, names the elements of `state`."""
    headers = list(_headers(path, archive))
    texts: dict[str, NDArray[Any]] = {}
    for name, member, shape, dtype in headers:
        if dtype.kind in "US" and len(shape) < 2:
            with archive.open(member) as file:
                texts[name] = npy.read_array(file, allow_pickle=False)
    described = {
        name: texts[key].tolist()
        for word in reversed(DESCRIPTIONS)
        for name, *_ in headers
        for key in (word, f"{name}_{word}")
        if key in texts
    }
    fields = (of for header in headers for of in record_fields(*header))
    return column_refs(fields, described)


def _arrays_of_npy(path: Path) -> dict[str, NDArray[Any]]:
    """Return the array of an NPY file by file name, or its fields by name."""
    with wrap_decode_errors(path, "NPY file"):
        array = npy.open_memmap(path, mode="r")
    fields = array.dtype.names
    return {name: array[name] for name in fields} if fields else {path.stem: array}


def _headers(
    path: Path, archive: zipfile.ZipFile
) -> Iterator[tuple[str, str, tuple[int, ...], np.dtype[Any]]]:
    """Yield name, member, shape and type of each array of an archive, from its NPY header."""
    for info in archive.infolist():
        if not info.filename.endswith(".npy"):
            continue
        check_expansion(path, info.compress_size, info.file_size)
        with archive.open(info) as file:
            version = npy.read_magic(file)
            if version == (1, 0):
                shape, _, dtype = npy.read_array_header_1_0(file)
            elif version == (2, 0):
                shape, _, dtype = npy.read_array_header_2_0(file)
            else:
                continue
        expected = dtype.itemsize * int(np.prod(shape, dtype=object))
        if not dtype.hasobject and expected > info.file_size:
            raise LogError(
                f"{path}: array {info.filename!r} claims {expected} bytes, but has "
                f"{info.file_size}; the archive is damaged",
                path=path,
            )
        yield info.filename.removesuffix(".npy"), info.filename, shape, dtype

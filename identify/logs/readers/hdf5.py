"""HDF5 files: data sets are columns, groups are the tables that a schema calls topics.

A data set of two dimensions gives `name[0]`, `name[1]` and so on, one of a compound type its
fields, and one whose attribute `names` (or `description`, …) names its elements, `name.x`. Only the
wanted ones are read; links to other files are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from identify.errors import LogError, MissingExtra
from identify.files import check_expansion, wrap_decode_errors
from identify.logs.readers.array_columns import (
    DESCRIPTIONS,
    ColumnRef,
    column_refs,
    count_requested_rows,
    load_table,
    record_fields,
    requested_topic,
)
from identify.logs.table import ColumnSource, RowsReader, Table, TableInfo

if TYPE_CHECKING:
    import h5py

_Field: TypeAlias = tuple[str, str | None]
"""Data set, or field of a compound data set, that is one column."""

_MAX_DATASETS = 10_000
"""Maximum number of data sets inspected in a file."""


def read_hdf5(source: ColumnSource) -> Table:
    """Read the requested data sets, which have the same rows."""
    return _read(source, slice(None))


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the data sets of an HDF5 file by group."""
    with open_hdf5(path) as file, wrap_decode_errors(path, "HDF5 file"):
        slots = _columns(path, file)
    groups: dict[str, list[str]] = {}
    for slot in slots:
        group = slot.key[0].strip("/").rpartition("/")[0]
        groups.setdefault(group, []).append(slot.name.removeprefix(f"{group}/"))
    if len(groups) < 2 or "" in groups:
        return (TableInfo(tuple(slot.name for slot in slots)),)
    return tuple(TableInfo(tuple(dataset), group) for group, dataset in groups.items())


def count_rows(source: ColumnSource) -> int:
    """Count the rows of the requested data sets."""
    with open_hdf5(source.path) as file, wrap_decode_errors(source.path, "HDF5 file"):
        return count_requested_rows(source, _requested_columns(source, file, slice(None)))


def hdf5_row_reader(source: ColumnSource) -> RowsReader:
    """Return a reader of row ranges of an HDF5 file."""
    return lambda start, stop: replace(_read(source, slice(start, stop)), first_row=start)


def open_hdf5(path: Path) -> h5py.File:
    """Open the file for reading; the caller closes it.

    Raises `MissingExtra`: h5py is not installed; `LogError`: it is no HDF5 file.
    """
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra("an HDF5 file", "hdf5", "h5py") from error
    with wrap_decode_errors(path, "HDF5 file"):
        return h5py.File(path, "r")


def data_sets(group: h5py.Group) -> Iterator[tuple[str, h5py.Dataset]]:
    """Return the data sets below a group by name; links to other files are ignored."""
    import h5py

    pending = [("", group)]
    count = 0
    while pending and count < _MAX_DATASETS:
        prefix, now = pending.pop(0)
        for name in now:
            if not isinstance(now.get(name, getlink=True), h5py.HardLink):
                continue  # a link may go round, or to any file
            below = now[name]
            if isinstance(below, h5py.Group):
                pending.append((f"{prefix}{name}/", below))
            elif isinstance(below, h5py.Dataset):
                count += 1
                yield f"{prefix}{name}", below


def _read(source: ColumnSource, rows: slice) -> Table:
    path = source.path
    with open_hdf5(path) as file, wrap_decode_errors(path, "HDF5 file"):
        slots = _requested_columns(source, file, rows)

        def load(key: _Field) -> NDArray[Any]:
            name, field = key
            data: Any = file[name]
            return np.asarray(data[rows] if field is None else data.fields(field)[rows])

        return load_table(source, slots, load)


def _requested_columns(
    source: ColumnSource, file: h5py.File, rows: slice
) -> list[ColumnRef[_Field]]:
    """Return the columns of the group that the schema names, or of the whole file."""
    path, topic = source.path, source.layout.topic
    group = file
    if topic is not None:
        import h5py

        group = file.get(topic)
        if not isinstance(group, h5py.Group):
            names = {name.rpartition("/")[0]: "" for name, _ in data_sets(file) if "/" in name}
            requested_topic(source, names, "group")
            raise LogError(f"{path}: {topic!r} is not a group of data sets", path=path)
    return _columns(path, group, rows)


def _columns(path: Path, group: h5py.Group, rows: slice = slice(None)) -> list[ColumnRef[_Field]]:
    arrays: list[tuple[str, _Field, tuple[int, ...], np.dtype[np.generic]]] = []
    descriptions = dict[str, object]()
    for name, data in data_sets(group):
        if not data.shape:
            continue
        check_expansion(path, data.id.get_storage_size(), data.nbytes)
        described = (data.attrs[key] for key in DESCRIPTIONS if key in data.attrs)
        descriptions[name] = next(described, None)
        arrays += record_fields(name, str(data.name), data.shape, data.dtype)
    return [
        slot if slot.transposed else replace(slot, rows=len(range(*rows.indices(slot.rows))))
        for slot in column_refs(arrays, descriptions)
    ]

"""NPZ archives of arrays.

One-dimensional arrays are columns, a two-dimensional `a` gives `a[0]`, `a[1]`, and so on. Only
the wanted arrays are read, and pickles never: the header of each array is looked at first.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from struct import error as StructError
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from identify.errors import LogError
from identify.files import check_expansion, unreadable
from identify.logs.schema_fields import Column
from identify.logs.table import Flaw, Source, Stamps, Table, locate, locate_stamps
from identify.logs.units import TICKS_PER_SECOND

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    StructError,
    EOFError,
    OSError,
    ValueError,
    SyntaxError,
    TypeError,
    LookupError,
    RuntimeError,
    OverflowError,
    MemoryError,
)
"""What a damaged archive makes `zipfile` and the NPY format raise."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A column of the archive, of which only the header was read.

    Attributes:
        name: of the array, with a number for a column of a two-dimensional one.
        file: of the array in the archive.
        rows, dtype: of the array.
        index: of the column in the array.
    """

    name: str
    file: str
    rows: int
    dtype: np.dtype[Any]
    index: Any = ...


def read_npz(source: Source) -> Table:
    """Reads the columns asked for; datetime64 time stamps bring their own unit.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    try:
        with zipfile.ZipFile(source.path) as archive:
            infos = archive.infolist()
            slots = [slot for info in infos for slot in _slots(source.path, archive, info)]
            return _read(source, archive, slots)
    except LogError:
        raise
    except _UNREADABLE as error:
        raise unreadable(source.path, error, "NPZ archive") from error


def _read(source: Source, archive: zipfile.ZipFile, slots: list[_Slot]) -> Table:
    path, names = source.path, tuple(slot.name for slot in slots)
    wanted = {column: slots[locate(path, names, column)] for column in source.columns}
    place, stamps, ticks = locate_stamps(path, names, source.layout.time), None, None
    used = list(wanted.values())
    if place is not None and source.layout.time is not None:
        used.append(slots[place])
        _require_kind(path, source.layout.time, slots[place], "iufmM")
    for column, slot in wanted.items():
        _require_kind(path, column, slot, "iuf")
    flaws = np.zeros(_rows(path, used), dtype=np.uint8)
    arrays = {}
    for slot in used:
        with archive.open(slot.file) as file:
            arrays[slot.file] = npy.read_array(file, allow_pickle=False)
    columns = {
        column: arrays[slot.file][slot.index].astype(np.float64) for column, slot in wanted.items()
    }
    if place is not None:
        raw = arrays[slots[place].file][slots[place].index]
        stamps, ticks = _stamps(path, raw)
        if raw.dtype.kind in "mM":
            flaws[np.isnat(raw)] = Flaw.NOT_FINITE
    return Table(path, names, columns, flaws, stamps, ticks)


def _slots(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> list[_Slot]:
    """The columns of an array, from its header; none of what is no array of the NPY format."""
    if not info.filename.endswith(".npy"):
        return []
    check_expansion(path, info.compress_size, info.file_size)
    with archive.open(info) as file:
        version = npy.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = npy.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = npy.read_array_header_2_0(file)
        else:
            return []
    expected = dtype.itemsize * int(np.prod(shape, dtype=object))
    if not dtype.hasobject and expected > info.file_size:
        raise LogError(
            f"{path}: array {info.filename!r} claims {expected} bytes, but has {info.file_size}; "
            "the archive is damaged",
            path=path,
        )
    name = info.filename.removesuffix(".npy")
    match shape:
        case (rows,):
            return [_Slot(name, info.filename, rows, dtype)]
        case (rows, columns):
            return [
                _Slot(f"{name}[{k}]", info.filename, rows, dtype, (slice(None), k))
                for k in range(min(columns, 10_000))
            ]
        case _:
            return []


def _require_kind(path: Path, column: Column, slot: _Slot, kinds: str) -> None:
    dtype = slot.dtype
    if dtype.kind in kinds:
        return
    got = "Python objects, and pickles are never loaded" if dtype.hasobject else f"{dtype}"
    raise LogError(
        f"{path}: column {column!r}: expected numbers, got {got}; "
        "save the array as numbers (float64), or name another",
        path=path,
        column=column,
    )


def _rows(path: Path, used: list[_Slot]) -> int:
    first = used[0]
    for slot in used:
        if slot.rows != first.rows:
            raise LogError(
                f"{path}: array {first.name!r} has {first.rows} rows, but {slot.name!r} has "
                f"{slot.rows}; columns of one log need the same rows",
                path=path,
                column=slot.name,
            )
    return first.rows


def _stamps(path: Path, raw: NDArray[Any]) -> tuple[Stamps, int | None]:
    kind = raw.dtype.kind
    if kind == "f" or (kind == "u" and raw.size and int(raw.max()) > np.iinfo(np.int64).max):
        return raw.astype(np.float64), None
    if kind in "iu":
        return raw.astype(np.int64), None
    unit, count = np.datetime_data(raw.dtype)
    if unit not in TICKS_PER_SECOND or count != 1:
        raise LogError(
            f"{path}: time stamps of type {raw.dtype}; expected seconds, milli-, micro- or "
            "nanoseconds",
            path=path,
        )
    return raw.astype(np.int64), TICKS_PER_SECOND[unit]

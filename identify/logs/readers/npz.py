"""NPZ archives of arrays.

One-dimensional arrays are columns, a two-dimensional `a` gives `a[0]`, `a[1]`, and so on. Only
the wanted arrays are read, and pickles never: the header of each array is looked at first.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
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
from identify.logs.table import Flaw, Request, Table, flag_not_finite, locate, locate_stamps
from identify.logs.units import TICKS_PER_SECOND

_UNREADABLE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    LZMAError,
    StructError,
    EOFError,
    OSError,
    ValueError,
    SyntaxError,
    TypeError,
    KeyError,
    IndexError,
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
        number: of the column in it, or None.
    """

    name: str
    file: str
    rows: int
    dtype: np.dtype[Any]
    number: int | None


def read_npz(path: Path, request: Request) -> Table:
    """Reads the columns asked for; datetime64 time stamps bring their own unit.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            slots = [slot for info in infos for slot in _slots(path, archive, info)]
            return _read(path, archive, slots, request)
    except LogError:
        raise
    except _UNREADABLE as error:
        raise unreadable(path, error, "NPZ archive") from error


def _read(path: Path, archive: zipfile.ZipFile, slots: list[_Slot], request: Request) -> Table:
    names = tuple(slot.name for slot in slots)
    wanted = {column: slots[locate(path, names, column)] for column in request.columns}
    place = locate_stamps(path, names, request.stamps)
    stamps_of = None if place is None else slots[place]
    if stamps_of and request.stamps is not None:
        _require_kind(path, request.stamps, stamps_of, "iufmM")
    for column, slot in wanted.items():
        _require_kind(path, column, slot, "iuf")
    used = [*wanted.values(), *([stamps_of] if stamps_of else [])]
    rows = _rows(path, used)
    arrays = {slot.file: _load(archive, slot.file) for slot in used}
    columns = {column: _column(arrays, slot).astype(np.float64) for column, slot in wanted.items()}
    flaws = np.zeros(rows, dtype=np.uint8)
    stamps, ticks = None, None
    if stamps_of:
        raw = _column(arrays, stamps_of)
        stamps, ticks = _stamps(path, raw)
        if raw.dtype.kind in "mM":
            flaws[np.isnat(raw)] = Flaw.NOT_FINITE
    flag_not_finite(flaws, columns, stamps)
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
            return [_Slot(name, info.filename, rows, dtype, None)]
        case (rows, columns):
            numbers = range(min(columns, 10_000))
            return [_Slot(f"{name}[{k}]", info.filename, rows, dtype, k) for k in numbers]
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
    lengths = {slot.rows: slot.name for slot in used}
    if len(lengths) > 1:
        (a, first), (b, second) = list(lengths.items())[:2]
        raise LogError(
            f"{path}: array {first!r} has {a} rows, but {second!r} has {b}; "
            "columns of one log need the same rows",
            path=path,
            column=second,
        )
    return next(iter(lengths), 0)


def _load(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as file:
        return npy.read_array(file, allow_pickle=False)


def _column(arrays: Mapping[str, NDArray[Any]], slot: _Slot) -> NDArray[Any]:
    array = arrays[slot.file]
    return array if slot.number is None else array[:, slot.number]


def _stamps(
    path: Path, raw: NDArray[Any]
) -> tuple[NDArray[np.int64] | NDArray[np.float64], int | None]:
    if raw.dtype.kind == "f":
        return raw.astype(np.float64), None
    if raw.dtype.kind == "u" and raw.size and int(raw.max()) > np.iinfo(np.int64).max:
        return raw.astype(np.float64), None
    if raw.dtype.kind in "iu":
        return raw.astype(np.int64), None
    unit, count = np.datetime_data(raw.dtype)
    if unit not in TICKS_PER_SECOND or count != 1:
        raise LogError(
            f"{path}: time stamps of type {raw.dtype}; expected seconds, milli-, micro- or "
            "nanoseconds",
            path=path,
        )
    return raw.astype(np.int64), TICKS_PER_SECOND[unit]

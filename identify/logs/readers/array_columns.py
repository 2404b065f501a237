"""Columns in NumPy arrays, in an archive or in memory.

One-dimensional arrays are columns, a two-dimensional `a` gives `a[0]`, `a[1]`, and so on, or `a.x`,
`a.y` where the file names its elements, one of matrices their entries row by row. A masked entry is
one that is missing, as NaN is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from types import EllipsisType
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from identify.errors import LogError, did_you_mean
from identify.logs.schema_fields import Column
from identify.logs.table import (
    ColumnSource,
    RowFault,
    Stamps,
    Table,
    find_column,
    find_stamps_column,
)
from identify.logs.units import TICKS_PER_SECOND

_MAX_ARRAY_COLUMNS, _MAX_SIGNAL_PARTS = 10_000, 16
"""Maximum number of columns of an array, and of parts of a signal."""


ArrayKey = TypeVar("ArrayKey", bound=Hashable)
"""Key with which a file format loads an array."""


@dataclass(frozen=True, slots=True)
class ColumnRef(Generic[ArrayKey]):
    """A column of a log that is, or is part of, an array not loaded yet.

    Attributes:
        name: name of the array, with a number for a column of a two-dimensional array.
        key: key by which the format loads the array.
        rows, dtype: of the array.
        index: index of the column in the array.
        transposed: whether the samples are along another axis of the array than its first.
        numbered: name with the number of the column in place of the name of its element.
    """

    name: str
    key: ArrayKey
    rows: int
    dtype: np.dtype[Any]
    index: tuple[int | slice, ...] | EllipsisType = ...
    transposed: bool = False
    numbered: str = ""


def column_refs(
    arrays: Iterable[tuple[str, ArrayKey, tuple[int, ...], np.dtype[Any]]],
    descriptions: Mapping[str, object] | None = None,
) -> list[ColumnRef[ArrayKey]]:
    """Return a reference to each column of arrays given by name, key, shape and type.

    None of an array that has no rows or too many dimensions. `descriptions`: names of the elements
    of arrays, as `element_names` reads them.
    """
    arrays = list(arrays)
    shapes = [shape for _, _, shape, _ in arrays]
    lengths = {s[0] for s in shapes if len(s) == 1 or (len(s) == 2 and s[0] > s[1])}
    lengths |= {max(s) for s in shapes if len(s) > 1 and 1 in s and max(s) > _MAX_SIGNAL_PARTS}
    slots: list[ColumnRef[ArrayKey]] = []
    for name, key, shape, dtype in arrays:
        if len(shape) == 1:
            slots.append(ColumnRef(name, key, shape[0], dtype))
        elif shape and (axis := _axis_of_samples(shape, lengths)) is not None:
            others = [range(n) for k, n in enumerate(shape) if k != axis]
            single = axis > 0 and all(len(other) == 1 for other in others)
            places = list(islice(product(*others), _MAX_ARRAY_COLUMNS))
            elements = element_names((descriptions or {}).get(name), len(places))
            for k, place in enumerate(places):
                index = (*place[:axis], slice(None), *place[axis:])
                numbered = name if single else f"{name}[{k}]"
                column = f"{name}.{elements[k]}" if elements else numbered
                slots.append(ColumnRef(column, key, shape[axis], dtype, index, axis > 0, numbered))
    return slots


def record_fields(
    name: str, key: ArrayKey, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[tuple[str, tuple[ArrayKey, str | None], tuple[int, ...], np.dtype[Any]]]:
    """Yield the arguments of `column_refs` for an array, or for each field of its records.

    The key of a column is that of the array with the name of the field, or None.
    """
    if dtype.names is None:
        yield name, (key, None), shape, dtype
    for field in dtype.names or ():
        of_field = dtype[field]
        yield f"{name}.{field}", (key, field), (*shape, *of_field.shape), of_field.base


def element_names(description: object, count: int) -> Sequence[str]:
    """Return the names of the elements of an array; empty if there are not `count` of them.

    `description`: a list of names, a mapping to one (as in data sets of LeRobot), or a text such as
    "pose: x, y, z [m], qx, qy, qz, qw".
    """
    if isinstance(description, Mapping):
        description = next(iter(description.values()), None)
    if isinstance(description, bytes):
        description = description.decode("utf-8", "replace")
    if isinstance(description, str):
        text = description.strip()
        try:
            description = json.loads(text)
        except ValueError:
            text = text.rpartition(":")[2].strip(" (){}")
            parts = re.split(r"[,;|]", text)
            description = parts if len(parts) == count else text.split()
    if not isinstance(description, Sequence | np.ndarray) or len(description) != count:
        return ()
    words = [str(w.decode() if isinstance(w, bytes) else w).strip() for w in description]
    counts = Counter(words)
    return [w if counts[w] == 1 else f"{w}_{k}" for k, w in enumerate(words)] if all(words) else ()


DESCRIPTIONS = (
    *("names", "columns", "column_names", "labels", "channels", "fields", "elements"),
    "description",
)
"""Words under which files keep the names of the elements of an array."""


def _axis_of_samples(shape: tuple[int, ...], lengths: Container[int]) -> int | None:
    """Return the axis of the samples in an array n×k, k×n, n×4×4, 4×4×n or 3×1×n; None for others.

    Given the lengths of arrays that are columns, or have more rows than columns.
    """
    long = [k for k, n in enumerate(shape) if n != 1] if len(shape) == 3 else [0, 1]
    match len(shape), [shape[k] for k in long]:
        case 2 | 3, [rows, columns]:
            narrow = rows < columns and rows <= _MAX_SIGNAL_PARTS
            wide = columns in lengths or (rows not in lengths and columns > _MAX_SIGNAL_PARTS)
            return long[narrow and wide]
        case 3, [_, (3 | 4) as rows, columns] if rows == columns:
            return 0
        case 3, [(3 | 4) as rows, columns, _] if rows == columns:
            return 2
        case 3, [_]:
            return long[0]
        case _:
            return None


def all_column_refs(arrays: Mapping[str, NDArray[Any]]) -> list[ColumnRef[str]]:
    """Return a reference to each column of named arrays, with the name as key."""
    return column_refs((name, name, array.shape, array.dtype) for name, array in arrays.items())


def read_array_columns(source: ColumnSource) -> Table:
    """Read the requested columns of arrays in memory."""
    held = [] if source.arrays is None else source.arrays.columns
    slots = column_refs((name, k, array.shape, array.dtype) for k, (name, array) in enumerate(held))
    return load_table(source, slots, lambda number: held[number][1])


def load_table(
    source: ColumnSource,
    refs: list[ColumnRef[ArrayKey]],
    load: Callable[[ArrayKey], NDArray[Any]],
) -> Table:
    """Return the requested columns as a table; datetime64 stamps have their own unit.

    `load` gives the array of a column's key and is called once for each array in use.
    """
    path, names = source.path, tuple(ref.name for ref in refs)
    wanted, place = _requested_columns(source, refs)
    stamps = None
    ticks = None
    used = list(wanted.values())
    if place is not None:
        used.append(refs[place])
    faults = np.zeros(_common_row_count(path, used), dtype=np.uint8)
    arrays = {key: load(key) for key in dict.fromkeys(ref.key for ref in used)}
    columns = {
        column: np.ma.filled(arrays[ref.key][ref.index].astype(np.float64), np.nan)
        for column, ref in wanted.items()
    }
    if place is not None:
        raw = arrays[refs[place].key][refs[place].index]
        faults[np.ma.getmaskarray(raw)] = RowFault.NOT_FINITE
        missing: Any = np.nan if raw.dtype.kind == "f" else np.zeros((), raw.dtype)
        raw = np.ma.filled(raw, missing)
        stamps, ticks = _convert_stamps(path, raw)
        if raw.dtype.kind in "mM":
            faults[np.isnat(raw)] = RowFault.NOT_FINITE
    turned = dict.fromkeys(ref.name.partition("[")[0] for ref in used if ref.transposed)
    return Table(path, names, columns, faults, stamps, ticks, transposed=tuple(turned))


def count_requested_rows(source: ColumnSource, refs: list[ColumnRef[ArrayKey]]) -> int:
    """Return the number of rows of the requested columns; zero if arrays are transposed."""
    wanted, place = _requested_columns(source, refs)
    used = [*wanted.values(), *(() if place is None else (refs[place],))]
    return 0 if any(ref.transposed for ref in used) else _common_row_count(source.path, used)


def _requested_columns(
    source: ColumnSource, refs: list[ColumnRef[ArrayKey]]
) -> tuple[dict[Column, ColumnRef[ArrayKey]], int | None]:
    """Return the requested columns and the index of the time stamps; raise for other types."""
    path = source.path
    names = tuple(ref.name for ref in refs)
    time = source.layout.time
    numbers = {ref.numbered: ref for ref in refs if ref.numbered not in names}
    wanted = {
        column: numbers.get(str(column)) or refs[find_column(path, names, column)]
        for column in source.columns
    }
    place = find_stamps_column(path, names, time)
    if place is not None and time is not None:
        _require_numeric(path, time, refs[place], "iufmM")
    for column, slot in wanted.items():
        _require_numeric(path, column, slot, "iuf")
    return wanted, place


def _require_numeric(
    path: Path, column: Column, array_column: ColumnRef[ArrayKey], kinds: str
) -> None:
    dtype = array_column.dtype
    if dtype.kind in kinds:
        return
    got = "Python objects, and pickles are never loaded" if dtype.hasobject else f"{dtype}"
    raise LogError(
        f"{path}: column {column!r}: expected numbers, got {got}; "
        "make the array one of numbers (float64), or name another",
        path=path,
        column=column,
    )


def _common_row_count(path: Path, used: list[ColumnRef[ArrayKey]]) -> int:
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


def _convert_stamps(path: Path, raw: NDArray[Any]) -> tuple[Stamps, int | None]:
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


_MAX_LISTED_TOPICS = 30
"""Maximum number of topics listed in a message."""


def requested_topic(
    source: ColumnSource, topic_types: Mapping[str, str], table_word: str = "topic"
) -> str:
    """Return the topic named by the schema, or the only one of the file.

    Raises `LogError`: there is none of that name, or several and none is named.
    """
    wanted, path = source.layout.topic, source.path
    shown = ", ".join(f"{name} ({kind})" if kind else name for name, kind in topic_types.items())
    if len(topic_types) > _MAX_LISTED_TOPICS:
        named = ", ".join(list(topic_types)[:_MAX_LISTED_TOPICS])
        shown = f"{named} and {len(topic_types) - _MAX_LISTED_TOPICS} more"
    if not topic_types:
        raise LogError(f"{path}: has no {table_word} with numbers", path=path)
    if wanted is None:
        if len(topic_types) == 1:
            return next(iter(topic_types))
        groups = " and ".join(source.groups)
        raise LogError(
            f"{path}: holds {len(topic_types)} {table_word}s, and the schema does not say which "
            f"has {groups}; give topic = … in [log], or in [streams.{source.groups[0]}]. There "
            f"are: {shown}",
            path=path,
        )
    stripped = wanted.strip("/")
    matches = [name for name in topic_types if name.strip("/") == stripped]
    if not matches:
        hint = did_you_mean(wanted, topic_types)
        raise LogError(f"{path}: no {table_word} {wanted!r}{hint}. There are: {shown}", path=path)
    return matches[0]

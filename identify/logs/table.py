"""`Table`: unconverted columns of one file that a schema needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from identify.arrays import Array, is_masked
from identify.errors import LogError, MissingColumn
from identify.logs.schema import SignalGroup
from identify.logs.schema_fields import Column, without_sign
from identify.logs.schema_tables import LogTable

if TYPE_CHECKING:
    from pandas import DataFrame


def column_number_error(path: Path, column: int, count: int, remedy: str = "") -> MissingColumn:
    """Return the error for a column number beyond the last column of a file."""
    message = f"{path}: no column {column}: it has {count} columns, numbered from 0{remedy}"
    return MissingColumn(path, column, map(str, range(count)), message=message)


Stamps: TypeAlias = NDArray[np.int64 | np.floating[Any]]
"""Time stamps in their native type."""


class RowFault(IntEnum):
    """Defect of a row."""

    NONE = 0
    NOT_FINITE = 1
    CUT_SHORT = 2
    NOT_NUMBERS = 3
    OTHER_STREAM = 4
    """Row of another stream, not a defect."""


@dataclass(frozen=True, slots=True)
class LogInMemory:
    """Log in memory: named arrays in place of a file.

    Attributes:
        name: for the recording and for messages.
        columns: names, which may repeat, and arrays of shape (n,) or (n, k), masked where a
            number is missing.
    """

    name: str
    columns: tuple[tuple[str, NDArray[Any]], ...]

    @classmethod
    def of(cls, table: Mapping[str, ArrayLike] | DataFrame) -> LogInMemory:
        """Return a table of columns in memory as a log.

        Raises `LogError`: the argument is no table, or a column is no array.
        """
        if isinstance(table, Mapping):
            columns = list(table.items())
        elif hasattr(table, "iloc") and hasattr(table, "columns"):
            columns = [(name, table.iloc[:, k]) for k, name in enumerate(table.columns)]
        else:
            raise LogError(
                f"read_log: expected a file, a pandas DataFrame or a mapping of names to arrays, "
                f"got {type(table).__name__}"
            )
        return cls("table", tuple((str(name), _as_array(name, values)) for name, values in columns))


def _as_array(name: object, values: Any) -> NDArray[Any]:
    """Convert a column to an array; pandas types become NumPy types, missing values are masked."""
    dtype = getattr(values, "dtype", None)
    if hasattr(values, "isna") and not isinstance(dtype, np.dtype):
        kind = getattr(dtype, "kind", "O")
        if kind == "M":  # stamps with a time zone
            return values.to_numpy(dtype="datetime64[ns]")
        if kind in "iuf":
            numbers = values.to_numpy(dtype=f"{kind}8", na_value=0)
            return np.ma.masked_array(numbers, mask=values.isna().to_numpy())
    try:
        return np.ma.asarray(values) if is_masked(values) else np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of uneven length
        raise LogError(f"column {name!r}: is no array: {error}", column=str(name)) from error


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """File or log in memory with the columns requested from it.

    Attributes:
        path: the file, or the name of a log in memory.
        layout: clock and layout; a file may lack the time stamps if another file has them.
        groups: groups of signals in the file.
        columns: required columns of all groups, each once.
        has_stamp_column: whether a stream of the file names the column of its time stamps.
        arrays: the log in memory, if it is no file.
    """

    path: Path
    layout: LogTable
    groups: tuple[SignalGroup, ...]
    columns: tuple[Column, ...]
    has_stamp_column: bool
    arrays: LogInMemory | None = None


@dataclass(frozen=True, slots=True)
class TableInfo:
    """Names, layout and frame of a table in a log, known without a schema.

    Attributes:
        names: names of the columns.
        topic: name of the table in a file of several tables; else None.
        message_type: type of the messages, if any.
        layout: keys of `[log]` by which a text file is read.
        frame: frame of the messages by their header; for a transform the child.
        units: units by column name, if a row below the names has them.
    """

    names: tuple[str, ...]
    topic: str | None = None
    message_type: str = ""
    layout: Mapping[str, object] = field(default_factory=dict)
    frame: str = ""
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_unnamed(self) -> bool:
        """Whether the columns have no names, but numbers from zero."""
        return self.names == tuple(map(str, range(len(self.names))))


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of one file, with all rows or a selection, including defective ones.

    Attributes:
        path: the file.
        names: the names of its columns, for messages.
        columns: the columns asked for, each float64 of shape (rows,).
        faults: the `RowFault` of each row (uint8).
        stamps: the time stamps, int64 where the file has whole numbers; None if it has none.
        ticks_per_second: unit of the stamps, where the file itself says so.
        line_numbers: one-based line of each row of a text file; None if rows are counted from zero.
        first_row: number of the first row in its file, if rows are counted.
        kept_rows: indices of these rows among the rows read, in order; None for all rows.
        transposed: arrays that hold a sample in each column instead of each row.
    """

    path: Path
    names: tuple[str, ...]
    columns: Mapping[Column, Array]
    faults: NDArray[np.uint8]
    stamps: Stamps | None = None
    ticks_per_second: int | None = None
    line_numbers: Sequence[int] | NDArray[np.int64] | None = None
    first_row: int = 0
    kept_rows: NDArray[np.intp] | None = None
    transposed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.faults)

    @property
    def row_numbers(self) -> NDArray[np.intp]:
        """Row numbers in the file."""
        return np.arange(len(self)) if self.kept_rows is None else self.kept_rows

    def stacked_columns(self, names: Sequence[Column]) -> Array:
        """Stack the named columns, shape (n, len(names)); a name with a leading "-" is negated."""
        columns = [(self.columns[name], factor) for name, factor in map(without_sign, names)]
        return np.stack([x if factor == 1.0 else -x for x, factor in columns], axis=-1)

    def select_rows(self, kept: NDArray[np.intp]) -> Table:
        """Return a table of some rows, in order; messages keep the row numbers of the file."""
        if len(kept) == len(self):
            return self
        return replace(
            self,
            columns={name: column[kept] for name, column in self.columns.items()},
            faults=self.faults[kept],
            stamps=None if self.stamps is None else self.stamps[kept],
            kept_rows=self.row_numbers[kept],
        )

    def without_defects(self) -> Table:
        """Return the rows without a defect as a table."""
        return self.select_rows(np.flatnonzero(self.faults == RowFault.NONE))

    def error_at(self, index: int, message: str, column: Column | None = None) -> LogError:
        """Return a `LogError` about a row, with its number in the file."""
        index = int(self.row_numbers[index])
        row = int(self.first_row + index if self.line_numbers is None else self.line_numbers[index])
        place = f"row {row} (counted from 0)" if self.line_numbers is None else f"line {row}"
        return LogError(f"{self.path}: {place}: {message}", path=self.path, column=column, row=row)


_ARRAY_ENTRY = re.compile(r"(?P<name>.+)\[(?P<number>\d+)\]")
"""Pattern of an array entry in a schema; files may write `x[0]`, `x_0` or `x0`."""

RowsReader: TypeAlias = Callable[[int, int], Table]
"""Reader of a range of rows of a file."""


def find_column(path: Path, names: Sequence[str], column: Column) -> int:
    """Return the zero-based number of a column in a file.

    Raises `MissingColumn`: there is none of that name or number; `LogError`: two columns have that
    name.
    """
    if isinstance(column, int):
        if column >= len(names):
            raise column_number_error(path, column, len(names))
        return column
    places = match_names(names, column)
    if not places:
        raise MissingColumn(path, column, names)
    if len(places) > 1:
        raise LogError(
            f"{path}: columns {places} are all called {column!r}; rename them, "
            "or give the one you mean by its number",
            path=path,
            column=column,
        )
    return places[0]


def match_names(names: Sequence[str], column: str) -> list[int]:
    """Return the indices of columns that match a name, or an array entry in the file's spelling."""
    places = [number for number, name in enumerate(names) if name == column]
    if places or (entry := _ARRAY_ENTRY.fullmatch(column)) is None:
        return places
    spelled = {entry["name"] + join + entry["number"] for join in ("_", "")}
    return [number for number, name in enumerate(names) if name in spelled]


def find_stamps_column(path: Path, names: Sequence[str], column: Column | None) -> int | None:
    """Return the number of the column with the time stamps; None if there is none."""
    if column is None or (isinstance(column, str) and column not in names):
        return None
    return find_column(path, names, column)

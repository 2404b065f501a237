"""Columns of a log as the file has them, read without a schema that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from identify.arrays import Array
from identify.documents import validate
from identify.errors import IdentifyError, LogError
from identify.logs.log_sources import read_source
from identify.logs.readers import RECEIVED, STAMP, list_tables
from identify.logs.row_times import seconds_since, unwrap_counter
from identify.logs.schema_fields import Column
from identify.logs.schema_tables import LogTable
from identify.logs.table import ColumnSource, Table, TableInfo

_MAX_OFFSET_S = 1e5
"""Largest difference of the first stamps of two tables on one clock [s]."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table of a log with its numbers in the units of the file.

    Attributes:
        path: the file.
        info: names, units and layout of its columns.
        columns: numbers by column, NaN where there is none, each of shape (n,).
        time: of the rows since the log's first stamp [s], by its stamps or its rate; None if
            neither is known, or every row is a static pose.
        stamped: whether the time is that of stamps in the log.
        problem: why the rows, or their stamps, cannot be read; empty if they can.
    """

    path: Path
    info: TableInfo
    columns: Mapping[str, Array] = field(default_factory=dict)
    time: Array | None = None
    stamped: bool = False
    problem: str = ""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def by_time(self) -> bool:
        """Whether the rows have a time that does not go back."""
        time = self.time
        return time is not None and not (np.diff(time[np.isfinite(time)]) < 0.0).any()

    @property
    def abscissa(self) -> Array:
        """Time of the rows [s], or their numbers from one if it is unknown or goes back."""
        if self.by_time and self.time is not None:
            return self.time
        return np.arange(1.0, len(self) + 1.0)


def read_raw_tables(paths: Sequence[Path], clock: Mapping[str, Any]) -> tuple[RawTable, ...]:
    """Read all columns with numbers of all tables of some files.

    `clock`: keys of `[log]` of a schema, which name time stamps, their unit and the layout.
    Raises `LogError`: the tables of a file cannot be listed; `MissingFile` if there is none.
    """
    read = [_read_table(path, info, clock) for path in paths for info in list_tables(path)]
    starts = [start for _, start in read if start is not None]
    one_clock = bool(starts) and max(starts) - min(starts) < _MAX_OFFSET_S
    return tuple(
        table
        if table.time is None or start is None or not one_clock
        else replace(table, time=table.time + (start - min(starts)))
        for table, start in read
    )


def _read_table(
    path: Path, info: TableInfo, clock: Mapping[str, Any]
) -> tuple[RawTable, float | None]:
    """Return a table, and its first stamp [s] if it has stamps."""
    keys = {**info.layout, **{key: value for key, value in clock.items() if key != "topic"}}
    if info.topic is not None:
        stamps = [name for name in (keys.get("time"), STAMP, RECEIVED) if name in info.names]
        keys |= {"topic": info.topic, "time": next(iter(stamps), None)}
    try:
        layout = validate(LogTable, keys, "[log]")
    except IdentifyError as error:
        return RawTable(path, info, problem=str(error)), None
    clock_columns = (layout.time, layout.time_fraction)
    names = [name for name in dict.fromkeys(info.names) if name not in clock_columns]
    table, problem = _read_readable(path, layout, names)
    if table is None:
        return RawTable(path, info, problem=problem), None
    columns = {
        str(name): np.where(np.isfinite(values), values, np.nan)
        for name, values in table.columns.items()
    }
    raw = RawTable(path, info, columns, problem=problem)
    if layout.rate_hz is not None:
        return replace(raw, time=np.arange(len(table)) / layout.rate_hz), None
    if table.stamps is None or len(table) < 2 or layout.still:
        return raw, None
    stamps, _ = unwrap_counter(table, table.stamps, layout)
    origin = stamps[np.isfinite(stamps)][:1]
    if not len(origin):
        return replace(raw, problem=f"{path}: no row has a time stamp"), None
    time = seconds_since(origin[0].item(), table, stamps, layout)
    start = float(seconds_since(0.0, table, origin, layout)[0])
    return replace(raw, time=time, stamped=True), start


def _read_readable(
    path: Path, layout: LogTable, names: Sequence[Column]
) -> tuple[Table | None, str]:
    """Read the columns that have numbers; return also why the table, or its stamps, have none."""
    problem, wanted = "", list(names)
    while wanted:
        try:
            return _read(path, layout, wanted), problem
        except LogError as error:
            column, reason = error.column, str(error)
        if column is not None and column in (layout.time, layout.time_fraction):
            layout = layout.model_copy(update={"time": None, "time_fraction": None})
            problem = reason
        elif column not in wanted:
            return None, reason
        elif not layout.drop_bad_rows and _has_numbers(path, layout, column):
            layout = layout.model_copy(update={"drop_bad_rows": True})
        else:
            wanted.remove(column)
    return None, f"{path}: no column has numbers"


def _read(path: Path, layout: LogTable, names: Sequence[Column]) -> Table:
    fraction = () if layout.time_fraction is None else (layout.time_fraction,)
    source = ColumnSource(path, layout, (), (*names, *fraction), has_stamp_column=False)
    return read_source(source, is_only_file=False)


def _has_numbers(path: Path, layout: LogTable, name: Column) -> bool:
    """Return whether most rows of a column are numbers."""
    try:
        table = _read(path, layout.model_copy(update={"drop_bad_rows": True}), [name])
    except LogError:
        return False
    return 2 * int(np.isfinite(table.columns[name]).sum()) > len(table)

"""Assignment of signal groups to files, and reading of their columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from identify.errors import LogError, MissingColumn, MissingFile
from identify.files import require_file
from identify.logs.readers import is_log_folder, read_table
from identify.logs.schema import Schema, SignalGroup
from identify.logs.schema_fields import Column
from identify.logs.schema_tables import LogTable
from identify.logs.table import ColumnSource, LogInMemory, RowFault, Table
from identify.logs.units import SECONDS_PER_DAY, TICKS_PER_SECOND


def plan_sources(log: Path | LogInMemory, schema: Schema) -> list[ColumnSource]:
    """Return the files of a log (file, folder or memory), each with its groups of signals.

    Raises `MissingFile`: the log or one of its files does not exist; `LogError`: the log is a
    folder and the schema does not say which file has what.
    """
    arrays = log if isinstance(log, LogInMemory) else None
    if isinstance(log, Path) and not log.is_dir():
        _require_log(log, schema)
    plan: dict[tuple[Path, LogTable], list[SignalGroup]] = {}
    for group in schema.groups:
        plan.setdefault((_file_of_group(log, schema, group), schema.layout(group)), []).append(
            group
        )
    sources = []
    for (path, layout), groups in plan.items():
        columns = (column for group in groups for column in schema.groups[group].columns)
        streams = [stream for group in groups if (stream := schema.stream(group)) is not None]
        own_clock = any(stream.time is not None for stream in streams)
        fraction = () if layout.time_fraction is None else (layout.time_fraction,)
        once = tuple(dict.fromkeys((*columns, *fraction)))
        sources.append(ColumnSource(path, layout, tuple(groups), once, own_clock, arrays))
    return sources


def read_source(source: ColumnSource, *, is_only_file: bool) -> Table:
    """Read the columns of a file; rows with NaN or infinity are marked.

    Only a file that is not `is_only_file` may have its time stamps in another file.
    """
    return with_defects_marked(read_table(source), source, is_only_file=is_only_file)


def with_defects_marked(table: Table, source: ColumnSource, *, is_only_file: bool) -> Table:
    """Mark the defective rows of a table, and raise for a table without rows or needed stamps.

    Only a table that is not `is_only_file` may have its time stamps in another file.
    """
    stamps = source.layout.time
    if len(table) == 0:
        raise LogError(f"{source.path}: has columns but no rows", path=source.path)
    if stamps is not None and table.stamps is None and (is_only_file or source.has_stamp_column):
        raise MissingColumn(source.path, stamps, table.names)
    for column in (*table.columns.values(), table.stamps):
        if column is not None and column.dtype == np.float64:
            table.faults[~np.isfinite(column) & (table.faults == RowFault.NONE)] = (
                RowFault.NOT_FINITE
            )
    fraction = source.layout.time_fraction
    if source.layout.time_unit == "d" and table.stamps is not None and not table.ticks_per_second:
        days = np.where(np.isfinite(table.stamps), table.stamps, 0.0)
        microseconds = np.rint(1e6 * SECONDS_PER_DAY * days).astype(np.int64)
        return replace(table, stamps=microseconds, ticks_per_second=10**6)
    return table if fraction is None else _with_fraction(table, source.layout, fraction)


def _with_fraction(table: Table, layout: LogTable, fraction_column: Column) -> Table:
    """Combine whole seconds and their fraction to one stamp in nanoseconds."""
    columns = dict(table.columns)
    fraction = columns.pop(fraction_column) / TICKS_PER_SECOND[layout.time_fraction_unit]
    if table.stamps is None:
        return replace(table, columns=columns)
    present = np.isfinite(table.stamps) & np.isfinite(fraction)
    seconds, fraction = np.where(present, table.stamps, 0), np.where(present, fraction, 0.0)
    if (ticks := table.ticks_per_second) is not None:  # dates
        seconds = seconds // ticks if not (seconds % ticks).any() else seconds / ticks
    for row in np.flatnonzero((seconds % 1 != 0) | (fraction < 0.0) | (fraction >= 1.0)).tolist():
        raise table.error_at(
            row,
            "time and time_fraction in [log] are whole seconds and less than a second after them, "
            f"got {seconds[row]:.15g} and {fraction[row]:.15g} s; check time_fraction_unit",
            fraction_column,
        )
    stamps = 10**9 * seconds.astype(np.int64) + np.rint(1e9 * fraction).astype(np.int64)
    return replace(table, columns=columns, stamps=stamps, ticks_per_second=10**9)


def _file_of_group(log: Path | LogInMemory, schema: Schema, group: SignalGroup) -> Path:
    stream = schema.stream(group)
    if isinstance(log, LogInMemory):
        if stream is not None and stream.file is not None:
            raise LogError(
                f"{log.name}: [streams.{group}] names a file, {stream.file!r}, but the log is in "
                "memory; leave file out, or give the log as files"
            )
        return Path(log.name)
    if stream is not None and stream.file is not None:
        path = (log if log.is_dir() else log.parent) / stream.file
        require_file(path)
        return path
    if log.is_dir() and not is_log_folder(log):
        raise LogError(
            f"{log}: is a folder, and the schema does not say which of its files has the {group}; "
            f"add [streams.{group}] with file = …, or give the file instead of the folder",
            path=log,
        )
    return log


def _require_log(log: Path, schema: Schema) -> None:
    try:
        require_file(log)
    except MissingFile:
        streams = [schema.stream(group) for group in schema.groups]
        if log.exists() or not all(stream and stream.file for stream in streams):
            raise
        raise MissingFile(f"{log}: no such file or folder", path=log) from None

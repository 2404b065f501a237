"""Which file each group of signals is in, and what to ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from identify.errors import LogError, MissingColumn, MissingFile
from identify.files import require_file
from identify.logs.readers import read_table
from identify.logs.schema import Group, LogTable, Schema
from identify.logs.table import Request, Table


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the log, and the groups of signals that are in it.

    Attributes:
        path: the file.
        layout: its clock and layout.
        groups: the groups of signals.
        own_clock: whether its stream names the column of its time stamps.
    """

    path: Path
    layout: LogTable
    groups: tuple[Group, ...]
    own_clock: bool


def plan_sources(log: Path, schema: Schema) -> tuple[Source, ...]:
    """The files of a log, each with the groups in it.

    Raises:
        MissingFile: the log or one of its files does not exist.
        LogError: the log is a folder and the schema does not say which file has what.
    """
    if not log.is_dir():
        _require_log(log, schema)
    plan: dict[tuple[Path, LogTable], Source] = {}
    for group in schema.groups:
        path, layout = _file(log, schema, group), schema.layout(group)
        stream = schema.stream(group)
        own_clock = stream is not None and stream.time is not None
        known = plan.get((path, layout))
        groups = (*known.groups, group) if known else (group,)
        own_clock = own_clock or (known is not None and known.own_clock)
        plan[path, layout] = Source(path, layout, groups, own_clock)
    return tuple(plan.values())


def read_source(
    source: Source, schema: Schema, *, alone: bool, rows: tuple[int, int] | None = None
) -> Table:
    """The columns of one file.

    Args:
        source: the file.
        schema: what it holds.
        alone: whether no other file may have the time stamps in its stead.
        rows: which of a Parquet file; all where not given.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    columns = [column for group in source.groups for column in schema.columns(group)]
    stamps = source.layout.time
    request = Request(tuple(dict.fromkeys(columns)), stamps, source.layout, rows)
    table = read_table(source.path, request)
    if len(table) == 0:
        raise LogError(f"{source.path}: has columns but no rows", path=source.path)
    if stamps is not None and table.stamps is None and (alone or source.own_clock):
        raise MissingColumn(source.path, stamps, table.names)
    return table


def _file(log: Path, schema: Schema, group: Group) -> Path:
    stream = schema.stream(group)
    if stream is not None and stream.file is not None:
        path = (log if log.is_dir() else log.parent) / stream.file
        require_file(path)
        return path
    if log.is_dir():
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

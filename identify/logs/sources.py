"""Which file each group of signals is in, and what to ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from identify.errors import LogError, MissingColumn, MissingFile
from identify.files import require_file
from identify.logs.readers import read_table
from identify.logs.schema import Group, Schema
from identify.logs.schema_fields import Column
from identify.logs.schema_tables import LogTable
from identify.logs.table import Request, Table


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the log, and the groups of signals that are in it.

    Attributes:
        path: the file.
        layout: its clock and layout.
        groups: the groups of signals.
        columns: those of all the groups, each once.
        own_clock: whether the stream of one names the column of its time stamps.
    """

    path: Path
    layout: LogTable
    groups: tuple[Group, ...]
    columns: tuple[Column, ...]
    own_clock: bool


def plan_sources(log: Path, schema: Schema) -> list[Source]:
    """The files of a log, each with the groups in it.

    Raises:
        MissingFile: the log or one of its files does not exist.
        LogError: the log is a folder and the schema does not say which file has what.
    """
    if not log.is_dir():
        _require_log(log, schema)
    plan: dict[tuple[Path, LogTable], list[Group]] = {}
    for group in schema.groups:
        plan.setdefault((_file(log, schema, group), schema.layout(group)), []).append(group)
    sources = []
    for (path, layout), groups in plan.items():
        columns = (column for group in groups for column in schema.groups[group].columns)
        streams = [stream for group in groups if (stream := schema.stream(group)) is not None]
        own_clock = any(stream.time is not None for stream in streams)
        once = tuple(dict.fromkeys(columns))
        sources.append(Source(path, layout, tuple(groups), once, own_clock))
    return sources


def read_source(source: Source, *, alone: bool, rows: tuple[int, int] | None = None) -> Table:
    """The columns of one file.

    Args:
        source: the file.
        alone: whether no other file may have the time stamps in its stead.
        rows: which of a Parquet file; all where not given.

    Raises:
        MissingColumn, LogError: as the message says.
    """
    stamps = source.layout.time
    table = read_table(source.path, Request(source.columns, stamps, source.layout, rows))
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

"""Grouping of the tables of a log into streams: tables with common rows share one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from identify.arrays import Array, Flags
from identify.errors import LogError
from identify.findings import Finding
from identify.logs.recording_parts import DroppedRows
from identify.logs.row_selection import cut_to_same_length, has_too_many_defects, select_rows
from identify.logs.row_times import (
    Clock,
    have_equal_stamps,
    read_clock,
    unwrap_counter,
    wrap_before_start,
)
from identify.logs.schema import Schema, SignalGroup
from identify.logs.table import ColumnSource, RowFault, Table

_MIN_STREAM_GAPS = 10
"""Minimum number of gaps that show that rows of several streams alternate in one file."""

_MAX_DURATION_MISMATCH = 0.05
"""Maximum relative difference in duration of a stream (by its rate) and its log without finding."""


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Rows of groups of signals that share a clock.

    Attributes:
        valid_rows: the valid rows, for each group of signals.
        clock: times of the rows; None if every row is a static pose.
        dropped: numbers of dropped rows.
        rows_in_file: number of rows in the file.
    """

    valid_rows: dict[SignalGroup, Table]
    clock: Clock | None
    dropped: DroppedRows
    rows_in_file: int

    @property
    def name(self) -> str:
        """Names of the groups of signals, joined by "and"."""
        return " and ".join(self.valid_rows)


def read_streams(
    sources: Sequence[ColumnSource], tables: Sequence[Table], schema: Schema
) -> tuple[list[StreamRows], list[Finding]]:
    """Return the streams of a log, the wrench's first, and findings on their clocks.

    Tables with as many rows and the same stamps, or one clock for all, are one stream, whose rows
    are kept where all of them are whole.
    """
    drop_bad_rows = any(source.layout.drop_bad_rows for source in sources)
    parts, findings = _split_by_stream(
        list(zip(sources, tables, strict=True)), schema, drop_bad_rows=drop_bad_rows
    )
    streams = []
    for part in _group_by_rows(parts):
        valid_rows, dropped = select_rows([t for _, t in part], drop_bad_rows=drop_bad_rows)
        by_group: dict[SignalGroup, Table] = {
            group: valid
            for (source, _), valid in zip(part, valid_rows, strict=True)
            for group in source.groups
        }
        clock = read_clock(valid_rows, [source.layout for source, _ in part])
        findings += () if clock is None else clock.findings
        rows = len(valid_rows[0]) + dropped.total
        streams.append(StreamRows(by_group, clock, dropped, rows))
    streams.sort(key=lambda stream: "wrench" not in stream.valid_rows)
    return streams, findings


def subtract_start(streams: Sequence[StreamRows]) -> list[Array | None]:
    """Return the times of each stream since the first row of the first stream.

    Raises `LogError`: they have no time in common.
    """
    clocks = [stream.clock or Clock(np.zeros(1)) for stream in streams]
    zero = min((clock.start for clock in clocks if clock.start is not None), default=Fraction(0))
    starts = [
        zero + Fraction(clock.time_before_start) if clock.start is None else clock.start
        for clock in clocks
    ]
    since = [float(start - starts[0]) for start in starts]
    late = max(since)
    early = min(start + clock.time[-1] for start, clock in zip(since, clocks, strict=True))
    if len(streams) > 1 and late >= early:
        spans = ", ".join(
            f"{stream.name} ({next(iter(stream.valid_rows.values())).path}) from "
            f"{float(start):.12g} to {float(start) + clock.time[-1]:.12g} s"
            for stream, start, clock in zip(streams, starts, clocks, strict=True)
        )
        raise LogError(
            f"the streams of the log have no time in common: {spans}. "
            f"{_no_overlap_remedy(streams, clocks)}"
        )
    return [
        None if stream.clock is None else stream.clock.time + start
        for stream, start in zip(streams, since, strict=True)
    ]


def _no_overlap_remedy(streams: Sequence[StreamRows], clocks: Sequence[Clock]) -> str:
    """Return the remedy for streams without common time: why they do not overlap, what to set."""
    wrap = wrap_before_start(clocks)
    if wrap is None:
        return (
            "Check time_unit of each in [streams.*]; clocks with different starts need a common "
            "zero"
        )
    count, behind = wrap
    names = " and ".join(streams[number].name for number in behind)
    return (
        f"They would if the counter of the {names} had wrapped after {count} ticks, before its "
        f"first row; in that case add {count} to its stamps"
    )


def rate_mismatches(
    streams: Sequence[StreamRows], times: Sequence[Array | None]
) -> Iterator[Finding]:
    """Yield findings on streams whose rate contradicts the length by time stamps."""
    of_rate, of_stamps = [], []
    for stream, time in zip(streams, times, strict=True):
        if stream.clock is not None and time is not None:
            stamped = stream.clock.start is not None
            (of_stamps if stamped else of_rate).append((stream, float(time[-1] - time[0])))
    longest = max((seconds for _, seconds in of_stamps), default=0.0)
    for stream, seconds in of_rate if longest else ():
        if abs(seconds - longest) > _MAX_DURATION_MISMATCH * longest:
            numbers = next(iter(stream.valid_rows.values())).row_numbers
            rate = float(numbers[-1] - numbers[0]) / longest
            yield Finding(
                "clock_rate",
                "warning",
                f"the {stream.name} lasts {seconds:.4g} s by its rate_hz, but the log lasts "
                f"{longest:.4g} s by its time stamps.",
                f"Give its time stamps or, if it was logged all the time, rate_hz = {rate:.6g} in "
                "[streams.*].",
                {"seconds": seconds, "of_stamps": longest, "rate_hz": rate},
            )


SourceTable: TypeAlias = tuple[ColumnSource, Table]
"""File or log in memory, with the table of rows read from it."""


def _group_by_rows(parts: Sequence[SourceTable]) -> list[list[SourceTable]]:
    """Group tables that have the same rows.

    Raises `LogError`: a table without a clock of its own has other rows than those with one.
    """
    streams: list[list[int]] = []
    for number in sorted(range(len(parts)), key=lambda number: not _has_clock(parts[number])):
        part = parts[number]
        for stream in streams:
            if _same_rows(parts[stream[0]], part):
                stream.append(number)
                break
        else:
            if streams and not _has_own_rate(parts[streams[0][0]], part):
                cut_to_same_length([parts[streams[0][0]][1], part[1]])
            streams.append([number])
    return [[parts[number] for number in sorted(stream)] for stream in streams]


def _has_clock(part: SourceTable) -> bool:
    source, table = part
    return table.stamps is not None or source.layout.rate_hz is not None


def _has_own_rate(first: SourceTable, other: SourceTable) -> bool:
    """Return whether a table with other rows has a separate clock."""
    rate = other[0].layout.rate_hz
    return _has_clock(other) and (rate is None or rate != first[0].layout.rate_hz)


def _same_rows(first: SourceTable, other: SourceTable) -> bool:
    if first[0].layout.rate_hz != other[0].layout.rate_hz:
        return False
    try:
        (first_table, other_table), _ = cut_to_same_length([first[1], other[1]])
    except LogError:
        return False
    if (
        (first_table.faults == RowFault.OTHER_STREAM)
        != (other_table.faults == RowFault.OTHER_STREAM)
    ).any():
        return False
    if first_table.stamps is None or other_table.stamps is None:
        return True
    sound = np.flatnonzero(np.maximum(first_table.faults, other_table.faults) == RowFault.NONE)
    return have_equal_stamps(
        first_table.select_rows(sound),
        first[0].layout,
        other_table.select_rows(sound),
        other[0].layout,
    )


def _split_by_stream(
    parts: Sequence[SourceTable], schema: Schema, *, drop_bad_rows: bool
) -> tuple[list[SourceTable], list[Finding]]:
    """Split tables whose rows belong to alternating streams.

    In such a log rows lack all columns of one stream and have all of another. It would be refused
    for its unusable rows; so no log is taken for one that can be read as it stands.
    """
    stream_tables: list[SourceTable] = []
    findings: list[Finding] = []
    for path, topic in dict.fromkeys((source.path, source.layout.topic) for source, _ in parts):
        of_table = [p for p in parts if (p[0].path, p[0].layout.topic) == (path, topic)]
        apart = _alternating_streams(of_table, schema, findings, drop_bad_rows=drop_bad_rows)
        stream_tables += apart or of_table
        if apart:
            evidence = {
                " and ".join(source.groups): int(np.sum(table.faults != RowFault.OTHER_STREAM))
                for source, table in apart
            }
            counts = ", ".join(f"{count} {name}" for name, count in evidence.items())
            text = f"{path.name}: its rows belong to several streams: {counts}."
            findings.append(Finding("clocks_joined", "info", text, "", evidence))
    return stream_tables, findings


def _alternating_streams(
    parts: Sequence[SourceTable], schema: Schema, findings: list[Finding], *, drop_bad_rows: bool
) -> list[SourceTable]:
    """Split one file into its alternating streams; empty if it has a single stream.

    Arrays of several lengths, as an NPZ file may hold, have no rows that streams could share.
    """
    if len({len(table.faults) for _, table in parts}) > 1:
        return []
    faults = np.max([table.faults for _, table in parts], axis=0)
    if not has_too_many_defects(faults, drop_bad_rows=drop_bad_rows):
        return []
    has, lacks = {}, {}
    for source, table in parts:
        for group in source.groups:
            columns = [table.columns[column] for column in schema.groups[group].columns]
            finite = np.isfinite(columns)
            has[group], lacks[group] = finite.all(axis=0), ~finite.any(axis=0)
    assigned = np.any(list(has.values()), axis=0)
    assigned &= np.all([has[group] | lacks[group] for group in has], axis=0)
    if max(map(_count_runs, lacks.values())) < _MIN_STREAM_GAPS or has_too_many_defects(
        np.where(assigned, RowFault.NONE, faults), drop_bad_rows=drop_bad_rows
    ):
        return []
    empty = np.all(list(lacks.values()), axis=0)  # counted with the first stream
    apart: list[SourceTable] = []
    for source, whole_table in parts:
        table, wrapped = _unwrap_table(source, whole_table, assigned)
        findings += wrapped
        together: dict[bytes, list[SignalGroup]] = {}  # groups that come and go together
        for group in source.groups:
            together.setdefault(lacks[group].tobytes(), []).append(group)
        for groups in together.values():
            has_row = ~lacks[groups[0]] | (empty & (not apart))
            whole = np.all([has[group] for group in groups], axis=0)
            marked = table.faults.copy()
            marked[whole & (marked == RowFault.NOT_FINITE) & _has_stamp(table)] = RowFault.NONE
            marked[~has_row] = RowFault.OTHER_STREAM
            names = dict.fromkeys(c for group in groups for c in schema.groups[group].columns)
            columns = {name: table.columns[name] for name in names}
            apart.append(
                (
                    replace(source, groups=tuple(groups), columns=tuple(names)),
                    replace(table, columns=columns, faults=marked),
                )
            )
    return apart


def _unwrap_table(
    source: ColumnSource, table: Table, assigned: Flags
) -> tuple[Table, tuple[Finding, ...]]:
    """Unwrap the counter that all streams of a table share."""
    if table.stamps is None:
        return table, ()
    kept = np.flatnonzero(assigned & _has_stamp(table))
    stamps = table.stamps.copy()
    stamps[kept], findings = unwrap_counter(table.select_rows(kept), stamps[kept], source.layout)
    return replace(table, stamps=stamps), findings


def _count_runs(lacks: Flags) -> int:
    """Return the number of runs of rows that lack a stream."""
    return int(np.count_nonzero(lacks[1:] & ~lacks[:-1])) + int(lacks[0])


def _has_stamp(table: Table) -> Flags:
    """Flag the rows that have a time stamp (a missing integer stamp is zero)."""
    stamps = table.stamps
    if stamps is None:
        return np.ones(len(table), dtype=bool)
    if stamps.dtype != np.int64:
        return np.isfinite(stamps)
    return (stamps != 0) | (np.maximum.accumulate(stamps) <= 0)

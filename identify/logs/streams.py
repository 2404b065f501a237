"""Which of a log's tables share their rows, and which have a clock of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from identify.arrays import Array, Flags
from identify.errors import LogError
from identify.findings import Finding
from identify.logs.clock import Clock, read_clock, same_clock, unwrapped, wrapped_before
from identify.logs.parts import DroppedRows
from identify.logs.rows import is_too_many, same_length, select_rows
from identify.logs.schema import Group, Schema
from identify.logs.table import RowFault, Source, Table

_FEWEST_RUNS = 10
"""Runs of rows without a stream by which its rows alternate with others; a sensor that was off for
a while leaves a few."""

_OTHER_LENGTH = 0.05
"""Share of a log's length by which a stream of a rate may differ from it without a word."""


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Rows of one clock.

    Attributes:
        valid_rows: the rows kept, for each group of signals.
        clock: their time; None where every row is a still pose.
        dropped: how many others there are.
        rows: how many there were.
    """

    valid_rows: dict[Group, Table]
    clock: Clock | None
    dropped: DroppedRows
    rows: int

    @property
    def name(self) -> str:
        """The groups of signals."""
        return " and ".join(self.valid_rows)


def read_streams(
    sources: Sequence[Source], tables: Sequence[Table], schema: Schema
) -> tuple[list[StreamRows], list[Finding]]:
    """The streams of a log, that of the wrench first, and what had to be made of their clocks.

    Tables with as many rows and the same stamps, or one clock for all, are one stream, whose rows
    are kept where all of them are whole.
    """
    drop_bad_rows = any(source.layout.drop_bad_rows for source in sources)
    parts, findings = _told_apart(
        list(zip(sources, tables, strict=True)), schema, drop_bad_rows=drop_bad_rows
    )
    streams = []
    for part in _sharing_rows(parts):
        valid_rows, dropped = select_rows([t for _, t in part], drop_bad_rows=drop_bad_rows)
        by_group: dict[Group, Table] = {
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


def on_one_zero(streams: Sequence[StreamRows]) -> list[Array | None]:
    """The time of each stream since the first row of the first; rows at a rate start with the log.

    Raises:
        LogError: they have no time in common.
    """
    clocks = [stream.clock or Clock(np.zeros(1)) for stream in streams]
    zero = min((clock.start for clock in clocks if clock.start is not None), default=Fraction(0))
    starts = [
        zero + Fraction(clock.lead) if clock.start is None else clock.start for clock in clocks
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
            f"the streams of the log have no time in common: {spans}. {_apart(streams, clocks)}"
        )
    return [
        None if stream.clock is None else stream.clock.time + start
        for stream, start in zip(streams, since, strict=True)
    ]


def _apart(streams: Sequence[StreamRows], clocks: Sequence[Clock]) -> str:
    """Why streams may have no time in common, and what to do."""
    found = wrapped_before(clocks)
    if found is None:
        return (
            "Check time_unit of each in [streams.*]; clocks that do not start together need a "
            "common zero"
        )
    count, behind = found
    names = " and ".join(streams[number].name for number in behind)
    return (
        f"They would have if the counter of the {names} had started again after {count} ticks, "
        f"before its first row; add {count} to its stamps if it did"
    )


def other_rates(streams: Sequence[StreamRows], times: Sequence[Array | None]) -> Iterator[Finding]:
    """Streams whose rate makes them clearly longer or shorter than those with stamps."""
    of_rate, of_stamps = [], []
    for stream, time in zip(streams, times, strict=True):
        if stream.clock is not None and time is not None:
            stamped = stream.clock.start is not None
            (of_stamps if stamped else of_rate).append((stream, float(time[-1] - time[0])))
    longest = max((seconds for _, seconds in of_stamps), default=0.0)
    for stream, seconds in of_rate if longest else ():
        if abs(seconds - longest) > _OTHER_LENGTH * longest:
            numbers = next(iter(stream.valid_rows.values())).numbers
            rate = float(numbers[-1] - numbers[0]) / longest
            yield Finding(
                "clock_rate",
                "warning",
                f"the {stream.name} takes {seconds:.4g} s by its rate_hz, and the log "
                f"{longest:.4g} s by its time stamps.",
                f"Give its time stamps or, if it was logged all that time, rate_hz = {rate:.6g} in "
                "[streams.*].",
                {"seconds": seconds, "of_stamps": longest, "rate_hz": rate},
            )


_Part: TypeAlias = tuple[Source, Table]
"""Some groups of signals, and the table with their rows."""


def _sharing_rows(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Tables of the same rows together.

    Raises:
        LogError: a table without a clock of its own has other rows than those with one.
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
                same_length([parts[streams[0][0]][1], part[1]])
            streams.append([number])
    return [[parts[number] for number in sorted(stream)] for stream in streams]


def _has_clock(part: _Part) -> bool:
    source, table = part
    return table.stamps is not None or source.layout.rate_hz is not None


def _has_own_rate(first: _Part, other: _Part) -> bool:
    """Whether a table of other rows has a clock for them; the rate of a log is that of its rows."""
    rate = other[0].layout.rate_hz
    return _has_clock(other) and (rate is None or rate != first[0].layout.rate_hz)


def _same_rows(first: _Part, other: _Part) -> bool:
    if first[0].layout.rate_hz != other[0].layout.rate_hz:
        return False
    try:
        (one, two), _ = same_length([first[1], other[1]])
    except LogError:
        return False
    if ((one.faults == RowFault.ELSEWHERE) != (two.faults == RowFault.ELSEWHERE)).any():
        return False
    if one.stamps is None or two.stamps is None:
        return True
    sound = np.flatnonzero(np.maximum(one.faults, two.faults) == RowFault.NONE)
    return same_clock(one.some(sound), first[0].layout, two.some(sound), other[0].layout)


def _told_apart(
    parts: Sequence[_Part], schema: Schema, *, drop_bad_rows: bool
) -> tuple[list[_Part], list[Finding]]:
    """The streams of each table whose rows are now of one, now of another.

    In such a log rows lack all columns of one stream and have all of another. It would be refused
    for its unusable rows; so no log is taken for one that can be read as it stands.
    """
    found: list[_Part] = []
    findings: list[Finding] = []
    for path, topic in dict.fromkeys((source.path, source.layout.topic) for source, _ in parts):
        of_table = [p for p in parts if (p[0].path, p[0].layout.topic) == (path, topic)]
        apart = _alternating(of_table, schema, findings, drop_bad_rows=drop_bad_rows)
        found += apart or of_table
        if apart:
            evidence = {
                " and ".join(source.groups): int(np.sum(table.faults != RowFault.ELSEWHERE))
                for source, table in apart
            }
            said = ", ".join(f"{count} {name}" for name, count in evidence.items())
            text = f"{path.name}: its rows are of several streams: {said}."
            findings.append(Finding("clocks_joined", "info", text, "", evidence))
    return found, findings


def _alternating(
    parts: Sequence[_Part], schema: Schema, findings: list[Finding], *, drop_bad_rows: bool
) -> list[_Part]:
    """The streams of one file, each with the rows of the others marked; none where it has one.

    Arrays of several lengths, as an NPZ file may hold, have no rows that streams could share.
    """
    if len({len(table.faults) for _, table in parts}) > 1:
        return []
    faults = np.max([table.faults for _, table in parts], axis=0)
    if not is_too_many(faults, drop_bad_rows=drop_bad_rows):
        return []
    has, lacks = {}, {}
    for source, table in parts:
        for group in source.groups:
            columns = [table.columns[column] for column in schema.groups[group].columns]
            finite = np.isfinite(columns)
            has[group], lacks[group] = finite.all(axis=0), ~finite.any(axis=0)
    told = np.any(list(has.values()), axis=0)
    told &= np.all([has[group] | lacks[group] for group in has], axis=0)
    if max(map(_runs, lacks.values())) < _FEWEST_RUNS or is_too_many(
        np.where(told, RowFault.NONE, faults), drop_bad_rows=drop_bad_rows
    ):
        return []
    empty = np.all(list(lacks.values()), axis=0)  # counted with the first stream
    apart: list[_Part] = []
    for source, whole_table in parts:
        table, wrapped = _unwrapped(source, whole_table, told)
        findings += wrapped
        together: dict[bytes, list[Group]] = {}  # groups that come and go together
        for group in source.groups:
            together.setdefault(lacks[group].tobytes(), []).append(group)
        for groups in together.values():
            own = ~lacks[groups[0]] | (empty & (not apart))
            whole = np.all([has[group] for group in groups], axis=0)
            marked = table.faults.copy()
            marked[whole & (marked == RowFault.NOT_FINITE) & _stamped(table)] = RowFault.NONE
            marked[~own] = RowFault.ELSEWHERE
            names = dict.fromkeys(c for group in groups for c in schema.groups[group].columns)
            columns = {name: table.columns[name] for name in names}
            apart.append(
                (
                    replace(source, groups=tuple(groups), columns=tuple(names)),
                    replace(table, columns=columns, faults=marked),
                )
            )
    return apart


def _unwrapped(source: Source, table: Table, told: Flags) -> tuple[Table, tuple[Finding, ...]]:
    """The table with a counter of all its streams that goes on where it started again."""
    if table.stamps is None:
        return table, ()
    kept = np.flatnonzero(told & _stamped(table))
    stamps = table.stamps.copy()
    stamps[kept], findings = unwrapped(table.some(kept), stamps[kept], source.layout)
    return replace(table, stamps=stamps), findings


def _runs(lacks: Flags) -> int:
    """Runs of rows that lack a stream."""
    return int(np.count_nonzero(lacks[1:] & ~lacks[:-1])) + int(lacks[0])


def _stamped(table: Table) -> Flags:
    """Rows with a time stamp, where there are stamps; a whole number that is missing is zero."""
    stamps = table.stamps
    if stamps is None:
        return np.ones(len(table), dtype=bool)
    if stamps.dtype != np.int64:
        return np.isfinite(stamps)
    return (stamps != 0) | (np.maximum.accumulate(stamps) <= 0)

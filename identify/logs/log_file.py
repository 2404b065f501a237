"""`read_log`; and `LogFile`, a long log in one file, which is read in part and again, not kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.files import digest, require_file
from identify.logs.clock import COUNTERS, require_order, since
from identify.logs.convert import signals_of, with_free_flight
from identify.logs.parts import SourceFile
from identify.logs.read import LogLike, describe_log, read_fields, rotation_numbers_of, sealed
from identify.logs.readers import measure, rows_reader
from identify.logs.recording import Excerpt, ReadExcerpt, Recording, rows_of, span_of
from identify.logs.rows import RowCounts, require_sane
from identify.logs.schema import Schema, SchemaLike, load_schema
from identify.logs.sources import checked, plan_sources
from identify.logs.table import RowsReader, Source, Stamps, Table

if TYPE_CHECKING:
    from identify.logs.readers.line_index import LineIndex

LONG = 131_072
"""Rows from which a log is not read whole."""

_LAST = 16
"""Rows at the end that tell whether a counter started again on the way."""

_HEAD_ROWS = 4096
"""Rows that tell where time begins and how fast it goes."""


@dataclass(frozen=True, slots=True, eq=False)
class LogFile:
    """A long log in a file, opened: small enough to send to a worker, which reads parts of it.

    Attributes:
        recording: what the log says of itself; it has no rows.
        schema: what its columns mean.
        rows: how many there are, bad ones included.
        rate_hz: about, by the first rows.
        lines: where the rows of a text file are.
        origin: stamp of the first row kept, or its number where the log has a rate.
    """

    recording: Recording
    schema: Schema
    rows: int
    rate_hz: float
    origin: float
    lines: LineIndex | None = None

    @property
    def name(self) -> str:
        """The log's name."""
        return self.recording.name

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return self.recording.sha256

    def __len__(self) -> int:
        return self.rows

    def reader(self) -> ReadExcerpt:
        """What reads parts of it; in order is fastest."""
        (source,) = plan_sources(self.recording.sources[0].path, self.schema)
        read = rows_reader(source, self.lines)
        return lambda start, stop, margin: self._excerpt(source, read, start, stop, margin)

    def _excerpt(
        self, source: Source, read: RowsReader, start: int, stop: int, margin: int
    ) -> Excerpt:
        first, last = max(0, start - margin), min(self.rows, stop + margin)
        table = checked(read(first, last), source, alone=True)
        valid = table.whole()
        own = slice(start - first, stop - first)
        recording = self._recording(source, valid, first)
        inside = np.searchsorted(valid.numbers, (own.start, own.stop)).tolist()
        counts = RowCounts.of(table.faults[own], [_part(table, own)])
        return Excerpt(recording, span_of(recording, *inside), stop - start, counts)

    def _recording(self, source: Source, valid: Table, first: int) -> Recording:
        path = source.path
        if len(valid):
            require_sane(valid)
        time = _time(source, valid, first, self.origin)
        with np.errstate(over="ignore", invalid="ignore"):  # `sealed` refuses what overflows
            groups = dict.fromkeys(self.schema.groups, valid)
            signals = signals_of(groups, self.schema)
        signals = with_free_flight(signals, self.schema)
        return replace(
            self.recording,
            time=sealed(path, "time", time),
            signals={name: sealed(path, name, values) for name, values in signals.items()},
            rotation_numbers=rotation_numbers_of(path, groups, self.schema),
        )

    def told(self, counts: RowCounts) -> Recording:
        """What the log says of itself once all rows were seen; raises where few can be used."""
        counts.require_most(
            self.recording.sources[0].path,
            self.rows - counts.dropped.total,
            drop_bad_rows=self.schema.log.drop_bad_rows,
        )
        return replace(self.recording, rows=self.rows, dropped=counts.dropped)


def read_log(log: LogLike, schema: SchemaLike) -> Recording:
    """Reads a log as its schema says.

    Units, order and signs become those of the toolkit: SI, quaternions [x, y, z, w] of R_WB, the
    wrench that acts on the body. Time starts at zero at the first row kept. Rows with NaN, infinite
    or empty fields, masked entries, and a last row cut short, are left out and counted; nothing is
    filled in.

    Args:
        log: a file (CSV and other delimited text, also `.gz`; Parquet; NPZ), or the folder of the
            files that the schema names in `[streams.*]`; or a table in memory: a pandas DataFrame,
            or a mapping of names to arrays of shape (n,), or (n, k) with columns `"a[0]"` and so
            on. Its name is "table" and its sha256 that of the columns in use.
        schema: the schema, its file, or a mapping of its keys.

    Raises:
        SchemaError: the schema is not one.
        MissingFile: the log, one of its files or the schema does not exist.
        MissingColumn: the schema names a column that the log does not have.
        LogError: the log is not what the schema says; the message has the file, row and column.
    """
    return Recording(**read_fields(log, schema))


def open_log(log: str | PathLike[str], schema: SchemaLike) -> Recording | LogFile:
    """A log as `read_log` reads it, or, where it is a long one in a file of its own, opened.

    Args:
        log: the file, or the folder of the files.
        schema: what its columns mean.

    Raises:
        IdentifyError: as `read_log`; of a long log that is opened, later too.
    """
    schema, path = load_schema(schema), Path(log)
    return _opened(path, schema) or read_log(path, schema)


def _opened(path: Path, schema: Schema) -> LogFile | None:
    """The log, if it is long, and its first rows are what the schema says."""
    if path.is_dir() or schema.still or schema.by_force:  # of which all rests are needed
        return None
    require_file(path)
    sources = plan_sources(path, schema)
    if len(sources) > 1:
        return None
    (source,) = sources
    found = measure(source, LONG)
    if found is None:
        return None
    rows, lines = found
    head = checked(rows_reader(source, lines)(0, _HEAD_ROWS), source, alone=True)
    valid = head.whole()
    if 2 * len(valid) < len(head):  # rows of several streams may alternate
        return None
    if _starts_again(source, lines, valid, rows):
        return None
    origin = int(valid.numbers[0]) if source.layout.rate_hz else _stamps(valid)[0].item()
    time = _time(source, valid, 0, origin)
    steps = np.diff(time)
    step = float(np.median(steps)) or float(np.mean(steps))
    if not step > 0.0:
        return None
    sha256 = digest(source.path) if lines is None else lines.sha256
    recording = Recording(**describe_log(path, schema, [SourceFile(source.path, sha256)]))
    opened = LogFile(recording, schema, rows, 1.0 / step, origin, lines)
    return replace(opened, recording=rows_of(opened.reader()(0, _HEAD_ROWS, 0).recording, 0, 0))


def _starts_again(source: Source, lines: LineIndex | None, head: Table, rows: int) -> bool:
    """Whether the stamps are of a counter that starts again: such a log is read whole."""
    stamps = head.stamps
    if stamps is None or source.layout.rate_hz is not None or stamps.dtype != np.int64:
        return False
    last = checked(rows_reader(source, lines)(rows - _LAST, rows), source, alone=True).stamps
    ahead = int(stamps[0]) + rows * float(np.median(np.diff(stamps)))
    return last is not None and float(last.max()) < 0.9 * ahead and ahead > min(COUNTERS)


def _time(source: Source, valid: Table, first: int, origin: float) -> Array:
    layout = source.layout
    if layout.rate_hz is not None:
        return (first + valid.numbers - origin) / layout.rate_hz
    stamps = _stamps(valid)
    require_order(valid, stamps, layout)
    return since(origin, valid, stamps, layout)


def _stamps(valid: Table) -> Stamps:
    stamps = valid.stamps
    return np.zeros(0) if stamps is None else stamps


def _part(table: Table, rows: slice) -> Table:
    columns = {name: values[rows] for name, values in table.columns.items()}
    return replace(table, columns=columns, faults=table.faults[rows], stamps=None, lines=None)

"""Reading of logs: `read_log`, and `LogFile` for long logs that are read in chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from identify.arrays import Array
from identify.documents import lookup
from identify.files import digest, require_file
from identify.logs.convert import convert_signals, with_zero_wrench
from identify.logs.log_sources import plan_sources, with_defects_marked
from identify.logs.readers import chunk_reader, count_rows_if_long
from identify.logs.recording import Excerpt, ReadExcerpt, Recording, recording_rows, time_span
from identify.logs.recording_fields import (
    LogLike,
    attitude_coordinates_of,
    fields_without_rows,
    read_content,
    read_fields,
    require_body_signals,
    sealed,
)
from identify.logs.recording_parts import SourceFile
from identify.logs.row_selection import RowCounts, require_plausible_magnitudes
from identify.logs.row_times import (
    COUNTER_PERIODS,
    require_ordered_stamps,
    seconds_since,
)
from identify.logs.schema import Schema, SchemaLike, load_schema
from identify.logs.table import ColumnSource, RowsReader, Stamps, Table
from identify.sensors import SENSORS

if TYPE_CHECKING:
    from identify.logs.readers.line_index import LineIndex
    from identify.logs.schema import SignalGroup
    from identify.logs.schema_joints import JointsTable

MIN_ROWS_IN_CHUNKS = 131_072
"""Minimum number of rows of a log that is read in chunks."""

_TAIL_ROWS = 16
"""Number of last rows that show whether a time counter wrapped within the log."""

_HEAD_ROWS = 4096
"""Number of first rows that determine start and rate of the clock."""

_FIELDS_OF_ALL_SENSORS = ("name", "time", "signals", "gravity", "sources", "sha256", "rows")
"""Fields of a `Recording` that do not depend on its sensor."""


@dataclass(frozen=True, slots=True, eq=False)
class LogFile:
    """An opened long log file, which is read in chunks and is cheap to send to a worker.

    Attributes:
        recording: recording of the log without rows.
        schema: the schema of the log; of a log of joints, without the signals of a body.
        rows: number of rows, with defective rows.
        rate_hz: approximate sampling rate, from the first rows.
        first_stamp: stamp of the first valid row, or its number for a log with a sampling rate.
        line_index: index of the lines of a text file.
    """

    recording: Recording
    schema: Schema
    rows: int
    rate_hz: float
    first_stamp: float
    line_index: LineIndex | None = None

    @property
    def name(self) -> str:
        """Name of the log."""
        return self.recording.name

    @property
    def sha256(self) -> str:
        """SHA-256 digest of the file."""
        return self.recording.sha256

    def __len__(self) -> int:
        return self.rows

    def reader(self) -> ReadExcerpt:
        """Return a reader of row ranges, which is fastest if they are read in order."""
        (source,) = plan_sources(self.recording.sources[0].path, self.schema)
        read = chunk_reader(source, self.line_index)
        return lambda start, stop, margin: self._excerpt(source, read, start, stop, margin)

    def _excerpt(
        self, source: ColumnSource, read: RowsReader, start: int, stop: int, margin: int
    ) -> Excerpt:
        first, last = max(0, start - margin), min(self.rows, stop + margin)
        table = with_defects_marked(read(first, last), source, is_only_file=True)
        valid = table.without_defects()
        central_rows = slice(start - first, stop - first)
        recording = self._recording(source, valid, first)
        inside = np.searchsorted(
            valid.row_numbers, (central_rows.start, central_rows.stop)
        ).tolist()
        counts = RowCounts.of(table.faults[central_rows], [_table_part(table, central_rows)])
        return Excerpt(recording, time_span(recording, *inside), stop - start, counts)

    def _recording(self, source: ColumnSource, valid: Table, first: int) -> Recording:
        path = source.path
        if len(valid):
            require_plausible_magnitudes(valid)
        time = _row_times(source, valid, first, self.first_stamp)
        with np.errstate(over="ignore", invalid="ignore"):  # `sealed` refuses what overflows
            groups = dict.fromkeys(self.schema.groups, valid)
            if self.recording.joints is None:
                signals = with_zero_wrench(convert_signals(groups, self.schema), self.schema)
            else:
                from identify.logs.joint_signals import joint_signals  # which few logs need

                signals = joint_signals(groups, cast("JointsTable", self.schema.joints))
        return replace(
            self.recording,
            time=sealed(path, "time", time),
            signals={name: sealed(path, name, values) for name, values in signals.items()},
            attitude_coordinates=attitude_coordinates_of(path, groups, self.schema),
        )

    def without_rows(self, counts: RowCounts) -> Recording:
        """Return the metadata of the log with final row counts; raise if too few are usable."""
        counts.require_enough_rows(
            self.recording.sources[0].path,
            self.rows - counts.dropped.total,
            drop_bad_rows=self.schema.log.drop_bad_rows,
        )
        return replace(self.recording, rows=self.rows, dropped=counts.dropped)


def header_of(log: Recording | LogFile) -> Recording:
    """Return a log without its rows if it is read in chunks."""
    return log.recording if isinstance(log, LogFile) else log


def read_log(log: LogLike, schema: SchemaLike, sensor: str | None = None) -> Recording:
    """Read a log by its schema: motion and wrench of a body, or positions and efforts of joints.

    Units, order and signs become those of the toolkit: SI, quaternions [x, y, z, w] of R_WB, the
    wrench that acts on the body, positions and efforts of joints rather than motors. Time starts at
    zero at the first row kept. Rows with NaN, infinite or empty fields, masked entries, and a last
    row cut short, are left out and counted; nothing is filled in.

    Args:
        log: a file (CSV and other delimited text, also `.gz`; Parquet; NPZ), or the folder of the
            files that the schema names in `[streams.*]`; or a table in memory: a pandas DataFrame,
            or a mapping of names to arrays of shape (n,), or (n, k) with columns `"a[0]"` and so
            on, all of them `"a"`, and matrices row by row. Its name is "table" and its sha256 that
            of the columns in use.
        schema: the schema, its file, or a mapping of its keys, where a `Pose` or its 4×4 matrix may
            stand for the table of a mount, flange or tool point.
        sensor: what is read, "wrench" or "joints"; by default the joints of a schema that has
            nothing else, and the wrench with its motion of any other.

    Raises:
        SchemaError: the schema is not one, or has no such sensor.
        MissingFile: the log, one of its files or the schema does not exist.
        MissingColumn: the schema names a column, or a joint, that the log does not have.
        LogError: the log is not what the schema says, or its effort is zero in all rows; the
            message has the file, row and column.
    """
    schema = load_schema(schema)
    return lookup(SENSORS, sensor or schema.sensor, "sensor").load("read")(log, schema)


def open_log(log: LogLike, schema: SchemaLike, sensor: str | None = None) -> Recording | LogFile:
    """Open a log: a long one in one file as `LogFile`, any other one as `read_log` does.

    Args:
        log: as of `read_log`.
        schema: what its columns mean.
        sensor: as of `read_log`.

    Raises:
        IdentifyError: as `read_log`; of a long log that is opened, later too.
    """
    schema = load_schema(schema)
    name = sensor or schema.sensor
    read = lookup(SENSORS, name, "sensor").load("read")
    if name == "wrench":
        require_body_signals(schema)
    if not isinstance(log, str | PathLike) or name not in ("wrench", "joints"):
        return read(log, schema)
    return _open_long_log(Path(log), schema, name) or read(log, schema)


def open_runs(
    log: LogLike, schema: SchemaLike, sensor: str | None = None
) -> list[Recording | LogFile]:
    """Open a log as `open_log`; of several runs in one file, each is a log of its own.

    Their sensor offsets differ, if the sensor was zeroed in between. Errors are those of
    `open_log`.
    """
    opened = open_log(log, schema, sensor)
    if not isinstance(opened, Recording):
        return [opened]
    starts = [t for f in opened.findings if f.code == "runs_appended" for t in f.evidence["starts"]]
    if not starts:
        return [opened]
    edges = [-np.inf, *starts, np.inf]
    return [
        replace(
            opened.between(start, stop),
            name=f"{opened.name} run {number}",
            findings=opened.findings if number == 1 else (),
        )
        for number, (start, stop) in enumerate(pairwise(edges), 1)
    ]


def read_wrench(log: LogLike, schema: Schema) -> Recording:
    """Read motion and wrench of a body; errors are those of `read_log`."""
    return Recording(**read_fields(log, schema))


def read_own_sensor(log: LogLike, schema: Schema) -> Recording:
    """Read the table of a registered sensor; errors are those of `read_log`."""
    sensor = SENSORS[schema.sensor]
    table, convert = schema.own_tables[sensor.name], sensor.load("signals")
    content = read_content(
        log, schema, lambda rows: convert(rows[cast("SignalGroup", sensor.name)], table)
    )
    return Recording(**content.recording_fields, frames={}, sensor=sensor.name)


def _open_long_log(path: Path, schema: Schema, sensor: str) -> LogFile | None:
    """Open the log if it is long and its first rows match the schema."""
    written, joints = schema.as_written(), schema.joints
    if sensor == "joints":
        if joints is None or joints.target_current is not None:  # all rows tell the gains
            return None
        schema = schema.joints_schema
    if (
        path.is_dir() or schema.still or schema.has_acceleration_from_force
    ):  # of which all rests are needed
        return None
    require_file(path)
    sources = plan_sources(path, schema)
    if len(sources) > 1:
        return None
    (source,) = sources
    row_count = count_rows_if_long(source, MIN_ROWS_IN_CHUNKS)
    if row_count is None:
        return None
    rows, lines = row_count
    head = with_defects_marked(
        chunk_reader(source, lines)(0, _HEAD_ROWS), source, is_only_file=True
    )
    valid = head.without_defects()
    if 2 * len(valid) < len(head):  # rows of several streams may alternate
        return None
    if _counter_wraps(source, lines, valid, rows):
        return None
    origin = int(valid.row_numbers[0]) if source.layout.rate_hz else _stamps_of(valid)[0].item()
    time = _row_times(source, valid, 0, origin)
    steps = np.diff(time)
    step = float(np.median(steps)) or float(np.mean(steps))
    if not step > 0.0:
        return None
    sha256 = digest(source.path) if lines is None else lines.sha256
    fields = fields_without_rows(path, schema, [SourceFile(source.path, sha256)])
    if sensor == "joints" and joints is not None:
        from identify.logs.joint_log import recording_of_joints  # which few logs need

        common = {name: fields[name] for name in _FIELDS_OF_ALL_SENSORS} | {"schema": written}
        recording = recording_of_joints(common, joints)
    else:
        recording = Recording(**fields)
    opened = LogFile(recording, schema, rows, 1.0 / step, origin, lines)
    return replace(
        opened, recording=recording_rows(opened.reader()(0, _HEAD_ROWS, 0).recording, 0, 0)
    )


def _counter_wraps(source: ColumnSource, lines: LineIndex | None, head: Table, rows: int) -> bool:
    """Return whether a counter wraps, or a new run begins, before the end of the log."""
    stamps = head.stamps
    if stamps is None or source.layout.rate_hz is not None:
        return False
    last = with_defects_marked(
        chunk_reader(source, lines)(rows - _TAIL_ROWS, rows), source, is_only_file=True
    ).stamps
    passed = rows * float(np.median(np.diff(stamps)))
    if last is None:
        return False
    may_wrap = stamps.dtype == np.int64 and float(stamps[0]) + passed > min(COUNTER_PERIODS)
    start = 0.0 if may_wrap else float(stamps[0])
    return float(last.max()) - start < 0.9 * (float(stamps[0]) - start + passed)


def _row_times(source: ColumnSource, valid: Table, first: int, origin: float) -> Array:
    layout = source.layout
    if layout.rate_hz is not None:
        return (first + valid.row_numbers - origin) / layout.rate_hz
    stamps = _stamps_of(valid)
    require_ordered_stamps(valid, stamps, layout)
    return seconds_since(origin, valid, stamps, layout)


def _stamps_of(valid: Table) -> Stamps:
    stamps = valid.stamps
    return np.zeros(0) if stamps is None else stamps


def _table_part(table: Table, rows: slice) -> Table:
    columns = {name: values[rows] for name, values in table.columns.items()}
    return replace(
        table, columns=columns, faults=table.faults[rows], stamps=None, line_numbers=None
    )

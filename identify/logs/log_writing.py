"""Writing of a `Recording`, at once or in chunks, as CSV or Parquet with its schema.

`read_log` reads it back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from identify.arrays import Array
from identify.errors import LogError
from identify.files import write_stream, write_text
from identify.logs.log_sources import plan_sources, with_defects_marked
from identify.logs.readers import format_of, read_table
from identify.logs.recording import Recording, recording_of_frame
from identify.logs.recording_parts import Imu
from identify.logs.row_times import read_clock
from identify.logs.schema import load_schema
from identify.logs.schema_fields import without_sign
from identify.logs.schema_poses import imu_placement_keys, placement_keys, tool_point_keys
from identify.logs.schema_tables import compensated_keys
from identify.logs.signal_table import SIGNALS
from identify.logs.table import find_column
from identify.logs.tool_point import wrench_point
from identify.spatial import BodyFrame, Pose

_KEYS_WITHOUT_UNIT = frozenset({"gain_accuracy", "gravity_accuracy", "sensor"})


def write_log(recording: Recording, path: Path, schema_path: Path | None = None) -> Path:
    """Write a recording and its schema.

    `schema_path`: where the schema goes; by default `path` with the suffix `.toml`.
    Raises `LogError`: another suffix, or streams with clocks of their own.
    """
    schema_path = schema_path or path.with_suffix(".toml")
    write_chunks([recording], path, schema_path)
    return schema_path


def write_chunks(
    recordings: Iterable[Recording],
    path: Path,
    schema_path: Path,
    comment: Iterable[str] = (),
    other_columns: ColumnsOutsideSchema | None = None,
) -> int:
    """Write consecutive chunks of a log, and their schema.

    `recordings`: at least one, with the same signals; each is made when the one before it is
    written.
    Raises `LogError`: as `write_log`, or there are no chunks.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise LogError(f"{path}: expected a name that ends in .csv or .parquet", path=path)
    first, rows = None, 0
    with write_stream(path) as file, ExitStack() as closed_at_end:
        writer: pacsv.CSVWriter | pq.ParquetWriter | None = None
        for recording in recordings:
            logged = _with_logged_motion(recording, path)
            table = _columns_to_write(logged, other_columns)
            if writer is None:
                first = logged
                writer = closed_at_end.enter_context(_open_writer(path, file, table.schema))
            writer.write_table(table)
            rows += len(table)
        if first is None:
            raise LogError(f"{path}: there are no rows to write", path=path)
    lines = "".join(f"# {line}\n" for line in comment)
    write_text(schema_path, lines + to_toml(schema_to_write(first)))
    return rows


def _with_logged_motion(recording: Recording, path: Path) -> Recording:
    recording.require_wrench()
    if recording.streams:
        raise LogError(
            f"{path}: the recording has streams with clocks of their own, and a file has one: "
            "write identify.signals.on_one_clock(recording)"
        )
    tcp = recording.body_frame.tcp
    return recording if tcp is None else recording_of_frame(recording, tcp)


def _columns_to_write(recording: Recording, other_columns: ColumnsOutsideSchema | None) -> pa.Table:
    columns: dict[str, Array] = {} if recording.time is None else {"t": recording.time}
    for signal in SIGNALS:
        if signal.name in recording.signals:
            columns |= dict(zip(signal.columns, recording.signals[signal.name].T, strict=True))
    if other_columns is not None:
        for name, values in other_columns.at(recording.time).items():
            columns[f"log.{name}" if name in columns else name] = values
        if recording.time is not None:
            columns["t"] = recording.time + other_columns.start
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def _open_writer(
    path: Path, file: IO[bytes], schema: pa.Schema
) -> pacsv.CSVWriter | pq.ParquetWriter:
    if path.suffix == ".csv":
        return pacsv.CSVWriter(file, schema)
    return pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)


def schema_to_write(recording: Recording) -> dict[str, object]:
    """Return the schema that `write_log` writes beside a recording."""
    clock: dict[str, object] = {"still": True} if recording.still else {"time": "t"}
    tables: dict[str, dict[str, object]] = {}
    for signal in SIGNALS:
        if signal.name in recording.signals:
            tables.setdefault(signal.table, {})[signal.key] = list(signal.columns)
    tables_with_units = {
        table: named | _signal_tables(recording, table) for table, named in tables.items()
    }
    world = {"gravity": recording.gravity.tolist(), **_keys_without_unit(recording, "world")}
    whole: dict[str, object] = {"log": clock, "world": world}
    if body := _body_table(recording.body_frame):
        whole["body"] = body
    whole |= tables_with_units
    if "effects" in recording.schema:
        whole["effects"] = recording.schema["effects"]
    return whole


def to_toml(tables: Mapping[str, object], path: str = "") -> str:
    """Format nested tables of strings, numbers, booleans and lists as TOML."""
    plain = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    lines = [f"[{path}]"] if path and plain else []
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    parts = ["\n".join(lines) + "\n"] if lines else []
    for key, value in tables.items():
        if isinstance(value, Mapping):
            parts.append(to_toml(value, f"{path}.{key}" if path else key))
    return "\n".join(parts)


def _body_table(frame: BodyFrame) -> dict[str, object]:
    body: dict[str, object] = {} if frame.name is None else {"name": frame.name}
    if frame.tcp is not None:
        body["tcp"] = tool_point_keys(frame.tcp)
    elif frame.flange is not None:
        body["flange"] = placement_keys(frame.flange)
    return body


def _signal_tables(recording: Recording, table: str) -> dict[str, object]:
    if table == "pose":
        return {"order": "xyzw", "maps": "body_to_world"}
    if table == "imu":  # what it read stands along B
        imu = recording.imu or Imu()
        aligned = Pose(np.eye(3), imu.X_BI.position)
        return {"mount": imu_placement_keys(replace(imu, X_BI=aligned))}
    meaning: dict[str, object] = {"frame": recording.frames[table]}
    if table == "acceleration":
        meaning["kind"] = recording.acceleration_kind
    if table == "wrench":
        meaning["acts_on"] = "body"
        if recording.compensated:
            meaning["compensated"] = compensated_keys(recording.compensated)
        if recording.X_BS is not None and recording.frames["wrench"] == "sensor":
            meaning["mount"] = placement_keys(recording.X_BS)
        at_tcp = wrench_point(recording.frames["wrench"], recording.body_frame.tcp)
        if at_tcp is not None and recording.X_BS is None:
            meaning["point"] = "flange"
        meaning |= _keys_without_unit(recording, "wrench")
    return meaning


def _keys_without_unit(recording: Recording, table: str) -> dict[str, object]:
    """Return the schema keys of the recording that hold in any unit: accuracies, sensor name."""
    schema_table = recording.schema.get(table)
    tables = schema_table.items() if isinstance(schema_table, Mapping) else ()
    return {key: value for key, value in tables if key in _KEYS_WITHOUT_UNIT and value is not None}


@dataclass(frozen=True, slots=True)
class ColumnsOutsideSchema:
    """Numeric columns of a log that its schema does not name, with their times.

    Attributes:
        start: stamp of the first row kept [s]; zero where the log has no stamps.
        time: of each row that can be used, since that stamp [s], shape (n,); None for static poses.
        columns: by name, of the same rows, shape (n,) each.
    """

    start: float
    time: Array | None
    columns: Mapping[str, Array]

    @classmethod
    def of(cls, recording: Recording) -> ColumnsOutsideSchema | None:
        """Return the columns outside the schema of one text or Parquet file; None for others."""
        schema = load_schema(recording.schema)
        source, *more = plan_sources(recording.sources[0].path, schema)
        if more or format_of(source.path) not in ("text", "parquet"):
            return None
        valid = with_defects_marked(read_table(source), source, is_only_file=True).without_defects()
        clock, names = read_clock([valid], [source.layout]), valid.names
        used = {
            find_column(source.path, names, without_sign(column)[0]) for column in source.columns
        }
        unnamed = [k for k, n in enumerate(names) if k not in used and n != source.layout.time]
        columns: Mapping[str, Array] | None = None
        while columns is None:
            try:
                table = read_table(replace(source, columns=tuple(unnamed)))
                columns = {names[k]: table.columns[k][valid.row_numbers] for k in unnamed}
            except LogError as error:
                if error.column not in unnamed:
                    raise
                unnamed.remove(error.column)  # it holds texts
        start = 0.0 if clock is None or clock.start is None else float(clock.start)
        return cls(start, None if clock is None else clock.time, columns)

    def at(self, time: Array | None) -> dict[str, Array]:
        """Return the columns at given times [s] from the nearest rows (static poses: all rows)."""
        if time is None or self.time is None:
            return dict(self.columns)
        after = np.clip(np.searchsorted(self.time, time), 1, len(self.time) - 1)
        nearest = after - (time - self.time[after - 1] < self.time[after] - time)
        return {name: column[nearest] for name, column in self.columns.items()}

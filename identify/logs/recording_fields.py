"""Construction of the fields of a `Recording` from files or arrays and a schema."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, seal
from identify.errors import LogError, SchemaError
from identify.files import digest
from identify.findings import Finding
from identify.logs.convert import (
    convert_signals,
    schema_acceleration_kind,
    schema_axes,
    schema_imu,
    schema_noise,
    with_zero_wrench,
)
from identify.logs.log_sources import plan_sources, read_source
from identify.logs.orientation import angles_in_degrees, logged_rotation_angles
from identify.logs.readers import log_files
from identify.logs.recording_parts import DroppedRows, SourceFile, Stream
from identify.logs.schema import Schema, SignalGroup
from identify.logs.stream_grouping import StreamRows, rate_mismatches, read_streams, subtract_start
from identify.logs.table import LogInMemory, Table
from identify.logs.tool_point import wrench_point
from identify.texts import plain_name

if TYPE_CHECKING:
    from pandas import DataFrame

LogLike: TypeAlias = "str | PathLike[str] | Mapping[str, ArrayLike] | DataFrame"
"""A log as a file or folder, or as a table in memory."""


class LogContent(NamedTuple):
    """Content of a log: fields common to the recordings of all sensors, and its rows by clock."""

    path: Path
    recording_fields: dict[str, Any]
    streams: Sequence[StreamRows]
    stream_times: Sequence[Array | None]


SignalConverter: TypeAlias = Callable[[Mapping[SignalGroup, Table]], dict[str, Array]]
"""Function that converts logged rows, by group of signals, to signals in SI."""


def read_content(log: LogLike, schema: Schema, convert: SignalConverter) -> LogContent:
    """Read the columns that a schema names, and convert them to signals in SI."""
    place = Path(log) if isinstance(log, str | PathLike) else LogInMemory.of(log)
    sources = plan_sources(place, schema)
    tables = [read_source(source, is_only_file=len(sources) == 1) for source in sources]
    streams, findings = read_streams(sources, tables, schema)
    with np.errstate(over="ignore", invalid="ignore"):  # `sealed` refuses what overflows
        converted = [convert(stream.valid_rows) for stream in streams]
    held = (part for source in sources for part in log_files(source.path))
    paths = dict.fromkeys(held) if isinstance(place, Path) else ()
    files = tuple(SourceFile(path, digest(path)) for path in paths)
    path = place if isinstance(place, Path) else Path(place.name)
    times = subtract_start(streams)
    signals = [
        {name: sealed(path, name, values) for name, values in of_stream.items()}
        for of_stream in converted
    ]
    fields = {
        "name": plain_name(_log_name(path)) if isinstance(place, Path) else place.name,
        "time": None if times[0] is None else sealed(path, "time", times[0]),
        "signals": signals[0],
        "gravity": seal(schema.world.gravity, "gravity", (3,)),
        "sources": files,
        "sha256": digest_of_files(files) if isinstance(place, Path) else _digest_of_tables(tables),
        "rows": sum(stream.rows_in_file for stream in streams),
        "dropped": sum((stream.dropped for stream in streams), DroppedRows()),
        "schema": schema.as_written(),
        "streams": tuple(
            Stream(stream.name, sealed(path, "time", time), of_stream)
            for stream, time, of_stream in zip(streams[1:], times[1:], signals[1:], strict=True)
            if time is not None
        ),
        "findings": (*findings, *_transposed_findings(tables), *rate_mismatches(streams, times)),
    }
    return LogContent(path, fields, streams, times)


def read_fields(log: LogLike, schema: Schema) -> dict[str, Any]:
    """Read a log and return the fields of its `Recording`; errors are those of `read_log`."""
    require_body_signals(schema)
    content = read_content(log, schema, lambda valid_rows: convert_signals(valid_rows, schema))
    path, fields, streams, times = content
    described = fields_without_rows(path, schema, fields["sources"])
    return {
        **described,
        **fields,
        "signals": with_zero_wrench(fields["signals"], schema),
        "attitude_coordinates": _coordinates_of_streams(path, streams, schema),
        "findings": (
            *fields["findings"],
            *_angle_unit_findings(streams, times, schema),
            *described["findings"],
        ),
    }


def require_body_signals(schema: Schema) -> None:
    """Raise unless a schema has signals of a body.

    Raises `SchemaError`: it has those of joints alone.
    """
    if schema.sensor == "joints":
        raise SchemaError(
            "the schema has [joints] and neither [wrench] nor [pose]: `identify fit` with --robot "
            "arm.urdf, and `identify fit-arm`, fit joint torques; in Python "
            "identify.read_log(log, schema) reads them"
        )


def fields_without_rows(log: Path, schema: Schema, files: Sequence[SourceFile]) -> dict[str, Any]:
    """Return the fields of a `Recording` that follow from the schema and the files alone."""
    wrench, frame = schema.wrench, schema.body_frame
    point = None if wrench.point == "flange" else wrench_point(wrench.frame, frame.tcp)
    return {
        "name": plain_name(_log_name(log)),
        "time": None,
        "signals": {},
        "frames": schema_axes(schema),
        "gravity": seal(schema.world.gravity, "gravity", (3,)),
        "sources": tuple(files),
        "sha256": digest_of_files(files),
        "rows": 0,
        "acceleration_kind": schema_acceleration_kind(schema),
        "noise": schema_noise(schema),
        "wrench_delay": wrench.delay_s,
        "delay_axes": wrench.delay_axes,
        "X_BS": wrench.mount.pose if wrench.mount else point,
        "compensated": wrench.compensated.about_origin(frame) if wrench.compensated else (),
        "body_frame": frame,
        "imu": None if schema.imu is None else schema_imu(schema),
        "findings": (*_free_flight_findings(schema), *_robot_findings(schema)),
        "schema": schema.as_written(),
    }


def sealed(log: Path, name: str, values: Array) -> Array:
    """Return an array contiguous and read-only; raise for implausible magnitudes."""
    values = np.ascontiguousarray(values)
    return seal(values, f"{log}: {name}", (None,) * values.ndim, partial(LogError, path=log))


def attitude_coordinates_of(
    log: Path, valid_rows: Mapping[SignalGroup, Table], schema: Schema
) -> Array | None:
    """Return the logged Euler angles, rotation vectors or joint positions that give the pose."""
    if schema.pose is None or "pose" not in valid_rows:
        return None
    valid = valid_rows["pose"]
    if schema.has_pose_from_joints and schema.joints is not None:
        numbers = valid.stacked_columns(schema.joints.position)
    else:
        numbers = logged_rotation_angles(valid, schema.pose)
    return None if numbers is None else sealed(log, "rotation", numbers)


def _coordinates_of_streams(
    path: Path, streams: Sequence[StreamRows], schema: Schema
) -> Array | None:
    """Return the attitude coordinates as logged, from the stream that has the pose."""
    numbers = (attitude_coordinates_of(path, stream.valid_rows, schema) for stream in streams)
    return next((array for array in numbers if array is not None), None)


def digest_of_files(files: Sequence[SourceFile]) -> str:
    """Return the digest of one file, or of the concatenated digests of several (hexadecimal)."""
    if len(files) == 1:
        return files[0].sha256
    return hashlib.sha256("".join(file.sha256 for file in files).encode("ascii")).hexdigest()


def _angle_unit_findings(
    streams: Sequence[StreamRows], times: Sequence[Array | None], schema: Schema
) -> Iterator[Finding]:
    for stream, time in zip(streams, times, strict=True):
        if schema.has_pose_from_joints and "pose" in stream.valid_rows:
            from identify.logs.joint_signals import joints_in_degrees  # which few logs need

            yield from joints_in_degrees(stream.valid_rows["pose"], schema)
        elif schema.pose is not None and "pose" in stream.valid_rows:
            yield from angles_in_degrees(stream.valid_rows["pose"], schema.pose, time)


def _transposed_findings(tables: Sequence[Table]) -> Iterator[Finding]:
    for table in tables:
        if table.transposed:
            names = ", ".join(table.transposed)
            text = f"{table.path.name}: {names}: samples are along the last axis; read transposed."
            yield Finding("transposed", "info", text)


def _free_flight_findings(schema: Schema) -> Iterator[Finding]:
    if schema.wrench.force is None:
        acts = "but gravity and the torque" if schema.wrench.torque else "but gravity"
        at_com = "; its origin is taken to be its centre of mass" if schema.origin_is_com else ""
        text = f"the schema names no force: nothing acts on the body {acts}{at_com}."
        yield Finding("free_flight", "info", text, "If a force acts, name it in [wrench].")


def _robot_findings(schema: Schema) -> Iterator[Finding]:
    if schema.has_pose_from_joints:
        from identify.logs.joint_signals import robot_finding  # which few logs need

        yield robot_finding(schema)
    elif schema.joints is not None and schema.joints.effort is not None:
        yield Finding(
            "joints_unused",
            "info",
            "the schema has [wrench] and [joints]: the wrench was read, and not the joints.",
            "To fit the joints' torques, give --robot arm.urdf (in Python "
            'read_log(log, schema, sensor="joints")); else leave [joints] out.',
        )


def _digest_of_tables(tables: Sequence[Table]) -> str:
    """Return the digest of the used columns of a log in memory: names, types and bytes."""
    sha256 = hashlib.sha256()
    for table in tables:
        for name, column in [("", table.stamps), *table.columns.items()]:
            if column is not None:
                sha256.update(f"{name!r} {column.dtype.str} {len(column)}\n".encode())
                sha256.update(np.ascontiguousarray(column).data)
    return sha256.hexdigest()


def _log_name(log: Path) -> str:
    if log.is_dir():
        return log.resolve().name
    return Path(log.stem).stem if log.suffix.lower() == ".gz" else log.stem

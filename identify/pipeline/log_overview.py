"""`look_at_log`: what a log has and lacks, before any fit and before its schema is right."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from identify.diagnosis.signal_marks import (
    ClockSummary,
    recording_marks,
    signal_marks,
    summarise_clock,
)
from identify.diagnosis.spans import Span
from identify.errors import IdentifyError
from identify.files import read_bytes
from identify.logs import Recording, read_log
from identify.logs.column_use import ColumnUse, column_uses, schema_table
from identify.logs.draft_lines import drafted_keys
from identify.logs.draft_schema import DraftSchema, draft_schema
from identify.logs.raw_columns import RawTable, read_raw_tables

_ATTITUDE_KEYS = ("quaternion", "matrix", "euler", "rotation_vector")


class MissingEntry(NamedTuple):
    """Something that a log lacks, what needs it, and the lines or the option that give it."""

    name: str
    purpose: str
    remedy: str


@dataclass(frozen=True, slots=True)
class TableOverview:
    """A table of a log, what its columns are taken for, and its stamps.

    Attributes:
        raw: the table with its numbers as logged.
        uses: what each column is taken for.
        clock: summary of its stamps; None without stamps.
    """

    raw: RawTable
    uses: tuple[ColumnUse, ...]
    clock: ClockSummary | None

    def vectors(self) -> dict[str, list[ColumnUse]]:
        """Return the columns in use that have numbers, by the signal that they are taken for."""
        vectors: dict[str, list[ColumnUse]] = {}
        for use in self.uses:
            if use.signal and not use.signal.startswith("log.") and use.column in self.raw.columns:
                vectors.setdefault(use.signal, []).append(use)
        return vectors


@dataclass(frozen=True, slots=True)
class LogOverview:
    """A log before any fit.

    Attributes:
        path: file or folder.
        name: name of the log.
        schema_text: the schema, given or drafted.
        drafted: whether the schema was drafted from the names of the columns.
        tables: tables of the log.
        recording: the log in SI; None if it cannot be read with the schema.
        problem: why it cannot; empty if it can.
        missing: what a fit, or the use of its result, still needs.
        marks: gaps, rests, constant values and spikes of the signals in SI, else of the columns as
            logged, whose channel is then that of a `ColumnUse` or a column.
    """

    path: Path
    name: str
    schema_text: str
    drafted: bool
    tables: tuple[TableOverview, ...]
    recording: Recording | None
    problem: str
    missing: tuple[MissingEntry, ...]
    marks: tuple[Span, ...]

    def record(self) -> dict[str, object]:
        """Return what is known of the log as plain values, without its numbers."""
        columns = {
            use.column: {"signal": use.signal, "unit": use.unit, "certainty": use.certainty}
            for table in self.tables
            for use in table.uses
        }
        return {
            "readable": self.recording is not None,
            "problem": self.problem,
            "columns": columns,
            "missing": {entry.name: entry.remedy for entry in self.missing},
        }


def look_at_log(log: Path, schema: Path | DraftSchema | None = None) -> LogOverview:
    """Look at a log with a schema.

    `schema`: its file or a draft; by default drafted from the names of the columns.
    Raises `LogError`: the columns of the log cannot be listed; `MissingFile` without log or schema.
    """
    file = schema if isinstance(schema, Path) else None
    draft = DraftSchema("") if isinstance(schema, Path) else schema or draft_schema(log)
    text = draft.text if file is None else read_bytes(file).decode("utf-8", "replace")
    document = dict[str, Any]()
    recording = None
    problem = ""
    with suppress(tomllib.TOMLDecodeError):  # which `load_schema` reports
        document = tomllib.loads(text)
    try:
        recording = read_log(log, document if file is None else file)
    except IdentifyError as error:
        problem = str(error).removeprefix("schema: ")
    tables = tuple(
        TableOverview(
            raw,
            column_uses(raw, document, text, drafted=file is None),
            summarise_clock(raw.time) if raw.stamped and raw.time is not None else None,
        )
        for raw in read_raw_tables(_files(log, document), schema_table(document, "log"))
    )
    return LogOverview(
        path=log,
        name=log.name if recording is None else recording.name,
        schema_text=text,
        drafted=file is None,
        tables=tables,
        recording=recording,
        problem=problem,
        missing=tuple(_missing_entries(document, draft, tables)),
        marks=recording_marks(recording) if recording else _raw_marks(tables),
    )


def _files(log: Path, document: Mapping[str, Any]) -> list[Path]:
    """Return the files of a log, also those that the streams of its schema name."""
    folder = log if log.is_dir() else log.parent
    streams = schema_table(document, "streams")
    names = dict.fromkeys(schema_table(streams, name).get("file") for name in streams)
    files = [folder / name for name in names if isinstance(name, str)]
    return files if files and log.is_dir() else [log, *files]


def _raw_marks(tables: tuple[TableOverview, ...]) -> tuple[Span, ...]:
    """Return the marks of columns as logged: of each signal in use, and of each other column."""
    marks: list[Span] = []
    for table in tables:
        raw = table.raw
        vectors = {signal: [use.column for use in uses] for signal, uses in table.vectors().items()}
        others = (use.column for use in table.uses if not use.signal and use.column in raw.columns)
        vectors |= {column: [column] for column in others}
        for name, columns in vectors.items():
            values = np.stack([raw.columns[column] for column in columns], axis=-1)
            complete = np.isfinite(values).all(axis=1) & np.isfinite(raw.abscissa)
            of_signal = signal_marks(raw.abscissa[complete], {name: values[complete]})
            marks += [mark for mark in of_signal if mark.channel or mark not in marks]
        if raw.time is not None and not raw.by_time:
            back = (np.flatnonzero(np.diff(raw.time) < 0.0) + 2.0).tolist()
            marks += [Span("backward", row, row, 1) for row in back]
    return tuple(marks)


def _missing_entries(
    document: Mapping[str, Any], draft: DraftSchema, tables: tuple[TableOverview, ...]
) -> Iterator[MissingEntry]:
    """Yield what a fit of the log, or the use of its result, still needs."""
    named = Counter(use.signal for table in tables for use in table.uses if use.signal)
    clock, pose = schema_table(document, "log"), schema_table(document, "pose")
    if "time" in draft.missing_signals or not clock.keys() & {"time", "rate_hz", "still"}:
        remedy = '[log]\ntime = "COLUMN"        # or rate_hz = 100.0, or still = true'
        yield MissingEntry("time stamps", "any motion; static poses need none", remedy)
    if "joints.position" in named and "wrench.torque" not in named:
        if "joints.effort" not in named:
            remedy = '[joints]\neffort = ["TAU1", "TAU2", …]'
            yield MissingEntry("torques or motor currents of the joints", "a fit", remedy)
        remedy = "identify fit … --robot arm.urdf"
        yield MissingEntry("the model of the arm", "a fit", remedy)
        return
    if "wrench.torque" not in named:
        remedy = (
            '[wrench]\nforce = ["FX", "FY", "FZ"]\ntorque = ["TX", "TY", "TZ"]\n'
            'frame = "sensor"\nacts_on = "sensor"\n# or of an arm:\n[joints]\nnames = ["J1", …]\n'
            'position = ["Q1", …]\neffort = ["TAU1", …]'
        )
        name = "force and torque, or positions and torques of joints"
        yield MissingEntry(name, "a fit, except of a body in free flight", remedy)
    attitude = named.keys() & {f"pose.{key}" for key in _ATTITUDE_KEYS}
    position = "pose.position" in named or named["pose.matrix"] == 16
    has_motion = "imu.accelerometer" in named or "robot" in pose
    if not attitude and not has_motion:
        remedy = (
            '[pose]\nposition = ["X", "Y", "Z"]\nquaternion = ["QX", "QY", "QZ", "QW"]\n'
            '# or of an IMU:\n[imu]\ngyro = ["GX", "GY", "GZ"]\naccelerometer = ["AX", "AY", "AZ"]'
        )
        name = "a pose, or an accelerometer with a gyro"
        yield MissingEntry(name, "the direction of gravity and the motion of the body", remedy)
    elif not position and not has_motion and not clock.get("still"):
        remedy = '[pose]\nposition = ["X", "Y", "Z"]\n# or of static poses:\n[log]\nstill = true'
        yield MissingEntry("the position", "the acceleration of the body", remedy)
    if any(key.uncertain and key.table == "body.tcp" for key in drafted_keys(draft.text)):
        name, remedy = "the tool point in the flange", "[body.tcp]\npose = [X, Y, Z, RX, RY, RZ]"
        yield MissingEntry(name, "a fit: the pendant shows it, the draft has zeros", remedy)
    if "wrench.torque" in named and not schema_table(document, "body").keys() & {"flange", "tcp"}:
        remedy = "[body.flange]\ntranslation = [0.0, 0.0, 0.0]"
        yield MissingEntry("the flange", "`identify export`; a fit does without", remedy)

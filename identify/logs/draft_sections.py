"""Drafts of `[log]`, `[pose]`, `[imu]` and `[wrench]`, by the names and the values of columns."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import LogError
from identify.logs.draft_lines import NEEDS_REVIEW, SchemaLine, format_toml_lines
from identify.logs.named_vectors import NamedVectors
from identify.logs.readers import read_table
from identify.logs.schema_fields import column_names
from identify.logs.schema_tables import LogTable
from identify.logs.table import ColumnSource, Table
from identify.logs.units import (
    ACCELERATION_UNITS,
    ANGLE_UNITS,
    FORCE_UNITS,
    LENGTH_UNITS,
    SECONDS_PER_DAY,
    TORQUE_UNITS,
)
from identify.relevance import LONGEST_SAMPLE_PERIOD
from identify.spatial.rotations import vector_norms
from identify.spatial.vectors import STANDARD_GRAVITY

_TIME_COLUMNS = re.compile(
    r"%?(.*[./])?_*(t|date|datum|(date_?)?time|stamp|time_?stamp|seconds|secs?|ipoc|header\.stamp"
    r"|(uhr)?zeit|zeitstempel|sekunden?|temps|horodatage|tiempo|segundos|tempo|secondi|tv_sec)"
    r"((_| ?/ ?| in )?(s|ms|us|ns)| ?[\[(](s|ms|us|ns)[\])])?",
    re.I,
)
_FRACTION_COLUMNS = re.compile(
    r"(?P<before>.*?)(?P<unit>nano|n|micro|u|milli|m)_?(secs?|seconds)", re.I
)
"""Name patterns of columns with the fraction of a second: `nanosec`, `nsecs`, `tv_usec`."""
_ROTATION_VECTOR_NAMES = re.compile(r"ve[ck]t|rv|axis.?angle", re.I)
"""Pattern of names that are no Euler angles'."""
_UNIT_IN_NAME = re.compile(r".*[_\[(/ ](us|ms|ns)[\])]?")

_MAX_POSITION, FULL_TURN = 20.0, 2.0 * np.pi + 0.1
"""Coordinate beyond the reach of an arm [m]; angle beyond a full turn [rad]."""
_MAX_ANGULAR_VELOCITY, _GRAVITY_RTOL = 20.0, 0.4
"""Maximum angular velocity of a robot's body [rad/s]; largest relative deviation of an
accelerometer's median reading from gravity in its unit."""

_RATES_HZ = 5.0, 2e4
"""Usual sampling rates of logs [Hz]."""

_MIN_JUMP_STEP = 0.3
"""Minimum mean step of rotation entries between separate static poses, relative to the spread of
the entries (a sine exceeds it only below 20 rows per period)."""

_MAX_POSE_PERIOD = 600.0
"""Maximum time between static poses of one row each [s]."""

_MIN_REST_JUMP, _MAX_REST_STEP, _MIN_RESTING_POSES = 0.05, 0.125, 4
"""Minimum step between poses at rest, relative to the spread; largest step and turn in one,
relative to the smallest of these; fewest poses."""


def time_lines(
    table: NamedVectors, values: Table | None, missing: list[str], log: Path
) -> list[SchemaLine]:
    """Draft the lines of `[log]`: time stamps and their unit, a rate, or static poses."""
    lines: list[SchemaLine] = [(key, value, "") for key, value in table.table.layout.items()]
    times = time_columns(table)
    if not times and _rotation_jumps(log, table):
        why = f"{NEEDS_REVIEW} no time stamps, and poses that jump: static poses"
        return [*lines, ("still", True, why)]
    if not times:
        missing.append("time")
        why = f"{NEEDS_REVIEW} no column looks like time stamps; for static poses: still = true"
        return [*lines, ("rate_hz", 100.0, why)]
    if (pair := _seconds_and_fraction(table.table.names)) is not None:
        seconds, fraction, unit = pair
        lines += [("time", seconds, "whole seconds"), ("time_fraction", fraction, "what follows")]
        return lines if unit == "ns" else [*lines, ("time_fraction_unit", unit, "")]
    also = f"also: {', '.join(times[1:4])}" if len(times) > 1 else table.unsure.get("time", "")
    lines.append(("time", times[0], f"{NEEDS_REVIEW} {also}" if also else ""))
    if values is None or values.stamps is None or values.ticks_per_second is not None:
        return lines
    steps = np.diff(values.stamps.astype(np.float64))
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    named = _UNIT_IN_NAME.fullmatch(times[0].lower())
    written = named[1] if named else table.table.units.get(times[0], "").strip("[]()")
    units = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "d": 1.0 / SECONDS_PER_DAY}
    fitting = [u for u, n in units.items() if step > 0.0 and _RATES_HZ[0] < n / step < _RATES_HZ[1]]
    unit = written if written in units else next(iter(fitting), "s")
    rate = f"{units[unit] / step:.4g} rows a second" if step > 0.0 else ""
    ticks = values.stamps.astype(np.float64)
    if poses := _resting_poses(log, table, ticks / units[unit], ticks / units.get(written, 1.0)):
        why = f"{poses} poses, with jumps between; of a motion: time = {json.dumps(times[0])}"
        return [*lines[:-1], ("still", True, why)]
    if unit != "s" or len(fitting) != 1:
        unsure = "" if unit == written or len(fitting) == 1 else f"{NEEDS_REVIEW} "
        lines.append(("time_unit", unit, f"{unsure}{rate}"))
    return lines


def time_columns(table: NamedVectors) -> list[str]:
    """Return the columns that look like time stamps; a date, which may go with a time, is last."""
    times = [name for name in table.table.names if _TIME_COLUMNS.fullmatch(name)]
    times = times or table.likeliest("time") or []
    return sorted(times, key=lambda name: name.lower() in ("date", "datum"))


def is_static(clock: Sequence[SchemaLine]) -> bool:
    """Return whether the drafted lines of `[log]` declare each row a static pose."""
    return any(key == "still" for key, _, _ in clock)


def _rotation_jumps(log: Path, table: NamedVectors) -> bool:
    """Return whether the rotation jumps between rows, or rests, more than a sampled motion can."""
    rotation = _relative_rotation(log, table)
    edges = _edges_of_rests(rotation)
    return len(rotation) > 1 and _steps(rotation[edges[:-1]]).mean() > _MIN_JUMP_STEP


def _resting_poses(log: Path, table: NamedVectors, seconds: Array, slow_seconds: Array) -> int:
    """Return the number of poses at rest of which a log consists, jumping between; 0 if it moves.

    A slower sensor whose samples are held jumps too, but more than once a second.

    `seconds`: stamps in the unit that makes a usual rate; `slow_seconds`: in the unit that is
    written, or in seconds, as of poses that are typed one by one.
    """
    rotation = _relative_rotation(log, table)
    if len(rotation) != len(seconds) or len(rotation) < _MIN_RESTING_POSES:
        return 0
    period = float(np.median(np.diff(slow_seconds)))
    is_row_a_pose = _steps(rotation).mean() > _MIN_JUMP_STEP
    if is_row_a_pose and LONGEST_SAMPLE_PERIOD <= period < _MAX_POSE_PERIOD:
        return len(rotation)
    edges = _edges_of_rests(rotation)
    if len(edges) > len(rotation):  # no row rests
        return 0
    slow_sensor = np.median(np.diff(seconds[edges[:-1]])) < LONGEST_SAMPLE_PERIOD
    return 0 if slow_sensor else len(edges) - 1


def _edges_of_rests(rotation: Array) -> Indices:
    """Return the first rows of poses that rest for rows, and the end; of a motion every row."""
    every: Indices = np.arange(len(rotation) + 1)
    steps = _steps(rotation)
    jumps = steps > _MIN_REST_JUMP
    if jumps.sum() < _MIN_RESTING_POSES - 1:
        return every
    edges: Indices = np.concatenate(([0], np.flatnonzero(jumps) + 1, [len(rotation)]))
    # A quaternion that changes its sign jumps as well, but does not rest before and after.
    turns = vector_norms(rotation[edges[1:] - 1] - rotation[edges[:-1]])
    largest = max(turns.max(), steps[~jumps].max(initial=0.0))
    is_motion = largest > _MAX_REST_STEP * steps[jumps].min() or np.diff(edges).min() < 2
    return every if is_motion else edges


def _relative_rotation(log: Path, table: NamedVectors) -> Array:
    """Return the entries of the rotation as logged, relative to their spread, shape (n, k)."""
    if table.rotation is None or (values := read_columns(log, table, [table.rotation[1]])) is None:
        return np.empty((0, 3))
    numbers = values.stacked_columns(table.rotation[1])
    return numbers / max(float(np.linalg.norm(np.std(numbers, axis=0))), np.finfo(float).tiny)


def _steps(rows: Array) -> Array:
    """Return the distance of each row from the one before, shape (n - 1,)."""
    return vector_norms(np.diff(rows, axis=0))


def _seconds_and_fraction(names: Sequence[str]) -> tuple[str, str, str] | None:
    """Find columns of whole seconds and of their fraction, with the fraction's unit."""
    for name in names:
        if (match := _FRACTION_COLUMNS.fullmatch(name)) is None:
            continue
        rest = r"_?(secs?|seconds)"
        seconds = (n for n in names if re.fullmatch(re.escape(match["before"]) + rest, n, re.I))
        if (whole := next(seconds, None)) is not None:
            return whole, name, f"{match['unit'][0].lower()}s"
    return None


def pose_lines(table: NamedVectors, log: Path | None) -> list[SchemaLine] | None:
    """Draft the lines of `[pose]`, with units from the values of the log."""
    lines: list[SchemaLine] = []
    if table.rotation is None:
        return None
    position, (kind, rotation) = table.likeliest("position"), table.rotation
    values = None if log is None else read_columns(log, table, [position, rotation])
    if position is not None and not (kind == "matrix" and len(rotation) == 16):
        lines.append(("position", position, _alternatives_comment(table, "position")))
        if (unit := table.unit_of(position)) in LENGTH_UNITS:
            lines += _unit_lines("position_unit", unit)
        elif largest_value(values, position) > _MAX_POSITION:
            lines.append(("position_unit", "mm", f"{NEEDS_REVIEW} as large as no arm in metres"))
    why = _alternatives_comment(table, kind)
    if kind == "rotation_vector" and not _ROTATION_VECTOR_NAMES.search(rotation[0]):
        why = why or f'{NEEDS_REVIEW} or Euler angles: euler, with order = "xyz" or "ZYX"'
    lines.append((kind, rotation, why))
    if kind == "quaternion" and not rotation[-1].lower().endswith("w"):
        lines.append(("order", "xyzw", f'{NEEDS_REVIEW} or "wxyz"'))
    if kind == "matrix" and values is not None and len(rotation) == 16:
        by_column = (
            largest_value(values, rotation[3:12:4]) == 0.0 < largest_value(values, rotation[12:15])
        )
        lines.append(("order", "column" if by_column else "row", "by where it has 0, 0, 0, 1"))
    elif kind == "matrix":
        lines.append(("order", "row", f'{NEEDS_REVIEW} or "column"'))
    of_kuka = kind == "euler" and table.is_abc(rotation)
    if of_kuka:
        lines.append(("order", "ZYX", "KUKA: A, B, C are angles about z, y, x"))
    elif kind == "euler":
        lines.append(("order", "xyz", f'{NEEDS_REVIEW} turns about fixed axes; "ZYX" is the same'))
    elif kind != "rotation_vector":
        return lines
    if (unit := table.unit_of(rotation)) in ANGLE_UNITS:
        lines += _unit_lines("angle_unit", unit)
    elif of_kuka:
        lines.append(("angle_unit", "deg", f"{NEEDS_REVIEW} as KUKA writes them"))
    elif largest_value(values, rotation) > FULL_TURN:
        lines.append(("angle_unit", "deg", f"{NEEDS_REVIEW} larger than a full turn in radians"))
    return lines


def imu_lines(table: NamedVectors, log: Path) -> list[str]:
    """Draft the lines of `[imu]` for a log without a pose, with units by names or values."""
    gyro, read = table.vectors["angular"][0], table.likeliest("acceleration")
    values = read_columns(log, table, [gyro, read])
    unit = "deg" if table.unit_of(gyro) == "deg" else "rad"
    why = f"{NEEDS_REVIEW} no columns look like a pose; {unit}/s, along the axes of the wrench"
    gyro_lines: list[SchemaLine] = [("gyro", gyro, why), *_unit_lines("angle_unit", unit)]
    if unit == "rad" and largest_value(values, gyro) > _MAX_ANGULAR_VELOCITY:
        gyro_lines[0] = ("gyro", gyro, why.replace("rad/s", "deg/s"))
        gyro_lines.append(
            ("angle_unit", "deg", f"{NEEDS_REVIEW} faster than any robot turns in radians")
        )
    lines = ["", "[imu]", *format_toml_lines(gyro_lines)]
    if read is None:
        return lines
    named = "g" if table.unit_of(read) == "g" else "m/s^2"
    unit = named if named == "g" else _accelerometer_unit(values, read)
    why = f"{NEEDS_REVIEW} proper acceleration: as gravity at rest, in {unit}"
    lines += format_toml_lines([("accelerometer", read, why), *_unit_lines("unit", named)])
    if unit != named:
        lines += format_toml_lines(
            [("unit", unit, f"{NEEDS_REVIEW} the median length is about one g in it")]
        )
    where = f"{NEEDS_REVIEW} of the accelerometer, in the frame of the wrench [m]"
    return [
        *lines,
        "",
        "[imu.mount]",
        *format_toml_lines([("translation", [0.0, 0.0, 0.0], where)]),
    ]


def _accelerometer_unit(values: Table | None, columns: list[str]) -> str:
    """Return the unit in which an accelerometer's median reading is about gravity, else m/s^2."""
    if values is None:
        return "m/s^2"
    lengths = np.linalg.norm(values.stacked_columns(columns), axis=1)
    lengths = lengths[np.isfinite(lengths)]
    median = float(np.median(lengths)) / STANDARD_GRAVITY if len(lengths) else 1.0
    units = (
        unit for unit, si in ACCELERATION_UNITS.items() if abs(median * si - 1.0) < _GRAVITY_RTOL
    )
    return next(units, "m/s^2")


def wrench_lines(table: NamedVectors) -> list[SchemaLine] | None:
    """Draft the columns and units of `[wrench]`; None without a force or a torque."""
    force, torque = table.likeliest("force"), table.likeliest("torque")
    if force is None or torque is None:
        return None
    lines: list[SchemaLine] = []
    for name, columns, units in (("force", force, FORCE_UNITS), ("torque", torque, TORQUE_UNITS)):
        lines.append((name, columns, _alternatives_comment(table, name)))
        if (unit := table.unit_of(columns)) in units:
            lines += _unit_lines(f"{name}_unit", unit)
    return lines


def _unit_lines(key: str, unit: str) -> list[SchemaLine]:
    """Draft the line of a unit taken from column names, unless it is the default."""
    why = "as the names of the columns say"
    return [] if unit in ("m", "N", "Nm", "rad", "m/s^2") else [(key, unit, why)]


def _alternatives_comment(table: NamedVectors, role: str) -> str:
    others = [names[0] for names in table.vectors[role][1:4]]
    reasons = [table.unsure[role]] if role in table.unsure else []
    reasons += [f"also: {', '.join(others)} …"] * bool(others)
    return f"{NEEDS_REVIEW} {'; '.join(reasons)}" if reasons else ""


def read_columns(
    log: Path, table: NamedVectors, wanted: Sequence[list[str] | None]
) -> Table | None:
    """Read some columns of a table with its stamps; None if they cannot be read."""
    columns = column_names(name for names in wanted for name in names or ())
    if not columns:
        return None
    times = time_columns(table)
    keys = {"topic": table.table.topic, "time": times[0] if times else None}
    layout = LogTable(**{**keys, **table.table.layout})  # pyright: ignore[reportArgumentType]
    source = ColumnSource(log, layout, ("wrench",), columns, has_stamp_column=False)
    try:
        return read_table(source)
    except LogError:  # what is wrong with its rows is said when it is read with the schema
        return None


def largest_value(values: Table | None, names: list[str] | None) -> float:
    """Return the largest absolute value of some columns; zero without values."""
    if values is None or names is None:
        return 0.0
    magnitudes = np.abs(values.stacked_columns(names))
    return float(np.nanmax(magnitudes)) if np.isfinite(magnitudes).any() else 0.0

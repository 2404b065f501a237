"""Draft of a schema, guessed from column names, for review by the user."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from identify.errors import LogError, SchemaError, did_you_mean
from identify.logs.draft_joints import JointColumns, find_joints
from identify.logs.draft_lines import NEEDS_REVIEW, Line, format_toml_lines
from identify.logs.named_vectors import NamedVectors, named_vectors
from identify.logs.readers import RECEIVED, STAMP, list_tables, read_table
from identify.logs.schema_fields import Column
from identify.logs.schema_tables import LogTable
from identify.logs.table import Source, Table, TableInfo, match_names
from identify.logs.units import ACCELERATION, ANGLE, DAY, FORCE, LENGTH, TORQUE
from identify.spatial.vectors import STANDARD_GRAVITY

_CHECK = f"# Check the lines with {NEEDS_REVIEW}, then: identify check LOG --schema THIS"

_PRESETS = Path(__file__).with_name("presets.toml")

_TIMES = re.compile(
    r"%?(.*[./])?_*(t|date|(date_?)?time|zeit(stempel)?|temps|tiempo|stamp|time_?stamp|seconds|secs?|ipoc|header\.stamp|tv_sec)"
    r"(_?(s|ms|us|ns)| ?[\[(](s|ms|us|ns)[\])])?",
    re.I,
)
_FRACTION_COLUMNS = re.compile(
    r"(?P<before>.*?)(?P<unit>nano|n|micro|u|milli|m)_?(secs?|seconds)", re.I
)
"""Name patterns of columns with the fraction of a second: `nanosec`, `nsecs`, `tv_usec`."""
_UNIT_IN_NAME = re.compile(r".*[_\[(](us|ms|ns)[\])]?")

_FLANGE = (
    "# A payload setting is about the flange. No log contains its pose in the body frame:",
    "# [body.flange]                       # an empty table: the body frame is that of the flange",
    "# translation = [0, 0, -0.045]        # else its origin [m], and its rotation_vector",
)

_ACCURACY = "one sigma of the sensor's scale: 1 % is usual, its data sheet says better"

_POSITION_FAR, _FULL_TURN = 20.0, 2.0 * np.pi + 0.1
_MAX_ANGULAR_VELOCITY, _GRAVITY_RTOL = 20.0, 0.4
"""Maximum angular velocity of a robot's body [rad/s]; tolerance of 1 g as an accelerometer's
median, relative."""

_GAINS = "the gains of the currents"
_GAINS_LINE = f"# gains = []  # {NEEDS_REVIEW} torque on each joint for an ampere [N m/A]"

_MAX_LISTED_COLUMNS = 40
"""Maximum number of columns listed in a comment."""

_RATES_HZ = 5.0, 2e4
"""Usual sampling rates of logs [Hz]."""

_MIN_JUMP_STEP = 0.3
"""Minimum mean step of rotation entries, relative to their spread, of separate static poses (a sine
exceeds it only below 20 rows per period)."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Template of the schema for the logs of a robot or a sensor.

    Attributes:
        name: of the preset.
        title: what it is of.
        columns: that such a log has.
        template: the schema, with fields in braces; empty where it is guessed from the names.
        choices: of what may be in one topic or another, each with its columns, likeliest first.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    template: str
    choices: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def fits(self, names: Sequence[str]) -> bool:
        """Return whether a table has the columns of the preset."""
        return all(match_names(names, c) or match_names(names, f"{c}[0]") for c in self.columns)


@dataclass(frozen=True, slots=True)
class DraftSchema:
    """A drafted schema and the signals it lacks.

    Attributes:
        text: of the file, with comments.
        missing: what no column looked like.
    """

    text: str
    missing: tuple[str, ...] = ()


def presets() -> dict[str, Preset]:
    """Return all presets by name."""
    document = tomllib.loads(_PRESETS.read_text(encoding="utf-8"))
    return {
        name: Preset(
            name,
            entry["title"],
            tuple(entry["columns"]),
            entry["schema"].lstrip("\n"),
            entry.get("choices", {}),
        )
        for name, entry in document.items()
    }


def draft_schema(
    log: Path,
    preset: str | None = None,
    tcp: Sequence[float] | None = None,
    held: Sequence[float] | None = None,
) -> DraftSchema:
    """Draft the schema of a log.

    Args:
        log: the file, or the folder of a bag.
        preset: name of a preset; where not given, the one whose columns the log has, if any.
        tcp: the tool point as a pendant shows it, x, y, z [m] and a rotation vector [rad].
        held: mass [kg] and centre of mass in the flange [m] of the payload that was set on it.

    Raises:
        SchemaError: there is no such preset, or the log has not its columns.
        LogError: the log cannot be read.
    """
    tables = list_tables(log)
    chosen = _choose_preset(log, tables, preset)
    if chosen is not None and chosen.template:
        table = next(table for table in tables if chosen.fits(table.names))
        topics = frozenset(str(table.topic) for table in tables)
        draft = _fill_preset(log, chosen, named_vectors(table), tcp, topics)
        joints = find_joints(table)
        if joints is not None:
            draft = replace(draft, text=f"{draft.text}\n{_joints(log, joints, beside=True)}\n")
        if held is None or not held[0] > 0.0:
            return draft
        mass, *com = map(float, held)
        taken = f"\n[wrench.compensated]\nmass = {mass}\ncom = {json.dumps(com)}\n"
        return replace(draft, text=draft.text + taken)
    return _guess_schema(log, [named_vectors(table) for table in tables])


def _choose_preset(log: Path, tables: Sequence[TableInfo], name: str | None) -> Preset | None:
    """Return the preset of a name, else the first whose columns the log has."""
    known = presets()
    if name is None:
        matches = (p for p in known.values() for table in tables if _suits(p, table))
        return next(matches, None)
    if name not in known:
        raise SchemaError(
            f"no preset {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
        )
    chosen = known[name]
    if not any(chosen.fits(table.names) for table in tables):
        got = "; ".join(", ".join(table.names[:20]) for table in tables[:5])
        raise SchemaError(
            f"{log}: is no log of {chosen.title}: it would have {', '.join(chosen.columns)}, but "
            f"has {got}; leave --preset out to have the columns guessed"
        )
    return chosen


def _suits(preset: Preset, contents: TableInfo) -> bool:
    """Return whether a table has the columns of a preset, and a pose if the preset needs one.

    A table that has neither a pose nor a gyro suits, too: what is missing is said.
    """
    if not preset.fits(contents.names):
        return False
    vectors = named_vectors(contents)
    return vectors.has_pose or "{pose}" not in preset.template or vectors.first("angular") is None


def _fill_preset(
    log: Path,
    preset: Preset,
    vectors: NamedVectors,
    tcp: Sequence[float] | None,
    topics: Collection[str],
) -> DraftSchema:
    """Fill in the fields of a preset."""
    missing: list[str] = []
    names = vectors.contents.names
    places = (match_names(names, c) or match_names(names, f"{c}[0]") for c in preset.columns)
    values = _values(log, vectors, [[names[numbers[0]] for numbers in places]])
    clock = _time(vectors, values, missing, log) if "{clock}" in preset.template else []
    pose = _pose_lines(_pose(vectors, log), missing, still=_is_static(clock))
    wrench = (
        _lines(_wrench(vectors), missing, "force and torque")
        if "{wrench}" in preset.template
        else ""
    )
    fields = {
        "{clock}": "\n".join(format_toml_lines(clock)),
        "{tcp}": json.dumps([float(x) for x in (tcp if tcp is not None else [0.0] * 6)]),
        "{pose}": pose,
        "{wrench}": wrench,
    }
    text = preset.template
    if "{pose}" not in text:
        missing = [signal for signal in missing if signal not in ("the pose", "the position")]
    for name, choices in preset.choices.items():
        present = [choice for choice in choices if choice[0] in topics]
        if not present and name != "accelerometer":
            missing.append(name)
        fields["{" + name + ".topic}"], fields["{" + name + ".columns}"] = (*present, *choices)[0]
    for name, value in fields.items():
        text = text.replace(name, value)
    if not clock:
        layout = [(key, value, "") for key, value in vectors.contents.layout.items()]
        text = text.replace("[log]\n", "\n".join(["[log]", *format_toml_lines(layout), ""]), 1)
    head = f"# {preset.title}.\n{_CHECK}\n"
    (accuracy,) = format_toml_lines([("gain_accuracy", 0.01, _ACCURACY)])
    text = re.sub(r"(\nacts_on = [^\n]*\n)", rf"\1{accuracy}\n", text, count=1)
    return DraftSchema(f"{head}\n{text}", tuple(missing))


def _guess_schema(log: Path, tables: Sequence[NamedVectors]) -> DraftSchema:
    """Draft a schema from the names of columns alone."""
    wrenches = [t for t in tables if t.first("force") and t.first("torque")]
    poses = [t for t in tables if t.has_pose]
    wrench = next(iter(wrenches), None)
    pose = wrench if wrench in poses else _pose_for(wrench, poses)
    turning = [t for t in (wrench, *tables) if t is not None and t.first("angular")]
    imu = turning[0] if pose is None and turning else None
    missing: list[str] = []
    joints = next(filter(None, (find_joints(table.contents) for table in tables)), None)
    if wrench is None and joints is not None:
        return _joints_alone(log, joints)
    main = wrench or pose or tables[0]
    out = [
        "# A draft schema, guessed from the names of the columns.",
        _CHECK,
        "",
        "[log]",
    ]
    values = _values(log, main, [main.first("force"), main.first("torque")])
    streams = {"pose": (pose, poses), "gyro": (imu, turning), "wrench": (wrench, wrenches)}
    used = [table.contents.names for table, _ in streams.values() if table is not None]
    if any(RECEIVED in names and STAMP not in names for names in used):
        why = f"{NEEDS_REVIEW} messages of a topic below have no stamps of their own"
        clock: list[Line] = [("time", RECEIVED, why)]
    else:
        clock = _time(main, values, missing, log)
    out += format_toml_lines(clock)
    if imu is not None and imu.first("acceleration"):
        streams["accelerometer"] = imu, turning
    for name, (table, alike) in streams.items():
        if table is not None and table.contents.topic is not None:
            others = dict.fromkeys(t.contents.topic for t in alike)
            also = ", ".join(str(t) for t in others if t != table.contents.topic)
            why = f"{NEEDS_REVIEW} also: {also}" if also else table.contents.kind
            out += [
                "",
                f"[streams.{name}]",
                *format_toml_lines([("topic", table.contents.topic, why)]),
            ]
    upright = f"{NEEDS_REVIEW} points downwards, in world axes"
    out += [
        "",
        "[world]",
        *format_toml_lines([("gravity", [0.0, 0.0, -9.80665], upright)]),
        "",
        *_FLANGE,
    ]
    if imu is None:
        out += ["", "[pose]"]
        out.append(
            _pose_lines(
                None if pose is None else _pose(pose, log), missing, still=_is_static(clock)
            )
        )
    else:
        out += _imu(imu, log)
    frame = 'axes and point of the pose; "world", or "sensor" with a mount'
    if imu is not None:
        frame = 'the axes of the gyro; or "sensor" with a mount'
    out += ["", "[wrench]"]
    out.append(_lines(None if wrench is None else _wrench(wrench), missing, "force and torque"))
    out += format_toml_lines(
        [
            ("frame", "body", f"{NEEDS_REVIEW} {frame}"),
            ("acts_on", "sensor", f"{NEEDS_REVIEW} `identify check` says if the sign is the other"),
        ]
    )
    if imu is None or imu.first("acceleration"):  # else the force tells the motion
        out += format_toml_lines([("gain_accuracy", 0.01, _ACCURACY)])
    if joints is not None:
        out += ["", _joints(log, joints, beside=True)]
    if missing:
        out.insert(2, f"# The log has {_list_columns(main.contents.names)}")
    return DraftSchema("\n".join(out) + "\n", tuple(missing))


def _joints_alone(log: Path, joints: JointColumns) -> DraftSchema:
    """Draft the schema of a log of joints without a wrench."""
    table = named_vectors(joints.contents)
    missing = [_GAINS] if joints.are_currents else []
    clock = _time(table, _values(log, table, [joints.entries["position"]]), missing, log)
    if table.contents.topic is not None:
        clock.append(("topic", table.contents.topic, table.contents.kind))
    upright = f"{NEEDS_REVIEW} points downwards, in the axes of the robot's base"
    out = [
        "# A draft schema of a robot's joints, guessed from the names of the columns.",
        f"# Check the lines with {NEEDS_REVIEW}, then fit the log with the robot's model: --robot",
        "",
        "[log]",
        *format_toml_lines(clock),
        "",
        "[world]",
        *format_toml_lines([("gravity", [0.0, 0.0, -9.80665], upright)]),
        "",
        _joints(log, joints, beside=False),
    ]
    return DraftSchema("\n".join(out) + "\n", tuple(missing))


def _joints(log: Path, joints: JointColumns, *, beside: bool) -> str:
    """Format `[joints]`; beside a wrench currents, which lack their gains, are a comment."""
    columns = joints.entries["position"]
    values = _values(log, named_vectors(joints.contents), [columns])
    lines = [
        "[joints]",
        *format_toml_lines(joints.lines(degrees=_largest_value(values, columns) > _FULL_TURN)),
    ]
    if joints.are_currents:
        lines.append(_GAINS_LINE)
    topic = joints.contents.topic
    if beside and topic is not None:
        chosen = format_toml_lines([("topic", topic, joints.contents.kind)])
        for name in ("effort", "joints"):
            lines = [f"[streams.{name}]", *chosen, "", *lines]
    if beside and joints.are_currents:
        lines = [f"# {line.removeprefix('# ')}".rstrip() for line in lines]
    return "\n".join(lines)


def _list_columns(names: Sequence[str]) -> str:
    """Format column names for a comment, truncated if there are many."""
    more = (
        f" and {len(names) - _MAX_LISTED_COLUMNS} more" if len(names) > _MAX_LISTED_COLUMNS else ""
    )
    return f"{', '.join(json.dumps(name) for name in names[:_MAX_LISTED_COLUMNS])}{more}"


def _pose_for(wrench: NamedVectors | None, poses: Sequence[NamedVectors]) -> NamedVectors | None:
    """Choose the pose in the frame of the wrench, else of a frame far down the frame tree."""
    frame = "" if wrench is None else wrench.contents.frame

    def likely(table: NamedVectors) -> tuple[bool, bool, int]:
        topic = table.contents.topic or ""
        transform = "->" in topic
        of_wrench = bool(frame) and transform and table.contents.frame == frame
        flange = transform and table.contents.frame.endswith(("tool0", "flange"))
        return of_wrench, flange, transform * len(topic)

    return max(poses, key=likely, default=None)


def _time(table: NamedVectors, values: Table | None, missing: list[str], log: Path) -> list[Line]:
    lines: list[Line] = [(key, value, "") for key, value in table.contents.layout.items()]
    times = _time_columns(table)
    if not times and _jumps(log, table):
        why = f"{NEEDS_REVIEW} no time stamps, and poses that jump: one static pose per row"
        return [*lines, ("still", True, why)]
    if not times:
        missing.append("time")
        why = f"{NEEDS_REVIEW} no column looks like time stamps; for static poses: still = true"
        return [*lines, ("rate_hz", 100.0, why)]
    if (pair := _two_columns(table.contents.names)) is not None:
        seconds, fraction, unit = pair
        lines += [("time", seconds, "whole seconds"), ("time_fraction", fraction, "what follows")]
        return lines if unit == "ns" else [*lines, ("time_fraction_unit", unit, "")]
    also = f"{NEEDS_REVIEW} also: {', '.join(times[1:4])}" if len(times) > 1 else ""
    lines.append(("time", times[0], also))
    if values is None or values.stamps is None or values.ticks_per_second is not None:
        return lines
    steps = np.diff(values.stamps.astype(np.float64))
    step = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    named = _UNIT_IN_NAME.fullmatch(times[0].lower())
    written = named[1] if named else table.contents.units.get(times[0], "").strip("[]()")
    units = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "d": 1.0 / DAY}
    fitting = [u for u, n in units.items() if step > 0.0 and _RATES_HZ[0] < n / step < _RATES_HZ[1]]
    unit = written if written in units else next(iter(fitting), "s")
    rate = f"{units[unit] / step:.4g} rows a second" if step > 0.0 else ""
    if unit != "s" or len(fitting) != 1:
        unsure = "" if unit == written or len(fitting) == 1 else f"{NEEDS_REVIEW} "
        lines.append(("time_unit", unit, f"{unsure}{rate}"))
    return lines


def _time_columns(table: NamedVectors) -> list[str]:
    """Columns that look like time stamps; a date, which may accompany a time, comes last."""
    times = [name for name in table.contents.names if _TIMES.fullmatch(name)]
    return sorted(times, key=lambda name: name.lower() in ("date", "datum"))


def _is_static(clock: Sequence[Line]) -> bool:
    """Return whether the lines of `[log]` declare each row a static pose."""
    return any(key == "still" for key, _, _ in clock)


def _jumps(log: Path, table: NamedVectors) -> bool:
    """Return whether the rotation jumps between rows more than a sampled motion can."""
    if table.rotation is None or (values := _values(log, table, [table.rotation[1]])) is None:
        return False
    numbers = values.side_by_side(table.rotation[1])
    steps = np.linalg.norm(np.diff(numbers, axis=0), axis=1)
    return len(steps) > 0 and steps.mean() > _MIN_JUMP_STEP * np.linalg.norm(
        np.std(numbers, axis=0)
    )


def _two_columns(names: Sequence[str]) -> tuple[str, str, str] | None:
    """Find columns of whole seconds and of their fraction, with the fraction's unit."""
    for name in names:
        if (match := _FRACTION_COLUMNS.fullmatch(name)) is None:
            continue
        rest = r"_?(secs?|seconds)"
        seconds = (n for n in names if re.fullmatch(re.escape(match["before"]) + rest, n, re.I))
        if (whole := next(seconds, None)) is not None:
            return whole, name, f"{match['unit'][0].lower()}s"
    return None


def _pose(table: NamedVectors, log: Path | None) -> list[Line] | None:
    """Draft the lines of `[pose]`, with units from the values of the log."""
    lines: list[Line] = []
    if table.rotation is None:
        return None
    position, (kind, rotation) = table.first("position"), table.rotation
    values = None if log is None else _values(log, table, [position, rotation])
    if position is not None and not (kind == "matrix" and len(rotation) == 16):
        lines.append(("position", position, _alternatives_comment(table, "position")))
        if (unit := table.unit_of(position)) in LENGTH:
            lines += _unit_lines("position_unit", unit)
        elif _largest_value(values, position) > _POSITION_FAR:
            lines.append(("position_unit", "mm", f"{NEEDS_REVIEW} as large as no arm in metres"))
    lines.append((kind, rotation, _alternatives_comment(table, kind)))
    if kind == "quaternion" and not rotation[-1].lower().endswith("w"):
        lines.append(("order", "xyzw", f'{NEEDS_REVIEW} or "wxyz"'))
    if kind == "matrix" and values is not None and len(rotation) == 16:
        by_column = (
            _largest_value(values, rotation[3:12:4])
            == 0.0
            < _largest_value(values, rotation[12:15])
        )
        lines.append(("order", "column" if by_column else "row", "by where it has 0, 0, 0, 1"))
    elif kind == "matrix":
        lines.append(("order", "row", f'{NEEDS_REVIEW} or "column"'))
    of_kuka = kind == "euler" and "roll" not in rotation[0].lower()
    if of_kuka:
        lines.append(("order", "ZYX", "KUKA: A, B, C are angles about z, y, x"))
    elif kind == "euler":
        lines.append(("order", "xyz", f'{NEEDS_REVIEW} turns about fixed axes; "ZYX" is the same'))
    elif kind != "rotation_vector":
        return lines
    if (unit := table.unit_of(rotation)) in ANGLE:
        lines += _unit_lines("angle_unit", unit)
    elif of_kuka:
        lines.append(("angle_unit", "deg", f"{NEEDS_REVIEW} as KUKA writes them"))
    elif _largest_value(values, rotation) > _FULL_TURN:
        lines.append(("angle_unit", "deg", f"{NEEDS_REVIEW} larger than a full turn in radians"))
    return lines


def _imu(table: NamedVectors, log: Path) -> list[str]:
    """Draft the lines of `[imu]` for a log without a pose, with units by names or values."""
    gyro, read = table.vectors["angular"][0], table.first("acceleration")
    values = _values(log, table, [gyro, read])
    unit = "deg" if table.unit_of(gyro) == "deg" else "rad"
    why = f"{NEEDS_REVIEW} no columns look like a pose; {unit}/s, along the axes of the wrench"
    gyro_lines: list[Line] = [("gyro", gyro, why), *_unit_lines("angle_unit", unit)]
    if unit == "rad" and _largest_value(values, gyro) > _MAX_ANGULAR_VELOCITY:
        gyro_lines[0] = ("gyro", gyro, why.replace("rad/s", "deg/s"))
        gyro_lines.append(
            ("angle_unit", "deg", f"{NEEDS_REVIEW} faster than any robot turns in radians")
        )
    lines = ["", "[imu]", *format_toml_lines(gyro_lines)]
    if read is None:
        return lines
    named = "g" if table.unit_of(read) == "g" else "m/s^2"
    unit = named if named == "g" else _unit_of_gravity(values, read)
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


def _unit_of_gravity(values: Table | None, read: list[str]) -> str:
    """Unit in which an accelerometer's median length is about gravity, else m/s^2."""
    if values is None:
        return "m/s^2"
    lengths = np.linalg.norm(values.side_by_side(read), axis=1)
    lengths = lengths[np.isfinite(lengths)]
    median = float(np.median(lengths)) / STANDARD_GRAVITY if len(lengths) else 1.0
    units = (unit for unit, si in ACCELERATION.items() if abs(median * si - 1.0) < _GRAVITY_RTOL)
    return next(units, "m/s^2")


def _wrench(table: NamedVectors) -> list[Line] | None:
    force, torque = table.first("force"), table.first("torque")
    if force is None or torque is None:
        return None
    lines: list[Line] = []
    for name, columns, units in (("force", force, FORCE), ("torque", torque, TORQUE)):
        lines.append((name, columns, _alternatives_comment(table, name)))
        if (unit := table.unit_of(columns)) in units:
            lines += _unit_lines(f"{name}_unit", unit)
    return lines


def _unit_lines(key: str, unit: str) -> list[Line]:
    """Draft the line of a unit in the column names that is not the default."""
    why = "as the names of the columns say"
    return [] if unit in ("m", "N", "Nm", "rad", "m/s^2") else [(key, unit, why)]


def _alternatives_comment(table: NamedVectors, role: str) -> str:
    others = [names[0] for names in table.vectors[role][1:4]]
    return f"{NEEDS_REVIEW} also: {', '.join(others)} …" if others else ""


def _pose_lines(lines: list[Line] | None, missing: list[str], *, still: bool = False) -> str:
    """Format the lines of `[pose]`, with a placeholder for a missing position.

    Static poses need none.
    """
    text = _lines(lines, missing, "the pose")
    placed = (
        still
        or lines is None
        or any(
            key == "position" or (key == "matrix" and np.size(np.asarray(value)) == 16)
            for key, value, _ in lines
        )
    )
    return text if placed else f"{text}\n{_lines(None, missing, 'the position')}"


def _lines(lines: list[Line] | None, missing: list[str], signal: str) -> str:
    if lines is None:
        missing.append(signal)
        return f"# {NEEDS_REVIEW} no columns look like {signal}: name them here"
    return "\n".join(format_toml_lines(lines))


def _values(log: Path, table: NamedVectors, wanted: Sequence[list[str] | None]) -> Table | None:
    """Read some columns of a table with its stamps; None if they cannot be read."""
    columns: list[Column] = [name for names in wanted for name in names or ()]
    if not columns:
        return None
    times = _time_columns(table)
    keys = {"topic": table.contents.topic, "time": times[0] if times else None}
    layout = LogTable(**{**keys, **table.contents.layout})  # pyright: ignore[reportArgumentType]
    source = Source(log, layout, ("wrench",), tuple(columns), own_clock=False)
    try:
        return read_table(source)
    except LogError:  # what is wrong with its rows is said when it is read with the schema
        return None


def _largest_value(values: Table | None, names: list[str] | None) -> float:
    """Largest absolute value of some columns."""
    if values is None or names is None:
        return 0.0
    magnitudes = np.abs(values.side_by_side(names))
    return float(np.nanmax(magnitudes)) if np.isfinite(magnitudes).any() else 0.0

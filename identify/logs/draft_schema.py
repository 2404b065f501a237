"""Draft of a schema, guessed from column names, for review by the user."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from identify.documents import lookup
from identify.errors import SchemaError
from identify.logs.draft_joints import JointColumns, find_joints
from identify.logs.draft_lines import (
    DRAFT_MARK,
    NEEDS_REVIEW,
    UNNAMED_LINE,
    SchemaLine,
    drafted_keys,
    format_toml_lines,
    missing_columns_comment,
    with_log_name,
    with_value,
)
from identify.logs.draft_sections import (
    FULL_TURN,
    imu_lines,
    is_static,
    largest_value,
    pose_lines,
    read_columns,
    time_lines,
    wrench_lines,
)
from identify.logs.named_vectors import NamedVectors, find_named_vectors
from identify.logs.presets import Preset, choose_preset, presets
from identify.logs.readers import RECEIVED, STAMP, list_tables
from identify.logs.table import match_names
from identify.logs.vector_behaviour import add_vectors_by_behaviour
from identify.logs.wrench_sensors import WrenchSensor, wrench_sensors

if TYPE_CHECKING:
    from identify.robots import RobotModel

_CHECK_LINE = f"{DRAFT_MARK}, then: identify check LOG --schema THIS"

_TOOL_POINT = re.compile(r"tcp|tool(?!0)|werkzeug", re.I)
"""Pattern of the name of a position, or of a pose's topic, that is a tool point's."""
_TOOL_POINT_COMMENT = (
    "X, Y, Z [m], RX, RY, RZ [rad] of the tool point in the flange, of the pendant"
)
_TOOL_WRENCH_COMMENT = 'at the flange, in its axes; else frame = "sensor" with [wrench.mount] in it'

_FLANGE_LINES = (
    "# A payload setting is about the flange. No log contains its pose in the body frame:",
    "# [body.flange]                       # an empty table: the body frame is that of the flange",
    "# translation = [0, 0, -0.045]        # else its origin [m], and its rotation_vector",
)

_UNKNOWN_ACCURACY_LINE = (
    "# gain_accuracy = …                   # one sigma of the sensor's scale, by its data sheet or "
    "`identify init --sensor NAME`; or weigh the body"
)

_GRAVITY_ACCURACY: SchemaLine = (
    *("gravity_accuracy", 0.0015),
    "one sigma of its size on Earth, 9.78 to 9.83; leave it out with the local gravity",
)

_MASS_AT_SENSOR = (
    "# The body is all beyond the measuring element: the sensor's tool side and adapters, too."
)
"""Comment on the mass of the sensor beyond its measuring element."""

_MISSING_WRENCH = "force and torque"
_GAINS_LINE = "# gains = []  # torque on each joint for an ampere [N m/A], if you know it"

_MAX_LISTED_COLUMNS = 40
"""Maximum number of columns listed in a comment."""


@dataclass(frozen=True, slots=True)
class DraftSchema:
    """A drafted schema and the signals it lacks.

    Attributes:
        text: content of the file, with comments.
        missing_signals: signals for which no column was found.
    """

    text: str
    missing_signals: tuple[str, ...] = ()


def draft_schema(
    log: Path,
    preset: str | None = None,
    tcp: Sequence[float] | None = None,
    payload: Sequence[float] | None = None,
    robot: RobotModel | None = None,
    sensor: str | None = None,
) -> DraftSchema:
    """Draft the schema of a log.

    `preset`: name of a preset; where not given, the one whose columns the log has, if any; `tcp`:
    the tool point as a pendant shows it, x, y, z [m] and a rotation vector [rad]; `payload`: mass
    [kg] and centre of mass in the flange [m] of the payload that was set on it; `sensor`: name of
    the type of force-torque sensor, whose data sheet tells the accuracy of its scale.
    Raises `SchemaError`: there is no such preset or sensor, the log has not the preset's columns,
    or no wrench with a scale of its own; `LogError`: the log cannot be read; `ModelError`: the
    model has not the joints of the log.
    """
    known = None if sensor is None else lookup(wrench_sensors(), sensor, "force-torque sensor")
    draft = _draft_from_columns(log, preset, tcp, payload, robot)
    draft = replace(draft, text=with_log_name(draft.text, log.resolve().name))
    return draft if known is None else _with_sensor(log, draft, known)


def lacks_gain_accuracy(draft: DraftSchema) -> bool:
    """Whether a draft has a place for the accuracy of the sensor's scale, and no sensor for it."""
    return _UNKNOWN_ACCURACY_LINE in draft.text.splitlines()


def _with_sensor(log: Path, draft: DraftSchema, sensor: WrenchSensor) -> DraftSchema:
    """Return a draft with the accuracy of the scale by a sensor's data sheet."""
    if not lacks_gain_accuracy(draft):
        raise SchemaError(
            f"{log}: no accuracy of {sensor.title} applies: the log has no wrench, or the force is "
            "its accelerometer; leave --sensor out"
        )
    if sensor.gain_accuracy is None:
        line = f"{_UNKNOWN_ACCURACY_LINE}; {sensor.explanation}"
    else:
        why = f"one sigma by {sensor.explanation}"
        (line,) = format_toml_lines([("gain_accuracy", sensor.gain_accuracy, why)])
    return replace(draft, text=draft.text.replace(_UNKNOWN_ACCURACY_LINE, line))


def _draft_from_columns(
    log: Path,
    preset: str | None,
    tcp: Sequence[float] | None,
    payload: Sequence[float] | None,
    robot: RobotModel | None,
) -> DraftSchema:
    """Draft the schema of a log by a preset or by the names of its columns."""
    tables = list_tables(log)
    chosen = choose_preset(log, tables, preset)
    if chosen is not None and chosen.template:
        table = next(table for table in tables if chosen.matches(table.names))
        topics = frozenset(str(table.topic) for table in tables)
        draft = _fill_preset(log, chosen, find_named_vectors(table), tcp, topics)
        draft = replace(draft, text=_with_tool_point(draft.text, tcp))
        joints = find_joints(table, "effort", robot=robot)
        if preset is None and joints is not None and _MISSING_WRENCH in draft.missing_signals:
            return _draft_without_wrench(log, joints)
        if joints is not None:
            draft = replace(
                draft, text=f"{draft.text}\n{_format_joints(log, joints, with_wrench=True)}\n"
            )
        if payload is None or not payload[0] > 0.0:
            return draft
        mass, *com = map(float, payload)
        taken = f"\n[wrench.compensated]\nmass = {mass}\ncom = {json.dumps(com)}\n"
        return replace(draft, text=draft.text + taken)
    named = [find_named_vectors(table) for table in tables]
    for vectors in named:
        add_vectors_by_behaviour(log, vectors)
    draft = _guess_schema(log, named, robot)
    if tables[0].is_unnamed:
        text = re.sub(r'"(\d+)"', r"\1", draft.text)
        text = text.replace(DRAFT_MARK, f"# {UNNAMED_LINE}.\n{DRAFT_MARK}", 1)
        draft = replace(draft, text=text)
    sensors = [p.name for p in presets().values() if p.by_name and p.matches(tables[0].names)]
    if sensors:
        line = f"# If the sensor is of that make: identify init --preset {' or '.join(sensors)}"
        draft = replace(draft, text=draft.text.replace(_CHECK_LINE, f"{_CHECK_LINE}\n{line}", 1))
    return replace(draft, text=_with_tool_point(draft.text, tcp))


def _with_tool_point(text: str, tcp: Sequence[float] | None) -> str:
    """Return a draft with `[body.tcp]` if the names of its pose are those of a tool point."""
    values = {key.place: key.value for key in drafted_keys(text)}
    names = json.dumps([values.get("pose.position"), values.get("streams.pose.topic")])
    wrench = next((key for key in drafted_keys(text) if key.place == "wrench.frame"), None)
    if "\n[body" in text or wrench is None or _TOOL_POINT.search(names) is None:
        return text
    text = with_value(text, wrench.place, wrench.value, f"{NEEDS_REVIEW} {_TOOL_WRENCH_COMMENT}")
    why = f"{NEEDS_REVIEW} {_TOOL_POINT_COMMENT}"
    pose = [("pose", [0.0] * 6 if tcp is None else [float(x) for x in tcp], why)]
    table = "\n".join(["[body.tcp]", *format_toml_lines(pose), "", "[pose]"])
    text = text.replace("\n".join(("", *_FLANGE_LINES, "")), "")
    return text.replace("\n[pose]", f"\n{table}", 1)


def _fill_preset(
    log: Path,
    preset: Preset,
    vectors: NamedVectors,
    tcp: Sequence[float] | None,
    topics: Collection[str],
) -> DraftSchema:
    """Fill in the fields of a preset."""
    missing: list[str] = []
    names = vectors.table.names
    places = (match_names(names, c) or match_names(names, f"{c}[0]") for c in preset.columns)
    values = read_columns(log, vectors, [[names[numbers[0]] for numbers in places]])
    clock = time_lines(vectors, values, missing, log) if "{clock}" in preset.template else []
    pose = _format_pose(pose_lines(vectors, log), missing, still=is_static(clock))
    wrench = (
        _format_or_placeholder(wrench_lines(vectors), missing, _MISSING_WRENCH)
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
    for name, choices in preset.topic_choices.items():
        present = [choice for choice in choices if choice[0] in topics]
        if not present and name != "accelerometer":
            missing.append(name)
        fields["{" + name + ".topic}"], fields["{" + name + ".columns}"] = (*present, *choices)[0]
    for name, value in fields.items():
        text = text.replace(name, value)
    if not clock:
        layout = [(key, value, "") for key, value in vectors.table.layout.items()]
        text = text.replace("[log]\n", "\n".join(["[log]", *format_toml_lines(layout), ""]), 1)
    head = f"# {preset.title}.\n{_CHECK_LINE}\n"
    (gravity,) = format_toml_lines([_GRAVITY_ACCURACY])
    text = re.sub(r"(\ngravity = [^\n]*\n)", rf"\1{gravity}\n", text, count=1)
    text = re.sub(r"(\nacts_on = [^\n]*\n)", rf"\1{_UNKNOWN_ACCURACY_LINE}\n", text, count=1)
    return DraftSchema(f"{head}\n{text}", tuple(missing))


def _guess_schema(
    log: Path, tables: Sequence[NamedVectors], robot: RobotModel | None
) -> DraftSchema:
    """Draft a schema from the names of columns alone."""
    wrenches = [t for t in tables if t.likeliest("force") and t.likeliest("torque")]
    poses = [t for t in tables if t.has_pose]
    wrench = next(iter(wrenches), None)
    pose = wrench if wrench in poses else _choose_pose(wrench, poses)
    turning = [t for t in (wrench, *tables) if t is not None and t.likeliest("angular")]
    imu = turning[0] if pose is None and turning else None
    missing: list[str] = []
    by_robot = wrench is not None and pose is None and imu is None
    required = () if by_robot else ("effort",)
    arms = (find_joints(table.table, *required, robot=robot) for table in tables)
    joints = next((each for each in arms if each is not None), None)
    if wrench is None and joints is not None:
        return _draft_without_wrench(log, joints)
    if wrench is None and (robot is not None or not poses + turning):
        arms = (find_joints(table.table, robot=robot) for table in tables)
        joints = next((each for each in arms if each is not None), None)
        if joints is None and robot is not None:
            joints = JointColumns.unknown(tables[0].table, robot)
        positions = 0 if joints is None else 2 * len(joints.entries.get("position", ()))
        if joints is not None and (
            joints.names_in_log or robot is not None or positions >= len(joints.contents.names) - 1
        ):
            return _draft_without_wrench(log, joints)
    main = wrench or pose or tables[0]
    out = [
        "# A draft schema, guessed from the names of the columns.",
        _CHECK_LINE,
        "",
        "[log]",
    ]
    values = read_columns(log, main, [main.likeliest("force"), main.likeliest("torque")])
    streams = {"pose": (pose, poses), "gyro": (imu, turning), "wrench": (wrench, wrenches)}
    used = [table.table.names for table, _ in streams.values() if table is not None]
    if any(RECEIVED in names and STAMP not in names for names in used):
        why = f"{NEEDS_REVIEW} messages of a topic below have no stamps of their own"
        clock: list[SchemaLine] = [("time", RECEIVED, why)]
    else:
        clock = time_lines(main, values, missing, log)
    out += format_toml_lines(clock)
    if imu is not None and imu.likeliest("acceleration"):
        streams["accelerometer"] = imu, turning
    for name, (table, alike) in streams.items():
        if table is not None and table.table.topic is not None:
            others = dict.fromkeys(t.table.topic for t in alike)
            also = ", ".join(str(t) for t in others if t != table.table.topic)
            why = f"{NEEDS_REVIEW} also: {also}" if also else table.table.message_type
            out += [
                "",
                f"[streams.{name}]",
                *format_toml_lines([("topic", table.table.topic, why)]),
            ]
    upright = f"{NEEDS_REVIEW} points downwards, in world axes"
    out += [
        "",
        "[world]",
        *format_toml_lines([("gravity", [0.0, 0.0, -9.80665], upright)]),
        *(format_toml_lines([_GRAVITY_ACCURACY]) if imu is None else ()),
        "",
        *_FLANGE_LINES,
    ]
    if by_robot and joints is not None:
        out += ["", "[pose]", *format_toml_lines(_robot_pose_lines(robot))]
    elif imu is None:
        out += ["", "[pose]"]
        out.append(
            _format_pose(
                None if pose is None else pose_lines(pose, log), missing, still=is_static(clock)
            )
        )
    else:
        out += imu_lines(imu, log)
    frame = 'axes and point of the pose; "world", or "sensor" with a mount'
    if imu is not None:
        frame = 'the axes of the gyro; or "sensor" with a mount'
    out += ["", "[wrench]", _MASS_AT_SENSOR]
    out.append(
        _format_or_placeholder(
            None if wrench is None else wrench_lines(wrench), missing, _MISSING_WRENCH
        )
    )
    out += format_toml_lines(
        [
            ("frame", "body", f"{NEEDS_REVIEW} {frame}"),
            ("acts_on", "sensor", f"{NEEDS_REVIEW} `identify check` says if the sign is the other"),
        ]
    )
    if imu is None or imu.likeliest("acceleration"):  # else the force tells the motion
        out.append(_UNKNOWN_ACCURACY_LINE)
    if joints is not None:
        out += ["", _format_joints(log, joints, with_wrench=True)]
    if missing:
        out.insert(2, f"# The log has {_list_columns(main.table.names)}")
    return DraftSchema("\n".join(out) + "\n", tuple(missing))


def _robot_pose_lines(robot: RobotModel | None) -> list[SchemaLine]:
    """Draft `[pose]` for a pose computed from the joints of a robot."""
    frame = "tool0" if robot is None or "tool0" in robot.frames else robot.links[-1]
    why = f"{NEEDS_REVIEW} no pose is logged: the robot's model, beside this file"
    return [
        ("robot", "arm.urdf" if robot is None else robot.path.as_posix(), why),
        ("frame", frame, f"{NEEDS_REVIEW} the link of the model in whose frame the wrench is"),
    ]


def _draft_without_wrench(log: Path, joints: JointColumns) -> DraftSchema:
    """Draft the schema of a log that has joints and no wrench."""
    table = find_named_vectors(joints.contents)
    missing: list[str] = []
    named = [joints.entries[key] for key in joints.entries]
    clock = time_lines(table, read_columns(log, table, named), missing, log)
    if table.table.topic is not None:
        clock.append(("topic", table.table.topic, table.table.message_type))
    upright = f"{NEEDS_REVIEW} points downwards, in the axes of the robot's base"
    out = [
        "# A draft schema of a robot's joints, guessed from the names of the columns.",
        f"{DRAFT_MARK}, then fit the log with the robot's model: --robot",
        "",
        "[log]",
        *format_toml_lines(clock),
        "",
        "[world]",
        *format_toml_lines([("gravity", [0.0, 0.0, -9.80665], upright)]),
        "",
        _format_joints(log, joints, with_wrench=False),
    ]
    for signal in ("position", "effort"):
        if signal not in joints.entries:
            missing.append(f"the {signal}s of joints")
            out.append(missing_columns_comment(missing[-1]))
    efforts = joints.entries.get("effort", [])
    values = read_columns(log, table, [efforts])
    if values is not None and not np.isfinite(values.stacked_columns(efforts)).any(axis=0).all():
        missing.append("the efforts of joints")
        text = f"# {NEEDS_REVIEW} the positions are there, the efforts are not: a column is empty"
        out.append(text)
    if joints.entries.keys() < {"position", "effort"}:
        out.insert(2, f"# The log has {_list_columns(joints.contents.names)}")
    return DraftSchema("\n".join(out) + "\n", tuple(missing))


def _format_joints(log: Path, joints: JointColumns, *, with_wrench: bool) -> str:
    """Format `[joints]`; in a log with a wrench, currents without gains are commented out."""
    columns = joints.entries.get("position", [])
    values = read_columns(log, find_named_vectors(joints.contents), [columns])
    degrees = bool(columns) and largest_value(values, columns) > FULL_TURN
    lines = ["[joints]", *format_toml_lines(joints.lines(degrees=degrees))]
    if joints.lack_gains:
        lines.append(_GAINS_LINE)
    topic = joints.contents.topic
    if with_wrench and topic is not None:
        chosen = format_toml_lines([("topic", topic, joints.contents.message_type)])
        for name in ("effort", "joints")["effort" not in joints.arrays :]:
            lines = [f"[streams.{name}]", *chosen, "", *lines]
    if with_wrench and joints.lack_gains:
        lines = [f"# {line.removeprefix('# ')}".rstrip() for line in lines]
    return "\n".join(lines)


def _list_columns(names: Sequence[str]) -> str:
    """Format column names for a comment, truncated if there are many."""
    more = (
        f" and {len(names) - _MAX_LISTED_COLUMNS} more" if len(names) > _MAX_LISTED_COLUMNS else ""
    )
    return f"{', '.join(json.dumps(name) for name in names[:_MAX_LISTED_COLUMNS])}{more}"


def _choose_pose(wrench: NamedVectors | None, poses: Sequence[NamedVectors]) -> NamedVectors | None:
    """Choose the pose in the frame of the wrench, else of a frame far down the frame tree."""
    frame = "" if wrench is None else wrench.table.frame

    def preference(table: NamedVectors) -> tuple[bool, bool, int]:
        topic = table.table.topic or ""
        transform = "->" in topic
        of_wrench = bool(frame) and transform and table.table.frame == frame
        flange = transform and table.table.frame.endswith(("tool0", "flange"))
        return of_wrench, flange, transform * len(topic)

    return max(poses, key=preference, default=None)


def _format_pose(lines: list[SchemaLine] | None, missing: list[str], *, still: bool = False) -> str:
    """Format the lines of `[pose]`, with a placeholder for a missing position.

    Static poses need none.
    """
    text = _format_or_placeholder(lines, missing, "the pose")
    placed = (
        still
        or lines is None
        or any(
            key == "position" or (key == "matrix" and np.size(np.asarray(value)) == 16)
            for key, value, _ in lines
        )
    )
    return text if placed else f"{text}\n{_format_or_placeholder(None, missing, 'the position')}"


def _format_or_placeholder(lines: list[SchemaLine] | None, missing: list[str], signal: str) -> str:
    if lines is None:
        missing.append(signal)
        return missing_columns_comment(signal)
    return "\n".join(format_toml_lines(lines))

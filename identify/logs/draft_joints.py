"""Draft of `[joints]`: columns that look like the joints of a robot, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from identify.errors import ModelError
from identify.logs.draft_lines import NEEDS_REVIEW, SchemaLine
from identify.logs.named_vectors import NUMBERED_ENTRY
from identify.logs.schema_fields import as_schema_column
from identify.logs.table import TableInfo, match_names

if TYPE_CHECKING:
    from identify.robots import RobotModel

_USUAL_ARRAY_NAMES: Mapping[str, tuple[str, ...]] = {
    "position": (
        *("actual_q", "q", "joint_positions", "joint_position", "joint_pos", "position"),
        *("positions", "qpos", "theta", "aipos", "axis_act_meas", "axis_act", "msr_jnt_pos"),
        *("msrjntpos", "measured_joint_position", "mp", "rax", "joint", "joints", "j"),
    ),
    "velocity": (
        *("actual_qd", "qd", "dq", "qdot", "q_dot", "joint_velocities", "joint_velocity"),
        *("joint_vel", "velocity", "velocities", "qvel"),
    ),
    "effort": (
        *("actual_current_as_torque", "tau_j", "tau", "effort", "efforts", "joint_torques"),
        *("joint_torque", "joint_efforts", "joint_effort", "measured_torque", "torques"),
        *("torque", "actual_current", "joint_currents", "joint_current", "currents"),
        *("current", "gear_torque", "geartorque", "torque_axis_act", "msr_jnt_trq", "msrjnttrq"),
        *("mt", "target_moment", "load", "loads"),
    ),
}
"""Usual names of joint arrays by signal, likeliest first: measured efforts, motor currents, then
torques of a controller's model."""

_TARGET_ARRAYS = {"target_current": "target_current", "target_effort": "target_moment"}
"""Names of the arrays of target currents and torques in logs of Universal Robots, by key."""

_ARRAYS_IN_DEGREES = frozenset({"aipos", "axis_act_meas", "axis_act", "rax"})
"""Names of arrays that controllers of KUKA and ABB write in degrees."""

_AMBIGUOUS_ARRAY_NAMES = frozenset({"position", "positions", "velocity", "torque", "torques"})
"""Names of arrays that may also be three-dimensional vectors in logs of a body."""

_ENTRY_BY_JOINT = re.compile(r"(?P<array>.+)\[(?P<joint>[^\[\]]*[^\d\[\]][^\[\]]*)\]")
"""Pattern of an array entry named by its joint, `position[wrist_3]`."""

_UR_JOINTS = tuple(
    f"{each}_joint"
    for each in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
)

_SHORT_NAMES = {"pos": "position", "angle": "position", "vel": "velocity", "speed": "velocity"}
_SHORT_NAMES |= {"trq": "torque", "moment": "torque", "cur": "current"}
"""Names in columns that also have the name of a joint, by the array that they stand for."""

_UNIT_SUFFIX = r"[_. ]?[_. (\[](?P<unit>deg|rad|°|nm|ma|a|pct|percent|%)[)\]]?"
"""Pattern of a unit behind the name of a column that also has the name of a joint."""

_EFFORT_UNITS = {"a": "A", "ma": "mA", "pct": "%", "percent": "%", "%": "%"}
"""Unit of an effort that is no torque, by its suffix."""

_ONLY_JOINT = ""
"""Name of the joint of a column that is named as an array alone."""

_COMPONENTS = frozenset(("x", "y", "z", "w", "rx", "ry", "rz", "roll", "pitch", "yaw"))
"""Names of a vector's components, which are no joints."""

_MIN_NUMBERED_JOINTS = 2
"""Minimum number of joints in a numbered array; a single `q0` may be anything."""


@dataclass(frozen=True, slots=True)
class JointColumns:
    """Columns of a table that look like the joints of a robot.

    Attributes:
        contents: names and layout of the table.
        joint_names: names of the joints, as in the log, else as in the usual URDF of such a log.
        names_in_log: whether the log has the names of its joints.
        robot: model that has the names; None without one.
        targets: lines with the target currents and torques of the controller, if the log has both.
        arrays: name of the array of each signal of `[joints]`, without a path.
        schema_values: value of the key of each signal in `[joints]`.
        entries: columns of each signal, in schema notation.
    """

    contents: TableInfo
    joint_names: tuple[str, ...]
    names_in_log: bool
    arrays: Mapping[str, str]
    schema_values: Mapping[str, str | list[str]]
    entries: Mapping[str, list[str]]
    robot: RobotModel | None = None
    targets: tuple[SchemaLine, ...] = ()

    @classmethod
    def unknown(cls, contents: TableInfo, robot: RobotModel) -> JointColumns:
        """Return the joints of a model whose columns are not found."""
        return cls(contents, robot.joints, True, {}, {}, {}, robot)

    @property
    def are_currents(self) -> bool:
        """Whether the effort is a current, or a share of what a motor gives."""
        usual = self.arrays.get("effort", "").endswith(("current", "currents", "load", "loads"))
        return usual or self._unit_of("effort") in _EFFORT_UNITS

    def _unit_of(self, signal: str) -> str:
        """Return the unit that the names of all columns of a signal end with, else nothing."""
        names = self.entries.get(signal, [])
        matches = [re.search(f"{_UNIT_SUFFIX}$", name, re.I) for name in names]
        units = {"" if match is None else match["unit"].lower() for match in matches}
        return units.pop() if len(units) == 1 else ""

    @property
    def lack_gains(self) -> bool:
        """Whether the effort is a current, without targets from which gains are found."""
        return self.are_currents and not self.targets

    def lines(self, *, degrees: bool) -> list[SchemaLine]:
        """Draft the lines of `[joints]`; gains from currents to torques are left to the user."""
        model = "the robot's URDF" if self.robot is None else self.robot.path.name
        why = "" if self.names_in_log else f"{NEEDS_REVIEW} the names of {model}, in this order"
        lines: list[SchemaLine] = [("names", list(self.joint_names), why)]
        lines += [(key, value, "") for key, value in self.schema_values.items()]
        slides = (
            {}
            if self.robot is None
            else dict(zip(self.robot.joints, self.robot.prismatic.tolist(), strict=True))
        )
        if any(map(slides.get, self.joint_names)):
            angle = "deg" if degrees else "rad"
            units = ["m" if slides[name] else angle for name in self.joint_names]
            lines.append(("unit", units, "by the types of the model's joints"))
        elif self._unit_of("position") in ("deg", "°"):
            lines.append(("unit", "deg", ""))
        elif self.arrays.get("position") in _ARRAYS_IN_DEGREES:
            lines.append(("unit", "deg", "as this controller writes them"))
        elif degrees:
            lines.append(("unit", "deg", f"{NEEDS_REVIEW} larger than a full turn in radians"))
        if self.are_currents and self.targets:
            lines += [("effort_unit", "A", ""), *self.targets]
        elif self.are_currents:
            usual = "%" if "load" in self.arrays["effort"] else "A"
            unit = _EFFORT_UNITS.get(self._unit_of("effort"), usual)
            lines.append(("effort_unit", unit, "their gains to torques are fitted"))
        if "effort" not in self.arrays:
            return lines
        if self.arrays["effort"] == "target_moment":
            key, value, _ = lines[-1]
            lines[-1] = (key, value, f"{NEEDS_REVIEW} of the controller's model: not measured")
        acts = f'{NEEDS_REVIEW} or "motor", the opposite: at rest the effort carries the weight'
        return [*lines, ("effort_acts_on", "joint", acts)]


def find_joints(
    contents: TableInfo, *required: str, robot: RobotModel | None = None
) -> JointColumns | None:
    """Return the columns that look like a robot's joints; None if a required signal is missing.

    `required`: signals besides the position, such as "effort"; `robot`: model with the names of the
    joints, if known.
    Raises `ModelError`: the model has not the joints of the log.
    """
    least = _MIN_NUMBERED_JOINTS if robot is None else min(_MIN_NUMBERED_JOINTS, len(robot.joints))
    for arrays in (_joint_arrays(contents.names), _columns_by_joint(contents.names)):
        chosen = _choose_arrays(arrays, least)
        if {"position", *required} <= chosen.keys():
            break
    else:
        return None
    keys = tuple(arrays[chosen["position"][1]])
    effort = chosen["effort"][0] if "effort" in chosen else ""
    named = not all(key.isdecimal() for key in keys) and keys != (_ONLY_JOINT,)
    if robot is not None and len(keys) == len(robot.joints) and not set(keys) & set(robot.joints):
        named = False  # the log has other names for the joints of the model
    names = keys if named else _usual_joint_names(chosen["position"][0], effort, len(keys))
    names = names if robot is None else _names_of_model(robot, keys if named else (), len(keys))
    return JointColumns(
        contents,
        names,
        named,
        {signal: word for signal, (word, _, _) in chosen.items()},
        {
            signal: _schema_value(contents.names, path, arrays[path], names if named else ())
            for signal, (_, path, _) in chosen.items()
        },
        {signal: [*map(as_schema_column, each)] for signal, (_, _, each) in chosen.items()},
        robot,
        _target_lines(contents.names, arrays, len(keys)),
    )


def _choose_arrays(
    arrays: Mapping[str, Mapping[str, str]], least: int
) -> dict[str, tuple[str, str, list[str]]]:
    """Return the likeliest array of each signal, as its usual name, path and columns."""
    chosen: dict[str, tuple[str, str, list[str]]] = {}
    for signal, words in _USUAL_ARRAY_NAMES.items():
        fitting = [
            (words.index(word), path, keys)
            for path, keys in arrays.items()
            if (word := _array_name(path)) in words
            and (len(keys) >= least or not next(iter(keys)).isdecimal())
            and not (
                len(keys) == 3 and word in _AMBIGUOUS_ARRAY_NAMES and next(iter(keys)).isdecimal()
            )
            and ("position" not in chosen or keys.keys() == arrays[chosen["position"][1]].keys())
        ]
        if fitting:
            rank, path, keys = min(fitting, key=lambda each: each[0])
            chosen[signal] = words[rank], path, list(keys.values())
    return chosen


def _target_lines(
    names: Sequence[str], arrays: Mapping[str, Mapping[str, str]], count: int
) -> tuple[SchemaLine, ...]:
    """Draft the lines of target currents and torques, none unless the log has both."""
    values = {
        key: _schema_value(names, path, entries)
        for path, entries in arrays.items()
        for key, name in _TARGET_ARRAYS.items()
        if _array_name(path) == name and len(entries) == count
    }
    why = "gains of the currents are found from the targets"
    return tuple((key, values[key], why) for key in _TARGET_ARRAYS) if len(values) == 2 else ()


def _names_of_model(robot: RobotModel, logged: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the logged names that are joints of a model, or its first joints by `count`.

    A log by names may have more joints, such as the fingers of a gripper that mimic each other.
    """
    names = tuple(name for name in logged if name in robot.joints) or robot.joints[:count]
    if names[0] not in logged if logged else len(names) < count:
        raise ModelError(
            f"{robot.path.name} has the joints {', '.join(robot.joints)}, and the log has "
            f"{', '.join(logged) or f'{count} joints without names'}: give the URDF of this arm"
        )
    return names


def _array_name(path: str) -> str:
    """Return the name of an array without path, `$` and the `A` before the numbers of KUKA."""
    name = re.sub(r"[._]A$", "", path)
    return re.split(r"[./ ]", name)[-1].lower().strip("_$-")


def _joint_arrays(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the columns by array and entry, where entries are joint names or numbers."""
    numbered: dict[str, dict[str, str]] = {}
    by_joint: dict[str, dict[str, str]] = {}
    for name in names:
        if (match := _ENTRY_BY_JOINT.fullmatch(name)) is not None:
            by_joint.setdefault(match["array"], {})[match["joint"]] = name
        elif (match := NUMBERED_ENTRY.fullmatch(name)) is not None:
            numbered.setdefault(match["stem"], {})[match["part"]] = name
    ordered = {
        path: dict(sorted(entries.items(), key=lambda entry: int(entry[0])))
        for path, entries in numbered.items()
    }
    return ordered | by_joint


def _columns_by_joint(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the columns by array and joint, of names such as `q_elbow` or `elbow/torque`.

    A column that is named as an array alone is that of the only joint.
    """
    words = [*(word for each in _USUAL_ARRAY_NAMES.values() for word in each), *_SHORT_NAMES]
    words = sorted(words, key=len, reverse=True)
    patterns = [rf"(?P<joint>.+?)[_./ -]+(?P<word>{word})({_UNIT_SUFFIX})?" for word in words]
    patterns += [rf"(?P<word>{word})([_./ -]+(?P<joint>.+))?" for word in words]
    arrays: dict[str, dict[str, str]] = {}
    for name in names:
        matches = (re.fullmatch(pattern, name, re.I) for pattern in patterns)
        match = next(filter(None, matches), None)
        joint = "" if match is None else match["joint"] or _ONLY_JOINT
        if match is not None and joint.lower() not in _COMPONENTS:
            word = match["word"].lower()
            arrays.setdefault(_SHORT_NAMES.get(word, word), {})[joint] = name
    return arrays


def _schema_value(
    names: Sequence[str], path: str, entries: Mapping[str, str], joints: Sequence[str] = ()
) -> str | list[str]:
    """Return the schema value of an array: its name if entries count from zero, else columns.

    `joints`: names of the joints if entries are by name.
    """
    if joints and all(entries[joint] == f"{path}[{joint}]" for joint in joints):
        return f"{path}[names]"
    columns = [entries[joint] for joint in joints or entries]
    by_number = [match_names(names, f"{path}[{k}]") for k in range(len(columns))]
    is_array = by_number == [[names.index(column)] for column in columns]
    return path if is_array else [as_schema_column(column) for column in columns]


def _usual_joint_names(position: str, effort: str, count: int) -> tuple[str, ...]:
    if position == "actual_q" and count == len(_UR_JOINTS):
        return _UR_JOINTS
    prefix = "panda_joint" if effort == "tau_j" and count == 7 else "joint_"
    prefix = "joint_a" if position in ("aipos", "axis_act_meas", "axis_act") else prefix
    return tuple(f"{prefix}{k}" for k in range(1, count + 1))

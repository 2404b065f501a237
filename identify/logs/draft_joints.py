"""Draft of `[joints]`: columns that look like the joints of a robot, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from identify.logs.draft_lines import NEEDS_REVIEW, Line
from identify.logs.named_vectors import NUMBERED
from identify.logs.table import TableInfo, match_names

_WORDS: Mapping[str, tuple[str, ...]] = {
    "position": (
        *("actual_q", "q", "joint_positions", "joint_position", "joint_pos", "position"),
        *("positions", "qpos", "theta"),
    ),
    "velocity": (
        *("actual_qd", "qd", "dq", "qdot", "q_dot", "joint_velocities", "joint_velocity"),
        *("joint_vel", "velocity", "velocities", "qvel"),
    ),
    "effort": (
        *("actual_current_as_torque", "tau_j", "tau", "effort", "efforts", "joint_torques"),
        *("joint_torque", "joint_efforts", "joint_effort", "measured_torque", "torques"),
        *("torque", "actual_current", "joint_currents", "joint_current", "currents"),
        *("current", "target_moment"),
    ),
}
"""Names of arrays of joints by signal, likeliest first; measured efforts before currents, and
these before the torques of a controller's model."""

_ALSO_VECTORS = frozenset({"position", "positions", "velocity", "torque", "torques"})
"""Names that three numbered columns have in logs of a body, too."""

_BY_JOINT = re.compile(r"(?P<array>.+)\[(?P<joint>[^\[\]]*[^\d\[\]][^\[\]]*)\]")
"""Pattern of an entry by the name of its joint, `position[wrist_3]`."""

_UR_JOINTS = tuple(
    f"{each}_joint"
    for each in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
)

_MIN_JOINTS = 2
"""Minimum number of joints of a robot; a single column named `q` may be anything."""


@dataclass(frozen=True, slots=True)
class JointColumns:
    """Columns of a table that look like the joints of a robot.

    Attributes:
        contents: of the table.
        names: of the joints, as in the log; else those of the usual URDF of such a log.
        named: whether the log has the names of its joints.
        arrays: name of the array of each signal of `[joints]`, without a path.
        columns: value of each signal's key in the schema.
        entries: of each signal, the columns of the table.
    """

    contents: TableInfo
    names: tuple[str, ...]
    named: bool
    arrays: Mapping[str, str]
    columns: Mapping[str, str | list[str]]
    entries: Mapping[str, list[str]]

    @property
    def are_currents(self) -> bool:
        """Whether the effort is a current."""
        return self.arrays.get("effort", "").endswith(("current", "currents"))

    def lines(self, *, degrees: bool) -> list[Line]:
        """Draft the lines of `[joints]`; those of currents lack their gains."""
        why = "" if self.named else f"{NEEDS_REVIEW} the names of the robot's URDF, in this order"
        lines: list[Line] = [("names", list(self.names), why)]
        lines += [(key, value, "") for key, value in self.columns.items()]
        if degrees:
            lines.append(("unit", "deg", f"{NEEDS_REVIEW} larger than a full turn in radians"))
        if self.are_currents:
            lines.append(("effort_unit", "A", "which need gains [N m/A], one for each joint"))
        if "effort" not in self.arrays:
            return lines
        if self.arrays["effort"] == "target_moment":
            key, value, _ = lines[-1]
            lines[-1] = (key, value, f"{NEEDS_REVIEW} of the controller's model: not measured")
        acts = f'{NEEDS_REVIEW} or "motor", the opposite: at rest the effort carries the weight'
        return [*lines, ("effort_acts_on", "joint", acts)]


def find_joints(contents: TableInfo, *required: str) -> JointColumns | None:
    """Return the columns that look like a robot's joints; None without position or a required one.

    Args:
        contents: of the table.
        required: signals besides the position, such as "effort".
    """
    arrays = _arrays(contents.names)
    chosen: dict[str, tuple[str, str, list[str]]] = {}
    for signal, words in _WORDS.items():
        fitting = [
            (words.index(word), path, keys)
            for path, keys in arrays.items()
            if (word := re.split(r"[./ ]", path)[-1].lower().strip("_")) in words
            and len(keys) >= _MIN_JOINTS
            and not (len(keys) == 3 and word in _ALSO_VECTORS and next(iter(keys)).isdecimal())
            and ("position" not in chosen or keys.keys() == arrays[chosen["position"][1]].keys())
        ]
        if fitting:
            rank, path, keys = min(fitting, key=lambda each: each[0])
            chosen[signal] = words[rank], path, list(keys.values())
    if not {"position", *required} <= chosen.keys():
        return None
    keys = tuple(arrays[chosen["position"][1]])
    effort = chosen["effort"][0] if "effort" in chosen else ""
    named = not all(key.isdecimal() for key in keys)
    return JointColumns(
        contents,
        keys if named else _usual_names(chosen["position"][0], effort, len(keys)),
        named,
        {signal: word for signal, (word, _, _) in chosen.items()},
        {
            signal: f"{path}[names]" if named else _spelled(contents.names, path, entries)
            for signal, (_, path, entries) in chosen.items()
        },
        {signal: entries for signal, (_, _, entries) in chosen.items()},
    )


def _arrays(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Columns by array and entry; an array with names of joints is not one with numbers, too."""
    numbered: dict[str, dict[str, str]] = {}
    by_joint: dict[str, dict[str, str]] = {}
    for name in names:
        if (match := _BY_JOINT.fullmatch(name)) is not None:
            by_joint.setdefault(match["array"], {})[match["joint"]] = name
        elif (match := NUMBERED.fullmatch(name)) is not None:
            numbered.setdefault(match["stem"], {})[match["part"]] = name
    ordered = {
        path: dict(sorted(entries.items(), key=lambda entry: int(entry[0])))
        for path, entries in numbered.items()
    }
    return ordered | by_joint


def _spelled(names: Sequence[str], path: str, entries: list[str]) -> str | list[str]:
    """Return the name of an array whose entries count from zero, else its columns."""
    by_number = [match_names(names, f"{path}[{k}]") for k in range(len(entries))]
    return path if by_number == [[names.index(entry)] for entry in entries] else entries


def _usual_names(position: str, effort: str, count: int) -> tuple[str, ...]:
    if position == "actual_q" and count == len(_UR_JOINTS):
        return _UR_JOINTS
    prefix = "panda_joint" if effort == "tau_j" and count == 7 else "joint_"
    return tuple(f"{prefix}{k}" for k in range(1, count + 1))

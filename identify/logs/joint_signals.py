"""Conversion of the columns of a robot's joints to SI, and to the pose of a frame of the robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.files import digest
from identify.findings import Finding
from identify.logs.schema import Schema, SignalGroup
from identify.logs.schema_joints import JointsTable
from identify.logs.table import Table
from identify.logs.units import CURRENT_UNITS
from identify.spatial import quaternion_from_rotation

if TYPE_CHECKING:
    from identify.robots import RobotModel

_LIMIT_EXCESS = 1.5
"""Ratio of a joint's position to its limit above which the position cannot be in radians."""


def joint_signals(valid_rows: Mapping[SignalGroup, Table], joints: JointsTable) -> dict[str, Array]:
    """Return the signals of joints by their names in a `Recording`, in SI."""
    signals: dict[str, Array] = {}
    if "joints" in valid_rows:
        logged = valid_rows["joints"]
        signals["joint_position"] = joint_positions(logged.stacked_columns(joints.position), joints)
        if joints.velocity is not None:
            signals["joint_velocity"] = _of_joints(logged.stacked_columns(joints.velocity), joints)
    if "effort" in valid_rows and joints.effort is not None:
        effort = valid_rows["effort"].stacked_columns(joints.effort) * joints.effort_factors
        motor = joints.motor
        signals["effort"] = effort if motor is None else effort @ motor.torque_to_joints.T
        if joints.target_current is not None and joints.target_effort is not None:
            target = valid_rows["effort"].stacked_columns(joints.target_current)
            signals["target_current"] = CURRENT_UNITS[joints.effort_unit] * target
            signals["target_effort"] = valid_rows["effort"].stacked_columns(joints.target_effort)
    return signals


def joint_positions(logged: Array, joints: JointsTable) -> Array:
    """Convert logged positions of joints or motors to positions of the joints [rad, m].

    Angles that wrap at a turn are continued.

    `logged`: columns `position` of `[joints]` in their unit, shape (rows, n).
    """
    q = _of_joints(logged, joints)
    q += joints.per_joint(joints.offset) * joints.unit_factors
    for joint in np.flatnonzero(joints.angular):  # one at a time, as logs may be long
        q[:, joint] = np.unwrap(q[:, joint])
    return q


def _of_joints(logged: Array, joints: JointsTable) -> Array:
    in_si = logged * joints.unit_factors
    return in_si if joints.motor is None else in_si @ joints.motor.to_joints.T


def robot_pose(logged: Array, schema: Schema) -> dict[str, Array]:
    """Compute the pose of the robot's frame that is B, from the positions of its joints.

    `logged`: columns `position` of `[joints]` in their unit, shape (rows, n); `schema`: with
    `robot` in `[pose]`, and `[joints]`.
    Raises `MissingFile`: the robot's model does not exist; `MissingExtra`: Pinocchio is not
    installed; `ModelError`: the file is no model of these joints, or none of them moves the frame.
    """
    from identify.robots import frame_pose

    assert schema.joints is not None
    assert schema.pose is not None
    q = joint_positions(logged, schema.joints)
    robot, frame = schema_robot(schema), str(schema.pose.frame)
    robot.moving_frame(frame)
    X_WB = frame_pose(robot, frame, q)
    return {"position": X_WB.position, "quaternion": quaternion_from_rotation(X_WB.rotation)}


def robot_finding(schema: Schema) -> Finding:
    """Return the finding that names the robot of a pose, its version and its locked joints."""
    robot = schema_robot(schema)
    frame = "" if schema.pose is None else schema.pose.frame
    text = (
        f"the pose of the body is that of {frame} of {robot.path.name} "
        f"(sha256 {digest(robot.path)[:12]}), from the positions of its joints"
    )
    if robot.locked:
        listed = ", ".join(f"{name} at {value:g}" for name, value in robot.locked.items())
        text += f"; joints that [joints] does not name are kept fixed: {listed}"
    return Finding("robot_pose", "info", f"{text}.")


def joints_in_degrees(valid: Table, schema: Schema) -> Iterator[Finding]:
    """Yield a finding if positions declared in radians must be in degrees, by joint limits."""
    assert schema.joints is not None
    q = joint_positions(valid.stacked_columns(schema.joints.position), schema.joints)
    largest = np.abs(q).max(axis=0, initial=0.0)
    limits = np.abs(schema_robot(schema).position_limits).max(axis=1)
    beyond = largest > _LIMIT_EXCESS * limits
    in_degrees = (np.radians(largest) <= _LIMIT_EXCESS * limits).all()
    if in_degrees and (beyond & (schema.joints.unit_factors == 1.0)).any():
        worst = int(np.argmax(np.where(beyond, largest, 0.0)))
        yield Finding(
            "angle_unit",
            "error",
            f"joint {schema.joints.names[worst]!r} is at up to {largest[worst]:.4g} rad, and its "
            f"limit in the robot's model is {limits[worst]:.4g}; the positions are in degrees.",
            'In the schema, [joints], set `unit = "deg"`.',
            {"largest": float(largest[worst]), "limit": float(limits[worst])},
        )


def schema_robot(schema: Schema) -> RobotModel:
    """Read the robot model of a schema's pose, with the joints of `[joints]`.

    Raises `MissingFile`: the robot's model does not exist; `MissingExtra`: Pinocchio is not
    installed; `ModelError`: the file is no model of these joints.
    """
    assert schema.joints is not None
    path = schema.robot_file
    assert path is not None
    changed = path.stat().st_mtime_ns if path.is_file() else 0
    return _read_robot(path, schema.joints.names, changed)


@lru_cache(maxsize=4)
def _read_robot(path: Path, joints: tuple[str, ...], changed: int) -> RobotModel:
    """Read a robot model, cached until the file changes (`changed`: its modification time [ns])."""
    from identify.robots import read_robot

    return read_robot(path, joints)

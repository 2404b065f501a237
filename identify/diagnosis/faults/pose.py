"""Faults of the pose and its rates: order, direction, axes, units, and the tracked point."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from identify.arrays import Array
from identify.diagnosis.fault import (
    Fault,
    FaultParameters,
    discrete_fault,
    rounded_for_schema,
    schema_lines,
)
from identify.logs.log_properties import LogProperties
from identify.logs.patch import Patch, is_schema_with
from identify.logs.schema import Schema
from identify.logs.schema_fields import negate_column
from identify.logs.schema_tables import PoseTable
from identify.logs.units import ACCELERATION_UNITS, LENGTH_UNITS
from identify.regressors.log_corrections import point_offset_map, position_scale_map
from identify.relevance import FAULT_POINT_DISPLACEMENT, FAULT_SCALE, MIN_RATE_IN_DEGREES
from identify.spatial import Pose

MAX_PLAUSIBLE_RATES = 50.0, 100.0
"""Highest speed [m/s] and angular rate [rad/s] with which another unit is plausible."""

MIN_PLAUSIBLE_RATES = 1e-3, 1e-2
"""Lowest speed [m/s] and angular rate [rad/s] with which another unit is plausible."""

_MIN_POSITION_SCALE = 0.1
"""Smallest ratio of lengths to the logged ones that is a scale: less is no motion at all."""

_SAME_POINT = 0.2
"""Largest distance from the other reference point of the wrench, relative to the tool point's
distance from the flange, at which the wrench is about that point."""

_POSITION_TEXTS = {
    "world": "of the body's origin in world axes",
    "body": "of the body's origin in body axes",
    "inverse": "of the world's origin in body axes",
}
_RATE_TEXTS = {"twist": "velocities", "acceleration": "accelerations"}
_OTHER_QUATERNION_ORDER = {"xyzw": "wxyz", "wxyz": "xyzw"}


def pose_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of the pose and the rates."""
    if setup.schema is not None:
        if (
            setup.has_attitude
            and setup.schema.pose is not None
            and not setup.schema.has_pose_from_joints
        ):
            yield from _pose_convention_faults(setup, setup.schema.pose)
            yield from _position_unit_faults(setup, setup.schema.pose)
        yield from _acceleration_kind_faults(setup)
        yield from _acceleration_unit_faults(setup)
        yield from _rate_frame_faults(setup)
        yield from _rate_unit_faults(setup)
    by_joints = setup.schema is not None and setup.schema.has_pose_from_joints
    if setup.gravity_added and setup.acceleration_from_position and not by_joints:
        yield _position_scale_fault(setup)
    if not setup.static_poses:
        yield _point_offset_fault(setup)


def _pose_convention_faults(setup: LogProperties, pose: PoseTable) -> Iterator[Fault]:
    """Yield faults of quaternion order, direction of the rotation, and meaning of the position."""
    reorders = (False, True) if pose.quaternion is not None else (False,)
    is_inverse, present = pose.maps == "world_to_body", pose.position_kind
    for reordered, remapped in product(reorders, (False, True)):
        default = "inverse" if is_inverse != remapped else "world"
        for position in _POSITION_TEXTS if setup.acceleration_from_position else (default,):
            # Minus the position alone is a mirror image, which is that of another gravity.
            sign_may_differ = (
                setup.acceleration_from_position
                and position == "world"
                and not reordered
                and (remapped or present != "world")
            )
            for sign in (1.0, -1.0) if sign_may_differ and pose.position is not None else (1.0,):
                is_same = position == present or not setup.acceleration_from_position
                if not (reordered or remapped) and is_same and sign > 0.0:
                    continue
                is_implied = remapped and position == default and pose.position_axes is None
                patch = dict(_pose_patch(pose, reordered, remapped, position, default, sign))
                if position == "inverse" != default and pose.position is None:
                    continue  # a matrix of sixteen columns has no position of its own
                code = "pose_maps" if remapped else "position_axes"
                code = "quaternion_order" if reordered else code
                text = " and ".join(
                    _mistake_texts(pose, reordered, remapped, position, present, sign)
                )
                mistakes = reordered + remapped + (sign < 0.0) + (not (is_same or is_implied))
                yield discrete_fault(setup, code, text, patch, mistake_count=mistakes)
                if mistakes == 1 and code != "position_axes" and setup.gravity_added:
                    # Otherwise a position and a force with the other sign would explain it.
                    both = patch | {"world.gravity": rounded_for_schema(-setup.gravity)}
                    text += ", and gravity points the other way"
                    yield discrete_fault(setup, code, text, both, mistake_count=2)


def _mistake_texts(
    pose: PoseTable, reordered: bool, remapped: bool, position: str, present: str, sign: float
) -> Iterator[str]:
    if reordered:
        scalar_is_first = pose.rotation_order == "wxyz"
        yield f"the quaternion's scalar comes {'last' if scalar_is_first else 'first'}"
    if remapped:
        yield "the rotation maps the other way"
    if position != present or sign < 0.0:
        yield f"the position is {'minus that ' if sign < 0.0 else ''}{_POSITION_TEXTS[position]}"


def _pose_patch(
    pose: PoseTable, reordered: bool, remapped: bool, position: str, default: str, sign: float
) -> Iterator[tuple[str, object]]:
    """Yield changed keys of `[pose]`; "inverse" positions are negated positions in body axes."""
    if reordered:
        yield "pose.order", _OTHER_QUATERNION_ORDER[pose.rotation_order]
    if remapped:
        yield "pose.maps", "body_to_world" if pose.maps == "world_to_body" else "world_to_body"
    if position == "inverse" and default == "world":
        position, sign = "body", -1.0
    if position != (pose.position_axes or default):
        yield "pose.position_axes", None if position == "inverse" else position
    if sign < 0.0 and pose.position is not None:
        yield "pose.position", [negate_column(column) for column in pose.position]


def _position_unit_faults(setup: LogProperties, pose: PoseTable) -> Iterator[Fault]:
    if not (setup.acceleration_from_position and setup.gravity_added):
        return
    other, factor = ("m", 1e3) if pose.position_unit == "mm" else ("mm", 1e-3)
    if MIN_PLAUSIBLE_RATES[0] < setup.top_speeds[0] * factor < MAX_PLAUSIBLE_RATES[0]:
        text = f"the position is in {other}, not in {pose.position_unit}"
        yield discrete_fault(setup, "position_unit", text, {"pose.position_unit": other})


def _acceleration_kind_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield the fault of a spatial acceleration interpreted as classical, or the reverse."""
    kind = setup.acceleration_kind
    if "linear_acceleration" not in setup.signals or kind == "proper":
        return
    if setup.static_poses or not setup.has_attitude:
        return
    other = "spatial" if kind == "classical" else "classical"
    text = f"the linear acceleration is the {other} one"
    yield discrete_fault(setup, "acceleration_kind", text, {"acceleration.kind": other})


def _acceleration_unit_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of linear accelerations in other units, such as g."""
    table = None if setup.schema is None else setup.schema.acceleration
    if table is None or table.linear is None or not setup.has_attitude:
        return
    for other in ACCELERATION_UNITS:
        if other != table.unit:
            text = f"the linear acceleration is in {other}, not in {table.unit}"
            yield discrete_fault(setup, "acceleration_unit", text, {"acceleration.unit": other})


def _rate_frame_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of velocities or accelerations in other axes, and of both if in the same."""
    schema = setup.schema
    if schema is None or setup.static_poses or not setup.has_attitude:
        return
    tables = {"twist": schema.twist, "acceleration": schema.acceleration}
    frames = {name: table.frame for name, table in tables.items() if table is not None}
    chosen: list[tuple[str, ...]] = [(name,) for name in frames]
    if len(frames) == 2 and len(set(frames.values())) == 1:
        chosen.append(tuple(frames))
    for names in chosen:
        other = "body" if frames[names[0]] == "world" else "world"
        text = f"the {' and '.join(_RATE_TEXTS[name] for name in names)} are in {other} axes"
        patch = {f"{name}.frame": other for name in names}
        yield discrete_fault(setup, "rate_frame", text, patch)


def _rate_unit_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield the fault of angular rates in degrees if they are implausibly fast in radians."""
    tables = {"angular_velocity": "twist", "angular_acceleration": "acceleration"}
    patch = {f"{tables[n]}.angle_unit": "deg" for n in tables if n in setup.signals}
    if patch and setup.top_speeds[1] > MIN_RATE_IN_DEGREES:
        yield discrete_fault(setup, "angle_unit", "angular rates are in degrees", patch)


def _position_scale_fault(setup: LogProperties) -> Fault:
    pose = None if setup.schema is None else setup.schema.pose
    key = "matrix" if pose is not None and pose.is_homogeneous_matrix else "position"
    return Fault(
        "position_scale",
        "position_unit",
        "position scale",
        None,
        lambda size: position_scale_map(float(size[0]), setup.gravity),
        lambda size: (
            f"Check the scale of [pose] {key}: lengths are {1.0 + float(size[0]):.4g} of it"
        ),
        setup,
        FaultParameters(("scale",), "%", 1e-2, FAULT_SCALE),
        is_possible=lambda size: float(size[0]) > _MIN_POSITION_SCALE - 1.0,
    )


def _point_offset_fault(setup: LogProperties) -> Fault:
    return Fault(
        "kinematic_offset",
        "kinematic_offset",
        "kinematic offset",
        None,
        point_offset_map,
        lambda size: _point_remedy(setup, -size),
        setup,
        FaultParameters(("x", "y", "z"), "mm", 1e-3, FAULT_POINT_DISPLACEMENT),
    )


def _point_remedy(setup: LogProperties, point: Array) -> str:
    """Return the keys of a schema that move the pose to the point of the wrench.

    `point` is that of the pose, seen from the point of the wrench, in body axes [m].
    """
    shown = [round(1e3 * float(v), 2) + 0.0 for v in point]
    text = (
        f"The pose is of the point at {shown} mm in the body's axes, seen from the wrench's point"
    )
    schema = setup.schema
    if schema is None:
        return f"{text}: log the pose of the wrench's point"
    if "accelerometer" in setup.signals and not setup.has_attitude:
        mount = schema.imu and schema.imu.mount
        place = np.zeros(3) if mount is None else mount.pose.position
        return f"In [imu.mount], set `translation = {rounded_for_schema(place + point)}` (in m)"
    changes = [
        f"{schema_lines(patch, setup.schema_tables).rstrip('.')} if {condition}"
        for condition, patch in _point_patches(schema, setup.X_BS, point)
        if not setup.schema_tables or is_schema_with(setup.schema_tables, patch)
    ]
    if not changes:
        return f"{text}: log the pose of the wrench's point"
    return f"{text}. {'. Or: '.join(changes)}"


def _point_patches(schema: Schema, X_BS: Pose | None, point: Array) -> Iterator[tuple[str, Patch]]:
    """Yield schema keys that put the pose's point at `point`, each with the condition for it.

    The z-axis of a flange points at what it holds: a pose that is ahead of the wrench's point is
    that of a tool point first, one behind it that of a flange with the sensor mounted ahead.
    """
    wrench = schema.wrench
    tool = schema.body.tcp
    mount = schema.wrench.mount
    in_world = wrench.frame == "world"
    lever = np.zeros(3) if tool is None else tool.X_FT.position
    of_tool = in_world and tool is not None and wrench.point != "flange"
    if in_world and tool is not None:
        other = "flange" if of_tool else "tcp"
        expected = lever if of_tool else -lever
        if np.linalg.norm(point - expected) < _SAME_POINT * np.linalg.norm(lever):
            where = {"flange": "flange", "tcp": "tool point"}[other]
            yield f"the wrench is about the {where}", {"wrench.point": other}
    if mount is not None:
        place = (np.zeros(3) if X_BS is None else X_BS.position) - point
        place = place / LENGTH_UNITS[mount.unit]
        patch = {"wrench.mount.translation": rounded_for_schema(place)}
        yield "the sensor is there in the body", patch
    of_point = [] if of_tool else [_tool_point_patch(schema, point, lever)]
    of_sensor = [_sensor_patch(schema, point)] if wrench.frame == "body" else []
    yield from (*of_sensor, *of_point) if point[2] < 0.0 else (*of_point, *of_sensor)


def _tool_point_patch(schema: Schema, point: Array, lever: Array) -> tuple[str, Patch]:
    """Return schema keys by which the pose is that of a tool point, with their condition."""
    tool, wrench = schema.body.tcp, schema.wrench
    position = (lever + point) / LENGTH_UNITS["m" if tool is None else tool.unit]
    rotation = np.zeros(3) if tool is None else np.array(tool.pose[3:])
    patch: dict[str, object] = {} if schema.body.flange is None else {"body.flange": None}
    patch["body.tcp.pose"] = rounded_for_schema(np.concatenate((position.round(5), rotation)))
    if wrench.frame == "world" and wrench.point is None:
        patch["wrench.point"] = "flange"
    return "the pose is that of this tool point", patch


def _sensor_patch(schema: Schema, point: Array) -> tuple[str, Patch]:
    """Return schema keys of a sensor at −`point` (`_point_remedy`) in B, with their condition."""
    condition, flange = "the sensor is there in the body", schema.body.frame.flange
    if schema.body.flange is not None and flange is not None and flange.position.any():
        condition += ", and the pose is not the flange's own (then empty [body.flange] too)"
    place = rounded_for_schema(-point)
    return condition, {"wrench.frame": "sensor", "wrench.mount.translation": place}

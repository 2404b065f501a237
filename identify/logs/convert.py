"""Columns in a log's units, order and sign become the signals of a `Recording`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from identify.arrays import Array
from identify.errors import LogError
from identify.logs.orientation import read_rotation, read_translation
from identify.logs.recording import Frame
from identify.logs.rows import Selection
from identify.logs.schema import Group, Schema
from identify.logs.schema_fields import Column
from identify.logs.schema_tables import PoseTable
from identify.logs.tool_point import moved_motion, moved_noise
from identify.logs.units import ACCELERATION, ANGLE, FORCE, LENGTH, TORQUE
from identify.spatial.rotations import quaternion_conjugate, rotate, rotation_from_quaternion


def signals_of(selections: Mapping[Group, Selection], schema: Schema) -> dict[str, Array]:
    """The signals of some groups, by the names of a `Recording`, in SI.

    Args:
        selections: the rows kept of the file that each of the groups is in.
        schema: what their columns mean.

    Raises:
        LogError: a row that is no rotation, or a tool point whose motion is not in one place.
    """
    signals: dict[str, Array] = {}
    if schema.pose is not None and "pose" in selections:
        signals = _pose(selections["pose"], schema.pose)
    for group, name, columns, factor in _scaled(schema):
        if columns is not None and group in selections:
            signals[name] = selections[group].columns(columns) * factor
    if (tcp := schema.body.tcp) is None:
        return signals
    try:
        return moved_motion(
            signals,
            axes_of(schema),
            tcp.X_FT.inverse(),
            kind=(schema.acceleration and schema.acceleration.kind) or "classical",
            still=schema.layout("wrench").still,
        )
    except LogError as error:
        path = next(iter(selections.values())).table.path
        raise LogError(f"{path}: {error}", path=path) from error


def axes_of(schema: Schema) -> dict[str, Frame]:
    """The axes of twist, acceleration and wrench, where the log has them."""
    return {name: table.frame for name, table in schema.groups.items() if name != "pose"}


def noise_of(schema: Schema) -> dict[str, float]:
    """The noise that a schema gives: one sigma on each axis in SI, by the names of signals."""
    given: list[tuple[str, float | None, float]] = []
    if (pose := schema.pose) is not None:
        given.append(("position", pose.position_noise, LENGTH[pose.position_unit]))
        given.append(("quaternion", pose.angle_noise, ANGLE[pose.angle_unit]))
    if (twist := schema.twist) is not None:
        given.append(("linear_velocity", twist.linear_noise, 1.0))
        given.append(("angular_velocity", twist.angular_noise, ANGLE[twist.angle_unit]))
    if (rates := schema.acceleration) is not None:
        given.append(("linear_acceleration", rates.linear_noise, ACCELERATION[rates.unit]))
        given.append(("angular_acceleration", rates.angular_noise, ANGLE[rates.angle_unit]))
    wrench = schema.wrench
    given.append(("force", wrench.force_noise, FORCE[wrench.force_unit]))
    given.append(("torque", wrench.torque_noise, TORQUE[wrench.torque_unit]))
    noise = {name: sigma * factor for name, sigma, factor in given if sigma is not None}
    tcp = schema.body.tcp
    return noise if tcp is None else moved_noise(noise, tcp.X_FT.inverse())


def _scaled(schema: Schema) -> Iterator[tuple[Group, str, tuple[Column, ...] | None, float]]:
    """Group, name, columns (or None) and factor to SI of each signal but the pose."""
    if (twist := schema.twist) is not None:
        yield "twist", "linear_velocity", twist.linear, 1.0
        yield "twist", "angular_velocity", twist.angular, ANGLE[twist.angle_unit]
    if (rates := schema.acceleration) is not None:
        yield "acceleration", "linear_acceleration", rates.linear, ACCELERATION[rates.unit]
        yield "acceleration", "angular_acceleration", rates.angular, ANGLE[rates.angle_unit]
    wrench = schema.wrench
    sign = 1.0 if wrench.acts_on == "body" else -1.0  # the reaction on a sensor is negated
    yield "wrench", "force", wrench.force, sign * FORCE[wrench.force_unit]
    yield "wrench", "torque", wrench.torque, sign * TORQUE[wrench.torque_unit]


def _pose(selection: Selection, pose: PoseTable) -> dict[str, Array]:
    """`quaternion` of R_WB, and `position` p_WoBo_W where the log has it.

    A log that maps the world to the body has the inverse: R_WB = Rᵀ, p_WoBo_W = −Rᵀ p; unless its
    position is said to be that of the body's origin, in body axes (p_WoBo_W = R_WB p) or world's.
    """
    q, p = read_rotation(selection, pose), None
    if pose.homogeneous:
        p = read_translation(selection, pose) * LENGTH[pose.position_unit]
    elif pose.position is not None:
        p = selection.columns(pose.position) * LENGTH[pose.position_unit]
    inverse = pose.maps == "world_to_body"
    if inverse:
        q = quaternion_conjugate(q)
    if p is not None and pose.position_axes == "body":
        p = rotate(rotation_from_quaternion(q), p)
    elif p is not None and inverse and pose.position_axes is None:
        p = -rotate(rotation_from_quaternion(q), p)
    return {"quaternion": q} if p is None else {"position": p, "quaternion": q}

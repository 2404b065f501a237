"""Conversion of logged columns to the signals of a `Recording` in SI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from identify.arrays import Array, seal
from identify.errors import LogError
from identify.logs.orientation import read_rotation, read_translation
from identify.logs.recording_parts import AccelerationKind, Frame, Imu
from identify.logs.schema import Schema, SignalGroup
from identify.logs.schema_tables import PoseTable
from identify.logs.signal_table import SIGNALS
from identify.logs.table import Table
from identify.logs.tool_point import motion_of_frame, noise_of_frame
from identify.logs.units import LENGTH_UNITS
from identify.spatial.rotations import quaternion_conjugate, rotate, rotation_from_quaternion


def convert_signals(valid_rows: Mapping[SignalGroup, Table], schema: Schema) -> dict[str, Array]:
    """Convert logged columns to the signals of a `Recording` in SI, by name.

    Raises `LogError`: a row that is no rotation, or a tool point whose motion is not in one place.
    """
    signals: dict[str, Array] = {}
    if schema.pose is not None and "pose" in valid_rows:
        signals = _convert_pose(valid_rows["pose"], schema.pose, schema)
    acts_on_body = 1.0 if schema.wrench.acts_on == "body" else -1.0  # a reaction is negated
    for signal in SIGNALS[2:]:
        table = schema.groups.get(signal.group)
        columns = getattr(table, signal.key, None)
        if columns is not None and signal.group in valid_rows:
            sign = acts_on_body if signal.group == "wrench" else 1.0
            factor = sign * signal.factor(table)
            signals[signal.name] = valid_rows[signal.group].stacked_columns(columns) * factor
            if signal.table == "imu":
                signals[signal.name] = signals[signal.name] @ schema_imu(schema).X_BI.rotation.T
    if (tcp := schema.body.tcp) is None:
        return signals
    try:
        return motion_of_frame(
            signals,
            schema_axes(schema),
            tcp.X_FT.inverse(),
            kind=schema_acceleration_kind(schema),
            still=schema.still,
        )
    except LogError as error:
        path = next(iter(valid_rows.values())).path
        raise LogError(f"{path}: {error}", path=path) from error


def with_zero_wrench(signals: Mapping[str, Array], schema: Schema) -> dict[str, Array]:
    """Add zeros for force and torque if the schema has none.

    The proper acceleration of the centre of mass is zero too: it is that of B, where nothing else
    is said.
    """
    zero = seal(np.zeros((len(next(iter(signals.values()))), 3)), "zero", (None, 3))
    free = ("linear_acceleration",) if schema.origin_is_com else ()
    free += ("force",) if schema.wrench.force is None else ()
    free += () if schema.wrench.torque else ("torque",)
    return {**signals, **dict.fromkeys(free, zero)}


def schema_acceleration_kind(schema: Schema) -> AccelerationKind:
    """Return the kind of the logged linear acceleration: classical, spatial or proper."""
    kind = schema.acceleration and schema.acceleration.kind
    return cast(AccelerationKind, "proper" if schema.origin_is_com else kind or "classical")


def schema_imu(schema: Schema) -> Imu:
    """Return the pose of the inertial measurement unit that a schema gives."""
    if schema.imu is None or schema.imu.mount is None:
        return Imu()
    return Imu(schema.imu.mount.pose, schema.imu.mount.fitted)


def schema_axes(schema: Schema) -> dict[str, Frame]:
    """Return the axes (body, world, sensor) of twist, acceleration and wrench, as far as logged."""
    tables = (("twist", schema.twist), ("acceleration", schema.acceleration))
    axes = {name: table.frame for name, table in tables if table is not None}
    if schema.origin_is_com:
        axes.setdefault("acceleration", "body")
    return cast("dict[str, Frame]", axes | {"wrench": schema.wrench.frame})


def schema_noise(schema: Schema) -> dict[str, float]:
    """Return the noise given by a schema: one sigma per axis in SI, by name of the signal."""
    noise: dict[str, float] = {}
    for signal in SIGNALS:
        table = schema.groups.get(signal.group)
        sigma = getattr(table, signal.noise_key, None)
        if sigma is not None:
            noise[signal.name] = sigma * signal.factor(table)
    tcp = schema.body.tcp
    return noise if tcp is None else noise_of_frame(noise, tcp.X_FT.inverse())


def _convert_pose(valid: Table, pose: PoseTable, schema: Schema) -> dict[str, Array]:
    """Convert the pose: `quaternion` of R_WB, and `position` p_WoBo_W if the log has it.

    A log that maps the world to the body has the inverse: R_WB = Rᵀ, p_WoBo_W = −Rᵀ p; unless its
    position is said to be that of the body's origin, in body axes (p_WoBo_W = R_WB p) or world's.
    """
    if schema.has_pose_from_joints:
        from identify.logs.joint_signals import robot_pose  # which few logs need

        assert schema.joints is not None
        return robot_pose(valid.stacked_columns(schema.joints.position), schema)
    q, p = read_rotation(valid, pose), None
    if pose.is_homogeneous_matrix:
        p = read_translation(valid, pose) * LENGTH_UNITS[pose.position_unit]
    elif pose.position is not None:
        p = valid.stacked_columns(pose.position) * LENGTH_UNITS[pose.position_unit]
    inverse = pose.maps == "world_to_body"
    if inverse:
        q = quaternion_conjugate(q)
    if p is not None and pose.position_axes == "body":
        p = rotate(rotation_from_quaternion(q), p)
    elif p is not None and inverse and pose.position_axes is None:
        p = -rotate(rotation_from_quaternion(q), p)
    return {"quaternion": q} if p is None else {"position": p, "quaternion": q}

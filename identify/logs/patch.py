"""Reinterpretation of a recording with other values of some schema keys.

The conversions that the recording's own schema asked for are undone, and those of the patched one
done: signs, order and units of columns, what a pose maps, frames. A reader need not go to the file
again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from identify.arrays import Array, Vec4, seal
from identify.documents import validate
from identify.errors import SchemaError
from identify.logs.convert import schema_axes, schema_imu, schema_noise
from identify.logs.orientation import rotation_from_columns
from identify.logs.recording import Recording, recording_of_frame
from identify.logs.schema import Schema
from identify.logs.schema_fields import Column, without_sign
from identify.logs.schema_poses import imu_placement_keys
from identify.logs.schema_tables import PoseTable, WrenchTable, compensated_keys
from identify.logs.signal_table import SIGNALS
from identify.logs.tool_point import wrench_point
from identify.logs.units import FORCE_UNITS, LENGTH_UNITS, TORQUE_UNITS
from identify.spatial.rotations import (
    quaternion_conjugate,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)

Patch: TypeAlias = Mapping[str, Any]
"""Values of keys of a schema, such as {"pose.order": "wxyz"} or {"wrench.mount.unit": "mm"}; None
leaves a key out."""

_MOTION_TABLES = frozenset({"pose", "joints", "twist", "acceleration"})
_ROTATION_KEYS = ("quaternion", "matrix", "rotation_vector", "euler")
_RATE_SIGNALS = tuple(s for s in SIGNALS if s.group not in ("pose", "wrench"))
"""Signals of a motion that are converted one by one, unlike the pose and the wrench."""


def completed_schema(recording: Recording) -> Schema:
    """Return the schema of a recording, with missing keys filled in from its other fields.

    Raises `SchemaError`: no schema describes the recording.
    """
    return _validated_schema(_schema_document(recording))


def patched(recording: Recording, patch: Patch) -> Recording:
    """Return the recording reinterpreted with other values of some schema keys.

    Only keys of the patch are changed. Files, clocks and the frames of the body stay as they were
    read, so that no key of `[log]`, `[streams]` and `[body]` can be changed.

    Raises `SchemaError`: the patched schema is invalid, or names columns that were not read, or the
    patch has a key of these tables; `LogError`: a tool point's motion cannot be read so.
    """
    if not patch:
        return recording
    document = _schema_document(recording)
    old, new = _validated_schema(document), _validated_schema(_with_patch(document, patch))
    tables = {key.partition(".")[0] for key in patch}
    if tables & {"log", "streams", "body"}:
        raise SchemaError(f"{recording.name}: {sorted(patch)} cannot be changed once it is read")
    tcp = recording.body_frame.tcp if tables & _MOTION_TABLES else None
    if tcp is not None:  # the log is of the tool point: that is what is read otherwise
        recording = recording_of_frame(recording, tcp)
    signals = dict(recording.signals)
    if "wrench" in tables:
        gain = wrench_map(old.wrench, new.wrench)
        w = np.concatenate((signals["force"], signals["torque"]), axis=1) @ gain.T
        signals |= {"force": w[:, :3], "torque": w[:, 3:]}
    numbers = recording.attitude_coordinates
    if (
        "joints" in tables
        and old.joints
        and new.joints
        and new.has_pose_from_joints
        and numbers is not None
    ):
        from identify.logs.joint_signals import robot_pose  # which few logs need

        numbers = numbers @ selection_matrix(old.joints.position, new.joints.position).T
        signals |= robot_pose(numbers, new)
    if old.pose is not None and new.pose is not None and old.pose != new.pose:
        signals |= _reinterpreted_pose(signals, numbers, old.pose, new.pose)
        if numbers is not None:
            numbers = (
                numbers @ selection_matrix(old.pose.rotation_columns, new.pose.rotation_columns).T
            )
    for signal in _RATE_SIGNALS:
        if signal.table in tables and signal.name in signals:
            before, after = old.groups[signal.group], new.groups[signal.group]
            ratio = signal.factor(after) / signal.factor(before)
            turn = selection_matrix(getattr(before, signal.key), getattr(after, signal.key))
            if signal.table == "imu":
                turn = schema_imu(new).X_BI.rotation @ turn @ schema_imu(old).X_BI.rotation.T
            signals[signal.name] = ratio * signals[signal.name] @ turn.T
    frames = {**recording.frames, **{k: v for k, v in schema_axes(new).items() if k in tables}}
    table_of = {s.name: s.table for s in SIGNALS}
    given = {name: sigma for name, sigma in schema_noise(new).items() if table_of[name] in tables}
    recording = replace(
        recording,
        signals={name: _sealed(values) for name, values in signals.items()},
        frames=frames,
        noise={**recording.noise, **given},
        schema=_with_patch(recording.schema, patch),
        attitude_coordinates=numbers,
    )
    recording = _with_patched_settings(recording, new, patch)
    return recording if tcp is None else recording_of_frame(recording, tcp.inverse())


def _with_patched_settings(recording: Recording, new: Schema, patch: Patch) -> Recording:
    """Replace what a recording has of a schema besides signals, where the patch changes it."""
    tables = {key.partition(".")[0] for key in patch}
    if "imu" in tables:
        recording = replace(recording, imu=schema_imu(new))
    if "world" in tables:
        recording = replace(recording, gravity=seal(new.world.gravity, "gravity", (3,)))
    if new.acceleration is not None and new.acceleration.kind and "acceleration.kind" in patch:
        recording = replace(recording, acceleration_kind=new.acceleration.kind)  # pyright: ignore[reportArgumentType]
    if not {"wrench.delay_s", "wrench.delay_axes"}.isdisjoint(patch):
        late, axes = new.wrench.delay_s, new.wrench.delay_axes
        recording = replace(recording, wrench_delay=late, delay_axes=axes)
    if any(key.startswith("wrench.compensated") for key in patch):
        whole = new.wrench.compensated
        weight = () if whole is None else whole.about_origin(recording.body_frame)
        recording = replace(recording, compensated=weight)
    if any(key.startswith(("wrench.frame", "wrench.mount", "wrench.point")) for key in patch):
        point = None
        if new.wrench.point != "flange":
            point = wrench_point(new.wrench.frame, recording.body_frame.tcp)
        mount = new.wrench.mount
        recording = replace(recording, X_BS=mount.pose if mount is not None else point)
    return recording


def wrench_map(old: WrenchTable, new: WrenchTable) -> Array:
    """Return the linear map from the wrench [f; t] of one schema to that of another, shape (6, 6).

    Raises `SchemaError`: the new schema has columns that the old one lacks.
    """
    columns = [(*(table.force or ()), *table.torque) for table in (old, new)]
    factors = []
    for table in (old, new):
        sign = 1.0 if table.acts_on == "body" else -1.0
        units = FORCE_UNITS[table.force_unit] * table.force_gain, TORQUE_UNITS[table.torque_unit]
        factors.append(sign * np.repeat(units, 3))
    return factors[1][:, None] * selection_matrix(*columns) / factors[0]


def _schema_document(recording: Recording) -> dict[str, dict[str, Any]]:
    """Return a recording's schema with the keys that it leaves out, which a patch may change."""
    document = {k: dict(v) for k, v in recording.schema.items() if isinstance(v, Mapping)}
    names = {*recording.signals, *(name for s in recording.streams for name in s.signals)}
    for signal in SIGNALS:
        table = document.get(signal.table, {})
        given = _ROTATION_KEYS if signal.name == "quaternion" else (signal.key,)
        whole = signal.name == "position" and len(table.get("matrix", ())) == 16
        whole |= "robot" in table
        if signal.name in names and not whole and not any(key in table for key in given):
            document.setdefault(signal.table, {})[signal.key] = list(signal.columns)
    if "imu" in document and recording.imu is not None:
        document["imu"].setdefault("mount", imu_placement_keys(recording.imu))
    for group, frame in recording.frames.items():
        if group in document:
            document[group]["frame"] = frame
    wrench = document["wrench"]
    wrench.setdefault("acts_on", "body")
    if recording.compensated:
        wrench.setdefault("compensated", compensated_keys(recording.compensated))
    if recording.frames.get("wrench") == "sensor":
        wrench.setdefault("mount", {})
    if "acceleration" in document:
        document["acceleration"].setdefault("kind", recording.acceleration_kind)
    document.setdefault("world", {})["gravity"] = np.asarray(recording.gravity).tolist()
    clock = document.setdefault("log", {})
    if not clock.keys() & {"time", "rate_hz", "still"}:
        clock |= {"still": True} if recording.still else {"time": "time"}
    return document


def is_schema_with(schema_tables: Mapping[str, Any], patch: Patch) -> bool:
    """Return whether the tables of a schema are a schema with other values of some keys."""
    try:
        validate(Schema, _with_patch(schema_tables, patch), "schema")
    except SchemaError:
        return False
    return True


def _validated_schema(document: Mapping[str, Any]) -> Schema:
    """Validate a schema document."""
    try:
        text = json.dumps(document)
    except TypeError:  # of values that no file has
        return validate(Schema, document, "schema")
    return _parse_schema(text)


@lru_cache(maxsize=64)
def _parse_schema(text: str) -> Schema:
    return validate(Schema, json.loads(text), "schema")


def _with_patch(document: Mapping[str, Any], patch: Patch) -> dict[str, Any]:
    merged = {name: dict(v) if isinstance(v, Mapping) else v for name, v in document.items()}
    for place, value in patch.items():
        *tables, key = place.split(".")
        keys = merged
        for name in tables:
            keys[name] = keys = dict(keys.get(name) or {})
        if value is None:
            keys.pop(key, None)
        else:
            keys[key] = list(value) if isinstance(value, tuple) else value
    return merged


def selection_matrix(old: Sequence[Column], new: Sequence[Column]) -> Array:
    """Return the signed selection matrix from the columns of one list to those of another."""
    names = [without_sign(column) for column in old]
    signs = np.zeros((len(new), len(old)))
    for row, (name, factor) in enumerate(map(without_sign, new)):
        places = [k for k, (known, _) in enumerate(names) if known == name]
        if not places:
            raise SchemaError(f"column {name!r} was not read before: read the log again")
        signs[row, places[0]] = factor * names[places[0]][1]
    return signs


def _reinterpreted_pose(
    signals: Mapping[str, Array], numbers: Array | None, old: PoseTable, new: PoseTable
) -> dict[str, Array]:
    """Convert a pose to its logged form, and read that by another schema table `[pose]`."""
    if "quaternion" not in signals:
        return {}
    attitude = signals["quaternion"]
    logged = quaternion_conjugate(attitude) if old.maps == "world_to_body" else attitude
    logged = _reinterpreted_rotation(logged, numbers, old, new)
    inverse = new.maps == "world_to_body"
    pose = {"quaternion": quaternion_conjugate(logged) if inverse else logged}
    if "position" not in signals:
        return pose
    p = signals["position"]
    back = rotate_back(rotation_from_quaternion(attitude), p)
    p = {"world": p, "body": back, "inverse": -back}[old.position_kind]
    p = p * (LENGTH_UNITS[new.position_unit] / LENGTH_UNITS[old.position_unit])
    if old.position is not None and new.position is not None:
        p = p @ selection_matrix(old.position, new.position).T
    turned = rotate(rotation_from_quaternion(pose["quaternion"]), p)
    position = {"world": p, "body": turned, "inverse": -turned}[new.position_kind]
    return pose | {"position": position}


def _reinterpreted_rotation(
    logged: Vec4, numbers: Array | None, old: PoseTable, new: PoseTable
) -> Vec4:
    """Convert a rotation to its logged form, and read that by another schema table `[pose]`."""
    tables = [
        (each.rotation_kind, each.rotation_columns, each.rotation_order, each.angle_unit)
        for each in (old, new)
    ]
    if tables[0] == tables[1]:
        return logged
    if old.quaternion is not None:
        numbers = np.roll(logged, 1, axis=1) if old.rotation_order == "wxyz" else logged
    if old.matrix is not None and old.matrix == new.matrix and not old.is_homogeneous_matrix:
        return quaternion_conjugate(logged)
    if numbers is None or len(numbers) != len(logged) or new.matrix is not None:
        raise SchemaError(
            "the rotation's columns are no longer in memory, so that they cannot be interpreted "
            "in another way: read the log again"
        )
    return reinterpret_rotation(numbers, old, new)


def reinterpret_rotation(numbers: Array, old: PoseTable, new: PoseTable) -> Vec4:
    """Convert rotation columns read by one `[pose]` to unit quaternions by another `[pose]`.

    Raises `SchemaError`: the new table has columns that the old one lacks.
    """
    between = selection_matrix(old.rotation_columns, new.rotation_columns)
    return rotation_from_columns(numbers @ between.T, new)


def _sealed(values: Array) -> Array:
    values = values.view()
    values.flags.writeable = False
    return values

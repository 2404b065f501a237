"""The schema of a log: which column is what, in which unit, frame and sign (a TOML file).

Every key a schema may have is a field of a table in `schema_tables`, `schema_poses` or
`effects`. Checks that need one table only stand with it, those that need several here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from pydantic import Field, model_validator

from identify.documents import DocumentTable, read_toml, validate
from identify.errors import SchemaError
from identify.logs.effect_keys import EffectsTable
from identify.logs.schema_joints import JointsTable
from identify.logs.schema_poses import BodyTable, ImuTable
from identify.logs.schema_tables import (
    NO_WRENCH,
    AccelerationTable,
    LogTable,
    PoseTable,
    Streams,
    StreamTable,
    TwistTable,
    World,
    WrenchTable,
)
from identify.sensors import SENSORS
from identify.spatial import BodyFrame

SignalGroup: TypeAlias = Literal[
    "pose", "twist", "acceleration", "gyro", "accelerometer", "wrench", "joints", "effort"
]
"""Signals that share a clock."""


_FOLDER_SEPARATOR = "/./"
"""Separator of the absolute folder of a schema and the path of its robot as written, which paths
of files ignore."""


class Schema(DocumentTable):
    """A validated schema; create one with `load_schema`, whose errors name file and key."""

    log: LogTable = LogTable()
    streams: Streams = Streams()
    world: World = World()
    body: BodyTable = BodyTable()
    pose: PoseTable | None = None
    twist: TwistTable | None = None
    acceleration: AccelerationTable | None = None
    imu: ImuTable | None = None
    wrench: WrenchTable = NO_WRENCH
    joints: JointsTable | None = None
    effects: EffectsTable = EffectsTable()
    own_tables: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """Tables of sensors that were registered (`identify.sensors.register_sensor`), by name."""

    @model_validator(mode="before")
    @classmethod
    def _collect_own_tables(cls, given: Any) -> Any:
        if not all(
            isinstance(each, DocumentTable) for each in given.get("own_tables", {}).values()
        ):
            raise ValueError("unknown key 'own_tables'")
        names = [name for name in given if name not in cls.model_fields and name in SENSORS]
        if not names:
            return given
        rest = {name: value for name, value in given.items() if name not in names}
        tables = {
            name: validate(SENSORS[name].load("table"), given[name], f"[{name}]") for name in names
        }
        return {**rest, "own_tables": tables}

    @model_validator(mode="after")
    def _check_consistency(self) -> Schema:
        _check_streams(self)
        _check_clocks(self)
        _check_joints(self)
        _check_robot(self)
        if self.sensor != "wrench":
            return self
        _check_motion(self)
        _check_mount(self)
        _check_compensated(self)
        _check_tool_point(self)
        return self

    @property
    def groups(self) -> dict[SignalGroup, Any]:
        """Schema tables of logged signals by group: those of the body, or of joints alone."""
        if self.own_tables:
            return cast("dict[SignalGroup, Any]", {**self.own_tables})
        sensors = {} if self.imu is None else self.imu.sensor_columns
        names = (name for name in get_args(SignalGroup) if name not in ("joints", "effort"))
        tables = {name: sensors.get(name) or getattr(self, name, None) for name in names}
        if self.joints is not None and self.has_pose_from_joints:
            tables["pose"] = self.joints.positions
        of_body = {name: table for name, table in tables.items() if table and table.columns}
        return of_body or self.joint_groups

    @property
    def joint_groups(self) -> dict[SignalGroup, Any]:
        """Schema table of each group of signals of the joints: motion, and effort if logged."""
        return {} if self.joints is None else {**self.joints.parts}

    @property
    def has_pose_from_joints(self) -> bool:
        """Whether the pose is that of a robot's frame, from the positions of the joints."""
        return self.robot_file is not None

    @property
    def robot_file(self) -> Path | None:
        """File of the robot's model from which the pose comes; None for another pose."""
        return Path(self.pose.robot) if self.pose is not None and self.pose.robot else None

    @property
    def body_frame(self) -> BodyFrame:
        """Description of the body frame B, by default with the name of the robot's frame."""
        frame = self.body.frame
        if frame.name is None and self.pose is not None:
            return replace(frame, name=self.pose.frame)
        return frame

    @property
    def sensor(self) -> str:
        """Sensor of a log: "joints" if it has no signals of a body, else "wrench"; or one's own."""
        if self.own_tables:
            return next(iter(self.own_tables))
        return "joints" if "joints" in self.groups else "wrench"

    @property
    def joints_schema(self) -> Schema:
        """Schema of the joints only, without the signals of a body."""
        without = dict.fromkeys(("pose", "twist", "acceleration", "imu"))
        return self.model_copy(update={**without, "wrench": NO_WRENCH})

    @property
    def still(self) -> bool:
        """Whether every row is a static pose."""
        return any(self.layout(group).still for group in self.groups)

    @property
    def origin_is_com(self) -> bool:
        """Whether the origin is assumed to be the centre of mass, without pose and gravity."""
        return (
            self.wrench.force is None
            and not self.still
            and not _determines_linear_acceleration(self)
        )

    @property
    def has_acceleration_from_force(self) -> bool:
        """Whether the force alone determines the linear acceleration, with a gyro."""
        if self.pose is not None or self.wrench.force is None or self.still:
            return False
        return _determines_angular_velocity(self) and not _determines_linear_acceleration(self)

    def as_written(self) -> dict[str, Any]:
        """Return the keys that are given as plain values, for the provenance."""
        tables = self.model_dump(mode="json", exclude_unset=True)
        own_tables = {
            name: table.model_dump(mode="json", exclude_unset=True)
            for name, table in self.own_tables.items()
        }
        return {**tables, **own_tables}

    def stream(self, group: SignalGroup) -> StreamTable | None:
        """Return the separate stream of a group of signals; None if in the log's own rows."""
        if group == "pose" and self.has_pose_from_joints:
            return self.streams.pose or self.streams.joints
        return getattr(self.streams, group, None)

    def layout(self, group: SignalGroup) -> LogTable:
        """Return clock and layout of the file with a group of signals."""
        stream = self.stream(group)
        return self.log if stream is None else stream.overriding(self.log)


SchemaLike: TypeAlias = Schema | Mapping[str, object] | str | PathLike[str]


def load_schema(source: SchemaLike) -> Schema:
    """Load the schema from a TOML file or a mapping; return a `Schema` unchanged.

    Raises:
        MissingFile: the file does not exist.
        SchemaError: the file is not TOML, or not a schema: an unknown key, a wrong value, a
            contradiction.
    """
    if isinstance(source, Schema):
        return source
    if isinstance(source, Mapping):
        return validate(Schema, source, "schema")
    if not isinstance(source, str | PathLike):
        raise SchemaError(f"schema: expected a file or a mapping of its keys, got {source!r}")
    path = Path(source)
    return validate(Schema, _with_robot_path(read_toml(path), path.parent), str(path))


def schema_from_text(text: str, path: Path) -> Schema:
    """Return the schema that a file would have with a text.

    Raises `SchemaError`: the text is no schema.
    """
    return validate(Schema, _with_robot_path(tomllib.loads(text), path.parent), str(path))


def _with_robot_path(document: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return a schema's tables with the folder of the schema before the path of its robot."""
    pose = document.get("pose")
    if not (isinstance(pose, dict) and isinstance(pose.get("robot"), str) and pose["robot"]):
        return document
    if Path(pose["robot"]).is_absolute():
        return document
    robot = f"{folder.absolute()}{_FOLDER_SEPARATOR}{pose['robot']}"
    return {**document, "pose": {**pose, "robot": robot}}


def schema_as_written(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a loaded schema with the path of its robot as the user wrote it."""
    pose = tables.get("pose")
    if not (isinstance(pose, Mapping) and isinstance(pose.get("robot"), str)):
        return dict(tables)
    return {**tables, "pose": {**pose, "robot": pose["robot"].rpartition(_FOLDER_SEPARATOR)[2]}}


def _check_streams(schema: Schema) -> None:
    """Check that each stream belongs to a group of signals in the schema."""
    groups = (*schema.groups, *schema.joint_groups)
    for name in type(schema.streams).model_fields:
        if getattr(schema.streams, name) is not None and name not in groups:
            table = f"{name} in [imu]" if name in ("gyro", "accelerometer") else f"[{name}] table"
            table = "effort in [joints]" if name == "effort" else table
            raise ValueError(f"[streams.{name}] names a file, but there is no {table}")


def _check_clocks(schema: Schema) -> None:
    """Check that every file has exactly one clock, and static poses have none."""
    still = {}
    for group in (*schema.groups, *schema.joint_groups):
        layout = schema.layout(group)
        if not layout.clock_keys:
            raise ValueError(
                "[log] must give exactly one of time (a column), rate_hz (rows a "
                "second) and still = true (every row is a static pose); got none"
            )
        still[group] = layout.still
    if len(set(still.values())) > 1:
        poses = " and ".join(group for group, says in still.items() if says)
        raise ValueError(f"[streams.*]: still = true is for all streams or for none, got {poses}")


def _check_joints(schema: Schema) -> None:
    """Check that joints have a motion, and no column is used for two of their quantities."""
    joints = schema.joints
    if joints is None:
        return
    if schema.sensor == "joints" and schema.still:
        raise ValueError("[joints] needs a motion: give time or rate_hz in [log], not still = true")
    one_file = schema.stream("joints") is None and schema.stream("effort") is None
    for part in [joints] if one_file else joints.parts.values():
        twice = [name for k, name in enumerate(part.columns) if name in part.columns[:k]]
        if twice:
            raise ValueError(f"[joints] column {twice[0]!r} is named twice")


def _check_robot(schema: Schema) -> None:
    """Check that a pose computed by a robot's model has the positions of its joints."""
    if schema.has_pose_from_joints and schema.joints is None:
        raise ValueError(
            "[pose] robot needs [joints] with names and position, the joints of the robot's model"
        )


def _check_motion(schema: Schema) -> None:
    """Check that the log determines orientation, linear acceleration and rotation."""
    if not schema.groups:
        raise ValueError("names no columns: give [pose] or [imu], and [wrench]; or [joints]")
    if schema.still and not schema.wrench.columns:
        raise ValueError("static poses without a wrench do not identify a body: give [wrench]")
    if schema.pose is None:
        _check_without_pose(schema)
    if not schema.still:
        _check_linear_acceleration(schema)


def _check_without_pose(schema: Schema) -> None:
    for name, table in schema.groups.items():
        if getattr(table, "frame", "body") == "world":
            raise ValueError(
                f'[{name}] frame = "world" needs the orientation of the body: give [pose]'
            )
    acceleration = schema.acceleration
    read = "accelerometer" in schema.groups
    without = acceleration is None or acceleration.linear is None
    if not (read or schema.origin_is_com or schema.has_acceleration_from_force) and without:
        robot = "" if schema.joints is None else ' with robot = "arm.urdf" and frame = "tool0"'
        raise ValueError(
            "without [pose], gravity can only come from an accelerometer, or from the force of a "
            f"log with a gyro that includes rest: give [pose]{robot}, or [imu] accelerometer with "
            '[imu.mount], or [acceleration] linear with [acceleration] kind = "proper" and '
            '[acceleration] frame = "body"'
        )
    if schema.has_acceleration_from_force and schema.wrench.gain_accuracy is not None:
        raise ValueError(
            "[wrench] gain_accuracy requires a pose or an accelerometer: "
            "if the motion comes from the force, this error is not modelled; remove it"
        )
    if acceleration is not None and acceleration.linear and acceleration.kind != "proper":
        raise ValueError(
            f'[acceleration] kind = "{acceleration.kind}" needs the orientation of the body to '
            'take gravity off: give [pose], or [acceleration] kind = "proper" if an accelerometer '
            "measured it"
        )
    mount = None if schema.imu is None else schema.imu.mount
    if mount is not None and mount.fitted:
        raise ValueError(
            "[imu.mount] fitted = true needs a pose and the accelerometer: "
            "give [pose] with a position, or translation instead"
        )
    if not (_determines_angular_velocity(schema) or schema.still):
        raise ValueError(
            "without [pose], the rotation can only come from a gyroscope: give [pose], or "
            '[imu] gyro, or [twist] angular with [twist] frame = "body"'
        )


def _check_linear_acceleration(schema: Schema) -> None:
    acceleration, velocity = schema.acceleration, _determines_velocity(schema)
    mount = None if schema.imu is None else schema.imu.mount
    if acceleration is None or acceleration.linear is None:
        if mount is not None and mount.fitted and not velocity:
            raise ValueError(
                "[imu.mount] fitted = true needs the motion of the body's origin: "
                "give [pose] position or [twist] linear, or translation in its place"
            )
        if not (
            _determines_linear_acceleration(schema)
            or schema.origin_is_com
            or schema.has_acceleration_from_force
        ):
            raise ValueError(
                "nothing determines the linear acceleration of the body: give [pose] position, "
                "[twist] linear, [acceleration] linear or [imu] accelerometer, or [log] still = "
                "true"
            )
    elif acceleration.kind == "spatial" and not velocity:
        raise ValueError(
            '[acceleration] kind = "spatial" needs the velocity of the body\'s origin: '
            "give [twist] linear or [pose] position"
        )


def _determines_angular_velocity(schema: Schema) -> bool:
    """Return whether the log determines the angular velocity without a pose."""
    return "gyro" in schema.groups or (
        schema.twist is not None and schema.twist.angular is not None
    )


def _determines_velocity(schema: Schema) -> bool:
    twist, pose = schema.twist, schema.pose
    position = pose is not None and pose.has_position
    return position or (twist is not None and twist.linear is not None)


def _determines_linear_acceleration(schema: Schema) -> bool:
    """Return whether the log determines the linear acceleration."""
    given = schema.acceleration is not None and schema.acceleration.linear is not None
    return given or "accelerometer" in schema.groups or _determines_velocity(schema)


def _check_mount(schema: Schema) -> None:
    """Check that only a wrench in sensor axes has a sensor pose, with a unit."""
    imu = schema.imu
    if imu is not None and imu.accelerometer and not (imu.mount and imu.mount.has_position):
        raise ValueError(
            "[imu] accelerometer needs [imu.mount] with translation, where it is in the body "
            "(zeros at the body's origin), or fitted = true; and quaternion or rotation_vector, "
            "if its axes are not the body's"
        )
    wrench = schema.wrench
    if wrench.frame == "sensor" and wrench.mount is None:
        raise ValueError(
            '[wrench] frame = "sensor" needs [wrench.mount] with translation and quaternion, '
            "the sensor's pose in the body"
        )
    if wrench.frame != "sensor" and wrench.mount is not None:
        raise ValueError(
            f'[wrench.mount] is given, but [wrench] frame = "{wrench.frame}": set [wrench] frame = '
            '"sensor" if the wrench is in the sensor\'s axes, or remove the mount'
        )


def _check_compensated(schema: Schema) -> None:
    """Check that a compensated weight has a direction of gravity, and a centre of mass in B."""
    compensated = schema.wrench.compensated
    if compensated is None:
        return
    if schema.pose is None:
        raise ValueError(
            "[wrench.compensated] needs the orientation of the body, to add a weight back: give "
            "[pose]"
        )
    if compensated.frame == "flange" and schema.body.frame.flange is None:
        raise ValueError(
            "[wrench.compensated] com is in the flange, whose pose in B is unknown: give "
            '[body.flange] (its pose in the body frame) or [body.tcp], or frame = "body" with the '
            "centre of mass in that frame"
        )


def _check_tool_point(schema: Schema) -> None:
    """Check that the log has the signals that move velocities from tool point to flange."""
    wrench = schema.wrench
    if wrench.point is not None and (schema.body.tcp is None or wrench.frame != "world"):
        raise ValueError(
            f'[wrench] point = "{wrench.point}" is of a wrench in world axes, with [body.tcp]: '
            'give [wrench] frame = "world" and the tool point, or leave [wrench] point out'
        )
    if schema.body.tcp is None or schema.still:
        return
    twist, acceleration = schema.twist, schema.acceleration
    rates = twist is not None and twist.angular is not None
    if twist is not None and twist.linear is not None and not rates:
        raise ValueError(
            "with [body.tcp], [twist] linear is that of the tool point and requires [twist] "
            "angular: give both, or remove the former if there is a position"
        )
    if acceleration is None or acceleration.linear is None:
        return
    if acceleration.angular is None or not rates:
        raise ValueError(
            "with [body.tcp], [acceleration] linear is that of the tool point and requires "
            "[acceleration] angular and [twist] angular: give both, remove the linear one if there "
            "is a position, or give [body.flange] instead of [body.tcp]"
        )

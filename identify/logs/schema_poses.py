"""Schema tables of poses fixed to the body: sensor, flange, tool point and IMU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field, StrictBool, model_validator

from identify.documents import (
    DocumentTable,
    InvalidKeyValue,
    Number,
    Quaternion,
    Vector,
    numbers_validator,
    word_validator,
)
from identify.errors import ModelError
from identify.logs.recording_parts import Imu
from identify.logs.schema_fields import Column, Label, NoiseSigma, ThreeColumns, column_names
from identify.logs.units import ACCELERATION_UNITS, ANGLE_UNITS, LENGTH_UNITS
from identify.spatial import (
    BodyFrame,
    Pose,
    exp_rotation,
    log_rotation,
    quaternion_from_rotation,
)
from identify.spatial.rotations import MAX_ROTATION_ANGLE

_MAX_MOUNT_DISTANCE = 5.0
"""Maximum distance of flange or accelerometer from the body's origin, and of the tool point from
the flange [m]."""


PointAndTurn: TypeAlias = Annotated[tuple[float, ...], BeforeValidator(numbers_validator(6))]
"""Position and rotation vector, six numbers."""


class Placement(DocumentTable):
    """Schema tables `[wrench.mount]` and `[body.flange]`: pose of sensor or flange in B."""

    translation: Vector = (0.0, 0.0, 0.0)
    """Position of the frame's origin from B's, in axes of B."""
    unit: Annotated[str, word_validator(LENGTH_UNITS)] = "m"
    """Unit of `translation`."""
    quaternion: Quaternion | None = None
    """Rotation from the frame's components to B's, [x, y, z, w]; by default none."""
    rotation_vector: Vector | None = None
    """Rotation as axis times angle, in place of `quaternion`."""
    angle_unit: Annotated[str, word_validator(ANGLE_UNITS)] = "rad"
    """Unit of `rotation_vector`."""

    @model_validator(mode="before")
    @classmethod
    def _from_pose(cls, given: Any) -> Any:
        return _keys_of_pose(given, placement_keys)

    @model_validator(mode="after")
    def _one_rotation(self) -> Placement:
        if self.quaternion is not None and self.rotation_vector is not None:
            raise ValueError("give quaternion or rotation_vector, not both")
        _require_plausible_angle(self.rotation_vector or (), self.angle_unit)
        return self

    @property
    def pose(self) -> Pose:
        """Pose X_BS of a sensor, or X_BF of the flange, in the body."""
        position = LENGTH_UNITS[self.unit] * np.array(self.translation)
        if self.rotation_vector is not None:
            turn = ANGLE_UNITS[self.angle_unit] * np.array(self.rotation_vector)
            return Pose.from_quaternion(exp_rotation(turn), position)
        return Pose.from_quaternion(self.quaternion or (0.0, 0.0, 0.0, 1.0), position)


class ToolPoint(DocumentTable):
    """Schema table `[body.tcp]`: pose of the logged tool point in the flange."""

    pose: PointAndTurn
    """Logged point in the flange, x y z and rotation vector rx ry rz, as on a pendant."""
    unit: Annotated[str, word_validator(LENGTH_UNITS)] = "m"
    """Unit of x y z."""
    angle_unit: Annotated[str, word_validator(ANGLE_UNITS)] = "rad"
    """Unit of rx ry rz."""

    @model_validator(mode="before")
    @classmethod
    def _from_pose(cls, given: Any) -> Any:
        return _keys_of_pose(given, tool_point_keys)

    @model_validator(mode="after")
    def _check_angle(self) -> ToolPoint:
        _require_plausible_angle(self.pose[3:], self.angle_unit)
        return self

    @property
    def X_FT(self) -> Pose:
        """Pose of the tool point in the flange."""
        pose = np.array(self.pose)
        turn = exp_rotation(ANGLE_UNITS[self.angle_unit] * pose[3:])
        return Pose.from_quaternion(turn, LENGTH_UNITS[self.unit] * pose[:3])


class ImuPlacement(Placement):
    """Schema table `[imu.mount]`: pose of an inertial measurement unit in B."""

    translation: Vector = (0.0, 0.0, 0.0)
    """Position of the accelerometer from the body's origin, in axes of B; an accelerometer needs it
    written, zeros too, or `fitted`."""
    fitted: StrictBool = False
    """Whether the position is estimated from the log, in place of `translation`; that needs a pose
    with a position, or a twist."""

    @property
    def has_position(self) -> bool:
        """Whether the position of the IMU is given or to be estimated."""
        return self.fitted or "translation" in self.model_fields_set

    @model_validator(mode="after")
    def _one_place(self) -> ImuPlacement:
        if self.fitted and "translation" in self.model_fields_set:
            raise ValueError("give translation, or fitted = true to have it estimated, not both")
        _require_near("translation", "the accelerometer", self.pose, self.unit)
        return self


class ImuTable(DocumentTable):
    """Schema table `[imu]`: readings of an inertial measurement unit, in the axes of the IMU."""

    gyro: ThreeColumns | None = None
    """Angular velocity."""
    accelerometer: ThreeColumns | None = None
    """Proper acceleration at the unit (acceleration minus gravity): at rest it points up."""
    angle_unit: Annotated[str, word_validator(ANGLE_UNITS)] = "rad"
    """Angle unit of `gyro`, per second."""
    unit: Annotated[str, word_validator(ACCELERATION_UNITS)] = "m/s^2"
    """Unit of `accelerometer`."""
    accelerometer_gain: Annotated[Number, Field(gt=0.0)] = 1.0
    """Proper acceleration divided by the accelerometer's reading, as gravity at rest shows it."""
    gyro_noise: NoiseSigma | None = None
    """Noise of `gyro`, in its unit."""
    accelerometer_noise: NoiseSigma | None = None
    """Noise of `accelerometer`, in its unit."""
    mount: ImuPlacement | None = None

    @model_validator(mode="after")
    def _has_columns(self) -> ImuTable:
        if self.gyro is None and self.accelerometer is None:
            raise ValueError("give gyro, accelerometer, or both")
        for name in ("gyro", "accelerometer"):
            if getattr(self, f"{name}_noise") is not None and getattr(self, name) is None:
                raise ValueError(f"{name}_noise is given, but there is no {name}")
        if self.mount is not None and self.mount.fitted and self.accelerometer is None:
            raise ValueError("mount is to be fitted, but there is no accelerometer to place")
        return self

    @property
    def sensor_columns(self) -> dict[str, ImuTable]:
        """Columns of each sensor of the IMU, by name."""
        names = [name for name in ("gyro", "accelerometer") if getattr(self, name) is not None]
        return {
            name: self.model_copy(update={other: None for other in names if other != name})
            for name in names
        }

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table, without minus signs."""
        return column_names((self.gyro or ()) + (self.accelerometer or ()))


def placement_keys(X_BS: Pose) -> dict[str, object]:
    """Return the keys of a `Placement` for a pose."""
    quaternion = quaternion_from_rotation(X_BS.rotation)
    return {"translation": X_BS.position.tolist(), "quaternion": quaternion.tolist()}


def imu_placement_keys(imu: Imu) -> dict[str, object]:
    """Return the keys of an `ImuPlacement` for an IMU."""
    placement = placement_keys(imu.X_BI)
    if imu.fitted:
        return {"fitted": True, "quaternion": placement["quaternion"]}
    return placement


def tool_point_keys(X_FT: Pose) -> dict[str, object]:
    """Return the keys of a `ToolPoint` for a pose."""
    turn = log_rotation(quaternion_from_rotation(X_FT.rotation))
    return {"pose": [*X_FT.position.tolist(), *turn.tolist()]}


def _keys_of_pose(given: Any, keys_of: Callable[[Pose], dict[str, object]]) -> Any:
    """Return the keys of a table that Python gives as a `Pose` or its 4×4 matrix."""
    if not isinstance(given, Pose | list):
        return given
    try:
        return keys_of(Pose.of(given))
    except ModelError as error:
        raise ValueError(f"expected a table, or a {error}") from error


class BodyTable(DocumentTable):
    """Schema table `[body]`: name of the body frame, and pose of the flange in it.

    With `tcp` the motion that is logged is that of the tool point, and B is the flange.
    """

    name: Label | None = None
    """Name of B, such as "wrist sensor", shown on the terminal and in the report."""
    flange: Placement | None = None
    tcp: ToolPoint | None = None

    @model_validator(mode="after")
    def _one_place(self) -> BodyTable:
        if self.flange is not None and self.tcp is not None:
            raise ValueError(
                "give flange, where the flange is in B, or tcp, where the logged point is in the "
                "flange (which then is B), not both"
            )
        if self.flange is not None:
            _require_near("flange", "the flange", self.flange.pose, self.flange.unit)
        if self.tcp is not None:
            _require_near("tcp", "the tool point", self.tcp.X_FT, self.tcp.unit)
        return self

    @property
    def frame(self) -> BodyFrame:
        """Description of the body frame B."""
        if self.tcp is not None:
            return BodyFrame(self.name, Pose.identity(), self.tcp.X_FT)
        return BodyFrame(self.name, self.flange and self.flange.pose)


def _require_near(key: str, description: str, pose: Pose, unit: str) -> None:
    distance = float(np.linalg.norm(pose.position))
    if distance > _MAX_MOUNT_DISTANCE:
        from_where = "flange" if key == "tcp" else "body's origin"
        hint = 'if the numbers are in millimetres, set unit = "mm"' if unit == "m" else "check it"
        raise InvalidKeyValue(
            key,
            f"{description} is {distance:.4g} m from the {from_where}, expected at most "
            f"{_MAX_MOUNT_DISTANCE:g} m; {hint}",
        )


def _require_plausible_angle(vector: tuple[float, ...], unit: str) -> None:
    angle = float(np.linalg.norm(vector)) * ANGLE_UNITS[unit]
    if angle > MAX_ROTATION_ANGLE:
        hint = 'if it is in degrees, set angle_unit = "deg"' if unit == "rad" else "check it"
        raise ValueError(
            f"the rotation vector turns by {angle:.4g} rad, expected at most a full turn; {hint}"
        )

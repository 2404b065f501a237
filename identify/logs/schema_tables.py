"""Schema tables of files (clock, layout) and of signals (columns, units, frames)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import (
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)

from identify.documents import DocumentTable, InvalidKeyValue, Number, Vector, word_validator
from identify.logs.schema_fields import (
    Column,
    FourColumns,
    GainAccuracy,
    Label,
    MatrixColumns,
    NoiseSigma,
    RelativeSigma,
    ThreeColumns,
    UpToThreeColumns,
    column_names,
)
from identify.logs.schema_poses import Placement
from identify.logs.units import (
    ACCELERATION_UNITS,
    ANGLE_UNITS,
    FORCE_UNITS,
    LENGTH_UNITS,
    TICKS_PER_SECOND,
    TORQUE_UNITS,
)
from identify.spatial import BodyFrame
from identify.spatial.vectors import GRAVITY_W

_CLOCK_KEYS = frozenset({"time", "time_fraction", "rate_hz", "still"})


class LogTable(DocumentTable):
    """Schema table `[log]`: clock and layout of the file."""

    time: Column | None = None
    """Column of time stamps: numbers; or in text dates with a time of day (ISO 8601 such as
    `2024-05-01T10:00:00.125Z`, or `01.05.2024 10:00:00.125`; UTC where they have no zone), or a
    time of day alone (`10:00:00.125`) for logs that do not pass midnight."""
    time_unit: Annotated[str, word_validator((*TICKS_PER_SECOND, "d"))] = "s"
    """Unit of numeric time stamps; "d" are days, as of spreadsheets (45000.123)."""
    time_fraction: Column | None = None
    """Column of the fraction of a second, if `time` has whole seconds."""
    time_fraction_unit: Annotated[str, word_validator(("ns", "us", "ms"))] = "ns"
    """Unit of `time_fraction`."""
    rate_hz: Annotated[Number, Field(gt=0.0)] | None = None
    """Sampling rate [Hz] of a log without time stamps."""
    still: StrictBool = False
    """Whether every row is of a static pose: there is no time, and nothing is differentiated;
    successive rows of the same pose are averaged."""
    topic: Annotated[StrictStr, Field(min_length=1)] | None = None
    """Name of the table in a file that holds several, such as a bag or HDF5 file."""
    header_lines: Annotated[StrictInt, Field(ge=0)] = 1
    """Number of lines before the first data row; the last of them has the column names."""
    separator: StrictStr = ","
    """Separator of text fields: one character, or "whitespace" for any run of blanks and tabs."""
    decimal: Annotated[str, word_validator((".", ","))] = "."
    """Decimal mark of text."""
    comment: StrictStr = "#"
    """First characters of a comment in text; "" if there are none."""
    drop_bad_rows: StrictBool = False
    """Whether rows with text instead of a number are dropped and counted instead of an error."""

    @model_validator(mode="after")
    def _one_clock(self) -> LogTable:
        if len(self.clock_keys) > 1:
            raise ValueError(
                f"give exactly one of time, rate_hz and still = true, got {self.clock_keys}"
            )
        if self.time_fraction is not None and (self.time is None or self.time_unit != "s"):
            raise ValueError("time_fraction follows whole seconds: give time, without time_unit")
        return self

    @model_validator(mode="after")
    def _separator_separates(self) -> LogTable:
        mark = self.separator
        if mark != "whitespace" and not re.fullmatch(r"[ \t!#$%&()*,/:;<=>?@^`{|}~\[\]\\]", mark):
            raise ValueError(
                f'separator: expected one character such as "," or ";", or "whitespace", '
                f"got {mark!r}"
            )
        stands_in_data = re.search(r"[\w\s.+\-\"]", self.comment) or self.comment == mark
        if stands_in_data or not self.comment.isascii():
            raise ValueError(
                f'comment: expected a mark such as "#", "%" or "//", or "" for none, '
                f"got {self.comment!r}, which may stand in the data"
            )
        return self

    @property
    def clock_keys(self) -> tuple[str, ...]:
        """Keys among time, rate_hz and still that the table sets."""
        says = {"time": self.time is not None, "rate_hz": self.rate_hz is not None}
        return tuple(key for key, given in {**says, "still": self.still}.items() if given)


class StreamTable(LogTable):
    """Schema table `[streams.NAME]`: file of a group of signals, and differences from `[log]`."""

    file: Annotated[StrictStr, Field(min_length=1)] | None = None
    """File of the stream, relative to the log if that is a folder, otherwise to its folder."""

    def overriding(self, log: LogTable) -> LogTable:
        """Return the clock and layout of a stream: `[log]` with the stream's own keys in place."""
        given_keys = {key: getattr(self, key) for key in self.model_fields_set - {"file"}}
        clock = dict.fromkeys(_CLOCK_KEYS, None) | {"still": False} if self.clock_keys else {}
        return log.model_copy(update={**clock, **given_keys})


class Streams(DocumentTable):
    """Schema tables `[streams.*]`: a log in several files, with common rows or separate clocks."""

    pose: StreamTable | None = None
    twist: StreamTable | None = None
    acceleration: StreamTable | None = None
    gyro: StreamTable | None = None
    accelerometer: StreamTable | None = None
    wrench: StreamTable | None = None
    joints: StreamTable | None = None
    effort: StreamTable | None = None


_ROTATION_ORDERS = {
    "quaternion": ("xyzw", "wxyz"),
    "matrix": ("row", "column"),
    "rotation_vector": (),
    "euler": ("xyz",),
    "robot": (),
}
"""Allowed values of `order` for each kind of rotation, default first (Euler: any axes)."""


class World(DocumentTable):
    """Schema table `[world]`: gravity in the world axes of the log."""

    gravity: Vector = GRAVITY_W
    """Gravity in the world's axes [m/s²], pointing downwards: `[0, 0, 9.81]` where z points down.
    The option `--gravity` overrides it."""
    gravity_accuracy: RelativeSigma = 0.0
    """One sigma of the size of gravity, as a share."""


class PoseTable(DocumentTable):
    """Schema table `[pose]`: position of the body and exactly one kind of rotation.

    Both may come from the joints of a robot, by its model.
    """

    position: ThreeColumns | None = None
    """Position of the body's origin."""
    quaternion: FourColumns | None = None
    """Rotation as a quaternion, in `order`."""
    matrix: MatrixColumns | None = None
    """Nine columns of the rotation, or sixteen of a transform that holds the position, too."""
    rotation_vector: ThreeColumns | None = None
    """Rotation as axis times angle."""
    euler: UpToThreeColumns | None = None
    """Rotation as one to three Euler angles about the axes in `order`."""
    robot: Annotated[StrictStr, Field(min_length=1)] | None = None
    """URDF file of the robot whose joints are those of `[joints]`, in place of all other keys but
    `frame`; a relative path starts at the schema's folder."""
    frame: Annotated[StrictStr, Field(min_length=1)] | None = None
    """Link of the robot that is the body frame B."""
    order: StrictStr | None = None
    """Order of components: for a quaternion "xyzw" (the default) or "wxyz"; for a matrix "row" (the
    default) or "column"; for Euler angles the axes as SciPy writes them, "xyz" (the default) about
    fixed axes, capitals as "ZYX" about moving ones."""
    maps: Annotated[str, word_validator(("body_to_world", "world_to_body"))] = "body_to_world"
    """Direction of the transform. With body_to_world the rotation turns components in the body into
    components in the world, and the position is that of the body's origin in the world;
    world_to_body is the inverse of the whole pose, with the world's origin in the body's axes."""
    position_axes: Annotated[str, word_validator(("body", "world"))] | None = None
    """Axes of the position of the body's origin, independently of `maps`; by default the position
    is that of the transform in the direction of `maps`."""
    position_unit: Annotated[str, word_validator(LENGTH_UNITS)] = "m"
    """Unit of `position`."""
    angle_unit: Annotated[str, word_validator(ANGLE_UNITS)] = "rad"
    """Unit of `rotation_vector` and `euler`."""
    position_noise: NoiseSigma | None = None
    """Position noise in `position_unit`; estimated from the log if not given, like every noise."""
    angle_noise: NoiseSigma | None = None
    """Rotation noise about each axis, in `angle_unit`."""

    @model_validator(mode="after")
    def _noise_has_columns(self) -> PoseTable:
        if (
            self.position_noise is not None
            and self.position is None
            and not self.is_homogeneous_matrix
        ):
            raise ValueError("position_noise is given, but there is no position")
        return self

    @model_validator(mode="after")
    def _one_rotation(self) -> PoseTable:
        given = [kind for kind in _ROTATION_ORDERS if getattr(self, kind) is not None]
        if len(given) != 1:
            got = " and ".join(given) or "none"
            raise ValueError(f"give exactly one of {', '.join(_ROTATION_ORDERS)}, got {got}")
        if self.is_homogeneous_matrix and self.position is not None:
            raise ValueError(
                "a matrix of 16 columns holds the position too: leave position out, "
                "or give the 9 columns of the rotation"
            )
        return self

    @model_validator(mode="after")
    def _robot_alone(self) -> PoseTable:
        if (self.robot is None) != (self.frame is None):
            missing = "frame" if self.frame is None else "robot"
            raise InvalidKeyValue(
                missing, 'missing: give both, such as robot = "arm.urdf", frame = "tool0"'
            )
        others = sorted(self.model_fields_set - {"robot", "frame"})
        if self.robot is not None and others:
            raise InvalidKeyValue(others[0], "with robot, the pose comes from [joints]: remove it")
        return self

    @model_validator(mode="after")
    def _axes_have_a_position(self) -> PoseTable:
        if (
            self.position_axes is not None
            and self.position is None
            and not self.is_homogeneous_matrix
        ):
            raise InvalidKeyValue(
                "position_axes", "there is no position; give its columns or leave this out"
            )
        return self

    @model_validator(mode="after")
    def _order_fits(self) -> PoseTable:
        allowed, order = _ROTATION_ORDERS[self.rotation_kind], self.rotation_order
        if self.euler is None:
            if self.order is not None and order not in allowed:
                wanted = " or ".join(map(repr, allowed)) or "no order"
                raise InvalidKeyValue(
                    "order", f"expected {wanted} with {self.rotation_kind}, got {order!r}"
                )
        elif not re.fullmatch(r"(?!.*(.)\1)([xyz]{1,3}|[XYZ]{1,3})", order):
            raise InvalidKeyValue(
                "order",
                'expected the axes of the Euler angles, such as "xyz" or "ZYX" '
                f"(all small or all capital, no axis twice in a row), got {order!r}",
            )
        elif len(self.euler) != len(order):
            raise ValueError(
                f"euler names {len(self.euler)} columns, "
                f"but order = {order!r} has {len(order)} angles"
            )
        return self

    @property
    def rotation_kind(self) -> str:
        """Kind of the given rotation: quaternion, matrix, rotation_vector, euler or robot."""
        return next(kind for kind in _ROTATION_ORDERS if getattr(self, kind) is not None)

    @property
    def rotation_columns(self) -> tuple[Column, ...]:
        """Columns of the rotation, or of the whole pose for a matrix with sixteen columns."""
        return () if self.robot is not None else getattr(self, self.rotation_kind)

    @property
    def rotation_order(self) -> str:
        """Value of `order`, or its default for the kind of rotation."""
        return (
            next(iter(_ROTATION_ORDERS[self.rotation_kind]), "")
            if self.order is None
            else self.order
        )

    @property
    def position_kind(self) -> str:
        """Kind of position: of Bo from Wo in "body" or "world" axes, or "inverse", of Wo in B."""
        return self.position_axes or ("inverse" if self.maps == "world_to_body" else "world")

    @property
    def has_position(self) -> bool:
        """Whether the pose includes a position."""
        return self.position is not None or self.is_homogeneous_matrix or self.robot is not None

    @property
    def is_homogeneous_matrix(self) -> bool:
        """Whether the rotation is given by a 4×4 matrix, with sixteen columns."""
        return self.matrix is not None and len(self.matrix) == 16

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table, without minus signs."""
        return column_names((self.position or ()) + self.rotation_columns)


class _RatesTable(DocumentTable):
    linear: ThreeColumns | None = None
    """Linear part, of the body's origin; a velocity in m/s."""
    angular: ThreeColumns | None = None
    """Angular part."""
    frame: Annotated[str, word_validator(("body", "world"))]
    """Axes of the components."""
    angle_unit: Annotated[str, word_validator(ANGLE_UNITS)] = "rad"
    """Angle unit of `angular`, per second (velocity) or per second squared (acceleration)."""
    linear_noise: NoiseSigma | None = None
    """Noise of `linear`, in its unit."""
    angular_noise: NoiseSigma | None = None
    """Noise of `angular`, in its unit."""

    @model_validator(mode="after")
    def _has_columns(self) -> _RatesTable:
        if self.linear is None and self.angular is None:
            raise ValueError("give linear, angular, or both")
        for name in ("linear", "angular"):
            if getattr(self, f"{name}_noise") is not None and getattr(self, name) is None:
                raise ValueError(f"{name}_noise is given, but there is no {name}")
        return self

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table, without minus signs."""
        return column_names((self.linear or ()) + (self.angular or ()))


class TwistTable(_RatesTable):
    """Schema table `[twist]`: velocity of the body's origin [m/s], and angular velocity."""


class AccelerationTable(_RatesTable):
    """Schema table `[acceleration]`: linear (of the body's origin) and angular acceleration."""

    kind: Annotated[str, word_validator(("classical", "spatial", "proper"))] | None = None
    """Kind of linear acceleration, needed with `linear`: second derivative of the position
    (classical), that minus ω × v (spatial), or minus gravity as an accelerometer reads (proper)."""
    unit: Annotated[str, word_validator(ACCELERATION_UNITS)] = "m/s^2"
    """Unit of `linear`; one g is 9.80665 m/s²."""

    @model_validator(mode="after")
    def _linear_has_kind(self) -> AccelerationTable:
        if self.linear is not None and self.kind is None:
            raise ValueError(
                'kind: missing; state that of linear: "classical" (second derivative of the '
                'position), "spatial" or "proper" (as an accelerometer reads)'
            )
        return self


class CompensatedWeight(DocumentTable):
    """Schema table `[wrench.compensated]`: body whose weight the controller subtracts."""

    mass: Annotated[Number, Field(gt=0.0)]
    """Mass as on the pendant [kg]."""
    com: Vector = (0.0, 0.0, 0.0)
    """Centre of mass, in `frame`."""
    unit: Annotated[str, word_validator(LENGTH_UNITS)] = "m"
    """Unit of `com`."""
    frame: Annotated[str, word_validator(("flange", "body"))] = "flange"
    """Frame of `com`; "flange" needs `[body.flange]` or `[body.tcp]`."""

    def about_origin(self, body: BodyFrame) -> tuple[float, ...]:
        """Return mass [kg] and first moment about Bo in B [kg m] of the body, four numbers."""
        com = LENGTH_UNITS[self.unit] * np.array(self.com)
        if self.frame == "flange" and body.flange is not None:
            com = body.flange.rotation @ com + body.flange.position
        return (self.mass, *(self.mass * com).tolist())


def compensated_keys(body: Sequence[float]) -> dict[str, object]:
    """Return the keys of `[wrench.compensated]` for a mass and first moment about Bo in B."""
    mass, *moment = map(float, body)
    return {"mass": mass, "com": [h / mass for h in moment], "unit": "m", "frame": "body"}


class WrenchTable(DocumentTable):
    """Schema table `[wrench]`: force and torque at body origin, sensor or tool point."""

    force: ThreeColumns | None = None
    """Force; without it only gravity acts (free flight)."""
    torque: ThreeColumns
    """Torque, about the point that `frame` says."""
    frame: Annotated[str, word_validator(("body", "world", "sensor"))]
    """Point and axes of the wrench: the body's origin in its axes, the body's origin (with
    `[body.tcp]` the tool point) in the world's axes, or the sensor's origin in its axes, whose pose
    is `[wrench.mount]`."""
    acts_on: Annotated[str, word_validator(("body", "sensor"))]
    """Body on which the logged wrench acts: the body, or the sensor (the opposite)."""
    point: Annotated[str, word_validator(("tcp", "flange"))] | None = None
    """Point of a wrench with `frame = "world"` and `[body.tcp]`; by default the tool point."""
    force_unit: Annotated[str, word_validator(FORCE_UNITS)] = "N"
    """Unit of the force."""
    torque_unit: Annotated[str, word_validator(TORQUE_UNITS, ignoring=r"[\s*·.\-]")] = "Nm"
    """Unit of the torque, with or without a dot or space in it."""
    force_noise: NoiseSigma | None = None
    """Noise of the force, in `force_unit`."""
    torque_noise: NoiseSigma | None = None
    """Noise of the torque, in `torque_unit`."""
    force_gain: Annotated[Number, Field(gt=0.0)] = 1.0
    """True force divided by the reading, as `--known-mass-check` prints it for a weighed body."""
    gain_accuracy: GainAccuracy | None = None
    """One sigma of the sensor's scale by data sheet or calibration, as a share of at most 0.5: one
    number, two (of force, of torque), six (of the channels) or 6×6; unknown if not given."""
    delay_s: Number = 0.0
    """Time by which the wrench of a row is older than its pose [s]; it is corrected, also by parts
    of a sample."""
    delay_axes: Annotated[str, word_validator(("body", "world"))] = "body"
    """Axes in which a world-frame wrench was late: before the pose of its row turned it into the
    world's axes (body), or as it is logged (world)."""
    sensor: Label | None = None
    """Name of the sensor, one line of at most 80 characters; logs with the same name share its
    small faults."""
    mount: Placement | None = None
    compensated: CompensatedWeight | None = None

    @model_validator(mode="after")
    def _columns_differ(self) -> WrenchTable:
        of_force = column_names(self.force or ())
        twice = [name for name in column_names(self.torque) if name in of_force]
        if twice:
            raise ValueError(
                f"column {twice[0]!r} is named in force and in torque: each has its own three"
            )
        return self

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table, without minus signs."""
        return column_names((self.force or ()) + self.torque)


NO_WRENCH = WrenchTable.model_construct(torque=(), frame="body", acts_on="body")
"""Wrench table of a log without `[wrench]`: only gravity acts on the body."""

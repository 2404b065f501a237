"""Properties of a log that determine which faults are plausible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from identify.arrays import Vec3
from identify.errors import SchemaError
from identify.logs import Recording
from identify.logs.patch import completed_schema
from identify.spatial import Pose

if TYPE_CHECKING:
    from identify.logs.schema import Schema

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LogProperties:
    """Properties of a log that depend on how it was measured: signals, axes, gravity, schema.

    Attributes:
        gravity: g in W [m/s²], shape (3,).
        X_BS: pose of the sensor's axes in B, or the reference point of a wrench in world axes;
            None if the wrench is given at Bo in B.
        static_poses: whether each row is a static pose.
        has_attitude: whether the log gives the orientation of the body.
        gravity_added: whether a' = a − Rᵀg was computed with this gravity; False if a proper
            acceleration was measured.
        rates_from_pose: whether all rates and accelerations are derivatives of the pose.
        acceleration_from_position: whether accelerations are derivatives of positions, and thus
            have the positions' scale.
        wrench_frame: axes of the wrench: "body", "world" or "sensor".
        acceleration_kind: kind of the linear acceleration: classical, spatial or proper.
        compensated_weight: mass and first moment of the body whose weight is added back, as in a
            `Recording`.
        signals: names of all signals of the log.
        schema_tables: the schema as it was written, by tables.
        schema: the schema with all its defaults; None if the recording has none.
        top_speeds: largest speed and angular rate of the motion [m/s, rad/s].
        imu_scale: ratio of the accelerometer's reading to gravity, if significantly wrong; else
            one.
        mean_position: mean position in this log and in other logs of its sensor, in W [m], shape
            (3,).
    """

    gravity: Vec3
    X_BS: Pose | None = None
    static_poses: bool = False
    has_attitude: bool = True
    gravity_added: bool = True
    rates_from_pose: bool = True
    acceleration_from_position: bool = True
    wrench_frame: str = "body"
    acceleration_kind: str = "classical"
    compensated_weight: tuple[float, ...] = ()
    signals: frozenset[str] = frozenset()
    schema_tables: Mapping[str, object] = field(default_factory=dict)
    schema: Schema | None = None
    top_speeds: tuple[float, float] = (1.0, 1.0)
    imu_scale: float = 1.0
    mean_position: tuple[float, ...] = (0.0, 0.0, 0.0)

    @classmethod
    def of(
        cls,
        recording: Recording,
        top_speeds: tuple[float, float] = (1.0, 1.0),
        imu_scale: float = 1.0,
    ) -> LogProperties:
        """Return the properties of a recording as it is currently interpreted.

        `top_speeds` are the largest speed and angular rate of its motion [m/s, rad/s], `imu_scale`
        is the ratio of the accelerometer's reading to gravity.
        """
        names = set(recording.signals)
        names |= {name for stream in recording.streams for name in stream.signals}
        given = bool({"linear_acceleration", "accelerometer"} & names)
        velocity = "linear_velocity" in names
        rates = {"gyro", "angular_velocity", "angular_acceleration"} & names
        acceleration_from_position = (
            not (recording.still or given or velocity) and "position" in names
        )
        try:
            schema = completed_schema(recording)
        except SchemaError:  # made by hand, of what no schema says
            schema = None
        return cls(
            gravity=recording.gravity,
            X_BS=recording.X_BS,
            static_poses=recording.still,
            has_attitude="quaternion" in names,
            gravity_added="quaternion" in names
            and bool(recording.gravity.any())
            and not (given and recording.acceleration_kind == "proper")
            and (recording.still or "accelerometer" not in names),
            rates_from_pose=acceleration_from_position and not rates,
            acceleration_from_position=acceleration_from_position,
            wrench_frame=recording.frames["wrench"],
            acceleration_kind=recording.acceleration_kind,
            compensated_weight=recording.compensated,
            signals=frozenset(names),
            schema_tables=dict(recording.schema),
            schema=schema,
            top_speeds=top_speeds,
            imu_scale=imu_scale,
        )

    def measured_alike(self, other: LogProperties) -> bool:
        """Return whether another log was measured in the same way."""
        return all(
            _equal_values(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )


def share_between_similar_logs(
    properties: Sequence[LogProperties], make: Callable[[LogProperties], T]
) -> list[T]:
    """Make one object per set of log properties; logs that were measured alike share it."""
    made: list[tuple[LogProperties, T]] = []
    results = []
    for of_log in properties:
        known = [first for of_other, first in made if of_other.measured_alike(of_log)]
        if not known:
            known = [make(of_log)]
            made.append((of_log, known[0]))
        results.append(known[0])
    return results


def _equal_values(first: object, other: object) -> bool:
    if isinstance(first, Pose) and isinstance(other, Pose):
        return np.array_equal(first.matrix, other.matrix)
    if isinstance(first, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(first, other)
    return first == other

"""Table of the ten signals of a recording, with their names in schemas and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from identify.logs.schema import SignalGroup
from identify.logs.units import (
    ACCELERATION_UNITS,
    ANGLE_UNITS,
    FORCE_UNITS,
    LENGTH_UNITS,
    TORQUE_UNITS,
)

_UNITS_OF_KEY: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "position_unit": LENGTH_UNITS,
        "angle_unit": ANGLE_UNITS,
        "unit": ACCELERATION_UNITS,
        "force_unit": FORCE_UNITS,
        "torque_unit": TORQUE_UNITS,
    }
)
"""Factors to SI of the units allowed by each schema key."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of a recording; its axes are those of its group.

    Attributes:
        name: its key in `Recording.signals`.
        group: of signals with one clock.
        key: of its columns in its table.
        columns: their names in a file that is written; as many as it has components.
        unit: the key of its unit in that table, of the quaternion that of its noise; None for SI.
    """

    name: str
    group: SignalGroup
    key: str
    columns: tuple[str, ...]
    unit: str | None = None

    @property
    def table(self) -> str:
        """Schema table of the signal."""
        return "imu" if self.group in ("gyro", "accelerometer") else self.group

    @property
    def noise_key(self) -> str:
        """Schema key of the signal's noise."""
        return "angle_noise" if self.name == "quaternion" else f"{self.key}_noise"

    def factor(self, table: object) -> float:
        """Return the factor from the schema's unit to SI, including the sensor's gain."""
        gain = getattr(table, f"{self.key}_gain", 1.0)
        return (
            gain
            if self.unit is None
            else gain * _UNITS_OF_KEY[self.unit][getattr(table, self.unit)]
        )


SIGNALS = (
    Signal("position", "pose", "position", ("px", "py", "pz"), "position_unit"),
    Signal("quaternion", "pose", "quaternion", ("qx", "qy", "qz", "qw"), "angle_unit"),
    Signal("linear_velocity", "twist", "linear", ("vx", "vy", "vz")),
    Signal("angular_velocity", "twist", "angular", ("wx", "wy", "wz"), "angle_unit"),
    Signal("linear_acceleration", "acceleration", "linear", ("ax", "ay", "az"), "unit"),
    Signal("angular_acceleration", "acceleration", "angular", ("alx", "aly", "alz"), "angle_unit"),
    Signal("gyro", "gyro", "gyro", ("gyro_x", "gyro_y", "gyro_z"), "angle_unit"),
    Signal("accelerometer", "accelerometer", "accelerometer", ("acc_x", "acc_y", "acc_z"), "unit"),
    Signal("force", "wrench", "force", ("fx", "fy", "fz"), "force_unit"),
    Signal("torque", "wrench", "torque", ("tx", "ty", "tz"), "torque_unit"),
)

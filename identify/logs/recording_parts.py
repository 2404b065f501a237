"""Parts of a `Recording`: sources, streams, IMU pose, axes of joints, counts of dropped rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from identify.arrays import Array
from identify.spatial import Pose

Frame: TypeAlias = Literal["body", "world", "sensor"]
AccelerationKind: TypeAlias = Literal["classical", "spatial", "proper"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a recording, with the SHA-256 digest of its content (hexadecimal)."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class DroppedRows:
    """Numbers of dropped rows by reason."""

    not_finite: int = 0
    """Rows with NaN or infinity in a column of the schema."""
    cut_short: int = 0
    """Last row of a text file, with fewer fields than the others."""
    not_numbers: int = 0
    """Rows with text instead of a number (only with `drop_bad_rows = true`)."""

    @property
    def total(self) -> int:
        """Total number of dropped rows."""
        return self.not_finite + self.cut_short + self.not_numbers

    def __add__(self, other: DroppedRows) -> DroppedRows:
        """Return the sum of the counts."""
        return DroppedRows(
            self.not_finite + other.not_finite,
            self.cut_short + other.cut_short,
            self.not_numbers + other.not_numbers,
        )


@dataclass(frozen=True, slots=True)
class Imu:
    """Pose of an inertial measurement unit.

    Attributes:
        X_BI: pose of the IMU in the body; signals of a `Recording` are in axes of B already.
        fitted: whether the position is estimated from the log.
    """

    X_BI: Pose = field(default_factory=Pose.identity)
    fitted: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class JointAxes:
    """Axes of a robot's joints, in the order of which a `Recording` has their signals.

    Attributes:
        names: of the n joints.
        still_below: speed of each joint below which its rows are ignored, because friction and
            stiction cannot be distinguished [rad/s, m/s], shape (n,).
        motor_per_joint: the matrix R from positions of joints to those of motors, shape (n, n);
            None if the log is of the joints themselves.
        has_torque: whether efforts are torques or forces; currents without gains are not.
        gains: factor of the schema for each joint, by what is logged, "torque" or "current", (n,).
        gain_accuracy: relative standard error of the scale of each joint by the schema, shape (n,);
            None if it is not given.
    """

    names: tuple[str, ...]
    still_below: Array
    motor_per_joint: Array | None = None
    has_torque: bool = True
    gains: Mapping[str, Array] = field(default_factory=dict)
    gain_accuracy: Array | None = None


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True, repr=False)
class Stream:
    """Signals of a recording whose rows are not those of its own clock; arrays are read-only.

    Attributes:
        name: what it holds, for messages: a group of signals, or several.
        time: time of each row on the recording's clock [s], not decreasing, shape (n,).
        signals: by name, as in `Recording`.
    """

    name: str
    time: Array
    signals: Mapping[str, Array]

    def __post_init__(self) -> None:
        signals = {name: _read_only(values) for name, values in self.signals.items()}
        object.__setattr__(self, "signals", MappingProxyType(signals))
        object.__setattr__(self, "time", _read_only(self.time))

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        """Return name, rows, time span and rate as a text."""
        return f"{self.name}: {describe_rows(self.time)}"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with plain dicts, as mapping views cannot be pickled."""
        return Stream, (self.name, self.time, dict(self.signals))


def describe_rows(time: Array) -> str:
    """Format the number of rows, time span and sampling rate of a stream."""
    span = float(time[-1] - time[0]) if len(time) else 0.0
    rate = f" at {(len(time) - 1) / span:.4g} Hz" if span > 0.0 else ""
    return f"{len(time)} rows, {span:.4g} s{rate}"

"""Prepared logs: rows for regression, full-rate states, IMU calibration, acceleration sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Mat33, Vec3, Vec4, Vec6
from identify.logs import Recording
from identify.signals.imu_calibration import ImuCalibration
from identify.spatial import coadjoint
from identify.spatial.columns import ANGULAR_ACCELERATION, FEATURES, PROPER_ACCELERATION, WRENCH
from identify.spatial.rotations import rotate

if TYPE_CHECKING:
    from identify.signals.white_noise import SignalNoise


@dataclass(frozen=True, slots=True)
class Segment:
    """Uninterrupted motion of a log at its full rate, in body axes, not low-passed.

    Attributes:
        time: [s], shape (n,).
        position, velocity: of Bo in W [m, m/s], shape (n, 3).
        quaternion: R_WB as [x, y, z, w], shape (n, 4).
        angular_velocity: w_WB_B [rad/s], shape (n, 3).
        wrench: [f; t] measured, on the body at Bo in B, bias included [N, N m], shape (n, 6).
        gravity: g in W [m/s²], shape (3,).
    """

    time: Array
    position: Vec3
    velocity: Vec3
    quaternion: Vec4
    angular_velocity: Vec3
    wrench: Vec6
    gravity: Vec3

    def select(self, rows: slice) -> Segment:
        """Return a copy of some rows."""
        arrays = {f.name: getattr(self, f.name) for f in fields(Segment) if f.name != "gravity"}
        copies = {name: array[rows].copy() for name, array in arrays.items()}
        return Segment(**copies, gravity=self.gravity)


@dataclass(frozen=True, slots=True)
class FullRateSegment:
    """Uninterrupted segment on its uniform clock: its signals and its columns in body axes.

    Attributes:
        time: time [s], shape (n,); for static poses their number.
        signals: by name, as in the recording; the delay of the wrench is compensated.
        columns: z = [1, ψ, w], shape (n, 19).
        rotation: R_WB used for the columns, shape (n, 3, 3); None without an attitude.
        rate_hz: sampling rate [Hz]; None for static poses.
        cutoff_hz: cut-off for which the differentiator was designed [Hz]; None for static poses.
    """

    time: Array
    signals: Mapping[str, Array]
    columns: Array
    rotation: Mat33 | None
    rate_hz: float | None = None
    cutoff_hz: float | None = None

    @property
    def logged_wrench(self) -> Vec6:
        """Wrench [f; t] as logged, at the sensor in the log's axes, shape (n, 6)."""
        return np.hstack((self.signals["force"], self.signals["torque"]))

    def at_sensor(self, recording: Recording, wrench: Vec6) -> Vec6:
        """Transform wrenches at Bo in B to the sensor, in the log's axes, shape (n, 6).

        Args:
            recording: the log of the samples.
            wrench: at Bo in B, one for each sample.
        """
        if recording.X_BS is not None:
            wrench = wrench @ coadjoint(recording.X_BS.inverse()).T
        if recording.frames["wrench"] != "world" or self.rotation is None:
            return wrench
        return np.hstack([rotate(self.rotation, half) for half in (wrench[:, :3], wrench[:, 3:])])


@dataclass(frozen=True, slots=True)
class BlockRows:
    """Regression rows of a block of time: one for each frequency, and for joints each channel.

    Attributes:
        rows: shape (k, K). For a wrench z = [constant, ψ, w], K = 19, or 43 where Rᵀ, ẇ, ẅ and Rᵀp
            follow; the constant is zero in all but the first.
        groups: group of each row, ascending, shape (k,); for a wrench its frequency band, as in
            `transform`.
        noise: covariance of the noise of a row without the constant, by group, shape
            (K − 1, K − 1) each, or (K, K) if there is no constant; empty if no noise was read.
        samples: number of samples in the block.
        effective_fraction: number of independent rows that one row counts for.
    """

    rows: Array
    groups: Indices
    noise: dict[int, Array]
    samples: int
    effective_fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSeries:
    """Log, or chunk of a log, as series over time and as states at full rate.

    Attributes:
        recording: the log before preparation.
        time: time of the series [s], shape (n,); for static poses their number.
        rows: means of z = [1, ψ, w] over short intervals of time, shape (n, 19), or of all columns
            if the log was prepared wide, (n, 43); for static poses the poses themselves.
        segment_ids: number of the uninterrupted segment of each row, shape (n,).
        noise: mean variance of the noise of [ψ, w] in the slow rows, shape (18,), or (39,).
        signal_noise: noise of its signals in one sample; None for static poses.
        segments: full-rate states for the replay; empty if pose or time is missing.
        rate_hz: sampling rate of the log [Hz]; None for static poses.
        cutoff_hz: highest frequency of the rows [Hz]; None for static poses.
        cutoff_raised: whether the cut-off is above the default because segments are short.
        motion_cutoff_hz: cut-off required by the motion [Hz]; None if it was not estimated.
        repeated_rows: number of rows with the stamp of the row before; exact duplicates are not
            used.
        unused_rows: number of rows in segments too short to be differentiated, not used.
        imu: calibration of its inertial measurement unit.
    """

    recording: Recording
    time: Array
    rows: Array
    segment_ids: Indices
    noise: Array
    signal_noise: SignalNoise | None = None
    segments: tuple[Segment, ...] = ()
    rate_hz: float | None = None
    cutoff_hz: float | None = None
    cutoff_raised: bool = False
    motion_cutoff_hz: float | None = None
    repeated_rows: int = 0
    unused_rows: int = 0
    imu: ImuCalibration = field(default_factory=ImuCalibration)

    @property
    def name(self) -> str:
        """Name of the log."""
        return self.recording.name

    @property
    def wrench(self) -> Vec6:
        """Measured wrench of the series, in B, bias included, shape (n, 6)."""
        return self.rows[:, WRENCH]

    @property
    def features(self) -> Array:
        """Motion features of the rigid-body equations over time, shape (n, 12)."""
        return self.rows[:, FEATURES]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedLog(LogSeries):
    """Log in body axes on a uniform clock, as rows by frequency and as a series over time.

    Attributes:
        blocks: rows of each block of time; none for static poses.
        folds: rows of each cross-validation fold.
    """

    blocks: tuple[BlockRows, ...] = ()
    folds: tuple[BlockRows, ...] = ()


_ACCELERATION_SOURCES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "acceleration": (
            ("accelerometer", "accelerometer"),
            ("linear_acceleration", "as logged"),
            ("linear_velocity", "derivative of the velocity"),
            ("position", "second derivative of the position"),
            ("force", "the force over the mass"),
        ),
        "angular_acceleration": (
            ("gyro", "derivative of the gyro"),
            ("angular_acceleration", "as logged"),
            ("angular_velocity", "derivative of the angular velocity"),
            ("quaternion", "second derivative of the attitude"),
        ),
    }
)
"""Signals that give each acceleration, in the order of preference of `kinematics.BodyAxes`."""


class AccelerationSource(NamedTuple):
    """Signal from which an acceleration was formed, with its noise.

    Attributes:
        source: the signal in words.
        noise: one sigma, averaged over the axes, after the low-pass [m/s² or rad/s²].
        rms: RMS of its change over the log, including noise.
    """

    source: str
    noise: float
    rms: float


def acceleration_sources(log: LogSeries) -> dict[str, AccelerationSource]:
    """Return the signals that gave each acceleration of a log; none in static poses."""
    recording = log.recording
    if recording.still:
        return {}
    names = {*recording.signals, *(name for stream in recording.streams for name in stream.signals)}
    result = {}
    slices = PROPER_ACCELERATION, ANGULAR_ACCELERATION
    for columns, (quantity, sources) in zip(slices, _ACCELERATION_SOURCES.items(), strict=True):
        available = [(name, text) for name, text in sources if name in names]
        if available:
            count = 2 if available[0][0] in ("accelerometer", "gyro") else 1  # fused signals
            source = " and ".join(text for _, text in available[:count])
            noise = float(np.sqrt(np.mean(log.noise[columns])))
            changes = log.features[:, columns] - log.features[:, columns].mean(axis=0)
            rms = float(np.sqrt(np.mean(changes**2)))
            result[quantity] = AccelerationSource(source, noise, rms)
    return result

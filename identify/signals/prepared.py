"""`PreparedLog`: a recording made ready for regression, its states, where its motion comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Mat33, Vec3, Vec4, Vec6
from identify.findings import Finding
from identify.logs import Recording
from identify.spatial import Pose, coadjoint
from identify.spatial.columns import ANGULAR_ACCELERATION, PROPER_ACCELERATION, PSI, W
from identify.spatial.rotations import rotate

if TYPE_CHECKING:
    from identify.signals.noise import SignalNoise


@dataclass(frozen=True, slots=True)
class Segment:
    """An uninterrupted segment of a log at its full rate, in body axes, not low-passed.

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


@dataclass(frozen=True, slots=True)
class FullRate:
    """An uninterrupted segment on its even clock: its signals, and what they are in body axes.

    Attributes:
        time: [s], shape (n,); the poses' number where all are still.
        signals: by name, as in the recording; no delay is left in the wrench.
        columns: z = [1, ψ, w], shape (n, 19).
        rotation: R_WB that these were made with, shape (n, 3, 3); None without an attitude.
        rate_hz: sampling rate [Hz]; None for still poses.
        cutoff_hz: that derivatives were made for [Hz]; None for still poses.
    """

    time: Array
    signals: Mapping[str, Array]
    columns: Array
    rotation: Mat33 | None
    rate_hz: float | None = None
    cutoff_hz: float | None = None

    @property
    def logged_wrench(self) -> Vec6:
        """[f; t] where the log's wrench is, in its axes, shape (n, 6)."""
        return np.hstack((self.signals["force"], self.signals["torque"]))

    def at_sensor(self, recording: Recording, wrench: Vec6) -> Vec6:
        """A wrench at Bo in B where the log's wrench is, in its axes, shape (n, 6).

        Args:
            recording: of which the samples are.
            wrench: of each sample.
        """
        if recording.X_BS is not None:
            wrench = wrench @ coadjoint(recording.X_BS.inverse()).T
        if recording.frames["wrench"] != "world" or self.rotation is None:
            return wrench
        return np.hstack([rotate(self.rotation, half) for half in (wrench[:, :3], wrench[:, 3:])])


@dataclass(frozen=True, slots=True)
class BlockRows:
    """Rows z = [constant, ψ, w] of a block of time, one a frequency.

    Attributes:
        rows: shape (k, K), K = 19, or 43 where Rᵀ, ẇ, ẅ and Rᵀp follow; the constant acts in the
            first alone.
        groups: of each row, as in `transform`, ascending, shape (k,).
        noise: covariance of the noise of a row without the constant, by group, shape
            (K − 1, K − 1) each.
        samples: of the log in the block.
        effective_fraction: number of independent rows that one row counts for.
    """

    rows: Array
    groups: Indices
    noise: dict[int, Array]
    samples: int
    effective_fraction: float


@dataclass(frozen=True, slots=True)
class ImuCalibration:
    """Calibration of an inertial measurement unit by the log itself.

    Attributes:
        X_BI: pose of the unit in the body, as given or found.
        gyro_offset: what the gyro adds to the angular velocity, along B [rad/s].
        covariance: of what was found of the accelerometer, by rows: its place [m], its scale and
            its offset along B [m/s²], shape (7, 7); none where all was given.
        shares: weight of the accelerometer, beside the rest of the log, in the acceleration of each
            band of frequency; where there is a `covariance`.
        at_rest: where the accelerometer is the force itself, the mass [kg] and the offset of the
            force [N] it is read with, found at rest.
        scale: accelerometer's reading of gravity over gravity, where that is off; else one.
        scale_error: one sigma of the accelerometer's scale, relative, where it alone tells the
            acceleration of a motion; of all logs of a unit alike.
        findings: differences between the unit and the rest of the log, and what was found.
    """

    X_BI: Pose = field(default_factory=Pose.identity)
    gyro_offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    covariance: tuple[tuple[float, ...], ...] = ()
    shares: tuple[float, ...] = ()
    at_rest: tuple[float, ...] = ()
    scale: float = 1.0
    scale_error: float = 0.0
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of_schema(cls, recording: Recording) -> ImuCalibration:
        """Calibration that a log is read with where nothing was found: the pose of its schema."""
        return cls() if recording.imu is None else cls(recording.imu.X_BI)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSeries:
    """A log, or a chunk of one, over time and at its full rate.

    Attributes:
        recording: what it was made of.
        time: time of the series [s], shape (n,); the poses' number where all are still.
        rows: means of z = [1, ψ, w] over short stretches of time, shape (n, 19), or of all columns
            where the log was prepared wide, (n, 43); of a log of still poses the poses.
        segment_ids: number of the uninterrupted segment each of those belongs to, shape (n,).
        noise: variance of the noise of [ψ, w] in the slow rows, on average, shape (18,), or (39,).
        signal_noise: of its signals, sample by sample; None for still poses.
        segments: full-rate states for the replay; empty where pose or time is missing.
        rate_hz: sampling rate of the log [Hz]; None for still poses.
        cutoff_hz: highest frequency of the rows [Hz]; None for still poses.
        cutoff_raised: whether the cut-off is higher than the default, as segments are short.
        motion_hz: cut-off that the motion itself asks for [Hz]; None where nobody asked.
        repeated: rows with the stamp of the row before; those with its values too are not used.
        unused: rows in segments too short to be differentiated, not used.
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
    motion_hz: float | None = None
    repeated: int = 0
    unused: int = 0
    imu: ImuCalibration = field(default_factory=ImuCalibration)

    @property
    def name(self) -> str:
        """The log's name."""
        return self.recording.name

    @property
    def wrench(self) -> Vec6:
        """Measured wrench of the series, in B, bias included, shape (n, 6)."""
        return self.rows[:, W]

    @property
    def features(self) -> Array:
        """Features ψ of the series, shape (n, 12)."""
        return self.rows[:, PSI]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedLog(LogSeries):
    """A log in body axes on an even clock, as rows by frequency and as a series over time.

    Attributes:
        blocks: rows of each block of time; none where the rows are still poses.
        folds: rows of the parts of time that are held out in turn.
    """

    blocks: tuple[BlockRows, ...] = ()
    folds: tuple[BlockRows, ...] = ()


_SOURCES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
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
"""The first signal that a log has is what is taken, as `kinematics.BodyAxes` does."""


class AccelerationSource(NamedTuple):
    """How an acceleration was formed.

    Attributes:
        source: in words.
        noise: one sigma on the mean of three axes after the low-pass [m/s² or rad/s²].
        rms: of its change over the log, noise among it.
    """

    source: str
    noise: float
    rms: float


def acceleration_sources(log: LogSeries) -> dict[str, AccelerationSource]:
    """The routes of "acceleration" and "angular_acceleration"; none of still poses."""
    recording = log.recording
    if recording.still:
        return {}
    names = {*recording.signals, *(name for stream in recording.streams for name in stream.signals)}
    found = {}
    both = PROPER_ACCELERATION, ANGULAR_ACCELERATION
    for columns, (what, sources) in zip(both, _SOURCES.items(), strict=True):
        there = [(name, said) for name, said in sources if name in names]
        if there:
            told = 2 if there[0][0] in ("accelerometer", "gyro") else 1  # together with the rest
            source = " and ".join(said for _, said in there[:told])
            noise = float(np.sqrt(np.mean(log.noise[columns])))
            changes = log.features[:, columns] - log.features[:, columns].mean(axis=0)
            found[what] = AccelerationSource(source, noise, float(np.sqrt(np.mean(changes**2))))
    return found

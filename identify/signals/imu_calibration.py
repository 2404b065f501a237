"""`ImuCalibration`: calibration of an inertial measurement unit from its log."""

from __future__ import annotations

from dataclasses import dataclass, field

from identify.findings import Finding
from identify.logs import Recording
from identify.spatial import Pose


@dataclass(frozen=True, slots=True)
class ImuCalibration:
    """Calibration of an inertial measurement unit from its log.

    Attributes:
        X_BI: pose of the IMU in the body, as given or estimated.
        gyro_offset: offset of the gyro along B [rad/s].
        covariance: of the estimated position [m], scale and offset along B [m/s²] of the
            accelerometer, by rows, shape (7, 7); empty if nothing was estimated.
        accelerometer_weights: weight of the accelerometer, relative to the other signals, in the
            acceleration of each frequency band; with a `covariance`.
        static_calibration: where the force serves as accelerometer, the mass [kg] and the offset of
            the force [N], estimated at rest.
        scale: ratio of the accelerometer's reading to gravity, if significantly wrong; else one.
        scale_error: relative standard error of the accelerometer's scale, if it is the only source
            of the acceleration of a motion; common to all logs of an IMU.
        findings: differences between the IMU and the other signals, and estimated parameters.
    """

    X_BI: Pose = field(default_factory=Pose.identity)
    gyro_offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    covariance: tuple[tuple[float, ...], ...] = ()
    accelerometer_weights: tuple[float, ...] = ()
    static_calibration: tuple[float, ...] = ()
    scale: float = 1.0
    scale_error: float = 0.0
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of_schema(cls, recording: Recording) -> ImuCalibration:
        """Return the calibration with the IMU's pose from the schema."""
        return cls() if recording.imu is None else cls(recording.imu.X_BI)

"""Scale and unit of an accelerometer from gravity, in logs without an attitude.

In an attitude at rest with the vertical u an accelerometer reads s g u + b: a sphere, whose radius
gives the scale s and whose centre the offset b. In motion, its mean reading in non-rotating axes,
given by a gyro, is s g, because no motion accelerates in one direction for long. An offset b adds
the mean of R b, which only large rotations separate from a scale; otherwise it is an error of s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.findings import Finding, Severity
from identify.logs import Recording
from identify.logs.patch import Patch
from identify.logs.units import ACCELERATION_UNITS
from identify.relevance import (
    MIN_SCALE_ERROR_AT_REST,
    MIN_SCALE_ERROR_IN_MOTION,
    SCALE_ERROR_OF_WARNING,
)
from identify.signals.cutoff import in_free_flight
from identify.signals.imu_calibration import ImuCalibration
from identify.significance import SIGNIFICANT_SIGMA
from identify.spatial.rotations import (
    exp_rotation,
    normalised_quaternion,
    rotation_from_quaternion,
    vector_norms,
)

_LARGE_SCALE_ERROR = 0.2
"""Relative scale error of an accelerometer above which the user must correct it in the schema."""

_MAX_FRACTION_WITHOUT_GRAVITY = 0.5
"""Largest ratio of the median reading to gravity, and of the mean reading in non-rotating axes to
the median, if gravity was subtracted from an accelerometer."""

_MAX_UNIT_RATIO = 1.4
"""Largest ratio of an accelerometer's reading to gravity that fits a unit of measure."""

_TYPICAL_OFFSET = 0.02
_TYPICAL_NOISE = 3e-3
_MIN_READING_ERROR = 1e-6
_NOISE_DEGREES_OF_FREEDOM = 8
"""Typical offset and noise of an accelerometer and smallest error of its readings [g], and the
degrees of freedom of a sphere fit from which the noise is estimated."""

_SHORTEST_WINDOW = 4.0
_LONGEST_WINDOW = 20.0
_WINDOW_RATE_HZ = 100.0
"""Shortest and longest window rotated into its first attitude [s], and its sampling rate [Hz]."""

_MIN_WINDOW_COSINE = 0.98
"""Smallest cosine of the angle between mean readings of parts of a window with a correct gyro."""

_PRIOR_SCALE_SIGMA = 0.02
"""Prior standard deviation of the scale of an accelerometer."""

_LINEAR_MOTION_SIGNALS = {"position", "linear_velocity", "linear_acceleration"}
"""Signals that give the acceleration without an accelerometer if the attitude is known."""


class _GravityScale(NamedTuple):
    """Estimated ratio of an accelerometer's reading to gravity, and its standard error."""

    ratio: float
    error: float

    def is_off(self, scale_error: float) -> bool:
        return abs(self.ratio - 1.0) > max(scale_error, SIGNIFICANT_SIGMA * self.error)


def with_gravity_scale(
    recording: Recording, imu: ImuCalibration, signals: Mapping[str, Array], rate_hz: float
) -> ImuCalibration:
    """Add the scale error of an accelerometer in motion, with a finding, to a calibration.

    Without a significant error, the standard error of the scale is added where the accelerometer
    is the only source of the acceleration. In free flight no gravity is read that shows the scale.
    """
    for table, readings in _readings_in_g(recording, signals):
        typical = _GravityScale(float(np.median(vector_norms(readings))), 0.0)
        is_unit_error = f"{table}.unit" in (
            scale_patch(recording.schema, table, typical.ratio) or {}
        )
        has_attitude = "quaternion" in signals
        lacks_reference = not has_attitude or _LINEAR_MOTION_SIGNALS.isdisjoint(signals)
        is_only_source = table == "acceleration" or lacks_reference
        if in_free_flight(signals):
            return replace(imu, scale_error=_PRIOR_SCALE_SIGMA) if is_only_source else imu
        windows = _cut_windows(readings, signals, rate_hz) if is_only_source else None
        testable = None if has_attitude or is_unit_error else windows
        if testable and _lacks_gravity(testable, typical.ratio):
            finding = _missing_gravity_finding(recording, table, typical)
            return replace(imu, findings=(*imu.findings, finding))
        in_motion = None if has_attitude or not windows else _scale_in_motion(windows)
        scale = typical if is_unit_error else in_motion
        if scale is not None and scale.is_off(MIN_SCALE_ERROR_IN_MOTION):
            findings = (*imu.findings, _scale_finding(recording, table, scale, "error"))
            error = min(abs(scale.ratio - 1.0), _LARGE_SCALE_ERROR)
            return replace(imu, scale=scale.ratio, scale_error=error, findings=findings)
        if is_only_source:
            estimable = windows if has_attitude or scale else None
            error = _undetected_scale_error(estimable) if estimable else _PRIOR_SCALE_SIGMA
            imu = replace(imu, scale_error=error)
    return imu


def scaled_to_gravity(recording: Recording) -> tuple[Recording, ImuCalibration]:
    """Divide a small scale error out of an accelerometer that reads gravity in static poses.

    Only the accelerometer of the first table that needs it is corrected; `[imu]` does not if the
    attitude is known. A large scale error is not corrected, but reported as an error.
    """
    imu = ImuCalibration.of_schema(recording)
    for table, readings in _readings_in_g(recording, recording.signals):
        if table == "imu" and "quaternion" in recording.signals:  # the attitude is known
            continue
        scale = _fit_sphere_scale(readings, np.broadcast_to(np.eye(3), (len(readings), 3, 3)))
        scale_error = abs(scale.ratio - 1.0)
        is_large = scale_error > _LARGE_SCALE_ERROR
        severity = (
            "error" if is_large else "warning" if scale_error > SCALE_ERROR_OF_WARNING else "info"
        )
        finding = _scale_finding(recording, table, scale, severity)
        imu = replace(imu, findings=(finding,) * scale.is_off(MIN_SCALE_ERROR_AT_REST))
        if is_large:
            return recording, replace(imu, scale=scale.ratio)
        name = "accelerometer" if table == "imu" else "linear_acceleration"
        # Of position, scale and offset.
        errors = np.diag([0.0, 0.0, 0.0, (scale.error / scale.ratio) ** 2, 0.0, 0.0, 0.0])
        imu = replace(
            imu, covariance=tuple(map(tuple, errors.tolist())), accelerometer_weights=(1.0,)
        )
        signals = {**recording.signals, name: recording.signals[name] / scale.ratio}
        return replace(recording, signals=signals), imu
    return recording, imu


def scale_patch(schema: Mapping[str, Any], table: str, scale: float) -> Patch | None:
    """Return the schema key that scales an accelerometer to gravity; None if no key can."""
    given = schema.get(table) or {}
    current_unit = given.get("unit", "m/s^2")
    for unit, factor in ACCELERATION_UNITS.items():
        ratio = scale * factor / ACCELERATION_UNITS[current_unit]
        if unit != current_unit and 1.0 / _MAX_UNIT_RATIO < ratio < _MAX_UNIT_RATIO:
            return {f"{table}.unit": unit}
    gain = float(f"{given.get('accelerometer_gain', 1.0) / scale:.5g}")
    return {"imu.accelerometer_gain": gain} if table == "imu" else None


def _readings_in_g(
    recording: Recording, signals: Mapping[str, Array]
) -> Iterator[tuple[str, Vec3]]:
    """Yield schema table and readings [g] of each accelerometer in a log."""
    gravity = float(np.linalg.norm(recording.gravity))
    is_proper = recording.acceleration_kind == "proper"
    for name, table in (("linear_acceleration", "acceleration"), ("accelerometer", "imu")):
        is_accelerometer = name in recording.signals and (is_proper or table == "imu")
        if is_accelerometer and gravity and name in signals and signals[name].any():
            yield table, signals[name] / gravity


def _fit_sphere_scale(readings: Vec3, R: Mat33) -> _GravityScale:
    """Fit the radius s of the sphere |reading − R b| = s, with a prior of zero on the offset b."""
    size = float(vector_norms(readings).mean())
    offset = np.zeros(3)
    noise = 0.0
    inverse = np.eye(4)
    for _ in range(4):
        u = readings - R @ offset
        u /= np.maximum(vector_norms(u), np.finfo(float).tiny)[:, None]
        A = np.column_stack((np.ones(len(u)), np.einsum("ni,nij->nj", u, R)))
        y = np.einsum("ni,ni->n", u, readings)
        residual = float(np.sum((y - A @ (size, *offset)) ** 2)) / size**2
        degrees = max(len(u) - 4, 0)
        prior = max(
            _NOISE_DEGREES_OF_FREEDOM - degrees, 0
        )  # degrees of freedom of the typical noise
        variance = (residual + prior * _TYPICAL_NOISE**2) / (degrees + prior)
        noise = max(float(np.sqrt(variance)), _MIN_READING_ERROR)
        weight = (noise / _TYPICAL_OFFSET) ** 2
        inverse = np.linalg.inv(A.T @ A + np.diag([0.0, weight, weight, weight]))
        size, *offset = (inverse @ A.T @ y).tolist()
    return _GravityScale(size, noise * size * float(np.sqrt(inverse[0, 0])))


class _ReadingWindows(NamedTuple):
    """Accelerometer readings in windows of time, with the rotation since the start of each.

    Attributes:
        readings: [g], shape (windows, n, 3).
        rotation: to non-rotating axes, shape (windows, n, 3, 3).
    """

    readings: Vec3
    rotation: Mat33

    def mean(self, start: int, rows: int) -> tuple[Vec3, Mat33]:
        """Return the tapered means of R a and of R over some rows of each window."""
        taper = np.hanning(rows + 2)[1:-1]
        R = np.einsum("n,wnij->wnij", taper / taper.sum(), self.rotation[:, start : start + rows])
        mean = np.einsum("wnij,wnj->wi", R, self.readings[:, start : start + rows])
        return mean, R.sum(axis=1)


def _cut_windows(
    readings: Vec3, signals: Mapping[str, Array], rate_hz: float
) -> _ReadingWindows | None:
    """Cut readings into windows; None if the log is too short or has neither gyro nor attitude."""
    step = max(1, round(rate_hz / _WINDOW_RATE_HZ))
    count = len(readings) // step
    seconds = min(_LONGEST_WINDOW, count * step / rate_hz / 1.5)
    rates = signals.get("gyro", signals.get("angular_velocity"))
    attitude = signals.get("quaternion")
    if seconds < _SHORTEST_WINDOW or (rates is None and attitude is None):
        return None
    size = int(seconds * rate_hz / step) // 4 * 4
    windows = np.arange(0, count - size + 1, size // 2)[:, None] + np.arange(size)

    def decimated(values: Array) -> Array:
        return values[: count * step].reshape(count, step, -1).mean(axis=1)[windows]

    if attitude is not None:
        R = rotation_from_quaternion(normalised_quaternion(decimated(attitude)))
        return _ReadingWindows(decimated(readings), R)
    assert rates is not None
    rotations = rotation_from_quaternion(exp_rotation(decimated(rates) * step / rate_hz))
    R = np.empty((*windows.shape, 3, 3))
    R[:, 0] = np.eye(3)
    for k in range(1, size):
        R[:, k] = R[:, k - 1] @ rotations[:, k - 1]
    return _ReadingWindows(decimated(readings), R)


def _scale_in_motion(windows: _ReadingWindows) -> _GravityScale | None:
    """Estimate the scale from mean readings in non-rotating axes; None if the gyro is wrong."""
    size = windows.readings.shape[1]
    mean, _ = windows.mean(0, size)
    scales, differences = vector_norms(mean), []
    for start in (0, size // 4, size // 2):
        part, _ = windows.mean(start, size // 2)
        if not (
            np.sum(part * mean, axis=1) > _MIN_WINDOW_COSINE * vector_norms(part) * scales
        ).all():
            return None
        differences.append(vector_norms(part) - scales)
    # The mean over half a window contains four times as much of a slow motion.
    error = max(float(scales.std()), float(np.sqrt(np.mean(np.square(differences)))) / 4.0)
    return _GravityScale(float(np.median(scales)), error / np.sqrt(len(scales)))


def _lacks_gravity(windows: _ReadingWindows, typical: float) -> bool:
    """Return whether gravity was subtracted: readings are short and have no mean direction."""
    mean, _ = windows.mean(0, windows.readings.shape[1])
    return typical < _MAX_FRACTION_WITHOUT_GRAVITY and bool(
        np.median(vector_norms(mean)) < _MAX_FRACTION_WITHOUT_GRAVITY * typical
    )


def _undetected_scale_error(windows: _ReadingWindows) -> float:
    """Return the RMS error of an accelerometer's scale where no scale error is significant."""
    scale = _fit_sphere_scale(*windows.mean(0, windows.readings.shape[1]))
    shrinkage = _PRIOR_SCALE_SIGMA**2 / (_PRIOR_SCALE_SIGMA**2 + scale.error**2)
    return float(np.hypot(shrinkage * (scale.ratio - 1.0), np.sqrt(shrinkage) * scale.error))


def _missing_gravity_finding(recording: Recording, table: str, typical: _GravityScale) -> Finding:
    text = (
        f"the accelerometer reads {typical.ratio:.2g} times gravity, and no direction on average: "
        "gravity was subtracted from its readings."
    )
    key = "accelerometer in [imu]" if table == "imu" else "linear in [acceleration]"
    remedy = f"Log its raw reading, 9.8 m/s² at rest, as {key}; or leave it out and log the pose."
    evidence = {"scale": typical.ratio}
    return Finding("imu_scale", "error", text, remedy, evidence, recording.name)


def _scale_finding(
    recording: Recording, table: str, scale: _GravityScale, severity: Severity
) -> Finding:
    source = "at rest" if recording.still else "on average"
    cause = "another unit, or a wrong scale" if severity == "error" else "it is divided out"
    remedy = f"Divide the columns of linear in [{table}] by {scale.ratio:.4g}."
    for key, value in (scale_patch(recording.schema, table, scale.ratio) or {}).items():
        spelled = f'"{value}"' if isinstance(value, str) else f"{value:g}"
        remedy = f"In the schema, [{table}], set `{key.partition('.')[2]} = {spelled}`."
    text = f"the accelerometer reads {scale.ratio:.4g} times gravity {source}: {cause}."
    evidence = {"scale": scale.ratio, "sigma": scale.error}
    return Finding("imu_scale", severity, text, remedy, evidence, recording.name)

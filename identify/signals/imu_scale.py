"""The scale and the unit of an accelerometer by gravity, in logs without an attitude.

In an attitude at rest an accelerometer reads s g u + b: a sphere, whose radius tells the scale s
beside the offset b. In motion, what it reads in axes that do not turn, as a gyro tells them, is
s g on average, because no motion accelerates one way for long. An offset b adds the mean of R b to
that, which only large turns tell from a scale: what they leave open is an error of the scale.
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
from identify.logs.units import ACCELERATION
from identify.relevance import SCALE_AT_REST, SCALE_IN_MOTION, SCALE_WARNING
from identify.signals.prepared import ImuCalibration
from identify.significance import SIGNIFICANT_SIGMA
from identify.spatial.rotations import (
    exp_rotation,
    lengths,
    normalised_quaternion,
    rotation_from_quaternion,
)

_MAX_CORRECTABLE_SCALE = 0.2
"""Share by which a scale is off from which on only the schema corrects it."""

_GRAVITY_MISSING_SHARE = 0.5
"""Share of gravity that a reading's median length has less of, and share of that length which its
mean in axes that do not turn has less of, where gravity was taken off the reading."""

_UNIT_MATCH_FACTOR = 1.4
"""Factor from gravity within which an acceleration in another unit is, typically."""

_TYPICAL_OFFSET, _TYPICAL_NOISE, _ROUGH, _FEW_ATTITUDES = 0.02, 3e-3, 1e-6, 8
"""Offset and noise of an accelerometer and the least error of what it reads [g]; attitudes beyond
those that a sphere takes, from which on they tell the noise themselves."""

_SHORTEST_WINDOW, _LONGEST_WINDOW, _RATE_HZ = 4.0, 20.0, 100.0
"""Seconds of a window that is turned into one attitude, and the rate that takes."""

_MIN_WINDOW_COSINE = 0.98
"""Cosine of the angle between parts of a window, in axes that do not turn, if the gyro is right."""

_PRIOR_SCALE_SIGMA = 0.02
"""One sigma of an accelerometer's scale, before a log tells it."""

_LINEAR_MOTION_SIGNALS = {"position", "linear_velocity", "linear_acceleration"}
"""Signals that, with an attitude, tell the acceleration beside an accelerometer."""


class _GravityScale(NamedTuple):
    """What an accelerometer reads of gravity, and its standard error."""

    size: float
    error: float

    def is_off(self, share: float) -> bool:
        return abs(self.size - 1.0) > max(share, SIGNIFICANT_SIGMA * self.error)


def with_gravity_scale(
    recording: Recording, imu: ImuCalibration, signals: Mapping[str, Array], rate_hz: float
) -> ImuCalibration:
    """Add the scale of an accelerometer in motion, with its finding, where it is off.

    Else the error of the scale, where the accelerometer alone tells the acceleration.

    Args:
        recording: the log.
        imu: calibration so far.
        signals: of its longest segment, by name.
        rate_hz: of those.
    """
    for table, read in _readings_in_g(recording, signals):
        typical = _GravityScale(float(np.median(lengths(read))), 0.0)
        in_unit = f"{table}.unit" in (scale_patch(recording.schema, table, typical.size) or {})
        posed = "quaternion" in signals
        alone = table == "acceleration" or not posed or _LINEAR_MOTION_SIGNALS.isdisjoint(signals)
        windows = _windows(read, signals, rate_hz) if alone else None
        held = "force" in signals and bool(signals["force"].any())  # else it may fly freely
        if windows and held and not (posed or in_unit) and _lacks_gravity(windows, typical.size):
            return replace(
                imu, findings=(*imu.findings, _missing_gravity_finding(recording, table, typical))
            )
        scale = typical if in_unit else None if posed or not windows else _scale_in_motion(windows)
        if scale is not None and scale.is_off(SCALE_IN_MOTION):
            found = _scale_finding(recording, table, scale, "error")
            off = min(abs(scale.size - 1.0), _MAX_CORRECTABLE_SCALE)
            named = (*imu.findings, found)
            return replace(imu, scale=scale.size, scale_error=off, findings=named)
        if alone:
            error = (
                _undetected_scale_error(windows)
                if windows and (posed or scale)
                else _PRIOR_SCALE_SIGMA
            )
            imu = replace(imu, scale_error=error)
    return imu


def scaled_to_gravity(recording: Recording) -> tuple[Recording, ImuCalibration]:
    """Divide out a scale that is little off of an accelerometer that reads gravity in still poses.

    One that is far off stays, with an error as its finding.

    Returns:
        The poses so read, and the calibration that tells of it.
    """
    imu = ImuCalibration.of_schema(recording)
    for table, read in _readings_in_g(recording, recording.signals):
        if table == "imu" and "quaternion" in recording.signals:  # which tells the attitude
            continue
        scale = _scale_at_rest(read)
        share = abs(scale.size - 1.0)
        severity = (
            "error"
            if share > _MAX_CORRECTABLE_SCALE
            else "warning"
            if share > SCALE_WARNING
            else "info"
        )
        named = (_scale_finding(recording, table, scale, severity),) * scale.is_off(SCALE_AT_REST)
        imu = replace(imu, findings=named)
        if share > _MAX_CORRECTABLE_SCALE:
            return recording, replace(imu, scale=scale.size)
        name = "accelerometer" if table == "imu" else "linear_acceleration"
        errors = np.diag([0.0, 0.0, 0.0, (scale.error / scale.size) ** 2, 0.0, 0.0, 0.0])
        imu = replace(imu, covariance=tuple(map(tuple, errors.tolist())), shares=(1.0,))
        signals = {**recording.signals, name: recording.signals[name] / scale.size}
        return replace(recording, signals=signals), imu
    return recording, imu


def scale_patch(schema: Mapping[str, Any], table: str, scale: float) -> Patch | None:
    """The key of a schema that makes gravity of an accelerometer's readings; None if none does.

    Args:
        schema: as it was written.
        table: "imu" or "acceleration".
        scale: what it reads of gravity.
    """
    given = schema.get(table) or {}
    now = given.get("unit", "m/s^2")
    for unit, factor in ACCELERATION.items():
        if (
            unit != now
            and 1.0 / _UNIT_MATCH_FACTOR < scale * factor / ACCELERATION[now] < _UNIT_MATCH_FACTOR
        ):
            return {f"{table}.unit": unit}
    gain = float(f"{given.get('accelerometer_gain', 1.0) / scale:.5g}")
    return {"imu.accelerometer_gain": gain} if table == "imu" else None


def _readings_in_g(
    recording: Recording, signals: Mapping[str, Array]
) -> Iterator[tuple[str, Vec3]]:
    """The table and the readings [g] of each accelerometer, but for a force that serves as one."""
    gravity = float(np.linalg.norm(recording.gravity))
    proper = recording.acceleration_kind == "proper"
    for name, table in (("linear_acceleration", "acceleration"), ("accelerometer", "imu")):
        is_one = name in recording.signals and (proper or table == "imu")
        if is_one and gravity and name in signals and signals[name].any():
            yield table, signals[name] / gravity


def _scale_at_rest(read: Vec3) -> _GravityScale:
    """The scale by readings in attitudes at rest."""
    return _fit_sphere_scale(read, np.broadcast_to(np.eye(3), (len(read), 3, 3)))


def _fit_sphere_scale(read: Vec3, turned: Mat33) -> _GravityScale:
    """The radius s of the sphere |read − turned b| = s that readings lie on, b near zero."""
    size, offset, noise, inverse = float(lengths(read).mean()), np.zeros(3), 0.0, np.eye(4)
    for _ in range(4):
        u = read - turned @ offset
        u /= np.maximum(lengths(u), np.finfo(float).tiny)[:, None]
        A = np.column_stack((np.ones(len(u)), np.einsum("ni,nij->nj", u, turned)))
        y = np.einsum("ni,ni->n", u, read)
        left = float(np.sum((y - A @ (size, *offset)) ** 2)) / size**2
        free = max(len(u) - 4, 0)
        more = max(_FEW_ATTITUDES - free, 0)  # of few attitudes four numbers leave nothing
        noise = max(float(np.sqrt((left + more * _TYPICAL_NOISE**2) / (free + more))), _ROUGH)
        weight = (noise / _TYPICAL_OFFSET) ** 2
        inverse = np.linalg.inv(A.T @ A + np.diag([0.0, weight, weight, weight]))
        size, *offset = (inverse @ A.T @ y).tolist()
    return _GravityScale(size, noise * size * float(np.sqrt(inverse[0, 0])))


class _Windows(NamedTuple):
    """What is read in stretches of time, and the turns since the first sample of each.

    Attributes:
        read: [g], shape (windows, n, 3).
        rotation: to axes that do not turn, shape (windows, n, 3, 3).
    """

    read: Vec3
    rotation: Mat33

    def mean(self, start: int, rows: int) -> tuple[Vec3, Mat33]:
        """Mean of R a and of R over some rows, tapered."""
        taper = np.hanning(rows + 2)[1:-1]
        R = np.einsum("n,wnij->wnij", taper / taper.sum(), self.rotation[:, start : start + rows])
        read = np.einsum("wnij,wnj->wi", R, self.read[:, start : start + rows])
        return read, R.sum(axis=1)


def _windows(read: Vec3, signals: Mapping[str, Array], rate_hz: float) -> _Windows | None:
    """Stretches of time with their turns; None of too short a log, or where nothing tells turns."""
    step = max(1, round(rate_hz / _RATE_HZ))
    count = len(read) // step
    seconds = min(_LONGEST_WINDOW, count * step / rate_hz / 1.5)
    rates, attitude = (
        signals.get("gyro", signals.get("angular_velocity")),
        signals.get("quaternion"),
    )
    if seconds < _SHORTEST_WINDOW or (rates is None and attitude is None):
        return None
    size = int(seconds * rate_hz / step) // 4 * 4
    windows = np.arange(0, count - size + 1, size // 2)[:, None] + np.arange(size)

    def thinned(values: Array) -> Array:
        return values[: count * step].reshape(count, step, -1).mean(axis=1)[windows]

    if attitude is not None:
        R = rotation_from_quaternion(normalised_quaternion(thinned(attitude)))
        return _Windows(thinned(read), R)
    assert rates is not None
    turns = rotation_from_quaternion(exp_rotation(thinned(rates) * step / rate_hz))
    R = np.empty((*windows.shape, 3, 3))
    R[:, 0] = np.eye(3)
    for k in range(1, size):
        R[:, k] = R[:, k - 1] @ turns[:, k - 1]
    return _Windows(thinned(read), R)


def _scale_in_motion(windows: _Windows) -> _GravityScale | None:
    """The length of means in axes that do not turn; None where the gyro does not make them one."""
    size = windows.read.shape[1]
    whole, _ = windows.mean(0, size)
    found, differences = lengths(whole), []
    for start in (0, size // 4, size // 2):
        part, _ = windows.mean(start, size // 2)
        if not (np.sum(part * whole, axis=1) > _MIN_WINDOW_COSINE * lengths(part) * found).all():
            return None
        differences.append(lengths(part) - found)
    # Half a window leaves four times of a slow motion what the whole one does.
    error = max(float(found.std()), float(np.sqrt(np.mean(np.square(differences)))) / 4.0)
    return _GravityScale(float(np.median(found)), error / np.sqrt(len(found)))


def _lacks_gravity(windows: _Windows, typical: float) -> bool:
    """Whether readings are shorter than gravity, of a median length, and of no mean direction."""
    mean, _ = windows.mean(0, windows.read.shape[1])
    return typical < _GRAVITY_MISSING_SHARE and bool(
        np.median(lengths(mean)) < _GRAVITY_MISSING_SHARE * typical
    )


def _undetected_scale_error(windows: _Windows) -> float:
    """Root mean square of what a scale that stays as it was read is off, its offset unknown."""
    scale = _fit_sphere_scale(*windows.mean(0, windows.read.shape[1]))
    share = _PRIOR_SCALE_SIGMA**2 / (_PRIOR_SCALE_SIGMA**2 + scale.error**2)
    return float(np.hypot(share * (scale.size - 1.0), np.sqrt(share) * scale.error))


def _missing_gravity_finding(recording: Recording, table: str, typical: _GravityScale) -> Finding:
    text = (
        f"the accelerometer reads {typical.size:.2g} times gravity, and no direction on average: "
        "gravity was taken off what it read."
    )
    key = "accelerometer in [imu]" if table == "imu" else "linear in [acceleration]"
    remedy = f"Log its own reading, 9.8 m/s² at rest, as {key}; or leave it out and log the pose."
    evidence = {"scale": typical.size}
    return Finding("imu_scale", "error", text, remedy, evidence, recording.name)


def _scale_finding(
    recording: Recording, table: str, scale: _GravityScale, severity: Severity
) -> Finding:
    what = "at rest" if recording.still else "by the mean of what it reads"
    why = "another unit, or a scale that is off" if severity == "error" else "it is divided out"
    remedy = f"Divide the columns of linear in [{table}] by {scale.size:.4g}."
    for place, value in (scale_patch(recording.schema, table, scale.size) or {}).items():
        spelled = f'"{value}"' if isinstance(value, str) else f"{value:g}"
        remedy = f"In the schema, [{table}], set `{place.partition('.')[2]} = {spelled}`."
    text = f"the accelerometer reads {scale.size:.4g} times gravity {what}: {why}."
    evidence = {"scale": scale.size, "sigma": scale.error}
    return Finding("imu_scale", severity, text, remedy, evidence, recording.name)

"""The scale and the unit of an accelerometer by gravity, in logs without an attitude.

In an attitude at rest an accelerometer reads s g u + b: a sphere, whose radius tells the scale s
beside the offset b. In motion, what it reads in axes that do not turn, as a gyro tells them, is
s g on average, because no motion accelerates one way for long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from identify.arrays import Array, Vec3
from identify.findings import Finding
from identify.logs import Recording
from identify.logs.parts import Imu
from identify.logs.patch import Patch
from identify.logs.units import ACCELERATION
from identify.spatial.rotations import exp_rotation, lengths, rotation_from_quaternion

_SURELY = 4.0
"""Standard errors beyond which a scale is off by no chance …"""

_AT_REST, _NAMED, _IN_MOTION, _FAR = 0.002, 0.02, 0.03, 0.2
"""… and shares by which it has to be off: to matter at rest; to be a warning there; to matter in
motion, beside its offset; to be corrected by the schema alone."""

_OTHER_UNIT = 1.4
"""Factor from gravity within which an acceleration in another unit is, typically."""

_OFFSET, _NOISE, _ROUGH, _FEW = 0.02, 3e-3, 1e-6, 8
"""Offset and noise of an accelerometer and the least error of what it reads [g]; attitudes beyond
those that a sphere takes, from which on they tell the noise themselves."""

_SHORTEST, _LONGEST, _RATE_HZ = 4.0, 20.0, 100.0
"""Seconds of a window that is turned into one attitude, and the rate that takes."""

_ONE_WAY = 0.98
"""Cosine of the angle between parts of a window, in axes that do not turn, if the gyro is right."""


class _Scale(NamedTuple):
    """What an accelerometer reads of gravity, and its standard error."""

    size: float
    error: float

    def is_off(self, share: float) -> bool:
        return abs(self.size - 1.0) > max(share, _SURELY * self.error)


def with_gravity_scale(
    recording: Recording, signals: Mapping[str, Array], rate_hz: float
) -> Recording:
    """A log of a motion with the scale of its accelerometer, and its finding, where it is off.

    Args:
        recording: the log.
        signals: of its longest segment, by name.
        rate_hz: of those.
    """
    for table, read in _read_of_gravity(recording, signals):
        typical = _Scale(float(np.median(lengths(read))), 0.0)
        in_unit = f"{table}.unit" in (patch_of_scale(recording.schema, table, typical.size) or {})
        scale = typical if in_unit else _in_motion(read, signals, rate_hz)
        if scale is not None and scale.is_off(_IN_MOTION):
            imu = replace(recording.imu or Imu(), scale=scale.size)
            found = _finding(recording, table, scale, "error")
            return replace(recording, imu=imu, findings=(*recording.findings, found))
    return recording


def scaled_to_gravity(recording: Recording) -> Recording:
    """Still poses whose accelerometer reads gravity: a scale that is little off is divided out.

    One that is far off stays, with an error as its finding.
    """
    for table, read in _read_of_gravity(recording, recording.signals):
        if table == "imu" and "quaternion" in recording.signals:  # which tells the attitude
            continue
        scale, imu = _at_rest(read), recording.imu or Imu()
        share = abs(scale.size - 1.0)
        severity = "error" if share > _FAR else "warning" if share > _NAMED else "info"
        named = (_finding(recording, table, scale, severity),) * scale.is_off(_AT_REST)
        recording = replace(recording, findings=(*recording.findings, *named))
        if share > _FAR:
            return replace(recording, imu=replace(imu, scale=scale.size))
        name = "accelerometer" if table == "imu" else "linear_acceleration"
        errors = np.diag([0.0, 0.0, 0.0, (scale.error / scale.size) ** 2, 0.0, 0.0, 0.0])
        imu = replace(imu, covariance=tuple(map(tuple, errors.tolist())), shares=(1.0,))
        signals = {**recording.signals, name: recording.signals[name] / scale.size}
        return replace(recording, signals=signals, imu=imu)
    return recording


def patch_of_scale(schema: Mapping[str, Any], table: str, scale: float) -> Patch | None:
    """The key of a schema that makes gravity of an accelerometer's readings; None if none does.

    Args:
        schema: as it was written.
        table: "imu" or "acceleration".
        scale: what it reads of gravity.
    """
    given = schema.get(table) or {}
    now = given.get("unit", "m/s^2")
    for unit, factor in ACCELERATION.items():
        if unit != now and 1.0 / _OTHER_UNIT < scale * factor / ACCELERATION[now] < _OTHER_UNIT:
            return {f"{table}.unit": unit}
    gain = float(f"{given.get('accelerometer_gain', 1.0) / scale:.5g}")
    return {"imu.accelerometer_gain": gain} if table == "imu" else None


def _read_of_gravity(
    recording: Recording, signals: Mapping[str, Array]
) -> Iterator[tuple[str, Vec3]]:
    """The table and the readings [g] of each accelerometer, but for a force that serves as one."""
    gravity = float(np.linalg.norm(recording.gravity))
    proper = recording.acceleration_kind == "proper"
    by_force = recording.imu is not None and bool(recording.imu.at_rest)
    for name, table, is_one in (
        ("linear_acceleration", "acceleration", proper),
        ("accelerometer", "imu", not by_force),
    ):
        if is_one and gravity and name in signals and signals[name].any():
            yield table, signals[name] / gravity


def _at_rest(read: Vec3) -> _Scale:
    """The radius of the sphere that readings at rest lie on, its centre near zero."""
    size, offset, noise, inverse = float(lengths(read).mean()), np.zeros(3), 0.0, np.eye(4)
    for _ in range(4):
        u = (read - offset) / np.maximum(lengths(read - offset), np.finfo(float).tiny)[:, None]
        A, y = np.column_stack((np.ones(len(u)), u)), np.einsum("ni,ni->n", u, read)
        left = float(np.sum((y - A @ (size, *offset)) ** 2)) / size**2
        free = max(len(u) - 4, 0)
        more = max(_FEW - free, 0)  # of few attitudes four numbers leave nothing
        noise = max(float(np.sqrt((left + more * _NOISE**2) / (free + more))), _ROUGH)
        weight = (noise / _OFFSET) ** 2
        inverse = np.linalg.inv(A.T @ A + np.diag([0.0, weight, weight, weight]))
        size, *offset = (inverse @ A.T @ y).tolist()
    return _Scale(size, noise * size * float(np.sqrt(inverse[0, 0])))


def _in_motion(read: Vec3, signals: Mapping[str, Array], rate_hz: float) -> _Scale | None:
    """The length of means in axes that do not turn; None where the gyro does not make them one."""
    rates = signals.get("gyro", signals.get("angular_velocity"))
    step = max(1, round(rate_hz / _RATE_HZ))
    count = len(read) // step
    seconds = min(_LONGEST, count * step / rate_hz / 1.5)
    if rates is None or "quaternion" in signals or seconds < _SHORTEST:
        return None
    size = int(seconds * rate_hz / step) // 4 * 4
    windows = np.arange(0, count - size + 1, size // 2)[:, None] + np.arange(size)
    mean, turning = (
        values[: count * step].reshape(count, step, 3).mean(axis=1)[windows]
        for values in (read, rates)
    )
    turns = rotation_from_quaternion(exp_rotation(turning * step / rate_hz))
    R, held = np.broadcast_to(np.eye(3), (len(windows), 3, 3)), np.empty_like(mean)
    for k in range(size):
        held[:, k] = np.einsum("wij,wj->wi", R, mean[:, k])
        R = R @ turns[:, k]

    def averaged(start: int, rows: int) -> Vec3:
        weights = np.hanning(rows + 2)[1:-1]
        return np.average(held[:, start : start + rows], axis=1, weights=weights)

    whole = averaged(0, size)
    found, differences = lengths(whole), []
    for start in (0, size // 4, size // 2):
        part = averaged(start, size // 2)
        if not (np.sum(part * whole, axis=1) > _ONE_WAY * lengths(part) * found).all():
            return None
        differences.append(lengths(part) - found)
    # Half a window leaves four times of a slow motion what the whole one does.
    error = max(float(found.std()), float(np.sqrt(np.mean(np.square(differences)))) / 4.0)
    return _Scale(float(np.median(found)), error / np.sqrt(len(found)))


def _finding(recording: Recording, table: str, scale: _Scale, severity: Any) -> Finding:
    what = "at rest" if recording.still else "by the mean of what it reads"
    why = "another unit, or a scale that is off" if severity == "error" else "it is divided out"
    remedy = f"Divide the columns of linear in [{table}] by {scale.size:.4g}."
    for place, value in (patch_of_scale(recording.schema, table, scale.size) or {}).items():
        spelled = f'"{value}"' if isinstance(value, str) else f"{value:g}"
        remedy = f"In the schema, [{table}], set `{place.partition('.')[2]} = {spelled}`."
    text = f"the accelerometer reads {scale.size:.4g} times gravity {what}: {why}."
    evidence = {"scale": scale.size, "sigma": scale.error}
    return Finding("imu_scale", severity, text, remedy, evidence, recording.name)

"""Reading of a log of a robot's joints: positions, velocities and efforts, by a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from identify.arrays import Array, seal
from identify.errors import LogError, SchemaError
from identify.findings import Finding
from identify.logs.joint_signals import joint_signals
from identify.logs.recording import Recording
from identify.logs.recording_fields import LogLike, read_content
from identify.logs.recording_parts import JointAxes
from identify.logs.schema import Schema
from identify.logs.schema_joints import JointsTable
from identify.significance import HALF_WIDTH_SIGMA

_BLOCKS = 20
"""Number of blocks of a log whose errors count as independent."""

_MAX_GAIN_ERROR = 0.2
"""Largest standard error of a gain relative to it; joints of little load reach .1."""


def read_joints(log: LogLike, schema: Schema) -> Recording:
    """Read the joints of a log by the table `[joints]` of its schema.

    Positions and efforts of motors become those of joints, q = R⁻¹ q_motor + offset; currents
    become torques by the controller's targets of both, where those are logged.

    Raises `SchemaError`: the schema has no `[joints]`, or no motion; `LogError`: the effort is zero
    in all rows; `IdentifyError`: as `read_log`.
    """
    joints = schema.joints
    if joints is None:
        raise SchemaError(
            "the schema has no [joints]: give names, position and effort, as `identify init` writes"
        )
    given = schema.joints_schema
    if given.still:
        raise SchemaError(
            "[joints] needs a motion: give time or rate_hz in [log], not still = true"
        )
    content = read_content(log, given, lambda valid_rows: joint_signals(valid_rows, joints))
    recording = recording_of_joints(content.recording_fields, joints)
    for signals in (recording.signals, *(stream.signals for stream in recording.streams)):
        if "effort" in signals and not signals["effort"].any():
            raise effort_is_zero(content.path, len(signals["effort"]))
    if joints.target_current is not None:
        recording = _with_gains_from_targets(recording)
    return replace(recording, schema=schema.as_written())


def recording_of_joints(recording_fields: Mapping[str, Any], joints: JointsTable) -> Recording:
    """Return a recording of joints by the fields that recordings of all sensors have."""
    axes = JointAxes(
        names=joints.names,
        still_below=seal(joints.still_speeds, "still_below", (None,)),
        motor_per_joint=joints.motor and seal(joints.motor.per_joint, "R", (None, None)),
        has_torque=joints.has_torque,
        gains=joints.gains_by_kind,
        gain_accuracy=None
        if joints.gain_accuracy is None
        else seal(joints.per_joint(joints.gain_accuracy), "gain_accuracy", (None,)),
    )
    return Recording(**recording_fields, frames={}, sensor="joints", joints=axes)


def _with_gains_from_targets(log: Recording) -> Recording:
    """Convert currents to torques by the target currents and torques, and leave these out."""
    joints, time = log.joint_axes, log.time
    assert time is not None
    clocks = [(time, log.signals), *((stream.time, stream.signals) for stream in log.streams)]
    parts = [(clock, dict(signals)) for clock, signals in clocks]
    effort_time, effort = next(part for part in parts if "effort" in part[1])
    motion_time, motion = next(part for part in parts if "joint_position" in part[1])
    v = motion.get("joint_velocity")
    v = np.gradient(motion["joint_position"], motion_time, axis=0) if v is None else v
    v = np.stack([np.interp(effort_time, motion_time, each) for each in v.T], axis=1)
    targets = effort.pop("target_current"), effort.pop("target_effort")
    gains, errors = _gains_from_targets(effort_time, v, *targets, joints.still_below, joints.names)
    effort["effort"] = seal(effort["effort"] * gains, "effort", (None, None))
    half = HALF_WIDTH_SIGMA * errors
    listed = ", ".join(
        f"{name} {gain:.4g} ± {error:.2g}"
        for name, gain, error in zip(joints.names, gains.tolist(), half.tolist(), strict=True)
    )
    text = f"gains from currents to torques, by the targets of the controller [N m/A]: {listed}."
    remedy = "Give `gains` in [joints] in their place if you know them better."
    evidence = {name: float(gain) for name, gain in zip(joints.names, gains, strict=True)}
    finding = Finding("current_gains", "info", text, remedy, evidence)
    streams = zip(log.streams, parts[1:], strict=True)
    return replace(
        log,
        signals=parts[0][1],
        streams=tuple(replace(stream, signals=signals) for stream, (_, signals) in streams),
        findings=(*log.findings, finding),
    )


def _gains_from_targets(
    time: Array,
    velocity: Array,
    target_current: Array,
    target_effort: Array,
    still_below: Array,
    names: Sequence[str],
) -> tuple[Array, Array]:
    """Fit gains to the target currents and target torques of a controller, by least squares.

    The target current of a joint is that of its target torque and of the controller's own model of
    friction and rotor inertia, i = τ/K + a sign q̇ + b q̇ + c q̈ + d. Rows at rest do not count.

    `time`: times of the rows [s], shape (N,); `velocity`: of the joints [rad/s, m/s], shape (N, n);
    `target_current`: [A], shape (N, n); `target_effort`: [N m or N], shape (N, n); `still_below`:
    speed of each joint at rest, shape (n,).
    Returns gains K [N m/A] and their standard errors, shape (n,) each.
    Raises `LogError`: the targets do not determine the gain of a joint.
    """
    v, a = velocity, np.gradient(velocity, time, axis=0)
    gains = np.empty((2, len(names)))
    for j, name in enumerate(names):
        moves = np.abs(v[:, j]) > still_below[j]
        columns = target_effort[:, j], np.sign(v[:, j]), v[:, j], a[:, j], np.ones(len(v))
        A, b = np.stack(columns, axis=1)[moves], target_current[moves, j]
        slope, error = _first_coefficient(A, b) if len(A) > _BLOCKS * A.shape[1] else (0.0, 1.0)
        if not slope > 0.0 or error > _MAX_GAIN_ERROR * slope:
            raise LogError(
                f"target_current and target_effort do not determine the gain of {name!r} "
                f"(1/K = {slope:.2g} ± {error:.2g} A/N m): move the joint more, check the signs, "
                "or give gains in [joints]"
            )
        gains[:, j] = 1.0 / slope, error / slope**2
    return gains[0], gains[1]


def _first_coefficient(A: Array, b: Array) -> tuple[float, float]:
    """Return the first coefficient of least squares, and its error from the scatter of blocks."""
    inverse = np.linalg.pinv(A.T @ A)
    x = inverse @ (A.T @ b)
    weighted = (A @ inverse[0]) * (b - A @ x)
    sums = [block.sum() for block in np.array_split(weighted, _BLOCKS)]
    return float(x[0]), float(np.linalg.norm(sums))


def effort_is_zero(path: Path, rows: int) -> LogError:
    """Return the error of a log of joints without any effort."""
    return LogError(
        f"{path}: the effort of all joints is zero in all {rows} rows: the driver does not fill it "
        "in; name the columns of measured torques or currents",
        path=path,
    )

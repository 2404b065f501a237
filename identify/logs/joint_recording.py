"""`JointRecording`: positions, velocities and efforts of a robot's joints, read by a schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from identify.arrays import Array, Vec3, seal
from identify.errors import LogError, SchemaError
from identify.findings import Finding
from identify.logs.current_gains import gains_from_targets
from identify.logs.joint_signals import joint_signals
from identify.logs.recording_fields import LogLike, read_content
from identify.logs.recording_parts import DroppedRows, SourceFile, Stream, describe_rows
from identify.logs.schema import SchemaLike, load_schema
from identify.significance import HALF_WIDTH_SIGMA


@dataclass(frozen=True, slots=True, repr=False)
class JointRecording:
    """Log of a robot's joints in SI units, on the joint side of the gears; arrays are read-only.

    Signals by name, each of shape (rows, n) in the order of `names`:

    - `joint_position`: q [rad], of prismatic joints [m];
    - `joint_velocity`: its derivative as logged [rad/s, m/s], if the log has it;
    - `effort`: τ that drives the joints [N m, N], as in τ = M q̈ + …, with friction and the inertia
      of rotors in it, if the log has it.

    Attributes:
        name: short name of the log, for tables and plots.
        time: time of each row [s], not decreasing, the first zero, shape (rows,).
        names: of the n joints.
        signals: the arrays above.
        gravity: g in the axes of the robot's base [m/s²], shape (3,).
        still_below: speed of each joint below which its rows are ignored, because friction and
            stiction cannot be distinguished [rad/s, m/s], shape (n,).
        motor_per_joint: the matrix R from positions of joints to those of motors, shape (n, n);
            None if the log is of the joints themselves.
        sources: the files, with their sha256; empty for a log in memory.
        sha256: digest of the content, as in a `Recording`.
        rows: number of rows of the log, with dropped rows.
        dropped: numbers of dropped rows.
        schema: the schema as read, for the provenance.
        streams: signals with separate clocks; `identify.signals.on_one_clock` resamples them.
        findings: corrections of the log's clocks by the reader.
    """

    name: str
    time: Array
    names: tuple[str, ...]
    signals: Mapping[str, Array]
    gravity: Vec3
    still_below: Array
    sources: tuple[SourceFile, ...]
    sha256: str
    rows: int
    motor_per_joint: Array | None = None
    dropped: DroppedRows = field(default_factory=DroppedRows)
    schema: Mapping[str, object] = field(default_factory=dict)
    streams: tuple[Stream, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "signals", MappingProxyType(dict(self.signals)))
        object.__setattr__(self, "schema", MappingProxyType(dict(self.schema)))

    @property
    def position(self) -> Array:
        """Positions q [rad, m], shape (rows, n)."""
        return self.signals["joint_position"]

    @property
    def velocity(self) -> Array | None:
        """Logged velocities [rad/s, m/s], shape (rows, n); None if there are none."""
        return self.signals.get("joint_velocity")

    @property
    def effort(self) -> Array | None:
        """Torques or forces on the joints [N m, N], shape (rows, n); None if there are none."""
        return self.signals.get("effort")

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        """Return name, joints, rows, time span, rate and signals as a text."""
        signals = ", ".join(self.signals)
        rows = describe_rows(self.time)
        return f"JointRecording({self.name!r}, {len(self.names)} joints, {rows}: {signals})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with plain dicts, as mapping views cannot be pickled."""
        values = [getattr(self, each.name) for each in fields(self)]
        plain = [dict(value) if isinstance(value, MappingProxyType) else value for value in values]
        return JointRecording, tuple(plain)


def read_joint_log(log: LogLike, schema: SchemaLike) -> JointRecording:
    """Read the joints of a log by the table `[joints]` of its schema.

    Positions and efforts of motors become those of joints, q = R⁻¹ q_motor + offset. What is
    left out and counted is that of `read_log`.

    Args:
        log: a file, a folder of files, or a table in memory, as of `read_log`.
        schema: the schema, its file, or a mapping of its keys.

    Raises:
        SchemaError: the schema is not one, or has no `[joints]`.
        MissingFile: the log, one of its files or the schema does not exist.
        MissingColumn: the schema names a column, or a joint, that the log does not have.
        LogError: the log is not what the schema says, or its effort is zero in all rows.
    """
    schema = load_schema(schema)
    if schema.joints is None:
        raise SchemaError(
            "the schema has no [joints]: give names, position and effort, as `identify init` writes"
        )
    given = schema.joints_schema
    if given.still:
        raise SchemaError(
            "[joints] needs a motion: give time or rate_hz in [log], not still = true"
        )
    joints = schema.joints
    content = read_content(log, given, lambda valid_rows: joint_signals(valid_rows, joints))
    recording = JointRecording(
        **content.recording_fields,
        names=joints.names,
        still_below=seal(joints.per_joint(joints.still_below), "still_below", (None,)),
        motor_per_joint=joints.motor and seal(joints.motor.per_joint, "R", (None, None)),
    )
    _require_effort(content.path, recording)
    if joints.target_current is not None:
        recording = _with_gains_from_targets(recording)
    return replace(recording, schema=schema.model_dump(mode="json", exclude_unset=True))


def _with_gains_from_targets(log: JointRecording) -> JointRecording:
    """Convert currents to torques by the target currents and torques, and leave these out."""
    parts = [(part.time, dict(part.signals)) for part in (log, *log.streams)]
    effort_time, effort = next(part for part in parts if "effort" in part[1])
    motion_time, motion = next(part for part in parts if "joint_position" in part[1])
    v = motion.get("joint_velocity")
    v = np.gradient(motion["joint_position"], motion_time, axis=0) if v is None else v
    v = np.stack([np.interp(effort_time, motion_time, each) for each in v.T], axis=1)
    targets = effort.pop("target_current"), effort.pop("target_effort")
    gains, errors = gains_from_targets(effort_time, v, *targets, log.still_below, log.names)
    effort["effort"] = seal(effort["effort"] * gains, "effort", (None, None))
    half = HALF_WIDTH_SIGMA * errors
    listed = ", ".join(
        f"{name} {gain:.4g} ± {error:.2g}"
        for name, gain, error in zip(log.names, gains.tolist(), half.tolist(), strict=True)
    )
    text = f"gains from currents to torques, by the targets of the controller [N m/A]: {listed}."
    remedy = "Give `gains` in [joints] in their place if you know them better."
    evidence = {name: float(gain) for name, gain in zip(log.names, gains, strict=True)}
    finding = Finding("current_gains", "info", text, remedy, evidence)
    streams = zip(log.streams, parts[1:], strict=True)
    return replace(
        log,
        signals=parts[0][1],
        streams=tuple(replace(stream, signals=signals) for stream, (_, signals) in streams),
        findings=(*log.findings, finding),
    )


def _require_effort(path: Path, recording: JointRecording) -> None:
    for signals in (recording.signals, *(stream.signals for stream in recording.streams)):
        if "effort" in signals and not signals["effort"].any():
            raise LogError(
                f"{path}: the effort of all joints is zero in all {len(signals['effort'])} rows: "
                "the driver does not fill it in; name the columns of measured torques or currents",
                path=path,
            )

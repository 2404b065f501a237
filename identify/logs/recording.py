"""`Recording`: the content of a log in SI without derived quantities; and excerpts of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from identify.arrays import Array, Vec3
from identify.errors import LogError
from identify.findings import Finding
from identify.logs.recording_parts import (
    AccelerationKind,
    DroppedRows,
    Frame,
    Imu,
    JointAxes,
    SourceFile,
    Stream,
    describe_rows,
)
from identify.logs.row_selection import RowCounts
from identify.logs.signal_table import SIGNALS
from identify.logs.tool_point import motion_of_frame
from identify.sensors import SENSORS
from identify.spatial import BodyFrame, Pose

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_MAX_GRAVITY = 1e6
"""Maximum magnitude of each component of gravity [m/s²]."""


@dataclass(frozen=True, slots=True, repr=False)
class Recording:
    """A log in SI units, signs and names of the toolkit; arrays are read-only.

    Signals that the log has, by name, each of shape (n, 3) unless said otherwise:

    - `position`: p_WoBo_W, the body's origin in the world [m];
    - `quaternion`: R_WB as [x, y, z, w], unit norm, shape (n, 4);
    - `linear_velocity`, `angular_velocity`: v_WBo [m/s] and w_WB [rad/s], in `frames["twist"]`;
    - `linear_acceleration`, `angular_acceleration`: of Bo [m/s²] and of B [rad/s²], in
      `frames["acceleration"]`, the linear acceleration of kind `acceleration_kind`;
    - `gyro`, `accelerometer`: angular velocity [rad/s] and proper acceleration [m/s²] measured by
      the inertial measurement unit `imu` at its position, in axes of B;
    - `force`, `torque`: the wrench that acts **on** the body [N, N m], in `frames["wrench"]`:
      taken at Bo for "body" and "world", at the sensor's origin for "sensor"; with an `X_BS` a
      wrench in "world" axes is taken there.

    A log of a robot's joints has in their place, each of shape (n, joints) in the order of
    `joints.names`:

    - `joint_position`: q [rad], of prismatic joints [m];
    - `joint_velocity`: its derivative as logged [rad/s, m/s], if the log has it;
    - `effort`: τ that drives the joints [N m, N], as in τ = M q̈ + …, with friction and the inertia
      of rotors in it, if the log has it.

    Attributes:
        name: short name of the log, for tables and plots.
        time: time of each row [s], not decreasing, from zero at the first row of the log, shape
            (n,); None where every row is a static pose.
        signals: the arrays above, of the rows of the wrench or of the joints.
        frames: axes each group of signals is expressed in: keys "twist", "acceleration", "wrench"
            where the group is present.
        acceleration_kind: what `linear_acceleration` is: "classical" (d²p/dt²), "spatial"
            (classical − ω × v) or "proper" (classical − gravity, as an accelerometer reads).
        noise: noise of signals given by the schema, by name: one sigma on each axis, white from
            row to row, in the signal's unit (of the quaternion a rotation vector in B [rad]).
        X_BS: pose of the sensor in the body, if the wrench is in the sensor's frame; for a wrench
            in world axes at a tool point, the position of that point in B.
        wrench_delay: time by which the wrench of a row is older than its motion [s].
        delay_axes: "body" or "world", in which a wrench in world axes is late: before it was
            turned into them, or after.
        compensated: mass [kg] and first moment about Bo in B [kg m] of the body whose weight the
            controller subtracted from the wrench, and which is added back; empty without one.
        gravity: g in W [m/s²], of joints in the axes of the robot's base, shape (3,).
        sources: the files, with their sha256; empty for a log in memory.
        sha256: digest of the content: of the file, of the files' digests in order, or of the
            columns in use of a log in memory.
        rows: number of rows of all streams in the log, with dropped rows.
        dropped: numbers of dropped rows of all streams.
        schema: the schema as read, for the provenance.
        streams: signals with separate clocks; `identify.signals.on_one_clock` resamples them.
        findings: corrections of the log's clocks by the reader.
        imu: pose of an inertial measurement unit in the body; None if the log has none.
        attitude_coordinates: Euler angles, rotation vectors or joint positions as logged, in their
            unit, from which `quaternion` was computed, shape (n, k), n the rows of the stream that
            has the pose; None for other attitudes.
        body_frame: name of B, and pose of the flange in it. With a tool point X_BT the log has the
            motion of that point, which was transferred to B, the flange.
        joints: axes of a robot's joints, if the log is of them; None for one of a wrench.
        sensor: name of what measured the log, of `identify.sensors.SENSORS`; "joints" or "wrench"
            if not given.
    """

    name: str
    time: Array | None
    signals: Mapping[str, Array]
    frames: Mapping[str, Frame]
    gravity: Vec3
    sources: tuple[SourceFile, ...]
    sha256: str
    rows: int
    acceleration_kind: AccelerationKind = "classical"
    noise: Mapping[str, float] = field(default_factory=dict)
    X_BS: Pose | None = None
    wrench_delay: float = 0.0
    delay_axes: str = "body"
    compensated: tuple[float, ...] = ()
    dropped: DroppedRows = field(default_factory=DroppedRows)
    schema: Mapping[str, object] = field(default_factory=dict)
    streams: tuple[Stream, ...] = ()
    findings: tuple[Finding, ...] = ()
    body_frame: BodyFrame = field(default_factory=BodyFrame)
    imu: Imu | None = None
    attitude_coordinates: Array | None = None
    joints: JointAxes | None = None
    sensor: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "signals", MappingProxyType(dict(self.signals)))
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))
        object.__setattr__(self, "noise", MappingProxyType(dict(self.noise)))
        object.__setattr__(self, "schema", MappingProxyType(dict(self.schema)))
        sensor = self.sensor or ("wrench" if self.joints is None else "joints")
        object.__setattr__(self, "sensor", sensor)
        if not np.abs(self.gravity).max() <= _MAX_GRAVITY:
            raise LogError(
                f"{self.name}: gravity = {np.asarray(self.gravity).tolist()} m/s²; expected three "
                f"numbers within {_MAX_GRAVITY:g}"
            )

    @property
    def still(self) -> bool:
        """Whether every row is a static pose (no time)."""
        return self.time is None

    @property
    def joint_axes(self) -> JointAxes:
        """Axes of the joints of a log of joints.

        Raises:
            LogError: the log is of a wrench.
        """
        if self.joints is None:
            raise LogError(
                f"{self.name}: expected a log of a robot's joints, got one of a wrench; read its "
                '[joints] with read_log(log, schema, sensor="joints")'
            )
        return self.joints

    def require_wrench(self) -> None:
        """Raise unless the log is of a body's motion and wrench.

        Raises:
            LogError: the log is of another sensor.
        """
        if self.sensor != "wrench":
            raise LogError(
                f"{self.name}: expected a log of a wrench, got one of "
                f"{SENSORS[self.sensor].title}; read the wrench of a schema that has it with "
                'read_log(log, schema, sensor="wrench"), or fit the log with identify.fit'
            )

    def between(self, start: float, stop: float) -> Recording:
        """Return the rows of a span of time as a recording, with their times and the metadata kept.

        Its name has the span, its digest is one of the log's and the rows, and `rows` counts those
        that are left. Spans of one log may be fitted together, as logs that are split.

        Args:
            start: first time of the span [s], as in `time`.
            stop: end of the span [s], which is not included.

        Raises:
            LogError: the log is of static poses, or fewer than two rows of a clock are in the span.
        """
        place = f"{self.name}: between({start:g}, {stop:g})"
        if self.time is None:
            raise LogError(f"{place}: every row is a static pose, without a time")
        spans = []
        for time in (self.time, *(stream.time for stream in self.streams)):
            first, last = np.searchsorted(time, (start, stop)).tolist()
            spans.append(slice(first, last))
            if last - first < 2:
                raise LogError(
                    f"{place}: {max(last - first, 0)} of its {len(time)} rows from {time[0]:g} to "
                    f"{time[-1]:g} s are in this span; expected two or more"
                )
        part = recording_rows(self, spans[0].start, spans[0].stop)
        streams, coordinates = [], part.attitude_coordinates
        for stream, rows in zip(self.streams, spans[1:], strict=True):
            signals = {name: values[rows] for name, values in stream.signals.items()}
            streams.append(Stream(stream.name, stream.time[rows], signals))
            if "quaternion" in signals and self.attitude_coordinates is not None:
                coordinates = self.attitude_coordinates[rows]
        return replace(
            part,
            name=f"{self.name} from {start:g} to {stop:g} s",
            sha256=hashlib.sha256(f"{self.sha256} {spans}".encode()).hexdigest(),
            rows=sum(rows.stop - rows.start for rows in spans),
            dropped=DroppedRows(),
            streams=tuple(streams),
            attitude_coordinates=coordinates,
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return the signals in SI as a pandas DataFrame, one column for each component.

        The index is the time [s], or the number of the static pose from zero. Components are named
        as in files that the toolkit writes, such as `fx`, and those of joints by signal and joint,
        such as `effort[elbow]`.

        Raises:
            LogError: the log has streams with clocks of their own.
        """
        import pandas as pd

        if self.streams:
            raise LogError(
                f"{self.name}: the streams {', '.join(each.name for each in self.streams)} have "
                "clocks of their own, and a table has one: give "
                "identify.signals.on_one_clock(recording).to_dataframe()"
            )
        names = {signal.name: signal.columns for signal in SIGNALS}
        columns: dict[str, Array] = {}
        for signal, values in self.signals.items():
            joints = range(values.shape[1]) if self.joints is None else self.joints.names
            components = names.get(signal, tuple(f"{signal}[{joint}]" for joint in joints))
            columns |= dict(zip(components, values.T, strict=True))
        index = None if self.time is None else pd.Index(self.time, name="time [s]")
        return pd.DataFrame(columns, index=index)

    def plot(self) -> Figure:
        """Plot the signals in SI over time, with gaps, rests, constant values and spikes marked.

        `identify.plot.recording` draws on axes of one's own.
        """
        import inertia_identify

        return inertia_identify.plot.recording(self)

    @property
    def end_time(self) -> float:
        """Time of the last row [s]; zero if every row is a static pose."""
        return 0.0 if self.time is None else float(self.time[-1])

    def __len__(self) -> int:
        return len(next(iter(self.signals.values()))) if self.time is None else len(self.time)

    def __repr__(self) -> str:
        """Return name, joints, rows, time span, rate and signals as a text."""
        rows = f"{len(self)} static poses" if self.time is None else describe_rows(self.time)
        if self.joints is not None:
            rows = f"{len(self.joints.names)} joints, {rows}"
        dropped = f", {self.dropped.total} dropped" if self.dropped.total else ""
        streams = "".join(f"; {stream!r}" for stream in self.streams)
        return f"Recording({self.name!r}, {rows}{dropped}: {', '.join(self.signals)}{streams})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with plain dicts, as mapping views cannot be pickled."""
        values = [getattr(self, each.name) for each in fields(self)]
        plain = [dict(value) if isinstance(value, MappingProxyType) else value for value in values]
        return _unpickle, tuple(plain)


def recording_of_frame(recording: Recording, X_BC: Pose) -> Recording:
    """Return a recording with the motion of a body-fixed frame C instead of B."""
    moved = motion_of_frame(
        recording.signals,
        recording.frames,
        X_BC,
        kind=recording.acceleration_kind,
        still=recording.still,
    )
    return replace(recording, signals=moved)


def _unpickle(*values: Any) -> Recording:
    """Restore a pickled recording with read-only arrays."""
    recording = Recording(*values)
    joints = recording.joints
    for array in (
        *recording.signals.values(),
        recording.time,
        recording.gravity,
        recording.attitude_coordinates,
        *(() if joints is None else (joints.still_below, joints.motor_per_joint)),
    ):
        if array is not None:
            array.flags.writeable = False
    return recording


ReadExcerpt: TypeAlias = Callable[[int, int, int], "Excerpt"]
"""Reader of a range of rows of a log, with a margin on either side."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk of a log with margin rows on either side for derivatives.

    Attributes:
        recording: rows and neighbours.
        span: the time of the rows themselves [s]: infinite where the log begins or ends.
        row_count: how many there are without the neighbours, dropped ones included.
        defect_counts: of those left out.
    """

    recording: Recording
    span: tuple[float, float] = (-np.inf, np.inf)
    row_count: int = 0
    defect_counts: RowCounts = field(default_factory=RowCounts)


def excerpt(recording: Recording, start: int, stop: int, margin: int) -> Excerpt:
    """Return rows of a recording in memory with a margin on either side, as views."""
    if start <= 0 and stop >= len(recording):
        return Excerpt(
            recording, row_count=recording.rows, defect_counts=RowCounts(recording.dropped)
        )
    first, last = max(0, start - margin), min(len(recording), stop + margin)
    part = recording_rows(recording, first, last)
    return Excerpt(part, time_span(part, start - first, stop - first), stop - start)


def recording_rows(recording: Recording, start: int, stop: int) -> Recording:
    """Return a recording of some rows, as views; name and digest are kept."""
    time = None if recording.time is None else recording.time[start:stop]
    signals = {name: values[start:stop] for name, values in recording.signals.items()}
    numbers = recording.attitude_coordinates
    numbers = None if numbers is None else numbers[start:stop]
    return replace(recording, time=time, signals=signals, attitude_coordinates=numbers)


def time_span(recording: Recording, start: int, stop: int) -> tuple[float, float]:
    """Return the time span of some rows, with edges halfway to the neighbouring rows."""
    time = np.zeros(0) if recording.time is None else recording.time

    def edge(row: int, beyond: float) -> float:
        return float(0.5 * (time[row - 1] + time[row])) if 0 < row < len(time) else beyond

    return edge(start, -np.inf), edge(stop, np.inf)

"""`Reading`: how a log is read, where that is not as its schema says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from identify.arrays import Array
from identify.logs import Recording
from identify.logs.parts import AccelerationKind, Frame
from identify.logs.recording import moved_recording
from identify.logs.tool_point import wrench_point
from identify.signals.spikes import without_spikes
from identify.spatial.rotations import (
    quaternion_conjugate,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a log is read; what is not given is as its schema says.

    A log is read again with another reading to see whether that explains it better.

    Attributes:
        gravity: g in W [m/s²].
        cutoff_hz: highest frequency of the rows [Hz]; chosen by the motion where not given.
        scales: factors of signals, by name, each once: −1 for another sign, 1e-3 for millimetres.
        turned_order: the scalar of the quaternions stands at the other end than the schema says.
        turned_maps: the poses are the inverse of what the schema says.
        position: what the position of the pose as logged is: of the body's origin, in "body" or
            "world" axes, or of the world's origin in body axes, "inverse".
        wrench_frame: axes of the wrench, "body" or "world".
        wrench_axes: the axes that the wrench is meant in, by rows, in those it is logged in: a
            permutation with signs.
        wrench_delay: time by which the wrench of a row is older than its motion [s].
        wrench_drift: offsets over time that are taken off the wrench, each rows of [t, fx … tz] in
            B, between them along lines.
        acceleration_kind: of the linear acceleration.
        without_spikes: single rows of the wrench that stand far out are between their neighbours.
        left_out: spans of time that are not read [s].
        most_rows: of a longer log about so many rows are read, in segments evenly spread.
    """

    gravity: tuple[float, float, float] | None = None
    cutoff_hz: float | None = None
    scales: tuple[tuple[str, float], ...] = ()
    turned_order: bool = False
    turned_maps: bool = False
    position: Literal["body", "world", "inverse"] | None = None
    wrench_frame: Frame | None = None
    wrench_axes: tuple[tuple[float, ...], ...] | None = None
    wrench_delay: float | None = None
    wrench_drift: tuple[tuple[tuple[float, ...], ...], ...] = ()
    acceleration_kind: AccelerationKind | None = None
    without_spikes: bool = False
    left_out: tuple[tuple[float, float], ...] = ()
    most_rows: int | None = None

    def apply(self, recording: Recording) -> Recording:
        """The recording as it is read; the same object where nothing is read otherwise."""
        if self.without_spikes and not recording.still:
            recording, _ = without_spikes(recording)
        tcp = recording.body_frame.tcp
        if tcp is None or not self._changes_motion:
            return self._applied(recording)
        # The log is of the tool point: that is what is read otherwise.
        return moved_recording(self._applied(moved_recording(recording, tcp)), tcp.inverse())

    def _applied(self, recording: Recording) -> Recording:
        changed: dict[str, Array] = {}
        if self._poses_otherwise and "quaternion" in recording.signals:
            changed |= self._pose(recording)
        for name, factor in self.scales:
            if name in recording.signals:
                changed[name] = factor * changed.get(name, recording.signals[name])
        if self.wrench_axes is not None:
            Q = np.array(self.wrench_axes)
            for name in ("force", "torque"):
                changed[name] = changed.get(name, recording.signals[name]) @ Q.T
        if changed:
            recording = replace(recording, signals={**recording.signals, **changed})
        if self.gravity is not None:
            gravity = np.array(self.gravity, dtype=np.float64)
            gravity.flags.writeable = False
            recording = replace(recording, gravity=gravity)
        if self.wrench_frame is not None:
            frames = {**recording.frames, "wrench": self.wrench_frame}
            point = wrench_point(self.wrench_frame, recording.body_frame.tcp)
            recording = replace(recording, frames=frames, X_BS=point)
        if self.wrench_delay is not None:
            recording = replace(recording, wrench_delay=self.wrench_delay)
        if self.wrench_drift:
            recording = replace(recording, wrench_drift=self.wrench_drift)
        if self.left_out and recording.time is not None:
            recording = _without(recording, recording.time, self.left_out)
        if self.acceleration_kind is not None:
            recording = replace(recording, acceleration_kind=self.acceleration_kind)
        return recording

    @property
    def _poses_otherwise(self) -> bool:
        return self.turned_order or self.turned_maps or self.position is not None

    @property
    def _changes_motion(self) -> bool:
        scaled = any(name not in ("force", "torque") for name, _ in self.scales)
        return self._poses_otherwise or scaled or self.acceleration_kind is not None

    def _pose(self, recording: Recording) -> dict[str, Array]:
        """The pose as it is read: first as the log has it, then as this reading has it."""
        said = recording.schema.get("pose")
        table = said if isinstance(said, dict) else {}
        inverse = table.get("maps") == "world_to_body"
        axes = table.get("position_axes")
        attitude = recording.signals["quaternion"]
        logged = quaternion_conjugate(attitude) if inverse else attitude
        if self.turned_order:
            logged = np.roll(logged, 1 if table.get("order") == "wxyz" else -1, axis=1)
        mapped = inverse != self.turned_maps
        pose = {"quaternion": quaternion_conjugate(logged) if mapped else logged}
        if "position" in recording.signals:
            p = recording.signals["position"]
            kind = axes or ("inverse" if inverse else "world")
            back = rotate_back(rotation_from_quaternion(attitude), p)
            p = {"world": p, "body": back, "inverse": -back}[kind]
            kind = self.position or axes or ("inverse" if mapped else "world")
            turned = rotate(rotation_from_quaternion(pose["quaternion"]), p)
            pose["position"] = {"world": p, "body": turned, "inverse": -turned}[kind]
        return pose

    @property
    def digest(self) -> str:
        """The sha256 of what is read otherwise (hexadecimal); the same in any process."""
        said = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def scaled(self, factor: float, names: Iterable[str]) -> Reading:
        """The same, with some signals times a factor."""
        return replace(self, scales=(*self.scales, *((name, factor) for name in names)))


def _without(recording: Recording, time: Array, spans: Iterable[tuple[float, float]]) -> Recording:
    """A recording without the rows of some spans of time."""
    kept = np.ones(len(time), dtype=np.bool_)
    for start, stop in spans:
        kept &= (time < start) | (time > stop)
    signals = {name: values[kept] for name, values in recording.signals.items()}
    return replace(recording, time=time[kept], signals=signals)

"""`Reading`: how a log is read, where that is not as its schema says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np

from identify.arrays import Array
from identify.logs import Recording
from identify.spatial.rotations import quaternion_conjugate, rotate_back, rotation_from_quaternion


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
        most_rows: of a longer log about so many rows are read, in segments evenly spread.
    """

    gravity: tuple[float, float, float] | None = None
    cutoff_hz: float | None = None
    scales: tuple[tuple[str, float], ...] = ()
    turned_order: bool = False
    turned_maps: bool = False
    most_rows: int | None = None

    def apply(self, recording: Recording) -> Recording:
        """The recording as it is read; the same object where nothing is read otherwise."""
        changed: dict[str, Array] = {}
        if (self.turned_order or self.turned_maps) and "quaternion" in recording.signals:
            changed |= self._pose(recording)
        for name, factor in self.scales:
            if name in recording.signals:
                changed[name] = factor * changed.get(name, recording.signals[name])
        if changed:
            recording = replace(recording, signals={**recording.signals, **changed})
        if self.gravity is not None:
            gravity = np.array(self.gravity, dtype=np.float64)
            gravity.flags.writeable = False
            recording = replace(recording, gravity=gravity)
        return recording

    def _pose(self, recording: Recording) -> dict[str, Array]:
        """The pose as it is read: first as the log has it, then in the other order or inverse."""
        said = recording.schema.get("pose")
        table = said if isinstance(said, dict) else {}
        inverse = table.get("maps") == "world_to_body"
        names = [name for name in ("position", "quaternion") if name in recording.signals]
        pose = {name: recording.signals[name] for name in names}
        if inverse:
            pose = _inverse(pose)
        if self.turned_order:
            shift = 1 if table.get("order") == "wxyz" else -1
            pose["quaternion"] = np.roll(pose["quaternion"], shift, axis=1)
        return pose if inverse == self.turned_maps else _inverse(pose)

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


def _inverse(pose: dict[str, Array]) -> dict[str, Array]:
    """R_WB and p_WoBo_W of a pose that maps the other way."""
    inverse = {"quaternion": quaternion_conjugate(pose["quaternion"])}
    if "position" in pose:
        rotation = rotation_from_quaternion(pose["quaternion"])
        inverse["position"] = -rotate_back(rotation, pose["position"])
    return inverse

"""`Reading`: how a log is read, and corrected, where that is not as its schema says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.arrays import Array
from identify.logs import Recording
from identify.logs.parts import Stream
from identify.logs.patch import Patch, patched
from identify.signals.offset_steps import OffsetStep, without_offset_steps
from identify.signals.spikes import without_spikes
from identify.spatial.columns import WIDE_COLUMNS

if TYPE_CHECKING:
    from identify.signals.rounding import Rounding


@dataclass(frozen=True, slots=True)
class Reading:
    """How a log is read and corrected; what is not given is as its schema says.

    A log is read again with another reading to see whether that explains it better, and what is
    found of it is corrected by one.

    Attributes:
        patch: keys of the schema and their values, such as ("pose.order", "wxyz"), in any order.
        cutoff_hz: highest frequency of the rows [Hz]; chosen by the motion where not given.
        maps: linear maps M of the log's extended columns, one after the other, each by rows.
        offset_steps: jumps of the sensor's offset that are taken off the wrench.
        without_spikes: single rows of the wrench that stand far out are between their neighbours.
        left_out: spans of time that are not read [s]; of still poses numbers of rows, from zero.
        most_rows: of a longer log about so many rows are read, in segments evenly spread.
        rounding: what rounding to coarse steps adds to the wrench on average is taken off.
    """

    patch: tuple[tuple[str, Any], ...] = ()
    cutoff_hz: float | None = None
    maps: tuple[tuple[tuple[float, ...], ...], ...] = ()
    offset_steps: tuple[OffsetStep, ...] = ()
    without_spikes: bool = False
    left_out: tuple[tuple[float, float], ...] = ()
    most_rows: int | None = None
    rounding: Rounding | None = None

    def with_patch(self, patch: Patch) -> Reading:
        """The same with other values of some keys of the schema."""
        whole = {**dict(self.patch), **{key: _hashable(value) for key, value in patch.items()}}
        return replace(self, patch=tuple(sorted(whole.items())))

    def with_map(self, M: Array) -> Reading:
        """The same with one more linear map, after those it has."""
        return replace(self, maps=(*self.maps, tuple(map(tuple, M.tolist()))))

    @property
    def column_map(self) -> Array:
        """The product of its maps, shape (43, 43)."""
        return reduce(np.matmul, map(np.array, self.maps), np.eye(WIDE_COLUMNS))

    @property
    def delay(self) -> float | None:
        """The delay of the wrench that the patch sets [s]; None where it sets none."""
        return dict(self.patch).get("wrench.delay_s")

    def apply(self, recording: Recording) -> Recording:
        """The recording as it is read; the same object where nothing is read otherwise.

        Its maps are of columns, which `scan` forms.

        Raises:
            SchemaError, LogError: it cannot be read so.
        """
        if self.offset_steps:
            recording = without_offset_steps(recording, self.offset_steps)
        if self.without_spikes and not recording.still:
            recording, _ = without_spikes(recording)
        if self.rounding is not None:
            recording = self.rounding.dequantised(recording)
        recording = patched(recording, dict(self.patch))
        if self.left_out:
            recording = _without_spans(recording, self.left_out)
        return recording

    def pose_of(self, recording: Recording) -> Recording:
        """The recording with its pose alone as it is read, for what needs the rows as logged.

        Raises:
            SchemaError, LogError: it cannot be read so.
        """
        if recording.rotation_numbers is None:
            return recording
        patch = {k: v for k, v in self.patch if k.startswith("pose.")}
        posed = [k for k, one in enumerate(recording.streams) if "quaternion" in one.signals]
        if not posed:
            return patched(recording, patch)
        (k,), streams = posed, list(recording.streams)
        alone = replace(recording, time=streams[k].time, signals=streams[k].signals, streams=())
        alone = patched(alone, patch)
        streams[k] = Stream(streams[k].name, streams[k].time, alone.signals)
        return replace(
            alone, time=recording.time, signals=recording.signals, streams=tuple(streams)
        )

    @property
    def digest(self) -> str:
        """The sha256 of what is read otherwise (hexadecimal); the same in any process."""
        said = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }
        text = json.dumps(said, sort_keys=True, default=asdict)
        return hashlib.sha256(text.encode()).hexdigest()


def _hashable(value: object) -> object:
    """A value of a schema that can be compared and hashed."""
    if isinstance(value, dict):
        return tuple(sorted((key, _hashable(one)) for key, one in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _without_spans(recording: Recording, spans: Iterable[tuple[float, float]]) -> Recording:
    """A recording without the rows of some spans of time, or of numbers of still poses."""
    time = np.arange(float(len(recording))) if recording.time is None else recording.time
    kept = np.ones(len(time), dtype=np.bool_)
    for start, stop in spans:
        kept &= (time < start) | (time > stop)
    signals = {name: values[kept] for name, values in recording.signals.items()}
    return replace(recording, time=None if recording.still else time[kept], signals=signals)

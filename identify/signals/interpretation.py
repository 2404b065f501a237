"""`Reading`: interpretation of a log, by changes to its schema and corrections of its signals."""

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
from identify.logs.patch import Patch, patched
from identify.logs.recording_parts import Stream
from identify.signals.offset_steps import OffsetStep, without_offset_steps
from identify.signals.spikes import without_spikes
from identify.spatial.columns import COLUMN_COUNT

if TYPE_CHECKING:
    from identify.signals.wrench_play import WrenchPlay
    from identify.signals.wrench_quantisation import WrenchQuantisation
    from identify.signals.wrench_resonance import WrenchResonance


@dataclass(frozen=True, slots=True)
class Interpretation:
    """Interpretation of a log: changes to its schema and corrections of its signals.

    Other interpretations are tested for a higher likelihood, and one of them corrects faults.

    Attributes:
        patch: keys of the schema and their values, such as ("pose.order", "wxyz"), in any order.
        cutoff_hz: highest frequency of the rows [Hz]; by default chosen from the motion.
        column_maps: linear maps M of the log's 43 extended columns, applied in order, each by rows.
        offset_steps: jumps of the sensor's offset that are subtracted from the wrench.
        without_spikes: whether spikes of the wrench are replaced by interpolation.
        excluded_spans: time spans that are not read [s]; for static poses row numbers, from zero.
        max_rows: approximate number of rows read of a longer log, in evenly spread segments.
        quantisation: quantisation whose mean error is subtracted from the wrench.
        play: play of the sensor whose error is subtracted from the wrench.
        resonance: resonance of the body whose wrench is subtracted.
    """

    patch: tuple[tuple[str, Any], ...] = ()
    cutoff_hz: float | None = None
    column_maps: tuple[tuple[tuple[float, ...], ...], ...] = ()
    offset_steps: tuple[OffsetStep, ...] = ()
    without_spikes: bool = False
    excluded_spans: tuple[tuple[float, float], ...] = ()
    max_rows: int | None = None
    quantisation: WrenchQuantisation | None = None
    play: WrenchPlay | None = None
    resonance: WrenchResonance | None = None

    def with_patch(self, patch: Patch) -> Interpretation:
        """Return a copy with other values of some keys of the schema."""
        whole = {
            **dict(self.patch),
            **{key: _lists_to_tuples(value) for key, value in patch.items()},
        }
        return replace(self, patch=tuple(sorted(whole.items())))

    def with_map(self, M: Array) -> Interpretation:
        """Return a copy with one more linear map, applied last."""
        return replace(self, column_maps=(*self.column_maps, tuple(map(tuple, M.tolist()))))

    @property
    def combined_column_map(self) -> Array:
        """Product of all linear maps of the interpretation's columns, shape (43, 43)."""
        return reduce(np.matmul, map(np.array, self.column_maps), np.eye(COLUMN_COUNT))

    @property
    def patched_wrench_delay(self) -> float | None:
        """Wrench delay set by the schema patch [s]; None if the patch sets none."""
        return dict(self.patch).get("wrench.delay_s")

    def apply(self, recording: Recording) -> Recording:
        """Apply all changes but the maps to a recording; return the same object if there are none.

        The maps apply to columns, which `summarise_log` forms.

        Raises:
            SchemaError, LogError: the recording cannot be read in this way.
        """
        if self.offset_steps:
            recording = without_offset_steps(recording, self.offset_steps)
        if self.without_spikes and not recording.still:
            recording, _ = without_spikes(recording)
        if self.quantisation is not None:
            recording = self.quantisation.dequantised(recording)
        recording = patched(recording, dict(self.patch))
        if self.play is not None:  # widths and body are those of the patched log
            recording = self.play.removed_from(recording)
        if self.resonance is not None:
            recording = self.resonance.removed_from(recording)
        if self.excluded_spans:
            recording = _without_spans(recording, self.excluded_spans)
        return recording

    def apply_to_pose(self, recording: Recording) -> Recording:
        """Apply only those changes to a recording that concern its pose.

        Raises:
            SchemaError, LogError: the recording cannot be read in this way.
        """
        if recording.attitude_coordinates is None:
            return recording
        patch = {key: value for key, value in self.patch if key.startswith("pose.")}
        streams = list(recording.streams)
        with_pose = [k for k, stream in enumerate(streams) if "quaternion" in stream.signals]
        if not with_pose:
            return patched(recording, patch)
        (k,) = with_pose
        alone = replace(recording, time=streams[k].time, signals=streams[k].signals, streams=())
        alone = patched(alone, patch)
        streams[k] = Stream(streams[k].name, streams[k].time, alone.signals)
        return replace(
            alone, time=recording.time, signals=recording.signals, streams=tuple(streams)
        )

    @property
    def digest(self) -> str:
        """SHA-256 of all changes (hexadecimal), independent of the process."""
        changes = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }
        text = json.dumps(changes, sort_keys=True, default=asdict)
        return hashlib.sha256(text.encode()).hexdigest()


def _lists_to_tuples(value: object) -> object:
    """Convert lists and tables of a schema value to tuples."""
    if isinstance(value, dict):
        return tuple(sorted((key, _lists_to_tuples(item)) for key, item in value.items()))
    return tuple(map(_lists_to_tuples, value)) if isinstance(value, list | tuple) else value


def _without_spans(recording: Recording, spans: Iterable[tuple[float, float]]) -> Recording:
    """Remove the rows in some time spans, or number ranges of static poses, from a recording."""
    time = np.arange(float(len(recording))) if recording.time is None else recording.time
    kept = np.ones(len(time), dtype=np.bool_)
    for start, stop in spans:
        kept &= (time < start) | (time > stop)
    signals = {name: values[kept] for name, values in recording.signals.items()}
    return replace(recording, time=None if recording.still else time[kept], signals=signals)

"""Uninterrupted stretches of a log, on an even clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.logs import Recording
from identify.signals.clock import gap_starts, uniform_rows
from identify.signals.jumps import jump_starts
from identify.spatial import unwrap_quaternions
from identify.spatial.rotations import normalised_quaternion, rotation_angle

FEWEST_ROWS = 8
"""Rows below which no motion can be seen."""

_LARGEST_STEP = 0.5
"""Turn between neighbouring rows beyond which no motion can be seen between them [rad]."""


@dataclass(frozen=True, slots=True)
class EvenStretch:
    """Signals of a stretch without gaps or jumps, evenly sampled.

    Attributes:
        time: [s], shape (n,).
        rate_hz: sampling rate [Hz].
        signals: by name, in the frames of the recording; quaternions unwrapped.
        rows: how many rows of the log it was made of.
    """

    time: Array
    rate_hz: float
    signals: Mapping[str, Array]
    rows: int

    def __len__(self) -> int:
        return len(self.time)


def even_stretches(recording: Recording) -> list[EvenStretch]:
    """Cut a log at gaps and jumps, and put each stretch that has a few rows on an even clock.

    Raises:
        LogError: too few rows, stamps that never advance, or attitudes that are no motion.
    """
    time = recording.time
    if time is None or len(recording) < FEWEST_ROWS:
        raise LogError(
            f"{recording.name}: {len(recording)} rows are too few to see a motion (need "
            f"{FEWEST_ROWS} or more); if each is a still pose, set `still = true` in [log]"
        )
    if not time[-1] > time[0]:
        raise LogError(f"{recording.name}: the time stamps never advance: check [log] time")
    _require_resolved_attitude(recording)
    cuts = np.union1d(
        gap_starts(time),
        jump_starts(recording.signals.get("position"), recording.signals.get("quaternion")),
    )
    edges = [0, *(int(cut) for cut in cuts), len(recording)]
    return [
        _even_stretch(recording, time, slice(start, stop))
        for start, stop in pairwise(edges)
        if stop - start >= FEWEST_ROWS and time[stop - 1] > time[start]
    ]


def _require_resolved_attitude(recording: Recording) -> None:
    """Raise where the attitude turns too far from row to row to be a sampled motion."""
    if "quaternion" not in recording.signals:
        return
    quaternion = unwrap_quaternions(recording.signals["quaternion"])
    step = float(np.median(rotation_angle(quaternion[:-1], quaternion[1:])))
    if step > _LARGEST_STEP:
        raise LogError(
            f"{recording.name}: the attitude turns by {step:.2g} rad from row to row (median), "
            f"which is no motion that could be differentiated. If each row is a still pose, set "
            f"`still = true` in [log]; else check `angle_unit`, `order` and `maps` in [pose]"
        )


def _even_stretch(recording: Recording, time: Array, rows: slice) -> EvenStretch:
    parts = {name: values[rows] for name, values in recording.signals.items()}
    if "quaternion" in parts:
        parts["quaternion"] = unwrap_quaternions(parts["quaternion"])
    edges = np.cumsum([0, *(values.shape[1] for values in parts.values())]).tolist()
    slices = {name: slice(*pair) for name, pair in zip(parts, pairwise(edges), strict=True)}
    posed = [slices[name] for name in ("position", "quaternion") if name in parts]
    probe = np.r_[tuple(posed or slices.values())]
    even = uniform_rows(time[rows], np.concatenate(list(parts.values()), axis=1), probe)
    signals = {name: even.columns[:, part] for name, part in slices.items()}
    if "quaternion" in signals:
        signals["quaternion"] = normalised_quaternion(signals["quaternion"])
    return EvenStretch(even.time, even.rate_hz, signals, rows.stop - rows.start)

"""From a `Recording` to rows ready for regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Vec6
from identify.errors import LogError
from identify.logs import Recording
from identify.signals.filters import Filters, choose_cutoff_hz, shortest_segment
from identify.signals.kinematics import kinematics_of, still_motion
from identify.signals.noise import filtered_noise
from identify.signals.prepared import PreparedLog, Segment
from identify.signals.segments import EvenSegment, even_segments
from identify.spatial import BodyMotion, coadjoint, rotation_from_quaternion
from identify.spatial.rotations import rotate_back


def prepare(recording: Recording, cutoff_hz: float | None = None) -> PreparedLog:
    """Put a log on an even clock, differentiate what is missing, and low-pass everything alike.

    Features and wrench are formed in body axes first and then go through one linear filter, so the
    filtered rows obey the same equation as the samples (to form products of filtered rates, or to
    filter a wrench in turning axes, would not).

    Args:
        recording: the log.
        cutoff_hz: cut-off of the low-pass [Hz]; where not given, min(5, rate/10), or higher where
            all segments of the log are too short for that.

    Raises:
        LogError: too few rows, too short for the filter, or signals missing.
    """
    if recording.still:
        return _prepare_still(recording)
    segments = even_segments(recording)
    longest = max(segments, key=len, default=None)
    if longest is None:
        raise LogError(
            f"{recording.name}: gaps and jumps leave no segment of a few rows; if each row is a "
            f"still pose, set `still = true` in [log]"
        )
    try:
        cutoff, raised = choose_cutoff_hz(longest.rate_hz, len(longest), cutoff_hz)
    except LogError as error:
        raise LogError(f"{recording.name}: {error}") from error
    filtered = [
        each
        for segment in segments
        if (each := _prepare_segment(recording, segment, cutoff)) is not None
    ]
    return replace(_join(recording, filtered, longest.rate_hz, cutoff), cutoff_raised=raised)


@dataclass(frozen=True, slots=True)
class _FilteredSegment:
    time: Array
    rows: Array
    noise: Array
    effective: float
    used: int
    states: Segment | None


def _prepare_still(recording: Recording) -> PreparedLog:
    count = len(recording)
    rotation = None
    if "quaternion" in recording.signals:
        rotation = rotation_from_quaternion(recording.signals["quaternion"])
    wrench = _wrench_in_body(recording, recording.signals, rotation)
    return PreparedLog(
        recording=recording,
        time=np.arange(float(count)),
        rows=rows_of(still_motion(recording), wrench),
        segment_ids=np.arange(count),
        effective=float(count),
        noise=np.zeros(18),
    )


def _prepare_segment(
    recording: Recording, segment: EvenSegment, cutoff_hz: float
) -> _FilteredSegment | None:
    """Rows of one segment, or None where it is too short for the filters."""
    if len(segment) < shortest_segment(segment.rate_hz, cutoff_hz):
        return None
    filters = Filters.design(segment.rate_hz, cutoff_hz)
    motion = kinematics_of(recording, segment.signals, filters.differentiator)
    inner = slice(motion.halo, len(segment) - motion.halo)
    inside = {name: segment.signals[name][inner] for name in ("force", "torque")}
    wrench = _wrench_in_body(recording, inside, motion.rotation)
    time, rows = segment.time[inner], rows_of(motion.motion, wrench)
    outputs = len(rows) - 2 * filters.lowpass.halo
    # Of the columns [ψ, w]; −1: not smoothed either.
    proper, alpha, rate = (order or -1 for order in motion.derivative_orders)
    orders = np.array([proper] * 3 + [alpha] * 3 + [rate] * 6 + [-1] * 6)
    states = None
    if not (motion.quaternion is None or motion.position is None or motion.velocity is None):
        states = Segment(
            time=time,
            position=motion.position,
            velocity=motion.velocity,
            quaternion=motion.quaternion,
            angular_velocity=motion.motion.angular_velocity,
            wrench=wrench,
            gravity=recording.gravity,
        )
    return _FilteredSegment(
        time=filters.lowpass.apply_to_time(time),
        rows=filters.lowpass.apply(rows),
        noise=filtered_noise(rows[:, 1:], orders, filters.lowpass, filters.differentiator),
        effective=max(1.0, filters.lowpass.independent_share * outputs),
        used=segment.rows,
        states=states,
    )


def _wrench_in_body(
    recording: Recording, signals: Mapping[str, Array], rotation: Array | None
) -> Vec6:
    """The measured wrench at Bo in B; a sensor's bias is constant in these axes."""
    force, torque = signals["force"], signals["torque"]
    frame = recording.frames["wrench"]
    if frame == "world":
        if rotation is None:
            raise LogError(
                f"{recording.name}: the wrench is in world axes, and the log gives no attitude to "
                f"turn it by; add the pose to the schema"
            )
        force, torque = rotate_back(rotation, force), rotate_back(rotation, torque)
    wrench = np.concatenate((force, torque), axis=1)
    if frame == "sensor" and recording.X_BS is not None:
        wrench = wrench @ coadjoint(recording.X_BS).T
    return wrench


def rows_of(motion: BodyMotion, wrench: Vec6) -> Array:
    """Rows z = [1, ψ, w], shape (n, 19)."""
    return np.concatenate((np.ones((len(wrench), 1)), motion.features, wrench), axis=1)


def _join(
    recording: Recording,
    filtered: list[_FilteredSegment],
    rate_hz: float,
    cutoff_hz: float,
) -> PreparedLog:
    lengths = np.array([len(each.rows) for each in filtered])
    time = recording.time
    return PreparedLog(
        recording=recording,
        time=np.concatenate([each.time for each in filtered]),
        rows=np.concatenate([each.rows for each in filtered]),
        segment_ids=np.repeat(np.arange(len(filtered)), lengths),
        # Decimated outputs cannot be worth more samples than there are.
        effective=float(sum(min(len(each.rows), each.effective) for each in filtered)),
        noise=np.average([each.noise for each in filtered], axis=0, weights=lengths),
        rate_hz=rate_hz,
        cutoff_hz=cutoff_hz,
        segments=tuple(each.states for each in filtered if each.states is not None),
        repeated=0 if time is None else int((np.diff(time) == 0.0).sum()),
        unused=len(recording) - sum(each.used for each in filtered),
    )

"""From a `Recording` to rows ready for regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Indices, Vec3, Vec6
from identify.errors import LogError
from identify.logs import Recording
from identify.signals.filters import Filters, choose_cutoff_hz
from identify.signals.kinematics import Kinematics, kinematics, still_motion
from identify.signals.noise import filtered_noise
from identify.signals.prepared import PreparedLog, Segment
from identify.signals.stretches import EvenStretch, even_stretches
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
            all stretches of the log are too short for that.

    Raises:
        LogError: too few rows, too short for the filter, or signals missing.
    """
    if recording.still:
        return _prepare_still(recording)
    stretches = even_stretches(recording)
    longest = max(stretches, key=len, default=None)
    if longest is None:
        raise LogError(
            f"{recording.name}: gaps and jumps leave no stretch of a few rows; if each row is a "
            f"still pose, set `still = true` in [log]"
        )
    try:
        cutoff, raised = choose_cutoff_hz(longest.rate_hz, len(longest), cutoff_hz)
    except LogError as error:
        raise LogError(f"{recording.name}: {error}") from error
    pieces = [
        piece
        for stretch in stretches
        if (piece := _prepare_stretch(recording, stretch, cutoff)) is not None
    ]
    note = (
        f"{recording.name}: its stretches between gaps or jumps are short, so the cut-off was "
        f"raised to {cutoff:.3g} Hz."
    )
    return _join(recording, pieces, longest.rate_hz, cutoff, (note,) if raised else ())


@dataclass(frozen=True, slots=True)
class _Piece:
    time: Array
    rows: Array
    noise: Array
    effective: float
    used: int
    segment: Segment | None


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


def _prepare_stretch(recording: Recording, stretch: EvenStretch, cutoff_hz: float) -> _Piece | None:
    """Rows of one stretch, or None where it is too short for the filters."""
    filters = Filters.design(stretch.rate_hz, cutoff_hz)
    if len(stretch) < filters.shortest:
        return None
    motion = kinematics(recording, stretch.signals, filters.differentiator)
    inner = slice(motion.halo, len(stretch) - motion.halo)
    inside = {name: stretch.signals[name][inner] for name in ("force", "torque")}
    wrench = _wrench_in_body(recording, inside, motion.rotation)
    time, rows = stretch.time[inner], rows_of(motion.motion, wrench)
    outputs = len(rows) - 2 * filters.lowpass.halo
    return _Piece(
        time=filters.lowpass.apply_to_time(time),
        rows=filters.lowpass.apply(rows),
        noise=filtered_noise(
            rows[:, 1:], _column_orders(motion), filters.lowpass, filters.differentiator
        ),
        effective=max(1.0, filters.lowpass.independent_share * outputs),
        used=stretch.rows,
        segment=_segment(time, motion, wrench, recording.gravity),
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


def _column_orders(motion: Kinematics) -> Indices:
    """How often each of the 18 columns [ψ, w] was differentiated; −1: not smoothed either."""
    proper, alpha, rate = (order or -1 for order in motion.derivative_orders)
    return np.array([proper] * 3 + [alpha] * 3 + [rate] * 6 + [-1] * 6)


def _segment(time: Array, motion: Kinematics, wrench: Vec6, gravity: Vec3) -> Segment | None:
    if motion.quaternion is None or motion.position is None or motion.velocity is None:
        return None
    return Segment(
        time=time,
        position=motion.position,
        velocity=motion.velocity,
        quaternion=motion.quaternion,
        angular_velocity=motion.motion.angular_velocity,
        wrench=wrench,
        gravity=gravity,
    )


def _join(
    recording: Recording,
    pieces: list[_Piece],
    rate_hz: float,
    cutoff_hz: float,
    notes: tuple[str, ...],
) -> PreparedLog:
    lengths = np.array([len(piece.rows) for piece in pieces])
    time = recording.time
    return PreparedLog(
        recording=recording,
        time=np.concatenate([piece.time for piece in pieces]),
        rows=np.concatenate([piece.rows for piece in pieces]),
        segment_ids=np.repeat(np.arange(len(pieces)), lengths),
        # Decimated outputs cannot be worth more samples than there are.
        effective=float(sum(min(len(piece.rows), piece.effective) for piece in pieces)),
        noise=np.average([piece.noise for piece in pieces], axis=0, weights=lengths),
        rate_hz=rate_hz,
        cutoff_hz=cutoff_hz,
        segments=tuple(piece.segment for piece in pieces if piece.segment is not None),
        repeated=0 if time is None else int((np.diff(time) == 0.0).sum()),
        unused=len(recording) - sum(piece.used for piece in pieces),
        notes=notes,
    )

"""From a `Recording` to rows ready for regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from identify.arrays import Array, Vec6
from identify.errors import LogError
from identify.logs import Recording
from identify.signals.clock import gap_starts, sampling_period, uniform_rows
from identify.signals.jumps import jump_starts
from identify.signals.kernels import Differentiator, LowPass, default_cutoff_hz
from identify.signals.kinematics import Kinematics, kinematics, still_motion
from identify.signals.noise import filtered_noise
from identify.signals.prepared import PreparedLog, Segment
from identify.spatial import (
    BodyMotion,
    coadjoint,
    rotation_from_quaternion,
    unwrap_quaternions,
)
from identify.spatial.rotations import normalised_quaternion, rotate_back, rotation_angle

_FEWEST_ROWS = 8
_LARGEST_STEP = 0.5
"""Turn between neighbouring rows beyond which no motion can be seen between them [rad]."""
_HIGHEST_SHARE = 0.2
"""Highest cut-off that is chosen for short stretches, of the sampling rate."""


def prepare(recording: Recording, cutoff_hz: float | None = None) -> PreparedLog:
    """Put a log on an even clock, differentiate what is missing, and low-pass everything alike.

    Features and wrench are formed in body axes first and then go through one linear filter, so the
    filtered rows obey the same equation as the samples (to form products of filtered rates, or to
    filter a wrench in turning axes, would not).

    Args:
        recording: the log.
        cutoff_hz: cut-off of the low-pass [Hz]; min(5, rate/10) where not given.

    Raises:
        LogError: too few rows, too short for the filter, or signals missing.
    """
    if recording.still:
        return _prepare_still(recording)
    if recording.time is None or len(recording) < _FEWEST_ROWS:
        raise LogError(
            f"{recording.name}: {len(recording)} rows are too few to see a motion (need "
            f"{_FEWEST_ROWS} or more); if each is a still pose, set `still = true` in [log]"
        )
    _require_resolved_attitude(recording)
    rate = 1.0 / sampling_period(recording.time)
    stretches = _stretches(recording)
    filters = _design(recording, rate, cutoff_hz)
    longest = max(stop - start for start, stop in stretches)
    notes: tuple[str, ...] = ()
    if cutoff_hz is None and longest < filters.shortest:
        filters = _design_for(recording, rate, longest)
        notes = (
            f"{recording.name}: its stretches between gaps or jumps are short, so the cut-off was "
            f"raised to {filters.lowpass.cutoff_hz:.3g} Hz.",
        )
    pieces = [
        piece
        for start, stop in stretches
        if (piece := _prepare_stretch(recording, start, stop, filters)) is not None
    ]
    if not pieces:
        raise _too_short(recording, filters)
    return _join(recording, pieces, filters, notes)


def _require_resolved_attitude(recording: Recording) -> None:
    """Raise where the attitude turns too far from row to row to be a sampled motion."""
    if "quaternion" not in recording.signals:
        return
    quaternion = unwrap_quaternions(recording.signals["quaternion"])
    step = float(np.median(rotation_angle(quaternion[:-1], quaternion[1:])))
    if step > _LARGEST_STEP:
        raise LogError(
            f"{recording.name}: the attitude turns by {step:.2g} rad from row to row (median), "
            f"which is "
            f"no motion that could be differentiated. If each row is a still pose, set `still = "
            f"true` "
            f"in [log]; else check `order` and `maps` in [pose]"
        )


@dataclass(frozen=True, slots=True)
class _Filters:
    lowpass: LowPass
    differentiator: Differentiator

    @property
    def shortest(self) -> int:
        """Rows of the shortest stretch that leaves one output or more."""
        return max(2 * (self.lowpass.halo + self.differentiator.halo) + 1, _FEWEST_ROWS)


@dataclass(frozen=True, slots=True)
class _Piece:
    time: Array
    rows: Array
    noise: Array
    inputs: int
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


def _design(recording: Recording, rate: float, cutoff_hz: float | None) -> _Filters:
    cutoff = default_cutoff_hz(rate) if cutoff_hz is None else cutoff_hz
    if not 0.0 < cutoff < 0.45 * rate:
        raise LogError(
            f"{recording.name}: a cut-off of {cutoff:g} Hz cannot be had at {rate:.4g} rows a "
            f"second; "
            f"choose one above 0 and below {0.45 * rate:.4g} Hz"
        )
    return _Filters(LowPass.design(rate, cutoff), Differentiator.design(rate, cutoff))


def _design_for(recording: Recording, rate: float, rows: int) -> _Filters:
    """The lowest cut-off above the default whose filters fit into so many rows.

    Raises:
        LogError: none does.
    """
    shares = np.geomspace(0.01, _HIGHEST_SHARE, 12)
    choices = [_design(recording, rate, float(share) * rate) for share in shares]
    for filters in choices:
        if filters.shortest <= rows:
            return filters
    raise _too_short(recording, choices[-1])


def _stretches(recording: Recording) -> list[tuple[int, int]]:
    """First and last-plus-one rows of the stretches between gaps and jumps."""
    assert recording.time is not None
    cuts = np.union1d(
        gap_starts(recording.time),
        jump_starts(recording.signals.get("position"), recording.signals.get("quaternion")),
    )
    edges = [0, *(int(cut) for cut in cuts), len(recording)]
    return list(pairwise(edges))


def _prepare_stretch(
    recording: Recording, start: int, stop: int, filters: _Filters
) -> _Piece | None:
    """Rows of one stretch, or None where it is too short for the filters."""
    if stop - start < filters.shortest:
        return None
    time, signals = _even_signals(recording, start, stop)
    motion = kinematics(recording, signals, filters.differentiator)
    inner = slice(motion.halo, len(time) - motion.halo)
    rotation = motion.rotation
    inside = {name: signals[name][inner] for name in ("force", "torque")}
    wrench = _wrench_in_body(recording, inside, rotation)
    time, rows = time[inner], rows_of(motion.motion, wrench)
    noise = filtered_noise(
        rows[:, 1:], _column_orders(motion), filters.lowpass, filters.differentiator
    )
    return _Piece(
        time=filters.lowpass.apply_to_time(time),
        rows=filters.lowpass.apply(rows),
        noise=noise,
        inputs=len(rows),
        segment=_segment(time, motion, wrench),
    )


def _even_signals(recording: Recording, start: int, stop: int) -> tuple[Array, dict[str, Array]]:
    """Signals of a stretch on a uniform clock, quaternions unwrapped."""
    assert recording.time is not None
    names = list(recording.signals)
    stretch = {name: recording.signals[name][start:stop] for name in names}
    if "quaternion" in stretch:
        stretch["quaternion"] = unwrap_quaternions(stretch["quaternion"])
    widths = [stretch[name].shape[1] for name in names]
    edges = np.concatenate(([0], np.cumsum(widths)))
    probe = next(
        (name for name in ("position", "quaternion", "angular_velocity") if name in stretch),
        names[0],
    )
    at = names.index(probe)
    even = uniform_rows(
        recording.time[start:stop],
        np.concatenate([stretch[name] for name in names], axis=1),
        slice(int(edges[at]), int(edges[at + 1])),
    )
    signals = {
        name: even.columns[:, low:high]
        for name, low, high in zip(names, edges[:-1], edges[1:], strict=True)
    }
    if "quaternion" in signals:
        signals["quaternion"] = normalised_quaternion(signals["quaternion"])
    return even.time, signals


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


def _column_orders(motion: Kinematics) -> Array:
    """How often each of the 18 columns [ψ, w] was differentiated; −1: not smoothed either."""
    proper, alpha, rate = (order or -1 for order in motion.derivative_orders)
    return np.array([proper] * 3 + [alpha] * 3 + [rate] * 6 + [-1] * 6)


def _segment(time: Array, motion: Kinematics, wrench: Vec6) -> Segment | None:
    if motion.quaternion is None or motion.position is None or motion.velocity is None:
        return None
    return Segment(
        time=time,
        position=motion.position,
        velocity=motion.velocity,
        quaternion=motion.quaternion,
        angular_velocity=motion.motion.angular_velocity,
        wrench=wrench,
    )


def _join(
    recording: Recording, pieces: list[_Piece], filters: _Filters, notes: tuple[str, ...]
) -> PreparedLog:
    lengths = np.array([len(piece.rows) for piece in pieces])
    inputs = sum(piece.inputs for piece in pieces)
    noise = np.average([piece.noise for piece in pieces], axis=0, weights=lengths)
    share = filters.lowpass.independent_share
    assert recording.time is not None
    return PreparedLog(
        recording=recording,
        time=np.concatenate([piece.time for piece in pieces]),
        rows=np.concatenate([piece.rows for piece in pieces]),
        segment_ids=np.repeat(np.arange(len(pieces)), lengths),
        # Decimated outputs cannot be worth more samples than there are.
        effective=float(
            sum(min(len(piece.rows), max(1.0, share * piece.inputs)) for piece in pieces)
        ),
        noise=noise,
        rate_hz=filters.lowpass.rate_hz,
        cutoff_hz=filters.lowpass.cutoff_hz,
        segments=tuple(piece.segment for piece in pieces if piece.segment is not None),
        repeated=int((np.diff(recording.time) == 0.0).sum()),
        unused=max(0, len(recording) - inputs),
        notes=notes,
    )


def _too_short(recording: Recording, filters: _Filters) -> LogError:
    assert recording.time is not None
    rate = filters.lowpass.rate_hz
    need = filters.shortest / rate
    return LogError(
        f"{recording.name}: no stretch without gaps or jumps is long enough for a cut-off of "
        f"{filters.lowpass.cutoff_hz:g} Hz, which takes {need:.2g} s; the log spans "
        f"{float(np.ptp(recording.time)):.3g} s in {len(recording)} rows. Choose a higher "
        f"cut-off, or, "
        f"if each row is a still pose, set `still = true` in [log]"
    )

"""Contact forces: the measured wrench minus the payload's wrench and the sensor offset.

w_contact = w − Y(a − Rᵀ g, α, ω) φ − offset, with a and α of Bo in B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Vec6, require_positive, seal
from identify.errors import LogError, ModelError
from identify.exchange import SavedEstimate
from identify.logs import Recording
from identify.pipeline.log_replay import require_single_body
from identify.regressors.log_scan import ReadableLog, calibrate_log, iterate_excerpts
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.signals import FullRateSegment, NoUsableSegment, full_rate_segments
from identify.signals.preparation import lacks_acceleration
from identify.spatial import Pose, PoseLike, coadjoint
from identify.spatial.columns import (
    FEATURES,
    PRODUCT_FIRST_AXES,
    PRODUCT_SECOND_AXES,
    PROPER_ACCELERATION,
    RATE_PRODUCTS,
    WRENCH,
)
from identify.spatial.vectors import GRAVITY_W

_MAX_OFFSET_TIME_RATIO = 1.1
"""Largest ratio of the requested time for the sensor offset to the usable length of the log, which
is shorter than the log because its edges have no derivatives."""


class Compensator:
    """Contact forces computed sample by sample, for a control loop.

    Args:
        estimate: the body.
        offset: of the sensor, [f; t] at Bo in B [N, N m], shape (6,); that of the estimate's log
            where it has a single one. A sensor that was zeroed since has another.
        mount: X_BS, pose of the sensor in the body: the measured and the contact wrench are then
            at So in S. Without it both are at Bo in B.
        gravity: g in W [m/s²], shape (3,).

    Raises:
        ModelError: no offset is given, and the estimate has none or one for each of several logs.
    """

    def __init__(
        self,
        estimate: SavedEstimate,
        *,
        offset: ArrayLike | None = None,
        mount: PoseLike | None = None,
        gravity: ArrayLike = GRAVITY_W,
    ) -> None:
        if offset is None:
            offset = _require_single_offset(estimate)
        to_sensor = np.eye(6) if mount is None else coadjoint(Pose.of(mount).inverse())
        self._body = to_sensor @ _wrench_matrix(estimate)
        self._offset = to_sensor @ seal(offset, "offset", (6,))
        self._gravity = seal(gravity, "gravity", (3,))

    def update(
        self, pose: Pose | Array, twist: ArrayLike, acceleration: ArrayLike, wrench: ArrayLike
    ) -> Vec6:
        """Return the contact wrench of one sample; numbers that are not finite propagate.

        Args:
            pose: X_WB, a pose or its 4×4 matrix, of which only the rotation is used.
            twist: [v; ω] of B in B [m/s, rad/s], of which only ω is used, shape (6,).
            acceleration: [a; α] in B: the classical acceleration of Bo, without gravity, and the
                angular one [m/s², rad/s²], shape (6,).
            wrench: [f; t] measured, on the body [N, N m], shape (6,).

        Returns:
            [f; t] on the body at the same point in the same axes, shape (6,).

        Raises:
            ModelError: another shape.
        """
        twist, acceleration, wrench = map(np.asarray, (twist, acceleration, wrench))
        R = pose.rotation if isinstance(pose, Pose) else np.asarray(pose)[:3, :3]
        if not (twist.shape == acceleration.shape == wrench.shape == (6,) and R.shape == (3, 3)):
            raise ModelError(
                "compensator: expected a 4×4 pose, and twist, acceleration and wrench of six "
                f"numbers each, got {np.shape(pose)}, {twist.shape}, {acceleration.shape} and "
                f"{wrench.shape}"
            )
        psi, rates = np.empty(12), twist[3:]
        psi[:6] = acceleration
        psi[PROPER_ACCELERATION] -= self._gravity @ R
        psi[RATE_PRODUCTS] = rates[PRODUCT_FIRST_AXES] * rates[PRODUCT_SECOND_AXES]
        return wrench - self._body @ psi - self._offset


@dataclass(frozen=True, slots=True)
class CompensatedLog:
    """Log whose wrench contains only the contact forces.

    Attributes:
        source: the log as it was read.
        estimate: the subtracted body.
        offset: the subtracted sensor offset, [f; t] at Bo in B [N, N m], shape (6,).
        origin: source of the offset, in words.
        cutoff_hz: for derivatives; chosen by the motion of the first chunk where not given.
    """

    source: ReadableLog
    estimate: SavedEstimate
    offset: Vec6
    origin: str
    cutoff_hz: float | None = None

    def chunks(self) -> Iterator[Recording]:
        """Yield the compensated log in chunks, in order of time.

        Rows are those of its even clock, without those lost to derivatives at the edges of a
        segment. The wrench is in the log's axes, at its point, on the body, and has no delay.

        Raises:
            NoUsableSegment, LogError: the log cannot be used.
        """
        body, has_rows = _wrench_matrix(self.estimate), False
        for recording, parts in _full_rate_chunks(self.source, self.cutoff_hz):
            wrenches = [
                part.at_sensor(recording, part.columns[:, FEATURES] @ body.T + self.offset)
                for part in parts
            ]
            signals = {
                name: np.concatenate([part.signals[name] for part in parts])
                for name in parts[0].signals
            }
            wrench = np.concatenate(wrenches)
            signals["force"] = signals["force"] - wrench[:, :3]
            signals["torque"] = signals["torque"] - wrench[:, 3:]
            time = None if recording.still else np.concatenate([part.time for part in parts])
            has_rows = True
            yield replace(recording, time=time, signals=signals, streams=(), wrench_delay=0.0)
        if not has_rows:
            raise NoUsableSegment(
                f"{self.source.name}: no segment is long enough to be differentiated"
            )


def compensate_log(
    source: ReadableLog,
    estimate: SavedEstimate,
    *,
    offset: ArrayLike | None = None,
    zero_seconds: float | None = None,
    cutoff_hz: float | None = None,
) -> CompensatedLog:
    """Subtract a body's gravity and inertia and the sensor offset from the wrench of a log.

    Args:
        source: the log, read or opened; its B is that of the estimate.
        estimate: the body.
        offset: of the sensor, [f; t] at Bo in B [N, N m], shape (6,). Where neither it nor
            `zero_seconds` is given, it is the estimate's for this log, by its sha256.
        zero_seconds: time without contact from the start of the log: the offset is then the mean
            residual of the body in it [s].
        cutoff_hz: see `fit`.

    Raises:
        ModelError: the estimate is of one of two bodies that moved in this log.
        LogError: the offset is unknown, no sample is in that time, or the log is shorter.
    """
    recording = source if isinstance(source, Recording) else source.recording
    require_single_body(recording, estimate)
    if offset is not None:
        wrench, origin = seal(offset, "offset", (6,), LogError), "as given"
    elif zero_seconds is not None:
        require_positive(zero_seconds, "zero_seconds", "s", LogError)
        wrench = _mean_residual(source, estimate, zero_seconds, cutoff_hz)
        origin = f"mean residual of the first {zero_seconds:g} s"
    else:
        offsets = [
            entry.six_axis_offset for entry in estimate.bias if entry.sha256 == source.sha256
        ]
        if not offsets:
            raise LogError(
                f"{source.name}: the estimate was not fitted to this log and has no sensor offset "
                "for it: give the offset, or the contact-free seconds from the start of the log "
                "(on the command line --offset or --zero-seconds)"
            )
        wrench, origin = offsets[0], "the estimate's for this log"
    return CompensatedLog(source, estimate, wrench, origin, cutoff_hz)


def _require_single_offset(estimate: SavedEstimate) -> Vec6:
    """Raise unless the estimate has exactly one offset of a wrench sensor."""
    if "robot" in estimate.provenance:
        raise ModelError(
            "compensator: the estimate is of the torques of an arm's joints, and has no offset of "
            "a wrench sensor; give offset=[fx, fy, fz, tx, ty, tz] at Bo in B, six zeros for none"
        )
    offsets = np.unique([entry.six_axis_offset for entry in estimate.bias], axis=0)
    if len(offsets) != 1:
        count = f"{len(offsets)}, of several logs" if len(offsets) else "none"
        raise ModelError(
            f"compensator: the sensor offset is ambiguous: the estimate has {count}; give "
            "offset=[fx, fy, fz, tx, ty, tz] at Bo in B, six zeros for none"
        )
    return offsets[0]


def _wrench_matrix(estimate: SavedEstimate) -> Array:
    """Return the matrix that maps the 12 motion features of a log to a body's wrench at Bo."""
    return (FEATURE_TENSOR @ estimate.parameters.phi).T


def _full_rate_chunks(
    source: ReadableLog, cutoff_hz: float | None
) -> Iterator[tuple[Recording, list[FullRateSegment]]]:
    """Yield chunks of a log with their states at full rate, at the cut-off of the first chunk."""
    rate_hz, imu = None, None
    for number, chunk in enumerate(iterate_excerpts(source)):
        if lacks_acceleration(chunk.recording):
            raise LogError(
                f"{source.name}: the log has neither pose nor accelerometer: its motion is that of "
                "its force, so that contacts cannot be separated. Give [pose], or [imu] "
                "accelerometer"
            )
        if number == 0:
            imu = calibrate_log(source)
        try:
            parts = full_rate_segments(
                chunk.recording, cutoff_hz, chunk.span, rate_hz=rate_hz, imu=imu
            )
        except NoUsableSegment:
            continue
        if parts:
            cutoff_hz, rate_hz = parts[0].cutoff_hz, parts[0].rate_hz
            yield chunk.recording, parts


def _mean_residual(
    source: ReadableLog, estimate: SavedEstimate, seconds: float, cutoff_hz: float | None
) -> Vec6:
    """Return the mean residual wrench of the first seconds of a log, used as sensor offset."""
    body = _wrench_matrix(estimate)
    residuals = list[Array]()
    end = 0.0
    for recording, parts in _full_rate_chunks(source, cutoff_hz):
        if recording.still:
            raise LogError(f"{source.name}: static poses have no time; give the offset instead")
        for part in parts:
            z = part.columns[part.time < seconds]
            residuals.append(z[:, WRENCH] - z[:, FEATURES] @ body.T)
        end = float(parts[-1].time[-1])
        if end >= seconds:
            break
    if residuals and seconds > _MAX_OFFSET_TIME_RATIO * end:
        raise LogError(
            f"{source.name}: is {end:.3g} s long, shorter than the {seconds:g} s without contact: "
            "contacts would count as offset; give the time until the first contact"
        )
    rows = np.concatenate([np.zeros((0, 6)), *residuals])
    if not len(rows):
        raise LogError(
            f"{source.name}: no sample can be differentiated in the first {seconds:g} s; give a "
            "longer time"
        )
    return rows.mean(axis=0)

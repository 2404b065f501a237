"""Detection of a motion in rows declared as static poses, and of its sampling rate."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.logs import Recording
from identify.regressors import FEATURE_TENSOR, summarise_log
from identify.regressors.triangular import qr_factor
from identify.relevance import MIN_STATIC_MOTION_RATIO
from identify.spatial.columns import ATTITUDE, FEATURES, WRENCH
from identify.spatial.rotations import rotation_angle

_TRIED_RATES_HZ = np.geomspace(0.5, 2e4, 120)
"""Candidate sampling rates [Hz]."""

_TIMELESS_SIGNALS = ("position", "quaternion", "force", "torque")
"""Signals that do not depend on the time stamps."""

_MIN_ROWS = 50
"""Fewest rows in which a motion can be detected."""

_ROTATION_BETWEEN_ROWS = 0.03
"""Rotation between neighbouring rows of those that the test uses [rad]."""

_ASSUMED_RATE_HZ = 100.0
"""Sampling rate first assumed for the rows [Hz]: they are then a motion of about 1 Hz."""

_MIN_EXPLAINED_FRACTION = 0.6
"""Smallest share of the residual of static poses that a motion between them explains: a cable along
a slow sweep of poses explains 0.4, noise 0.05, motions 0.9."""


class MovingRows(NamedTuple):
    """Motion found in rows declared as static poses: rate, and part of the residual it explains.

    Attributes:
        rate_hz: approximate sampling rate of the motion.
        explained_share: share of the squared residual of static poses that the motion explains.
        size: root mean square of the explained part, relative to the spread of the wrench.
    """

    rate_hz: float
    explained_share: float
    size: float


def find_moving_rows(recording: Recording) -> MovingRows | None:
    """Find a motion in a recording declared as static poses; None if there is none."""
    if "position" not in recording.signals or len(recording) < _MIN_ROWS:
        return None
    quaternion = recording.signals["quaternion"]
    turn = float(np.median(rotation_angle(quaternion[:-1], quaternion[1:])))
    every = int(np.clip(_ROTATION_BETWEEN_ROWS / max(turn, 1e-9), 1, len(recording) // _MIN_ROWS))
    signals = {name: recording.signals[name][::every] for name in _TIMELESS_SIGNALS}
    rows = len(signals["force"])
    try:
        time = np.arange(rows) / _ASSUMED_RATE_HZ
        log = summarise_log(replace(recording, time=time, signals=signals, rows=rows), wide=True)
    except LogError:  # it rotates too far from row to row for a motion
        return None
    motion = fit_sampling_rate(log.rows, _ASSUMED_RATE_HZ, recording.gravity)
    if motion.explained_share < _MIN_EXPLAINED_FRACTION or motion.size < MIN_STATIC_MOTION_RATIO:
        return None
    return motion._replace(rate_hz=every * motion.rate_hz)


def fit_sampling_rate(rows: Array, rate_hz: float, gravity: Array) -> MovingRows:
    """Find the sampling rate at which a body's inertia explains most of the static residual.

    At another rate all accelerations and products of rates are multiplied by the square of its
    ratio, and the weight stays: w = Y(−Rᵀg) φ + κ Y(a' + Rᵀg, α, ωω) φ + offset.

    `rows`: z = [1, ψ, w, Rᵀ, …] of the series under an assumed rate, shape (n, K); `gravity`: g in
    W [m/s²].
    """
    weight = np.zeros((len(rows), 12))
    weight[:, :3] = -rows[:, ATTITUDE].reshape(-1, 3, 3) @ gravity
    spread = (
        np.repeat(np.sqrt(np.var(rows[:, WRENCH], axis=0).reshape(2, 3).mean(axis=1)), 3) + 1e-300
    )
    parts = [
        np.tensordot(psi, FEATURE_TENSOR, axes=1) for psi in (weight, rows[:, FEATURES] - weight)
    ]
    offsets = np.broadcast_to(np.eye(6), (len(rows), 6, 6))
    columns = np.concatenate((*parts, offsets, rows[:, WRENCH, None]), axis=-1) / spread[:, None]
    root = qr_factor(columns.reshape(-1, 27))
    still = _residual_sum(root, 0.0)
    moving = np.array([_residual_sum(root, (rate / rate_hz) ** 2) for rate in _TRIED_RATES_HZ])
    best = int(np.argmin(moving))
    explained = max(still - float(moving[best]), 0.0)
    size = float(np.sqrt(explained / (6 * len(rows))))
    return MovingRows(float(_TRIED_RATES_HZ[best]), explained / max(still, 1e-300), size)


def _residual_sum(factor: Array, squared_rate_ratio: float) -> float:
    """Return a fit's residual sum of squares if all accelerations are scaled by a factor."""
    A = np.hstack((factor[:, :10] + squared_rate_ratio * factor[:, 10:20], factor[:, 20:26]))
    scale = np.linalg.norm(A, axis=0)
    A = A / np.where(scale > 0.0, scale, 1.0)
    return float(np.sum((factor[:, 26] - A @ (np.linalg.pinv(A, rcond=1e-9) @ factor[:, 26])) ** 2))

"""Detection of a motion in rows declared as still poses, and of its sampling rate."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.logs import Recording
from identify.regressors import FEATURE_TENSOR, scan
from identify.regressors.triangular import qr_factor
from identify.relevance import MOTION_SHARE
from identify.spatial.columns import PSI, RT, W
from identify.spatial.rotations import rotation_angle

_TRIED_RATES_HZ = np.geomspace(0.5, 2e4, 120)
"""Candidate sampling rates [Hz]."""

_READ = ("position", "quaternion", "force", "torque")
"""Signals that do not depend on time."""

_FEWEST_SWEEP_ROWS = 50
"""Fewest rows in which a motion can be detected."""

_TURN_BETWEEN_ROWS, _AT_HZ = 0.03, 100.0
"""Turn between neighbours of the rows that are looked at [rad], and the rate that they are read at,
at which they are a motion of about 1 Hz."""

_LEAST_EXPLAINED = 0.6
"""Share of the residual of still poses that a motion between them explains: a cable along a slow
sweep of poses comes to 0.4, noise to 0.05, motions to 0.9."""


class MovingRows(NamedTuple):
    """Share of rows read as still poses that the inertia of a motion explains.

    Attributes:
        rate_hz: at which they were logged, about.
        explained: share of the squared residual of still poses that it explains.
        size: root mean square of that, in the spread of the wrench.
    """

    rate_hz: float
    explained: float
    size: float


def moving_rows(recording: Recording) -> MovingRows | None:
    """Find a motion in a recording of still poses; None where its rows show none.

    Args:
        recording: whose rows may follow each other in a motion, at a rate that nothing says.
    """
    if "position" not in recording.signals or len(recording) < _FEWEST_SWEEP_ROWS:
        return None
    quaternion = recording.signals["quaternion"]
    turn = float(np.median(rotation_angle(quaternion[:-1], quaternion[1:])))
    each = int(
        np.clip(_TURN_BETWEEN_ROWS / max(turn, 1e-9), 1, len(recording) // _FEWEST_SWEEP_ROWS)
    )
    signals = {name: recording.signals[name][::each] for name in _READ}
    rows = len(signals["force"])
    try:
        time = np.arange(rows) / _AT_HZ
        log = scan(replace(recording, time=time, signals=signals, rows=rows), wide=True)
    except LogError:  # from row to row it turns as no motion does
        return None
    found = fit_sampling_rate(log.rows, _AT_HZ, recording.gravity)
    if found.explained < _LEAST_EXPLAINED or found.size < MOTION_SHARE:
        return None
    return found._replace(rate_hz=each * found.rate_hz)


def fit_sampling_rate(rows: Array, rate_hz: float, gravity: Array) -> MovingRows:
    """Find the sampling rate at which a body's inertia explains most of the static residual.

    At another rate all accelerations and products of rates are multiplied by the square of its
    ratio, and the weight stays: w = Y(−Rᵀg) φ + κ Y(a' + Rᵀg, α, ωω) φ + offset.

    Args:
        rows: z = [1, ψ, w, Rᵀ, …] of the series, as if logged at a rate, shape (n, K).
        rate_hz: that rate.
        gravity: g in W [m/s²].
    """
    weight = np.zeros((len(rows), 12))
    weight[:, :3] = -rows[:, RT].reshape(-1, 3, 3) @ gravity
    spread = np.repeat(np.sqrt(np.var(rows[:, W], axis=0).reshape(2, 3).mean(axis=1)), 3) + 1e-300
    parts = [np.tensordot(psi, FEATURE_TENSOR, axes=1) for psi in (weight, rows[:, PSI] - weight)]
    offsets = np.broadcast_to(np.eye(6), (len(rows), 6, 6))
    columns = np.concatenate((*parts, offsets, rows[:, W, None]), axis=-1) / spread[:, None]
    root = qr_factor(columns.reshape(-1, 27))
    still = _residual_sum(root, 0.0)
    left = np.array([_residual_sum(root, (rate / rate_hz) ** 2) for rate in _TRIED_RATES_HZ])
    best = int(np.argmin(left))
    explained = max(still - float(left[best]), 0.0)
    size = float(np.sqrt(explained / (6 * len(rows))))
    return MovingRows(float(_TRIED_RATES_HZ[best]), explained / max(still, 1e-300), size)


def _residual_sum(root: Array, kappa: float) -> float:
    """Return the residual sum of squares of body and offset with scaled accelerations."""
    A = np.hstack((root[:, :10] + kappa * root[:, 10:20], root[:, 20:26]))
    scale = np.linalg.norm(A, axis=0)
    A = A / np.where(scale > 0.0, scale, 1.0)
    return float(np.sum((root[:, 26] - A @ (np.linalg.pinv(A, rcond=1e-9) @ root[:, 26])) ** 2))

"""Delays of the measured wrench against the one that a body predicts, by least squares."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices
from identify.diagnosis.contacts import segment_edges
from identify.regressors.newton_euler import regressor_with_offset
from identify.relevance import MIN_DELAY_CHANGE
from identify.spatial.columns import ATTITUDE, FEATURES, WRENCH

MAX_DELAY = 1.0
"""Longest delay of the search [s]."""

_MAX_SEGMENT_FRACTION = 0.2
"""Largest fraction of a segment's duration that a delay may take."""

_MAX_SERIES_ROWS = 4000
"""Approximate number of rows of a series that are used."""

_MIN_SERIES_ROWS = 40
"""Fewest rows of a series that identify a delay."""

_PARTS_OF_LOG = 8
"""Number of parts of a log whose delays are compared."""

_MAX_RESIDUAL_RATIO = 0.5
"""Largest ratio of the residual power with separate delays of the parts of a log to that with one
delay, if the latency changes."""

_MIN_MOVING_POWER_RATIO = 0.05
"""Smallest power of the predicted wrench about its mean in each segment, relative to that of the
residual, at which a log shows a delay; static poses with gaps between show none."""

_STEP_FRACTIONS = np.linspace(-1.0, 1.0, 81)
_LAGRANGE = np.stack(
    (
        _STEP_FRACTIONS * (_STEP_FRACTIONS - 1.0) / 2.0,
        1.0 - _STEP_FRACTIONS**2,
        _STEP_FRACTIONS * (_STEP_FRACTIONS + 1.0) / 2.0,
    ),
    axis=1,
)
"""Fractional positions around the second of three samples, and the weights of quadratic Lagrange
interpolation there."""


class DelayEstimate(NamedTuple):
    """Delay of the wrench at which a body and a sensor offset fit it best.

    Attributes:
        delay: maximum-likelihood delay, in addition to the delay of the schema [s].
        cost: minus twice the log-likelihood of the wrench at that delay.
        log_likelihood_ratio: twice the log-likelihood ratio of that delay to no delay.
        delay_by_part: delay of each part of the log, with the body of the likeliest delay [s].
        is_variable: whether the latency differs between parts of the log.
    """

    delay: float
    cost: float
    log_likelihood_ratio: float
    delay_by_part: Array
    is_variable: bool


def estimate_delay(
    time: Array, rows: Array, segment_ids: Indices, attitude_delay: float | None = None
) -> DelayEstimate | None:
    """Estimate the delay τ of w(t + τ) = Y(t) φ + b by least squares over a grid of delays.

    `time`: time of the series [s], shape (n,); `rows`: z = [1, ψ, w, Rᵀ, …], shape (n, 43);
    `segment_ids`: number of the segment of each row, shape (n,); `attitude_delay`: time by which
    the attitude that rotated the wrench into body axes is later than that of its row [s], for a
    delay of the wrench in world axes; None for a delay of the wrench in body axes.
    Returns the delay; None for a short series.
    """
    step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    edges = segment_edges(segment_ids)
    reach = int(
        min(MAX_DELAY / max(step, 1e-9), _MAX_SEGMENT_FRACTION * max(b - a for a, b in edges))
    )
    inside = np.concatenate([np.arange(a + reach, b - reach) for a, b in edges]).astype(np.intp)
    inside = inside[:: max(1, len(inside) // _MAX_SERIES_ROWS)]
    if reach < 1 or len(inside) < _MIN_SERIES_ROWS:
        return None
    shifts = np.arange(-reach, reach + 1)
    w = np.array([rows[inside + k, WRENCH] for k in shifts]).reshape(len(shifts), -1, 2, 3)
    if attitude_delay is not None:  # w(t) is Rᵀ(t + τ₀) f(t + τ₀), to be Rᵀ(t) f(t + τ₀)
        columns = [np.interp(time + attitude_delay, time, column) for column in rows[:, ATTITUDE].T]
        R, late = (c.reshape(-1, 3, 3) for c in (rows[:, ATTITUDE], np.stack(columns, axis=1)))
        w = np.array([v @ late[inside + k] @ R[inside].mT for v, k in zip(w, shifts, strict=True)])
    A = regressor_with_offset(rows[inside][:, FEATURES])
    sizes = np.sqrt(np.mean(w**2, axis=(0, 1, 3)))[:, None] + 1e-300
    plane = np.linalg.qr((A / np.repeat(sizes, 3)[:, None]).reshape(-1, 16))[0]
    b = (w / sizes).reshape(len(shifts), -1)
    residuals = (b - (b @ plane) @ plane.T).reshape(w.shape)

    def cost(power: Array) -> Array:  # every other row is independent of the others
        return 0.5 * len(inside) * 3.0 * np.log(power).sum(axis=-1)

    as_read = float(cost(np.mean(residuals[reach] ** 2, axis=(0, 2)) + 1e-20))
    moving = _about_segment_means(plane @ (plane.T @ b[reach]), segment_ids[inside])
    if np.mean(moving**2) < _MIN_MOVING_POWER_RATIO * np.mean(residuals[reach] ** 2):
        return DelayEstimate(0.0, as_read, 0.0, np.zeros(_PARTS_OF_LOG), is_variable=False)
    k, x, power = _best_shift(residuals, cost)
    predicted = plane @ (plane.T @ (_LAGRANGE[x] @ b[k - 1 : k + 2]))
    whitened = (b - predicted).reshape(w.shape) / np.sqrt(power)[:, None]
    cuts = np.linspace(0, len(inside), _PARTS_OF_LOG + 1).astype(int).tolist()
    of_parts = [_best_shift(whitened[:, a:b], lambda p: p.sum(axis=-1)) for a, b in pairwise(cuts)]
    parts = step * np.array([shifts[k] + _STEP_FRACTIONS[x] for k, x, _ in of_parts])
    ratio_of_parts = np.mean([p for _, _, p in of_parts])
    changes = ratio_of_parts < _MAX_RESIDUAL_RATIO and np.ptp(parts) > MIN_DELAY_CHANGE
    least = float(cost(power))
    delay = step * float(shifts[k] + _STEP_FRACTIONS[x])
    return DelayEstimate(delay, least, as_read - least, parts, bool(changes))


def _about_segment_means(predicted: Array, segment_ids: Indices) -> Array:
    """Return a predicted wrench, in one column, about its mean in each segment, shape (n, 6)."""
    wrench = predicted.reshape(-1, 6)
    starts = np.flatnonzero(np.diff(segment_ids, prepend=segment_ids[0] - 1))
    counts = np.diff(np.append(starts, len(segment_ids)))
    means = np.add.reduceat(wrench, starts) / counts[:, None]
    return wrench - np.repeat(means, counts, axis=0)


def _best_shift(residuals: Array, cost: Callable[[Array], Array]) -> tuple[int, int, Array]:
    """Find the time shift whose residuals cost least, interpolated between samples.

    Residuals are at shifts 0, 1, …, shape (k, n, 2, 3). Returned are index and fraction of the
    shift, and the mean squares of force and torque there.
    """
    costs = cost(np.mean(residuals**2, axis=(1, 3)) + 1e-20)
    k = int(np.clip(np.argmin(costs), 1, len(residuals) - 2))
    near = residuals[k - 1 : k + 2]
    G = np.einsum("anhc,bnhc->hab", near, near) / (3 * near.shape[1])
    power = np.maximum(np.einsum("xa,hab,xb->xh", _LAGRANGE, G, _LAGRANGE), 0.0) + 1e-20
    x = int(np.argmin(cost(power)))
    return k, x, power[x]

"""Hysteresis of a sensor: its wrench lags the true one by a dead zone, like gears with play."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Phi, Vec6
from identify.diagnosis.contacts import segment_edges
from identify.regressors import FEATURE_TENSOR
from identify.significance import CLEAR_LIKELIHOOD_LEAD
from identify.spatial.columns import FEATURES, WRENCH

_RATE_STEP = 2
"""Distance [rows] from a row to the rows on either side between which the rate of its wrench is
computed, so large that noise in the row's pose does not affect the rate."""

_MIN_ROWS = 40
"""Fewest rows of a series in which hysteresis can be detected."""


class Hysteresis(NamedTuple):
    """Dead zones of a sensor's channels.

    Attributes:
        widths: width of the dead zone of each channel as a share of the channel's range; zero if
            not significant, shape (6,).
        delay: part of the fitted delay that the dead zones explain [s].
    """

    widths: Vec6
    delay: float


def fit_hysteresis(time: Array, rows: Array, segment_ids: Indices, phi: Phi) -> Hysteresis | None:
    """Fit dead zones to the residual of a fit with a delay: r = b + τ dw/dt − h sgn(dw/dt).

    During a monotonic change, a channel with a dead zone of width 2h lags by h whatever its rate; a
    delay or a filter causes no residual that depends on the sign alone. Each channel is fitted by
    least squares without and with h, with a BIC penalty for h.

    `time`: time of the series [s], shape (n,); `rows`: z = [1, ψ, w, …], without the small faults
    that were fitted, shape (n, K); `segment_ids`: number of the segment of each row, shape (n,);
    `phi`: parameters of the body, shape (10,).
    Returns the dead zones; None for a short series, and if dead zones do not explain it clearly
    better.
    """
    acting = np.tensordot(rows[:, FEATURES], FEATURE_TENSOR, axes=1) @ phi
    edges = segment_edges(segment_ids)
    inside = np.concatenate([np.arange(a + _RATE_STEP, b - _RATE_STEP) for a, b in edges]).astype(
        np.intp
    )
    if len(inside) < _MIN_ROWS:
        return None
    rate = acting[inside + _RATE_STEP] - acting[inside - _RATE_STEP]
    rate /= 2.0 * _RATE_STEP * np.median(np.diff(time))
    lag = -np.sign(rate)
    residual = (rows[:, WRENCH] - acting)[inside]
    rate, lag, residual = (x - x.mean(axis=0) for x in (rate, lag, residual))
    power = np.sum(rate**2, axis=0) + 1e-300
    sign, without_delay = (x - rate * np.sum(rate * x, axis=0) / power for x in (lag, residual))
    h = np.sum(sign * without_delay, axis=0) / (np.sum(sign**2, axis=0) + 1e-300)
    noise = np.sum((without_delay - h * sign) ** 2, axis=0) + 1e-300
    count = 0.5 * len(inside)  # every other row is independent of the others
    ratio = count * np.log1p(np.sum((h * sign) ** 2, axis=0) / noise) - np.log(count)
    significant = (h > 0.0) & (ratio > 0.0)
    if ratio[significant].sum() < CLEAR_LIKELIHOOD_LEAD:
        return None
    delay = np.sum(rate * (residual - h * lag) / noise) / np.sum(power / noise)
    return Hysteresis(np.where(significant, 2.0 * h / np.ptp(acting, axis=0), 0.0), float(delay))

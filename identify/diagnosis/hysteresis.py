"""Hysteresis of a sensor: its wrench follows what acts with a dead zone, like gears with play."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Phi, Vec6
from identify.diagnosis.contacts import segment_edges
from identify.regressors import FEATURE_TENSOR
from identify.significance import CLEAR_LEAD
from identify.spatial.columns import PSI, W

_APART = 2
"""Points of the series before and behind a row that the rate of its wrench is taken from: the noise
of its own pose is not in them."""

_FEWEST_ROWS = 40


class Hysteresis(NamedTuple):
    """Dead zones of a sensor's channels.

    Attributes:
        widths: of the six channels, in the range that each goes through; zero where not seen.
        delay: part of the fitted delay that they explain [s].
    """

    widths: Vec6
    delay: float


def hysteresis(time: Array, rows: Array, segment_ids: Indices, phi: Phi) -> Hysteresis | None:
    """Find dead zones by what a fit with a delay leaves: r = b + τ dw/dt − h sgn(dw/dt).

    Moving one way, a channel with a dead zone of width 2h is h behind whatever its rate, while a
    delay and a filter leave nothing that goes with the sign alone. Each channel is fitted by least
    squares without and with h, and pays for h by the BIC penalty.

    Args:
        time: of the series [s], shape (n,).
        rows: z = [1, ψ, w, …], without the small faults that were fitted, shape (n, K).
        segment_ids: of the rows, shape (n,).
        phi: the body, shape (10,).

    Returns:
        None of a short series, and where dead zones do not explain it clearly better.
    """
    acting = np.tensordot(rows[:, PSI], FEATURE_TENSOR, axes=1) @ phi
    edges = segment_edges(segment_ids)
    inside = np.concatenate([np.arange(a + _APART, b - _APART) for a, b in edges]).astype(np.intp)
    if len(inside) < _FEWEST_ROWS:
        return None
    rate = acting[inside + _APART] - acting[inside - _APART]
    rate /= 2.0 * _APART * np.median(np.diff(time))
    behind = -np.sign(rate)
    left = (rows[:, W] - acting)[inside]
    rate, behind, left = (x - x.mean(axis=0) for x in (rate, behind, left))
    power = np.sum(rate**2, axis=0) + 1e-300
    sign, rest = (x - rate * np.sum(rate * x, axis=0) / power for x in (behind, left))
    h = np.sum(sign * rest, axis=0) / (np.sum(sign**2, axis=0) + 1e-300)
    noise = np.sum((rest - h * sign) ** 2, axis=0) + 1e-300
    count = 0.5 * len(inside)  # every other row is free of the rest
    gain = count * np.log1p(np.sum((h * sign) ** 2, axis=0) / noise) - np.log(count)
    seen = (h > 0.0) & (gain > 0.0)
    if gain[seen].sum() < CLEAR_LEAD:
        return None
    delay = np.sum(rate * (left - h * behind) / noise) / np.sum(power / noise)
    return Hysteresis(np.where(seen, 2.0 * h / np.ptp(acting, axis=0), 0.0), float(delay))

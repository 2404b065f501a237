"""Delays of the wrench, by correlation of the measured wrench with the one that a body predicts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices
from identify.diagnosis.contacts import segment_edges
from identify.regressors import FEATURE_TENSOR
from identify.relevance import DELAY_CHANGE
from identify.spatial.columns import PSI, RT, W

LONGEST, _SHARE_OF_SEGMENT = 1.0, 0.2
"""Longest delay that is looked for [s], and share of a segment's time that it may be."""

_MOST_SERIES_ROWS, _FEWEST_SERIES_ROWS = 4000, 40
"""Rows of a series that are looked at, and fewer of which tell no delay."""

_PARTS_OF_LOG, _LEFT_BY_CHANGE = 8, 0.5
"""Parts of a log whose delays are compared, and share of the residual power beside one delay that
they leave at the most if the latency changes."""

_FRACTIONS = np.linspace(-1.0, 1.0, 81)
_LAGRANGE = np.stack(
    (
        _FRACTIONS * (_FRACTIONS - 1.0) / 2.0,
        1.0 - _FRACTIONS**2,
        _FRACTIONS * (_FRACTIONS + 1.0) / 2.0,
    ),
    axis=1,
)
"""Places around the second of three samples, and the weights of the three there."""


class Correlation(NamedTuple):
    """Delay at which a body and an offset explain the wrench of a series best.

    Attributes:
        delay: the likeliest, beyond that of the reading [s].
        cost: minus twice the log-likelihood of the wrench at that delay.
        gain: of that delay over none, likewise.
        parts: delay of each part of the log, with the body of the likeliest delay [s].
        changes: whether the latency is another in other parts of the log.
    """

    delay: float
    cost: float
    gain: float
    parts: Array
    changes: bool


def correlation(
    time: Array, rows: Array, segment_ids: Indices, turned_by: float | None = None
) -> Correlation | None:
    """Find the delay τ of w(t + τ) = Y(t) φ + b by least squares at each; None of a short series.

    Args:
        time: of the series [s], shape (n,).
        rows: z = [1, ψ, w, Rᵀ, …], shape (n, 43).
        segment_ids: of the rows, shape (n,).
        turned_by: time that is between the attitude which turned the wrench into body axes and
            that of its row [s], to look for delays of the wrench in world axes; None for those of
            the wrench in body axes.
    """
    step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    edges = segment_edges(segment_ids)
    reach = int(min(LONGEST / max(step, 1e-9), _SHARE_OF_SEGMENT * max(b - a for a, b in edges)))
    inside = np.concatenate([np.arange(a + reach, b - reach) for a, b in edges]).astype(np.intp)
    inside = inside[:: max(1, len(inside) // _MOST_SERIES_ROWS)]
    if reach < 1 or len(inside) < _FEWEST_SERIES_ROWS:
        return None
    moved = np.arange(-reach, reach + 1)
    w = np.array([rows[inside + k, W] for k in moved]).reshape(len(moved), -1, 2, 3)
    if turned_by is not None:  # w(t) is Rᵀ(t + τ₀) f(t + τ₀), to be Rᵀ(t) f(t + τ₀)
        columns = [np.interp(time + turned_by, time, column) for column in rows[:, RT].T]
        R, late = (c.reshape(-1, 3, 3) for c in (rows[:, RT], np.stack(columns, axis=1)))
        w = np.array([v @ late[inside + k] @ R[inside].mT for v, k in zip(w, moved, strict=True)])
    offsets = np.broadcast_to(np.eye(6), (len(inside), 6, 6))
    A = np.concatenate((np.tensordot(rows[inside][:, PSI], FEATURE_TENSOR, axes=1), offsets), -1)
    sizes = np.sqrt(np.mean(w**2, axis=(0, 1, 3)))[:, None] + 1e-300
    plane = np.linalg.qr((A / np.repeat(sizes, 3)[:, None]).reshape(-1, 16))[0]
    b = (w / sizes).reshape(len(moved), -1)
    left = (b - (b @ plane) @ plane.T).reshape(w.shape)

    def cost(power: Array) -> Array:  # every other row is free of the rest
        return 0.5 * len(inside) * 3.0 * np.log(power).sum(axis=-1)

    k, x, power = _least(left, cost)
    predicted = plane @ (plane.T @ (_LAGRANGE[x] @ b[k - 1 : k + 2]))
    beyond = (b - predicted).reshape(w.shape) / np.sqrt(power)[:, None]
    cuts = np.linspace(0, len(inside), _PARTS_OF_LOG + 1).astype(int).tolist()
    of_parts = [_least(beyond[:, a:b], lambda p: p.sum(axis=-1)) for a, b in pairwise(cuts)]
    parts = step * np.array([moved[k] + _FRACTIONS[x] for k, x, _ in of_parts])
    left_by_parts = np.mean([p for _, _, p in of_parts])
    changes = left_by_parts < _LEFT_BY_CHANGE and np.ptp(parts) > DELAY_CHANGE
    as_read = float(cost(np.mean(left[reach] ** 2, axis=(0, 2)) + 1e-20))
    least = float(cost(power))
    delay = step * float(moved[k] + _FRACTIONS[x])
    return Correlation(delay, least, as_read - least, parts, bool(changes))


def _least(left: Array, cost: Callable[[Array], Array]) -> tuple[int, int, Array]:
    """The least residual: its shift, its place around that, mean squares of force and torque.

    Args:
        left: residuals at shifts 0, 1, …, shape (k, n, 2, 3).
        cost: of mean squares, shape (…, 2).
    """
    k = int(np.clip(np.argmin(cost(np.mean(left**2, axis=(1, 3)) + 1e-20)), 1, len(left) - 2))
    near = left[k - 1 : k + 2]
    G = np.einsum("anhc,bnhc->hab", near, near) / (3 * near.shape[1])
    power = np.maximum(np.einsum("xa,hab,xb->xh", _LAGRANGE, G, _LAGRANGE), 0.0) + 1e-20
    x = int(np.argmin(cost(power)))
    return k, x, power[x]

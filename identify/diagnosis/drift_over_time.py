"""An offset of any one channel that moves, in the means of short pieces of a log's series.

Each channel is told by all of the motion, as by any linear map of it: a body, a frame or a unit
that is wrong is so too, and what is left is told by time alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Indices
from identify.regressors.wrench import PSI, W

DriftKind: TypeAlias = Literal["random_walk", "linear", "step"]

ALARM = 1e-5
"""p of a line, or of the best step with all places counted."""

_MOST_PIECES, _FEWEST_PIECES, _ROWS_A_PIECE = 48, 32, 8
"""Pieces of a log's series whose means are looked at, where there are enough rows for them."""

_SHARE_OF_SHAPE, _SHARE_OF_WALK = 0.9, 0.8
"""Shares of what no motion tells of a channel's means that a line or a step, or the slowest waves,
have to explain; in clean logs they had up to a quarter of it."""

_LEAST_SPREAD = 1e-3
"""Least share of the variance of a channel's means that it is worth to speak of."""

_SLOWEST, _PLACES_APART = 3, 4
"""Cosines over the log that are slow, and pieces on either side of a step, at least."""

_UNTOLD, _SEEN = 1e-6, 0.3
"""Share of a motion's columns that is rounding, and of a drift that the motion has to leave."""


@dataclass(frozen=True, slots=True)
class DriftOverTime:
    """How an offset moves over the time of a log.

    Attributes:
        kind: along a line, in a step, or else.
        gain: twice the log-likelihood it gains, its parameters paid for.
        p_value: of no drift.
        at: share of the log's time before a step; zero unless a step.
        offset: in B, rows of [t, fx … tz], shape (k, 7).
    """

    kind: DriftKind
    gain: float
    p_value: float
    at: float
    offset: Array


def drift_over_time(seconds: Array, rows: Array) -> DriftOverTime | None:
    """The likeliest drift that the series of a log shows; None where it shows none.

    Args:
        seconds: of the series, shape (n,).
        rows: z = [1, ψ, w, …], shape (n, K).
    """
    n = min(_MOST_PIECES, len(rows) // _ROWS_A_PIECE)
    if n < _FEWEST_PIECES:
        return None
    pieces = _Pieces.of(seconds, rows, n)
    ways = list(_ways(pieces))
    tested = [(found, way) for way in ways if (found := _tested(pieces, way, len(ways)))]
    if not tested:
        return None
    (gain, p_value), (kind, basis) = max(tested, key=lambda each: each[0][0])
    step = kind == "step"
    at = float(pieces.time[int(np.argmax(basis[:, 0] > 0.0))]) if step else 0.0
    offset = _offset(pieces, seconds, rows, kind, basis)
    return DriftOverTime(kind, gain, p_value, at, offset)


_Way: TypeAlias = tuple[DriftKind, Array]
"""A kind, and the functions of time it is a sum of, shape (pieces, d)."""


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Means of z over pieces of a series.

    Attributes:
        z: shape (n, K).
        middle: time of each [s], shape (n,).
        time: share of the log's time, shape (n,).
        edges: first rows, and the end, shape (n + 1,).
        told: columns that span what the motion and an offset tell, orthonormal, shape (n, j).
        left: of the wrench, what they do not, shape (n, 6).
        spread: sum of squares of the wrench about its mean, shape (6,).
    """

    z: Array
    middle: Array
    time: Array
    edges: Indices
    told: Array
    left: Array
    spread: Array

    @classmethod
    def of(cls, seconds: Array, rows: Array, n: int) -> _Pieces:
        edges = np.linspace(0, len(rows), n + 1).astype(int)
        counts = np.diff(edges)
        z = np.add.reduceat(rows, edges[:-1], axis=0) / counts[:, None]
        middle = np.add.reduceat(seconds, edges[:-1]) / counts
        motion = z[:, PSI] - z[:, PSI].mean(axis=0)
        motion /= np.maximum(np.linalg.norm(motion, axis=0), np.finfo(float).tiny)
        U, values, _ = np.linalg.svd(motion, full_matrices=False)
        told = np.column_stack((np.full(n, n**-0.5), U[:, values > _UNTOLD * values[0]]))
        w = z[:, W] - z[:, W].mean(axis=0)
        return cls(
            z=z,
            middle=middle,
            time=(middle - seconds[0]) / (seconds[-1] - seconds[0]),
            edges=edges,
            told=told,
            left=w - told @ (told.T @ w),
            spread=(w**2).sum(axis=0),
        )


def _ways(pieces: _Pieces) -> Iterator[_Way]:
    """A line, steps at all places, and slow waves, each of no mean."""
    n = len(pieces.time)
    line, waves = pieces.time[:, None], np.arange(1, _SLOWEST + 1)
    steps = ((np.arange(n) >= k)[:, None] for k in range(_PLACES_APART, n - _PLACES_APART + 1))
    yield "linear", line - line.mean()
    for step in steps:
        yield "step", step - step.mean()
    basis = np.cos(np.pi * pieces.time[:, None] * waves)
    yield "random_walk", basis - basis.mean(axis=0)


def _tested(pieces: _Pieces, way: _Way, places: int) -> tuple[float, float] | None:
    """What a way gains, and its p with all of them counted, where it explains nearly all."""
    from scipy.special import fdtrc

    kind, basis = way
    n, d = basis.shape
    own = basis - pieces.told @ (pieces.told.T @ basis)
    if np.linalg.norm(own) < _SEEN * np.linalg.norm(basis):
        return None
    free = n - pieces.told.shape[1] - d
    left = (pieces.left**2).sum(axis=0)
    explained = ((np.linalg.qr(own)[0].T @ pieces.left) ** 2).sum(axis=0)
    least = _SHARE_OF_WALK if kind == "random_walk" else _SHARE_OF_SHAPE
    counted = explained > np.maximum(least * left, _LEAST_SPREAD * pieces.spread)
    rest = np.maximum(left - explained, np.finfo(float).eps * left)[counted]
    if not len(rest):
        return None
    paid = (d + (kind == "step")) * len(rest) * np.log(n)
    gain = float(free * np.log(left[counted] / rest).sum() - paid)
    ratio = explained[counted] / rest * free / d
    p_value = float(6 * places * fdtrc(d, free, ratio).min())
    return (gain, p_value) if p_value < ALARM else None


def _offset(pieces: _Pieces, seconds: Array, rows: Array, kind: DriftKind, basis: Array) -> Array:
    """The offset over time, beside all that the motion tells; a step at the time it falls on."""
    columns = np.column_stack((pieces.z[:, 0], pieces.z[:, PSI], basis))
    y = np.linalg.lstsq(columns, pieces.z[:, W], rcond=_UNTOLD)[0]
    of_motion, offset = y[: -basis.shape[1]], basis @ y[-basis.shape[1] :]
    knots = pieces.middle
    if kind == "step":
        jump = offset[-1] - offset[0]
        place = int(np.argmax(basis[:, 0] > 0.0))
        near = slice(pieces.edges[place - 1], pieces.edges[place + 1])
        left = rows[near, W] - np.column_stack((rows[near, 0], rows[near, PSI])) @ of_motion
        across = jump / (pieces.left**2).sum(axis=0)
        after = (left - offset[0]) @ across / (across @ jump)
        last, each = seconds[pieces.edges[place + 1] - 1], float(np.median(np.diff(seconds)))
        at = float(last) + each * (0.5 - float(after.sum()))
        knots, offset = np.array([at, at + 1e-6 * each]), offset[[0, -1]]
    elif kind == "linear":
        slope = (offset[-1] - offset[0]) / (knots[-1] - knots[0])
        knots, offset = seconds[[0, -1]], offset[0] + np.outer(seconds[[0, -1]] - knots[0], slope)
    return np.column_stack((knots, offset))

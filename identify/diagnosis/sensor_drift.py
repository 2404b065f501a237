"""Sensor drift: an offset of the wrench that does not stay, found in the series of a log.

The series is cut into segments, or taken pose by pose. What the motion explains of the mean wrench
of each is taken off by free regression of every channel on all features: a body, a frame or a unit
that is wrong is a linear map of them and goes with it. What is left is held against a line, a step
at each place and slow cosines. The offset over time is then subtracted where the log is read.

The fit with the drift taken out says what is known beside it: an offset acts on the rows of block
means alone, and those are projected across the drift's functions of time, which is generalised
least squares with the size of each of them unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array, Indices
from identify.diagnosis.agreement import Change, neighbours
from identify.errors import ProblemError
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.terms import Term
from identify.regressors import FEATURE_TENSOR, Statistics, System
from identify.regressors.wrench import PSI, W
from identify.signals.transform import CONSTANT

DriftKind: TypeAlias = Literal["random_walk", "linear", "step"]

ALARM = 1e-5
"""p of a drift, all channels, shapes and places counted."""

_MOST_SEGMENTS, _FEWEST_SEGMENTS, _ROWS_A_SEGMENT = 48, 24, 4
"""Segments of a series, and the fewest and shortest in which a drift is looked for …"""

_FEWEST_POSES = 12
"""… or still poses."""

_LEAST_SHARE = 0.7
"""Share of what the motion does not explain of a channel that a drift has to explain: in clean
logs it had up to a quarter."""

_LEAST_SHARE_OF_POSES = 0.4
"""The same of a walk of still poses, each of which has all of the sensor's noise."""

_LEAST_SPREAD = 1e-5
"""Least share of the variance of a channel that a drift has to explain."""

_COSINES, _PLACES_APART = 3, 4
"""Cosines over the log that are slow, and segments on either side of a step, at least."""

_MOST_ROWS, _PLACES, _REWEIGHTED, _LEAST_LEFT = 2000, 9, 3, 1e-10
"""Rows and times at which a body that changes is compared with a drift, rounds of its weights, and
the share of the wrench's variance that is rounding."""

_ROUNDING, _OBSERVABLE = 1e-6, 0.3
"""Share of the motion's columns that is rounding, and of a drift that the motion has to leave."""

_MASS_MOVED, _MASS_ERROR_GROWN, _MASS_ERROR = 0.2, 10.0, 0.05
"""A drift that takes more of the mass than this share of it, or leaves it known to no more than
these, explains what is no drift: a log that was misread."""


@dataclass(frozen=True, slots=True)
class Drift:
    """An offset that does not stay.

    Attributes:
        kind: how it moves; the finding's code is "bias_step" for a step, else "drift".
        gain: log-likelihood ratio, twice, less what its sizes cost.
        p_value: of no drift.
        offsets: of each log over time in B, rows of [t, fx … tz], shape (k, 7); empty where the log
            has no drift. Of still poses t is their number.
        fit: least squares with the drift taken out; its intervals know of the drift.
        refused: why it is not to be applied, or empty.
        equivalent: codes of what explains the logs as well; then it is not corrected.
    """

    kind: DriftKind
    gain: float
    p_value: float
    offsets: tuple[Array, ...]
    fit: LeastSquaresFit
    refused: str = ""
    equivalent: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """Of the finding."""
        return "bias_step" if self.kind == "step" else "drift"


def drift(
    fit: LeastSquaresFit, series: Sequence[tuple[Array, Array]], terms: Sequence[Term] = ()
) -> Drift | None:
    """The likeliest drift of the offsets of a fit's logs, or None where they stay.

    Args:
        fit: of rows by frequency or of still poses, each log with an offset of its own.
        series: time [s] and rows z of each log, shapes (n,) and (n, K); of still poses their
            number and each pose.
        terms: of the fit; their equalities hold for the corrected one too.
    """
    if len(fit.data.system.data) != 1 or fit.data.system.data[0][1].offsets != "per_log":
        return None
    statistics, equations = fit.data.system.data[0]
    still = {group for _, group in fit.data.system.members} == {CONSTANT}
    found = [_of_series(seconds, rows, still=still) for seconds, rows in series]
    seen = [each for each in found if each is not None]
    if not seen:
        return None
    best = max(seen, key=lambda each: each.gain)
    shapes = {log: each.shape for log, each in enumerate(found) if each is not None}
    corrected = without_drift(statistics, shapes)
    try:
        after = weighted_least_squares(System.of([(corrected, equations)]), terms)
        refused = _refusal(fit, after)
    except ProblemError as error:
        after, refused = fit, str(error)
    nothing = np.zeros((0, 7))
    offsets = tuple(nothing if each is None else each.offset for each in found)
    return Drift(best.shape.kind, best.gain, best.p_value, offsets, after, refused)


@dataclass(frozen=True, slots=True)
class DriftShape:
    """Functions of time that a drift is a sum of.

    Attributes:
        kind: which they are.
        at: share of the log's time before a step.
    """

    kind: DriftKind
    at: float = 0.0

    def over(self, edges: Array) -> Array:
        """Their means between shares of the log's time, shape (n + 1,), as columns (n, d)."""
        start, stop = edges[:-1], edges[1:]
        if self.kind == "step":
            after = np.clip((stop - self.at) / np.maximum(stop - start, 1e-12), 0.0, 1.0)
            return after[:, None]
        middle = 0.5 * (start + stop)
        if self.kind == "linear":
            return middle[:, None]
        return np.cos(np.pi * middle[:, None] * np.arange(1, _COSINES + 1))


def without_drift(statistics: Statistics, shapes: Mapping[int, DriftShape]) -> Statistics:
    """Statistics that know of a drift: rows of block means, projected across it.

    Args:
        statistics: of rows by frequency or of still poses.
        shapes: of the drift of some of the logs, whose sizes are unknown.
    """
    factors, noise = statistics.factors.copy(), statistics.noise.copy()
    effective = statistics.effective_samples.copy()
    for log, shape in shapes.items():
        cells = np.flatnonzero((statistics.log == log) & (statistics.group == CONSTANT))
        cells = cells[np.argsort(statistics.block[cells], kind="stable")]
        n = len(cells)
        if n < 2:
            continue
        constants = factors[cells, 0, 0]
        Q = _across(constants, constants[:, None] * shape.over(np.linspace(0.0, 1.0, n + 1)))
        factors[cells, 0] -= Q @ (Q.T @ factors[cells, 0])
        kept = 1.0 - Q.shape[1] / n
        noise[log, CONSTANT] *= np.sqrt(kept)
        effective[cells] *= kept
    return replace(statistics, factors=factors, noise=noise, effective_samples=effective)


def _across(constants: Array, columns: Array) -> Array:
    """Orthonormal columns of what an offset that stays leaves of some, shape (n, j)."""
    unit = constants / np.linalg.norm(constants)
    own = columns - np.outer(unit, unit @ columns)
    U, values, _ = np.linalg.svd(own, full_matrices=False)
    return U[:, values > _ROUNDING * np.linalg.norm(columns)]


@dataclass(frozen=True, slots=True)
class _Found:
    """A drift of one log: its shape, the offset over time, and how sure it is."""

    shape: DriftShape
    offset: Array
    gain: float
    p_value: float


def _of_series(seconds: Array, rows: Array, *, still: bool) -> _Found | None:
    """The likeliest drift that the series of a log shows."""
    n = len(rows) if still else min(_MOST_SEGMENTS, len(rows) // _ROWS_A_SEGMENT)
    if n < (_FEWEST_POSES if still else _FEWEST_SEGMENTS):
        return None
    means = _SegmentMeans.of(seconds, rows, n)
    shapes = list(_shapes(means.edges / len(rows)))
    tested = [
        (test, shape)
        for shape in shapes
        if (test := means.tested(shape, len(shapes), still=still)) is not None
    ]
    if not tested:
        return None
    (gain, p_value), shape = max(tested, key=lambda each: each[0][0])
    shape, offset = means.offset(shape, seconds, rows)
    return _Found(shape, offset, gain, p_value)


def _shapes(edges: Array) -> Iterator[DriftShape]:
    yield DriftShape("linear")
    for at in edges[_PLACES_APART : len(edges) - _PLACES_APART]:
        yield DriftShape("step", float(at))
    yield DriftShape("random_walk")


@dataclass(frozen=True, slots=True)
class _SegmentMeans:
    """Means of z over segments of a series.

    Attributes:
        z: shape (n, K).
        edges: first rows, and the end, shape (n + 1,).
        explained: orthonormal columns that an offset and the motion span, shape (n, j).
        left: of the wrench, what they do not explain, shape (n, 6).
        spread: sum of squares of the wrench about its mean, shape (6,).
    """

    z: Array
    edges: Indices
    explained: Array
    left: Array
    spread: Array

    @classmethod
    def of(cls, seconds: Array, rows: Array, n: int) -> _SegmentMeans:
        edges = np.linspace(0, len(rows), n + 1).astype(int)
        z = np.add.reduceat(rows, edges[:-1], axis=0) / np.diff(edges)[:, None]
        motion = z[:, PSI] - z[:, PSI].mean(axis=0)
        motion /= np.maximum(np.linalg.norm(motion, axis=0), np.finfo(float).tiny)
        U, values, _ = np.linalg.svd(motion, full_matrices=False)
        explained = np.column_stack((np.full(n, n**-0.5), U[:, values > _ROUNDING * values[0]]))
        w = z[:, W] - z[:, W].mean(axis=0)
        left = w - explained @ (explained.T @ w)
        return cls(z, edges, explained, left, (w**2).sum(axis=0))

    def columns(self, shape: DriftShape) -> Array:
        """A drift's functions of time over the segments, of no mean, shape (n, d)."""
        columns = shape.over(self.edges / self.edges[-1])
        return columns - columns.mean(axis=0)

    def tested(self, shape: DriftShape, shapes: int, *, still: bool) -> tuple[float, float] | None:
        """What a shape gains, and its p with all of them counted, where it explains enough."""
        from scipy.special import fdtrc  # kept out of `import identify`

        columns = self.columns(shape)
        n, d = columns.shape
        own = columns - self.explained @ (self.explained.T @ columns)
        free = n - self.explained.shape[1] - d
        if free < 1 or np.linalg.norm(own) < _OBSERVABLE * np.linalg.norm(columns):
            return None
        left = (self.left**2).sum(axis=0)
        gone = ((np.linalg.qr(own)[0].T @ self.left) ** 2).sum(axis=0)
        walk = still and shape.kind == "random_walk"
        share = _LEAST_SHARE_OF_POSES if walk else _LEAST_SHARE
        counted = gone > np.maximum(share * left, _LEAST_SPREAD * self.spread)
        if not counted.any():
            return None
        rest = np.maximum(left - gone, np.finfo(float).eps * left)[counted]
        cost = (d + (shape.kind == "step")) * len(rest) * np.log(n)
        gain = float(free * np.log(left[counted] / rest).sum() - cost)
        p_value = float(6 * shapes * fdtrc(d, free, gone[counted] / rest * free / d).min())
        return (gain, p_value) if p_value < ALARM else None

    def offset(self, shape: DriftShape, seconds: Array, rows: Array) -> tuple[DriftShape, Array]:
        """The offset over time, beside all that the motion explains; a step where it falls."""
        columns = self.columns(shape)
        d, n = columns.shape[1], np.diff(self.edges)
        regressors = np.column_stack((self.z[:, 0], self.z[:, PSI], columns))
        y = np.linalg.lstsq(regressors, self.z[:, W], rcond=_ROUNDING)[0]
        of_motion, offset = y[:-d], columns @ y[-d:]
        knots = np.add.reduceat(seconds, self.edges[:-1]) / n
        if shape.kind == "linear":
            slope = (offset[-1] - offset[0]) / (knots[-1] - knots[0])
            ends = seconds[[0, -1]]
            return shape, np.column_stack((ends, offset[0] + np.outer(ends - knots[0], slope)))
        if shape.kind == "random_walk":
            return shape, np.column_stack((knots, offset))
        # Of the two segments at the step each row is before or after it.
        jump = offset[-1] - offset[0]
        place = int(np.argmax(columns[:, 0] > 0.0))
        near = slice(self.edges[place - 1], self.edges[place + 1])
        left = rows[near, W] - np.column_stack((rows[near, 0], rows[near, PSI])) @ of_motion
        across = jump / (self.left**2).sum(axis=0)
        after = float(((left - offset[0]) @ across / (across @ jump)).sum())
        each = float(np.median(np.diff(seconds)))
        at = float(seconds[self.edges[place + 1] - 1]) + each * (0.5 - after)
        share = (at - seconds[0] + 0.5 * each) / (seconds[-1] - seconds[0] + each)
        knots = np.array([at, at + 1e-6 * each])
        return DriftShape("step", float(share)), np.column_stack((knots, offset[[0, -1]]))


def change_in_place(
    log: int, seconds: Array, rows: Array, effective: float, offset: Array
) -> tuple[float, Change]:
    """The likeliest change of the body in a series in which the offset drifts, or seems to.

    Args:
        log: its number.
        seconds: time of the series [s], shape (n,).
        rows: z of it, shape (n, K).
        effective: independent samples of the log.
        offset: over time, as `Drift.offsets` has it.

    Returns:
        Twice the log-likelihood, less a penalty for the unknowns of each, by which the drift leads
        the change; and the change.
    """
    taken = slice(None, None, max(1, len(rows) // _MOST_ROWS))
    seconds, z = seconds[taken], rows[taken]
    moving = np.stack([np.interp(seconds, offset[:, 0], o) for o in offset[:, 1:].T], axis=1)
    Y = np.tensordot(z[:, PSI], FEATURE_TENSOR, axes=1)
    still = z[:, 0, None, None] * np.eye(6)
    price = np.log(6.0 * effective)
    sizes = 6.0 * len(offset)
    drifting = _Series.fitted(np.concatenate((Y, still), axis=2), z[:, W] - moving, effective)
    places = [*np.linspace(seconds[0], seconds[-1], _PLACES + 2)[1:-1], offset[:, 0].mean()]

    def changing(place: float) -> _Series:
        later = seconds > place
        both = np.concatenate((Y, still, later[:, None, None] * Y), axis=2)
        return _Series.fitted(both, z[:, W], effective)

    found = [changing(float(place)) for place in places]
    best = int(np.argmin([each.cost for each in found]))
    now = found[best]
    paid = 11.0 * price - min(sizes, 6.0 * _COSINES) * price
    parts = [np.eye(10, 26), np.eye(10, 26) + np.eye(10, 26, 16)]
    first, second = (part @ now.x for part in parts)
    errors = [np.sqrt(np.einsum("ij,jk,ik->i", C, now.covariance, C)) for C in parts]
    shares = [float(np.mean(seconds <= place)) for place in places]
    at, between = shares[best], neighbours(shares[best], shares)
    p_value = float(np.exp(-0.5 * max(drifting.cost - now.cost, 0.0)))
    change = Change("body_changed", log, 0, at, between, p_value, first, second, *errors)
    return now.cost - drifting.cost + paid, change


class _Series(NamedTuple):
    """A series explained: n log |Σ| of what is left, Σ that of all channels, and the unknowns."""

    cost: float
    x: Array
    covariance: Array

    @classmethod
    def fitted(cls, A: Array, w: Array, effective: float) -> _Series:
        size = np.var(w, axis=0) + 1e-300
        floor = np.diag(_LEAST_LEFT * size)
        sigma = np.diag(size)
        x, inverse = np.zeros(A.shape[2]), np.eye(A.shape[2])
        for _ in range(_REWEIGHTED):
            root = np.linalg.inv(np.linalg.cholesky(sigma))
            rows = (root @ A).reshape(-1, A.shape[2])
            norms = np.maximum(np.linalg.norm(rows, axis=0), np.finfo(float).tiny)
            inverse = np.linalg.pinv(rows / norms, rcond=_ROUNDING) / norms[:, None]
            x = inverse @ (w @ root.T).reshape(-1)
            left = w - A @ x
            sigma = left.T @ left / len(w) + floor
        covariance = inverse @ inverse.T * (len(w) / effective)
        return cls(effective * float(np.linalg.slogdet(sigma)[1]), x, covariance)


def _refusal(before: LeastSquaresFit, after: LeastSquaresFit) -> str:
    """Why a drift is not to be believed: it takes the model with it."""
    errors = [float(np.sqrt(covariance_of(fit)[0, 0])) for fit in (before, after)]
    mass = float(after.x[0])
    moved = abs(mass - float(before.x[0])) / abs(float(before.x[0]))
    if moved > _MASS_MOVED:
        return f"with it the mass changes by {100.0 * moved:.0f} %"
    if errors[1] > max(_MASS_ERROR_GROWN * errors[0], _MASS_ERROR * abs(mass)):
        return f"with it the mass is no longer known to {100.0 * _MASS_ERROR:.0f} %"
    return ""

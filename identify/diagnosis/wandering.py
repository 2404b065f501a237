"""Sensor offsets that wander, by generalised least squares on the means of blocks.

An offset acts on the constant, so in rows by frequency on those of the means alone: one row a
block, or a pose. Where the offset is a walk, with covariance Σ ⊗ ρ min(t, t') in the noise Σ of
those rows, the rows whitened over time, Z' = (1 + ρ C)^-½ Z, obey the same equations with an offset
that stays; where it moves along a line or a step, so do the rows across it. Both are statistics as
any others, so that a fit of them is the corrected one, and its intervals know of the drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from identify.arrays import Array, Indices
from identify.diagnosis.drift_over_time import ALARM, DriftKind, drift_over_time
from identify.diagnosis.score_test import share_of_noise
from identify.errors import ProblemError
from identify.estimation.identifiability import without_noise
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.terms import Term
from identify.regressors import Statistics, System
from identify.regressors.system import whitener
from identify.regressors.triangular import triangle
from identify.signals.transform import CONSTANT

WALK_GAIN = 12.0
"""Twice the log-likelihood that a walk has to gain: no clean log of the study reached it."""

_FEWEST = 5
"""Blocks of a log in which a line or a step can be seen …"""

_FEWEST_STILL = 12
"""… or still poses, which have to tell all unknowns besides …"""

_FEWEST_OF_WALK = 8
"""… or a walk, whose strength has to be told from the noise."""

_FEWEST_FREE = 6.0
"""Degrees of freedom of a channel's means from which on its size is its own …"""

_LEAST_USUAL = 0.3
"""… and the least share of the median size that it has below them."""

_STRENGTHS = np.geomspace(1e-4, 1e4, 33)
_MOST_PLACES = 48
_ROUNDS = 3

_MASS_ERROR_GROWN = 10.0
_MASS_MOVED = 0.2
"""A walk that takes more of the mass than this share of it, or makes its standard error so many
times as large, explains what is no drift: a log that was misread."""


@dataclass(frozen=True, slots=True)
class Drift:
    """An offset that does not stay.

    Attributes:
        kind: how it moves; the finding's code is "bias_step" for a step, else "drift".
        strength: variance of a step of the walk from block to block over the noise of a block's
            mean; zero unless a random walk.
        block: first block after a step, of its log; zero unless a step.
        log: which log; all where negative.
        gain: twice the log-likelihood it gains, its parameters paid for.
        p_value: of no drift.
        statistics: of the logs with it taken off, in the order of the fit's data.
        fit: least squares of those; its intervals know of the drift.
        refused: why it is not to be applied, or empty.
        over_time: for each log, as far as its series shows it, the offset over time in B, rows of
            [t, fx … tz], shape (k, 7); empty where only the means of blocks do.
    """

    kind: DriftKind
    strength: float
    block: int
    log: int
    gain: float
    p_value: float
    statistics: tuple[Statistics, ...]
    fit: LeastSquaresFit
    refused: str = ""
    over_time: tuple[Array, ...] = ()

    @property
    def code(self) -> str:
        """Of the finding."""
        return "bias_step" if self.kind == "step" else "drift"


@dataclass(frozen=True, slots=True)
class _Shape:
    """A drift without its fit."""

    kind: DriftKind
    strength: float = 0.0
    block: int = 0
    log: int = -1


def drift(
    fit: LeastSquaresFit,
    terms: Sequence[Term] = (),
    series: Sequence[tuple[Array, Array]] = (),
) -> Drift | None:
    """The likeliest wandering of the offsets of a fit's logs, or None where they stay.

    Args:
        fit: of rows by frequency or of still poses, each log with an offset of its own.
        terms: of the fit; their equalities hold for the corrected one too.
        series: time [s] and rows z of each log, shapes (n,) and (n, K): of few blocks they tell
            more.
    """
    if len(fit.data.system.data) != 1 or fit.data.system.data[0][1].offsets != "per_log":
        return None
    means = _Means.of(fit)
    if means is None:
        return None
    seen = [_over_time(time, rows, log, means) for log, (time, rows) in enumerate(series)]
    found = [each[0] for each in seen if each is not None]
    nothing = np.zeros((0, 7))
    over_time = tuple(each[1] if each else nothing for each in seen) if found else ()
    if not found:
        ways = _walk(means), _line(means), _step(means)
        found = [way for way in ways if way is not None and way[0] > 0.0]
    if not found:
        return None
    gain, p_value, shape = max(found, key=lambda way: way[0])
    statistics, equations = fit.data.system.data[0]
    corrected = without_drift(
        statistics, shape.kind, strength=shape.strength, block=shape.block, log=shape.log
    )
    try:
        after = weighted_least_squares(System.of([(corrected, equations)]), terms)
        refused = _refusal(fit, after, shape)
    except ProblemError as error:
        after, corrected, refused = fit, statistics, str(error)
    return Drift(
        kind=shape.kind,
        strength=shape.strength,
        block=shape.block,
        log=shape.log,
        gain=gain,
        p_value=p_value,
        statistics=(corrected,),
        fit=after,
        refused=refused,
        over_time=over_time,
    )


def without_drift(
    statistics: Statistics, kind: DriftKind, *, strength: float = 0.0, block: int = 0, log: int = -1
) -> Statistics:
    """Statistics that know of a drift: rows of block means, whitened or turned against it.

    Args:
        statistics: of rows by frequency or of still poses.
        kind: of the drift.
        strength: of a random walk, in the noise of a block's mean.
        block: first block after a step.
        log: which log; all where negative.
    """
    factors, noise = statistics.factors.copy(), statistics.noise.copy()
    effective = statistics.effective_samples.copy()
    for number in range(len(statistics.logs)) if log < 0 else (log,):
        cells = _cells_of_means(statistics, number)
        if len(cells) < 2:
            continue
        M = _against(factors[cells, 0, 0], statistics.block[cells], kind, strength, block)
        factors[cells, 0] = M @ factors[cells, 0]
        kept = float(np.sum(M**2)) / len(cells)
        noise[number, CONSTANT] *= np.sqrt(kept)
        if kind != "random_walk":  # a row is gone
            effective[cells] *= kept
    return replace(statistics, factors=factors, noise=noise, effective_samples=effective)


def _cells_of_means(statistics: Statistics, log: int) -> Indices:
    """Cells of the means of a log in order of time."""
    cells = np.flatnonzero((statistics.log == log) & (statistics.group == CONSTANT))
    return cells[np.argsort(statistics.block[cells], kind="stable")]


def _walked(constants: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors of a walk's covariance in rows of these constants."""
    sizes = constants / np.sqrt(np.mean(constants**2))
    steps = np.arange(len(constants), dtype=np.float64)
    values, vectors = np.linalg.eigh(np.minimum.outer(steps, steps) * np.outer(sizes, sizes))
    return np.maximum(values, 0.0), vectors


def _basis(constants: Array, blocks: Indices, kind: DriftKind, block: int) -> Array:
    """A line or a step in rows of these constants, beside an offset that stays, shape (n,)."""
    rank = np.arange(len(blocks), dtype=np.float64)
    moving = (blocks >= block).astype(np.float64) if kind == "step" else rank
    basis = constants * moving
    return basis - constants * (constants @ basis) / (constants @ constants)


def _against(
    constants: Array, blocks: Indices, kind: DriftKind, strength: float, block: int
) -> Array:
    """What whitens the rows of a log's means over time, or takes the drift out, shape (n, n)."""
    if kind == "random_walk":
        values, vectors = _walked(constants)
        return (vectors / np.sqrt(1.0 + strength * values)) @ vectors.T
    basis = _basis(constants, blocks, kind, block)
    size = float(basis @ basis)
    if not size > 0.0:
        return np.eye(len(basis))
    return np.eye(len(basis)) - np.outer(basis, basis) / size


@dataclass(frozen=True, slots=True)
class _Means:
    """The means of all logs as equations, and what the other rows say of the unknowns.

    Attributes:
        rows: [y | offsets | r] of each mean, whitened, shape (n, 6, q).
        log: of each, shape (n,).
        block: of each, shape (n,).
        constant: of each, shape (n,).
        rest: rows [y | offsets | r] of all else, shape (k, q).
        known: how many of the unknowns the rest leaves to the means, per channel.
    """

    rows: Array
    log: Indices
    block: Indices
    constant: Array
    rest: Array
    taken: float

    @classmethod
    def of(cls, fit: LeastSquaresFit) -> _Means | None:
        """Of a fit of one entry of data; None where there are too few."""
        system, split, x = fit.data.system, fit.identifiability, fit.x
        statistics, equations = system.data[0]
        groups = [g for _, g in system.members]
        if CONSTANT not in groups:
            return None
        directions = np.concatenate((split.identifiable, split.unidentifiable), axis=1)
        to_y = fit.scaling.to_x @ directions
        lever = np.concatenate(([1.0], -x))
        k, logs = to_y.shape[1], len(statistics.logs)
        offsets = system.offsets(x, fit.weights)
        q, width = k + 6 * logs + 1, statistics.layout.fit
        rows, of_log = [], []
        root = whitener(fit.weights[groups.index(CONSTANT)])
        for log in range(logs):
            cells = _cells_of_means(statistics, log)
            C = equations.residual(log, CONSTANT)
            z = statistics.factors[cells, 0, :width]
            placed = np.zeros((width, 6, q))
            placed[..., :k], placed[..., -1] = C[..., 1:] @ to_y, C @ lever
            placed[0, :, -1] -= offsets[log]
            placed[0, :, k + 6 * log : k + 6 * log + 6] = np.eye(6)
            rows.append(root @ np.tensordot(z, placed, axes=1))
            of_log.append(cells)
        cells = np.concatenate(of_log)
        still = len(groups) == 1
        if len(cells) < (_FEWEST_STILL if still else _FEWEST):
            return None
        stacks, noises = [np.zeros((0, k + 1))], [np.zeros((0, k + 1))]
        share = share_of_noise(fit)
        for g, group, weight in zip(groups, system.groups, fit.weights, strict=True):
            if g == CONSTANT:
                continue
            own = whitener(weight)
            for stack, found in (
                (group.rest, stacks),
                (group.first, stacks),
                (group.noise, noises),
            ):
                both = np.concatenate((stack[..., 1:] @ to_y, (stack @ lever)[..., None]), axis=-1)
                found.append((own @ both).reshape(-1, k + 1))
        drawn = np.zeros((split.unidentifiable.shape[1], k + 1))
        drawn[:, split.identifiable.shape[1] : k] = np.eye(len(drawn))
        weak = np.concatenate((1e-9 * np.eye(k), np.zeros((k, 1))), axis=1)
        noise = np.sqrt(share) * np.concatenate(noises)
        A, b = without_noise(np.concatenate((*stacks, drawn, weak)), noise)
        rest = np.zeros((k, q))
        rest[:, :k], rest[:, -1] = A, b
        return cls(
            rows=np.concatenate(rows),
            log=statistics.log[cells],
            block=statistics.block[cells],
            constant=statistics.factors[cells, 0, 0],
            rest=rest,
            taken=1.0 + (k / 6.0 if still else 0.0),
        )

    def turned(self, per_log: Sequence[Array]) -> Array:
        """Rows with those of each log turned by a matrix, shape (n, 6, q)."""
        rows = self.rows.copy()
        for log, M in enumerate(per_log):
            mine = self.log == log
            rows[mine] = np.tensordot(M, rows[mine], axes=1)
        return rows

    def sizes(self, rows: Array, variances: Array, lost: int = 0) -> tuple[Array, float]:
        """Mean square of what is left in each whitened channel, at the best unknowns.

        Args:
            rows: of the means.
            variances: of each row, in the noise of a channel, shape (n,).
            lost: rows of each channel that were taken out.

        Returns:
            The sizes, shape (6,), and minus twice the restricted log-likelihood (Patterson and
            Thompson 1971) at these.
        """
        left_over = len(rows) - self.taken - lost
        size, cost = np.ones(6), 0.0
        for _ in range(_ROUNDS):
            weight = 1.0 / np.sqrt(variances[:, None] * size)
            means = (weight[..., None] * rows).reshape(-1, rows.shape[-1])
            R = triangle(np.concatenate((means, self.rest)))
            y = np.linalg.lstsq(R[:-1, :-1], R[:-1, -1], rcond=None)[0]
            cost = float(R[-1, -1] ** 2 - 2.0 * np.log(weight).sum())
            cost += 2.0 * float(np.log(np.abs(np.diag(R)[:-1])).sum())
            left = rows[..., -1] - rows[..., :-1] @ y
            size = np.maximum((left**2 / variances[:, None]).sum(axis=0) / left_over, 1e-30)
        return size, cost


_Way: TypeAlias = tuple[float, float, _Shape]
"""What a shape gains, its p, and the shape."""


def _over_time(seconds: Array, rows: Array, log: int, means: _Means) -> tuple[_Way, Array] | None:
    """A drift that the series of a log shows, and its offset over time."""
    blocks = np.unique(means.block[means.log == log])
    seen = drift_over_time(seconds, rows) if len(blocks) >= _FEWEST else None
    if seen is None:
        return None
    shape = _Shape(seen.kind)
    if seen.kind == "step":
        place = min(max(round(seen.at * len(blocks)), 1), len(blocks) - 1)
        shape = _Shape("step", block=int(blocks[place]), log=log)
    elif seen.kind == "random_walk":
        shape = replace(shape, strength=_strength(means)[0])
    return (seen.gain, seen.p_value, shape), seen.offset


def _walk(means: _Means) -> tuple[float, float, _Shape] | None:
    """A walk by its likelihood."""
    from scipy.special import chdtrc

    if int(np.bincount(means.log).max()) < _FEWEST_OF_WALK:
        return None
    strength, gain = _strength(means)
    if gain < WALK_GAIN:
        return None
    p_value = 0.5 * float(chdtrc(1.0, gain))
    paid = float(np.log(6.0 * len(means.rows)))
    return gain - paid, p_value, _Shape("random_walk", strength=strength)


def _strength(means: _Means) -> tuple[float, float]:
    """Strength of a walk by maximum likelihood, and twice the log-likelihood it gains."""
    logs = range(int(means.log.max()) + 1)
    ways = [_walked(means.constant[means.log == log]) for log in logs]
    rows = means.turned([vectors.T for _, vectors in ways])
    values = np.concatenate([of_log for of_log, _ in ways])

    def cost(strength: float) -> float:
        return means.sizes(rows, 1.0 + strength * values)[1]

    costs = [cost(strength) for strength in _STRENGTHS]
    best = int(np.argmin(costs))
    return float(_STRENGTHS[best]), cost(0.0) - costs[best]


def _line(means: _Means) -> tuple[float, float, _Shape] | None:
    """A line in every log of enough means."""
    turned, lost = [], 0
    for log in range(int(means.log.max()) + 1):
        mine = means.log == log
        M = _against(means.constant[mine], means.block[mine], "linear", 0.0, 0)
        turned.append(M)
        lost += int(mine.sum() > 1)
    return _turned(means, turned, lost, 1, _Shape("linear"))


def _step(means: _Means) -> tuple[float, float, _Shape] | None:
    """The likeliest step in any log."""
    found = []
    logs = range(int(means.log.max()) + 1)
    for log in logs:
        blocks = means.block[means.log == log]
        places = np.unique(np.linspace(2, len(blocks) - 2, _MOST_PLACES).astype(int))
        for place in places.tolist() if len(blocks) >= _FEWEST else ():
            block = int(blocks[place])
            turned = [
                _against(means.constant[mine], means.block[mine], "step", 0.0, block)
                if log == other
                else np.eye(int(mine.sum()))
                for other in logs
                for mine in [means.log == other]
            ]
            shape = _Shape("step", block=block, log=log)
            found.append((turned, shape))
    ways = [_turned(means, turned, 1, len(found), shape) for turned, shape in found]
    return max((way for way in ways if way is not None), key=lambda way: way[0], default=None)


def _turned(
    means: _Means, turned: Sequence[Array], lost: int, places: int, shape: _Shape
) -> tuple[float, float, _Shape] | None:
    """What taking a shape out of the means gains, by F tests of each channel."""
    from scipy.special import chdtrc, fdtrc

    n = len(means.rows)
    ones = np.ones(n)
    free = n - means.taken - lost
    if free < 1.0 or not lost:
        return None
    before = means.sizes(means.rows, ones)[0] * (n - means.taken)
    after = means.sizes(means.turned(turned), ones, lost)[0] * free
    # Of few means a channel is quiet by chance: it has a share of the size of others at the least.
    usual = _LEAST_USUAL * float(np.median(after)) if free < _FEWEST_FREE else 0.0
    ratios = np.maximum((before - after) / lost / (np.maximum(after, usual) / free), 0.0)
    each = np.maximum(fdtrc(lost, free, ratios), np.finfo(float).tiny)
    # Channels have noise of sizes of their own: their tests are put together (Fisher 1925).
    together = float(chdtrc(2.0 * len(each), -2.0 * np.log(each).sum()))
    p_value = min(1.0, places * together)
    gain = free * float(np.log(before / after).sum())
    if p_value >= ALARM or gain <= 0.0:
        return None
    return gain - (6.0 * lost + (places > 1)) * float(np.log(6.0 * n)), p_value, shape


def _refusal(before: LeastSquaresFit, after: LeastSquaresFit, shape: _Shape) -> str:
    """Why a drift is not to be believed: it takes the model with it."""
    if shape.strength >= _STRENGTHS[-1]:
        return "it would be all there is, without noise beside it"
    errors = [float(np.sqrt(covariance_of(fit)[0, 0])) for fit in (before, after)]
    moved = abs(float(after.x[0] - before.x[0])) / abs(float(before.x[0]))
    if moved > _MASS_MOVED:
        return f"with it the mass changes by {100.0 * moved:.0f} %"
    if errors[1] > _MASS_ERROR_GROWN * errors[0] and errors[1] > 0.05 * abs(float(after.x[0])):
        return "with it the mass is no longer known to 5 %"
    return ""

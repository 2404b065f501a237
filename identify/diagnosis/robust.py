"""Times at which the model fails, and weights that bound what single blocks say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.diagnosis.spans import Span, runs
from identify.errors import ProblemError
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.terms import Term
from identify.regressors import FEATURE_TENSOR, Statistics, System
from identify.regressors.wrench import PSI, W

Loss: TypeAlias = Literal["huber", "student"]

STRETCH_SECONDS = 0.5
"""Stretches of time that are judged as one …"""

_ROWS_A_STRETCH = 5
"""… or of so many rows of the series, if that is longer."""

_KEPT = 0.7
"""Share of the stretches that the body is fitted to while the others may be anything."""

_ROUNDS = 8
_LEVEL = 1e-4
"""Chance that any stretch of a clean log is called a contact, if energies were of χ² …"""

_LEAST_ENERGY = 30.0
"""… which they are not quite: noise of the pose grows with the motion. So a contact has so much of
the median's energy, too: clean logs of the study had up to 12, of ten seconds and noise in the pose
alone up to 21, contacts of 5 % of the weight more than 80."""

_LEAST_SIZE, _LEAST_MEDIAN = 1e-6, 0.3
"""Residuals of a thousandth of the wrench's spread are taken for noise at the least: of an exact
wrench what is left is the pose's noise, which grows and falls with the motion."""

_MOST_SHARE = 0.45
"""Share of the stretches above which it is not contacts: the model fails as a whole."""

_FEWEST = 12
"""Stretches among which some can stand out."""

_STUDENT = 4.0
"""Degrees of freedom of the loss of Student's t."""

_LEAST_USUAL = 1e-6
"""Least energy of a median cell, in what the weights expect."""

_HUBER = 2.0
"""Standard deviations of a cell's energy above one from which Huber's loss takes it linearly."""


def segments(time: Array, rows: Array, segment_ids: Indices) -> tuple[Span, ...]:
    """Spans of time whose wrench no rigid body explains: contact, a cable's pull.

    A body is fitted to the stretches it explains best (least trimmed squares, Rousseeuw 1984);
    those whose residual has more energy than the spread of the others allows are named.

    Args:
        time: of the series [s], shape (n,).
        rows: z = [1, ψ, w, …] averaged over short stretches (`PreparedLog.rows`), shape (n, K).
        segment_ids: of the rows, shape (n,).

    Returns:
        In order of time, each with its energy in that of the median stretch; none where the model
        fails all over, or the log is too short to tell.
    """
    if len(time) < 2:
        return ()
    stretch = _stretches(time, segment_ids)
    count = int(stretch[-1]) + 1
    if count < _FEWEST:
        return ()
    energy = _energies(rows, stretch, count)
    median = max(float(np.median(energy)), _LEAST_MEDIAN)
    above = energy > median * max(_LEAST_ENERGY, _limit(energy / median, count))
    if above.mean() > _MOST_SHARE:
        return ()
    spans = []
    for start, stop in runs(_without_gaps(above)).tolist():
        inside = np.flatnonzero((stretch >= start) & (stretch < stop))
        size = float(energy[start:stop].max()) / median
        span = Span("contact", float(time[inside[0]]), float(time[inside[-1]]), len(inside), size)
        spans.append(span)
    return tuple(spans)


def _stretches(time: Array, segment_ids: Indices) -> Indices:
    """Number of the stretch of each row; none goes over an end of a segment, shape (n,)."""
    step = float(np.median(np.diff(time)))
    length = max(_ROWS_A_STRETCH, round(STRETCH_SECONDS / step))
    numbers = np.zeros(len(time), dtype=np.intp)
    last = -1
    for start, stop in _segments(segment_ids):
        pieces = max(1, (stop - start) // length)
        own = np.arange(stop - start) * pieces // (stop - start)
        numbers[start:stop] = own + last + 1
        last += pieces
    return numbers


def _segments(segment_ids: Indices) -> list[tuple[int, int]]:
    edges = np.concatenate(([0], np.flatnonzero(np.diff(segment_ids)) + 1, [len(segment_ids)]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _energies(rows: Array, stretch: Indices, count: int) -> Array:
    """Mean square of each stretch's residual, in that of the best ones, shape (count,)."""
    A = np.zeros((len(rows), 6, 16))
    A[..., :10] = np.tensordot(rows[:, PSI], FEATURE_TENSOR, axes=1)
    A[..., 10:] = rows[:, 0, None, None] * np.eye(6)
    w = rows[:, W]
    norms = np.sqrt(np.mean(A**2, axis=(0, 1)))
    A /= np.where(norms > 0.0, norms, 1.0)
    size = np.var(w, axis=0) + 1e-30
    lengths = np.bincount(stretch, minlength=count)
    kept = np.ones(len(rows), dtype=np.bool_)
    energy = np.zeros(count)
    for _ in range(_ROUNDS):
        scale = 1.0 / np.sqrt(size)
        left = (A[kept] * scale[:, None]).reshape(-1, 16)
        y = np.linalg.lstsq(left, (w[kept] * scale).reshape(-1), rcond=1e-8)[0]
        r = w - A @ y
        size = np.maximum(np.mean(r[kept] ** 2, axis=0), _LEAST_SIZE * np.var(w, axis=0) + 1e-300)
        of_row = np.mean(r**2 / size, axis=1)
        energy = np.bincount(stretch, of_row, minlength=count) / lengths
        best = energy <= np.quantile(energy, _KEPT)
        if (best[stretch] == kept).all():
            break
        kept = best[stretch]
    return energy


def _limit(ratios: Array, count: int) -> float:
    """Energy over the median that χ² of the spread they show does not reach."""
    from scipy.special import chdtri

    logs = np.log(np.maximum(ratios, 1e-12))
    spread = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    degrees = max(2.0 / max(spread, 1e-3) ** 2, 1.0)
    return float(chdtri(degrees, _LEVEL / count) / chdtri(degrees, 0.5))


def _without_gaps(flags: Flags) -> Flags:
    """Flags with single gaps closed: a contact that changes sign passes through zero."""
    closed = flags.copy()
    closed[1:-1] |= flags[:-2] & flags[2:]
    return closed


def robust_weights(
    fit: LeastSquaresFit, loss: Loss = "huber", terms: Sequence[Term] = ()
) -> tuple[Array, ...]:
    """Weight of each cell of a fit's statistics by a robust loss of its residuals.

    Weights and the fit they belong to are found in turn; `weighted_cells` gives the statistics.

    Args:
        fit: least squares of all cells.
        loss: Huber's, which takes residuals beyond the usual linearly, or that of Student's t with
            four degrees of freedom, which forgets what is far out.
        terms: of the fit.

    Returns:
        For each statistics of the fit's data shape (cells,).

    Raises:
        ProblemError: so weighted, the data tell no body.
    """
    if loss not in ("huber", "student"):
        raise ProblemError(f"loss: expected 'huber' or 'student', got {loss!r}")
    data, now = fit.data.system.data, fit
    weights = tuple(np.ones(len(statistics)) for statistics, _ in data)
    for _ in range(_ROUNDS):
        before = weights
        weights = _weights_at(fit.data.system, now, loss)
        if max(np.abs(w - b).max() for w, b in zip(weights, before, strict=True)) < 1e-2:
            break
        weighted = [
            (weighted_cells(statistics, own), equations)
            for (statistics, equations), own in zip(data, weights, strict=True)
        ]
        now = weighted_least_squares(System.of(weighted), terms)
    return weights


def _weights_at(system: System, fit: LeastSquaresFit, loss: Loss) -> tuple[Array, ...]:
    """Weights of the cells of a system at a fit of them."""
    weights = [np.ones(len(statistics)) for statistics, _ in system.data]
    lever = np.concatenate(([1.0], -fit.x))
    offsets = fit.data.system.offsets(fit.x, fit.weights)
    first_log = np.cumsum([0, *(len(statistics.logs) for statistics, _ in system.data)])
    for (number, g), W_group in zip(system.members, fit.weights, strict=True):
        statistics, equations = system.data[number]
        for log in range(len(statistics.logs)):
            cells = np.flatnonzero((statistics.log == log) & (statistics.group == g))
            C = equations.residual(log, g) @ lever
            C[0] -= offsets[first_log[number] + log]
            r = statistics.factors[cells][..., : len(C)] @ C
            n = len(W_group) * np.maximum(statistics.effective_samples[cells], 1.0)
            energy = np.einsum("cki,ij,ckj->c", r, W_group, r) / n
            # What is to be weighted down is in the scatter too, that the weights were found from.
            energy = energy / min(1.0, max(float(np.median(energy)), _LEAST_USUAL))
            if loss == "student":
                weights[number][cells] = np.minimum(1.0, (_STUDENT + n) / (_STUDENT + n * energy))
            else:
                limit = 1.0 + _HUBER * np.sqrt(2.0 / n)
                weights[number][cells] = np.minimum(1.0, limit / np.sqrt(np.maximum(energy, 1e-30)))
    return tuple(weights)


def weighted_cells(statistics: Statistics, weights: Array) -> Statistics:
    """Statistics whose cells count as much as their weights say.

    Args:
        statistics: any.
        weights: of the cells, between zero and one, shape (cells,).

    Raises:
        ProblemError: there are not as many weights as cells.
    """
    if weights.shape != (len(statistics),):
        raise ProblemError(
            f"weights: expected one for each of {len(statistics)} cells, got {weights.shape}"
        )
    return replace(
        statistics,
        factors=np.sqrt(weights)[:, None, None] * statistics.factors,
        samples=weights * statistics.samples,
        effective_samples=weights * statistics.effective_samples,
    )

"""Times at which the model fails: contacts."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.diagnosis.spans import Span, runs
from identify.regressors import FEATURE_TENSOR
from identify.regressors.wrench import PSI, W

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

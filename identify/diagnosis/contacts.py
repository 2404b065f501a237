"""Times at which the model fails: contacts; and still poses that are another's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.diagnosis.signal_faults import Span, runs
from identify.logs.effects import EFFECT_KEYS
from identify.regressors import FEATURE_TENSOR
from identify.significance import CONTACT_ALARM_P
from identify.spatial.columns import PSI, W

STRETCH_SECONDS = 0.5
"""Stretches of time that are judged as one …"""

_ROWS_A_STRETCH = 5
"""… or of so many rows of the series, if that is longer."""

_LTS_SHARE = 0.5
"""Share of the stretches that the body is fitted to while the others may be anything …"""

_TRIMMING_STARTS = 3
"""… starting from all of them, and from each of so many parts of the log, …"""

_REFERENCE_QUANTILE = 0.25
"""… and the quantile of their energies that is the usual one where contacts may be more than half:
else it is the median, as what drifts makes the best stretches too good."""

_TRIMMING_ROUNDS = 12
_LEAST_ENERGY = 30.0
"""Least energy of a contact in the usual one. Energies are not quite those of χ², as noise of the
pose grows with the motion: clean logs of the study had up to 12, of ten seconds and noise in the
pose alone up to 21, contacts of 5 % of the weight more than 80 …"""

_LEAST_OF_UNEXPLAINED = 4.0
"""… and so many where the logs are known to be unexplained: an arm that vibrates hides the rest."""

_LEAST_RESIDUAL, _LEAST_USUAL = 1e-6, 0.3
"""Residuals of a thousandth of the wrench's spread are taken for noise at the least: of an exact
wrench what is left is the pose's noise, which grows and falls with the motion."""

_MOST_SHARE, _MOST_OF_UNEXPLAINED = 0.45, 0.7
"""Share of the stretches above which it is not contacts: the model fails as a whole."""

_LAST_PART = 0.25
"""Share of the series that, at the start or the end of a log, are sooner of another offset or
body than a contact."""

LEAST_CONTACT, _MOST_CONTACT, _LONGEST = 0.2, 0.5, 0.2
"""Share of a log that contacts are, at the least and at the most, where they alone leave it
unexplained, and share of them that the longest is at the least: logs of half a minute that were
read wrongly had six and more, of up to 0.19 of all of them, contacts on purpose one."""

_FEWEST_STRETCHES = 12
"""Stretches among which some can stand out."""

_INFORMATION_ROUNDING = 1e-12
"""Share of the largest information below which a direction is rounding."""

FEWEST_POSES, _MOST_POSES = 8, 0.2
"""Still poses among which one can be told to be wrong, and share of them that may be."""

_POSE_STARTS, _POSES_TO_START = 30, 6
"""How often, besides from all, the fit to still poses starts from a few, and from how many."""


def contact_spans(
    time: Array,
    rows: Array,
    segment_ids: Indices,
    *,
    unexplained: bool = False,
) -> tuple[Span, ...]:
    """Spans of time whose wrench no rigid body explains: contact, a cable's pull.

    A body is fitted to the stretches it explains best (least trimmed squares, Rousseeuw 1984);
    those whose residual has more energy than the spread of the others allows are named.

    Args:
        time: of the series [s], shape (n,).
        rows: z = [1, ψ, w, …] averaged over short stretches (`PreparedLog.rows`), shape (n, K).
        segment_ids: of the rows, shape (n,).
        unexplained: whether nothing else explains the log: contacts may then be most of it, and
            stand out less.

    Returns:
        In order of time, each with its energy in the usual one; none where the model fails all
        over, or the log is too short to tell.
    """
    if len(time) < 2:
        return ()
    stretch = _stretches(time, segment_ids)
    count = int(stretch[-1]) + 1
    if count < _FEWEST_STRETCHES:
        return ()
    energy = _energies(rows, stretch, count)
    usual = max(
        float(np.quantile(energy, _REFERENCE_QUANTILE if unexplained else 0.5)), _LEAST_USUAL
    )
    if unexplained:
        above = energy > _LEAST_OF_UNEXPLAINED * usual
    else:
        above = energy > usual * max(_LEAST_ENERGY, _energy_limit(energy / usual, count))
    if above.mean() > (_MOST_OF_UNEXPLAINED if unexplained else _MOST_SHARE):
        return ()
    spans = []
    for start, stop in runs(_without_gaps(above)).tolist():
        inside = np.flatnonzero((stretch >= start) & (stretch < stop))
        size = float(energy[start:stop].max()) / usual
        span = Span("contact", float(time[inside[0]]), float(time[inside[-1]]), len(inside), size)
        spans.append(span)
    return tuple(spans)


_LEAST_WRONG = max(EFFECT_KEYS[name].cap for name in ("force_drift", "torque_drift"))
"""Residual of a wrong pose in the spread of the wrench: up to it an offset that drifts makes as
much, which every fit takes off."""


def wrong_rows(rows: Array) -> tuple[Span, ...]:
    """Runs of still poses, by number from zero, that the body of the others does not explain.

    None is named where more than a fifth would be, and none that alone tells something of the body.

    Args:
        rows: z = [1, ψ, w, …] of the poses, shape (n, K).
    """
    n = len(rows)
    if n < FEWEST_POSES:
        return ()
    rng, each = np.random.default_rng(0), np.ones(n, dtype=np.bool_)
    starts = [each, *(rng.permutation(n) < _POSES_TO_START for _ in range(_POSE_STARTS))]
    energy = _energies(rows, np.arange(n), n, starts, 1.0 - _MOST_POSES)
    wrong = energy > _LEAST_ENERGY * max(float(np.median(energy)), _LEAST_USUAL)
    if not 0 < wrong.sum() <= _MOST_POSES * n:
        return ()
    # Against a plain fit of the others: of a few, trimmed squares leave less than noise.
    A, y, _ = wrench_equations(rows)
    others = A[~wrong].reshape(-1, 16)
    by_others = A @ np.linalg.pinv(others, rcond=1e-9)
    squares = (y - by_others @ y[~wrong].reshape(-1)).reshape(n, 2, 3) ** 2
    free = 1.0 - np.trace(by_others[~wrong].reshape(len(others), -1)) / len(others)
    size = np.maximum(squares[~wrong].mean(axis=(0, 2)) / free, _LEAST_RESIDUAL)
    energy = (squares.mean(axis=2) / size).mean(axis=1) / (1 + np.sum(by_others**2, 2).mean(axis=1))
    outside = np.abs(A - by_others @ others).max(axis=(1, 2))
    wrong &= (energy > _LEAST_ENERGY) & (outside < 1e-6 * np.abs(A).max())
    wrong &= np.sqrt(squares.mean(axis=2)).max(axis=1) > _LEAST_WRONG
    return tuple(
        Span("wrong_rows", float(a), float(b - 1), b - a, float(energy[a:b].max()))
        for a, b in runs(wrong).tolist()
    )


def wrench_equations(rows: Array) -> tuple[Array, Array, Array]:
    """Equations A x = y of samples in a body and an offset, in the spread of the wrench.

    Returns:
        A, shape (n, 6, 16), y, shape (n, 6), and the spread of force and torque [N, N m], (6,).
    """
    spread = np.repeat(np.sqrt(np.var(rows[:, W], axis=0).reshape(2, 3).mean(axis=1)), 3) + 1e-300
    offsets = np.broadcast_to(np.eye(6), (len(rows), 6, 6))
    A = np.concatenate((np.tensordot(rows[:, PSI], FEATURE_TENSOR, axes=1), offsets), axis=-1)
    return A / spread[:, None], rows[:, W] / spread, spread


def unless_scattered(spans: tuple[Span, ...], time: Array) -> tuple[Span, ...]:
    """Contacts of a log, or none where they are no events: half of it, or many over all of it.

    What is read wrongly stands out wherever the motion is fast, again and again.

    Args:
        spans: of the log.
        time: of its series [s], shape (n,).
    """
    rows = [span.rows for span in spans if span.code == "contact"]
    share = sum(rows) / len(time)
    few = max(rows, default=0) >= _LONGEST * sum(rows) or share <= LEAST_CONTACT
    return spans if few and share <= _MOST_CONTACT else ()


def without_long_ends(spans: Sequence[Span], time: Array) -> tuple[Span, ...]:
    """Those of some contacts that are no long part at the start or the end of a log.

    Args:
        spans: of the log.
        time: of its series [s], shape (n,).
    """
    return tuple(
        span
        for span in spans
        if (time[0] < span.start and span.stop < time[-1]) or span.rows <= _LAST_PART * len(time)
    )


def _stretches(time: Array, segment_ids: Indices) -> Indices:
    """Number of the stretch of each row; none goes over an end of a segment, shape (n,)."""
    step = float(np.median(np.diff(time)))
    length = max(_ROWS_A_STRETCH, round(STRETCH_SECONDS / step))
    numbers = np.zeros(len(time), dtype=np.intp)
    last = -1
    for start, stop in segment_edges(segment_ids):
        pieces = max(1, (stop - start) // length)
        own = np.arange(stop - start) * pieces // (stop - start)
        numbers[start:stop] = own + last + 1
        last += pieces
    return numbers


def segment_edges(segment_ids: Indices) -> list[tuple[int, int]]:
    """First and one past the last row of each segment."""
    edges = np.concatenate(([0], np.flatnonzero(np.diff(segment_ids)) + 1, [len(segment_ids)]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _energies(
    rows: Array,
    stretch: Indices,
    count: int,
    starts: Sequence[Flags] | None = None,
    share: float = _LTS_SHARE,
) -> Array:
    """Mean square of each stretch's residual, in that of the best ones, shape (count,).

    Args:
        rows: of the series, shape (n, K).
        stretch: of each row, shape (n,).
        count: how many there are.
        starts: stretches to start from, each of shape (count,); all and each third if not given.
        share: of the stretches that are fitted.
    """
    A = np.zeros((len(rows), 6, 17))
    A[..., :10] = np.tensordot(rows[:, PSI], FEATURE_TENSOR, axes=1)
    A[..., 10:16] = rows[:, 0, None, None] * np.eye(6)
    norms = np.sqrt(np.mean(A**2, axis=(0, 1)))
    A /= np.where(norms > 0.0, norms, 1.0)
    A[..., 16] = rows[:, W]
    A = np.ascontiguousarray(A.swapaxes(0, 1))
    parts = [A[:, start:stop] for start, stop in segment_edges(stretch)]
    moments = np.array([part.swapaxes(-1, -2) @ part for part in parts])
    lengths = np.array([part.shape[1] for part in parts])
    spread = np.var(rows[:, W], axis=0)
    third = np.arange(count) * _TRIMMING_STARTS // count
    if starts is None:
        starts = [
            np.ones(count, dtype=np.bool_),
            *(third == part for part in range(_TRIMMING_STARTS)),
        ]
    trimmed = [_least_trimmed_squares(moments, lengths, spread, start, share) for start in starts]
    return min(trimmed, key=lambda found: found[0])[1]


def _least_trimmed_squares(
    moments: Array, lengths: Indices, spread: Array, kept: Flags, share: float
) -> tuple[float, Array]:
    """Least trimmed squares from some of the stretches on.

    Args:
        moments: [A | w]ᵀ[A | w] of each stretch and axis, shape (count, 6, 17, 17).
        lengths: rows of each stretch, shape (count,).
        spread: variance of the wrench, shape (6,).
        kept: stretches that it starts from.
        share: of the stretches that are kept.

    Returns:
        The logarithm of what is left of those kept at the end, and the energy of each stretch.
    """
    size, energy = spread + 1e-30, np.zeros(len(lengths))
    for _ in range(_TRIMMING_ROUNDS):
        N = np.tensordot(1.0 / size, moments[kept].sum(axis=0), axes=1)
        scale = np.sqrt(np.maximum(np.diag(N)[:16], 1e-300))
        values, vectors = np.linalg.eigh(N[:16, :16] / np.outer(scale, scale))
        known = values > _INFORMATION_ROUNDING * values[-1]
        along = (vectors[:, known] / values[known]) @ vectors[:, known].T
        lever = np.append(-(along @ (N[:16, 16] / scale)) / scale, 1.0)
        power = np.maximum(moments @ lever @ lever, 0.0)
        left = power[kept].sum(axis=0) / lengths[kept].sum()
        size = np.maximum(left, _LEAST_RESIDUAL * spread + 1e-300)
        energy = np.mean(power / lengths[:, None] / size, axis=1)
        best = energy <= np.quantile(energy, share)
        if (best == kept).all():
            break
        kept = best
    return float(np.log(size).sum()), energy


def _energy_limit(ratios: Array, count: int) -> float:
    """Energy over the median that χ² of the spread they show does not reach."""
    from scipy.special import chdtri

    logs = np.log(np.maximum(ratios, 1e-12))
    spread = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    degrees = max(2.0 / max(spread, 1e-3) ** 2, 1.0)
    return float(chdtri(degrees, CONTACT_ALARM_P / count) / chdtri(degrees, 0.5))


def _without_gaps(flags: Flags) -> Flags:
    """Flags with single gaps closed: a contact that changes sign passes through zero."""
    closed = flags.copy()
    closed[1:-1] |= flags[:-2] & flags[2:]
    return closed

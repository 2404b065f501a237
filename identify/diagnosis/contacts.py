"""Detection of contacts, and of static poses that belong to another body or attitude."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.diagnosis.spans import Span, true_runs
from identify.logs.effect_keys import EFFECT_KEYS
from identify.regressors import WrenchEquations
from identify.regressors.newton_euler import regressor_with_offset
from identify.significance import CONTACT_FALSE_ALARM_P
from identify.spatial.columns import FEATURES, FIT_COLUMN_COUNT, WRENCH

WINDOW_SECONDS = 0.5
"""Length of the windows of time whose residual energy is tested [s]."""

_MIN_WINDOW_ROWS = 5
"""Fewest rows of the series in a window."""

_TRIMMED_FRACTION = 0.5
"""Fraction of the windows to which least trimmed squares fit the body."""

_TRIMMING_STARTS = 3
"""Number of parts of the log from each of which the trimming starts, besides all windows."""

_REFERENCE_QUANTILE = 0.25
"""Quantile of the windows' residual energies that is the reference energy if contacts may be more
than half of the log; otherwise the median, as drift makes the best windows' energies small."""

_MAX_TRIMMING_ITERATIONS = 12
"""Largest number of iterations of least trimmed squares."""

_MIN_CONTACT_ENERGY = 30.0
"""Smallest residual energy of a contact, relative to the reference energy. Energies are not exactly
χ², as noise of the pose grows with the motion: clean logs of the study had up to 12, logs of ten
seconds with noise in the pose alone up to 21, contacts of 5 % of the weight more than 80."""

_MIN_ENERGY_IF_UNEXPLAINED = 4.0
"""Smallest relative residual energy of a contact in a log that no single body fits, where a
vibrating arm raises the reference energy."""

_MIN_RESIDUAL_VARIANCE = 1e-6
"""Smallest variance of the noise relative to that of the wrench. The residual of an exact wrench is
noise of the pose, which grows and falls with the motion."""

_MIN_REFERENCE_ENERGY = 0.3
"""Smallest residual energy with which the energies of a log's windows are compared."""

_MAX_CONTACT_WINDOWS = 0.45
"""Fraction of the windows above which the body fails to fit the whole log, not only at contacts."""

_MAX_CONTACT_WINDOWS_IF_UNEXPLAINED = 0.7
"""Fraction of the windows above which no contacts are found in a log that no single body fits."""

_MAX_END_CONTACT = 0.25
"""Longest contact at the start or the end of a log, as a fraction of the log; a longer span is more
likely to have another offset or body."""

DOMINANT_CONTACT_FRACTION = 0.2
"""Fraction of a log above which contacts alone can cause a large residual of the whole log."""

_MAX_CONTACT_FRACTION = 0.5
"""Largest fraction of a log in contact; larger residual spans are due to a wrong schema."""

_MIN_LONGEST_CONTACT = 0.2
"""Smallest fraction of the total contact time that the longest contact takes: logs of half a minute
with a wrong schema had six and more spans, each up to 0.19 of their sum; true contacts had one."""

_MIN_WINDOWS = 12
"""Fewest windows among which outliers can be detected."""

_INFORMATION_ROUNDING = 1e-12
"""Ratio to the largest information below which a direction of the parameters is rounding."""

MIN_POSES = 8
"""Fewest static poses among which a wrong pose can be detected."""

_MAX_WRONG_FRACTION = 0.2
"""Largest fraction of the static poses that may be wrong."""

_POSE_STARTS, _POSES_PER_START = 30, 6
"""Number of random subsets from which the fit to static poses starts, besides all poses, and number
of poses in a subset."""


def contact_spans(
    time: Array,
    rows: Array,
    segment_ids: Indices,
    *,
    unexplained: bool = False,
) -> tuple[Span, ...]:
    """Find time spans whose wrench does not fit the body of the rest, such as contacts or a cable.

    A body is fitted to the windows that it explains best (least trimmed squares, Rousseeuw 1984).
    Windows whose residual energy is an outlier among all windows form the spans.

    Args:
        time: time of the series [s], shape (n,).
        rows: z = [1, ψ, w, …] averaged over short intervals (`PreparedLog.rows`), shape (n, K).
        segment_ids: number of the segment of each row, shape (n,).
        unexplained: whether no single body and no fault fits the log; contacts may then be most of
            it, and exceed the reference energy less.

    Returns:
        Spans in order of time, each with its energy relative to the reference; none if the model
        fails throughout the log, or if the log is too short.
    """
    if len(time) < 2:
        return ()
    window = _window_numbers(time, segment_ids)
    count = int(window[-1]) + 1
    if count < _MIN_WINDOWS:
        return ()
    energy = _window_energies(rows, window, count)
    quantile = float(np.quantile(energy, _REFERENCE_QUANTILE if unexplained else 0.5))
    reference = max(quantile, _MIN_REFERENCE_ENERGY)
    if unexplained:
        above = energy > _MIN_ENERGY_IF_UNEXPLAINED * reference
    else:
        limit = _energy_limit(energy / reference, count)
        above = energy > reference * max(_MIN_CONTACT_ENERGY, limit)
    if above.mean() > (
        _MAX_CONTACT_WINDOWS_IF_UNEXPLAINED if unexplained else _MAX_CONTACT_WINDOWS
    ):
        return ()
    spans = []
    for start, stop in true_runs(_close_single_gaps(above)).tolist():
        inside = np.flatnonzero((window >= start) & (window < stop))
        size = float(energy[start:stop].max()) / reference
        span = Span("contact", float(time[inside[0]]), float(time[inside[-1]]), len(inside), size)
        spans.append(span)
    return tuple(spans)


_MIN_RESIDUAL_OF_WRONG_POSE = max(
    EFFECT_KEYS[name].max_size for name in ("force_drift", "torque_drift")
)
"""Smallest residual of a wrong pose relative to the spread of the wrench: a drifting offset, which
every fit estimates, causes up to as much."""


def wrong_pose_runs(rows: Array) -> tuple[Span, ...]:
    """Find runs of static poses, numbered from zero, whose wrench does not fit the others' body.

    There are none if more than a fifth of the poses would be wrong. A pose without which part of
    the body is not identifiable is never wrong.

    `rows`: z = [1, ψ, w, …] of the poses, shape (n, K).
    """
    n = len(rows)
    if n < MIN_POSES:
        return ()
    rng, all_poses = np.random.default_rng(0), np.ones(n, dtype=np.bool_)
    starts = [all_poses, *(rng.permutation(n) < _POSES_PER_START for _ in range(_POSE_STARTS))]
    energy = _window_energies(rows, np.arange(n), n, starts, 1.0 - _MAX_WRONG_FRACTION)
    wrong = energy > _MIN_CONTACT_ENERGY * max(float(np.median(energy)), _MIN_REFERENCE_ENERGY)
    if not 0 < wrong.sum() <= _MAX_WRONG_FRACTION * n:
        return ()
    # Compare with a plain fit of the others: trimmed squares of few poses underestimate the noise.
    A, y, _ = wrench_equations(rows)
    others = A[~wrong].reshape(-1, 16)
    by_others = A @ np.linalg.pinv(others, rcond=1e-9)
    squares = (y - by_others @ y[~wrong].reshape(-1)).reshape(n, 2, 3) ** 2
    free = 1.0 - np.trace(by_others[~wrong].reshape(len(others), -1)) / len(others)
    size = np.maximum(squares[~wrong].mean(axis=(0, 2)) / free, _MIN_RESIDUAL_VARIANCE)
    energy = (squares.mean(axis=2) / size).mean(axis=1) / (1 + np.sum(by_others**2, 2).mean(axis=1))
    outside = np.abs(A - by_others @ others).max(axis=(1, 2))
    wrong &= (energy > _MIN_CONTACT_ENERGY) & (outside < 1e-6 * np.abs(A).max())
    wrong &= np.sqrt(squares.mean(axis=2)).max(axis=1) > _MIN_RESIDUAL_OF_WRONG_POSE
    return tuple(
        Span("wrong_rows", float(a), float(b - 1), b - a, float(energy[a:b].max()))
        for a, b in true_runs(wrong).tolist()
    )


class ScaledEquations(NamedTuple):
    """Equations A x = y for a body and an offset, in units of the spread of the wrench.

    Attributes:
        A: coefficients, shape (n, 6, 16).
        y: wrench, shape (n, 6).
        spread: spread of force and torque [N, N m], shape (6,).
    """

    A: Array
    y: Array
    spread: Array


def wrench_equations(rows: Array) -> ScaledEquations:
    """Return the equations of a body and an offset for extended rows, shape (n, 43)."""
    spread = (
        np.repeat(np.sqrt(np.var(rows[:, WRENCH], axis=0).reshape(2, 3).mean(axis=1)), 3) + 1e-300
    )
    A = regressor_with_offset(rows[:, FEATURES]) / spread[:, None]
    return ScaledEquations(A, rows[:, WRENCH] / spread, spread)


def plausible_contacts(spans: tuple[Span, ...], time: Array) -> tuple[Span, ...]:
    """Return the contacts of a log, or none if the spans are too long or scattered to be contacts.

    A log with a wrong schema has outliers wherever the motion is fast, throughout the log.

    `time`: time of its series [s], shape (n,).
    """
    rows = [span.rows for span in spans if span.code == "contact"]
    share = sum(rows) / len(time)
    has_long_contact = max(rows, default=0) >= _MIN_LONGEST_CONTACT * sum(rows)
    are_few = has_long_contact or share <= DOMINANT_CONTACT_FRACTION
    return spans if are_few and share <= _MAX_CONTACT_FRACTION else ()


def without_long_end_contacts(spans: Sequence[Span], time: Array) -> tuple[Span, ...]:
    """Remove contacts that are a long part at the start or the end of a log.

    Args:
        spans: contacts of the log.
        time: time of its series [s], shape (n,).
    """
    return tuple(
        span
        for span in spans
        if (time[0] < span.start and span.stop < time[-1])
        or span.rows <= _MAX_END_CONTACT * len(time)
    )


def _window_numbers(time: Array, segment_ids: Indices) -> Indices:
    """Return the number of each row's window, shape (n,); windows end at segment ends."""
    step = float(np.median(np.diff(time)))
    length = max(_MIN_WINDOW_ROWS, round(WINDOW_SECONDS / step))
    numbers = np.zeros(len(time), dtype=np.intp)
    last = -1
    for start, stop in segment_edges(segment_ids):
        pieces = max(1, (stop - start) // length)
        in_segment = np.arange(stop - start) * pieces // (stop - start)
        numbers[start:stop] = in_segment + last + 1
        last += pieces
    return numbers


def segment_edges(segment_ids: Indices) -> list[tuple[int, int]]:
    """Return the first row of each segment, and the row after its last."""
    edges = np.concatenate(([0], np.flatnonzero(np.diff(segment_ids)) + 1, [len(segment_ids)]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _window_energies(
    rows: Array,
    window: Indices,
    count: int,
    starts: Sequence[Flags] | None = None,
    fraction: float = _TRIMMED_FRACTION,
) -> Array:
    """Compute the residual energy of each window, relative to the best windows, shape (count,).

    `window` is that of each of the rows, (n, K); `starts` are windows to start from, by default all
    and each third; `fraction` is the share of the windows that are fitted.
    """
    z = rows[:, :FIT_COLUMN_COUNT]
    edges = segment_edges(window)
    moments = np.empty((count, FIT_COLUMN_COUNT, FIT_COLUMN_COUNT))
    for moment, (start, stop) in zip(moments, edges, strict=True):
        np.matmul(z[start:stop].T, z[start:stop], out=moment)
    lengths = np.diff(edges)[:, 0]
    spread = np.var(rows[:, WRENCH], axis=0)
    third = np.arange(count) * _TRIMMING_STARTS // count
    if starts is None:
        starts = [
            np.ones(count, dtype=np.bool_),
            *(third == part for part in range(_TRIMMING_STARTS)),
        ]
    trimmed = [
        _least_trimmed_squares(moments, lengths, spread, start, fraction) for start in starts
    ]
    return min(trimmed, key=lambda fit: fit[0])[1]


def _least_trimmed_squares(
    moments: Array, lengths: Indices, spread: Array, kept_windows: Flags, fraction: float
) -> tuple[float, Array]:
    """Fit a body by least trimmed squares, starting from some of the windows.

    `moments`: zᵀz of the rows z = [1, ψ, w] of each window, shape (count, 19, 19); `lengths`:
    number of rows of each window, shape (count,); `spread`: variance of the wrench, shape (6,);
    `kept_windows`: windows of the first fit, shape (count,).
    Returns the log of the product of the axes' residual variances in the windows kept at the end,
    and the energy of each window.
    """
    size, energy = spread + 1e-30, np.zeros(len(lengths))
    offsets = np.zeros((6, FIT_COLUMN_COUNT, 6))
    offsets[:, 0] = np.eye(6)
    body = WrenchEquations().residual_coefficients(0, 0).swapaxes(0, 1)
    to_axes = np.concatenate((body, offsets), axis=-1)  # from z to the equation of each axis
    for _ in range(_MAX_TRIMMING_ITERATIONS):
        total = np.tensordot(kept_windows, moments, axes=1)
        normal = to_axes.swapaxes(-1, -2) @ total @ to_axes
        N = np.tensordot(1.0 / size, normal, axes=1)
        scale = np.sqrt(np.maximum(np.diag(N)[1:], 1e-300))
        values, vectors = np.linalg.eigh(N[1:, 1:] / np.outer(scale, scale))
        known = values > _INFORMATION_ROUNDING * values[-1]
        along = (vectors[:, known] / values[known]) @ vectors[:, known].T
        to_residual = (to_axes @ np.append(1.0, -(along @ (N[1:, 0] / scale)) / scale)).T
        power = np.maximum(np.sum((moments @ to_residual) * to_residual, axis=1), 0.0)
        variance = power[kept_windows].sum(axis=0) / lengths[kept_windows].sum()
        size = np.maximum(variance, _MIN_RESIDUAL_VARIANCE * spread + 1e-300)
        energy = np.mean(power / lengths[:, None] / size, axis=1)
        best = energy <= np.quantile(energy, fraction)
        if (best == kept_windows).all():
            break
        kept_windows = best
    return float(np.log(size).sum()), energy


def _energy_limit(energy_ratios: Array, count: int) -> float:
    """Return the ratio of energy to median energy that windows without contact hardly exceed."""
    from scipy.special import chdtri

    logs = np.log(np.maximum(energy_ratios, 1e-12))
    spread = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    degrees = max(2.0 / max(spread, 1e-3) ** 2, 1.0)
    return float(chdtri(degrees, CONTACT_FALSE_ALARM_P / count) / chdtri(degrees, 0.5))


def _close_single_gaps(flags: Flags) -> Flags:
    """Close gaps of one window in flags: a contact force that changes sign passes through zero."""
    closed = flags.copy()
    closed[1:-1] |= flags[:-2] & flags[2:]
    return closed

"""Residual wrench of a fit compared with noise: randomness, power, unexplained fraction.

Noise may be slow: the intervals include it, by frequency band. But it is independent of the
motion, has no outliers, and its correlation decays, unlike that of drift and oscillations.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from identify.arrays import Array, Flags, Indices, Phi, Vec6
from identify.regressors import LinearSystem, LogSummary
from identify.regressors.wrench import residual_map
from identify.relevance import MIN_SIGNAL_RATIO
from identify.significance import NOISE_POWER_RATIO, POSE_DEPENDENCE_P, SIGNIFICANT_SIGMA
from identify.spatial.columns import FEATURES

MAX_UNEXPLAINED = 0.1
"""Largest unexplained fraction of the wrench's signal at which a log counts as explained."""

_UNCORRELATED_LAGS = np.linspace(2.0, 4.0, 9)
"""Time lags at which noise is no longer correlated, but some drift or oscillation is [s]."""

_MIN_SYSTEMATIC_CORRELATION = 0.3
"""Autocorrelation at these lags above which a residual is systematic, if it is significant."""

_CORRELATION_SECONDS = 0.5
"""Time that counts as one independent sample of the autocorrelation [s]."""

_MAX_EXPLAINED_BY_POSE = 0.5
"""Largest fraction of a noise residual's power that a linear function of static poses explains."""

_MAX_EXPLAINED_BY_MOTION = 0.3
"""Largest held-out fraction of a noise residual's power that the motion and its rate predict, if
neighbouring points are correlated: noise in the motion is in both, but it is fast."""

_RELATIVE_RIDGE = 1e-6
"""Ridge of the regression on columns, relative to the power of a column."""

_HELD_OUT_FOLDS = 10
_MOST_TESTED_ROWS = 4000
_MIN_ROWS_PER_COLUMN = 3.0
"""Number of parts of time that are held out in turn, maximum number of tested rows, and minimum
number of independent rows for each column."""

_MAX_EXCESS_KURTOSIS = 1.0
"""Excess kurtosis above which single events make up a residual."""

_MIN_FLOAT = float(np.finfo(float).tiny)


class ResidualAssessment(NamedTuple):
    """Comparison of a residual wrench with noise, on the axes fx, fy, fz, tx, ty, tz.

    Attributes:
        systematic: whether the residual is not noise, shape (6,).
        noise_power_ratio: power of the residual over that of the noise of wrench and motion; zero
            if the noise of the signals is unknown, shape (6,).
    """

    systematic: Flags
    noise_power_ratio: Vec6


def assess_residuals(logs: Sequence[LogSummary], phi: Phi, biases: Array) -> ResidualAssessment:
    """Compare the residual wrench of a body with noise.

    Args:
        logs: the logs that the body was fitted to.
        phi: the body, or all that moves in each log, shape (10,) or (logs, 10).
        biases: sensor offset of each log, [f; t] at Bo in B, shape (logs, 6).
    """
    power = np.zeros(6)
    fourth = np.zeros(6)
    expected = np.zeros(6)
    rows = 0
    lagged = np.zeros((len(_UNCORRELATED_LAGS) + 1, 6))
    pairs = np.zeros((len(_UNCORRELATED_LAGS) + 1, 1))
    seconds = 0.0
    along = np.zeros(6)
    terms = 0
    static_rows = 0.0
    effective = 0.0
    predicted, tested = np.zeros(6), np.zeros(6)
    bodies = np.broadcast_to(phi, (len(logs), 10))
    for log, body, bias in zip(logs, bodies, biases, strict=True):
        residual, noise = residual_and_noise(log, body, bias)
        power += (residual**2).sum(axis=0)
        fourth += (residual**4).sum(axis=0)
        expected += len(residual) * noise
        rows, effective = rows + len(residual), effective + log.kept_fraction * log.independent_rows
        if log.recording.still:
            explained, rank = _power_along_features(log, residual)
            along, terms = along + explained, terms + rank
            static_rows += log.independent_rows
            continue
        seconds += log.kept_fraction * log.duration
        point = float(np.median(np.diff(log.time)))
        for number, lag in enumerate((*_UNCORRELATED_LAGS, 0.99 * point)):
            first, second = _lagged_pairs(log, lag)
            lagged[number] += (residual[second] * residual[first]).sum(axis=0)
            pairs[number] += len(first)
        of_log = _held_out_power(log, residual)
        predicted, tested = predicted + of_log[0], tested + of_log[1]
    safe = np.where(power > 0.0, power, 1.0)
    *late, soon = lagged / safe * rows / np.maximum(pairs, 1.0)
    surely = SIGNIFICANT_SIGMA * np.sqrt(_CORRELATION_SECONDS / max(seconds, _CORRELATION_SECONDS))
    slow = np.max(late, axis=0) > max(_MIN_SYSTEMATIC_CORRELATION, surely)
    kurtosis = fourth / safe**2 * rows - 3.0
    heavy = kurtosis > max(_MAX_EXCESS_KURTOSIS, SIGNIFICANT_SIGMA * np.sqrt(24.0 / effective))
    with_motion = predicted > _MAX_EXPLAINED_BY_MOTION * np.where(tested > 0.0, tested, 1.0)
    with_motion &= soon > _MIN_SYSTEMATIC_CORRELATION
    with_poses = _exceeds_noise(along / safe, terms, static_rows)
    return ResidualAssessment(
        (slow | heavy | with_motion | with_poses) & (power > NOISE_POWER_RATIO * expected),
        np.where(expected > 0.0, power / np.where(expected > 0.0, expected, 1.0), 0.0),
    )


def noise_rms(logs: Sequence[LogSummary], phi: Phi, biases: Array) -> Vec6:
    """Return the RMS of the residual expected from noise of wrench and motion alone [N, N m].

    Args:
        logs: the logs that the body was fitted to.
        phi: the body, or all that moves in each log, shape (10,) or (logs, 10).
        biases: sensor offset of each log, [f; t] at Bo in B, shape (logs, 6).

    Returns:
        Shape (6,), of all logs together; zero if the noise of the signals is unknown.
    """
    moved = np.broadcast_to(phi, (len(logs), 10))
    parts = zip(logs, moved, biases, strict=True)
    noise = [residual_and_noise(*part)[1] for part in parts]
    return np.sqrt(np.average(noise, axis=0, weights=[len(log.rows) for log in logs]))


def residual_and_noise(log: LogSummary, phi: Phi, bias: Array) -> tuple[Array, Array]:
    """Return the residual wrench of a body in a log, and its variance expected from noise.

    Args:
        log: the log.
        phi: all that moves in the log (payload and carrier), shape (10,).
        bias: the sensor offset, [f; t] at Bo in B, shape (6,).

    Returns:
        Shapes (n, 6) and (6,); the noise is that of the slow rows, zero if unknown. Torques of a
        body in free flight are about its centre of mass.
    """
    M = residual_map(phi, bias, log.wrench)
    return log.rows[:, : len(M)] @ M, log.noise[: len(M) - 1] @ M[1:] ** 2


def unexplained_fraction(system: LinearSystem, x: Array) -> float:
    """Return the fraction of the wrench's variance that a body does not explain, beyond noise.

    Axes without signal do not count. Of the shares of all forces and of all torques it is the
    larger.

    Args:
        system: system of measured wrenches; offsets are those that fit the body best.
        x: unknowns of the fit, shape (p,).
    """

    def power_of_axes(moments: Array) -> Array:
        return np.diagonal(moments, axis1=1, axis2=2).sum(axis=0)

    arrays = system.padded
    residual, signal = (power_of_axes(system.residual_moments(at)) for at in (x, np.zeros_like(x)))
    noise = power_of_axes(system.noise_moments(x))
    of_wrench = arrays.effective_samples @ np.diagonal(arrays.wrench_noise, axis1=1, axis2=2)
    largest = np.repeat([signal[:3].max(), signal[3:].max()], 3)
    has_signal = (signal > NOISE_POWER_RATIO * of_wrench) & (signal > MIN_SIGNAL_RATIO**2 * largest)
    beyond = np.where(has_signal, np.maximum(residual - NOISE_POWER_RATIO * noise, 0.0), 0.0)
    total = np.where(has_signal, signal, 0.0)
    halves = beyond.reshape(2, 3).sum(axis=1) / np.maximum(
        total.reshape(2, 3).sum(axis=1), _MIN_FLOAT
    )
    return float(halves.max())


def _lagged_pairs(log: LogSummary, lag: float) -> tuple[Indices, Indices]:
    """Return index pairs of points of one segment that are `lag` apart [s]."""
    first, second = np.arange(len(log.time)), np.searchsorted(log.time, log.time + lag)
    first, second = first[second < len(log.time)], second[second < len(log.time)]
    kept = log.segment_ids[first] == log.segment_ids[second]
    kept &= log.time[second] - log.time[first] < 1.1 * lag  # long logs consist of excerpts
    return first[kept], second[kept]


def _held_out_power(log: LogSummary, residual: Array) -> tuple[Array, Array]:
    """Return the power of a residual that motion and its rate predict on held-out data.

    A linear function of the features and their derivatives is fitted to all parts of the time but
    one: it does not predict noise, however slow, of that one.

    Returns predicted and total power of six axes; zeros if there are too few rows.
    """
    step = np.diff(log.time)
    together = (np.diff(log.segment_ids) == 0) & (step < 1.5 * np.median(step))
    inside = np.flatnonzero(together[:-1] & together[1:]) + 1
    inside = inside[:: max(1, len(inside) // _MOST_TESTED_ROWS)]
    rates = log.features[inside + 1] - log.features[inside - 1]
    columns = np.concatenate((log.features[inside], rates), axis=1)
    independent = log.kept_fraction * log.independent_rows
    if independent < _MIN_ROWS_PER_COLUMN * columns.shape[1] or len(inside) < columns.shape[1]:
        return np.zeros(6), np.zeros(6)
    columns -= columns.mean(axis=0)
    sizes = np.sqrt(np.mean(columns**2, axis=0))
    X = columns[:, sizes > 0.0] / sizes[sizes > 0.0]
    r = residual[inside] - residual[inside].mean(axis=0)
    edges = np.linspace(0, len(X), _HELD_OUT_FOLDS + 1).astype(np.intp)
    parts = [slice(a, b) for a, b in pairwise(edges)]
    moments = np.array([X[part].T @ X[part] for part in parts])
    crossed = np.array([X[part].T @ r[part] for part in parts])
    ridge = _RELATIVE_RIDGE * len(X) * np.eye(X.shape[1])
    solved = np.linalg.solve(moments.sum(axis=0) - moments + ridge, crossed.sum(axis=0) - crossed)
    errors = np.concatenate([r[part] - X[part] @ c for part, c in zip(parts, solved, strict=True)])
    total = (r**2).sum(axis=0)
    return total - (errors**2).sum(axis=0), total


def _power_along_features(log: LogSummary, residual: Array) -> tuple[Array, int]:
    """Return the power of a residual in the span of the features and a constant, and the rank."""
    columns = log.rows[:, : FEATURES.stop]
    norms = np.linalg.norm(columns, axis=0)
    U, singular, _ = np.linalg.svd(
        columns[:, norms > 0.0] / norms[norms > 0.0], full_matrices=False
    )
    kept = singular > 1e-9 * singular[0]
    return ((U[:, kept].T @ residual) ** 2).sum(axis=0), int(kept.sum())


def _exceeds_noise(explained_fraction: Array, regressor_count: int, effective_rows: float) -> Flags:
    """Return whether regressors explain more of a residual's power than of noise's (F-test)."""
    degrees = effective_rows - regressor_count
    if degrees <= 0.0:  # as many terms explain any residual
        return np.zeros(len(explained_fraction), dtype=bool)
    unexplained = np.maximum(1.0 - explained_fraction, _MIN_FLOAT)
    p = fdtrc(
        regressor_count, degrees, explained_fraction / regressor_count / (unexplained / degrees)
    )
    return (explained_fraction > _MAX_EXPLAINED_BY_POSE) & (p < POSE_DEPENDENCE_P)

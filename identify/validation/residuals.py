"""Whether what a fit leaves of the wrench is noise.

Noise is correlated neither in time, beyond what the low-pass makes of it, nor with the motion, and
it has no outliers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import fdtrc

from identify.arrays import Array, Flags, Phi
from identify.regressors import LogSummary
from identify.regressors.newton_euler import FEATURE_TENSOR

_CORRELATED = 0.3
"""Correlation one correlation time of the low-pass apart from which a residual is no noise. White
noise through the low-pass has about −0.2; what is not modelled of a motion has 0.5 to 1 …"""

_SURELY = 4.0
"""… if it is as many standard errors from zero."""

_SHARE = 0.5
"""Share of a residual's power that a linear function of the motion may explain …"""

_CHANCE = 1e-4
"""… unless chance alone explains as much with at least this probability."""

_HEAVY = 1.0
"""Kurtosis beyond the normal distribution's, from which single events make up a residual."""


def axes_beyond_noise(logs: Sequence[LogSummary], phi: Phi, biases: Array) -> Flags:
    """Axes of the wrench whose residual is not noise.

    Args:
        logs: that the body was fitted to.
        phi: the body, or what moved in each log, shape (10,) or (logs, 10).
        biases: sensor offset of each log, [f; t] at Bo in B, shape (logs, 6).

    Returns:
        Flags of fx, fy, fz, tx, ty, tz, shape (6,).
    """
    power, lagged, pairs, rows = np.zeros(6), np.zeros(6), 0, 0
    along, terms, effective = np.zeros(6), 0, 0.0
    fourth = np.zeros(6)
    moved = np.broadcast_to(phi, (len(logs), 10))
    for log, body, bias in zip(logs, moved, biases, strict=True):
        residual = log.wrench - log.features @ (FEATURE_TENSOR @ body) - log.rows[:, :1] * bias
        power += (residual**2).sum(axis=0)
        fourth += (residual**4).sum(axis=0)
        independent = log.shown * log.effective
        rows, effective = rows + len(residual), effective + independent
        explained, rank = _along_the_motion(log, residual)
        along, terms = along + explained, terms + rank
        if not log.recording.still:
            lag = int(np.ceil(len(residual) / independent))
            same = log.segment_ids[lag:] == log.segment_ids[:-lag]
            lagged += (residual[lag:] * residual[:-lag])[same].sum(axis=0)
            pairs += int(same.sum())
    safe = np.where(power > 0.0, power, 1.0)
    correlation = lagged / safe * rows / max(pairs, 1)
    in_time = correlation > max(_CORRELATED, _SURELY / np.sqrt(effective))
    kurtosis = fourth / safe**2 * rows - 3.0
    heavy = kurtosis > max(_HEAVY, _SURELY * np.sqrt(24.0 / effective))
    return in_time | heavy | _beyond_chance(along / safe, terms, effective)


def _along_the_motion(log: LogSummary, residual: Array) -> tuple[Array, int]:
    """Power of a residual along the constant and the features, six axes, and their rank."""
    columns = log.rows[:, :13]
    norms = np.linalg.norm(columns, axis=0)
    U, singular, _ = np.linalg.svd(
        columns[:, norms > 0.0] / norms[norms > 0.0], full_matrices=False
    )
    kept = singular > 1e-9 * singular[0]
    return ((U[:, kept].T @ residual) ** 2).sum(axis=0), int(kept.sum())


def _beyond_chance(share: Array, terms: int, effective: float) -> Flags:
    """Whether a share of the power is more than as many terms explain of noise (F-test)."""
    left = effective - terms
    if left <= 0.0:  # as many terms explain any residual
        return np.zeros(len(share), dtype=bool)
    rest = np.maximum(1.0 - share, np.finfo(float).tiny)
    return (share > _SHARE) & (fdtrc(terms, left, share / terms / (rest / left)) < _CHANCE)

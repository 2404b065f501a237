"""Held-out scores: accuracy of the predicted wrench on data that were not fitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Flags, Vec6
from identify.errors import ProblemError, SolveError
from identify.estimation import Estimate
from identify.regressors import Statistics
from identify.regressors.wrench import residual_map
from identify.signals.preparation import CROSS_VALIDATION_FOLDS
from identify.significance import NOISE_POWER_RATIO
from identify.spatial.columns import FIT_COLUMN_COUNT, WRENCH

_MAX_FOLDS = 20
"""Maximum number of cross-validation folds of static poses; fewer poses are a fold each."""

FitFunction = Callable[[Sequence[Statistics]], Estimate]
"""Function that fits an estimate to statistics of logs, as `identify.estimation.estimate_body`."""


@dataclass(frozen=True, slots=True)
class HeldOutScores:
    """Errors of the predicted wrench on held-out data, over all folds, per axis.

    Attributes:
        folds: number of scored folds.
        refused: number of folds whose training part could not be fitted.
        rms: root mean square error [N, N m], in free flight of the torque about the centre of
            mass, shape (6,).
        normalised_rms: rms over the standard deviation of the wrench, shape (6,).
        r_squared: 1 − error power / variance, NaN for a constant wrench, shape (6,).
        carries_signal: whether an axis varies by more than its noise, shape (6,).
        unproved: number of refused folds for which the solver's optimum was not proved.
    """

    folds: int
    refused: int
    rms: Vec6
    normalised_rms: Vec6
    r_squared: Vec6
    carries_signal: Flags
    unproved: int = 0

    @property
    def signal_r_squared(self) -> tuple[float | None, ...]:
        """R² of each axis that carries a signal, None for the others."""
        pairs = zip(self.r_squared.tolist(), self.carries_signal.tolist(), strict=True)
        return tuple(value if carries else None for value, carries in pairs)

    def pooled_r_squared(self, axes: slice) -> float:
        """Return 1 − error power / variance over the axes that carry signal; NaN for none."""
        counted = np.zeros(6, dtype=bool)
        counted[axes] = self.carries_signal[axes]
        if not counted.any():
            return float("nan")
        variance = (self.rms[counted] / self.normalised_rms[counted]) ** 2
        return 1.0 - float((self.rms[counted] ** 2).sum() / variance.sum())


def held_out_scores(logs: Sequence[Statistics], fit: FitFunction) -> HeldOutScores | None:
    """Cross-validate a fit over segments of time of its logs.

    Every log is cut into the same number of segments; fold k leaves out the k-th of each. A log's
    sensor offset is that of its training part.

    Args:
        logs: block statistics of each log.
        fit: fits the training parts of a fold.

    Returns:
        The scores, or None if no fold could be fitted and scored.
    """
    count = _fold_count(logs)
    if count < 2:
        return None
    folds = [[_cells_of_fold(log, fold, count) for log in logs] for fold in range(count)]
    folds = [held for held in folds if not any(out.all() for out in held)]
    error = np.zeros(6)
    spread = np.zeros(6)
    noise = np.zeros(6)
    rows = 0.0
    scored = 0
    refused = 0
    unproved = 0
    for held in folds:
        try:
            estimate = fit([log.subset(~out) for log, out in zip(logs, held, strict=True)])
        except (ProblemError, SolveError) as reason:
            refused, unproved = refused + 1, unproved + isinstance(reason, SolveError)
            continue
        scored += 1
        for number, (log, out) in enumerate(zip(logs, held, strict=True)):
            bias, phi = estimate.biases[number], estimate.moving_assembly(number).phi
            rows += float(log.samples[out].sum())
            noise += log.samples[out] @ (log.noise[0, log.group[out]] ** 2).sum(axis=1)[:, WRENCH]
            z = log.factors[..., :FIT_COLUMN_COUNT]
            residuals = z[out] @ residual_map(phi, bias, z[..., WRENCH])
            error += (residuals**2).sum(axis=(0, 1))
            spread += _variation_power(log, out)
    if not scored or not rows:
        return None
    rms, deviation = np.sqrt(error / rows), np.sqrt(spread / rows)
    safe = np.where(deviation > 0.0, deviation, np.inf)
    return HeldOutScores(
        folds=scored,
        refused=refused,
        rms=rms,
        normalised_rms=rms / safe,
        r_squared=np.where(deviation > 0.0, 1.0 - (rms / safe) ** 2, np.nan),
        carries_signal=(spread > NOISE_POWER_RATIO * noise) & (spread > 0.0),
        unproved=unproved,
    )


def _fold_count(logs: Sequence[Statistics]) -> int:
    blocks = [len(np.unique(log.block)) for log in logs]
    if all(log.one_sample_per_cell for log in logs):
        return min(_MAX_FOLDS, max(blocks))
    return min(CROSS_VALIDATION_FOLDS, *blocks)


def _cells_of_fold(log: Statistics, fold: int, folds: int) -> Flags:
    """Return which blocks of a log belong to a cross-validation fold."""
    blocks, number = np.unique(log.block, return_inverse=True)
    edges = np.linspace(0, len(blocks), folds + 1).astype(int)
    return (number >= edges[fold]) & (number < edges[fold + 1])


def _variation_power(log: Statistics, subset: Flags) -> Vec6:
    """Sum (w − mean of the log)² for each axis over a subset of the blocks."""
    first = log.total_factors[0, 0, 0]
    mean = first[WRENCH] / first[0]
    centred = log.factors[subset][..., WRENCH] - log.factors[subset][..., :1] * mean
    return (centred**2).sum(axis=(0, 1))

"""Friction beyond viscous and Coulomb that logs of an arm show: by load, Stribeck, over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, stdtrit

from identify.arms.columns import FURTHER_FRICTION, FURTHER_OF_RUN, ArmColumns
from identify.arms.equations import of_run
from identify.arrays import Array
from identify.regressors import Statistics
from identify.significance import SIGNIFICANT_SIGMA

_CHANCE = float(ndtr(-SIGNIFICANT_SIGMA))
"""Probability of friction that is not there, by Student's t of the blocks of time."""

_MIN_BLOCKS_OF_CHANGE = 20
"""Smallest number of blocks of a log whose friction may change; gears warm up in minutes."""

_CONDITION = 1e-10
"""Relative eigenvalue below which columns of a joint depend on each other."""


def further_friction(
    columns: ArmColumns, statistics: Statistics, runs: Sequence[int]
) -> tuple[str, ...]:
    """Return the names of the further friction of each joint that its logs show.

    Each joint is fitted by itself with base parameters, gain and friction of each log free, so that
    neither the model's links nor gains matter. Kinds are added while the likeliest has a lead
    (Σ s)² / Σ (s − s̄)² of 16, by the scores s of the blocks of time less those that their fit
    explains, s̄, which counts slow errors.

    `runs`: number of the run of each log.
    """
    names = list[str]()
    for joint, name in enumerate(columns.joints):
        kinds = [of_run(name, kind, 0) for kind in FURTHER_FRICTION[: -len(FURTHER_OF_RUN)]]
        bounded = len(kinds)
        kinds += [of_run(name, kind, run) for run in sorted({*runs}) for kind in FURTHER_OF_RUN]
        moments = _block_moments(columns, statistics, runs, joint)
        names += [kinds[k] for k in _shown(moments, bounded)]
    return tuple(names)


def lasting_friction(names: Sequence[str]) -> tuple[str, ...]:
    """Return further friction without changes over time, which do not go on beyond their log."""
    return tuple(name for name in names if not any(f" {kind}" in name for kind in FURTHER_OF_RUN))


def _block_moments(
    columns: ArmColumns, statistics: Statistics, runs: Sequence[int], joint: int
) -> Array:
    """Return moments of [further friction | torque] in each block, without what else is free.

    Columns are those of all runs, then those of each run; shape (blocks, f + 1, f + 1).
    """
    nonzero, per_run = columns.nonzero[joint], len(FURTHER_OF_RUN)
    base, shared = len(nonzero) - len(FURTHER_FRICTION) - 1, len(FURTHER_FRICTION) - per_run
    count, blocks = shared + per_run * (max(runs) + 1), list[Array]()
    for log, run in enumerate(runs):
        cells = np.flatnonzero((statistics.group == joint) & (statistics.log == log))
        if not len(cells):
            continue
        factors = statistics.factors[cells][:, :, nonzero]
        _, block = np.unique(statistics.block[cells], return_inverse=True)
        grams = np.zeros((block.max() + 1, len(nonzero), len(nonzero)))
        np.add.at(grams, block, factors.mT @ factors)
        total = grams.sum(axis=0)
        norms = np.sqrt(np.diag(total))
        scaled = total / np.outer(*[np.where(norms > 0.0, norms, np.inf)] * 2)
        inverse = np.linalg.pinv(scaled[:base, :base], _CONDITION, hermitian=True)
        norms = np.where(norms > 0.0, norms, 1.0)
        free = (inverse @ scaled[:base, base:]) / norms[:base, None] * norms[base:]
        rest = np.vstack((-free, np.eye(len(nonzero) - base)))
        if len(grams) < _MIN_BLOCKS_OF_CHANGE:
            rest[:, shared:-1] = 0.0
        first = shared + per_run * run
        place = [*range(shared), *range(first, first + per_run), count]
        of_log = np.zeros((len(grams), count + 1, count + 1))
        of_log[np.ix_(range(len(grams)), place, place)] = rest.T @ grams @ rest
        blocks.append(of_log)
    return np.concatenate(blocks) if blocks else np.zeros((0, count + 1, count + 1))


def _shown(moments: Array, bounded: int) -> list[int]:
    """Return the numbers of the columns that the blocks show; the first are at least zero."""
    total, chosen = moments.sum(axis=0), list[int]()
    count = len(total) - 1
    while True:
        beside = np.linalg.pinv(total[np.ix_(chosen, chosen)]) @ total[chosen]
        rest = np.eye(count + 1)
        rest[chosen] -= beside
        scores = np.einsum("ka,bkl,l->ba", rest[:, :count], moments, rest[:, count])
        information = np.einsum("ka,bkl,la->ba", rest[:, :count], moments, rest[:, :count])
        score, known = scores.sum(axis=0), information.sum(axis=0)
        sizes = score / np.where(known > 0.0, known, np.inf)
        scatter = np.sum((scores - sizes * information) ** 2, axis=0)
        leads = score**2 / np.where(scatter > 0.0, scatter, np.inf)
        degrees = np.maximum(known**2 / np.maximum((information**2).sum(axis=0), 1e-300) - 1.0, 1.0)
        leads /= stdtrit(degrees, 1.0 - _CHANCE) ** 2
        leads[:bounded] *= score[:bounded] > 0.0
        leads[chosen] = 0.0
        best = int(np.argmax(leads))
        if leads[best] < 1.0:
            return chosen
        chosen.append(best)

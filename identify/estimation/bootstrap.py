"""Bootstrap covariance of an estimate by refits to re-weighted blocks of time.

The formula's covariance rests on what noise of the signals makes of each band. Here nothing is
assumed of the noise but that blocks of time are independent of each other: whatever moves the
estimate from block to block is counted, drift and failures of the model with it. In each refit
every block has a random weight of mean and variance one (Rubin's Bayesian bootstrap, 1981), so that
logs of one block take part and no refit is singular; offsets are fitted anew.

Rubin, "The Bayesian bootstrap" (1981).
Bell and McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage
    samples" (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import ProblemError
from identify.estimation.least_squares import LeastSquaresFit
from identify.regressors import LinearSystem
from identify.regressors.system import augment, whitener
from identify.regressors.triangular import qr_factor

MIN_BLOCKS = 10
"""Smallest number of time blocks for a bootstrap."""

_REFIT_COUNT = 500
"""Number of refits; their standard deviation is accurate to 3 %."""

_MAX_NOISE_FRACTION = 0.95
"""Largest fraction of the information that is noise, as in the fit; also the largest fraction that
a single block of time contributes."""


@dataclass(frozen=True, slots=True)
class BlockBootstrap:
    """Covariance of the unknowns from refits to re-weighted blocks of time.

    Attributes:
        covariance: covariance of the unknowns, shape (p, p).
        blocks: number of time blocks.
        degrees: degrees of freedom of the covariance; blocks of uneven length count as fewer.
    """

    covariance: Array
    blocks: int
    degrees: float

    @classmethod
    def of(cls, fit: LeastSquaresFit, rng: np.random.Generator) -> BlockBootstrap:
        """Run the bootstrap of a fit at fixed weights.

        Along unidentifiable directions the standard deviation is the body's own scale, as in the
        formula.

        Raises `ProblemError`: there are fewer than ten blocks.
        """
        split, to_x = fit.identifiability, fit.scaling.to_x
        identifiable = to_x @ split.identifiable
        root = qr_factor(fit.problem.A @ identifiable)
        data = _TimeBlockMoments.of(fit, identifiable @ np.linalg.inv(root))
        sample_shares = data.samples_of_blocks / data.samples_of_blocks.sum()
        count, degrees = len(sample_shares), float(1.0 / np.sum(sample_shares**2) - 1.0)
        if count < MIN_BLOCKS:
            raise ProblemError(
                f"bootstrap: the data have {count} blocks of time, expected at least {MIN_BLOCKS}. "
                "A block is some seconds of a log: give longer or more logs, or use the formula "
                "for the intervals"
            )
        A, _ = fit.eiv_corrected
        whitened = np.linalg.solve(root.T, A.T)
        noise = np.eye(len(root)) - whitened @ whitened.T if fit.noise_moment.any() else None
        weights = rng.standard_exponential((_REFIT_COUNT, count))
        moved = data.bias_reduced.refits(weights, noise, sample_shares) @ np.linalg.solve(
            root.T, identifiable.T
        )
        spread = moved.T @ moved / _REFIT_COUNT
        completed = to_x @ split.unidentifiable
        return cls(spread + completed @ completed.T, count, degrees)


def score_scatter_ratio(fit: LeastSquaresFit) -> float:
    """Return the ratio of the scatter of the time blocks' scores to that predicted by the weights.

    The mean over the identifiable directions of the variance of the blocks' scores, relative to the
    information in them; one if the residuals are independent of each other, larger if slow errors
    of the model remain in them. With M the share of a block in the information, its scores have the
    variance M − M² by prediction (Bell and McCaffrey 2002).

    Returns at least one; one if there is a single block.
    """
    known = fit.scaling.to_x @ fit.identifiability.identifiable
    root = qr_factor(fit.problem.A @ known)
    moments = _TimeBlockMoments.of(fit, known @ np.linalg.inv(root)).moments
    information, scores = moments[:, :-1, :-1], moments[:, :-1, -1]
    if len(moments) == 1:
        return 1.0
    predicted = float(np.trace(information, axis1=1, axis2=2).sum() - (information**2).sum())
    return max(1.0, float((scores**2).sum()) / predicted)


@dataclass(frozen=True, slots=True)
class _TimeBlockMoments:
    """Second moments of whitened regressors y and residuals r of a fit in each block of time.

    Each offset is at its optimum for y (profiled out), so that information adds up over the blocks
    to that of the fit.

    Attributes:
        without_offset: moments of rows that no offset acts on, shape (blocks, k + 1, k + 1).
        by_offset: for each offset the blocks, and the moments of [offset | y | r].
        samples_of_blocks: number of samples of each block, shape (blocks,).
    """

    without_offset: Array
    by_offset: tuple[tuple[Indices, Array], ...]
    samples_of_blocks: Array

    @classmethod
    def of(cls, fit: LeastSquaresFit, columns: Array) -> _TimeBlockMoments:
        """Sum the moments of all cells of a fit by block.

        `columns`: k directions of the unknowns, in which the information AᵀA of the fit is the
        identity, shape (p, k); y is the whitened regressor times these.
        """
        system = fit.data.system
        k, blocks = columns.shape[1], _time_block_of_cell(system)
        count = 1 + max(int(numbers.max()) for numbers in blocks)
        maps, minus_x_and_1 = system.offset_maps(fit.weights), augment(fit.x)
        roots = whitener(fit.weights)
        without_offset, samples = np.zeros((count, k + 1, k + 1)), np.zeros(count)
        owned: list[list[tuple[Indices, Array]]] = [[] for _ in maps]
        for part in system.group_cells():
            z = part.z
            C = part.padded_coefficients
            L = roots[part.group]
            into = np.concatenate((C[..., :-1] @ columns, (C @ minus_x_and_1)[..., None]), axis=-1)
            rows = np.einsum("bnz,zmj,lm->bnlj", z, into, L, optimize=True)
            block = blocks[part.statistics_index][part.cells]
            np.add.at(samples, block, system.data[part.statistics_index][0].samples[part.cells])
            has_offset = (part.offset >= 0) & (z[..., 0] != 0.0).any(axis=1)
            _add_to_blocks(without_offset, block[~has_offset], _cell_moments(rows[~has_offset]))
            for offset in np.unique(part.offset[has_offset]).tolist():
                cells = has_offset & (part.offset == offset)
                constant = z[cells][..., 0, None, None] * L
                residual_rows = rows[cells]
                residual_rows[..., -1] -= constant @ (maps[offset] @ minus_x_and_1)
                residual_rows[..., :-1] -= constant @ (maps[offset][:, :-1] @ columns)
                owned[offset].append(
                    (block[cells], _cell_moments(np.concatenate((constant, residual_rows), -1)))
                )
        joined = tuple(
            (np.concatenate([b for b, _ in each]), np.concatenate([m for _, m in each]))
            for each in owned
        )
        return cls(without_offset, joined, samples)

    @property
    def moments(self) -> Array:
        """Second moments of regressors y and residual r by block, shape (blocks, k + 1, k + 1)."""
        total, width = self.without_offset.copy(), self.without_offset.shape[-1]
        for block, moments in self.by_offset:
            _add_to_blocks(total, block, moments[:, -width:, -width:])
        return total

    @property
    def bias_reduced(self) -> _TimeBlockMoments:
        """Moments with the blocks' scores corrected for small-sample bias (Bell, McCaffrey 2002).

        With M the share of a block in all information, the fit reduces the variance of the block's
        scores from M to M − M².
        """
        k = self.without_offset.shape[-1] - 1
        values, vectors = np.linalg.eigh(self.moments[:, :k, :k])
        inflation = 1.0 / np.sqrt(1.0 - np.clip(values, 0.0, _MAX_NOISE_FRACTION))
        restored = (vectors * inflation[:, None, :]) @ vectors.swapaxes(-1, -2)

        def rescaled(block: Indices, moments: Array) -> Array:
            changed = moments.copy()
            scores = moments[:, -k - 1 : -1, -1:]
            changed[:, -k - 1 : -1, -1] = (restored[block] @ scores)[..., 0]
            return changed

        all_blocks = np.arange(len(self.without_offset))
        owned = tuple((block, rescaled(block, moments)) for block, moments in self.by_offset)
        return replace(
            self, without_offset=rescaled(all_blocks, self.without_offset), by_offset=owned
        )

    def refits(self, weights: Array, noise: Array | None, sample_shares: Array) -> Array:
        """Compute the change of the unknowns by each re-weighted refit, shape (refits, k).

        `weights`: weights of the blocks, shape (refits, blocks); `noise`: moment of noise in the
        columns, relative to the information, shape (k, k); None without any; `sample_shares`: share
        of each block in all samples, shape (blocks,).
        """
        k = self.without_offset.shape[-1] - 1
        total = np.tensordot(weights, self.without_offset, 1)
        at_fit = self.without_offset.sum(axis=0)
        for block, moments in self.by_offset:
            total = total + _eliminate_offset(np.tensordot(weights[:, block], moments, 1), k)
            at_fit = at_fit + _eliminate_offset(moments.sum(axis=0), k)
        # Noise in the columns biases: at the estimate the scores sum to its moment, not to zero.
        rows = weights @ sample_shares
        information, scores = total[:, :k, :k], total[:, :k, k] - rows[:, None] * at_fit[:k, k]
        L = np.linalg.cholesky(information)
        turned = np.linalg.solve(L, scores[..., None])
        if noise is None:
            return np.linalg.solve(L.swapaxes(-1, -2), turned)[..., 0]
        taken = np.linalg.solve(L, np.broadcast_to(noise, L.shape))
        taken = rows[:, None, None] * np.linalg.solve(L, taken.swapaxes(-1, -2))
        values, vectors = np.linalg.eigh(0.5 * (taken + taken.swapaxes(-1, -2)))
        kept = 1.0 - np.clip(values, 0.0, _MAX_NOISE_FRACTION)
        turned = vectors @ ((vectors.swapaxes(-1, -2) @ turned) / kept[..., None])
        return np.linalg.solve(L.swapaxes(-1, -2), turned)[..., 0]


def _cell_moments(rows: Array) -> Array:
    """Compute second moments of b cells (a group of rows in a block of time), shape (b, j, j)."""
    b, n, m, j = rows.shape
    flat = rows.reshape(b, n * m, j)
    return flat.swapaxes(-1, -2) @ flat


def _add_to_blocks(total: Array, block: Indices, moments: Array) -> None:
    """Add second moments of cells to the totals of their time blocks, in place."""
    if len(block):
        order = np.argsort(block, kind="stable")
        starts = np.flatnonzero(np.diff(block[order], prepend=-1))
        total[block[order[starts]]] += np.add.reduceat(moments[order], starts)


def _eliminate_offset(moments: Array, k: int) -> Array:
    """Eliminate the sensor offset (first m columns) from second moments by a Schur complement."""
    m = moments.shape[-1] - k - 1
    across = moments[..., :m, m:]
    taken = across.swapaxes(-1, -2) @ np.linalg.solve(moments[..., :m, :m], across)
    return moments[..., m:, m:] - taken


def _time_block_of_cell(system: LinearSystem) -> Sequence[Indices]:
    """Return the index of the time block of each cell, consecutive over all statistics."""
    numbers: list[Indices] = []
    first = 0
    for statistics, _ in system.data:
        of_time = np.stack((statistics.log, statistics.block), axis=1)
        _, owner = np.unique(of_time, axis=0, return_inverse=True)
        numbers.append(first + owner.reshape(-1))
        first = 1 + int(numbers[-1].max())
    return numbers

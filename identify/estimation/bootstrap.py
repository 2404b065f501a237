"""Covariance of an estimate by refits to re-weighted blocks of time: a second route to intervals.

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
from identify.regressors import System
from identify.regressors.system import augmented, whitener
from identify.regressors.triangular import qr_factor

FEWEST_BLOCKS = 10
"""Blocks of time below which their spread says little."""

_REFITS = 500
"""Their standard deviation is known to 3 %."""

_MOST_CORRECTED = 0.95
"""Share of the information that is taken off as noise at the most, as in the fit itself; and that
one block of time is taken to be of it."""


@dataclass(frozen=True, slots=True)
class BlockBootstrap:
    """What refits to re-weighted blocks of time give.

    Attributes:
        covariance: of the unknowns, shape (p, p).
        blocks: of time, in number.
        degrees: of freedom of their spread; blocks of uneven length count as fewer.
    """

    covariance: Array
    blocks: int
    degrees: float

    @classmethod
    def of(cls, fit: LeastSquaresFit, rng: np.random.Generator) -> BlockBootstrap:
        """Of a fit, its weights held.

        Along directions that the data do not identify it is the body's own scale, as the formula's.

        Args:
            fit: the unconstrained estimate.
            rng: where the blocks' weights come from.

        Raises:
            ProblemError: there are fewer than ten blocks.
        """
        split, to_x = fit.identifiability, fit.scaling.to_x
        known = to_x @ split.identifiable
        root = qr_factor(fit.problem.A @ known)
        data = _Blocks.of(fit, known @ np.linalg.inv(root))
        shares = data.samples / data.samples.sum()
        count, degrees = len(shares), float(1.0 / np.sum(shares**2) - 1.0)
        if count < FEWEST_BLOCKS:
            raise ProblemError(
                f"bootstrap: the data have {count} blocks of time, and the spread of fewer than "
                f"{FEWEST_BLOCKS} says little of the estimate's. A block is about ten seconds of a "
                "log: give longer logs, or more, or leave intervals to the formula, the default"
            )
        A, _ = fit.eiv_corrected
        left = np.linalg.solve(root.T, A.T)
        noise = np.eye(len(root)) - left @ left.T
        weights = rng.standard_exponential((_REFITS, count))
        moved = data.unshrunk.refits(weights, noise, shares) @ np.linalg.solve(root.T, known.T)
        spread = moved.T @ moved / _REFITS
        completed = to_x @ split.unidentifiable
        return cls(spread + completed @ completed.T, count, degrees)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Moments of the whitened rows [y | r] of each block of time, r the residual of the fit.

    Offsets follow y in them, so that information adds up over the blocks to that of the fit.

    Attributes:
        free: of the rows no offset acts on, shape (blocks, k + 1, k + 1).
        owned: of each offset's: which blocks, and the moments of [offset | y | r].
        samples: of each block, shape (blocks,).
    """

    free: Array
    owned: tuple[tuple[Indices, Array], ...]
    samples: Array

    @classmethod
    def of(cls, fit: LeastSquaresFit, columns: Array) -> _Blocks:
        system = fit.data.system
        k, blocks = columns.shape[1], _numbered(system)
        count = 1 + max(int(numbers.max()) for numbers in blocks)
        maps, y = system.offset_maps(fit.weights), augmented(fit.x)
        roots = whitener(fit.weights)
        free, samples = np.zeros((count, k + 1, k + 1)), np.zeros(count)
        owned: list[list[tuple[Indices, Array]]] = [[] for _ in maps]
        for part in system.group_cells():
            z, C, L = part.z, part.residual, roots[part.group]
            into = np.concatenate((C[..., :-1] @ columns, (C @ y)[..., None]), axis=-1)
            rows = np.einsum("bnz,zmj,lm->bnlj", z, into, L, optimize=True)
            block = blocks[part.data][part.cells]
            np.add.at(samples, block, system.data[part.data][0].samples[part.cells])
            acted = (part.offset >= 0) & (z[..., 0] != 0.0).any(axis=1)
            np.add.at(free, block[~acted], _moments(rows[~acted]))
            for mine in np.unique(part.offset[acted]).tolist():
                own = acted & (part.offset == mine)
                constant = z[own][..., 0, None, None] * L
                left = rows[own]
                left[..., -1] -= constant @ (maps[mine] @ y)
                left[..., :-1] -= constant @ (maps[mine][:, :-1] @ columns)
                owned[mine].append((block[own], _moments(np.concatenate((constant, left), -1))))
        joined = tuple(
            (np.concatenate([b for b, _ in each]), np.concatenate([m for _, m in each]))
            for each in owned
        )
        return cls(free, joined, samples)

    @property
    def unshrunk(self) -> _Blocks:
        """The same with scores as large as those of blocks that had no part in the fit.

        The fit takes of a block's scores what the block is of all information, M: of variance
        M − M² they are left, in place of M (Bell and McCaffrey 2002).
        """
        k = self.free.shape[-1] - 1
        information = self.free[:, :k, :k].copy()
        for block, moments in self.owned:
            np.add.at(information, block, moments[:, -k - 1 : -1, -k - 1 : -1])
        values, vectors = np.linalg.eigh(information)
        grown = 1.0 / np.sqrt(1.0 - np.clip(values, 0.0, _MOST_CORRECTED))
        restored = (vectors * grown[:, None, :]) @ vectors.swapaxes(-1, -2)

        def with_scores(block: Indices, moments: Array) -> Array:
            changed = moments.copy()
            own = moments[:, -k - 1 : -1, -1:]
            changed[:, -k - 1 : -1, -1] = (restored[block] @ own)[..., 0]
            return changed

        everyone = np.arange(len(self.free))
        owned = tuple((block, with_scores(block, moments)) for block, moments in self.owned)
        return replace(self, free=with_scores(everyone, self.free), owned=owned)

    def refits(self, weights: Array, noise: Array, shares: Array) -> Array:
        """By how much the refits move y, shape (refits, k).

        Args:
            weights: of the blocks, shape (refits, blocks).
            noise: what noise in the columns adds to the information of all rows, which is one in
                y, shape (k, k).
            shares: of the blocks in all samples, shape (blocks,).
        """
        k = len(noise)
        total = np.tensordot(weights, self.free, 1)
        at_fit = self.free.sum(axis=0)
        for block, moments in self.owned:
            total = total + _without_offset(np.tensordot(weights[:, block], moments, 1), k)
            at_fit = at_fit + _without_offset(moments.sum(axis=0), k)
        # Noise in the columns pulls: at the estimate the scores sum to what it makes, not to zero.
        rows = weights @ shares
        information, scores = total[:, :k, :k], total[:, :k, k] - rows[:, None] * at_fit[:k, k]
        L = np.linalg.cholesky(information)
        taken = np.linalg.solve(L, np.broadcast_to(noise, L.shape))
        taken = rows[:, None, None] * np.linalg.solve(L, taken.swapaxes(-1, -2))
        values, vectors = np.linalg.eigh(0.5 * (taken + taken.swapaxes(-1, -2)))
        kept = 1.0 - np.clip(values, 0.0, _MOST_CORRECTED)
        turned = np.linalg.solve(L, scores[..., None])
        turned = vectors @ ((vectors.swapaxes(-1, -2) @ turned) / kept[..., None])
        return np.linalg.solve(L.swapaxes(-1, -2), turned)[..., 0]


def _moments(rows: Array) -> Array:
    """Sums of products over the rows and channels of each cell, (b, n, m, j) to (b, j, j)."""
    b, n, m, j = rows.shape
    flat = rows.reshape(b, n * m, j)
    return flat.swapaxes(-1, -2) @ flat


def _without_offset(moments: Array, k: int) -> Array:
    """Moments of [offset | y | r] with the offset eliminated, (..., m + k + 1)² to (k + 1)²."""
    m = moments.shape[-1] - k - 1
    across = moments[..., :m, m:]
    taken = across.swapaxes(-1, -2) @ np.linalg.solve(moments[..., :m, :m], across)
    return moments[..., m:, m:] - taken


def _numbered(system: System) -> Sequence[Indices]:
    """The number of the block of time of each cell, counted through all data."""
    numbers: list[Indices] = []
    first = 0
    for statistics, _ in system.data:
        of_time = np.stack((statistics.log, statistics.block), axis=1)
        _, owner = np.unique(of_time, axis=0, return_inverse=True)
        numbers.append(first + owner.reshape(-1))
        first = 1 + int(numbers[-1].max())
    return numbers

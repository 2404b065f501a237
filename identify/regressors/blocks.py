"""Statistics kept per block of time: for folds, for intervals, for anything that needs order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from identify.arrays import Array, Indices, seal
from identify.regressors.statistics import WIDTH, WrenchStatistics, factor_of_rows
from identify.regressors.triangular import triangle

MOST_BLOCKS = 200
"""Blocks a log is cut into at the most, but for the cuts between its stretches."""

FEWEST_SAMPLES = 5.0
"""Least effective samples in a block: five correlation times."""


@dataclass(frozen=True, slots=True)
class BlockStatistics:
    """One factor a block of time of one log; blocks are added up, never subtracted.

    Attributes:
        factors: shape (blocks, 19, 19).
        samples: number of rows in each block, shape (blocks,).
        effective: how many of them count as independent, shape (blocks,).
        noise: variance of the noise in each row's 18 columns [ψ, w], shape (18,).
        independent: whether the rows are, as still poses are.
    """

    factors: Array
    samples: Array
    effective: Array
    noise: Array
    independent: bool = False
    _total: WrenchStatistics = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, shape in (
            ("factors", (None, WIDTH, WIDTH)),
            ("samples", (None,)),
            ("effective", (None,)),
            ("noise", (WIDTH - 1,)),
        ):
            object.__setattr__(self, name, seal(getattr(self, name), name, shape))
        total = WrenchStatistics.from_factor(
            triangle(self.factors.reshape(-1, WIDTH)),
            int(self.samples.sum()),
            float(self.effective.sum()),
        )
        object.__setattr__(self, "_total", total)

    @classmethod
    def from_rows(
        cls,
        rows: Array,
        effective: float,
        *,
        noise: Array | None = None,
        segment_ids: Indices | None = None,
        still: bool = False,
    ) -> BlockStatistics:
        """Cut rows z in order of time into blocks of about equal length.

        Args:
            rows: shape (n, 19).
            effective: how many of them count as independent in all.
            noise: variance of the noise in each of the 18 columns [ψ, w]; zero where not given.
            segment_ids: rows of different stretches do not share a block, where given.
            still: whether each row is a still pose, and so a block of its own.
        """
        count = len(rows)
        wanted = count if still else min(MOST_BLOCKS, int(effective / FEWEST_SAMPLES))
        wanted = max(1, min(wanted, count))
        edges = np.linspace(0, count, wanted + 1).astype(int)
        if segment_ids is not None and not still:
            edges = np.union1d(edges, np.flatnonzero(np.diff(segment_ids)) + 1)
        pairs = list(pairwise(edges.tolist()))
        samples = np.array([stop - start for start, stop in pairs], dtype=np.float64)
        return cls(
            factors=np.array([factor_of_rows(rows[start:stop]) for start, stop in pairs]),
            samples=samples,
            effective=samples * (effective / count),
            noise=np.zeros(WIDTH - 1) if noise is None else noise,
            independent=still,
        )

    def __len__(self) -> int:
        return len(self.factors)

    def chosen(self, picked: Sequence[int] | Indices) -> BlockStatistics:
        """The blocks of the given numbers."""
        return replace(
            self,
            factors=self.factors[picked],
            samples=self.samples[picked],
            effective=self.effective[picked],
        )

    def total(self) -> WrenchStatistics:
        """Statistics of all blocks, as of one log."""
        return self._total

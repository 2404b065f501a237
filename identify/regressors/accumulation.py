"""Sufficient statistics of a log from the rows of its blocks of time, for any layout of columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array
from identify.regressors.statistics import RowLayout, Statistics, max_block_count
from identify.regressors.triangular import moment_root, qr_factor
from identify.signals.prepared_log import BlockRows


def statistics_of_blocks(
    blocks: Sequence[BlockRows], layout: RowLayout, log: str = "", *, max_blocks: int | None = None
) -> Statistics:
    """Compute the sufficient statistics of a log from the equation rows of its blocks of time.

    Args:
        blocks: one or more blocks, in order of time.
        layout: columns and groups of their rows. If it has a constant, offsets act on the first
            group alone, one row for each block.
        log: name of the log.
        max_blocks: largest number of blocks; if there are more, neighbours are merged.
            `max_block_count` if not given.
    """
    max_blocks = max_block_count(layout) if max_blocks is None else max_blocks
    K = len(layout.columns)
    G = len(layout.groups)
    first = int(layout.has_constant)
    merged = np.arange(len(blocks)) * min(len(blocks), max_blocks) // len(blocks)
    cells: dict[tuple[int, int], list[Array]] = {}
    samples, effective = np.zeros((2, merged[-1] + 1, G))
    moments = np.zeros((G, K - first, K - first))
    for number, block in zip(merged.tolist(), blocks, strict=True):
        rows = np.bincount(block.groups, minlength=G)
        samples[number] += rows * (block.samples / len(block.rows))
        effective[number] += rows * block.effective_fraction
        if layout.has_constant:
            effective[number, 0] += rows[0] * (1.0 - block.effective_fraction)
        stop = 0
        for group in np.flatnonzero(rows).tolist():
            start, stop = stop, stop + int(rows[group])
            cells.setdefault((number, group), []).append(block.rows[start:stop])
            if block.noise:
                moments[group] += rows[group] * block.noise[group]
    noise = np.zeros((1, G, K, K))
    for group, count in enumerate(samples.sum(axis=0).tolist()):
        if count and moments[group].any():
            noise[0, group, first:, first:] = moment_root(moments[group] / count)
    cell_index = tuple(np.array(list(cells)).T)
    return Statistics(
        layout=layout,
        factors=_triangular_factors(list(cells.values()), K),
        log=np.zeros(len(cells), dtype=np.intp),
        block=cell_index[0],
        group=cell_index[1],
        samples=samples[cell_index],
        effective_samples=effective[cell_index],
        noise=noise,
        logs=(log,),
    )


def _triangular_factors(cells: Sequence[Sequence[Array]], K: int) -> Array:
    """Compute the triangular QR factor of the rows of each cell, shape (cells, k, K), k ≤ K."""
    height = max(sum(map(len, parts)) for parts in cells)
    factors = np.zeros((len(cells), min(K, height), K))
    for factor, parts in zip(factors, cells, strict=True):
        rows = np.concatenate(parts)
        factor[: min(len(rows), K)] = rows if len(rows) < K else qr_factor(rows)
    return factors

"""Sufficient statistics of a log for every estimator: triangular factors, built in one pass.

The residual of a sample is linear in a few numbers z (for a wrench z = [1, ψ, w], 19 numbers):
r = z · (B0 − B x). For any weight W and any x the cost Σ rᵀ W r therefore depends on the log only
through the triangular factor R of the matrix of all z, its sufficient statistics (the square-root
information). R is built in chunks by QR and never through a Gram matrix, so nothing is squared.

`Statistics` keeps such factors for cells, a cell being one log × one block of time × one group of
channels. It is data alone: it knows no unknowns, no weights and no physics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, count

import numpy as np
from scipy.linalg.lapack import dtpqrt

from identify.arrays import Array, Flags, Indices, seal
from identify.regressors.triangular import qr_factor

MAX_TIME_BLOCKS = 200
"""Largest number of time blocks of a log, not counting the cuts between its segments."""

MAX_FACTOR_BYTES = 32 * 2**20
"""Largest memory of the factors of a log [bytes]; it limits the number of blocks if there are many
columns and groups, such as one for each joint of a robot."""

QR_CHUNK_ROWS = 2048
"""Number of rows in a step of the QR factorisation."""

_QR_PANEL_COLUMNS = 4
"""Block size of the triangular-pentagonal QR."""


@dataclass(frozen=True, slots=True)
class ChannelGroup:
    """Group of simultaneous channels of a sensor, whose residuals share one weight matrix.

    Attributes:
        name: name of the sensor or its band.
        channels: names of the simultaneous channels, one residual each.
        quantities: quantity of each channel ("force", "torque"); channels of one quantity are
            assumed to have equal noise if there are few data.
    """

    name: str
    channels: tuple[str, ...]
    quantities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Names of the columns of a log's equation rows, and its groups of channels.

    Statistics of equal layouts can be added.

    Attributes:
        columns: names of the K numbers z. The constant, if there is one, comes first and is
            called "1".
        groups: groups of the rows.
        fit: number of leading columns that a fit reads; the leading block of a triangular factor
            is triangular as well.
    """

    columns: tuple[str, ...]
    groups: tuple[ChannelGroup, ...]
    fit: int

    @property
    def has_constant(self) -> bool:
        """Whether the first column is the constant, on which a sensor's offset acts."""
        return self.columns[:1] == ("1",)


def max_block_count(layout: RowLayout) -> int:
    """Return the largest number of time blocks of a log whose statistics are kept, at least one.

    Args:
        layout: columns and groups, all of which may have rows in every block.
    """
    block_bytes = 8 * len(layout.groups) * len(layout.columns) ** 2
    return min(max(MAX_FACTOR_BYTES // block_bytes, 1), MAX_TIME_BLOCKS)


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sufficient statistics of logs: triangular factors of their rows by cell, with sample counts.

    A cell is a log × a block of time × a group of channels.

    Attributes:
        layout: columns and groups.
        factors: triangular factor of each cell's rows; cells with fewer rows than k are padded with
            zeros, shape (cells, k, K) with k ≤ K.
        log, block, group: log, block of time and group of each cell, shape (cells,).
        samples: number of rows of the log in each cell, shape (cells,).
        effective_samples: equivalent number of independent rows, shape (cells,).
        noise: roots ν of the noise in one row of each log and group: its moment is νᵀν, shape
            (logs, groups, K, K).
        logs: name of each log; `+` merges logs with equal names.
    """

    layout: RowLayout
    factors: Array
    log: Indices
    block: Indices
    group: Indices
    samples: Array
    effective_samples: Array
    noise: Array
    logs: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        K, G = len(self.layout.columns), len(self.layout.groups)
        for name, shape in (
            ("factors", (None, None, K)),
            ("samples", (None,)),
            ("effective_samples", (None,)),
            ("noise", (len(self.logs), G, K, K)),
        ):
            object.__setattr__(self, name, seal(getattr(self, name), name, shape))
        for name in ("log", "block", "group"):
            numbers = np.array(getattr(self, name), dtype=np.intp)
            numbers.flags.writeable = False
            object.__setattr__(self, name, numbers)

    @classmethod
    def from_factor(
        cls,
        layout: RowLayout,
        factor: Array,
        samples: int,
        effective_samples: float | None = None,
        *,
        log: str = "",
    ) -> Statistics:
        """Create the statistics of a log of one block from its triangular factor, shape (K, K)."""
        K, zero = len(layout.columns), np.zeros(1, dtype=np.intp)
        return cls(
            layout=layout,
            factors=factor[None],
            log=zero,
            block=zero,
            group=zero,
            samples=np.array([samples]),
            effective_samples=np.array(
                [samples if effective_samples is None else effective_samples]
            ),
            noise=np.zeros((1, 1, K, K)),
            logs=(log,),
        )

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.factors)

    @property
    def one_sample_per_cell(self) -> bool:
        """Whether each cell is a single sample, as for static poses."""
        return bool((self.samples == 1.0).all())

    @cached_property
    def total_factors(self) -> Array:
        """Triangular factor of each log and group over all blocks, shape (logs, groups, K, K)."""
        logs, groups = map(range, self.noise.shape[:2])
        totals = np.array([[self.total_factor(log, group) for group in groups] for log in logs])
        totals.flags.writeable = False
        return totals

    def total_factor(self, log: int, group: int) -> Array:
        """Compute the triangular factor of a log and group over all blocks, shape (K, K)."""
        K = len(self.layout.columns)
        cells = self.factors[(self.log == log) & (self.group == group)]
        return qr_factor(cells.reshape(-1, K)) if len(cells) else np.zeros((K, K))

    def sum_over_blocks(self, values: Array) -> Array:
        """Sum values of the cells, such as `samples`, over the blocks, shape (logs, groups)."""
        logs, groups = self.noise.shape[:2]
        group_of_cell = self.log * groups + self.group
        sums = np.bincount(group_of_cell, values, minlength=logs * groups).astype(np.float64)
        return sums.reshape(logs, groups)

    @cached_property
    def samples_of_groups(self) -> Array:
        """Number of samples of each log and group, shape (logs, groups)."""
        return self.sum_over_blocks(self.samples)

    @cached_property
    def effective_samples_of_groups(self) -> Array:
        """Effective number of independent samples of each log and group, shape (logs, groups)."""
        return self.sum_over_blocks(self.effective_samples)

    @property
    def noise_rows(self) -> Array:
        """Triangular factors of the noise of each log and group, shape (logs, groups, K, K)."""
        return np.sqrt(self.samples_of_groups)[..., None, None] * self.noise

    def __add__(self, other: Statistics) -> Statistics:
        """Add two statistics: cells of the same log, block and group are merged.

        Raises `ValueError`: the layouts differ.
        """
        return sum_statistics((self, other))

    def append_blocks(self, later: Statistics) -> Statistics:
        """Append the time blocks of a later part of the same log.

        Args:
            later: statistics of one log of the same layout; its name is ignored.
        """
        start = int(self.block.max()) + 1
        joined = _join_cells((self, later._replace(block=start + later.block)))
        noise = _mean_noise(joined.noise, joined.sum_over_blocks(joined.samples))
        log = np.zeros_like(joined.log)
        return joined._replace(log=log, logs=self.logs, noise=noise[None])

    def sample_counts(self) -> Statistics:
        """Return statistics that contain only the numbers of samples."""
        layout = RowLayout(("1",), self.layout.groups[:1], 1)
        samples, effective = self.samples.sum(), self.effective_samples.sum()
        return Statistics.from_factor(layout, np.zeros((1, 1)), samples, effective)

    def subset(self, cells: Indices | Flags | Sequence[int]) -> Statistics:
        """Select cells by index; names of logs without cells are kept."""
        chosen = slice(None) if isinstance(cells, slice) else np.asarray(cells)
        return self._replace(**{name: getattr(self, name)[chosen] for name in _CELL_ATTRIBUTES})

    def _replace(self, **changes: object) -> Statistics:
        """Return a copy with other attributes, without validation and without copying arrays."""
        copy = object.__new__(Statistics)
        for attribute in fields(Statistics):
            value = changes.get(attribute.name, getattr(self, attribute.name))
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(copy, attribute.name, value)
        return copy

    def fit_columns_only(self) -> Statistics:
        """Drop the columns that a fit does not read, which leaves a fifth of the memory."""
        fit = self.layout.fit
        if fit == len(self.layout.columns):
            return self
        factors = self.factors[:, :, :fit]
        if factors.shape[1] > fit:
            factors = np.linalg.qr(factors, mode="r")
        return self._replace(
            layout=replace(self.layout, columns=self.layout.columns[:fit]),
            factors=np.ascontiguousarray(factors),
            noise=np.linalg.qr(self.noise[..., :fit], mode="r"),
        )

    def merged(self) -> Statistics:
        """Merge all blocks of each log and group into one."""
        one_block = replace(self, block=np.zeros_like(self.block))
        return one_block + one_block.subset(np.zeros(0, dtype=np.intp))

    def mapped(self, M: Array, layout: RowLayout | None = None) -> Statistics:
        """Map the columns of all rows linearly, z to z M, as by a change of frame or a gain.

        Args:
            M: shape (K, K'), or one for each log, (logs, K, K'), or for each of its groups,
                (logs, groups, K, K').
            layout: layout of the K' columns; unchanged if not given.
        """
        by_log = M if M.ndim == 4 else M.reshape(-1, 1, *M.shape[-2:])
        maps = np.broadcast_to(by_log, (*self.noise.shape[:2], *M.shape[-2:]))
        cells = zip(self.factors, self.log.tolist(), self.group.tolist(), strict=True)
        factors = np.array([qr_factor(factor @ maps[log, group]) for factor, log, group in cells])
        noise = np.array(
            [
                [qr_factor(root @ group_map) for root, group_map in zip(*pair, strict=True)]
                for pair in zip(self.noise, maps, strict=True)
            ]
        )
        return replace(self, layout=layout or self.layout, factors=factors, noise=noise)


_CELL_ATTRIBUTES = ("factors", "log", "block", "group", "samples", "effective_samples")
"""Names of the attributes of `Statistics` with an entry for each cell: log × time block × group."""


def sum_statistics(parts: Sequence[Statistics]) -> Statistics:
    """Add sufficient statistics; cells of the same log, block and group are merged.

    Raises `ValueError`: the list is empty, or the layouts differ.
    """
    joined = _join_cells(parts)
    log_names = [name for part in parts for name in part.logs]
    names = tuple(dict.fromkeys(log_names))
    log_number = np.array([names.index(name) for name in log_names])
    log = log_number[joined.log]
    keys = np.stack((log, joined.block, joined.group), axis=1)
    cells, merged_cell = np.unique(keys, axis=0, return_inverse=True)
    merged_cell = merged_cell.reshape(-1)
    samples = np.bincount(merged_cell, joined.samples).astype(np.float64)
    effective = np.bincount(merged_cell, joined.effective_samples).astype(np.float64)
    K = len(joined.layout.columns)
    stacks, height = np.zeros((len(cells), K, K)), joined.factors.shape[1]
    is_single = (np.bincount(merged_cell) == 1) & (height <= K)
    kept = is_single[merged_cell]
    stacks[merged_cell[kept], :height] = joined.factors[kept]
    for k in np.flatnonzero(~is_single):
        stacks[k] = qr_factor(joined.factors[merged_cell == k].reshape(-1, K))
    rows = joined.sum_over_blocks(joined.samples)
    noise = np.zeros((len(names), *joined.noise.shape[1:]))
    for k in range(len(names)):
        noise[k] = _mean_noise(joined.noise[log_number == k], rows[log_number == k])
    return Statistics(
        layout=joined.layout,
        factors=stacks,
        log=cells[:, 0],
        block=cells[:, 1],
        group=cells[:, 2],
        samples=samples,
        effective_samples=effective,
        noise=noise,
        logs=names,
    )


def join_logs(parts: Sequence[Statistics]) -> Statistics:
    """Combine the statistics of several logs; each log stays separate, in this order.

    Args:
        parts: one or more statistics of one layout.

    Raises:
        ValueError: the list is empty, or the layouts differ.
    """
    joined = _join_cells(parts)
    if len(parts) > 1:
        joined.__dict__["total_factors"] = np.concatenate([part.total_factors for part in parts])
    return joined


def _join_cells(parts: Sequence[Statistics]) -> Statistics:
    if not parts:
        raise ValueError("join_logs needs the statistics of at least one log")
    if len(parts) == 1:
        return parts[0]
    if any(part.layout != parts[0].layout for part in parts):
        raise ValueError("statistics of different layouts cannot be combined")
    first = np.cumsum([0, *(len(part.logs) for part in parts)])
    k = max(part.factors.shape[1] for part in parts)
    return parts[0]._replace(
        factors=np.concatenate([_pad_rows(part.factors, k) for part in parts]),
        log=np.concatenate([part.log + start for part, start in zip(parts, first, strict=False)]),
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("block", "group", "samples", "effective_samples", "noise")
        },
        logs=_unique_names([name for part in parts for name in part.logs]),
    )


def _mean_noise(noise: Array, rows: Array) -> Array:
    """Average the second moment of the noise in a row over logs, as triangular factors.

    `noise` are roots of each log, shape (logs, groups, K, K), `rows` its numbers of rows.
    """
    share = np.sqrt(rows / np.maximum(rows.sum(axis=0), 1.0))
    weighted = share[..., None, None] * noise
    K = noise.shape[-1]
    return np.array([qr_factor(weighted[:, g].reshape(-1, K)) for g in range(noise.shape[1])])


def factor_of_rows(rows: Array) -> Array:
    """Compute the triangular QR factor of rows in chunks, shape (n, K) to (K, K)."""
    factor = np.zeros((rows.shape[1], rows.shape[1]), order="F")
    for start in range(0, len(rows), QR_CHUNK_ROWS):
        factor = qr_update(factor, rows[start : start + QR_CHUNK_ROWS].T)
    return np.triu(factor)


def qr_update(factor: Array, z: Array) -> Array:
    """Add rows zᵀ, z of shape (K, n), to a triangular factor by a triangular-pentagonal QR."""
    panel = np.array(z.T, order="F")
    return dtpqrt(0, _QR_PANEL_COLUMNS, factor, panel, overwrite_a=1, overwrite_b=1)[0]


def _unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Number repeated names of logs, since `+` merges logs with equal names."""
    distinct: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        free = next(word for word in chain([name], numbered) if word not in distinct)
        distinct[free] = None
    return tuple(distinct)


def _pad_rows(factors: Array, k: int) -> Array:
    missing = k - factors.shape[1]
    return np.pad(factors, ((0, 0), (0, missing), (0, 0))) if missing else factors

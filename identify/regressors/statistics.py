"""One pass over a log: the triangular factors that every estimator works from.

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
from itertools import chain, count, pairwise

import numpy as np
from scipy.linalg.lapack import dtpqrt

from identify.arrays import Array, Flags, Indices, seal
from identify.regressors.triangular import triangle

MOST_BLOCKS = 200
"""Blocks a log is cut into at the most, but for the cuts between its segments."""

CHUNK = 2048
"""Rows that one step of the QR takes in."""

_PANEL = 4


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that share one weight: the channels of one sensor.

    Attributes:
        name: of the sensor.
        channels: what it measures at once, one residual each.
        kinds: what each channel is; channels of one kind have noise of one size where the data
            are too few to tell more.
    """

    name: str
    channels: tuple[str, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns of statistics are; two statistics add only if their layouts are equal.

    Attributes:
        columns: names of the K numbers z. The constant, where there is one, comes first and is
            called "1".
        groups: the rows' groups.
        fit: a fit reads the leading columns of this number; a leading block of a triangular factor
            is triangular again.
    """

    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    fit: int

    @property
    def has_constant(self) -> bool:
        """Whether the first column is the constant, on which a sensor's offset acts."""
        return self.columns[:1] == ("1",)


@dataclass(frozen=True, eq=False)
class Statistics:
    """Factors of z by cell (log × block of time × group), with their counts.

    Attributes:
        layout: of the columns.
        factors: of each cell's rows; cells of fewer rows than k have zero rows, shape (cells, k, K)
            with k ≤ K.
        log, block, group: which log, block of time and group a cell is of, shape (cells,).
        samples: rows of the log in each cell, shape (cells,).
        effective_samples: how many of them count as independent, shape (cells,).
        noise: roots ν of the noise in one row of each log and group: its moment is νᵀν, shape
            (logs, groups, K, K).
        logs: a name for each log; `+` takes equal names for one log.
    """

    layout: Layout
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
        layout: Layout,
        factor: Array,
        samples: int,
        effective_samples: float | None = None,
        *,
        log: str = "",
    ) -> Statistics:
        """Statistics of one log as one block, from its factor R, shape (K, K)."""
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
        """How many cells there are."""
        return len(self.factors)

    @property
    def independent(self) -> bool:
        """Whether each cell is one sample, as still poses are."""
        return bool((self.samples == 1.0).all())

    @cached_property
    def totals(self) -> Array:
        """R of each log and group over all its blocks, shape (logs, groups, K, K)."""
        logs, groups, K, _ = self.noise.shape
        owner = self.log * groups + self.group
        order = np.argsort(owner, kind="stable")
        edges = np.searchsorted(owner[order], np.arange(logs * groups + 1))
        totals = np.zeros((logs * groups, K, K))
        for number, (start, stop) in enumerate(pairwise(edges.tolist())):
            if stop > start:
                totals[number] = triangle(self.factors[order[start:stop]].reshape(-1, K))
        totals.flags.writeable = False
        return totals.reshape(self.noise.shape)

    def counts(self, values: Array) -> Array:
        """Sum of a number a cell (samples, effective samples) over blocks: (logs, groups)."""
        logs, groups = self.noise.shape[:2]
        owner = self.log * groups + self.group
        counts = np.bincount(owner, values, minlength=logs * groups).astype(np.float64)
        return counts.reshape(logs, groups)

    @cached_property
    def samples_of_groups(self) -> Array:
        """How many samples there are of each log and group, shape (logs, groups)."""
        return self.counts(self.samples)

    @cached_property
    def effective_samples_of_groups(self) -> Array:
        """How many of them count as independent, likewise."""
        return self.counts(self.effective_samples)

    @cached_property
    def noise_rows(self) -> Array:
        """Roots of the noise in all rows of each log and group, shape (logs, groups, K, K)."""
        rows = np.sqrt(self.samples_of_groups)[..., None, None] * self.noise
        rows.flags.writeable = False
        return rows

    def __add__(self, other: Statistics) -> Statistics:
        """Statistics of both: cells of the same log, block and group become one.

        Raises:
            ValueError: the layouts differ.
        """
        return add_up((self, other))

    def followed_by(self, later: Statistics) -> Statistics:
        """Statistics of one log whose blocks of time go on with those of a later part of it.

        Args:
            later: of the same log and layout, whatever its name.
        """
        start = int(self.block.max()) + 1
        return self + later._copy(block=start + later.block, logs=self.logs)

    def subset(self, cells: Indices | Flags | Sequence[int]) -> Statistics:
        """The cells of the given numbers, of the same logs."""
        chosen = slice(None) if isinstance(cells, slice) else np.asarray(cells)
        return self._copy(**{name: getattr(self, name)[chosen] for name in _OF_CELLS})

    def _copy(self, **changes: object) -> Statistics:
        """A copy with other attributes made of those of others, which need no check and no copy."""
        copy = object.__new__(Statistics)
        for of in fields(Statistics):
            value = changes.get(of.name, getattr(self, of.name))
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(copy, of.name, value)
        return copy

    def narrowed(self) -> Statistics:
        """The columns that a fit reads, alone: of wide ones what takes a fifth of the memory."""
        fit = self.layout.fit
        if fit == len(self.layout.columns):
            return self
        factors = self.factors[:, :, :fit]
        if factors.shape[1] > fit:
            factors = np.linalg.qr(factors, mode="r")
        return self._copy(
            layout=replace(self.layout, columns=self.layout.columns[:fit]),
            factors=np.ascontiguousarray(factors),
            noise=np.linalg.qr(self.noise[..., :fit], mode="r"),
        )

    def merged(self) -> Statistics:
        """All blocks of each log and group as one."""
        one = replace(self, block=np.zeros_like(self.block))
        return one + one.subset(np.zeros(0, dtype=np.intp))

    def mapped(self, M: Array, layout: Layout | None = None) -> Statistics:
        """Statistics of z M in place of z: another frame, a delay, a gain.

        Args:
            M: shape (K, K'), or one for each log, (logs, K, K'), or for each of its groups,
                (logs, groups, K, K').
            layout: of the K' columns; the same where not given.
        """
        by_log = M if M.ndim == 4 else M.reshape(-1, 1, *M.shape[-2:])
        maps = np.broadcast_to(by_log, (*self.noise.shape[:2], *M.shape[-2:]))
        cells = zip(self.factors, self.log.tolist(), self.group.tolist(), strict=True)
        factors = np.array([triangle(factor @ maps[log, group]) for factor, log, group in cells])
        noise = np.array(
            [
                [triangle(root @ own) for root, own in zip(roots, of_log, strict=True)]
                for roots, of_log in zip(self.noise, maps, strict=True)
            ]
        )
        return replace(self, layout=layout or self.layout, factors=factors, noise=noise)


_OF_CELLS = ("factors", "log", "block", "group", "samples", "effective_samples")
"""Attributes of `Statistics` with an entry for each cell."""


def add_up(parts: Sequence[Statistics]) -> Statistics:
    """Statistics of all: cells of the same log, block and group become one.

    Args:
        parts: at least one, of one layout.

    Raises:
        ValueError: there is none, or the layouts differ.
    """
    joined = join_logs(parts)
    given = [name for part in parts for name in part.logs]
    names = tuple(dict.fromkeys(given))
    of_name = np.array([names.index(name) for name in given])
    log = of_name[joined.log]
    keys = np.stack((log, joined.block, joined.group), axis=1)
    cells, owner = np.unique(keys, axis=0, return_inverse=True)
    owner = owner.reshape(-1)
    samples = np.bincount(owner, joined.samples).astype(np.float64)
    effective = np.bincount(owner, joined.effective_samples).astype(np.float64)
    K = len(joined.layout.columns)
    stacks = np.zeros((len(cells), K, K))
    for k in range(len(cells)):
        own = joined.factors[owner == k]
        small = len(own) == 1 and own.shape[1] <= K
        stacks[k] = _with_rows(own, K)[0] if small else triangle(own.reshape(-1, K))
    rows = joined.counts(joined.samples)
    noise = np.zeros((len(names), *joined.noise.shape[1:]))
    for k in range(len(names)):
        noise[k] = _noise_of_all(joined.noise[of_name == k], rows[of_name == k])
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
    """Statistics side by side: every log of each stays a log of its own, in this order.

    Args:
        parts: at least one, of one layout.

    Raises:
        ValueError: there is none, or the layouts differ.
    """
    if not parts:
        raise ValueError("join_logs needs the statistics of at least one log")
    if len(parts) == 1:
        return parts[0]
    if any(part.layout != parts[0].layout for part in parts):
        raise ValueError("statistics of different layouts do not add up")
    first = np.cumsum([0, *(len(part.logs) for part in parts)])
    k = max(part.factors.shape[1] for part in parts)
    joined = parts[0]._copy(
        factors=np.concatenate([_with_rows(part.factors, k) for part in parts]),
        log=np.concatenate([part.log + start for part, start in zip(parts, first, strict=False)]),
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("block", "group", "samples", "effective_samples", "noise")
        },
        logs=_distinct([name for part in parts for name in part.logs]),
    )
    joined.__dict__["totals"] = np.concatenate([part.totals for part in parts])
    return joined


def _noise_of_all(noise: Array, rows: Array) -> Array:
    """Roots of the noise in one row, on average over logs.

    Args:
        noise: roots of each, shape (logs, groups, K, K).
        rows: of each, shape (logs, groups).

    Returns:
        Shape (groups, K, K).
    """
    share = np.sqrt(rows / np.maximum(rows.sum(axis=0), 1.0))
    weighted = share[..., None, None] * noise
    K = noise.shape[-1]
    return np.array([triangle(weighted[:, g].reshape(-1, K)) for g in range(noise.shape[1])])


def factor_of_rows(rows: Array) -> Array:
    """R of rows z in chunks, shape (n, K) to (K, K)."""
    factor = np.zeros((rows.shape[1], rows.shape[1]), order="F")
    for start in range(0, len(rows), CHUNK):
        factor = absorb(factor, rows[start : start + CHUNK].T)
    return np.triu(factor)


def absorb(factor: Array, z: Array) -> Array:
    """R of [R; zᵀ] by a triangular-pentagonal QR; `z` is (K, n), the factor is overwritten."""
    panel = np.array(z.T, order="F")
    return dtpqrt(0, _PANEL, factor, panel, overwrite_a=1, overwrite_b=1)[0]


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, numbered where one was there before: `+` takes equal ones for one log."""
    distinct: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        free = next(word for word in chain([name], numbered) if word not in distinct)
        distinct[free] = None
    return tuple(distinct)


def _with_rows(factors: Array, k: int) -> Array:
    missing = k - factors.shape[1]
    return np.pad(factors, ((0, 0), (0, missing), (0, 0))) if missing else factors

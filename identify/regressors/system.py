"""`System`: data and model together, from which every least-squares quantity comes.

Statistics hold the data, equations the model; a fit brings weights. Offsets act on the constant,
whose column is zero below the first row of each factor: they are eliminated from those rows alone,
after weighting, and the rows below do not know of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import ProblemError
from identify.regressors.equations import Equations
from identify.regressors.linear_problem import LinearProblem
from identify.regressors.space import ParameterSpace
from identify.regressors.statistics import Group, Statistics
from identify.regressors.triangular import triangle

Data: TypeAlias = Sequence[tuple[Statistics, Equations]]
"""Statistics with their equations; all equations are of one parameter space."""

Weights: TypeAlias = Sequence[Array]
"""W of each group of a system, in its order, shape (m, m) each."""


@dataclass(frozen=True)
class GroupEquations:
    """The equations of one group of channels, as rows [B0 | B] of all its logs.

    Attributes:
        group: of the layout.
        rest: rows that no offset touches, shape (n, m, 1 + p).
        first: for each log, the row of its constant, shape (logs, m, 1 + p).
        constant: the constant in those rows, shape (logs,); zero where there is no offset.
        noise: rows of the noise in all samples, shape (l, m, 1 + p).
        samples, effective_samples: over all logs.
    """

    group: Group
    rest: Array
    first: Array
    constant: Array
    noise: Array
    samples: float
    effective_samples: float

    @property
    def channels(self) -> int:
        """How many residuals a sample has."""
        return len(self.group.channels)


class LogPart(NamedTuple):
    """What a system has of one log and group.

    Attributes:
        group: number among the system's groups.
        data: number of the statistics.
        log: number of the log in them.
        cells: numbers of its cells in them, shape (c,).
        z: their factors, in the columns a fit reads, shape (c, k, fit).
        residual: coefficients [B0 | B], shape (fit, m, 1 + p).
    """

    group: int
    data: int
    log: int
    cells: Indices
    z: Array
    residual: Array


@dataclass(frozen=True)
class System:
    """Statistics and equations of all data of a fit.

    Attributes:
        data: as given.
    """

    data: tuple[tuple[Statistics, Equations], ...]

    @classmethod
    def of(cls, data: Data) -> System:
        """The system of some data.

        Raises:
            ProblemError: there are none, or the equations are of different spaces.
        """
        pairs = tuple(data)
        if not pairs:
            raise ProblemError("there are no data to fit")
        if any(equations.space != pairs[0][1].space for _, equations in pairs):
            raise ProblemError("the equations are of different parameter spaces")
        return cls(pairs)

    @property
    def space(self) -> ParameterSpace:
        """Of the unknowns."""
        return self.data[0][1].space

    @cached_property
    def members(self) -> tuple[tuple[int, int], ...]:
        """Number of the statistics, and there of the group, for every group that has samples."""
        return tuple(
            (number, g)
            for number, (statistics, _) in enumerate(self.data)
            for g in np.flatnonzero(statistics.counts(statistics.samples).sum(axis=0)).tolist()
        )

    @cached_property
    def groups(self) -> tuple[GroupEquations, ...]:
        """The equations of those groups, in this order."""
        return tuple(_of_group(*self.data[number], g) for number, g in self.members)

    def parts(self) -> Iterator[LogPart]:
        """Cells and coefficients of each group and log, in this order."""
        for number, (data, g) in enumerate(self.members):
            statistics, equations = self.data[data]
            for log in range(len(statistics.logs)):
                cells = np.arange(len(statistics))[statistics.cells_of(log, g)]
                z = statistics.factors[cells][..., : statistics.layout.fit]
                yield LogPart(number, data, log, cells, z, equations.residual(log, g))

    @cached_property
    def sensors(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each statistics, the numbers of the groups of each sensor: those of equal channels.

        Groups of one sensor, such as its bands of frequency, have one offset.
        """
        sensors: list[dict[tuple[str, ...], list[int]]] = [{} for _ in self.data]
        for number, (data, _) in enumerate(self.members):
            channels = self.groups[number].group.channels
            sensors[data].setdefault(channels, []).append(number)
        return tuple(tuple(map(tuple, by_channels.values())) for by_channels in sensors)

    @cached_property
    def owners(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each fitted offset, the (group, log) whose first rows it acts on."""
        owners: list[tuple[tuple[int, int], ...]] = []
        for sensors, (statistics, equations) in zip(self.sensors, self.data, strict=True):
            if not statistics.layout.has_constant or equations.offsets == "none":
                continue
            logs = range(len(statistics.logs))
            for groups in sensors:
                if equations.offsets == "shared":
                    owners.append(tuple((g, log) for g in groups for log in logs))
                else:
                    owners.extend(tuple((g, log) for g in groups) for log in logs)
        return tuple(owners)

    @property
    def nuisances(self) -> int:
        """How many numbers of offsets are fitted."""
        return sum(self.groups[rows[0][0]].channels for rows in self.owners)

    @property
    def equations(self) -> float:
        """How many independent scalar equations the data are."""
        return sum(group.channels * group.effective_samples for group in self.groups)

    @property
    def blocks(self) -> int:
        """How many blocks of time the data have, over all logs."""
        return sum(
            len(set(zip(statistics.log.tolist(), statistics.block.tolist(), strict=True)))
            for statistics, _ in self.data
        )

    def problem(self, weights: Weights) -> LinearProblem:
        """The least-squares problem in x, offsets eliminated.

        Args:
            weights: W of the cost Σ rᵀ W r, symmetric positive definite.

        Raises:
            ProblemError: a weight is not positive definite.
        """
        roots = [whitener(weight) for weight in weights]
        p = len(self.space)
        stacks: list[Array] = [
            (root @ group.rest).reshape(-1, 1 + p)
            for root, group in zip(roots, self.groups, strict=True)
        ]
        owned = {row for rows in self.owners for row in rows}
        for rows in self.owners:
            stacks.append(self._without_offset(rows, roots))
        for number, group in enumerate(self.groups):
            kept = [log for log in range(len(group.first)) if (number, log) not in owned]
            stacks.append((roots[number] @ group.first[kept]).reshape(-1, 1 + p))
        rows = np.concatenate(stacks)
        return LinearProblem.from_rows(
            np.concatenate((rows[:, 1:], rows[:, :1]), axis=1),
            equations=self.equations,
            nuisances=self.nuisances,
            names=self.space.names,
        )

    def _without_offset(self, rows: tuple[tuple[int, int], ...], roots: Sequence[Array]) -> Array:
        """Whitened first rows of one offset's logs, with the offset eliminated."""
        p, m = len(self.space), self.groups[rows[0][0]].channels
        if len(rows) == 1:  # the offset takes the only row it acts on
            return np.zeros((0, 1 + p))
        stack = np.concatenate(
            [
                np.concatenate(
                    (self.groups[g].constant[log] * roots[g], roots[g] @ self.groups[g].first[log]),
                    axis=1,
                )
                for g, log in rows
            ]
        )
        return triangle(stack)[m : m + 1 + p, m:]

    def offset_maps(self, weights: Weights) -> list[Array]:
        """For each fitted offset the map [1; −x] → offset of least cost, shape (m, 1 + p)."""
        maps = []
        for rows in self.owners:
            if len(rows) == 1:
                ((g, log),) = rows
                maps.append(self.groups[g].first[log] / self.groups[g].constant[log])
                continue
            normal = sum(self.groups[g].constant[log] ** 2 * weights[g] for g, log in rows)
            right = sum(
                self.groups[g].constant[log] * weights[g] @ self.groups[g].first[log]
                for g, log in rows
            )
            maps.append(np.linalg.solve(normal, right))
        return maps

    def offsets(self, x: Array, weights: Weights) -> Array:
        """The sensor offsets of each log that suit x: (logs, m), zero where none is fitted.

        An offset is what the sensor adds: measured = modelled + offset. Those of a log's sensors
        stand one after the other; logs with fewer channels than others end in zeros.
        """
        by_row = self._offset_of_row(self.offset_maps(weights))
        y = augmented(x)
        found: list[Array] = []
        for sensors, (statistics, _) in zip(self.sensors, self.data, strict=True):
            for log in range(len(statistics.logs)):
                maps = [
                    by_row.get((first, log), np.zeros((self.groups[first].channels, len(y))))
                    for first, *_ in sensors
                ]
                found.append(np.concatenate(maps) @ y)
        widest = max(map(len, found))
        if all(len(offset) == widest for offset in found):
            return np.array(found)
        return np.array([np.pad(offset, (0, widest - len(offset))) for offset in found])

    def _offset_of_row(self, maps: Sequence[Array]) -> dict[tuple[int, int], Array]:
        return {row: of for rows, of in zip(self.owners, maps, strict=True) for row in rows}

    def residual_moments(self, x: Array, weights: Weights | None = None) -> list[Array]:
        """Σ r rᵀ of each group at x, with the offsets that suit it best, shape (m, m) each.

        Args:
            x: unknowns, shape (p,).
            weights: with which offsets over several groups or logs are fitted; alike where not
                given.
        """
        weights = weights or [np.eye(group.channels) for group in self.groups]
        y = augmented(x)
        residuals = [(group.rest @ y, group.first @ y) for group in self.groups]
        for (number, log), offset in self._offset_of_row(self.offset_maps(weights)).items():
            residuals[number][1][log] -= self.groups[number].constant[log] * (offset @ y)
        return [rest.T @ rest + first.T @ first for rest, first in residuals]

    def measured_power(self) -> list[Array]:
        """Mean square of what each group measured, offsets included, shape (m,) each."""
        return [
            ((group.rest[..., 0] ** 2).sum(axis=0) + (group.first[..., 0] ** 2).sum(axis=0))
            / group.samples
            for group in self.groups
        ]

    def scores(self, x: Array, weights: Weights) -> Array:
        """Σ Bᵀ W r over the rows of each block of each log, offsets eliminated: (blocks, p).

        Offsets follow x, so B here is what they leave of it. Groups of one block of time count as
        one block.
        """
        by_row = self._offset_of_row(self.offset_maps(weights))
        scores = [np.zeros((len(statistics), len(self.space))) for statistics, _ in self.data]
        for part in self.parts():
            z, C = part.z, part.residual
            if (offset := by_row.get((part.group, part.log))) is not None:
                C[0] -= offset
            weighted = z.reshape(-1, z.shape[-1]) @ ((C @ augmented(x)) @ weights[part.group])
            moments = z.swapaxes(-1, -2) @ weighted.reshape(*z.shape[:2], -1)
            scores[part.data][part.cells] = np.tensordot(moments, C[..., 1:], axes=2)
        return np.concatenate(
            [_by_block(data[0], found) for data, found in zip(self.data, scores, strict=True)]
        )

    def noise_rows(self, weights: Weights) -> Array:
        """What noise in the columns adds to the whitened rows [B | B0], as rows: (n, p + 1).

        Their moment is what noise in all samples adds to that of the rows, on average.
        """
        p = len(self.space)
        rows = np.concatenate(
            [
                (whitener(weight) @ group.noise).reshape(-1, 1 + p)
                for weight, group in zip(weights, self.groups, strict=True)
            ]
        )
        return np.concatenate((rows[:, 1:], rows[:, :1]), axis=1)

    def noise_moments(self, x: Array) -> list[Array]:
        """What noise in the columns makes of Σ r rᵀ of each group at x, shape (m, m) each."""
        through = [group.noise @ augmented(x) for group in self.groups]
        return [rows.T @ rows for rows in through]

    def noise_scatter(self, x: Array, weights: Weights) -> Array:
        """Scatter of the scores Σ Bᵀ W r from the noise cross term, that of B and r: (p, p)."""
        p, y = len(self.space), augmented(x)
        scatter = np.zeros((p, p))
        for group, weight in zip(self.groups, weights, strict=True):
            if not len(group.noise):
                continue
            cross_term = np.tensordot(group.noise @ y, group.noise[..., 1:], axes=(0, 0))
            V = np.tensordot(weight, cross_term, axes=1)
            scatter += np.einsum("mnp,nmq->pq", V, V) / group.effective_samples
        return scatter

    def moments(self, weights: Weights) -> list[Array]:
        """BᵀWB of each group but for what its offsets take, (p, p) each; W need not be positive."""
        found = []
        for group, weight in zip(self.groups, weights, strict=True):
            rows = np.concatenate((group.rest, group.first[group.constant == 0.0]))[..., 1:]
            weighted = (weight @ rows).reshape(-1, len(self.space))
            found.append(rows.reshape(-1, len(self.space)).T @ weighted)
        return found


def augmented(x: Array) -> Array:
    """Augmented parameters [1; −x]: a residual is linear in them, r = z · [B0 | B] [1; −x]."""
    return np.concatenate(([1.0], -x))


def whitener(weight: Array) -> Array:
    """L with Lᵀ L = W.

    Raises:
        ProblemError: the weight is not positive definite.
    """
    try:
        return np.linalg.cholesky(weight).T
    except np.linalg.LinAlgError as error:
        raise ProblemError("the weight of the residuals is not positive definite") from error


def _of_group(statistics: Statistics, equations: Equations, g: int) -> GroupEquations:
    fit, constant = statistics.layout.fit, int(statistics.layout.has_constant)
    factors = statistics.totals[:, g, :fit, :fit]
    noise = statistics.noise_rows[:, g, :, :fit]
    by_kind: dict[object, list[int]] = {}
    for log in range(len(factors)):
        by_kind.setdefault(equations.same_as(log), []).append(log)
    rest, rows_of_noise = [], []
    first: list[Array] = [np.empty(0)] * (len(factors) * constant)
    for logs in by_kind.values():
        C = equations.residual(logs[0], g)
        below = factors[logs, constant:, constant:].reshape(-1, fit - constant)
        below = below if len(logs) == 1 else triangle(below)
        rest.append(np.tensordot(below, C[constant:], axes=1))
        roots = noise[logs].reshape(-1, fit)
        rows_of_noise.append(np.tensordot(roots[roots.any(axis=1)], C, axes=1))
        if constant:
            for log, row in zip(logs, np.tensordot(factors[logs, 0], C, axes=1), strict=True):
                first[log] = row
    shape = rest[0].shape[1:]
    return GroupEquations(
        group=statistics.layout.groups[g],
        rest=np.concatenate(rest),
        first=np.array(first).reshape(-1, *shape),
        constant=factors[:, 0, 0] if constant else np.zeros(0),
        noise=np.concatenate(rows_of_noise),
        samples=float(statistics.counts(statistics.samples)[:, g].sum()),
        effective_samples=float(statistics.counts(statistics.effective_samples)[:, g].sum()),
    )


def _by_block(statistics: Statistics, scores: Array) -> Array:
    if len(statistics.layout.groups) == 1:
        return scores
    blocks = np.stack((statistics.log, statistics.block), axis=1)
    _, owner = np.unique(blocks, axis=0, return_inverse=True)
    summed = np.zeros((owner.max() + 1, scores.shape[1]))
    np.add.at(summed, owner.reshape(-1), scores)
    return summed

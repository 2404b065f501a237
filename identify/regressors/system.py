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

from identify.arrays import Array, Indices, seal
from identify.errors import ProblemError
from identify.inertia import PHI
from identify.regressors.equations import Equations
from identify.regressors.group_arrays import GroupArrays, coefficients
from identify.regressors.space import ParameterSpace
from identify.regressors.statistics import Statistics
from identify.regressors.triangular import triangle


@dataclass(frozen=True, slots=True)
class LinearProblem:
    """Least squares min ‖A x − b‖² in reduced rows, in units of the noise where it was weighted.

    The sum of squared residuals of the whole log is ‖A x − b‖² + floor², for any x.

    Attributes:
        A: upper triangular, shape (p, p).
        b: shape (p,).
        floor: norm of the part of the data that no parameters reach.
        equations: how many independent scalar equations the data are.
        nuisances: how many further parameters (sensor offsets) were fitted and eliminated.
        names: names of the p parameters.
    """

    A: Array
    b: Array
    floor: float
    equations: float
    nuisances: int = 0
    names: tuple[str, ...] = PHI

    def __post_init__(self) -> None:
        p = len(self.names)
        object.__setattr__(self, "A", seal(self.A, "A", (p, p)))
        object.__setattr__(self, "b", seal(self.b, "b", (p,)))

    @classmethod
    def from_rows(
        cls,
        rows: Array,
        equations: float,
        *,
        nuisances: int = 0,
        names: tuple[str, ...] = PHI,
    ) -> LinearProblem:
        """Reduce rows [A | b] of any number to the p rows that matter, by QR.

        Args:
            rows: shape (n, p + 1).
            equations: effective number of independent equations among them.
            nuisances: parameters already eliminated from the rows.
            names: names of the p parameters.
        """
        p = len(names)
        reduced = triangle(rows)
        return cls(
            A=reduced[:p, :p],
            b=reduced[:p, p],
            floor=float(abs(reduced[p, p])),
            equations=equations,
            nuisances=nuisances,
            names=names,
        )

    @property
    def degrees_of_freedom(self) -> float:
        """Equations less parameters, at least one."""
        return max(self.equations - len(self.names) - self.nuisances, 1.0)

    def residual_norm(self, x: Array) -> float:
        """Norm of the residuals of the whole log at parameters x."""
        return float(np.hypot(np.linalg.norm(self.A @ x - self.b), self.floor))


_ONE = np.ones(1)

Data: TypeAlias = Sequence[tuple[Statistics, Equations]]
"""Statistics with their equations; all equations are of one parameter space."""

Weights: TypeAlias = Array
"""W of each group of a system, in its order, shape (G, m, m)."""


class LogPart(NamedTuple):
    """The cells of a group in logs of the same equations.

    Attributes:
        group: number among the system's groups.
        data: number of the statistics.
        cells: numbers of its cells in them, shape (c,).
        z: their factors, in the columns a fit reads, shape (c, k, fit).
        residual: coefficients [B | B0], shape (fit, m, p + 1).
        offset: number of the offset that acts on each cell, −1 where none does, shape (c,).
    """

    group: int
    data: int
    cells: Indices
    z: Array
    residual: Array
    offset: Indices


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
    def members(self) -> Indices:
        """Number of the statistics, and there of the group, for all G that have samples: (G, 2)."""
        having = [statistics.samples_of_groups.any(axis=0) for statistics, _ in self.data]
        return np.array(
            [(number, g) for number, any_ in enumerate(having) for g in np.flatnonzero(any_)],
            dtype=np.intp,
        ).reshape(-1, 2)

    @cached_property
    def arrays(self) -> GroupArrays:
        """The equations of those groups, in this order."""
        return GroupArrays.of(self.data, self.members)

    def parts(self) -> Iterator[LogPart]:
        """Cells and coefficients of each group, and of each kind of equations."""
        arrays, m = self.arrays, self.arrays.rows.shape[1]
        first_log = np.cumsum([0, *(len(statistics.logs) for statistics, _ in self.data)])
        for number, ((data, g), sensor) in enumerate(
            zip(self.members.tolist(), arrays.sensor.tolist(), strict=True)
        ):
            statistics, equations = self.data[data]
            owner = arrays.offsets.of_log[first_log[data] :, sensor]
            for logs, C in coefficients(equations, len(statistics.logs), [g], m):
                mine = (statistics.group == g) & np.isin(statistics.log, logs)
                cells = np.flatnonzero(mine)
                z = statistics.factors[cells][..., : statistics.layout.fit]
                yield LogPart(number, data, cells, z, C[0], owner[statistics.log[cells]])

    @property
    def nuisances(self) -> int:
        """How many numbers of offsets are fitted."""
        offsets = self.arrays.offsets
        return int(self.arrays.channels[offsets.group[:, 0]].sum())

    @property
    def equations(self) -> float:
        """How many independent scalar equations the data are."""
        return float(self.arrays.channels.sum(axis=1) @ self.arrays.effective_samples)

    def problem(self, weights: Weights) -> LinearProblem:
        """The least-squares problem in x, offsets eliminated.

        Args:
            weights: W of the cost Σ rᵀ W r, symmetric positive definite.

        Raises:
            ProblemError: a weight is not positive definite.
        """
        return LinearProblem.from_rows(
            self.whitened_rows(weights),
            equations=self.equations,
            nuisances=self.nuisances,
            names=self.space.names,
        )

    def whitened_rows(self, weights: Weights) -> Array:
        """Rows [A | b] of that problem, shape (n, p + 1)."""
        roots = whitener(weights)
        free = _by_channels(roots, self.arrays.rows).reshape(-1, 1 + len(self.space))
        if self.arrays.offsets.rows.shape[1] < 2:  # an offset takes the only row it acts on
            return free
        return np.concatenate((free, self._without_offsets(roots)))

    def _without_offsets(self, roots: Array) -> Array:
        """What is left of the whitened rows that offsets act on, shape (n, p + 1)."""
        offsets = self.arrays.offsets
        O, r, m, q = offsets.rows.shape
        own = roots[offsets.group]
        acted = np.concatenate((offsets.constant[..., None, None] * own, own @ offsets.rows), -1)
        left = np.asarray(np.linalg.qr(acted.reshape(O, r * m, -1), mode="r"))
        return left[:, m:, m:].reshape(-1, q)

    def offset_information(self, weights: Weights) -> Array:
        """Σ c² W over the rows that each offset acts on, shape (offsets, m, m)."""
        offsets = self.arrays.offsets
        return np.einsum("or,ormn->omn", offsets.constant**2, weights[offsets.group])

    def offset_maps(self, weights: Weights) -> Array:
        """For each fitted offset the map [−x; 1] → offset of least cost, (offsets, m, p + 1)."""
        offsets = self.arrays.offsets
        if offsets.rows.shape[1] < 2:
            return offsets.rows[:, 0] / offsets.constant[..., None]
        own = offsets.constant[..., None, None] * weights[offsets.group]
        right = (own @ offsets.rows).sum(axis=1)
        return np.linalg.solve(self.offset_information(weights), right)

    def offsets(self, x: Array, weights: Weights) -> Array:
        """The sensor offsets of each log that suit x: (logs, m), zero where none is fitted.

        An offset is what the sensor adds: measured = modelled + offset. Those of a log's sensors
        stand one after the other; logs with fewer channels than others end in zeros.
        """
        return self.by_log(self.offset_maps(weights) @ augmented(x))

    def by_log(self, values: Array) -> Array:
        """Numbers of each offset as those of each log, (offsets, m) to (logs, widest)."""
        offsets = self.arrays.offsets
        padded = np.concatenate((values, np.zeros((1, values.shape[1]))))
        of_log = padded[offsets.of_log].reshape(len(offsets.of_log), -1)
        return np.take_along_axis(of_log, offsets.shown, axis=1)

    def residual_moments(self, x: Array, weights: Weights | None = None) -> Array:
        """Σ r rᵀ of each group at x, with the offsets that suit it best, shape (G, m, m).

        Args:
            x: unknowns, shape (p,).
            weights: with which offsets over several groups or logs are fitted; alike where not
                given.
        """
        y, offsets = augmented(x), self.arrays.offsets
        residuals = _at(self.arrays.rows, y)
        moments = residuals @ residuals.swapaxes(-1, -2)
        if offsets.rows.shape[1] > 1:
            G, m, _ = moments.shape
            alike = np.broadcast_to(np.eye(m), (G, m, m)) if weights is None else weights
            taken = offsets.constant[..., None] * (self.offset_maps(alike) @ y)[:, None]
            r = offsets.rows @ y - taken
            np.add.at(moments, offsets.group, r[..., None] * r[..., None, :])
        return moments

    def measured_power(self) -> Array:
        """Mean square of what each group measured, offsets included, shape (G, m)."""
        offsets = self.arrays.offsets
        power = (self.arrays.rows[..., -1] ** 2).sum(axis=2)
        np.add.at(power, offsets.group, offsets.rows[..., -1] ** 2)
        return power / self.arrays.samples[:, None]

    def noise_moment(self, weights: Weights) -> Array:
        """What noise in the columns adds to the moment of the whitened rows [A | b], on average.

        Returns:
            Shape (p + 1, p + 1).
        """
        rows, q = self.arrays.noise, 1 + len(self.space)
        return rows.reshape(-1, q).T @ _by_channels(weights, rows).reshape(-1, q)

    def noise_moments(self, x: Array) -> Array:
        """What noise in the columns makes of Σ r rᵀ of each group at x, shape (G, m, m)."""
        rows = _at(self.arrays.noise, augmented(x))
        return rows @ rows.swapaxes(-1, -2)

    def noise_scatter(self, x: Array, weights: Weights) -> Array:
        """Scatter of the scores Σ Bᵀ W r from the noise cross term, that of B and r: (p, p)."""
        rows, p = self.arrays.noise, len(self.space)
        cross_term = (weights @ _at(rows, augmented(x)))[:, None] @ rows[..., :-1]
        shares = cross_term / self.arrays.effective_samples[:, None, None, None]
        return cross_term.swapaxes(1, 2).reshape(-1, p).T @ shares.reshape(-1, p)

    def moments(self, weights: Weights) -> Array:
        """[A | b]ᵀ[A | b] of each group but for what its offsets take, (G, p + 1, p + 1).

        The weights need not be positive.
        """
        rows = self.arrays.rows
        G, m, n, q = rows.shape
        weighted = _by_channels(weights, rows).reshape(G, m * n, q)
        return rows.reshape(G, m * n, q).swapaxes(-1, -2) @ weighted


def _by_channels(matrices: Array, rows: Array) -> Array:
    """Matrices times the channels of each row, (G, m, m) and (G, m, n, q)."""
    return (matrices @ rows.reshape(*rows.shape[:2], -1)).reshape(rows.shape)


def _at(rows: Array, y: Array) -> Array:
    """Rows times [−x; 1], in one product, (G, m, n, q) to (G, m, n)."""
    return (rows.reshape(-1, len(y)) @ y).reshape(rows.shape[:-1])


def augmented(x: Array) -> Array:
    """Augmented parameters [−x; 1]: a residual is linear in them, r = z · [B | B0] [−x; 1]."""
    return np.concatenate((-x, _ONE))


def whitener(weights: Array) -> Array:
    """L with Lᵀ L = W, shape (..., m, m).

    Raises:
        ProblemError: a weight is not positive definite.
    """
    try:
        return np.linalg.cholesky(weights).swapaxes(-1, -2)
    except np.linalg.LinAlgError as error:
        raise ProblemError("the weight of the residuals is not positive definite") from error

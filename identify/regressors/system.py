"""`LinearSystem`: sufficient statistics with their equations, for all quantities of least squares.

Statistics hold the data, equations the model; a fit supplies weights. Offsets act on the constant,
whose column is zero below the first row of each factor: they are eliminated from those rows alone,
after weighting.
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
from identify.regressors.padded_system import PaddedSystem, coefficients_by_log
from identify.regressors.parameter_space import ParameterSpace
from identify.regressors.statistics import Statistics
from identify.regressors.triangular import qr_factor


@dataclass(frozen=True, slots=True)
class LinearProblem:
    """Least-squares problem min ‖A x − b‖² in QR-reduced rows, in units of the noise if weighted.

    The sum of squared residuals of the whole log is ‖A x − b‖² + min_residual², for any x.

    Attributes:
        A: upper triangular, shape (p, p).
        b: shape (p,).
        min_residual: norm of the residual at the optimum.
        equations: effective number of independent scalar equations in the data.
        nuisances: number of further parameters (sensor offsets) that were fitted and eliminated.
        names: names of the p parameters.
    """

    A: Array
    b: Array
    min_residual: float
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
        """Create the problem from any number of equation rows [A | b], reduced by QR.

        Args:
            rows: shape (n, p + 1).
            equations: effective number of independent equations among them.
            nuisances: parameters already eliminated from the rows.
            names: names of the p parameters.
        """
        p = len(names)
        reduced = qr_factor(rows)
        return cls(
            A=reduced[:p, :p],
            b=reduced[:p, p],
            min_residual=float(abs(reduced[p, p])),
            equations=equations,
            nuisances=nuisances,
            names=names,
        )

    @property
    def degrees_of_freedom(self) -> float:
        """Number of equations minus number of fitted parameters, at least one."""
        return max(self.equations - len(self.names) - self.nuisances, 1.0)

    def residual_norm(self, x: Array) -> float:
        """Return the norm of the residuals of the whole log at parameters x."""
        return float(np.hypot(np.linalg.norm(self.A @ x - self.b), self.min_residual))


_CONSTANT_COEFFICIENT = np.ones(1)

FitData: TypeAlias = Sequence[tuple[Statistics, Equations]]
"""Pairs of sufficient statistics and their model equations, all of one parameter space."""

Weights: TypeAlias = Array
"""Weight matrix of the residuals of each group of channels, shape (G, m, m)."""


class GroupCells(NamedTuple):
    """Statistics cells of a group of channels, of logs with equal equations.

    Attributes:
        group: number of the group in the system.
        statistics_index: index of the statistics in `LinearSystem.data`.
        cells: numbers of the cells in the statistics, shape (c,).
        z: factors of the cells, in the columns a fit reads, shape (c, k, fit).
        padded_coefficients: [B | B0] of the residual z · (B0 − B x), shape (fit, m, p + 1).
        offset: number of the offset that acts on each cell, −1 where none does, shape (c,).
    """

    group: int
    statistics_index: int
    cells: Indices
    z: Array
    padded_coefficients: Array
    offset: Indices


@dataclass(frozen=True)
class LinearSystem:
    """Sufficient statistics and model equations of all logs of a fit.

    Attributes:
        data: pairs of statistics and equations.
    """

    data: tuple[tuple[Statistics, Equations], ...]

    @classmethod
    def of(cls, data: FitData) -> LinearSystem:
        """Combine sufficient statistics and their equations into a system.

        Raises:
            ProblemError: there are no data, or the equations have different parameter spaces.
        """
        pairs = tuple(data)
        if not pairs:
            raise ProblemError("there are no data to fit")
        if any(equations.space != pairs[0][1].space for _, equations in pairs):
            raise ProblemError("the equations have different parameter spaces")
        return cls(pairs)

    @property
    def space(self) -> ParameterSpace:
        """Parameter space of the unknowns."""
        return self.data[0][1].space

    @cached_property
    def group_index(self) -> Indices:
        """Indices (statistics, group within them) of the G groups with samples, shape (G, 2)."""
        sampled = [statistics.samples_of_groups.any(axis=0) for statistics, _ in self.data]
        return np.array(
            [(number, g) for number, flags in enumerate(sampled) for g in np.flatnonzero(flags)],
            dtype=np.intp,
        ).reshape(-1, 2)

    @cached_property
    def padded(self) -> PaddedSystem:
        """Equations of all groups as padded arrays, in the order of `group_index`."""
        return PaddedSystem.of(self.data, self.group_index)

    def group_cells(self) -> Iterator[GroupCells]:
        """Iterate over the statistics cells of each group, by logs with equal equations."""
        arrays, m = self.padded, self.padded.rows.shape[1]
        first_log = np.cumsum([0, *(len(statistics.logs) for statistics, _ in self.data)])
        for number, ((data, g), sensor) in enumerate(
            zip(self.group_index.tolist(), arrays.sensor.tolist(), strict=True)
        ):
            statistics, equations = self.data[data]
            offset_of_log = arrays.offsets.offset_number[first_log[data] :, sensor]
            for logs, C in coefficients_by_log(equations, len(statistics.logs), [g], m):
                in_group = (statistics.group == g) & np.isin(statistics.log, logs)
                cells = np.flatnonzero(in_group)
                z = statistics.factors[cells][..., : statistics.layout.fit]
                yield GroupCells(number, data, cells, z, C[0], offset_of_log[statistics.log[cells]])

    @property
    def nuisances(self) -> int:
        """Number of scalar offsets that are fitted."""
        offsets = self.padded.offsets
        return int(self.padded.channels[offsets.group[:, 0]].sum())

    @property
    def equations(self) -> float:
        """Effective number of independent scalar equations in the data."""
        return float(self.padded.channels.sum(axis=1) @ self.padded.effective_samples)

    def problem(self, weights: Weights) -> LinearProblem:
        """Form the least-squares problem in x with the offsets eliminated.

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
        """Compute the whitened rows [A | b] with the offsets eliminated, shape (n, p + 1)."""
        roots = whitener(weights)
        free = _apply_to_channels(roots, self.padded.rows).reshape(-1, 1 + len(self.space))
        if self.padded.offsets.rows.shape[1] < 2:  # an offset uses up the only row it acts on
            return free
        return np.concatenate((free, self._without_offsets(roots)))

    def _without_offsets(self, roots: Array) -> Array:
        """Eliminate the sensor offsets from the whitened rows they act on, shape (n, p + 1)."""
        offsets = self.padded.offsets
        O, r, m, q = offsets.rows.shape
        L = roots[offsets.group]
        rows = np.concatenate((offsets.constant[..., None, None] * L, L @ offsets.rows), -1)
        reduced = np.asarray(np.linalg.qr(rows.reshape(O, r * m, -1), mode="r"))
        return reduced[:, m:, m:].reshape(-1, q)

    def offset_information(self, weights: Weights) -> Array:
        """Compute the Fisher information on each sensor offset, shape (offsets, m, m)."""
        offsets = self.padded.offsets
        return np.einsum("or,ormn->omn", offsets.constant**2, weights[offsets.group])

    def offset_maps(self, weights: Weights) -> Array:
        """Compute the linear map from unknowns to sensor offsets, shape (offsets, m, p + 1).

        The least-squares offsets are the product of the map with [−x; 1].
        """
        offsets = self.padded.offsets
        if offsets.rows.shape[1] < 2:
            return offsets.rows[:, 0] / offsets.constant[..., None]
        weighted = offsets.constant[..., None, None] * weights[offsets.group]
        right = (weighted @ offsets.rows).sum(axis=1)
        return np.linalg.solve(self.offset_information(weights), right)

    def offsets(self, x: Array, weights: Weights) -> Array:
        """Compute the sensor offsets of each log at unknowns x, (logs, m); zero if not fitted.

        The sensor adds its offset: measured = modelled + offset. The offsets of the sensors of a
        log are concatenated; logs with fewer channels than others are padded with zeros.
        """
        return self.offsets_by_log(self.offset_maps(weights) @ augment(x))

    def offsets_by_log(self, values: Array) -> Array:
        """Arrange values of sensor offsets by log, shape (offsets, m) to (logs, channels)."""
        offsets = self.padded.offsets
        padded = np.concatenate((values, np.zeros((1, values.shape[1]))))
        of_log = padded[offsets.offset_number].reshape(len(offsets.offset_number), -1)
        return np.take_along_axis(of_log, offsets.channel_order, axis=1)

    def residual_moments(self, x: Array, weights: Weights | None = None) -> Array:
        """Compute the sum of r rᵀ over the residuals of each group at unknowns x, (G, m, m).

        Args:
            x: unknowns, shape (p,).
            weights: weights for offsets over several groups or logs; identity if not given.
        """
        y, offsets = augment(x), self.padded.offsets
        residuals = _times_parameters(self.padded.rows, y)
        moments = residuals @ residuals.swapaxes(-1, -2)
        if offsets.rows.shape[1] > 1:
            G, m, _ = moments.shape
            offset_weights = np.broadcast_to(np.eye(m), (G, m, m)) if weights is None else weights
            offset_rows = (
                offsets.constant[..., None] * (self.offset_maps(offset_weights) @ y)[:, None]
            )
            r = offsets.rows @ y - offset_rows
            np.add.at(moments, offsets.group, r[..., None] * r[..., None, :])
        return moments

    def measured_power(self) -> Array:
        """Compute the mean square of each measured channel, sensor offset included, (G, m)."""
        offsets = self.padded.offsets
        power = (self.padded.rows[..., -1] ** 2).sum(axis=2)
        np.add.at(power, offsets.group, offsets.rows[..., -1] ** 2)
        return power / self.padded.samples[:, None]

    def noise_moment(self, weights: Weights) -> Array:
        """Compute the expected noise part of the normal matrix [A | b]ᵀ[A | b], weighted.

        Returns:
            Shape (p + 1, p + 1).
        """
        rows, q = self.padded.noise, 1 + len(self.space)
        return rows.reshape(-1, q).T @ _apply_to_channels(weights, rows).reshape(-1, q)

    def noise_moments(self, x: Array) -> Array:
        """Compute the expected sum of r rᵀ of each group from noise in its columns, (G, m, m)."""
        rows = _times_parameters(self.padded.noise, augment(x))
        return rows @ rows.swapaxes(-1, -2)

    def noise_scatter(self, x: Array, weights: Weights) -> Array:
        """Compute the covariance of the scores from noise in regressor and residual, (p, p)."""
        rows, p = self.padded.noise, len(self.space)
        cross_term = (weights @ _times_parameters(rows, augment(x)))[:, None] @ rows[..., :-1]
        shares = cross_term / self.padded.effective_samples[:, None, None, None]
        return cross_term.swapaxes(1, 2).reshape(-1, p).T @ shares.reshape(-1, p)

    def normal_matrices(self, weights: Weights) -> Array:
        """Compute the weighted normal matrix [A | b]ᵀ[A | b] of each group, (G, p + 1, p + 1).

        Rows on which offsets act are left out; the weights need not be positive.
        """
        rows = self.padded.rows
        G, m, n, q = rows.shape
        weighted = _apply_to_channels(weights, rows).reshape(G, m * n, q)
        return rows.reshape(G, m * n, q).swapaxes(-1, -2) @ weighted


def _apply_to_channels(matrices: Array, rows: Array) -> Array:
    """Multiply the channels of each row by a matrix, (G, m, m) and (G, m, n, q)."""
    return (matrices @ rows.reshape(*rows.shape[:2], -1)).reshape(rows.shape)


def _times_parameters(rows: Array, y: Array) -> Array:
    """Multiply rows [A | b] by y = [−x; 1], shape (G, m, n, q) to (G, m, n)."""
    return (rows.reshape(-1, len(y)) @ y).reshape(rows.shape[:-1])


def augment(x: Array) -> Array:
    """Return [−x; 1], whose product with a row [A | b] is the residual b − A x."""
    return np.concatenate((-x, _CONSTANT_COEFFICIENT))


def whitener(weights: Array) -> Array:
    """Return the whitening matrix L of weights W, Lᵀ L = W, shape (..., m, m).

    Raises `ProblemError`: a weight is not positive definite.
    """
    try:
        return np.linalg.cholesky(weights).swapaxes(-1, -2)
    except np.linalg.LinAlgError as error:
        raise ProblemError("the weight of the residuals is not positive definite") from error

"""`FaultModel`: logs of one body with a parametric fault, and its maximum-likelihood size.

Gauss-Newton steps minimise the cost of `fit_body` over the size η: at weights W and a body φ the
residual r = z M(η) (B0 − B φ) is linear in φ and nearly linear in η, and both step together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Phi
from identify.diagnosis.body_likelihood import BandRows, BodyFit, fit_body, inverse_information
from identify.diagnosis.fault import Fault, FaultParameters
from identify.regressors import FEATURE_TENSOR
from identify.signals.transform import band_middle
from identify.spatial.columns import (
    FEATURES,
    FIT_COLUMN_COUNT,
    WRENCH,
    WRENCH_RATE,
    WRENCH_SECOND_RATE,
    without_constant,
)

MAX_GAUSS_NEWTON_STEPS, _STEP_HALVINGS = 8, 4
CONVERGED_SIGMA = 0.1
"""Largest step at convergence, in standard errors."""

_MIN_REMAINING_INFORMATION = 1e-6
"""Fraction of the information on a direction of η that has to remain with body and offset estimated
too; with less, the direction is not identifiable."""

_WRENCH_COLUMNS = without_constant(WRENCH)
"""Columns of the wrench in rows without the constant."""

FaultOfEachLog = Sequence[Fault]
"""Instances of one fault, one for each log."""


class GaussNewtonStep(NamedTuple):
    """Gauss-Newton step of the size η of a fault.

    Attributes:
        change: step of η, shape (d,).
        covariance: covariance of η, shape (d, d).
        identifiable_count: number of identifiable directions of η.
    """

    change: Array
    covariance: Array
    identifiable_count: int


@dataclass(frozen=True, slots=True)
class FaultModel:
    """Logs of one body with a fault corrected at a size, and the body fitted to them.

    Attributes:
        rows: extended rows of each log.
        candidate: the fault, one instance for each log.
        size: parameters η, shape (d,).
        body_fit: fit of one body to all corrected logs.
    """

    rows: tuple[BandRows, ...]
    candidate: FaultOfEachLog
    size: Array
    body_fit: BodyFit

    @classmethod
    def at(cls, rows: Sequence[BandRows], candidate: FaultOfEachLog, size: Array) -> FaultModel:
        """Correct logs for a fault at a size and fit a body to them."""
        maps = _correction_maps(candidate, size)
        mapped = [
            of_log.mapped(M[:, :FIT_COLUMN_COUNT]) for of_log, M in zip(rows, maps, strict=True)
        ]
        return cls(tuple(rows), candidate, size, fit_body(mapped))

    @property
    def parameters(self) -> FaultParameters:
        """Names, unit and bounds of the fault's parameters η."""
        parameters = self.candidate[0].parameters
        assert parameters is not None
        return parameters

    @property
    def phi(self) -> Phi:
        """Parameters of the body."""
        return self.body_fit.phi

    @property
    def cost(self) -> float:
        """Minus twice the log-likelihood of the wrench as read, plus the BIC penalty of η."""
        cost, samples = self.body_fit.cost, 0.0
        for rows, M in zip(self.rows, _correction_maps(self.candidate, self.size), strict=True):
            middles = np.array([band_middle(band) for band in rows.bands])
            cost -= float(rows.effective_samples @ log_squared_determinants(M[None], middles)[0])
            samples += float(rows.effective_samples.sum())
        return cost + len(self.size) * float(np.log(6.0 * max(samples, 1.0)))

    def step(self) -> GaussNewtonStep:
        """Return the Gauss-Newton step of η, with the body marginalised.

        With N [δφ; δη] = −[g_φ; g_η], the Schur complement S = N_ηη − N_ηφ N_φφ⁻¹ N_φη gives
        δη = −S⁻¹ (g_η − N_ηφ N_φφ⁻¹ g_φ), with the pseudo-inverse over identifiable directions.
        """
        d, maps = len(self.size), _correction_maps(self.candidate, self.size)
        tangents = self._map_derivatives()
        C = np.concatenate((-FEATURE_TENSOR @ self.phi, np.eye(6)))
        N = np.zeros((10 + d, 10 + d))
        g = np.zeros(10 + d)
        first = 0
        for rows, M, tangent in zip(self.rows, maps, tangents, strict=True):
            Z = rows.factors
            weights = self.body_fit.weights[first : first + len(Z)]
            first += len(Z)
            present = slice(1, 1 + Z.shape[2])
            base = Z @ M[present, 1:FIT_COLUMN_COUNT]
            r = base @ C
            # The derivative by η uses the predicted wrench: the noise of the measured one is that
            # of the residual, and scaling the wrench down would seem to explain it.
            predicted = Z.copy()
            predicted[..., _WRENCH_COLUMNS] -= r
            by_body = -(base[..., without_constant(FEATURES)] @ FEATURE_TENSOR.reshape(12, -1))
            slope = C.T @ tangent[present, 1:]
            by_size = predicted @ slope.reshape(Z.shape[2], -1)
            J = np.concatenate(
                (by_body.reshape(*r.shape, 10), by_size.reshape(*r.shape, d)), axis=-1
            )
            weighted = (weights[:, None] @ J).reshape(-1, 10 + d)
            N += J.reshape(-1, 10 + d).T @ weighted
            g += weighted.T @ r.reshape(-1)
        to_phi = inverse_information(N[:10, :10]) @ N[:10, 10:]
        S = N[10:, 10:] - N[10:, :10] @ to_phi
        scale = np.sqrt(np.maximum(np.diag(N)[10:], np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
        identifiable = values > _MIN_REMAINING_INFORMATION
        along = vectors[:, identifiable] / scale[:, None]
        covariance = (along / values[identifiable]) @ along.T
        change = -covariance @ (g[10:] - to_phi.T @ g[:10])
        return GaussNewtonStep(change, covariance, int(identifiable.sum()))

    def _map_derivatives(self) -> Array:
        """Compute ∂M/∂η for the columns that a fit uses, shape (logs, 43, 19, d)."""
        columns = []
        for step in 1e-4 * self.parameters.relevant_size * np.eye(len(self.size)):
            ends = [
                _correction_maps(self.candidate, end)
                for end in (self.size + step, self.size - step)
            ]
            columns.append(((ends[0] - ends[1]) / (2.0 * step.sum()))[..., :FIT_COLUMN_COUNT])
        return np.stack(columns, axis=-1)


def _correction_maps(candidate: FaultOfEachLog, size: Array) -> Array:
    """Return the column map M of a fault at a size for each log, shape (logs, 43, 43)."""
    distinct = {id(fault): fault for fault in candidate}  # logs with the same setup share one
    maps = {key: fault.map_at(size) for key, fault in distinct.items()}
    return np.array([maps[id(fault)] for fault in candidate])


def log_squared_determinants(maps: Array, frequencies: Array) -> Array:
    """Compute log |det C(ω)|² of each correction's wrench transfer matrix C at frequencies ω.

    `maps`: shape (maps, 43, 43); `frequencies`: ω, shape (frequencies,).
    Shape (maps, frequencies).
    """
    omega, M = frequencies[:, None, None], maps[:, None]
    C = (
        M[..., WRENCH, WRENCH]
        + 1j * omega * M[..., WRENCH_RATE, WRENCH]
        - omega**2 * M[..., WRENCH_SECOND_RATE, WRENCH]
    )
    return 2.0 * np.linalg.slogdet(C)[1]


def gauss_newton(start: FaultModel) -> FaultModel | None:
    """Minimise the cost over η by Gauss-Newton steps with step halving.

    Returns the last model whose step is small or does not decrease the cost; None if η is not
    identifiable or leaves the search radius.
    """
    model, radius = start, start.parameters.search_radius * start.parameters.relevant_size
    for _ in range(MAX_GAUSS_NEWTON_STEPS):
        try:
            newton = model.step()
        except np.linalg.LinAlgError:
            return None
        step = newton.change
        if newton.identifiable_count < len(step):
            return None
        better = None
        for _ in range(_STEP_HALVINGS):
            size = model.size + step
            if np.abs(size - start.size).max() > radius:
                return None
            trial = FaultModel.at(model.rows, model.candidate, size)
            if trial.cost < model.cost:
                better = trial
                break
            step = 0.5 * step
        if better is None:
            break
        model = better
        if (np.abs(step) <= CONVERGED_SIGMA * np.sqrt(np.diag(newton.covariance))).all():
            break
    return model

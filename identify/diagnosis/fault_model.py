"""`FaultModel`: logs of one body with a fault corrected, and the size of it that fits best.

The likelihood `misfit` is minimised over the size η by Gauss and Newton: at weights W and a body φ
the residual r = z M(η) (B0 − B φ) is linear in φ, and nearly so in η, and both step together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Phi
from identify.diagnosis.fault import Fault, FaultParameters
from identify.diagnosis.misfit import BandRows, Misfit, inverse_information, misfit
from identify.regressors import FEATURE_TENSOR, SCAN_LAYOUT
from identify.signals.transform import band_middle
from identify.spatial.columns import DDW, DW, PSI, W, without_constant

MAX_GAUSS_NEWTON_STEPS, _STEP_HALVINGS = 8, 4
CONVERGED_SIGMA = 0.1
"""Standard errors of a step after which no other is taken."""

_UNOBSERVABLE = 1e-6
"""Share of the information on a direction of η that body and offset have to leave."""

_WRENCH_COLUMNS = without_constant(W)
"""Columns of the wrench where the constant is left out."""

_FIT = len(SCAN_LAYOUT.columns)

Candidate = Sequence[Fault]
"""One fault as it is of each log."""


@dataclass(frozen=True, slots=True)
class FaultModel:
    """Logs of one body with a fault corrected at a size, and the body that explains them so.

    Attributes:
        rows: of each log, extended.
        candidate: the fault.
        size: η, shape (d,).
        misfit: of all logs.
    """

    rows: tuple[BandRows, ...]
    candidate: Candidate
    size: Array
    misfit: Misfit

    @classmethod
    def at(cls, rows: Sequence[BandRows], candidate: Candidate, size: Array) -> FaultModel:
        """The logs with a fault corrected at a size."""
        maps = _maps(candidate, size)
        mapped = [own.mapped(M[:, :_FIT]) for own, M in zip(rows, maps, strict=True)]
        return cls(tuple(rows), candidate, size, misfit(mapped))

    @property
    def sizes(self) -> FaultParameters:
        """Names, unit and bounds of the components of η."""
        sizes = self.candidate[0].sizes
        assert sizes is not None
        return sizes

    @property
    def phi(self) -> Phi:
        """The body."""
        return self.misfit.phi

    @property
    def cost(self) -> float:
        """Minus twice the log-likelihood of the wrench as it was read, the size paid for."""
        cost, samples = self.misfit.cost, 0.0
        for rows, M in zip(self.rows, _maps(self.candidate, self.size), strict=True):
            middles = np.array([band_middle(band) for band in rows.bands])
            cost -= float(rows.samples @ log_powers(M[None], middles)[0])
            samples += float(rows.samples.sum())
        return cost + len(self.size) * float(np.log(6.0 * max(samples, 1.0)))

    def step(self) -> tuple[Array, Array, int]:
        """The Gauss-Newton step of the size, its covariance, and how many directions are told."""
        d, maps = len(self.size), _maps(self.candidate, self.size)
        tangents = self._tangents()
        C = np.concatenate((-FEATURE_TENSOR @ self.phi, np.eye(6)))
        N, g, first = np.zeros((10 + d, 10 + d)), np.zeros(10 + d), 0
        for rows, M, tangent in zip(self.rows, maps, tangents, strict=True):
            Z = rows.factors
            weights = self.misfit.weights[first : first + len(Z)]
            first += len(Z)
            own = slice(1, 1 + Z.shape[2])
            base = Z @ M[own, 1:_FIT]
            r = base @ C
            # What η does to the wrench is worked out with the predicted one: the noise of the
            # measured one is that of the residual, and a smaller wrench explains no more.
            predicted = Z.copy()
            predicted[..., _WRENCH_COLUMNS] -= r
            of_body = -(base[..., without_constant(PSI)] @ FEATURE_TENSOR.reshape(12, -1))
            slope = C.T @ tangent[own, 1:]
            of_size = predicted @ slope.reshape(Z.shape[2], -1)
            J = np.concatenate(
                (of_body.reshape(*r.shape, 10), of_size.reshape(*r.shape, d)), axis=-1
            )
            weighted = (weights[:, None] @ J).reshape(-1, 10 + d)
            N += J.reshape(-1, 10 + d).T @ weighted
            g += weighted.T @ r.reshape(-1)
        to_phi = inverse_information(N[:10, :10]) @ N[:10, 10:]
        S = N[10:, 10:] - N[10:, :10] @ to_phi
        scale = np.sqrt(np.maximum(np.diag(N)[10:], np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
        told = values > _UNOBSERVABLE
        along = vectors[:, told] / scale[:, None]
        covariance = (along / values[told]) @ along.T
        return -covariance @ (g[10:] - to_phi.T @ g[:10]), covariance, int(told.sum())

    def _tangents(self) -> Array:
        """∂M/∂η of the columns as read, shape (logs, 43, 19, d)."""
        columns = []
        for step in 1e-4 * self.sizes.matters * np.eye(len(self.size)):
            ends = [_maps(self.candidate, end) for end in (self.size + step, self.size - step)]
            columns.append(((ends[0] - ends[1]) / (2.0 * step.sum()))[..., :_FIT])
        return np.stack(columns, axis=-1)


def _maps(candidate: Candidate, size: Array) -> Array:
    """M of a fault at a size for each log, shape (logs, 43, 43); logs alike share a fault."""
    distinct = {id(fault): fault for fault in candidate}
    made = {key: fault.map_at(size) for key, fault in distinct.items()}
    return np.array([made[id(fault)] for fault in candidate])


def log_powers(maps: Array, frequencies: Array) -> Array:
    """log |det C|² of what maps make of the wrench's noise at frequencies ω, (maps, frequencies).

    Args:
        maps: shape (maps, 43, 43).
        frequencies: shape (frequencies,).
    """
    omega, M = frequencies[:, None, None], maps[:, None]
    C = M[..., W, W] + 1j * omega * M[..., DW, W] - omega**2 * M[..., DDW, W]
    return 2.0 * np.linalg.slogdet(C)[1]


def gauss_newton(now: FaultModel) -> FaultModel | None:
    """Steps of the size until they are small or gain nothing; None without a way on."""
    origin, farthest = now.size, now.sizes.farthest * now.sizes.matters
    for _ in range(MAX_GAUSS_NEWTON_STEPS):
        try:
            step, covariance, directions = now.step()
        except np.linalg.LinAlgError:
            return None
        if directions < len(step):
            return None
        after = None
        for _ in range(_STEP_HALVINGS):
            size = now.size + step
            if np.abs(size - origin).max() > farthest:
                return None
            trial = FaultModel.at(now.rows, now.candidate, size)
            if trial.cost < now.cost:
                after = trial
                break
            step = 0.5 * step
        if after is None:
            break
        now = after
        if (np.abs(step) <= CONVERGED_SIGMA * np.sqrt(np.diag(covariance))).all():
            break
    return now

"""Likelihood of all unknowns, including weakly observed directions.

Fuller, "Measurement error models" (1987).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array
from identify.estimation.identifiability import MIN_RELATIVE_EXCITATION, NOISE_LEVEL_RELATIVE_ERROR
from identify.estimation.least_squares import LeastSquaresFit, score_covariance_root
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.regressors.triangular import svd

_MIN_VARIANCE_INCREASE = 1e-9
"""Relative increase of a variance below which it is a rounding error."""


@dataclass(frozen=True, slots=True)
class ScoreEquations:
    """Likelihood of all unknowns: R θ = r + noise with independent standard normal entries.

    It holds in every direction that equalities leave free. Directions without excitation have no
    row, so that there may be fewer rows than unknowns.

    Attributes:
        R: coefficients of the scaled unknowns, shape (k, p).
        r: right-hand side, shape (k,).
        scaling: units of the unknowns, x = `to_x` θ.
        whitening: matrix that maps the scores of the unknowns in SI to r, shape (k, p).
    """

    R: Array
    r: Array
    scaling: Scaling
    whitening: Array

    def chi_square(self, theta: Array) -> float:
        """Evaluate ‖R θ − r‖², chi-square distributed with k degrees of freedom at the true θ.

        Args:
            theta: scaled unknowns, shape (p,).
        """
        residual = self.R @ theta - self.r
        return float(residual @ residual)


@dataclass(frozen=True, slots=True)
class ConfidenceRegion:
    """Confidence region of the unknowns under the data and the constraints.

    Attributes:
        likelihood: R θ = r + noise, in scaled unknowns.
        terms: all constraints.
        free: basis of the directions that equalities leave free, shape (p, k).
        reference: unknowns that meet the equalities, shape (p,).
        degrees: degrees of freedom of Student's t of each unknown, shape (p,).
        covariance: covariance of the unknowns in SI from the likelihood, shape (p, p).
    """

    likelihood: ScoreEquations
    terms: tuple[Term, ...]
    free: Array
    reference: Array
    degrees: Array
    covariance: Array

    def inflated(self, body_index: int, covariance: Array) -> ConfidenceRegion:
        """Inflate the region to a covariance of a body with scale errors and faults.

        `covariance`: covariance of its ten parameters including these errors, shape (10, 10).
        """
        block = slice(10 * body_index, 10 * body_index + 10)
        added = covariance - self.covariance[block, block]
        if not (np.diag(added) > _MIN_VARIANCE_INCREASE * np.diag(covariance)).any():
            return self
        equations = self.likelihood
        R = equations.R @ equations.scaling.to_theta[:, block]
        root = np.linalg.cholesky(np.eye(len(R)) + R @ added @ R.T)
        likelihood = replace(
            equations, R=np.linalg.solve(root, equations.R), r=np.linalg.solve(root, equations.r)
        )
        return replace(self, likelihood=likelihood)


def score_equations(fit: LeastSquaresFit) -> ScoreEquations:
    """Derive the likelihood of the unknowns from the scores of a fit at fixed weights.

    s − B θ ~ N(0, H + X): H = AᵀA is the information of the rows, B = H − N that without noise in
    the columns, s = Aᵀb − q the scores, X their covariance in excess of H. With L Lᵀ = H + X,
    R = L⁻¹B and r = L⁻¹s. Least squares solves R θ = r along the identifiable directions, where
    (RᵀR)⁻¹ is its covariance. Along the others an error of the noise level, which is estimated from
    the log, is added to X.

    Args:
        fit: unconstrained estimate.
    """
    split, to_x = fit.identifiability, fit.scaling.to_x
    along = to_x @ fit.direction_basis
    if split.complete:
        selector, (A, b), root = np.eye(along.shape[1]), fit.eiv_corrected, fit.score_root
    else:
        selector, A, b, root = _excited_equations(fit)
    L = root.T
    by_scores = np.linalg.solve(L, np.concatenate((A.T, selector @ along.T), axis=1))
    equation_rows, whitening = np.split(by_scores, [A.shape[1]], axis=1)
    R = equation_rows @ A @ selector @ fit.to_coordinates
    return ScoreEquations(R, equation_rows @ b + R @ fit.reference, fit.scaling, whitening)


def _excited_equations(fit: LeastSquaresFit) -> tuple[Array, Array, Array, Array]:
    """Return equations along the excited directions: selector, matrix, data and score root."""
    split, to_x = fit.identifiability, fit.scaling.to_x
    columns = fit.direction_basis
    _, singular, selector = svd(fit.problem.A @ to_x @ columns)
    excited = singular > MIN_RELATIVE_EXCITATION * singular[0]
    selector = selector[excited]
    unidentifiable = to_x @ split.unidentifiable
    level_variance = np.zeros(columns.shape[1])
    noise = fit.noise_moment[:-1, :-1]
    level_variance[split.identifiable.shape[1] :] = (unidentifiable * (noise @ unidentifiable)).sum(
        axis=0
    )
    along = to_x @ columns
    excess = along.T @ fit.score_excess @ along + np.diag(
        (NOISE_LEVEL_RELATIVE_ERROR * level_variance) ** 2
    )
    root = score_covariance_root(np.diag(singular[excited]), selector @ excess @ selector.T)
    return selector, *fit.eiv_corrected_along(columns @ selector.T), root

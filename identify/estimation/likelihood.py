"""What the data say of every unknown, in the directions too that they hardly tell.

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

_WIDER = 1e-9
"""Share of a variance that is more than rounding."""


@dataclass(frozen=True, slots=True)
class ScoreEquations:
    """The likelihood of all unknowns: R θ = r + noise, whose entries are independent and normal.

    It holds in every direction that equalities leave open. Along one without any excitation there
    is no row, so that there may be fewer rows than unknowns.

    Attributes:
        R: of scaled unknowns, shape (k, p).
        r: shape (k,).
        scaling: the units of the unknowns, x = `to_x` θ.
        whitening: of the scores of the unknowns in SI, which r is linear in, shape (k, p).
    """

    R: Array
    r: Array
    scaling: Scaling
    whitening: Array

    def chi_square(self, theta: Array) -> float:
        """‖R θ − r‖², chi-square with k degrees of freedom at the truth.

        Args:
            theta: scaled unknowns, shape (p,).
        """
        residual = self.R @ theta - self.r
        return float(residual @ residual)


@dataclass(frozen=True, slots=True)
class ConfidenceRegion:
    """What the data and the terms leave of the unknowns.

    Attributes:
        likelihood: R θ = r + noise, in scaled unknowns.
        terms: all of them.
        free: columns that span what equalities leave open, shape (p, k).
        reference: unknowns that meet the equalities, shape (p,).
        degrees: of freedom of Student's t of each unknown, shape (p,).
        covariance: of the unknowns in SI, as the likelihood has it, shape (p, p).
    """

    likelihood: ScoreEquations
    terms: tuple[Term, ...]
    free: Array
    reference: Array
    degrees: Array
    covariance: Array

    def widened(self, number: int, covariance: Array) -> ConfidenceRegion:
        """The same with errors of scale and faults counted: of a body's covariance the rest.

        Args:
            number: of the body.
            covariance: of its ten parameters, with them, shape (10, 10).
        """
        block = slice(10 * number, 10 * number + 10)
        more = covariance - self.covariance[block, block]
        if not (np.diag(more) > _WIDER * np.diag(covariance)).any():
            return self
        said = self.likelihood
        R = said.R @ said.scaling.to_theta[:, block]
        root = np.linalg.cholesky(np.eye(len(R)) + R @ more @ R.T)
        likelihood = replace(said, R=np.linalg.solve(root, said.R), r=np.linalg.solve(root, said.r))
        return replace(self, likelihood=likelihood)


def score_equations(fit: LeastSquaresFit) -> ScoreEquations:
    """The likelihood of the unknowns that a fit's scores give, its weights held.

    s − B θ ~ N(0, H + X): H = AᵀA is the information of the rows, B = H − N what is left of it
    without noise in the columns, s = Aᵀb − q the scores, X their scatter beyond H. With L Lᵀ =
    H + X, R = L⁻¹B and r = L⁻¹s. Least squares solves R θ = r along the directions that are
    identifiable, and (RᵀR)⁻¹ is its covariance there. Along the others the level of the noise, read
    off the log as it is, may be as wrong as that makes a body of the data's own.

    Args:
        fit: the unconstrained estimate.
    """
    split, to_x = fit.identifiability, fit.scaling.to_x
    along = to_x @ fit.directions
    if split.complete:
        turned, (A, b), root = np.eye(along.shape[1]), fit.eiv_corrected, fit.score_root
    else:
        turned, A, b, root = _of_the_excited(fit)
    L = root.T
    by_scores = np.linalg.solve(L, np.concatenate((A.T, turned @ along.T), axis=1))
    of_equations, whitening = np.split(by_scores, [A.shape[1]], axis=1)
    R = of_equations @ A @ turned @ fit.coordinates
    return ScoreEquations(R, of_equations @ b + R @ fit.reference, fit.scaling, whitening)


def _of_the_excited(fit: LeastSquaresFit) -> tuple[Array, Array, Array, Array]:
    """Rows that pick the directions with any excitation, A y = b along them, and G as `scores`."""
    split, to_x = fit.identifiability, fit.scaling.to_x
    columns = fit.directions
    _, singular, turned = np.linalg.svd(fit.problem.A @ to_x @ columns, full_matrices=False)
    excited = singular > MIN_RELATIVE_EXCITATION * singular[0]
    turned = turned[excited]
    unknown = to_x @ split.unidentifiable
    of_level = np.zeros(columns.shape[1])
    noise = fit.noise[:-1, :-1]
    of_level[split.identifiable.shape[1] :] = (unknown * (noise @ unknown)).sum(axis=0)
    along = to_x @ columns
    scatter = along.T @ fit.score_excess @ along + np.diag(
        (NOISE_LEVEL_RELATIVE_ERROR * of_level) ** 2
    )
    root = score_covariance_root(np.diag(singular[excited]), turned @ scatter @ turned.T)
    return turned, *fit.eiv_corrected_along(columns @ turned.T), root

"""What data and prior say of the unknowns together: one normal distribution.

The cone program, the certificate, the intervals and what decided a parameter are all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import fdtrc

from identify.arrays import Array
from identify.estimation.identifiability import MIN_RELATIVE_EXCITATION
from identify.estimation.intervals import covariance_of, degrees_of_freedom
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.likelihood import ScoreEquations, score_equations
from identify.estimation.priors.prior import NoPrior, NormalMixture, Prior
from identify.regressors.triangular import qr_factor

DATA = "the data"
COMPLETED = "the data and the default body"
WITH_PRIOR = "the data and the prior"
"""What an estimate is the optimum of: where the data leave directions open, the default body fills
them, and an optimum of the data alone is not what was looked for; so with a prior of the body."""

_SINGULAR = 1e-12
"""Variance that every direction of a prior has, in squares of the body's own scale."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How a prior and a log agree.

    Attributes:
        weights: of the priors of a mixture, by the log, shape (g,).
        means: of what they take for sure, by name, with those weights.
        log_evidence: log probability of the log under the mixture, but for a constant of the log.
        chi_square: distance of the log from the nearest of them, squared, in standard errors.
        degrees: of freedom of that.
        probability: that chance makes it as large.
    """

    weights: Array
    means: dict[str, float]
    log_evidence: float
    chi_square: float
    degrees: int
    probability: float

    @property
    def z(self) -> float:
        """The same in standard errors of one quantity (Wilson and Hilferty 1931)."""
        of_mean = 2.0 / (9.0 * self.degrees)
        return ((self.chi_square / self.degrees) ** (1.0 / 3.0) - 1.0 + of_mean) / of_mean**0.5

    def record(self) -> dict[str, object]:
        """As provenance keeps it."""
        return {
            "means": dict(self.means),
            "log_evidence": self.log_evidence,
            "chi_square": self.chi_square,
            "degrees": self.degrees,
            "p": self.probability,
            "z": self.z,
        }


@dataclass(frozen=True, slots=True)
class Posterior:
    """The unknowns as data and prior say them, without inequalities: A θ = b + N(0, 1).

    Attributes:
        fit: the unconstrained estimate of the data.
        prior: what else is known.
        A, b: in scaled unknowns, shapes (p, p) and (p,).
        floor: norm of the residual that no unknowns reach.
        theta: the solution, in scaled unknowns, shape (p,).
        covariance: of the unknowns in SI, shape (p, p).
        gain: what the unknowns take of the data's scores, both in SI, shape (p, p).
        degrees: of freedom of Student's t, shape (p,).
        prior_share: of the information on each unknown, how much is the prior's: 1 − σ²/σ²_d, with
            σ_d the standard error by the data alone, shape (p,).
        likelihood: what the data say of the unknowns.
        weighing: how the prior and the data agree; None where it only completes.
    """

    fit: LeastSquaresFit
    prior: Prior
    A: Array
    b: Array
    floor: float
    theta: Array
    covariance: Array
    gain: Array
    degrees: Array
    prior_share: Array
    likelihood: ScoreEquations
    weighing: Weighing | None = field(default=None)

    @property
    def x(self) -> Array:
        """The unknowns in SI."""
        return self.fit.scaling.x(self.theta)

    @property
    def optimal_for(self) -> str:
        """What an optimum of it is the optimum of."""
        if self.weighing is not None:
            return WITH_PRIOR
        numbers_are_data = self.fit.identifiability.complete or isinstance(self.prior, NoPrior)
        return DATA if numbers_are_data else COMPLETED

    @property
    def of_prior(self) -> Array | None:
        """The part of the covariance that a prior's makes, in SI, shape (p, p); None of none."""
        if self.weighing is None:
            return None
        fit = self.fit
        of_scores = fit.problem.A.T @ fit.problem.A + fit.score_excess
        return self.covariance - self.gain @ of_scores @ self.gain.T


def posterior_of(fit: LeastSquaresFit, prior: Prior) -> Posterior:
    """What data and prior say together.

    A prior that says nothing of what the data identify completes the rest; any other is weighed
    against the likelihood of all unknowns.

    Raises:
        TermError: no body of the mass that the data give is like the prior.
    """
    mixture = prior.mixture(float(fit.x[0]))
    if mixture is not None:
        return _weighed(fit, prior, mixture)
    covariance, share = covariance_of(fit), np.zeros(len(fit.theta))
    likelihood = score_equations(fit)
    if not fit.identifiability.complete:
        share = _prior_share(fit, likelihood, covariance)
    A, b, floor = fit.augmented_problem
    return Posterior(
        fit=fit,
        prior=prior,
        A=A,
        b=b,
        floor=floor,
        theta=fit.theta,
        covariance=covariance,
        gain=fit.information_inverse,
        degrees=degrees_of_freedom(fit),
        prior_share=share,
        likelihood=likelihood,
    )


class _Components(NamedTuple):
    """The posterior of each prior of a mixture, θ = reference + free y.

    Attributes:
        y: their means, shape (g, q).
        roots: of their covariances, C = root rootᵀ, shape (g, q, q).
        evidence: log probability of the data under each, but for a constant, shape (g,).
        chi_square: distance of data and prior from each other, squared, shape (g,).
        degrees: of freedom of that.
    """

    y: Array
    roots: Array
    evidence: Array
    chi_square: Array
    degrees: int


def _weighed(fit: LeastSquaresFit, prior: Prior, mixture: NormalMixture) -> Posterior:
    """The mixture of the posteriors of each prior, by evidence, as one normal distribution."""
    equations, free = score_equations(fit), fit.identifiability.free
    each = _components(fit, equations, mixture)
    most = float(each.evidence.max())
    likelihoods = np.exp(each.evidence - most)
    weights = likelihoods / likelihoods.sum()
    shares = np.sqrt(weights)
    mean = weights @ each.y
    within = qr_factor((shares[:, None, None] * each.roots.swapaxes(1, 2)).reshape(-1, len(mean)))
    root = qr_factor(np.concatenate((within, shares[:, None] * (each.y - mean))))

    theta = fit.prior + free @ mean
    rows = np.linalg.inv(root).T @ np.linalg.pinv(free)
    reduced = qr_factor(_rows(rows, rows @ theta))
    p, along = len(theta), fit.scaling.to_x @ free
    covariance = along @ root.T
    covariance = covariance @ covariance.T
    nearest, degrees = float(each.chi_square.min()), each.degrees
    fewest = max(float(degrees_of_freedom(fit).min()), 3.0)
    return Posterior(
        fit=fit,
        prior=prior,
        A=reduced[:p, :p],
        b=reduced[:p, p],
        floor=fit.problem.residual_norm(fit.x),
        theta=theta,
        covariance=covariance,
        gain=along @ within.T @ within @ (equations.R @ free).T @ equations.whitening,
        degrees=np.full(p, np.inf),
        prior_share=_prior_share(fit, equations, covariance),
        likelihood=equations,
        weighing=Weighing(
            weights=weights,
            means={name: float(weights @ of) for name, of in mixture.settings.items()},
            log_evidence=most + float(np.log(likelihoods.mean())),
            chi_square=nearest,
            degrees=degrees,
            probability=float(fdtrc(degrees, fewest, nearest / degrees)),
        ),
    )


def _components(
    fit: LeastSquaresFit, equations: ScoreEquations, mixture: NormalMixture
) -> _Components:
    """Each posterior by QR of the rows [R; W] y, with W the covariance of its prior to the −½.

    So nothing is squared. The evidence is that of the rows beside that of the prior alone, which is
    of y as far as y is of its body.
    """
    free, reference = fit.identifiability.free, fit.prior
    q, to_theta = free.shape[1], fit.scaling.bodies[0].to_theta
    of_data = _rows(equations.R @ free, equations.r - equations.R @ reference)
    data = np.concatenate((of_data, _of_other_bodies(fit)))
    means = mixture.means @ to_theta.T - reference[:10]
    spread = to_theta @ mixture.covariances @ to_theta.T + _SINGULAR * np.eye(10)
    whitening = np.linalg.inv(np.linalg.cholesky(spread))
    U, singular, _ = np.linalg.svd(free[:10], full_matrices=False)
    own = (U * singular)[:, singular > MIN_RELATIVE_EXCITATION * singular[0]]
    k = own.shape[1]
    alone: Any = np.linalg.qr(_stacked(whitening, own, means), mode="r")
    both = _stacked(whitening, free[:10], means)
    every = np.broadcast_to(data, (len(both), *data.shape))
    R: Any = np.linalg.qr(np.concatenate((every, both), axis=1), mode="r")
    before = alone[:, k, k] ** 2 if k < 10 else 0.0  # what is given is no evidence
    chi_square = R[:, q, q] ** 2 - before
    evidence = _log_size(alone[:, :k, :k]) - _log_size(R[:, :q, :q]) - 0.5 * chi_square
    roots = np.linalg.inv(R[:, :q, :q])
    y = (roots @ R[:, :q, q:])[..., 0]
    return _Components(y, roots, evidence, chi_square, len(data) + k - q)


def _of_other_bodies(fit: LeastSquaresFit) -> Array:
    """Rows that complete the other bodies and the scalars where the data do not identify them.

    Returns:
        Rows [of y | target], shape (n, q + 1); none for one body.
    """
    split, q = fit.identifiability, fit.identifiability.free.shape[1]
    if len(fit.theta) == 10 or split.complete:
        return np.zeros((0, q + 1))
    dual = fit.coordinates[split.identifiable.shape[1] :].copy()
    dual[:, :10] = 0.0
    return _rows(dual @ split.free, dual @ (fit.reference - fit.prior))


def _prior_share(fit: LeastSquaresFit, equations: ScoreEquations, covariance: Array) -> Array:
    """1 − σ²/σ²_d of each unknown, σ_d of the data alone: endless where they say nothing of it."""
    free = fit.identifiability.free
    along = fit.scaling.to_x @ free
    _, singular, Vt = np.linalg.svd(equations.R @ free)
    alone = np.zeros(len(Vt))
    alone[: len(singular)] = singular
    told = alone > MIN_RELATIVE_EXCITATION * alone.max()
    parts = along @ Vt.T
    own = ((parts[:, told] / alone[told]) ** 2).sum(axis=1)
    missing = np.linalg.norm(parts[:, ~told], axis=1) > 1e-6 * np.linalg.norm(parts, axis=1)
    left = np.diag(covariance) / np.where(own > 0.0, own, 1.0)
    share = np.where(missing, 1.0, 1.0 - left)
    return np.where(np.diag(covariance) > 0.0, np.clip(share, 0.0, 1.0), 0.0)


def _rows(left: Array, right: Array) -> Array:
    return np.concatenate((left, right[:, None]), axis=1)


def _stacked(whitening: Array, columns: Array, means: Array) -> Array:
    """Rows [W columns | W mean] of each prior, shape (g, 10, k + 1)."""
    return np.concatenate((whitening @ columns, whitening @ means[..., None]), axis=-1)


def _log_size(triangles: Array) -> Array:
    """log |det| of triangular factors, shape (g,)."""
    return np.log(np.abs(np.diagonal(triangles, axis1=1, axis2=2))).sum(axis=1)

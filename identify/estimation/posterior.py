"""Posterior of the unknowns given data and prior, as one normal distribution.

The cone program, the certificate, the intervals and `decided_by` are based on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import fdtrc

from identify.arrays import Array
from identify.estimation.identifiability import MIN_RELATIVE_EXCITATION
from identify.estimation.intervals import covariance_of, degrees_of_freedom
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.likelihood import ScoreEquations, score_equations
from identify.estimation.priors.near_body import NearBody
from identify.estimation.priors.prior import Ball, NoPrior, NormalMixture, Prior
from identify.regressors.triangular import qr_factor, svd

OBJECTIVE_DATA, OBJECTIVE_DATA_AND_DEFAULT = "the data", "the data and the default body"
OBJECTIVE_DATA_AND_PRIOR = "the data and the prior"
"""Descriptions of what an estimate optimises: the data alone; the data, and along unidentifiable
directions the default body; or the data and a prior."""

_MIXTURE_SWEEPS = 2
"""Number of times that the components of each of several mixtures are weighed."""

_MIN_PRIOR_VARIANCE = 1e-12
"""Smallest variance of a prior along any direction, in squared body scales."""


@dataclass(frozen=True, slots=True)
class PriorAgreement:
    """Test of prior-data conflict, and the evidence of a mixture of priors.

    Attributes:
        weights: posterior weights of the mixture's components, shape (g,).
        means: posterior means of the components' settings, by name.
        log_evidence: log probability of the log under the mixture, up to a constant of the log.
        chi_square: smallest squared distance of the log from a component, in standard errors.
        degrees: degrees of freedom of chi_square.
        p_value: p-value of chi_square.
    """

    weights: Array
    means: dict[str, float]
    log_evidence: float
    chi_square: float
    degrees: int
    p_value: float

    @property
    def normal_deviate(self) -> float:
        """Chi-square of the prior-data conflict as a normal deviate (Wilson and Hilferty 1931)."""
        variance = 2.0 / (9.0 * self.degrees)
        return ((self.chi_square / self.degrees) ** (1.0 / 3.0) - 1.0 + variance) / variance**0.5

    def record(self) -> dict[str, object]:
        """Return the test as plain values for the provenance."""
        return {
            "means": dict(self.means),
            "log_evidence": self.log_evidence,
            "chi_square": self.chi_square,
            "degrees": self.degrees,
            "p": self.p_value,
            "z": self.normal_deviate,
        }


@dataclass(frozen=True, slots=True)
class Posterior:
    """Normal posterior of the unknowns without inequalities: A θ = b + N(0, 1).

    Attributes:
        fit: unconstrained estimate from the data.
        priors: priors of bodies, by the body's number.
        A, b: rows in scaled unknowns, shapes (p, p) and (p,).
        min_residual: norm of the residual at the optimum.
        theta: posterior mean in scaled unknowns, shape (p,).
        covariance: covariance of the unknowns in SI, shape (p, p).
        score_gain: linear map from the data's scores to the estimate, both in SI, shape (p, p).
        degrees: degrees of freedom of Student's t, shape (p,).
        prior_share: share of the prior in the information on each unknown, 1 − σ²/σ²_d with σ_d the
            standard error from the data alone, shape (p,).
        likelihood: likelihood of the unknowns.
        agreement: prior-data conflict test; None if the prior only completes the data.
    """

    fit: LeastSquaresFit
    priors: Mapping[int, Prior]
    A: Array
    b: Array
    min_residual: float
    theta: Array
    covariance: Array
    score_gain: Array
    degrees: Array
    prior_share: Array
    likelihood: ScoreEquations
    agreement: PriorAgreement | None = field(default=None)

    @property
    def x(self) -> Array:
        """Posterior mean of the unknowns in SI."""
        return self.fit.scaling.x(self.theta)

    @property
    def informative_priors(self) -> Mapping[int, Prior]:
        """Priors that are weighed against the data, by the body's number."""
        return {
            number: prior
            for number, prior in self.priors.items()
            if not isinstance(prior, Ball | NoPrior)
        }

    @property
    def optimal_for(self) -> str:
        """Description of the objective: data, completed data, or data and prior."""
        if self.agreement is not None:
            return OBJECTIVE_DATA_AND_PRIOR
        numbers_are_data = self.fit.identifiability.complete or NoPrior() in self.priors.values()
        return OBJECTIVE_DATA if numbers_are_data else OBJECTIVE_DATA_AND_DEFAULT

    @property
    def prior_covariance(self) -> Array | None:
        """Part of the covariance due to the prior, in SI, shape (p, p); None without a prior."""
        if self.agreement is None:
            return None
        fit = self.fit
        score_covariance = fit.problem.A.T @ fit.problem.A + fit.score_excess
        return self.covariance - self.score_gain @ score_covariance @ self.score_gain.T


def posterior_of(
    fit: LeastSquaresFit,
    priors: Prior | Mapping[int, Prior],
    x: Array | None = None,
    likelihood: ScoreEquations | None = None,
) -> Posterior:
    """Combine data and priors to the posterior.

    The default prior only completes unidentifiable directions; any other is combined with the
    likelihood of all unknowns.

    `priors`: of the first body, or of bodies by number; `x`: unknowns at which priors that are not
    normal are approximated, in SI; `likelihood`: of the fit, if it is known.
    Raises `TermError`: a prior excludes bodies of the mass that the data give.
    """
    priors = {0: priors} if isinstance(priors, Prior) else priors
    mixtures: dict[int, NormalMixture] = {}
    for number, prior in priors.items():
        block = slice(10 * number, 10 * number + 10)
        if x is not None and isinstance(prior, NearBody):
            mixture = prior.normal_at(x[block])
        else:
            mixture = prior.mixture(float(fit.x[block.start]))
        if mixture is not None:
            mixtures[number] = mixture
    if mixtures:
        return _mixture_posterior(fit, priors, mixtures, likelihood or score_equations(fit))
    covariance, share = covariance_of(fit), np.zeros(len(fit.theta))
    likelihood = likelihood or score_equations(fit)
    if not fit.identifiability.complete:
        share = _prior_fraction(fit, likelihood, covariance)
    A, b, floor = fit.augmented_problem
    return Posterior(
        fit=fit,
        priors=priors,
        A=A,
        b=b,
        min_residual=floor,
        theta=fit.theta,
        covariance=covariance,
        score_gain=fit.information_inverse,
        degrees=degrees_of_freedom(fit),
        prior_share=share,
        likelihood=likelihood,
    )


class _ComponentPosteriors(NamedTuple):
    """Posterior for each component of a mixture of priors, θ = reference + free y.

    Attributes:
        y: posterior means, shape (g, q).
        roots: roots of the posterior covariances, C = root rootᵀ, shape (g, q, q).
        evidence: log probability of the data under each component, up to a constant, shape (g,).
        chi_square: squared distance between data and prior, shape (g,).
        degrees: degrees of freedom of chi_square.
    """

    y: Array
    roots: Array
    evidence: Array
    chi_square: Array
    degrees: int


def _mixture_posterior(
    fit: LeastSquaresFit,
    priors: Mapping[int, Prior],
    mixtures: Mapping[int, NormalMixture],
    equations: ScoreEquations,
) -> Posterior:
    """Combine the posteriors of a mixture's components to one normal distribution.

    Of several bodies with mixtures, those of all but the largest are replaced by the normal
    distribution of their mean and covariance, with posterior weights of their components.
    """
    free = fit.identifiability.free
    normals = {number: _normal_of(mixture) for number, mixture in mixtures.items()}
    main = max(mixtures, key=lambda number: len(mixtures[number].means))
    mixed = [number for number in mixtures if len(mixtures[number].means) > 1]
    for number in mixed * _MIXTURE_SWEEPS if len(mixed) > 1 else ():
        components = _component_posteriors(fit, equations, number, mixtures[number], normals)
        weights = np.exp(components.evidence - components.evidence.max())
        normals[number] = _normal_of(mixtures[number], weights / weights.sum())
    mixture = mixtures[main]
    components = _component_posteriors(fit, equations, main, mixture, normals)
    max_evidence = float(components.evidence.max())
    likelihoods = np.exp(components.evidence - max_evidence)
    weights = likelihoods / likelihoods.sum()
    shares = np.sqrt(weights)
    mean = weights @ components.y
    within = qr_factor(
        (shares[:, None, None] * components.roots.swapaxes(1, 2)).reshape(-1, len(mean))
    )
    root = qr_factor(np.concatenate((within, shares[:, None] * (components.y - mean))))

    theta = fit.default_theta + free @ mean
    rows = np.linalg.inv(root).T @ np.linalg.pinv(free)
    reduced = qr_factor(_augmented_rows(rows, rows @ theta))
    p, along = len(theta), fit.scaling.to_x @ free
    covariance = along @ root.T
    covariance = covariance @ covariance.T
    nearest, degrees = float(components.chi_square.min()), components.degrees
    residual_degrees = max(float(degrees_of_freedom(fit).min()), 3.0)
    return Posterior(
        fit=fit,
        priors=priors,
        A=reduced[:p, :p],
        b=reduced[:p, p],
        min_residual=fit.problem.residual_norm(fit.x),
        theta=theta,
        covariance=covariance,
        score_gain=along @ within.T @ within @ (equations.R @ free).T @ equations.whitening,
        degrees=np.full(p, np.inf),
        prior_share=_prior_fraction(fit, equations, covariance),
        likelihood=equations,
        agreement=PriorAgreement(
            weights=weights,
            means={name: float(weights @ of) for name, of in mixture.settings.items()},
            log_evidence=max_evidence + float(np.log(likelihoods.mean())),
            chi_square=nearest,
            degrees=degrees,
            p_value=float(fdtrc(degrees, residual_degrees, nearest / degrees)),
        ),
    )


def _normal_of(mixture: NormalMixture, weights: Array | None = None) -> NormalMixture:
    """Return the normal distribution with the mean and covariance of a mixture."""
    if len(mixture.means) == 1:
        return mixture
    shares = np.full(len(mixture.means), 1.0 / len(mixture.means)) if weights is None else weights
    mean = shares @ mixture.means
    away = mixture.means - mean
    spread = np.tensordot(shares, mixture.covariances, 1) + (shares * away.T) @ away
    return NormalMixture(mean[None], spread[None], {})


def _component_posteriors(
    fit: LeastSquaresFit,
    equations: ScoreEquations,
    number: int,
    mixture: NormalMixture,
    normals: Mapping[int, NormalMixture],
) -> _ComponentPosteriors:
    """Compute the posterior for each component of a mixture of priors by QR.

    The evidence is that of all rows divided by that of the prior's rows alone, restricted to the
    unknowns y of its body.

    `number`: of the body of the mixture; `normals`: priors of all bodies that have one.
    """
    free, reference = fit.identifiability.free, fit.default_theta
    q, block = free.shape[1], slice(10 * number, 10 * number + 10)
    data_rows = _augmented_rows(equations.R @ free, equations.r - equations.R @ reference)
    others = [
        _component_rows(W, free[10 * k : 10 * k + 10], target)[0]
        for k, (W, target) in ((k, whitened_prior(fit, k, normals[k])) for k in normals)
        if k != number
    ]
    data = np.concatenate((data_rows, _open_rows(fit, normals), *others))
    whitening, means = whitened_prior(fit, number, mixture)
    U, singular, _ = np.linalg.svd(free[block], full_matrices=False)
    body_basis = (U * singular)[:, singular > MIN_RELATIVE_EXCITATION * singular[0]]
    k = body_basis.shape[1]
    prior_only: Any = np.linalg.qr(_component_rows(whitening, body_basis, means), mode="r")
    prior_rows = _component_rows(whitening, free[block], means)
    all_data_rows = np.broadcast_to(data, (len(prior_rows), *data.shape))
    R: Any = np.linalg.qr(np.concatenate((all_data_rows, prior_rows), axis=1), mode="r")
    prior_residual = prior_only[:, k, k] ** 2 if k < 10 else 0.0  # what is given is no evidence
    chi_square = R[:, q, q] ** 2 - prior_residual
    evidence = (
        _log_determinant(prior_only[:, :k, :k]) - _log_determinant(R[:, :q, :q]) - 0.5 * chi_square
    )
    roots = np.linalg.inv(R[:, :q, :q])
    y = (roots @ R[:, :q, q:])[..., 0]
    return _ComponentPosteriors(y, roots, evidence, chi_square, len(data) + k - q)


def whitened_prior(
    fit: LeastSquaresFit, number: int, mixture: NormalMixture
) -> tuple[Array, Array]:
    """Return the whitening of a body's scaled parameters, and their means less the reference.

    Shapes (g, 10, 10) and (g, 10).
    """
    unit, start = fit.scaling.bodies[number], 10 * number
    to_theta = unit.to_theta
    means = mixture.means @ to_theta.T - fit.default_theta[start : start + 10]
    if mixture.whitening is not None:
        return mixture.whitening @ unit.to_phi, means
    spread = to_theta @ mixture.covariances @ to_theta.T + _MIN_PRIOR_VARIANCE * np.eye(10)
    return np.linalg.inv(np.linalg.cholesky(spread)), means


def _open_rows(fit: LeastSquaresFit, priors: Iterable[int]) -> Array:
    """Return pseudo-observations of unidentifiable directions of scalars and bodies without prior.

    `priors`: numbers of the bodies with one.
    Returns rows [coefficients of y | target], shape (n, q + 1); n = 0 for one body.
    """
    split, q = fit.identifiability, fit.identifiability.free.shape[1]
    if len(fit.theta) == 10 or split.complete:
        return np.zeros((0, q + 1))
    dual = fit.to_coordinates[split.identifiable.shape[1] :].copy()
    for number in priors:
        dual[:, 10 * number : 10 * number + 10] = 0.0
    dual = dual[dual.any(axis=1)]
    return _augmented_rows(dual @ split.free, dual @ (fit.reference - fit.default_theta))


def _prior_fraction(fit: LeastSquaresFit, equations: ScoreEquations, covariance: Array) -> Array:
    """Compute the prior's fraction of the information on each unknown; one without data."""
    free = fit.identifiability.free
    along = fit.scaling.to_x @ free
    _, singular, Vt = svd(equations.R @ free)
    data_singular = np.zeros(len(Vt))
    data_singular[: len(singular)] = singular
    observed = data_singular > MIN_RELATIVE_EXCITATION * data_singular.max()
    parts = along @ Vt.T
    data_variance = ((parts[:, observed] / data_singular[observed]) ** 2).sum(axis=1)
    unobserved = np.linalg.norm(parts[:, ~observed], axis=1) > 1e-6 * np.linalg.norm(parts, axis=1)
    ratio = np.diag(covariance) / np.where(data_variance > 0.0, data_variance, 1.0)
    share = np.where(unobserved, 1.0, 1.0 - ratio)
    return np.where(np.diag(covariance) > 0.0, np.clip(share, 0.0, 1.0), 0.0)


def _augmented_rows(matrix: Array, right_side: Array) -> Array:
    return np.concatenate((matrix, right_side[:, None]), axis=1)


def _component_rows(whitening: Array, columns: Array, means: Array) -> Array:
    """Whiten the prior's rows [columns | mean] for each mixture component, (g, 10, k + 1)."""
    return np.concatenate((whitening @ columns, whitening @ means[..., None]), axis=-1)


def _log_determinant(triangles: Array) -> Array:
    """Compute log |det| of triangular factors, shape (g,)."""
    return np.log(np.abs(np.diagonal(triangles, axis1=1, axis2=2))).sum(axis=1)


class SystematicErrors(Protocol):
    """Errors that all samples share and intervals include, such as small faults of a sensor."""

    @property
    def interval_kind(self) -> str:
        """Description of intervals that include these errors, for `Estimate.interval_kind`."""
        ...

    def covariances(self, posterior: Posterior) -> tuple[Array, Array]:
        """Compute the covariance of the unknowns from the errors, and its part from scale errors.

        Returns both in SI, shape (p, p).
        """
        ...

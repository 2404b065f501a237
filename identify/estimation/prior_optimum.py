"""Optimum with priors that are not normal, and the weight of priors near a body.

Newton's method: a prior is replaced by the normal distribution of its value, slope and curvature at
the last bodies, and the problem with all terms solved again. The certificate is that of the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError, SolveError
from identify.estimation.certificate import Certificate
from identify.estimation.constrained_solution import solve_constrained
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.posterior import Posterior, posterior_of, whitened_prior
from identify.estimation.priors.near_body import NearBody
from identify.estimation.priors.prior import Prior
from identify.estimation.terms import Term
from identify.regressors import LinearSystem

_WEIGHT_RANGE = (1e-3, 1e6)
"""Search range of the weight λ of priors near a body; with the largest, its mass is known to .1 %.
"""

_MAX_NEWTON_STEPS = 60
_MAX_STEP_TO_BOUNDARY = 0.9
"""Largest number of Newton steps, and the largest as a fraction of that to an infinite cost."""

_MIN_STEP = 1e-6
"""Step at which a line search ends."""

_NEWTON_DECREMENT, _ACCEPTED_DECREMENT = 1e-6, 1e-3
"""Newton decrement, in standard errors, at which the iteration ends, and that is accepted where
rounding prevents a smaller one."""

_FOLDS = 5
"""Number of parts of the rows that are left out in turn in a cross-validation."""

_LOG_WEIGHT_TOLERANCE = 0.02
"""Accuracy of the logarithm of a weight by evidence or cross-validation."""


@dataclass(frozen=True, slots=True)
class PriorOptimum:
    """Optimum of data, priors and terms.

    Attributes:
        posterior: normal distribution with the value, slope and curvature at the optimum.
        theta: scaled unknowns, shape (p,).
        certificate: of the last problem, its distance that of the Newton decrement as well.
    """

    posterior: Posterior
    theta: Array
    certificate: Certificate

    @property
    def x(self) -> Array:
        """Unknowns in SI."""
        return self.posterior.fit.scaling.x(self.theta)

    @property
    def log_evidence(self) -> float:
        """Log evidence of the weights by Laplace's method, up to a constant of the data."""
        likelihood, free = self.posterior.likelihood, self.posterior.fit.identifiability.free
        roots = np.linalg.svd(self.posterior.A @ free, compute_uv=False)
        cost = 0.5 * likelihood.chi_square(self.theta)
        for number, prior in _near(self.posterior.priors).items():
            cost += prior.cost(self.x[10 * number : 10 * number + 10]) + prior.log_normalisation()
        return -cost - float(np.log(roots).sum())


def optimum_with_priors(
    fit: LeastSquaresFit, priors: Mapping[int, Prior], terms: tuple[Term, ...]
) -> PriorOptimum:
    """Maximise the posterior under constraints.

    Raises `SolveError`: Newton's method did not converge, or the solution is not certified.
    """
    posterior = posterior_of(fit, priors)
    curved = {number: prior for number, prior in _near(priors).items() if prior.curved}
    if not curved:
        return PriorOptimum(posterior, *solve_constrained(posterior, terms))
    x = fit.x.copy()
    for number, prior in curved.items():
        x[10 * number : 10 * number + 10] = prior.phi
    theta = fit.scaling.theta(x)
    decrement = best = np.inf
    for _ in range(_MAX_NEWTON_STEPS):
        posterior = posterior_of(fit, priors, x, posterior.likelihood)
        newton, certificate = solve_constrained(posterior, terms)
        step = newton - theta
        decrement = float(np.linalg.norm(posterior.A @ step))
        if decrement < _NEWTON_DECREMENT or (
            decrement < _ACCEPTED_DECREMENT and not decrement < 0.5 * best
        ):
            distance = certificate.distance_to_optimum + decrement
            return PriorOptimum(
                posterior, newton, replace(certificate, distance_to_optimum=distance)
            )
        best = min(best, decrement)
        theta = theta + _step_length(posterior, curved, terms, theta, step) * step
        x = fit.scaling.x(theta)
    raise SolveError(
        f"Newton's method with a prior near a body did not converge in {_MAX_NEWTON_STEPS} steps "
        f"(decrement {decrement:.1e}): check that the prior body is solid, or use the distance "
        '"pullback"'
    )


def _step_length(
    posterior: Posterior,
    curved: Mapping[int, NearBody],
    terms: tuple[Term, ...],
    theta: Array,
    step: Array,
) -> float:
    """Return the length of a step inside the cones that decreases the objective.

    Away from the terms the step that approaches them is taken, and the objective may increase.
    """
    fit = posterior.fit
    x0 = fit.scaling.x(theta)
    models = {
        number: whitened_prior(fit, number, prior.normal_at(x0[10 * number : 10 * number + 10]))
        for number, prior in curved.items()
    }

    def objective(length: float) -> float:
        """Quadratic model of the objective, with the curved priors in place of theirs."""
        moved = theta + length * step
        x = fit.scaling.x(moved)
        total = 0.5 * float(np.sum((posterior.A @ moved - posterior.b) ** 2))
        for number, prior in curved.items():
            block = slice(10 * number, 10 * number + 10)
            whitening, mean = (each[0] for each in models[number])
            away = whitening @ (moved[block] - fit.default_theta[block] - mean)
            total += prior.cost(x[block]) - 0.5 * float(away @ away)
        return total

    apart = max(term.violation(x0, fit.scaling) for term in terms) > _ACCEPTED_DECREMENT
    limit = np.finfo(float).max if apart else objective(0.0)
    length = 1.0
    while length > _MIN_STEP and not objective(length) <= limit:
        length *= 0.5
    return length if length == 1.0 or not apart else _MAX_STEP_TO_BOUNDARY * length


def with_weights(
    fit: LeastSquaresFit,
    priors: Mapping[int, Prior],
    terms: tuple[Term, ...],
    bound: float | None = None,
) -> Mapping[int, Prior]:
    """Return the priors with one weight of all those near a body whose weight is by a rule.

    `bound`: largest Σ r²/σ² of the rule "bound".
    Raises `ProblemError`: several rules, a rule without its bound or the reverse, or no body within
    the bound.
    """
    rules = {prior.weight for prior in _near(priors).values() if isinstance(prior.weight, str)}
    if (bound is not None) != ("bound" in rules) or len(rules) > 1:
        raise ProblemError(
            f"priors near a body: expected one rule of their weight, got {sorted(rules) or 'none'}"
            f'; residual_bound and weight="bound" go together, and it is {bound}'
        )
    if not rules:
        return priors
    (rule,) = rules

    def at(log_weight: float) -> dict[int, Prior]:
        weight = float(np.exp(log_weight))
        return {
            number: prior.weighted(weight)
            if isinstance(prior, NearBody) and prior.weight == rule
            else prior
            for number, prior in priors.items()
        }

    ends = np.log(_WEIGHT_RANGE).tolist()
    if bound is not None:
        return at(_largest_within(lambda w: _residual(fit, at(w), terms), bound, *ends))
    from scipy.optimize import minimize_scalar

    def loss(log_weight: float) -> float:
        if rule == "evidence":
            return -optimum_with_priors(fit, at(log_weight), terms).log_evidence
        return _held_out_loss(fit, at(log_weight), terms)

    best = minimize_scalar(
        loss, bounds=tuple(ends), method="bounded", options={"xatol": _LOG_WEIGHT_TOLERANCE}
    )
    return at(float(best.x))


def _residual(fit: LeastSquaresFit, priors: Mapping[int, Prior], terms: tuple[Term, ...]) -> float:
    return fit.problem.residual_norm(optimum_with_priors(fit, priors, terms).x) ** 2


def _largest_within(
    residual: Callable[[float], float], bound: float, low: float, high: float
) -> float:
    """Return the largest logarithm of a weight whose residual is within the bound."""
    from scipy.optimize import brentq

    if residual(high) <= bound:
        return high
    least = residual(low)
    if least > bound:
        raise ProblemError(
            f"residual_bound: no consistent body has Σ r²/σ² ≤ {bound:g}, the least is "
            f"{least:.6g}; widen it, or check the noise"
        )
    return float(brentq(lambda w: residual(w) - bound, low, high, xtol=1e-10, rtol=1e-12))


def _held_out_loss(
    fit: LeastSquaresFit, priors: Mapping[int, Prior], terms: tuple[Term, ...]
) -> float:
    """Return the squared residual of parts of the rows, each by the fit of the others."""
    data = fit.data.system.data
    folds = min(_FOLDS, min(len(np.unique(statistics.block)) for statistics, _ in data))
    if folds < 2:
        raise ProblemError(
            "weight of the prior by cross-validation: the data are one block of time, of which no "
            "part can be left out; give more data, or a weight by evidence"
        )
    total = 0.0
    for fold in range(folds):
        rest, held = (
            LinearSystem.of(
                [
                    (statistics.subset((statistics.block % folds == fold) == out), equations)
                    for statistics, equations in data
                ]
            )
            for out in (False, True)
        )
        x = optimum_with_priors(weighted_least_squares(rest, terms), priors, terms).x
        index = {tuple(pair): k for k, pair in enumerate(fit.data.system.group_index.tolist())}
        weights = fit.weights[[index[tuple(pair)] for pair in held.group_index.tolist()]]
        total += held.problem(weights).residual_norm(x) ** 2
    return total


def _near(priors: Mapping[int, Prior]) -> dict[int, NearBody]:
    return {number: prior for number, prior in priors.items() if isinstance(prior, NearBody)}

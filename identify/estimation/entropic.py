"""Entropic prior: divergence of a body from a prior body by log-determinant (LogDet).

    ½‖R θ − r‖² + λ D,    D = tr Q − log det Q − 4,    Q = Π₀^-½ Π Π₀^-½

with the likelihood of `score_equations` (Lee, Wensing and Park, "Geometric robot dynamic
identification: a convex programming approach", 2020). It is consistent by construction, and it does
not change with the frame. λ is the likeliest by Laplace's evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import multigammaln

from identify.arrays import Array, Phi, require_positive
from identify.errors import ProblemError, SolveError
from identify.estimation.likelihood import ScoreEquations
from identify.inertia import PSEUDO_INERTIA_BASIS, inertia_about_com, phi_from_inertia
from identify.regressors.triangular import qr_factor

_WEIGHT_RANGE = (1e-2, 1e3)
"""Search range of the weight λ of the prior. Below, the data dominate; above, the prior body would
be known to 3 %, which is unrealistic for a shape and its density."""

_MAX_NEWTON_STEPS = 100
"""Largest number of Newton steps."""

_MAX_STEP_TO_BOUNDARY = 0.95
"""Largest step, as a fraction of the distance to the boundary of the cone."""

_ARMIJO_FRACTION = 1e-4
"""Smallest decrease of the objective in the line search, as a fraction of the decrease predicted by
the gradient."""

_MAX_HALVINGS = 30
"""Largest number of halvings in the line search."""

_NEWTON_DECREMENT = 1e-7
"""Newton decrement at which the iteration ends."""

_ACCEPTED_DECREMENT = 1e-3
"""Newton decrement that is accepted if rounding prevents a smaller one."""


@dataclass(frozen=True, slots=True)
class EntropicEstimate:
    """Optimum with an entropic prior, and the Laplace approximation of the posterior there.

    Attributes:
        phi: ten parameters about Bo in B, shape (10,).
        covariance: covariance of phi, shape (10, 10). Its nominal 95 % intervals cover .90 on the
            STARS tools with their uniform density as the prior body: the error of the prior body is
            not included.
        weight: λ.
        divergence: D of the body from the prior one.
        distance_to_optimum: bound of ‖R (θ − θ*)‖, in standard errors, by the Newton decrement.
        iterations: Newton steps.
    """

    phi: Phi
    covariance: Array
    weight: float
    divergence: float
    distance_to_optimum: float
    iterations: int


def entropic_estimate(
    likelihood: ScoreEquations,
    prior: Phi,
    weight: float | None = None,
    *,
    centre_of_data: bool = False,
) -> EntropicEstimate:
    """Estimate a body with an entropic prior.

    Args:
        likelihood: likelihood of the ten parameters of one body.
        prior: ten parameters of the prior body about Bo in B, strictly consistent, shape (10,).
        weight: λ; by maximum evidence if not given.
        centre_of_data: whether the prior body's centre of mass was estimated from the same data and
            must not count as agreement: the evidence is then that of the inertia alone.

    Raises:
        ProblemError: the prior body is flat or not physically consistent, or there are several
            bodies.
        SolveError: Newton's method did not converge.
    """
    if likelihood.R.shape[1] != 10:
        raise ProblemError("an entropic prior requires a fit of one body without other unknowns")
    theta0 = likelihood.scaling.theta(np.asarray(prior, dtype=np.float64))
    basis = PSEUDO_INERTIA_BASIS.reshape(4, 4, 10)
    problem = _EntropicObjective.of(likelihood.R, likelihood.r, theta0, basis)
    if weight is None:
        from scipy.optimize import minimize_scalar

        evidence_problem = _inertia_problem(likelihood, theta0) if centre_of_data else problem
        optimal_log_weight = minimize_scalar(
            lambda log_weight: -evidence_problem.log_evidence(float(np.exp(log_weight))),
            bounds=tuple(np.log(_WEIGHT_RANGE)),
            method="bounded",
            options={"xatol": 1e-2},
        )
        weight = float(np.exp(optimal_log_weight.x))
    optimum = problem.optimum(require_positive(weight, "weight of the prior", "1", ProblemError))
    inverse = likelihood.scaling.to_x @ np.linalg.inv(optimum.hessian_root)
    return EntropicEstimate(
        phi=likelihood.scaling.x(optimum.theta),
        covariance=inverse @ inverse.T,
        weight=weight,
        divergence=optimum.divergence,
        distance_to_optimum=optimum.distance,
        iterations=optimum.steps,
    )


def _inertia_problem(likelihood: ScoreEquations, theta0: Array) -> _EntropicObjective:
    """Restrict the likelihood to the inertia about the prior body's centre of mass."""
    Q, _ = np.linalg.qr(likelihood.R[:, :4])
    R, r = (part - Q @ (Q.T @ part) for part in (likelihood.R[:, 4:], likelihood.r))
    prior_inertia = phi_from_inertia(theta0[0], np.zeros(3), inertia_about_com(theta0))[4:]
    basis = PSEUDO_INERTIA_BASIS.reshape(4, 4, 10)[:3, :3, 4:]
    return _EntropicObjective.of(R, r - R @ (theta0[4:] - prior_inertia), prior_inertia, basis)


class _Optimum(NamedTuple):
    """Optimum of the objective, triangular root of its Hessian, and distance from the exact one."""

    theta: Array
    hessian_root: Array
    divergence: float
    distance: float
    steps: int


@dataclass(frozen=True, slots=True)
class _EntropicObjective:
    """Objective ½‖R θ − r‖² + λ (tr Q − log det Q − n), Q (n, n) linear in θ.

    Attributes:
        R, r: likelihood, shapes (k, p) and (k,).
        start: unknowns of the prior body, where Q = 1, shape (p,).
        basis: matrix of vec Q = basis θ, shape (n², p).
        n: number of rows of Q.
    """

    R: Array
    r: Array
    start: Array
    basis: Array
    n: int

    @classmethod
    def of(cls, R: Array, r: Array, start: Array, basis: Array) -> _EntropicObjective:
        """Create the objective from the likelihood's rows and ∂(pseudo-inertia)/∂θ, (n, n, p)."""
        n = len(basis)
        plain = basis.reshape(n * n, -1)
        try:
            root = np.linalg.cholesky(basis @ start)
        except np.linalg.LinAlgError as error:
            raise ProblemError(
                "the entropic prior needs a body that extends in every direction, but the prior "
                "body is flat or not physically consistent: give it a thickness"
            ) from error
        return cls(R, r, start, _whiten_basis(root, plain), n)

    def log_evidence(self, weight: float) -> float:
        """Compute the log evidence of λ up to a constant, by Laplace's method.

        exp(−λ D) is proportional to a Wishart density, whose normalisation is known exactly.
        """
        optimum, n = self.optimum(weight), self.n
        a = weight + 0.5 * (n + 1)
        log_size = multigammaln(a, n) - n * a * np.log(weight) + n * weight
        misfit = 0.5 * float(np.sum((self.R @ optimum.theta - self.r) ** 2))
        log_det = 2.0 * float(np.log(np.abs(np.diag(optimum.hessian_root))).sum())
        return float(-misfit - weight * optimum.divergence - 0.5 * log_det - log_size)

    def optimum(self, weight: float) -> _Optimum:
        """Minimise the objective by Newton's method inside the cone.

        The objective divided by λ is self-concordant.

        With decrement δ < 1 the optimum is within δ/(1 − δ) in the norm of the Hessian over λ, and
        so within √λ δ/(1 − δ) standard errors (Nesterov and Nemirovskii 1994).

        Raises `SolveError`: Newton's method did not converge.
        """
        theta, identity = self.start, np.eye(self.n).ravel()
        decrement = best = np.inf
        for step in range(_MAX_NEWTON_STEPS):
            root = np.linalg.cholesky((self.basis @ theta).reshape(self.n, self.n))
            barrier = _whiten_basis(root, self.basis)
            hessian_root = qr_factor(np.concatenate((self.R, np.sqrt(weight) * barrier)))
            gradient = self.R.T @ (self.R @ theta - self.r)
            gradient = gradient + weight * (self.basis.T @ identity - barrier.T @ identity)
            reduced = np.linalg.solve(hessian_root.T, gradient)
            decrement = float(np.linalg.norm(reduced)) / np.sqrt(weight)
            if decrement < _NEWTON_DECREMENT or (
                decrement < _ACCEPTED_DECREMENT and not decrement < 0.5 * best
            ):
                distance = float(np.sqrt(weight) * decrement / (1.0 - decrement))
                return _Optimum(theta, hessian_root, self._divergence(theta), distance, step)
            best = min(best, decrement)
            theta = self._line_search(
                theta, -np.linalg.solve(hessian_root, reduced), barrier, gradient, weight
            )
        raise SolveError(
            f"entropic prior: Newton's method did not converge in {_MAX_NEWTON_STEPS} steps "
            f"(decrement {decrement:.1e}, weight {weight:.3g}); check that the prior body is "
            "solid, or fit without it"
        )

    def _line_search(
        self, theta: Array, step: Array, barrier: Array, gradient: Array, weight: float
    ) -> Array:
        """Do a backtracking line search inside the cone."""
        min_eigenvalue = float(np.linalg.eigvalsh((barrier @ step).reshape(self.n, self.n))[0])
        share = min(1.0, -_MAX_STEP_TO_BOUNDARY / min_eigenvalue) if min_eigenvalue < 0.0 else 1.0
        current, directional_derivative = self._objective(theta, weight), float(gradient @ step)
        for _ in range(_MAX_HALVINGS):
            candidate = theta + share * step
            if (
                self._objective(candidate, weight)
                <= current + _ARMIJO_FRACTION * share * directional_derivative
            ):
                return candidate
            share *= 0.5
        return theta  # the decrease is below rounding

    def _objective(self, theta: Array, weight: float) -> float:
        misfit = 0.5 * float(np.sum((self.R @ theta - self.r) ** 2))
        return misfit + weight * self._divergence(theta)

    def _divergence(self, theta: Array) -> float:
        """Compute the log-determinant divergence from the prior body; infinite outside the cone."""
        Q = (self.basis @ theta).reshape(self.n, self.n)
        try:
            root = np.linalg.cholesky(Q)
        except np.linalg.LinAlgError:
            return np.inf
        return float(np.trace(Q) - 2.0 * np.log(np.diag(root)).sum()) - self.n


def _whiten_basis(root: Array, basis: Array) -> Array:
    """Compute L⁻¹ Π L⁻ᵀ for each Π of a basis, shape (n², p)."""
    inverse = np.linalg.inv(root)
    return np.kron(inverse, inverse) @ basis

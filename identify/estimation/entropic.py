"""The entropic prior: the body nearest to a prior one by the divergence of log det.

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

from identify.arrays import Array, Phi, positive
from identify.errors import ProblemError, SolveError
from identify.estimation.likelihood import ScoreEquations
from identify.inertia import PSEUDO_INERTIA_BASIS, inertia_about_com, phi_from_inertia
from identify.regressors.triangular import qr_factor

_WEIGHTS = (1e-2, 1e3)
"""Among which λ is looked for. Below, the data decide by themselves; above, the prior body would be
known to three hundredths, which nobody knows of a shape and its density."""

_MOST_NEWTON_STEPS = 100

_INSIDE, _FALLS, _NEWTON_HALVINGS = 0.95, 1e-4, 30
"""Share of the way to the edge of the cone, and of the fall that the slope says, of a step."""

_NEWTON_DECREMENT = 1e-7
"""Newton decrement at which the optimum is reached …"""

_SURE = 1e-3
"""… and at which it counts as reached, where rounding stops it before."""


@dataclass(frozen=True, slots=True)
class EntropicEstimate:
    """The optimum, with Laplace's posterior about it.

    Attributes:
        phi: ten parameters about Bo in B, shape (10,).
        covariance: of them, shape (10, 10). Intervals of it cover .90 where 95 % are meant, on the
            STARS tools with their even density as the prior body: what the prior body is wrong by
            is not in it.
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
    said: ScoreEquations,
    prior: Phi,
    weight: float | None = None,
    *,
    centre_of_data: bool = False,
) -> EntropicEstimate:
    """The body of one fit with an entropic prior.

    Args:
        said: the likelihood of the ten parameters of one body.
        prior: ten parameters of the prior body about Bo in B, strictly consistent, shape (10,).
        weight: λ; by evidence where not given.
        centre_of_data: whether the prior body has its centre of mass from the same data, which
            would then seem to agree with it: its inertia alone is then weighed.

    Raises:
        ProblemError: the prior body is flat or impossible, or the fit is of more than one body.
        SolveError: the optimum was not reached.
    """
    if said.R.shape[1] != 10:
        raise ProblemError("an entropic prior is of one body, and without other unknowns")
    theta0 = said.scaling.theta(np.asarray(prior, dtype=np.float64))
    basis = PSEUDO_INERTIA_BASIS.reshape(4, 4, 10)
    problem = _Entropic.about(said.R, said.r, theta0, basis)
    if weight is None:
        from scipy.optimize import minimize_scalar

        told = _of_inertia(said, theta0) if centre_of_data else problem
        found = minimize_scalar(
            lambda log_weight: -told.log_evidence(float(np.exp(log_weight))),
            bounds=tuple(np.log(_WEIGHTS)),
            method="bounded",
            options={"xatol": 1e-2},
        )
        weight = float(np.exp(found.x))
    optimum = problem.optimum(positive(weight, "weight of the prior", "1", ProblemError))
    inverse = said.scaling.to_x @ np.linalg.inv(optimum.root)
    return EntropicEstimate(
        phi=said.scaling.x(optimum.theta),
        covariance=inverse @ inverse.T,
        weight=weight,
        divergence=optimum.divergence,
        distance_to_optimum=optimum.distance,
        iterations=optimum.steps,
    )


def _of_inertia(said: ScoreEquations, theta0: Array) -> _Entropic:
    """The same of the inertia about the prior body's centre alone, whatever mass and moment are."""
    Q, _ = np.linalg.qr(said.R[:, :4])
    R, r = (part - Q @ (Q.T @ part) for part in (said.R[:, 4:], said.r))
    own = phi_from_inertia(theta0[0], np.zeros(3), inertia_about_com(theta0))[4:]
    basis = PSEUDO_INERTIA_BASIS.reshape(4, 4, 10)[:3, :3, 4:]
    return _Entropic.about(R, r - R @ (theta0[4:] - own), own, basis)


class _Optimum(NamedTuple):
    """Of an objective; `root` is triangular, of its Hessian, and `distance` in standard errors."""

    theta: Array
    root: Array
    divergence: float
    distance: float
    steps: int


@dataclass(frozen=True, slots=True)
class _Entropic:
    """½‖R θ − r‖² + λ (tr Q − log det Q − n), Q of n rows and columns, linear in θ.

    Attributes:
        R, r: shapes (k, p) and (k,).
        start: of the prior body, where Q = 1, shape (p,).
        basis: vec Q = basis θ, shape (n², p).
        n: rows of Q.
    """

    R: Array
    r: Array
    start: Array
    basis: Array
    n: int

    @classmethod
    def about(cls, R: Array, r: Array, start: Array, basis: Array) -> _Entropic:
        """That of a basis of matrices before they are whitened by the prior one, (n, n, p)."""
        n = len(basis)
        plain = basis.reshape(n * n, -1)
        try:
            root = np.linalg.cholesky(basis @ start)
        except np.linalg.LinAlgError as error:
            raise ProblemError(
                "the entropic prior needs a body that extends in every direction, and the prior "
                "body is flat or impossible: give it a thickness"
            ) from error
        return cls(R, r, start, _between(root, plain), n)

    def log_evidence(self, weight: float) -> float:
        """Of λ, but for a constant, by Laplace's method.

        exp(−λ D) is a Wishart density but for its size, which is known exactly.
        """
        found, n = self.optimum(weight), self.n
        a = weight + 0.5 * (n + 1)
        log_size = multigammaln(a, n) - n * a * np.log(weight) + n * weight
        misfit = 0.5 * float(np.sum((self.R @ found.theta - self.r) ** 2))
        log_det = 2.0 * float(np.log(np.abs(np.diag(found.root))).sum())
        return float(-misfit - weight * found.divergence - 0.5 * log_det - log_size)

    def optimum(self, weight: float) -> _Optimum:
        """By Newton's method, inside the cone; the objective over λ is self-concordant.

        With decrement δ < 1 the optimum is within δ/(1 − δ) in the norm of the Hessian over λ, and
        so within √λ δ/(1 − δ) standard errors (Nesterov and Nemirovskii 1994).

        Raises:
            SolveError: it was not reached.
        """
        theta, one = self.start, np.eye(self.n).ravel()
        decrement = best = np.inf
        for step in range(_MOST_NEWTON_STEPS):
            root = np.linalg.cholesky((self.basis @ theta).reshape(self.n, self.n))
            barrier = _between(root, self.basis)
            whole = qr_factor(np.concatenate((self.R, np.sqrt(weight) * barrier)))
            slope = self.R.T @ (self.R @ theta - self.r)
            slope = slope + weight * (self.basis.T @ one - barrier.T @ one)
            reduced = np.linalg.solve(whole.T, slope)
            decrement = float(np.linalg.norm(reduced)) / np.sqrt(weight)
            if decrement < _NEWTON_DECREMENT or (decrement < _SURE and not decrement < 0.5 * best):
                distance = float(np.sqrt(weight) * decrement / (1.0 - decrement))
                return _Optimum(theta, whole, self._divergence(theta), distance, step)
            best = min(best, decrement)
            theta = self._stepped(theta, -np.linalg.solve(whole, reduced), barrier, slope, weight)
        raise SolveError(
            f"entropic prior: no optimum in {_MOST_NEWTON_STEPS} Newton steps (decrement "
            f"{decrement:.1e}, weight {weight:.3g})"
        )

    def _stepped(
        self, theta: Array, step: Array, barrier: Array, slope: Array, weight: float
    ) -> Array:
        """The step as far as the objective falls with it, and not to the edge of the cone."""
        least = float(np.linalg.eigvalsh((barrier @ step).reshape(self.n, self.n))[0])
        share = min(1.0, -_INSIDE / least) if least < 0.0 else 1.0
        now, falls = self._objective(theta, weight), float(slope @ step)
        for _ in range(_NEWTON_HALVINGS):
            further = theta + share * step
            if self._objective(further, weight) <= now + _FALLS * share * falls:
                return further
            share *= 0.5
        return theta  # what it falls by is rounding

    def _objective(self, theta: Array, weight: float) -> float:
        misfit = 0.5 * float(np.sum((self.R @ theta - self.r) ** 2))
        return misfit + weight * self._divergence(theta)

    def _divergence(self, theta: Array) -> float:
        """D; infinite outside of the cone."""
        Q = (self.basis @ theta).reshape(self.n, self.n)
        try:
            root = np.linalg.cholesky(Q)
        except np.linalg.LinAlgError:
            return np.inf
        return float(np.trace(Q) - 2.0 * np.log(np.diag(root)).sum()) - self.n


def _between(root: Array, basis: Array) -> Array:
    """L⁻¹ Π L⁻ᵀ for each Π of a basis, shape (16, n) both."""
    inverse = np.linalg.inv(root)
    return np.kron(inverse, inverse) @ basis

"""Certificate of feasibility and optimality, computed in NumPy from the problem's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from identify.arrays import Array
from identify.errors import SolveError
from identify.estimation.cones import ConicRows, project_to_dual
from identify.estimation.program import ConeSolution, SolverRun
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.estimation.terms.consistent import consistency_margin
from identify.inertia import PSEUDO_INERTIA_BASIS
from identify.regressors.triangular import singular_values

_EQUALITY_TOLERANCE = 1e-9
"""Largest violation of the equality constraints, in scaled units."""

_ACTIVE_DISTANCE = 1e-6
"""Distance from its limit at which a constraint counts as active, in scaled units."""

_OPTIMALITY_TOLERANCE = 1e-2
"""Largest distance to the optimum for ten unknowns, in standard errors; for p unknowns √(p/10)
times as large, in proportion to their distance from the truth."""

_RELATIVE_OPTIMALITY_TOLERANCE = 1e-7
"""Largest distance to the optimum, relative to the norm of the data; the larger of both tolerances
applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(SolverRun):
    """Feasibility and optimality of a solution, in scaled unknowns and units of the noise.

    The objective is strongly convex, so a dual bound bounds the distance to the optimum as well:
    ‖A (θ − θ*)‖² ≤ 2 (primal − dual). The attributes of `SolverRun` come in addition.

    Attributes:
        primal_residual: largest violation of a term.
        dual_residual: relative distance of the solver's multiplier from the dual cone.
        gap: primal minus dual objective, relative to the data.
        distance_to_optimum: sqrt(2 (primal − dual)), in standard errors of the unknowns.
        optimal_for: objective of the optimum: the data, the data and the default body, or the data
            and the prior.
        active: active terms, as text.
        eigenvalues: of the scaled pseudo-inertias, ascending for each body, shape (4 bodies,).
        margin: smallest allowed eigenvalue of the first body.
        condition: condition number of the scaled problem in the identifiable directions.
        rank: number of identifiable directions.
    """

    primal_residual: float
    dual_residual: float
    gap: float
    distance_to_optimum: float
    optimal_for: str
    active: tuple[str, ...]
    eigenvalues: tuple[float, ...]
    margin: float
    condition: float
    rank: int


@dataclass(frozen=True, slots=True)
class ScaledProblem:
    """Constrained problem in scaled unknowns, min ½‖A θ − b‖² with θ = reference + free y.

    Attributes:
        A, b: whitened rows in scaled unknowns, shapes (p, p) and (p,).
        min_residual: norm of the residual at the unconstrained optimum.
        free: basis of the directions that equalities leave free, shape (p, k).
        reference: default bodies that meet the equalities, shape (p,).
        terms: all constraints.
        scaling: units of the unknowns.
        identifiable: basis of the identifiable directions, shape (p, j).
        optimal_for: objective, as text.
        equations: effective number of independent equations; the tolerance of the optimum grows
            with residuals beyond the noise.
    """

    A: Array
    b: Array
    min_residual: float
    free: Array
    reference: Array
    terms: tuple[Term, ...]
    scaling: Scaling
    identifiable: Array
    optimal_for: str = "the data"
    equations: float = np.inf

    def objective(self, theta: Array) -> float:
        """Evaluate the objective ½‖A θ − b‖²."""
        residual = self.A @ theta - self.b
        return 0.5 * float(residual @ residual)

    def rescaled_at(self, x: Array) -> ScaledProblem:
        """Return the problem in units of the masses and lengths of the bodies at x [SI]."""
        lengths = [body.length for body in self.scaling.bodies]
        scaling = Scaling.of(self.scaling.space, x, lengths, self.scaling.units)
        into, back = self.scaling.to_theta @ scaling.to_x, scaling.to_theta @ self.scaling.to_x
        return replace(
            self,
            A=self.A @ into,
            free=back @ self.free,
            reference=back @ self.reference,
            scaling=scaling,
            identifiable=back @ self.identifiable,
        )

    def violations(self, theta: Array) -> list[float]:
        """Return the violation of each constraint, in scaled units."""
        x = self.scaling.x(theta)
        return [term.violation(x, self.scaling) for term in self.terms]

    def equality_residual(self, theta: Array) -> float:
        """Return the distance of theta from the affine set of the equality constraints."""
        if self.free.shape[1] == len(theta):
            return 0.0
        moved = theta - self.reference
        along = self.free @ np.linalg.lstsq(self.free, moved, rcond=None)[0]
        return float(np.abs(moved - along).max())

    def dual_bound(self, multiplier: Array | None = None, rows: ConicRows | None = None) -> float:
        """Compute a lower bound of the objective over all θ that satisfy the constraints.

        With z in the dual cone, zᵀ(F θ + G u + f) ≥ 0 for all feasible θ and u. So the
        minimum over all θ of ½‖A θ − b‖² − zᵀ(F θ + f) is such a bound, less the largest entry of
        |Gᵀz| times the largest Σ |u| if Gᵀz is not zero.
        """
        dual_gradient, slack = np.zeros(len(self.b)), 0.0
        if multiplier is not None and rows is not None:
            dual_gradient = rows.F.T @ multiplier
            auxiliary = float(np.abs(rows.G.T @ multiplier).max(initial=0.0))
            slack = -float(multiplier @ rows.f)
            slack -= self._auxiliary_bound() * auxiliary if auxiliary else 0.0
        Q, R = np.linalg.qr(self.A @ self.free)
        target = self.b - self.A @ self.reference
        y = np.linalg.solve(R, Q.T @ target + np.linalg.solve(R.T, self.free.T @ dual_gradient))
        theta = self.reference + self.free @ y
        return self.objective(theta) - float(dual_gradient @ theta) + slack

    def _auxiliary_bound(self) -> float:
        bounds = [term.auxiliary_bound for term in self.terms if term.auxiliary_bound is not None]
        if not bounds:
            raise SolveError(
                "a term has auxiliary variables but no `auxiliary_bound` on their size, which the "
                "certificate needs"
            )
        return sum(bounds)


def certify(problem: ScaledProblem, solution: ConeSolution) -> Certificate:
    """Certify feasibility and optimality of a solution of a constrained problem.

    Raises `SolveError`: a term is violated or optimality is not proved.
    """
    theta = solution.theta
    multiplier = solution.multiplier
    rows = solution.rows
    violations = problem.violations(theta)
    violation = _require_feasible(problem, solution, violations)
    dual_residual = 0.0
    if multiplier is not None and rows is not None:
        inside = project_to_dual(multiplier, rows.cones)
        largest = max(float(np.abs(multiplier).max(initial=0.0)), float(np.finfo(float).tiny))
        dual_residual = float(np.abs(inside - multiplier).max(initial=0.0)) / largest
        multiplier = inside
    primal, dual = problem.objective(theta), problem.dual_bound(multiplier, rows)
    size = float(np.hypot(np.linalg.norm(problem.b), problem.min_residual))
    distance = float(np.sqrt(2.0 * max(primal - dual, 0.0)))
    limit = _OPTIMALITY_TOLERANCE * np.sqrt(len(theta) / 10.0)
    # If constraints increase the residual beyond the noise, the standard errors grow with it.
    excess = np.sqrt((2.0 * primal + problem.min_residual**2) / problem.equations)
    if not distance <= max(limit * max(1.0, excess), _RELATIVE_OPTIMALITY_TOLERANCE * size):
        raise SolveError(
            f"optimality is not proved: the solution may be {distance:.1e} standard errors away "
            f"from the optimum; {solution.run.summary}"
        )
    singular = singular_values(problem.A @ problem.identifiable)
    return Certificate(
        **{field.name: getattr(solution.run, field.name) for field in fields(SolverRun)},
        primal_residual=violation,
        dual_residual=dual_residual,
        gap=abs(primal - dual) / (0.5 * size**2),
        distance_to_optimum=distance,
        optimal_for=problem.optimal_for,
        active=tuple(
            str(term)
            for term, broken in zip(problem.terms, violations, strict=True)
            if broken > -_ACTIVE_DISTANCE
        ),
        eigenvalues=tuple(scaled_eigenvalues(theta, len(problem.scaling.bodies))),
        margin=consistency_margin(problem.terms, problem.scaling.space.bodies[0]),
        condition=float(singular[0] / singular[-1]),
        rank=len(singular),
    )


def scaled_eigenvalues(theta: Array, bodies: int) -> Sequence[float]:
    """Compute the eigenvalues of the scaled pseudo-inertias, ascending for each body."""
    Pi = theta[: 10 * bodies].reshape(-1, 10) @ PSEUDO_INERTIA_BASIS.T
    return np.linalg.eigvalsh(Pi.reshape(-1, 4, 4)).ravel().tolist()


def _require_feasible(
    problem: ScaledProblem, solution: ConeSolution, violations: Sequence[float]
) -> float:
    """Return the largest violation of a constraint; raise if it exceeds the tolerance."""
    solver_message = solution.run.summary
    for term, broken in zip(problem.terms, violations, strict=True):
        if not broken <= term.tolerance:
            raise SolveError(
                f"the solution violates {term} by {broken:.1e} in scaled units (allowed "
                f"{term.tolerance:g}); {solver_message}. A bound may be far from the estimate "
                "without it: fit without it first"
            )
    equality_residual = problem.equality_residual(solution.theta)
    if not equality_residual <= _EQUALITY_TOLERANCE:
        raise SolveError(
            f"the solution violates the equality constraints by {equality_residual:.1e} in scaled "
            f"units (allowed {_EQUALITY_TOLERANCE:g}); {solver_message}"
        )
    return max(0.0, equality_residual, *violations)

"""Proof that an estimate is what it claims: worked out in NumPy from the problem's data alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from identify.arrays import Array
from identify.errors import SolveError
from identify.estimation.cones import in_dual
from identify.estimation.program import ConeSolution, ConicRows, SolverRun
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.estimation.terms.consistent import MARGIN
from identify.inertia import PSEUDO_INERTIA_BASIS

_FEASIBLE = 1e-9
"""Violation of a constraint that counts as rounding, in scaled units."""

_ACTIVE_DISTANCE = 1e-6
"""Distance from where a term is broken at which it counts as active, in scaled units."""

_STANDARD_ERRORS = 1e-2
"""An optimum this near, in standard errors, is reached …"""

_RELATIVE = 1e-7
"""… or this near, relative to the data, where they have almost no noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(SolverRun):
    """What was checked of a solver's run, in scaled unknowns and in units of the noise.

    The objective is strongly convex, so a dual bound bounds the distance to the optimum as well:
    ‖A (θ − θ*)‖² ≤ 2 (primal − dual).

    Beside what the run says of itself (`SolverRun`) it has:

    Attributes:
        primal_residual: largest violation of a term.
        dual_residual: how far the solver's multiplier was from the dual cone, relative.
        gap: primal less dual objective, relative to the data.
        distance_to_optimum: sqrt(2 (primal − dual)), in standard errors of the unknowns.
        optimal_for: what it is the optimum of: the data, the data and the default body, or the data
            and the prior.
        active: terms at whose edge the solution lies, in words.
        eigenvalues: of the scaled pseudo-inertias, ascending for each body, shape (4 bodies,).
        margin: least eigenvalue asked for.
        condition: of the scaled problem, over the directions that are identifiable.
        rank: number of those directions.
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
    """What a certificate is about: min ½‖A θ − b‖², θ = reference + free y, under the terms.

    Attributes:
        A, b: whitened rows in scaled unknowns, shapes (p, p) and (p,).
        floor: norm of the residual no unknown reaches.
        free: columns that span the directions equalities leave open, shape (p, k).
        reference: prior bodies that meet the equalities, shape (p,).
        terms: all of them.
        scaling: the units of the unknowns.
        identifiable: columns that span the directions the data identify, shape (p, j).
        optimal_for: what the rows are of.
        equations: how many independent equations the rows are worth; residuals beyond the noise
            then widen what counts as near.
    """

    A: Array
    b: Array
    floor: float
    free: Array
    reference: Array
    terms: tuple[Term, ...]
    scaling: Scaling
    identifiable: Array
    optimal_for: str = "the data"
    equations: float = np.inf

    def objective(self, theta: Array) -> float:
        """½‖A θ − b‖²."""
        residual = self.A @ theta - self.b
        return 0.5 * float(residual @ residual)

    def about(self, x: Array) -> ScaledProblem:
        """The same problem in units about the centres of mass of some unknowns."""
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
        """By how much each term is broken, in scaled units."""
        x = self.scaling.x(theta)
        return [term.violation(x, self.scaling) for term in self.terms]

    def off_plane(self, theta: Array) -> float:
        """How far theta is from reference + free y for any y."""
        if self.free.shape[1] == len(theta):
            return 0.0
        moved = theta - self.reference
        along = self.free @ np.linalg.lstsq(self.free, moved, rcond=None)[0]
        return float(np.abs(moved - along).max())

    def dual_bound(self, multiplier: Array | None = None, rows: ConicRows | None = None) -> float:
        """A lower bound of the objective over all θ that meet the terms.

        With z in the dual cone, zᵀ(F θ + G u + f) ≥ 0 for every θ and u that meet the terms. So the
        minimum over all θ of ½‖A θ − b‖² − zᵀ(F θ + f) is such a bound, less the largest entry of
        |Gᵀz| times the largest Σ |u| where Gᵀz is not zero.

        Args:
            multiplier: z; without one, the bound is the optimum without terms.
            rows: F, G, f of the terms.
        """
        pull, slack = np.zeros(len(self.b)), 0.0
        if multiplier is not None and rows is not None:
            pull = rows.F.T @ multiplier
            own = float(np.abs(rows.G.T @ multiplier).max(initial=0.0))
            slack = -float(multiplier @ rows.f) - (self._own_bound() * own if own else 0.0)
        Q, R = np.linalg.qr(self.A @ self.free)
        target = self.b - self.A @ self.reference
        y = np.linalg.solve(R, Q.T @ target + np.linalg.solve(R.T, self.free.T @ pull))
        theta = self.reference + self.free @ y
        return self.objective(theta) - float(pull @ theta) + slack

    def _own_bound(self) -> float:
        bounds = [term.own_bound for term in self.terms if term.own_bound is not None]
        if not bounds:
            raise SolveError(
                "a term brings variables of its own and no `own_bound` of their size, which the "
                "certificate needs"
            )
        return sum(bounds)


def certify(problem: ScaledProblem, solution: ConeSolution) -> Certificate:
    """Check a solution against its own problem.

    Args:
        problem: the data.
        solution: its unknowns, multiplier and rows; what of the multiplier is not in the dual cone
            is cut off.

    Raises:
        SolveError: a term is violated or the optimum is not proved.
    """
    theta, multiplier, rows = solution.theta, solution.multiplier, solution.rows
    violations = problem.violations(theta)
    violation = _require_met(problem, solution, violations)
    dual_residual = 0.0
    if multiplier is not None and rows is not None:
        inside = in_dual(multiplier, rows.cones)
        largest = max(float(np.abs(multiplier).max(initial=0.0)), float(np.finfo(float).tiny))
        dual_residual = float(np.abs(inside - multiplier).max(initial=0.0)) / largest
        multiplier = inside
    primal, dual = problem.objective(theta), problem.dual_bound(multiplier, rows)
    size = float(np.hypot(np.linalg.norm(problem.b), problem.floor))
    distance = float(np.sqrt(2.0 * max(primal - dual, 0.0)))
    # Where constraints leave more residual than noise does, standard errors grow with it.
    excess = np.sqrt((2.0 * primal + problem.floor**2) / problem.equations)
    if not distance <= max(_STANDARD_ERRORS * max(1.0, excess), _RELATIVE * size):
        raise SolveError(
            f"the optimum is not proved: the solution may be {distance:.1e} standard errors away "
            f"from it; {solution.run.in_words}"
        )
    singular = np.linalg.svd(problem.A @ problem.identifiable, compute_uv=False)
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
        margin=MARGIN,
        condition=float(singular[0] / singular[-1]),
        rank=len(singular),
    )


def scaled_eigenvalues(theta: Array, bodies: int) -> Sequence[float]:
    """Of the scaled pseudo-inertias of all bodies, ascending for each."""
    Pi = theta[: 10 * bodies].reshape(-1, 10) @ PSEUDO_INERTIA_BASIS.T
    return np.linalg.eigvalsh(Pi.reshape(-1, 4, 4)).ravel().tolist()


def _require_met(
    problem: ScaledProblem, solution: ConeSolution, violations: Sequence[float]
) -> float:
    """The largest violation, or an error if it is more than a term allows."""
    said = solution.run.in_words
    for term, broken in zip(problem.terms, violations, strict=True):
        if not broken <= term.tolerance:
            raise SolveError(
                f"the solution violates {term} by {broken:.1e} in scaled units (allowed "
                f"{term.tolerance:g}); {said}. If it is a bound, it may be far from what the data "
                "say: fit without it first"
            )
    off_plane = problem.off_plane(solution.theta)
    if not off_plane <= _FEASIBLE:
        raise SolveError(
            f"the solution violates what is known exactly by {off_plane:.1e} in scaled units "
            f"(allowed {_FEASIBLE:g}); {said}"
        )
    return max(0.0, off_plane, *violations)

"""Proof that an estimate is what it claims: worked out in NumPy from the problem's data alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat44
from identify.errors import SolveError
from identify.estimation.program import MARGIN
from identify.inertia import PSEUDO_INERTIA_BASIS

_FEASIBLE = 1e-9
"""Violation of a constraint that counts as rounding, in scaled units."""

_STANDARD_ERRORS = 1e-2
"""An optimum this near, in standard errors, is reached …"""

_RELATIVE = 1e-7
"""… or this near, relative to the data, where they have almost no noise."""


@dataclass(frozen=True, slots=True)
class SolverRun:
    """What a solver says of itself.

    Attributes:
        solver: "Clarabel", or "none" where least squares was consistent already.
        status: its own word.
        iterations: how many it took.
        versions: of the solver and of cvxpy.
        build_time, solve_time: [s].
    """

    solver: str = "none"
    status: str = ""
    iterations: int = 0
    versions: tuple[tuple[str, str], ...] = ()
    build_time: float = 0.0
    solve_time: float = 0.0


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was checked, in scaled parameters and in units of the noise.

    The objective is strongly convex, so a dual bound bounds the distance to the optimum as well:
    ‖A (θ − θ*)‖² ≤ 2 (primal − dual).

    Attributes:
        solver: "Clarabel", or "none": least squares was consistent already and so is the optimum.
        status: the solver's word.
        iterations: its iterations.
        primal_residual: largest violation of a constraint.
        dual_residual: how far the solver's multiplier was from being positive semidefinite,
            relative.
        gap: primal less dual objective, relative to the data.
        distance_to_optimum: sqrt(2 (primal − dual)), in standard errors of the parameters.
        eigenvalues: of the scaled pseudo-inertia, ascending, shape (4,).
        margin: least eigenvalue asked for.
        condition: of the scaled problem, over the directions the data tell.
        rank: number of those directions.
        versions: of the solver and of cvxpy, where they ran.
        build_time, solve_time: [s].
    """

    solver: str
    status: str
    iterations: int
    primal_residual: float
    dual_residual: float
    gap: float
    distance_to_optimum: float
    eigenvalues: tuple[float, ...]
    margin: float
    condition: float
    rank: int
    versions: tuple[tuple[str, str], ...] = ()
    build_time: float = 0.0
    solve_time: float = 0.0


@dataclass(frozen=True, slots=True)
class ScaledProblem:
    """The problem a certificate is about: min ½‖A θ − b‖², θ = reference + told y, Pi(θ) ⪰ margin.

    Attributes:
        A, b: whitened rows in scaled parameters, shapes (10, 10) and (10,).
        floor: norm of the residual no parameter reaches.
        told: columns that span the free directions, shape (10, k).
        fixed: rows C of the constraint C (θ − reference) = 0 that says the same, shape (10 − k,
            10).
        reference: point the others are held at, shape (10,).
        equations: how many independent equations the rows are worth; residuals beyond the noise
            then widen what counts as near.
    """

    A: Array
    b: Array
    floor: float
    told: Array
    fixed: Array
    reference: Array
    equations: float = np.inf

    def objective(self, theta: Array) -> float:
        """½‖A θ − b‖²."""
        residual = self.A @ theta - self.b
        return 0.5 * float(residual @ residual)

    def dual_bound(self, multiplier: Mat44, mass_multiplier: float) -> float:
        """A lower bound of the objective over all consistent bodies, for any multipliers ⪰ 0."""
        pull = PSEUDO_INERTIA_BASIS.T @ multiplier.ravel()
        pull[0] += mass_multiplier
        columns = self.A @ self.told
        target = self.b - self.A @ self.reference
        Q, R = np.linalg.qr(columns)
        from_pull = np.linalg.solve(R.T, self.told.T @ pull)
        y = np.linalg.solve(R, Q.T @ target + from_pull)
        theta = self.reference + self.told @ y
        slack = MARGIN * (float(np.trace(multiplier)) + mass_multiplier) - float(pull @ theta)
        return self.objective(theta) + slack


def certify(
    problem: ScaledProblem,
    theta: Array,
    multiplier: Mat44,
    mass_multiplier: float,
    run: SolverRun,
) -> Certificate:
    """Check a solution against its own problem.

    Args:
        problem: the data.
        theta: the solution, shape (10,).
        multiplier: dual matrix of Pi ⪰ margin; what of it is not positive semidefinite is cut off.
        mass_multiplier: dual of the mass bound.
        run: what the solver said of itself.

    Raises:
        SolveError: a constraint is violated or the optimum is not proved.
    """
    Pi = (PSEUDO_INERTIA_BASIS @ theta).reshape(4, 4)
    eigenvalues = np.linalg.eigvalsh(Pi)
    off_plane = np.abs(problem.fixed @ (theta - problem.reference)).max(initial=0.0)
    violation = max(MARGIN - eigenvalues[0], MARGIN - theta[0], off_plane, 0.0)
    values, vectors = np.linalg.eigh(multiplier)
    positive = (vectors * np.maximum(values, 0.0)) @ vectors.T
    primal = problem.objective(theta)
    dual = problem.dual_bound(positive, max(mass_multiplier, 0.0))
    size = float(np.hypot(np.linalg.norm(problem.b), problem.floor))
    distance = float(np.sqrt(2.0 * max(primal - dual, 0.0)))
    singular = np.linalg.svd(problem.A @ problem.told, compute_uv=False)
    certificate = Certificate(
        primal_residual=float(violation),
        dual_residual=max(0.0, -float(values[0]) / max(abs(values).max(), np.finfo(float).tiny)),
        gap=abs(primal - dual) / (0.5 * size**2),
        distance_to_optimum=distance,
        eigenvalues=tuple(eigenvalues.tolist()),
        margin=MARGIN,
        condition=float(singular[0] / singular[-1]),
        rank=len(singular),
        solver=run.solver,
        status=run.status,
        iterations=run.iterations,
        versions=run.versions,
        build_time=run.build_time,
        solve_time=run.solve_time,
    )
    if violation > _FEASIBLE:
        raise SolveError(
            f"the solution violates its constraints by {violation:.1e} in scaled units (allowed "
            f"{_FEASIBLE:g}); {certificate.solver} said {certificate.status!r}"
        )
    # Where constraints leave more residual than noise does, standard errors grow with it.
    excess = np.sqrt((2.0 * primal + problem.floor**2) / problem.equations)
    if not distance <= max(_STANDARD_ERRORS * max(1.0, excess), _RELATIVE * size):
        raise SolveError(
            f"the optimum is not proved: the solution may be {distance:.1e} standard errors away "
            f"from it; {certificate.solver} said {certificate.status!r}"
        )
    return certificate

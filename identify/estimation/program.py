"""Cone program, laid out as rows in cones and solved by Clarabel.

    minimise t   subject to   ‖A θ − b‖ ≤ t  and the terms, F θ + G v + f ∈ K

in scaled unknowns θ, or in u of θ = θ₀ + T u about the least-squares solution θ₀, where A T has
orthonormal columns: u counts standard errors. In θ, where data know some directions 10⁴ times
better than others, solvers stop "optimal" up to a standard error from the optimum; in u, bodies
that are hundreds of standard errors from the data are less exactly consistent, and constraints that
contradict each other are not seen. The objective is a norm on QR-reduced rows, never a square:
there solvers stop far from the optimum where the noise is small.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from types import ModuleType

import numpy as np

from identify.arrays import Array
from identify.errors import SolveError
from identify.estimation.cones import ConeBlock, ConicRows
from identify.estimation.scaling import Scaling
from identify.estimation.terms.term import Term
from identify.lazy import installed_version
from identify.regressors.triangular import svd

_SOLVER_TOLERANCE = 1e-10

_RANK_TOLERANCE = 1e-13
"""Singular value, relative to the largest, below which data know nothing of a direction."""


class Infeasible(SolveError):
    """The constraints contradict each other, according to the solver."""


@dataclass(frozen=True, slots=True)
class SolverRun:
    """Solver, status and times of a run, as reported by the solver.

    Attributes:
        solver: "Clarabel", or "none": least squares met all terms already and so is the optimum.
        status: status reported by the solver.
        iterations: number of iterations.
        versions: version of the solver, if it ran.
        build_time, solve_time: [s].
    """

    solver: str = "none"
    status: str = ""
    iterations: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    build_time: float = 0.0
    solve_time: float = 0.0

    @property
    def summary(self) -> str:
        """Summary of the run for messages."""
        return f"{self.solver} said {self.status!r}"


@dataclass(frozen=True, slots=True)
class ConeSolution:
    """Solution returned by the solver, not yet certified.

    Attributes:
        theta: scaled unknowns, shape (p,).
        multiplier: dual of the terms' rows, for the objective ½‖A θ − b‖², shape (n,); None where
            least squares met all terms already.
        rows: rows of the terms.
        run: run of the solver.
    """

    theta: Array
    multiplier: Array | None = None
    rows: ConicRows | None = None
    run: SolverRun = field(default_factory=SolverRun)


def constraint_rows(terms: Sequence[Term], scaling: Scaling) -> ConicRows:
    """Lay out constraints in conic standard form at a scaling."""
    return ConicRows.stack([term.conic_rows(scaling) for term in terms])


def solve_cone_program(
    A: Array, b: Array, rows: ConicRows, *, in_standard_errors: bool = False
) -> ConeSolution:
    """Minimise ‖A θ − b‖ under constraints.

    `A`: shape (p, p), in scaled unknowns; `b`: shape (p,); `rows`: of the terms;
    `in_standard_errors`: solve in the unknowns u of the head of this module.
    Raises `Infeasible`: the constraints contradict each other; `SolveError`: the solver failed.
    """
    import scipy.sparse as sp

    clarabel = clarabel_module()
    started = time.perf_counter()
    scale = float(np.linalg.norm(A))
    if not (np.isfinite(scale) and scale > 0.0):
        raise SolveError("the problem has no data: its matrix is zero or not finite")
    n, p = A.shape
    start, T = np.zeros(p), np.eye(p)
    if in_standard_errors:
        start, T, scale = *_whitening(A, b), 1.0
    # Columns are those of [t, u, v]; rows of the norm come after linear ones.
    norm = ConicRows(
        F=np.concatenate((np.zeros((1, p)), A @ T / scale)),
        G=np.eye(1 + n, 1),
        f=np.concatenate(([0.0], (A @ start - b) / scale)),
        cones=(ConeBlock("second_order", 1 + n),),
    )
    whole = ConicRows.stack((norm, replace(rows, F=rows.F @ T, f=rows.f + rows.F @ start)))
    matrix = -np.column_stack((whole.G[:, :1], whole.F, whole.G[:, 1:]))
    count = matrix.shape[1]
    solver = clarabel.DefaultSolver(
        sp.csc_array((count, count)),
        np.eye(1, count)[0],
        sp.csc_array(matrix),
        whole.f,
        [cone.to_clarabel(clarabel) for cone in whole.cones],
        solver_settings(),
    )
    built = time.perf_counter()
    solution = solver.solve()
    finished = time.perf_counter()
    status = str(solution.status)
    if status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
        raise Infeasible(
            f"the constraints contradict each other, no body satisfies all of them (Clarabel: "
            f"{status}): remove or widen one"
        )
    if status not in ("Solved", "AlmostSolved", "InsufficientProgress"):
        raise SolveError(
            f"Clarabel stopped with {status!r} after {solution.iterations} iterations: no "
            f"consistent body was found for these data; relax or remove constraints"
        )
    theta = start + T @ np.asarray(solution.x)[1 : 1 + p]
    # From the norm's multipliers to those of its half square, which is what is certified.
    factor = scale * float(np.linalg.norm(A @ theta - b))
    return ConeSolution(
        theta=theta,
        multiplier=factor * np.delete(solution.z, rows.linear_count + np.arange(1 + n)),
        rows=rows,
        run=SolverRun(
            solver="Clarabel",
            status=status,
            iterations=int(solution.iterations),
            versions=_solver_versions(),
            build_time=built - started,
            solve_time=finished - built,
        ),
    )


def _whitening(A: Array, b: Array) -> tuple[Array, Array]:
    """Return θ₀ and T of θ = θ₀ + T u, where A θ₀ is nearest to b and A T has orthonormal columns.

    Directions of θ that A maps to zero, which terms must fix, keep their scale.
    """
    U, singular, right = svd(A)
    known = singular > _RANK_TOLERANCE * singular[0]
    scales = np.where(known, singular, 1.0)
    return right.T @ np.where(known, U.T @ b / scales, 0.0), right.T / scales


@lru_cache(maxsize=1)
def _solver_versions() -> Mapping[str, str]:
    return {"clarabel": installed_version("clarabel") or "missing"}


def clarabel_module() -> ModuleType:
    """Import Clarabel on first use."""
    return import_module("clarabel")


@lru_cache(maxsize=2)
def solver_settings(tolerance: float = _SOLVER_TOLERANCE) -> object:
    """Return Clarabel's settings: one thread, with a given tolerance."""
    settings = clarabel_module().DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.max_threads = 1
    settings.chordal_decomposition_enable = False  # of matrices this small; data may be updated
    return settings

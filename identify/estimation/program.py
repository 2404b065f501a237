"""Cone program, laid out as rows in cones and solved by Clarabel.

    minimise t   subject to   ‖A θ − b‖ ≤ t  and the terms, F θ + G u + f ∈ K

in scaled unknowns θ. The objective is a norm on QR-reduced rows, never θᵀHθ: squared, solvers
stop "optimal" far from the optimum where the noise is small.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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

_SOLVER_TOLERANCE = 1e-10


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


def solve_cone_program(A: Array, b: Array, rows: ConicRows) -> ConeSolution:
    """Minimise ‖A θ − b‖ under constraints.

    `A`: shape (p, p), in scaled unknowns; `b`: shape (p,); `rows`: of the terms.
    Raises `Infeasible`: the constraints contradict each other; `SolveError`: the solver failed.
    """
    import scipy.sparse as sp

    clarabel = clarabel_module()
    started = time.perf_counter()
    scale = float(np.linalg.norm(A))
    if not (np.isfinite(scale) and scale > 0.0):
        raise SolveError("the problem has no data: its matrix is zero or not finite")
    n, p = A.shape
    # Columns are those of [t, θ, u]; rows of the norm come after linear ones.
    norm = ConicRows(
        F=np.concatenate((np.zeros((1, p)), A / scale)),
        G=np.eye(1 + n, 1),
        f=np.concatenate(([0.0], -b / scale)),
        cones=(ConeBlock("second_order", 1 + n),),
    )
    whole = ConicRows.stack((norm, rows))
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
    theta = np.asarray(solution.x)[1 : 1 + p]
    # From the norm's multipliers to those of its half square, which is what is certified.
    factor = scale**2 * float(np.linalg.norm((A @ theta - b) / scale))
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

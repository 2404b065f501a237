"""Cone program, compiled once by cvxpy for its constraints and solved repeatedly by Clarabel.

    minimise ‖A θ − b‖   subject to the terms

in scaled unknowns θ. The objective is a norm on QR-reduced rows, never θᵀHθ: squared, solvers
stop "optimal" far from the optimum where the noise is small.

cvxpy turns the program into conic standard form F x + f ∈ K once. The entries of F and f are affine
in the program's parameters; cvxpy's own map of them fills in later data without cvxpy.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import SolveError
from identify.estimation.cones import ConeBlock, cone_blocks
from identify.estimation.scaling import Scaling
from identify.estimation.terms.term import ScaledBody, ScaledSpace, Term
from identify.regressors import ParameterSpace

if TYPE_CHECKING:
    import cvxpy as cp
    import scipy.sparse as sp

_SOLVER_TOLERANCE = 1e-10


class Infeasible(SolveError):
    """The constraints contradict each other, according to the solver."""


@dataclass(frozen=True, slots=True)
class ConicRows:
    """Constraints on θ and auxiliary variables u in conic standard form, F θ + G u + f ∈ K.

    Attributes:
        F: coefficients of the scaled unknowns, shape (n, p).
        G: coefficients of the terms' auxiliary variables, shape (n, q).
        f: shape (n,).
        cones: K, in the order of the rows.
    """

    F: Array
    G: Array
    f: Array
    cones: tuple[ConeBlock, ...]


@dataclass(frozen=True, slots=True)
class SolverRun:
    """Solver, status and times of a run, as reported by the solver.

    Attributes:
        solver: "Clarabel", or "none": least squares met all terms already and so is the optimum.
        status: status reported by the solver.
        iterations: number of iterations.
        versions: versions of the solver and of cvxpy, if they ran.
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


@dataclass(frozen=True, slots=True, eq=False)
class ConeProgram:
    """Cone program compiled for a set of constraints.

    Attributes:
        space: parameter space of the unknowns.
        about_Bo: whether a term uses parameters about Bo.
        reduced: matrix from [parameters; 1] to the nonzero entries of [F | f], column by column.
        matrix_pattern: sparsity pattern of the constraint matrix −F.
        entries: row and column of every nonzero entry of [F | f].
        quadratic: quadratic cost: zero.
        cost: linear cost of the standard form's variables.
        theta, auxiliary: columns of the scaled unknowns, and of the terms' auxiliary variables.
        rows: rows of the terms; all others are those of the norm.
        cones: cones of all rows.
        constraint_cones: cones of the terms' rows.
    """

    space: ParameterSpace
    about_Bo: bool
    reduced: sp.csr_array
    matrix_pattern: sp.csc_array
    entries: tuple[Indices, Indices]
    quadratic: sp.csc_array
    cost: Array
    theta: Indices
    auxiliary: Indices
    rows: Indices
    cones: tuple[ConeBlock, ...]
    constraint_cones: tuple[ConeBlock, ...]

    def solve(self, A: Array, b: Array, scaling: Scaling) -> ConeSolution:
        """Solve the program for the data of a fit.

        `A`: shape (p, p), in scaled unknowns; `b`: shape (p,); `scaling`: the units of the
        unknowns.
        Raises `Infeasible`: the constraints contradict each other; `SolveError`: the solver failed.
        """
        clarabel = clarabel_module()
        started = time.perf_counter()
        scale = float(np.linalg.norm(A))
        if not (np.isfinite(scale) and scale > 0.0):
            raise SolveError("the problem has no data: its matrix is zero or not finite")
        form = self._standard_form(A / scale, b / scale, scaling)
        matrix = copy(self.matrix_pattern)
        matrix.data = -form[self.entries][: len(matrix.indices)]
        cones = [cone.to_clarabel(clarabel) for cone in self.cones]
        solver = clarabel.DefaultSolver(
            self.quadratic, self.cost, matrix, form[:, -1], cones, solver_settings()
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
        theta = np.asarray(solution.x)[self.theta]
        # From the norm's multipliers to those of its half square, which is what is certified.
        factor = scale**2 * float(np.linalg.norm((A @ theta - b) / scale))
        return ConeSolution(
            theta=theta,
            multiplier=factor * np.asarray(solution.z)[self.rows],
            rows=self._conic_rows(form),
            run=SolverRun(
                solver="Clarabel",
                status=status,
                iterations=int(solution.iterations),
                versions=_solver_versions(),
                build_time=built - started,
                solve_time=finished - built,
            ),
        )

    def constraint_rows(self, scaling: Scaling) -> ConicRows:
        """Return the constraints in conic standard form at a scaling."""
        p = len(self.theta)
        return self._conic_rows(self._standard_form(np.zeros((p, p)), np.zeros(p), scaling))

    def _conic_rows(self, standard_form: Array) -> ConicRows:
        rows = standard_form[self.rows]
        return ConicRows(
            rows[:, self.theta], rows[:, self.auxiliary], rows[:, -1], self.constraint_cones
        )

    def _standard_form(self, A: Array, b: Array, scaling: Scaling) -> Array:
        """Return the program's rows [F | f] for given data and scaling."""
        values = [A.ravel("F"), b]
        for body in scaling.bodies:
            values += [[1.0 / body.mass, 1.0 / body.length], body.com / body.length]
        for body in scaling.bodies if self.about_Bo else ():
            values += [(body.to_phi / (body.mass * body.length**2)).ravel("F")]
            values += [(body.mass * body.to_theta).ravel("F")]
        parameters = np.concatenate((*values, 1.0 / scaling.units, [1.0]))
        form = np.zeros((self.matrix_pattern.shape[0], self.matrix_pattern.shape[1] + 1))
        form[self.entries] = self.reduced @ parameters
        return form


def cone_program(space: ParameterSpace, terms: tuple[Term, ...]) -> ConeProgram:
    """Compile the program of a set of constraints, cached per process.

    It does not depend on defaults, nor on terms without constraints.
    """
    constraining = tuple(term for term in terms if term.constrains(space))
    return _compiled_program(space.with_defaults({}), constraining)


@lru_cache(maxsize=64)
def _compiled_program(space: ParameterSpace, terms: tuple[Term, ...]) -> ConeProgram:
    import cvxpy as cp

    p = len(space)
    theta, bound = cp.Variable(p), cp.Variable()
    A, b = cp.Parameter((p, p)), cp.Parameter(p)
    bodies = [
        ScaledBody(
            theta[block],
            cp.Parameter(),
            cp.Parameter(),
            cp.Parameter(3),
            cp.Parameter((10, 10)),
            cp.Parameter((10, 10)),
        )
        for block in map(space.body_slice, range(len(space.bodies)))
    ]
    parameters = [A, b]
    for body in bodies:
        parameters += [body.inverse_mass, body.inverse_length, body.com]
    x = ScaledSpace(space, bodies)
    if space.scalars:
        units = cp.Parameter(len(space.scalars))
        parameters.append(units)
        x = ScaledSpace(space, bodies, theta[space.scalar_slice], units)
    constraints = [constraint for term in terms for constraint in _build_constraints(term, x)]
    problem = cp.Problem(cp.Minimize(bound), [cp.SOC(bound, A @ theta - b), *constraints])
    maps = [parameter for body in bodies for parameter in (body.to_phi, body.to_theta)]
    used = {parameter.id for parameter in problem.parameters()}
    about_Bo = any(parameter.id in used for parameter in maps)
    if about_Bo:
        first = len(parameters) - len(space.scalars[:1])
        parameters[first:first] = maps
    return _compile(problem, parameters, theta, bound, space, about_Bo=about_Bo)


def _build_constraints(term: Term, x: ScaledSpace) -> list[cp.Constraint]:
    """Build the cvxpy constraints of a `Term` and check that they are DPP-compliant."""
    constraints = term.build(x)
    for constraint in constraints:
        if not constraint.is_dcp(dpp=True):
            raise SolveError(
                f"{term}: the constraint {constraint} is not convex, or not affine in the units of "
                f"the scaled unknowns (see cvxpy's rules, DCP and DPP)"
            )
    return constraints


def _compile(
    problem: cp.Problem,
    parameters: Sequence[cp.Parameter],
    theta: cp.Variable,
    bound: cp.Variable,
    space: ParameterSpace,
    *,
    about_Bo: bool,
) -> ConeProgram:
    """Compile to cvxpy's standard form for Clarabel, with the map from its parameters."""
    import scipy.sparse as sp

    for parameter in parameters:  # the form does not depend on the values; cvxpy asks for some
        parameter.value = np.ones(parameter.shape)
    data = problem.get_problem_data("CLARABEL")[0]
    program = data["param_prob"]
    program.reduced_A.cache()
    indices, indptr, shape = program.reduced_A.problem_data_index
    columns = np.concatenate(
        [
            program.param_id_to_col[parameter.id] + np.arange(parameter.size)
            for parameter in parameters
            if parameter.id in program.param_id_to_col
        ]
        + [[program.total_param_size]]
    )
    used = np.concatenate(
        [
            np.full(parameter.size, parameter.id in program.param_id_to_col)
            for parameter in parameters
        ]
        + [[True]]
    )
    reduced = sp.csr_array(program.reduced_A.reduced_mat)
    selection = sp.csr_array(
        (np.ones(len(columns)), (columns, np.flatnonzero(used))),
        shape=(reduced.shape[1], len(used)),
    )
    start, first = program.var_id_to_col[theta.id], program.var_id_to_col[bound.id]
    theta_columns = np.arange(start, start + theta.size)
    count = shape[1] - 1
    cones = cone_blocks(data["dims"])
    rows_before_norm = sum(cone.size for cone in cones if cone.kind in ("zero", "nonnegative"))
    norm = next(k for k, cone in enumerate(cones) if cone.kind == "second_order")
    split = indptr[-2]
    return ConeProgram(
        space=space,
        about_Bo=about_Bo,
        reduced=reduced @ selection,
        matrix_pattern=sp.csc_array(
            (np.ones(split), indices[:split], indptr[:-1]), shape=(shape[0], count)
        ),
        entries=(indices, np.repeat(np.arange(shape[1]), np.diff(indptr))),
        quadratic=sp.csc_array((count, count)),
        cost=np.asarray(data["c"]),
        theta=theta_columns,
        auxiliary=np.setdiff1d(np.arange(count), [*theta_columns, first]),
        rows=np.delete(
            np.arange(shape[0]), slice(rows_before_norm, rows_before_norm + theta.size + 1)
        ),
        cones=cones,
        constraint_cones=cones[:norm] + cones[norm + 1 :],
    )


@lru_cache(maxsize=1)
def _solver_versions() -> Mapping[str, str]:
    return {name: version(name) for name in ("clarabel", "cvxpy")}


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

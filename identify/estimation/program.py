"""The semidefinite program, written once in cvxpy and solved again and again by Clarabel.

    minimise ‖A θ − b‖   subject to   Pi(θ) ⪰ margin 1,  θ_m ≥ margin,  C θ = d

in scaled parameters θ. The objective is a norm on QR-reduced rows, never θᵀHθ: squared, solvers
stop "optimal" far from the optimum where the noise is small.

cvxpy turns the program into Clarabel's standard form once. Every entry of that form is a constant
or plus or minus one parameter, so later data are written straight into it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.arrays import Array, Indices, Mat44
from identify.errors import SolveError
from identify.inertia import PSEUDO_INERTIA_BASIS

if TYPE_CHECKING:
    import scipy.sparse as sp

MARGIN = 1e-9
"""Least eigenvalue of the scaled pseudo-inertia, and least scaled mass: a sheet of paper passes."""

_TOLERANCE = 1e-10
_UPPER_ROWS, _UPPER_COLUMNS = zip(
    *((row, column) for column in range(4) for row in range(column + 1)), strict=True
)


@dataclass(frozen=True, slots=True)
class ConeSolution:
    """What the solver said, before anything of it is believed.

    Attributes:
        theta: scaled parameters, shape (10,).
        multiplier: dual matrix Z of Pi ⪰ margin, for the objective ½‖A θ − b‖², shape (4, 4).
        mass_multiplier: dual of the mass bound.
        status: the solver's own word.
        iterations: its iterations.
        build_time, solve_time: [s].
    """

    theta: Array
    multiplier: Mat44
    mass_multiplier: float
    status: str
    iterations: int
    build_time: float
    solve_time: float


@dataclass(frozen=True, slots=True)
class ConeProgram:
    """Clarabel's standard form of the program, and where each parameter stands in it.

    The standard form is min qᵀx, A x + s = b, s in the cones. `data_sources` says which entry of
    the parameter vector each entry of A.data and b is (−1: a constant), with `data_signs`.
    """

    equalities: int
    form: sp.csc_array
    offset: Array
    cost: Array
    quadratic: sp.csc_array
    cones: tuple[object, ...]
    data_sources: Indices
    data_signs: Array
    theta_columns: Indices
    mass_row: int
    psd_rows: Indices

    def solve(self, A: Array, b: Array, C: Array, d: Array) -> ConeSolution:
        """Solve for one set of data.

        Args:
            A: shape (10, 10).
            b: shape (10,).
            C: shape (equalities, 10).
            d: shape (equalities,).

        Raises:
            SolveError: the solver found the program infeasible, or failed.
        """
        clarabel = _clarabel()
        started = time.perf_counter()
        scale = float(np.linalg.norm(A))
        if not (np.isfinite(scale) and scale > 0.0):
            raise SolveError("the problem has no data: its matrix is zero or not finite")
        parameters = np.concatenate((A.ravel("F"), b, C.ravel("F"), d))
        parameters[:110] /= scale
        entries = np.concatenate((self.form.data, self.offset))
        live = self.data_sources >= 0
        entries[live] = self.data_signs[live] * parameters[self.data_sources[live]]
        count = len(self.form.data)
        form = self.form.copy()
        form.data = entries[:count]
        solver = clarabel.DefaultSolver(
            self.quadratic, self.cost, form, entries[count:], list(self.cones), _settings()
        )
        built = time.perf_counter()
        solution = solver.solve()
        finished = time.perf_counter()
        status = str(solution.status)
        if status not in ("Solved", "AlmostSolved", "InsufficientProgress"):
            raise SolveError(
                f"Clarabel stopped with {status!r} after {solution.iterations} iterations: no "
                f"consistent body was found for these data and constraints"
            )
        x, z = np.asarray(solution.x), np.asarray(solution.z)
        theta = x[self.theta_columns]
        # From the norm's multipliers to those of its half square, which is what is certified.
        factor = scale**2 * float(np.linalg.norm((A @ theta - b) / scale))
        return ConeSolution(
            theta=theta,
            multiplier=factor * _matrix_of_triangle(z[self.psd_rows]),
            mass_multiplier=factor * float(z[self.mass_row]),
            status=status,
            iterations=int(solution.iterations),
            build_time=built - started,
            solve_time=finished - built,
        )


@lru_cache(maxsize=16)
def cone_program(equalities: int) -> ConeProgram:
    """The compiled program with the given number of equality constraints."""
    import cvxpy as cp

    theta = cp.Variable(10)
    bound = cp.Variable()
    A, b = cp.Parameter((10, 10)), cp.Parameter(10)
    Pi = cp.reshape(PSEUDO_INERTIA_BASIS @ theta, (4, 4), order="C")
    constraints = [
        cp.SOC(bound, A @ theta - b),
        Pi >> MARGIN * np.eye(4),
        theta[0] >= MARGIN,
    ]
    parameters = [A, b]
    if equalities:
        C, d = cp.Parameter((equalities, 10)), cp.Parameter(equalities)
        constraints.append(C @ theta == d)
        parameters += [C, d]
    problem = cp.Problem(cp.Minimize(bound), constraints)
    return _compile(problem, parameters, theta, bound, equalities)


def _compile(problem, parameters, theta, bound, equalities: int) -> ConeProgram:
    """Read the standard form off cvxpy, and find each parameter in it.

    Probing with a different value for every parameter shows which entry is which; a second probe
    with other values proves it.
    """
    size = sum(parameter.size for parameter in parameters)
    codes = 2.0 + np.arange(size)
    data = _standard_form(problem, parameters, codes)
    entries = np.concatenate((data["A"].data, data["b"]))
    sources = np.full(len(entries), -1)
    signs = np.ones(len(entries))
    for index, entry in enumerate(entries):
        match = np.flatnonzero(codes == abs(entry))
        if len(match):
            sources[index], signs[index] = match[0], np.sign(entry)
    other = np.random.default_rng(0).uniform(2.0, 3.0, size)
    check = _standard_form(problem, parameters, other)
    live = sources >= 0
    expected = entries.copy()
    expected[live] = signs[live] * other[sources[live]]
    got = np.concatenate((check["A"].data, check["b"]))
    if got.shape != expected.shape or np.abs(got - expected).max() > 1e-12:
        raise SolveError(
            "cvxpy writes the program in a form that this version of the toolkit does not know; "
            "install the versions of the lock file"
        )
    return _read_form(data, problem, theta, equalities, sources, signs)


def _standard_form(problem, parameters, values: Array):
    start = 0
    for parameter in parameters:
        stop = start + parameter.size
        parameter.value = values[start:stop].reshape(parameter.shape, order="F")
        start = stop
    return problem.get_problem_data("CLARABEL")[0]


def _read_form(data, problem, theta, equalities, sources, signs) -> ConeProgram:
    import scipy.sparse as sp

    clarabel = _clarabel()
    dims = data["dims"]
    cones = []
    if dims.zero:
        cones.append(clarabel.ZeroConeT(dims.zero))
    cones.append(clarabel.NonnegativeConeT(dims.nonneg))
    cones.extend(clarabel.SecondOrderConeT(size) for size in dims.soc)
    cones.extend(clarabel.PSDTriangleConeT(size) for size in dims.psd)
    if (dims.nonneg, list(dims.soc), list(dims.psd)) != (1, [11], [4]):
        raise SolveError(f"cvxpy made other cones of the program than it has: {dims}")
    start = data["param_prob"].var_id_to_col[theta.id]
    count = len(data["c"])
    return ConeProgram(
        equalities=equalities,
        form=data["A"],
        offset=data["b"],
        cost=data["c"],
        quadratic=sp.csc_array((count, count)),
        cones=tuple(cones),
        data_sources=sources,
        data_signs=signs,
        theta_columns=np.arange(start, start + 10),
        mass_row=dims.zero,
        psd_rows=np.arange(dims.zero + 1 + 11, dims.zero + 1 + 11 + 10),
    )


def _matrix_of_triangle(entries: Array) -> Mat44:
    """Symmetric matrix of Clarabel's scaled upper triangle, column by column."""
    matrix = np.zeros((4, 4))
    rows, columns = np.array(_UPPER_ROWS), np.array(_UPPER_COLUMNS)
    scaled = np.where(rows == columns, 1.0, np.sqrt(0.5)) * entries
    matrix[rows, columns] = scaled
    matrix[columns, rows] = scaled
    return matrix


def _clarabel() -> Any:
    return import_module("clarabel")


@lru_cache(maxsize=1)
def _settings() -> object:
    settings = _clarabel().DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    settings.max_threads = 1
    return settings

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.errors import SolveError
from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.cones import ConeBlock, project_to_dual
from identify.estimation.program import Infeasible, constraint_rows, solve_cone_program
from identify.estimation.scaling import Scaling
from identify.estimation.terms import ComInBox, Consistent, KnownMass, MassBetween, ScalarBounds
from identify.estimation.terms.consistent import CONSISTENCY_MARGIN
from identify.inertia import (
    PSEUDO_INERTIA_BASIS,
    is_consistent,
    smallest_pseudo_eigenvalue,
)
from identify.regressors import (
    ONE_BODY_SPACE,
    ParameterSpace,
    ScalarUnknown,
    newton_euler_regressor,
)
from tests.close import assert_close
from tests.estimation.simulated import fitted, flat_body, samples, wrench_noise
from tests.strategies import seeds

EXACT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def noisy_plate(
    seed: int,
    sides=(1.0, 0.5, 0.0),
    share: float = 0.02,
    known: bool = False,
    complete: bool = True,
):
    """A flat body, with noise enough that least squares is no possible body.

    `complete` asks for data that identify every direction of the parameters.
    """
    rng = np.random.default_rng(seed)
    while True:
        phi = flat_body(rng, sides)
        log = samples(phi, rng, 60, noise=wrench_noise(phi, share), bias=wrench_noise(phi, 1.0))
        settings_ = EstimatorSettings(mass=float(phi[0]) if known else None)
        fit = fitted(log, settings_)
        if smallest_pseudo_eigenvalue(fit.x) < -1e-3 and (
            fit.identifiability.complete or not complete
        ):
            return phi, log, settings_, fit


def solve(problem: cp.Problem, solver: str) -> None:
    """Solve; a solver that cannot reach its own tolerance to the last digit is near enough here."""
    options = {"SCS": {"eps": 1e-9, "max_iters": 100_000}, "CLARABEL": EXACT}[solver]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        problem.solve(solver=solver, **options)
    assert problem.status in ("optimal", "optimal_inaccurate")


def solve_otherwise(
    log, weight: np.ndarray, scaling, mass: float | None, solver: str
) -> np.ndarray:
    """Least squares over densities: moments and mass as blocks of one PSD matrix.

    All rows, and the bias as a variable; the unknown is the body in units of its own.
    """
    L = np.linalg.cholesky(weight).T
    Y = (L @ newton_euler_regressor(log.motion) @ scaling.to_x).reshape(-1, 10)
    shift = np.tile(L, (len(log.wrench), 1))
    target = (log.wrench @ L.T).ravel()
    size = np.linalg.norm(target)
    Pi = cp.Variable((4, 4), PSD=True)
    bias = cp.Variable(6)
    second = Pi[:3, :3]
    inertia = cp.trace(second) * np.eye(3) - second
    theta = cp.hstack(
        [
            Pi[3, 3],
            *(Pi[3, k] for k in range(3)),
            *(inertia[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))),
        ]
    )
    shift_size = np.linalg.norm(shift)
    cost = cp.norm(Y @ theta / size + shift @ bias / shift_size - target / size)
    constraints = [] if mass is None else [Pi[3, 3] == mass / scaling.bodies[0].mass]
    problem = cp.Problem(cp.Minimize(cost), constraints)
    solve(problem, solver)
    return scaling.x(theta.value)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sides", [(1.0, 0.5, 0.0), (1.0, 0.0, 0.0)])
@pytest.mark.parametrize("known", [False, True])
def test_the_estimate_is_the_optimum_of_the_program_written_otherwise(seed, sides, known):
    _, log, settings_, fit = noisy_plate(seed, sides, known=known)
    estimate = estimate_body([log.blocks()], settings_)
    assert estimate.certificate.solver == "Clarabel"
    assert not is_consistent(estimate.least_squares.phi)
    other = solve_otherwise(log, fit.weights[0], fit.scaling, settings_.mass, "CLARABEL")
    apart = fit.problem.A @ (estimate.parameters.phi - other)
    assert np.linalg.norm(apart) < 2e-2  # standard errors
    ours = fit.problem.residual_norm(estimate.parameters.phi)
    assert ours <= fit.problem.residual_norm(other) * (1.0 + 1e-7)


def test_another_solver_finds_the_same_optimum():
    _, log, _, fit = noisy_plate(7)
    estimate = estimate_body([log.blocks()])
    other = solve_otherwise(log, fit.weights[0], fit.scaling, None, "SCS")
    apart = fit.problem.A @ (estimate.parameters.phi - other)
    assert np.linalg.norm(apart) < 5e-2


@settings(max_examples=30)
@given(seeds(), st.sampled_from([(1.0, 0.5, 0.0), (1.0, 0.0, 0.0), (1.0, 0.3, 1e-3)]))
def test_noisy_thin_bodies_are_always_certified_and_consistent(seed, sides):
    _, log, _, _ = noisy_plate(seed, sides)
    estimate = estimate_body([log.blocks()])
    assert estimate.parameters.consistent
    assert estimate.certificate.eigenvalues[0] >= CONSISTENCY_MARGIN - 1e-9
    assert estimate.certificate.distance_to_optimum < 1e-2
    assert estimate.certificate.solver == "Clarabel"


def test_true_constraints_do_not_worsen_fit_on_average():
    free, constrained = [], []
    for seed in range(30):
        phi, log, _, fit = noisy_plate(seed)
        estimate = estimate_body([log.blocks()])
        free.append(np.linalg.norm(fit.problem.A @ (estimate.least_squares.phi - phi)))
        constrained.append(np.linalg.norm(fit.problem.A @ (estimate.parameters.phi - phi)))
    assert np.mean(np.square(constrained)) < 0.95 * np.mean(np.square(free))


def test_directions_that_are_hardly_identifiable_do_not_spoil_those_that_are():
    """Noise so large that some directions are held at the default body.

    The true body is consistent, and about sqrt(10) standard errors from least squares; the estimate
    need not go farther to be consistent too.
    """
    far = {}
    for seed in range(40):
        _, log, _, fit = noisy_plate(seed, share=0.05, complete=False)
        estimate = estimate_body([log.blocks()])
        moved = np.linalg.norm(fit.problem.A @ (estimate.parameters.phi - fit.x))
        if moved > 10.0:
            far[seed] = f"{moved:.0f} standard errors"
    assert not far


def solve_terms(A, b, terms, scaling, **options):
    return solve_cone_program(A, b, constraint_rows(terms, scaling), **options)


UNITS = Scaling.of(ONE_BODY_SPACE, np.eye(10)[0], [1.0], np.zeros(0))
"""Scaled unknowns are those in SI."""


def test_the_program_is_solved_at_its_own_optimality_conditions():
    """Zero gradient: AᵀA θ − Aᵀb = Fᵀz, with z in the dual cone and zᵀ(F θ + f) = 0."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(10, 10))
    theta = np.array([1.0, 0, 0, 0, 0.3, 0, 0, 0.9, 0, 0.2])  # breaks the triangle inequality
    b = A @ theta
    solution = solve_terms(A, b, (Consistent(),), UNITS)
    rows, z = solution.rows, solution.multiplier
    gradient = A.T @ (A @ solution.theta - b)
    assert_close(rows.F.T @ z, gradient, 1e-4, scale=np.abs(gradient).max())
    assert_close(project_to_dual(z, rows.cones), z, 1e-6)
    slack = rows.F @ solution.theta + rows.f
    assert_close(project_to_dual(slack, rows.cones), slack, 1e-8)
    assert abs(z @ slack) < 1e-5 * np.abs(z).max()
    assert not rows.G.size
    assert sum(cone.size for cone in rows.cones) == len(rows.f) == 11


@pytest.mark.parametrize(
    "terms",
    [
        (Consistent(),),
        (Consistent(), KnownMass(2.0)),
        (Consistent(), MassBetween(1.5, 3.0), ComInBox((0.0, -0.2, -0.1), (0.3, 0.2, 0.3))),
    ],
    ids=["consistent", "known mass", "mass and centre"],
)
def test_the_program_is_that_of_cvxpy_for_any_data_and_units(terms):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        com, mass, length = rng.uniform(-0.3, 0.3, 3), rng.uniform(0.5, 4.0), rng.uniform(0.2, 2.0)
        scaling = Scaling.of(
            ONE_BODY_SPACE, mass * np.r_[1.0, com, np.zeros(6)], [length], np.zeros(0)
        )
        A, target = rng.normal(size=(10, 10)), rng.normal(size=10)
        solution = solve_terms(A, A @ target, terms, scaling)
        theta = cp.Variable(10)
        Pi = cp.reshape(PSEUDO_INERTIA_BASIS @ theta, (4, 4), order="F")
        constraints = [
            0.5 * (Pi + Pi.T) >> CONSISTENCY_MARGIN * np.eye(4),
            theta[0] >= CONSISTENCY_MARGIN,
        ]
        phi = scaling.to_x @ theta
        if len(terms) == 2:
            constraints.append(phi[0] == 2.0)
        if len(terms) == 3:
            low, high = np.array(terms[2].low), np.array(terms[2].high)
            constraints += [phi[0] >= 1.5, phi[0] <= 3.0]
            constraints += [phi[1:4] - phi[0] * low >= 0.0, phi[0] * high - phi[1:4] >= 0.0]
        fresh = cp.Problem(cp.Minimize(cp.norm(A @ theta - A @ target)), constraints)
        solve(fresh, "CLARABEL")
        cost = np.linalg.norm(A @ (solution.theta - target))
        assert_close(cost, fresh.value, 1e-8)
        assert_close(A @ solution.theta, A @ theta.value, 1e-3)
        x = scaling.x(solution.theta)
        assert max(term.violation(x, scaling) for term in terms) < 1e-7


def test_joint_program_separates_into_bodies_and_scalars():
    """Block-diagonal data: each body as alone, each scalar clipped to its bounds."""
    scalars = (
        ScalarUnknown("low", low=1.0),
        ScalarUnknown("high", high=2.0),
        ScalarUnknown("free"),
    )
    space = ParameterSpace(("one", "other"), scalars)
    rng = np.random.default_rng(1)
    A, target = np.zeros((23, 23)), np.concatenate((rng.normal(size=20), [0.5, 5.0, 7.0]))
    blocks = [slice(0, 10), slice(10, 20)]
    for block in blocks:
        A[block, block] = rng.normal(size=(10, 10))
    A[20:, 20:] = np.diag([1.0, 2.0, 3.0])
    x = np.concatenate((np.eye(10)[0], np.eye(10)[0], np.zeros(3)))
    units = np.array([0.1, 10.0, 3.0])
    scaling = Scaling.of(space, x, [1.0, 1.0], units)
    in_units = A.copy()
    in_units[20:, 20:] *= units
    solution = solve_terms(in_units, A @ target, (Consistent(), ScalarBounds()), scaling)
    found = scaling.x(solution.theta)
    assert_close(found[20:], [1.0, 2.0, 7.0], 1e-5)
    for block in blocks:
        small, b = A[block, block], A[block, block] @ target[block]
        alone = solve_terms(small, b, (Consistent(),), UNITS).theta
        assert_close(small @ found[block], small @ alone, 1e-3)


def test_program_of_a_hundred_unknowns_solves_each_body_as_alone():
    """Eleven bodies and two scalars, as of an arm: each body as alone."""
    bodies = tuple(f"link {number}" for number in range(11))
    space = ParameterSpace(
        bodies, (ScalarUnknown("viscous", low=0.0), ScalarUnknown("dry", low=0.0))
    )
    rng = np.random.default_rng(3)
    A, target = np.eye(112), np.concatenate((rng.normal(size=110), [-1.0, 2.0]))
    for k in range(11):
        A[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = rng.normal(size=(10, 10))
    x = np.concatenate((*[np.eye(10)[0]] * 11, np.ones(2)))
    scaling = Scaling.of(space, x, [1.0] * 11, np.ones(2))
    theta = solve_terms(A, A @ target, (Consistent(), ScalarBounds()), scaling).theta
    assert_close(theta[110:], [0.0, 2.0], 1e-5)
    for k in range(11):
        block = slice(10 * k, 10 * k + 10)
        small = A[block, block]
        alone = solve_terms(small, small @ target[block], (Consistent(),), UNITS)
        assert_close(small @ theta[block], small @ alone.theta, 1e-3)


def test_the_optimum_is_near_in_standard_errors_where_data_know_some_directions_much_better():
    """The dual bound: max over z of min over θ of ½‖A θ − b‖² − zᵀ(F θ + f), here at one z.

    Data of a long log of an arm: directions from 1 to 1e6 standard errors per scaled unit.
    """
    bodies = tuple(f"link {number}" for number in range(6))
    space = ParameterSpace(bodies)
    scaling = Scaling.of(space, np.tile(np.eye(10)[0], 6), [1.0] * 6, np.zeros(0))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        left, right = (np.linalg.qr(rng.normal(size=(60, 60)))[0] for _ in range(2))
        A = left @ (np.geomspace(1e6, 1.0, 60)[:, None] * right)
        thin = np.array([1.0, 0.2, 0, 0, 0.01, 0, 0, 0.5, 0, 0.4])  # breaks the triangle inequality
        b = A @ (np.tile(thin, 6) + 0.1 * rng.normal(size=60))
        solution = solve_terms(A, b, (Consistent(),), scaling, in_standard_errors=True)
        rows, z = solution.rows, project_to_dual(solution.multiplier, solution.rows.cones)
        primal = 0.5 * np.sum((A @ solution.theta - b) ** 2)
        theta = np.linalg.solve(A, b + np.linalg.solve(A.T, rows.F.T @ z))
        dual = 0.5 * np.sum((A @ theta - b) ** 2) - z @ (rows.F @ theta + rows.f)
        assert np.sqrt(2.0 * max(primal - dual, 0.0)) < 0.01


def test_data_without_numbers_or_contradictory_terms_raise():
    terms = (Consistent(),)
    with pytest.raises(SolveError, match="has no data: its matrix is zero or not finite"):
        solve_terms(np.zeros((10, 10)), np.ones(10), terms, UNITS)
    with pytest.raises(SolveError, match="has no data"):
        solve_terms(np.full((10, 10), np.nan), np.ones(10), terms, UNITS)
    both = (Consistent(), MassBetween(1.0, 2.0), KnownMass(3.0))
    with pytest.raises(Infeasible, match="the constraints contradict each other") as caught:
        solve_terms(np.eye(10), np.ones(10), both, UNITS)
    assert caught.value.exit_code == 3


CONES = [
    ConeBlock("zero", 3),
    ConeBlock("nonnegative", 4),
    ConeBlock("second_order", 5),
    ConeBlock("semidefinite", 10),
]


@given(seeds(), st.sampled_from(CONES))
def test_the_nearest_point_of_the_dual_cone_is_a_projection(seed, cone):
    """In the cone, and (z − p) · (q − p) <= 0 for every q in the cone: no other is nearer."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=cone.size) * 10.0 ** rng.uniform(-3, 3)
    p = cone.project_to_dual(z)
    assert_close(cone.project_to_dual(p), p, 1e-12, scale=np.abs(z).max())
    for _ in range(10):
        q = inside(rng, cone) * np.abs(z).max()
        assert (z - p) @ (q - p) <= 1e-12 * np.abs(z).max() * np.linalg.norm(q - p)
        assert p @ dual_of_dual(q, cone) >= -1e-12 * np.linalg.norm(p) * np.linalg.norm(q)


def inside(rng: np.random.Generator, cone: ConeBlock) -> np.ndarray:
    """A random point of the dual cone, from its definition."""
    point = rng.normal(size=cone.size)
    if cone.kind == "nonnegative":
        return np.abs(point)
    if cone.kind == "second_order":
        point[0] = np.linalg.norm(point[1:]) * rng.uniform(1.0, 2.0)
    if cone.kind == "semidefinite":
        root = rng.normal(size=(cone.order, cone.order))
        matrix = root @ root.T
        upper = [(i, j) for j in range(cone.order) for i in range(j + 1)]
        point = np.array([matrix[i, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in upper])
    return point


def dual_of_dual(q: np.ndarray, cone: ConeBlock) -> np.ndarray:
    """A point of the cone itself: the cones are their own duals, but for zero."""
    return np.zeros_like(q) if cone.kind == "zero" else q

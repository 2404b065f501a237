from contextlib import suppress
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.errors import ProblemError, SolveError
from identify.estimation import EstimatorSettings, constrained_solution, estimate_body
from identify.estimation.certificate import (
    ScaledProblem,
    certify,
    scaled_eigenvalues,
)
from identify.estimation.cones import ConicRows, project_to_dual
from identify.estimation.constrained_solution import solve_constrained
from identify.estimation.errors import TermError
from identify.estimation.posterior import OBJECTIVE_DATA, OBJECTIVE_DATA_AND_DEFAULT, posterior_of
from identify.estimation.priors import Ball
from identify.estimation.program import ConeSolution, constraint_rows, solve_cone_program
from identify.estimation.scaling import Scaling
from identify.estimation.terms import (
    ComInBox,
    Consistent,
    KnownMass,
    MassBetween,
    ScalarBounds,
    Term,
)
from identify.estimation.terms.consistent import CONSISTENCY_MARGIN, min_eigenvalue
from identify.inertia import (
    PSEUDO_INERTIA_BASIS,
    phi_from_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.regressors import ParameterSpace, ScalarUnknown
from tests.close import assert_close
from tests.estimation.simulated import fitted, flat_body, samples, wrench_noise
from tests.estimation.test_terms import ComInBall, ComInDiamond
from tests.strategies import random_body, seeds


def terms_of(fit) -> tuple[Term, ...]:
    known = fit.data.fixed[0]
    mass = float(fit.data.equality_values[0]) if known else None
    return (Consistent(),) if mass is None else (Consistent(), KnownMass(mass))


def problem_of(fit) -> ScaledProblem:
    """The problem that the estimator has its solution certified against."""
    with mock.patch.object(constrained_solution, "certify", wraps=certify) as asked:
        solve_constrained(posterior_of(fit, Ball()), terms_of(fit))
    return asked.call_args.args[0]


def fit_of(seed: int, mass_known: bool = False, short: bool = False):
    """A fit to a noisy plate whose least squares is no possible body.

    A short one leaves directions open, and draws what it takes for them out of the cone.
    """
    rng = np.random.default_rng(seed)
    sides, count, noise = ((1.0, 0.2, 0.0), 40, 0.3) if short else ((1.0, 0.5, 0.0), 60, 0.02)
    while True:
        phi = flat_body(rng, sides)
        log = samples(phi, rng, count, noise=wrench_noise(phi, noise))
        with suppress(ProblemError):
            fit = fitted(log, EstimatorSettings(mass=float(phi[0]) if mass_known else None))
            if short and min_eigenvalue(fit.reference) < -1e-3:
                return fit
            if fit.identifiability.complete and smallest_pseudo_eigenvalue(fit.x) < -1e-3:
                return fit


def solved(fit):
    problem = problem_of(fit)
    return problem, solve(problem)


def solve(problem: ScaledProblem) -> ConeSolution:
    rows = constraint_rows(problem.terms, problem.scaling)
    return solve_cone_program(problem.A, problem.b, rows)


SPACE = ParameterSpace(
    ("payload", "carrier"), (ScalarUnknown("friction", low=0.0, high=1.0), ScalarUnknown("gain"))
)
BALL = ComInBall((0.1, 0.0, -0.05), 0.2)
"""Of the first body's centre of mass."""
TERMS: dict[str, tuple[Term, ...]] = {
    "consistent": (),
    "known mass": (KnownMass(1.5, "carrier"),),
    "mass between": (MassBetween(0.5, 1.2), MassBetween(1.0, 2.0, "carrier")),
    "com in box": (ComInBox((-0.1, -0.1, -0.1), (0.2, 0.1, 0.3), "carrier"),),
    "com in ball": (BALL,),
    "com in diamond": (ComInDiamond(BALL.centre, 0.2),),
}


def random_problem(rng: np.random.Generator, name: str) -> tuple[ScaledProblem, ConicRows]:
    """Any data of two bodies and two scalars, under some terms."""
    terms = (Consistent(), ScalarBounds(), *TERMS[name])
    p = len(SPACE)
    x = feasible(rng, name)
    scaling = Scaling.of(SPACE, x, rng.uniform(0.1, 0.5, 2), rng.uniform(0.5, 2.0, 2))
    problem = ScaledProblem(
        A=rng.normal(size=(p, p)),
        b=3.0 * rng.normal(size=p),
        min_residual=1.0,
        free=np.eye(p),
        reference=np.zeros(p),
        terms=terms,
        scaling=scaling,
        identifiable=np.eye(p),
    )
    return problem, constraint_rows(terms, scaling)


def feasible(rng: np.random.Generator, name: str) -> np.ndarray:
    """Two bodies and two scalars that meet the terms, by construction."""
    masses = {
        "known mass": (1.0, 1.5),
        "mass between": (0.5 + 0.7 * rng.random(), 1 + rng.random()),
    }
    bodies = []
    for k, mass in enumerate(masses.get(name, 10.0 ** rng.uniform(-1, 1, 2))):
        away = rng.normal(size=3)
        com = np.array(BALL.centre) + 0.2 * rng.random() * away / np.abs(away).sum()
        if k == 1:
            com = rng.uniform([-0.1, -0.1, -0.1], [0.2, 0.1, 0.3])
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        spread = (axes * np.square(rng.uniform(0.02, 0.5, 3))) @ axes.T
        bodies.append(phi_from_inertia(mass, com, mass * (np.trace(spread) * np.eye(3) - spread)))
    return np.concatenate((*bodies, [rng.random(), 5.0 * rng.normal()]))


@pytest.mark.parametrize("name", TERMS)
def test_the_dual_bound_is_below_the_cost_of_every_feasible_point_for_any_multiplier(name):
    rng = np.random.default_rng(0)
    problem, rows = random_problem(rng, name)
    points = [problem.scaling.theta(feasible(rng, name)) for _ in range(40)]
    assert max(max(problem.violations(theta)) for theta in points) <= 1e-12
    lowest = min(map(problem.objective, points))
    solution = solve(problem)
    optimum = problem.objective(solution.theta)
    assert optimum <= lowest * (1.0 + 1e-9)
    tight = problem.dual_bound(project_to_dual(solution.multiplier, rows.cones), rows)
    assert optimum * (1.0 - 1e-6) <= tight <= optimum * (1.0 + 1e-9)
    near = 0
    for k in range(200):
        size = 10.0 ** rng.uniform(-4.0, 3.0)
        about = solution.multiplier if k % 2 else np.zeros(len(rows.f))
        z = project_to_dual(about + size * rng.normal(size=len(rows.f)), rows.cones)
        bound = problem.dual_bound(z, rows)
        assert bound <= optimum * (1.0 + 1e-9)
        near += bound > 0.5 * optimum
    assert near > 5  # such bounds say something


def test_multiplier_outside_dual_cone_gives_no_bound():
    """Why it is cut off: this one would prove too much."""
    rng = np.random.default_rng(1)
    problem, rows = random_problem(rng, "mass between")
    solution = solve(problem)
    optimum = problem.objective(solution.theta)
    bounded = slice(0, rows.cones[0].size)
    assert rows.cones[0].kind == "nonnegative"
    slack = (rows.F @ solution.theta + rows.f)[bounded]
    bounds = []
    for step in 10.0 ** np.arange(-6.0, 0.0):
        wrong = solution.multiplier.copy()
        wrong[np.argmax(slack)] = -step
        bounds.append(problem.dual_bound(wrong, rows))
        assert problem.dual_bound(project_to_dual(wrong, rows.cones), rows) <= optimum * (
            1.0 + 1e-9
        )
    assert max(bounds) > optimum * (1.0 + 1e-6)


def test_without_multipliers_the_bound_is_the_unconstrained_optimum():
    fit = fit_of(0)
    problem = problem_of(fit)
    expected = problem.objective(fit.theta)
    assert_close(problem.dual_bound(), expected, 1e-12, scale=np.sum(problem.b**2))
    rows = solved(fit)[1].rows
    zero = problem.dual_bound(np.zeros(len(rows.f)), rows)
    assert_close(zero, expected, 1e-12, scale=np.sum(problem.b**2))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mass_known", [False, True])
def test_the_bound_is_tight_at_the_solution(seed, mass_known):
    fit = fit_of(seed, mass_known=mass_known)
    theta, certificate = solve_constrained(posterior_of(fit, Ball()), terms_of(fit))
    problem, solution = solved(fit)
    primal = problem.objective(theta)
    dual = problem.dual_bound(solution.multiplier, solution.rows)
    assert abs(primal - dual) <= 1e-6 * primal + 1e-4
    assert certificate.distance_to_optimum < 1e-2
    assert certificate.gap < 1e-8
    assert certificate.solver == "Clarabel"
    assert certificate.optimal_for == OBJECTIVE_DATA
    assert certificate.rank == 10 - mass_known
    assert certificate.iterations > 0
    assert set(certificate.versions) == {"clarabel"}
    assert certificate.build_time > 0.0
    assert certificate.solve_time > 0.0
    assert_close(
        certificate.eigenvalues,
        np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ theta).reshape(4, 4)),
        1e-12,
    )


def test_eigenvalues_match_each_body():
    rng = np.random.default_rng(2)
    bodies = [random_body(rng) for _ in range(2)]
    found = scaled_eigenvalues(np.concatenate((*bodies, [1.0, 2.0])), 2)
    for phi, values in zip(bodies, np.reshape(found, (2, 4)), strict=True):
        expected = np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ phi).reshape(4, 4))
        assert_close(values, expected, 1e-12)


@pytest.mark.parametrize("name", TERMS)
def test_a_point_that_meets_all_terms_and_is_not_the_optimum_is_rejected(name):
    rng = np.random.default_rng(3)
    problem, rows = random_problem(rng, name)
    solution = solve(problem)
    inside = problem.scaling.theta(feasible(rng, name))
    away = inside - solution.theta
    step = problem.A @ away
    slope, bend = step @ (problem.A @ solution.theta - problem.b), step @ step
    for distance in (0.02, 0.1, 1.0, 10.0):  # standard errors: costs differ by half their square
        share = (np.sqrt(slope**2 + bend * distance**2) - slope) / bend
        worse = solution.theta + min(share, 1.0) * away
        with pytest.raises(SolveError, match=r"not proved: the solution may be .* standard err"):
            certify(problem, replace(solution, theta=worse, rows=rows))


@pytest.mark.parametrize("scalars", [0, 90])
def test_allowed_distance_to_the_optimum_grows_with_the_root_of_the_unknowns(scalars):
    """A hundredth of a standard error for one body; all of it is known for whitened unknowns."""
    space = ParameterSpace(("body",), tuple(ScalarUnknown(f"s{k}") for k in range(scalars)))
    p = len(space)
    optimum = np.concatenate((random_body(np.random.default_rng(0), 1.0, 1.0), np.zeros(scalars)))
    scaling = Scaling.of(space, optimum, [1.0], np.ones(scalars))
    theta = scaling.theta(optimum)
    problem = ScaledProblem(
        A=np.eye(p),
        b=theta,
        min_residual=1.0,
        free=np.eye(p),
        reference=np.zeros(p),
        terms=(Consistent(),),
        scaling=scaling,
        identifiable=np.eye(p),
    )
    limit = 0.01 * np.sqrt(p / 10.0)
    step = np.full(p, 1.0 / np.sqrt(p))
    certificate = certify(problem, ConeSolution(theta + 0.99 * limit * step))
    assert_close(certificate.distance_to_optimum, 0.99 * limit, 1e-6)
    with pytest.raises(SolveError, match="optimality is not proved"):
        certify(problem, ConeSolution(theta + 1.01 * limit * step))


def test_body_outside_cone_is_rejected_with_solver_status():
    fit = fit_of(1)
    problem, solution = solved(fit)
    with pytest.raises(
        SolveError, match=r"violates physical consistency by .* Clarabel said 'Solved'"
    ):
        certify(problem, replace(solution, theta=fit.theta))


@pytest.mark.parametrize("name", ["known mass", "mass between", "com in box", "com in ball"])
def test_the_term_that_is_broken_is_named(name):
    rng = np.random.default_rng(4)
    problem, rows = random_problem(rng, name)
    x = feasible(rng, name)
    x[0] *= 2.0 if name == "mass between" else 1.0
    x[1:4] += 0.5 * x[0] * (name == "com in ball")
    x[10] *= 1.0 + 1e-6 * (name == "known mass")
    x[11:14] += 1.0 * x[10] * (name == "com in box")
    x[4:10] *= 10.0  # consistent still
    x[14:20] += 10.0 * x[10] * np.array([1, 0, 0, 1, 0, 1])
    with pytest.raises(SolveError) as caught:
        certify(problem, ConeSolution(problem.scaling.theta(x), np.zeros(len(rows.f)), rows))
    assert f"violates {TERMS[name][0]} by" in str(caught.value)


def test_wrong_multipliers_fail_certificate():
    """What one has outside the dual cone is cut off and counted."""
    problem, solution = solved(fit_of(3))
    assert certify(problem, solution).dual_residual < 1e-6
    z = solution.multiplier
    for multiplier in (np.zeros(len(z)), 3.0 * z, -z, z - 0.1 * np.abs(z).max()):
        with pytest.raises(SolveError, match="not proved"):
            certify(problem, replace(solution, multiplier=multiplier))


def test_certificate_rejects_nan():
    fit = fit_of(4)
    problem, solution = solved(fit)
    nothing = np.full(10, np.nan)
    with pytest.raises((SolveError, np.linalg.LinAlgError)):
        certify(problem, replace(solution, theta=nothing))


def test_consistent_least_squares_needs_no_solver():
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    estimate = estimate_body([samples(phi, rng, 200, noise=wrench_noise(phi, 0.01)).blocks()])
    certificate = estimate.certificate
    assert certificate.solver == "none"
    assert certificate.iterations == 0
    assert certificate.versions == {}
    assert certificate.primal_residual == 0.0
    assert certificate.distance_to_optimum < 1e-4
    assert_close(estimate.parameters.phi, estimate.least_squares.phi, 0.0)
    assert "constraint" not in estimate.decided_by.values()


def test_completed_estimate_is_optimal_for_data_and_default_body():
    """Static poses: the rows that fill what they leave open are part of the problem, and said."""
    rng = np.random.default_rng(6)
    phi = random_body(rng)
    log = samples(phi, rng, 60, noise=wrench_noise(phi, 0.01))
    log.motion.angular_velocity[:] = 0.0
    log.motion.angular_acceleration[:] = 0.0
    log = samples(phi, rng, motion=log.motion, noise=wrench_noise(phi, 0.01))
    certificate = estimate_body([log.blocks()]).certificate
    assert certificate.optimal_for == OBJECTIVE_DATA_AND_DEFAULT
    assert certificate.rank == 4


@given(seeds(), st.floats(1e-12, 1e-8))
@settings(max_examples=5)
def test_a_solution_outside_by_the_solvers_tolerance_moves_inside(seed, outside):
    fit = fit_of(seed, short=True)
    problem = problem_of(fit)
    edge, _ = solve_constrained(posterior_of(fit, Ball()), terms_of(fit))
    away, inside = edge.copy(), fit.default_theta[:10]
    beyond = min_eigenvalue(edge) - CONSISTENCY_MARGIN + outside
    away[:10] -= beyond / min_eigenvalue(inside) * inside
    assert min_eigenvalue(away) < CONSISTENCY_MARGIN
    moved = constrained_solution._project_inside(away, problem)
    assert min_eigenvalue(moved) >= CONSISTENCY_MARGIN - 1e-15
    assert np.abs(moved - away).max() < 1e2 * (CONSISTENCY_MARGIN - min_eigenvalue(away))


@pytest.mark.parametrize("margin", [0.01, 0.05])
def test_margin_of_the_given_term_holds_and_is_certified(margin):
    """A sheet becomes as thick as the margin asks, and no thicker."""
    rng = np.random.default_rng(7)
    phi = flat_body(rng, (1.0, 0.7, 0.0))
    log = samples(phi, rng, 100, noise=wrench_noise(phi, 0.01)).blocks()
    term = Consistent(margin=margin)
    estimate = estimate_body([log], EstimatorSettings(terms=(term,)))
    certificate = estimate.certificate
    assert certificate.margin == margin
    assert_close(certificate.eigenvalues[0], margin, 1e-6)
    assert certificate.active == ("physical consistency",)
    assert certificate.distance_to_optimum <= 1e-2
    assert estimate_body([log]).certificate.margin == CONSISTENCY_MARGIN
    assert estimate.region is not None
    assert [one for one in estimate.region.terms if isinstance(one, Consistent)] == [term]


@pytest.mark.parametrize("margin", [0.0, -1.0, 0.34, np.nan])
def test_margin_that_no_body_has_is_rejected(margin):
    with pytest.raises(TermError, match="margin of consistency: expected above zero"):
        Consistent(margin=margin)


def test_a_problem_about_other_bodies_has_the_same_cost_and_the_same_solution():
    problem = problem_of(fit_of(3))
    x = problem.scaling.x(problem.reference)
    x[1:4] += x[0] * np.array([0.3, -0.2, 0.5])
    nearer = problem.rescaled_at(x)
    rng = np.random.default_rng(0)
    for theta in rng.normal(size=(5, len(problem.b))):
        other = nearer.scaling.theta(problem.scaling.x(theta))
        assert_close(nearer.objective(other), problem.objective(theta), 1e-9)
        assert nearer.equality_residual(other) < 1e-9 * np.abs(other).max()
    first, second = (constrained_solution._solve_and_certify(each) for each in (problem, nearer))
    found = [each.scaling.x(theta) for each, (theta, _) in ((problem, first), (nearer, second))]
    assert_close(found[1], found[0], 1e-6)

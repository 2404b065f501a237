"""The certificate: proves what is right, and refuses what is not."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from identify.errors import SolveError
from identify.estimation import EstimatorSettings, estimate_body, estimator
from identify.estimation.certificate import ScaledProblem, SolverRun, certify
from identify.estimation.estimator import fit_least_squares, solve_consistent
from identify.estimation.program import MARGIN, cone_program
from identify.inertia import (
    PSEUDO_INERTIA_BASIS,
    phi_from_pseudo_inertia,
    smallest_pseudo_eigenvalue,
)
from tests.close import assert_close
from tests.estimation.simulated import flat_body, samples, wrench_noise
from tests.strategies import random_body, seeds, vectors


def problem_of(fit) -> ScaledProblem:
    """The problem that the estimator has its solution certified against."""
    with mock.patch.object(estimator, "certify", wraps=certify) as asked:
        solve_consistent(fit)
    return asked.call_args.args[0]


def fit_of(seed: int, sides=(1.0, 0.5, 0.0), mass_known: bool = False):
    """A fit to a noisy plate whose least squares is no possible body."""
    rng = np.random.default_rng(seed)
    while True:
        phi = flat_body(rng, sides)
        log = samples(phi, rng, 60, noise=wrench_noise(phi, 0.02))
        settings_ = EstimatorSettings(mass=float(phi[0]) if mass_known else None)
        fit = fit_least_squares([log.blocks()], settings_)
        told = fit.identifiability.told.shape[1] == (9 if mass_known else 10)
        if told and smallest_pseudo_eigenvalue(fit.phi) < -1e-3:
            return fit


def solved(fit):
    problem = problem_of(fit)
    solution = cone_program(len(problem.fixed)).solve(
        problem.A, problem.b, problem.fixed, problem.fixed @ problem.reference
    )
    return problem, solution


def random_feasible(rng: np.random.Generator) -> np.ndarray:
    root = rng.normal(size=(4, 4))
    return phi_from_pseudo_inertia(root @ root.T / 4.0 + 1e-6 * np.eye(4))


@settings(max_examples=15)
@given(seeds(), st.booleans())
def test_the_dual_bound_is_below_the_cost_of_every_consistent_body(seed, mass_known):
    rng = np.random.default_rng(seed)
    fit = fit_of(seed, mass_known=mass_known)
    problem, solution = solved(fit)
    optimum = problem.objective(solution.theta)
    for _ in range(20):
        root = rng.normal(size=(4, 4)) * 10.0 ** rng.uniform(-3, 4)
        any_bound = problem.dual_bound(root @ root.T, abs(rng.normal()))
        assert any_bound <= optimum * (1.0 + 1e-9) + 1e-6
        if not mass_known:
            body = random_feasible(rng)
            assert any_bound <= problem.objective(body) * (1.0 + 1e-12)


def test_without_multipliers_the_bound_is_the_unconstrained_optimum():
    fit = fit_of(0)
    problem = problem_of(fit)
    bound = problem.dual_bound(np.zeros((4, 4)), 0.0)
    assert_close(bound, problem.objective(fit.theta), 1e-12, scale=np.sum(problem.b**2))


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_tight_at_the_solution(seed):
    fit = fit_of(seed)
    theta, certificate = solve_consistent(fit)
    problem = problem_of(fit)
    _, solution = solved(fit)
    primal = problem.objective(theta)
    dual = problem.dual_bound(solution.multiplier, solution.mass_multiplier)
    assert abs(primal - dual) <= 1e-6 * primal + 1e-4
    assert certificate.distance_to_optimum < 1e-2
    assert certificate.gap < 1e-8
    assert certificate.solver == "Clarabel"
    assert certificate.rank == 10
    assert certificate.iterations > 0
    assert {name for name, _ in certificate.versions} == {"clarabel", "cvxpy"}
    assert certificate.build_time > 0.0
    assert certificate.solve_time > 0.0
    assert_close(
        certificate.eigenvalues,
        np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ theta).reshape(4, 4)),
        1e-12,
    )


@settings(max_examples=25)
@given(seeds(), vectors(10).filter(lambda v: np.linalg.norm(v) > 0.3), st.floats(0.1, 100.0))
def test_a_body_that_is_not_the_optimum_is_refused(seed, direction, distance):
    """Moved by so many standard errors into the cone: consistent, but not the best."""
    fit = fit_of(seed % 5)
    problem, solution = solved(fit)
    step = direction / np.linalg.norm(problem.A @ direction)
    worse = solution.theta + distance * step
    ball = np.array([1.0, 0, 0, 0, 2 / 3, 0, 0, 2 / 3, 0, 2 / 3])
    smallest = np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ worse).reshape(4, 4))[0]
    if smallest < MARGIN:
        worse = worse + (MARGIN - smallest) * 4.0 * ball
    with pytest.raises(
        SolveError, match=r"not proved: the solution may be .* standard errors away"
    ):
        certify(
            problem, worse, solution.multiplier, solution.mass_multiplier, SolverRun("x", "Solved")
        )


def test_a_body_outside_the_cone_is_refused_with_the_solvers_word():
    fit = fit_of(1)
    problem, solution = solved(fit)
    with pytest.raises(SolveError, match=r"violates its constraints by .* x said 'Solved'"):
        certify(
            problem,
            fit.theta,
            solution.multiplier,
            solution.mass_multiplier,
            SolverRun("x", "Solved"),
        )


def test_a_mass_that_was_given_may_not_move():
    fit = fit_of(2, mass_known=True)
    problem, solution = solved(fit)
    good = certify(problem, solution.theta, solution.multiplier, 0.0, SolverRun())
    assert good.rank == 9
    moved = solution.theta + 1e-6 * np.eye(10)[0]
    with pytest.raises(SolveError, match="violates its constraints"):
        certify(problem, moved, solution.multiplier, 0.0, SolverRun())


def test_wrong_multipliers_prove_nothing():
    fit = fit_of(3)
    problem, solution = solved(fit)
    for multiplier in (np.zeros((4, 4)), 3.0 * solution.multiplier, -solution.multiplier):
        with pytest.raises(SolveError, match="not proved"):
            certify(problem, solution.theta, multiplier, 0.0, SolverRun())


def test_numbers_that_are_none_are_refused():
    fit = fit_of(4)
    problem, solution = solved(fit)
    with pytest.raises((SolveError, np.linalg.LinAlgError)):
        certify(problem, np.full(10, np.nan), solution.multiplier, 0.0, SolverRun())


def test_a_least_squares_body_that_is_possible_needs_no_solver():
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    estimate = estimate_body([samples(phi, rng, 200, noise=wrench_noise(phi, 0.01)).blocks()])
    certificate = estimate.certificate
    assert certificate.solver == "none"
    assert certificate.iterations == 0
    assert certificate.versions == ()
    assert certificate.primal_residual == 0.0
    assert certificate.distance_to_optimum < 1e-4
    assert_close(estimate.parameters.phi, estimate.least_squares.phi, 0.0)
    assert "constraint" not in estimate.decided_by.values()


def test_the_estimate_is_consistent_after_its_numbers_are_written_and_read():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        phi = flat_body(rng, (1.0, 0.4, 0.0))
        log = samples(phi, rng, 60, noise=wrench_noise(phi, 0.02))
        estimate = estimate_body([log.blocks()])
        written = [float(f"{x:.17g}") for x in estimate.parameters.phi]
        assert type(estimate.parameters)(np.array(written)).consistent

"""The semidefinite program against one written otherwise, from all rows, for another solver."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from identify.errors import SolveError
from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.estimator import fit_least_squares
from identify.estimation.program import MARGIN, cone_program
from identify.inertia import PSEUDO_INERTIA_BASIS, is_consistent, smallest_pseudo_eigenvalue
from identify.regressors import newton_euler_regressor
from tests.close import assert_close
from tests.estimation.simulated import flat_body, samples, wrench_noise
from tests.strategies import seeds

EXACT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def noisy_plate(
    seed: int, sides=(1.0, 0.5, 0.0), share: float = 0.02, known: bool = False, told: bool = True
):
    """A flat body, with noise enough that least squares is no possible body.

    `told` asks for data that tell every direction of the parameters.
    """
    rng = np.random.default_rng(seed)
    while True:
        phi = flat_body(rng, sides)
        log = samples(phi, rng, 60, noise=wrench_noise(phi, share), bias=wrench_noise(phi, 1.0))
        settings_ = EstimatorSettings(mass=float(phi[0]) if known else None)
        fit = fit_least_squares([log.blocks()], settings_)
        complete = fit.identifiability.told.shape[1] == (9 if known else 10)
        if smallest_pseudo_eigenvalue(fit.phi) < -1e-3 and (complete or not told):
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
    Y = (L @ newton_euler_regressor(log.motion) @ scaling.to_phi).reshape(-1, 10)
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
    constraints = [] if mass is None else [Pi[3, 3] == mass / scaling.mass]
    problem = cp.Problem(cp.Minimize(cost), constraints)
    solve(problem, solver)
    return scaling.to_phi @ theta.value


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sides", [(1.0, 0.5, 0.0), (1.0, 0.0, 0.0)])
@pytest.mark.parametrize("known", [False, True])
def test_the_estimate_is_the_optimum_of_the_program_written_otherwise(seed, sides, known):
    _, log, settings_, fit = noisy_plate(seed, sides, known=known)
    estimate = estimate_body([log.blocks()], settings_)
    assert estimate.certificate.solver == "Clarabel"
    assert not is_consistent(estimate.least_squares.phi)
    other = solve_otherwise(log, fit.weight, fit.scaling, settings_.mass, "CLARABEL")
    apart = fit.problem.A @ (estimate.parameters.phi - other)
    assert np.linalg.norm(apart) < 2e-2  # standard errors
    ours = fit.problem.residual_norm(estimate.parameters.phi)
    assert ours <= fit.problem.residual_norm(other) * (1.0 + 1e-7)


def test_another_solver_finds_the_same_optimum():
    _, log, _, fit = noisy_plate(7)
    estimate = estimate_body([log.blocks()])
    other = solve_otherwise(log, fit.weight, fit.scaling, None, "SCS")
    apart = fit.problem.A @ (estimate.parameters.phi - other)
    assert np.linalg.norm(apart) < 5e-2


@settings(max_examples=30)
@given(seeds(), st.sampled_from([(1.0, 0.5, 0.0), (1.0, 0.0, 0.0), (1.0, 0.3, 1e-3)]))
def test_noisy_thin_bodies_are_always_certified_and_consistent(seed, sides):
    _, log, _, _ = noisy_plate(seed, sides)
    estimate = estimate_body([log.blocks()])
    assert estimate.parameters.consistent
    assert estimate.certificate.eigenvalues[0] >= MARGIN - 1e-9
    assert estimate.certificate.distance_to_optimum < 1e-2
    assert estimate.certificate.solver == "Clarabel"


def test_to_know_what_is_true_of_the_body_does_not_make_the_fit_worse_on_average():
    free, constrained = [], []
    for seed in range(30):
        phi, log, _, fit = noisy_plate(seed)
        estimate = estimate_body([log.blocks()])
        free.append(np.linalg.norm(fit.problem.A @ (estimate.least_squares.phi - phi)))
        constrained.append(np.linalg.norm(fit.problem.A @ (estimate.parameters.phi - phi)))
    assert np.mean(np.square(constrained)) < 0.95 * np.mean(np.square(free))


def test_directions_that_are_hardly_told_do_not_spoil_those_that_are():
    """Noise so large that some directions are held at the default body.

    The true body is consistent, and about sqrt(10) standard errors from least squares; the estimate
    need not go farther to be consistent too.
    """
    far = {}
    for seed in range(40):
        _, log, _, fit = noisy_plate(seed, share=0.05, told=False)
        estimate = estimate_body([log.blocks()])
        moved = np.linalg.norm(fit.problem.A @ (estimate.parameters.phi - fit.phi))
        if moved > 10.0:
            far[seed] = f"{moved:.0f} standard errors"
    assert not far


def test_the_program_is_solved_at_its_own_optimality_conditions():
    """Zero gradient: AᵀA θ − Aᵀb = Eᵀ vec Z, with Z ⪰ 0 and Z (Pi − margin) = 0."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(10, 10))
    theta = np.array([1.0, 0, 0, 0, 0.3, 0, 0, 0.9, 0, 0.2])  # breaks the triangle inequality
    b = A @ theta
    solution = cone_program(0).solve(A, b, np.zeros((0, 10)), np.zeros(0))
    Z = solution.multiplier
    gradient = A.T @ (A @ solution.theta - b)
    pull = PSEUDO_INERTIA_BASIS.T @ Z.ravel() + solution.mass_multiplier * np.eye(10)[0]
    assert_close(pull, gradient, 1e-4, scale=np.abs(gradient).max())
    assert np.linalg.eigvalsh(Z)[0] > -1e-6 * np.abs(Z).max()
    Pi = (PSEUDO_INERTIA_BASIS @ solution.theta).reshape(4, 4)
    assert_close(Z @ (Pi - MARGIN * np.eye(4)), np.zeros((4, 4)), 1e-5, scale=np.abs(Z).max())
    assert abs(solution.mass_multiplier) < 1e-6 * np.abs(Z).max()


@pytest.mark.parametrize("equalities", [0, 1, 3])
def test_the_compiled_program_can_be_given_other_data_again_and_again(equalities):
    program = cone_program(equalities)
    assert cone_program(equalities) is program
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A, target = rng.normal(size=(10, 10)), rng.normal(size=10)
        C = rng.normal(size=(equalities, 10))
        inside = np.array([1.0, 0.1, -0.1, 0.0, 1.0, 0.05, 0.0, 1.0, 0.0, 1.0])
        solution = program.solve(A, A @ target, C, C @ inside)
        theta = cp.Variable(10)
        Pi = cp.reshape(PSEUDO_INERTIA_BASIS @ theta, (4, 4), order="F")
        constraints = [0.5 * (Pi + Pi.T) >> MARGIN * np.eye(4), theta[0] >= MARGIN]
        constraints += [C @ theta == C @ inside] if equalities else []
        fresh = cp.Problem(cp.Minimize(cp.norm(A @ theta - A @ target)), constraints)
        solve(fresh, "CLARABEL")
        cost = np.linalg.norm(A @ (solution.theta - target))
        assert_close(cost, fresh.value, 1e-8)
        assert_close(A @ solution.theta, A @ theta.value, 1e-3)
        assert_close(C @ solution.theta, C @ inside, 1e-7, scale=10.0)


def test_data_without_numbers_or_contradictory_constraints_raise():
    program = cone_program(0)
    none = np.zeros((0, 10)), np.zeros(0)
    with pytest.raises(SolveError, match="has no data: its matrix is zero or not finite"):
        program.solve(np.zeros((10, 10)), np.ones(10), *none)
    with pytest.raises(SolveError, match="has no data"):
        program.solve(np.full((10, 10), np.nan), np.ones(10), *none)
    C = np.eye(10)[:1]
    with pytest.raises(SolveError, match="no consistent body was found") as caught:
        cone_program(1).solve(np.eye(10), np.ones(10), C, np.array([-1.0]))
    assert caught.value.exit_code == 3

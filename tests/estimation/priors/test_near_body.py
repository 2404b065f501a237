"""Priors near a body: against cvxpy, differences, exact normalisations and other routes."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, wishart

import identify
from identify import ParameterSpace, solve
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings, estimate_body, score_equations
from identify.estimation.errors import TermError
from identify.estimation.prior_optimum import optimum_with_priors, with_weights
from identify.estimation.priors import NearBody
from identify.estimation.scaling import BodyScaling
from identify.estimation.terms import Consistent, KnownMass
from identify.inertia import (
    PSEUDO_INERTIA_BASIS,
    InertialParameters,
    phi_from_inertia,
    phi_from_pseudo_inertia,
    pseudo_inertia,
)
from tests.close import assert_close, assert_same_body
from tests.estimation.simulated import fitted, flat_body, samples, size_of, wrench_noise
from tests.strategies import random_body

DISTANCES = ("entropic", "pullback", "euclidean")


def near(phi: np.ndarray, rng: np.random.Generator, share: float = 0.1) -> np.ndarray:
    """A body like another one."""
    size = size_of(phi)
    com = phi[1:4] / phi[0] + share * size * rng.normal(size=3)
    return phi_from_inertia(1.1 * phi[0], com, phi[0] * size**2 * np.diag([0.7, 0.8, 0.6]))


def open_rows(seed: int, bodies: int = 3, rank: int = 12, count: int = 200):
    """Rows of fewer independent columns than unknowns, with priors near the truth."""
    rng = np.random.default_rng(seed)
    truth = [random_body(rng, mass, 0.3) for mass in rng.uniform(1.0, 3.0, bodies)]
    priors = [near(phi, rng) for phi in truth]
    A = rng.normal(size=(count, rank)) @ rng.normal(size=(rank, 10 * bodies))
    b = A @ np.concatenate(truth)
    sigma = 0.02 * b.std()
    return A, b + sigma * rng.normal(size=count), sigma, priors


def phi_of(estimate) -> np.ndarray:
    return np.concatenate([body.parameters.phi for body in estimate.bodies])


def by_cvxpy(A, b, sigma, priors, distance, weight, mass=None, bound=None):
    """The same problem as it is written down."""
    units = [BodyScaling.of_body(phi).to_phi for phi in priors]
    x = block_diag(*units) @ cp.Variable(A.shape[1])
    R = np.linalg.qr(np.column_stack((A, b)) / sigma, mode="r")
    residual = R[:, :-1] @ x - R[:, -1]
    cost, constraints, away = 0.0, [], []
    for k, phi in enumerate(priors):
        one = x[10 * k : 10 * k + 10]
        Pi = cp.reshape(PSEUDO_INERTIA_BASIS @ one, (4, 4), order="C")
        inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(phi)))
        Q = inverse @ Pi @ inverse.T
        constraints += [Pi >> 0]
        if distance == "entropic":
            cost += cp.trace(Q) - cp.log_det(Q) - 4.0
        else:
            away.append(cp.vec(Q - np.eye(4), order="F") if distance == "pullback" else one - phi)
    if mass is not None:
        constraints += [cp.sum(x[::10]) == mass]
    if bound is not None:
        constraints += [cp.norm(residual) <= np.sqrt(bound)]
        objective = cp.norm(cp.hstack(away)) if away else cost
    else:
        cost += 0.5 * cp.sum_squares(cp.hstack(away)) if away else 0.0
        objective = 0.5 * cp.sum_squares(residual) + weight * cost
    exact = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-9)
    cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL", **exact)
    return x.value


def objective(x, A, b, sigma, priors, distance, weight):
    cost = 0.5 * np.sum((A @ x - b) ** 2) / sigma**2
    for k, phi in enumerate(priors):
        cost += NearBody(phi, distance, weight).cost(x[10 * k : 10 * k + 10])
    return cost


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("weight", [0.5, 50.0])
def test_bodies_of_rank_deficient_rows_match_cvxpy(distance, weight):
    A, b, sigma, bodies = open_rows(1)
    space = ParameterSpace(("a", "b", "c"))
    priors = {
        name: NearBody(phi, distance, weight, name)
        for name, phi in zip(space.bodies, bodies, strict=True)
    }
    estimate = solve(A, b, space=space, noise=sigma, prior=priors)
    ours = phi_of(estimate)
    theirs = by_cvxpy(A, b, sigma, bodies, distance, weight)
    of = (A, b, sigma, bodies, distance, weight)
    assert objective(ours, *of) <= objective(theirs, *of) * (1.0 + 1e-7)
    assert_close(ours, theirs, 2e-4)
    assert estimate.certificate.distance_to_optimum < 1e-2
    assert all(body.parameters.consistent for body in estimate.bodies)
    assert estimate.prior["weight"] == weight


@pytest.mark.slow
@pytest.mark.parametrize("distance", DISTANCES)
def test_a_problem_of_the_size_of_a_human_matches_cvxpy(distance):
    """Sixteen bodies, of whose 160 parameters 37 combinations show."""
    A, b, sigma, bodies = open_rows(20, bodies=16, rank=37, count=2000)
    space = ParameterSpace(tuple(f"body {k}" for k in range(16)))
    priors = {
        name: NearBody(phi, distance, 20.0, name)
        for name, phi in zip(space.bodies, bodies, strict=True)
    }
    estimate = solve(A, b, space=space, noise=sigma, prior=priors)
    assert estimate.certificate.rank == 37
    of = (A, b, sigma, bodies, distance, 20.0)
    ours, theirs = phi_of(estimate), by_cvxpy(*of)
    assert objective(ours, *of) == pytest.approx(objective(theirs, *of), rel=1e-6)
    assert_close(ours, theirs, 1e-3)


def test_entropic_optimum_by_minimisation_in_log_cholesky_factors():
    """A third route: no cone, but factors of each pseudo-inertia, by BFGS."""
    A, b, sigma, bodies = open_rows(2, bodies=1, rank=7)
    phi0 = bodies[0]
    ours = solve(A, b, noise=sigma, prior=NearBody(phi0, weight=3.0)).parameters.phi
    root0, lower = np.linalg.cholesky(pseudo_inertia(phi0)), np.tril_indices(4)

    def body(values):
        L = np.zeros((4, 4))
        L[lower] = values
        L[np.diag_indices(4)] = np.exp(np.diag(L))
        return phi_from_pseudo_inertia(root0 @ L @ L.T @ root0.T)

    def cost(values):
        return objective(body(values), A, b, sigma, bodies, "entropic", 3.0)

    found = minimize(cost, np.zeros(10), method="BFGS", options={"gtol": 1e-7, "maxiter": 500})
    assert cost(found.x) >= objective(ours, A, b, sigma, bodies, "entropic", 3.0) * (1 - 1e-9)
    assert_same_body(body(found.x), ours, 1e-3)


def test_normal_approximation_has_value_slope_and_curvature():
    rng = np.random.default_rng(3)
    phi0 = random_body(rng)
    for distance in DISTANCES:
        prior = NearBody(phi0, distance, 4.0)
        phi = near(phi0, rng)
        normal = prior.normal_at(phi)
        mean, P = normal.means[0], np.linalg.inv(normal.covariances[0])
        step = 1e-4 * np.linalg.cholesky(normal.covariances[0])[:, 3]
        values = [prior.cost(phi + k * step) for k in (-1, 0, 1)]
        model = [0.5 * (phi + k * step - mean) @ P @ (phi + k * step - mean) for k in (-1, 0, 1)]
        assert_close(values[2] - values[0], model[2] - model[0], 1e-5)
        curvature = values[2] + values[0] - 2 * values[1]
        assert curvature == pytest.approx(model[2] + model[0] - 2 * model[1], rel=1e-2)


def test_normalisation_is_that_of_a_wishart_density():
    """The slope of log ∫ exp(−λ d) is minus the mean of d."""
    rng = np.random.default_rng(4)
    phi, weight = random_body(rng), 6.0
    Q = wishart(df=2.0 * weight + 5.0, scale=np.eye(4) / (2.0 * weight)).rvs(
        20000, random_state=rng
    )
    values = np.linalg.eigvalsh(Q)
    mean = (values - np.log(values) - 1.0).sum(axis=1).mean()
    ends = [NearBody(phi, weight=weight + d).log_normalisation() for d in (-0.01, 0.01)]
    assert -(ends[1] - ends[0]) / 0.02 == pytest.approx(mean, rel=0.02)


def test_evidence_of_normal_priors_is_that_of_the_data():
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    fit = fitted(samples(phi, rng, 60, noise=wrench_noise(phi, 0.1)))
    equations, phi0 = score_equations(fit), near(phi, rng)
    R = equations.R @ fit.scaling.to_theta
    evidence, exact = [], []
    for weight in (1.0, 30.0):
        prior = NearBody(phi0, "pullback", weight)
        evidence.append(optimum_with_priors(fit, {0: prior}, (Consistent(),)).log_evidence)
        P = prior.mixture(0.0).covariances[0]
        exact.append(multivariate_normal(R @ phi0, np.eye(10) + R @ P @ R.T).logpdf(equations.r))
    assert evidence[1] - evidence[0] == pytest.approx(exact[1] - exact[0], abs=1e-3)


def test_a_good_prior_gets_a_large_weight_and_a_bad_one_a_small_one():
    rng = np.random.default_rng(6)
    phi = random_body(rng)
    fit = fitted(samples(phi, rng, 60, noise=wrench_noise(phi, 0.1)))
    size = size_of(phi)
    good = phi * np.r_[1.02, np.ones(3), np.full(6, 1.03)]
    bad = phi_from_inertia(phi[0], phi[1:4] / phi[0] + size, 9.0 * phi[0] * size**2 * np.eye(3))
    weights = {
        rule: [
            with_weights(fit, {0: NearBody(one, weight=rule)}, (Consistent(),))[0].weight
            for one in (good, bad)
        ]
        for rule in ("evidence", "cross-validation")
    }
    for better, worse in weights.values():
        assert better > 10.0 * worse


@pytest.mark.parametrize("distance", ["entropic", "pullback"])
def test_nearest_bodies_within_a_bound_of_the_residual(distance):
    A, b, sigma, bodies = open_rows(7, bodies=2, rank=9)
    bound = 300.0
    space = ParameterSpace(("a", "b"))
    priors = {
        name: NearBody(phi, distance, "bound", name)
        for name, phi in zip(space.bodies, bodies, strict=True)
    }
    estimate = solve(A, b, space=space, noise=sigma, prior=priors, residual_bound=bound)
    ours = phi_of(estimate)
    assert np.sum((A @ ours - b) ** 2) / sigma**2 == pytest.approx(bound, rel=1e-6)
    theirs = by_cvxpy(A, b, sigma, bodies, distance, 0.0, bound=bound)
    assert_close(ours, theirs, 2e-3)
    with pytest.raises(ProblemError, match=r"no consistent body has Σ r²/σ² ≤ 1"):
        solve(A, b, space=space, noise=sigma, prior=priors, residual_bound=1.0)
    with pytest.raises(ProblemError, match="give the noise of the rows"):
        solve(A, b, space=space, prior=priors, residual_bound=bound)
    with pytest.raises(ProblemError, match="go together"):
        solve(A, b, space=space, noise=sigma, prior=priors)


def test_entropic_prior_is_frame_invariant_and_its_limits_are_body_and_prior():
    rng = np.random.default_rng(8)
    phi = random_body(rng)
    log = samples(phi, rng, 60, noise=wrench_noise(phi, 0.1))
    phi0 = near(phi, rng)

    def fit(prior: NearBody) -> np.ndarray:
        settings = EstimatorSettings(bias="none", prior=prior)
        return estimate_body([log.blocks()], settings).parameters.phi

    assert_same_body(fit(NearBody(phi0, weight=1e5)), phi0, 2e-2)
    alone = estimate_body([log.blocks()], EstimatorSettings(bias="none")).parameters.phi
    assert_same_body(fit(NearBody(phi0, weight=1e-6)), alone, 1e-3)
    a, w, al = (rng.normal(size=(80, 3)) for _ in range(3))
    from identify.regressors import newton_euler_regressor

    A = newton_euler_regressor(identify.BodyMotion(a, w, al)).reshape(-1, 10)
    b = A @ phi + 0.1 * rng.normal(size=len(A))
    X = identify.Pose.from_quaternion([0.1, 0.2, 0.3, 0.9], [0.1, -0.2, 0.3])
    T = np.array([InertialParameters(row).in_frame(X).phi for row in np.eye(10)]).T
    here = solve(A, b, noise=0.1, prior=NearBody(phi0, weight=5.0))
    there = solve(A @ np.linalg.inv(T), b, noise=0.1, prior=NearBody(T @ phi0, weight=5.0))
    assert_same_body(there.parameters.phi, T @ here.parameters.phi, 1e-5)


def test_terms_hold_with_an_entropic_prior():
    A, b, sigma, bodies = open_rows(9, bodies=1, rank=6)
    mass = 0.9 * bodies[0][0]
    prior = NearBody(bodies[0], weight=2.0)
    estimate = solve(A, b, noise=sigma, prior=prior, terms=[KnownMass(mass)])
    assert_close(estimate.parameters.mass, mass, 1e-9)
    theirs = by_cvxpy(A, b, sigma, bodies, "entropic", 2.0, mass=mass)
    assert_same_body(estimate.parameters.phi, theirs, 1e-4)


def test_invalid_priors_are_rejected():
    rng = np.random.default_rng(10)
    with pytest.raises(TermError, match=r"extends in every direction.* give it a thickness"):
        NearBody(flat_body(rng, (1.0, 0.5, 0.0)))
    phi = random_body(rng)
    with pytest.raises(ProblemError, match="weight of the prior: expected a positive"):
        NearBody(phi, weight=-1.0)
    with pytest.raises(TermError, match="expected a number or one of evidence"):
        NearBody(phi, weight="evidenc")
    with pytest.raises(TermError, match="expected a distance among entropic"):
        NearBody(phi, "riemann")
    A, b, sigma, _ = open_rows(11, bodies=1)
    with pytest.raises(ProblemError, match="no body 'hand' among body"):
        solve(A, b, noise=sigma, prior={"hand": NearBody(phi)})

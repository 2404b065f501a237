"""The entropic prior: against cvxpy, differences and exact integrals."""

from dataclasses import replace
from unittest import mock

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.integrate import quad

from identify.errors import ProblemError, SolveError
from identify.estimation import EstimatorSettings, body_system, entropic_estimate, score_equations
from identify.estimation.entropic import _EntropicObjective
from identify.estimation.least_squares import weighted_least_squares
from identify.inertia import InertialParameters, phi_from_inertia, pseudo_inertia
from identify.studies import parse_study, run_study
from identify.studies.results import open_results
from tests.close import assert_close, assert_same_body
from tests.estimation.simulated import fitted, flat_body, samples, size_of, wrench_noise
from tests.strategies import poses, random_body, seeds


def fit_and_prior(seed: int, share: float = 0.1, count: int = 60):
    """A fit of some noise, and a prior body that is not quite the true one."""
    rng = np.random.default_rng(seed)
    phi = random_body(rng)
    fit = fitted(samples(phi, rng, count, noise=wrench_noise(phi, share)))
    size = size_of(phi)
    com = phi[1:4] / phi[0] + 0.1 * size * rng.normal(size=3)
    prior = phi_from_inertia(1.1 * phi[0], com, phi[0] * size**2 * np.diag([0.7, 0.8, 0.6]))
    return phi, fit, prior


@pytest.mark.parametrize("weight", [0.3, 20.0, 200.0])
def test_entropic_optimum_matches_cvxpy(weight):
    _, fit, prior = fit_and_prior(1)
    said = score_equations(fit)
    found = entropic_estimate(said, prior, weight)
    Pi = cp.Variable((4, 4), symmetric=True)  # in units of the prior body, whose matrix is 1
    root = np.linalg.cholesky(pseudo_inertia(prior))
    whole = root @ Pi @ root.T
    S, h = whole[:3, :3], whole[:3, 3]
    inertia = cp.trace(S) * np.eye(3) - S
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    x = cp.hstack([whole[3, 3], *(h[k] for k in range(3)), *(inertia[ij] for ij in pairs)])
    misfit = 0.5 * cp.sum_squares(said.R @ fit.scaling.to_theta @ x - said.r)
    cost = misfit + weight * (cp.trace(Pi) - cp.log_det(Pi) - 4.0)
    exact = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    least = cp.Problem(cp.Minimize(cost)).solve(solver="CLARABEL", **exact)
    apart = said.R @ fit.scaling.to_theta @ (found.phi - x.value)
    assert np.linalg.norm(apart) < 1e-4  # standard errors
    ours = 0.5 * said.chi_square(fit.scaling.theta(found.phi)) + weight * found.divergence
    assert ours <= least * (1.0 + 1e-9)
    assert ours == pytest.approx(least, rel=1e-6)
    assert found.distance_to_optimum < 1e-4


def test_slope_and_hessian_are_differences_of_the_objective():
    _, fit, prior = fit_and_prior(2)
    said, weight = score_equations(fit), 7.0
    found = entropic_estimate(said, prior, weight)
    prior_root = np.linalg.cholesky(pseudo_inertia(prior))

    def cost(x: np.ndarray) -> float:
        inverse = np.linalg.inv(prior_root)
        Q = inverse @ pseudo_inertia(x) @ inverse.T
        divergence = np.trace(Q) - np.log(np.linalg.det(Q)) - 4.0
        return 0.5 * said.chi_square(fit.scaling.theta(x)) + weight * divergence

    steps = np.linalg.cholesky(found.covariance).T  # where the cost curves by one
    near = 1e-3
    sides = np.array([[cost(found.phi + s * near * d) for s in (1, -1)] for d in steps])
    assert np.abs(sides[:, 0] - sides[:, 1]).max() / (2 * near) < 1e-4
    curved = (sides.sum(axis=1) - 2 * cost(found.phi)) / near**2
    assert_close(curved, np.ones(10), 1e-4)
    assert cost(found.phi) <= cost(prior)
    Q = np.linalg.solve(prior_root, np.linalg.solve(prior_root, pseudo_inertia(found.phi)).T)
    assert found.divergence == pytest.approx(np.trace(Q) - np.log(np.linalg.det(Q)) - 4, rel=1e-9)


@pytest.mark.parametrize("weight", [30.0, 300.0])
def test_the_evidence_is_the_integral_of_likelihood_and_prior(weight):
    """For one number q, where both can be integrated."""
    R, r = np.array([[4.0]]), np.array([5.0])
    one = _EntropicObjective.of(R, r, np.ones(1), np.ones((1, 1, 1)))

    def prior(q):
        return np.exp(-weight * (q - np.log(q) - 1.0))

    size = quad(prior, 1e-9, 8.0, points=[1.0], limit=400)[0]
    both = quad(lambda q: prior(q) * np.exp(-0.5 * (4 * q - 5) ** 2), 1e-9, 8.0, points=[1.0])[0]
    exact = np.log(both / size) - 0.5 * np.log(2.0 * np.pi)  # of the constant that is left out
    assert one.log_evidence(weight) == pytest.approx(exact, abs=0.3 / weight)


@settings(max_examples=15)
@given(seeds(), poses(0.5))
def test_entropic_estimate_is_frame_invariant(seed, X):
    _, fit, prior = fit_and_prior(seed)
    said = score_equations(fit)
    found = entropic_estimate(said, prior, 5.0)
    moved = np.array(
        [InertialParameters(row).in_frame(X).phi for row in np.eye(10)]
    ).T  # of ten parameters, in the other frame
    scaling = fit.scaling
    other = replace(said, R=said.R @ scaling.to_theta @ np.linalg.inv(moved) @ scaling.to_x)
    again = entropic_estimate(other, moved @ prior, 5.0)
    assert_same_body(again.phi, moved @ found.phi, 1e-5)
    assert again.divergence == pytest.approx(found.divergence, rel=1e-5, abs=1e-8)


@settings(max_examples=15)
@given(seeds())
def test_bodies_are_possible_however_much_noise_and_the_weight_is_found(seed):
    rng = np.random.default_rng(seed)
    phi = flat_body(rng, (1.0, 0.5, 0.0))
    fit = fitted(samples(phi, rng, 60, noise=wrench_noise(phi, 0.1)))
    ball = fit.scaling.x(fit.default_theta)
    found = entropic_estimate(score_equations(fit), ball, centre_of_data=True)
    assert np.linalg.eigvalsh(pseudo_inertia(found.phi))[0] > 0.0
    assert 1e-2 <= found.weight <= 1e3
    assert found.distance_to_optimum < 1e-2


def test_entropic_estimate_limits_are_body_and_prior():
    phi, fit, prior = fit_and_prior(3, share=0.0)
    said = score_equations(fit)
    assert_same_body(entropic_estimate(said, prior).phi, phi, 1e-9)
    _, noisy, prior = fit_and_prior(3)
    assert_same_body(entropic_estimate(score_equations(noisy), prior, 1e9).phi, prior, 1e-3)


def test_accurate_prior_body_gets_larger_weight():
    phi, fit, _ = fit_and_prior(4)
    said, size = score_equations(fit), size_of(phi)
    near = phi * np.r_[1.02, np.ones(3), np.full(6, 1.03)]
    far = phi_from_inertia(phi[0], phi[1:4] / phi[0] + size, 9.0 * phi[0] * size**2 * np.eye(3))
    assert entropic_estimate(said, near).weight > 10.0 * entropic_estimate(said, far).weight


def test_degenerate_prior_body_is_rejected():
    rng = np.random.default_rng(5)
    _, fit, prior = fit_and_prior(5)
    said = score_equations(fit)
    with pytest.raises(ProblemError, match=r"extends in every direction.* give it a thickness"):
        entropic_estimate(said, flat_body(rng, (1.0, 0.5, 0.0)), 1.0)
    logs = [
        samples(body, rng, 100, noise=wrench_noise(body, 0.01)).blocks()
        for body in (random_body(rng) + random_body(rng), random_body(rng))
    ]
    two = weighted_least_squares(body_system(logs, EstimatorSettings(unloaded=1)))
    with pytest.raises(ProblemError, match="of one body"):
        entropic_estimate(score_equations(two), prior)
    with pytest.raises(ProblemError, match="weight of the prior: expected a positive"):
        entropic_estimate(said, prior, -1.0)
    with (
        mock.patch("identify.estimation.entropic._MAX_NEWTON_STEPS", 1),
        pytest.raises(SolveError, match=r"did not converge in 1 steps"),
    ):
        entropic_estimate(said, prior, 1.0)


def test_entropic_estimator_runs_in_studies(tmp_path):
    study = parse_study(
        {
            "name": "entropic",
            "seed": 1,
            "logs": [{"kind": "synthetic", "number": 2, "duration": 4.0, "rate_hz": 100.0}],
            "perturbations": [{"kind": "noise", "force": 0.3, "torque": 0.03}],
            "estimators": ["entropic", {"kind": "entropic", "weight": 1.0}],
            "metrics": ["inertia_error", "consistent", "covered"],
        }
    )
    run_study(study, tmp_path / "out", workers=0)
    frame = open_results(tmp_path / "out").frame
    assert (frame["consistent"] == 1.0).all()
    assert frame["covered_m"].notna().all()
    assert set(frame["estimator"]) == {"entropic", "entropic(weight=1)"}
    assert (frame["inertia_error"] < 50.0).all()

"""What data and prior say together, by routes of plain linear algebra, and what it covers."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from identify.errors import SchemaError
from identify.estimation import EstimatorSettings, estimate_body, score_equations
from identify.estimation.intervals import ESTIMATED_QUANTITIES, derived_quantities
from identify.estimation.posterior import posterior_of
from identify.estimation.priors import Ball, BodyPrior, NoPrior, NormalMixture, Prior
from identify.inertia import PHI, inertia_about_com, is_consistent
from tests.close import assert_close
from tests.estimation.simulated import fit_of
from tests.estimation.test_likelihood import log_of
from tests.strategies import random_body

RNG = np.random.default_rng(11)
BODY = random_body(RNG)
SLOW = fit_of([log_of(BODY, np.random.default_rng(4), 3e-3, 0.3)])
UNITS = np.abs(BODY).max() * np.ones(10)


def known_to(share: float, phi=BODY) -> BodyPrior:
    return BodyPrior.with_error(phi, share)


class Two(Prior):
    """Either of two bodies."""

    kind = "two"

    def __init__(self, first: BodyPrior, second: BodyPrior) -> None:
        self.both = first, second

    def mixture(self, mass: float) -> NormalMixture:
        means, covariances = (
            np.array([getattr(one, what) for one in self.both]) for what in ("phi", "covariance")
        )
        return NormalMixture(means, covariances, {"number": np.array([0.0, 1.0])})

    def __str__(self) -> str:
        return "one of two bodies"


def by_normal_equations(fit, prior: BodyPrior):
    """Posterior mean, covariance and log evidence, with everything squared."""
    equations, to_theta = score_equations(fit), fit.scaling.to_theta
    R, r = equations.R @ to_theta, equations.r
    P = prior.covariance + 1e-12 * fit.scaling.to_x @ fit.scaling.to_x.T
    covariance = np.linalg.inv(R.T @ R + np.linalg.inv(P))
    mean = covariance @ (R.T @ r + np.linalg.solve(P, prior.phi))
    evidence = multivariate_normal(R @ prior.phi, np.eye(len(r)) + R @ P @ R.T).logpdf(r)
    return mean, covariance, float(evidence)


@pytest.mark.parametrize("share", [0.01, 0.3])
def test_a_normal_prior_gives_the_posterior_of_the_normal_equations(share):
    prior = known_to(share, random_body(RNG))
    found = posterior_of(SLOW, prior)
    mean, covariance, _ = by_normal_equations(SLOW, prior)
    units = np.sqrt(np.diag(covariance))
    assert_close(found.x / units, mean / units, 1e-6)
    assert_close(
        found.covariance / np.outer(units, units), covariance / np.outer(units, units), 1e-6
    )
    # it is linear in the scores, and in the mean of the prior
    equations = score_equations(SLOW)
    by_data = found.score_gain @ np.linalg.solve(equations.whitening, equations.r)
    P = prior.covariance + 1e-12 * SLOW.scaling.to_x @ SLOW.scaling.to_x.T
    by_prior = covariance @ np.linalg.solve(P, prior.phi)
    assert_close((by_data + by_prior) / units, mean / units, 1e-6)
    # and the rows of the cone program are of the same distribution
    theta = SLOW.scaling.theta(mean + units * RNG.normal(size=10))
    away = theta - SLOW.scaling.theta(mean)
    whole = SLOW.scaling.to_x @ away
    squares = whole @ np.linalg.solve(covariance, whole)
    assert_close(np.linalg.norm(found.A @ theta - found.b) ** 2, squares, 1e-5)


def test_prior_mixture_is_weighted_by_evidence_and_moment_matched():
    first, second = known_to(0.05, 1.02 * BODY), known_to(0.2, random_body(RNG))
    (m1, C1, e1), (m2, C2, e2) = (by_normal_equations(SLOW, one) for one in (first, second))
    weights = np.exp([e1, e2] - np.logaddexp(e1, e2))
    found = posterior_of(SLOW, Two(first, second))
    assert_close(found.agreement.weights, weights, 1e-6)
    other = posterior_of(SLOW, Two(second, second)).agreement.log_evidence
    gained = np.logaddexp(e1, e2) - np.log(2.0) - e2
    assert_close(found.agreement.log_evidence - other, gained, 1e-6)
    mean = weights @ [m1, m2]
    spread = np.array([m1, m2]) - mean
    covariance = weights[0] * C1 + weights[1] * C2 + (weights * spread.T) @ spread
    units = np.sqrt(np.diag(covariance))
    assert_close(found.x / units, mean / units, 1e-6)
    assert_close(
        found.covariance / np.outer(units, units), covariance / np.outer(units, units), 1e-6
    )
    assert_close(found.agreement.means["number"], weights[1], 1e-6, scale=1.0)


def test_flat_prior_keeps_identified_directions():
    fit = fit_of([log_of(BODY, np.random.default_rng(4), 1.0, 0.05)])
    vague, alone = posterior_of(fit, known_to(1e4)), posterior_of(fit, Ball())
    units = np.sqrt(np.diag(alone.covariance))
    assert_close(vague.x / units, alone.x / units, 1e-4)
    assert_close(
        vague.covariance / np.outer(units, units), alone.covariance / np.outer(units, units), 1e-4
    )
    assert_close(
        vague.score_gain / np.outer(units, units), alone.score_gain / np.outer(units, units), 1e-4
    )
    assert vague.prior_share.max() < 1e-6
    assert alone.prior_share.max() < 1e-9


def test_prior_shares_measure_information():
    found = posterior_of(SLOW, known_to(0.1))
    data = score_equations(SLOW)
    by_data = np.diag(np.linalg.inv(data.R.T @ data.R))
    theta = SLOW.scaling.to_theta
    left = np.diag(theta @ found.covariance @ theta.T) / by_data
    # of the unknowns that scaling leaves in place alone: the mass
    assert_close(1.0 - found.prior_share[0], left[0], 1e-9)
    assert found.prior_share[4:].min() > 0.9  # turns were slow
    part = np.diag(found.prior_covariance) / np.diag(found.covariance)
    assert part[4:].min() > 0.5
    assert (np.linalg.eigvalsh(found.prior_covariance / np.outer(UNITS, UNITS)) > -1e-12).all()


@pytest.mark.parametrize("mass", [None, float(BODY[0])])
def test_estimates_with_a_prior_cover_the_truth_where_the_prior_is_right(mass):
    """Bodies drawn from the prior, logs that hardly tell the inertia, mass given or not."""
    rng, prior = np.random.default_rng(8), known_to(0.1)
    root = np.linalg.cholesky(prior.covariance)
    hits, count = np.zeros(len(ESTIMATED_QUANTITIES)), 0
    while count < 40:
        drawn = rng.normal(size=10)
        drawn[0] *= mass is None  # of those of one mass
        phi = prior.phi + root @ drawn
        if not is_consistent(phi):
            continue
        settings = EstimatorSettings(mass=mass, prior=prior)
        estimate = estimate_body([log_of(phi, rng, 3e-3, 0.1)], settings)
        truth = np.concatenate(
            (phi, derived_quantities(phi), np.linalg.eigvalsh(inertia_about_com(phi)))
        )
        low, high = np.array(list(estimate.intervals.values())).T
        hits += (low <= truth) & (truth <= high)
        count += 1
        assert estimate.parameters.consistent
        assert estimate.verdict.usable != "no", estimate.findings
        assert estimate.certificate.optimal_for == "the data and the prior"
        assert estimate.decided_by["Ixx"] == "prior"
        if mass is not None:
            assert_close(estimate.parameters.mass, mass, 1e-9)
    shares = hits / count
    assert 0.9 < np.mean(shares[1:] if mass else shares) <= 1.0
    assert shares.min() >= 0.8


def test_prior_applies_to_payload_with_carrier():
    rng = np.random.default_rng(3)
    payload, carrier = random_body(rng), random_body(rng, 3.0)
    logs = [log_of(phi, rng, 3e-3, 0.1) for phi in (payload + carrier, carrier)]
    prior = known_to(0.1, payload)
    estimate = estimate_body(logs, EstimatorSettings(prior=prior, unloaded=1))
    alone = estimate_body(logs, EstimatorSettings(unloaded=1))
    assert estimate.decided_by["Ixx"] == "prior"
    assert set(estimate.others["carrier"].decided_by.values()) <= {"data", "default", "constraint"}
    assert estimate.others["carrier"].prior == {}
    for name, value in zip(PHI, payload, strict=True):
        low, high = estimate.intervals[name]
        assert low <= value <= high, name
    sizes = np.abs(payload[4:] - [one.parameters.phi[4:] for one in (estimate, alone)]).max(axis=1)
    assert sizes[0] < 0.5 * sizes[1]


def test_variance_shares_count_the_prior():
    estimate = estimate_body(
        [log_of(BODY, np.random.default_rng(4), 3e-3, 0.3)], EstimatorSettings(prior=known_to(0.1))
    )
    for of in estimate.variance_shares.values():
        assert_close(sum(of.values()), 1.0, 1e-12)
        assert "completion" not in of
    assert estimate.variance_shares["Ixx"]["prior"] > 0.5
    assert estimate.prior["kind"] == "body"
    assert estimate.verdict.identifiable == ("m", "hx", "hy", "hz")


def test_a_prior_that_the_log_excludes_is_an_error_with_both_bodies():
    log = log_of(BODY, np.random.default_rng(4), 1.0, 0.05)
    other = BODY * np.array([1.0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    estimate = estimate_body([log], EstimatorSettings(prior=known_to(0.05, other)))
    (finding,) = (f for f in estimate.findings if f.code == "choice_contradicted")
    assert finding.severity == "error"
    assert estimate.verdict.usable == "no"
    assert_close(finding.evidence["by_prior"], other, 1e-9)
    assert_close(finding.evidence["by_data"], BODY, 0.05)
    assert finding.evidence["z"] > 4.0
    assert finding.evidence["p"] < 1e-4
    sound = estimate_body([log], EstimatorSettings(prior=known_to(0.05)))
    assert not sound.findings


def test_prior_none_leaves_unidentified_parameters_empty():
    log = log_of(BODY, np.random.default_rng(4), 3e-5, 0.1)
    estimate = estimate_body([log], EstimatorSettings(prior=NoPrior()))
    assert [estimate.decided_by[name] for name in PHI] == ["data"] * 4 + ["nothing"] * 6
    written = estimate.to_dict()
    assert written["phi"][4:] == [None] * 6
    assert written["inertia_about_com"] is None
    assert_close(written["phi"][:4], estimate.parameters.phi[:4], 0.0)
    assert [finding.code for finding in estimate.findings] == ["left_open"]
    default = estimate_body([log])
    assert_close(estimate.parameters.phi, default.parameters.phi, 0.0)
    assert default.prior_share["Ixx"] == pytest.approx(1.0, abs=1e-3)


def test_intervals_by_bootstrap_are_of_the_log_alone():
    with pytest.raises(SchemaError, match=r"bootstrap.*formula"):
        EstimatorSettings(interval="bootstrap", prior=known_to(0.1))
    with pytest.raises(SchemaError, match="expected a prior such as"):
        EstimatorSettings(prior="even")

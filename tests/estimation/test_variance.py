import numpy as np
import pytest

from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.intervals import covariance_of, interval_jacobian
from identify.estimation.posterior import posterior_of
from identify.estimation.priors import Ball
from identify.estimation.variance_shares import VARIANCE_SOURCES, CovarianceBySource
from identify.inertia import PHI
from identify.regressors import block_statistics
from identify.signals import prepare
from tests.close import assert_close
from tests.estimation.simulated import fit_of, samples, wrench_noise
from tests.recordings import ALL, Path, record, with_wrench
from tests.strategies import random_body

WRENCH = {"force": 0.1, "torque": 0.01}
MOTION = {"linear_acceleration": 1.0, "angular_acceleration": 5.0}
BODY = random_body(np.random.default_rng(4), 1.0, 0.1)


def statistics_of(noise, seed=0):
    path, time = Path.random(3), np.arange(0.0, 20.0, 0.01)
    recording = record(path, BODY, time, ALL, noise=noise, seed=seed)
    return block_statistics(prepare(recording, 5.0))


@pytest.mark.parametrize(
    ("noise", "source"), [(WRENCH, "wrench"), (MOTION, "motion")], ids=["wrench", "motion"]
)
def test_variance_shares_name_the_noisy_signal(noise, source):
    shares = estimate_body([statistics_of(noise)]).variance_shares
    assert set(shares) >= {*PHI, "cx", "Icxx", "I3"}
    for name, of in shares.items():
        assert tuple(of) == tuple(s for s in VARIANCE_SOURCES if s != "prior")
        assert_close(sum(of.values()), 1.0, 1e-12)
        assert min(of.values()) >= 0.0
        assert of[source] > 0.75, (name, of)
        assert of["completion"] == 0.0


def test_variance_parts_match_simulated_errors():
    """Fits with one noise alone, and what a fit with both says of each: by the mean of squares."""
    both = CovarianceBySource.of(posterior_of(fit_of([statistics_of(WRENCH | MOTION)]), Ball()))
    squares = {}
    for source, noise in (("wrench", WRENCH), ("motion", MOTION)):
        quiet = {name: 1e-4 * sigma for name, sigma in (WRENCH | MOTION).items()}
        errors = [fit_of([statistics_of(quiet | noise, seed)]).x - BODY for seed in range(8)]
        squares[source] = np.mean(np.square(errors), axis=0)
    # Weighted for both, the estimate takes of each noise no less than the one weighted for it.
    for source, of in (("wrench", both.wrench), ("motion", both.motion)):
        ratio = np.diag(of) / squares[source]
        assert 0.5 < np.median(ratio) < 2.5, (source, ratio)


def test_parts_and_the_rest_are_the_covariance():
    fit = fit_of([statistics_of(WRENCH | MOTION)])
    parts, covariance = CovarianceBySource.of(posterior_of(fit, Ball())), covariance_of(fit)
    decided = dict.fromkeys(PHI, "data")
    shares = parts.shares(slice(0, 10), covariance, decided, interval_jacobian(fit.x))
    for k, name in enumerate(PHI):
        made = np.array([parts.wrench[k, k], parts.motion[k, k]])
        said = covariance[k, k] * np.array([shares[name]["wrench"], shares[name]["motion"]])
        if shares[name]["rest"] > 0.0:
            assert_close(said, made, 1e-9)
        else:  # residuals are smaller than the noise says: both parts are as much smaller
            assert_close(said / said.sum(), made / made.sum(), 1e-9)
            assert said.sum() <= made.sum()


def test_residuals_beyond_the_noise_are_the_rest():
    """A slow error of the force, ten times its noise, which no high band shows."""
    path, time = Path.random(3), np.arange(0.0, 40.0, 0.01)
    recording = record(path, BODY, time, ALL, noise={"force": 0.02, "torque": 0.002})
    quiet = estimate_body([block_statistics(prepare(recording, 5.0))])
    rng = np.random.default_rng(0)
    wave = rng.normal(size=(len(time), 6))
    slow = np.cumsum(wave - wave.mean(axis=0), axis=0)
    slow *= np.repeat([0.3, 0.03], 3) / slow.std(axis=0)
    drifting = estimate_body([block_statistics(prepare(with_wrench(recording, slow), 5.0))])
    before, after = (
        np.median([of["rest"] for of in estimate.variance_shares.values()])
        for estimate in (quiet, drifting)
    )
    assert before < 0.4
    assert after > 0.8


def test_variance_shares_of_completed_and_given_parameters():
    noise = {"force": 0.1, "torque": 0.01}
    time = np.arange(0.0, 20.0, 0.01)
    slow = record(Path.random(3, fastest_hz=0.1), BODY, time, ALL, noise=noise)
    estimate = estimate_body(
        [block_statistics(prepare(slow, 5.0))], EstimatorSettings(mass=float(BODY[0]))
    )
    assert "m" not in estimate.variance_shares
    default = [name for name, by in estimate.decided_by.items() if by == "default"]
    assert default
    assert not set(default) & set(estimate.variance_shares)


def test_rows_of_no_known_noise_have_no_parts():
    rng = np.random.default_rng(0)
    log = samples(BODY, rng, 200, noise=wrench_noise(BODY, 0.01))
    assert estimate_body([log.blocks()]).variance_shares == {}

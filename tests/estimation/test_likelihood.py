"""The likelihood of all ten parameters."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from identify.estimation import EstimatorSettings, score_equations
from identify.estimation.intervals import covariance_of
from identify.regressors import block_statistics
from identify.signals import prepare
from identify.spatial import BodyMotion
from tests.close import assert_close
from tests.estimation.simulated import Samples, fit_of, samples, size_of, wrench_noise
from tests.recordings import still_poses
from tests.strategies import random_body, random_motion

MOVES = {"brisk": (1.0, 10), "slow": (3e-3, 4), "almost none": (3e-5, 4)}
"""Shares of the angular accelerations of a well exciting motion, and what is identifiable then."""


def log_of(phi, rng, share: float, motion_noise: float):
    """Statistics of a log whose turns are slow, with noise in the wrench and in the motion.

    Args:
        phi: the body.
        rng: of motion and noise.
        share: of the angular accelerations of a well exciting motion.
        motion_noise: of the angular acceleration that is read, in shares of its own size.
    """
    brisk = random_motion(rng, 400, size_of(phi))
    alpha, omega = share * brisk.angular_acceleration, np.sqrt(share) * brisk.angular_velocity
    motion = BodyMotion(brisk.proper_acceleration, omega, alpha)
    log = samples(phi, rng, motion=motion, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    sigma = motion_noise * alpha.std()
    alpha = alpha + rng.normal(0.0, sigma, alpha.shape)
    noise = np.zeros(18)
    noise[3:6] = sigma**2
    read = BodyMotion(motion.proper_acceleration, omega, alpha)
    return Samples(read, log.wrench).blocks(noise=noise)


@pytest.mark.parametrize(
    ("moves", "motion_noise"),
    [("brisk", 0.0), ("brisk", 0.05), ("slow", 0.0), ("slow", 0.3), ("almost none", 0.3)],
)
def test_score_equations_have_nominal_chi_square(moves, motion_noise):
    """χ² of all ten, in directions too that are not identifiable."""
    rng = np.random.default_rng(3)
    phi, found = random_body(rng), []
    share, identifiable = MOVES[moves]
    for _ in range(50):
        fit = fit_of([log_of(phi, rng, share, motion_noise)])
        equations = score_equations(fit)
        assert equations.R.shape == (10, 10)
        assert fit.identifiability.identifiable.shape[1] == identifiable
        found.append(equations.chi_square(fit.scaling.theta(phi)))
    # the mean of 50 such numbers has a standard error of .63
    assert 8.1 < np.mean(found) < 11.9
    assert np.mean(np.array(found) > chi2.ppf(0.9, 10)) < 0.22


@pytest.mark.parametrize("mass", [None, 1.0])
@pytest.mark.parametrize("moves", MOVES)
def test_score_equations_match_intervals_in_identifiable_directions(moves, mass):
    """With the others free, the information is that of the covariance, and so is the solution."""
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    fit = fit_of([log_of(phi, rng, MOVES[moves][0], 0.15)], EstimatorSettings(mass=mass))
    equations, split = score_equations(fit), fit.identifiability
    basis = np.concatenate((split.identifiable, split.unidentifiable), axis=1)
    k = split.identifiable.shape[1]
    found = np.linalg.inv(basis.T @ equations.R.T @ equations.R @ basis)[:k, :k]
    to_theta = fit.scaling.to_theta
    covariance = to_theta @ covariance_of(fit) @ to_theta.T
    inverse = np.linalg.pinv(basis)[:k]
    assert_close(found, inverse @ covariance @ inverse.T, 1e-8)
    y = np.linalg.lstsq(equations.R @ basis, equations.r - equations.R @ fit.reference)[0]
    assert_close(split.identifiable @ y[:k], fit.theta - fit.reference, 1e-6, scale=1.0)


def test_a_direction_without_excitation_has_no_row():
    phi = random_body(np.random.default_rng(0))
    log = still_poses(
        phi, Rotation.random(7, random_state=0), noise=np.repeat([0.05, 0.003], 3), seed=0
    )
    fit = fit_of([block_statistics(prepare(log))])
    equations = score_equations(fit)
    assert equations.R.shape == (4, 10)
    assert_close(equations.R[:, 4:], np.zeros((4, 6)), 1e-9, scale=np.abs(equations.R).max())
    assert equations.chi_square(fit.theta) < 1e-12
    assert equations.chi_square(fit.scaling.theta(phi)) < chi2.ppf(0.999, 4)

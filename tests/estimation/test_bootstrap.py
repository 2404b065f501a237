from dataclasses import replace

import numpy as np
import pytest

from identify.errors import ProblemError
from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.bootstrap import BlockBootstrap, _TimeBlockMoments, score_scatter_ratio
from identify.estimation.errors_in_variables import subtract_noise_moment
from identify.estimation.intervals import covariance_of
from identify.regressors import LinearSystem, block_statistics
from identify.regressors.triangular import qr_factor
from identify.signals import prepare
from tests.close import assert_close
from tests.estimation.simulated import fit_of, samples, wrench_noise
from tests.recordings import POSE, Path, record
from tests.strategies import random_body


def logs_of(phi, rng, counts, share=0.02):
    noise = wrench_noise(phi, share)
    return [samples(phi, rng, n, noise=noise, bias=rng.normal(size=6)).blocks() for n in counts]


POSE_NOISE = {"position": 3e-4, "quaternion": 1e-3}


def noisy_pose(phi, seconds: float, pose=POSE_NOISE):
    noise = {**pose, "force": 0.05, "torque": 0.005}
    time = np.arange(0.0, seconds, 0.01)
    return block_statistics(prepare(record(Path.random(2), phi, time, POSE, noise=noise), 5.0))


@pytest.mark.parametrize("bias", ["per_log", "shared", "none"])
def test_bootstrap_refit_equals_weighted_fit(bias):
    """Against the system of statistics whose factors carry the root of the weights."""
    rng = np.random.default_rng(3)
    phi = random_body(rng)
    fit = fit_of(logs_of(phi, rng, (60, 90)), EstimatorSettings(bias=bias))
    root = qr_factor(fit.problem.A @ fit.scaling.to_x @ fit.identifiability.identifiable)
    columns = fit.scaling.to_x @ fit.identifiability.identifiable @ np.linalg.inv(root)
    blocks = _TimeBlockMoments.of(fit, columns)
    weights = rng.standard_exponential((3, len(blocks.samples_of_blocks)))
    found = blocks.refits(
        weights, np.zeros((10, 10)), blocks.samples_of_blocks / blocks.samples_of_blocks.sum()
    )
    ((statistics, equations),) = fit.data.system.data
    for moved, weight in zip(found, weights, strict=True):
        factors = statistics.factors * np.sqrt(weight)[:, None, None]
        again = LinearSystem.of([(replace(statistics, factors=factors), equations)])
        problem = again.problem(fit.weights)
        x = np.linalg.lstsq(problem.A, problem.b, rcond=None)[0]
        errors = np.sqrt(np.diag(covariance_of(fit)))
        assert_close((fit.x + columns @ moved) / errors, x / errors, 1e-6, scale=1.0)


def test_a_refit_takes_off_the_noise_of_the_columns_as_the_fit_does():
    phi = random_body(np.random.default_rng(3), 1.0, 0.1)
    fit = fit_of([noisy_pose(phi, 40.0, {"position": 5e-3, "quaternion": 0.02})])
    known = fit.scaling.to_x @ fit.identifiability.identifiable
    root = qr_factor(fit.problem.A @ known)
    columns = known @ np.linalg.inv(root)
    blocks = _TimeBlockMoments.of(fit, columns)
    A, _ = fit.eiv_corrected
    left = np.linalg.solve(root.T, A.T)
    noise = np.eye(10) - left @ left.T
    shares = blocks.samples_of_blocks / blocks.samples_of_blocks.sum()
    as_it_is = blocks.refits(np.ones((1, len(shares))), noise, shares)
    assert_close(as_it_is, np.zeros((1, 10)), 1e-9, scale=1.0)
    assert np.abs(noise).max() > 0.01

    weight = np.random.default_rng(0).standard_exponential(len(shares))
    (moved,) = blocks.refits(weight[None], noise, shares)
    ((statistics, equations),) = fit.data.system.data
    factors = statistics.factors * np.sqrt(weight)[statistics.block][:, None, None]
    again = LinearSystem.of([(replace(statistics, factors=factors), equations)]).problem(
        fit.weights
    )
    rows = np.column_stack((again.A @ known, again.b))
    into = np.pad(known, ((0, 1), (0, 1)))
    into[-1, -1] = 1.0
    found, right = subtract_noise_moment(rows, weight @ shares * into.T @ fit.noise_moment @ into)
    x = known @ np.linalg.solve(found, right)
    errors = np.sqrt(np.diag(covariance_of(fit)))
    assert_close((fit.x + columns @ moved) / errors, x / errors, 1e-3, scale=1.0)


def test_scores_of_few_blocks_are_as_large_as_if_they_had_no_part_in_the_fit():
    """Their scatter is the information, which is one; the fit leaves twelve blocks less of it."""
    rng = np.random.default_rng(2)
    phi = random_body(rng)
    found = []
    for _ in range(25):
        fit = fit_of(logs_of(phi, rng, (60,)))
        root = qr_factor(fit.problem.A @ fit.scaling.to_x)
        blocks = _TimeBlockMoments.of(fit, fit.scaling.to_x @ np.linalg.inv(root))
        assert len(blocks.samples_of_blocks) == 12
        for one in (blocks, blocks.bias_reduced):
            scores = one.without_offset[:, :-1, -1].copy()
            for block, moments in one.by_offset:
                np.add.at(scores, block, moments[:, -11:-1, -1])
            found.append(np.trace(scores.T @ scores) / 10.0)
    left, restored = np.reshape(found, (-1, 2)).mean(axis=0)
    assert left < 0.9
    assert 0.92 < restored < 1.1


def test_many_blocks_give_the_spread_of_the_formula():
    rng = np.random.default_rng(1)
    phi = random_body(rng)
    fits = [fit_of(logs_of(phi, rng, counts)) for counts in ((800,), (250, 250, 250))]
    fits.append(fit_of([noisy_pose(random_body(rng, 1.0, 0.1), 400.0)]))
    for fit in fits:
        found = BlockBootstrap.of(fit, np.random.default_rng(0))
        ratio = np.sqrt(np.diag(found.covariance) / np.diag(covariance_of(fit)))
        assert 0.85 < np.median(ratio) < 1.15, ratio
        assert (ratio > 0.65).all(), ratio
        assert (ratio < 1.45).all(), ratio
        assert_close(found.degrees, found.blocks - 1.0, 0.02)


def test_scores_of_independent_noise_do_not_scatter_and_those_of_drifting_gains_do():
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    log = samples(phi, rng, 600, noise=wrench_noise(phi, 0.02))
    white = score_scatter_ratio(fit_of([log.blocks()]))
    assert 1.0 <= white < 1.3
    gain = np.repeat(1.0 + 0.1 * rng.normal(size=60), 10)[:, None]
    assert (
        score_scatter_ratio(fit_of([replace(log, wrench=log.wrench * gain).blocks()])) > 3.0 * white
    )
    few = [
        score_scatter_ratio(fit_of([samples(phi, rng, 60, noise=wrench_noise(phi, 0.02)).blocks()]))
        for _ in range(20)
    ]
    assert 0.9 < np.mean(few) < 1.4


def test_bootstrap_includes_variation_between_blocks():
    """Every other half minute a gain of the sensor is off, which no noise of its signals says."""
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    log = samples(phi, rng, 600, noise=wrench_noise(phi, 0.002))
    gain = np.repeat(1.0 + 0.1 * rng.normal(size=60), 10)[:, None]
    blocks = replace(log, wrench=log.wrench * gain).blocks()
    formula, bootstrap = (
        estimate_body([blocks], EstimatorSettings(interval=route))
        for route in ("formula", "bootstrap")
    )
    low, high = bootstrap.intervals["m"]
    assert low <= phi[0] <= high
    widths = [
        estimate.intervals["m"][1] - estimate.intervals["m"][0] for estimate in (formula, bootstrap)
    ]
    assert widths[1] > 1.5 * widths[0]
    assert "bootstrap" in bootstrap.interval_kind
    assert f"{blocks.block.max() + 1} blocks" in bootstrap.interval_kind
    assert np.array_equal(bootstrap.parameters.phi, formula.parameters.phi)


def test_few_blocks_are_rejected_with_what_to_do():
    rng = np.random.default_rng(7)
    phi = random_body(rng)
    blocks = logs_of(phi, rng, (45,))
    with pytest.raises(ProblemError, match=r"9 blocks of time.*at least 10.*longer or more logs"):
        estimate_body(blocks, EstimatorSettings(interval="bootstrap"))

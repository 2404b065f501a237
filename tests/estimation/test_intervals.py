"""Intervals: they cover as often as they say, where the noise is that of the wrench."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import t as student

from identify.estimation import estimate_body
from identify.estimation.estimator import _decide
from identify.estimation.intervals import DERIVED, block_covariance, derived, derived_jacobian
from identify.inertia import PHI
from identify.regressors import WRENCH_LAYOUT, Statistics
from tests.close import assert_close
from tests.estimation.simulated import Samples, fit_of, fitted, samples, size_of, wrench_noise
from tests.recordings import Path
from tests.strategies import bodies, random_body

NAMES = (*PHI, *DERIVED)


@given(bodies(flat=False))
def test_the_derivative_of_centre_and_central_inertia_is_that_of_finite_differences(phi):
    L = size_of(phi)
    steps = 1e-5 * phi[0] * np.repeat([1.0, L, L**2], [1, 3, 6])
    numeric = np.column_stack(
        [
            (derived(phi + step) - derived(phi - step)) / (2.0 * step.sum())
            for step in np.diag(steps)
        ]
    )
    exact = derived_jacobian(phi)
    # In units of the body, each entry counts alike.
    units = np.repeat([L, phi[0] * L**2], [3, 6])[:, None] / (steps / 1e-5)
    far = 1.0 + np.linalg.norm(phi[1:4]) / (phi[0] * L)
    assert_close(numeric / units, exact / units, 1e-8, scale=far**2 * 10.0)


def test_derived_quantities_are_centre_and_inertia_about_it():
    phi = random_body(np.random.default_rng(0))
    values = dict(zip(DERIVED, derived(phi), strict=True))
    assert values["cy"] == phi[2] / phi[0]
    c = phi[1:4] / phi[0]
    assert_close(values["Icxx"], phi[4] - phi[0] * (c[1] ** 2 + c[2] ** 2), 1e-13)
    assert_close(values["Icyz"], phi[8] + phi[0] * c[1] * c[2], 1e-12, scale=phi[4])


def coverage(fits: int, count: int, *, logs: int = 1) -> np.ndarray:
    """Share of fits whose interval holds the truth, by name, of simulations with white noise."""
    rng = np.random.default_rng(42)
    phi = random_body(rng)
    truth = np.concatenate((phi, derived(phi)))
    hits = np.zeros(len(NAMES))
    for _ in range(fits):
        blocks = [
            samples(
                phi, rng, count, noise=wrench_noise(phi, 0.01), bias=rng.normal(size=6)
            ).blocks()
            for _ in range(logs)
        ]
        intervals = estimate_body(blocks).intervals
        hits += [intervals[n][0] <= x <= intervals[n][1] for n, x in zip(NAMES, truth, strict=True)]
    return hits / fits


@pytest.mark.parametrize(
    ("count", "logs"),
    [(220, 1), (60, 1), (25, 1), (110, 2)],
    ids=["44 blocks", "12 blocks", "5 blocks", "two logs"],
)
def test_intervals_cover_the_truth_nineteen_times_in_twenty(count, logs):
    shares = coverage(200, count, logs=logs)
    assert shares.min() >= 0.88, dict(zip(NAMES, shares, strict=True))
    assert np.sort(shares)[2] >= 0.9
    assert 0.925 <= shares.mean() <= 0.975


def test_the_block_covariance_of_white_noise_is_the_classical_one():
    rng = np.random.default_rng(1)
    phi = random_body(rng)
    log = samples(phi, rng, 4000, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    fit = fitted(log)
    classical = np.linalg.inv(fit.problem.A.T @ fit.problem.A)
    covariance = estimate_body([log.blocks()]).covariance
    ratio = np.sqrt(np.diag(covariance) / np.diag(classical))
    assert_close(ratio, np.ones(10), 0.2)
    correlation = classical / np.sqrt(np.outer(np.diag(classical), np.diag(classical)))
    found = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert_close(found, correlation, 0.3)


def slow_log(phi, rng, colour: float, count: int = 6000) -> Samples:
    """Two minutes of a slow path with noise that remembers."""
    path = Path.random(2, distance=0.3)
    time = np.arange(count) * 0.02
    white = rng.normal(size=(count, 6))
    noise = np.empty_like(white)
    noise[0] = white[0]
    for k in range(1, count):
        noise[k] = colour * noise[k - 1] + np.sqrt(1.0 - colour**2) * white[k]
    return Samples(path.motion(time), path.wrench(phi, time) + noise * wrench_noise(phi, 0.01))


def test_noise_that_remembers_widens_the_intervals_as_much_as_it_moves_the_estimate():
    """Rows counted as independent that are not: blocks of time know better."""
    colour = 0.8
    rng = np.random.default_rng(3)
    phi = random_body(rng)
    squares, ratios = [], []
    for _ in range(24):
        log = slow_log(phi, rng, colour)
        blocks = log.blocks()
        assert blocks.samples.min() >= 5.0 * (1.0 + colour) / (1.0 - colour) / 2.0
        estimate = estimate_body([blocks])
        fit = fit_of([blocks])
        classical = np.linalg.inv(fit.problem.A.T @ fit.problem.A)
        ratios.append(np.diag(estimate.covariance) / np.diag(classical))
        squares.append((estimate.parameters.phi - phi) ** 2 / np.diag(estimate.covariance))
    grown = (1.0 + colour) / (1.0 - colour)
    assert 0.6 * grown < np.mean(ratios) < 1.2 * grown
    assert 0.6 < np.mean(squares) < 1.6


def test_intervals_are_the_estimate_plus_and_minus_students_t_standard_errors():
    rng = np.random.default_rng(4)
    phi = random_body(rng)
    estimate = estimate_body([samples(phi, rng, 500, noise=wrench_noise(phi, 0.02)).blocks()])
    factor = student.ppf(0.975, 99)  # a hundred blocks
    errors = np.sqrt(np.diag(estimate.covariance))
    for k, name in enumerate(PHI):
        low, high = estimate.intervals[name]
        value = estimate.parameters.phi[k]
        assert_close([low, high], [value - factor * errors[k], value + factor * errors[k]], 1e-12)
    jacobian = derived_jacobian(estimate.parameters.phi)
    spread = np.sqrt(np.diag(jacobian @ estimate.covariance @ jacobian.T))
    for k, name in enumerate(DERIVED):
        low, high = estimate.intervals[name]
        assert_close(0.5 * (high - low), factor * spread[k], 1e-12)


def test_more_data_narrow_the_intervals_by_the_root():
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    noise = wrench_noise(phi, 0.02)
    few, many = (
        np.sqrt(np.diag(estimate_body([samples(phi, rng, n, noise=noise).blocks()]).covariance))
        for n in (500, 8000)
    )
    assert_close(few / many, np.full(10, 4.0), 0.35)


def test_what_filtered_rows_are_worth_widens_the_intervals_where_blocks_are_few():
    rng = np.random.default_rng(6)
    phi = random_body(rng)
    log = samples(phi, rng, 100, noise=wrench_noise(phi, 0.02))
    worth = [np.sqrt(np.diag(estimate_body([log.blocks(n)]).covariance)) for n in (100.0, 25.0)]
    assert (worth[1] > 1.3 * worth[0]).all()


def test_the_covariance_is_symmetric_and_positive_semidefinite():
    rng = np.random.default_rng(7)
    phi = random_body(rng)
    covariance = estimate_body(
        [samples(phi, rng, 300, noise=wrench_noise(phi, 0.02)).blocks()]
    ).covariance
    assert_close(covariance, covariance.T, 1e-12)
    scale = np.sqrt(np.diag(covariance))
    assert np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] > 0.0


def test_a_subset_of_the_blocks_makes_a_fit_of_their_own():
    rng = np.random.default_rng(8)
    phi = random_body(rng)
    rows = samples(phi, rng, 400, noise=wrench_noise(phi, 0.02)).rows
    blocks = Statistics.from_rows(WRENCH_LAYOUT, rows, 400.0)
    half = estimate_body([blocks.subset(np.arange(40))]).parameters.phi
    same = estimate_body([Statistics.from_rows(WRENCH_LAYOUT, rows[:200], 200.0)]).parameters.phi
    assert_close(half, same, 1e-9)


# The parts, on few numbers -----------------------------------------------------------------------


def few(scores: np.ndarray, matrix: np.ndarray) -> Any:
    """What the covariance takes of a fit of few unknowns, all of them identifiable."""
    p = len(matrix)
    return SimpleNamespace(
        identifiability=SimpleNamespace(identifiable=np.eye(p), unidentifiable=np.zeros((p, 0))),
        scaling=SimpleNamespace(to_x=np.eye(p)),
        scaled_matrix=matrix,
        data=SimpleNamespace(system=SimpleNamespace(scores=lambda x, weights: scores)),
        x=np.zeros(p),
        weights=(),
    )


@pytest.mark.parametrize("count", [4, 5, 40])
def test_the_scatter_of_few_blocks_is_widened_by_the_degree_that_their_mean_takes(count):
    """One unknown: H⁻² Σ g² n/(n − 1), the variance of a mean of n from its own scatter."""
    scores = np.random.default_rng(9).normal(size=(count, 1))
    found = block_covariance(few(scores, np.array([[2.0]])))
    expected = np.sum(scores**2) * count / (count - 1) / 4.0**2
    assert_close(found, [[expected]], 1e-13)


def test_the_scatter_of_few_blocks_is_right_on_average():
    """Blocks of white scores about a fitted mean: their variance comes back, not 4/5 of it."""
    rng = np.random.default_rng(10)
    found = []
    for _ in range(4000):
        scores = 3.0 * rng.normal(size=(5, 1))
        scores -= scores.mean()  # as they are at the optimum
        found.append(block_covariance(few(scores, np.eye(1)))[0, 0])
    assert_close(np.mean(found), 5 * 9.0, 0.05)


def test_with_too_few_blocks_the_mean_scatter_of_all_directions_is_taken_if_above_one():
    rng = np.random.default_rng(11)
    R = np.triu(rng.normal(size=(3, 3))) + 3.0 * np.eye(3)
    scores = rng.normal(size=(6, 3)) @ R
    inverse = np.linalg.inv(R.T @ R)
    for size in (10.0, 0.01):
        mean = size**2 * np.trace(inverse @ scores.T @ scores) * 6 / 5 / 3
        found = block_covariance(few(size * scores, R))
        assert_close(found, max(1.0, mean) * inverse, 1e-12)


@pytest.mark.parametrize(
    ("moved", "half_width", "known", "word"),
    [
        (0.9, 0.5, False, "data"),
        (-0.9, 0.5, False, "data"),
        (1.1, 0.5, False, "constraint"),
        (-1.1, 0.5, False, "constraint"),
        (0.9, 1.5, False, "default"),
        (1.1, 1.5, False, "constraint"),
        (1.1, 0.5, True, "given"),
    ],
)
def test_a_constraint_decides_what_it_moved_by_more_than_a_standard_error(
    moved, half_width, known, word
):
    covariance = np.diag([4.0, 1e-6])
    fit: Any = SimpleNamespace(
        x=np.array([10.0, 5.0]),
        data=SimpleNamespace(known=np.array([known, False])),
        identifiability=SimpleNamespace(half_widths=np.array([half_width, 0.1])),
    )
    x = fit.x + np.array([2.0 * moved, 0.0])
    assert _decide(fit, x, covariance) == [word, "data"]

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import t as student

from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.certified_solution import deciding_sources
from identify.estimation.intervals import (
    DERIVED_NAMES,
    ESTIMATED_QUANTITIES,
    covariance_of,
    degrees_of_freedom,
    derived_jacobian,
    derived_quantities,
    intervals_of,
    offset_half_widths,
)
from identify.estimation.priors import Ball
from identify.estimation.terms import ComInBox, MassBetween
from identify.inertia import PHI, inertia_about_com
from identify.regressors import (
    ONE_BODY_SPACE,
    block_statistics,
    newton_euler_regressor,
)
from identify.signals import prepare
from tests.close import assert_close
from tests.estimation.simulated import fit_of, fitted, samples, size_of, wrench_noise
from tests.recordings import ALL, Path, record, with_wrench
from tests.slow import mostly_slow
from tests.strategies import bodies, random_body

OFFSETS = tuple(f"{kind}{axis} offset" for kind in "ft" for axis in "xyz")


@given(bodies(flat=False))
def test_the_derivative_of_centre_and_central_inertia_matches_finite_differences(phi):
    L = size_of(phi)
    steps = 1e-5 * phi[0] * np.repeat([1.0, L, L**2], [1, 3, 6])
    numeric = np.column_stack(
        [
            (derived_quantities(phi + step) - derived_quantities(phi - step)) / (2.0 * step.sum())
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
    values = dict(zip(DERIVED_NAMES, derived_quantities(phi), strict=True))
    assert values["cy"] == phi[2] / phi[0]
    c = phi[1:4] / phi[0]
    assert_close(values["Icxx"], phi[4] - phi[0] * (c[1] ** 2 + c[2] ** 2), 1e-13)
    assert_close(values["Icyz"], phi[8] + phi[0] * c[1] * c[2], 1e-12, scale=phi[4])


def test_exactly_known_parameters_do_not_widen_simultaneous_intervals():
    """Where a first moment is exactly known to be zero, rounding of it has errors of its own."""
    rng = np.random.default_rng(5)
    root = 1e-3 * rng.normal(size=(10, 10))
    root[1:3] = 0.0
    phi = np.array([1.0, 0.0, 0.0, 0.1, 0.02, 0.001, 0.002, 0.03, 0.001, 0.025])
    decided = dict.fromkeys(PHI, "data")

    def half_widths() -> np.ndarray:
        found = intervals_of(phi, root @ root.T, np.inf, decided, limits={}, simultaneous=True)
        return np.diff([interval for interval in found.values() if interval is not None])[:, 0] / 2

    exact = half_widths()
    phi[1:3] = 1e-30, -3e-25
    assert_close(half_widths(), exact, 1e-3)


def coverage(fits: int, count: int, *, logs: int = 1) -> np.ndarray:
    """Share of fits whose interval holds the truth, by name, of simulations with white noise."""
    rng = np.random.default_rng(42)
    phi = random_body(rng)
    truth = np.concatenate(
        (phi, derived_quantities(phi), np.linalg.eigvalsh(inertia_about_com(phi)))
    )
    hits = np.zeros(len(ESTIMATED_QUANTITIES) + len(OFFSETS))
    for _ in range(fits):
        biases = rng.normal(size=(logs, 6))
        noise = wrench_noise(phi, 0.01)
        blocks = [samples(phi, rng, count, noise=noise, bias=bias).blocks() for bias in biases]
        estimate = estimate_body(blocks)
        intervals = estimate.intervals
        held = [
            intervals[n][0] <= x <= intervals[n][1]
            for n, x in zip(ESTIMATED_QUANTITIES, truth, strict=True)
        ]
        near = np.abs(estimate.biases - biases) <= estimate.bias_half_widths
        hits += [*held, *near[-1]]
    return hits / fits


@pytest.mark.parametrize(
    ("count", "logs"),
    mostly_slow([(220, 1), (60, 1), (25, 1), (110, 2)], {(25, 1), (110, 2)}),
    ids=["44 blocks", "12 blocks", "5 blocks", "two logs"],
)
def test_intervals_cover_the_truth_nineteen_times_in_twenty(count, logs):
    shares = coverage(200, count, logs=logs)
    assert shares.min() >= 0.88, dict(zip((*ESTIMATED_QUANTITIES, *OFFSETS), shares, strict=True))
    assert np.sort(shares)[2] >= 0.9
    assert 0.925 <= shares.mean() <= 0.975


def test_white_noise_covariance_matches_classical_formula():
    rng = np.random.default_rng(1)
    phi = random_body(rng)
    log = samples(phi, rng, 4000, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    fit = fitted(log)
    classical = np.linalg.inv(fit.problem.A.T @ fit.problem.A)
    covariance = estimate_body([log.blocks()]).covariance
    size = np.sqrt(np.outer(np.diag(classical), np.diag(classical)))
    assert_close(covariance / size, classical / size, 1e-9)


def coloured_log(phi, seed: int):
    """Two minutes of a pose that is exact, its wrench as noisy slowly (0.15 s) as it is fast."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, 120.0, 0.02)
    white = rng.normal(size=(2, len(time), 6))
    slow = np.zeros_like(white[0])
    keep = np.exp(-0.02 / 0.15)
    for k in range(1, len(time)):
        slow[k] = keep * slow[k - 1] + np.sqrt(1.0 - keep**2) * white[0, k]
    recording = record(Path.random(2), phi, time, ALL)
    noise = (slow + white[1]) * wrench_noise(phi, 0.01)
    return block_statistics(prepare(with_wrench(recording, noise), 5.0))


def test_coloured_noise_widens_intervals_correctly():
    """Slow noise is louder in slow rows, which the bands find out."""
    phi = random_body(np.random.default_rng(3))
    squares = []
    for seed in range(16):
        estimate = estimate_body([coloured_log(phi, seed)])
        squares.append((estimate.parameters.phi - phi) ** 2 / np.diag(estimate.covariance))
    assert 0.5 < np.mean(squares) < 1.5


def test_intervals_are_the_estimate_plus_and_minus_students_t_standard_errors():
    rng = np.random.default_rng(4)
    phi = random_body(rng)
    blocks = samples(phi, rng, 50, noise=wrench_noise(phi, 0.02)).blocks()
    estimate = estimate_body([blocks])
    # Three channels of a kind, less what an offset and ten unknowns in six channels take.
    factor = student.ppf(0.975, 3.0 * (50.0 - 1.0 - 10.0 / 6.0))
    errors = np.sqrt(np.diag(estimate.covariance))
    for k, name in enumerate(PHI):
        low, high = estimate.intervals[name]
        value = estimate.parameters.phi[k]
        assert_close([low, high], [value - factor * errors[k], value + factor * errors[k]], 1e-12)
    jacobian = derived_jacobian(estimate.parameters.phi)
    spread = np.sqrt(np.diag(jacobian @ estimate.covariance @ jacobian.T))
    for k, name in enumerate(DERIVED_NAMES):
        low, high = estimate.intervals[name]
        assert_close(0.5 * (high - low), factor * spread[k], 1e-12)


@pytest.mark.parametrize("bias", ["per_log", "shared"])
def test_offsets_and_unknowns_are_as_uncertain_as_if_all_were_fitted_at_once(bias):
    """Against the covariance of [x; offsets] of one big least-squares problem."""
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    noise = wrench_noise(phi, 0.02)
    logs = [samples(phi, rng, n, noise=noise, bias=1.0) for n in (90, 160)]
    fit = fit_of([log.blocks() for log in logs], EstimatorSettings(bias=bias))
    L = np.linalg.cholesky(fit.weights[0]).T
    count = 2 if bias == "per_log" else 1
    stacks = []
    for number, log in enumerate(logs):
        Y = newton_euler_regressor(log.motion)
        offset = np.zeros((len(Y), 6, 6 * count))
        first = 6 * (number % count)
        offset[..., first : first + 6] = np.eye(6)
        stacks.append((L @ np.concatenate((Y, offset), axis=-1)).reshape(-1, 10 + 6 * count))
    rows = np.concatenate(stacks)
    units = np.linalg.norm(rows, axis=0)
    scaled = rows / units
    errors = np.sqrt(np.diag(np.linalg.inv(scaled.T @ scaled))) / units
    factor = student.ppf(0.975, 3.0 * 250.0)
    half = offset_half_widths(fit, covariance_of(fit))
    expected = factor * np.resize(errors[10:], (2, 6))
    assert_close(half / expected, np.ones((2, 6)), 1e-6)
    none = fit_of([log.blocks() for log in logs], EstimatorSettings(bias="none"))
    assert not offset_half_widths(none, covariance_of(none)).any()


def test_terms_bound_intervals_of_their_quantities():
    rng = np.random.default_rng(8)
    phi = random_body(rng)
    log = samples(phi, rng, 60, noise=wrench_noise(phi, 0.1)).blocks()
    free = estimate_body([log])
    (low, high), c = free.intervals["m"], free.parameters.com
    mass = free.parameters.mass
    box = ComInBox(tuple(c - 1e-3 * size_of(phi)), tuple(c + 2e-3 * size_of(phi)))
    between = MassBetween(0.5 * (low + mass), 2.0 * high)
    known = estimate_body([log], EstimatorSettings(terms=(between, box)))
    assert known.certificate.solver == "none"
    assert known.intervals["m"] == (between.low, high)
    for k, name in enumerate(("cx", "cy", "cz")):
        assert known.intervals[name] == (box.low[k], box.high[k])
    assert known.intervals["hx"] == free.intervals["hx"]


def test_degrees_match_the_bands_an_unknown_rests_on():
    """Of two groups that tell as much, the sum of theirs; never more than all there is."""
    phi = random_body(np.random.default_rng(3))
    fit = fit_of([coloured_log(phi, 0)])
    degrees = degrees_of_freedom(fit)
    system = fit.data.system
    inverse = np.linalg.inv(fit.problem.A.T @ fit.problem.A)
    informed = system.normal_matrices(fit.weights)[:, :-1, :-1]
    ((statistics, _),) = system.data
    means = statistics.total_factors[0, system.group_index[:, 1], 0, 0] ** 2
    taken = means / means.sum() + [np.trace(inverse @ H) / 6.0 for H in informed]
    each = np.maximum(3.0 * (system.padded.effective_samples - taken), 1.0)
    assert (degrees > min(each)).all()
    assert (degrees <= sum(each)).all()
    shares = np.array([np.diag(inverse @ H @ inverse) for H in informed])
    expected = shares.sum(axis=0) ** 2 / (shares**2 / np.array(each)[:, None]).sum(axis=0)
    noiseless = replace(fit, noise_moment=np.zeros_like(fit.noise_moment))
    assert_close(degrees_of_freedom(noiseless), expected, 1e-6)


def test_the_covariance_with_noise_in_the_motion_matches_the_corrected_equations():
    """B⁻¹ (H + X) B⁻¹ written out in SI."""
    phi = random_body(np.random.default_rng(3))
    noise = {"linear_acceleration": 1.5, "angular_acceleration": 6.0, "force": 0.2}
    time = np.arange(0.0, 20.0, 0.01)
    recording = record(Path.random(2), phi, time, ALL, noise=noise)
    fit = fit_of([block_statistics(prepare(recording, 5.0))])
    H = fit.problem.A.T @ fit.problem.A
    B = H - fit.noise_moment[:-1, :-1]
    expected = np.linalg.inv(B) @ (H + fit.score_excess) @ np.linalg.inv(B)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert_close(covariance_of(fit) / size, expected / size, 1e-6)
    assert np.abs(expected / size - np.linalg.inv(H) / size).max() > 0.03


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
def test_decided_by_constraint_needs_shift_of_one_standard_error(moved, half_width, known, word):
    covariance = np.diag([4.0, 1e-6])
    fit: Any = SimpleNamespace(
        x=np.array([10.0, 5.0]),
        data=SimpleNamespace(
            fixed=np.array([known, False]), space=ONE_BODY_SPACE, equalities=np.zeros((0, 10))
        ),
        identifiability=SimpleNamespace(half_widths=np.array([half_width, 0.1])),
    )
    posterior: Any = SimpleNamespace(fit=fit, x=fit.x, priors={0: Ball()}, agreement=None)
    x = fit.x + np.array([2.0 * moved, 0.0])
    assert deciding_sources(posterior, x, covariance) == [word, "data"]

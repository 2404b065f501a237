from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.estimation import estimate_body
from identify.estimation.errors_in_variables import subtract_noise_moment
from identify.estimation.fit_data import ChannelTypes
from identify.estimation.residual_weights import (
    BandCovariances,
    _at_band_lower_edge,
    _isotonic_decreasing,
    _shrinkage_degrees,
    _variance_inflation,
)
from identify.inertia import PHI, phi_from_inertia
from identify.regressors import block_statistics
from identify.signals import prepare
from tests.close import assert_close, assert_same_body, group_errors
from tests.estimation.simulated import fit_of
from tests.recordings import ALL, POSE, Path, Sines, record
from tests.strategies import random_body, seeds


def statistics_of(path, phi, time, give=POSE, **options):
    return block_statistics(prepare(record(path, phi, time, give, **options), 5.0))


def random_rows(rng: np.random.Generator, share: float):
    """Rows [R | r] of k unknowns and rows of noise that are at most a share of them."""
    k = int(rng.integers(2, 8))
    rows = rng.normal(size=(3 * k, k + 1)) * 10.0 ** rng.uniform(-3, 3, k + 1)
    moment = rows[:, :k].T @ rows[:, :k]
    root = np.linalg.cholesky(moment).T
    B = rng.normal(size=(k, k))
    values = np.linalg.eigvalsh(B @ B.T)
    noise = np.sqrt(share / values[-1]) * (B.T @ root)
    return rows, np.column_stack((noise, noise @ rng.normal(size=k)))


@given(seeds(), st.floats(0.01, 0.94))
def test_noise_that_is_corrected_matches_the_normal_equations(seed, share):
    rows, noise = random_rows(np.random.default_rng(seed), share)
    A, b = subtract_noise_moment(rows, noise.T @ noise)
    size = np.hypot(np.linalg.norm(rows, axis=0), np.linalg.norm(noise, axis=0))
    scale = np.outer(size, size)
    whole = rows.T @ rows - noise.T @ noise
    assert_close(A.T @ A / scale[:-1, :-1], whole[:-1, :-1] / scale[:-1, :-1], 1e-11, scale=1.0)
    assert_close(A.T @ b / scale[:-1, -1], whole[:-1, -1] / scale[:-1, -1], 1e-10, scale=1.0)


@given(seeds(), st.floats(1.0, 100.0))
def test_noise_subtraction_keeps_one_twentieth(seed, share):
    """Along a direction of nothing but noise the equations stay definite, and draw to zero."""
    rows, noise = random_rows(np.random.default_rng(seed), share)
    A, b = subtract_noise_moment(rows, noise.T @ noise)
    root = np.linalg.qr(rows[:, :-1], mode="r")
    left = np.linalg.solve(root.T, A.T)
    assert np.linalg.eigvalsh(left @ left.T)[0] > 0.05 * (1.0 - 1e-8)
    assert np.isfinite(b).all()


def bands_of(found, predicted, of_wrench, effective) -> BandCovariances:
    """Residuals of one kind in three channels, a band each."""
    kinds = np.ones((len(found), 1, 3), dtype=np.bool_)
    found, predicted, of_wrench = np.array(found), np.array(predicted), np.array(of_wrench)
    return BandCovariances(found, predicted, of_wrench, ChannelTypes(kinds, np.array(effective)))


def sizes_of(ratios, effective) -> np.ndarray:
    """Sizes of bands of one sensor whose residuals are so many times what was predicted."""
    predicted = np.array([2.0 * np.eye(3)] * len(ratios))
    found = np.array(ratios)[:, None, None] * predicted
    bands = bands_of(found, predicted, 0.0 * predicted, effective)
    sensors = np.arange(len(ratios))[None]
    return _variance_inflation(bands.variance_ratio, bands.types.degrees, sensors, pooled=False)[
        0, :, 0
    ]


def test_variance_inflation_follows_long_bands_and_is_at_least_unity():
    for ratio, size in ((4.0, 4.0), (1.0, 1.0), (0.3, 1.0)):
        assert_close(sizes_of([ratio] * 3, [1e6] * 3), np.full(3, size), 1e-4)


def test_variance_inflation_does_not_grow_with_frequency():
    found = sizes_of([1.0, 2.0, 6.0, 1.0], [1e6] * 4)
    assert_close(found, [1.0, 4.0, 4.0, 1.0], 1e-4)  # neighbours that grow share one
    falling = sizes_of([1.0, 9.0, 3.0, 1.0], [1e6] * 4)
    assert_close(falling, [1.0, 9.0, 3.0, 1.0], 1e-4)


def test_bands_of_few_rows_take_the_common_size():
    assert_close(sizes_of([4.0, 4.0, 40.0], [1e6, 1e6, 1e-3]), [4.0, 4.0, 4.0], 0.01)
    assert_close(sizes_of([4.0], [20.0]), [4.0], 1e-12)


def test_a_band_without_prediction_is_as_in_a_fit_without_noise():
    """What is predicted of one sensor's band says nothing of the other sensor's."""
    rng = np.random.default_rng(5)
    roots = rng.normal(size=(2, 3, 4))
    found, none = roots @ roots.swapaxes(1, 2), np.zeros((2, 3, 3))
    predicted = np.array([0.0 * np.eye(3), 0.5 * np.eye(3)])
    sensors = np.array([[0], [1]])
    both, alone = (bands_of(found, of, none, [40.0, 60.0]) for of in (predicted, none))
    assert both.has_prediction
    assert not alone.has_prediction
    size = np.trace(found[0]) / 3.0  # counted as 30 residuals of equal channels
    expected = (30.0 * size * np.eye(3) + 40.0 * found[0]) / 70.0
    for name in ("pooled_covariance", "band_covariance"):
        mixed, bare = getattr(both, name)(sensors), getattr(alone, name)(sensors)
        assert_close(mixed[0], expected, 1e-14)
        assert_close(bare[0], expected, 1e-14)
        assert np.abs(mixed[1] / bare[1] - 1.0).max() > 0.01


def test_sensors_with_fewer_bands_are_unaffected_by_others():
    """BandCovariances of two sensors in turn, one of which has a band less."""
    rng = np.random.default_rng(8)
    ratios, degrees = rng.uniform(0.5, 6.0, (5, 2)), rng.uniform(5.0, 90.0, (5, 2))
    sensors = np.array([[0, 2, 4], [1, 3, -1]])
    for alike in (True, False):
        both = _variance_inflation(ratios, degrees, sensors, pooled=alike)
        edges = _at_band_lower_edge(both, np.array([3, 2]))
        for number, own in enumerate(([0, 2, 4], [1, 3])):
            alone = _variance_inflation(
                ratios[own], degrees[own], np.arange(len(own))[None], pooled=alike
            )
            assert_close(both[number, : len(own)], alone[0], 1e-14)
            at_edges = _at_band_lower_edge(alone, np.array([len(own)]))
            assert_close(edges[number, : len(own)], at_edges[0], 1e-14)


def test_residual_covariance_is_used_without_predicted_noise():
    nothing = np.zeros((2, 3, 3))
    silent = bands_of([3.0 * np.eye(3)] * 2, nothing, nothing, [50.0] * 2)
    ratios = silent.variance_ratio
    assert np.isnan(ratios).all()
    sizes = _variance_inflation(ratios, silent.types.degrees, np.arange(2)[None], pooled=False)
    assert sizes.shape == (1, 2, 1)
    assert np.isfinite(sizes).all()
    assert_close(silent.shrunk_covariance(ratios, sizes[0]), [3.0 * np.eye(3)] * 2, 1e-12)


def test_excess_has_shape_of_predicted_sensor_noise():
    of_motion, of_wrench = np.diag([0.0, 5.0, 5.0]), np.eye(3)
    predicted = of_motion + of_wrench
    coloured = predicted + 8.0 * of_wrench
    both = bands_of([coloured], [predicted], [of_wrench], [60.0])
    excess, ratio = both.excess_template[0], float(both.variance_ratio[0, 0])
    left = 1.0 - 3.0 / 13.0
    assert_close(excess, of_wrench + left * predicted, 1e-12)
    assert_close(np.trace(excess), np.trace(predicted), 1e-12)
    # Its size solves the score equation of that model: tr V⁻¹ E V⁻¹ (found − V) = 0.
    V = predicted + (ratio - 1.0) * excess
    inverse = np.linalg.inv(V)
    score = np.trace(inverse @ excess @ inverse @ (coloured - V))
    slope = np.trace(inverse @ excess @ inverse @ excess)
    assert abs(score / slope) < 0.05 * ratio
    # The noise alone: exact, whatever its size.
    for size in (0.5, 1.0, 9.0):
        alone = bands_of([size * of_wrench], [of_wrench], [of_wrench], [60.0])
        assert_close(alone.variance_ratio, [[size]], 1e-12)
    # Without noise in the wrench, an excess is one of all that was predicted.
    exact = bands_of([4.0 * of_wrench], [of_wrench], [0.0 * of_wrench], [60.0])
    sizes = np.array([[4.0]])
    assert_close(exact.shrunk_covariance(exact.variance_ratio, sizes)[0], 4.0 * of_wrench, 1e-12)


def test_bands_that_differ_by_chance_alone_take_the_common_size():
    rng = np.random.default_rng(3)
    degrees = np.full((1, 7, 1), 30.0)
    by_chance = [
        _shrinkage_degrees(rng.chisquare(30.0, (1, 7, 1)) / 30.0, degrees)[0, 0] for _ in range(200)
    ]
    assert np.median(by_chance) == 100.0
    differing = np.geomspace(20.0, 1.0, 7)[None, :, None] * rng.chisquare(30.0, (1, 7, 1)) / 30.0
    assert_close(_shrinkage_degrees(differing, degrees), [[3.0]], 1e-12)
    # Sizes of variance τ² count as 2 / τ² degrees of freedom: many bands, known well.
    spread = rng.gamma(10.0, 0.1, (1, 4000, 1))
    assert abs(_shrinkage_degrees(spread, np.full((1, 4000, 1), 1e6))[0, 0] / 20.0 - 1.0) < 0.1


def test_an_excess_that_falls_is_larger_at_the_lower_edge_of_its_band():
    falling = np.array([5.0, 8.0, 4.0, 1.0])[None, :, None]
    expected = [5.0, 8.0 * np.sqrt(2.0), 4.0 * np.sqrt(2.0), 2.0]
    assert_close(_at_band_lower_edge(falling, np.array([4]))[0, :, 0], expected, 1e-12)
    steep = _at_band_lower_edge(np.array([1.0, 100.0, 1.0])[None, :, None], np.array([3]))
    assert_close(steep[0, :, 0], [1.0, 200.0, 2.0], 1e-12)
    alone = np.array([1.0, 3.0])[None, :, None]
    assert_close(_at_band_lower_edge(alone, np.array([2])), alone, 0.0)


@settings(max_examples=50)
@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=8), seeds())
def test_isotonic_regression_is_nearest_non_increasing(values, seed):
    weights = np.random.default_rng(seed).uniform(0.1, 5.0, len(values))
    values = np.array(values)
    found = _isotonic_decreasing(values, weights)
    assert (np.diff(found) <= 1e-12).all()
    # Optimal among what does not grow: any step towards another such sequence costs.
    rng = np.random.default_rng(seed)
    for _ in range(20):
        other = np.sort(rng.uniform(0.0, 11.0, len(values)))[::-1]
        slope = np.sum(weights * (found - values) * (other - found))
        assert slope >= -1e-9
    assert_close(np.sum(weights * found), np.sum(weights * values), 1e-12)


@pytest.mark.parametrize("kind", ["classical", "spatial", "proper"])
@pytest.mark.parametrize("frame", ["body", "world"])
def test_a_motion_in_closed_form_gives_back_its_body(kind, frame):
    phi = random_body(np.random.default_rng(0))
    time = np.arange(0.0, 12.0, 0.01)
    bias = np.array([3.0, -2.0, 5.0, 0.3, -0.2, 0.1])
    blocks = statistics_of(
        Path.random(3), phi, time, ALL, kind=kind, twist=frame, acceleration=frame, bias=bias
    )
    estimate = estimate_body([blocks])
    assert_same_body(estimate.parameters.phi, phi, 1e-9)
    assert_close(estimate.biases[0], bias, 1e-9)


def test_a_motion_with_fast_parts_of_its_own_is_not_taken_for_noise():
    """The body shakes where noise is read, above the smoothed band, and nothing is noisy."""
    phi = random_body(np.random.default_rng(1))
    time = np.arange(0.0, 20.0, 0.005)
    slow = Path.random(3, fastest_hz=0.4)
    rng = np.random.default_rng(4)
    shaking = [Sines.random(rng, size, 45.0, terms=150) for size in (2e-3, 4e-3)]
    shaken = Path(*(_both(*pair) for pair in zip((slow.place, slow.angles), shaking, strict=True)))
    blocks = statistics_of(shaken, phi, time, ALL)
    assert np.abs(blocks.noise).max() > 1.0
    assert_same_body(estimate_body([blocks]).parameters.phi, phi, 1e-7)


def _both(one: Sines, other: Sines) -> Sines:
    names = ("amplitude", "frequency_hz", "phase")
    return Sines(*(np.hstack((getattr(one, name), getattr(other, name))) for name in names))


@pytest.mark.parametrize("give", [ALL, POSE])
@pytest.mark.parametrize("force", [0.0, 0.05])
def test_exact_motion_needs_no_noise_correction(give, force):
    """What is read off an exact motion is rounding, and changes nothing: not the rounds either."""
    phi = random_body(np.random.default_rng(4), 1.0, 0.1)
    noise = {"force": force, "torque": 0.05 * force} if force else {}
    time = np.arange(0.0, 12.0, 0.01)
    blocks = statistics_of(Path.random(6), phi, time, give, noise=noise, seed=1)
    none = blocks.noise.copy()
    none[..., 1:13] = 0.0
    assert blocks.noise[..., 1:13].any()
    as_read, without = (estimate_body([each]) for each in (blocks, replace(blocks, noise=none)))
    assert_same_body(as_read.parameters.phi, without.parameters.phi, 1e-9)
    if force:  # or the covariance is that of rounding
        scale = np.sqrt(np.diag(without.covariance))
        unit = np.outer(scale, scale)
        assert_close(as_read.covariance / unit, without.covariance / unit, 1e-9)


def attenuated(seed: int, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimates with and without noise of the motion counted."""
    noise = {
        "linear_acceleration": 1.5,
        "angular_acceleration": 6.0,
        "force": 0.2,
        "torque": 0.02,
    }
    time = np.arange(0.0, 20.0, 0.01)
    blocks = statistics_of(Path.random(3), phi, time, ALL, noise=noise, seed=seed, bias=np.ones(6))
    fit = fit_of([blocks])
    plain = np.linalg.solve(fit.problem.A, fit.problem.b)
    return estimate_body([blocks]).parameters.phi, plain


def test_noise_of_the_accelerations_does_not_shrink_the_inertia():
    """Plain weighted least squares is attenuated by many standard errors of a mean; this is not."""
    phi = random_body(np.random.default_rng(2))
    found = [attenuated(seed, phi) for seed in range(20)]
    corrected, plain = (np.array([each[k] for each in found]) - phi for k in (0, 1))
    z, z_plain = (
        error.mean(axis=0) / (error.std(axis=0, ddof=1) / np.sqrt(len(error)))
        for error in (corrected, plain)
    )
    assert np.abs(z_plain[[4, 7, 9]]).min() > 5.0, z_plain
    assert np.abs(z).max() < 3.5, z
    assert np.median(np.abs(z)) < 1.5, z


def long_thin_tool() -> np.ndarray:
    """0.3 kg, 25 cm long and 1.5 cm thick, held at one end."""
    mass, length, thick = 0.3, 0.25, 0.015
    inertia = mass / 12.0 * np.diag([length**2, length**2, thick**2])
    return phi_from_inertia(mass, np.array([0.01, 0.0, 0.11]), inertia)


def test_noise_of_the_pose_alone_does_not_end_at_the_default_body():
    phi = long_thin_tool()
    time = np.arange(0.0, 20.0, 0.01)
    noise = {"position": 2e-4, "quaternion": 0.5 * np.deg2rad(0.1)}
    for seed in range(6):
        path = Path.random(seed + 10, fastest_hz=1.2)
        estimate = estimate_body([statistics_of(path, phi, time, noise=noise, seed=seed)])
        errors = group_errors(estimate.parameters.phi, phi)
        assert errors.mass < 0.01, seed
        assert errors.first_moment < 0.03, seed
        assert errors.inertia < 0.05, seed
        known = [estimate.decided_by[name] for name in ("m", "hx", "hy", "hz", "Ixx", "Iyy")]
        assert "default" not in known, seed


@pytest.mark.parametrize("kind", ["wrench", "pose and wrench"])
def test_intervals_cover_whichever_signal_is_noisy(kind):
    """Three bodies, ten seeds each, ten parameters: nineteen in twenty, within chance."""
    hits, count, missed = 0, 0, np.zeros(10)
    time = np.arange(0.0, 12.0, 0.01)
    for body in range(3):
        phi = random_body(np.random.default_rng(body), 1.0, 0.1)
        noise = {"force": 0.1, "torque": 0.01}
        if kind != "wrench":
            noise |= {"position": 2e-4, "quaternion": 1e-3}
        give = ALL if kind == "wrench" else POSE
        for seed in range(10):
            path = Path.random(20 + body)
            blocks = statistics_of(path, phi, time, give, noise=noise, seed=seed)
            intervals = estimate_body([blocks]).intervals
            for k, name in enumerate(PHI):
                if intervals[name] is None:
                    continue
                low, high = intervals[name]
                count += 1
                hits += low <= phi[k] <= high
                missed[k] += not low <= phi[k] <= high
    assert count > 240
    # Errors of one fit are alike: about a third of the numbers are independent.
    assert 0.90 < hits / count < 0.995, missed
    assert missed.max() <= 7, missed

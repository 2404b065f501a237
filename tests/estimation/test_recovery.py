import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.errors import SolveError
from identify.estimation import EstimatorSettings, estimate_body
from identify.inertia import inertia_about_com, smallest_pseudo_eigenvalue
from identify.logs.synthetic import Noise, synthetic_recording
from identify.regressors import block_statistics
from identify.signals import prepare
from tests.close import assert_close, group_errors
from tests.estimation.simulated import flat_body, samples, size_of
from tests.strategies import bodies, random_body, seeds

BIASES = ["per_log", "shared", "none"]
EXACT = 1e-6


def assert_recovered(estimate, phi: np.ndarray, rtol: float = EXACT) -> None:
    errors = group_errors(estimate.parameters.phi, phi)
    assert max(errors) <= rtol, errors
    Ic = inertia_about_com(phi)
    assert_close(estimate.parameters.inertia_about_com, Ic, 10.0 * rtol)
    assert estimate.parameters.consistent
    assert estimate.complete
    assert estimate.default_body is None
    assert estimate.certificate.primal_residual <= 1e-9


def random_bias(phi: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 20.0 * phi[0] * rng.normal(size=6) * np.repeat([1.0, size_of(phi)], 3)


@settings(max_examples=60)
@given(bodies(flat=False), seeds(), st.sampled_from(BIASES))
def test_a_full_body_is_recovered_from_a_gram_to_a_hundred_tonnes(phi, seed, bias):
    rng = np.random.default_rng(seed)
    shift = 0.0 if bias == "none" else random_bias(phi, rng)
    log = samples(phi, rng, 100, bias=shift).blocks()
    estimate = estimate_body([log], EstimatorSettings(bias=bias))
    assert_recovered(estimate, phi, 1e-9)
    assert estimate.certificate.solver == "none"
    assert set(estimate.decided_by.values()) == {"data"}
    assert_close(
        estimate.biases[0], np.broadcast_to(shift, 6), 1e-9, scale=np.abs(shift).max() + phi[0]
    )


@pytest.mark.parametrize(
    ("name", "thin"),
    [("plate", (1.0, None, 0.0)), ("rod", (1.0, 0.0, 0.0)), ("sheet", (1, None, 1e-4))],
)
@pytest.mark.parametrize("bias", ["per_log", "none"])
def test_a_thin_body_is_recovered_and_every_fit_is_certified(name, thin, bias):
    """The constraint is active, or within rounding of it; no fit may fail."""
    refused = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        sides = tuple(rng.uniform(0.1, 1.0) if side is None else side for side in thin)
        phi = flat_body(rng, sides)
        log = samples(phi, rng, 60, bias=0.0 if bias == "none" else random_bias(phi, rng)).blocks()
        try:
            estimate = estimate_body([log], EstimatorSettings(bias=bias))
        except SolveError as error:
            refused.append((seed, str(error)))
            continue
        assert_recovered(estimate, phi)
        assert smallest_pseudo_eigenvalue(estimate.parameters.phi) > 0.0
    assert not refused, f"{len(refused)} of 50 {name}s: {refused[:3]}"


@pytest.mark.parametrize("thickness", [1e-2, 1e-3, 1e-4])
def test_the_margin_does_not_thicken_a_ruler(thickness):
    rng = np.random.default_rng(1)
    phi = flat_body(rng, (1.0, 0.1, thickness))
    estimate = estimate_body([samples(phi, rng, 200).blocks()])
    assert_recovered(estimate, phi, 1e-9)
    least = np.sort(estimate.parameters.principal_moments)[0]
    assert_close(least, np.linalg.eigvalsh(inertia_about_com(phi))[0], 1e-6)


@settings(max_examples=20)
@given(seeds(), st.integers(2, 4), st.sampled_from(["per_log", "shared"]))
def test_body_is_recovered_from_several_logs_with_separate_or_shared_bias(seed, count, bias):
    rng = np.random.default_rng(seed)
    phi = random_body(rng, mass=2.0)
    shared = random_bias(phi, rng)
    shifts = [shared if bias == "shared" else random_bias(phi, rng) for _ in range(count)]
    logs = [samples(phi, rng, 60, bias=shift).blocks() for shift in shifts]
    estimate = estimate_body(logs, EstimatorSettings(bias=bias))
    assert_recovered(estimate, phi, 1e-9)
    assert_close(estimate.biases, shifts, 1e-9)
    assert estimate.samples == 60 * count


def test_known_mass_resolves_scale_ambiguity():
    """Without gravity and without linear acceleration the motion does not tell the mass."""
    rng = np.random.default_rng(3)
    phi = random_body(rng)
    log = samples(phi, rng, 200)
    log.motion.proper_acceleration[:] = 0.0
    log = samples(phi, rng, motion=log.motion).blocks()
    estimate = estimate_body([log], EstimatorSettings(mass=1.0, bias="none"))
    assert_recovered(estimate, phi, 1e-9)


@pytest.mark.parametrize("exact", ["force", "torque"])
def test_noise_free_half_of_wrench_does_not_hide_other_half(exact):
    """It weighs more, but not so much more that double precision loses the mass."""
    rng = np.random.default_rng(3)
    phi = random_body(rng, mass=1.2, size=0.1)
    noise = Noise(torque=0.01) if exact == "force" else Noise(force=0.1)
    recording = synthetic_recording(phi, rng=rng, noise=noise, include="all", duration=10.0)
    estimate = estimate_body([block_statistics(prepare(recording))])
    assert estimate.complete
    assert estimate.parameters.mass == pytest.approx(phi[0], rel=1e-3)
    low, high = estimate.intervals["m"]
    assert low <= phi[0] <= high

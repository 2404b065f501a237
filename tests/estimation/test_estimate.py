from dataclasses import asdict, replace

import numpy as np
import pytest

from identify.estimation import estimate_body
from identify.estimation.intervals import INTERVAL_KIND
from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
from identify.estimation.scaling import BodyScaling
from identify.findings import Finding
from identify.inertia import PHI, pseudo_inertia
from tests.close import assert_close
from tests.estimation.simulated import residual_rows, samples, wrench_noise
from tests.strategies import random_body


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    phi = random_body(rng)
    logs = [
        samples(phi, rng, n, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
        for n in (300, 200)
    ]
    return phi, logs, estimate_body([logs[0].blocks(150.0), logs[1].blocks(100.0)])


def test_residuals_match_the_samples_without_the_offset(made):
    _, logs, estimate = made
    residuals = np.concatenate(
        [
            residual_rows(log.rows, estimate.parameters.phi) - bias
            for log, bias in zip(logs, estimate.biases, strict=True)
        ]
    )
    assert_close(estimate.residual_rms, np.sqrt(np.mean(residuals**2, axis=0)), 1e-10)


def test_well_excited_fit_is_decided_by_data(made):
    phi, _, estimate = made
    assert estimate.decided_by == dict.fromkeys(PHI, "data")
    assert estimate.complete
    assert estimate.interval_kind == f"{INTERVAL_KIND}; {WITHOUT_SENSOR_FAULTS}"
    assert "noise of wrench and motion counted" in INTERVAL_KIND
    inside = [
        estimate.intervals[name][0] < value < estimate.intervals[name][1]
        for name, value in zip(PHI, phi, strict=True)
    ]
    assert sum(inside) >= 8


def test_estimate_does_not_keep_signals(made):
    _, _, estimate = made
    sizes = [np.size(value) for value in asdict(estimate).values() if isinstance(value, np.ndarray)]
    assert max(sizes) <= 100


def test_rows_of_no_recording_have_no_digest(made):
    _, _, estimate = made
    assert [bias.sha256 for bias in estimate.bias] == ["", ""]
    assert_close(estimate.bias[1].wrench, estimate.biases[1], 0.0)
    assert estimate.bias_half_widths.shape == (2, 6)


def test_saved_estimate_keeps_all_fields(made):
    _, _, estimate = made
    assert estimate.saved is estimate


def test_the_verdict_follows_the_findings_and_the_needs(made):
    _, _, estimate = made
    assert estimate.verdict.usable == "yes"
    assert estimate.verdict.identifiable == tuple(PHI)
    wrong = replace(estimate, findings=(Finding("unexplained", "error", "Wrong.", "Fit again."),))
    assert wrong.verdict.usable == "no"
    assert replace(wrong, findings=()).verdict == estimate.verdict
    assert replace(estimate, needs={"mass 1%": False}).verdict.needs == {"mass 1%": False}
    with pytest.raises(ValueError, match="verdict"):
        replace(estimate, verdict=wrong.verdict)


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e5])
def test_scaling_round_trip_is_a_congruence(mass):
    rng = np.random.default_rng(1)
    phi = random_body(rng, mass, 0.2 * np.cbrt(mass))
    length, com = 0.3 * np.cbrt(mass), phi[1:4] / phi[0]
    body = BodyScaling(mass, length, com)
    T = np.eye(4)
    T[:3, :3] /= length
    T[:3, 3] = -com / length
    theta = body.to_theta @ phi
    assert_close(pseudo_inertia(theta), T @ pseudo_inertia(phi) @ T.T / mass, 1e-13)
    back = body.to_phi @ theta
    units = mass * np.repeat([1.0, length, length**2], [1, 3, 6])
    assert_close(back, phi, 1e-14, scale=10.0 * units)
    assert_close(body.to_theta @ body.to_phi, np.eye(10), 1e-12)

import numpy as np
import pytest

from identify.errors import LogError
from identify.logs import Recording
from identify.logs.synthetic import synthetic_recording
from identify.studies.perturbations.noise import StarsNoise

PHI = np.array([0.6, 0.012, -0.018, 0.03, 3e-3, 1e-4, -2e-4, 3e-3, 1e-4, 1.2e-3])
FACTORS = {"none": 0.0, "low": 1.0, "moderate": 2.0, "high": 4.0}
SIGMAS = {
    "linear_acceleration": 0.025,
    "angular_acceleration": 0.25,
    "force": 0.05,
    "torque": 0.0025,
}
"""As published [m/s², rad/s², N, N m]."""


@pytest.fixture(scope="module")
def recording() -> Recording:
    rng = np.random.default_rng(0)
    return synthetic_recording(PHI, rng=rng, duration=40.0, include="all", frame="world")


def perturbed(recording: Recording, level: str) -> Recording:
    return StarsNoise(level=level).apply(recording, np.random.default_rng(1))


@pytest.mark.parametrize("level", FACTORS)
def test_noise_has_the_published_sigma_and_is_white(recording, level):
    noisy = perturbed(recording, level)
    for name, sigma in SIGMAS.items():
        noise = noisy.signals[name] - recording.signals[name]
        count = noise.size
        if FACTORS[level] == 0.0:
            assert not noise.any()
            continue
        unit = noise / (FACTORS[level] * sigma)
        assert unit.std() == pytest.approx(1.0, abs=5.0 / np.sqrt(2.0 * count))
        assert unit.mean() == pytest.approx(0.0, abs=5.0 / np.sqrt(count))
        assert np.mean(unit[1:] * unit[:-1]) == pytest.approx(0.0, abs=5.0 / np.sqrt(count))
        assert np.mean(unit[:, 0] * unit[:, 1]) == pytest.approx(0.0, abs=5.0 / np.sqrt(len(unit)))


def test_a_log_whose_exact_twist_would_be_differentiated_is_rejected():
    rng = np.random.default_rng(0)
    twist_only = synthetic_recording(PHI, rng=rng, duration=5.0, include="twist")
    with pytest.raises(LogError, match="the noise needs linear_acceleration"):
        perturbed(twist_only, "low")

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.inertia.composition import (
    ImpossibleDifference,
    composite,
    subtract,
    subtract_estimates,
)
from tests.close import assert_close, assert_same_body, body_scale
from tests.strategies import bodies, phi_of_points, random_body, seeds


@given(seeds())
def test_a_composite_is_the_body_of_all_points(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(3, 4, 3)), rng.uniform(0.1, 1.0, (3, 4))
    parts = np.array([phi_of_points(p, m) for p, m in zip(points, weights, strict=True)])
    whole = phi_of_points(points.reshape(12, 3), weights.ravel())
    assert_same_body(composite(parts), whole, 1e-14)
    assert_close(composite(parts.reshape(1, 3, 10)), whole[None], 1e-14)


@given(bodies(offset=1.0), bodies(offset=1.0))
def test_payload_is_loaded_minus_unloaded_body(load, payload):
    with_ = composite(np.stack((load, payload)))
    rest = subtract(with_, load)
    scale = body_scale(load) + body_scale(payload)
    assert_close(rest, payload, 1e-15, scale=2.0 * scale)


@given(bodies(flat=False, offset=1.0), st.floats(1e-9, 0.5))
def test_negative_difference_is_rejected_with_mass(phi, share):
    with pytest.raises(
        ImpossibleDifference, match=r"with − without is not physically consistent: the mass is -"
    ):
        subtract(phi, (1.0 + share) * phi)


def test_the_error_names_the_body_of_a_batch_and_keeps_the_verdict():
    rng = np.random.default_rng(2)
    load, payload = random_body(rng), random_body(rng, mass=0.3)
    broken = payload.copy()
    broken[4] += 2.0 * broken[[4, 7, 9]].sum()
    with_ = load + np.array([[payload, payload], [broken, payload]])
    with pytest.raises(
        ImpossibleDifference, match=r"without \(body \(1, 0\)\).*triangle"
    ) as caught:
        subtract(with_, load)
    assert caught.value.index == (1, 0)
    assert caught.value.verdict.violations[0].rule == "triangle"
    assert "the same load without the payload" in str(caught.value)
    with pytest.raises(ImpossibleDifference, match=r"without \(body 0\)"):
        subtract(with_[1], load)
    assert_close(subtract(with_[0], load), np.stack((payload, payload)), 1e-14, scale=1.0)


class TestUncertainty:
    """Two estimates with noise."""

    def noisy(self, sigma: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A heavy load with a light payload, the load alone, and the covariance of each."""
        rng = np.random.default_rng(seed)
        load, payload = random_body(rng, mass=10.0), random_body(rng, mass=0.05)
        deviation = sigma * body_scale(load)
        noise = deviation * rng.normal(size=(2, 10))
        return load + payload + noise[0], load + noise[1], np.diag(deviation**2)

    def test_the_covariance_is_the_sum_of_both(self):
        with_, without, cov = self.noisy(1e-6, 0)
        rest = subtract_estimates(with_, without, cov, 3.0 * cov)
        assert rest.covariance is not None
        assert_close(rest.covariance, 4.0 * cov, 1e-15)
        assert_close(rest.phi, with_ - without, 0.0)
        assert rest.violation_sigmas is None
        assert not rest.verdict.impossible

    def test_difference_needs_both_covariances(self):
        with_, without, cov = self.noisy(1e-6, 0)
        for rest in (subtract_estimates(with_, without), subtract_estimates(with_, without, cov)):
            assert rest.covariance is None
            assert rest.violation_sigmas is None

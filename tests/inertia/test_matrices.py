import numpy as np
import pytest
from hypothesis import given

from identify.inertia import (
    inertia_about_com,
    inertia_about_origin,
    phi_from_inertia,
    phi_from_pseudo_inertia,
    pseudo_inertia,
    spatial_inertia,
)
from identify.inertia.matrices import (
    inertia_from_second_moment,
    move_inertia,
    move_second_moment,
    rounding_error_about_com,
    second_moment_about_com,
    second_moment_from_inertia,
)
from identify.spatial import hat, rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import phi_of_points, seeds, vectors


def cloud(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 3)) + rng.normal(size=3), rng.uniform(0.1, 1.0, 12)


@given(seeds())
def test_pseudo_inertia_is_the_second_moment_of_homogeneous_points(seed):
    points, weights = cloud(seed)
    homogeneous = np.column_stack((points, np.ones(12)))
    Pi = (homogeneous * weights[:, None]).T @ homogeneous
    assert_close(pseudo_inertia(phi_of_points(points, weights)), Pi, 1e-14)


@given(vectors(16, 3.0))
def test_pseudo_inertia_to_phi_and_back_for_any_symmetric_matrix(entries):
    Pi = entries.reshape(4, 4) + entries.reshape(4, 4).T
    assert_close(pseudo_inertia(phi_from_pseudo_inertia(Pi)), Pi, 1e-15, scale=20.0)


def test_everything_takes_batches():
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(6, 5, 3)), rng.uniform(0.5, 1.0, (6, 5))
    phi = np.array([phi_of_points(p, m) for p, m in zip(points, weights, strict=True)])
    batch = phi.reshape(2, 3, 10)
    for function in (
        pseudo_inertia,
        spatial_inertia,
        inertia_about_com,
        inertia_about_origin,
        lambda x: phi_from_pseudo_inertia(pseudo_inertia(x)),
        lambda x: phi_from_inertia(x[..., 0], x[..., 1:4] / x[..., :1], inertia_about_com(x)),
    ):
        many = function(batch)
        assert many.shape[:2] == (2, 3)
        for index in np.ndindex(2, 3):
            one = function(batch[index])
            assert_close(many[index], one, 1e-14, scale=np.abs(one).max())


class Cloud:
    """Point masses, with the text's integrals as sums over them."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.points = rng.normal(size=(8, 3)) + rng.normal(size=3)
        self.weights = rng.uniform(0.1, 1.0, 8)
        self.mass = float(self.weights.sum())
        self.com = self.weights @ self.points / self.mass
        self.phi = phi_of_points(self.points, self.weights)

    def inertia(self, p: np.ndarray) -> np.ndarray:
        """(5): −∫ρ (r − p)× (r − p)× dr."""
        return -sum(
            m * hat(r - p) @ hat(r - p) for m, r in zip(self.weights, self.points, strict=True)
        )

    def second_moment(self, p: np.ndarray) -> np.ndarray:
        """(8): ∫ρ (r − p)(r − p)ᵀ dr."""
        arms = self.points - p
        return (arms * self.weights[:, None]).T @ arms


@given(seeds(), vectors(3, 3.0), vectors(3, 3.0))
def test_parallel_axes_between_any_two_points_are_the_integrals(seed, q, p):
    cloud = Cloud(seed)
    I_q, S_q = cloud.inertia(q), cloud.second_moment(q)
    arguments = (cloud.mass, cloud.com)
    I_p = move_inertia(I_q, *arguments, from_point=q, to_point=p)
    S_p = move_second_moment(S_q, *arguments, from_point=q, to_point=p)
    assert_close(I_p, cloud.inertia(p), 1e-14, scale=1e3)
    assert_close(S_p, cloud.second_moment(p), 1e-14, scale=1e3)
    Dq, Dp = hat(q - cloud.com), hat(p - cloud.com)
    assert_close(I_p, I_q + cloud.mass * (Dq @ Dq - Dp @ Dp), 1e-14, scale=1e3)


@given(seeds())
def test_second_moment_and_inertia_are_each_others_inverse_about_any_point(seed):
    cloud = Cloud(seed)
    I, S = cloud.inertia(np.zeros(3)), cloud.second_moment(np.zeros(3))
    assert_close(second_moment_from_inertia(I), S, 1e-14, scale=np.trace(I))
    assert_close(inertia_from_second_moment(S), I, 1e-14, scale=np.trace(I))
    assert_close(np.trace(I), 2.0 * np.trace(S), 1e-14)
    assert_close(inertia_about_origin(cloud.phi), I, 1e-14, scale=np.trace(I))


@pytest.mark.parametrize("distance", [0.0, 1.0, 1e3, 1e6])
def test_the_rounding_about_the_centre_of_mass_bounds_that_of_exact_plates(distance):
    """And it is no more than some ten times what is seen."""
    rng = np.random.default_rng(8)
    count = 2000
    axes = rotation_from_quaternion(rng.normal(size=(count, 4)))
    spread = np.stack((np.ones(count), rng.uniform(0, 1, count), np.zeros(count)), axis=-1)
    S = (axes * spread[:, None, :]) @ axes.swapaxes(1, 2)
    com = rng.normal(size=(count, 3))
    com *= distance / np.linalg.norm(com, axis=-1, keepdims=True)
    phi = phi_from_inertia(np.full(count, 3.0), com, 3.0 * inertia_from_second_moment(S))
    seen = np.abs(
        np.linalg.eigvalsh(second_moment_about_com(phi))[:, 0]
    ) / rounding_error_about_com(phi)
    assert 0.05 < seen.max() < 0.7

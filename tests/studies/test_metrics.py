import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.linalg import logm, sqrtm

from identify.arrays import Phi
from identify.inertia import in_frame, phi_from_pseudo_inertia, pseudo_inertia
from identify.spatial import Pose, exp_rotation
from identify.studies.estimator import EstimatorOutput
from identify.studies.metrics import (
    com_error,
    consistency_score,
    first_moment_error,
    inertia_error,
    mass_error,
    riemannian_distance,
)

seeds = st.integers(0, 2**32 - 1)


def body_of_points(rng: np.random.Generator) -> Phi:
    """A body of twelve point masses somewhere near the origin."""
    points = np.concatenate((rng.normal(0.1, 0.2, (12, 3)), np.ones((12, 1))), axis=1)
    masses = rng.uniform(0.05, 0.5, 12)
    return phi_from_pseudo_inertia(np.einsum("n,ni,nj->ij", masses, points, points))


def random_pose(rng: np.random.Generator) -> Pose:
    return Pose.from_quaternion(exp_rotation(rng.normal(0.0, 1.5, 3)), rng.normal(0.0, 1.0, 3))


@given(seeds)
def test_riemannian_distance_is_the_norm_of_the_matrix_logarithm(seed):
    rng = np.random.default_rng(seed)
    a, b = body_of_points(rng), body_of_points(rng)
    inverse_root = np.linalg.inv(np.real(sqrtm(pseudo_inertia(a))))
    between = np.real(logm(inverse_root @ pseudo_inertia(b) @ inverse_root))
    assert riemannian_distance(a, b) == pytest.approx(
        np.linalg.norm(between) / np.sqrt(2.0), rel=1e-6
    )


@given(seeds)
def test_riemannian_distance_is_the_same_in_every_frame_and_unit_and_either_way(seed):
    rng = np.random.default_rng(seed)
    a, b, X = body_of_points(rng), body_of_points(rng), random_pose(rng)
    distance = riemannian_distance(a, b)
    moved = riemannian_distance(in_frame(a, X), in_frame(b, X))
    millimetres = np.diag([1e3, 1e3, 1e3, 1.0])
    rescaled = [
        phi_from_pseudo_inertia(millimetres @ pseudo_inertia(phi) @ millimetres) for phi in (a, b)
    ]
    assert moved == pytest.approx(distance, rel=1e-6)
    assert riemannian_distance(*rescaled) == pytest.approx(distance, rel=1e-6)
    assert riemannian_distance(b, a) == pytest.approx(distance, rel=1e-6)


def test_an_imconsistent_body_has_no_riemannian_distance():
    phi = body_of_points(np.random.default_rng(0))
    impossible = phi.copy()
    impossible[4] = -phi[4]
    assert consistency_score(EstimatorOutput(phi)) == 1.0
    assert consistency_score(EstimatorOutput(impossible)) == 0.0
    assert np.isnan(riemannian_distance(impossible, phi))
    assert consistency_score(EstimatorOutput(-phi)) == 0.0


@given(seeds)
def test_errors_match_the_publication_entry_by_entry(seed):
    rng = np.random.default_rng(seed)
    truth, sides = body_of_points(rng), rng.uniform(0.05, 0.4, 3)
    phi = truth * rng.normal(1.0, 0.1, 10)
    m, h = truth[0], truth[1:4]
    entries = {(0, 0): 4, (0, 1): 5, (0, 2): 6, (1, 1): 7, (1, 2): 8, (2, 2): 9}
    of_box = {
        (0, 0): m / 12 * (sides[1] ** 2 + sides[2] ** 2),
        (1, 1): m / 12 * (sides[0] ** 2 + sides[2] ** 2),
        (2, 2): m / 12 * (sides[0] ** 2 + sides[1] ** 2),
        (0, 1): -m / 12 * sides[0] * sides[1],
        (0, 2): -m / 12 * sides[0] * sides[2],
        (1, 2): -m / 12 * sides[1] * sides[2],
    }
    errors = [abs((phi[k] - truth[k]) / of_box[ij]) for ij, k in entries.items()]
    offsets = [abs(phi[1 + i] / phi[0] - h[i] / m) / sides[i] for i in range(3)]
    assert inertia_error(phi, truth, sides) == pytest.approx(100 * sum(errors) / 6)
    assert com_error(phi, truth, sides) == pytest.approx(100 * sum(offsets) / 3)
    assert mass_error(phi, truth) == pytest.approx(100 * abs(phi[0] / m - 1))
    norms = np.sqrt(((phi[1:4] - h) ** 2).sum() / (h**2).sum())
    assert first_moment_error(phi, truth) == pytest.approx(100 * norms)

"""Change of frame: the sandwich rule, the congruence of the spatial inertia, and parallel axes."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from identify.inertia import (
    InertialParameters,
    in_frame,
    inertia_about_com,
    phi_from_inertia,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
    spatial_inertia,
)
from identify.spatial import Pose, adjoint, coadjoint
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, phi_of_points, poses, rotations, seeds


def size_of(phi: np.ndarray) -> float:
    return float(np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0]))


def pose_near(X: Pose, phi: np.ndarray) -> Pose:
    """The pose with a distance that suits the body's size."""
    return Pose(X.rotation, X.position * size_of(phi))


@given(bodies(), poses())
def test_sandwich_equals_the_congruence_of_the_spatial_inertia(phi, X):
    X_AB = pose_near(X, phi)
    M_A = coadjoint(X_AB) @ spatial_inertia(phi) @ np.linalg.inv(adjoint(X_AB))
    moved = spatial_inertia(in_frame(phi, X_AB))
    unit = np.array([1.0, 1.0, 1.0, *[size_of(phi)] * 3])
    scale = 20.0 * phi[0] * np.outer(unit, unit)
    assert_close(moved, M_A, 1e-13, scale=scale)


@given(bodies(), poses())
def test_sandwich_equals_parallel_axes_with_rotation(phi, X):
    X_AB = pose_near(X, phi)
    R = X_AB.rotation
    com = X_AB.apply(phi[1:4] / phi[0])
    expected = phi_from_inertia(phi[0], com, R @ inertia_about_com(phi) @ R.T)
    assert_same_body(in_frame(phi, X_AB), expected, 1e-13)


@given(seeds(), poses())
def test_sandwich_equals_moving_the_points_of_the_body(seed, X):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(9, 3)), rng.uniform(0.1, 1.0, 9)
    moved = phi_of_points(X.apply(points), weights)
    assert_same_body(in_frame(phi_of_points(points, weights), X), moved, 1e-14)


@given(bodies(), poses(), poses())
def test_changes_of_frame_compose_and_invert(phi, X_CA, X_AB):
    A, B = pose_near(X_CA, phi), pose_near(X_AB, phi)
    once = in_frame(phi, A @ B)
    assert_same_body(in_frame(in_frame(phi, B), A), once, 1e-13)
    # What comes back lost the digits of the farther frame.
    back = in_frame(in_frame(phi, B), B.inverse())
    scale = phi[0] * np.repeat([1.0, size_of(phi), size_of(phi) ** 2], [1, 3, 6])
    assert_close(back, phi, 1e-14, scale=100.0 * scale)


@given(bodies(flat=False, offset=1.0), poses(1.0))
def test_mass_principal_moments_and_consistency_do_not_depend_on_the_frame(phi, X):
    before = InertialParameters(phi)
    after = before.in_frame(pose_near(X, phi))
    assert_close(after.mass, before.mass, 1e-15)
    moments = before.principal_moments
    assert_close(after.principal_moments, moments, 1e-13, scale=10.0 * moments.max())
    assert_close(
        smallest_pseudo_eigenvalue(after.phi), smallest_pseudo_eigenvalue(phi), 1e-12, scale=10.0
    )
    assert after.consistent


@given(bodies(), rotations())
def test_kinetic_energy_does_not_depend_on_the_frame(phi, R):
    X_AB = Pose(R, size_of(phi) * np.array([0.5, -1.0, 2.0]))
    L = size_of(phi)
    V = np.array([L, -2.0 * L, 0.5 * L, 1.0, 0.3, -0.7])
    V_A = adjoint(X_AB) @ V
    before = V @ spatial_inertia(phi) @ V
    assert_close(
        V_A @ spatial_inertia(in_frame(phi, X_AB)) @ V_A, before, 1e-12, scale=100 * phi[0] * L**2
    )


def test_a_batch_of_poses_moves_one_body_and_a_batch_of_bodies_one_pose():
    rng = np.random.default_rng(6)
    bodies_ = np.array([phi_of_points(rng.normal(size=(5, 3)), np.ones(5)) for _ in range(4)])
    R = np.linalg.qr(rng.normal(size=(4, 3, 3)))[0]
    R *= np.linalg.det(R)[:, None, None]
    X = Pose(R, rng.normal(size=(4, 3)))
    one_to_one = in_frame(bodies_, X)
    fan = in_frame(bodies_[0], X)
    for k in range(4):
        assert_same_body(one_to_one[k], in_frame(bodies_[k], Pose(R[k], X.position[k])), 1e-14)
        assert_same_body(fan[k], in_frame(bodies_[0], Pose(R[k], X.position[k])), 1e-14)
    assert pseudo_inertia(fan).shape == (4, 4, 4)

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import pseudo_inertia
from identify.inertia.shapes import BoundingEllipsoid, enclosing_ellipsoid
from tests.close import assert_close
from tests.inertia.shapes.meshes import on_sphere
from tests.strategies import phi_of_points, poses, seeds


def by_cvxpy(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """max log det A such that ‖A p + b‖ ≤ 1."""
    d = points.shape[1]
    A, b = cp.Variable((d, d), symmetric=True), cp.Variable(d)
    cp.Problem(cp.Maximize(cp.log_det(A)), [cp.norm(points @ A + b[None, :], axis=1) <= 1.0]).solve(
        solver="CLARABEL"
    )
    return np.linalg.solve(A.value, -b.value), np.linalg.inv(A.value @ A.value)


@pytest.mark.parametrize("seed", range(4))
def test_enclosing_ellipsoid_matches_convex_program(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(5, 40), 3)) * [1.0, 0.5, 2.0] + [1.0, -2.0, 0.5]
    found = enclosing_ellipsoid(points)
    centre, Q = by_cvxpy(points)
    assert_close(np.linalg.det(found.Q), np.linalg.det(Q), 1e-6)
    # At its minimum the volume hardly changes with the ellipsoid: fewer digits of that.
    assert_close(found.centre, centre, 3e-4)
    assert_close(found.Q, Q, 3e-4)


@given(seeds(), st.integers(4, 200), poses())
def test_enclosing_ellipsoid_contains_points_and_is_affine_equivariant(seed, count, X):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.0, 1.0, size=(count, 3))
    stretch = X.rotation @ np.diag([1.0, 10.0, 1e-3])
    there = points @ stretch.T + X.position
    before, after = enclosing_ellipsoid(points), enclosing_ellipsoid(there)
    assert before.contains(points).all()
    assert after.contains(there).all()
    moved = stretch @ before.Q @ stretch.T
    units = np.diag([1.0, 0.1, 1e3]) @ X.rotation.T
    assert_close(units @ (after.Q - moved) @ units.T, np.zeros((3, 3)), 1e-6, scale=10.0)
    assert_close(
        units @ (after.centre - (stretch @ before.centre + X.position)),
        np.zeros(3),
        1e-6,
        scale=1.0,
    )


@given(poses())
def test_flat_sets_have_flat_ellipsoids(X):
    square = np.array([[-1.0, -1, 0], [-1, 1, 0], [1, -1, 0], [1, 1, 0], [0.3, 0.2, 0]])
    ellipse = enclosing_ellipsoid(X.apply(square))
    assert_close(ellipse.semi_axes, [0.0, 2**0.5, 2**0.5], 1e-7)
    assert_close(ellipse.centre, X.position, 1e-9, scale=4.0)
    line = enclosing_ellipsoid(X.apply(np.array([[0.0, 0, 0], [1, 2, 2], [0.5, 1, 1]])))
    assert_close(line.semi_axes, [0.0, 0.0, 1.5], 1e-7)
    point = enclosing_ellipsoid(np.tile(X.position, (3, 1)))
    assert_close(point.semi_axes, np.zeros(3), 0.0)
    assert_close(point.centre, X.position, 1e-15, scale=4.0)
    for flat in (ellipse, line, point):
        with pytest.raises(ModelError, match=r"it is flat .* give the plate or rod a thickness"):
            _ = flat.containment_matrix


@given(poses(), seeds())
def test_homogeneous_matrix_separates_inside_from_outside(X, seed):
    """tr(E Π) ≥ 0 for clouds of points inside, and below zero for a point outside."""
    rng = np.random.default_rng(seed)
    axes = np.sort(rng.uniform(0.3, 2.0, 3))
    ellipsoid = BoundingEllipsoid(rng.normal(size=3), np.diag(axes**2)).in_frame(X)
    assert_close(ellipsoid.semi_axes, axes, 1e-13)
    E = ellipsoid.containment_matrix
    root = np.linalg.cholesky(ellipsoid.Q)
    inside = ellipsoid.centre + rng.uniform(0.0, 1.0, (20, 1)) * on_sphere(20) @ root.T
    assert ellipsoid.contains(inside).all()
    homogeneous = np.column_stack((inside, np.ones(20)))
    scale = np.abs(E).max() * np.max(homogeneous**2)
    assert (np.sum(homogeneous @ E * homogeneous, axis=1) >= -1e-12 * scale).all()
    Pi = pseudo_inertia(phi_of_points(inside, rng.uniform(0.1, 1.0, 20)))
    assert np.trace(E @ Pi) >= -1e-12 * scale * 20
    away = ellipsoid.centre + 1.5 * on_sphere(20)[3] @ root.T
    assert not ellipsoid.contains(away)
    outside = np.trace(E @ pseudo_inertia(phi_of_points(away[None], np.ones(1))))
    assert_close(outside, 1.0 - 1.5**2, 1e-9, scale=max(scale, 1.0))
    assert outside < 0.0


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.diag([1.0, 1.0, -1.0]), "expected Q symmetric and positive semidefinite"),
        (np.array([[1.0, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "expected Q symmetric"),
        (np.eye(2), r"bounding ellipsoid: Q: expected shape \(3, 3\)"),
    ],
)
def test_invalid_ellipsoid_matrix_is_rejected(Q, message):
    with pytest.raises(ModelError, match=message):
        BoundingEllipsoid(np.zeros(3), Q)

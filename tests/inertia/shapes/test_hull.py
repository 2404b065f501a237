"""Hulls and bounding ellipsoids: they hold the shape, they touch it, and they move with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identify.errors import ModelError
from identify.inertia import pseudo_inertia
from identify.inertia.shapes import (
    SHAPES,
    BoundingEllipsoid,
    Box,
    Capsule,
    Compound,
    Cone,
    Cylinder,
    Disc,
    Ellipsoid,
    Placed,
    Plate,
    Points,
    Rod,
    Sphere,
    polytope_hull,
)
from identify.inertia.shapes.directions import directions_of_sphere
from identify.inertia.shapes.enclosing import enclosing_ellipsoid_of_support
from identify.spatial import Pose
from tests.close import assert_close
from tests.inertia.shapes.drawing import shapes
from tests.inertia.shapes.parametric import points_of
from tests.strategies import phi_of_points, poses, seeds

SOLIDS = ("box", "capsule", "cone", "cylinder", "ellipsoid", "sphere")


@given(shapes(), poses())
def test_hull_and_ellipsoid_hold_every_point_of_the_shape(shape, X):
    placed, points = Placed(shape, X), X.apply(points_of(shape, 6))
    hull, ellipsoid = placed.hull(60), placed.bounding_ellipsoid()
    assert hull.contains(points).all()
    assert hull.contains(hull.vertices).all()
    assert ellipsoid.contains(points).all()
    assert ellipsoid.contains(hull.vertices).all()


@given(shapes(), poses())
def test_support_points_reach_farthest_and_belong_to_the_shape(shape, X):
    placed, points = Placed(shape, X), X.apply(points_of(shape, 6))
    directions = directions_of_sphere(40)
    support = placed.support_points(directions)
    reach = np.sum(support * directions, axis=1)
    size = np.ptp(points, axis=0).max() + np.abs(points).max()
    assert ((points @ directions.T).max(axis=0) <= reach + 1e-13 * size).all()
    hull = placed.hull(40)
    assert hull.contains(support).all()
    assert (hull.vertices @ directions.T <= reach + 1e-13 * size).all()
    single = placed.support_points(directions[7])
    assert_close(single, support[7], 0.0)
    grid = placed.support_points(directions[:12].reshape(3, 4, 3))
    assert_close(grid.reshape(12, 3), support[:12], 0.0)


@pytest.mark.parametrize(
    "shape",
    [Box(0.2, 0.5, 0.3), Cylinder(0.2, 0.5), Capsule(0.2, 0.5), Capsule(0.5, 0.01), Cone(0.3, 0.5)],
    ids=["box", "cylinder", "capsule", "short capsule", "cone"],
)
def test_closed_forms_are_the_smallest_ellipsoids(shape):
    closed, found = shape.bounding_ellipsoid(), enclosing_ellipsoid_of_support(shape.support_points)
    assert (closed.method, found.method) == ("closed form", "cutting planes")
    assert_close(found.volume, closed.volume, 1e-7)
    assert_close(found.centre, closed.centre, 1e-4, scale=0.5)
    assert_close(found.Q, closed.Q, 1e-3)


@given(shapes(SOLIDS))
def test_ellipsoids_touch_the_shape_and_a_smaller_one_does_not_hold_it(shape):
    ellipsoid = shape.bounding_ellipsoid()
    smaller = BoundingEllipsoid(ellipsoid.centre, 0.999**2 * ellipsoid.Q)
    L = np.linalg.cholesky(ellipsoid.Q)
    directions = np.linalg.solve(L.T, directions_of_sphere(4000).T).T
    assert not smaller.contains(shape.support_points(directions)).all()


@pytest.mark.parametrize(
    "shape", [Plate(0.2, 0.3), Disc(0.2), Rod(0.4)], ids=["plate", "disc", "rod"]
)
def test_flat_shapes_have_flat_ellipsoids(shape):
    ellipsoid = Placed(shape, Pose.from_quaternion([1, 2, 3, 4], [1, 2, 3])).bounding_ellipsoid()
    assert ellipsoid.volume < 1e-7 * ellipsoid.semi_axes[2] ** 3
    with pytest.raises(ModelError, match=r"it is flat .* give the plate or rod a thickness"):
        _ = ellipsoid.homogeneous


def test_semi_axes_of_flat_shapes():
    assert_close(
        Plate(0.2, 0.3).bounding_ellipsoid().semi_axes, [0, 0.1 * 2**0.5, 0.15 * 2**0.5], 1e-14
    )
    assert_close(Disc(0.2).bounding_ellipsoid().semi_axes, [0, 0.2, 0.2], 1e-14)
    assert_close(Rod(0.4).bounding_ellipsoid().semi_axes, [0, 0, 0.2], 1e-14)


@given(shapes(SOLIDS), poses(), seeds())
def test_the_homogeneous_matrix_tells_bodies_inside_from_those_outside(shape, X, seed):
    """tr(E Π) ≥ 0 for clouds of points of the shape, and below zero for clouds around it."""
    placed = Placed(shape, X)
    ellipsoid = placed.bounding_ellipsoid()
    E = ellipsoid.homogeneous
    rng = np.random.default_rng(seed)
    points = X.apply(rng.permutation(points_of(shape, 4))[:20])
    homogeneous = np.column_stack((points, np.ones(len(points))))
    scale = np.abs(E).max() * np.max(homogeneous**2)
    by_point = np.sum(homogeneous @ E * homogeneous, axis=1)
    assert (by_point >= -1e-12 * scale).all()
    Pi = pseudo_inertia(phi_of_points(points, rng.uniform(0.1, 1.0, len(points))))
    assert np.trace(E @ Pi) >= -1e-12 * scale * 20
    away = (
        ellipsoid.centre + 1.5 * np.linalg.cholesky(ellipsoid.Q) @ directions_of_sphere(20).T[:, 3]
    )
    outside = np.append(away, 1.0)
    assert_close(outside @ E @ outside, 1.0 - 1.5**2, 1e-9, scale=max(scale, 1.0))
    tight = np.trace(E @ pseudo_inertia(phi_of_points(away[None], np.ones(1))))
    assert tight < 0.0


@given(poses(), poses())
def test_ellipsoids_move_with_their_frame(X, Y):
    ellipsoid = Ellipsoid(1.0, 2.0, 3.0).bounding_ellipsoid().in_frame(X)
    there = ellipsoid.in_frame(Y)
    assert_close(there.centre, (Y @ X).position, 1e-13, scale=10.0)
    assert_close(there.semi_axes, [1.0, 2.0, 3.0], 1e-13)
    axes = there.axes
    assert_close(axes.T @ axes, np.eye(3), 1e-13)
    assert_close(np.linalg.det(axes), 1.0, 1e-13)
    assert_close(axes * there.semi_axes**2 @ axes.T, there.Q, 1e-13)
    directions = directions_of_sphere(30)
    points = Placed(Ellipsoid(1.0, 2.0, 3.0), Y @ X).support_points(directions)
    assert_close(there.support(directions), np.sum(points * directions, axis=1), 1e-13, scale=10.0)


def test_hulls_of_flat_sides_are_exact_and_of_round_ones_bracket_the_shape():
    box = Box(0.2, 0.3, 0.4).hull()
    assert box.exact
    assert (box.vertices.shape, box.normals.shape) == ((8, 3), (6, 3))
    assert_close(np.sort(box.offsets), [0.1, 0.1, 0.15, 0.15, 0.2, 0.2], 1e-14)
    ball = Sphere(1.0).hull(400)
    assert not ball.exact
    assert_close(np.linalg.norm(ball.vertices, axis=1), np.ones(406), 1e-14)
    # How far its half-spaces leave the ball: (1 / cos δ − 1), δ half the spacing of directions.
    rng = np.random.default_rng(0)
    d = rng.normal(size=(2000, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    reach = (ball.offsets / np.maximum(d @ ball.normals.T, 1e-9)).min(axis=1)
    assert reach.min() >= 1.0
    assert reach.max() < 1.012


@pytest.mark.parametrize(
    ("points", "count", "half_spaces"),
    [
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2]], 4, 4),
        ([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], [0.5, 0.5, 1]], 4, 6),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], 2, 6),
        ([[1, 2, 3], [1, 2, 3]], 1, 6),
    ],
    ids=["tetrahedron", "square", "line", "point"],
)
def test_hulls_of_points_also_in_a_plane_a_line_or_one_place(points, count, half_spaces):
    points = np.array(points, dtype=float)
    hull = polytope_hull(points)
    assert len(hull.vertices) == count
    assert len(hull.normals) == half_spaces
    assert hull.contains(points).all()
    assert not hull.contains(points.mean(axis=0) + np.array([[0.0, 0.0, 2.5]])).any()
    assert_close(np.linalg.norm(hull.normals, axis=1), np.ones(half_spaces), 1e-14)


@given(seeds(), st.sampled_from([1.0, 1e-3, 1e-6]))
def test_hulls_of_clouds_hold_them_and_their_vertices_span_them(seed, thin):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 3)) * [1.0, 1.0, thin] + rng.normal(size=3)
    hull = polytope_hull(points)
    assert (points @ hull.normals.T <= hull.offsets + 1e-14).all()
    reach = (hull.vertices @ hull.normals.T).max(axis=0)
    assert_close(reach, hull.offsets, 1e-13, scale=5.0)


def test_hull_of_a_compound_is_that_of_its_solids():
    X = Pose(np.eye(3), np.array([0.0, 0.0, 0.5]))
    boxes = Compound([Box(0.2, 0.2, 0.2), Placed(Box(0.1, 0.1, 0.1), X)])
    assert boxes.hull().exact
    assert len(boxes.hull().vertices) == 12
    mixed = Compound([Box(0.2, 0.2, 0.2), Placed(Sphere(0.1), X)])
    hull = mixed.hull(100)
    assert not hull.exact
    points = np.concatenate((points_of(Box(0.2, 0.2, 0.2)), X.apply(points_of(Sphere(0.1)))))
    assert hull.contains(points).all()
    assert hull.contains([[0.0, 0.0, 0.6]]).all()
    assert not hull.contains([[0.0, 0.0, 0.601]]).any()


def test_points_without_weight_do_not_widen_the_hull():
    cloud = Points(np.array([[0.0, 0, 0], [1, 0, 0], [9, 9, 9]]), np.array([1.0, 1.0, 0.0]))
    assert len(cloud.hull().vertices) == 2
    assert_close(cloud.bounding_ellipsoid().semi_axes, [0, 0, 0.5], 1e-14)


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.diag([1.0, 1.0, -1.0]), "expected Q symmetric and positive semidefinite"),
        (np.array([[1.0, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "expected Q symmetric"),
        (np.eye(2), r"bounding ellipsoid: Q: expected shape \(3, 3\)"),
    ],
)
def test_what_is_no_ellipsoid_is_refused(Q, message):
    with pytest.raises(ModelError, match=message):
        BoundingEllipsoid(np.zeros(3), Q)


def test_every_named_shape_has_an_ellipsoid_in_closed_form():
    for name, kind in SHAPES.items():
        sizes = [0.2, 0.3, 0.4][: len(kind.__dataclass_fields__)]
        assert kind(*sizes).bounding_ellipsoid().method == "closed form", name

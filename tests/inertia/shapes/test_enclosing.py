"""The smallest ellipsoid around points: against cvxpy, under affine maps, flat and degenerate."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identify.errors import SolveError
from identify.inertia.shapes import (
    Box,
    Capsule,
    Compound,
    Cylinder,
    Disc,
    Placed,
    Sphere,
    convex_mesh,
    enclosing,
    enclosing_ellipsoid,
)
from identify.inertia.shapes import smallest_ellipsoid as module
from identify.inertia.shapes.enclosing import enclosing_ellipsoid_of_support
from identify.spatial import Pose
from tests.close import assert_close
from tests.strategies import poses, seeds


def by_cvxpy(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """max log det A such that ‖A p + b‖ ≤ 1."""
    d = points.shape[1]
    A, b = cp.Variable((d, d), symmetric=True), cp.Variable(d)
    cp.Problem(cp.Maximize(cp.log_det(A)), [cp.norm(points @ A + b[None, :], axis=1) <= 1.0]).solve(
        solver="CLARABEL"
    )
    return np.linalg.solve(A.value, -b.value), np.linalg.inv(A.value @ A.value)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_that_of_the_convex_program(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(5, 40), 3)) * [1.0, 0.5, 2.0] + [1.0, -2.0, 0.5]
    found = enclosing_ellipsoid(points)
    centre, Q = by_cvxpy(points)
    assert found.method == "interior point"
    assert_close(np.linalg.det(found.Q), np.linalg.det(Q), 1e-6)
    # At its minimum the volume hardly changes with the ellipsoid: fewer digits of that.
    assert_close(found.centre, centre, 3e-4)
    assert_close(found.Q, Q, 3e-4)


@given(seeds(), st.integers(4, 200), poses())
def test_it_holds_the_points_and_moves_with_every_affine_map(seed, count, X):
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


def test_corners_of_a_cube_and_of_a_regular_simplex():
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    assert_close(enclosing_ellipsoid(cube).Q, 3.0 * np.eye(3), 1e-10)
    simplex = cube[[0, 3, 5, 6]]
    assert_close(enclosing_ellipsoid(simplex).Q, 3.0 * np.eye(3), 1e-10)


def test_many_points_of_a_ball_and_repeated_ones():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(5000, 3))
    points /= np.maximum(np.linalg.norm(points, axis=1), 1.0)[:, None]
    ball = enclosing_ellipsoid(np.concatenate((points, points[:50])))
    assert_close(ball.semi_axes, np.ones(3), 2e-2)
    few = rng.normal(size=(6, 3))
    assert_close(enclosing_ellipsoid(np.tile(few, (8, 1))).Q, enclosing_ellipsoid(few).Q, 1e-7)


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


def test_around_round_shapes_together():
    """A ball and a far cylinder: every point inside, and points all around touch."""
    there = Pose.from_quaternion([0.0, 0.4, 0.0, 0.9], [2.0, 0.0, 1.0])
    shape = Compound([Sphere(1.0), Placed(Cylinder(0.3, 3.0), there)])
    ellipsoid = shape.bounding_ellipsoid()
    assert ellipsoid.method == "cutting planes"
    rng = np.random.default_rng(2)
    L = np.linalg.cholesky(ellipsoid.Q)
    points = shape.support_points(np.linalg.solve(L.T, rng.normal(size=(3, 20000))).T)
    assert ellipsoid.contains(points, 1e-7).all()
    assert_close(ellipsoid.volume, enclosing_ellipsoid(points).volume, 1e-3)


def test_around_two_balls():
    """Balls of radius 1 at ±2 on x: a capsule's ellipsoid."""
    sides = [Placed(Sphere(1.0), Pose(np.eye(3), np.array([s, 0.0, 0.0]))) for s in (-2.0, 2.0)]
    found = Compound(sides).bounding_ellipsoid()
    assert_close(found.volume, Capsule(1.0, 4.0).bounding_ellipsoid().volume, 1e-7)
    assert_close(found.centre, np.zeros(3), 1e-5, scale=1.0)


def test_around_a_ball_and_a_mesh():
    """A box as a mesh and as a box, beside a ball."""
    X = Pose(np.eye(3), np.array([0.0, 0.0, 1.0]))
    box = Box(1.0, 2.0, 0.5)
    by_mesh = Compound([Sphere(0.8), Placed(convex_mesh(box.corners), X)]).bounding_ellipsoid()
    by_box = Compound([Sphere(0.8), Placed(box, X)]).bounding_ellipsoid()
    assert by_mesh.method == "cutting planes"
    assert_close(by_mesh.volume, by_box.volume, 1e-7)
    assert by_mesh.contains(X.apply(box.corners)).all()


def test_around_flat_round_shapes():
    """Two discs in one plane, and a disc with a hole of its own."""
    turned = Pose.from_quaternion([0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0])
    pair = [Placed(Disc(1.0), Pose(np.eye(3), np.array([s, 0.0, 0.0]))) for s in (-2.0, 2.0)]
    flat = Placed(Compound(pair), turned).bounding_ellipsoid()
    assert flat.semi_axes[0] < 1e-7
    assert (flat.semi_axes[1:] > [1.0, 3.0]).all()
    in_line = enclosing_ellipsoid_of_support(
        lambda d: np.where(d[:, :1] < 0.0, -1.0, 1.0) * np.array([1.0, 0.0, 0.0])
    )
    assert_close(in_line.semi_axes, [0, 0, 1], 1e-12)


def test_what_is_not_proved_smallest_is_no_answer(monkeypatch):
    monkeypatch.setattr(enclosing, "_ROUNDS", 2)
    with pytest.raises(SolveError, match="no convergence in 2 rounds"):
        enclosing_ellipsoid_of_support(Capsule(1.0, 2.0).support_points)
    monkeypatch.setattr(module, "_STEPS", 3)
    with pytest.raises(SolveError, match="not proved the smallest around 30 points"):
        module.smallest_ellipsoid(np.random.default_rng(0).normal(size=(30, 3)))

"""Points that fill solids have their moments."""

import numpy as np
import pytest

from identify.errors import ModelError
from identify.inertia.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Mesh,
    PointMasses,
    Rod,
    Sphere,
    convex_hull,
)
from identify.inertia.shapes.interior import sample_interior
from tests.close import assert_close

SOLIDS = (
    Box(0.3, 0.1, 0.05),
    Capsule(0.05, 0.2),
    Cone(0.1, 0.3),
    Cylinder(0.05, 0.2),
    Ellipsoid(0.3, 0.1, 0.05),
    Sphere(0.1),
)


def agree(shape, count: int, rtol: float) -> None:
    interior = sample_interior(shape, count)
    filled = PointMasses(interior.points, interior.volumes)
    size = np.sqrt(np.trace(shape.covariance))
    assert_close(filled.measure, shape.measure, rtol)
    assert_close(filled.centroid, shape.centroid, rtol, scale=size)
    assert_close(filled.covariance, shape.covariance, rtol, scale=size**2)


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda one: type(one).__name__)
def test_points_of_a_solid_have_its_volume_centre_and_spread(solid):
    agree(solid, 20_000, 0.03)
    assert 1000 <= len(sample_interior(solid, 2000).points) <= 8000


def hollow(outer: Mesh, inner: Mesh) -> Mesh:
    """A mesh with another one as its cavity."""
    faces = np.concatenate((outer.faces, inner.faces[:, ::-1] + len(outer.vertices)))
    return Mesh(np.concatenate((outer.vertices, inner.vertices)), faces)


def ball(radius: float, at=(0.0, 0.0, 0.0)) -> Mesh:
    points = np.random.default_rng(0).normal(size=(400, 3))
    return convex_hull(radius * points / np.linalg.norm(points, axis=1)[:, None] + at)


def test_points_of_a_mesh_leave_its_cavity_and_fill_a_thin_wall():
    shell = hollow(ball(0.1), ball(0.097, (0.001, 0.0, 0.0)))
    agree(shell, 4000, 0.03)
    points = sample_interior(shell, 4000).points
    assert np.linalg.norm(points - [0.001, 0.0, 0.0], axis=1).min() > 0.9 * 0.097


def test_shape_without_volume_cannot_be_sampled():
    with pytest.raises(ModelError, match="Rod: it fills no volume"):
        sample_interior(Rod(0.3), 100)

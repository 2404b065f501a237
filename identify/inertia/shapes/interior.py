"""Uniform filling of solids with points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from identify.arrays import Array, Flags, Indices, Vec3
from identify.errors import ModelError
from identify.inertia.shapes.mesh import Mesh
from identify.inertia.shapes.primitives import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere
from identify.inertia.shapes.shape import Shape

_MAX_CROSSING_PAIRS = 20_000_000
"""Maximum number of pairs of a triangle and a sampling line that may intersect."""

_CELL_FRACTION = 0.4142135623730951
"""Position of a sampling line in its grid cell: irrational, so that it misses the edges of meshes
that are aligned with the grid."""


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """Points that fill a solid uniformly, in its frame A, and the volumes of their grid cells.

    Attributes:
        points: [m], shape (n, 3).
        volumes: volumes of their cells [m³], shape (n,).
    """

    points: Vec3
    volumes: Array


def sample_interior(shape: Shape, count: int) -> Interior:
    """Fill a solid uniformly with about `count` points, or more if it is thin.

    In a mesh they lie in columns along its thinnest axis, from surface to surface, so that thin
    walls are filled as well as thick ones.

    Raises `ModelError`: a shape without volume, or a mesh of too many large triangles.
    """
    if isinstance(shape, Mesh):
        return _mesh_interior(shape, count)
    if type(shape) not in _SOLID_REGIONS:
        raise ModelError(f"{type(shape).__name__}: it fills no volume; expected a solid or a mesh")
    lower, upper, is_inside = _SOLID_REGIONS[type(shape)](shape)
    sides = upper - lower
    edge = (shape.measure / count) ** (1.0 / 3.0)
    counts = np.maximum(np.ceil(sides / edge).astype(int), 2)
    axes = [
        low + side * (np.arange(n) + 0.5) / n
        for low, side, n in zip(lower, sides, counts, strict=True)
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    points = points[is_inside(*points.T)]
    return Interior(points, np.full(len(points), float(np.prod(sides / counts))))


def _mesh_interior(mesh: Mesh, count: int) -> Interior:
    axes = np.linalg.eigh(mesh.covariance)[1][:, ::-1]  # the columns are along the thinnest, last
    triangles = (mesh.vertices[mesh.faces] - mesh.centroid) @ axes
    lower, upper = triangles.min(axis=(0, 1))[:2], triangles.max(axis=(0, 1))[:2]
    edge = (mesh.measure / count) ** (1.0 / 3.0)
    cell = (upper - lower) / np.maximum(np.ceil((upper - lower) / edge), 2.0)
    column, height = _crossings(
        (triangles[..., :2] - lower) / cell - _CELL_FRACTION, triangles[..., 2]
    )
    order = np.lexsort((height, column[:, 1], column[:, 0]))
    column, height = column[order], height[order]
    _, index, counts = np.unique(column, axis=0, return_inverse=True, return_counts=True)
    complete = (counts % 2 == 0)[index.ravel()]  # a column along an edge may miss a surface
    column, height = column[complete], height[complete]
    start, length = height[0::2], height[1::2] - height[0::2]
    counts = np.maximum(np.ceil(length / edge), 1).astype(int)
    number = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
    step = np.repeat(length / counts, counts)
    flat = lower + (np.repeat(column[0::2], counts, axis=0) + _CELL_FRACTION) * cell
    points = np.column_stack((flat, np.repeat(start, counts) + (number + 0.5) * step))
    return Interior(points @ axes.T + mesh.centroid, step * float(np.prod(cell)))


def _crossings(flat: Array, heights: Array) -> tuple[Indices, Array]:
    """Intersect lines at integer coordinates with triangles; return their columns and heights.

    Corners have `flat` coordinates across the columns, in cells, (k, 3, 2), and `heights` (k, 3).
    """
    first = np.ceil(flat.min(axis=1)).astype(int)
    span = np.maximum(np.floor(flat.max(axis=1)).astype(int) - first + 1, 0)
    pairs = span.prod(axis=1)
    if pairs.sum() > _MAX_CROSSING_PAIRS:
        raise ModelError(
            f"mesh: {len(flat)} triangles need {pairs.sum():.3g} intersection tests; expected at "
            f"most {_MAX_CROSSING_PAIRS:.3g}: simplify the mesh"
        )
    triangle = np.repeat(np.arange(len(flat)), pairs)
    number = np.arange(len(triangle)) - np.repeat(pairs.cumsum() - pairs, pairs)
    across = span[triangle, 1]
    column = first[triangle] + np.stack((number // across, number % across), axis=1)
    a, b, c = (flat[triangle, corner] - column for corner in range(3))
    weights = np.stack([_cross_product(b, c), _cross_product(c, a), _cross_product(a, b)], axis=1)
    area = weights.sum(axis=1)
    inside = ((weights >= 0.0).all(axis=1) | (weights <= 0.0).all(axis=1)) & (area != 0.0)
    height = (weights * heights[triangle]).sum(axis=1)[inside] / area[inside]
    return column[inside], height


def _cross_product(a: Array, b: Array) -> Array:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


_Region = tuple[Vec3, Vec3, Callable[[Array, Array, Array], Flags]]


def _centred_region(half: tuple[float, float, float], is_inside: Callable[..., Flags]) -> _Region:
    return -np.array(half), np.array(half), is_inside


def _capsule_region(shape: Capsule) -> _Region:
    r, half = shape.radius, 0.5 * shape.length
    return _centred_region(
        (r, r, half + r),
        lambda x, y, z: x**2 + y**2 + np.maximum(np.abs(z) - half, 0.0) ** 2 <= r**2,
    )


def _cone_region(shape: Cone) -> _Region:
    r, h = shape.radius, shape.height
    upper = np.array([r, r, h])
    return upper * [-1, -1, 0], upper, lambda x, y, z: np.hypot(x, y) <= r * (1.0 - z / h)


def _ellipsoid_region(a: float, b: float, c: float) -> _Region:
    return _centred_region(
        (a, b, c), lambda x, y, z: (x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2 <= 1.0
    )


_SOLID_REGIONS: dict[type[Shape], Callable[[Any], _Region]] = {
    Box: lambda box: _centred_region(
        (0.5 * box.x, 0.5 * box.y, 0.5 * box.z), lambda x, y, z: np.ones(x.shape, dtype=np.bool_)
    ),
    Capsule: _capsule_region,
    Cone: _cone_region,
    Cylinder: lambda cylinder: _centred_region(
        (cylinder.radius, cylinder.radius, 0.5 * cylinder.length),
        lambda x, y, z: x**2 + y**2 <= cylinder.radius**2,
    ),
    Ellipsoid: lambda ellipsoid: _ellipsoid_region(ellipsoid.a, ellipsoid.b, ellipsoid.c),
    Sphere: lambda ball: _ellipsoid_region(ball.radius, ball.radius, ball.radius),
}

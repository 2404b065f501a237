"""Points that fill a solid evenly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from identify.arrays import Array, Flags, Indices, Vec3
from identify.errors import ModelError
from identify.inertia.shapes.mesh import Mesh
from identify.inertia.shapes.shape import Shape
from identify.inertia.shapes.shells import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere

_MOST_CROSSINGS = 20_000_000
"""Pairs of a triangle and a column that may cross, at the most."""

_PLACE_IN_CELL = 0.4142135623730951
"""Where in its cell a column stands: an irrational share goes through no edge of aligned meshes."""


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """A solid as points in its frame A.

    Attributes:
        points: [m], shape (n, 3).
        volumes: of their cells [m³], shape (n,).
    """

    points: Vec3
    volumes: Array


def interior_of(shape: Shape, count: int) -> Interior:
    """About `count` points that fill a solid evenly, or more where it is thin.

    Of a mesh they stand in columns along its thinnest axis, from surface to surface, so that a thin
    wall is filled as well as a thick one.

    Raises:
        ModelError: a shape that fills no volume, or a mesh of too many large triangles.
    """
    if isinstance(shape, Mesh):
        return _of_mesh(shape, count)
    if type(shape) not in _SOLIDS:
        raise ModelError(f"{type(shape).__name__}: it fills no volume; expected a solid or a mesh")
    lower, upper, is_inside = _SOLIDS[type(shape)](shape)
    sides = upper - lower
    edge = (shape.measure / count) ** (1.0 / 3.0)
    numbers = np.maximum(np.ceil(sides / edge).astype(int), 2)
    axes = [
        low + side * (np.arange(n) + 0.5) / n
        for low, side, n in zip(lower, sides, numbers, strict=True)
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    points = points[is_inside(*points.T)]
    return Interior(points, np.full(len(points), float(np.prod(sides / numbers))))


def _of_mesh(mesh: Mesh, count: int) -> Interior:
    axes = np.linalg.eigh(mesh.covariance)[1][:, ::-1]  # columns are along the last, the thinnest
    triangles = (mesh.vertices[mesh.faces] - mesh.centroid) @ axes
    lower, upper = triangles.min(axis=(0, 1))[:2], triangles.max(axis=(0, 1))[:2]
    edge = (mesh.measure / count) ** (1.0 / 3.0)
    numbers = np.maximum(np.ceil((upper - lower) / edge), 2.0)
    cell = (upper - lower) / numbers
    column, height = _crossings(
        (triangles[..., :2] - lower) / cell - _PLACE_IN_CELL, triangles[..., 2]
    )
    order = np.lexsort((height, column[:, 1], column[:, 0]))
    column, height = column[order], height[order]
    _, own, counts = np.unique(column, axis=0, return_inverse=True, return_counts=True)
    whole = (counts % 2 == 0)[own.ravel()]  # one that grazes an edge may miss a surface
    column, height = column[whole], height[whole]
    start, length = height[0::2], height[1::2] - height[0::2]
    each = np.maximum(np.ceil(length / edge), 1).astype(int)
    number = np.arange(each.sum()) - np.repeat(each.cumsum() - each, each)
    step = np.repeat(length / each, each)
    flat = lower + (np.repeat(column[0::2], each, axis=0) + _PLACE_IN_CELL) * cell
    points = np.column_stack((flat, np.repeat(start, each) + (number + 0.5) * step))
    return Interior(points @ axes.T + mesh.centroid, step * float(np.prod(cell)))


def _crossings(flat: Array, heights: Array) -> tuple[Indices, Array]:
    """Where columns at whole numbers go through triangles.

    Args:
        flat: corners across the columns, in units of the cells, shape (k, 3, 2).
        heights: of the corners along them, shape (k, 3).

    Returns:
        The column of each crossing, shape (n, 2), and its height, shape (n,).
    """
    first = np.ceil(flat.min(axis=1)).astype(int)
    span = np.maximum(np.floor(flat.max(axis=1)).astype(int) - first + 1, 0)
    pairs = span.prod(axis=1)
    if pairs.sum() > _MOST_CROSSINGS:
        raise ModelError(
            f"mesh: {len(flat)} triangles that overlap {pairs.sum():.3g} times in places; expected "
            f"{_MOST_CROSSINGS:.3g} at the most: simplify it"
        )
    triangle = np.repeat(np.arange(len(flat)), pairs)
    number = np.arange(len(triangle)) - np.repeat(pairs.cumsum() - pairs, pairs)
    across = span[triangle, 1]
    column = first[triangle] + np.stack((number // across, number % across), axis=1)
    a, b, c = (flat[triangle, corner] - column for corner in range(3))
    weights = np.stack([_cross(b, c), _cross(c, a), _cross(a, b)], axis=1)
    area = weights.sum(axis=1)
    inside = ((weights >= 0.0).all(axis=1) | (weights <= 0.0).all(axis=1)) & (area != 0.0)
    height = (weights * heights[triangle]).sum(axis=1)[inside] / area[inside]
    return column[inside], height


def _cross(left: Array, right: Array) -> Array:
    return left[:, 0] * right[:, 1] - left[:, 1] * right[:, 0]


_Region = tuple[Vec3, Vec3, Callable[[Array, Array, Array], Flags]]


def _about(half: tuple[float, float, float], is_inside: Callable[..., Flags]) -> _Region:
    return -np.array(half), np.array(half), is_inside


def _capsule(shape: Capsule) -> _Region:
    r, half = shape.radius, 0.5 * shape.length
    return _about(
        (r, r, half + r),
        lambda x, y, z: x**2 + y**2 + np.maximum(np.abs(z) - half, 0.0) ** 2 <= r**2,
    )


def _cone(shape: Cone) -> _Region:
    r, h = shape.radius, shape.height
    upper = np.array([r, r, h])
    return upper * [-1, -1, 0], upper, lambda x, y, z: np.hypot(x, y) <= r * (1.0 - z / h)


def _ellipsoid(a: float, b: float, c: float) -> _Region:
    return _about((a, b, c), lambda x, y, z: (x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2 <= 1.0)


_SOLIDS: dict[type[Shape], Callable[[Any], _Region]] = {
    Box: lambda one: _about(
        (0.5 * one.x, 0.5 * one.y, 0.5 * one.z), lambda x, y, z: np.ones(x.shape, dtype=np.bool_)
    ),
    Capsule: _capsule,
    Cone: _cone,
    Cylinder: lambda one: _about(
        (one.radius, one.radius, 0.5 * one.length),
        lambda x, y, z: x**2 + y**2 <= one.radius**2,
    ),
    Ellipsoid: lambda one: _ellipsoid(one.a, one.b, one.c),
    Sphere: lambda one: _ellipsoid(one.radius, one.radius, one.radius),
}

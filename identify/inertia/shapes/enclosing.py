"""Ellipsoids of smallest volume around points, and around a convex shape known by its support."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from identify.arrays import Array, Vec3
from identify.errors import SolveError
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid, Method
from identify.inertia.shapes.directions import directions_of_sphere, farthest_corners
from identify.inertia.shapes.hull import AffineFrame, affine_frame
from identify.inertia.shapes.smallest_ellipsoid import smallest_ellipsoid

_ROUNDS, _ASCENTS, _ADDED = 100, 300, 20
_PROTRUSION: dict[Method, float] = {"interior point": 1e-11, "cutting planes": 1e-8}
"""How far a point may stick out, relative to the ellipsoid, which is then scaled to hold it."""

_Farthest = Callable[[Array, Array], tuple[Array, Array]]
"""Points (k, d) that are far from the ball L⁻¹ (x − c), and their distances (k,); of c and L."""


def enclosing_ellipsoid(points: Vec3) -> BoundingEllipsoid:
    """The ellipsoid of smallest volume that contains points (smallest area where they are flat).

    An interior-point method on the few points that can touch it, in the plane or line that all of
    them span; points that stick out join in until none does. No point lies outside.

    Args:
        points: [m], shape (n, 3), n ≥ 1.

    Returns:
        With semi-axes at most a relative 1e-9 above the smallest.

    Raises:
        SolveError: no convergence, which no set of points is known to cause.
    """
    points = np.asarray(points, dtype=np.float64)
    frame = affine_frame(points)
    flat = frame.coordinates(points)
    if flat.shape[1] < 2:
        return _of_line(frame, flat, "interior point")
    scale = np.abs(flat).max(axis=0)
    flat = flat / scale
    spread = np.linalg.cholesky(np.cov(flat.T))
    grid = _directions(flat.shape[1], 60)
    start = flat if len(flat) <= 60 else _highest(flat, np.linalg.solve(spread.T, grid.T).T)

    def farthest(centre: Array, L: Array) -> tuple[Array, Array]:
        return flat, np.linalg.norm(np.linalg.solve(L, (flat - centre).T), axis=0)

    return _grown(start, farthest, frame, scale, "interior point")


def enclosing_ellipsoid_of_support(support_points: Callable[[Vec3], Vec3]) -> BoundingEllipsoid:
    """The ellipsoid of smallest volume around the convex hull of a round shape.

    Cutting planes: take the smallest ellipsoid around some of its points, add those that stick out
    most, and again, until none sticks out by more than 1e-8; then scale it to hold them. In
    coordinates where the ellipsoid is a ball, the farthest point x of a convex set is found by
    d ← x(d) / ‖x(d)‖, which never comes nearer, from directions all over the sphere.

    Args:
        support_points: the farthest points of the shape in directions (n, 3), shape (n, 3).

    Raises:
        SolveError: no convergence, which no shape is known to cause.
    """
    seen = support_points(directions_of_sphere(300))
    frame = affine_frame(seen)
    flat = frame.coordinates(seen)
    if flat.shape[1] < 2:
        return _of_line(frame, flat, "cutting planes")
    scale = np.abs(flat).max(axis=0)
    grid = _directions(flat.shape[1], 300)

    def support(directions: Array) -> Array:
        return frame.coordinates(support_points((directions / scale) @ frame.basis.T)) / scale

    def farthest(centre: Array, L: Array) -> tuple[Array, Array]:
        d = grid
        points, distance = np.empty_like(d), np.zeros(len(d))
        for _ in range(_ASCENTS):
            before = distance
            points = support(np.linalg.solve(L.T, d.T).T)
            mapped = np.linalg.solve(L, (points - centre).T).T
            distance = np.linalg.norm(mapped, axis=1)
            d = mapped / distance[:, None]
            if (distance - before).max() < 1e-11:
                break
        return points, distance

    spread = np.linalg.cholesky(np.cov((flat / scale).T))
    start = support(np.linalg.solve(spread.T, _directions(flat.shape[1], 60).T).T)
    return _grown(np.unique(start, axis=0), farthest, frame, scale, "cutting planes")


def _grown(
    points: Array, farthest: _Farthest, frame: AffineFrame, scale: Array, method: Method
) -> BoundingEllipsoid:
    """The smallest ellipsoid around points, to which those join that stick out of it."""
    for _ in range(_ROUNDS):
        centre, Q, weights = smallest_ellipsoid(points)
        others, distances = farthest(centre, np.linalg.cholesky(Q))
        reach = float(distances.max())
        if reach <= 1.0 + _PROTRUSION[method]:
            basis = frame.basis * scale
            Q = max(reach, 1.0) ** 2 * basis @ Q @ basis.T
            return BoundingEllipsoid(frame.origin + basis @ centre, 0.5 * (Q + Q.T), method)
        worst = np.argsort(distances)[-_ADDED:]
        worst = worst[distances[worst] > 1.0 + 0.1 * (reach - 1.0)]
        touching = points[weights > 1e-6 * weights.max()]
        points = np.unique(np.concatenate((touching, others[worst])), axis=0)
    raise SolveError(f"bounding ellipsoid: no convergence in {_ROUNDS} rounds")


def _of_line(frame: AffineFrame, flat: Array, method: Method) -> BoundingEllipsoid:
    """The ellipsoid of points on a line or in one place: the line itself."""
    ends = np.array([flat.min(axis=0), flat.max(axis=0)])
    half = 0.5 * (frame.basis @ (ends[1] - ends[0]))
    centre = frame.origin + frame.basis @ ends.mean(axis=0)
    return BoundingEllipsoid(centre, np.outer(half, half), method)


def _directions(dimensions: int, count: int) -> Array:
    """Unit vectors in two or three dimensions, evenly."""
    if dimensions == 3:
        return directions_of_sphere(count)
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack((np.cos(angles), np.sin(angles)))


def _highest(points: Array, directions: Array) -> Array:
    return np.unique(farthest_corners(points, directions), axis=0)

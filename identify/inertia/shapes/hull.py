"""Convex hulls as corners (inside) and half-spaces (outside)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices, Vec3, seal
from identify.inertia.shapes.directions import farthest_corners
from identify.spatial import Pose

_FLAT = 1e-9
"""Points that leave a plane or a line by less than this share of their extent lie in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """The convex hull of a shape, between a polytope inside and a polytope outside.

    Attributes:
        vertices: points of the hull whose convex combinations are the inner polytope [m], shape
            (n, 3).
        normals: unit normals of the outer polytope's half-spaces, shape (k, 3).
        offsets: `normals @ x <= offsets` for every point x of the shape [m], shape (k,).
        exact: whether both polytopes are the hull; where it is round they differ.
    """

    vertices: Vec3
    normals: Vec3
    offsets: Array
    exact: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", seal(self.vertices, "hull: vertices", (None, 3)))
        object.__setattr__(self, "normals", seal(self.normals, "hull: normals", (None, 3)))
        count = len(self.normals)
        object.__setattr__(self, "offsets", seal(self.offsets, "hull: offsets", (count,)))

    def contains(self, points: Vec3, tolerance: float = 1e-9) -> Flags:
        """Whether points lie in the outer polytope, within `tolerance` times the hull's extent.

        Args:
            points: [m], shape (..., 3).
            tolerance: how far outside a point may lie.

        Returns:
            Booleans, shape (...).
        """
        margin = tolerance * np.ptp(self.vertices, axis=0).max(initial=0.0)
        return (np.asarray(points) @ self.normals.T <= self.offsets + margin).all(axis=-1)

    def in_frame(self, X_AB: Pose) -> Hull:
        """The same hull in A, where `X_AB` is the pose of this frame B in A."""
        normals = self.normals @ X_AB.rotation.T
        return Hull(
            X_AB.apply(self.vertices), normals, self.offsets + normals @ X_AB.position, self.exact
        )


class AffineFrame(NamedTuple):
    """Coordinates in the space, plane, line or point that points span.

    Attributes:
        origin: mean of the points, shape (3,).
        basis: orthonormal directions of the span, shape (3, d), d from 0 to 3.
        across: orthonormal directions across the span, shape (3, 3 − d).
    """

    origin: Vec3
    basis: Array
    across: Array

    def coordinates(self, points: Vec3) -> Array:
        """Coordinates of points along the basis, shape (n, d)."""
        return (points - self.origin) @ self.basis


def affine_frame(points: Vec3) -> AffineFrame:
    """The space, plane, line or point that points (n, 3) span, up to rounding."""
    origin = points.mean(axis=0)
    offsets = points - origin
    directions = np.linalg.eigh(offsets.T @ offsets)[1][:, ::-1]
    extent = np.abs(offsets @ directions).max(axis=0)
    # Rounding of the positions, not only the extent, decides what is flat.
    floor = max(_FLAT * extent.max(), 1e-14 * np.abs(points).max())
    spanned = extent > floor
    return AffineFrame(origin, directions[:, spanned], directions[:, ~spanned])


def hull_vertices(points: Array) -> Indices:
    """Indices of the corners of the convex hull of points (n, d) that span all d dimensions."""
    if points.shape[1] == 1:
        return np.unique([np.argmin(points), np.argmax(points)])
    from scipy.spatial import ConvexHull  # slow to import, and rarely needed

    return np.sort(ConvexHull(points / np.abs(points).max(axis=0)).vertices)


def polytope_hull(points: Vec3) -> Hull:
    """The convex hull of points (n, 3), exactly; also of points in a plane, a line or one place."""
    points = np.asarray(points, dtype=np.float64)
    frame = affine_frame(points)
    flat = frame.coordinates(points)
    normals = np.concatenate((_facet_normals(flat) @ frame.basis.T, frame.across.T))
    normals = np.concatenate((normals, -frame.across.T))
    corners = points[hull_vertices(flat)] if flat.shape[1] else points[:1]
    # The offsets from the points themselves: facets that were merged leave none outside.
    farthest = farthest_corners(points, normals)
    return Hull(corners, normals, np.sum(farthest * normals, axis=1), True)


def _facet_normals(points: Array) -> Array:
    """Unit outward normals of the facets of the hull of points (n, d), shape (k, d)."""
    dimensions = points.shape[1]
    if dimensions == 0:
        return np.zeros((0, 0))
    if dimensions == 1:
        return np.array([[1.0], [-1.0]])
    from scipy.spatial import ConvexHull  # slow to import, and rarely needed

    scale = np.abs(points).max(axis=0)
    normals = ConvexHull(points / scale).equations[:, :dimensions] / scale
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    # Facets are triangles: those of one side share their normal.
    return normals[np.unique(np.round(normals, 10), axis=0, return_index=True)[1]]


def sampled_hull(support_points: Callable[[Vec3], Vec3], directions: Vec3) -> Hull:
    """A round hull from its farthest points in some directions (unit vectors, shape (k, 3))."""
    vertices = support_points(directions)
    return Hull(vertices, directions, np.sum(directions * vertices, axis=1), False)

"""Plates without thickness: rectangle and disc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Mat33, Vec3
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.directions import towards
from identify.inertia.shapes.shape import Surface
from identify.inertia.shapes.sizes import size


@dataclass(frozen=True, slots=True)
class Plate(Surface):
    """A rectangle in the plane z = 0, centred at Ao; a plate of some thickness is a `Box`."""

    x: float = size("length along x")
    y: float = size("length along y")

    @property
    def area(self) -> float:
        """x y [m²]."""
        return self.x * self.y

    @property
    def covariance(self) -> Mat33:
        """diag(x²/12, y²/12, 0) [m²]."""
        return np.diag([self.x**2, self.y**2, 0.0]) / 12.0

    @property
    def corners(self) -> Vec3:
        """The four corners [m], shape (4, 3)."""
        half = 0.5 * np.array([self.x, self.y, 0.0])
        return half * [[-1, -1, 0], [-1, 1, 0], [1, -1, 0], [1, 1, 0]]

    def support_points(self, directions: Vec3) -> Vec3:
        """The corner that reaches farthest."""
        half = 0.5 * np.array([self.x, self.y, 0.0])
        return np.where(np.asarray(directions) < 0.0, -half, half)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """The ellipse through the corners, semi-axes √2/2 of the sides; flat."""
        half = np.sqrt(0.5)
        return BoundingEllipsoid.aligned((half * self.x, half * self.y, 0.0))


@dataclass(frozen=True, slots=True)
class Disc(Surface):
    """A round plate in the plane z = 0, centred at Ao; one of some thickness is a `Cylinder`."""

    radius: float = size("radius")

    @property
    def area(self) -> float:
        """π r² [m²]."""
        return np.pi * self.radius**2

    @property
    def covariance(self) -> Mat33:
        """diag(r²/4, r²/4, 0) [m²]."""
        return np.diag([1.0, 1.0, 0.0]) * self.radius**2 / 4.0

    def support_points(self, directions: Vec3) -> Vec3:
        """The point of the rim that reaches farthest."""
        return self.radius * towards(directions, [1.0, 1.0, 0.0])

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """The disc itself; flat."""
        return BoundingEllipsoid.aligned((self.radius, self.radius, 0.0))

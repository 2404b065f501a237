"""Boxes, solid and shell."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from identify.arrays import Mat33, Vec3
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.shape import Shape, Solid, Surface
from identify.inertia.shapes.sizes import size

_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


class _BoxOutline(Shape):
    __slots__ = ()
    x: float
    y: float
    z: float

    @property
    def corners(self) -> Vec3:
        """The eight corners [m], shape (8, 3)."""
        return 0.5 * _SIGNS * [self.x, self.y, self.z]

    def support_points(self, directions: Vec3) -> Vec3:
        """The corner that reaches farthest."""
        half = 0.5 * np.array([self.x, self.y, self.z])
        return np.where(np.asarray(directions) < 0.0, -half, half)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """Through the corners, semi-axes √3/2 of the sides: the image of the ball around a cube."""
        half = np.sqrt(0.75)
        return BoundingEllipsoid.aligned((half * self.x, half * self.y, half * self.z))


@dataclass(frozen=True, slots=True)
class Box(_BoxOutline, Solid):
    """A solid box centred at Ao, with its sides along the axes."""

    x: float = size("length along x")
    y: float = size("length along y")
    z: float = size("length along z")

    @property
    def volume(self) -> float:
        """x y z [m³]."""
        return self.x * self.y * self.z

    @property
    def covariance(self) -> Mat33:
        """Diagonal, x²/12 and so on [m²]."""
        return np.diag([self.x**2, self.y**2, self.z**2]) / 12.0


@dataclass(frozen=True, slots=True)
class BoxShell(_BoxOutline, Surface):
    """The six sides of a box, of even density an area."""

    x: float = size("length along x")
    y: float = size("length along y")
    z: float = size("length along z")

    @property
    def area(self) -> float:
        """2 (x y + y z + z x) [m²]."""
        return 2.0 * (self.x * self.y + self.y * self.z + self.z * self.x)

    @property
    def covariance(self) -> Mat33:
        """Diagonal: sides across x stand at x²/4, the four along it have x²/12 [m²]."""
        sides = np.array([self.x, self.y, self.z])
        across = 2.0 * np.array([self.y * self.z, self.z * self.x, self.x * self.y])
        return np.diag(sides**2 * (across / 4.0 + (self.area - across) / 12.0) / self.area)

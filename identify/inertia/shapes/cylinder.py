"""Cylinders: solid, shell with ends, and tube without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Mat33, Vec3
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.directions import along_z, towards
from identify.inertia.shapes.shape import Shape, Solid, Surface
from identify.inertia.shapes.sizes import size


class _CylinderOutline(Shape):
    __slots__ = ()
    radius: float
    length: float

    def support_points(self, directions: Vec3) -> Vec3:
        """The point of a rim that reaches farthest."""
        rim = self.radius * towards(directions, [1.0, 1.0, 0.0])
        return rim + along_z(directions, 0.5 * self.length)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """Through both rims: a² b is least for r²/a² + l²/4b² = 1 at a² = 3/2 r², b² = 3/4 l²."""
        radial = np.sqrt(1.5) * self.radius
        return BoundingEllipsoid.aligned((radial, radial, np.sqrt(0.75) * self.length))


@dataclass(frozen=True, slots=True)
class Cylinder(_CylinderOutline, Solid):
    """A solid cylinder along z, centred at Ao."""

    radius: float = size("radius")
    length: float = size("length along z")

    @property
    def volume(self) -> float:
        """π r² l [m³]."""
        return np.pi * self.radius**2 * self.length

    @property
    def covariance(self) -> Mat33:
        """diag(r²/4, r²/4, l²/12) [m²]."""
        across = self.radius**2 / 4.0
        return np.diag([across, across, self.length**2 / 12.0])


@dataclass(frozen=True, slots=True)
class Tube(_CylinderOutline, Surface):
    """The side of a cylinder along z, open at both ends, of even density an area."""

    radius: float = size("radius")
    length: float = size("length along z")

    @property
    def area(self) -> float:
        """2 π r l [m²]."""
        return 2.0 * np.pi * self.radius * self.length

    @property
    def covariance(self) -> Mat33:
        """diag(r²/2, r²/2, l²/12) [m²]."""
        across = self.radius**2 / 2.0
        return np.diag([across, across, self.length**2 / 12.0])


@dataclass(frozen=True, slots=True)
class CylinderShell(_CylinderOutline, Surface):
    """The side and both ends of a cylinder along z, of even density an area."""

    radius: float = size("radius")
    length: float = size("length along z")

    @property
    def area(self) -> float:
        """2 π r (l + r) [m²]."""
        return 2.0 * np.pi * self.radius * (self.length + self.radius)

    @property
    def covariance(self) -> Mat33:
        """The side has r²/2 and l²/12, the ends r²/4 and l²/4, by their areas l : r [m²]."""
        r, length = self.radius, self.length
        side, ends = length / (length + r), r / (length + r)
        across = r**2 * (side / 2.0 + ends / 4.0)
        return np.diag([across, across, length**2 * (side / 12.0 + ends / 4.0)])

"""Cones, solid and shell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Mat33, Vec3
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.directions import towards
from identify.inertia.shapes.shape import Shape, Solid, Surface
from identify.inertia.shapes.sizes import size


class _ConeOutline(Shape):
    __slots__ = ()
    radius: float
    height: float

    def support_points(self, directions: Vec3) -> Vec3:
        """The apex or the point of the base's rim that reaches farthest."""
        d = np.asarray(directions, dtype=np.float64)
        rim = self.radius * towards(d, [1.0, 1.0, 0.0])
        apex = np.array([0.0, 0.0, self.height])
        return np.where(d @ apex[:, None] > np.sum(d * rim, axis=-1, keepdims=True), apex, rim)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """Through apex and rim, centred at h/4 above the base: semi-axes √(9/8) r and 3 h/4."""
        radial = np.sqrt(1.125) * self.radius
        return BoundingEllipsoid.aligned((radial, radial, 0.75 * self.height), 0.25 * self.height)


@dataclass(frozen=True, slots=True)
class Cone(_ConeOutline, Solid):
    """A solid cone: its base in the plane z = 0 about Ao, its apex at z = height."""

    radius: float = size("radius of the base")
    height: float = size("height along z, from base to apex")

    @property
    def volume(self) -> float:
        """π r² h / 3 [m³]."""
        return np.pi * self.radius**2 * self.height / 3.0

    @property
    def centroid(self) -> Vec3:
        """(0, 0, h/4) [m]."""
        return np.array([0.0, 0.0, 0.25 * self.height])

    @property
    def covariance(self) -> Mat33:
        """diag(3 r²/20, 3 r²/20, 3 h²/80) [m²]."""
        across = 3.0 / 20.0 * self.radius**2
        return np.diag([across, across, 3.0 / 80.0 * self.height**2])


@dataclass(frozen=True, slots=True)
class ConeShell(_ConeOutline, Surface):
    """Side and base of a cone (base at z = 0, apex at z = height), of even density an area."""

    radius: float = size("radius of the base")
    height: float = size("height along z, from base to apex")

    @property
    def area(self) -> float:
        """π r (√(r² + h²) + r) [m²]."""
        return np.pi * self.radius * (np.hypot(self.radius, self.height) + self.radius)

    @property
    def centroid(self) -> Vec3:
        """A third of the height for the side, none for the base, by area [m]."""
        return np.array([0.0, 0.0, self._side * self.height / 3.0])

    @property
    def covariance(self) -> Mat33:
        """Side and base have r²/4; along z E z² = h²/6 for the side, none for the base [m²]."""
        across = self.radius**2 / 4.0
        along = self.height**2 * self._side * (1.0 / 6.0 - self._side / 9.0)
        return np.diag([across, across, along])

    @property
    def _side(self) -> float:
        """Share of the side in the area."""
        slant = np.hypot(self.radius, self.height)
        return float(slant / (slant + self.radius))

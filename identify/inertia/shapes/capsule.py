"""Capsules: a cylinder between two half balls, solid and shell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Mat33, Vec3
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.directions import along_z, towards
from identify.inertia.shapes.shape import Shape, Solid, Surface
from identify.inertia.shapes.sizes import size


class _CapsuleOutline(Shape):
    __slots__ = ()
    radius: float
    length: float

    def support_points(self, directions: Vec3) -> Vec3:
        """The farthest point of the ball at either end."""
        return self.radius * towards(directions) + along_z(directions, 0.5 * self.length)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """Touches the half balls along two circles.

        With h = l/2 and semi-axes a (twice) and b, a ball of radius r at ±h stays inside if
        r²/a² + h²/(b² − a²) = 1; the least a² b then has a² − r² = h (√(h² + 3 r²) − h) / 3.
        """
        r, h = self.radius, 0.5 * self.length
        # The difference of the root and h without cancellation.
        s = h * r**2 / (np.hypot(h, np.sqrt(3.0) * r) + h)
        across = r**2 + s
        along = across * (1.0 + h**2 / s)
        return BoundingEllipsoid.aligned((np.sqrt(across), np.sqrt(across), np.sqrt(along)))


@dataclass(frozen=True, slots=True)
class Capsule(_CapsuleOutline, Solid):
    """A solid capsule along z, centred at Ao."""

    radius: float = size("radius")
    length: float = size("length of the cylinder, without the half balls, along z")

    @property
    def volume(self) -> float:
        """π r² (l + 4/3 r) [m³]."""
        return np.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    @property
    def covariance(self) -> Mat33:
        """Cylinder r²/4, l²/12; half balls r²/5, l²/4 + 3 l r/8 + r²/5; by volume [m²]."""
        r, length = self.radius, self.length
        cylinder = length / (length + 4.0 / 3.0 * r)
        balls = 1.0 - cylinder
        across = r**2 * (cylinder / 4.0 + balls / 5.0)
        along = length**2 / 4.0 + 3.0 / 8.0 * length * r + r**2 / 5.0
        return np.diag([across, across, cylinder * length**2 / 12.0 + balls * along])


@dataclass(frozen=True, slots=True)
class CapsuleShell(_CapsuleOutline, Surface):
    """The surface of a capsule along z, of even density an area."""

    radius: float = size("radius")
    length: float = size("length of the cylinder, without the half balls, along z")

    @property
    def area(self) -> float:
        """2 π r (l + 2 r) [m²]."""
        return 2.0 * np.pi * self.radius * (self.length + 2.0 * self.radius)

    @property
    def covariance(self) -> Mat33:
        """Side r²/2, l²/12; half spheres r²/3, l²/4 + l r/2 + r²/3; by area [m²]."""
        r, length = self.radius, self.length
        side = length / (length + 2.0 * r)
        spheres = 1.0 - side
        across = r**2 * (side / 2.0 + spheres / 3.0)
        along = length**2 / 4.0 + length * r / 2.0 + r**2 / 3.0
        return np.diag([across, across, side * length**2 / 12.0 + spheres * along])

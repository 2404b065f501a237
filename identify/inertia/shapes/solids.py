"""Solid bodies of even density a volume, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.inertia.shapes.shape import Solid, size


@dataclass(frozen=True, slots=True)
class Box(Solid):
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
class Ellipsoid(Solid):
    """A solid ellipsoid centred at Ao, with its axes along x, y and z."""

    a: float = size("semi-axis along x")
    b: float = size("semi-axis along y")
    c: float = size("semi-axis along z")

    @property
    def semi_axes(self) -> Array:
        """Semi-axes along x, y and z [m], shape (3,)."""
        return np.array([self.a, self.b, self.c])

    @property
    def volume(self) -> float:
        """4/3 π a b c [m³]."""
        return 4.0 / 3.0 * np.pi * self.a * self.b * self.c

    @property
    def covariance(self) -> Mat33:
        """diag(a², b², c²) / 5 [m²]."""
        return np.diag(self.semi_axes**2) / 5.0


@dataclass(frozen=True, slots=True)
class Sphere(Solid):
    """A solid ball centred at Ao."""

    radius: float = size("radius")

    @property
    def volume(self) -> float:
        """4/3 π r³ [m³]."""
        return 4.0 / 3.0 * np.pi * self.radius**3

    @property
    def covariance(self) -> Mat33:
        """r²/5 · 1 [m²]."""
        return np.eye(3) * self.radius**2 / 5.0


@dataclass(frozen=True, slots=True)
class Cylinder(Solid):
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
class Capsule(Solid):
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
class Cone(Solid):
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

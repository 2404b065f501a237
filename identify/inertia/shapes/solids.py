"""Solid bodies of even density a volume, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.inertia.shapes.shape import Moments, Solid, size


@dataclass(frozen=True, slots=True)
class Box(Solid):
    """A solid box centred at Ao, with its sides along the axes."""

    x: float = size("length along x")
    y: float = size("length along y")
    z: float = size("length along z")

    def moments(self) -> Moments:
        """Volume x y z; mean squares x²/12 and so on."""
        sides = np.array([self.x, self.y, self.z])
        return Moments.about_axes(self.x * self.y * self.z, sides**2 / 12.0)


@dataclass(frozen=True, slots=True)
class Ellipsoid(Solid):
    """A solid ellipsoid centred at Ao, with its axes along x, y and z."""

    a: float = size("semi-axis along x")
    b: float = size("semi-axis along y")
    c: float = size("semi-axis along z")

    def moments(self) -> Moments:
        """Volume 4/3 π a b c; mean squares a²/5, b²/5, c²/5."""
        volume = 4.0 / 3.0 * np.pi * self.a * self.b * self.c
        return Moments.about_axes(volume, np.array([self.a, self.b, self.c]) ** 2 / 5.0)


@dataclass(frozen=True, slots=True)
class Sphere(Solid):
    """A solid ball centred at Ao."""

    radius: float = size("radius")

    def moments(self) -> Moments:
        """Volume 4/3 π r³; mean squares r²/5."""
        return Moments.about_axes(
            4.0 / 3.0 * np.pi * self.radius**3, np.full(3, self.radius**2 / 5.0)
        )


@dataclass(frozen=True, slots=True)
class Cylinder(Solid):
    """A solid cylinder along z, centred at Ao."""

    radius: float = size("radius")
    length: float = size("length along z")

    def moments(self) -> Moments:
        """Volume π r² l; mean squares r²/4 across, l²/12 along."""
        r, length = self.radius, self.length
        return Moments.about_z(np.pi * r**2 * length, r**2 / 4.0, length**2 / 12.0)


@dataclass(frozen=True, slots=True)
class Capsule(Solid):
    """A solid capsule along z, centred at Ao."""

    radius: float = size("radius")
    length: float = size("length of the cylinder, without the half balls, along z")

    def moments(self) -> Moments:
        """Cylinder r²/4, l²/12; half balls r²/5, l²/4 + 3 l r/8 + r²/5; by volume."""
        r, length = self.radius, self.length
        volume = np.pi * r**2 * (length + 4.0 / 3.0 * r)
        cylinder = length / (length + 4.0 / 3.0 * r)
        balls = 1.0 - cylinder
        along = length**2 / 4.0 + 3.0 / 8.0 * length * r + r**2 / 5.0
        return Moments.about_z(
            volume,
            r**2 * (cylinder / 4.0 + balls / 5.0),
            cylinder * length**2 / 12.0 + balls * along,
        )


@dataclass(frozen=True, slots=True)
class Cone(Solid):
    """A solid cone: its base in the plane z = 0 about Ao, its apex at z = height."""

    radius: float = size("radius of the base")
    height: float = size("height along z, from base to apex")

    def moments(self) -> Moments:
        """Volume π r² h / 3; centroid at h/4; mean squares about it 3 r²/20 and 3 h²/80."""
        r, h = self.radius, self.height
        volume = np.pi * r**2 * h / 3.0
        return Moments.about_z(volume, 3.0 / 20.0 * r**2, 3.0 / 80.0 * h**2, at=0.25 * h)

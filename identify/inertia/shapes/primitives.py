"""Elementary shapes: solids, closed shells, a tube, plates and a rod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.inertia.shapes.shape import (
    MeasureKind,
    Shape,
    ShapeMoments,
    Solid,
    Surface,
    size_field,
)


@dataclass(frozen=True, slots=True)
class Box(Solid):
    """A solid box centred at the origin, with its sides along the axes."""

    x: float = size_field("length along x")
    y: float = size_field("length along y")
    z: float = size_field("length along z")

    def moments(self) -> ShapeMoments:
        """Return volume x y z and mean squared coordinates x²/12, y²/12, z²/12."""
        sides = np.array([self.x, self.y, self.z])
        return ShapeMoments.symmetric(self.x * self.y * self.z, sides**2 / 12.0)


@dataclass(frozen=True, slots=True)
class Ellipsoid(Solid):
    """A solid ellipsoid centred at the origin, with its axes along x, y and z."""

    a: float = size_field("semi-axis along x")
    b: float = size_field("semi-axis along y")
    c: float = size_field("semi-axis along z")

    def moments(self) -> ShapeMoments:
        """Return volume 4/3 π a b c and mean squared coordinates a²/5, b²/5, c²/5."""
        volume = 4.0 / 3.0 * np.pi * self.a * self.b * self.c
        return ShapeMoments.symmetric(volume, np.array([self.a, self.b, self.c]) ** 2 / 5.0)


@dataclass(frozen=True, slots=True)
class Sphere(Solid):
    """A solid ball centred at the origin."""

    radius: float = size_field("radius")

    def moments(self) -> ShapeMoments:
        """Return volume 4/3 π r³ and mean squared coordinates r²/5."""
        mean_square = self.radius**2 / 5.0
        return ShapeMoments.revolved(4.0 / 3.0 * np.pi * self.radius**3, mean_square, mean_square)


@dataclass(frozen=True, slots=True)
class Cylinder(Solid):
    """A solid cylinder along z, centred at the origin."""

    radius: float = size_field("radius")
    length: float = size_field("length along z")

    def moments(self) -> ShapeMoments:
        """Return volume π r² l and mean squared coordinates r²/4 across, l²/12 along the axis."""
        r, length = self.radius, self.length
        return ShapeMoments.revolved(np.pi * r**2 * length, r**2 / 4.0, length**2 / 12.0)


@dataclass(frozen=True, slots=True)
class Capsule(Solid):
    """A solid capsule along z, centred at the origin."""

    radius: float = size_field("radius")
    length: float = size_field("length of the cylinder, without the half balls, along z")

    def moments(self) -> ShapeMoments:
        """Return volume and mean squared coordinates of cylinder and end caps, weighted by volume.

        They are r²/4, l²/12 for the cylinder and r²/5, l²/4 + 3 l r/8 + r²/5 for the half balls.
        """
        r, length = self.radius, self.length
        volume = np.pi * r**2 * (length + 4.0 / 3.0 * r)
        cylinder = length / (length + 4.0 / 3.0 * r)
        balls = 1.0 - cylinder
        along = length**2 / 4.0 + 3.0 / 8.0 * length * r + r**2 / 5.0
        return ShapeMoments.revolved(
            volume,
            r**2 * (cylinder / 4.0 + balls / 5.0),
            cylinder * length**2 / 12.0 + balls * along,
        )


@dataclass(frozen=True, slots=True)
class Cone(Solid):
    """A solid cone: its base in the plane z = 0 about the origin, its apex at z = height."""

    radius: float = size_field("radius of the base")
    height: float = size_field("height along z, from base to apex")

    def moments(self) -> ShapeMoments:
        """Return volume π r² h / 3, centroid h/4 and mean squared coordinates 3 r²/20, 3 h²/80."""
        r, h = self.radius, self.height
        volume = np.pi * r**2 * h / 3.0
        return ShapeMoments.revolved(
            volume, 3.0 / 20.0 * r**2, 3.0 / 80.0 * h**2, centroid_z=0.25 * h
        )


_QUADRATURE_LOG_STEP = 0.375
"""Step of the trapezoid rule in ln t. The integrands are analytic for |Im ln t| < π, so that the
error is exp(−2 π²/step), 1e-14 at 0.5. A multiple of 3/8 is an exact floating-point number: other
steps add rounding errors of the same size."""


@dataclass(frozen=True, slots=True)
class BoxShell(Surface):
    """The six faces of a box, of uniform density per area."""

    x: float = size_field("length along x")
    y: float = size_field("length along y")
    z: float = size_field("length along z")

    def moments(self) -> ShapeMoments:
        """Return area 2 (x y + y z + z x) and mean squared coordinates.

        Faces across x contribute x²/4, the four along x contribute x²/12.
        """
        sides = np.array([self.x, self.y, self.z])
        area = 2.0 * (self.x * self.y + self.y * self.z + self.z * self.x)
        across = 2.0 * np.array([self.y * self.z, self.z * self.x, self.x * self.y])
        return ShapeMoments.symmetric(
            area, sides**2 * (across / 4.0 + (area - across) / 12.0) / area
        )


@dataclass(frozen=True, slots=True)
class EllipsoidShell(Surface):
    """The surface of an ellipsoid, of uniform density per **area**: a skin of constant thickness.

    It is not the homoeoid, the thin layer between two similar ellipsoids, which is thicker where
    the ellipsoid is pointed: its covariance is diag(a², b², c²) / 3, and its moments are those of
    the "hollow ellipsoid" of tables. The two agree for a sphere only.
    """

    a: float = size_field("semi-axis along x")
    b: float = size_field("semi-axis along y")
    c: float = size_field("semi-axis along z")

    def moments(self) -> ShapeMoments:
        """Compute area and mean squared coordinates by quadrature, to a relative 1e-15.

        With n even on the unit sphere, x = a n₁ and dA = √(Σ pⱼ nⱼ²) dΩ, p = (b²c², c²a², a²b²):

            area = 4π E[√(Σ p n²)],     ∫ x² dA = a² 4π E[n₁² √(Σ p n²)]

        Both means are one-dimensional integrals. With √s = ∫ (1 − e^{−ts}) t^{−3/2} dt / (2√π) and
        a Gaussian x = r n in the place of n, E e^{−t Σ p x²} = Π (1 + 2 t pⱼ)^{−1/2} = G(t), and by
        parts

            E[n₁^{2k} √(Σ p n²)] ∝ ∫ t^{½} G(t) (1 + 2 t p₁)^{−k} Σ wⱼ pⱼ / (1 + 2 t pⱼ) d ln t,

        wⱼ = 1, and 1 + 2k for j = 1. They are summed by the trapezoid rule in ln t, which converges
        exponentially. Measured against Carlson's symmetric integrals (area 4π R_G, DLMF 19.33.1)
        and a 40-digit quadrature, for axes up to 1 : 10⁶: relative error below 1e-15.
        """
        semi_axes = np.array([self.a, self.b, self.c])
        scale = semi_axes.max()
        squares = (semi_axes / scale) ** 2
        p = np.prod(squares) / squares
        lower, upper = -np.log(p.max()) - 76.0, -np.log(p.min()) + 26.0
        steps = np.arange(
            np.floor(lower / _QUADRATURE_LOG_STEP), np.ceil(upper / _QUADRATURE_LOG_STEP) + 1.0
        )
        t = np.exp(_QUADRATURE_LOG_STEP * steps)
        damping = 1.0 / (1.0 + 2.0 * t[:, None] * p)
        common = np.sqrt(t * np.prod(damping, axis=1))
        terms = p * damping
        total = terms.sum(axis=1)
        # For three Gaussians E r = 2 √(2/π), E r³ = 4 E r, and 4π / (√π E r) = √2 π.
        plain = common @ total
        weighted = common @ (damping * (total[:, None] + 2.0 * terms)) / 4.0
        area = np.sqrt(2.0) * np.pi * _QUADRATURE_LOG_STEP * plain
        return ShapeMoments.symmetric(area * scale**2, squares * scale**2 * weighted / plain)


@dataclass(frozen=True, slots=True)
class SphereShell(Surface):
    """The surface of a ball, of uniform density per area."""

    radius: float = size_field("radius")

    def moments(self) -> ShapeMoments:
        """Return area 4 π r² and mean squared coordinates r²/3."""
        mean_square = self.radius**2 / 3.0
        return ShapeMoments.revolved(4.0 * np.pi * self.radius**2, mean_square, mean_square)


@dataclass(frozen=True, slots=True)
class Tube(Surface):
    """The lateral surface of a cylinder along z, open at both ends, of uniform density per area."""

    radius: float = size_field("radius")
    length: float = size_field("length along z")

    def moments(self) -> ShapeMoments:
        """Return area 2 π r l and mean squared coordinates r²/2 across, l²/12 along the axis."""
        r, length = self.radius, self.length
        return ShapeMoments.revolved(2.0 * np.pi * r * length, r**2 / 2.0, length**2 / 12.0)


@dataclass(frozen=True, slots=True)
class CylinderShell(Surface):
    """The side and both ends of a cylinder along z, of uniform density per area."""

    radius: float = size_field("radius")
    length: float = size_field("length along z")

    def moments(self) -> ShapeMoments:
        """Return area 2 π r (l + r) and mean squared coordinates, weighted l : r.

        They are r²/2 and l²/12 for the side, r²/4 and l²/4 for the ends.
        """
        r, length = self.radius, self.length
        side, ends = length / (length + r), r / (length + r)
        across = r**2 * (side / 2.0 + ends / 4.0)
        along = length**2 * (side / 12.0 + ends / 4.0)
        return ShapeMoments.revolved(2.0 * np.pi * r * (length + r), across, along)


@dataclass(frozen=True, slots=True)
class CapsuleShell(Surface):
    """The surface of a capsule along z, of uniform density per area."""

    radius: float = size_field("radius")
    length: float = size_field("length of the cylinder, without the half balls, along z")

    def moments(self) -> ShapeMoments:
        """Return area 2 π r (l + 2 r) and mean squared coordinates, weighted by area.

        They are r²/2, l²/12 for the side and r²/3, l²/4 + l r/2 + r²/3 for the half spheres.
        """
        r, length = self.radius, self.length
        side = length / (length + 2.0 * r)
        spheres = 1.0 - side
        across = r**2 * (side / 2.0 + spheres / 3.0)
        along = length**2 / 4.0 + length * r / 2.0 + r**2 / 3.0
        along = side * length**2 / 12.0 + spheres * along
        return ShapeMoments.revolved(2.0 * np.pi * r * (length + 2.0 * r), across, along)


@dataclass(frozen=True, slots=True)
class ConeShell(Surface):
    """Side and base of a cone, base at z = 0, apex at z = height, of uniform density per area."""

    radius: float = size_field("radius of the base")
    height: float = size_field("height along z, from base to apex")

    def moments(self) -> ShapeMoments:
        """Return area π r (√(r² + h²) + r), centroid and mean squared coordinates.

        Side and base have r²/4 across; the side has centroid h/3 and E z² = h²/6.
        """
        r, h = self.radius, self.height
        slant = np.hypot(r, h)
        side = slant / (slant + r)  # fraction of the area
        along = h**2 * side * (1.0 / 6.0 - side / 9.0)
        return ShapeMoments.revolved(
            np.pi * r * (slant + r), r**2 / 4.0, along, centroid_z=side * h / 3.0
        )


@dataclass(frozen=True, slots=True)
class Plate(Surface):
    """A rectangle in the plane z = 0, centred at the origin; a plate with thickness is a `Box`."""

    x: float = size_field("length along x")
    y: float = size_field("length along y")

    def moments(self) -> ShapeMoments:
        """Return area x y and mean squared coordinates x²/12, y²/12, 0."""
        return ShapeMoments.symmetric(self.x * self.y, np.array([self.x, self.y, 0.0]) ** 2 / 12.0)


@dataclass(frozen=True, slots=True)
class Disc(Surface):
    """A round plate in the plane z = 0, centred at the origin; a thick one is a `Cylinder`."""

    radius: float = size_field("radius")

    def moments(self) -> ShapeMoments:
        """Return area π r² and mean squared coordinates r²/4 in the plane."""
        return ShapeMoments.revolved(np.pi * self.radius**2, self.radius**2 / 4.0, 0.0)


@dataclass(frozen=True, slots=True)
class Rod(Shape):
    """A thin rod along z, centred at the origin; one with thickness is a `Cylinder`."""

    measure_kind: ClassVar[MeasureKind] = "length"

    length: float = size_field("length along z")

    def moments(self) -> ShapeMoments:
        """Return length l and mean squared coordinate l²/12 along it."""
        return ShapeMoments.revolved(self.length, 0.0, self.length**2 / 12.0)

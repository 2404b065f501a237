"""Ellipsoids and spheres, solid and shell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.directions import towards
from identify.inertia.shapes.ellipsoid_surface import ellipsoid_surface
from identify.inertia.shapes.shape import Shape, Solid, Surface
from identify.inertia.shapes.sizes import size


class _EllipsoidOutline(Shape):
    __slots__ = ()
    a: float
    b: float
    c: float

    @property
    def semi_axes(self) -> Array:
        """Semi-axes along x, y and z [m], shape (3,)."""
        return np.array([self.a, self.b, self.c])

    def support_points(self, directions: Vec3) -> Vec3:
        """A² d / √(dᵀ A² d), A = diag(a, b, c)."""
        d = np.asarray(directions, dtype=np.float64)
        return self.semi_axes * towards(d / np.abs(d).max(axis=-1, keepdims=True) * self.semi_axes)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """The ellipsoid itself."""
        return BoundingEllipsoid.aligned((self.a, self.b, self.c))


@dataclass(frozen=True, slots=True)
class Ellipsoid(_EllipsoidOutline, Solid):
    """A solid ellipsoid centred at Ao, with its axes along x, y and z."""

    a: float = size("semi-axis along x")
    b: float = size("semi-axis along y")
    c: float = size("semi-axis along z")

    @property
    def volume(self) -> float:
        """4/3 π a b c [m³]."""
        return 4.0 / 3.0 * np.pi * self.a * self.b * self.c

    @property
    def covariance(self) -> Mat33:
        """diag(a², b², c²) / 5 [m²]."""
        return np.diag(self.semi_axes**2) / 5.0


@dataclass(frozen=True, slots=True)
class EllipsoidShell(_EllipsoidOutline, Surface):
    """The surface of an ellipsoid, of even density an **area**: a skin of one thickness.

    That is not the homoeoid, the thin layer between two similar ellipsoids, which is thicker where
    the ellipsoid is pointed: its covariance is diag(a², b², c²) / 3, and its moments are those that
    tables give for a "hollow ellipsoid". A thick homoeoid is a `Compound` of an `Ellipsoid` with a
    similar one as its hole. The two agree for a sphere only.
    """

    a: float = size("semi-axis along x")
    b: float = size("semi-axis along y")
    c: float = size("semi-axis along z")

    @property
    def area(self) -> float:
        """Area of the ellipsoid [m²], to a relative 1e-15."""
        return ellipsoid_surface(self.semi_axes).area

    @property
    def covariance(self) -> Mat33:
        """Diagonal, by quadrature to a relative 1e-15 of each entry [m²]."""
        return np.diag(ellipsoid_surface(self.semi_axes).mean_squares)


class _SphereOutline(Shape):
    __slots__ = ()
    radius: float

    def support_points(self, directions: Vec3) -> Vec3:
        """Radius times the direction."""
        return self.radius * towards(directions)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """The sphere itself."""
        return BoundingEllipsoid.aligned((self.radius, self.radius, self.radius))


@dataclass(frozen=True, slots=True)
class Sphere(_SphereOutline, Solid):
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
class SphereShell(_SphereOutline, Surface):
    """The surface of a ball, of even density an area."""

    radius: float = size("radius")

    @property
    def area(self) -> float:
        """4 π r² [m²]."""
        return 4.0 * np.pi * self.radius**2

    @property
    def covariance(self) -> Mat33:
        """r²/3 · 1 [m²]."""
        return np.eye(3) * self.radius**2 / 3.0

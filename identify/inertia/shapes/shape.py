"""`Shape`: a body of even density, and what its geometry says of its inertia."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from identify.arrays import Mat33, Phi, Vec3
from identify.errors import ModelError
from identify.inertia.matrices import phi_from_inertia
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.directions import directions_of_sphere
from identify.inertia.shapes.enclosing import enclosing_ellipsoid, enclosing_ellipsoid_of_support
from identify.inertia.shapes.hull import Hull, polytope_hull, sampled_hull
from identify.inertia.shapes.sizes import check_sizes, positive

Extent = Literal["volume", "area", "length", "weight"]
DENSITY_UNITS: dict[Extent, str] = {
    "volume": "kg/m³",
    "area": "kg/m²",
    "length": "kg/m",
    "weight": "1",
}
"""Unit of the density of a body that fills a volume, a surface, a line, or has its own weights."""

MOST_CORNERS = 10_000
"""Hulls of more corners than these are sampled: no one needs their half-spaces."""


class Shape(ABC):
    """A shape of even density in its own frame A.

    A shape is centred at Ao unless it says otherwise, with its axis of symmetry along z. `Placed`
    puts it elsewhere. Mass or density make it a body: `Box(0.1, 0.2, 0.3).phi(mass=1.2)`.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        check_sizes(self)

    @property
    @abstractmethod
    def extent(self) -> Extent:
        """What the density is per unit of: volume, area, length, or the shape's own weights."""

    @property
    @abstractmethod
    def measure(self) -> float:
        """What the density multiplies: volume [m³], area [m²], length [m], or the own mass [kg]."""

    @property
    def centroid(self) -> Vec3:
        """Mean position of the shape's points, p_AoAcm_A [m], shape (3,)."""
        return np.zeros(3)

    @property
    @abstractmethod
    def covariance(self) -> Mat33:
        """Covariance of the shape's points about their centroid, S_c / m [m²], shape (3, 3)."""

    @abstractmethod
    def support_points(self, directions: Vec3) -> Vec3:
        """Points of the shape that reach farthest: argmax of d · x over the shape.

        Args:
            directions: d in A, not zero, shape (..., 3).

        Returns:
            Shape (..., 3).
        """

    @property
    def corners(self) -> Vec3 | None:
        """Points whose convex hull is that of the shape, shape (n, 3); None where it is round."""
        return None

    @property
    def density_if_not_said(self) -> float | None:
        """The density of a shape that brings its own masses; None where one has to be said."""
        return None

    def phi(self, *, mass: float | None = None, density: float | None = None) -> Phi:
        """Ten parameters about Ao in A: m, h = m c, I = m (tr(Σ + c cᵀ) 1 − Σ − c cᵀ).

        Args:
            mass: [kg]; give either this or the density.
            density: [kg/m³] of a solid, [kg/m²] of a shell or plate, [kg/m] of a rod.

        Returns:
            Shape (10,).

        Raises:
            ModelError: both or neither given, or one that is not positive and finite.
        """
        total = self._total(mass, density)
        spread = self.covariance
        with np.errstate(over="ignore", invalid="ignore"):
            inertia = total * (np.trace(spread) * np.eye(3) - spread)
            phi = phi_from_inertia(total, self.centroid, inertia)
        if not np.isfinite(phi).all():
            raise ModelError(f"{type(self).__name__}: mass and sizes are too large for a number")
        return phi

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """The ellipsoid of smallest volume (area, length where the shape is flat) that contains it.

        In closed form, or to the precision of its `method`.
        """
        corners = self.corners
        if corners is None:
            return enclosing_ellipsoid_of_support(self.support_points)
        return enclosing_ellipsoid(corners)

    def hull(self, directions: int = 400) -> Hull:
        """The convex hull between two polytopes: exact for flat sides, sampled where it is round.

        Args:
            directions: how many directions a round shape is sampled in, or one of more than ten
                thousand corners.
        """
        corners = self.corners
        if corners is not None and len(corners) <= MOST_CORNERS:
            return polytope_hull(corners)
        return sampled_hull(self.support_points, directions_of_sphere(directions))

    def _total(self, mass: float | None, density: float | None) -> float:
        name = type(self).__name__
        if mass is None and density is None:
            density = self.density_if_not_said
        if (mass is None) == (density is None):
            got = "neither" if mass is None else "both"
            raise ModelError(
                f"{name}: expected either a mass [kg] or a density "
                f"[{DENSITY_UNITS[self.extent]}], got {got}"
            )
        if mass is not None:
            return positive(mass, f"{name}: mass", "kg")
        unit = DENSITY_UNITS[self.extent]
        return positive(density, f"{name}: density", unit) * self.measure


class Solid(Shape):
    """A shape that fills a volume."""

    __slots__ = ()

    @property
    def extent(self) -> Extent:
        """A volume."""
        return "volume"

    @property
    @abstractmethod
    def volume(self) -> float:
        """Volume [m³]."""

    @property
    def measure(self) -> float:
        """The volume [m³]."""
        return self.volume


class Surface(Shape):
    """A shape that is a surface of even density an area: a shell, whose wall has no thickness."""

    __slots__ = ()

    @property
    def extent(self) -> Extent:
        """An area."""
        return "area"

    @property
    @abstractmethod
    def area(self) -> float:
        """Area [m²]."""

    @property
    def measure(self) -> float:
        """The area [m²]."""
        return self.area

"""`Shape`: a body of even density, the sizes it is built from, and the body it is with a mass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, fields
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from identify.arrays import Mat33, Vec3, positive
from identify.errors import ModelError
from identify.inertia.matrices import phi_from_inertia
from identify.inertia.parameters import InertialParameters

Extent = Literal["volume", "area", "length", "weight"]
DENSITY_UNITS: dict[Extent, str] = {
    "volume": "kg/m³",
    "area": "kg/m²",
    "length": "kg/m",
    "weight": "1",
}
"""Unit of the density of a body that fills a volume, a surface, a line, or has its own weights."""

_SMALLEST_SIZE, _LARGEST_SIZE = 1e-60, 1e60
"""Sizes whose fifth powers are still ordinary numbers."""


class Size(NamedTuple):
    """A size that a shape is built from, in the order it is given; every one is a length [m].

    Attributes:
        name: name of the field.
        meaning: what it measures.
    """

    name: str
    meaning: str


def size(meaning: str) -> float:
    """A dataclass field that holds a length [m], positive and finite."""
    return field(metadata={"meaning": meaning})


def sizes_of(shape: Any) -> tuple[Size, ...]:
    """The sizes of a shape or of a class of shapes, in the order of its constructor."""
    return tuple(
        Size(entry.name, entry.metadata["meaning"])
        for entry in fields(shape)
        if "meaning" in entry.metadata
    )


class Moments(NamedTuple):
    """Integrals of 1, r and r rᵀ over a shape.

    Attributes:
        measure: volume [m³], area [m²], length [m], or the shape's own mass [kg].
        centroid: p_AoAcm_A [m], shape (3,).
        covariance: about the centroid, S_c / m [m²], shape (3, 3).
    """

    measure: float
    centroid: Vec3
    covariance: Mat33

    @classmethod
    def about_axes(cls, measure: float, mean_squares: Vec3) -> Moments:
        """Of a shape that is symmetric about the planes of the axes."""
        return cls(float(measure), np.zeros(3), np.diag(mean_squares))

    @classmethod
    def about_z(cls, measure: float, across: float, along: float, at: float = 0.0) -> Moments:
        """Of a shape that is round about z: mean squares about its centroid at z = `at`."""
        return cls(float(measure), np.array([0.0, 0.0, at]), np.diag([across, across, along]))


class Shape(ABC):
    """A shape of even density in its own frame A.

    A shape is centred at Ao unless it says otherwise, with its axis of symmetry along z. Mass or
    density make it a body, `Box(0.1, 0.2, 0.3).body(mass=1.2)`; `in_frame` of that puts it
    elsewhere, and bodies about one point in the same axes add up.
    """

    __slots__ = ()
    extent: ClassVar[Extent]
    """What the density is per unit of: volume, area, length, or the shape's own weights."""

    def __post_init__(self) -> None:
        for name, meaning in sizes_of(self):
            where = f"{type(self).__name__}: {name} ({meaning})"
            value = positive(getattr(self, name), where, "m")
            if not _SMALLEST_SIZE < value < _LARGEST_SIZE:
                raise ModelError(
                    f"{where}: expected a length from {_SMALLEST_SIZE:g} to {_LARGEST_SIZE:g} m, "
                    f"got {value:g}"
                )
            object.__setattr__(self, name, value)

    @abstractmethod
    def moments(self) -> Moments:
        """Measure, centroid and covariance of the shape's points."""

    @property
    def measure(self) -> float:
        """What the density multiplies: volume [m³], area [m²], length [m], or the own mass [kg]."""
        return self.moments().measure

    @property
    def centroid(self) -> Vec3:
        """Mean position of the shape's points, p_AoAcm_A [m], shape (3,)."""
        return self.moments().centroid

    @property
    def covariance(self) -> Mat33:
        """Covariance of the shape's points about their centroid, S_c / m [m²], shape (3, 3)."""
        return self.moments().covariance

    def body(
        self, *, mass: float | None = None, density: float | None = None
    ) -> InertialParameters:
        """The body about Ao in A: m, h = m c, I = m (tr(Σ + c cᵀ) 1 − Σ − c cᵀ).

        Args:
            mass: [kg]; give either this or the density.
            density: [kg/m³] of a solid, [kg/m²] of a shell or plate, [kg/m] of a rod.

        Raises:
            ModelError: both or neither given, or one that is not positive and finite.
        """
        measure, centroid, spread = self.moments()
        name, unit = type(self).__name__, DENSITY_UNITS[self.extent]
        if mass is None and density is None and self.extent == "weight":
            density = 1.0  # the shape brings its own masses
        if (mass is None) == (density is None):
            got = "neither" if mass is None else "both"
            raise ModelError(
                f"{name}: expected either a mass [kg] or a density [{unit}], got {got}"
            )
        if mass is not None:
            total = positive(mass, f"{name}: mass", "kg")
        else:
            total = positive(density, f"{name}: density", unit) * measure
        with np.errstate(over="ignore", invalid="ignore"):
            inertia = total * (np.trace(spread) * np.eye(3) - spread)
            phi = phi_from_inertia(total, centroid, inertia)
        if not np.isfinite(phi).all():
            raise ModelError(f"{name}: mass and sizes are too large for a number")
        return InertialParameters(phi)


class Solid(Shape):
    """A shape that fills a volume [m³], its `measure`."""

    __slots__ = ()
    extent = "volume"


class Surface(Shape):
    """A shell, whose wall has no thickness and an even density an area [m²], its `measure`."""

    __slots__ = ()
    extent = "area"

"""`Shape`, the base class of bodies of uniform density, with its sizes and moments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, fields
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from identify.arrays import Mat33, Vec3, require_positive
from identify.errors import ModelError
from identify.inertia.matrices import phi_from_inertia
from identify.inertia.parameters import InertialParameters

MeasureKind = Literal["volume", "area", "length", "weight"]
"""Measure of a shape that its density multiplies: volume, area, length, or a given weight."""
DENSITY_UNITS: dict[MeasureKind, str] = {
    "volume": "kg/m³",
    "area": "kg/m²",
    "length": "kg/m",
    "weight": "1",
}
"""Unit of the density for each kind of measure."""

_MIN_SIZE = 1e-60
"""Smallest size of a shape [m]: its fifth power does not underflow."""

_MAX_SIZE = 1e60
"""Largest size of a shape [m]: its fifth power does not overflow."""


class Size(NamedTuple):
    """Length [m] that defines a shape, as an argument of the shape's constructor.

    Attributes:
        name: name of the field.
        meaning: the measured dimension.
    """

    name: str
    meaning: str


def size_field(meaning: str) -> Any:
    """Create a dataclass field for a length [m], positive and finite."""
    return field(metadata={"meaning": meaning})


def sizes_of(shape: Any) -> tuple[Size, ...]:
    """Return the sizes of a shape or of a class of shapes, in the order of its constructor."""
    return tuple(
        Size(entry.name, entry.metadata["meaning"])
        for entry in fields(shape)
        if "meaning" in entry.metadata
    )


class ShapeMoments(NamedTuple):
    """Measure (volume, area or length), centroid and covariance of a shape of uniform density.

    Attributes:
        measure: volume [m³], area [m²], length [m], or the sum of the given masses [kg].
        centroid: p_AoAcm_A [m], shape (3,).
        covariance: about the centroid, S_c / m [m²], shape (3, 3).
    """

    measure: float
    centroid: Vec3
    covariance: Mat33

    @classmethod
    def symmetric(cls, measure: float, mean_squares: Vec3) -> ShapeMoments:
        """Create the moments of a shape that is symmetric about the coordinate planes."""
        return cls(float(measure), np.zeros(3), np.diag(mean_squares))

    @classmethod
    def revolved(
        cls, measure: float, across: float, along: float, centroid_z: float = 0.0
    ) -> ShapeMoments:
        """Create moments of a shape of revolution about z, with its centroid at z = `centroid_z`.

        `across` and `along` are the mean squares about the centroid.
        """
        return cls(
            float(measure), np.array([0.0, 0.0, centroid_z]), np.diag([across, across, along])
        )


class Shape(ABC):
    """A shape of uniform density in its own frame A.

    A shape is centred at Ao unless documented otherwise, with its axis of symmetry along z. With a
    mass or density it is a body, `Box(0.1, 0.2, 0.3).body(mass=1.2)`; `in_frame` moves it, and
    bodies about one point in the same axes add up.
    """

    __slots__ = ()
    measure_kind: ClassVar[MeasureKind]
    """Measure that the density refers to: volume, area, length, or given weights."""

    def __post_init__(self) -> None:
        for name, meaning in sizes_of(self):
            where = f"{type(self).__name__}: {name} ({meaning})"
            value = require_positive(getattr(self, name), where, "m")
            if not _MIN_SIZE < value < _MAX_SIZE:
                raise ModelError(
                    f"{where}: expected a length from {_MIN_SIZE:g} to {_MAX_SIZE:g} m, "
                    f"got {value:g}"
                )
            object.__setattr__(self, name, value)

    @abstractmethod
    def moments(self) -> ShapeMoments:
        """Compute measure, centroid and covariance of the points of the shape."""

    @property
    def measure(self) -> float:
        """Volume [m³], area [m²] or length [m] that a density multiplies; or given mass [kg]."""
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
        """Return the body about Ao in A: m, h = m c, I = m (tr(Σ + c cᵀ) 1 − Σ − c cᵀ).

        Args:
            mass: [kg]; give either the mass or the density.
            density: [kg/m³] for a solid, [kg/m²] for a shell or plate, [kg/m] for a rod.

        Raises:
            ModelError: both or neither given, or one that is not positive and finite.
        """
        measure, centroid, covariance = self.moments()
        name, unit = type(self).__name__, DENSITY_UNITS[self.measure_kind]
        if mass is None and density is None and self.measure_kind == "weight":
            density = 1.0  # the weights are the masses
        if (mass is None) == (density is None):
            got = "neither" if mass is None else "both"
            raise ModelError(
                f"{name}: expected either a mass [kg] or a density [{unit}], got {got}"
            )
        if mass is not None:
            total = require_positive(mass, f"{name}: mass", "kg")
        else:
            total = require_positive(density, f"{name}: density", unit) * measure
        with np.errstate(over="ignore", invalid="ignore"):
            inertia = total * (np.trace(covariance) * np.eye(3) - covariance)
            phi = phi_from_inertia(total, centroid, inertia)
        if not np.isfinite(phi).all():
            raise ModelError(f"{name}: the inertia overflows: mass or sizes are too large")
        return InertialParameters(phi)


class Solid(Shape):
    """Base class of shapes that fill a volume [m³], which is their `measure`."""

    __slots__ = ()
    measure_kind = "volume"


class Surface(Shape):
    """Base class of thin shells with uniform density per area; their `measure` is in m²."""

    __slots__ = ()
    measure_kind = "area"

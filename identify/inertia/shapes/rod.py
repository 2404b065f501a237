"""A rod without thickness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Mat33, Vec3
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.shape import Extent, Shape
from identify.inertia.shapes.sizes import size


@dataclass(frozen=True, slots=True)
class Rod(Shape):
    """A thin rod along z, centred at Ao; one of some thickness is a `Cylinder`."""

    length: float = size("length along z")

    @property
    def extent(self) -> Extent:
        """A length."""
        return "length"

    @property
    def measure(self) -> float:
        """The length [m]."""
        return self.length

    @property
    def covariance(self) -> Mat33:
        """diag(0, 0, l²/12) [m²]."""
        return np.diag([0.0, 0.0, self.length**2 / 12.0])

    @property
    def corners(self) -> Vec3:
        """The two ends [m], shape (2, 3)."""
        half = 0.5 * self.length
        return np.array([[0.0, 0.0, -half], [0.0, 0.0, half]])

    def support_points(self, directions: Vec3) -> Vec3:
        """The end that reaches farthest."""
        half = np.array([0.0, 0.0, 0.5 * self.length])
        return np.where(np.asarray(directions) < 0.0, -half, half)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """The rod itself, as an ellipsoid with one semi-axis."""
        return BoundingEllipsoid.aligned((0.0, 0.0, 0.5 * self.length))

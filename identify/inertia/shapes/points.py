"""Weighted points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Mat33, Vec3, seal
from identify.errors import ModelError
from identify.inertia.shapes.shape import Extent, Shape


@dataclass(frozen=True, slots=True, eq=False)
class Points(Shape):
    """Point masses. `phi()` takes the weights as masses, `phi(mass=...)` their ratios only.

    Attributes:
        positions: in A [m], shape (n, 3), n ≥ 1.
        weights: masses [kg] or shares of the mass, shape (n,), zero or more.
    """

    extent: ClassVar[Extent] = "weight"

    positions: Vec3
    weights: Array

    def __post_init__(self) -> None:
        positions = seal(self.positions, "points: positions", (None, 3))
        weights = seal(self.weights, "points: weights", (len(positions),))
        if (weights < 0.0).any():
            k = int(np.flatnonzero(weights < 0.0)[0])
            raise ModelError(f"points: weight {k} is {weights[k]:g}; expected zero or more")
        if not weights.sum() > 0.0:
            raise ModelError("points: the weights are all zero, or there is no point")
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "weights", weights)

    @property
    def measure(self) -> float:
        """Sum of the weights [kg]."""
        return float(self.weights.sum())

    @property
    def centroid(self) -> Vec3:
        """Weighted mean of the positions [m]."""
        return self.weights @ self.positions / self.weights.sum()

    @property
    def covariance(self) -> Mat33:
        """Weighted covariance of the positions [m²]."""
        offsets = self.positions - self.centroid
        return (offsets * (self.weights / self.weights.sum())[:, None]).T @ offsets

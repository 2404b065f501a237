"""Bodies of point masses, which bring their own weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Vec3, seal
from identify.errors import ModelError
from identify.inertia.shapes.shape import Extent, Moments, Shape


@dataclass(frozen=True, slots=True, eq=False)
class Points(Shape):
    """Point masses. `body()` takes the weights as masses, `body(mass=...)` their ratios only.

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

    def moments(self) -> Moments:
        """Sum of the weights [kg], weighted mean [m] and covariance [m²] of the positions."""
        total = self.weights.sum()
        mean = self.weights @ self.positions / total
        offsets = self.positions - mean
        return Moments(float(total), mean, (offsets * (self.weights / total)[:, None]).T @ offsets)

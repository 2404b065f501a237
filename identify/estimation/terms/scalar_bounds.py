"""Constraint of the scalars to the bounds of the parameter space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConicRows
from identify.estimation.scaling import Scaling
from identify.estimation.terms.term import Constraints, ScaledSpace, Term


@dataclass(frozen=True, slots=True)
class ScalarBounds(Term):
    """Constraint of every scalar unknown to its finite bounds."""

    kind: ClassVar[str] = "scalar_bounds"

    def build(self, x: ScaledSpace) -> Constraints:
        """Build the finite lower and upper bounds of all scalars."""
        constraints = []
        for number, scalar in enumerate(x.space.scalars):
            value, inverse_unit = x.scalars[number], x.inverse_units[number]
            if np.isfinite(scalar.low):
                constraints.append(value >= scalar.low * inverse_unit)
            if np.isfinite(scalar.high):
                constraints.append(value <= scalar.high * inverse_unit)
        return constraints

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the finite lower and upper bounds of all scalars in NumPy."""
        x = ScaledSpace.of(scaling)
        low, high = np.array([(s.low, s.high) for s in x.space.scalars]).reshape(-1, 2).T
        F = np.stack((x.scalars, -x.scalars), axis=1).reshape(-1, len(x.space))
        f = np.stack((-low * x.inverse_units, high * x.inverse_units), axis=1).ravel()
        return ConicRows.of("nonnegative", F[np.isfinite(f)], f[np.isfinite(f)])

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the largest distance of a scalar from its bounds, in the scalar's unit."""
        values = x[scaling.space.scalar_slice]
        outside = [
            max(scalar.low - value, value - scalar.high) / unit
            for scalar, value, unit in zip(
                scaling.space.scalars, values.tolist(), scaling.units, strict=True
            )
        ]
        return max(outside, default=-np.inf)

    def __str__(self) -> str:
        return "bounds of the scalars"

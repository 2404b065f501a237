"""Constraint of all mass to a box, such as the body's packaging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.com_in_box import FARTHEST_FACE, ComInBox
from identify.estimation.terms.geometry_checks import require_metres, validated_points
from identify.estimation.terms.term import (
    Constraints,
    ScaledSpace,
    Term,
    body_index,
    name_suffix,
    second_moment_rows,
)
from identify.inertia.matrices import pseudo_inertia
from identify.regressors import ParameterSpace


@dataclass(frozen=True, slots=True)
class MassInBox(Term):
    """Constraint of all mass to a box along the axes of B: implied bounds on second moments.

    With z from −1 to 1 between opposite faces, 19 polynomials are not negative inside, so neither
    are their means: (1 ± z_a)(1 ± z_b) of each two axes, 1 ± z_x z_y ± z_x z_z ± z_y z_z with an
    even number of minuses, and 1 − z_a². Every body in the box meets that; few others do
    (Anstreicher and Burer, "Computable representations for convex hulls of low-dimensional
    quadratic forms", 2010).

    Attributes:
        low, high: corners [m], three numbers each.
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "mass_in_box"

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    body: str | None = None

    def __post_init__(self) -> None:
        low, high = validated_points([self.low, self.high], "box of the mass")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if not all(a < b for a, b in zip(low, high, strict=True)):
            raise TermError(
                f"box of the mass: each low must be below its high [m], got {low} and {high}"
            )
        if not np.abs([low, high]).max() <= FARTHEST_FACE:
            raise TermError(
                f"box of the mass: expected corners within {FARTHEST_FACE:g} m, got {low} and "
                f"{high}"
            )

    @property
    def _to_box(self) -> Array:
        """Matrix that maps a point [r; 1] to coordinates [z; 1] of the box, shape (4, 4)."""
        low, high = np.array(self.low), np.array(self.high)
        T = np.eye(4)
        T[:3] = np.column_stack((np.eye(3), -0.5 * (low + high))) / (0.5 * (high - low))[:, None]
        return T

    @property
    def _mean_rows(self) -> Array:
        """Rows a with the means aᵀ phi over the mass of the 19 polynomials, shape (19, 10)."""
        T = self._to_box
        sides = np.subtract(self.high, self.low)
        return second_moment_rows(T.T @ _POLYNOMIALS @ T) * float(sides.min()) ** 2

    def build(self, x: ScaledSpace) -> Constraints:
        """Build mean ≥ 0 over the mass of 19 polynomials that are nonnegative in the box."""
        return [self._mean_rows @ x.body(self.body).phi >= 0.0]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the means of the 19 polynomials in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        return ConicRows.of("nonnegative", self._mean_rows @ body.phi)

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the largest deficit of a polynomial's mean below zero, in scaled units."""
        number = body_index(scaling.space, self.body)
        unit, T = scaling.bodies[number], self._to_box
        M = T @ pseudo_inertia(x[10 * number : 10 * number + 10]) @ T.T
        m = M[3, 3]
        means = M[:3, 3]
        squares = np.diag(M)[:3]
        least = float((m - squares).min())
        for a, b in combinations(range(3), 2):
            for s, t in product((1.0, -1.0), repeat=2):
                least = min(least, float(m + s * means[a] + t * means[b] + s * t * M[a, b]))
        xy = M[0, 1]
        xz = M[0, 2]
        yz = M[1, 2]
        for s, t in product((1.0, -1.0), repeat=2):
            least = min(least, float(m + s * xy + t * xz + s * t * yz))
        away = np.abs(T[:3, :3] @ unit.com + T[:3, 3]) + unit.length * np.diag(T)[:3]
        return -least / (unit.mass * (1.0 + float(away.max())) ** 2)

    def limits(self, space: ParameterSpace, body: str) -> Mapping[str, tuple[float, float]]:
        """Return the box as bounds of the centre of mass."""
        return ComInBox(self.low, self.high, self.body).limits(space, body)

    def require_plausible(self, x: Array, space: ParameterSpace) -> None:
        """Raise if the box's size is implausible for the mass."""
        mass = float(x[10 * body_index(space, self.body)])
        longest = float(np.subtract(self.high, self.low).max())
        require_metres(str(self), mass, longest, filled=True)

    def __str__(self) -> str:
        spans = zip("xyz", self.low, self.high, strict=True)
        inside = ", ".join(f"{axis} {low:g} … {high:g}" for axis, low, high in spans)
        return f"mass{name_suffix(self.body)} in {inside} m"


def _polynomials() -> Array:
    """Return the polynomials that are nonnegative in the box as matrices P, shape (19, 4, 4)."""
    x, y, z, constant = np.eye(4)
    matrices = [np.outer(constant, constant) - np.outer(a, a) for a in (x, y, z)]
    for s, t in product((1.0, -1.0), repeat=2):
        matrices += [
            np.outer(constant + s * a, constant + t * b) for a, b in combinations((x, y, z), 2)
        ]
        products = s * np.outer(x, y) + t * np.outer(x, z) + s * t * np.outer(y, z)
        matrices.append(np.outer(constant, constant) + products)
    return np.array([0.5 * (P + P.T) for P in matrices])


_POLYNOMIALS = _polynomials()

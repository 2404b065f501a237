"""Constraint of all mass to an ellipsoid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.errors import ModelError
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.geometry_checks import require_metres
from identify.estimation.terms.term import (
    Constraints,
    ScaledSpace,
    Term,
    body_index,
    name_suffix,
    second_moment_rows,
)
from identify.inertia.matrices import pseudo_inertia
from identify.inertia.shapes.bounding import BoundingEllipsoid
from identify.regressors import ParameterSpace

_Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class MassInEllipsoid(Term):
    """Constraint of all mass to an ellipsoid (r − c)ᵀ Q⁻¹ (r − c) ≤ 1: m ≥ tr(Q⁻¹ S_c).

    S_c is the second moment about c. With physical consistency this is equivalent: some density
    within the ellipsoid has the ten parameters (`BoundingEllipsoid.containment_matrix`).

    Attributes:
        centre: c in B [m].
        Q: its eigenvalues are the squared semi-axes [m²], shape (3, 3).
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "mass_in_ellipsoid"

    centre: _Vector
    Q: tuple[_Vector, _Vector, _Vector]
    body: str | None = None

    def __post_init__(self) -> None:
        try:
            ellipsoid = BoundingEllipsoid(np.array(self.centre), np.array(self.Q))
            ellipsoid.containment_matrix  # noqa: B018  raises where it is flat
        except ModelError as error:
            raise TermError(str(error)) from error
        object.__setattr__(self, "centre", tuple(ellipsoid.centre.tolist()))
        object.__setattr__(self, "Q", tuple(map(tuple, ellipsoid.Q.tolist())))

    @classmethod
    def of(cls, ellipsoid: BoundingEllipsoid, body: str | None = None) -> MassInEllipsoid:
        """Create the constraint from an ellipsoid in B, such as `enclosing_ellipsoid(points)`."""
        return cls(ellipsoid.centre, ellipsoid.Q, body)  # pyright: ignore[reportArgumentType]

    @property
    def ellipsoid(self) -> BoundingEllipsoid:
        """Ellipsoid that contains the mass."""
        return BoundingEllipsoid(np.array(self.centre), np.array(self.Q))

    @property
    def _mean_row(self) -> Array:
        """Row a with the mean aᵀ phi over the mass of the polynomial, shape (10,)."""
        ellipsoid = self.ellipsoid
        return ellipsoid.semi_axes[0] ** 2 * second_moment_rows(ellipsoid.containment_matrix)

    def build(self, x: ScaledSpace) -> Constraints:
        """Build mean ≥ 0 over the mass of the ellipsoid's polynomial 1 − (r − c)ᵀ Q⁻¹ (r − c)."""
        return [self._mean_row @ x.body(self.body).phi >= 0.0]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the mean of the polynomial in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        return ConicRows.of("nonnegative", self._mean_row @ body.phi)

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the excess of tr(Q⁻¹ S_c) over the mass, in scaled units."""
        number = body_index(scaling.space, self.body)
        unit = scaling.bodies[number]
        centre = np.array(self.centre)
        Q = np.array(self.Q)
        Pi = pseudo_inertia(x[10 * number : 10 * number + 10])
        S = Pi[:3, :3]
        h = Pi[:3, 3]
        m = Pi[3, 3]
        about = S - np.outer(h, centre) - np.outer(centre, h) + m * np.outer(centre, centre)
        away = unit.com - centre
        usual = unit.length**2 * np.eye(3) + np.outer(away, away)
        size = 1.0 + float(np.trace(np.linalg.solve(Q, usual)))
        beyond = float(np.trace(np.linalg.solve(Q, about)) - m)
        return beyond / (unit.mass * size)

    def require_plausible(self, x: Array, space: ParameterSpace) -> None:
        """Raise if the ellipsoid's size is implausible for the mass."""
        mass = float(x[10 * body_index(space, self.body)])
        require_metres(str(self), mass, 2.0 * float(self.ellipsoid.semi_axes[-1]), filled=True)

    def __str__(self) -> str:
        axes = " × ".join(f"{axis:.3g}" for axis in self.ellipsoid.semi_axes)
        at = ", ".join(f"{value:g}" for value in self.centre)
        return (
            f"mass{name_suffix(self.body)} within an ellipsoid of semi-axes {axes} m about ({at}) m"
        )

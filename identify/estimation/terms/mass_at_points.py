"""Constraint of the mass to known points, such as the voxels of a scan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConeBlock, ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.geometry_checks import (
    coplanar,
    longest_side,
    require_metres,
    validated_points,
)
from identify.estimation.terms.term import Constraints, ScaledSpace, Term, body_index, name_suffix
from identify.inertia.matrices import phi_from_inertia
from identify.regressors import ParameterSpace


@dataclass(frozen=True, slots=True)
class MassAtPoints(Term):
    """Constraint of the mass to given points: phi = Σ μᵢ phi(pᵢ), point masses μ ≥ 0.

    It is exact: it does not hold for a body with mass elsewhere, such as between coarse points.

    Attributes:
        points: [m], four or more that do not lie in a plane, shape (n, 3).
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "mass_at_points"

    auxiliary_bound: ClassVar[float | None] = 10.0
    """Bound on the sum of the point masses, in units of the body's mass."""

    points: tuple[tuple[float, float, float], ...]
    body: str | None = None

    def __post_init__(self) -> None:
        points = validated_points(self.points, "points of the mass")
        object.__setattr__(self, "points", points)
        if coplanar(points):
            raise TermError(
                f"points of the mass: these {len(points)} points lie in a plane, and no body is "
                "without thickness; give two layers of them, as thick as the body"
            )

    def build(self, x: ScaledSpace) -> Constraints:
        """Build the equality of the scaled body and a sum of nonnegative point masses."""
        import cvxpy as cp

        body = x.body(self.body)
        masses = cp.Variable(len(self.points))
        return [
            body.theta_of_phi(_unit_point_masses(np.array(self.points)).T) @ masses == body.theta,
            masses >= 0.0,
        ]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the equality and the nonnegative point masses in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        columns = body.theta_of_phi(_unit_point_masses(np.array(self.points)).T)
        n = len(self.points)
        return ConicRows(
            F=np.concatenate((body.theta, np.zeros((n, body.theta.shape[1])))),
            G=np.concatenate((-columns, np.eye(n))),
            f=np.zeros(10 + n),
            cones=(ConeBlock("zero", 10), ConeBlock("nonnegative", n)),
        )

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the distance of the scaled body from the nearest body of masses at the points."""
        from scipy.optimize import nnls

        number = body_index(scaling.space, self.body)
        unit = scaling.bodies[number]
        theta = unit.to_theta @ x[10 * number : 10 * number + 10]
        columns = unit.mass * unit.to_theta @ _unit_point_masses(np.array(self.points)).T
        sizes = np.linalg.norm(columns, axis=0)
        return float(nnls(columns / sizes, theta, maxiter=50 * len(sizes))[1])

    def require_plausible(self, x: Array, space: ParameterSpace) -> None:
        """Raise if the extent of the points in metres is implausible for the mass."""
        mass = float(x[10 * body_index(space, self.body)])
        require_metres(str(self), mass, longest_side(self.points), filled=True)

    def __str__(self) -> str:
        return f"mass{name_suffix(self.body)} at {len(self.points)} points"


def _unit_point_masses(points: Array) -> Array:
    """Return the ten parameters of a unit mass at each point, shape (n, 10)."""
    return phi_from_inertia(np.ones(len(points)), points, np.zeros((len(points), 3, 3)))

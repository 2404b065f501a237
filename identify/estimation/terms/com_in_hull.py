"""Constraint of the centre of mass to the convex hull of points, such as a housing's vertices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.geometry_checks import (
    coplanar,
    longest_side,
    require_metres,
    validated_points,
)
from identify.estimation.terms.term import Constraints, ScaledSpace, Term, body_index, name_suffix
from identify.regressors import ParameterSpace


@dataclass(frozen=True, slots=True)
class ComInHull(Term):
    """Constraint of the centre of mass to the convex hull of points, nᵀh ≤ d m for each face.

    Attributes:
        points: [m], four or more that do not lie in a plane, shape (n, 3).
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "com_in_hull"

    points: tuple[tuple[float, float, float], ...]
    body: str | None = None

    def __post_init__(self) -> None:
        points = validated_points(self.points, "hull of the centre of mass")
        object.__setattr__(self, "points", points)
        if coplanar(points):
            raise TermError(
                f"hull of the centre of mass: its {len(points)} points lie in a plane, so that "
                "they enclose no volume; give at least one point outside it, or two planes of "
                "points separated by the body's thickness"
            )

    def build(self, x: ScaledSpace) -> Constraints:
        """Build one linear constraint of the first moment for each face, in scaled units."""
        body = x.body(self.body)
        normals, levels = _faces(self.points)
        to_faces = levels * body.inverse_length - normals @ body.com
        return [normals @ body.moment <= to_faces * body.mass]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the linear constraint of the first moment of each face in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        normals, levels = _faces(self.points)
        to_faces = levels * body.inverse_length - normals @ body.com
        return ConicRows.of("nonnegative", np.outer(to_faces, body.mass) - normals @ body.moment)

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the distance of the centre of mass beyond a face, in units of length.

        The unit is the distance of the points from the reference point if that is larger.
        """
        number = body_index(scaling.space, self.body)
        unit = scaling.bodies[number]
        mass, moment = x[10 * number], x[10 * number + 1 : 10 * number + 4]
        normals, levels = _faces(self.points)
        away = float(np.linalg.norm(np.array(self.points) - unit.com, axis=1).max())
        size = abs(float(mass)) * max(unit.length, away)
        beyond = float((normals @ moment - levels * mass).max())
        return beyond / max(size, float(np.finfo(float).tiny))

    def require_plausible(self, x: Array, space: ParameterSpace) -> None:
        """Raise if the size of the hull in metres is implausible for the mass."""
        mass = float(x[10 * body_index(space, self.body)])
        require_metres(str(self), mass, longest_side(self.points), filled=False)

    def __str__(self) -> str:
        return f"centre of mass{name_suffix(self.body)} in the hull of {len(self.points)} points"


@lru_cache(maxsize=64)
def _faces(points: tuple[tuple[float, float, float], ...]) -> tuple[Array, Array]:
    """Compute the faces nᵀr ≤ d of a convex hull: unit normals (k, 3) and d [m], shape (k,)."""
    from scipy.spatial import ConvexHull

    array = np.array(points)
    centre, size = array.mean(axis=0), longest_side(array)
    faces = np.unique(ConvexHull((array - centre) / size).equations, axis=0)
    normals = faces[:, :3]
    return normals, normals @ centre - size * faces[:, 3]

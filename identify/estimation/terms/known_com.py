"""Constraint of the centre of mass to a known point, such as from CAD or a balance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConicRows
from identify.estimation.scaling import Scaling
from identify.estimation.terms.geometry_checks import validated_points
from identify.estimation.terms.term import Constraints, ScaledSpace, Term, body_index, name_suffix
from identify.regressors import ParameterSpace


@dataclass(frozen=True, slots=True)
class KnownCom(Term):
    """Constraint of the centre of mass to a known point: h = c m.

    Attributes:
        com: p_BoBcm_B [m], three numbers.
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "known_com"
    tolerance: ClassVar[float] = 1e-9

    com: tuple[float, float, float]
    body: str | None = None

    def __post_init__(self) -> None:
        (com,) = validated_points([self.com], "known centre of mass")
        object.__setattr__(self, "com", com)

    def build(self, x: ScaledSpace) -> Constraints:
        """Build the equality of the first moment and the mass times the point, in scaled units."""
        return [x.body(self.body).moment_about(self.com) == 0.0]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the equality of the first moment and the mass times the point in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        return ConicRows.of("zero", -body.moment_about(self.com))

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the distance of the centre of mass from the known point, in units of length.

        The unit is the point's distance from the reference point if that is larger.
        """
        number = body_index(scaling.space, self.body)
        phi, unit = x[10 * number : 10 * number + 10], scaling.bodies[number]
        away = float(np.linalg.norm(phi[1:4] / phi[0] - np.array(self.com)))
        return away / max(unit.length, float(np.linalg.norm(np.array(self.com) - unit.com)))

    def equalities(self, space: ParameterSpace) -> tuple[Array, Array]:
        """Return the equality of the first moment and mass times the point as three rows."""
        start = 10 * body_index(space, self.body)
        rows = np.zeros((3, len(space)))
        rows[:, start], rows[:, start + 1 : start + 4] = -np.array(self.com), np.eye(3)
        return rows, np.zeros(3)

    def limits(self, space: ParameterSpace, body: str) -> Mapping[str, tuple[float, float]]:
        """Return the known point as lower and upper bounds."""
        if body_index(space, self.body) != body_index(space, body):
            return {}
        return {f"c{axis}": (value, value) for axis, value in zip("xyz", self.com, strict=True)}

    def __str__(self) -> str:
        at = ", ".join(f"{value:g}" for value in self.com)
        return f"centre of mass{name_suffix(self.body)} at ({at}) m"

"""Constraint of the centre of mass to a box, such as the housing of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.term import Constraints, ScaledSpace, Term, body_index, name_suffix
from identify.regressors import ParameterSpace

FARTHEST_FACE = 1e6
"""Largest distance of a face of the box from Bo [m]; the solver is inexact for farther faces."""


@dataclass(frozen=True, slots=True)
class ComInBox(Term):
    """Constraint of the centre of mass to a box along the axes of B: low m ≤ h ≤ high m.

    Attributes:
        low, high: corners [m], three numbers each.
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "com_in_box"

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    body: str | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            try:
                corner = tuple(float(value) for value in getattr(self, name))
            except (TypeError, ValueError) as error:
                raise TermError(f"box of the centre of mass: {name}: {error}") from error
            object.__setattr__(self, name, corner)
            if len(corner) != 3 or not np.all(np.abs(corner) <= FARTHEST_FACE):
                raise TermError(
                    f"box of the centre of mass: {name} must be three finite numbers within "
                    f"{FARTHEST_FACE:g} m, got {corner}"
                )
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise TermError(
                "box of the centre of mass: each low must be below its high [m], got "
                f"{self.low} and {self.high}"
            )

    def build(self, x: ScaledSpace) -> Constraints:
        """Build the six linear constraints of the first moment, in scaled units."""
        above, below = map(x.body(self.body).moment_about, (self.low, self.high))
        return [above >= 0.0, below <= 0.0]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the six linear constraints of the first moment in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        above, below = map(body.moment_about, (self.low, self.high))
        return ConicRows.of("nonnegative", np.concatenate((above, -below)))

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the distance of the centre of mass outside the box, in units of length.

        The unit is the distance of the box's corners from the reference point if that is larger.
        Signs are those of low m ≤ h ≤ high m, for a negative mass too.
        """
        number = body_index(scaling.space, self.body)
        mass, moment = x[10 * number], x[10 * number + 1 : 10 * number + 4]
        outside = np.maximum(
            mass * np.array(self.low) - moment, moment - mass * np.array(self.high)
        )
        unit = scaling.bodies[number]
        away = np.abs([np.array(self.low) - unit.com, np.array(self.high) - unit.com]).max()
        smallest = float(np.finfo(float).tiny)
        return float(outside.max()) / max(abs(float(mass)) * max(unit.length, away), smallest)

    def limits(self, space: ParameterSpace, body: str) -> Mapping[str, tuple[float, float]]:
        """Return the box as bounds of the centre of mass."""
        if body_index(space, self.body) != body_index(space, body):
            return {}
        return dict(zip(("cx", "cy", "cz"), zip(self.low, self.high, strict=True), strict=True))

    def __str__(self) -> str:
        spans = zip("xyz", self.low, self.high, strict=True)
        inside = ", ".join(f"{axis} {low:g} … {high:g}" for axis, low, high in spans)
        return f"centre of mass{name_suffix(self.body)} in {inside} m"

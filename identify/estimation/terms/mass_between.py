"""Constraint of the mass to an interval, such as from a data sheet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.known_mass import HEAVIEST_GIVEN, LIGHTEST_GIVEN
from identify.estimation.terms.term import Constraints, ScaledSpace, Term, body_index, name_suffix
from identify.regressors import ParameterSpace


@dataclass(frozen=True, slots=True)
class MassBetween(Term):
    """Constraint of the mass to an interval between two bounds.

    Attributes:
        low, high: [kg]; `high` may be infinite.
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "mass_between"

    low: float
    high: float
    body: str | None = None

    def __post_init__(self) -> None:
        if not (0.0 <= self.low < self.high and np.isfinite(self.low)):
            raise TermError(
                f"bounds of the mass: expected 0 <= low < high, got {self.low} and {self.high} kg"
            )
        if self.low > HEAVIEST_GIVEN or self.high < LIGHTEST_GIVEN:
            raise TermError(
                f"bounds of the mass: {self.low:g} to {self.high:g} kg contains no mass that a "
                f"sensor can measure; expected {LIGHTEST_GIVEN:g} to {HEAVIEST_GIVEN:g} kg"
            )

    def build(self, x: ScaledSpace) -> Constraints:
        """Build low ≤ m ≤ high."""
        body = x.body(self.body)
        bounds: Constraints = [body.mass >= body.scaled_mass(self.low)]
        if np.isfinite(self.high):
            bounds.append(body.mass <= body.scaled_mass(self.high))
        return bounds

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out low ≤ m ≤ high in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        F = np.array([body.mass, -body.mass])
        f = np.array([-body.scaled_mass(self.low), body.scaled_mass(self.high)])
        return ConicRows.of("nonnegative", F[np.isfinite(f)], f[np.isfinite(f)])

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the distance of the mass outside the interval, in units of mass."""
        number = body_index(scaling.space, self.body)
        mass = float(x[10 * number])
        return max(self.low - mass, mass - self.high) / scaling.bodies[number].mass

    def limits(self, space: ParameterSpace, body: str) -> Mapping[str, tuple[float, float]]:
        """Return the interval as bounds of the mass."""
        if body_index(space, self.body) != body_index(space, body):
            return {}
        return {"m": (self.low, self.high)}

    def __str__(self) -> str:
        return f"mass{name_suffix(self.body)} between {self.low:g} and {self.high:g} kg"

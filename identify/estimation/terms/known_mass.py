"""Constraint of the mass to a known value, such as from a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array, require_positive
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.term import Constraints, ScaledSpace, Term, body_index, name_suffix
from identify.regressors import ParameterSpace
from identify.spatial.vectors import STANDARD_GRAVITY

LIGHTEST_GIVEN, HEAVIEST_GIVEN = 1e-12, 1e12
"""Range of accepted known masses [kg]; powers of masses outside it exceed double precision."""


@dataclass(frozen=True, slots=True)
class KnownMass(Term):
    """Constraint of the mass to a known value.

    Attributes:
        mass: [kg].
        body: name of the body; the first of the space if not given.
    """

    kind: ClassVar[str] = "known_mass"
    tolerance: ClassVar[float] = 1e-9

    mass: float
    body: str | None = None

    def __post_init__(self) -> None:
        require_positive(self.mass, "mass", "kg", TermError)
        if not LIGHTEST_GIVEN <= self.mass <= HEAVIEST_GIVEN:
            raise TermError(
                f"mass: {self.mass:g} kg would weigh {STANDARD_GRAVITY * self.mass:.3g} N, which "
                f"no sensor measures; expected {LIGHTEST_GIVEN:g} to {HEAVIEST_GIVEN:g} kg"
            )

    def build(self, x: ScaledSpace) -> Constraints:
        """Build m = mass."""
        body = x.body(self.body)
        return [body.mass == body.scaled_mass(self.mass)]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out m = mass in NumPy."""
        body = ScaledSpace.of(scaling).body(self.body)
        return ConicRows.of("zero", -body.mass, body.scaled_mass(self.mass))

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the relative error of the mass."""
        return abs(float(x[self._mass_row(scaling.space)]) / self.mass - 1.0)

    def equalities(self, space: ParameterSpace) -> tuple[Array, Array]:
        """Return the row of m = mass."""
        row = np.zeros((1, len(space)))
        row[0, self._mass_row(space)] = 1.0
        return row, np.array([self.mass])

    def _mass_row(self, space: ParameterSpace) -> int:
        return 10 * body_index(space, self.body)

    def __str__(self) -> str:
        return f"mass{name_suffix(self.body)} = {self.mass:g} kg"

"""Constraint that every body is physically consistent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.term import Constraints, ScaledSpace, Term
from identify.inertia import PSEUDO_INERTIA_BASIS

CONSISTENCY_MARGIN = 1e-9
"""Smallest eigenvalue of the scaled pseudo-inertia and smallest scaled mass; sheets of paper
pass."""

_MAX_MARGIN = 1.0 / 3.0
"""Upper limit of the margin: the second moment of a scaled ball, which more would exclude."""


@dataclass(frozen=True, slots=True)
class Consistent(Term):
    """Constraint that a nonnegative mass distribution exists: Pi ⪰ margin 1, m ≥ margin.

    Both are relative to the body's own scale.

    Attributes:
        least_mass: smallest mass of each body.
        margin: smallest eigenvalue of the pseudo-inertia: with more than the default, no sheets.
        bodies: names of the bodies with this margin, all if not given; others have the default.

    Raises:
        TermError: the margin is not between zero and a third.
    """

    kind: ClassVar[str] = "consistent"
    tolerance: ClassVar[float] = 1e-9

    least_mass: float = CONSISTENCY_MARGIN
    margin: float = CONSISTENCY_MARGIN
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.margin < _MAX_MARGIN:
            raise TermError(
                "margin of consistency: expected above zero and below a third of the body's own "
                f"scale, got {self.margin:g}"
            )

    def margin_of(self, body: str) -> float:
        """Return the smallest eigenvalue of the scaled pseudo-inertia of a body."""
        return self.margin if self.bodies is None or body in self.bodies else CONSISTENCY_MARGIN

    def build(self, x: ScaledSpace) -> Constraints:
        """Build one matrix inequality and one mass bound for each body."""
        return [
            constraint
            for name, body in zip(x.space.bodies, x.bodies, strict=True)
            for constraint in (
                body.Pi >> self.margin_of(name) * np.eye(4),
                body.mass >= self.least_mass,
            )
        ]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the matrix inequality and the mass bound of each body in NumPy."""
        x = ScaledSpace.of(scaling)
        parts = []
        for name, body in zip(x.space.bodies, x.bodies, strict=True):
            parts.append(ConicRows.semidefinite(body.Pi, -self.margin_of(name) * np.eye(4)))
            parts.append(ConicRows.of("nonnegative", body.mass, -self.least_mass))
        return ConicRows.stack(parts)

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the largest deficit of an eigenvalue or a mass below its bound."""
        thetas = scaling.theta(x)[: 10 * len(scaling.bodies)].reshape(-1, 10)
        return max(
            max(self.margin_of(name) - min_eigenvalue(theta), self.least_mass - float(theta[0]))
            for name, theta in zip(scaling.space.bodies, thetas, strict=True)
        )

    def __str__(self) -> str:
        return "physical consistency"


def consistency_margin(terms: Iterable[Term], body: str) -> float:
    """Return the largest margin of consistency of a body among constraints, or the default."""
    consistent = (term for term in terms if isinstance(term, Consistent))
    return max((term.margin_of(body) for term in consistent), default=CONSISTENCY_MARGIN)


def min_eigenvalue(theta: Array) -> float:
    """Return the smallest eigenvalue of the pseudo-inertia of ten parameters."""
    return float(np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ theta).reshape(4, 4))[0])

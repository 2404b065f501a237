"""Constraints of sums of parameters of several bodies, such as a total mass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError
from identify.estimation.cones import ConicRows
from identify.estimation.errors import TermError
from identify.estimation.scaling import Scaling
from identify.estimation.terms.term import Constraints, ScaledSpace, Term
from identify.inertia import PHI
from identify.regressors import ParameterSpace

_AXES = ("x", "y", "z")

Row = tuple[tuple[str, float], ...]
"""Coefficients of a sum, by name of the unknown, such as (("left.m", 1.0), ("right.m", −1.0))."""


@dataclass(frozen=True, slots=True)
class LinearEquality(Term):
    """Constraint that sums of unknowns have known values.

    Attributes:
        rows: coefficients of each sum, by name of the unknown as in `ParameterSpace.names`.
        values: their values, in SI.
        text: description for messages.
    """

    kind: ClassVar[str] = "linear_equality"
    tolerance: ClassVar[float] = 1e-9

    rows: tuple[Row, ...]
    values: tuple[float, ...]
    text: str

    def __post_init__(self) -> None:
        if (
            len(self.rows) != len(self.values)
            or not self.rows
            or not np.isfinite(self.values).all()
        ):
            raise TermError(f"{self.text}: expected one finite value for each sum")

    @classmethod
    def known_sum(cls, coefficients: Mapping[str, float], value: float) -> LinearEquality:
        """Constrain one sum, such as {"hand.m": 1, "finger.m": 1}, to a value in SI."""
        terms = " + ".join(f"{number:g} {name}" for name, number in coefficients.items())
        return cls((tuple(coefficients.items()),), (float(value),), f"{terms} = {value:g}")

    @classmethod
    def total_mass(cls, bodies: Sequence[str], mass: float) -> LinearEquality:
        """Constrain the mass of several bodies together [kg]."""
        row = tuple((f"{body}.m", 1.0) for body in bodies)
        return cls((row,), (float(mass),), f"total mass of {', '.join(bodies)} = {mass:g} kg")

    @classmethod
    def mirrored(cls, body: str, image: str, axis: str = "y") -> LinearEquality:
        """Constrain a body to the mirror image of another, across the plane normal to an axis.

        Both are about the origins of their own frames, which mirror each other.
        """
        if axis not in _AXES:
            raise TermError(f"axis: expected x, y or z, got {axis!r}")
        signs = {name: -1.0 if name[1:].count(axis) == 1 else 1.0 for name in PHI}
        return cls._related(body, image, signs, f"{body} is {image} mirrored along {axis}")

    @classmethod
    def same_shape(cls, first: str, second: str, mass_ratio: float) -> LinearEquality:
        """Constrain two bodies to one shape: the same centre of mass, and inertia per mass.

        Each is about the origin of its frame. With a given ratio of the masses, first to second,
        that is phi_first = ratio · phi_second; with an unknown one it would be bilinear in both.
        """
        if not 0.0 < mass_ratio < np.inf:
            raise TermError(f"mass_ratio: expected a number above zero, got {mass_ratio!r}")
        text = f"{first} has the shape of {second} and {mass_ratio:g} of its mass"
        return cls._related(first, second, dict.fromkeys(PHI, float(mass_ratio)), text)

    @classmethod
    def equal_density(cls, volumes: Mapping[str, float]) -> LinearEquality:
        """Constrain bodies of known volumes [m³] to one mean density."""
        if len(volumes) < 2 or not min(volumes.values()) > 0.0:
            raise TermError("equal density: expected volumes above zero of two bodies or more")
        (first, volume), *others = volumes.items()
        rows = tuple(((f"{first}.m", 1.0), (f"{b}.m", -volume / v)) for b, v in others)
        return cls(rows, (0.0,) * len(rows), f"equal density of {', '.join(volumes)}")

    @classmethod
    def _related(
        cls, first: str, second: str, signs: Mapping[str, float], text: str
    ) -> LinearEquality:
        rows = tuple(
            ((f"{first}.{name}", 1.0), (f"{second}.{name}", -sign)) for name, sign in signs.items()
        )
        return cls(rows, (0.0,) * len(rows), text)

    def equalities(self, space: ParameterSpace) -> tuple[Array, Array]:
        """Return the rows of the sums.

        Raises:
            ProblemError: no unknown has a name.
        """
        matrix = np.zeros((len(self.rows), len(space)))
        for number, row in enumerate(self.rows):
            for name, coefficient in row:
                if name not in space.names:
                    raise ProblemError(
                        f"{self.text}: no unknown {name!r} among {', '.join(space.names[:10])}, …"
                    )
                matrix[number, space.names.index(name)] += coefficient
        return matrix, np.array(self.values)

    def build(self, x: ScaledSpace) -> Constraints:
        """Build the sums in cvxpy, each in units of its largest coefficient."""
        E, e = self._scaled(x)
        space = x.space
        sums: Any = E[:, space.scalar_slice] @ x.scalars if space.scalars else 0.0
        for number, body in enumerate(x.bodies):
            sums = sums + E[:, space.body_slice(number)] @ body.theta
        return [sums == e]

    def conic_rows(self, scaling: Scaling) -> ConicRows:
        """Lay out the sums in NumPy."""
        E, e = self._scaled(ScaledSpace.of(scaling))
        return ConicRows.of("zero", -E, e)

    def violation(self, x: Array, scaling: Scaling) -> float:
        """Return the largest error of a sum, in units of its largest coefficient."""
        E, e = self._scaled(ScaledSpace.of(scaling))
        return float(np.abs(E @ scaling.theta(x) - e).max())

    def _scaled(self, x: ScaledSpace) -> tuple[Array, Array]:
        """Return the sums of scaled unknowns, with a largest coefficient of one."""
        E, e = self.equalities(x.space)
        for number, body in enumerate(x.bodies):
            block = x.space.body_slice(number)
            E[:, block] = E[:, block] @ body.unit.to_phi
        E[:, x.space.scalar_slice] /= x.inverse_units
        units = np.abs(E).max(axis=1)
        return E / units[:, None], e / units

    def __str__(self) -> str:
        return self.text

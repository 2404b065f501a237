"""Unknowns of a fit: ten inertial parameters for each body, then scalars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.errors import ProblemError
from identify.inertia import PHI


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar unknown besides the bodies: a friction coefficient, a rotor inertia, a gain.

    Attributes:
        name: shown in messages and tables.
        low, high: bounds; infinite where there is none.
    """

    name: str
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ProblemError(
                f"{self.name}: expected low < high, got low = {self.low:g}, high = {self.high:g}"
            )


@dataclass(frozen=True, slots=True)
class ParameterSpace:
    """The unknowns x = [phi of each body | scalars], in this order.

    Attributes:
        bodies: names of the bodies, at least one.
        scalars: unknowns besides the bodies.
    """

    bodies: tuple[str, ...] = ("body",)
    scalars: tuple[Scalar, ...] = ()

    def __post_init__(self) -> None:
        if not self.bodies:
            raise ProblemError("a parameter space needs at least one body")
        names = [*self.bodies, *(scalar.name for scalar in self.scalars)]
        if len(set(names)) < len(names):
            raise ProblemError(f"names of bodies and scalars must differ, got {', '.join(names)}")

    def __len__(self) -> int:
        return 10 * len(self.bodies) + len(self.scalars)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each unknown; prefixed by the body's name if there are several bodies."""
        prefixes = [""] if len(self.bodies) == 1 else [f"{body}." for body in self.bodies]
        body_names = (f"{prefix}{name}" for prefix in prefixes for name in PHI)
        return (*body_names, *(scalar.name for scalar in self.scalars))

    def body_slice(self, body: str | int = 0) -> slice:
        """Return the slice of a body's ten parameters in x.

        Raises:
            ProblemError: no body has this name.
        """
        if isinstance(body, str):
            if body not in self.bodies:
                raise ProblemError(f"no body {body!r} among {', '.join(self.bodies)}")
            body = self.bodies.index(body)
        return slice(10 * body, 10 * body + 10)

    @property
    def scalar_slice(self) -> slice:
        """Slice of the scalars in x."""
        return slice(10 * len(self.bodies), len(self))


ONE_BODY = ParameterSpace()
"""Space of one body without scalars: ten unknowns."""

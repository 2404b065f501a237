"""`ParameterSpace`: what is unknown, ten numbers for each body, then scalars."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.errors import ProblemError
from identify.inertia import PHI


@dataclass(frozen=True, slots=True)
class Scalar:
    """One unknown number beside the bodies': a friction coefficient, a rotor inertia, a gain.

    Attributes:
        name: in messages and tables.
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
        bodies: their names, at least one.
        scalars: what else is unknown.
    """

    bodies: tuple[str, ...] = ("body",)
    scalars: tuple[Scalar, ...] = ()

    def __post_init__(self) -> None:
        if not self.bodies:
            raise ProblemError("a parameter space needs at least one body")
        words = [*self.bodies, *(scalar.name for scalar in self.scalars)]
        if len(set(words)) < len(words):
            raise ProblemError(f"names of bodies and scalars must differ, got {', '.join(words)}")

    def __len__(self) -> int:
        return 10 * len(self.bodies) + len(self.scalars)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each unknown: those of phi, after the body's name where there are several."""
        prefixes = [""] if len(self.bodies) == 1 else [f"{body}." for body in self.bodies]
        of_bodies = (f"{prefix}{name}" for prefix in prefixes for name in PHI)
        return (*of_bodies, *(scalar.name for scalar in self.scalars))

    def of_body(self, body: str | int = 0) -> slice:
        """Where a body's ten parameters stand in x.

        Raises:
            ProblemError: there is no such body.
        """
        if isinstance(body, str):
            if body not in self.bodies:
                raise ProblemError(f"no body {body!r} among {', '.join(self.bodies)}")
            body = self.bodies.index(body)
        return slice(10 * body, 10 * body + 10)

    @property
    def of_scalars(self) -> slice:
        """Where the scalars stand in x."""
        return slice(10 * len(self.bodies), len(self))


ONE_BODY = ParameterSpace()
"""Ten unknowns: what most fits are about."""

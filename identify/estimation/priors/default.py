"""The priors that say nothing of what a log identifies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from identify.estimation.priors.prior import Prior
from identify.inertia.parameters import DEFAULT_DENSITY


@dataclass(frozen=True, slots=True)
class Ball(Prior):
    """What the log does not identify is that of a ball of water: the default.

    Along each such direction the ball is known to the body's own scale, so that it stands in
    wherever something has to be, and says nothing against the log.
    """

    kind: ClassVar[str] = "ball"

    def mixture(self, mass: float) -> None:
        """Nothing of what the log identifies."""

    def __str__(self) -> str:
        return f"solid ball of {DEFAULT_DENSITY:g} kg/m³ about the centre of mass"


BALL = Ball()


@dataclass(frozen=True, slots=True)
class NoPrior(Prior):
    """What the log does not identify has no number."""

    kind: ClassVar[str] = "none"

    def mixture(self, mass: float) -> None:
        """Nothing."""

    def __str__(self) -> str:
        return "nothing"

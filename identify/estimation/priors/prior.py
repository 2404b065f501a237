"""`Prior`: what is known of a body before its log, as normal distributions of the ten.

`Ball` and `NoPrior` say nothing of what a log identifies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from identify.arrays import Array, Phi
from identify.inertia.parameters import DEFAULT_DENSITY


@dataclass(frozen=True, slots=True, eq=False)
class NormalMixture:
    """Normal distributions of the ten parameters, of which the log says how likely each is.

    Attributes:
        means: about Bo in B, shape (g, 10).
        covariances: shape (g, 10, 10); they may be singular.
        settings: what each one of them takes for sure, by name, shape (g,) each.
    """

    means: Phi
    covariances: Array
    settings: Mapping[str, Array]


class Prior(ABC):
    """What is known of a body besides its log; a subclass is a frozen dataclass.

    It is of the one body of a fit, or of the payload where there is a carrier.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """Name in provenance and studies."""

    @abstractmethod
    def mixture(self, mass: float) -> NormalMixture | None:
        """What it says of the body.

        Args:
            mass: of the body by the log alone [kg], for a prior that knows nothing of it.

        Returns:
            None where it says something of what the log does not identify alone.

        Raises:
            TermError: no body of that mass is like it.
        """

    @abstractmethod
    def __str__(self) -> str:
        """What it is, as messages say it."""

    def record(self) -> dict[str, object]:
        """The prior as plain values, as provenance keeps it."""
        return {"kind": self.kind, "is": str(self)}


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

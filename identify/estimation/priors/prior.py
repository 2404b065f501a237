"""Base class of priors of a body, as normal distributions of the ten parameters.

`Ball` and `NoPrior` do not affect identifiable parameters.
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
    """Mixture of normal distributions of the ten parameters, weighted by evidence of the data.

    Attributes:
        means: about Bo in B, shape (g, 10).
        covariances: shape (g, 10, 10); they may be singular.
        settings: fixed settings of each component, by name, shape (g,) each.
        whitening: matrices W with W C Wᵀ = 1 where they are known more exactly than the covariances
            C, shape (g, 10, 10).
    """

    means: Phi
    covariances: Array
    settings: Mapping[str, Array]
    whitening: Array | None = None


class Prior(ABC):
    """Prior of the body of a fit, or of the payload if there is a carrier.

    A subclass is a frozen dataclass.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """Name of the kind of prior in provenance and studies."""

    @abstractmethod
    def mixture(self, mass: float) -> NormalMixture | None:
        """Return the prior as a mixture of normal distributions.

        Args:
            mass: mass of the body estimated from the log alone [kg], for a prior without a mass.

        Returns:
            None if the prior only completes unidentifiable parameters.

        Raises:
            TermError: the prior excludes bodies of that mass.
        """

    @property
    def nominal(self) -> Phi | None:
        """Body that completes data which do not identify it; None if the prior has none."""
        return None

    @property
    def curved(self) -> bool:
        """Whether the prior is not a normal distribution, but has a `normal_at` each body."""
        return False

    @abstractmethod
    def __str__(self) -> str:
        """Return a description of the prior for messages."""

    def record(self) -> dict[str, object]:
        """Return the prior as plain values for the provenance."""
        return {"kind": self.kind, "is": str(self)}


@dataclass(frozen=True, slots=True)
class Ball(Prior):
    """Default prior: parameters that the data do not identify are those of a ball of water.

    Along unidentifiable directions the standard deviation is the body's own scale; identifiable
    parameters are not affected.
    """

    kind: ClassVar[str] = "ball"

    def mixture(self, mass: float) -> None:
        """Return None, as the default ball does not affect identifiable parameters."""

    def __str__(self) -> str:
        return f"solid ball of {DEFAULT_DENSITY:g} kg/m³ about the centre of mass"


BALL = Ball()
"""The default prior."""


@dataclass(frozen=True, slots=True)
class NoPrior(Prior):
    """No prior: unidentifiable parameters get no value."""

    kind: ClassVar[str] = "none"

    def mixture(self, mass: float) -> None:
        """Return None, as there is no prior."""

    def __str__(self) -> str:
        return "nothing"

"""`CountedErrors`: errors besides noise that intervals include."""

from __future__ import annotations

from typing import Protocol

from identify.arrays import Array
from identify.estimation.posterior import Posterior


class CountedErrors(Protocol):
    """Errors besides noise with their effect on the unknowns, such as small faults of a sensor."""

    @property
    def kind(self) -> str:
        """Description of the errors for `Estimate.interval_kind`."""
        ...

    def covariances(self, posterior: Posterior) -> tuple[Array, Array]:
        """Compute the unknowns' covariance from these errors, and the part of it from the scale.

        Returns:
            Both in SI, shape (p, p).
        """
        ...

"""`FitSettings`: everything a person may choose about a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.errors import SchemaError
from identify.estimation import EstimatorSettings
from identify.regressors import Offsets


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Choices of a fit.

    Attributes:
        bias: sensor bias fitted per log (default), shared by all logs, or none.
        mass: known mass [kg], if any.
        cutoff_hz: cut-off of the low-pass [Hz]; chosen where not given: min(5, rate/10), or higher
            where all stretches of a log are too short for that.
        gravity: g in W [m/s²] in place of the logs' own.
    """

    bias: Offsets = "per_log"
    mass: float | None = None
    cutoff_hz: float | None = None
    gravity: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if self.bias not in ("per_log", "shared", "none"):
            raise SchemaError(f'bias: expected "per_log", "shared" or "none", got {self.bias!r}')
        if self.cutoff_hz is not None and not (np.isfinite(self.cutoff_hz) and self.cutoff_hz > 0):
            raise SchemaError(f"cut-off: expected a positive number of Hz, got {self.cutoff_hz}")
        if self.mass is not None and not (np.isfinite(self.mass) and self.mass > 0.0):
            raise SchemaError(f"mass: expected a positive number of kg, got {self.mass}")
        if self.gravity is not None and (
            len(self.gravity) != 3 or not np.isfinite(self.gravity).all()
        ):
            raise SchemaError(f"gravity: expected three finite numbers [m/s²], got {self.gravity}")

    @property
    def estimator(self) -> EstimatorSettings:
        """What the estimator needs of them."""
        return EstimatorSettings(bias=self.bias, mass=self.mass)

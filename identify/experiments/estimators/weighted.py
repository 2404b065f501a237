"""Weighted least squares, re-weighted by the covariance of its own residuals."""

from __future__ import annotations

from typing import ClassVar

from identify.estimation import weighted_least_squares
from identify.experiments.estimators.estimator import Answer, Estimator, Evidence
from identify.experiments.estimators.given_mass import GivenMass, mass_of
from identify.regressors import Bias


class WeightedLeastSquares(Estimator):
    """Weighted least squares without constraints; what the log does not tell is completed.

    Attributes:
        bias: "per_log" (default) or "none".
        mass: fixed at a number of kg, or "known".
    """

    kind: ClassVar[str] = "wls"

    bias: Bias = "per_log"
    mass: GivenMass = None

    def estimate(self, evidence: Evidence) -> Answer:
        """The weighted minimiser; `told` counts what has a half-width below the body's scale."""
        log = evidence.blocks
        fit = weighted_least_squares(
            log.total(),
            log.samples.sum() * log.noise[:12],
            bias=self.bias,
            mass=mass_of(self.mass, evidence.known),
        )
        return Answer(fit.phi, told=int((fit.identifiability.half_widths < 1.0).sum()))

"""The physically consistent estimate: what `identify fit` gives."""

from __future__ import annotations

from typing import ClassVar

from identify.estimation import EstimatorSettings, estimate_body
from identify.experiments.estimators.estimator import Answer, Estimator, Evidence
from identify.experiments.estimators.given_mass import GivenMass, mass_of
from identify.regressors import Bias


class Consistent(Estimator):
    """Weighted least squares under Pi ⪰ 0, certified, with intervals.

    Attributes:
        bias: "per_log" (default) or "none".
        mass: fixed at a number of kg, or "known".
    """

    kind: ClassVar[str] = "psd"

    bias: Bias = "per_log"
    mass: GivenMass = None

    def estimate(self, evidence: Evidence) -> Answer:
        """The estimate, with its intervals and what solved it."""
        settings = EstimatorSettings(self.bias, mass_of(self.mass, evidence.known))
        estimate = estimate_body([evidence.blocks], settings)
        return Answer(
            phi=estimate.parameters.phi,
            told=sum(what != "default" for what in estimate.decided_by.values()),
            intervals=dict(estimate.intervals),
            solver=estimate.certificate.solver,
            status=estimate.certificate.status or "solved",
        )

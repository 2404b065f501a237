"""Ordinary least squares."""

from __future__ import annotations

from typing import ClassVar

from identify.estimation import ordinary_least_squares
from identify.experiments.estimators.estimator import Answer, Estimator, Evidence


class OrdinaryLeastSquares(Estimator):
    """All equations alike, no constraint, a sensor bias fitted."""

    kind: ClassVar[str] = "ols"

    def estimate(self, evidence: Evidence) -> Answer:
        """The minimiser of Σ rᵀ r."""
        return Answer(ordinary_least_squares(evidence.blocks.total()))

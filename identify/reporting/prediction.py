"""The wrench that an estimate predicts along the logs it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec6
from identify.pipeline import FitResult
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.signals import PreparedLog


@dataclass(frozen=True, slots=True)
class Prediction:
    """Measured and predicted wrench on the body at Bo in B, filtered alike [N, N m].

    Attributes:
        measured: bias removed, shape (n, 6).
        predicted: Y(ψ) φ, shape (n, 6).
    """

    measured: Vec6
    predicted: Vec6

    @property
    def residual(self) -> Vec6:
        """Measured less predicted, shape (n, 6)."""
        return self.measured - self.predicted


def predict(result: FitResult) -> tuple[Prediction, ...]:
    """The prediction for each log, in their order."""
    response = FEATURE_TENSOR @ result.estimate.parameters.phi
    biases = result.estimate.biases
    return tuple(
        _predict(log, response, bias) for log, bias in zip(result.logs, biases, strict=True)
    )


def _predict(log: PreparedLog, response: Array, bias: Vec6) -> Prediction:
    # The filter acted on the constant too, so the bias goes with the first column.
    return Prediction(
        measured=log.wrench - log.rows[:, :1] * bias,
        predicted=np.asarray(log.features @ response),
    )

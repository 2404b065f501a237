"""Estimators: least squares, the semidefinite program, its certificate and intervals."""

from identify.estimation.certificate import Certificate
from identify.estimation.errors import NegativeMass, TooLittleMotion
from identify.estimation.estimate import DecidedBy, Estimate
from identify.estimation.estimator import EstimatorSettings, estimate_body
from identify.estimation.least_squares import ordinary_least_squares, weighted_least_squares

__all__ = [
    "Certificate",
    "DecidedBy",
    "Estimate",
    "EstimatorSettings",
    "NegativeMass",
    "TooLittleMotion",
    "estimate_body",
    "ordinary_least_squares",
    "weighted_least_squares",
]

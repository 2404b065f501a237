"""Estimators: least squares, the cone program of the terms, its certificate and intervals."""

from identify.estimation.calibration import Calibration
from identify.estimation.certificate import Certificate
from identify.estimation.errors import ContradictoryTerms, NegativeMass, TooLittleMotion
from identify.estimation.estimate import DecidedBy, Estimate
from identify.estimation.estimator import (
    body_system,
    estimate_body,
    estimate_unknowns,
    fit_many,
    solve,
)
from identify.estimation.least_squares import ordinary_least_squares, weighted_least_squares
from identify.estimation.likelihood import ScoreEquations, score_equations
from identify.estimation.program import SolverRun
from identify.estimation.settings import EstimatorSettings, IntervalRoute

__all__ = [
    "Calibration",
    "Certificate",
    "ContradictoryTerms",
    "DecidedBy",
    "Estimate",
    "EstimatorSettings",
    "IntervalRoute",
    "NegativeMass",
    "ScoreEquations",
    "SolverRun",
    "TooLittleMotion",
    "body_system",
    "estimate_body",
    "estimate_unknowns",
    "fit_many",
    "ordinary_least_squares",
    "score_equations",
    "solve",
    "weighted_least_squares",
]

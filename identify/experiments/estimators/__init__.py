"""The estimators a study compares."""

from identify.experiments.estimators.estimator import Answer, Estimator, Evidence
from identify.experiments.estimators.registry import ESTIMATORS

__all__ = ["ESTIMATORS", "Answer", "Estimator", "Evidence"]

"""Scores of an answer against the true body."""

from identify.experiments.metrics.metric import NAMES, Metric
from identify.experiments.metrics.registry import METRICS

__all__ = ["METRICS", "NAMES", "Metric"]

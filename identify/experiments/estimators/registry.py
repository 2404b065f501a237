"""Estimators by name: one file and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from identify.experiments.estimators.consistent import Consistent
from identify.experiments.estimators.estimator import Estimator
from identify.experiments.estimators.ordinary import OrdinaryLeastSquares
from identify.experiments.estimators.weighted import WeightedLeastSquares

ESTIMATORS: Mapping[str, type[Estimator]] = {
    estimator.kind: estimator
    for estimator in (
        OrdinaryLeastSquares,
        WeightedLeastSquares,
        Consistent,
    )
}
"""By the `kind` of an `[[estimators]]` table."""

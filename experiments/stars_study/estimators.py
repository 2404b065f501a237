"""The estimators that the study compares: each from the same prepared log, with default options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from identify.arrays import Phi
from identify.estimation import (
    estimate_body,
    ordinary_least_squares,
    weighted_least_squares,
)
from identify.regressors import BlockStatistics


@dataclass(frozen=True, slots=True)
class Answer:
    """What an estimator says of one log.

    Attributes:
        phi: the ten parameters about the sensor's origin, shape (10,).
        told: how many of them are measured; the others are completed by a default body.
        intervals: 95 % bounds by name, where the estimator gives any.
        solver: what solved it.
    """

    phi: Phi
    told: int = 10
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    solver: str = "none"


Estimator = Callable[[BlockStatistics], Answer]


def _ordinary(log: BlockStatistics) -> Answer:
    return Answer(ordinary_least_squares(log.total()))


def _weighted(log: BlockStatistics) -> Answer:
    fit = weighted_least_squares(log.total(), log.samples.sum() * log.noise[:12])
    told = int((fit.identifiability.half_widths < 1.0).sum())
    return Answer(fit.phi, told=told)


def _consistent(log: BlockStatistics) -> Answer:
    estimate = estimate_body([log])
    return Answer(
        phi=estimate.parameters.phi,
        told=sum(what != "default" for what in estimate.decided_by.values()),
        intervals=dict(estimate.intervals),
        solver=estimate.certificate.solver,
    )


ESTIMATORS: Mapping[str, Estimator] = {
    "ordinary least squares": _ordinary,
    "weighted least squares": _weighted,
    "PSD estimate": _consistent,
}
"""By name, in the order of the tables."""

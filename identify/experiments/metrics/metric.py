"""`Metric`: what is worked out of an answer and the truth, as columns of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from identify.arrays import Phi, Vec3
from identify.estimation.intervals import DERIVED
from identify.experiments.estimators import Answer
from identify.experiments.sources import Truth
from identify.inertia import PHI

NAMES = (*PHI, *DERIVED)
"""The ten parameters, the centre of mass and the inertia about it: what intervals are given for."""

Values: TypeAlias = Mapping[str, float | None]
"""Columns and their values; None where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of the registry.

    Attributes:
        name: in study files.
        columns: that it fills.
        unit: of its values.
        score: from the answer, and the truth where the log's source knows it, to the columns.
    """

    name: str
    columns: tuple[str, ...]
    unit: str
    score: Callable[[Answer, Truth | None], Values]


def of_answer(name: str, unit: str, score: Callable[[Answer], float]) -> Metric:
    """A metric of one column that needs no truth."""
    return Metric(name, (name,), unit, lambda answer, truth: {name: score(answer)})


def of_truth(name: str, unit: str, score: Callable[[Phi, Phi], float]) -> Metric:
    """A metric of one column that compares with the true parameters; empty without them."""

    def values(answer: Answer, truth: Truth | None) -> Values:
        return {name: None if truth is None else score(answer.phi, truth.phi)}

    return Metric(name, (name,), unit, values)


def of_box(name: str, unit: str, score: Callable[[Phi, Phi, Vec3], float]) -> Metric:
    """A metric of one column that needs the bounding box too; empty without it."""

    def values(answer: Answer, truth: Truth | None) -> Values:
        if truth is None or truth.sides is None:
            return {name: None}
        return {name: score(answer.phi, truth.phi, truth.sides)}

    return Metric(name, (name,), unit, values)


def by_parameter(
    name: str,
    unit: str,
    score: Callable[[Answer, Phi | None], Values],
    *,
    needs_truth: bool = True,
    names: tuple[str, ...] = NAMES,
) -> Metric:
    """A metric with a column `name_parameter` for each parameter.

    Args:
        name: and prefix of the columns.
        unit: of its values.
        score: from the answer and the true phi to values by parameter; what is left out is empty.
        needs_truth: all columns are empty without it.
        names: of the parameters.
    """

    def values(answer: Answer, truth: Truth | None) -> Values:
        phi = None if truth is None else truth.phi
        found = {} if phi is None and needs_truth else score(answer, phi)
        return {f"{name}_{each}": found.get(each) for each in names}

    return Metric(name, tuple(f"{name}_{each}" for each in names), unit, values)

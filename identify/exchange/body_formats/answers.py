"""Answers of a person to what a body's text leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from identify.errors import ModelError


class UnstatedProperty(ModelError):
    """A text does not state a unit, a point or a sign; the message has the option that does."""

    def __init__(self, problem: str, option: str) -> None:
        self.problem, self.option = problem, option
        super().__init__(
            f"{problem}\n  remedy: identify body FILE {option} -o body.json, and use body.json"
        )


@dataclass(frozen=True, slots=True)
class BodyAnswers:
    """Answers to what a body's text does not say; None is no answer.

    Attributes:
        mass_unit, length_unit, inertia_unit: such as `g`, `mm`, `g mm^2`.
        point: reference point of the inertia.
        products: sign of the products of inertia; `negative` are the matrix's entries.
        decimal: the decimal mark.
    """

    mass_unit: str | None = None
    length_unit: str | None = None
    inertia_unit: str | None = None
    point: Literal["com", "origin"] | None = None
    products: Literal["negative", "positive"] | None = None
    decimal: Literal["point", "comma"] | None = None


NO_ANSWERS = BodyAnswers()
"""Answers of a person who was not asked."""

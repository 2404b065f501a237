"""`EstimatorSettings`: what may be chosen about an estimate from statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from identify.arrays import positive
from identify.errors import SchemaError
from identify.estimation.priors.prior import BALL, Ball, NoPrior, Prior
from identify.estimation.terms import KnownMass, Term
from identify.regressors import Offsets

IntervalRoute: TypeAlias = Literal["formula", "bootstrap"]
"""How intervals come about: from the noise of the signals and the residuals of each band, or from
the spread of refits to re-weighted blocks of time."""


@dataclass(frozen=True, slots=True)
class EstimatorSettings:
    """Choices of an estimate.

    Attributes:
        bias: sensor offset fitted per log (default), shared by all logs, or none.
        mass: known mass [kg], if any: short for the term `KnownMass`.
        terms: what else is known of the body, such as `MassBetween(1.0, 1.5)`.
        prior: what is known of the body, or of the payload, before its log: a `ShapePrior`, a
            `BodyPrior`, `Ball`, the default, or `NoPrior`.
        unloaded: how many of the logs, the last ones, are of the carrier alone; the others are then
            of a payload on it, and both bodies are fitted. Terms are of the payload, unless they
            name the "carrier".
        interval: how intervals come about: by "formula" from the noise that is found, or by
            "bootstrap" from the spread of refits to blocks of time.
        simultaneous: whether 95 % is that all intervals of a body hold at once.

    Raises:
        SchemaError: a choice is none.
        TermError: a mass that no log can tell of.
    """

    bias: Offsets = "per_log"
    mass: float | None = None
    terms: tuple[Term, ...] = ()
    prior: Prior = field(default=BALL, kw_only=True)
    unloaded: int = 0
    interval: IntervalRoute = "formula"
    simultaneous: bool = False

    def __post_init__(self) -> None:
        for name, choices in (("bias", get_args(Offsets)), ("interval", get_args(IntervalRoute))):
            if getattr(self, name) not in choices:
                *first, last = (f'"{choice}"' for choice in choices)
                expected = f"{', '.join(first)} or {last}"
                raise SchemaError(f"{name}: expected {expected}, got {getattr(self, name)!r}")
        if self.mass is not None:
            positive(self.mass, "mass", "kg", SchemaError)
        if self.mass is not None:
            KnownMass(self.mass)  # raises where no log could tell of it
        if not (isinstance(self.terms, tuple) and all(isinstance(t, Term) for t in self.terms)):
            raise SchemaError(
                f"terms: expected a list of terms such as MassBetween(1.0, 1.5), got {self.terms!r}"
            )

        if not isinstance(self.prior, Prior):
            raise SchemaError(
                f"prior: expected a prior such as ShapePrior.read('tool.stl'), got {self.prior!r}"
            )
        if self.interval == "bootstrap" and not isinstance(self.prior, Ball | NoPrior):
            raise SchemaError(
                'interval: "bootstrap" is of the log alone; with a prior take "formula"'
            )

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """The terms, the known mass among them."""
        return self.terms if self.mass is None else (KnownMass(self.mass), *self.terms)

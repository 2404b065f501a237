"""Settings of an estimate from statistics of logs, and its least-squares system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from identify.arrays import require_positive
from identify.errors import ProblemError, SchemaError
from identify.estimation.priors.prior import BALL, Ball, NoPrior, Prior
from identify.estimation.terms import KnownMass, Term
from identify.regressors import (
    LinearSystem,
    Offsets,
    ParameterSpace,
    Statistics,
    WrenchEquations,
    join_logs,
)

IntervalRoute: TypeAlias = Literal["formula", "bootstrap"]
"""Method of the intervals: formula (noise of the signals and residuals of each band), or bootstrap
(spread of refits to re-weighted blocks of time)."""

PAYLOAD, CARRIER = "payload", "carrier"
"""Names of the two bodies if some logs are of the carrier alone."""

PAYLOAD_ON_CARRIER = ParameterSpace((PAYLOAD, CARRIER))
"""Unknowns of a fit of a payload on its carrier: ten parameters of each."""

LOADED, UNLOADED = (PAYLOAD, CARRIER), (CARRIER,)
"""Names of the bodies that move in logs with and without the payload."""


@dataclass(frozen=True, slots=True)
class EstimatorSettings:
    """Settings of the estimate of a body: constraints, prior, offset and intervals.

    Attributes:
        bias: whether the sensor offset is fitted per log (default), shared by all logs, or not.
        mass: known mass [kg], short for the term `KnownMass`.
        terms: further constraints of the body, such as `MassBetween(1.0, 1.5)`.
        prior: what is known of the body, or of the payload, before its log: a `ShapePrior`, a
            `BodyPrior`, `Ball`, the default, or `NoPrior`.
        unloaded: how many of the logs, the last ones, are of the carrier alone; the others are then
            of a payload on it, and both bodies are fitted. Terms are of the payload, unless they
            name the "carrier".
        interval: method of the intervals: "formula" from the estimated noise, or
            "bootstrap" from the spread of refits to blocks of time; if not given, formula for a
            wrench, and bootstrap for joints where there are ten blocks.
        simultaneous: whether the 95 % intervals of a body hold jointly.

    Raises:
        SchemaError: a setting is invalid.
        TermError: the known mass is outside the accepted range.
    """

    bias: Offsets = "per_log"
    mass: float | None = None
    terms: tuple[Term, ...] = ()
    prior: Prior = field(default=BALL, kw_only=True)
    unloaded: int = 0
    interval: IntervalRoute | None = None
    simultaneous: bool = False

    def __post_init__(self) -> None:
        routes = (*get_args(IntervalRoute), None)
        for name, choices in (("bias", get_args(Offsets)), ("interval", routes)):
            if getattr(self, name) not in choices:
                *first, last = (f'"{choice}"' for choice in choices if choice)
                expected = f"{', '.join(first)} or {last}"
                raise SchemaError(f"{name}: expected {expected}, got {getattr(self, name)!r}")
        if self.mass is not None:
            require_positive(self.mass, "mass", "kg", SchemaError)
        if self.mass is not None:
            KnownMass(self.mass)  # raises if the mass is out of range
        if not (isinstance(self.terms, tuple) and all(isinstance(t, Term) for t in self.terms)):
            raise SchemaError(
                f"terms: expected a list of terms such as MassBetween(1.0, 1.5), got {self.terms!r}"
            )

        if not isinstance(self.prior, Prior):
            raise SchemaError(
                f"prior: expected a prior such as ShapePrior.read('tool.stl'), got {self.prior!r}"
            )
        if self.interval == "bootstrap" and not isinstance(self.prior, Ball | NoPrior):
            raise SchemaError('interval: "bootstrap" does not support a prior; use "formula"')

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """All constraints, including the known mass."""
        return self.terms if self.mass is None else (KnownMass(self.mass), *self.terms)


def body_system(logs: Sequence[Statistics], settings: EstimatorSettings) -> LinearSystem:
    """Form the system of one body in a wrench sensor, or of a payload on its carrier.

    Logs with the payload and logs without it have a weight each, as what a model leaves may differ
    between the two. An offset that all logs share needs them in one, with one weight.

    Raises:
        ProblemError: there is no log with the payload.
    """
    if not settings.unloaded:
        return LinearSystem.of([(join_logs(logs), WrenchEquations(offsets=settings.bias))])
    loaded = len(logs) - settings.unloaded
    if loaded < 1:
        raise ProblemError("a payload needs at least one log with it")
    kinds = (loaded, LOADED), (settings.unloaded, UNLOADED)
    if settings.bias == "shared":
        moved = tuple(bodies for count, bodies in kinds for _ in range(count))
        return LinearSystem.of(
            [(join_logs(logs), WrenchEquations(PAYLOAD_ON_CARRIER, "shared", moved))]
        )
    parts = (logs[:loaded], LOADED), (logs[loaded:], UNLOADED)
    return LinearSystem.of(
        [
            (join_logs(part), WrenchEquations(PAYLOAD_ON_CARRIER, settings.bias, (bodies,)))
            for part, bodies in parts
        ]
    )

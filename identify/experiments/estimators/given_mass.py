"""A mass that is given to an estimator: a number, or the body's own."""

from __future__ import annotations

from typing import Literal, TypeAlias

from identify.errors import ProblemError
from identify.experiments.options import Positive
from identify.experiments.sources import KnownBody

GivenMass: TypeAlias = Positive | Literal["known"] | None
"""In kg; "known": as the log's source knows it, as if weighed; None: fitted."""


def mass_of(given: GivenMass, known: KnownBody) -> float | None:
    """The mass to fix [kg], or None.

    Raises:
        ProblemError: it is to be known, and the source of the log does not know it.
    """
    if given != "known":
        return given
    if known.mass is None:
        raise ProblemError('mass = "known": the source of this log does not know the mass')
    return known.mass

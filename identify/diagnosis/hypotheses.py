"""Continuous causes that a log may be misread by: the map of each, its sizes, and its remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A cause of misfit with a few continuous parameters η, zero where the log is as read.

    Attributes:
        name: its own name, unique.
        code: of the finding.
        parameters: names of the components of η.
        unit: of all of them, in messages.
        per_unit: η in SI of one such unit.
        floor: |η| below which it does no harm worth a word [SI].
        matters: |η| that a log has to tell at least for the hypothesis to count as tested [SI].
        map_of: M(η) of all wide columns, (η, facts) → (40, 40).
        applies: whether it makes sense for a log.
        corrects: whether it may be applied; else it is reported alone.
        remedy_of: the line of the schema, or the action, for sizes η.
    """

    name: str
    code: str
    parameters: tuple[str, ...]
    unit: str
    per_unit: float
    floor: float
    matters: float
    map_of: Callable[[Array, LogFacts], Array]
    applies: Callable[[LogFacts], bool]
    remedy_of: Callable[[Array, LogFacts], str]
    corrects: bool = True


HYPOTHESES: tuple[Hypothesis, ...] = ()
"""All of them."""

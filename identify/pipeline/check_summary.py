"""`CheckSummary`: what was looked at besides a fit, in numbers and words that can be kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from identify.diagnosis import Span
from identify.estimation import FittedEffects
from identify.pipeline.effect_notes import NOTED, UNITS

if TYPE_CHECKING:
    from identify.pipeline.diagnose import Checks


@dataclass(frozen=True, slots=True)
class RankedReading:
    """A reading or fault of the logs, and how likely it is.

    Attributes:
        text: what is so by it.
        code: of its finding; empty for the logs as read.
        gain: twice the log-likelihood it gains on the logs as read.
        mass: of the body by it [kg].
    """

    text: str
    code: str
    gain: float
    mass: float


@dataclass(frozen=True, slots=True)
class SensorEffect:
    """A small fault of the sensor as the fit has it.

    Attributes:
        name: of the group, and its entry.
        unit: of its size.
        size, half_width: with the half of its 95 % interval.
        noted: whether it stands out.
    """

    name: str
    unit: str
    size: float
    half_width: float
    noted: bool


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What a report says of the checks of a fit.

    Attributes:
        readings: all that were compared, the likeliest first; none where they were not tried.
        effects: small faults of the sensors.
        spans: of time in which something is wrong, of each log.
        advice: what motion would tell what the logs do not, a sentence each.
    """

    readings: tuple[RankedReading, ...] = ()
    effects: tuple[SensorEffect, ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()
    advice: tuple[str, ...] = ()


def summary_of(checks: Checks) -> CheckSummary:
    """What a result keeps of the checks of its logs."""
    ranking = checks.ranking
    return CheckSummary(
        readings=()
        if ranking is None
        else tuple(RankedReading(e.text, e.code, e.gain, e.mass) for e in ranking.explanations),
        effects=() if checks.effects is None else tuple(_effects(checks.effects)),
        spans=checks.spans,
        advice=checks.advice,
    )


def _effects(effects: FittedEffects) -> Iterator[SensorEffect]:
    for block in effects.model.blocks:
        per, unit = UNITS[block.group.name]
        sizes, errors = effects.total[block.columns], effects.errors[block.columns]
        for entry, size, error in zip(
            block.group.columns, sizes.tolist(), errors.tolist(), strict=True
        ):
            name = f"{block.group.code.replace('_', ' ')}, {entry}"
            noted = abs(size) > NOTED * error > 0.0
            yield SensorEffect(name, unit, size / per, 1.96 * error / per, noted)

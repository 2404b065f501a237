"""`CheckSummary`: what was looked at besides a fit, in numbers and words that can be kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Phi
from identify.diagnosis import Span

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
class SizedFault:
    """A fault with a size that was looked for.

    Attributes:
        name: of the fault.
        unit: of its sizes.
        size, half_width: with the half of the 95 % interval; infinite where nothing is known of it.
        p_value: probability of a size as large by chance.
        observable: whether the logs would show it.
        found: whether it was found.
    """

    name: str
    unit: str
    size: tuple[float, ...]
    half_width: tuple[float, ...]
    p_value: float
    observable: bool
    found: bool


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What a report says of the checks of a fit.

    Attributes:
        looked: whether faults with a size were looked for.
        readings: all that were compared, the likeliest first; none where they were not tried.
        faults: those with a size.
        corrected: the least-squares body with the found faults corrected, shape (10,), or None.
        codes: of the faults with a size that were found.
        spans: of time in which something is wrong, of each log.
        advice: what motion would tell what the logs do not, a sentence each.
    """

    looked: bool = False
    readings: tuple[RankedReading, ...] = ()
    faults: tuple[SizedFault, ...] = ()
    corrected: Phi | None = None
    codes: tuple[str, ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()
    advice: tuple[str, ...] = ()


def summary_of(checks: Checks | CheckSummary) -> CheckSummary:
    """The summary of checks, or of such as are one."""
    if isinstance(checks, CheckSummary):
        return checks
    diagnosis, ranking = checks.diagnosis, checks.ranking
    of_checks = CheckSummary(
        readings=()
        if ranking is None
        else tuple(RankedReading(e.text, e.code, e.gain, e.mass) for e in ranking.explanations),
        spans=checks.spans,
        advice=checks.advice,
    )
    if diagnosis is None:
        return of_checks
    found = {each.faults[0].name: each for each in diagnosis.found}
    faults = []
    for test in diagnosis.tests:
        scale, one = test.fault.sizes, found.get(test.fault.name)
        assert scale is not None
        size, half_width, p_value = (
            (test.size, 1.96 * test.errors, test.p_value)
            if one is None
            else (one.size, one.half_width, one.p_value)
        )
        faults.append(
            SizedFault(
                test.fault.name,
                scale.unit,
                tuple((np.asarray(size) / scale.per_unit).tolist()),
                tuple((np.asarray(half_width) / scale.per_unit).tolist()),
                float(p_value),
                bool(test.observable or one is not None),
                one is not None,
            )
        )
    return CheckSummary(
        looked=True,
        readings=of_checks.readings,
        faults=tuple(faults),
        corrected=np.array(diagnosis.fit.x[:10]) if diagnosis.found else None,
        codes=tuple(each.code for each in diagnosis.found),
        spans=checks.spans,
        advice=checks.advice,
    )

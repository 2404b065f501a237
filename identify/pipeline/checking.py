"""What is looked at before an estimate is believed: other readings, causes, drift."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.diagnosis import Cause, Diagnosis, Drift, LogFacts, causes, drift
from identify.errors import ProblemError
from identify.estimation import Estimate, EstimatorSettings, NegativeMass
from identify.estimation.estimator import body_system
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.findings import Finding
from identify.pipeline.explanations import (
    Explanation,
    Ranking,
    ScannedLog,
    in_words,
    rank_explanations,
)
from identify.regressors import WIDE_LAYOUT, Statistics, scan

MOST_ROWS = 20_000
"""Rows of a log that causes are looked for in, where its own scan was not wide."""

_SHOWN = 4
"""Explanations that a finding of several names."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What was looked at.

    Attributes:
        diagnosis: continuous causes; None where nothing can be said of them.
        ranking: of all explanations; None where nothing made it worth the time.
        drift: of the sensor's offset, if it wanders.
    """

    diagnosis: Diagnosis | None = None
    ranking: Ranking | None = None
    drift: Drift | None = None

    @property
    def findings(self) -> Iterator[Finding]:
        """Of all of it; where another reading is the likeliest, of that alone."""
        found = None if self.ranking is None else of_ranking(self.ranking)
        if found is not None and (self.ranking is None or self.ranking.best.cause is None):
            yield found
            return
        if self.diagnosis is not None:
            mass = float(self.diagnosis.fit.x[0])
            yield from (of_cause(cause, mass) for cause in self.diagnosis.causes)
        if self.drift is not None:
            yield of_drift(self.drift)


def wide_statistics(log: ScannedLog) -> Statistics:
    """Wide statistics of a log: those of its scan where it was wide, or of one of fewer rows."""
    found = log.summary.statistics
    if found.layout == WIDE_LAYOUT:
        return found
    reading = replace(log.summary.reading, cutoff_hz=log.summary.cutoff_hz, most_rows=MOST_ROWS)
    return scan(log.source, reading, wide=True).statistics


def look_at(
    logs: Sequence[ScannedLog],
    settings: EstimatorSettings,
    *,
    suspect: bool,
    progress: Callable[[str], None],
) -> Checks:
    """Look for what may be wrong with logs that have an estimate.

    Args:
        logs: as they were read, those of the carrier alone last.
        settings: of the estimate.
        suspect: whether other readings are tried though no cause is found.
        progress: called with a line of text.
    """
    progress("checking")
    diagnosis = drifting = None
    fit = _least_squares(logs, settings)
    if fit is not None:
        facts = [LogFacts.of(log.summary.recording) for log in logs]
        diagnosis = causes(fit, facts, settings.all_terms)
        drifting = drift(diagnosis.fit, settings.all_terms)
    found = () if diagnosis is None else diagnosis.causes
    ranking = None
    if suspect or found:
        loaded = logs[: len(logs) - settings.unloaded]
        ranking = rank_explanations(loaded, found[:1], progress)
    return Checks(diagnosis, ranking, drifting)


def _least_squares(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> LeastSquaresFit | None:
    """The fit of wide statistics, or None where there is none."""
    try:
        system = body_system([wide_statistics(log) for log in logs], settings)
        return weighted_least_squares(system, settings.all_terms)
    except ProblemError:
        return None


def is_suspect(estimate: Estimate, findings: Sequence[Finding]) -> bool:
    """Whether something seen at once makes it worth to try other readings."""
    seen = {"unexplained", "position_unit", "angle_unit"}
    bound = any("constraint" in one.decided_by.values() for one in estimate.bodies)
    return bound or any(f.code in seen for f in findings)


def of_ranking(ranking: Ranking) -> Finding | None:
    """The finding of a ranking; None where the log as read is among the best."""
    if ranking.as_read:
        return None
    best, tied = ranking.best, _distinct(ranking)
    evidence = {"gain": best.gain, "lead": ranking.lead, "mass": best.mass}
    if len(tied) == 1:
        text = f"{best.text}: so read, the log is explained clearly better, and the mass is "
        text += f"{best.mass:.4g} kg."
        severity = "error" if best.cause is None else "warning"
        return Finding(best.code, severity, text, best.remedy, evidence)
    shown = tied[:_SHOWN]
    said = "; or ".join(f"{each.text} (mass {each.mass:.4g} kg)" for each in shown)
    return Finding(
        best.code,
        "error",
        f"several readings explain the log clearly better, and one as well as another: {said}.",
        "Find out which it is. " + " Or: ".join(each.remedy for each in shown),
        evidence | {"equivalent": [each.code for each in tied[1:]]},
    )


def _distinct(ranking: Ranking) -> list[Explanation]:
    """The likeliest of each code among those that lead together."""
    return list({e.code: e for e in reversed(ranking.tied)}.values())[::-1]


def of_cause(cause: Cause, mass: float) -> Finding:
    """The finding of a continuous cause.

    Args:
        cause: at its size.
        mass: of the body with all causes corrected [kg].
    """
    low, high = cause.interval
    evidence = {
        "size": cause.size.tolist(),
        "interval": np.stack((low, high), axis=-1).tolist(),
        "gain": cause.gain,
        "p_value": cause.p_value,
        "mass": mass,
    }
    text = f"{in_words(cause)}; corrected, the mass is {mass:.4g} kg."
    if cause.equivalent:
        others = ", ".join(cause.equivalent)
        text += f" The log cannot tell it from {others}: nothing is corrected."
        evidence["equivalent"] = list(cause.equivalent)
    return Finding(cause.code, "warning", text, cause.remedy.rstrip(".") + ".", evidence)


_KINDS = {
    "random_walk": "wanders",
    "linear": "grows or falls steadily",
    "step": "changes in one step, as where it was zeroed in mid-log",
}


def of_drift(found: Drift) -> Finding:
    """The finding of an offset that does not stay."""
    mass = float(found.fit.x[0])
    text = f"the sensor's offset {_KINDS[found.kind]}; with that, the mass is {mass:.4g} kg."
    if found.refused:
        text += f" It is not corrected: {found.refused}."
    return Finding(
        found.code,
        "warning",
        text,
        f"Let the sensor warm up and zero it between logs, or fit with --apply {found.code}.",
        {"gain": found.gain, "p_value": found.p_value, "mass": mass},
    )


def of_negative_mass(
    logs: Sequence[ScannedLog], error: NegativeMass, progress: Callable[[str], None]
) -> NegativeMass:
    """The error to raise for a negative mass: with the reading that gives a possible body."""
    ranking = rank_explanations(logs, progress=progress)
    found = of_ranking(ranking)
    if found is None or ranking.best.mass <= 0.0:
        return error
    others = _distinct(ranking)[1:_SHOWN]
    advice = f"most likely {ranking.best.text}. {ranking.best.remedy}"
    advice += "".join(f" Or {each.text}: {each.remedy}" for each in others)
    return NegativeMass(
        error.mass,
        advice,
        error.body,
        code=ranking.best.code,
        meaning="the log is not what its schema says",
        evidence=dict(found.evidence),
    )

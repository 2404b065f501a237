"""Checks of logs before an estimate is believed: other readings, changes of the body, contacts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from identify.diagnosis import (
    Change,
    Excitation,
    Explanation,
    Ranking,
    Span,
    changed,
    excitation,
    segments,
    without_long_ends,
)
from identify.diagnosis.explained import MOST_LEFT
from identify.diagnosis.hysteresis import Hysteresis
from identify.diagnosis.ranking import SLIP
from identify.diagnosis.robust import unless_scattered, wrong_rows
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings, FittedEffects
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.wrench_system import body_system
from identify.findings import Finding
from identify.pipeline.delays import changing_delay
from identify.pipeline.effect_notes import dead_zones, effect_notes, is_small, large_groups
from identify.pipeline.explanations import (
    contacts_of,
    left_by,
    rank_explanations,
    with_effects,
)
from identify.pipeline.fitted_effects import bands_of, cost_of, effects_of, gain_for_point
from identify.pipeline.messages import (
    of_change,
    of_likelier,
    of_ranking,
    of_spans,
    of_unexplained,
)
from identify.pipeline.scanned_log import ScannedLog, finest_blocks, without_effects
from identify.regressors import LogSummary
from identify.significance import CLEAR_LEAD, LIKELIER_LEAD
from identify.spatial.columns import W

_LOG = logging.getLogger(__name__)

_ROUNDING = 1e-5
"""Share of what was measured below which a residual is rounding and the error of derivatives."""


_BROKEN = ("saturation", "frozen_pose", "frozen_wrench", "dead_channel")
"""Codes of spans in which a raw signal is not what acted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Results of the checks of logs.

    Attributes:
        effects: small faults of the sensors, as they were fitted; None where there is no fit.
        rival: effects with a gain of the sensor in place of a displaced point, where as likely.
        dead_zones: hysteresis of sensors, by their numbers in the effects.
        ranking: of all readings; None where nothing made it worth the time.
        changes: of the body, between logs or within one.
        doubts: the same, where they may be chance.
        spans: of time of each log in which a signal cannot be what it says.
        excitation: how far the logs move their body, and what motion would tell the rest.
        logs: summaries of the logs that were looked at, as they were read.
        left: share of the wrench's signal that the likeliest of all this leaves beyond noise.
        hidden: whether spans hide which other readings may explain logs that small faults do not.
        touched: whether nothing but contacts explains the logs, or an end of one stands apart.
        latency: findings of logs whose wrench is late by a time that changes.
    """

    effects: FittedEffects | None = None
    rival: FittedEffects | None = None
    dead_zones: Mapping[int, Hysteresis] = field(default_factory=dict)
    ranking: Ranking | None = None
    changes: tuple[Change, ...] = ()
    doubts: tuple[Change, ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()
    excitation: Excitation | None = None
    logs: tuple[LogSummary, ...] = ()
    left: float = 0.0
    hidden: bool = False
    touched: bool = False
    latency: tuple[Finding, ...] = ()

    @property
    def misread(self) -> Explanation | None:
        """The reading of the logs that explains them better than others, if it is not as read."""
        if self.ranking is None or self.ranking.as_read:
            return None
        return None if self.ranking.best.left > MOST_LEFT else self.ranking.best

    @property
    def likelier(self) -> Explanation | None:
        """Another reading that is likelier than the logs as read, but not clearly so."""
        if self.ranking is None or not self.ranking.as_read:
            return None
        return self.ranking.best if self.ranking.best.gain > LIKELIER_LEAD else None

    @property
    def findings(self) -> Iterator[Finding]:
        """Findings of all checks; where another reading is the likeliest, of that alone.

        So of logs of several bodies, where a body for each is likelier than any other reading. The
        best of readings that explain little is not named, nor what else they are best explained by.
        """
        if self.latency:
            yield from self.latency
            return
        for log, spans in zip(self.logs, self.spans, strict=True):
            for finding in of_spans(log, spans, touched=self.touched):
                hides = self.hidden and finding.code in _BROKEN
                yield replace(finding, severity="error") if hides else finding
        apart = [change for change in self.changes if change.code == "bodies_differ"]
        if apart and self.ranking is not None and self.ranking.apart > self.ranking.best.gain:
            yield from (of_change(change, self.logs) for change in self.changes)
            return
        if self.misread is not None and self.ranking is not None:
            found = of_ranking(self.ranking)
            if found is not None:
                yield found
                return
        if self.left > MOST_LEFT and (self.touched or not any(self.spans)):
            yield from (of_change(change, self.logs) for change in self.changes)
            if not (self.changes or self.touched):
                yield of_unexplained(self.left, self.ranking, self.logs)
            return
        notes: list[Finding] = []
        if self.effects is not None:
            rivalled = self.rival is not None
            notes = [*effect_notes(self.effects, self.dead_zones, gain_as_likely=rivalled)]
        if self.likelier is not None:
            yield of_likelier(self.likelier, [note.code for note in notes])
        yield from notes
        yield from (of_change(change, self.logs) for change in (*self.changes, *self.doubts))

    @property
    def advice(self) -> tuple[str, ...]:
        """What the logs do not tell, and what would; nothing of logs that are wrong as read."""
        wrong = any(finding.severity == "error" for finding in self.findings)
        return () if wrong or self.excitation is None else self.excitation.advice


def look_at(
    logs: Sequence[ScannedLog],
    settings: EstimatorSettings,
    effects: FittedEffects | None,
    *,
    suspect: bool,
    corrected: bool = False,
) -> Checks:
    """Look for what may be wrong with logs that have an estimate.

    Args:
        logs: as they were read, those of the carrier alone last.
        settings: of the estimate.
        effects: of the logs' sensors; None where there is no fit of them.
        suspect: whether other readings are tried though small faults explain the logs.
        corrected: whether something was corrected already, and other readings are not tried again.
    """
    _LOG.info("checking")
    logs, steps, effects = _without_offset_steps(logs, effects, settings)
    # What spikes leave looks like whatever else leaves large residuals: all else is looked for
    # beside them.
    whole = logs
    logs = [_without_spikes(log) for log in whole]
    if any(log is not other for log, other in zip(logs, whole, strict=True)):
        effects = effects_of(logs, settings)
    if settings.bias == "shared":  # offsets that differ would be taken for other faults
        settings = replace(settings, bias="per_log")
    # A drift would take in what contacts and other bodies leave.
    mapped = list(logs) if effects is None else without_effects(logs, effects, drift=False)
    fit = least_squares_of(mapped, settings)
    exact = _is_exact(fit)
    parts: tuple[Change, ...] = ()
    if fit is not None:
        parts = changed(fit, settings.all_terms, [log.summary.imu for log in logs])
    changes = tuple(change for change in parts if change.sure)
    doubts = tuple(change for change in parts if not change.sure)
    apart = [_contacts(log) if not exact else () for log in mapped]
    spans = _with_signals(logs, _inside(apart, logs))
    left = _left(logs, fit, effects, settings)
    small = effects is not None and is_small(effects) and left <= MOST_LEFT
    # Values at the end of a range, or frozen, look like other readings of all of the log.
    broken = any(span.code in _BROKEN for log in logs for span in log.spans)
    broken |= any(span.code == "wrong_rows" for own in spans for span in own)
    ranking, hidden = None, broken and not corrected and not small
    worth = suspect or not small
    latency = [of for log in logs if (of := changing_delay(log.summary))] if worth else []
    zones = {} if effects is None else dead_zones(effects, logs, settings.unloaded)
    # What dead zones leave looks like many a reading of all of the log.
    worth &= not (corrected or broken or latency or (zones and left <= MOST_LEFT))
    if worth and not _is_exact(least_squares_of(logs, settings)):
        loaded = logs[: len(logs) - settings.unloaded]
        plain = rank_explanations(loaded, () if effects is None else large_groups(effects))
        ranking = with_effects(plain, logs, settings, effects)
        if not ranking.as_read:
            left = ranking.best.left
    touched: tuple[tuple[Span, ...], ...] = ()
    if left > MOST_LEFT:
        apart = [
            unless_scattered(own, log.summary.time) for own, log in zip(apart, logs, strict=True)
        ]
        spans = _with_signals(logs, _inside(apart, logs))
    if left > MOST_LEFT and not changes and all(s.code == "contact" for of in spans for s in of):
        touched = tuple(unless_scattered(contacts_of(log), log.summary.time) for log in logs)
    if any(touched):
        spans = touched
    elif fit is not None and not changes:
        whole = _with_signals(logs, apart)
        if whole != spans:  # an end that is of another body, or was touched: which is open
            spans = touched = whole
    return Checks(
        effects=effects,
        rival=None if effects is None else gain_for_point(logs, effects, settings),
        dead_zones=zones,
        ranking=ranking,
        changes=changes,
        doubts=() if changes else doubts,
        spans=tuple((*own, *of_log) for own, of_log in zip(steps, spans, strict=True)),
        excitation=None if fit is None else excitation(fit),
        logs=tuple(log.summary for log in logs),
        left=left,
        hidden=hidden,
        touched=any(touched),
        latency=tuple(latency),
    )


def _without_offset_steps(
    logs: Sequence[ScannedLog], effects: FittedEffects | None, settings: EstimatorSettings
) -> tuple[Sequence[ScannedLog], Sequence[tuple[Span, ...]], FittedEffects | None]:
    """Logs without jumps of their sensors' offsets where that explains them clearly better.

    Returns:
        The logs, the jumps of each, and the small faults of their sensors; where the jumps do not
        explain them, as they were, without jumps: with a contact or another body the wrench jumps
        too, and goes with the motion in another way after that.
    """
    steps = [log.offset_steps for log in logs]
    if not any(steps):
        return logs, steps, effects
    plain = [
        log._replace(spans=tuple(span for span in log.spans if span not in own))
        for log, own in zip(logs, steps, strict=True)
    ]
    without = [log.without_offset_steps() if log.offset_steps else log for log in logs]
    of_rest, bands = effects_of(without, settings), bands_of(plain)
    gain = cost_of(plain, effects, bands) - cost_of(without, of_rest, bands)
    fit = least_squares_of(without, settings)
    imus = [log.summary.imu for log in logs]
    changes = () if fit is None else changed(fit, settings.all_terms, imus)
    slips = SLIP * sum(map(len, steps))
    clean = without if of_rest is None else without_effects(without, of_rest, drift=False)
    apart = any(change.sure for change in changes) or any(_contacts(log) for log in clean)
    if gain > CLEAR_LEAD + slips and not apart:
        return without, steps, of_rest
    return plain, [()] * len(logs), effects


def _left(
    logs: Sequence[ScannedLog],
    fit: LeastSquaresFit | None,
    effects: FittedEffects | None,
    settings: EstimatorSettings,
) -> float:
    """Share of the wrench's signal that logs as read, without small faults, leave beyond noise."""
    if effects is not None:
        return left_by(effects.fit, without_effects(logs, effects), settings.unloaded)
    return 0.0 if fit is None else left_by(fit, logs, settings.unloaded)


def _without_spikes(log: ScannedLog) -> ScannedLog:
    """A log with its spikes put between their neighbours, and the spans that it had."""
    if all(span.code != "spikes" for span in log.spans):
        return log
    reading = replace(log.summary.reading, without_spikes=True)
    return log.again(reading)._replace(spans=log.spans)


def _is_exact(fit: LeastSquaresFit | None) -> bool:
    """Whether what a fit leaves is rounding, whose size over time says nothing."""
    if fit is None:
        return False
    system = fit.data.system
    left = sum(float(np.trace(moment)) for moment in system.residual_moments(fit.x))
    measured = sum(float(np.sum(one.factors[:, :, W] ** 2)) for one, _ in system.data)
    return left < _ROUNDING**2 * measured


def _contacts(log: ScannedLog) -> tuple[Span, ...]:
    """Spans of time of a log that no body explains.

    Of still poses those are named that the body of the others does not explain. What a signal
    shows by itself leaves a misfit too, which is then no contact. Spikes leave none: the log is
    looked at without them, and their span reaches from the first to the last.
    """
    summary = log.summary
    if summary.recording.still:
        return wrong_rows(summary.rows)
    shown = [span for span in log.spans if span.code != "spikes"]
    return tuple(
        span
        for span in segments(summary.time, summary.rows, summary.segment_ids)
        if not any(span.start <= own.stop and own.start <= span.stop for own in shown)
    )


def _inside(
    contacts: Sequence[tuple[Span, ...]], logs: Sequence[ScannedLog]
) -> list[tuple[Span, ...]]:
    """Contacts of each log without long ones at its ends."""
    return [
        without_long_ends(own, log.summary.time) for own, log in zip(contacts, logs, strict=True)
    ]


def _with_signals(
    logs: Sequence[ScannedLog], contacts: Sequence[Sequence[Span]]
) -> tuple[tuple[Span, ...], ...]:
    """Contacts of each log, and spans in which its signals cannot be what they say."""
    return tuple(
        tuple(sorted((*of_log, *log.spans), key=lambda span: span.start))
        for log, of_log in zip(logs, contacts, strict=True)
    )


def least_squares_of(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> LeastSquaresFit | None:
    """The fit of logs, or None where there is none.

    A short log is taken in the shorter blocks of its folds: of fewer than five an offset that
    drifts, a body that changes, and the scatter that tests go by are not seen.
    """
    try:
        system = body_system([finest_blocks(log.summary) for log in logs], settings)
        return weighted_least_squares(system, settings.all_terms)
    except ProblemError:
        return None


def is_suspect(findings: Sequence[Finding]) -> bool:
    """Whether something seen at once makes it worth to try other readings."""
    seen = {"little_motion", "position_unit", "angle_unit", "gravity_magnitude", "too_dense"}
    seen |= {"not_held", "unexplained", "at_the_edge", "imprecise"}
    wrong = {finding.code for finding in findings if finding.severity == "error"}
    return "imu_scale" in wrong or any(finding.code in seen for finding in findings)

"""What is looked at before an estimate is believed: faults of the logs, drift, contacts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Phi
from identify.diagnosis import (
    Change,
    Diagnosis,
    Drift,
    Excitation,
    Explanation,
    LogFacts,
    Ranking,
    ScoreTest,
    Span,
    calibration,
    changed,
    drift,
    excitation,
    find_faults,
    score_tests,
    segments,
    sized_faults,
    without_long_ends,
)
from identify.diagnosis.explained import MOST_LEFT, share_left
from identify.diagnosis.faults.gravity import is_usual_gravity
from identify.diagnosis.ranking import CLEAR_LEAD
from identify.diagnosis.sensor_drift import change_in_place
from identify.errors import ProblemError
from identify.estimation import Estimate, EstimatorSettings
from identify.estimation.estimator import body_system
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.findings import Finding
from identify.pipeline.explanations import contacts_of, fitted, left_by, rank_explanations
from identify.pipeline.messages import (
    of_calibration,
    of_change,
    of_drift,
    of_fault,
    of_ranking,
    of_spans,
    of_unexplained,
)
from identify.pipeline.scanned_log import ScannedLog, finest_blocks
from identify.regressors import LogSummary
from identify.regressors.wrench import W

_LOG = logging.getLogger(__name__)

_ROUNDING = 1e-5
"""Share of what was measured below which a residual is rounding and the error of derivatives."""

_LIKE_GRAVITY = ("gravity_magnitude", "clock_rate")
"""Codes of faults that look alike: that of gravity, and time."""

_LOOSE = 0.1
"""Half-width of the mass, as a share of it, beyond which other readings are tried."""

MOST_ROWS = 20_000
"""Rows of a log that faults are looked for in, where its own scan was not wide."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What was looked at.

    Attributes:
        diagnosis: faults with a size; None where nothing can be said of them.
        ranking: of all explanations; None where nothing made it worth the time.
        drift: of the sensor's offset, if it does not stay.
        changes: of the body, between logs or within one.
        doubts: the same, where they may be chance.
        spans: of time of each log in which a signal cannot be what it says.
        excitation: how far the logs move their body, and what motion would tell the rest.
        logs: what was looked at.
        calibration: of the wrench, where it is wrong and nothing else explains that.
        left: share of the wrench's signal that the likeliest of all this leaves beyond noise.
        touched: whether nothing but contacts explains the logs, or an end of one stands apart.
    """

    diagnosis: Diagnosis | None = None
    ranking: Ranking | None = None
    drift: Drift | None = None
    changes: tuple[Change, ...] = ()
    doubts: tuple[Change, ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()
    excitation: Excitation | None = None
    logs: tuple[LogSummary, ...] = ()
    calibration: Explanation | None = None
    left: float = 0.0
    touched: bool = False

    @property
    def misread(self) -> Explanation | None:
        """A fault of the schema that explains the logs, if it explains them better than others."""
        if self.ranking is None or self.ranking.as_read or self.ranking.best.sized:
            return None
        return None if self.ranking.best.left > MOST_LEFT else self.ranking.best

    @property
    def findings(self) -> Iterator[Finding]:
        """Of all of it; where another reading is the likeliest, of that alone.

        So of logs of several bodies, where a body for each is likelier than any other reading. The
        best of readings that explain little is not named, nor what else they are best explained by.
        """
        for log, spans in zip(self.logs, self.spans, strict=True):
            yield from of_spans(log, spans, touched=self.touched)
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
                yield of_unexplained(self.left, self.ranking)
            return
        if self.diagnosis is not None:
            mass = float(self.diagnosis.fit.x[0])
            yield from (of_fault(found, mass) for found in self.diagnosis.found)
        changes = {change.code for change in self.changes}
        if self.drift is not None and not changes & set(self.drift.equivalent):
            yield of_drift(self.drift)
        yield from (of_change(change, self.logs) for change in self.changes)
        if self.calibration is not None:
            alone = not (self.changes or self.drift or any(self.spans))
            yield of_calibration(self.calibration, alone=alone)

    @property
    def advice(self) -> tuple[str, ...]:
        """What the logs do not tell, and what would; nothing of logs that are wrong as read."""
        wrong = any(finding.severity == "error" for finding in self.findings)
        return () if wrong or self.excitation is None else self.excitation.advice


def _wide(log: ScannedLog) -> ScannedLog:
    """A log with a wide summary: that of its scan where it was wide, or of one of fewer rows."""
    return log if log.wide else log._replace(summary=log.some(MOST_ROWS, wide=True))


def look_at(
    logs: Sequence[ScannedLog],
    settings: EstimatorSettings,
    *,
    suspect: bool,
    corrected: bool = False,
    start: Phi | None = None,
) -> Checks:
    """Look for what may be wrong with logs that have an estimate.

    Args:
        logs: as they were read, those of the carrier alone last.
        settings: of the estimate.
        suspect: whether other readings are tried though no fault is found.
        corrected: whether something was corrected already, and other readings are not tried again.
        start: the least-squares body, where it is known; without it, it is fitted anew.
    """
    _LOG.info("checking")
    # What spikes leave looks like whatever else leaves large residuals: all else is looked for
    # beside them.
    logs = [_without_spikes(log) for log in logs]
    diagnosis = drifting = moved = None
    changes: tuple[Change, ...] = ()
    doubts: tuple[Change, ...] = ()
    if settings.bias == "shared":  # offsets that differ would be taken for other faults
        settings = replace(settings, bias="per_log")
    wide = [_wide(log) for log in logs]
    fit = least_squares_of(wide, settings, start)
    exact = fit is not None and _is_exact(fit)
    facts = [LogFacts.of(log.summary.recording) for log in logs]
    now = logs
    if fit is not None:
        diagnosis = find_faults(fit, facts, settings.all_terms, exact=exact)
        moved = excitation(diagnosis.fit, _left_open(diagnosis, facts))
        recordings = [log.summary.recording for log in logs]
        parts = changed(diagnosis.fit, settings.all_terms, recordings)
        changes = tuple(change for change in parts if change.sure)
        doubts = tuple(change for change in parts if not change.sure)
        if diagnosis.found:  # what they leave over time is no contact, and no drift
            now = [_mapped(log, number, diagnosis.found) for number, log in enumerate(wide)]
    apart = [_contacts(log) if not exact else () for log in now]
    inside = [
        without_long_ends(own, log.summary.time) for own, log in zip(apart, logs, strict=True)
    ]
    spans = _with_signals(logs, inside)
    if diagnosis is not None and not exact:
        drifting = _drift(diagnosis.fit, now, spans, settings)
        if isinstance(drifting, Change):
            drifting, changes = None, changes or (drifting,)
    found = () if diagnosis is None else diagnosis.found
    ranking = None
    if suspect or (found and not corrected):
        loaded = logs[: len(logs) - settings.unloaded]
        sizes = [float(np.linalg.norm(log.summary.recording.gravity)) for log in loaded]
        rivals = [
            fault
            for fault in found[:1]
            # Gravity that is not Earth's is sooner Earth's than anything that looks like it.
            if fault.code not in _LIKE_GRAVITY or all(map(is_usual_gravity, sizes))
        ]
        ranking = fitted(rank_explanations(loaded, rivals), logs, settings)
    left = _left(logs, now, settings, fit, diagnosis, drifting, ranking)
    touched = ()
    if left > MOST_LEFT and not changes and all(s.code == "contact" for of in spans for s in of):
        touched = tuple(contacts_of(log) for log in logs)
    if any(touched):
        spans = touched
    elif fit is not None and drifting is None and not changes:
        whole = _with_signals(logs, apart)
        if whole != spans:  # an end that is of another body, or was touched: which is open
            spans = touched = whole
    checks = Checks(
        diagnosis,
        ranking,
        drifting,
        changes,
        () if changes else doubts,
        spans,
        moved,
        tuple(log.summary for log in logs),
        None if diagnosis is None else diagnosis.calibration,
        left,
        any(touched),
    )
    if suspect and diagnosis is not None and not exact and not any(checks.findings):
        # Whatever else is wrong shows in the calibration too.
        checks = replace(checks, calibration=calibration(diagnosis.fit, facts))
    return checks


def _without_spikes(log: ScannedLog) -> ScannedLog:
    """A log with its spikes put between their neighbours, and the spans that it had."""
    if all(span.code != "spikes" for span in log.spans):
        return log
    reading = replace(log.summary.reading, without_spikes=True)
    if not log.wide:
        return log._replace(summary=log.some(MOST_ROWS, reading, wide=True))
    return log.again(reading)._replace(spans=log.spans)


def _left(
    logs: Sequence[ScannedLog],
    now: Sequence[ScannedLog],
    settings: EstimatorSettings,
    fit: LeastSquaresFit | None,
    diagnosis: Diagnosis | None,
    drifting: Drift | None,
    ranking: Ranking | None,
) -> float:
    """Share of the wrench's signal that the likeliest leaves beyond noise.

    Of logs as read, and with what was found of them corrected.
    """
    if ranking is not None and not ranking.as_read and not ranking.best.sized:
        return ranking.best.left
    if fit is None:
        return 0.0
    fits = [each.fit for each in (diagnosis, drifting) if each is not None]
    corrected = min((share_left(f.data.system, f.x).worst for f in fits), default=np.inf)
    if corrected <= MOST_LEFT:
        return corrected
    left = left_by(fit, logs, settings.unloaded)
    if left > MOST_LEFT and diagnosis is not None and diagnosis.found:
        left = min(left, left_by(diagnosis.fit, now, settings.unloaded))
    return left


def _mapped(log: ScannedLog, number: int, found: Sequence[Explanation]) -> ScannedLog:
    """A log whose wide series has faults corrected by their maps."""
    rows = log.summary.rows
    for each in found:
        rows = rows @ each.faults[number].map_at(each.size)
    return log._replace(summary=replace(log.summary, rows=rows))


def _drift(
    fit: LeastSquaresFit,
    logs: Sequence[ScannedLog],
    spans: Sequence[Sequence[Span]],
    settings: EstimatorSettings,
) -> Drift | Change | None:
    """Drift of the offsets, without the times at which something else is wrong.

    Where a body that changes explains the series clearly better than an offset that does, that; an
    offset that drifts has more shapes than are tried.
    """
    series = []
    for log, own in zip(logs, spans, strict=True):
        kept = np.ones(len(log.summary.time), dtype=np.bool_)
        for span in own:
            if span.code in ("contact", "frozen_pose", "frozen_wrench"):
                kept &= (log.summary.time < span.start) | (log.summary.time > span.stop)
        series.append((log.summary.time[kept], log.summary.rows[kept]))
    found = drift(fit, series, settings.all_terms)
    if found is None:
        return None
    rivals = [
        change_in_place(number, time, rows, log.summary.effective, offset)
        for number, (log, (time, rows), offset) in enumerate(
            zip(logs, series, found.offsets, strict=True)
        )
        if len(offset) and not log.summary.recording.still
    ]
    lead, change = min(rivals, key=lambda rival: rival[0], default=(np.inf, None))
    if change is not None and found.kind == "step" and lead < -CLEAR_LEAD:
        return change
    return replace(found, equivalent=("body_changed",)) if lead < CLEAR_LEAD else found


def _left_open(diagnosis: Diagnosis, facts: Sequence[LogFacts]) -> list[ScoreTest]:
    """Tests of what was not found, at the fit with what was found corrected: it is less misfit."""
    if not diagnosis.found:
        return list(diagnosis.tests)
    found = {code for each in diagnosis.found for code in (each.code, *each.equivalent)}
    tests = score_tests(diagnosis.fit, sized_faults(facts))
    return [test for test in tests if test.fault.code not in found]


def _is_exact(fit: LeastSquaresFit) -> bool:
    """Whether what a fit leaves is rounding, whose size over time says nothing."""
    system = fit.data.system
    left = sum(float(np.trace(moment)) for moment in system.residual_moments(fit.x))
    measured = sum(float(np.sum(one.factors[:, :, W] ** 2)) for one, _ in system.data)
    return left < _ROUNDING**2 * measured


def _contacts(log: ScannedLog) -> tuple[Span, ...]:
    """Spans of time of a log that no body explains.

    What a signal shows by itself leaves a misfit too, which is then no contact. Spikes leave none:
    the log is looked at without them, and their span reaches from the first to the last.
    """
    summary = log.summary
    if summary.recording.still:
        return ()
    shown = [span for span in log.spans if span.code != "spikes"]
    return tuple(
        span
        for span in segments(summary.time, summary.rows, summary.segment_ids)
        if not any(span.start <= own.stop and own.start <= span.stop for own in shown)
    )


def _with_signals(
    logs: Sequence[ScannedLog], contacts: Sequence[Sequence[Span]]
) -> tuple[tuple[Span, ...], ...]:
    """Contacts of each log, and spans in which its signals cannot be what they say."""
    return tuple(
        tuple(sorted((*of_log, *log.spans), key=lambda span: span.start))
        if not log.summary.recording.still
        else ()
        for log, of_log in zip(logs, contacts, strict=True)
    )


def least_squares_of(
    logs: Sequence[ScannedLog], settings: EstimatorSettings, start: Phi | None = None
) -> LeastSquaresFit | None:
    """The fit of wide statistics, or None where there is none.

    A short log is taken in the shorter blocks of its folds: of fewer than five an offset that
    drifts, a body that changes, and the scatter that tests go by are not seen.
    """
    try:
        system = body_system([finest_blocks(_wide(log).summary) for log in logs], settings)
        return weighted_least_squares(system, settings.all_terms, start)
    except ProblemError:
        return None


def is_suspect(estimate: Estimate, findings: Sequence[Finding]) -> bool:
    """Whether something seen at once makes it worth to try other readings."""
    seen = {"unexplained", "little_motion", "position_unit", "angle_unit"}
    bound = any("constraint" in one.decided_by.values() for one in estimate.bodies)
    return bound or _is_loose(estimate) or any(f.code in seen for f in findings)


def _is_loose(estimate: Estimate) -> bool:
    """Whether so little is known of a mass that a log of another sensor's axes may look like it."""
    known = [(one.intervals.get("m"), one.parameters.mass) for one in estimate.bodies]
    return any(
        interval is not None and interval[1] - interval[0] > 2.0 * _LOOSE * mass
        for interval, mass in known
    )

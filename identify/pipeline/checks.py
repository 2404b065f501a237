"""Checks of logs for wrong schemas, changes of the body, contacts and invalid signals."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from identify.diagnosis import (
    BodyChange,
    Excitation,
    Explanation,
    Ranking,
    Span,
    contact_spans,
    detect_body_changes,
    excitation,
    without_long_end_contacts,
)
from identify.diagnosis.contacts import plausible_contacts, wrong_pose_runs
from identify.diagnosis.hysteresis import Hysteresis
from identify.diagnosis.ranking import MISTAKE_PENALTY
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings, FittedEffects
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.settings import body_system
from identify.findings import Finding
from identify.pipeline.check_findings import (
    body_change_finding,
    is_relevant_change,
    likeliest_explanation_finding,
    slightly_likelier_interpretation_finding,
    span_findings,
    unexplained_wrench_finding,
)
from identify.pipeline.explanations import (
    ALL_LOGS,
    RankingScope,
    rank_interpretations,
    settings_of_one_body,
    unexplained_contacts,
    unexplained_share,
)
from identify.pipeline.scanned_log import (
    ScannedLog,
    finest_blocks,
    split_by_body,
    without_small_faults,
)
from identify.pipeline.small_fault_findings import (
    all_faults_small,
    find_hysteresis,
    large_fault_types,
    small_fault_findings,
)
from identify.pipeline.small_fault_fit import (
    comparison_bands,
    deviance,
    fit_gain_alternative,
    fit_small_faults,
)
from identify.pipeline.wrench_delays import changing_delay_finding
from identify.regressors import LogSummary
from identify.significance import CLEAR_LIKELIHOOD_LEAD, MIN_LIKELIHOOD_LEAD
from identify.spatial.columns import WRENCH
from identify.validation import MAX_UNEXPLAINED

_LOGGER = logging.getLogger(__name__)

_NOISE_FREE_RATIO = 1e-5
"""Ratio of residual to measured wrench (RMS) below which the residual is rounding, not noise."""


_INVALID_SIGNAL_CODES = ("saturation", "frozen_pose", "frozen_wrench", "dead_channel")
"""Codes of findings on time spans in which a raw signal is invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Results of the checks of logs: small faults, likelier interpretations, faulty time spans.

    Attributes:
        small_faults: fitted small faults of the sensors; None where there is no fit.
        small_faults_with_gain: small faults with a gain of the sensor in place of a displaced
            point, where they are as likely.
        hysteresis_by_sensor: hysteresis of sensors, by their indices in `small_faults`.
        ranking: ranking of all interpretations; None if no finding required one.
        ranking_scope: logs to which the best interpretation of the ranking applies.
        body_changes: relevant changes of the body, between logs or within one.
        possible_body_changes: changes that may be chance, or are small.
        spans: spans of time of each log with a contact or an invalid signal.
        excitation: excitation of the logs, and motions that would identify the other parameters.
        logs: summaries of the checked logs, as they were read.
        unexplained_share: unexplained share of the variance of the wrench above noise, under the
            likeliest explanation.
        interpretations_untested: whether invalid signals prevent a comparison of interpretations,
            in logs that small faults do not explain.
        contact_dominated: whether nothing but contacts explains the logs, or the body at an end of
            one differs.
        latency_findings: findings of logs with a varying latency of the wrench.
    """

    small_faults: FittedEffects | None = None
    small_faults_with_gain: FittedEffects | None = None
    hysteresis_by_sensor: Mapping[int, Hysteresis] = field(default_factory=dict)
    ranking: Ranking | None = None
    ranking_scope: RankingScope = ALL_LOGS
    body_changes: tuple[BodyChange, ...] = ()
    possible_body_changes: tuple[BodyChange, ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()
    excitation: Excitation | None = None
    logs: tuple[LogSummary, ...] = ()
    unexplained_share: float = 0.0
    interpretations_untested: bool = False
    contact_dominated: bool = False
    latency_findings: tuple[Finding, ...] = ()

    @property
    def clearly_likelier(self) -> Explanation | None:
        """Interpretation of the logs that is clearly likelier than the schema's, or None."""
        if self.ranking is None or self.ranking.confirms_schema:
            return None
        return None if self.ranking.best.unexplained > MAX_UNEXPLAINED else self.ranking.best

    @property
    def slightly_likelier(self) -> Explanation | None:
        """Interpretation of the logs that is only slightly likelier than the schema's, or None."""
        if self.ranking is None or not self.ranking.confirms_schema:
            return None
        return (
            self.ranking.best
            if self.ranking.best.log_likelihood_ratio > MIN_LIKELIHOOD_LEAD
            else None
        )

    @property
    def findings(self) -> Iterator[Finding]:
        """Findings of all checks; only one, if another interpretation is clearly likelier.

        Likewise of logs of several bodies, where one body per log is likelier than any other
        reading. A best reading that leaves much unexplained is not reported.
        """
        if self.latency_findings:
            yield from self.latency_findings
            return
        for log, spans in zip(self.logs, self.spans, strict=True):
            for finding in span_findings(log, spans, contact_dominated=self.contact_dominated):
                hides = self.interpretations_untested and finding.code in _INVALID_SIGNAL_CODES
                yield replace(finding, severity="error") if hides else finding
        bodies_differ = any(change.code == "bodies_differ" for change in self.body_changes)
        if (
            bodies_differ
            and self.ranking is not None
            and self.ranking.separate_bodies_lead > self.ranking.best.log_likelihood_ratio
        ):
            yield from (body_change_finding(change, self.logs) for change in self.body_changes)
            return
        if self.clearly_likelier is not None and self.ranking is not None:
            finding = likeliest_explanation_finding(
                self.ranking, self.ranking_scope.body, self.ranking_scope.where
            )
            if finding is not None:
                yield finding
                return
        if self.unexplained_share > MAX_UNEXPLAINED and (
            self.contact_dominated or not any(self.spans)
        ):
            yield from (body_change_finding(change, self.logs) for change in self.body_changes)
            if not (self.body_changes or self.contact_dominated):
                yield unexplained_wrench_finding(self.unexplained_share, self.ranking, self.logs)
            return
        notes: list[Finding] = []
        if self.small_faults is not None:
            gain_as_likely = self.small_faults_with_gain is not None
            notes = [
                *small_fault_findings(
                    self.small_faults, self.hysteresis_by_sensor, gain_equally_likely=gain_as_likely
                )
            ]
        if self.slightly_likelier is not None:
            yield slightly_likelier_interpretation_finding(
                self.slightly_likelier,
                [note.code for note in notes],
                self.ranking_scope.body,
                self.ranking_scope.where,
            )
        yield from notes
        yield from (
            body_change_finding(change, self.logs)
            for change in (*self.body_changes, *self.possible_body_changes)
        )

    @property
    def motion_advice(self) -> tuple[str, ...]:
        """Parameters that the logs do not excite, and motions that would; empty after errors."""
        wrong = any(finding.severity == "error" for finding in self.findings)
        return () if wrong or self.excitation is None else self.excitation.advice


def run_checks(
    logs: Sequence[ScannedLog],
    settings: EstimatorSettings,
    small_faults: FittedEffects | None,
    *,
    compare_interpretations: bool,
    already_corrected: bool = False,
) -> Checks:
    """Check logs for contacts, invalid signals, body changes and other interpretations.

    Args:
        logs: logs as they were read, those of the carrier alone last.
        settings: settings of the estimate.
        small_faults: fitted small faults of the logs' sensors; None where there is no fit.
        compare_interpretations: whether other interpretations are compared although small faults
            explain the logs.
        already_corrected: whether the logs were corrected, so that interpretations are not compared
            again.
    """
    _LOGGER.info("checking")
    logs, steps, small_faults = _without_offset_steps(logs, small_faults, settings)
    # Residuals of spikes look like those of any other fault: remove them before the other checks.
    with_spikes = logs
    logs = [_without_spikes(log) for log in with_spikes]
    if any(log is not other for log, other in zip(logs, with_spikes, strict=True)):
        small_faults = fit_small_faults(logs, settings)
    if settings.bias == "shared":  # offsets that differ would look like other faults
        settings = replace(settings, bias="per_log")
    # A drift would absorb residuals of contacts and of other bodies.
    mapped = (
        list(logs)
        if small_faults is None
        else without_small_faults(logs, small_faults, drift=False)
    )
    fit = fit_least_squares(mapped, settings)
    exact = _is_noise_free(fit)
    all_changes: tuple[BodyChange, ...] = ()
    if fit is not None:
        all_changes = detect_body_changes(
            fit, settings.all_terms, [log.summary.imu for log in logs]
        )
    changes = tuple(change for change in all_changes if is_relevant_change(change))
    possible_changes = tuple(change for change in all_changes if not is_relevant_change(change))
    contacts = [_contact_spans(log) if not exact else () for log in mapped]
    spans = _with_invalid_signal_spans(logs, _without_contacts_at_ends(contacts, logs))
    unexplained = _unexplained_fraction(logs, fit, small_faults, settings)
    small = (
        small_faults is not None
        and all_faults_small(small_faults)
        and unexplained <= MAX_UNEXPLAINED
    )
    # Saturated or frozen values look like another reading of the whole log.
    invalid = any(span.code in _INVALID_SIGNAL_CODES for log in logs for span in log.spans)
    invalid |= any(span.code == "wrong_rows" for of_log in spans for span in of_log)
    ranking, scope = None, ALL_LOGS
    interpretations_untested = invalid and not already_corrected and not small
    compare = compare_interpretations or not small
    if compare and settings.unloaded:
        changes = _body_changes_of_parts(logs, settings)
    latency = [f for log in logs if (f := changing_delay_finding(log.summary))] if compare else []
    zones = {} if small_faults is None else find_hysteresis(small_faults, logs, settings.unloaded)
    # Residuals of dead zones look like those of another reading of the whole log.
    compare &= not (
        already_corrected or invalid or latency or (zones and unexplained <= MAX_UNEXPLAINED)
    )
    if compare and not _is_noise_free(fit_least_squares(logs, settings)):
        large = () if small_faults is None else large_fault_types(small_faults)
        ranking, scope = rank_interpretations(logs, settings, small_faults, large)
        if not ranking.confirms_schema:
            unexplained = ranking.best.unexplained
    dominating: tuple[tuple[Span, ...], ...] = ()
    if unexplained > MAX_UNEXPLAINED:
        contacts = [
            plausible_contacts(of_log, log.summary.time)
            for of_log, log in zip(contacts, logs, strict=True)
        ]
        spans = _with_invalid_signal_spans(logs, _without_contacts_at_ends(contacts, logs))
        only_contacts = all(span.code == "contact" for of_log in spans for span in of_log)
        if only_contacts and not changes:
            dominating = tuple(
                plausible_contacts(unexplained_contacts(log), log.summary.time) for log in logs
            )
    if any(dominating):
        spans = dominating
    elif fit is not None and not changes:
        with_ends = _with_invalid_signal_spans(logs, contacts)
        if with_ends != spans:  # a contact or another body at an end: undecided
            spans = dominating = with_ends
    gain = None if small_faults is None else fit_gain_alternative(logs, small_faults, settings)
    return Checks(
        small_faults=small_faults,
        small_faults_with_gain=gain,
        hysteresis_by_sensor=zones,
        ranking=ranking,
        ranking_scope=scope,
        body_changes=changes,
        possible_body_changes=() if changes else possible_changes,
        spans=tuple((*of_steps, *of_log) for of_steps, of_log in zip(steps, spans, strict=True)),
        excitation=None if fit is None else excitation(fit),
        logs=tuple(log.summary for log in logs),
        unexplained_share=unexplained,
        interpretations_untested=interpretations_untested,
        contact_dominated=any(dominating),
        latency_findings=tuple(latency),
    )


def _without_offset_steps(
    logs: Sequence[ScannedLog], small_faults: FittedEffects | None, settings: EstimatorSettings
) -> tuple[Sequence[ScannedLog], Sequence[tuple[Span, ...]], FittedEffects | None]:
    """Subtract jumps of sensor offsets from logs if the logs are then explained clearly better.

    Returns:
        The logs, the jumps of each, and the small faults of their sensors. Where jumps do not
        explain the logs, these are unchanged, and no jumps: at a contact or a change of the body
        the wrench jumps too, but depends on the motion differently afterwards.
    """
    steps = [log.offset_steps for log in logs]
    if not any(steps):
        return logs, steps, small_faults
    plain = [
        log._replace(spans=tuple(span for span in log.spans if span not in of_log))
        for log, of_log in zip(logs, steps, strict=True)
    ]
    without = [log.without_offset_steps() if log.offset_steps else log for log in logs]
    effects_without, bands = fit_small_faults(without, settings), comparison_bands(plain)
    lead = deviance(plain, small_faults, bands, n_unloaded=settings.unloaded) - deviance(
        without, effects_without, bands, n_unloaded=settings.unloaded
    )
    fit = fit_least_squares(without, settings)
    imus = [log.summary.imu for log in logs]
    changes = () if fit is None else detect_body_changes(fit, settings.all_terms, imus)
    if settings.unloaded:
        changes = _body_changes_of_parts(without, settings)
    penalty = MISTAKE_PENALTY * sum(map(len, steps))
    clean = without
    if effects_without is not None:
        clean = without_small_faults(without, effects_without, drift=False)
    otherwise = any(change.significant for change in changes) or any(
        _contact_spans(log) for log in clean
    )
    if lead > CLEAR_LIKELIHOOD_LEAD + penalty and not otherwise:
        return without, steps, effects_without
    return plain, [()] * len(logs), small_faults


def _body_changes_of_parts(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> tuple[BodyChange, ...]:
    """Return relevant changes of the body in logs of payload and carrier, and of the carrier.

    The carrier's logs are last. Each part has small faults of its own: those of both could make up
    for a gain of only one.
    """
    one_body, changes, first = settings_of_one_body(settings), list[BodyChange](), 0
    for part in split_by_body(logs, settings.unloaded):
        small_faults = fit_small_faults(part, one_body)
        mapped = (
            part if small_faults is None else without_small_faults(part, small_faults, drift=False)
        )
        if (fit := fit_least_squares(mapped, one_body)) is not None:
            in_part = detect_body_changes(fit, (), [log.summary.imu for log in part])
            changes += [replace(c, log=first + c.log) for c in in_part if is_relevant_change(c)]
        first += len(part)
    return tuple(sorted(changes, key=lambda change: change.p_value))


def _unexplained_fraction(
    logs: Sequence[ScannedLog],
    fit: LeastSquaresFit | None,
    small_faults: FittedEffects | None,
    settings: EstimatorSettings,
) -> float:
    """Return the fraction of the wrench's variance above noise that the fit does not explain."""
    if small_faults is not None:
        return unexplained_share(
            small_faults.fit, without_small_faults(logs, small_faults), settings.unloaded
        )
    return 0.0 if fit is None else unexplained_share(fit, logs, settings.unloaded)


def _without_spikes(log: ScannedLog) -> ScannedLog:
    """Return a log with its spikes interpolated, but with the faulty spans found before."""
    if all(span.code != "spikes" for span in log.spans):
        return log
    reading = replace(log.summary.reading, without_spikes=True)
    return log.rescan(reading)._replace(spans=log.spans)


def _is_noise_free(fit: LeastSquaresFit | None) -> bool:
    """Whether the residual is rounding only, so that its changes in time carry no information."""
    if fit is None:
        return False
    system = fit.data.system
    residual = sum(float(np.trace(moment)) for moment in system.residual_moments(fit.x))
    measured = sum(
        float(np.sum(statistics.factors[:, :, WRENCH] ** 2)) for statistics, _ in system.data
    )
    return residual < _NOISE_FREE_RATIO**2 * measured


def _contact_spans(log: ScannedLog) -> tuple[Span, ...]:
    """Return the spans of time of a log in which no single body explains the wrench.

    In static poses they are the rows that the body of the others does not explain. Spans with an
    invalid signal have a residual too and are not contacts. Spikes are ignored: they are removed
    before, and their span extends from the first to the last.
    """
    summary = log.summary
    if summary.recording.still:
        return wrong_pose_runs(summary.rows)
    invalid = [span for span in log.spans if span.code != "spikes"]
    return tuple(
        span
        for span in contact_spans(summary.time, summary.rows, summary.segment_ids)
        if not any(span.start <= other.stop and other.start <= span.stop for other in invalid)
    )


def _without_contacts_at_ends(
    contacts: Sequence[tuple[Span, ...]], logs: Sequence[ScannedLog]
) -> list[tuple[Span, ...]]:
    """Return the contacts of each log, except long contacts at the ends of the log."""
    return [
        without_long_end_contacts(of_log, log.summary.time)
        for of_log, log in zip(contacts, logs, strict=True)
    ]


def _with_invalid_signal_spans(
    logs: Sequence[ScannedLog], contacts: Sequence[Sequence[Span]]
) -> tuple[tuple[Span, ...], ...]:
    """Return the time spans of each log with a contact or an invalid signal, sorted by time."""
    return tuple(
        tuple(sorted((*of_log, *log.spans), key=lambda span: span.start))
        for log, of_log in zip(logs, contacts, strict=True)
    )


def fit_least_squares(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> LeastSquaresFit | None:
    """Fit logs by weighted least squares; None if the logs do not identify a body.

    A short log is divided into the shorter blocks of its folds: fewer than five blocks do not show
    a drifting offset, a change of the body, or the scatter that tests compare with.
    """
    try:
        system = body_system([finest_blocks(log.summary) for log in logs], settings)
        return weighted_least_squares(system, settings.all_terms)
    except ProblemError:
        return None


def suggests_wrong_schema(findings: Sequence[Finding]) -> bool:
    """Whether findings suggest a wrong schema, so that other interpretations are compared."""
    codes = {"little_motion", "position_unit", "angle_unit", "gravity_magnitude", "too_dense"}
    codes |= {"not_held", "unexplained", "at_the_edge", "imprecise"}
    errors = {finding.code for finding in findings if finding.severity == "error"}
    return "imu_scale" in errors or any(finding.code in codes for finding in findings)

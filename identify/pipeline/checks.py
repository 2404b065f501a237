"""Checks of logs for wrong schemas, changes of the body, contacts and invalid signals."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

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
from identify.diagnosis.ranking import MISTAKE_PENALTY
from identify.errors import IdentifyError, ProblemError
from identify.estimation import EstimatorSettings, FittedEffects
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.settings import body_system
from identify.findings import Finding
from identify.pipeline.check_findings import (
    SPAN_FAULTS,
    is_relevant_change,
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
)
from identify.pipeline.small_fault_findings import (
    all_faults_small,
    find_hysteresis,
    has_significant_clock,
    large_fault_types,
    may_hide_resonance,
)
from identify.pipeline.small_fault_fit import (
    ContradictedAccuracy,
    FittedLogs,
    comparison_bands,
    deviance,
    find_contradicted_accuracy,
    fit_gain_alternative,
    residual_ratio,
)
from identify.pipeline.wrench_delays import changing_delay_finding, refine_delays
from identify.regressors import LogSummary
from identify.significance import CLEAR_LIKELIHOOD_LEAD, MIN_LIKELIHOOD_LEAD
from identify.validation import MAX_UNEXPLAINED

if TYPE_CHECKING:
    from identify.diagnosis.hysteresis import Hysteresis
    from identify.diagnosis.resonance import Resonance

_LOGGER = logging.getLogger(__name__)

_MAX_UNEXPLAINED_BY_RIGID_BODY = 0.001
"""Unexplained share of the wrench's variance to which no resonance is sought."""

_NOISE_FREE_RATIO = 1e-5
"""Ratio of residual to measured wrench (RMS) below which the residual is rounding, not noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Results of the checks of logs: small faults, likelier interpretations, faulty time spans.

    Attributes:
        small_faults: fitted small faults of the sensors; None where there is no fit.
        small_faults_with_gain: small faults with a gain of the sensor in place of a displaced
            point, where they are as likely.
        contradicted_accuracy: accuracy of the sensor by its logs, where it contradicts the schema.
        resonance: resonance of the body, whose wrench was subtracted from the logs.
        hysteresis_by_sensor: hysteresis of sensors, by their indices in `small_faults`.
        ranking: ranking of all interpretations; None if none were compared.
        ranking_scope: logs to which the best interpretation of the ranking applies.
        body_changes: relevant changes of the body, between logs or within one.
        possible_body_changes: changes that may be chance, or are small.
        spans: spans of time of each log with a contact or an invalid signal.
        excitation: excitation of the logs, and motions that would identify the other parameters.
        logs: summaries of the checked logs, without spikes and jumps of the offset.
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
    contradicted_accuracy: ContradictedAccuracy | None = None
    resonance: Resonance | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """State of a check of logs: what each of `_STAGES` takes, and adds to.

    Attributes:
        logs: the logs of a fit, without what earlier stages took off.
        settings: of the fit; from `_fit_one_body` on, with an offset for each log.
        compare: whether other interpretations are compared although small faults explain the logs.
        already_corrected: whether the logs were corrected, so that no interpretations are compared.
        results: those of the stages so far.
        offset_steps: jumps of the sensor's offset that were subtracted, of each log.
        clean: the logs without small faults, but with the drift of their offsets.
        fit: of one body to them, by least squares; None if they do not identify one.
        contacts: times of each log that the body of the rest does not explain.
        undisturbed: the logs without their faulty spans; None where too little is left.
    """

    logs: FittedLogs
    settings: EstimatorSettings
    compare: bool
    already_corrected: bool
    results: Checks = Checks()
    offset_steps: Sequence[tuple[Span, ...]] = ()
    clean: Sequence[ScannedLog] = ()
    fit: LeastSquaresFit | None = None
    contacts: Sequence[tuple[Span, ...]] = ()
    undisturbed: FittedLogs | None = None

    def with_results(self, **more: Any) -> _Case:
        """Return the case with more results."""
        return replace(self, results=replace(self.results, **more))

    @property
    def explained_by_small_faults(self) -> bool:
        """Whether small faults that are small indeed explain the logs."""
        effects = self.logs.small_faults
        is_small = effects is not None and all_faults_small(effects)
        return is_small and self.results.unexplained_share <= MAX_UNEXPLAINED

    @property
    def has_invalid_signals(self) -> bool:
        """Whether a raw signal is invalid, or a pose wrong: it looks like another reading."""
        spans = (span for of_log in self.results.spans for span in of_log)
        return any(SPAN_FAULTS[span.code].hides_readings for span in spans)


def run_checks(
    logs: FittedLogs,
    settings: EstimatorSettings,
    *,
    compare_interpretations: bool,
    already_corrected: bool = False,
) -> Checks:
    """Check logs for contacts, invalid signals, body changes and other interpretations."""
    _LOGGER.info("checking")
    case = _Case(
        logs=logs,
        settings=settings,
        compare=compare_interpretations,
        already_corrected=already_corrected,
    )
    for stage in _STAGES:
        case = stage(case)
    results = case.results
    steps_and_spans = zip(case.offset_steps, results.spans, strict=True)
    return replace(
        results,
        small_faults=case.logs.small_faults,
        possible_body_changes=() if results.body_changes else results.possible_body_changes,
        spans=tuple((*steps, *spans) for steps, spans in steps_and_spans),
        excitation=None if case.fit is None else excitation(case.fit),
        logs=tuple(log.summary for log in case.logs.scanned),
    )


def _subtract_offset_steps(case: _Case) -> _Case:
    """Subtract jumps of sensor offsets from logs if the logs are then explained clearly better.

    At a contact or a change of the body the wrench jumps too, but depends on the motion differently
    afterwards.
    """
    logs, settings = case.logs, case.settings
    steps = [log.offset_steps for log in logs.scanned]
    if not any(steps):
        return replace(case, offset_steps=steps)
    plain = replace(
        logs,
        scanned=tuple(
            log._replace(spans=tuple(span for span in log.spans if span not in of_log))
            for log, of_log in zip(logs.scanned, steps, strict=True)
        ),
    )
    without = FittedLogs.fit(
        [log.without_offset_steps() if log.offset_steps else log for log in logs.scanned], settings
    )
    bands = comparison_bands(plain.scanned)
    lead = deviance(plain, bands, n_unloaded=settings.unloaded) - deviance(
        without, bands, n_unloaded=settings.unloaded
    )
    if settings.unloaded:
        changes = _body_changes_of_parts(without.scanned, settings)
    else:
        changes = _body_changes(without.scanned, settings)
    has_other_causes = any(change.significant for change in changes) or any(
        _contact_spans(log) for log in without.clean_but_for_drift
    )
    penalty = MISTAKE_PENALTY * sum(map(len, steps))
    if lead > CLEAR_LIKELIHOOD_LEAD + penalty and not has_other_causes:
        return replace(case, logs=without, offset_steps=steps)
    return replace(case, logs=plain, offset_steps=[()] * len(steps))


def _interpolate_spikes(case: _Case) -> _Case:
    """Interpolate the spikes of logs, and fit their small faults again."""
    without = [_without_spikes(log) for log in case.logs.scanned]
    if all(log is other for log, other in zip(without, case.logs.scanned, strict=True)):
        return case
    return replace(case, logs=FittedLogs.fit(without, case.settings))


def _subtract_resonance(case: _Case) -> _Case:
    """Subtract a resonance of the body from logs if they are then explained clearly better."""
    logs, effects, unloaded = case.logs, case.logs.small_faults, case.settings.unloaded
    was_subtracted = any(log.summary.reading.resonance is not None for log in logs.scanned)
    is_still = any(log.summary.recording.still for log in logs.scanned)
    if unloaded or effects is None or is_still or was_subtracted:
        return case
    share = unexplained_share(effects.fit, logs.clean, unloaded)
    if share <= _MAX_UNEXPLAINED_BY_RIGID_BODY and not may_hide_resonance(effects):
        return case
    from identify.diagnosis.resonance import ResonanceSeries, fit_resonance  # few logs need it
    from identify.pipeline.corrected_logs import subtract_resonance

    series = [
        part
        for log in logs.scanned
        for part in ResonanceSeries.of(
            log.summary.time,
            log.summary.rows,
            log.summary.segment_ids,
            has_attitude="quaternion" in log.summary.recording.signals,
        )
    ]
    resonance = fit_resonance(series)
    if resonance is None:
        return case
    without = FittedLogs.fit(subtract_resonance(logs.scanned, resonance).logs, case.settings)
    rest = without.small_faults
    if rest is None:
        return case
    if rest.model.effect_count == effects.model.effect_count:  # a delay read before counts, too
        rest = replace(rest, already_removed=effects.already_removed)
        without = replace(without, small_faults=rest)
    without = refine_delays(without, case.settings)
    bands = comparison_bands(logs.scanned)
    lead = deviance(logs, bands) - deviance(without, bands)
    # Of a log that is misread much is left.
    is_explained = unexplained_share(rest.fit, without.clean, unloaded) <= MAX_UNEXPLAINED
    if lead < CLEAR_LIKELIHOOD_LEAD + MISTAKE_PENALTY or not is_explained:
        return case
    return replace(case, logs=without).with_results(resonance=resonance)


def _fit_one_body(case: _Case) -> _Case:
    """Fit one body to the logs without their small faults, each log with an offset of its own."""
    settings = case.settings
    if settings.bias == "shared":  # offsets that differ would look like other faults
        settings = replace(settings, bias="per_log")
    clean = case.logs.clean_but_for_drift
    return replace(case, settings=settings, clean=clean, fit=fit_least_squares(clean, settings))


def _find_body_changes(case: _Case) -> _Case:
    """Compare logs, and parts of each, by the bodies that fit them."""
    if case.fit is None:
        return case
    imus = [log.summary.imu for log in case.logs.scanned]
    changes = detect_body_changes(case.fit, case.settings.all_terms, imus)
    return case.with_results(
        body_changes=tuple(change for change in changes if is_relevant_change(change)),
        possible_body_changes=tuple(c for c in changes if not is_relevant_change(c)),
    )


def _find_contacts(case: _Case) -> _Case:
    """Find the times at which the body of the rest of a log does not explain its wrench."""
    exact = _is_noise_free(case.fit)
    contacts = [() if exact else _contact_spans(log) for log in case.clean]
    spans = _spans_without_ends(case.logs.scanned, contacts)
    return replace(case, contacts=contacts).with_results(spans=spans)


def _measure_unexplained(case: _Case) -> _Case:
    """Measure what the fit leaves of the wrench beyond noise."""
    effects, unloaded = case.logs.small_faults, case.settings.unloaded
    share = 0.0
    if effects is not None:
        share = unexplained_share(effects.fit, case.logs.clean, unloaded)
    elif case.fit is not None:
        share = unexplained_share(case.fit, case.logs.scanned, unloaded)
    return case.with_results(unexplained_share=share)


def _decide_to_compare(case: _Case) -> _Case:
    """Compare interpretations where it was asked for, or where small faults explain too little."""
    is_small = case.explained_by_small_faults
    untested = case.has_invalid_signals and not case.already_corrected and not is_small
    # What suggested another reading of a log with a resonance was that.
    is_asked_for = case.compare and case.results.resonance is None
    return replace(case, compare=is_asked_for or not is_small).with_results(
        interpretations_untested=untested
    )


def _find_body_changes_of_parts(case: _Case) -> _Case:
    """Compare the logs of payload and carrier, and of the carrier, each among themselves."""
    if not (case.compare and case.settings.unloaded):
        return case
    changes = _body_changes_of_parts(case.logs.scanned, case.settings)
    return case.with_results(body_changes=changes)


def _find_changing_delays(case: _Case) -> _Case:
    """Find logs whose parts have a wrench of different delays."""
    if not case.compare:
        return case
    findings = (changing_delay_finding(log.summary) for log in case.logs.scanned)
    return case.with_results(latency_findings=tuple(filter(None, findings)))


def _find_hysteresis(case: _Case) -> _Case:
    """Find sensors whose fitted delay imitates mechanical play."""
    effects = case.logs.small_faults
    if effects is None:
        return case
    zones = find_hysteresis(effects, case.logs.scanned, case.settings.unloaded)
    return case.with_results(hysteresis_by_sensor=zones)


def _rank_interpretations(case: _Case) -> _Case:
    """Compare other interpretations of the logs, unless another finding explains them.

    Play of the sensor does so unless another reading of the logs leads it clearly.
    """
    results, effects = case.results, case.logs.small_faults
    is_play = bool(results.hysteresis_by_sensor) and results.unexplained_share <= MAX_UNEXPLAINED
    if effects is not None:  # of a body unlike any other, more than play is wrong
        is_play = is_play and Explanation(0.0, effects.fit.x[:10]).has_usual_density
    has_cause = case.has_invalid_signals or bool(results.latency_findings)
    if not case.compare or case.already_corrected or has_cause:
        return case
    if _is_noise_free(fit_least_squares(case.logs.scanned, case.settings)):
        return case
    large = () if effects is None else large_fault_types(effects)
    explained = case.explained_by_small_faults
    ranking, scope = rank_interpretations(case.logs, case.settings, large, explained=explained)
    is_other_reading = not ranking.confirms_schema and "clock" not in large
    if is_other_reading and effects is not None and has_significant_clock(effects):
        # Another scale of the position imitates it, and led a clock with the prior of small rates.
        large = (*large, "clock")
        ranking, scope = rank_interpretations(case.logs, case.settings, large, explained=explained)
    if is_play:
        lead_of_play = sum(zone.lead for zone in results.hysteresis_by_sensor.values())
        if ranking.best.log_likelihood_ratio < lead_of_play + CLEAR_LIKELIHOOD_LEAD:
            return case
        case = case.with_results(hysteresis_by_sensor={})
    share = results.unexplained_share if ranking.confirms_schema else ranking.best.unexplained
    return case.with_results(ranking=ranking, ranking_scope=scope, unexplained_share=share)


def _attribute_rest_to_contacts(case: _Case) -> _Case:
    """Decide whether nothing but contacts, or another body at an end, explains what is left."""
    if case.results.unexplained_share > MAX_UNEXPLAINED:
        case = _keep_plausible_contacts(case)
    dominating = () if case.results.body_changes else _dominating_spans(case)
    if not any(dominating):
        return case
    return case.with_results(spans=tuple(dominating), contact_dominated=True)


def _keep_plausible_contacts(case: _Case) -> _Case:
    logs = case.logs.scanned
    contacts = [
        plausible_contacts(of_log, log.summary.time)
        for of_log, log in zip(case.contacts, logs, strict=True)
    ]
    spans = _spans_without_ends(logs, contacts)
    return replace(case, contacts=contacts).with_results(spans=spans)


def _dominating_spans(case: _Case) -> Sequence[tuple[Span, ...]]:
    """Return the spans of each log that explain what nothing else does; none where others may."""
    logs = case.logs.scanned
    results = case.results
    # Spikes were interpolated before, and explain nothing that is left.
    codes = {span.code for of_log in results.spans for span in of_log}
    if results.unexplained_share > MAX_UNEXPLAINED and codes <= {"contact", "spikes"}:
        contacts = [plausible_contacts(unexplained_contacts(log), log.summary.time) for log in logs]
        if any(contacts):
            return contacts
    with_ends = _with_invalid_signal_spans(logs, case.contacts)
    # A long contact at an end, or another body there: undecided.
    has_long_ends = case.fit is not None and with_ends != results.spans
    return with_ends if has_long_ends else ()


def _leave_out_faulty_spans(case: _Case) -> _Case:
    """Fit the small faults of the rest of logs with faulty spans, which may be gains they hide."""
    spans = [
        [span for span in of_log if SPAN_FAULTS[span.code].is_excludable]
        for of_log in case.results.spans
    ]
    if not any(spans):
        return replace(case, undisturbed=case.logs)
    from identify.pipeline.corrected_logs import exclude_spans  # few logs need it

    try:
        rest = exclude_spans(case.logs.scanned, spans, "contact").logs
    except IdentifyError:
        return case
    return replace(case, undisturbed=FittedLogs.fit(rest, case.settings))


def _examine_gains(case: _Case) -> _Case:
    """Fit a gain for a displaced point where it is as likely; compare accuracy with the schema."""
    if case.undisturbed is None:
        return case
    return case.with_results(
        small_faults_with_gain=fit_gain_alternative(case.undisturbed, case.settings),
        contradicted_accuracy=find_contradicted_accuracy(case.undisturbed, case.settings),
    )


_STAGES: tuple[Callable[[_Case], _Case], ...] = (
    _subtract_offset_steps,  # a jump of the offset looks like a contact, and like another body
    _interpolate_spikes,  # residuals of spikes look like those of any other fault
    _subtract_resonance,  # residuals of it look like a delay, a clock or another point
    _fit_one_body,  # without small faults, but with drift, which would absorb contacts
    _find_body_changes,  # in parts of this fit
    _find_contacts,  # which no single body explains, in the same logs
    _measure_unexplained,
    _decide_to_compare,  # by what small faults leave
    _find_body_changes_of_parts,  # small faults of both could make up for a gain of only one
    _find_changing_delays,  # no single delay explains such a log, whatever else is tried
    _find_hysteresis,  # residuals of dead zones look like another reading of the whole log
    _rank_interpretations,  # saturated or frozen values look like another reading, too
    _attribute_rest_to_contacts,  # only what no reading explains
    _leave_out_faulty_spans,  # rows of a contact or an invalid signal look like a sensor's errors
    _examine_gains,
)
"""Stages of a check in their order, each with the reason for its place."""


def _body_changes(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> tuple[BodyChange, ...]:
    """Return the changes of the body in logs of one body, as they are."""
    fit = fit_least_squares(logs, settings)
    if fit is None:
        return ()
    return detect_body_changes(fit, settings.all_terms, [log.summary.imu for log in logs])


def _body_changes_of_parts(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> tuple[BodyChange, ...]:
    """Return relevant changes of the body in logs of payload and carrier, and of the carrier.

    The carrier's logs are last. Each part has small faults of its own: those of both could make up
    for a gain of only one.
    """
    one_body = settings_of_one_body(settings)
    changes = list[BodyChange]()
    first = 0
    for part in split_by_body(logs, settings.unloaded):
        clean = FittedLogs.fit(part, one_body).clean_but_for_drift
        in_part = _body_changes(clean, one_body)
        changes += [replace(c, log=first + c.log) for c in in_part if is_relevant_change(c)]
        first += len(part)
    return tuple(sorted(changes, key=lambda change: change.p_value))


def _without_spikes(log: ScannedLog) -> ScannedLog:
    """Return a log with its spikes interpolated, but with the faulty spans found before."""
    if all(span.code != "spikes" for span in log.spans):
        return log
    reading = replace(log.summary.reading, without_spikes=True)
    return log.rescan(reading)._replace(spans=log.spans)


def _is_noise_free(fit: LeastSquaresFit | None) -> bool:
    """Whether the residual is rounding only, so that its changes in time carry no information."""
    return fit is not None and residual_ratio(fit) < _NOISE_FREE_RATIO


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
    # How a spring or a dead zone was loaded before the log is unknown.
    has_memory = summary.reading.resonance is not None or summary.reading.play is not None
    first = float(summary.time[1]) if has_memory else -math.inf
    return tuple(
        span
        for span in contact_spans(summary.time, summary.rows, summary.segment_ids)
        if span.start > first
        and not any(span.start <= other.stop and other.start <= span.stop for other in invalid)
    )


def _spans_without_ends(
    logs: Sequence[ScannedLog], contacts: Sequence[tuple[Span, ...]]
) -> tuple[tuple[Span, ...], ...]:
    """Return contacts and invalid signals of each log, except long contacts at its ends."""
    kept = [
        without_long_end_contacts(of_log, log.summary.time)
        for of_log, log in zip(contacts, logs, strict=True)
    ]
    return _with_invalid_signal_spans(logs, kept)


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
        statistics = [finest_blocks(log.summary).fit_columns_only() for log in logs]
        system = body_system(statistics, settings)
        return weighted_least_squares(system, settings.all_terms)
    except ProblemError:
        return None


def suggests_wrong_schema(findings: Sequence[Finding]) -> bool:
    """Whether findings suggest a wrong schema, so that other interpretations are compared."""
    codes = {"little_motion", "position_unit", "angle_unit", "gravity_magnitude", "too_dense"}
    codes |= {"not_held", "unexplained", "at_the_edge", "imprecise"}
    errors = {finding.code for finding in findings if finding.severity == "error"}
    return "imu_scale" in errors or any(finding.code in codes for finding in findings)

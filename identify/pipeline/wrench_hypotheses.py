"""Hypotheses on logs of a wrench: the list of what may be wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from identify.diagnosis import Explanation, Span
from identify.findings import Finding
from identify.pipeline.check_findings import (
    SPAN_FAULTS,
    SpanFault,
    body_change_finding,
    distinct_best_explanations,
    likeliest_explanation_finding,
    slightly_likelier_interpretation_finding,
    span_findings,
    unexplained_wrench_finding,
)
from identify.pipeline.checks import Checks
from identify.pipeline.corrected_logs import (
    CorrectedLogs,
    NotCorrected,
    exclude_spans,
    interpolate_spikes,
    keep_longest_part,
    read_under_explanation,
    subtract_more_play,
    subtract_more_resonance,
    subtract_offset_steps,
    subtract_play,
    subtract_resonance,
)
from identify.pipeline.explanations import RankingScope
from identify.pipeline.hypotheses import AlternativeBody, Correction, Hypothesis
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.small_fault_findings import (
    BENT_CABLE_ERROR,
    MAX_CABLE_SHARE,
    cable_pull_share,
    contradicted_accuracy_finding,
    hysteresis_finding,
    resonance_finding,
    small_fault_findings,
)
from identify.significance import CLEAR_LIKELIHOOD_LEAD
from identify.validation import MAX_UNEXPLAINED


def wrench_hypotheses(checks: Checks) -> tuple[Hypothesis, ...]:
    """Return what may be wrong with logs by their checks, in the order of `_KINDS`."""
    return tuple(hypothesis for kind in _KINDS for hypothesis in kind(checks))


def _changing_delays(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the hypothesis that the latency of the wrench changes within a log."""
    if checks.latency_findings:
        yield Hypothesis(
            code="delay", outcome="refuses", findings=checks.latency_findings, explains_logs=True
        )


def _faulty_spans(checks: Checks) -> Iterator[Hypothesis]:
    """Yield a hypothesis for each kind of faulty time spans: contacts and invalid signals."""
    for fault in SPAN_FAULTS.values():
        spans = [[span for span in of_log if span.code == fault.code] for of_log in checks.spans]
        if not any(spans):
            continue
        findings = [
            finding
            for log, of_log in zip(checks.logs, spans, strict=True)
            for finding in span_findings(log, of_log, contact_dominated=checks.contact_dominated)
        ]
        if fault.hides_readings and checks.interpretations_untested:
            findings = [replace(finding, severity="error") for finding in findings]
        is_error = any(finding.severity == "error" for finding in findings)
        yield Hypothesis(
            code=fault.code,
            outcome="refuses" if is_error else "widens",
            findings=tuple(findings),
            correct=_correction_of_spans(fault, spans),
        )


def _correction_of_spans(fault: SpanFault, spans: Sequence[Sequence[Span]]) -> Correction:
    if fault.is_excludable:
        return partial(exclude_spans, spans=spans, code=fault.code)
    if fault.code == "spikes":
        return partial(interpolate_spikes, spikes=spans)
    return subtract_offset_steps


def _separate_bodies(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the hypothesis that each log is of a body of its own, if likelier than any reading."""
    if checks.ranking is None or all(c.code != "bodies_differ" for c in checks.body_changes):
        return
    if checks.ranking.separate_bodies_lead > checks.ranking.best.log_likelihood_ratio:
        yield Hypothesis(
            code="bodies_differ",
            outcome="refuses",
            findings=_body_change_findings(checks),
            explains_logs=True,
        )


def _clearly_likelier_readings(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the readings that explain the logs clearly better than the schema, equally well."""
    if checks.clearly_likelier is None or checks.ranking is None:
        return
    scope = checks.ranking_scope
    finding = likeliest_explanation_finding(checks.ranking, scope.body, scope.where)
    if finding is None:
        return
    readings = distinct_best_explanations(checks.ranking)
    for reading in readings:
        rivals = [other for other in readings if other is not reading]
        yield Hypothesis(
            code=reading.code,
            outcome="refuses" if finding.severity == "error" else "notes",
            findings=(finding,),  # of all of them
            explains_logs=True,
            correct=partial(_correct_reading, reading=reading, rivals=rivals, scope=scope),
            is_of_sensor=True,
        )


def _correct_reading(
    logs: Sequence[ScannedLog],
    reading: Explanation,
    rivals: Sequence[Explanation],
    scope: RankingScope,
) -> CorrectedLogs:
    """Read logs under the likeliest reading, unless it has no scale or others are as likely."""
    if reading.raw_counts:
        why = f"the log does not determine the scale. {reading.remedy}"
        raise NotCorrected(reading.code, why)
    if rivals:
        names = sorted(f'"{each.text}"' for each in rivals)
        raise NotCorrected(
            reading.code,
            f"these logs cannot distinguish it from {', '.join(names)}, and "
            "correcting the wrong one gives a wrong body; find out which one is true (a longer log "
            "with attitudes in all directions distinguishes them), and correct it at its source or "
            "in the schema",
        )
    return read_under_explanation(logs, reading, scope)


def _unexplained_wrench(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the hypothesis that something explains the wrench of which no reading is known."""
    if checks.unexplained_share <= MAX_UNEXPLAINED:
        return
    # Faulty spans may be the cause; spikes are not, since they were interpolated.
    has_faulty_spans = any(span.code != "spikes" for of_log in checks.spans for span in of_log)
    if has_faulty_spans and not checks.contact_dominated:
        return
    findings = _body_change_findings(checks)
    if not findings and not checks.contact_dominated:
        share = checks.unexplained_share
        findings = (unexplained_wrench_finding(share, checks.ranking, checks.logs),)
    yield Hypothesis(code="unexplained", outcome="refuses", findings=findings, explains_logs=True)


def _slightly_likelier_reading(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the reading that is likelier than the schema's, but not clearly."""
    reading, scope = checks.slightly_likelier, checks.ranking_scope
    if reading is None:
        return
    alike = [each for kind in (_hysteresis, _small_faults) for each in kind(checks)]
    codes = [hypothesis.code for hypothesis in alike]
    finding = slightly_likelier_interpretation_finding(reading, codes, scope.body, scope.where)
    # Rows that are read otherwise are as precise: no covariance is added.
    body = AlternativeBody(reading.phi, np.zeros((10, 10)))
    yield Hypothesis(
        code=reading.code,
        outcome="widens",
        findings=(finding,),
        correct=partial(read_under_explanation, explanation=reading, scope=scope),
        # Its body is that of one part of the logs, where they are of payload and carrier.
        alternatives=() if scope.body else (body,),
        is_of_sensor=True,
    )


def _hysteresis(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the play of the sensors, which the fit takes for a delay."""
    effects, by_sensor = checks.small_faults, checks.hysteresis_by_sensor
    if effects is None or not by_sensor:
        return
    is_one_body = len(effects.fit.data.space) == 10
    has_channels = all(log.recording.frames["wrench"] != "world" for log in checks.logs)
    correct = partial(subtract_play, effects=effects, hysteresis_by_sensor=by_sensor)
    is_correctable = is_one_body and has_channels
    yield Hypothesis(
        code="hysteresis",
        outcome="widens" if is_correctable else "notes",
        findings=tuple(
            hysteresis_finding(zones, is_still=checks.logs[0].recording.still)
            for zones in by_sensor.values()
        ),
        correct=correct if is_correctable else None,
        is_of_sensor=True,
    )


def _remaining_play(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the play that may remain in logs where `--apply` took its estimate off."""
    if any(log.reading.play is not None for log in checks.logs):
        yield Hypothesis(
            code="remaining_play", outcome="widens", correct=subtract_more_play, is_of_sensor=True
        )


def _resonance(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the resonance of the body, without which the checks compared all that follows."""
    resonance = checks.resonance
    if resonance is None:
        return
    yield Hypothesis(
        code="resonance",
        outcome="widens",
        findings=(resonance_finding(resonance),),
        correct=partial(subtract_resonance, resonance=resonance),
        is_of_sensor=True,
    )


def _remaining_resonance(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the resonance that may remain in logs where `--apply` took its estimate off."""
    if any(log.reading.resonance is not None for log in checks.logs) and checks.resonance is None:
        yield Hypothesis(
            code="remaining_resonance",
            outcome="widens",
            correct=subtract_more_resonance,
            is_of_sensor=True,
        )


def _small_faults(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the significant small faults of the sensors, which are part of the fit."""
    if checks.small_faults is None:
        return
    findings = small_fault_findings(
        checks.small_faults,
        checks.hysteresis_by_sensor,
        gain_equally_likely=checks.small_faults_with_gain is not None,
    )
    for finding in findings:
        yield Hypothesis(
            code=finding.code, outcome="corrects", findings=(finding,), is_of_sensor=True
        )


def _bending_hose(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the body that is heavier by the part of a hose's pull that no spring describes."""
    effects = checks.small_faults
    if effects is None or len(effects.fit.data.space) != 10:
        return
    share = cable_pull_share(effects)
    if share > MAX_CABLE_SHARE:  # the finding of the cable says it
        heavier = (1.0 + BENT_CABLE_ERROR * share) * effects.fit.x[:10]
        body = AlternativeBody(heavier, np.zeros((10, 10)))
        yield Hypothesis(code="cable", outcome="widens", alternatives=(body,))


def _gain_for_displaced_point(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the gain that explains the logs as well as a displaced point of the pose."""
    effects = checks.small_faults_with_gain
    if effects is not None:  # the finding of the displaced point says it
        # A wide prior of the gain: twice its covariance, as in `cover_shift`.
        of_gain = AlternativeBody(effects.fit.x, 2.0 * effects.covariance_of_unknowns)
        yield Hypothesis(
            code="kinematic_offset", outcome="widens", alternatives=(of_gain,), is_of_sensor=True
        )


def _contradicted_accuracy(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the sensor that is less accurate than its schema says, and its body.

    Of one that may be, the small fault at its limit says so.
    """
    sensor = checks.contradicted_accuracy
    if sensor is not None:
        effects = sensor.small_faults
        # A wider prior of the gains: twice its covariance, as in `cover_shift`.
        body = AlternativeBody(effects.fit.x, 2.0 * effects.covariance_of_unknowns)
        finding = contradicted_accuracy_finding(sensor.given, sensor.accuracy, sensor.lead)
        is_clear = sensor.lead >= CLEAR_LIKELIHOOD_LEAD
        yield Hypothesis(
            code="gain_accuracy",
            outcome="refuses" if is_clear and finding.severity == "error" else "widens",
            findings=(finding,) if is_clear else (),
            alternatives=(body,),
            is_of_sensor=True,
        )


def _body_changes(checks: Checks) -> Iterator[Hypothesis]:
    """Yield the changes of the body: relevant ones, then those that may be chance or are small."""
    has_likelier_reading = checks.clearly_likelier is not None
    keep_one_body = partial(keep_longest_part, changes=checks.body_changes)
    for change in checks.body_changes:
        is_other_log = change.code == "bodies_differ"
        yield Hypothesis(
            code=change.code,
            outcome="refuses",
            findings=(body_change_finding(change, checks.logs),),
            correct=None if has_likelier_reading or is_other_log else keep_one_body,
        )
    for change in checks.possible_body_changes:
        before = AlternativeBody(change.first_phi, np.diag(change.first_phi_errors**2))
        after = AlternativeBody(change.second_phi, np.diag(change.second_phi_errors**2))
        yield Hypothesis(
            code=change.code,
            outcome="widens",
            findings=(body_change_finding(change, checks.logs),),
            alternatives=(before, after),
        )


_KINDS: tuple[Callable[[Checks], Iterator[Hypothesis]], ...] = (
    _changing_delays,  # no reading of a whole log explains parts with different delays
    _faulty_spans,  # rows are wrong under every reading
    _separate_bodies,  # only where likelier than the best reading
    _clearly_likelier_readings,  # what small faults make up for is no fault under it
    _unexplained_wrench,  # nor do sizes of small faults mean anything here
    _resonance,  # all that follows is of the logs without it
    _remaining_resonance,
    _slightly_likelier_reading,  # names the small faults that are as likely
    _hysteresis,  # as a small fault it is a delay
    _remaining_play,
    _small_faults,
    _bending_hose,  # said by the cable, which is a small fault
    _gain_for_displaced_point,  # said by the displaced point, which is a small fault
    _contradicted_accuracy,  # by the sizes of small faults
    _body_changes,  # of logs that are explained in all else
)
"""Kinds of hypotheses in the order in which their findings are said, each with the reason for its
place."""


def _body_change_findings(checks: Checks) -> tuple[Finding, ...]:
    return tuple(body_change_finding(change, checks.logs) for change in checks.body_changes)

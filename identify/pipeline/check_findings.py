"""Findings of the checks of logs: each fault, its size and significance, and the remedy."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Phi
from identify.diagnosis import BodyChange, Explanation, Ranking, Span
from identify.diagnosis.ranking import UNIT_CODES
from identify.findings import QUANTITIES, Finding, Severity
from identify.inertia.matrices import inertia_about_com
from identify.logs.sensors import effect_table
from identify.pipeline.required_precision import QUANTITY_NAMES
from identify.regressors import LogSummary
from identify.relevance import GOOD_PRECISION

MAX_NAMED_EXPLANATIONS = 4
"""Maximum number of explanations of a log that one finding lists."""

_SCALE_CODES = (*UNIT_CODES, "gain")
"""Codes of a wrench that is read in another unit or scale."""


def likeliest_explanation_finding(
    ranking: Ranking, body: str = "", where: str = ""
) -> Finding | None:
    """Return the finding that a fault explains the logs clearly better than the schema, or None.

    It tells on which quantities the readings agree, except for an error of the wrench's unit or
    scale: small faults of the fit absorb a part of the factor, so that agreement proves nothing.

    `where`: names of the logs that have the fault, if others do not.
    """
    if ranking.confirms_schema:
        return None
    best, tied = ranking.best, distinct_best_explanations(ranking)
    mass = f"mass of the {body}" if body else "mass"
    evidence: dict[str, object] = {"gain": best.log_likelihood_ratio}
    evidence |= {"lead": ranking.lead, "mass": best.mass}
    same = ""
    is_error = len(tied) > 1 or best.severity == "error"
    rescaled = is_error and any(each.code in _SCALE_CODES for each in tied)
    if not (body or where or rescaled):  # one body, in all logs of the fit
        read = (each.phi for each in ranking.explanations if not each.code)
        doubted = quantities_that_differ([*read, *(each.phi for each in tied)])
        evidence["doubted"], same = doubted, unaffected_quantities(doubted)
    if patch := best.schema_patch:
        evidence["schema"] = patch
    if len(tied) == 1:
        known = "known only after calibration" if best.raw_counts else f"{best.mass:.4g} kg"
        text = f"{best.text}: read this way, the log is explained clearly better, and the {mass} "
        text += f"is {known}.{same}"
        return Finding(best.code, best.severity, text, remedy_text(best), evidence, where)
    shown = tied[:MAX_NAMED_EXPLANATIONS]
    alternatives = "; or ".join(f"{each.text} ({mass} {each.mass:.4g} kg)" for each in shown)
    return Finding(
        best.code,
        "error",
        f"several interpretations explain the log clearly better, equally well: {alternatives}."
        f"{same}",
        "Find out which one is true. " + " Or: ".join(each.remedy for each in shown),
        evidence
        | {
            "equivalent": [each.code for each in tied[1:]],
            "schemas": [each.schema_patch for each in tied],
        },
        where,
    )


def unaffected_quantities(doubted: Collection[str]) -> str:
    """Return a sentence on the quantities on which two readings agree, or ""."""
    same = [name for quantity, name in QUANTITY_NAMES.items() if quantity not in doubted]
    are = "is" if len(same) == 1 else "are"
    return f" The {' and the '.join(same)} {are} nearly the same in both cases." if same else ""


def quantities_that_differ(bodies: Sequence[Phi]) -> list[str]:
    """Return the quantities whose values for several bodies differ by more than `GOOD_PRECISION`.

    These are all of them where a body has no mass.
    """
    masses = np.array([phi[0] for phi in bodies])
    if masses.min() <= 0.0:
        return list(QUANTITIES)
    coms = np.array([phi[1:4] / phi[0] for phi in bodies])
    inertias = np.array([inertia_about_com(phi) for phi in bodies])
    spreads = {
        "mass": np.ptp(masses) / masses.max(),
        "com": np.ptp(coms, axis=0).max(),
        "inertia": np.ptp(inertias, axis=0).max() / np.linalg.eigvalsh(inertias).max(),
    }
    return [quantity for quantity, spread in spreads.items() if spread > GOOD_PRECISION[quantity]]


def slightly_likelier_interpretation_finding(
    best: Explanation, small_fault_codes: Sequence[str], body: str = "", where: str = ""
) -> Finding:
    """Return the warning that an interpretation is slightly likelier than the schema's.

    `where`: names of the logs that have the fault, if others do not.
    """
    mass = f"mass of the {body}" if body else "mass"
    return Finding(
        best.code,
        "warning",
        f"it may be that {best.text} ({mass} {best.mass:.4g} kg): the log cannot distinguish this "
        "from small faults of the sensor, and the intervals cover both.",
        f"Find out whether it is true. {best.remedy}",
        {
            "gain": best.log_likelihood_ratio,
            "mass": best.mass,
            "equivalent": list(small_fault_codes),
        },
        where,
    )


def remedy_text(best: Explanation) -> str:
    """Return an explanation's remedy; it proposes --apply if no schema line corrects the fault."""
    is_in_schema = "In the schema" in best.remedy
    is_complete = is_in_schema or best.raw_counts
    return best.remedy if is_complete else f"{best.remedy} Or fit with --apply {best.code}."


def distinct_best_explanations(ranking: Ranking) -> list[Explanation]:
    """Return the likeliest explanation for each finding code; all for units, axes, conventions."""
    all_of_code = (
        *(*UNIT_CODES, "rotation_convention"),
        "wrench_axes",  # of static poses a torque of the other sign is as likely
    )
    tied = {e.text if e.code in all_of_code else e.code: e for e in reversed(ranking.tied)}
    return list(tied.values())[::-1]


SPLIT_LOG_REMEDY = (
    "Split the log there, and give both parts to one fit: each has its own offset. Or zero the "
    "sensor once, before the first pose, and log again."
)
"""Remedy for a sensor that was zeroed between static poses of a log."""


@dataclass(frozen=True, slots=True)
class SpanFault:
    """Fault of a part of a log: what is said of it, and how the rest of the log is read.

    Attributes:
        code: of its finding.
        text: message, which may have the size of the largest one.
        remedy: what to do.
        is_excludable: whether the log can be read without its time; else `--apply` mends the rows.
        hides_readings: whether such rows look like another reading of the whole log.
        severity: of its finding, if contacts do not dominate the log.
    """

    code: str
    text: str
    remedy: str
    is_excludable: bool = True
    hides_readings: bool = False
    severity: Severity = "warning"


SPAN_FAULTS: Mapping[str, SpanFault] = {
    fault.code: fault
    for fault in (
        SpanFault(
            "bias_step",
            "the sensor was zeroed, or its offset jumped, by {size:.3g} N",
            "Zero it before logging",
            is_excludable=False,
            severity="error",
        ),
        SpanFault("contact", "something touched or pulled the body", "Exclude this time"),
        SpanFault(
            "saturation",
            "the sensor is saturated",
            "Use a sensor with a larger range",
            hides_readings=True,
        ),
        SpanFault(
            "spikes",
            "the wrench has spikes of single rows",
            "Find their cause",
            is_excludable=False,
        ),
        SpanFault(
            "frozen_pose",
            "the pose is constant while the wrench changes",
            "Exclude this time",
            hides_readings=True,
        ),
        SpanFault(
            "frozen_wrench",
            "the wrench is constant while the pose changes",
            "Exclude this time",
            hides_readings=True,
        ),
        SpanFault(
            "dead_channel",
            "a channel is constant while others of its sensor change",
            "Exclude this time",
            hides_readings=True,
            severity="error",
        ),
        SpanFault(
            "wrong_rows",
            "the body that explains the other poses does not explain",
            "Exclude these rows",
            hides_readings=True,
            severity="error",
        ),
    )
}
"""Faults of parts of a log, in the order of their findings."""


def span_findings(
    log: LogSummary, spans: Sequence[Span], *, contact_dominated: bool = False
) -> list[Finding]:
    """Return findings on the faulty time spans of a log, one for each finding code."""
    findings = list[Finding]()
    for fault in SPAN_FAULTS.values():
        of_code = [span for span in spans if span.code == fault.code]
        if of_code and fault.code == "wrong_rows":
            findings.append(_contradicting_poses_finding(of_code, log))
        elif of_code:
            finding = _span_finding(fault, of_code, log)
            is_cause = contact_dominated and fault.code == "contact"
            findings.append(replace(finding, severity="error") if is_cause else finding)
    return findings


def _span_finding(fault: SpanFault, spans: Sequence[Span], log: LogSummary) -> Finding:
    times = [[span.start, span.stop] for span in spans]
    where = ", ".join(f"{start:.4g}-{stop:.4g} s" for start, stop in times[:MAX_NAMED_EXPLANATIONS])
    remedy = f"{fault.remedy}, fit with --apply {fault.code}, or log again."
    if fault.code == "dead_channel" and covers_most_of_log(log, spans):
        remedy = "Repair the channel or name its column in the schema, and log again."
    if log.recording.still:
        where = "all poses"
    if log.recording.still and fault.code == "bias_step":
        where = f"between poses {spans[0].start + 1:.0f} and {spans[0].stop + 1:.0f}"
        remedy = SPLIT_LOG_REMEDY
    if len(spans) > MAX_NAMED_EXPLANATIONS:
        where += f" and {len(spans) - MAX_NAMED_EXPLANATIONS} more"
    names = dict.fromkeys(span.channel for span in spans if span.channel)
    channels = f" ({', '.join(names)})" if names else ""
    rows = sum(span.rows for span in spans)
    count = f"{rows} row{'s' * (rows != 1)} in " if fault.code == "spikes" else ""
    text = fault.text.format(size=max(span.size for span in spans))
    return Finding(
        fault.code,
        fault.severity,
        f"{text}{channels}: {count}{where}.",
        remedy,
        {"spans": times, "rows": rows},
        log.name,
    )


def covers_most_of_log(log: LogSummary, spans: Sequence[Span]) -> bool:
    """Whether faulty time spans cover so much of a log that too few data remain without them."""
    return log.recording.still or any(s.stop - s.start > 0.5 * log.duration for s in spans)


def _contradicting_poses_finding(spans: Sequence[Span], log: LogSummary) -> Finding:
    """Return the finding that some static poses contradict the body fitted to the others."""
    numbers = [n for span in spans for n in range(int(span.start) + 1, int(span.stop) + 2)]
    rows = f"row{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
    fault = SPAN_FAULTS["wrong_rows"]
    return Finding(
        fault.code,
        fault.severity,
        f"{fault.text} {rows} of {log.rows_kept} (the first is 1): their attitude or wrench may "
        "belong to another pose, or the body moved.",
        f"{fault.remedy} with --apply wrong_rows, or log their poses again.",
        {"rows": numbers},
        log.name,
    )


def unexplained_wrench_finding(
    unexplained_fraction: float, ranking: Ranking | None, logs: Sequence[LogSummary]
) -> Finding:
    """Return the finding that no tested fault explains the wrench, with the best attempt."""
    tried = ""
    if ranking is not None and not ranking.confirms_schema:
        tried = f" The best alternative reading does not explain it either: {ranking.best.text}."
    return Finding(
        "unexplained",
        "error",
        f"no interpretation explains the measured wrench: {100.0 * unexplained_fraction:.0f} % of "
        "the variance of its forces or torques remains, far above their noise."
        f"{tried}{excluded_small_faults_note(logs)}",
        "Check that nothing touched the body, that the payload is rigid, and the whole schema; "
        "then log again.",
        {"left": unexplained_fraction},
    )


def excluded_small_faults_note(logs: Sequence[LogSummary]) -> str:
    """Return a sentence on small sensor faults that the schemas exclude from the fit, or ""."""
    tables = [effect_table(log.recording) for log in logs]
    names = sorted({key for table in tables for key, size in table.items() if size is False})
    return f" [effects] excludes {', '.join(names)} from the fit." if names else ""


def is_relevant_change(change: BodyChange) -> bool:
    """Return whether a change of the body is significant, and moves mass or centre of mass.

    Intervals are widened to cover other changes.
    """
    differing = quantities_that_differ((change.first_phi, change.second_phi))
    return change.significant and ("mass" in differing or "com" in differing)


def body_change_finding(change: BodyChange, logs: Sequence[LogSummary]) -> Finding:
    """Return the finding that parts of the data are, or may be, of different bodies."""
    log = logs[change.log]
    first, second = float(change.first_phi[0]), float(change.second_phi[0])
    evidence = {
        "p_value": change.p_value,
        "first": change.first_phi.tolist(),
        "second": change.second_phi.tolist(),
    }
    masses = f"the masses {{}}are {first:.5g} kg and {second:.5g} kg"
    if "com" in quantities_that_differ((change.first_phi, change.second_phi)):
        moved = change.second_phi[1:4] / second - change.first_phi[1:4] / first
        masses += f", the centres of mass {1e3 * float(np.linalg.norm(moved)):.3g} mm apart"
    if change.code == "bodies_differ":
        text = f"it is a log of another body than the other logs: {masses.format('')}."
        remedy = "Exclude it, or fit it separately (fit --each)."
    else:
        start, when, stop = times_of_change(change, log)
        evidence |= {"time": when, "between": [start, stop]}
        between = _format_rounded_outward(start, stop)
        if log.recording.still:
            between = f"poses {math.floor(start) + 1} and {math.ceil(stop) + 1}"
        text = f"the body changes between {between}: {masses.format('before and after ')}."
        remedy = (
            "Find out when it changed, split the log there, and fit each part separately; or fit "
            "the longer part alone with --apply body_changed."
        )
    if is_relevant_change(change):
        return Finding(change.code, "error", text, remedy, evidence, log.name)
    if change.significant:
        text = f"too little to matter, and the intervals cover it: {text}"
        return Finding(change.code, "info", text, remedy, evidence, log.name)
    text = f"possibly by chance (p = {change.p_value:.1g}), and the intervals cover it: {text}"
    remedy = f"If nothing was changed there, do nothing. Otherwise: {remedy}"
    return Finding(change.code, "info", text, remedy, evidence, log.name)


def times_of_change(change: BodyChange, log: LogSummary) -> tuple[float, float, float]:
    """Return bounds of the time of a change within a log, and its likeliest time between them [s].

    In static poses they are numbers of poses, from zero.
    """
    numbers, times = np.append(log.point_indices, log.points), np.append(log.time, log.span[1])
    earliest, latest = change.fraction_bounds
    at = np.array([earliest, change.fraction_before, latest]) * log.points
    start, when, stop = np.interp(at, numbers, times).tolist()
    return start, when, stop


def _format_rounded_outward(start: float, stop: float) -> str:
    """Format the ends of a time span, rounded outward to a tenth of its length or finer."""
    decimals = 1 - math.floor(math.log10(max(stop - start, 1e-9)))
    low = math.floor(round(start * 10.0**decimals, 6)) / 10.0**decimals
    high = math.ceil(round(stop * 10.0**decimals, 6)) / 10.0**decimals
    return " s and ".join(f"{time:.{max(0, decimals)}f}" for time in (low, high)) + " s"

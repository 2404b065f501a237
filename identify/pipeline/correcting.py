"""Corrections of logs requested by --apply: other units or signs, excluded time spans, spikes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from identify.errors import LogError, ProblemError
from identify.estimation import EstimatorSettings
from identify.findings import CORRECTABLE_CODES, UNCORRECTABLE_CODES
from identify.pipeline.check_findings import (
    SPLIT_LOG_REMEDY,
    body_change_finding,
    distinct_best_explanations,
)
from identify.pipeline.checks import Checks, run_checks
from identify.pipeline.explanations import correcting_patch, rescan_under_explanation
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.small_fault_findings import SMALL_FAULT_CODES
from identify.pipeline.small_fault_fit import FittedLogs
from identify.pipeline.wrench_delays import refine_delays
from identify.signals import Interpretation

_CorrectedLogs: TypeAlias = tuple[list[ScannedLog], dict[str, object]]
"""Corrected logs, and the record of the correction for the provenance."""


class NotCorrected(ProblemError):
    """A requested correction does not apply: the fault is absent or cannot be distinguished.

    Attributes:
        code: the requested code.
    """

    def __init__(self, code: str, why: str) -> None:
        self.code = code
        super().__init__(f"{self._requested_option}: {why}")

    @property
    def _requested_option(self) -> str:
        return f"--apply {self.code} (in Python, apply={self.code!r})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the arguments of the constructor."""
        why = str(self).removeprefix(f"{self._requested_option}: ")
        return NotCorrected, (self.code, why)


def apply_corrections(
    logs: Sequence[ScannedLog], codes: Sequence[str], settings: EstimatorSettings
) -> tuple[list[ScannedLog], list[dict[str, object]]]:
    """Apply the requested corrections to logs; return logs and records for the provenance.

    Each fault is searched for in the logs as corrected by the codes before it.

    `logs`: as they were read, those of the carrier alone last; `codes`: of findings, in the order
    in which they are corrected.
    Raises `NotCorrected`: a fault was not found, or the logs cannot distinguish it from another.
    """
    corrected, applied = list(logs), list[dict[str, object]]()
    for number, code in enumerate(codes):
        # Other readings are compared with the logs as they were read, not with corrected ones.
        has_corrections = any(log.summary.reading.column_maps for log in corrected)
        checks = run_checks(
            refine_delays(FittedLogs.fit(corrected, settings), settings),
            settings,
            compare_interpretations=not has_corrections and code not in CORRECTABLE_CODES,
            already_corrected=has_corrections,
        )
        corrected, record = _correct_fault_of_code(corrected, checks, code, codes[:number])
        applied.append({"code": code, **record})
    return corrected, applied


def _correct_fault_of_code(
    logs: Sequence[ScannedLog], checks: Checks, code: str, corrected_codes: Sequence[str]
) -> _CorrectedLogs:
    """Correct the fault with a finding code; return the corrected logs and a record of it."""
    if any(s.code == code for of in checks.spans for s in of):
        if code == "bias_step":
            if any(log.summary.recording.still and log.offset_steps for log in logs):
                why = (
                    "in static poses the size of the jump cannot be separated from the body. "
                    f"{SPLIT_LOG_REMEDY}"
                )
                raise NotCorrected(code, why)
            return subtract_offset_steps(logs)
        return (
            interpolate_spikes(logs, checks)
            if code == "spikes"
            else exclude_spans(logs, checks, code)
        )
    if (reading := checks.clearly_likelier) is not None and checks.ranking is not None:
        leaders = distinct_best_explanations(checks.ranking)
        if (of_code := next((each for each in leaders if each.code == code), None)) is not None:
            if of_code.raw_counts:
                raise NotCorrected(code, f"the log does not determine the scale. {of_code.remedy}")
            others = [f'"{each.text}"' for each in leaders if each is not of_code]
            _require_unambiguous(code, others)
            patch = dict(correcting_patch(reading.faults[0], reading.fault_size))
            scope = checks.ranking_scope
            only = f" (only in {scope.where})" if scope.where else ""
            meaning = f"corrected: {reading.text}{only}"
            record = {"meaning": meaning, "gain": reading.log_likelihood_ratio}
            record |= {"patch": patch} if patch else {}
            return rescan_under_explanation(logs, reading, scope), record
        if code not in SMALL_FAULT_CODES:
            raise NotCorrected(code, f"the likeliest fault is {reading.code}; correct it first")
    if code in SMALL_FAULT_CODES:
        meaning = f"{code.replace('_', ' ')}: always part of the fit, no correction needed"
        return list(logs), {"meaning": meaning}
    for change in checks.body_changes:
        if change.code == code:
            finding = body_change_finding(change, checks.logs)
            raise NotCorrected(
                code, f"it cannot be corrected. {finding.where}: {finding.text} {finding.remedy}"
            )
    for finding in (f for log in logs for f in log.summary.imu.findings if f.code == code):
        raise NotCorrected(code, f"it cannot be corrected. {finding}")
    codes = dict.fromkeys(f.code for f in checks.findings)
    findings = (
        ", ".join([c for c in codes if c not in UNCORRECTABLE_CODES] or codes)
        or "nothing to correct"
    )
    were = "was" if len(corrected_codes) == 1 else "were"
    after = f" after {', '.join(corrected_codes)} {were} corrected" if corrected_codes else ""
    raise NotCorrected(code, f"not found in these logs{after}; found: {findings}")


def _require_unambiguous(code: str, rival_faults: Iterable[str]) -> None:
    """Raise `NotCorrected` if any other fault explains the logs equally well."""
    if rival_faults := sorted(rival_faults):
        raise NotCorrected(
            code,
            f"these logs cannot distinguish it from {', '.join(rival_faults)}, and "
            "correcting the wrong one gives a wrong body; find out which one is true (a longer log "
            "with attitudes in all directions distinguishes them), and correct it at its source or "
            "in the schema",
        )


def _rescan_each(
    logs: Sequence[ScannedLog], correct: Callable[[int, Interpretation], Interpretation]
) -> list[ScannedLog]:
    """Scan each log again under an interpretation that a function corrects."""
    return [log.rescan(correct(number, log.summary.reading)) for number, log in enumerate(logs)]


def exclude_spans(logs: Sequence[ScannedLog], checks: Checks, code: str) -> _CorrectedLogs:
    """Exclude the faulty time spans with a finding code from logs; return logs and record."""
    spans = [[span for span in of_log if span.code == code] for of_log in checks.spans]
    times = [[(span.start, span.stop) for span in of_log] for of_log in spans]

    def with_exclusions(log_index: int, interpretation: Interpretation) -> Interpretation:
        return replace(
            interpretation, excluded_spans=(*interpretation.excluded_spans, *times[log_index])
        )

    seconds = sum(stop - start for of_log in times for start, stop in of_log)
    amount = f"{seconds:.4g} s"
    if code == "wrong_rows":
        rows = sum(span.rows for of_log in spans for span in of_log)
        amount = f"{rows} row{'s' * (rows != 1)}"
    record = {"meaning": f"{code.replace('_', ' ')}: {amount} excluded", "left_out": times}
    try:
        return _rescan_each(logs, with_exclusions), record
    except LogError as error:
        why = f"without these {amount} the log is too short ({error}); log again"
        raise NotCorrected(code, why) from error


def subtract_offset_steps(logs: Sequence[ScannedLog]) -> _CorrectedLogs:
    """Subtract the jumps of sensor offsets from logs; return the logs and the record."""
    steps = [[(s.start, s.stop, *s.jump) for s in log.offset_steps] for log in logs]
    meaning = f"bias step: {sum(map(len, steps))} subtracted from the wrench"
    return [log.without_offset_steps() for log in logs], {"meaning": meaning, "steps": steps}


def interpolate_spikes(logs: Sequence[ScannedLog], checks: Checks) -> _CorrectedLogs:
    """Interpolate the spikes of logs from their neighbours; return the logs and the record."""
    rows = [sum(s.rows for s in of_log if s.code == "spikes") for of_log in checks.spans]

    def with_interpolation(log_index: int, interpretation: Interpretation) -> Interpretation:
        return replace(
            interpretation, without_spikes=interpretation.without_spikes or bool(rows[log_index])
        )

    record = {"meaning": f"spikes: {sum(rows)} rows interpolated", "rows": rows}
    return _rescan_each(logs, with_interpolation), record

"""Corrections of logs requested by --apply, by the hypotheses of their checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from identify.estimation import EstimatorSettings
from identify.findings import CORRECTABLE_CODES
from identify.pipeline.checks import Checks, run_checks
from identify.pipeline.corrected_logs import CorrectedLogs, NotCorrected
from identify.pipeline.hypotheses import findings_of
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.small_fault_findings import SMALL_FAULT_CODES
from identify.pipeline.small_fault_fit import FittedLogs
from identify.pipeline.wrench_delays import refine_delays
from identify.pipeline.wrench_hypotheses import wrench_hypotheses


def apply_corrections(
    logs: Sequence[ScannedLog], codes: Sequence[str], settings: EstimatorSettings
) -> tuple[list[ScannedLog], list[dict[str, object]]]:
    """Apply the requested corrections to logs; return logs and records for the provenance.

    Each fault is searched for in the logs as corrected by the codes before it.

    `logs`: as they were read, those of the carrier alone last; `codes`: of findings, in the order
    in which they are corrected.
    Raises `NotCorrected`: a fault was not found, or the logs cannot distinguish it from another.
    """
    corrected = list(logs)
    applied = list[dict[str, object]]()
    for number, code in enumerate(codes):
        # Other readings are compared with the logs as they were read, not with corrected ones. For
        # the correctable codes they are compared only where small faults do not explain the logs.
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
) -> CorrectedLogs:
    """Read logs without the fault of a finding code.

    The first of these answers: a hypothesis of the code that can be corrected, a likelier reading
    to correct before, a small fault that the fit corrects, a finding without a correction.
    """
    hypotheses = wrench_hypotheses(checks)
    of_code = [hypothesis for hypothesis in hypotheses if hypothesis.code == code]
    for hypothesis in of_code:
        if hypothesis.correct is not None:
            return hypothesis.correct(logs)
    likeliest = checks.clearly_likelier
    if likeliest is not None and code not in SMALL_FAULT_CODES:
        raise NotCorrected(code, f"the likeliest fault is {likeliest.code}; correct it first")
    if code in _fitted_codes(checks) and all(h.outcome != "refuses" for h in of_code):
        meaning = f"{code.replace('_', ' ')}: always part of the fit, no correction needed"
        return CorrectedLogs(list(logs), {"meaning": meaning})
    of_hypotheses = (finding for hypothesis in of_code for finding in hypothesis.findings)
    of_imus = (f for log in logs for f in log.summary.imu.findings if f.code == code)
    uncorrectable = next(chain(of_hypotheses, of_imus), None)
    if uncorrectable is not None:
        raise NotCorrected(code, f"it cannot be corrected. {uncorrectable}")
    named = dict.fromkeys(finding.code for finding in findings_of(hypotheses))
    correctable = {hypothesis.code for hypothesis in hypotheses if hypothesis.correct is not None}
    findings = ", ".join([c for c in named if c in correctable] or named) or "nothing to correct"
    were = "was" if len(corrected_codes) == 1 else "were"
    after = f" after {', '.join(corrected_codes)} {were} corrected" if corrected_codes else ""
    raise NotCorrected(code, f"not found in these logs{after}; found: {findings}")


def _fitted_codes(checks: Checks) -> set[str]:
    """Return the finding codes of the small faults that are part of the fit."""
    effects = checks.small_faults
    if effects is None:
        return set()
    drifts = {"drift"} if any(setting is not None for setting in effects.model.drift) else set()
    return {block.fault.code for block in effects.model.blocks}.union(drifts)

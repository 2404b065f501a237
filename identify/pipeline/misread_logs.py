"""Errors for logs that contradict their schema, such as a wrong unit of time or a wrong sign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings, NegativeMass
from identify.findings import Finding
from identify.logs import Recording
from identify.logs.log_properties import LogProperties
from identify.logs.units import SECONDS_PER_DAY
from identify.pipeline.check_findings import (
    MAX_NAMED_EXPLANATIONS,
    distinct_best_explanations,
    likeliest_explanation_finding,
    remedy_text,
    span_findings,
)
from identify.pipeline.explanations import rank_interpretations
from identify.pipeline.misread_error import MisreadLog, reason_without_advice
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.small_fault_fit import FittedLogs
from identify.regressors import LogSummary
from identify.validation import MAX_UNEXPLAINED

_MIN_HZ = 0.011
_MAX_HZ = 2e5
_USUAL_HZ = 300.0
"""Limits of plausible sampling rates of a moving log, and a common rate [Hz]."""

_MAX_USUAL_HZ = 1e4
"""Rate [Hz] above which a log is misread if its pose turns faster than any robot, too."""

_UNIT_FACTORS = (1e-9, 1e-6, 1e-3, 1e3, SECONDS_PER_DAY, 1e6, 1e9)
"""Factors between units of time that are easily confused."""

_SIGN_CODES = ("wrench_sign", "force_sign", "torque_sign", "gravity_direction", "imu_sign")
"""Codes of faults in which a sign is wrong."""


def require_plausible_rate(log: LogSummary) -> None:
    """Raise if the sampling rate is so implausible that the unit of time must be wrong.

    Raises `MisreadLog`: the rate is implausible.
    """
    rate, spin = log.rate_hz, log.max_rates[1]
    if rate is None or _MIN_HZ < rate < _MAX_USUAL_HZ:
        return
    from identify.diagnosis.faults.pose import MAX_PLAUSIBLE_RATES  # few logs need it
    from identify.diagnosis.faults.timing import time_patch, time_remedy

    is_spinning = spin > MAX_PLAUSIBLE_RATES[1] and LogProperties.of(log.recording).rates_from_pose
    if _MIN_HZ < rate < _MAX_HZ and not is_spinning:
        return
    schema = log.recording.schema
    units = [factor for factor in _UNIT_FACTORS if time_patch(schema, factor)] or _UNIT_FACTORS
    factor = min(units, key=lambda factor: abs(np.log(rate / factor / _USUAL_HZ)))
    turning = f", with turns at {spin:.2g} rad/s," if is_spinning else ""
    as_read = f"{1.0 / rate:.3g} s from row to row, {log.duration:.3g} s in all"
    finding = Finding(
        "time_unit",
        "error",
        f"a rate of {rate:.2g} Hz{turning} is implausible for the log of a moving body.",
        time_remedy(schema, factor),
        {"rate_hz": rate, "schema": dict(time_patch(schema, factor))},
        log.name,
    )
    raise MisreadLog(as_read, finding)


def require_static_poses(source: Recording) -> None:
    """Raise if a log that should have static poses contains the rows of a motion.

    Raises `MisreadLog`: the rows are those of a motion.
    """
    from identify.diagnosis.moving_rows import find_moving_rows  # few logs need it

    motion = find_moving_rows(source)
    if motion is None:
        return
    rate = f"{motion.rate_hz:.1g}"
    finding = Finding(
        "not_still",
        "error",
        f"the {len(source)} rows are not static poses: the pose changes from row to row as in a "
        f"motion logged at about {rate} Hz, and the wrench contains inertial forces.",
        'In the schema, [log], write `time = "COLUMN"` with the column of the time stamps, or '
        "`rate_hz`, in place of `still = true`; or keep one row of each pose at rest.",
        {"rate_hz": motion.rate_hz, "explained": motion.explained_share},
        source.name,
    )
    raise MisreadLog("", finding)


def alternative_interpretation_error(
    logs: Sequence[ScannedLog],
    fit_error: IdentifyError,
    settings: EstimatorSettings,
) -> MisreadLog | None:
    """Return the error that names a wrong schema entry as the cause of a failed fit, or None."""
    ranking, scope = rank_interpretations(FittedLogs(tuple(logs)), settings)
    finding = likeliest_explanation_finding(ranking, scope.body, scope.where)
    if finding is None or ranking.best.unexplained > MAX_UNEXPLAINED:
        steps = (step for log in logs for step in span_findings(log.summary, log.offset_steps))
        finding = next(steps, None)
    return None if finding is None else MisreadLog(reason_without_advice(fit_error), finding)


def negative_mass_error(
    logs: Sequence[ScannedLog], fit_error: NegativeMass, n_unloaded: int = 0
) -> NegativeMass | None:
    """Return the error for a negative mass, with the likeliest reading as its cause, or None.

    `logs`: all logs of the fit, those of the carrier alone last; or those of the body whose mass is
    negative; `n_unloaded`: how many of the logs, the last ones, are of the carrier alone.
    """
    settings = EstimatorSettings(unloaded=n_unloaded)
    ranking, scope = rank_interpretations(FittedLogs(tuple(logs)), settings)
    finding = likeliest_explanation_finding(ranking)
    if finding is None or ranking.best.mass <= 0.0 or ranking.best.unexplained > MAX_UNEXPLAINED:
        return None
    others = distinct_best_explanations(ranking)[1:MAX_NAMED_EXPLANATIONS]
    remedy = ranking.best.remedy if others else remedy_text(ranking.best)
    where = f" in {scope.where}" if scope.where else ""
    advice = f"most likely{where} {ranking.best.text}. {remedy}"
    advice += "".join(f" Or {each.text}: {each.remedy}" for each in others)
    return NegativeMass(
        fit_error.mass,
        advice,
        fit_error.body,
        code=ranking.best.code,
        meaning="a sign is wrong"
        if ranking.best.code in _SIGN_CODES
        else "the log does not match its schema",
        evidence=dict(finding.evidence),
    )


def unexplained_negative_mass(fit_error: NegativeMass) -> NegativeMass:
    """Return the error for a negative mass that no other reading of the logs explains."""
    return NegativeMass(
        fit_error.mass,
        "check the signs (`acts_on` in [wrench], [world] gravity), the units and frames of the "
        "schema, and which body was logged; or look for a hose, a cable or a contact that carries "
        "the body, and log without it",
        fit_error.body,
        code="unexplained",
        meaning="several entries of the schema are wrong, or something besides gravity and motion "
        "acts on the body",
    )

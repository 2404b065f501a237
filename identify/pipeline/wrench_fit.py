"""`fit_wrench_logs`: from logs of a wrench to a `Result`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from identify.errors import ProblemError, SolveError
from identify.estimation import (
    AccelerometerErrors,
    Estimate,
    EstimatorSettings,
    FittedEffects,
    NegativeMass,
    TooLittleMotion,
    estimate_body,
)
from identify.exchange import SavedBias
from identify.findings import BODY_CHANGE_CODES, CORRECTABLE_CODES, Finding
from identify.inertia import InertialParameters
from identify.logs import LogFile, Recording
from identify.pipeline.check_findings import covers_most_of_log, span_findings
from identify.pipeline.checks import run_checks, suggests_wrong_schema
from identify.pipeline.fit_findings import findings_of_fit, findings_of_log
from identify.pipeline.hypotheses import Hypothesis, findings_of, reported
from identify.pipeline.misread_logs import (
    MisreadLog,
    alternative_interpretation_error,
    negative_mass_error,
    require_plausible_rate,
    require_static_poses,
    unexplained_negative_mass,
)
from identify.pipeline.precision_findings import precision_findings
from identify.pipeline.preconditions import (
    require_compatible_prior,
    require_live_wrench,
    require_mass_not_given_at_rest,
    require_same_frames,
    swapped_logs_error,
)
from identify.pipeline.result import Result, summarise_checks
from identify.pipeline.scanned_log import ScannedLog, scan_log
from identify.pipeline.settings import (
    FitSettings,
    interpretation_from_settings,
)
from identify.pipeline.small_fault_fit import FittedLogs
from identify.pipeline.wrench_delays import choose_delay_axes, refine_delays
from identify.pipeline.wrench_hypotheses import wrench_hypotheses
from identify.progress import log_progress
from identify.regressors import LogSummary, Statistics
from identify.signals.static_poses import with_one_row_a_pose
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial.columns import RATE_SQUARES
from identify.validation import Validation, validate

_LOGGER = logging.getLogger(__name__)


def fit_wrench_logs(
    loaded: Sequence[Recording | LogFile],
    unloaded: Sequence[Recording | LogFile],
    settings: FitSettings,
    truth: InertialParameters | None,
) -> Result:
    """Fit one body to logs of a wrench, or a payload and its carrier to logs of both.

    Raises `IdentifyError`: as `fit`.
    """
    settings = replace(settings, unloaded=len(unloaded), interval=settings.interval or "formula")
    # Rows to statistics: all that follows works on these, and reads rows again only for faults
    # that no linear map corrects.
    scanned = [choose_delay_axes(_scan(source, settings)) for source in (*loaded, *unloaded)]
    # One least-squares fit, only of coarsely rounded logs.
    unrounded = _without_rounding_bias(scanned, settings)
    # A whole check for each code of --apply.
    corrected, corrections = _correct(unrounded, settings)
    _require_consistent(corrected, settings)
    _LOGGER.info("estimating")
    # One fit of the body with all small faults, and one more for each rereading with its delay.
    fitted = refine_delays(FittedLogs.fit(corrected, settings), settings)
    # One semidefinite program for the logs without them; none where the free fit is consistent.
    estimate = _estimate_or_explain(fitted, settings)
    _LOGGER.info("validating")
    # A fit without each fifth of the logs.
    logs = tuple(log.summary for log in fitted.clean)
    validation = validate(logs, estimate, settings, truth)
    symptoms = _symptoms(fitted, estimate, validation, settings, corrections)
    # Fits of parts of the logs, and of other readings where small faults do not explain them.
    checks = run_checks(
        fitted,
        settings,
        compare_interpretations=settings.check
        or suggests_wrong_schema([*symptoms, *_findings_on_mass_and_com(estimate)]),
        # Excluded spans may have hidden another reading; an applied reading hides none.
        already_corrected=any("gain" in correction for correction in corrections),
    )
    hypotheses = wrench_hypotheses(checks)
    findings = _causes_before_symptoms(reported(hypotheses), symptoms)
    # A fit for each hypothesis that is left open.
    covering, worded = _cover_hypotheses(fitted, hypotheses, estimate, findings, settings)
    return Result(
        estimate=_with_log_metadata(covering, fitted, validation, worded, corrections),
        logs=logs,
        settings=settings,
        validation=validation,
        checks=summarise_checks(checks, findings_of(hypotheses)),
        uncorrected_statistics=tuple(log.summary.statistics for log in fitted.scanned),
    )


def _without_rounding_bias(
    logs: Sequence[ScannedLog], settings: FitSettings
) -> Sequence[ScannedLog]:
    if not any(log.may_be_rounded for log in logs):
        return logs
    from identify.pipeline.wrench_rounding import remove_rounding_bias  # few logs need it

    return remove_rounding_bias(logs, settings)


def _correct(
    logs: Sequence[ScannedLog], settings: FitSettings
) -> tuple[Sequence[ScannedLog], list[dict[str, object]]]:
    if not settings.apply:
        return logs, []
    from identify.pipeline.correcting import apply_corrections  # few fits need it

    return apply_corrections(logs, settings.apply, settings)


def _require_consistent(logs: Sequence[ScannedLog], settings: FitSettings) -> None:
    """Raise if logs or settings cannot belong to one fit."""
    recordings = [log.summary.recording for log in logs]
    require_same_frames(recordings, has_carrier=bool(settings.unloaded))
    require_compatible_prior(settings.prior, recordings)
    require_mass_not_given_at_rest([log.summary for log in logs], settings)


_TOO_DENSE_NOTE = "As read, the body is denser than any material."
"""Remark on an estimate whose density exceeds that of any material."""


def _symptoms(
    fitted: FittedLogs,
    estimate: Estimate,
    validation: Validation,
    settings: FitSettings,
    corrections: Sequence[Mapping[str, object]],
) -> list[Finding]:
    """Return the findings on the logs and on their fit, without their causes."""
    logs = [log.summary for log in fitted.clean]
    done = {correction["code"] for correction in corrections}
    # Findings about the original reading do not apply to corrected faults.
    on_logs = [f for log in logs for f in findings_of_log(log) if f.code not in done]
    return [*on_logs, *findings_of_fit(validation, estimate, fitted, settings)]


def _causes_before_symptoms(
    hypotheses: Sequence[Hypothesis], symptoms: Sequence[Finding]
) -> list[Finding]:
    """Return the findings of hypotheses, then the symptoms that none of them explains.

    A wrong reading may make a body too dense; faulty spans and small faults do not.
    """
    causes = [finding for hypothesis in hypotheses for finding in hypothesis.findings]
    readings = [
        finding
        for hypothesis in hypotheses
        if hypothesis.outcome != "corrects"
        for finding in hypothesis.findings
        if finding.code not in (*CORRECTABLE_CODES, *BODY_CHANGE_CODES)
    ]
    is_dense = any(finding.code == "too_dense" for finding in symptoms)
    if readings and is_dense:
        text = f"{readings[0].text} {_TOO_DENSE_NOTE}"
        error = replace(readings[0], severity="error", text=text)
        causes = [error if finding is readings[0] else finding for finding in causes]
    explained = {finding.code for finding in causes}
    if readings:
        explained.add("too_dense")
    return [*causes, *(finding for finding in symptoms if finding.code not in explained)]


def _cover_hypotheses(
    fitted: FittedLogs,
    hypotheses: Sequence[Hypothesis],
    estimate: Estimate,
    findings: Sequence[Finding],
    settings: FitSettings,
) -> tuple[Estimate, Sequence[Finding]]:
    """Widen the intervals by the hypotheses on the logs that are left open, and say so.

    After an error the estimate is not used, and its intervals stay as they are.
    """
    is_open = any(hypothesis.outcome == "widens" for hypothesis in hypotheses)
    if not is_open or any(finding.severity == "error" for finding in findings):
        return estimate, findings
    from identify.estimation.inflated_covariance import inflate_covariance
    from identify.pipeline.covariance_inflation import (
        covariance_inflation,
        with_uncertain_parameters,
    )

    inflation = covariance_inflation(fitted.scanned, hypotheses, estimate, settings)
    worded = [with_uncertain_parameters(finding, inflation) for finding in findings]
    if not inflation.covariance.any():
        return estimate, worded
    wider = inflate_covariance(estimate, inflation.covariance, inflation.scale_covariance)
    return wider, worded


def _findings_on_mass_and_com(estimate: Estimate) -> list[Finding]:
    """Return the findings on the precision of mass or centre of mass; few logs decide inertia."""
    return [
        finding
        for finding in precision_findings(estimate, "")
        if finding.concerns("mass") or finding.concerns("com")
    ]


def _with_log_metadata(
    estimate: Estimate,
    fitted: FittedLogs,
    validation: Validation,
    findings: Sequence[Finding],
    corrections: Sequence[Mapping[str, object]],
) -> Estimate:
    """Return the estimate with offsets, corrections, findings and R² in each of its bodies."""
    recordings = [log.summary.recording for log in fitted.scanned]
    scores, small_faults = validation.scores, fitted.small_faults
    offsets = tuple(
        replace(offset, sha256=recording.sha256)
        for offset, recording in zip(estimate.bias, recordings, strict=True)
    )
    if small_faults is not None:
        offsets = tuple(
            _offset_before_corrections(small_faults, k, offset) for k, offset in enumerate(offsets)
        )

    def with_metadata(body: Estimate) -> Estimate:
        return replace(
            body,
            frames=recordings[0].body_frame,
            bias=offsets,
            provenance={"applied": list(corrections)} if corrections else {},
            findings=(*body.findings, *findings),
            r_squared=None if scores is None else scores.signal_r_squared,
        )

    others = {name: with_metadata(body) for name, body in estimate.others.items()}
    return replace(with_metadata(estimate), others=others)


def _offset_before_corrections(
    small_faults: FittedEffects, log_index: int, offset: SavedBias
) -> SavedBias:
    """Return a sensor offset as it is in the uncorrected log; unchanged if not fitted."""
    if offset.half_width is None or not offset.half_width.any():
        return offset
    wrench, errors = small_faults.offset_as_logged(log_index, offset.wrench)
    half_width = np.hypot(offset.half_width, HALF_WIDTH_SIGMA * errors)
    return replace(offset, wrench=wrench, half_width=half_width)


def _scan(source: Recording | LogFile, settings: FitSettings) -> ScannedLog:
    """Scan a log; scan it again if a later part of it is faster than the chosen cut-off."""
    _LOGGER.info("preparing %s (%d rows)", source.name, len(source))
    if isinstance(source, Recording):
        source = with_one_row_a_pose(source)

    def progress(done: int, rows: int) -> None:
        log_progress(_LOGGER, f"preparing {source.name}", done, rows, "rows")

    reading = interpretation_from_settings(settings)
    log = scan_log(source, reading, progress, all_columns=True)
    cutoff, motion = log.summary.cutoff_hz, log.summary.motion_cutoff_hz or 0.0
    if cutoff is not None and motion > cutoff:
        log = scan_log(source, replace(reading, cutoff_hz=motion), progress, all_columns=True)
    require_plausible_rate(log.summary)
    if isinstance(source, Recording) and source.still:
        require_static_poses(reading.apply(source))
    dead = [span for span in log.spans if span.code == "dead_channel"]
    if dead and covers_most_of_log(log.summary, dead):
        raise MisreadLog("", span_findings(log.summary, dead)[0])
    mass_known = settings.mass_known and not settings.unloaded
    require_live_wrench(log.summary, mass_known=mass_known)
    return log


def _estimate_or_explain(fitted: FittedLogs, settings: FitSettings) -> Estimate:
    """Return the estimate, or raise an error that names the likeliest fault of the logs."""
    logs = fitted.scanned
    blocks = [log.summary.statistics.fit_columns_only() for log in fitted.clean]
    accelerometer_errors = AccelerometerErrors.of([log.summary.imu for log in logs])
    try:
        return estimate_body(blocks, settings, fitted.small_faults, accelerometer_errors)
    except NegativeMass as error:
        if settings.unloaded:
            raise _negative_payload_mass_error(logs, blocks, settings, error) from error
        raise (negative_mass_error(logs, error) or unexplained_negative_mass(error)) from error
    except (TooLittleMotion, SolveError) as error:
        other = alternative_interpretation_error(logs, error, settings)
        if other is not None:
            raise other from error
        if not isinstance(error, TooLittleMotion):
            raise
        read = "; ".join(_describe_timing_and_rotation(log.summary) for log in logs)
        raise TooLittleMotion(error.unidentifiable, f"{error.advice}. As read: {read}") from error


def _negative_payload_mass_error(
    logs: Sequence[ScannedLog],
    statistics: Sequence[Statistics],
    settings: FitSettings,
    error: NegativeMass,
) -> NegativeMass:
    """Return the error for a negative payload mass: a wrong sign, or swapped logs."""
    loaded = len(logs) - settings.unloaded
    parts = ("payload and carrier", slice(0, loaded)), ("carrier", slice(loaded, None))
    for moved, part in parts:
        try:
            estimate_body(statistics[part], EstimatorSettings(bias=settings.bias))
        except NegativeMass as of_part:
            of_moved = NegativeMass(of_part.mass, body=moved)
            return negative_mass_error(logs[part], of_moved) or of_moved
        except (ProblemError, SolveError):
            continue
    of_reading = negative_mass_error(logs, error, settings.unloaded)
    if of_reading is not None:
        return of_reading
    summaries = [log.summary for log in logs]
    return swapped_logs_error(
        summaries[:loaded], summaries[loaded:], error, shared_offset=settings.bias == "shared"
    )


def _describe_timing_and_rotation(log: LogSummary) -> str:
    """Summarise duration, rate and angular velocity of a log, which reveal wrong units of time."""
    if log.recording.still:
        return f"{log.name}: static poses, {log.rows_kept} in number"
    spin = np.sqrt(np.mean(np.sum(log.features[:, RATE_SQUARES], axis=1)))
    return (
        f"{log.name}: {log.duration:.3g} s at {log.rate_hz:.4g} Hz, turning at {spin:.2g} rad/s "
        "RMS: if that is wrong, check [log] time_unit and [pose] maps"
    )

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
from identify.findings import CORRECTABLE_CODES, UNCORRECTABLE_CODES, Finding
from identify.inertia import InertialParameters
from identify.logs import LogFile, Recording
from identify.pipeline.check_findings import covers_most_of_log, span_findings
from identify.pipeline.checks import Checks, run_checks, suggests_wrong_schema
from identify.pipeline.fit_findings import findings_of_fit, findings_of_log
from identify.pipeline.misread_logs import (
    MisreadLog,
    alternative_interpretation_error,
    negative_mass_error,
    require_plausible_rate,
    require_static_poses,
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
from identify.pipeline.scanned_log import ScannedLog, scan_log, without_small_faults
from identify.pipeline.settings import (
    FitSettings,
    interpretation_from_settings,
)
from identify.pipeline.small_fault_fit import fit_small_faults
from identify.pipeline.wrench_delays import choose_delay_axes, refine_delays
from identify.regressors import LogSummary, Statistics
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

    Args:
        loaded: logs of the body, or of the payload on its carrier.
        unloaded: logs of the carrier alone.
        settings: of the fit.
        truth: the true body (of the payload), where known, to replay for comparison.

    Raises:
        IdentifyError: as `fit`.
    """
    route = settings.interval or "formula"
    settings = replace(settings, unloaded=len(unloaded), interval=route)
    log_stage = _LOGGER.info
    scanned = [choose_delay_axes(_scan(source, settings)) for source in (*loaded, *unloaded)]
    if any(log.may_be_rounded for log in scanned):
        from identify.pipeline.wrench_rounding import remove_rounding_bias

        scanned = remove_rounding_bias(scanned, settings)
    corrections: list[dict[str, object]] = []
    if settings.apply:
        from identify.pipeline.correcting import apply_corrections

        scanned, corrections = apply_corrections(scanned, settings.apply, settings)
    recordings = [log.summary.recording for log in scanned]
    require_same_frames(recordings, has_carrier=bool(unloaded))
    require_compatible_prior(settings.prior, recordings)
    require_mass_not_given_at_rest([log.summary for log in scanned], settings)
    log_stage("estimating")
    scanned, small_faults = refine_delays(scanned, fit_small_faults(scanned, settings), settings)
    clean = scanned if small_faults is None else without_small_faults(scanned, small_faults)
    logs = tuple(log.summary for log in clean)
    estimate = _estimate_or_explain(scanned, clean, settings, small_faults)
    log_stage("validating")
    validation = validate(logs, estimate, settings, truth)
    fitted = estimate, validation, small_faults
    findings, checks = _collect_findings(scanned, clean, fitted, settings, corrections)
    open_ = (
        any(map(any, checks.spans))
        or checks.possible_body_changes
        or checks.small_faults_with_gain
        or checks.slightly_likelier
    )
    if open_ and not any(finding.severity == "error" for finding in findings):
        from identify.estimation.inflated_covariance import inflate_covariance
        from identify.pipeline.covariance_inflation import (
            covariance_inflation,
            with_uncertain_parameters,
        )

        inflation = covariance_inflation(scanned, checks, estimate, settings)
        findings = [with_uncertain_parameters(finding, inflation) for finding in findings]
        if inflation.covariance.any():
            estimate = inflate_covariance(
                estimate, inflation.covariance, inflation.scale_covariance
            )
    return Result(
        estimate=_with_log_metadata(
            estimate, logs, validation, findings, small_faults, corrections
        ),
        logs=logs,
        settings=settings,
        validation=validation,
        checks=summarise_checks(checks),
        uncorrected_statistics=tuple(log.summary.statistics for log in scanned),
    )


_TOO_DENSE_NOTE = "As read, the body is denser than any material."
"""Remark on an estimate whose density exceeds that of any material."""


def _collect_findings(
    scanned: Sequence[ScannedLog],
    corrected_logs: Sequence[ScannedLog],
    fitted: tuple[Estimate, Validation, FittedEffects | None],
    settings: FitSettings,
    corrections: Sequence[Mapping[str, object]],
) -> tuple[list[Finding], Checks]:
    """Return the findings on logs and fit, those of the checks first, and the checks."""
    (estimate, validation, small_faults), logs = fitted, [log.summary for log in corrected_logs]
    as_read = [log.summary.statistics for log in scanned]
    done = {correction["code"] for correction in corrections}
    seen = [
        # Findings about the original reading do not apply to corrected faults.
        *(f for log in logs for f in findings_of_log(log) if f.code not in done),
        *findings_of_fit(validation, estimate, logs, as_read, settings),
    ]
    # Excluded spans may have hidden another reading; an applied reading hides none.
    reading_corrected = any("gain" in correction for correction in corrections)
    checks = run_checks(
        scanned,
        settings,
        small_faults,
        compare_interpretations=settings.check
        or suggests_wrong_schema([*seen, *_findings_on_mass_and_com(estimate)]),
        already_corrected=reading_corrected,
    )
    of_checks = list(checks.findings)
    causes = [
        finding
        for finding in of_checks
        if finding.code not in (*CORRECTABLE_CODES, *UNCORRECTABLE_CODES)
    ]
    if causes and any(finding.code == "too_dense" for finding in seen):
        # A wrong reading may give such a body; faulty spans or drift do not.
        text = f"{causes[0].text} {_TOO_DENSE_NOTE}"
        cause = replace(causes[0], severity="error", text=text)
        of_checks = [cause if finding is causes[0] else finding for finding in of_checks]
        seen = [finding for finding in seen if finding.code != "too_dense"]
    codes = {finding.code for finding in of_checks}
    return [*of_checks, *(finding for finding in seen if finding.code not in codes)], checks


def _findings_on_mass_and_com(estimate: Estimate) -> list[Finding]:
    """Return the findings on the precision of mass or centre of mass; few logs decide inertia."""
    return [
        finding
        for finding in precision_findings(estimate, "")
        if finding.concerns("mass") or finding.concerns("com")
    ]


def _with_log_metadata(
    estimate: Estimate,
    logs: Sequence[LogSummary],
    validation: Validation,
    findings: Sequence[Finding],
    small_faults: FittedEffects | None,
    corrections: Sequence[Mapping[str, object]],
) -> Estimate:
    """Return the estimate with offsets, corrections, findings and R² in each of its bodies."""
    recordings, scores = [log.recording for log in logs], validation.scores
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

    def log_progress(done: int, rows: int) -> None:
        share = f"{done / rows:.0%}"
        _LOGGER.debug("preparing %s: %d of %d rows (%s)", source.name, done, rows, share)

    reading = interpretation_from_settings(settings)
    log = scan_log(source, reading, log_progress, all_columns=True)
    cutoff, motion = log.summary.cutoff_hz, log.summary.motion_cutoff_hz or 0.0
    if cutoff is not None and motion > cutoff:
        log = scan_log(source, replace(reading, cutoff_hz=motion), log_progress, all_columns=True)
    require_plausible_rate(log.summary)
    if isinstance(source, Recording) and source.still:
        require_static_poses(reading.apply(source))
    dead = [span for span in log.spans if span.code == "dead_channel"]
    if covers_most_of_log(log.summary, dead) and dead:
        raise MisreadLog("", span_findings(log.summary, dead)[0])
    mass_known = settings.mass_known and not settings.unloaded
    require_live_wrench(log.summary, mass_known=mass_known)
    return log


def _estimate_or_explain(
    logs: Sequence[ScannedLog],
    corrected_logs: Sequence[ScannedLog],
    settings: FitSettings,
    small_faults: FittedEffects | None,
) -> Estimate:
    """Return the estimate, or raise an error that names the likeliest fault of the logs.

    `corrected_logs` are the logs without small faults of their sensors.
    """
    blocks = [log.summary.statistics for log in corrected_logs]
    accelerometer_errors = AccelerometerErrors.of([log.summary.imu for log in logs])
    try:
        return estimate_body(blocks, settings, small_faults, accelerometer_errors)
    except NegativeMass as error:
        if settings.unloaded:
            raise _negative_payload_mass_error(logs, blocks, settings, error) from error
        raise negative_mass_error(logs, error) from error
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
            return negative_mass_error(logs[part], NegativeMass(of_part.mass, body=moved))
        except (ProblemError, SolveError):
            continue
    of_reading = negative_mass_error(logs, error, settings.unloaded)
    if of_reading is not error:
        return of_reading
    shared = settings.bias == "shared"
    summaries = [log.summary for log in logs]
    return swapped_logs_error(summaries[:loaded], summaries[loaded:], error, shared_offset=shared)


def _describe_timing_and_rotation(log: LogSummary) -> str:
    """Summarise duration, rate and angular velocity of a log, which reveal wrong units of time."""
    if log.recording.still:
        return f"{log.name}: static poses, {log.rows_kept} in number"
    spin = np.sqrt(np.mean(np.sum(log.features[:, RATE_SQUARES], axis=1)))
    return (
        f"{log.name}: {log.duration:.3g} s at {log.rate_hz:.4g} Hz, turning at {spin:.2g} rad/s "
        "RMS: if that is wrong, check [log] time_unit and [pose] maps"
    )

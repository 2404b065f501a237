"""`fit`: from recordings to a `Result`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from identify.errors import LogError, ProblemError, SolveError
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
from identify.findings import CORRECTABLE_CODES, UNCORRECTABLE_CODES, Finding, sort_findings
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
from identify.pipeline.preconditions import (
    require_compatible_prior,
    require_live_wrench,
    require_mass_not_given_at_rest,
    require_same_frames,
    swapped_logs_error,
)
from identify.pipeline.provenance import fit_provenance
from identify.pipeline.required_precision import precision_findings, required_precision_met
from identify.pipeline.result import Result, summarise_checks
from identify.pipeline.scanned_log import ScannedLog, scan_log, without_small_faults
from identify.pipeline.settings import (
    FitOptions,
    FitSettings,
    interpretation_from_settings,
    merge_settings,
)
from identify.pipeline.small_fault_fit import fit_small_faults
from identify.pipeline.wrench_delays import choose_delay_axes, refine_delays
from identify.regressors import LogSummary, Statistics
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial.columns import RATE_SQUARES
from identify.validation import Validation, validate

_LOGGER = logging.getLogger(__name__)


def fit(
    recordings: Recording | LogFile | Sequence[Recording | LogFile],
    settings: FitSettings | None = None,
    *,
    unloaded: Recording | LogFile | Sequence[Recording | LogFile] = (),
    command: str | None = None,
    truth: InertialParameters | None = None,
    **options: Unpack[FitOptions],
) -> Result:
    """Fit one body to one or more of its logs, or a payload and its carrier to logs of both.

    Args:
        recordings: the logs, read or opened; each has a separate sensor offset unless the settings
            specify otherwise.
        settings: all choices in one.
        unloaded: logs of the carrier alone, such as an empty gripper. The others are then of a
            payload on it, and both bodies are fitted together, each physically consistent. Known
            values and needs are of the payload, except terms that name the "carrier".
        command: the command line, for the provenance.
        truth: the true body (of the payload), where known, to replay for comparison; the fit does
            not use it.
        options: choices by their names, in place of those of the settings: `bias` (sensor offset
            fitted "per_log", the default, "shared" by all logs, or "none"), `mass` [kg],
            `cutoff_hz`, `gravity` [m/s²], `terms` such as `[MassBetween(1.0, 1.5)]`, `prior` (a
            `ShapePrior` or `BodyPrior` of the body, "ball", the default, or "none"), `needs` such
            as "mass 1%, com 2mm, inertia 10%", `interval` ("formula", the default, or
            "bootstrap"), `simultaneous`, `apply` (codes of findings to correct before the fit),
            `check` (try all other readings of the logs) and `bounds` (keep certified bounds).
            `FitSettings` documents each.

    Returns:
        The certified estimate with data, validation and provenance; that of a carrier in `carrier`.

    Raises:
        LogError: a log cannot be used as it is.
        SchemaError: a choice is invalid or unknown; or a mass is given for a log whose mass is
            determined at rest.
        ContradictoryTerms: two terms of the body exclude each other.
        MisreadLog: the log contradicts its schema, and as read it gives no estimate.
        NotCorrected: a fault to correct was not found, or cannot be distinguished from another.
        ProblemError: mass or centre of mass cannot be identified, or a sign is wrong.
        SolveError: the solver failed, or its optimum could not be certified.
    """
    loaded, empty = _unique_logs(recordings, unloaded)
    settings = replace(merge_settings(settings, options), unloaded=len(empty))
    log_stage = _LOGGER.info
    scanned = [choose_delay_axes(_scan(source, settings)) for source in (*loaded, *empty)]
    if any(log.may_be_rounded for log in scanned):
        from identify.pipeline.wrench_rounding import remove_rounding_bias

        scanned = remove_rounding_bias(scanned, settings)
    corrections: list[dict[str, object]] = []
    if settings.apply:
        from identify.pipeline.correcting import apply_corrections

        scanned, corrections = apply_corrections(scanned, settings.apply, settings)
    recordings = [log.summary.recording for log in scanned]
    require_same_frames(recordings, has_carrier=bool(empty))
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
    provenance = fit_provenance(logs, settings, command, estimate, corrections)
    open_ = (
        any(map(any, checks.spans))
        or checks.possible_body_changes
        or checks.small_faults_with_gain
        or checks.slightly_likelier
    )
    if open_ and not _has_error(findings):
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
    estimate = replace(estimate, needs=required_precision_met(settings.needs, estimate))
    findings = [*findings, *precision_findings(estimate, settings.needs)]
    estimate = _with_log_metadata(estimate, logs, validation, provenance, findings, small_faults)
    if settings.bounds:
        log_stage("bounding")
        estimate = estimate.with_bounds()
    as_read = tuple(log.summary.statistics for log in scanned)
    return Result(estimate, logs, validation, settings, summarise_checks(checks), as_read)


def _has_error(findings: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


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
        or suggests_wrong_schema([*seen, *precision_findings(estimate, "")]),
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


def _with_log_metadata(
    estimate: Estimate,
    logs: Sequence[LogSummary],
    validation: Validation,
    provenance: Mapping[str, object],
    findings: Sequence[Finding],
    small_faults: FittedEffects | None,
) -> Estimate:
    """Return the estimate with offsets, provenance, findings and R² in each of its bodies."""
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
            dropped_rows=sum(recording.dropped.total for recording in recordings),
            provenance={"body": body.body, **provenance} if estimate.others else provenance,
            findings=sort_findings([*body.findings, *findings]),
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
    """Scan a log; scan it again if a later part of it is faster than the chosen cut-off.

    Raises:
        LogError: it cannot be used.
        MisreadLog: its clock is implausible.
    """
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


def _unique_logs(
    recordings: object, unloaded: object
) -> tuple[list[Recording | LogFile], list[Recording | LogFile]]:
    """Return the logs of a fit, and the logs of the carrier alone; each log may occur once.

    The names of the latter are marked "(unloaded)" in every table and figure.
    """
    given, empty = map(_as_logs, (recordings, unloaded))
    if not given:
        raise LogError("fit needs at least one log")
    empty = [_marked_as_unloaded(log) for log in empty]
    loaded = {log.sha256 for log in given}
    seen: dict[str, str] = {}
    for number, recording in enumerate((*given, *empty)):
        if recording.sha256 in seen:
            why = "a log counted twice would make intervals too narrow"
            if number >= len(given) and recording.sha256 in loaded:
                why = "a log cannot be both with the payload and without it"
            raise LogError(
                f"{recording.name}: the same data as {seen[recording.sha256]}; {why}. Give each "
                "log once"
            )
        seen[recording.sha256] = recording.name
        header = recording.recording if isinstance(recording, LogFile) else recording
        for finding in header.findings:
            if finding.severity == "error":  # found by the reader: the schema is wrong
                raise MisreadLog("", replace(finding, where=recording.name))
    return given, empty


def _marked_as_unloaded(log: Recording | LogFile) -> Recording | LogFile:
    """Return a log of the carrier alone, with "(unloaded)" in its name."""
    if isinstance(log, LogFile):
        return replace(log, recording=_marked_as_unloaded(log.recording))
    return replace(log, name=f"{log.name} (unloaded)")


def _as_logs(recordings: object) -> list[Recording | LogFile]:
    """Return one log, or several, as a list."""
    given = list(recordings) if isinstance(recordings, list | tuple) else [recordings]
    logs = [log for log in given if isinstance(log, Recording | LogFile)]
    for thing in given:
        if not isinstance(thing, Recording | LogFile):
            raise LogError(
                f"fit: expected recordings, got {type(thing).__name__}; read a log with "
                "identify.read_log(log, schema), where log is a file or a DataFrame and the schema "
                "names its columns, or pass arrays to identify.Recording.from_arrays(…)"
            )
    return logs


def _estimate_or_explain(
    logs: Sequence[ScannedLog],
    corrected_logs: Sequence[ScannedLog],
    settings: FitSettings,
    small_faults: FittedEffects | None,
) -> Estimate:
    """Return the estimate, or raise an error that names the likeliest fault of the logs.

    Args:
        logs: as they were read.
        corrected_logs: the same logs without small faults of their sensors.
        settings: of the fit.
        small_faults: fitted small faults; None where there is no fit of them.
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

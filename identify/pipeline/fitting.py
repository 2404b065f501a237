"""`fit`: from recordings to a `FitResult`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from identify.errors import LogError, ProblemError, SolveError
from identify.estimation import (
    Estimate,
    EstimatorSettings,
    FittedEffects,
    NegativeMass,
    PlaceErrors,
    TooLittleMotion,
    estimate_body,
)
from identify.exchange import SavedBias
from identify.findings import CORRECTABLE, REPORTED, Finding, ranked
from identify.inertia import InertialParameters
from identify.logs import LogFile, Recording
from identify.pipeline.check_findings import covers_most_of_log, span_findings
from identify.pipeline.diagnose import Checks, run_checks, suggests_misreading
from identify.pipeline.fit_findings import findings_of_fit, findings_of_log
from identify.pipeline.fitted_effects import fit_sensor_effects
from identify.pipeline.misread import (
    MisreadLog,
    alternative_reading_error,
    explain_negative_mass,
    require_likely_clock,
    require_still_poses,
)
from identify.pipeline.needs import needs_met, precision_findings
from identify.pipeline.preconditions import (
    logs_swapped,
    require_compatible_prior,
    require_live_wrench,
    require_mass_not_given_at_rest,
    require_same_frames,
)
from identify.pipeline.provenance import provenance_of
from identify.pipeline.result import FitResult, summarise_checks
from identify.pipeline.scanned_log import ScannedLog, scan_log, without_effects
from identify.pipeline.settings import (
    FitOptions,
    FitSettings,
    merge_settings,
    reading_from_settings,
)
from identify.pipeline.wrench_delays import choose_delay_axes, settle_delays
from identify.regressors import LogSummary, Statistics
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial.columns import SQUARES
from identify.validation import Validation, validate

_LOG = logging.getLogger(__name__)


def fit(
    recordings: Recording | LogFile | Sequence[Recording | LogFile],
    settings: FitSettings | None = None,
    *,
    unloaded: Recording | LogFile | Sequence[Recording | LogFile] = (),
    command: str | None = None,
    truth: InertialParameters | None = None,
    **options: Unpack[FitOptions],
) -> FitResult:
    """Fit one body to one or more logs of it, or a payload and its carrier to logs of both.

    Args:
        recordings: the logs, read or opened; each has its own sensor offset unless the settings
            say otherwise.
        settings: all choices in one.
        unloaded: logs of the carrier alone, such as an empty gripper. The others are then of a
            payload on it, and both bodies are fitted together, each possible. What is known, and
            needed, is of the payload, but for terms that name the "carrier".
        command: how it was called, for the provenance.
        truth: the true body (the payload's), where it is known, to replay beside the estimate; the
            fit does not see it.
        options: choices by their names, in place of those of the settings: `bias` (sensor offset
            fitted "per_log", the default, "shared" by all logs, or "none"), `mass` [kg],
            `cutoff_hz`, `gravity` [m/s²], `terms` such as `[MassBetween(1.0, 1.5)]`, `prior` (a
            `ShapePrior` or `BodyPrior` of the body, "ball", the default, or "none"), `needs` such
            as "mass 1%, com 2mm, inertia 10%", `interval` ("formula", the default, or
            "bootstrap"), `simultaneous`, `apply` (codes of findings to correct before the fit),
            `check` (try all other readings of the logs) and `bounds` (keep certified bounds).
            `FitSettings` says more of each.

    Returns:
        The certified estimate with data, validation and provenance; of the carrier, where there is
        one, in `carrier`.

    Raises:
        LogError: a log cannot be used as it is.
        SchemaError: a choice is none, or is not known; or a mass is given for a log whose mass is
            found at rest.
        ContradictoryTerms: two things that are said of the body exclude each other.
        MisreadLog: the log is not what its schema says, and as it was read there is no estimate.
        NotCorrected: what is to be corrected was not found, or may be something else.
        ProblemError: mass or centre of mass cannot be identified, or a sign is wrong.
        SolveError: the solver failed, or its answer is not proved.
    """
    loaded, empty = _unique_logs(recordings, unloaded)
    settings = replace(merge_settings(settings, options), unloaded=len(empty))
    say = _LOG.info  # each stage as it begins
    scanned = [choose_delay_axes(_scan(source, settings)) for source in (*loaded, *empty)]
    if any(log.may_be_rounded for log in scanned):
        from identify.pipeline.wrench_rounding import remove_rounding_bias

        scanned = remove_rounding_bias(scanned, settings)
    corrections: list[dict[str, object]] = []
    if settings.apply:
        from identify.pipeline.correcting import apply_corrections

        scanned, corrections = apply_corrections(scanned, settings.apply, settings)
    recordings = [log.summary.recording for log in scanned]
    require_same_frames(recordings, with_carrier=bool(empty))
    require_compatible_prior(settings.prior, recordings)
    require_mass_not_given_at_rest([log.summary for log in scanned], settings)
    say("estimating")
    scanned, effects = settle_delays(scanned, fit_sensor_effects(scanned, settings), settings)
    clean = scanned if effects is None else without_effects(scanned, effects)
    logs = tuple(log.summary for log in clean)
    estimate = _estimate(scanned, clean, settings, effects)
    say("validating")
    validation = validate(logs, estimate, settings, truth)
    fitted = estimate, validation, effects
    findings, checks = _findings(scanned, clean, fitted, settings, corrections)
    provenance = provenance_of(logs, settings, command, estimate, corrections)
    open_ = (
        any(map(any, checks.spans))
        or checks.possible_changes
        or checks.gain_alternative
        or checks.likelier_reading
    )
    if open_ and not _has_error(findings):
        from identify.estimation.inflated_covariance import inflate_covariance
        from identify.pipeline.fault_inflation import add_fault_inflation, fault_inflation

        left = fault_inflation(scanned, checks, estimate, settings)
        findings = [add_fault_inflation(finding, left) for finding in findings]
        if left.covariance.any():
            estimate = inflate_covariance(estimate, left.covariance, left.of_scale)
    estimate = replace(estimate, needs=needs_met(settings.needs, estimate))
    findings = [*findings, *precision_findings(estimate, settings.needs)]
    estimate = _with_log_metadata(estimate, logs, validation, provenance, findings, effects)
    if settings.bounds:
        say("bounding")
        estimate = estimate.with_bounds()
    as_read = tuple(log.summary.statistics for log in scanned)
    return FitResult(estimate, logs, validation, settings, summarise_checks(checks), as_read)


def _has_error(findings: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


_TOO_DENSE_NOTE = "As read, the body is denser than any material."


def _findings(
    scanned: Sequence[ScannedLog],
    clean: Sequence[ScannedLog],
    fitted: tuple[Estimate, Validation, FittedEffects | None],
    settings: FitSettings,
    corrections: Sequence[Mapping[str, object]],
) -> tuple[list[Finding], Checks]:
    """Findings of the logs, the fit and the checks, of one code those of the checks; the checks."""
    (estimate, validation, effects), logs = fitted, [log.summary for log in clean]
    as_read = [log.summary.statistics for log in scanned]
    done = {correction["code"] for correction in corrections}
    seen = [
        # What a log looks like as its schema reads it is not said of what was corrected.
        *(f for log in logs for f in findings_of_log(log) if f.code not in done),
        *findings_of_fit(validation, estimate, logs, as_read, settings),
    ]
    # Spans that were left out may have hidden another reading; a reading that was taken hides none.
    read_otherwise = any("gain" in correction for correction in corrections)
    checks = run_checks(
        scanned,
        settings,
        effects,
        suspect=settings.check or suggests_misreading([*seen, *precision_findings(estimate, "")]),
        corrected=read_otherwise,
    )
    found = list(checks.findings)
    causes = [one for one in found if one.code not in (*CORRECTABLE, *REPORTED)]
    if causes and any(finding.code == "too_dense" for finding in seen):
        # A log that is read wrongly may give such a body; times that are wrong, or drift, do not.
        text = f"{causes[0].text} {_TOO_DENSE_NOTE}"
        cause = replace(causes[0], severity="error", text=text)
        found = [cause if one is causes[0] else one for one in found]
        seen = [finding for finding in seen if finding.code != "too_dense"]
    known = {finding.code for finding in found}
    return [*found, *(finding for finding in seen if finding.code not in known)], checks


def _with_log_metadata(
    estimate: Estimate,
    logs: Sequence[LogSummary],
    validation: Validation,
    provenance: Mapping[str, object],
    findings: Sequence[Finding],
    effects: FittedEffects | None,
) -> Estimate:
    """The estimate, each of its bodies, with what is known of the logs and of the whole fit."""
    recordings, scores = [log.recording for log in logs], validation.scores
    offsets = tuple(
        replace(offset, sha256=recording.sha256)
        for offset, recording in zip(estimate.bias, recordings, strict=True)
    )
    if effects is not None:
        offsets = tuple(_reading_offset(effects, k, offset) for k, offset in enumerate(offsets))

    def known(one: Estimate) -> Estimate:
        return replace(
            one,
            frames=recordings[0].body_frame,
            bias=offsets,
            dropped_rows=sum(recording.dropped.total for recording in recordings),
            provenance={"body": one.body, **provenance} if estimate.others else provenance,
            findings=ranked([*one.findings, *findings]),
            r_squared=None if scores is None else scores.of_signal,
        )

    others = {name: known(one) for name, one in estimate.others.items()}
    return replace(known(estimate), others=others)


def _reading_offset(effects: FittedEffects, log: int, offset: SavedBias) -> SavedBias:
    """The offset of a log's readings, where it is fitted."""
    if offset.half_width is None or not offset.half_width.any():
        return offset
    wrench, errors = effects.offset_of_readings(log, offset.wrench)
    half_width = np.hypot(offset.half_width, HALF_WIDTH_SIGMA * errors)
    return replace(offset, wrench=wrench, half_width=half_width)


def _scan(source: Recording | LogFile, settings: FitSettings) -> ScannedLog:
    """Scan a log; once more where a later part of it is faster than the cut-off that was chosen.

    Raises:
        LogError: it cannot be used.
        MisreadLog: its clock cannot be what it says.
    """
    _LOG.info("preparing %s (%d rows)", source.name, len(source))

    def tell(done: int, rows: int) -> None:
        share = f"{done / rows:.0%}"
        _LOG.debug("preparing %s: %d of %d rows (%s)", source.name, done, rows, share)

    reading = reading_from_settings(settings)
    log = scan_log(source, reading, tell, wide=True)
    cutoff, motion = log.summary.cutoff_hz, log.summary.motion_hz or 0.0
    if cutoff is not None and motion > cutoff:
        log = scan_log(source, replace(reading, cutoff_hz=motion), tell, wide=True)
    require_likely_clock(log.summary)
    if isinstance(source, Recording) and source.still:
        require_still_poses(reading.apply(source))
    dead = [span for span in log.spans if span.code == "dead_channel"]
    if covers_most_of_log(log.summary, dead) and dead:
        raise MisreadLog("", span_findings(log.summary, dead)[0])
    mass_known = settings.mass_known and not settings.unloaded
    require_live_wrench(log.summary, mass_known=mass_known)
    return log


def _unique_logs(
    recordings: object, unloaded: object
) -> tuple[list[Recording | LogFile], list[Recording | LogFile]]:
    """The logs of a fit and those of the carrier alone as lists: at least one, each once.

    The names of the latter say so from here on, in every table and figure.
    """
    given, empty = map(_as_logs, (recordings, unloaded))
    if not given:
        raise LogError("fit needs at least one log")
    empty = [_unloaded(log) for log in empty]
    loaded = {log.sha256 for log in given}
    seen: dict[str, str] = {}
    for number, recording in enumerate((*given, *empty)):
        if recording.sha256 in seen:
            why = "counted twice, a log would look twice as sure"
            if number >= len(given) and recording.sha256 in loaded:
                why = "no log is both with the payload and without it"
            raise LogError(
                f"{recording.name}: the same data as {seen[recording.sha256]}; {why}. Give each "
                "log once"
            )
        seen[recording.sha256] = recording.name
        told = recording.recording if isinstance(recording, LogFile) else recording
        for finding in told.findings:
            if finding.severity == "error":  # of what its reader saw: it cannot be what it says
                raise MisreadLog("", replace(finding, where=recording.name))
    return given, empty


def _unloaded(log: Recording | LogFile) -> Recording | LogFile:
    if isinstance(log, LogFile):
        return replace(log, recording=_unloaded(log.recording))
    return replace(log, name=f"{log.name} (unloaded)")


def _as_logs(recordings: object) -> list[Recording | LogFile]:
    given = list(recordings) if isinstance(recordings, list | tuple) else [recordings]
    logs = [log for log in given if isinstance(log, Recording | LogFile)]
    for thing in given:
        if not isinstance(thing, Recording | LogFile):
            raise LogError(
                f"fit: expected recordings, got {type(thing).__name__}; read a log with "
                "identify.read_log(log, schema), where log is a file or a DataFrame and the schema "
                "says what its columns mean, or name arrays in identify.Recording.from_arrays(…)"
            )
    return logs


def _estimate(
    logs: Sequence[ScannedLog],
    clean: Sequence[ScannedLog],
    settings: FitSettings,
    effects: FittedEffects | None,
) -> Estimate:
    """The estimate, or the error that says what the logs most likely mean.

    Args:
        logs: as they were read.
        clean: the same without small faults of their sensors.
        settings: of the fit.
        effects: those faults; None where there is no fit of them.
    """
    blocks = [log.summary.statistics for log in clean]
    places = PlaceErrors.of([log.summary.imu for log in logs])
    try:
        return estimate_body(blocks, settings, effects, places)
    except NegativeMass as error:
        if settings.unloaded:
            raise _negative_mass_of_two(logs, blocks, settings, error) from error
        raise explain_negative_mass(logs, error) from error
    except (TooLittleMotion, SolveError) as error:
        other = None if settings.unloaded else alternative_reading_error(logs, error, settings)
        if other is not None:
            raise other from error
        if not isinstance(error, TooLittleMotion):
            raise
        read = "; ".join(_describe_reading(log.summary) for log in logs)
        raise TooLittleMotion(error.unidentifiable, f"{error.advice}. Read was {read}") from error


def _negative_mass_of_two(
    logs: Sequence[ScannedLog],
    blocks: Sequence[Statistics],
    settings: FitSettings,
    error: NegativeMass,
) -> NegativeMass:
    """The error to raise for a negative mass of two: a sign in one kind of log, or logs swapped."""
    loaded = len(logs) - settings.unloaded
    parts = ("payload and carrier", slice(0, loaded)), ("carrier", slice(loaded, None))
    for moved, part in parts:
        try:
            estimate_body(blocks[part], EstimatorSettings(bias=settings.bias))
        except NegativeMass as of_part:
            return explain_negative_mass(logs[part], NegativeMass(of_part.mass, body=moved))
        except (ProblemError, SolveError):
            continue
    shared = settings.bias == "shared"
    summaries = [log.summary for log in logs]
    return logs_swapped(summaries[:loaded], summaries[loaded:], error, shared=shared)


def _describe_reading(log: LogSummary) -> str:
    """What was read of a log, so that a unit of time or a mapping gone wrong shows."""
    if log.recording.still:
        return f"{log.name}: still poses, {log.rows_kept} in number"
    spin = np.sqrt(np.mean(np.sum(log.features[:, SQUARES], axis=1)))
    return (
        f"{log.name}: {log.duration:.3g} s at {log.rate_hz:.4g} Hz, turning at {spin:.2g} rad/s "
        "RMS: if that is not so, check [log] time_unit and [pose] maps"
    )

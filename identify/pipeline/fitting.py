"""`fit`: from recordings of any sensor to a `Result`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TypeAlias, Unpack, cast

from identify.errors import LogError, SchemaError
from identify.estimation import Estimate
from identify.findings import sort_findings
from identify.inertia import InertialParameters
from identify.logs import LogFile, Recording
from identify.logs.log_file import header_of, open_runs
from identify.logs.recording_fields import LogLike
from identify.logs.schema import SchemaLike
from identify.pipeline.misread_error import MisreadLog
from identify.pipeline.precision_findings import (
    precision_findings,
    precision_levels,
    unreachable_needs,
)
from identify.pipeline.provenance import fit_provenance
from identify.pipeline.required_precision import (
    ARM_LIMITS,
    STATIC_LIMITS,
    WRENCH_LIMITS,
    PrecisionLimits,
    required_precision_met,
)
from identify.pipeline.result import Result
from identify.pipeline.settings import FitOptions, FitSettings, merge_settings
from identify.sensors import common_sensor

_LOGGER = logging.getLogger(__name__)


FitLog: TypeAlias = "Recording | LogFile | LogLike"
"""A log that is read or opened, or, with its schema, what `read_log` takes."""


def fit(
    recordings: FitLog | Sequence[FitLog],
    settings: FitSettings | None = None,
    *,
    schema: SchemaLike | None = None,
    unloaded: FitLog | Sequence[FitLog] = (),
    command: str | None = None,
    truth: InertialParameters | None = None,
    **options: Unpack[FitOptions],
) -> Result:
    """Fit a body to one or more of its logs, of a wrench or of the joints of the arm that holds it.

    Also fitted are a payload and its carrier to logs of both, and an arm by itself.

    Args:
        recordings: the logs, read or opened, or with a `schema` what `read_log` takes; each has a
            separate sensor offset unless the settings specify otherwise.
        settings: all choices in one.
        schema: of the logs that are not read yet: its file, or a mapping of its keys.
        unloaded: logs of the carrier alone, such as an empty gripper, or of the arm without the
            load. The others are then of a payload on it, and both bodies are fitted together, each
            physically consistent. Known values and needs are of the payload, except terms that name
            the "carrier".
        command: the command line, for the provenance.
        truth: the true body (of the payload), where known, to replay for comparison; the fit does
            not use it.
        options: choices by their names, in place of those of the settings: `bias` (sensor offset
            fitted "per_log", the default, "shared" by all logs, or "none"), `mass` [kg],
            `cutoff_hz`, `gravity` [m/s²], `terms` such as `[MassBetween(1.0, 1.5)]`, `prior` (a
            `ShapePrior` or `BodyPrior` of the body, or as the options of `identify fit`: "ball",
            the default, "none", an estimate.json or "model.urdf#LINK", with `prior_error` or
            `prior_weight`),
            `shape` (a file, or "box X Y Z" [m], with `shape_at`, `shape_scale` and `shape_error`;
            `PriorWords` documents each), `needs` such
            as "mass 1%, com 2mm, inertia 10%", `interval` ("formula", the default, or
            "bootstrap"), `simultaneous`, `apply` (codes of findings to correct before the fit),
            `check` (try all other readings of the logs) and `bounds` (keep certified bounds).
            `FitSettings` documents each. Of logs of joints `mass`, `cutoff_hz`, `gravity`, `terms`,
            `needs` and `interval`, and those of `JointSettings`: `robot` (needed), `frame` of the
            load (without one, the arm itself is fitted), `arm`, `friction`, `torque_scale`,
            `known_load`, `link_accuracy`, `calibration` and `held_out`.

    Returns:
        The certified estimate with data, validation and provenance; that of a carrier in `carrier`.

    Raises:
        LogError: a log cannot be used as it is, or the logs are of two sensors.
        SchemaError: a choice is invalid or unknown, or of another sensor; or a mass is given for a
            log whose mass is determined at rest.
        ContradictoryTerms: two terms of the body exclude each other.
        MisreadLog: the log contradicts its schema, and as read it gives no estimate.
        NotCorrected: a fault to correct was not found, or cannot be distinguished from another.
        ProblemError: mass or centre of mass cannot be identified, or a sign is wrong.
        SolveError: the solver failed, or its optimum could not be certified.
    """
    settings = merge_settings(settings, options)
    sensor_name = None if settings.joints.robot is None else "joints"
    loaded = _as_logs(recordings, schema, sensor_name)
    empty = [_marked_as_unloaded(log) for log in _as_logs(unloaded, schema, sensor_name)]
    _require_unique_logs(loaded, empty)
    headers = [header_of(log) for log in (*loaded, *empty)]
    sensor = common_sensor((header.name, header.sensor) for header in headers)
    settings.require_applicable(sensor)
    if empty and "unloaded" not in sensor.options:
        raise SchemaError(f"unloaded does not apply to logs of {sensor.title}")
    for warning in unreachable_needs(headers, settings):
        _LOGGER.warning("%s", warning)
    result: Result = sensor.load("fit")(loaded, empty, settings, truth)
    return _complete(result, settings.needs, command)


def _complete(result: Result, needs: str, command: str | None) -> Result:
    """Add needs, findings on the precision, provenance and bounds to the result of a fit."""
    estimate = result.estimate
    limits = _limits(result)
    estimate = replace(estimate, needs=required_precision_met(needs, estimate, limits))
    findings = [*precision_findings(estimate, needs, limits)] if result.body_fitted else []
    provenance = fit_provenance(result, command)
    dropped = sum(log.recording.dropped.total for log in result.logs)

    def complete(body: Estimate) -> Estimate:
        return replace(
            body,
            precision=precision_levels(body, needs if body is estimate else "", limits)
            if result.body_fitted
            else {},
            dropped_rows=dropped,
            provenance={"body": body.body, **provenance} if estimate.others else provenance,
            findings=sort_findings([*body.findings, *findings]),
        )

    others = {name: complete(body) for name, body in estimate.others.items()}
    estimate = replace(complete(estimate), others=others)
    if result.settings.bounds:
        _LOGGER.info("bounding")
        estimate = estimate.with_bounds()
    return replace(result, estimate=estimate)


def _limits(result: Result) -> PrecisionLimits:
    """Return the limits of the precision, with what helps for logs of this kind."""
    if result.arm is not None:
        return ARM_LIMITS
    is_static = all(log.recording.still for log in result.logs)
    return STATIC_LIMITS if is_static else WRENCH_LIMITS


def _require_unique_logs(
    loaded: Sequence[Recording | LogFile], empty: Sequence[Recording | LogFile]
) -> None:
    """Raise if there is no log, a log occurs twice, or its reader found that its schema is wrong.

    `empty`: logs of the carrier alone.
    """
    if not loaded:
        raise LogError("fit needs at least one log")
    with_payload = {log.sha256 for log in loaded}
    seen: dict[str, str] = {}
    for number, recording in enumerate((*loaded, *empty)):
        if recording.sha256 in seen:
            why = "a log counted twice would make intervals too narrow"
            if number >= len(loaded) and recording.sha256 in with_payload:
                why = "a log cannot be both with the payload and without it"
            raise LogError(
                f"{recording.name}: the same data as {seen[recording.sha256]}; {why}. Give each "
                "log once"
            )
        seen[recording.sha256] = recording.name
        for finding in header_of(recording).findings:
            if finding.severity == "error":  # found by the reader: the schema is wrong
                raise MisreadLog("", replace(finding, where=recording.name))


def _marked_as_unloaded(log: Recording | LogFile) -> Recording | LogFile:
    """Return a log of the carrier alone, with "(unloaded)" in its name in tables and figures."""
    if isinstance(log, LogFile):
        return replace(log, recording=_marked_as_unloaded(log.recording))
    return replace(log, name=f"{log.name} (unloaded)")


def _as_logs(
    recordings: object, schema: SchemaLike | None, sensor: str | None
) -> list[Recording | LogFile]:
    """Return one log, or several, as a list; those that are not read yet are opened."""
    given = list(recordings) if isinstance(recordings, list | tuple) else [recordings]
    logs: list[Recording | LogFile] = []
    for log in given:
        if isinstance(log, Recording | LogFile):
            logs.append(log)
        elif schema is not None:
            logs += open_runs(cast("LogLike", log), schema, sensor)
        else:
            is_path = isinstance(log, str | PathLike)
            got = f"the path {str(log)!r}" if is_path else type(log).__name__
            raise LogError(
                f"fit: expected recordings, got {got}; a file, a DataFrame and a mapping of arrays "
                "need a schema: give schema=…, such as the file that `identify init LOG` writes"
            )
    return logs

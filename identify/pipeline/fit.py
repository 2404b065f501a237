"""`fit`: from recordings to a `FitResult`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from identify.errors import LogError, ProblemError
from identify.estimation import Estimate, NegativeMass, estimate_body
from identify.logs import Recording
from identify.pipeline.checks import notes_on_fit, notes_on_log, require_live_wrench
from identify.pipeline.provenance import provenance_of
from identify.pipeline.result import FitResult
from identify.pipeline.settings import FitSettings
from identify.regressors import BlockStatistics
from identify.signals import PreparedLog, prepare
from identify.validation import validate

Progress = Callable[[str], None]
"""Called with a line of text when a stage begins."""


def fit(
    recordings: Recording | Sequence[Recording],
    settings: FitSettings | None = None,
    *,
    command: str | None = None,
    progress: Progress | None = None,
) -> FitResult:
    """Fit one body to one or more logs of it.

    Args:
        recordings: the logs; each has its own sensor bias unless the settings say otherwise.
        settings: bias, known mass, cut-off, gravity.
        command: how it was called, for the provenance.
        progress: called with a line of text when a stage begins.

    Returns:
        The certified estimate with data, validation and provenance.

    Raises:
        LogError: a log cannot be used as it is.
        ProblemError: the logs do not tell mass or centre of mass, or a sign is wrong.
        SolveError: the solver failed, or its answer is not proved.
    """
    settings = settings or FitSettings()
    say = progress or (lambda line: None)
    chosen = [recordings] if isinstance(recordings, Recording) else list(recordings)
    _require_logs(chosen)
    logs = []
    for recording in chosen:
        say(f"preparing {recording.name} ({len(recording)} rows)")
        logs.append(_prepare(recording, settings))
    blocks = [block_statistics(log) for log in logs]
    say("estimating")
    estimate = _estimate(logs, blocks, settings)
    estimate = replace(
        estimate,
        log_ids=tuple(log.recording.sha256 for log in logs),
        dropped_rows=sum(log.recording.dropped.total for log in logs),
        provenance=provenance_of(logs, settings, command),
    )
    say("validating")
    validation = validate(logs, blocks, estimate, settings.estimator)
    notes = [note for log in logs for note in (*log.notes, *notes_on_log(log))]
    return FitResult(
        estimate=estimate,
        logs=tuple(logs),
        validation=validation,
        settings=settings,
        notes=(*notes, *notes_on_fit(validation)),
    )


def block_statistics(log: PreparedLog) -> BlockStatistics:
    """Block statistics of a prepared log."""
    return BlockStatistics.from_rows(
        log.rows,
        log.effective,
        noise=log.noise,
        segment_ids=log.segment_ids,
        still=log.recording.still,
    )


def _prepare(recording: Recording, settings: FitSettings) -> PreparedLog:
    if settings.gravity is not None:
        recording = replace(recording, gravity=np.array(settings.gravity, dtype=np.float64))
    require_live_wrench(recording)
    return prepare(recording, settings.cutoff_hz)


def _require_logs(recordings: Sequence[Recording]) -> None:
    if not recordings:
        raise LogError("fit needs at least one log")
    seen: dict[str, str] = {}
    for recording in recordings:
        if recording.sha256 in seen:
            raise LogError(
                f"{recording.name}: the same data as {seen[recording.sha256]}; counted twice, a "
                f"log "
                f"would look twice as sure. Give each log once"
            )
        seen[recording.sha256] = recording.name


def _estimate(
    logs: Sequence[PreparedLog], blocks: Sequence[BlockStatistics], settings: FitSettings
) -> Estimate:
    try:
        return estimate_body(blocks, settings.estimator)
    except NegativeMass as error:
        wrench = logs[0].recording.schema.get("wrench")
        acts_on = wrench.get("acts_on") if isinstance(wrench, dict) else None
        if acts_on is None:
            raise
        other = "body" if acts_on == "sensor" else "sensor"
        raise ProblemError(
            f"the unconstrained mass is {error.mass:.4g} kg, so a sign is wrong. Most likely the "
            f"wrench "
            f'has the other one: in the schema, [wrench], change `acts_on = "{acts_on}"` to '
            f'`acts_on = "{other}"`. Else gravity points the other way: check [world] gravity = '
            f"{logs[0].recording.gravity.tolist()}"
        ) from error

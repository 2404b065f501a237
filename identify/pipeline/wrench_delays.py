"""Delays of the wrench, found by correlation and settled by reading the logs again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from identify.diagnosis import Explanation, Fault
from identify.diagnosis.delays import Correlation, correlation
from identify.diagnosis.fault_model import CONVERGED_SIGMA, FaultModel, gauss_newton
from identify.diagnosis.misfit import BandRows
from identify.diagnosis.ranking import BaselineLikelihood
from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings, FittedEffects
from identify.findings import Finding
from identify.logs.effects import EFFECT_KEYS
from identify.pipeline.fitted_effects import comparison_bands, deviance, fit_sensor_effects
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import WIDE_LAYOUT, LogSummary
from identify.relevance import EXACT_MAP_DELAY
from identify.significance import CLEAR_LEAD, HALF_WIDTH_SIGMA

_MAX_REREADINGS = 4
"""Times that logs are read again for one delay, at the most."""

_FROZEN_MARGIN = 0.05
"""Time by which the first sample of a late wrench may come later than its delay [s]."""


def correlate_log(log: LogSummary, turned_by: float | None = None) -> Correlation | None:
    """The correlation of a log's wrench with its motion; None of still poses and short logs.

    Args:
        log: its summary.
        turned_by: as of `correlation`, where not by the axes in which it is read as late.
    """
    recording = log.recording
    if recording.still or log.statistics.layout != WIDE_LAYOUT:
        return None
    if turned_by is None and recording.frames["wrench"] == recording.delay_axes == "world":
        turned_by = 0.0
    return correlation(log.time, log.rows, log.segment_ids, turned_by)


def choose_delay_axes(log: ScannedLog) -> ScannedLog:
    """A log whose wrench is in world axes, read as late in those if that is clearly likelier.

    A wrench that is late stands still until its first sample: that time is not frozen.
    """
    recording = log.summary.recording
    may_be_world = (recording.frames["wrench"], recording.delay_axes) == ("world", "body")
    if not may_be_world and all(span.code != "frozen_wrench" for span in log.spans):
        return log
    seen = correlate_log(log.summary)
    if seen is None:
        return log
    if may_be_world:
        in_world = correlate_log(log.summary, recording.wrench_delay)
        if in_world is not None and seen.cost - in_world.cost > CLEAR_LEAD:
            log = log.rescan(log.summary.reading.with_patch({"wrench.delay_axes": "world"}))
            seen = in_world
    late = recording.wrench_delay + (seen.delay if seen.gain > CLEAR_LEAD else 0.0)
    start, stop = (
        log.summary.span[0] + late + _FROZEN_MARGIN,
        log.summary.span[1] + late - _FROZEN_MARGIN,
    )
    inside = [s.stop > start and s.start < stop for s in log.spans]
    kept = (s for s, a in zip(log.spans, inside, strict=True) if a or s.code != "frozen_wrench")
    return log._replace(spans=tuple(kept))


def settle_delays(
    logs: Sequence[ScannedLog], effects: FittedEffects | None, settings: EstimatorSettings
) -> tuple[list[ScannedLog], FittedEffects | None]:
    """Logs read with the small delays that were found of them, and the effects that are left then.

    The map of a delay is of second order: a larger one is settled by reading the logs again, as
    long as they are likelier so, which those that went through a low-pass filter are not.

    Args:
        logs: as they were read.
        effects: of their sensors.
        settings: of the fit.
    """
    now, cap = list(logs), EFFECT_KEYS["delay_s"].cap
    for _ in range(_MAX_REREADINGS if effects is not None else 0):
        assert effects is not None
        own = {b.sensor: b.start for b in effects.model.blocks if b.group.name == "delay_s"}
        at = list(own.values())
        settled = (np.abs(effects.eta[at]) <= EXACT_MAP_DELAY).all()
        if settled or (np.abs(effects.total[at]) > cap).any():  # that is another reading
            break
        steps = [float(effects.eta[own[k]]) if k in own else 0.0 for k in effects.model.sensors]
        try:
            again = [_with_later_wrench(log, step) for log, step in zip(now, steps, strict=True)]
            after = fit_sensor_effects(again, settings)
        except IdentifyError:  # too little of a log has both
            break
        bands = comparison_bands(now)
        if after is None or deviance(again, after, bands) >= deviance(now, effects, bands):
            break
        if after.model.count != effects.model.count:  # a cable was left out
            break
        taken = effects.total - effects.eta
        taken[at] = effects.total[at]
        now, effects = again, replace(after, taken=taken)
    return now, effects


def _with_later_wrench(log: ScannedLog, step: float) -> ScannedLog:
    """A log read with a wrench that is later by so much [s] than it was read with."""
    if log.summary.recording.still:
        return log
    delay = log.summary.recording.wrench_delay + step
    return log.rescan(log.summary.reading.with_patch({"wrench.delay_s": delay}))


def delayed_explanations(
    compared: BaselineLikelihood,
    logs: Sequence[ScannedLog],
    candidate: tuple[Fault, ...],
    bands: Sequence[tuple[int, ...]],
    rows: int,
) -> Iterator[Explanation]:
    """The logs read with the delay that their correlation shows, settled by Gauss-Newton steps.

    Args:
        compared: the logs as read.
        logs: of one body.
        candidate: the delay of each log.
        bands: that are compared, of each.
        rows: of a log that are read again, about.
    """
    seen = [correlate_log(log.summary) for log in logs]
    delays = [c.delay for c in seen if c is not None and c.gain > CLEAR_LEAD]
    if not delays and None not in seen:
        return
    size = np.array([np.median(delays) if delays else 0.0])
    for last in (*(False,) * (_MAX_REREADINGS - 1), True):
        again = list[BandRows]()
        try:
            for log, fault, own in zip(logs, candidate, bands, strict=True):
                assert fault.patch is not None
                reading = log.summary.reading.with_patch(fault.patch(size))
                now = log.rescan_subset(rows, reading, wide=True, validated=False)
                again.append(BandRows.of(now.statistics, own))
        except IdentifyError:  # too little of a log has both
            return
        trial = gauss_newton(FaultModel.at(again, candidate, np.zeros(1)))
        if trial is None:
            return
        half = HALF_WIDTH_SIGMA * np.sqrt(np.diag(trial.step()[1]))
        if last or (np.abs(trial.size) <= CONVERGED_SIGMA * half).all():
            text = Explanation(0.0, trial.phi, candidate, size, half).text
            yield compared.read_again(again, [fault.at_size(size, text) for fault in candidate])
            return
        size = size + trial.size


def changing_delay_finding(log: LogSummary) -> Finding | None:
    """The finding of a log whose latency changes; None where one delay explains it as well."""
    seen = correlate_log(log)
    if seen is None or not seen.changes:
        return None
    delays = log.recording.wrench_delay + seen.parts
    ms = ", ".join(f"{1e3 * delay:.0f}" for delay in delays)
    return Finding(
        "delay",
        "error",
        f"the latency of the wrench changes: it is late by {ms} ms in {len(delays)} parts of the "
        "log, one after the other.",
        "Stamp the wrench where it is measured, or log with one clock; or cut the log where the "
        "latency changes, and write `delay_s` of each part into its schema.",
        {"delays": delays.tolist()},
        log.name,
    )

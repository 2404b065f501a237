"""Delays of the wrench: estimated by correlation, and refined by rescanning the logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from identify.diagnosis import Explanation, Fault
from identify.diagnosis.body_likelihood import BandRows
from identify.diagnosis.delays import DelayEstimate, estimate_delay
from identify.diagnosis.fault_model import CONVERGED_SIGMA, FaultModel, gauss_newton
from identify.diagnosis.ranking import BaselineLikelihood
from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings
from identify.findings import Finding
from identify.logs.effect_keys import EFFECT_KEYS
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.small_fault_fit import FittedLogs, comparison_bands, deviance
from identify.regressors import WIDE_LAYOUT, LogSummary
from identify.relevance import MAX_DELAY_OF_EXPANSION
from identify.significance import CLEAR_LIKELIHOOD_LEAD, HALF_WIDTH_SIGMA

_MAX_RESCANS = 4
"""Maximum number of times that logs are rescanned to refine one delay."""

_FROZEN_MARGIN = 0.05
"""Tolerance by which the constant start of a delayed wrench may exceed the delay [s]."""


def correlate_log(log: LogSummary, attitude_delay: float | None = None) -> DelayEstimate | None:
    """Correlate a log's wrench with its motion; None for static poses and short logs.

    `attitude_delay`: see `estimate_delay`; by default that of the axes in which the wrench is
    delayed.
    """
    recording = log.recording
    if recording.still or log.statistics.layout != WIDE_LAYOUT:
        return None
    if attitude_delay is None and recording.frames["wrench"] == recording.delay_axes == "world":
        attitude_delay = 0.0
    return estimate_delay(log.time, log.rows, log.segment_ids, attitude_delay)


def choose_delay_axes(log: ScannedLog) -> ScannedLog:
    """Scan a log again with its wrench delay applied in world axes, if that is clearly likelier.

    A late wrench is constant until its first sample: this time is no frozen span.
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
        if in_world is not None and seen.cost - in_world.cost > CLEAR_LIKELIHOOD_LEAD:
            log = log.rescan(log.summary.reading.with_patch({"wrench.delay_axes": "world"}))
            seen = in_world
    late = recording.wrench_delay + (
        seen.delay if seen.log_likelihood_ratio > CLEAR_LIKELIHOOD_LEAD else 0.0
    )
    start = log.summary.span[0] + late + _FROZEN_MARGIN
    stop = log.summary.span[1] + late - _FROZEN_MARGIN
    inside = [s.stop > start and s.start < stop for s in log.spans]
    kept = (s for s, a in zip(log.spans, inside, strict=True) if a or s.code != "frozen_wrench")
    return log._replace(spans=tuple(kept))


def refine_delays(logs: FittedLogs, settings: EstimatorSettings) -> FittedLogs:
    """Scan logs again with their fitted wrench delays, until remaining delays are negligible.

    The map of a delay is of second order: a larger delay is iterated by rescanning, as long as the
    deviance decreases, which it does not for low-pass filtered logs.
    """
    cap = EFFECT_KEYS["delay_s"].max_size
    for _ in range(_MAX_RESCANS):
        if (small_faults := logs.small_faults) is None:
            break
        start = {b.sensor: b.start for b in small_faults.model.blocks if b.fault.name == "delay_s"}
        at = list(start.values())
        are_negligible = (np.abs(small_faults.eta[at]) <= MAX_DELAY_OF_EXPANSION).all()
        beyond_cap = (np.abs(small_faults.eta_including_removed[at]) > cap).any()
        if are_negligible or beyond_cap:  # an alternative reading
            break
        steps = [
            float(small_faults.eta[start[k]]) if k in start else 0.0
            for k in small_faults.model.sensors
        ]
        try:
            again = [
                _rescan_with_added_delay(log, step)
                for log, step in zip(logs.scanned, steps, strict=True)
            ]
            rescanned = FittedLogs.fit(again, settings)
        except IdentifyError:  # too little overlap of wrench and motion
            break
        bands, after = comparison_bands(logs.scanned), rescanned.small_faults
        if after is None or deviance(rescanned, bands) >= deviance(logs, bands):
            break
        if after.model.effect_count != small_faults.model.effect_count:  # a cable was left out
            break
        already_removed = small_faults.eta_including_removed - small_faults.eta
        already_removed[at] = small_faults.eta_including_removed[at]
        logs = replace(rescanned, small_faults=replace(after, already_removed=already_removed))
    return logs


def _rescan_with_added_delay(log: ScannedLog, added_delay: float) -> ScannedLog:
    """Rescan a log with the delay of its wrench increased by `added_delay` [s]."""
    if log.summary.recording.still:
        return log
    delay = log.summary.recording.wrench_delay + added_delay
    return log.rescan(log.summary.reading.with_patch({"wrench.delay_s": delay}))


def delayed_explanations(
    baseline: BaselineLikelihood,
    logs: Sequence[ScannedLog],
    delay_faults: tuple[Fault, ...],
    bands: Sequence[tuple[int, ...]],
    rows: int,
) -> Iterator[Explanation]:
    """Yield explanations of logs by a wrench delay, found by correlation and Gauss-Newton steps."""
    seen = [correlate_log(log.summary) for log in logs]
    delays = [
        c.delay for c in seen if c is not None and c.log_likelihood_ratio > CLEAR_LIKELIHOOD_LEAD
    ]
    if not delays and None not in seen:
        return
    size = np.array([np.median(delays) if delays else 0.0])
    for last in (*(False,) * (_MAX_RESCANS - 1), True):
        again = list[BandRows]()
        try:
            for log, fault, kept in zip(logs, delay_faults, bands, strict=True):
                assert fault.patch is not None
                reading = log.summary.reading.with_patch(fault.patch(size))
                subset = log.rescan_subset(rows, reading, all_columns=True)
                again.append(BandRows.of(subset.statistics, kept))
        except IdentifyError:  # too little overlap of wrench and motion
            return
        if not all(of_log.bands for of_log in again):  # less than one sample is left in each band
            return
        trial = gauss_newton(FaultModel.at(again, delay_faults, np.zeros(1)))
        if trial is None:
            return
        half = HALF_WIDTH_SIGMA * np.sqrt(np.diag(trial.step().covariance))
        if last or (np.abs(trial.size) <= CONVERGED_SIGMA * half).all():
            text = Explanation(0.0, trial.phi, delay_faults, size, half).text
            yield baseline.explain_by_rescan(
                again, [fault.at_size(size, text) for fault in delay_faults]
            )
            return
        size = size + trial.size


def changing_delay_finding(log: LogSummary) -> Finding | None:
    """Return the finding of a log whose latency changes; None if one delay explains the log."""
    seen = correlate_log(log)
    if seen is None or not seen.is_variable:
        return None
    delays = log.recording.wrench_delay + seen.delay_by_part
    ms = ", ".join(f"{1e3 * delay:.0f}" for delay in delays)
    return Finding(
        "delay",
        "error",
        f"the latency of the wrench changes: it is {ms} ms in {len(delays)} consecutive parts of "
        "the log.",
        "Stamp the wrench where it is measured, or log with one clock; or split the log where the "
        "latency changes, and write `delay_s` of each part into its schema.",
        {"delays": delays.tolist()},
        log.name,
    )

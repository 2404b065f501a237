"""Removal of the mean error that coarse rounding causes in the wrench of logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from identify.arrays import Phi, Vec6
from identify.errors import IdentifyError, LogError
from identify.estimation import EstimatorSettings
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.settings import body_system
from identify.logs import LogFile
from identify.pipeline.scanned_log import ScannedLog, scan_log
from identify.regressors.log_scan import iterate_excerpts
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.signals import full_rate_segments
from identify.signals.predicted_wrench import PredictedWrench
from identify.signals.preparation import lacks_acceleration
from identify.signals.wrench_quantisation import (
    MIN_VALUES,
    MIN_VALUES_STATIC,
    Quantiser,
    WrenchQuantisation,
    fit_quantiser,
)

_STEP_FIT_ROWS = 4000
"""Number of rows at the beginning of a log from which the rounding steps are determined."""

_MAX_RESIDUAL_ROWS = 20_000
"""Maximum number of rows from which the residual of the wrench is computed."""


def remove_rounding_bias(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> Sequence[ScannedLog]:
    """Rescan logs with the mean rounding error subtracted, if their rounding steps are coarse.

    The error of rounding is a function of the wrench, and so of the motion: noise below half a step
    does not average it out, and part of it looks like inertia. Its mean follows from the wrench,
    which a first least-squares fit predicts.

    `logs`: as they were read, those of the carrier alone last.
    """
    steps = [_rounding_steps(log) for log in logs]
    if not any(step.step for of_log in steps for step in of_log):
        return logs
    try:
        system = body_system([log.summary.statistics for log in logs], settings)
        fit = weighted_least_squares(system, settings.all_terms)
    except IdentifyError:
        return logs
    bodies = fit.x[: 20 if settings.unloaded else 10].reshape(-1, 10)
    offsets, loaded = fit.wrench_offsets(fit.x), len(logs) - settings.unloaded
    return [
        _rescan_without_rounding_bias(
            log, of_log, bodies.sum(axis=0) if k < loaded else bodies[-1], offset
        )
        for k, (log, of_log, offset) in enumerate(zip(logs, steps, offsets, strict=True))
    ]


def _rescan_without_rounding_bias(
    log: ScannedLog, steps: Sequence[Quantiser], phi: Phi, offset: Vec6
) -> ScannedLog:
    """Rescan a log without the mean rounding error of a body's wrench, if steps are coarse."""
    rounding = WrenchQuantisation(
        quantisers=tuple(steps),
        noise=(0.0,) * 6,
        body=PredictedWrench.of(FEATURE_TENSOR, phi, offset, log.summary.cutoff_hz),
    )
    rounding = replace(rounding, noise=_noise_before_rounding(log, rounding))
    if not any(rounding.is_coarse):
        return log
    reading = replace(log.summary.reading, quantisation=rounding)
    return scan_log(log.source, reading, all_columns=log.has_all_columns)._replace(spans=log.spans)


def _rounding_steps(log: ScannedLog) -> tuple[Quantiser, ...]:
    """Determine the rounding step of each wrench channel from the first rows of a log."""
    source = log.source
    first = (
        source.reader()(0, _STEP_FIT_ROWS, 0).recording if isinstance(source, LogFile) else source
    )
    # Resampling to one clock gives values between the steps; and a force from which the motion is
    # computed cannot be predicted by it.
    if first.streams or lacks_acceleration(first):
        return (Quantiser(0.0, 0.0),) * 6
    wrench = np.hstack([first.signals[name][:_STEP_FIT_ROWS] for name in ("force", "torque")])
    fewest = MIN_VALUES_STATIC if first.still else MIN_VALUES
    return tuple(fit_quantiser(channel, fewest) for channel in wrench.T)


def _noise_before_rounding(log: ScannedLog, rounding: WrenchQuantisation) -> tuple[float, ...]:
    """Return the noise of each wrench channel before rounding, from its residual."""
    squares, count = np.zeros(6), 0
    for excerpt in iterate_excerpts(
        log.source, replace(log.summary.reading, max_rows=_MAX_RESIDUAL_ROWS)
    ):
        try:
            parts = full_rate_segments(
                excerpt.recording, rounding.body.cutoff_hz, excerpt.span, imu=log.summary.imu
            )
        except LogError:  # too few good rows there
            continue
        for part in parts:
            inner, wrench = rounding.body.body_wrench(excerpt.recording, part)
            squares += np.sum((part.logged_wrench[inner] - wrench) ** 2, axis=0)
            count += len(wrench)
    sizes = np.array([step.step for step in rounding.quantisers])
    power = squares / count if count else np.full(6, np.inf)
    return tuple(np.sqrt(np.maximum(power - sizes**2 / 12.0, 0.0)).tolist())

"""What a person should know: of a log before the fit, and of a fit before believing it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array
from identify.errors import LogError, ProblemError, SolveError
from identify.estimation import Estimate, EstimatorSettings, estimate_body
from identify.logs import Recording
from identify.pipeline.result import FitSettings
from identify.regressors import WRENCH, Statistics
from identify.signals import PreparedLog
from identify.validation import ESTIMATE, HeldOutScores, Validation

_FAST = 20.0
"""Speed above which a position is more likely in another unit [m/s]."""

_SPIN = 60.0
"""Rate above which an angle is more likely in degrees [rad/s]."""

_MANY_UNUSED = 0.2
"""Share of a log's rows that may go unused without a word."""

_POOR_FIT = 0.9
"""Held-out R² of an axis below which the fit explains too little of it …"""

_SHARE_OF_SIGNAL = 0.2
"""… if the axis carries at least this share of the largest signal among forces or torques."""

_FAR_OFF, _TURNED_OFF = 0.5, 0.5
"""Replay errors [m, rad] at the end of the horizon beyond which it runs off."""

_FAR = 5.0
"""Standard errors by which the data contradict a term that moves the estimate as far."""

_WORSE = 1.5
"""Ratio of residuals beyond which a choice is called wrong for the data."""


def require_live_wrench(recording: Recording) -> None:
    """Raise if the force or the torque never changes: a dead sensor, or the wrong columns.

    Raises:
        LogError: it does not.
    """
    if len(recording) < 2:
        return
    for name in ("force", "torque"):
        values = recording.signals[name]
        if not np.ptp(values, axis=0).any():
            raise LogError(
                f"{recording.name}: the {name} is {values[0].tolist()} in all {len(recording)} "
                f"rows: the sensor was off, or [wrench] {name} in the schema names the wrong "
                "columns"
            )


def notes_on_log(log: PreparedLog) -> list[str]:
    """Notes on how a log was read and on values that look like another unit's."""
    recording, notes = log.recording, []
    dropped = recording.dropped
    if dropped.total:
        notes.append(
            f"{log.name}: {dropped.total} of {recording.rows} rows dropped ({dropped.not_finite} "
            f"not finite, {dropped.cut_short} cut short, {dropped.not_numbers} not numbers)."
        )
    if log.unused > _MANY_UNUSED * len(recording):
        notes.append(
            f"{log.name}: {log.unused} of {len(recording)} rows are not used: they stand in "
            "segments between gaps or jumps that are too short to filter."
        )
    speed = max((_fastest(segment.velocity) for segment in log.segments), default=0.0)
    if speed > _FAST:
        notes.append(
            f"{log.name}: the body's origin moves at up to {speed:.3g} m/s; if the position is in "
            f'millimetres, set `position_unit = "mm"` in [pose].'
        )
    spin = max((_fastest(segment.angular_velocity) for segment in log.segments), default=0.0)
    if spin > _SPIN:
        notes.append(
            f"{log.name}: the body turns at up to {spin:.3g} rad/s; if angles are in degrees, set "
            f'`angle_unit = "deg"`.'
        )
    return notes


def _fastest(values: Array) -> float:
    return float(np.linalg.norm(values, axis=1).max())


def notes_on_fit(
    validation: Validation,
    estimate: Estimate,
    blocks: Sequence[Statistics],
    settings: FitSettings,
) -> list[str]:
    """Notes on what the equations leave unexplained, and on choices that the data contradict."""
    notes = [_unexplained(validation.scores) if validation.scores else ""]
    if validation.replay is not None:
        errors = validation.replay.errors[ESTIMATE]
        if not (errors.position[-1] < _FAR_OFF and errors.attitude[-1] < _TURNED_OFF):
            notes.append(
                f"The motion simulated from the estimate runs off: {errors.position[-1]:.2g} m and "
                f"{np.rad2deg(errors.attitude[-1]):.2g}° from the measured one after "
                f"{errors.horizon[-1]:.2g} s."
            )
    notes.append(_contradicted(estimate, blocks, settings))
    return [note for note in notes if note]


def _unexplained(scores: HeldOutScores) -> str:
    """A note where axes of the wrench are predicted badly, or nothing."""
    signal = scores.rms / np.maximum(scores.normalised_rms, np.finfo(float).tiny)
    largest = np.repeat([signal[:3].max(), signal[3:].max()], 3)
    poor = (scores.r_squared < _POOR_FIT) & (signal > _SHARE_OF_SIGNAL * largest)
    if not poor.any():
        return ""
    axes = ", ".join(f"{WRENCH[i]} {scores.r_squared[i]:.2f}" for i in np.flatnonzero(poor))
    return (
        f"The fit explains little of the measured wrench (held-out R²: {axes}). The body is "
        "consistent, but the numbers are not to be trusted: check units, axes, order and signs "
        "in the schema, the sensor's mount, and that nothing touched the body."
    )


def _contradicted(estimate: Estimate, blocks: Sequence[Statistics], settings: FitSettings) -> str:
    """A note where what is known, or an offset left out or shared, makes the residual worse."""
    said = {"none": "without sensor offset", "shared": "with one sensor offset for all logs"}
    choices = [said[settings.bias]] if settings.bias in said else []
    if settings.mass is not None:
        choices.append(f"with the mass given as {settings.mass:g} kg")
    choices += [f"with {term}" for term in settings.terms]
    if not choices:
        return ""
    try:
        free = estimate_body(blocks, EstimatorSettings())
    except (ProblemError, SolveError):
        return ""
    tiny = np.finfo(float).tiny
    worse = float(np.max(estimate.residual_rms / np.maximum(free.residual_rms, tiny)))
    moved = _standard_errors(estimate, free)
    if worse < _WORSE and (moved < _FAR or not settings.terms):
        return ""
    return (
        f"Fitted {' and '.join(choices)}, the residual of an axis is {worse:.2g} times that of a "
        f"fit that leaves this to the data, whose mass is {free.parameters.mass:.5g} kg: the data "
        f"contradict the choice, by {moved:.2g} standard errors."
    )


def _standard_errors(estimate: Estimate, free: Estimate) -> float:
    """How far terms moved an estimate from the one without, in standard errors of that."""
    away = estimate.parameters.phi - free.parameters.phi
    sigma = np.sqrt(np.diag(free.covariance))
    sigma = np.where(sigma > 0.0, sigma, np.inf)
    inverse = np.linalg.pinv(free.covariance / np.outer(sigma, sigma), rcond=1e-12, hermitian=True)
    return float(np.sqrt(max(away / sigma @ inverse @ (away / sigma), 0.0)))

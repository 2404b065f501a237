"""What a person should know before believing a fit: to be consistent is not to fit well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.errors import ProblemError, SolveError
from identify.estimation import Estimate, EstimatorSettings, estimate_body
from identify.pipeline.settings import FitSettings
from identify.regressors import WRENCH, Statistics
from identify.validation import ESTIMATE, Validation

_POOR_FIT = 0.9
"""Held-out R² of an axis below which the fit explains too little of it …"""

_SHARE_OF_SIGNAL = 0.2
"""… if the axis carries at least this share of the largest signal among forces or torques."""

_FAR_OFF, _TURNED_OFF = 0.5, 0.5
"""Replay errors [m, rad] at the end of the horizon beyond which it runs off."""

_WORSE = 1.5
"""Ratio of residuals beyond which a choice is called wrong for the data."""


def notes_on_fit(
    validation: Validation,
    estimate: Estimate,
    blocks: Sequence[Statistics],
    settings: FitSettings,
) -> list[str]:
    """Notes on what the equations leave unexplained, and on choices that the data contradict."""
    return [
        *_unexplained(validation),
        *_replay_runs_off(validation),
        *_contradicted(estimate, blocks, settings),
    ]


def _unexplained(validation: Validation) -> list[str]:
    scores = validation.scores
    if scores is None:
        return []
    signal = scores.rms / np.maximum(scores.normalised_rms, np.finfo(float).tiny)
    largest = np.repeat([signal[:3].max(), signal[3:].max()], 3)
    poor = (scores.r_squared < _POOR_FIT) & (signal > _SHARE_OF_SIGNAL * largest)
    if not poor.any():
        return []
    axes = ", ".join(f"{WRENCH[i]} {scores.r_squared[i]:.2f}" for i in np.flatnonzero(poor))
    return [
        f"The fit explains little of the measured wrench (held-out R²: {axes}). The body is "
        f"consistent, "
        f"but the numbers are not to be trusted: check units, axes, order and signs in the schema, "
        f"the sensor's mount, and that nothing touched the body."
    ]


def _replay_runs_off(validation: Validation) -> list[str]:
    replay = validation.replay
    if replay is None:
        return []
    errors = replay.errors[ESTIMATE]
    if errors.position[-1] < _FAR_OFF and errors.attitude[-1] < _TURNED_OFF:
        return []
    return [
        f"The motion simulated from the estimate runs off: {errors.position[-1]:.2g} m and "
        f"{np.rad2deg(errors.attitude[-1]):.2g}° from the measured one after "
        f"{errors.horizon[-1]:.2g} s."
    ]


def _contradicted(
    estimate: Estimate, blocks: Sequence[Statistics], settings: FitSettings
) -> list[str]:
    """A note where a given mass, or a bias left out or shared, makes the residual clearly worse."""
    said = {"none": "without sensor bias", "shared": "with one sensor bias for all logs"}
    choices = [said[settings.bias]] if settings.bias in said else []
    if settings.mass is not None:
        choices.append(f"with the mass given as {settings.mass:g} kg")
    if not choices:
        return []
    try:
        free = estimate_body(blocks, EstimatorSettings())
    except (ProblemError, SolveError):
        return []
    tiny = np.finfo(float).tiny
    worse = float(np.max(estimate.residual_rms / np.maximum(free.residual_rms, tiny)))
    if worse < _WORSE:
        return []
    return [
        f"Fitted {' and '.join(choices)}, the residual of an axis is {worse:.2g} times that of a "
        f"fit "
        f"that leaves this to the data, whose mass is {free.parameters.mass:.5g} kg: the data "
        f"contradict the choice."
    ]

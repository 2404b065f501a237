"""Force gain of a sensor from the log of a weighed body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import require_positive
from identify.errors import ProblemError, SchemaError
from identify.estimation import Estimate, estimate_body
from identify.pipeline.result import Result
from identify.regressors import SCAN_LAYOUT
from identify.regressors.log_corrections import sensor_gain_map

_GAIN_TOLERANCE, _MAX_GAIN_ITERATIONS = 1e-7, 20
"""Relative tolerance of the mass, and maximum number of iterations for the force gain."""

_MAX_GAIN = 1.5
"""Largest plausible gain, or its inverse; a larger error is a wrong unit or another body."""

_OTHER_MASS_UNITS = {"grams": 1e3, "pounds": 1.0 / 0.45359237}
"""Units in which a mass may be given by mistake, each as how many of it are a kilogram."""

_SAME_MASS = 0.05
"""Largest relative difference of a given mass, read in another unit, from the fitted mass."""


class ForceGain(NamedTuple):
    """Ratio of the true force to the force that a sensor measures.

    Attributes:
        gain: the ratio.
        sigma: its relative standard error: repeatability of the log.
    """

    gain: float
    sigma: float


def force_gain(result: Result, mass: float) -> ForceGain:
    """Return the force gain with which a fit reproduces the mass of a weighed body.

    It includes errors of gravity, which later logs at the same place share.

    Args:
        result: of logs of the weighed body or payload, fitted without its mass.
        mass: as weighed [kg].

    Raises:
        SchemaError: the mass is not positive.
        ProblemError: the mass was given to the fit, or no plausible gain reproduces it.
    """
    require_positive(mass, "known mass", "kg", SchemaError)
    if result.settings.mass_known or result.verdict.usable == "no":
        raise ProblemError(
            "the gain of a sensor needs a fit without a known mass whose verdict allows its use"
        )
    gain = 1.0
    for _ in range(_MAX_GAIN_ITERATIONS):
        estimate = _estimate_with_gain(result, gain)
        share = mass / estimate.parameters.mass
        if not 1.0 / _MAX_GAIN < gain * share < _MAX_GAIN:
            fitted = mass / (gain * share)
            hint = mass_in_other_unit(mass, fitted) or "check force_unit and the mass"
            raise ProblemError(
                f"{mass:g} kg is {gain * share:.4g} times the fitted mass, too far for the gain of "
                f"a sensor: {hint}"
            )
        if abs(share - 1.0) < _GAIN_TOLERANCE:
            return ForceGain(gain, float(np.sqrt(estimate.covariance[0, 0])) / mass)
        gain *= share
    raise ProblemError(
        f"no gain of the force makes the fitted mass equal to the given {mass:g} kg: check "
        "the given mass, and the unit and sign of the force in the schema"
    )


def mass_in_other_unit(given: float, fitted: float) -> str:
    """Return what to give for a mass in another unit than kg; empty if it seems to be in kg.

    `fitted`: to the logs without it [kg].
    """
    for unit, per_kilogram in _OTHER_MASS_UNITS.items():
        mass = given / per_kilogram
        if abs(mass / fitted - 1.0) < _SAME_MASS:
            return f"the given mass {given:g} looks like {unit}; give {mass:.4g} (in kg)"
    return ""


def _estimate_with_gain(result: Result, gain: float) -> Estimate:
    """Estimate the body from the same logs with the force multiplied by a gain."""
    logs = []
    # As read: fitted small faults absorb a part of the gain.
    for log, statistics in zip(result.logs, result.uncorrected_statistics, strict=True):
        M = sensor_gain_map(np.diag([gain] * 3 + [1.0] * 3), log.recording.X_BS)
        columns = len(statistics.layout.columns)
        logs.append(statistics.mapped(M[:columns], SCAN_LAYOUT))
    return estimate_body(logs, result.settings)

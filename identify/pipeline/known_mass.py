"""The gain of a sensor's force, from the log of a body that was weighed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import positive
from identify.errors import ProblemError, SchemaError
from identify.estimation import Estimate, estimate_body
from identify.pipeline.result import FitResult
from identify.regressors import SCAN_LAYOUT
from identify.regressors.log_corrections import readings_map

_GAIN_TOLERANCE, _MAX_GAIN_ITERATIONS = 1e-7, 20
"""Share of the mass to which the gain is found, and rounds in which it is."""

_MAX_GAIN = 1.5
"""No sensor's gain is farther from one: beyond, it is a unit, or another body."""


class ForceGain(NamedTuple):
    """What the force is of what it was read as.

    Attributes:
        gain: the ratio.
        sigma: its standard error, relative: how well the log repeats.
    """

    gain: float
    sigma: float


def force_gain(result: FitResult, mass: float) -> ForceGain:
    """The gain of the force with which a fit finds the mass that is known.

    Errors of gravity go into it; later logs at the same place have the same.

    Args:
        result: of logs of the weighed body, or of such a payload, fitted without its mass.
        mass: as weighed [kg].

    Raises:
        SchemaError: the mass is not positive.
        ProblemError: the mass was given to the fit, or no gain of a sensor makes it.
    """
    positive(mass, "known mass", "kg", SchemaError)
    if result.settings.mass_known or result.verdict.usable == "no":
        raise ProblemError(
            "the gain of a sensor needs a fit without a known mass, and with no finding that "
            "forbids to use it"
        )
    gain = 1.0
    for _ in range(_MAX_GAIN_ITERATIONS):
        found = _estimate_with_gain(result, gain)
        share = mass / found.parameters.mass
        if not 1.0 / _MAX_GAIN < gain * share < _MAX_GAIN:
            raise ProblemError(
                f"{mass:g} kg is {gain * share:.4g} times the mass found, which is no gain of a "
                "sensor: check force_unit, and the mass"
            )
        if abs(share - 1.0) < _GAIN_TOLERANCE:
            return ForceGain(gain, float(np.sqrt(found.covariance[0, 0])) / mass)
        gain *= share
    raise ProblemError(f"no gain of the force makes the mass {mass:g} kg")


def _estimate_with_gain(result: FitResult, gain: float) -> Estimate:
    """The estimate of the same logs with their force so many times as large."""
    logs = []
    # As they were read: small faults that were fitted take in a part of the gain.
    for log, statistics in zip(result.logs, result.as_read, strict=True):
        M = readings_map(np.diag([gain] * 3 + [1.0] * 3), log.recording.X_BS)
        columns = len(statistics.layout.columns)
        logs.append(statistics.mapped(M[:columns], SCAN_LAYOUT))
    return estimate_body(logs, result.settings)

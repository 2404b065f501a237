"""Accuracy of the sensor's scale and of gravity from schemas, as deviations of effects.

A log cannot identify the scale: readings that are all 1 % too large are those of a body that is
1 % heavier. `[wrench] gain_accuracy` and `[world] gravity_accuracy` are standard deviations of
effects of the sensor (`random_effects_model`), in place of sizes estimated from the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array
from identify.logs import Recording

WITHOUT_SENSOR_FAULTS = "repeatability; calibration of the sensor not included"
"""Description of intervals without small faults of the sensor and without its scale error."""

WITH_SCALE_FROM_LOG = (
    "small faults of the sensor counted, its scale as far as the log identifies it"
)
"""Description of intervals with small faults if no schema gives the accuracy of the scale."""

WITH_GIVEN_SCALE = "small faults of the sensor counted, its scale as given"
"""Description of intervals with small faults if the schemas give `gain_accuracy`."""

GIVEN_SCALE_ALONE = "scale of the sensor as given; its small faults not included"
"""Description of intervals with `gain_accuracy` of the schemas, without other small faults."""


def gain_accuracy(log: Recording) -> ArrayLike | None:
    """Return `gain_accuracy` in `[wrench]` of a log's schema; None if it is not given."""
    return _schema_table(log, "wrench").get("gain_accuracy")


def gain_deviations(accuracy: ArrayLike) -> tuple[Array, Array | None]:
    """Convert a gain accuracy to independent standard deviations of gains and crosstalk.

    Six numbers are independent errors of the channels. A single number, or one for force and one
    for torque, does not specify whether axes err together: an error common to the three axes and
    an independent error of each axis are both counted. The entries of a matrix are independent
    errors; (i, j) is the share of reading j in reading i, in N and N m.

    `accuracy`: value of `[wrench] gain_accuracy`.
    Returns Deviations of the six channels and of the common errors of force and of torque, shape
    (8,); and those of all entries of a matrix, shape (6, 6), or None if no matrix is given.
    """
    sigma = np.asarray(accuracy, dtype=np.float64)
    if sigma.shape == (6, 6):
        return np.concatenate((np.diag(sigma), np.zeros(2))), sigma
    if sigma.shape == (6,):
        return np.concatenate((sigma, np.zeros(2))), None
    by_kind = np.broadcast_to(sigma, 2)
    return np.concatenate((np.repeat(by_kind, 3), by_kind)), None


def least_mass_error(log: Recording) -> float:
    """Return the smallest relative 1σ error of a mass that the sensor's scale allows.

    A log in all attitudes averages the independent errors of the axes; and first moments, which
    both force and torque show, make the errors of their scales one. Zero if no accuracy is given.
    """
    if (accuracy := gain_accuracy(log)) is None:
        return 0.0
    gains, _ = gain_deviations(accuracy)
    independent, common = np.square(gains[:6]).reshape(2, 3), np.square(gains[6:])
    variances = independent.mean(axis=1) / 3.0 + common
    return 0.0 if not variances.all() else float(np.sum(1.0 / variances) ** -0.5)


def gravity_error(log: Recording) -> float:
    """Return the relative 1σ error of the magnitude of gravity; zero if the log measures it."""
    signals = {*log.signals, *(name for stream in log.streams for name in stream.signals)}
    if log.acceleration_kind == "proper" and "linear_acceleration" in signals:
        return 0.0
    return float(_schema_table(log, "world").get("gravity_accuracy") or 0.0)


def _schema_table(log: Recording, name: str) -> Mapping[str, Any]:
    table = log.schema.get(name)
    return table if isinstance(table, Mapping) else {}

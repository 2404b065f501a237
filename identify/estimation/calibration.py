"""What errors of the sensor's scale, of gravity's, and of a place found, make of an estimate.

No log can tell the first two: readings that are all 1 % too large are those of a body that is 1 %
heavier. What a schema says of them (`gain_accuracy`, `gravity_accuracy`) goes through the fit. With
e an error of one sigma, B the information of the rows and s(e) = Aᵀ W r the scores at the estimate
of the logs with it,

    δx = B⁻¹ (s(e) − s(0)),  Cov = Σ δx δxᵀ

over errors that are independent of each other. Each is one error for all logs of a sensor. The
place of an accelerometer that was found from a log has an error of that log alone, of noise: it is
counted with the motion's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.posterior import Posterior
from identify.logs import Recording
from identify.regressors import SCAN_LAYOUT, Statistics, System
from identify.regressors.log_corrections import (
    changed_readings,
    displaced_point,
    other_gravity,
    scaled_accelerometer,
)
from identify.regressors.system import augmented

NOT_INCLUDED = "repeatability; calibration of the sensor not included"
"""What intervals are where no schema says how far the sensor's scale may be off."""

_INCLUDED = "calibration of the sensor included"
_EXACT = "the sensor's scale taken as exact"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Errors of scale, one sigma each, that the logs of a fit may have.

    Attributes:
        maps: what makes the wide columns of each log those it would have with an error, one for
            each error, shape (errors, logs, 40, 19).
        said: what intervals include of them, in words.
        places: such maps of the errors of places that were found, each of shape
            (logs, groups, 40, 19).
    """

    maps: Array
    said: str
    places: tuple[Array, ...] = ()

    @classmethod
    def of(cls, logs: Sequence[Recording]) -> Calibration:
        """What the schemas of some logs say; gains count where those of all logs say them.

        Logs of which the same is said are of one sensor, others of sensors of their own.
        """
        accuracies = [_said(log, "wrench").get("gain_accuracy") for log in logs]
        gravities = [gravity_error(log) for log in logs]
        as_read = np.array([changed_readings(np.eye(6)) for _ in logs])
        maps, places = list[Array](), tuple(_of_places(logs, as_read))
        if any(gravities):
            pairs = zip(logs, gravities, strict=True)
            maps.append(np.array([other_gravity(error * log.gravity) for log, error in pairs]))
        if None in accuracies:
            return cls(np.array(maps).reshape(-1, *as_read.shape), NOT_INCLUDED, places)
        sensors = [json.dumps(accuracy) for accuracy in accuracies]
        for sensor in dict.fromkeys(sensors):
            for error in gain_errors(json.loads(sensor)):
                own = as_read.copy()
                for k, log in enumerate(logs):
                    if sensors[k] == sensor:
                        own[k] = changed_readings(np.eye(6) + error, log.X_BS)
                maps.append(own)
        exact = len(maps) == any(gravities)
        said = _EXACT if exact else _INCLUDED
        return cls(np.array(maps).reshape(-1, *as_read.shape), said, places)

    def effects(self, posterior: Posterior) -> tuple[Array, Array]:
        """What each error of scale makes of the unknowns and of the sensor offsets.

        Args:
            posterior: of the logs, in their order.

        Returns:
            Of the unknowns, shape (errors, p), and of the offsets, shape (errors, offsets, m).

        Raises:
            ProblemError: an error of gravity needs statistics with the attitude in them.
        """
        return self._effects(posterior, self.maps)

    def of_places(self, posterior: Posterior) -> tuple[Array, Array]:
        """The same of errors of places that were found."""
        return self._effects(posterior, self.places)

    def _effects(self, posterior: Posterior, errors: Iterable[Array]) -> tuple[Array, Array]:
        fit, x = posterior.fit, posterior.x
        system, W = fit.data.system, fit.weights
        before, offsets = _scores(fit, x, system), system.offset_maps(W) @ augmented(x)
        data = [(statistics.merged(), equations) for statistics, equations in system.data]
        of_x, of_offsets = [np.zeros((0, len(x)))], [np.zeros((0, *offsets.shape))]
        for maps in errors:
            start, pairs = 0, []
            for statistics, equations in data:
                own = maps[start : start + len(statistics.logs)]
                pairs.append((_mapped(statistics, own), equations))
                start += len(own)
            other = System.of(pairs)
            moved = posterior.gain @ (_scores(fit, x, other) - before)
            of_x.append(moved[None])
            of_offsets.append((other.offset_maps(W) @ augmented(x + moved) - offsets)[None])
        return np.concatenate(of_x), np.concatenate(of_offsets)


def gain_errors(accuracy: Any) -> Array:
    """Errors of one sigma, independent of each other: the sensor reads (1 + D) [f; t] for each.

    Six numbers are those of the channels, each by itself. A number, or one of force and one of
    torque, does not say whether axes are off together: an error that is common to the three axes
    and one of each axis by itself are both counted. Of a matrix each entry is an error by itself,
    (i, j) what reading i has of reading j, in N and N m.

    Args:
        accuracy: as `[wrench] gain_accuracy` has it.

    Returns:
        D, shape (K, 6, 6).
    """
    sigma = np.asarray(accuracy, dtype=np.float64)
    entries = np.eye(36).reshape(36, 6, 6)
    if sigma.shape == (6, 6):
        errors = sigma.reshape(36, 1, 1) * entries
    else:
        kinds = np.repeat(np.eye(2), 3, axis=1)  # which channels are of force and of torque
        of_channels = sigma if sigma.shape == (6,) else np.broadcast_to(sigma, 2) @ kinds
        errors = of_channels[:, None, None] * entries[::7]
        if sigma.shape != (6,):
            common = of_channels * kinds
            errors = np.concatenate((errors, common[:, :, None] * np.eye(6)))
    return errors[errors.any(axis=(1, 2))]


def gravity_error(log: Recording) -> float:
    """One sigma of gravity's size in a log, relative; zero where it is measured with the motion."""
    signals = {*log.signals, *(name for stream in log.streams for name in stream.signals)}
    if log.acceleration_kind == "proper" and "linear_acceleration" in signals:
        return 0.0
    return float(_said(log, "world").get("gravity_accuracy") or 0.0)


def _of_places(logs: Sequence[Recording], as_read: Array) -> Iterator[Array]:
    """Maps of the errors of what was found of accelerometers, log by log."""
    for k, log in enumerate(logs):
        if log.imu is None or not log.imu.covariance:
            continue
        C = np.array(log.imu.covariance)
        sizes = np.sqrt(np.diag(C))
        sizes[sizes == 0.0] = 1.0  # eigenvectors of one unit, so that none is lost to rounding
        values, axes = np.linalg.eigh(C / np.outer(sizes, sizes))
        for error in (sizes[:, None] * axes * np.sqrt(np.maximum(values, 0.0))).T:
            if not error.any():
                continue
            own = np.repeat(as_read[:, None], len(SCAN_LAYOUT.groups), axis=1)
            for group, share in enumerate(log.imu.shares):
                place, scale, offset = np.split(share * error, (3, 4))
                scaled = scaled_accelerometer(float(scale[0]), offset, log.imu.X_BI.position)
                own[k, group] = scaled + displaced_point(-place) - as_read[k]
            yield own


def _said(log: Recording, table: str) -> Mapping[str, Any]:
    said = log.schema.get(table)
    return said if isinstance(said, Mapping) else {}


def _mapped(statistics: Statistics, maps: Array) -> Statistics:
    """Statistics with an error; those of the columns that a fit reads alone have no attitude."""
    columns = len(statistics.layout.columns)
    if maps[..., columns:, :].any():
        raise ProblemError(
            "gravity_accuracy needs statistics with the attitude of the body: scan the logs wide"
        )
    layout = statistics.layout if columns == maps.shape[-1] else SCAN_LAYOUT
    return statistics.mapped(maps[..., :columns, :], layout)


def _scores(fit: LeastSquaresFit, x: Array, system: System) -> Array:
    """Scores of some data at x, with a fit's weights, noise in the columns taken off: (p,)."""
    rows = system.whitened_rows(fit.weights)
    noise = fit.noise_fraction * system.noise_moment(fit.weights)
    return (rows.T @ rows - noise)[:-1] @ augmented(x)

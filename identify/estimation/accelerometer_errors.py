"""Propagation of errors of an accelerometer's position and scale to the estimate.

Position, scale and offset of an accelerometer that are estimated from a log have errors by noise:
with e an error of one standard deviation, B the information of the rows and s(e) = Aᵀ W r the
scores of the logs with it,

    δx = B⁻¹ (s(e) − s(0)),  Cov = Σ δx δxᵀ

The scale error of an accelerometer that alone measures the acceleration is common to all logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.posterior import Posterior
from identify.regressors import SCAN_LAYOUT, LinearSystem
from identify.regressors.log_corrections import (
    accelerometer_map,
    point_offset_map,
    sensor_gain_map,
)
from identify.regressors.system import augment
from identify.signals.imu_calibration import ImuCalibration


@dataclass(frozen=True, slots=True)
class AccelerometerErrors:
    """Possible calibration errors of the logs' accelerometers, in steps of one standard deviation.

    Each is given as the maps of columns that it causes, shape (logs, groups of rows, 43, 19).

    Attributes:
        calibration_maps: maps of errors of position, scale and offset, each of one log.
        scale_maps: maps of scale errors common to all logs.
    """

    calibration_maps: tuple[Array, ...]
    scale_maps: tuple[Array, ...] = ()

    @classmethod
    def of(cls, imus: Sequence[ImuCalibration]) -> AccelerometerErrors:
        """Collect the errors from the calibration of each log's accelerometer."""
        return cls(tuple(_calibration_maps(imus)), tuple(_common_scale_maps(imus)))

    def scale_covariance(self, posterior: Posterior) -> Array:
        """Compute the covariance of the unknowns from the common scale errors, shape (p, p)."""
        moved, _ = self.changes_by_error(posterior, self.scale_maps)
        return moved.T @ moved

    def changes_by_error(
        self, posterior: Posterior, errors: Sequence[Array] | None = None
    ) -> tuple[Array, Array]:
        """Compute how much each calibration error changes the unknowns and the sensor offsets.

        Args:
            posterior: posterior from the logs, in their order.
            errors: maps of the errors; `calibration_maps` if not given.

        Returns:
            Changes of the unknowns (errors, p) and of the offsets (errors, offsets, m).
        """
        fit, x = posterior.fit, posterior.x
        system, W = fit.data.system, fit.weights
        scores, offsets = _scores(fit, x, system), system.offset_maps(W) @ augment(x)
        data = [(statistics.merged(), equations) for statistics, equations in system.data]
        of_x, of_offsets = [np.zeros((0, len(x)))], [np.zeros((0, *offsets.shape))]
        for maps in self.calibration_maps if errors is None else errors:
            start, pairs = 0, []
            for statistics, equations in data:
                log_maps = maps[start : start + len(statistics.logs)]
                columns = len(statistics.layout.columns)
                is_wide = columns == maps.shape[-1]
                layout = statistics.layout if is_wide else SCAN_LAYOUT
                pairs.append((statistics.mapped(log_maps[..., :columns, :], layout), equations))
                start += len(statistics.logs)
            perturbed = LinearSystem.of(pairs)
            moved = posterior.score_gain @ (_scores(fit, x, perturbed) - scores)
            of_x.append(moved[None])
            of_offsets.append((perturbed.offset_maps(W) @ augment(x + moved) - offsets)[None])
        return np.concatenate(of_x), np.concatenate(of_offsets)


def _calibration_maps(imus: Sequence[ImuCalibration]) -> Iterator[Array]:
    """Yield the column maps of each log's errors of accelerometer position, scale and offset."""
    as_read = np.array([sensor_gain_map(np.eye(6)) for _ in imus])
    for k, imu in enumerate(imus):
        if not imu.covariance:
            continue
        C = np.array(imu.covariance)
        sizes = np.sqrt(np.diag(C))
        sizes[sizes == 0.0] = 1.0  # eigenvectors in one unit, so that none is lost to rounding
        values, axes = np.linalg.eigh(C / np.outer(sizes, sizes))
        for error in (sizes[:, None] * axes * np.sqrt(np.maximum(values, 0.0))).T:
            if not error.any():
                continue
            error_maps = np.repeat(as_read[:, None], len(SCAN_LAYOUT.groups), axis=1)
            for group, share in enumerate(imu.accelerometer_weights):
                position, scale, offset = np.split(share * error, (3, 4))
                scaled = accelerometer_map(float(scale[0]), offset, imu.X_BI.position)
                error_maps[k, group] = scaled + point_offset_map(-position) - as_read[k]
            yield error_maps


def _common_scale_maps(imus: Sequence[ImuCalibration]) -> Iterator[Array]:
    """Yield the column maps of the accelerometer's scale error, common to all logs, if any."""
    if not any(imu.scale_error for imu in imus):
        return
    maps = [accelerometer_map(imu.scale_error, np.zeros(3), imu.X_BI.position) for imu in imus]
    yield np.repeat(np.array(maps)[:, None], len(SCAN_LAYOUT.groups), axis=1)


def _scores(fit: LeastSquaresFit, x: Array, system: LinearSystem) -> Array:
    """Compute the score (log-likelihood gradient) at x, corrected for noise in regressors, (p,)."""
    rows = system.whitened_rows(fit.weights)
    noise = fit.noise_fraction * system.noise_moment(fit.weights)
    return (rows.T @ rows - noise)[:-1] @ augment(x)

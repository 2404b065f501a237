"""Propagation of errors of an accelerometer's position and scale to the estimate.

The place, scale and offset of an accelerometer that are found from a log have an error of noise:
with e an error of one standard deviation, B the information of the rows and s(e) = Aᵀ W r the
scores of the logs with it,

    δx = B⁻¹ (s(e) − s(0)),  Cov = Σ δx δxᵀ

The scale of an accelerometer that alone tells the acceleration is one error of all logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.posterior import Posterior
from identify.regressors import SCAN_LAYOUT, System
from identify.regressors.log_corrections import (
    accelerometer_map,
    point_offset_map,
    readings_map,
)
from identify.regressors.system import augmented
from identify.signals.imu_calibration import ImuCalibration


@dataclass(frozen=True, slots=True)
class PlaceErrors:
    """Errors of accelerometers' positions and scales, one standard deviation each.

    Attributes:
        maps: for each error the map of each log's columns, shape (logs, groups, 43, 19) each.
        scales: maps of scale errors common to all logs.
    """

    maps: tuple[Array, ...]
    scales: tuple[Array, ...] = ()

    @classmethod
    def of(cls, units: Sequence[ImuCalibration]) -> PlaceErrors:
        """Collect the errors from the calibration of each log's accelerometer."""
        return cls(tuple(_errors(units)), tuple(_errors_of_scale(units)))

    def scale_covariance(self, posterior: Posterior) -> Array:
        """Compute the covariance of the unknowns from errors of the scales, shape (p, p)."""
        moved, _ = self.effects(posterior, self.scales)
        return moved.T @ moved

    def effects(
        self, posterior: Posterior, errors: Sequence[Array] | None = None
    ) -> tuple[Array, Array]:
        """Compute the change of the unknowns and of the sensor offsets by each error.

        Args:
            posterior: posterior from the logs, in their order.
            errors: maps of the errors; those of the positions if not given.

        Returns:
            Changes of the unknowns (errors, p) and of the offsets (errors, offsets, m).
        """
        fit, x = posterior.fit, posterior.x
        system, W = fit.data.system, fit.weights
        scores, offsets = _scores(fit, x, system), system.offset_maps(W) @ augmented(x)
        data = [(statistics.merged(), equations) for statistics, equations in system.data]
        of_x, of_offsets = [np.zeros((0, len(x)))], [np.zeros((0, *offsets.shape))]
        for maps in self.maps if errors is None else errors:
            start, pairs = 0, []
            for statistics, equations in data:
                log_maps = maps[start : start + len(statistics.logs)]
                columns = len(statistics.layout.columns)
                wide = columns == maps.shape[-1]
                layout = statistics.layout if wide else SCAN_LAYOUT
                pairs.append((statistics.mapped(log_maps[..., :columns, :], layout), equations))
                start += len(statistics.logs)
            perturbed = System.of(pairs)
            moved = posterior.score_gain @ (_scores(fit, x, perturbed) - scores)
            of_x.append(moved[None])
            of_offsets.append((perturbed.offset_maps(W) @ augmented(x + moved) - offsets)[None])
        return np.concatenate(of_x), np.concatenate(of_offsets)


def _errors(units: Sequence[ImuCalibration]) -> Iterator[Array]:
    """Iterate over maps of the calibration errors of accelerometers, log by log."""
    as_read = np.array([readings_map(np.eye(6)) for _ in units])
    for k, unit in enumerate(units):
        if not unit.covariance:
            continue
        C = np.array(unit.covariance)
        sizes = np.sqrt(np.diag(C))
        sizes[sizes == 0.0] = 1.0  # eigenvectors of one unit, so that none is lost to rounding
        values, axes = np.linalg.eigh(C / np.outer(sizes, sizes))
        for error in (sizes[:, None] * axes * np.sqrt(np.maximum(values, 0.0))).T:
            if not error.any():
                continue
            error_maps = np.repeat(as_read[:, None], len(SCAN_LAYOUT.groups), axis=1)
            for group, share in enumerate(unit.shares):
                place, scale, offset = np.split(share * error, (3, 4))
                scaled = accelerometer_map(float(scale[0]), offset, unit.X_BI.position)
                error_maps[k, group] = scaled + point_offset_map(-place) - as_read[k]
            yield error_maps


def _errors_of_scale(units: Sequence[ImuCalibration]) -> Iterator[Array]:
    """Iterate over maps of the scale error that is common to all logs."""
    if not any(unit.scale_error for unit in units):
        return
    maps = [accelerometer_map(unit.scale_error, np.zeros(3), unit.X_BI.position) for unit in units]
    yield np.repeat(np.array(maps)[:, None], len(SCAN_LAYOUT.groups), axis=1)


def _scores(fit: LeastSquaresFit, x: Array, system: System) -> Array:
    """Compute the scores of data at x with a fit's weights, corrected for column noise, (p,)."""
    rows = system.whitened_rows(fit.weights)
    noise = fit.noise_fraction * system.noise_moment(fit.weights)
    return (rows.T @ rows - noise)[:-1] @ augmented(x)

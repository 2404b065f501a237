"""Errors of an accelerometer's place and scale, carried to the estimate.

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
from identify.signals.prepared import ImuCalibration


@dataclass(frozen=True, slots=True)
class PlaceErrors:
    """Errors of accelerometers' places and scales, one standard deviation each.

    Attributes:
        maps: of the columns of each log, for each error, shape (logs, groups, 43, 19) each.
        scales: likewise, of what no log tells of the scales.
    """

    maps: tuple[Array, ...]
    scales: tuple[Array, ...] = ()

    @classmethod
    def of(cls, units: Sequence[ImuCalibration]) -> PlaceErrors:
        """Errors of what was found of the accelerometer of each log."""
        return cls(tuple(_errors(units)), tuple(_errors_of_scale(units)))

    def of_scale(self, posterior: Posterior) -> Array:
        """Covariance of the unknowns from errors of the scales, shape (p, p)."""
        moved, _ = self.effects(posterior, self.scales)
        return moved.T @ moved

    def effects(
        self, posterior: Posterior, errors: Sequence[Array] | None = None
    ) -> tuple[Array, Array]:
        """Change of the unknowns and of the sensor offsets by each error.

        Args:
            posterior: of the logs, in their order.
            errors: maps of them; those of the places where not given.

        Returns:
            Of the unknowns, shape (errors, p), and of the offsets, shape (errors, offsets, m).
        """
        fit, x = posterior.fit, posterior.x
        system, W = fit.data.system, fit.weights
        before, offsets = _scores(fit, x, system), system.offset_maps(W) @ augmented(x)
        data = [(statistics.merged(), equations) for statistics, equations in system.data]
        of_x, of_offsets = [np.zeros((0, len(x)))], [np.zeros((0, *offsets.shape))]
        for maps in self.maps if errors is None else errors:
            start, pairs = 0, []
            for statistics, equations in data:
                own = maps[start : start + len(statistics.logs)]
                columns = len(statistics.layout.columns)
                wide = columns == maps.shape[-1]
                layout = statistics.layout if wide else SCAN_LAYOUT
                pairs.append((statistics.mapped(own[..., :columns, :], layout), equations))
                start += len(statistics.logs)
            other = System.of(pairs)
            moved = posterior.score_gain @ (_scores(fit, x, other) - before)
            of_x.append(moved[None])
            of_offsets.append((other.offset_maps(W) @ augmented(x + moved) - offsets)[None])
        return np.concatenate(of_x), np.concatenate(of_offsets)


def _errors(units: Sequence[ImuCalibration]) -> Iterator[Array]:
    """Maps of the errors of what was found of accelerometers, log by log."""
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
            own = np.repeat(as_read[:, None], len(SCAN_LAYOUT.groups), axis=1)
            for group, share in enumerate(unit.shares):
                place, scale, offset = np.split(share * error, (3, 4))
                scaled = accelerometer_map(float(scale[0]), offset, unit.X_BI.position)
                own[k, group] = scaled + point_offset_map(-place) - as_read[k]
            yield own


def _errors_of_scale(units: Sequence[ImuCalibration]) -> Iterator[Array]:
    """Maps of the error of the scale that all logs have at once."""
    if not any(unit.scale_error for unit in units):
        return
    maps = [accelerometer_map(unit.scale_error, np.zeros(3), unit.X_BI.position) for unit in units]
    yield np.repeat(np.array(maps)[:, None], len(SCAN_LAYOUT.groups), axis=1)


def _scores(fit: LeastSquaresFit, x: Array, system: System) -> Array:
    """Scores of some data at x, with a fit's weights, noise in the columns taken off: (p,)."""
    rows = system.whitened_rows(fit.weights)
    noise = fit.noise_fraction * system.noise_moment(fit.weights)
    return (rows.T @ rows - noise)[:-1] @ augmented(x)

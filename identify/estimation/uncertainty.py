"""`Uncertainty`: covariances and degrees of freedom of all unknowns of a fit, by source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.estimation.accelerometer_errors import AccelerometerErrors
from identify.estimation.intervals import INTERVAL_KIND, INTERVAL_KIND_BY_RESIDUAL
from identify.estimation.posterior import Posterior, SystematicErrors
from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
from identify.estimation.settings import IntervalRoute


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Covariances and degrees of freedom of all unknowns of a fit.

    Attributes:
        likelihood: covariance from noise and blocks of time, shape (p, p).
        accelerometers: covariance from calibration errors of accelerometers, shape (p, p); None
            without any.
        faults: covariance from small faults of the sensor except its scale, shape (p, p); None
            if they are not included.
        calibration: covariance from errors of the scale of the sensor, and of an accelerometer
            that alone measures the acceleration, shape (p, p); None if they are not included.
        offsets: variances of the sensor offsets from calibration errors of accelerometers, shape
            (offsets, m).
        degrees: degrees of freedom of Student's t, shape (p,).
        interval_kind: description of the included sources.
        simultaneous: whether the 95 % intervals of a body hold jointly.
    """

    likelihood: Array
    accelerometers: Array | None
    faults: Array | None
    calibration: Array | None
    offsets: Array | None
    degrees: Array
    interval_kind: str
    simultaneous: bool

    @property
    def repeatability(self) -> Array:
        """Covariance without scale errors, which logs of one sensor share, shape (p, p)."""
        return sum(
            (C for C in (self.accelerometers, self.faults) if C is not None), self.likelihood
        )

    @property
    def covariance(self) -> Array:
        """Covariance of the unknowns from all sources, shape (p, p)."""
        return self.repeatability + (0.0 if self.calibration is None else self.calibration)

    @classmethod
    def of(
        cls,
        posterior: Posterior,
        interval: IntervalRoute,
        effects: SystematicErrors | None,
        accelerometer_errors: AccelerometerErrors | None,
        *,
        simultaneous: bool,
    ) -> Uncertainty:
        """Compute the covariances from the posterior and from the errors that are known besides."""
        noise = _by_formula(posterior) if interval == "formula" else _by_bootstrap(posterior)
        faults_kind = WITHOUT_SENSOR_FAULTS if effects is None else effects.interval_kind
        joint = "; all parameters of a body at once" if simultaneous else ""
        known = np.zeros(len(noise.covariance))
        accelerometers, offsets = None, None
        if accelerometer_errors is not None and accelerometer_errors.calibration_maps:
            moved, offset_changes = accelerometer_errors.changes_by_error(posterior)
            accelerometers, offsets = moved.T @ moved, (offset_changes**2).sum(axis=0)
            known = known + np.diag(accelerometers)
        faults, calibration = None, None
        if effects is not None:
            whole, calibration = effects.covariances(posterior)
            faults = whole - calibration
            if accelerometer_errors is not None and accelerometer_errors.scale_maps:
                of_scale = accelerometer_errors.scale_covariance(posterior)
                whole, calibration = whole + of_scale, calibration + of_scale
            known = known + np.diag(whole)
        return cls(
            likelihood=noise.covariance,
            accelerometers=accelerometers,
            faults=faults,
            calibration=calibration,
            offsets=offsets,
            degrees=_with_known_variances(noise, known),
            interval_kind=f"{noise.kind}; {faults_kind}{joint}",
            simultaneous=simultaneous,
        )


class _NoiseUncertainty(NamedTuple):
    """Covariance of the unknowns from noise, shape (p, p), its degrees of freedom, its source."""

    covariance: Array
    degrees: Array
    kind: str


def _by_formula(posterior: Posterior) -> _NoiseUncertainty:
    """Return the covariance of the posterior."""
    logs = [statistics for statistics, _ in posterior.fit.data.system.data]
    has_noise = any(log.noise.any() or not log.one_sample_per_cell for log in logs)
    kind = INTERVAL_KIND if has_noise else INTERVAL_KIND_BY_RESIDUAL
    return _NoiseUncertainty(posterior.covariance, posterior.degrees, kind)


def _by_bootstrap(posterior: Posterior) -> _NoiseUncertainty:
    """Return the covariance of estimates from resampled blocks of time.

    The generator has a fixed seed, so that the same data give the same intervals.
    """
    from identify.estimation.bootstrap import BlockBootstrap

    bootstrap = BlockBootstrap.of(posterior.fit, np.random.default_rng(0))
    kind = f"95 %, bootstrap: what differs between {bootstrap.blocks} blocks of time"
    degrees = np.full(len(bootstrap.covariance), bootstrap.degrees)
    return _NoiseUncertainty(bootstrap.covariance, degrees, kind)


def _with_known_variances(noise: _NoiseUncertainty, known: Array) -> Array:
    """Return the degrees of freedom of the sum of a variance from noise and a known one, (p,).

    With s² of ν degrees and a known variance a, which has none to count (Satterthwaite 1946):
    (s² + a)² / (s⁴/ν) = (1 + a/s²)² ν.
    """
    variances = np.diag(noise.covariance)
    return (1.0 + known / np.where(variances > 0.0, variances, 1.0)) ** 2 * noise.degrees

"""What the variance of an estimate is made of: noise, the rest, prior, completion, calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.estimation.intervals import NAMES, measured
from identify.estimation.posterior import Posterior

SOURCES: tuple[str, ...] = (
    *("wrench", "motion", "rest", "prior", "completion", "calibration", "fault"),
)
"""Where variance comes from: noise of the wrench; noise of the motion; residuals larger than both,
such as drift, vibration or a model that fails; what a prior of the body leaves open, or what the
default body completes where there is none; errors of scale of the sensor and of gravity; and other
small faults of the sensor, such as crosstalk, delay and drift."""


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """Covariances of the unknowns from each source but the rest, shape (p, p) each.

    What completes the unknowns is the default body or a prior: `completed_by` is its source.
    """

    wrench: Array
    motion: Array
    completion: Array
    calibration: Array
    faults: Array
    completed_by: str = "completion"

    @classmethod
    def of(
        cls,
        posterior: Posterior,
        places: Array | None = None,
        faults: Array | None = None,
        calibration: Array | None = None,
    ) -> VarianceParts | None:
        """Of data and prior; None where no noise was read off the signals, nor an error given.

        With S_g the covariance that noise gives the residuals of a group, and B the information
        left without it, B⁻¹ (Σ_g YᵀW S_g W Y) B⁻¹ is that of the unknowns. S_g adds up over the
        signals; in the noise cross term (X), one of them is the motion's.

        Args:
            posterior: without inequalities.
            places: covariance from errors of places that were found: of noise in the motion.
            faults: covariance from small faults of the sensor, shape (p, p).
            calibration: covariance from errors of its scale, shape (p, p).
        """
        fit = posterior.fit
        system, split, to_x = fit.data.system, fit.identifiability, fit.scaling.to_x
        everything = system.noise_moments(posterior.x)
        if calibration is None and faults is None and not everything.any():
            return None
        nothing = np.zeros_like(posterior.covariance)
        fraction, n = fit.noise_fraction, system.arrays.effective_samples[:, None, None]
        of_wrench = n * system.arrays.wrench_noise
        along = posterior.gain

        def covariance(moments: Array) -> Array:
            weights = fraction / n * (fit.weights @ moments @ fit.weights)
            return along @ system.moments(weights).sum(axis=0)[:-1, :-1] @ along.T

        moved = covariance(everything - of_wrench) + (0.0 if places is None else places)
        cross_term = fraction * system.noise_scatter(posterior.x, fit.weights)
        unknown = to_x @ split.unidentifiable
        by_prior = posterior.of_prior
        return cls(
            covariance(of_wrench),
            moved + along @ cross_term @ along.T,
            unknown @ unknown.T if by_prior is None else by_prior,
            nothing if calibration is None else calibration,
            nothing if faults is None else faults,
            "completion" if by_prior is None else "prior",
        )

    def shares(
        self,
        block: slice,
        covariance: Array,
        decided_by: Mapping[str, str],
        jacobian: Array,
    ) -> dict[str, dict[str, float]]:
        """Shares of the variance of what has an interval, by name and source; each sums to one.

        The rest is what the others leave. Residuals may be smaller than the noise that was read off
        the signals: there is no rest then, and the others are so much smaller.

        Args:
            block: of a body's ten among the unknowns.
            covariance: of its parameters, shape (10, 10).
            decided_by: what decided each of the ten.
            jacobian: of what has an interval, shape (22, 10).
        """

        def variance(of: Array) -> Array:
            return (jacobian @ of * jacobian).sum(axis=1)

        calibration, faults = (
            np.maximum(variance(of[block, block]), 0.0) for of in (self.calibration, self.faults)
        )
        whole = np.maximum(variance(covariance) - calibration - faults, 0.0)
        parts = np.array(
            [variance(of[block, block]) for of in (self.wrench, self.motion, self.completion)]
        )
        wrench, motion, completion = np.maximum(parts, 0.0)
        rest = np.maximum(whole - parts.sum(axis=0), 0.0)
        noise = wrench + motion
        fits = np.minimum(1.0, (whole - completion) / np.where(noise > 0.0, noise, 1.0))
        found = np.stack((fits * wrench, fits * motion, rest, completion, calibration, faults))
        total = found.sum(axis=0)
        known = measured(decided_by)
        sources = "wrench", "motion", "rest", self.completed_by, "calibration", "fault"
        return {
            name: dict(zip(sources, (found[:, k] / total[k]).tolist(), strict=True))
            for k, name in enumerate(NAMES)
            if known[name] and total[k] > 0.0 and decided_by.get(name) != "given"
        }

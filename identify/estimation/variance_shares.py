"""Shares of an estimate's variance by source, and correlations of its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.estimation.intervals import (
    COM_NAMES,
    ESTIMATED_QUANTITIES,
    INERTIA_ABOUT_COM_NAMES,
    derived_jacobian,
    identified_quantities,
)
from identify.estimation.posterior import Posterior
from identify.exchange import SavedEstimate
from identify.inertia import PHI

VARIANCE_SOURCES: tuple[str, ...] = (
    *("wrench", "motion", "rest", "prior", "completion", "calibration", "fault"),
)
"""Sources of variance: noise of the wrench; noise of the motion; "rest", residuals larger than both
(drift, vibration, model errors); uncertainty of the prior, or the default body along unidentifiable
directions; scale errors of the sensor and of gravity; and other small faults of the sensor, such as
crosstalk, delay and drift."""


@dataclass(frozen=True, slots=True)
class CovarianceBySource:
    """Covariances of the unknowns from each source except unmodelled residuals, (p, p) each.

    The source of `default_body_findings` is `completed_by`: the default body or a prior.
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
        accelerometers: Array | None = None,
        faults: Array | None = None,
        calibration: Array | None = None,
    ) -> CovarianceBySource | None:
        """Compute the covariances by source; None if neither noise nor other errors are known.

        With S_g the covariance that noise gives the residuals of a group, and B the information
        left without it, B⁻¹ (Σ_g YᵀW S_g W Y) B⁻¹ is that of the unknowns. S_g adds up over the
        signals; in the noise cross term (X), one of them is the motion's.

        `faults`: covariance from small faults of the sensor, shape (p, p); `calibration`:
        covariance from errors of its scale, shape (p, p).
        """
        fit = posterior.fit
        system = fit.data.system
        split = fit.identifiability
        to_x = fit.scaling.to_x
        everything = system.noise_moments(posterior.x)
        if calibration is None and faults is None and not everything.any():
            return None
        nothing = np.zeros_like(posterior.covariance)
        fraction, n = fit.noise_fraction, system.padded.effective_samples[:, None, None]
        wrench_moments = n * system.padded.wrench_noise
        gain = posterior.score_gain

        def covariance(moments: Array) -> Array:
            weights = fraction / n * (fit.weights @ moments @ fit.weights)
            return gain @ system.normal_matrices(weights).sum(axis=0)[:-1, :-1] @ gain.T

        motion = covariance(everything - wrench_moments) + (
            0.0 if accelerometers is None else accelerometers
        )
        cross_term = fraction * system.noise_scatter(posterior.x, fit.weights)
        unidentifiable = to_x @ split.unidentifiable
        prior_covariance = posterior.prior_covariance
        return cls(
            covariance(wrench_moments),
            motion + gain @ cross_term @ gain.T,
            unidentifiable @ unidentifiable.T if prior_covariance is None else prior_covariance,
            nothing if calibration is None else calibration,
            nothing if faults is None else faults,
            "completion" if prior_covariance is None else "prior",
        )

    def shares(
        self,
        body: slice,
        covariance: Array,
        decided_by: Mapping[str, str],
        jacobian: Array,
    ) -> dict[str, dict[str, float]]:
        """Compute the variance shares of all quantities with an interval, by name and source.

        Unmodelled variance is the remainder. If the residuals are smaller than the noise estimated
        from the signals, it is zero and the shares of the noise are scaled down.

        `covariance`: covariance of these parameters, shape (10, 10); `jacobian`: Jacobian of the
        quantities with intervals, shape (22, 10).
        """

        def variance(matrix: Array) -> Array:
            return (jacobian @ matrix * jacobian).sum(axis=1)

        calibration, faults = (
            np.maximum(variance(of[body, body]), 0.0) for of in (self.calibration, self.faults)
        )
        whole = np.maximum(variance(covariance) - calibration - faults, 0.0)
        parts = np.array(
            [variance(of[body, body]) for of in (self.wrench, self.motion, self.completion)]
        )
        wrench, motion, completion = np.maximum(parts, 0.0)
        unmodelled = np.maximum(whole - parts.sum(axis=0), 0.0)
        noise = wrench + motion
        noise_factor = np.minimum(1.0, (whole - completion) / np.where(noise > 0.0, noise, 1.0))
        variances = np.stack(
            (
                noise_factor * wrench,
                noise_factor * motion,
                unmodelled,
                completion,
                calibration,
                faults,
            )
        )
        total = variances.sum(axis=0)
        known = identified_quantities(decided_by)
        sources = "wrench", "motion", "rest", self.completed_by, "calibration", "fault"
        return {
            name: dict(zip(sources, (variances[:, k] / total[k]).tolist(), strict=True))
            for k, name in enumerate(ESTIMATED_QUANTITIES)
            if known[name] and total[k] > 0.0 and decided_by.get(name) != "given"
        }


def correlations_of(estimate: SavedEstimate) -> tuple[tuple[str, ...], Array]:
    """Compute correlations of the errors of mass, centre of mass and inertia about it.

    `estimate`: with a covariance; what it was given, or what the default body completes, is left
    out.
    Returns names of the others, and the matrix, shape (n, n).
    """
    if estimate.covariance is None:
        return (), np.zeros((0, 0))
    jacobian = np.vstack((np.eye(10)[:1], derived_jacobian(estimate.parameters.phi)))
    covariance = jacobian @ estimate.covariance @ jacobian.T
    names = ("m", *COM_NAMES, *INERTIA_ABOUT_COM_NAMES)  # decided as m, h and I, in this order
    indices = [
        k
        for k, behind in enumerate(PHI)
        if estimate.decided_by.get(names[k], estimate.decided_by.get(behind))
        not in ("default", "given")
        and covariance[k, k] > 0.0
    ]
    selected = covariance[np.ix_(indices, indices)]
    sigma = np.sqrt(np.diag(selected))
    return tuple(names[k] for k in indices), selected / sigma / sigma[:, None]

"""`CertifiedSolution`: solution of a fit with its uncertainty, and the estimates made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from identify.arrays import Array
from identify.estimation.certificate import Certificate
from identify.estimation.estimate import DecidedBy, Estimate
from identify.estimation.intervals import (
    BOUNDS_OF_EVERY_BODY,
    Interval,
    interval_jacobian,
    intervals_of,
    offset_half_widths,
    principal_axes_of,
    principal_uncertainty,
)
from identify.estimation.likelihood import ConfidenceRegion
from identify.estimation.posterior import Posterior
from identify.estimation.prior_findings import describe_body, prior_conflict, prior_record
from identify.estimation.priors.prior import NoPrior
from identify.estimation.terms import Term
from identify.estimation.uncertainty import Uncertainty
from identify.estimation.variance_shares import CovarianceBySource
from identify.exchange import SavedBias
from identify.findings import default_body_findings
from identify.inertia import PHI, InertialParameters, inertia_about_com
from identify.inertia.parameters import DEFAULT_DENSITY, default_radius
from identify.regressors import ParameterSpace

_MIN_DECISIVE_PRIOR_FRACTION = 0.5
"""Fraction of the information on a parameter above which it counts as determined by the prior."""


@dataclass(frozen=True)
class CertifiedSolution:
    """Solution of a fit under all terms, with its certificate and its uncertainty.

    Attributes:
        posterior: posterior of the unknowns without the terms.
        terms: all that is known besides.
        x: the solution in SI, shape (p,).
        certificate: certificate of consistency and optimality.
        uncertainty: covariances of the unknowns.
    """

    posterior: Posterior
    terms: tuple[Term, ...]
    x: Array
    certificate: Certificate
    uncertainty: Uncertainty

    def estimate(self) -> Estimate:
        """Return the estimate of the first body, with the other bodies and the scalars."""
        bodies = self._space.bodies
        estimates = {body: self._estimate_of_body(number) for number, body in enumerate(bodies)}
        first = estimates.pop(bodies[0])
        return first.with_other_unknowns(estimates, self._scalars, self.uncertainty.repeatability)

    def _estimate_of_body(self, number: int) -> Estimate:
        fit, uncertainty = self.posterior.fit, self.uncertainty
        arrays = fit.data.system.padded
        body, block = self._space.bodies[number], self._space.body_slice(number)
        phi, degrees = self.x[block], uncertainty.degrees[block]
        covariance = self._covariance[block, block]
        limits = _limits_of_body(self.terms, self._space, body)
        decided_by: dict[str, DecidedBy] = dict(zip(PHI, self._decided_by[block], strict=True))
        decided_by |= {name: "given" for name, (least, most) in limits.items() if least == most}
        default = _describe_default(self._space, body, float(phi[0]), decided_by)
        principal = principal_uncertainty(phi, covariance)
        shares = {}
        if self._covariance_by_source is not None:
            jacobian = interval_jacobian(phi, principal)
            shares = self._covariance_by_source.shares(block, covariance, decided_by, jacobian)
        return Estimate(
            body=body,
            parameters=InertialParameters(phi),
            least_squares=InertialParameters(fit.x[block]),
            covariance=covariance,
            calibration=(
                None if uncertainty.calibration is None else uncertainty.calibration[block, block]
            ),
            intervals=intervals_of(
                phi,
                covariance,
                degrees,
                decided_by,
                limits=limits,
                simultaneous=uncertainty.simultaneous,
                principal=principal,
            ),
            interval_kind=uncertainty.interval_kind,
            degrees_of_freedom={
                name: degree if np.isfinite(degree) else None
                for name, degree in zip(PHI, degrees.tolist(), strict=True)
            },
            limits=limits,
            simultaneous=uncertainty.simultaneous,
            variance_shares=shares,
            principal_axes=principal_axes_of(phi, covariance, degrees, decided_by, principal),
            decided_by=decided_by,
            prior=prior_record(self.posterior, number),
            prior_share=dict(zip(PHI, self.posterior.prior_share[block].tolist(), strict=True)),
            default_body=default,
            bias=self._offsets,
            residual_rms=self._residual_rms,
            samples=round(float(arrays.samples.sum())),
            effective_samples=float(arrays.effective_samples.sum()),
            certificate=self.certificate,
            findings=(
                *prior_conflict(self.posterior, number),
                *default_body_findings(decided_by, default),
            ),
            region=self._confidence_region,
        )

    @property
    def _space(self) -> ParameterSpace:
        return self.posterior.fit.data.space

    @cached_property
    def _covariance(self) -> Array:
        return self.uncertainty.covariance

    @cached_property
    def _decided_by(self) -> list[DecidedBy]:
        return deciding_sources(self.posterior, self.x, self.uncertainty.repeatability)

    @cached_property
    def _covariance_by_source(self) -> CovarianceBySource | None:
        return CovarianceBySource.of(
            self.posterior,
            self.uncertainty.accelerometers,
            self.uncertainty.faults,
            self.uncertainty.calibration,
        )

    @cached_property
    def _offsets(self) -> tuple[SavedBias, ...]:
        """Offset of each log's sensor with its half-width."""
        fit = self.posterior.fit
        offsets = fit.wrench_offsets(self.x)
        half_widths = offset_half_widths(fit, self._covariance, self.uncertainty.offsets)
        return tuple(SavedBias("", *values) for values in zip(offsets, half_widths, strict=True))

    @cached_property
    def _residual_rms(self) -> Array:
        """Root mean square of the residuals of each channel, sensor after sensor.

        A channel's is √(Σ_g Σ r² / Σ_g n_g) over the groups g of its sensor.
        """
        fit = self.posterior.fit
        system, arrays = fit.data.system, fit.data.system.padded
        moments = system.residual_moments(self.x, fit.weights)
        squares = np.diagonal(moments, axis1=1, axis2=2)
        sums = np.zeros((len(arrays.sensors), 1 + squares.shape[1]))
        np.add.at(sums, arrays.sensor, np.concatenate((arrays.samples[:, None], squares), axis=1))
        samples, squares = sums[:, :1], sums[:, 1:]
        return np.sqrt(squares / samples)[arrays.channels[arrays.sensors[:, 0]]]

    @cached_property
    def _confidence_region(self) -> ConfidenceRegion:
        """Region of the likelihood, or of the posterior where a prior is combined with it."""
        posterior, fit = self.posterior, self.posterior.fit
        likelihood = posterior.likelihood
        if posterior.agreement is not None:
            likelihood = replace(likelihood, R=posterior.A, r=posterior.b)
        return ConfidenceRegion(
            likelihood=likelihood,
            terms=self.terms,
            free=fit.identifiability.free,
            reference=fit.default_theta,
            degrees=self.uncertainty.degrees,
            covariance=self.uncertainty.likelihood,
        )

    @property
    def _scalars(self) -> dict[str, tuple[float, float]]:
        """Value and standard error of each scalar unknown."""
        block = self._space.scalar_slice
        errors = _standard_errors(self._covariance)[block]
        values = zip(self.x[block].tolist(), errors.tolist(), strict=True)
        return dict(zip((scalar.name for scalar in self._space.scalars), values, strict=True))


def _limits_of_body(terms: Sequence[Term], space: ParameterSpace, body: str) -> dict[str, Interval]:
    """Return the bounds of a body's quantities: those of every body and of its constraints."""
    limits = dict(BOUNDS_OF_EVERY_BODY)
    for term in terms:
        for name, (low, high) in term.limits(space, body).items():
            least, most = limits.get(name, (-np.inf, np.inf))
            limits[name] = max(least, low), min(most, high)
    return limits


def _describe_default(
    space: ParameterSpace, body: str, mass: float, decided_by: dict[str, DecidedBy]
) -> str | None:
    if not {"default", "mechanism"} & set(decided_by.values()):
        return None
    default = space.default_parameters(body)
    if default is not None and body in space.unobservable:
        radius = np.sqrt(2.5 * inertia_about_com(default)[0, 0] / default[0])
        return f"solid ball of {default[0]:.3g} kg, radius {1e3 * radius:.3g} mm"
    if default is not None:
        return f"default given for it, {describe_body(default)}"
    return (
        f"near a solid ball of {DEFAULT_DENSITY:g} kg/m³ about the centre of mass, "
        f"radius {1e3 * default_radius(mass):.1f} mm"
    )


def deciding_sources(posterior: Posterior, x: Array, covariance: Array) -> list[DecidedBy]:
    """Determine the source of each unknown's value: data, prior, constraint or default."""
    fit = posterior.fit
    errors = _standard_errors(covariance)
    moved = np.abs(x - posterior.x)
    without_data: DecidedBy = "nothing" if NoPrior() in posterior.priors.values() else "default"
    sources: list[DecidedBy] = []
    unobservable = fit.data.space.unobservable_unknowns(fit.data.equalities)
    for k, is_given in enumerate(fit.data.fixed):
        is_identifiable = fit.identifiability.half_widths[k] < 1.0
        if is_given:
            source = "given"
        elif unobservable[k]:
            source = "mechanism"
        elif moved[k] > errors[k] and (is_identifiable or without_data == "default"):
            source = "constraint"
        elif posterior.agreement is not None and k // 10 in posterior.informative_priors:
            share = posterior.prior_share[k]
            source = "prior" if share > _MIN_DECISIVE_PRIOR_FRACTION else "data"
        else:
            source = "data" if is_identifiable else without_data
        sources.append(source)
    return sources


def _standard_errors(covariance: Array) -> Array:
    """Return standard errors; a variance that is negative by rounding counts as zero."""
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))

"""Certified estimates from statistics, or from a user's regressor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Indices, Phi, seal
from identify.errors import ProblemError
from identify.estimation.accelerometer_errors import AccelerometerErrors
from identify.estimation.certificate import Certificate
from identify.estimation.constrained_solution import explain_failure, solve_constrained
from identify.estimation.errors import DependentColumns, TooLittleMotion
from identify.estimation.estimate import DecidedBy, Estimate
from identify.estimation.intervals import (
    BOUNDS_OF_EVERY_BODY,
    INTERVAL_KIND,
    INTERVAL_KIND_BY_RESIDUAL,
    Interval,
    interval_jacobian,
    intervals_of,
    offset_half_widths,
    principal_axes_of,
    principal_uncertainty,
)
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.likelihood import ConfidenceRegion
from identify.estimation.posterior import Posterior, SystematicErrors, posterior_of
from identify.estimation.priors.prior import BALL, NoPrior, Prior
from identify.estimation.random_effects_fit import FittedEffects
from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
from identify.estimation.settings import EstimatorSettings, IntervalRoute, body_system
from identify.estimation.terms import Consistent, ScalarBounds, Term
from identify.estimation.variance_shares import CovarianceBySource
from identify.exchange import SavedBias
from identify.findings import Finding, default_body_findings
from identify.inertia import PHI, InertialParameters, inertia_about_com
from identify.inertia.parameters import DEFAULT_DENSITY, default_radius
from identify.regressors import (
    ONE_BODY_SPACE,
    LinearSystem,
    ParameterSpace,
    StackedEquations,
    Statistics,
    stacked_statistics,
)
from identify.regressors.triangular import qr_factor
from identify.significance import PRIOR_EXCLUDED_P

_MIN_DECISIVE_PRIOR_FRACTION = 0.5
"""Fraction of the information on a parameter above which it counts as determined by the prior."""


def estimate_body(
    logs: Sequence[Statistics],
    settings: EstimatorSettings | None = None,
    effects: FittedEffects | None = None,
    accelerometer_errors: AccelerometerErrors | None = None,
) -> Estimate:
    """Fit one body, or a payload and its carrier, to the sufficient statistics of logs.

    Args:
        logs: statistics of the wrench layout, one for each log, those of the carrier alone last.
        settings: offsets, constraints and prior of the body, and logs of the carrier alone.
        effects: small faults of the logs' sensors, taken off their statistics; their errors are
            not counted where they are not given.
        accelerometer_errors: errors of the calibration of accelerometers from the logs.

    Returns:
        The estimate of the body, or of the payload; that of the carrier is then in `others`.

    Raises:
        ProblemError: the data do not identify mass or centre of mass, or their sign is wrong.
        ContradictoryTerms: two terms exclude each other.
        SolveError: the solver failed, or its solution is not proved.
    """
    given: list[Statistics] = list(logs) if isinstance(logs, Iterable) else [logs]
    for log in given:
        if not isinstance(log, Statistics):
            raise ProblemError(
                "estimate_body: expected the statistics of each log in a list, got "
                f"{type(log).__name__}; identify.fit takes recordings, and "
                "identify.regressors.scan(recording).statistics makes statistics of one"
            )
    settings = settings or EstimatorSettings()
    estimate = estimate_unknowns(
        body_system(given, settings),
        settings.all_terms,
        prior=settings.prior,
        interval=settings.interval or "formula",
        simultaneous=settings.simultaneous,
        effects=effects,
        accelerometer_errors=accelerometer_errors,
    )
    return estimate.on_carrier(settings.unloaded) if settings.unloaded else estimate


def solve(
    A: ArrayLike,
    b: ArrayLike,
    *,
    space: ParameterSpace = ONE_BODY_SPACE,
    terms: Sequence[Term] = (),
    groups: Indices | Sequence[object] | None = None,
) -> Estimate:
    """Fit bodies to the stacked rows of a user's regressor, A x = b + noise.

    Weighted by the residuals of each group, physically consistent, certified, with intervals: the
    same estimate as from a log. Rows are taken to stand in order of time, for the intervals.

    Columns may depend on each other, as those of the links of a robot do, if each body concerned
    has a default in `space`: what the rows leave open is then that of the default.

    Args:
        A: regressor, columns in the order of `space` (for one body m, hx, hy, hz, Ixx, Ixy, Ixz,
            Iyy, Iyz, Izz about Bo), SI, shape (n, p).
        b: what was measured, shape (n,).
        space: of the unknowns; one body where not given.
        terms: what is known besides.
        groups: rows with equal entries have noise of one size, such as those of one joint or of one
            channel of a sensor, shape (n,); all rows where not given.

    Returns:
        The estimate of the first body; the others and the scalars are in `others` and `scalars`.

    Raises:
        ProblemError: shapes that do not fit, numbers that are not finite, or data that do not
            identify a mass or a centre of mass.
        DependentColumns: they do not, because columns depend on each other; it has the base
            parameters that the rows identify.
        ContradictoryTerms: two terms exclude each other.
        SolveError: the solver failed, or its solution is not proved.
    """
    p = len(space)
    rows, measured = seal(A, "A", (None, p)), seal(b, "b", (None,))
    if len(rows) != len(measured):
        raise ProblemError(
            f"A has {len(rows)} rows and b {len(measured)}: expected one measured number a row"
        )
    if len(rows) <= p:
        raise ProblemError(f"{len(rows)} rows for {p} unknowns: expected more rows than unknowns")
    if groups is not None and len(groups) != len(rows):
        raise ProblemError(f"groups: expected {len(rows)} entries, one a row, got {len(groups)}")
    statistics = stacked_statistics(rows, measured, groups)
    try:
        return estimate_unknowns(LinearSystem.of([(statistics, StackedEquations(space))]), terms)
    except TooLittleMotion as error:
        from identify.inertia import base_columns

        base = base_columns(qr_factor(rows)) if rows.any() else None
        if base is None or len(base.independent) == p:
            raise
        raise DependentColumns(error.unidentifiable, base, space.names) from error


def estimate_unknowns(
    system: LinearSystem,
    terms: Sequence[Term] = (),
    *,
    prior: Prior = BALL,
    interval: IntervalRoute = "formula",
    simultaneous: bool = False,
    effects: SystematicErrors | None = None,
    accelerometer_errors: AccelerometerErrors | None = None,
) -> Estimate:
    """Estimate all unknowns of a system.

    Weighted least squares is combined with the prior to a normal posterior; if its mean violates a
    term, the cone program with the same rows is solved. Unidentifiable directions are completed by
    a compact default body unless another prior is given.

    Args:
        system: data and equations.
        terms: what is known besides; consistency of the bodies and the bounds of the scalars need
            not be said.
        prior: of the first body.
        interval: how intervals come about, "formula" or "bootstrap".
        simultaneous: whether 95 % is that all intervals of a body hold at once.
        effects: errors besides noise whose effect on the unknowns is counted, such as those of
            small faults of the sensor that were taken off the statistics.
        accelerometer_errors: errors of the calibration of accelerometers from the logs.

    Returns:
        The estimate of the first body; the others and the scalars are in `others` and `scalars`.

    Raises:
        ProblemError: blocks of time are too few for a bootstrap.
        TermError: no body of the mass that the data give is like the prior.
    """
    every = _with_implied_terms(system, terms)
    try:
        fit = weighted_least_squares(system, every)
    except ProblemError as error:
        raise explain_failure(system, every, error) from error
    for term in every:
        term.require_plausible(fit.x, fit.data.space)
    posterior = posterior_of(fit, prior)
    errors = effects, accelerometer_errors
    uncertainty = _Uncertainty.of(posterior, interval, *errors, simultaneous=simultaneous)
    theta, certificate = solve_constrained(posterior, every)
    return _assemble_estimate(posterior, every, theta, certificate, uncertainty)


def _with_implied_terms(system: LinearSystem, terms: Sequence[Term]) -> tuple[Term, ...]:
    """Add implied constraints: physical consistency, unless given, and bounds of scalars."""
    consistent = () if any(isinstance(term, Consistent) for term in terms) else (Consistent(),)
    bounds = (ScalarBounds(),) if system.space.scalars else ()
    return tuple(dict.fromkeys((*consistent, *bounds, *terms)))


@dataclass(frozen=True, slots=True)
class _Uncertainty:
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
    ) -> _Uncertainty:
        fit = posterior.fit
        if interval == "formula":
            logs = [statistics for statistics, _ in fit.data.system.data]
            read = any(log.noise.any() or not log.one_sample_per_cell for log in logs)
            kind = INTERVAL_KIND if read else INTERVAL_KIND_BY_RESIDUAL
            covariance, degrees = posterior.covariance, posterior.degrees
        else:
            # A generator of its own, so that the same data give the same intervals.
            from identify.estimation.bootstrap import BlockBootstrap

            bootstrap = BlockBootstrap.of(fit, np.random.default_rng(0))
            kind = f"95 %, bootstrap: what differs between {bootstrap.blocks} blocks of time"
            covariance = bootstrap.covariance
            degrees = np.full(len(bootstrap.covariance), bootstrap.degrees)
        kind += f"; {WITHOUT_SENSOR_FAULTS if effects is None else effects.interval_kind}"
        kind += "; all parameters of a body at once" if simultaneous else ""
        accelerometer_covariance = None
        variances = None
        fault_covariance = None
        scale_covariance = None
        added = np.zeros(len(covariance))
        if accelerometer_errors is not None and accelerometer_errors.calibration_maps:
            moved, offsets = accelerometer_errors.changes_by_error(posterior)
            accelerometer_covariance, variances = moved.T @ moved, (offsets**2).sum(axis=0)
            added = added + np.diag(accelerometer_covariance)
        if effects is not None:
            whole, scale_covariance = effects.covariances(posterior)
            fault_covariance = whole - scale_covariance
            if accelerometer_errors is not None and accelerometer_errors.scale_maps:
                own_scale = accelerometer_errors.scale_covariance(posterior)
                whole, scale_covariance = whole + own_scale, scale_covariance + own_scale
            added = added + np.diag(whole)
        # Errors of known size have no degrees of freedom to count (Satterthwaite 1946).
        base = np.diag(covariance)
        degrees = (1.0 + added / np.where(base > 0.0, base, 1.0)) ** 2 * degrees
        return cls(
            likelihood=covariance,
            accelerometers=accelerometer_covariance,
            faults=fault_covariance,
            calibration=scale_covariance,
            offsets=variances,
            degrees=degrees,
            interval_kind=kind,
            simultaneous=simultaneous,
        )


def _assemble_estimate(
    posterior: Posterior,
    terms: tuple[Term, ...],
    theta: Array,
    certificate: Certificate,
    uncertainty: _Uncertainty,
) -> Estimate:
    fit = posterior.fit
    system, space = fit.data.system, fit.data.space
    x = fit.scaling.x(theta)
    covariance, scale_covariance = uncertainty.covariance, uncertainty.calibration
    arrays = system.padded
    power = np.diagonal(system.residual_moments(x, fit.weights), axis1=1, axis2=2)
    of_sensors = np.zeros((len(arrays.sensors), 1 + power.shape[1]))
    np.add.at(of_sensors, arrays.sensor, np.concatenate((arrays.samples[:, None], power), axis=1))
    rms = np.sqrt(of_sensors[:, 1:] / of_sensors[:, :1])[arrays.channels[arrays.sensors[:, 0]]]
    decided = _deciding_sources(posterior, x, uncertainty.repeatability)
    sources = uncertainty.accelerometers, uncertainty.faults, scale_covariance
    degrees, parts = uncertainty.degrees, CovarianceBySource.of(posterior, *sources)
    half_widths = offset_half_widths(fit, covariance, uncertainty.offsets)
    values = zip(system.offsets(x, fit.weights), half_widths, strict=True)
    offsets = tuple(SavedBias("", offset, half_width) for offset, half_width in values)
    likelihood = posterior.likelihood
    if posterior.agreement is not None:
        likelihood = replace(likelihood, R=posterior.A, r=posterior.b)
    region = ConfidenceRegion(
        likelihood=likelihood,
        terms=terms,
        free=fit.identifiability.free,
        reference=fit.default_theta,
        degrees=degrees,
        covariance=uncertainty.likelihood,
    )
    contradicted, of_prior = (), dict[str, object]()
    if posterior.agreement is not None:
        from identify.estimation.estimator import prior_conflict, prior_record

        contradicted, of_prior = prior_conflict(posterior), prior_record(posterior)
    estimates = {}
    for number, body in enumerate(space.bodies):
        block = space.body_slice(number)
        decided_by: dict[str, DecidedBy] = dict(zip(PHI, decided[block], strict=True))
        limits = _limits_of_body(terms, space, body)
        decided_by |= {name: "given" for name, (least, most) in limits.items() if least == most}
        default = _describe_default(space, body, float(x[block][0]), decided_by)
        body_values = x[block], covariance[block, block], degrees[block], decided_by
        spread = principal_uncertainty(body_values[0], body_values[1])
        shares = {}
        if parts is not None:
            shares = parts.shares(
                block, body_values[1], decided_by, interval_jacobian(body_values[0], spread)
            )
        estimates[body] = Estimate(
            body=body,
            parameters=InertialParameters(x[block]),
            least_squares=InertialParameters(fit.x[block]),
            covariance=covariance[block, block],
            calibration=None if scale_covariance is None else scale_covariance[block, block],
            intervals=intervals_of(
                *body_values,
                limits=limits,
                simultaneous=uncertainty.simultaneous,
                principal=spread,
            ),
            interval_kind=uncertainty.interval_kind,
            degrees_of_freedom={
                name: degree if np.isfinite(degree) else None
                for name, degree in zip(PHI, body_values[2].tolist(), strict=True)
            },
            limits=limits,
            simultaneous=uncertainty.simultaneous,
            variance_shares=shares,
            principal_axes=principal_axes_of(*body_values, spread),
            decided_by=decided_by,
            prior={} if number else of_prior,
            prior_share=dict(zip(PHI, posterior.prior_share[block].tolist(), strict=True)),
            default_body=default,
            bias=offsets,
            residual_rms=rms,
            samples=round(float(arrays.samples.sum())),
            effective_samples=float(arrays.effective_samples.sum()),
            certificate=certificate,
            findings=(
                *(() if number else contradicted),
                *default_body_findings(decided_by, default),
            ),
            region=region,
        )
    errors = _standard_errors(covariance)
    values = zip(x[space.scalar_slice].tolist(), errors[space.scalar_slice].tolist(), strict=True)
    scalars = dict(zip((scalar.name for scalar in space.scalars), values, strict=True))
    first, *_ = estimates
    return estimates.pop(first).with_other_unknowns(estimates, scalars, uncertainty.repeatability)


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
    if "default" not in decided_by.values():
        return None
    default = space.default_parameters(body)
    if default is not None:
        return f"default given for it, {_describe_body(default)}"
    return (
        f"solid ball of {DEFAULT_DENSITY:g} kg/m³ about the centre of mass, "
        f"radius {1e3 * default_radius(mass):.1f} mm"
    )


def _deciding_sources(posterior: Posterior, x: Array, covariance: Array) -> list[DecidedBy]:
    """Determine the source of each unknown's value: data, prior, constraint or default."""
    fit, weighed = posterior.fit, posterior.agreement is not None
    errors = _standard_errors(covariance)
    moved = np.abs(x - posterior.x)
    of_body = np.arange(len(x)) < 10  # that the prior is of
    nothing: DecidedBy = "nothing" if isinstance(posterior.prior, NoPrior) else "default"
    decided: list[DecidedBy] = []
    for k, known in enumerate(fit.data.fixed):
        if known:
            decided.append("given")
        elif moved[k] > errors[k] and not (nothing == "nothing" and _is_unidentifiable(fit, k)):
            decided.append("constraint")
        elif weighed and of_body[k]:
            decided.append(
                "prior" if posterior.prior_share[k] > _MIN_DECISIVE_PRIOR_FRACTION else "data"
            )
        else:
            decided.append(nothing if _is_unidentifiable(fit, k) else "data")
    return decided


def _standard_errors(covariance: Array) -> Array:
    """Return standard errors; a variance that is negative by rounding counts as zero."""
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


def _is_unidentifiable(fit: LeastSquaresFit, unknown: int) -> bool:
    """Return whether the data leave an unknown, given by its index, unidentifiable."""
    return not fit.identifiability.half_widths[unknown] < 1.0


def prior_conflict(posterior: Posterior) -> tuple[Finding, ...]:
    """Return a finding with both bodies if the data exclude the prior."""
    agreement = posterior.agreement
    if agreement is None or not agreement.p_value < PRIOR_EXCLUDED_P:
        return ()
    mass = float(posterior.fit.x[0])
    mixture = posterior.prior.mixture(mass)
    mean = np.zeros(10) if mixture is None else agreement.weights @ mixture.means
    prior_text, data_text = _describe_body(mean), _describe_body(posterior.fit.x[:10])
    remedy = "Check the prior, its unit and its pose in B; correct it or leave it out."
    return (
        Finding(
            "choice_contradicted",
            "error",
            f"The log excludes the prior ({posterior.prior}): the body fitted to the log alone is "
            f"{agreement.normal_deviate:.2g} standard errors from the nearest body that the prior "
            f"allows (p = {agreement.p_value:.1g}). The prior has {prior_text}, the log alone "
            f"{data_text}.",
            remedy,
            {
                "z": agreement.normal_deviate,
                "p": agreement.p_value,
                "by_prior": mean.tolist(),
                "by_data": posterior.fit.x[:10].tolist(),
            },
        ),
    )


def prior_record(posterior: Posterior) -> dict[str, object]:
    """Return the prior and its agreement with the data for the provenance; empty without one."""
    if posterior.agreement is None:
        return {}
    return posterior.prior.record() | posterior.agreement.record()


def _describe_body(phi: Phi) -> str:
    """Describe mass, centre of mass and principal moments for messages."""
    com = ", ".join(f"{1e3 * each:.4g}" for each in phi[1:4] / phi[0])
    moments = ", ".join(f"{each:.3g}" for each in np.linalg.eigvalsh(inertia_about_com(phi)))
    return f"{phi[0]:.4g} kg, its centre at [{com}] mm, moments {moments} kg m²"

"""Certified estimates from statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from identify.errors import ProblemError
from identify.estimation.accelerometer_errors import AccelerometerErrors
from identify.estimation.certified_solution import CertifiedSolution
from identify.estimation.constrained_solution import explain_failure
from identify.estimation.estimate import Estimate
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.posterior import SystematicErrors
from identify.estimation.prior_optimum import optimum_with_priors, with_weights
from identify.estimation.priors.prior import BALL, Prior
from identify.estimation.random_effects_fit import FittedEffects
from identify.estimation.settings import EstimatorSettings, IntervalRoute, body_system
from identify.estimation.terms import Consistent, ScalarBounds, Term
from identify.estimation.uncertainty import Uncertainty
from identify.regressors import LinearSystem, Statistics


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
    estimate = solve_unknowns(
        body_system(given, settings),
        settings.all_terms,
        prior=settings.prior,
        interval=settings.interval or "formula",
        simultaneous=settings.simultaneous,
        effects=effects,
        accelerometer_errors=accelerometer_errors,
    ).estimate()
    return estimate.on_carrier(settings.unloaded) if settings.unloaded else estimate


def solve_unknowns(
    system: LinearSystem,
    terms: Sequence[Term] = (),
    *,
    prior: Prior | Mapping[str, Prior] = BALL,
    residual_bound: float | None = None,
    interval: IntervalRoute = "formula",
    simultaneous: bool = False,
    effects: SystematicErrors | None = None,
    accelerometer_errors: AccelerometerErrors | None = None,
) -> CertifiedSolution:
    """Estimate all unknowns of a system.

    Weighted least squares is combined with the prior to a normal posterior; if its mean violates a
    term, the cone program with the same rows is solved. Unidentifiable directions are completed by
    a compact default body unless another prior is given.

    Args:
        system: data and equations.
        terms: what is known besides; consistency of the bodies and the bounds of the scalars need
            not be said.
        prior: of the first body, or of bodies by name.
        residual_bound: largest Σ r²/σ² for priors near a body whose weight is by "bound".
        interval: how intervals come about, "formula" or "bootstrap".
        simultaneous: whether 95 % is that all intervals of a body hold at once.
        effects: errors besides noise whose effect on the unknowns is counted, such as those of
            small faults of the sensor that were taken off the statistics.
        accelerometer_errors: errors of the calibration of accelerometers from the logs.

    Returns:
        The solution; its `estimate()` is of the first body, with the others and the scalars.

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
    by_name = {system.space.bodies[0]: prior} if isinstance(prior, Prior) else prior
    priors = {system.space.body_slice(name).start // 10: each for name, each in by_name.items()}
    optimum = optimum_with_priors(fit, with_weights(fit, priors, every, residual_bound), every)
    posterior = optimum.posterior
    uncertainty = Uncertainty.of(
        posterior, interval, effects, accelerometer_errors, simultaneous=simultaneous
    )
    return CertifiedSolution(posterior, every, optimum.x, optimum.certificate, uncertainty)


def _with_implied_terms(system: LinearSystem, terms: Sequence[Term]) -> tuple[Term, ...]:
    """Add implied constraints: physical consistency, unless given, and bounds of scalars."""
    consistent = () if any(isinstance(term, Consistent) for term in terms) else (Consistent(),)
    bounds = (ScalarBounds(),) if system.space.scalars else ()
    return tuple(dict.fromkeys((*consistent, *bounds, *terms)))

"""Certified estimates from statistics, or from a user's regressor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numpy.typing import ArrayLike

from identify.arrays import Indices, seal
from identify.errors import ProblemError
from identify.estimation.accelerometer_errors import AccelerometerErrors
from identify.estimation.certified_solution import CertifiedSolution
from identify.estimation.constrained_solution import explain_failure, solve_constrained
from identify.estimation.errors import DependentColumns, TooLittleMotion
from identify.estimation.estimate import Estimate
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.posterior import SystematicErrors, posterior_of
from identify.estimation.priors.prior import BALL, Prior
from identify.estimation.random_effects_fit import FittedEffects
from identify.estimation.settings import EstimatorSettings, IntervalRoute, body_system
from identify.estimation.terms import Consistent, ScalarBounds, Term
from identify.estimation.uncertainty import Uncertainty
from identify.regressors import (
    ONE_BODY_SPACE,
    LinearSystem,
    ParameterSpace,
    StackedEquations,
    Statistics,
    stacked_statistics,
)
from identify.regressors.triangular import qr_factor


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
    uncertainty = Uncertainty.of(
        posterior, interval, effects, accelerometer_errors, simultaneous=simultaneous
    )
    theta, certificate = solve_constrained(posterior, every)
    solution = CertifiedSolution(posterior, every, fit.scaling.x(theta), certificate, uncertainty)
    return solution.estimate()


def _with_implied_terms(system: LinearSystem, terms: Sequence[Term]) -> tuple[Term, ...]:
    """Add implied constraints: physical consistency, unless given, and bounds of scalars."""
    consistent = () if any(isinstance(term, Consistent) for term in terms) else (Consistent(),)
    bounds = (ScalarBounds(),) if system.space.scalars else ()
    return tuple(dict.fromkeys((*consistent, *bounds, *terms)))

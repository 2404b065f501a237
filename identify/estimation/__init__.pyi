from identify.estimation.accelerometer_errors import AccelerometerErrors as AccelerometerErrors
from identify.estimation.certificate import Certificate as Certificate
from identify.estimation.errors import (
    ContradictoryTerms as ContradictoryTerms,
    DependentColumns as DependentColumns,
    NegativeMass as NegativeMass,
    TooLittleMotion as TooLittleMotion,
)
from identify.estimation.estimate import DecidedBy as DecidedBy, Estimate as Estimate
from identify.estimation.estimator import (
    estimate_body as estimate_body,
    solve_unknowns as solve_unknowns,
)
from identify.estimation.least_squares import (
    ordinary_least_squares as ordinary_least_squares,
    weighted_least_squares as weighted_least_squares,
)
from identify.estimation.likelihood import (
    ScoreEquations as ScoreEquations,
    score_equations as score_equations,
)
from identify.estimation.program import SolverRun as SolverRun
from identify.estimation.random_effects_fit import (
    FittedEffects as FittedEffects,
    fit_effects as fit_effects,
)
from identify.estimation.settings import (
    EstimatorSettings as EstimatorSettings,
    IntervalRoute as IntervalRoute,
    body_system as body_system,
)

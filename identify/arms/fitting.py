"""Fit of the unknowns of an arm: weights by joint, scatter of time blocks, consistent bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arms.equations import PAYLOAD
from identify.arms.torque_scale import LoadedScale, ScaleBetweenRuns, TorqueScale
from identify.arrays import Array
from identify.errors import ProblemError
from identify.estimation.bootstrap import MIN_BLOCKS, score_scatter_ratio
from identify.estimation.estimate import Estimate
from identify.estimation.estimator import solve_unknowns
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.priors.prior import BALL, Prior
from identify.estimation.settings import IntervalRoute
from identify.estimation.terms import Consistent, Term
from identify.regressors import LinearSystem

_MIN_LINK_EIGENVALUE = 1e-3
"""Smallest eigenvalue of a link's scaled pseudo-inertia, so that no link is a sheet or a point; a
load may be a sheet, as a body on a wrench sensor."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmSolution:
    """Consistent estimate of all unknowns of an arm.

    Attributes:
        system: logs and equations.
        estimate: of the first body, with the other bodies and scalars.
        scatter: variance of scores of time blocks, relative to that of independent residuals;
            samples count less by it.
    """

    system: LinearSystem
    estimate: Estimate
    scatter: float

    @property
    def x(self) -> Array:
        """All unknowns [SI], shape (p,)."""
        return _unknowns(self.estimate)


def _unknowns(estimate: Estimate) -> Array:
    bodies = [body.parameters.phi for body in estimate.bodies]
    return np.concatenate((*bodies, [value for value, _ in estimate.scalars.values()]))


def consistent_unknowns(system: LinearSystem, terms: Sequence[Term] = ()) -> Array:
    """Estimate the unknowns of an arm for predictions of torques, shape (p,).

    `terms`: constraints of the first body.
    Samples count less by the scatter of `solve_arm`.
    """
    return _unknowns(solve_unknowns(system, (_consistent(system), *terms)).estimate())


def _consistent(system: LinearSystem) -> Consistent:
    """Return the constraint of consistency, with a margin for the links."""
    links = tuple(name for name in system.space.bodies if name != PAYLOAD)
    return Consistent(margin=_MIN_LINK_EIGENVALUE, bodies=links)


def _scale_between_runs(loaded: LoadedScale, prior: ScaleBetweenRuns, mass: float) -> str:
    """Describe the error of the scale of logs with the load by that of logs without it."""
    error = np.sqrt(loaded.mean_square(prior))
    source = "by their torques" if loaded.probability_of_warmth(prior) > 0.5 else "taken"
    return (
        f"one scale of logs with and without the load to {100.0 * error:.1g} % ({source}), of "
        f"which 1 % is {abs(loaded.changes[0] / mass):.2g} % of the mass"
    )


def solve_arm(
    system: Callable[[float], LinearSystem],
    scale: TorqueScale,
    interval: IntervalRoute | None = None,
    terms: Sequence[Term] = (),
    priors: Mapping[str, Prior] | None = None,
) -> ArmSolution:
    """Estimate the unknowns of an arm.

    A model of an arm leaves slow errors of its torques, so that blocks of time differ by more than
    independent residuals would. A first fit measures by how much, and samples count less by this
    factor in the second.

    `interval`: method of the intervals; bootstrap where there are ten blocks, if not given, and
    always formula with priors; `terms`: constraints of the first body; `priors`: of links, by name.
    """
    first = system(1.0)
    scatter = score_scatter_ratio(weighted_least_squares(first, terms))
    statistics, _ = first.data[0]
    blocks = len(set(zip(statistics.log.tolist(), statistics.block.tolist(), strict=True)))
    route = interval or ("bootstrap" if blocks >= MIN_BLOCKS and not priors else "formula")
    if priors and route == "bootstrap":
        raise ProblemError('interval: "bootstrap" does not support priors; use "formula"')
    discounted = system(scatter)
    every = (_consistent(discounted), *terms)
    solution = solve_unknowns(
        discounted, every, interval=route, effects=scale, prior=priors or BALL
    )
    estimate = solution.estimate()
    bias = zip(estimate.bias, statistics.logs, strict=True)  # none, but it names the logs
    estimate = replace(estimate, bias=tuple(replace(each, sha256=log) for each, log in bias))
    if route == "formula":
        kind = (
            f"95 %, by residuals, {scatter:.2g} times their variance as {blocks} blocks of time "
            f"scatter; {scale.interval_kind}"
        )
        others = {name: replace(body, interval_kind=kind) for name, body in estimate.others.items()}
        estimate = replace(estimate, interval_kind=kind, others=others)
    if scale.between_runs is not None:
        kind = _scale_between_runs(
            LoadedScale.of(solution.posterior), scale.between_runs, float(estimate.parameters.mass)
        )
        estimate = replace(estimate, interval_kind=f"{estimate.interval_kind}; {kind}")
    return ArmSolution(discounted, estimate, scatter)

"""D-optimal periodic motions, which minimise the geometric mean of the standard errors.

Swevers, Ganseman, Tükel, De Schutter and Van Brussel, "Optimal robot excitation and
identification" (1997).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from identify.arrays import Array
from identify.design.joints import JointProblem
from identify.design.periodic import PeriodicBasis, limited_motion, scaled_coefficients
from identify.design.problem import DesignRows
from identify.design.wrist import WristProblem
from identify.errors import ProblemError

MotionProblem: TypeAlias = WristProblem | JointProblem
"""Design problem: unknowns to be identified, and limits of the motion."""

_RANDOM_MOTIONS = 20
"""Number of random motions that are compared: a search begins at the best of them, and the median
stands for an unplanned motion."""

_STAGES = (200, 100, 100)
"""Largest numbers of quasi-Newton iterations between changes of the targets; further ones changed
the criterion by less than .02."""

_SMALLEST_PIVOT = 1e-4
"""Smallest diagonal entry of the Cholesky factor of the information, for columns of length one:
rounding gives singular ones some 1e-5, motions that identify all unknowns had over 1e-2."""

_PENALTY = 30.0
"""Factor of the penalty, the sum over samples of (share of a limit − a target)²."""

_TARGET_SHARE = 0.98
"""Share of a limit (1 at the limit) above which a motion is penalized."""

_SHRINKAGE = 0.99
"""Factor by which a motion shrinks about its start until it keeps all limits."""

_SMALLEST_SCALE = 0.02
"""Scale of a motion at which it is as good as at rest: a limit that it still breaks is broken by
the start."""


@dataclass(frozen=True, slots=True)
class DesignedMotion:
    """A periodic motion within its limits.

    Attributes:
        basis: of its series.
        coefficients: shape (n, size).
        criterion: logarithm of the geometric mean of the standard errors, in the unknowns' units,
            for one sample of each time of the basis.
        scale: factor by which it was shrunk to keep limits other than those of the axes.
    """

    basis: PeriodicBasis
    coefficients: Array
    criterion: float
    scale: float = 1.0

    def at(self, times: Array) -> Array:
        """Return value, rate and second derivative of each axis, (3, times, n); periodic."""
        return self.basis.at(times) @ self.coefficients.T


def d_optimality(
    regressor: Array, wanted_count: int, prior: Array | None = None
) -> tuple[float, Array]:
    """Return the criterion of a regressor, and its gradient.

    With the information M = Σ YᵀY + P, of which P is from before, and N its block of the unknowns
    that are fitted besides, the information on the wanted ones is the Schur complement S,
    log det S = log det M − log det N; the criterion is −log det S / 2k, the logarithm of the
    geometric mean of their standard errors. It is computed with columns of length one (a unit
    diagonal of M) for conditioning.

    `regressor`: Y, shape (samples, rows, p); `prior`: P, information on them from before, shape (k,
    k); None for none.
    Returns the criterion, and its gradient with respect to Y, shape (samples, rows, p); infinite
    and zero if the information is singular.
    The first k columns, `wanted_count`, are wanted.
    """
    flat = regressor.reshape(-1, regressor.shape[-1])
    k = wanted_count
    prior = np.zeros((k, k)) if prior is None else prior
    squares = np.square(flat).sum(axis=0)
    squares[:k] += prior.diagonal()
    norms = np.sqrt(squares)
    if not norms.all():
        return np.inf, np.zeros_like(regressor)
    scaled = flat / norms
    gradient = np.zeros_like(scaled)
    value = -np.log(norms[:k]).sum()
    information = scaled.T @ scaled
    information[:k, :k] += prior / np.outer(norms[:k], norms[:k])
    for sign, columns in ((1.0, slice(0, None)), (-1.0, slice(k, None))):
        block = information[columns, columns]
        if not len(block):
            continue
        try:
            factor = cho_factor(block)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros_like(regressor)
        pivots = np.diag(factor[0])
        if pivots.min() < _SMALLEST_PIVOT:
            return np.inf, np.zeros_like(regressor)
        value -= sign * np.log(pivots).sum()
        inverse = cho_solve(factor, np.eye(len(block)))
        gradient[:, columns] -= sign * scaled[:, columns] @ inverse
    return value / k, (gradient / norms / k).reshape(regressor.shape)


def _criterion(problem: MotionProblem, regressor: Array) -> tuple[float, Array]:
    """Return the criterion of the regressor of a problem, and its gradient."""
    prior = problem.prior_information
    if prior is not None:  # in the unit of the regressor: one sample of each of its times
        prior = prior * (len(regressor) / problem.rate_hz)
    return d_optimality(regressor, problem.wanted_count, prior)


def motion_cost(
    problem: MotionProblem, series: Array, coefficients: Array, targets: Array | float
) -> tuple[float, Array]:
    """Return criterion and penalty of a motion scaled to its limits, and their gradient.

    `series`: of `PeriodicBasis.at`, shape (3, samples, size); `coefficients`: shape (n, size).
    `targets`: share of each limit above which it is penalized.
    """
    motion, pullback = limited_motion(series, coefficients, problem.limits)
    rows, pull_rows = problem.rows_with_pullback(motion)
    value, of_regressor = _criterion(problem, rows.regressor)
    excess = np.maximum(rows.shares - targets, 0.0)
    gradient = pull_rows(DesignRows(of_regressor, 2.0 * _PENALTY * excess))
    too_close, of_values = problem.proximity(motion)
    gradient[0] += np.einsum("tl,tln->tn", 2.0 * _PENALTY * too_close, of_values)
    penalty = float(np.square(excess).sum() + np.square(too_close).sum())
    return value + _PENALTY * penalty, pullback(gradient)


def design_from_start(
    problem: MotionProblem, basis: PeriodicBasis, rng: np.random.Generator
) -> DesignedMotion:
    """Design a motion by L-BFGS from the best of some random motions.

    Where the motion exceeds a limit, between samples or because its penalty is finite, the target
    of the limit is lowered by the excess and the search continues.

    Raises `ProblemError`: no random motion identifies what is wanted.
    """
    series = basis.at(basis.times())
    shape = (len(problem.limits.names), basis.size)
    targets = np.full(len(problem.limit_names), _TARGET_SHARE)

    def cost(flat: Array) -> tuple[float, Array]:
        value, gradient = motion_cost(problem, series, flat.reshape(shape), targets)
        return value, gradient.ravel()

    randoms = [rng.normal(size=shape).ravel() for _ in range(_RANDOM_MOTIONS)]
    value, start = min(((cost(flat)[0], k) for k, flat in enumerate(randoms)))
    if not np.isfinite(value):
        raise ProblemError(
            "no motion of these axes identifies all that is wanted: move more joints, of which one "
            "turns the body about an axis that is not along gravity"
        )
    flat = randoms[start]
    for iterations in _STAGES:
        flat = minimize(
            cost,
            flat,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations, "maxfun": 2 * iterations},
        ).x
        targets -= _excess(problem, basis, flat.reshape(shape))
    return within_limits(problem, basis, flat.reshape(shape))


def _excess(problem: MotionProblem, basis: PeriodicBasis, coefficients: Array) -> Array:
    """Return by how much the share of each limit exceeds 1 on a fine grid, shape (limits,)."""
    coefficients = scaled_coefficients(basis, coefficients, problem.limits)
    fine = basis.at(basis.times(refinement=10)) @ coefficients.T
    return np.maximum(problem.rows(fine).shares.max(axis=0) - 1.0, 0.0)


def within_limits(
    problem: MotionProblem, basis: PeriodicBasis, coefficients: Array
) -> DesignedMotion:
    """Scale a motion to the limits of its axes, and shrink it until it keeps the others.

    Both on a grid ten times finer than that of the design. A motion that collides shrinks as well.

    Raises `ProblemError`: the start breaks a limit, which is named.
    """
    coefficients = scaled_coefficients(basis, coefficients, problem.limits)
    fine = basis.at(basis.times(refinement=10)) @ coefficients.T
    scale = 1.0
    for motion in (fine[:, ::10], fine):  # a tenth of the samples is a tenth of the time
        while broken := _broken_limit(problem, scale * motion):
            scale *= _SHRINKAGE
            if scale < _SMALLEST_SCALE:
                raise ProblemError(f"no motion about this start keeps the limit of {broken}")
    value, _ = _criterion(problem, problem.rows(scale * fine[:, ::10]).regressor)
    return DesignedMotion(basis, scale * coefficients, value, scale)


def _broken_limit(problem: MotionProblem, motion: Array) -> str:
    """Describe the limit that a motion exceeds most, or where it collides; empty if neither."""
    shares = problem.rows(motion).shares
    if shares.max(initial=0.0) > 1.0:
        worst = int(shares.max(axis=0).argmax())
        return problem.describe_excess(worst, float(shares[:, worst].max()))
    pair = problem.contact(motion)
    return pair and f"self-collision: {pair} touch at the start. Choose another start"


def random_motion(
    problem: MotionProblem, basis: PeriodicBasis, rng: np.random.Generator
) -> DesignedMotion:
    """Return a random motion within the same limits, as a person might program one."""
    coefficients = rng.normal(size=(len(problem.limits.names), basis.size))
    return within_limits(problem, basis, coefficients)


@dataclass(frozen=True, slots=True)
class Search:
    """Settings of the search for a motion.

    Attributes:
        starts: number of random starts; the criterion has local optima some per cent apart.
        seed: of the random starts.
        finished: motions of starts of an earlier run, by number, which are not designed again.
        on_start: called with the number and the motion of each start when it is finished.
    """

    starts: int = 3
    seed: int = 0
    finished: Mapping[int, DesignedMotion] = field(default_factory=dict)
    on_start: Callable[[int, DesignedMotion], None] = lambda number, motion: None


DEFAULT_SEARCH = Search()
"""Search from three random starts with seed 0, the default of `identify design`."""


def design_motion(
    problem: MotionProblem, basis: PeriodicBasis, search: Search = DEFAULT_SEARCH
) -> DesignedMotion:
    """Design a motion from several random starts, and return the best.

    Raises:
        ProblemError: no motion about the start keeps all limits, or none identifies what is wanted.
    """
    if broken := _broken_limit(problem, np.zeros((3, 1, len(problem.start)))):
        raise ProblemError(f"no motion about this start keeps the limit of {broken}")
    motions: list[DesignedMotion] = []
    for number in range(search.starts):
        motion = search.finished.get(number)
        if motion is None:
            rng = np.random.default_rng([search.seed, number])
            motion = design_from_start(problem, basis, rng)
            search.on_start(number, motion)
        motions.append(motion)
    return min(motions, key=lambda motion: motion.criterion)


def unplanned_motion(problem: MotionProblem, basis: PeriodicBasis, *, seed: int) -> DesignedMotion:
    """Return the median of random motions within the same limits, by their criterion."""
    rng = np.random.default_rng([seed, _RANDOM_MOTIONS])
    motions = [random_motion(problem, basis, rng) for _ in range(_RANDOM_MOTIONS)]
    return sorted(motions, key=lambda motion: motion.criterion)[_RANDOM_MOTIONS // 2]

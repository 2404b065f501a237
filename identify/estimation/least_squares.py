"""Weighted least squares in the unknowns, with the weights taken from its own residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import ProblemError
from identify.estimation.identifiability import (
    HALF_WIDTH,
    TRACE,
    Identifiability,
    free_directions,
    identifiability,
    without_noise,
)
from identify.estimation.initial_estimate import (
    FitData,
    initial_estimate,
    measured_scales,
    require_positive_masses,
    too_little,
)
from identify.estimation.residual_weights import RESOLUTION, noise_fraction, residual_weights
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.inertia import default_body
from identify.inertia.parameters import default_radius
from identify.regressors import LinearProblem, System

_RAMP = 4
"""Rounds over which the correction for noise in the motion comes in: at once, it may lead away."""

_DAMPED_FROM = 8
"""Rounds after which bodies' sizes go half of the way."""

_MOST_ROUNDS = 30
_SETTLED = 1e-2
"""Standard errors a round may still move the estimate by when re-weighting stops."""

_SIZE_RESOLVED = (2.0, 6.0)
"""Standard errors by which a body's size stands out where its scale begins to be taken from it, and
where it is taken from it alone: a threshold would let rounds go to and fro."""

_FARTHEST = 10.0
"""Distance of the centre of mass from Bo, in body sizes, beyond which no scale is taken from it."""


@dataclass(frozen=True)
class LeastSquaresFit:
    """The estimate without inequalities, and the problem it solves.

    Attributes:
        data: system and equalities.
        weights: W of each group, the inverse residual covariance times the share of independent
            rows, so that (AᵀA)⁻¹ is the covariance of the unknowns.
        problem: the whitened problem in x.
        noise: rows of the noise in the columns of that problem, [A | b], shape (n, p + 1).
        scatter: of its scores beyond AᵀA: from the cross term of noise, and from residuals that
            are larger or smaller in some bands than the weights say, shape (p, p).
        scaling: of the bodies found.
        identifiability: what the data identify, in scaled unknowns.
        prior: scaled unknowns of the prior bodies, with what is known exactly.
        reference: what holds in the directions the data do not identify: the prior bodies, shrunk
            towards what the data say there, by its own error.
        theta: scaled unknowns of the estimate.
        regularised: the same with every direction free, each shrunk towards the reference by its
            error: what weights are taken from, as what is not identifiable yet may be so with
            better ones.
    """

    data: FitData
    weights: tuple[Array, ...]
    problem: LinearProblem
    noise: Array
    scatter: Array
    scaling: Scaling
    identifiability: Identifiability
    prior: Array
    reference: Array
    theta: Array
    regularised: Array

    @property
    def solved(self) -> Array:
        """Scaled unknowns that solve the corrected equations, the reference in the others."""
        A, b = self.corrected
        return self.reference + self.identifiability.identifiable @ np.linalg.solve(A, b)

    @property
    def x(self) -> Array:
        """The unknowns in SI."""
        return self.scaling.x(self.theta)

    @property
    def scaled_matrix(self) -> Array:
        """A of the whitened problem in scaled unknowns."""
        return self.problem.A @ self.scaling.to_x

    @property
    def prior_completed(self) -> LinearProblem:
        """The problem in scaled unknowns with what the data do not identify completed by the prior.

        Of the data it keeps what they say along the identifiable directions. Along each other
        direction it asks for the prior body with a standard error of the body's own scale, so that
        constraints move what is not known before they move what is.
        """
        split = self.identifiability
        A, b = self.corrected
        floor = self.problem.residual_norm(self.scaling.x(self.solved))
        inverse = np.linalg.pinv(np.concatenate((split.identifiable, split.unidentifiable), axis=1))
        count = split.identifiable.shape[1]
        by_data, by_prior = A @ inverse[:count], inverse[count:]
        rows = np.concatenate((by_data, by_prior))
        target = np.concatenate((b + by_data @ self.reference, by_prior @ self.reference))
        reduced = LinearProblem.from_rows(
            np.concatenate((rows, target[:, None]), axis=1),
            self.problem.equations,
            nuisances=self.problem.nuisances,
            names=self.problem.names,
        )
        return replace(reduced, floor=float(np.hypot(reduced.floor, floor)))

    @cached_property
    def corrected(self) -> tuple[Array, Array]:
        """A y = b along the identifiable directions, shapes (k, k) and (k,)."""
        return self.corrected_along(self.identifiability.identifiable)

    def corrected_along(self, columns: Array) -> tuple[Array, Array]:
        """A y = b along some directions, θ = reference + columns · y; noise is taken off."""
        to_x = self.scaling.to_x
        return without_noise(
            _rows_along(columns, self.scaled_matrix, self.problem.b, self.reference),
            _rows_along(columns, self.noise[:, :-1] @ to_x, self.noise[:, -1], self.reference),
        )


def weighted_least_squares(
    system: System, terms: Sequence[Term] = (), start: Array | None = None
) -> LeastSquaresFit:
    """Least squares, re-weighted by the covariance of its own residuals until it settles.

    Directions of the unknowns that the data do not identify are those of the prior bodies. Of the
    terms it knows the equalities alone.

    Args:
        system: data and equations.
        terms: what is known besides.
        start: unknowns to begin with, as of a fit of the same bodies, which saves rounds; from
            none, noise in the columns is taken off little by little.

    Raises:
        NegativeMass: a mass comes out negative.
        TooLittleMotion: the data do not identify a mass or a centre of mass.
        ProblemError: a kind of channel is zero throughout.
    """
    space = system.space
    rows = [term.equalities(space) for term in terms]
    data = FitData(
        system=system,
        scales=(),
        equalities=np.concatenate([np.zeros((0, len(space))), *(E for E, _ in rows)]),
        values=np.concatenate([np.zeros(0), *(e for _, e in rows)]),
    )
    known = all(data.known[space.of_body(body).start] for body in range(len(space.bodies)))
    data = replace(data, scales=measured_scales(system, masses_known=known))
    x = initial_estimate(data) if start is None else start
    masses = (float(x[space.of_body(body)][0]) for body in range(len(space.bodies)))
    first = 1 if start is None else _RAMP
    fit = _solve(data, x, [default_length(mass) for mass in masses], first / _RAMP, None)
    for number in range(first + 1 if _is_noisy(fit) else _RAMP, _MOST_ROUNDS):
        before, share = fit, min(1.0, number / _RAMP)
        lengths = _lengths(fit, damped=number > _DAMPED_FROM)
        fit = _solve(data, fit.scaling.x(fit.regularised), lengths, share, fit)
        if share == 1.0 and _settled(before, fit):
            break
    _require_masses_and_coms(fit)
    return fit


def ordinary_least_squares(system: System) -> Phi:
    """Plain least squares, every channel weighted alike in its own SI unit.

    Raises:
        ProblemError: the data do not identify all unknowns.
    """
    problem = system.problem([np.eye(group.channels) for group in system.groups])
    norms = np.linalg.norm(problem.A, axis=0)
    if not (norms > 0.0).all() or np.linalg.cond(problem.A / norms) > 1e12:
        raise ProblemError(
            "the data do not identify all parameters; ordinary least squares needs it"
        )
    return np.linalg.solve(problem.A / norms, problem.b) / norms


def default_length(mass: float) -> float:
    """Root mean square distance of the default ball's mass from its centre [m]."""
    return float(np.sqrt(0.6)) * default_radius(mass)


def _solve(
    data: FitData,
    x: Array,
    lengths: Sequence[float],
    share: float,
    before: LeastSquaresFit | None,
) -> LeastSquaresFit:
    """One round: weights, scaling and what is identifiable from the last x; then least squares.

    Args:
        data: system and equalities.
        x: the last unknowns.
        lengths: of the bodies.
        share: of the noise in the columns that is taken off.
        before: the last round, if any.
    """
    space = data.space
    leverage = leverages(data, before)
    moments = data.system.residual_moments(x, [np.diag(scale**-2) for scale in data.scales])
    fraction = noise_fraction(data, x, moments, leverage)
    weights, spreads = residual_weights(data, x, moments, leverage, fraction)
    share = share * fraction
    problem = data.system.problem(weights)
    noise = np.sqrt(share) * data.system.noise_rows(weights)
    scatter = share * data.system.noise_scatter(x, weights)
    scatter = scatter + sum(data.system.moments(spreads))
    scaling = Scaling.of(space, x, lengths, _units_of_scalars(problem, data))
    to_x = scaling.to_x
    split = identifiability(
        problem.A @ to_x,
        noise[:, :-1] @ to_x,
        to_x.T @ scatter @ to_x,
        _body_units(scaling),
        _free(data, scaling),
        len(space.bodies),
    )
    prior = _prior_bodies(data, x, scaling)
    fit = LeastSquaresFit(
        data=data,
        weights=weights,
        problem=problem,
        noise=noise,
        scatter=scatter,
        scaling=scaling,
        identifiability=split,
        prior=prior,
        reference=prior,
        theta=np.zeros(len(space)),
        regularised=np.zeros(len(space)),
    )
    A, b = fit.corrected_along(split.resolved)
    y = np.linalg.solve(A, b)
    regularised = fit.reference + split.resolved @ (y / (1.0 + split.errors**2))
    little = HALF_WIDTH * split.errors >= 1.0
    shrunk = split.resolved[:, little] @ (y / (1.0 + split.errors**4))[little]
    fit = replace(fit, reference=prior + shrunk)
    fit = replace(fit, theta=fit.solved)
    possible = (regularised[: 10 * len(scaling.bodies) : 10] > 0.0).all()
    fit = replace(fit, regularised=regularised if possible else fit.theta)
    errors = np.zeros(len(space))
    for number, body in enumerate(scaling.bodies):
        width = split.half_widths[10 * number]
        errors[10 * number] = body.mass * width if width < 1.0 else np.inf
    require_positive_masses(fit.x, errors, data)
    return fit


def _rows_along(columns: Array, A: Array, b: Array, reference: Array) -> Array:
    """Rows of y, [A columns | b − A reference], of those of θ = reference + columns · y."""
    return np.concatenate((A @ columns, (b - A @ reference)[:, None]), axis=1)


def _free(data: FitData, scaling: Scaling) -> Array:
    """Columns that span what equalities leave open, in scaled unknowns divided by their units."""
    if not len(data.values):
        return np.eye(len(data.space))
    return free_directions(data.equalities @ scaling.to_x * _body_units(scaling))


def _prior_bodies(data: FitData, x: Array, scaling: Scaling) -> Array:
    """Scaled unknowns of prior bodies of these masses and centres; scalars as they are."""
    prior = np.zeros(len(x))
    prior[data.space.of_scalars] = x[data.space.of_scalars] / scaling.units
    for number, body in enumerate(scaling.bodies):
        block = data.space.of_body(number)
        prior[block] = default_body(body.mass, np.zeros(3)) / body.units
    if len(data.values):  # x meets the equalities; a prior body of it need not
        scaled = data.equalities @ scaling.to_x
        missing = data.values - scaled @ prior
        if np.abs(missing).max() > 1e-12 * np.abs(data.values).max():
            return prior + np.linalg.lstsq(scaled, missing, rcond=None)[0]
    return prior


def _units_of_scalars(problem: LinearProblem, data: FitData) -> Array:
    """For each scalar the value that alone would explain everything: its scale."""
    columns = problem.A[:, data.space.of_scalars]
    norms = np.linalg.norm(columns, axis=0)
    whole = float(np.hypot(np.linalg.norm(problem.b), problem.floor))
    return whole / np.where(norms > 0.0, norms, whole)


def _is_noisy(fit: LeastSquaresFit) -> bool:
    """Whether noise in the motion is more than rounding of it."""
    columns = fit.scaling.to_x
    noise = np.linalg.norm(fit.noise[:, :-1] @ columns, axis=0)
    return bool((noise > RESOLUTION * np.linalg.norm(fit.problem.A @ columns, axis=0)).any())


def _settled(before: LeastSquaresFit, after: LeastSquaresFit) -> bool:
    """Whether a round moved the estimate by less than a small share of its standard error.

    Where nothing is noisy, residuals are those of the derivatives, and the standard error is as
    little: by less than rounding of what was measured is settled too. The units of length have to
    settle as well, where they decide what is identifiable.
    """
    moved = after.scaling.x(after.regularised) - before.scaling.x(before.regularised)
    grown = [
        abs(new.length / old.length - 1.0)
        for new, old in zip(after.scaling.bodies, before.scaling.bodies, strict=True)
    ]
    complete = before.identifiability.complete and after.identifiability.complete
    moved_by = np.linalg.norm(after.problem.A @ moved)
    near = moved_by < max(_SETTLED, RESOLUTION * np.linalg.norm(after.problem.b))
    return bool(near and (complete or max(grown) < _SETTLED))


def leverages(data: FitData, before: LeastSquaresFit | None) -> list[float]:
    """Leverage of each group: effective samples that the unknowns and offsets take of it."""
    system = data.system
    found = [0.0] * len(system.groups)
    for rows in system.owners:
        constants = np.array([system.groups[g].constant[log] for g, log in rows])
        for (g, _), share in zip(rows, constants**2 / (constants @ constants), strict=True):
            found[g] += float(share)
    if before is None:
        share = len(data.space) / system.equations
        return [n + share * g.effective_samples for n, g in zip(found, system.groups, strict=True)]
    A, _ = before.corrected
    inverse = before.scaling.to_x @ before.identifiability.identifiable @ np.linalg.inv(A)
    for number, information in enumerate(system.moments(before.weights)):
        leverage = float(np.einsum("ij,ik,kj->", inverse, information, inverse))
        found[number] += leverage / system.groups[number].channels
    return found


def _body_units(scaling: Scaling) -> Array:
    """The body's scale in each scaled unknown: one, but for the first moment.

    That is about Bo, and is known well if it is known to within the body's distance from there.
    """
    units = np.ones(len(scaling.space))
    for number, body in enumerate(scaling.bodies):
        distance = min(float(np.linalg.norm(body.com)) / body.length, _FARTHEST)
        units[10 * number + 1 : 10 * number + 4] = np.hypot(1.0, distance)
    return units


def _lengths(fit: LeastSquaresFit, *, damped: bool) -> list[float]:
    """Each body's size: from its inertia as far as the data resolve that, else the default ball's.

    Damped, half of the way is gone, as what is shrunk towards a larger body makes a larger one.
    """
    split, low_high = fit.identifiability, _SIZE_RESOLVED
    A, b = fit.corrected_along(split.resolved)
    theta = fit.reference + split.resolved @ np.linalg.solve(A, b)
    lengths = []
    for number, body in enumerate(fit.scaling.bodies):
        default = default_length(float(fit.x[10 * number]))
        trace = float(TRACE @ theta[10 * number : 10 * number + 10])
        known = float(np.interp(trace / split.size_errors[number], low_high, (0.0, 1.0)))
        found = body.length * float(np.sqrt(0.5 * trace)) if known > 0.0 else default
        taken = found**known * default ** (1.0 - known)
        lengths.append(float(np.sqrt(taken * body.length)) if damped else taken)
    return lengths


def _require_masses_and_coms(fit: LeastSquaresFit) -> None:
    """Raise unless masses and first moments are identifiable."""
    space, widths = fit.data.space, fit.identifiability.half_widths
    missing = [
        space.names[k]
        for body in range(len(space.bodies))
        for k in range(10 * body, 10 * body + 4)
        if not widths[k] < 1.0
    ]
    if missing:
        raise too_little(missing, fit.data)

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
from identify.estimation.residual_weights import (
    RESOLUTION,
    Bands,
    noise_fraction,
    residual_weights,
)
from identify.estimation.scaling import BodyScaling, Scaling
from identify.estimation.terms import Term
from identify.inertia import default_body
from identify.inertia.parameters import default_radius
from identify.regressors import LinearProblem, System
from identify.regressors.triangular import triangle, whitened

_RAMP = 4
"""Rounds over which the correction for noise in the motion comes in: at once, it may lead away."""

_DAMPED_FROM = 8
"""Rounds after which bodies' sizes go half of the way."""

_MOST_ROUNDS = 30
_SETTLED = 1e-2
"""Standard errors a round may still move the estimate by when re-weighting stops."""

_NEAR = 1e-5
"""Standard errors that rounds without a split may end away from where they settle."""

_ROUNDING = 1e-12
"""Share of the data that those rounds may be away by, where that is more."""

_MOST_APPROACHING = 15
"""Rounds of those at the most …"""

_MOST_EXTRAPOLATED = 0.5
"""… and share of its way that a round may go of the last one's for both to be extended."""

_MOST_FULL = 4
"""Full rounds after those: where they move the estimate on, something is not clear."""

_LITTLE_NOISE = 0.05
"""Share of the information that is noise in the motion, up to which it is taken off at once."""

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
            rows, so that (AᵀA)⁻¹ is the covariance of the unknowns, shape (G, m, m).
        problem: the whitened problem in x.
        noise_fraction: share of the noise read off the signals that was taken to be there.
        noise: moment of that noise in the columns of the problem, [A | b], shape (p + 1, p + 1).
        scatter: of its scores beyond AᵀA: from the cross term of noise, and from residuals that
            are larger or smaller in some bands than the weights say, shape (p, p).
        scaling: of the bodies found.
        identifiability: what the data identify, in scaled unknowns.
        prior: scaled unknowns of the prior bodies, with what is known exactly.
        reference: what holds in the directions the data do not identify: the prior bodies, shrunk
            towards what the data say there, by its own error.
        corrected: A y = b along the identifiable directions, θ = reference + identifiable · y, with
            the noise in the columns taken off, shapes (k, k) and (k,).
        theta: scaled unknowns of the estimate.
        regularised: what weights are taken from: theta, if the data identify every direction.
            Otherwise each is shrunk towards the reference by its error, as what is not identifiable
            yet may be so with better weights.
    """

    data: FitData
    weights: Array
    problem: LinearProblem
    noise_fraction: float
    noise: Array
    scatter: Array
    scaling: Scaling
    identifiability: Identifiability
    prior: Array
    reference: Array
    corrected: tuple[Array, Array]
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
    def prior_completed(self) -> tuple[Array, Array, float]:
        """A θ = b in scaled unknowns, with what the data do not identify completed by the prior.

        Of the data it keeps what they say along the identifiable directions. Along each other
        direction it asks for the prior body with a standard error of the body's own scale, so that
        constraints move what is not known before they move what is.

        Returns:
            A, shape (p, p), b, shape (p,), and the norm of the residual that no unknowns reach.
        """
        split = self.identifiability
        A, b = self.corrected
        p, floor = len(self.theta), self.problem.residual_norm(self.scaling.x(self.solved))
        inverse = np.linalg.pinv(np.concatenate((split.identifiable, split.unidentifiable), axis=1))
        count = split.identifiable.shape[1]
        by_data, by_prior = A @ inverse[:count], inverse[count:]
        rows = np.concatenate((by_data, by_prior))
        target = np.concatenate((b + by_data @ self.reference, by_prior @ self.reference))
        reduced = triangle(np.concatenate((rows, target[:, None]), axis=1))
        return reduced[:p, :p], reduced[:p, p], float(np.hypot(reduced[p, p], floor))

    def corrected_along(self, columns: Array) -> tuple[Array, Array]:
        """A y = b along some directions, θ = reference + columns · y; noise is taken off."""
        to_x = self.scaling.to_x
        return _corrected(self.problem, self.noise, to_x @ columns, to_x @ self.reference)

    @cached_property
    def inverse_along(self) -> Array:
        """B⁻¹ along the identifiable directions, shape (k, k)."""
        inverse = np.linalg.inv(self.corrected[0])
        return inverse @ inverse.T

    @cached_property
    def information_inverse(self) -> Array:
        """B⁻¹ in SI, zero along what the data do not identify, shape (p, p)."""
        known = self.scaling.to_x @ self.identifiability.identifiable
        return known @ self.inverse_along @ known.T

    @cached_property
    def moments(self) -> Array:
        """Moments of the whitened rows [A | b] of each group, shape (G, p + 1, p + 1)."""
        return self.data.system.moments(self.weights)

    @cached_property
    def leverages(self) -> Array:
        """Effective samples that the unknowns and offsets take of each group, shape (G,)."""
        return _leverages(self.data, self.information_inverse, self.moments)


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
    data = _fit_data(system, terms)
    x = initial_estimate(data) if start is None else start
    fit = _from_approached(data, x, ramp=start is None)
    if fit is None:
        fit = _in_full_rounds(data, x, ramp=start is None)
    _require_masses_and_coms(fit)
    return fit


def _fit_data(system: System, terms: Sequence[Term]) -> FitData:
    space = system.space
    rows = [term.equalities(space) for term in terms]
    data = FitData(
        system=system,
        scales=np.empty(0),
        equalities=np.concatenate([np.zeros((0, len(space))), *(E for E, _ in rows)]),
        values=np.concatenate([np.zeros(0), *(e for _, e in rows)]),
    )
    known = all(data.known[space.of_body(body).start] for body in range(len(space.bodies)))
    return replace(data, scales=measured_scales(system, masses_known=known))


def _in_full_rounds(data: FitData, x: Array, *, ramp: bool) -> LeastSquaresFit:
    """Rounds that split off what is not identifiable anew each time, until they settle."""
    lengths = [default_length(mass) for mass in _masses(data, x)]
    first = 1 if ramp else _RAMP
    fit = _solve(data, x, lengths, first / _RAMP, _first_leverages(data))
    for number in range(first + 1 if _is_noisy(fit) else _RAMP, _MOST_ROUNDS):
        before, share = fit, min(1.0, number / _RAMP)
        lengths = _lengths(fit, damped=number > _DAMPED_FROM)
        x = fit.scaling.x(fit.regularised)
        fit = _solve(data, x, lengths, share, fit.leverages)
        if share == 1.0 and _settled(fit, x, before):
            break
    return fit


def _from_approached(data: FitData, x: Array, *, ramp: bool) -> LeastSquaresFit | None:
    """The full round from where rounds without a split settle; None where that is not clear.

    It is clear where every direction is identifiable and solved for as in those rounds, and the
    full round does not move the estimate.
    """
    try:
        found = _approached(data, x, ramp=ramp)
        if found is None:
            return None
        x, inverse, leverage = found
        fit = _solve(data, x, _lengths_of(data, x, inverse), 1.0, leverage)
        for _ in range(_MOST_FULL):
            if not fit.identifiability.complete:
                return None
            moved = fit.scaling.x(fit.regularised)
            if _distance(fit.problem, moved - x) < max(_NEAR, _rounding(fit.problem, _ROUNDING)):
                return fit
            x = moved
            lengths = _lengths_of(data, x, fit.information_inverse)
            fit = _solve(data, x, lengths, 1.0, fit.leverages)
    except (np.linalg.LinAlgError, ProblemError):
        pass
    return None


def _approached(data: FitData, x: Array, *, ramp: bool) -> tuple[Array, Array, Array] | None:
    """Where re-weighting settles if every direction that equalities leave open is solved for.

    Returns:
        The unknowns and B⁻¹ in SI and the groups' leverages, shapes (p,), (p, p) and (G,); None
        where rounds do not settle.
    """
    masses = _masses(data, x)
    if not min(masses) > 0.0:
        return None
    units = np.ones(len(data.space.scalars))
    scaling = Scaling.of(data.space, x, [default_length(mass) for mass in masses], units)
    columns = scaling.to_x @ (_body_units(scaling)[:, None] * _free(data, scaling))
    reference = scaling.x(_prior_bodies(data, x, scaling))
    into = _into(columns, reference)
    system, leverage, before, rate = data.system, _first_leverages(data), np.zeros(0), 1.0
    for number in range(1, _MOST_APPROACHING):
        weights, fraction = _weights(data, x, leverage)
        of_groups = system.moments(weights)
        moment = of_groups.sum(axis=0) + system.offset_moment(weights)
        R = np.linalg.cholesky(into.T @ moment @ into).T
        noise = into.T @ (fraction * system.noise_moment(weights)) @ into
        if number == 1 and ramp:
            share = whitened(noise[:-1, :-1], R[:-1, :-1])
            ramp = float(np.trace(share)) > _LITTLE_NOISE
        part = min(1.0, number / _RAMP) if ramp else 1.0
        A, b = without_noise(R, part * noise)
        root = columns @ np.linalg.inv(A)
        last, x = x, reference + root @ b
        inverse, step = root @ root.T, x - last
        leverage = _leverages(data, inverse, of_groups)
        if not min(_masses(data, x)) > 0.0:
            return None
        if part < 1.0:
            continue
        information = moment[:-1, :-1]
        moved = float(np.sqrt(step @ information @ step))
        # Each round goes about the same share of the way of the one before, and is taken to the
        # end of that way.
        if len(before):
            rate = float(before @ information @ step) / float(before @ information @ before)
        ahead = moved * min(1.0, abs(rate) if rate else 1.0)
        if ahead < max(_NEAR, _ROUNDING * float(np.sqrt(moment[-1, -1]))):
            return x, inverse, leverage
        before = step
        if 0.0 < rate < _MOST_EXTRAPOLATED:
            further = x + rate / (1.0 - rate) * step
            if min(_masses(data, further)) > 0.0:
                x, before = further, np.zeros(0)
    return None


def _distance(problem: LinearProblem, moved: Array) -> float:
    """A change of the unknowns in standard errors."""
    return float(np.linalg.norm(problem.A @ moved))


def _rounding(problem: LinearProblem, share: float) -> float:
    """What rounding of a share of the data moves the unknowns by, in standard errors."""
    return share * float(np.linalg.norm(problem.b))


def _masses(data: FitData, x: Array) -> list[float]:
    return [float(x[data.space.of_body(body)][0]) for body in range(len(data.space.bodies))]


def ordinary_least_squares(system: System) -> Phi:
    """Plain least squares, every channel weighted alike in its own SI unit.

    Raises:
        ProblemError: the data do not identify all unknowns.
    """
    G, m = system.arrays.channels.shape
    problem = system.problem(np.broadcast_to(np.eye(m), (G, m, m)))
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
    leverage: Array,
) -> LeastSquaresFit:
    """One round: weights, scaling and what is identifiable from the last x; then least squares.

    Args:
        data: system and equalities.
        x: the last unknowns.
        lengths: of the bodies.
        share: of the noise in the columns that is taken off.
        leverage: of each group, after the last round, shape (G,).
    """
    space = data.space
    bands, fraction = _bands(data, x, leverage)
    weights, covariance = residual_weights(data, bands)
    spreads = weights @ (bands.own_covariance(data.system.arrays) - covariance) @ weights
    problem = data.system.problem(weights)
    noise = share * fraction * data.system.noise_moment(weights)
    scatter = share * fraction * data.system.noise_scatter(x, weights)
    scatter = scatter + data.system.moments(spreads).sum(axis=0)[:-1, :-1]
    scaling = Scaling.of(space, x, lengths, _units_of_scalars(problem, data))
    to_x = scaling.to_x
    split = identifiability(
        problem.A @ to_x,
        to_x.T @ noise[:-1, :-1] @ to_x,
        to_x.T @ scatter @ to_x,
        _body_units(scaling),
        _free(data, scaling),
        len(space.bodies),
    )
    prior = _prior_bodies(data, x, scaling)
    A, b = _corrected(problem, noise, to_x @ split.resolved, to_x @ prior)
    y = np.linalg.solve(A, b)
    little = HALF_WIDTH * split.errors >= 1.0
    reference = prior + split.resolved[:, little] @ (y / (1.0 + split.errors**4))[little]
    corrected = _corrected(problem, noise, to_x @ split.identifiable, to_x @ reference)
    theta = reference + split.identifiable @ np.linalg.solve(*corrected)
    regularised = theta
    if not split.complete:
        regularised = prior + split.resolved @ (y / (1.0 + split.errors**2))
        if not (regularised[: 10 * len(scaling.bodies) : 10] > 0.0).all():
            regularised = theta
    fit = LeastSquaresFit(
        data=data,
        weights=weights,
        problem=problem,
        noise_fraction=fraction,
        noise=noise,
        scatter=scatter,
        scaling=scaling,
        identifiability=split,
        prior=prior,
        reference=reference,
        corrected=corrected,
        theta=theta,
        regularised=regularised,
    )
    errors = np.zeros(len(space))
    for number, body in enumerate(scaling.bodies):
        width = split.half_widths[10 * number]
        errors[10 * number] = body.mass * width if width < 1.0 else np.inf
    require_positive_masses(fit.x, errors, data)
    return fit


def _corrected(
    problem: LinearProblem, noise: Array, columns: Array, reference: Array
) -> tuple[Array, Array]:
    """A y = b of x = reference + columns · y, noise taken off.

    Args:
        problem: in x.
        noise: its moment in the columns [A | b], shape (p + 1, p + 1).
        columns: shape (p, k).
        reference: shape (p,).
    """
    into = _into(columns, reference)
    rows = np.concatenate((problem.A, problem.b[:, None]), axis=1)
    return without_noise(rows @ into, into.T @ noise @ into)


def _weights(data: FitData, x: Array, leverage: Array) -> tuple[Array, float]:
    """Weights from the residuals at x, and the noise fraction."""
    bands, fraction = _bands(data, x, leverage)
    return residual_weights(data, bands)[0], fraction


def _bands(data: FitData, x: Array, leverage: Array) -> tuple[Bands, float]:
    """The residuals at x beside what noise makes of them, and the noise fraction."""
    system = data.system
    moments, predicted = system.residual_moments(x, data.scale_weights), system.noise_moments(x)
    fraction = noise_fraction(system.arrays, moments, predicted, leverage)
    return Bands.of_groups(system.arrays, moments, fraction * predicted, leverage), fraction


def _into(columns: Array, reference: Array) -> Array:
    """What turns rows of x, [A | b], into those of y, x = reference + columns · y."""
    into = np.zeros((len(columns) + 1, columns.shape[1] + 1))
    into[:-1, :-1], into[:-1, -1], into[-1, -1] = columns, -reference, 1.0
    return into


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
    if not data.space.scalars:
        return np.zeros(0)
    columns = problem.A[:, data.space.of_scalars]
    norms = np.linalg.norm(columns, axis=0)
    whole = float(np.hypot(np.linalg.norm(problem.b), problem.floor))
    return whole / np.where(norms > 0.0, norms, whole)


def _is_noisy(fit: LeastSquaresFit) -> bool:
    """Whether noise in the motion is more than rounding of it."""
    columns = fit.scaling.to_x
    noise = np.sqrt(np.maximum(np.diag(columns.T @ fit.noise[:-1, :-1] @ columns), 0.0))
    return bool((noise > RESOLUTION * np.linalg.norm(fit.problem.A @ columns, axis=0)).any())


def _settled(fit: LeastSquaresFit, x: Array, before: LeastSquaresFit) -> bool:
    """Whether a round moved the estimate by less than a small share of its standard error.

    Where nothing is noisy, residuals are those of the derivatives, and the standard error is as
    little: by less than rounding of what was measured is settled too. The units of length have to
    settle as well, where they decide what is identifiable.
    """
    moved = fit.scaling.x(fit.regularised) - x
    grown = [
        abs(new.length / old.length - 1.0)
        for new, old in zip(fit.scaling.bodies, before.scaling.bodies, strict=True)
    ]
    complete = before.identifiability.complete and fit.identifiability.complete
    near = _distance(fit.problem, moved) < max(_SETTLED, _rounding(fit.problem, RESOLUTION))
    return bool(near and (complete or max(grown) < _SETTLED))


def _first_leverages(data: FitData) -> Array:
    """Leverage of each group where nothing is known of it: shares of the unknowns, shape (G,)."""
    arrays = data.system.arrays
    share = len(data.space) / data.system.equations
    return arrays.offset_leverage + share * arrays.effective_samples


def _leverages(data: FitData, inverse: Array, moments: Array) -> Array:
    """Leverage of each group: effective samples that the unknowns and offsets take, shape (G,).

    Args:
        data: system and equalities.
        inverse: B⁻¹, shape (p, p).
        moments: of the rows [A | b] of each group, shape (G, p + 1, p + 1).
    """
    arrays, p = data.system.arrays, len(inverse)
    by_unknowns = (moments[:, :p, :p] * inverse).sum(axis=(1, 2))
    return arrays.offset_leverage + by_unknowns / arrays.channels.sum(axis=1)


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


def _lengths_of(data: FitData, x: Array, inverse: Array) -> list[float]:
    """Each body's size as in `_lengths`, of unknowns that are all resolved.

    Args:
        data: system and equalities.
        x: the unknowns, shape (p,).
        inverse: B⁻¹ in SI, shape (p, p).
    """
    lengths = []
    for body, mass in enumerate(_masses(data, x)):
        block = data.space.of_body(body)
        one = BodyScaling(mass, 1.0, x[block][1:4] / mass)
        to_trace = TRACE @ one.to_theta
        trace = float(to_trace @ x[block])
        error = float(np.sqrt(to_trace @ inverse[block, block] @ to_trace))
        known = float(np.interp(trace / error, _SIZE_RESOLVED, (0.0, 1.0))) if error > 0.0 else 1.0
        found = float(np.sqrt(0.5 * trace)) if known > 0.0 else 1.0
        lengths.append(found**known * default_length(mass) ** (1.0 - known))
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

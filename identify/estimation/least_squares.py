"""Weighted least squares in the unknowns, with the weights taken from its own residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import ProblemError
from identify.estimation.identifiability import (
    TRACE,
    Identifiability,
    identifiability,
    without_noise,
)
from identify.estimation.initial_estimate import (
    FitData,
    initial_estimate,
    require_positive_masses,
    too_little,
)
from identify.estimation.residual_weights import weighted_by_residuals
from identify.estimation.rounds import (
    NEAR,
    RAMP,
    ROUNDING,
    Way,
    body_units,
    default_length,
    first_leverages,
    fit_data,
    free_columns,
    into_directions,
    leverages,
    likely_length,
    masses_of,
    prior_bodies,
)
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.regressors import LinearProblem, System
from identify.regressors.triangular import invert_triangular, qr_factor, whiten_moment
from identify.significance import HALF_WIDTH_SIGMA

_DAMPED_FROM = 8
"""Rounds after which bodies' sizes go half of the way."""

_MOST_REWEIGHTINGS = 30

_LITTLE_NOISE = 0.05
"""Share of the information that is noise in the motion, up to which it is taken off at once."""

_LEAST_SCATTER = -0.8
"""Least scatter of the scores beyond the information, in shares of it."""

_STEADY_LENGTHS = 1e-4
"""Share by which a round may still change the units of length when re-weighting stops."""


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
        regularised: the same with every direction free, each shrunk towards the prior bodies by
            its error: what weights are taken from, as what is not identifiable yet may be so with
            better ones.
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
    def x(self) -> Array:
        """The unknowns in SI."""
        return self.scaling.x(self.theta)

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
        p, floor = len(self.theta), self.problem.residual_norm(self.x)
        count = split.identifiable.shape[1]
        by_data, by_prior = A @ self.along[:count], self.along[count:]
        rows = np.concatenate((by_data, by_prior))
        target = np.concatenate((b + by_data @ self.reference, by_prior @ self.reference))
        reduced = qr_factor(np.concatenate((rows, target[:, None]), axis=1))
        return reduced[:p, :p], reduced[:p, p], float(np.hypot(reduced[p, p], floor))

    @cached_property
    def directions(self) -> Array:
        """Columns that span what the data identify, then what they do not, shape (p, k + j)."""
        split = self.identifiability
        return np.concatenate((split.identifiable, split.unidentifiable), axis=1)

    @cached_property
    def along(self) -> Array:
        """Rows that give how far scaled unknowns go along those, shape (k + j, p)."""
        columns = self.directions
        square = columns.shape[0] == columns.shape[1]
        return np.linalg.inv(columns) if square else np.linalg.pinv(columns)

    def corrected_along(self, columns: Array) -> tuple[Array, Array]:
        """A y = b along some directions, θ = reference + columns · y; noise is taken off."""
        to_x = self.scaling.to_x
        return _corrected(self.problem, self.noise, to_x @ columns, to_x @ self.reference)

    @cached_property
    def inverse_along(self) -> Array:
        """B⁻¹ along the identifiable directions, shape (k, k)."""
        inverse = invert_triangular(self.corrected[0])
        return inverse @ inverse.T

    @cached_property
    def scores(self) -> Array:
        """G with GᵀG the covariance of the scores along the identifiable directions, (k, k)."""
        known = self.scaling.to_x @ self.identifiability.identifiable
        return scores_root(qr_factor(self.problem.A @ known), known.T @ self.scatter @ known)

    @property
    def noise_share(self) -> float:
        """Information along the identifiable directions that is noise in the motion, in shares."""
        known = self.scaling.to_x @ self.identifiability.identifiable
        noise = known.T @ self.noise[:-1, :-1] @ known
        return float(np.trace(whiten_moment(noise, qr_factor(self.problem.A @ known))))

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
        return leverages(self.data, self.information_inverse, self.moments)


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
    data = fit_data(system, terms)
    x, ramp = (initial_estimate(data), RAMP) if start is None else (start, 1)
    lengths = [default_length(mass) for mass in masses_of(data, x)]
    leverage, acceleration = first_leverages(data), Way()
    number = 0
    while True:
        number, last = number + 1, x
        fit = _solve(data, x, lengths, min(1.0, number / ramp), leverage)
        if number == 1 and ramp * fit.noise_share < _LITTLE_NOISE:
            ramp = 1
        x, leverage = fit.scaling.x(fit.regularised), fit.leverages
        lengths = lengths_of_fit(fit, damped=number > _DAMPED_FROM)
        if number < ramp:
            continue
        step = x - last
        near = max(NEAR, ROUNDING * float(np.linalg.norm(fit.problem.b)))
        further = acceleration.on(last, step, fit.problem.A.T @ fit.problem.A)
        left = float(np.linalg.norm(fit.problem.A @ step))
        left *= acceleration.rate / (1.0 - acceleration.rate)
        # Where not all is identifiable, what is so may be other directions than before.
        compared = fit.identifiability.complete or number > 1
        settled = compared and left < near and _grown(lengths, fit) < _STEADY_LENGTHS
        if settled or number == _MOST_REWEIGHTINGS:
            _require_masses_and_coms(fit)
            return fit
        x = further if min(masses_of(data, further)) > 0.0 else x


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
    weights, fraction, beyond = weighted_by_residuals(data, x, leverage)
    problem = data.system.problem(weights)
    noise = share * fraction * data.system.noise_moment(weights)
    scatter = share * fraction * data.system.noise_scatter(x, weights)
    if beyond.any():
        of_groups = data.system.moments(weights @ beyond @ weights)
        scatter = scatter + of_groups.sum(axis=0)[:-1, :-1]
    scaling = Scaling.of(space, x, lengths, _units_of_scalars(problem, data))
    to_x = scaling.to_x
    split = identifiability(
        problem.A @ to_x,
        to_x.T @ noise[:-1, :-1] @ to_x,
        to_x.T @ scatter @ to_x,
        body_units(scaling),
        free_columns(data, scaling),
        len(space.bodies),
    )
    prior = prior_bodies(data, x, scaling)
    corrected = _corrected(problem, noise, to_x @ split.resolved, to_x @ prior)
    y, reference = np.linalg.solve(*corrected), prior
    theta = reference + split.resolved @ y
    if not split.complete:
        little = HALF_WIDTH_SIGMA * split.errors >= 1.0
        reference = prior + split.resolved[:, little] @ (y / (1.0 + split.errors**4))[little]
        corrected = _corrected(problem, noise, to_x @ split.identifiable, to_x @ reference)
        theta = reference + split.identifiable @ np.linalg.solve(*corrected)
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


def _grown(lengths: Sequence[float], fit: LeastSquaresFit) -> float:
    """By what share sizes differ from those that a fit was scaled by, at the most."""
    bodies = fit.scaling.bodies
    return max(abs(a / b.length - 1.0) for a, b in zip(lengths, bodies, strict=True))


def lengths_of_fit(fit: LeastSquaresFit, *, damped: bool) -> list[float]:
    """Each body's size: from its inertia as far as the data resolve that, else the default ball's.

    Damped, half of the way is gone, as what is shrunk towards a larger body makes a larger one.
    """
    split = fit.identifiability
    theta = fit.theta
    if not split.complete:
        A, b = fit.corrected_along(split.resolved)
        theta = fit.reference + split.resolved @ np.linalg.solve(A, b)
    lengths = []
    for number, body in enumerate(fit.scaling.bodies):
        default = default_length(float(fit.x[10 * number]))
        trace = float(TRACE @ theta[10 * number : 10 * number + 10])
        taken = likely_length(trace, split.size_errors[number], body.length, default)
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


def scores_root(root: Array, scatter: Array) -> Array:
    """G with GᵀG = H + X, the covariance of the scores.

    X is read off the residuals and is no square: of chance alone it could leave nothing of H.

    Args:
        root: upper triangular, of H, shape (k, k).
        scatter: X, shape (k, k).
    """
    shares, U = np.linalg.eigh(whiten_moment(scatter, root))
    return np.sqrt(1.0 + np.maximum(shares, _LEAST_SCATTER))[:, None] * (U.T @ root)


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
    into = into_directions(columns, reference)
    rows = np.concatenate((problem.A, problem.b[:, None]), axis=1)
    return without_noise(rows @ into, into.T @ noise @ into)


def _units_of_scalars(problem: LinearProblem, data: FitData) -> Array:
    """For each scalar the value that alone would explain everything: its scale."""
    if not data.space.scalars:
        return np.zeros(0)
    columns = problem.A[:, data.space.scalar_slice]
    norms = np.linalg.norm(columns, axis=0)
    whole = float(np.hypot(np.linalg.norm(problem.b), problem.floor))
    return whole / np.where(norms > 0.0, norms, whole)

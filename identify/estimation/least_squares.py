"""Weighted least squares in the unknowns, re-weighted by its own residuals (IRLS)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import ProblemError
from identify.estimation.anderson import AndersonAcceleration
from identify.estimation.errors_in_variables import subtract_noise_moment
from identify.estimation.fit_data import (
    FitData,
    build_fit_data,
    in_free_flight,
    initial_estimate,
    insufficient_excitation,
    require_positive_masses,
)
from identify.estimation.identifiability import INERTIA_TRACE, Identifiability, identifiability
from identify.estimation.irls import (
    CONVERGENCE_TOLERANCE,
    NOISE_RAMP_ITERATIONS,
    RELATIVE_CONVERGENCE_TOLERANCE,
    change_of_variables,
    characteristic_length,
    default_bodies,
    default_lengths,
    free_basis,
    has_positive_masses,
    initial_lengths,
    initial_leverages,
    leverages,
    parameter_scales,
)
from identify.estimation.residual_weights import compute_residual_weights
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.regressors import LinearProblem, LinearSystem, WrenchEquations
from identify.regressors.triangular import invert_triangular, qr_factor, whiten_moment
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial.columns import FORCE_AXES, TORQUE_AXES

_DAMPING_START_ITERATION = 8
"""Number of iterations after which changes of the characteristic lengths are halved."""

_MAX_ITERATIONS = 30
"""Largest number of IRLS iterations."""

_SMALL_NOISE_FRACTION = 0.05
"""Fraction of the information that is noise up to which noise is subtracted at once."""

_MIN_SCORE_EXCESS = -0.8
"""Smallest eigenvalue of the excess score covariance, relative to the information."""

_LENGTH_TOLERANCE = 1e-4
"""Largest relative change of the characteristic lengths in the last iteration."""

_LENGTH_OF_ANOTHER_MAP = 1e-2
"""Relative change of the characteristic lengths beyond which earlier iterates are not combined with
later ones."""


@dataclass(frozen=True)
class LeastSquaresFit:
    """Least-squares estimate without inequality constraints, and the problem it solves.

    Attributes:
        data: system and equalities.
        weights: W of each group, the inverse residual covariance times the share of independent
            rows, so that (AᵀA)⁻¹ is the covariance of the unknowns, shape (G, m, m).
        problem: whitened problem in x.
        noise_fraction: share of the noise read from the signals that the residuals confirm.
        noise_moment: moment of that noise in the columns [A | b] of the problem, (p + 1, p + 1).
        score_excess: covariance of the scores minus AᵀA (sandwich estimator): from the cross term
            of noise, and from bands whose residuals differ from their weights, shape (p, p).
        scaling: units of the estimated bodies.
        identifiability: identifiable directions of the scaled unknowns.
        default_theta: scaled unknowns of the default bodies that meet the equalities.
        reference: values along unidentifiable directions: the default bodies, shifted by the
            estimate shrunk according to its error.
        eiv_corrected: A y = b along the identifiable directions, θ = reference + identifiable · y,
            corrected for noise in the columns, shapes (k, k) and (k,).
        theta: scaled unknowns of the estimate.
        ridge_theta: ridge estimate along all excited directions, each shrunk towards the default
            bodies by its error; weights are computed from it, as a direction may become
            identifiable with better weights.
    """

    data: FitData
    weights: Array
    problem: LinearProblem
    noise_fraction: float
    noise_moment: Array
    score_excess: Array
    scaling: Scaling
    identifiability: Identifiability
    default_theta: Array
    reference: Array
    eiv_corrected: tuple[Array, Array]
    theta: Array
    ridge_theta: Array

    @property
    def x(self) -> Array:
        """Estimated unknowns in SI."""
        return self.scaling.x(self.theta)

    def wrench_offsets(self, x: Array) -> Array:
        """Return the sensor offsets of each log at unknowns x, of torques about Bo, (logs, m)."""
        offsets = self.data.system.offsets(x, self.weights)
        if self.flight_com is not None:
            offsets[:, TORQUE_AXES] += np.cross(self.flight_com, offsets[:, FORCE_AXES])
        return offsets

    @property
    def flight_com(self) -> tuple[float, ...] | None:
        """Point that torques are about, in B, if the body is in free flight [m]; None: Bo."""
        equations = self.data.system.data[0][1]
        return equations.flight_com if isinstance(equations, WrenchEquations) else None

    @property
    def augmented_problem(self) -> tuple[Array, Array, float]:
        """Least squares A θ = b augmented by pseudo-observations of the default bodies.

        The data determine the identifiable directions. Along each other direction the default body
        is observed with a standard error of the body's own scale, so that constraints move
        unidentifiable parameters before identifiable ones.

        Returns A, shape (p, p), b, shape (p,), and the norm of the residual at the optimum.
        """
        split = self.identifiability
        A, b = self.eiv_corrected
        p, floor = len(self.theta), self.problem.residual_norm(self.x)
        count = split.identifiable.shape[1]
        by_data, by_prior = A @ self.to_coordinates[:count], self.to_coordinates[count:]
        rows = np.concatenate((by_data, by_prior))
        target = np.concatenate((b + by_data @ self.reference, by_prior @ self.reference))
        reduced = qr_factor(np.concatenate((rows, target[:, None]), axis=1))
        return reduced[:p, :p], reduced[:p, p], float(np.hypot(reduced[p, p], floor))

    @cached_property
    def direction_basis(self) -> Array:
        """Basis of the unknowns: identifiable, then unidentifiable directions, shape (p, k + j)."""
        split = self.identifiability
        return np.concatenate((split.identifiable, split.unidentifiable), axis=1)

    @cached_property
    def to_coordinates(self) -> Array:
        """Matrix from scaled unknowns to coordinates along `direction_basis`, (k + j, p)."""
        columns = self.direction_basis
        square = columns.shape[0] == columns.shape[1]
        return np.linalg.inv(columns) if square else np.linalg.pinv(columns)

    def eiv_corrected_along(self, columns: Array) -> tuple[Array, Array]:
        """Return matrix and right side along given directions, corrected for regressor noise."""
        to_x = self.scaling.to_x
        return _eiv_corrected(
            self.problem, self.noise_moment, to_x @ columns, to_x @ self.reference
        )

    @cached_property
    def corrected_information_inverse(self) -> Array:
        """Inverse corrected information B⁻¹ along the identifiable directions, shape (k, k)."""
        inverse = invert_triangular(self.eiv_corrected[0])
        return inverse @ inverse.T

    @cached_property
    def score_root(self) -> Array:
        """Root G of the score covariance GᵀG along the identifiable directions, shape (k, k)."""
        known = self.scaling.to_x @ self.identifiability.identifiable
        return score_covariance_root(
            qr_factor(self.problem.A @ known), _congruent(self.score_excess, known)
        )

    @property
    def information_noise_fraction(self) -> float:
        """Fraction of the information along identifiable directions that is noise of the motion."""
        if not self.noise_moment.any():
            return 0.0
        known = self.scaling.to_x @ self.identifiability.identifiable
        noise = known.T @ self.noise_moment[:-1, :-1] @ known
        return float(np.trace(whiten_moment(noise, qr_factor(self.problem.A @ known))))

    @cached_property
    def information_inverse(self) -> Array:
        """Inverse corrected information B⁻¹ in SI, zero along unidentifiable directions, (p, p)."""
        known = self.scaling.to_x @ self.identifiability.identifiable
        return known @ self.corrected_information_inverse @ known.T

    @cached_property
    def moments(self) -> Array:
        """Second moments of whitened regressor and data by group of rows, (G, p + 1, p + 1)."""
        return self.data.system.normal_matrices(self.weights)

    @cached_property
    def leverages(self) -> Array:
        """Leverage of each group of rows: effective samples that the fit uses up, shape (G,)."""
        return leverages(self.data, self.information_inverse, self.moments)


def weighted_least_squares(
    system: LinearSystem, terms: Sequence[Term] = (), start: Array | None = None
) -> LeastSquaresFit:
    """Fit by least squares, re-weighted by the residual covariance until convergence (IRLS).

    Along unidentifiable directions the unknowns are those of the default bodies. Only the
    equalities among the terms are imposed. The torque on a body in free flight is about its centre
    of mass (`about_com_in_flight`).

    Args:
        system: data and equations.
        terms: constraints.
        start: initial unknowns, such as those of a similar fit, which saves iterations; without
            them, the correction for noise in the columns is phased in.

    Raises:
        NegativeMass: a mass is negative.
        TooLittleMotion: the data do not identify a mass or a centre of mass.
        ProblemError: a kind of channel is zero throughout.
    """
    data = build_fit_data(system, terms)
    if not in_free_flight(system):
        return _reweight_until_convergence(data, start)
    x = initial_estimate(data).x if start is None else start
    # The first fit gives the centre of mass that the torque of the second is about.
    first = _reweight_until_convergence(build_fit_data(_about_com(system, x), terms), start)
    about_com = build_fit_data(_about_com(system, first.x), terms)
    return _reweight_until_convergence(about_com, first.x)


def _about_com(system: LinearSystem, phi: Phi) -> LinearSystem:
    """Return the system of a body in free flight with the torque about its centre of mass."""
    com = tuple((phi[1:4] / phi[0]).tolist())
    ((statistics, equations),) = system.data
    assert isinstance(equations, WrenchEquations)
    return LinearSystem.of([(statistics, replace(equations, flight_com=com))])


def _reweight_until_convergence(data: FitData, start: Array | None) -> LeastSquaresFit:
    """Fit by IRLS from initial unknowns; see `weighted_least_squares`."""
    if start is None:
        initial, ramp = initial_estimate(data), NOISE_RAMP_ITERATIONS
        x, lengths = initial.x, initial_lengths(data.space, *initial)
    else:
        x, ramp, lengths = start, 1, default_lengths(data.space, start)
    leverage, acceleration = initial_leverages(data), AndersonAcceleration()
    number = 0
    while True:
        number, last = number + 1, x
        fit = _irls_iteration(data, x, lengths, min(1.0, number / ramp), leverage)
        if number == 1 and ramp * fit.information_noise_fraction < _SMALL_NOISE_FRACTION:
            ramp = 1
        x, leverage = fit.scaling.x(fit.ridge_theta), fit.leverages
        lengths = characteristic_lengths(fit, damped=number > _DAMPING_START_ITERATION)
        length_change = _length_change(lengths, fit)
        if number < ramp:
            continue
        step = x - last
        relative = RELATIVE_CONVERGENCE_TOLERANCE * float(np.linalg.norm(fit.problem.b))
        tolerance = max(CONVERGENCE_TOLERANCE, relative)
        accelerated = acceleration.next_iterate(last, step, fit.problem.A.T @ fit.problem.A)
        rate = acceleration.convergence_rate
        distance = float(np.linalg.norm(fit.problem.A @ step))
        distance *= rate / (1.0 - rate)
        # If not all directions are identifiable, the identifiable ones may have changed.
        compared = fit.identifiability.complete or number > 1
        converged = compared and distance < tolerance
        converged = converged and length_change < _LENGTH_TOLERANCE
        if converged or number == _MAX_ITERATIONS:
            _require_identifiable_mass_and_com(fit)
            return fit
        if length_change > _LENGTH_OF_ANOTHER_MAP:
            acceleration = AndersonAcceleration()
            x = fit.x if fit.identifiability.complete else x
        elif number == 1 and not data.noise_known:  # its leverages were guessed
            acceleration = AndersonAcceleration()
        elif has_positive_masses(data.space, accelerated):
            x = accelerated


def ordinary_least_squares(system: LinearSystem) -> Phi:
    """Fit by ordinary least squares: all channels have weight one in SI units.

    Raises:
        ProblemError: the data do not identify all unknowns.
    """
    G, m = system.padded.channels.shape
    problem = system.problem(np.broadcast_to(np.eye(m), (G, m, m)))
    norms = np.linalg.norm(problem.A, axis=0)
    if not (norms > 0.0).all() or np.linalg.cond(problem.A / norms) > 1e12:
        raise ProblemError(
            "ordinary least squares: the data do not identify all parameters; log a motion that "
            "excites all of them, or use `identify.solve`"
        )
    return np.linalg.solve(problem.A / norms, problem.b) / norms


def _irls_iteration(
    data: FitData,
    x: Array,
    lengths: Sequence[float],
    noise_ramp: float,
    leverage: Array,
) -> LeastSquaresFit:
    """Do an IRLS iteration: weights, scaling and identifiability at x, then least squares.

    `noise_ramp` is the share of the noise in the columns that is subtracted, `leverage` that of
    each group in the last iteration, shape (G,).
    """
    space = data.space
    weights, fraction, excess = compute_residual_weights(data, x, leverage)
    problem = data.system.problem(weights)
    noise = noise_ramp * fraction * data.system.noise_moment(weights)
    score_excess = noise_ramp * fraction * data.system.noise_scatter(x, weights)
    if excess.any():
        group_moments = data.system.normal_matrices(weights @ excess @ weights)
        score_excess = score_excess + group_moments.sum(axis=0)[:-1, :-1]
    scaling = Scaling.of(space, x, lengths, _scalar_units(problem, data))
    to_x = scaling.to_x
    split = identifiability(
        problem.A @ to_x,
        _congruent(noise[:-1, :-1], to_x),
        _congruent(score_excess, to_x),
        parameter_scales(scaling),
        free_basis(data, scaling),
        len(space.bodies),
    )
    prior = default_bodies(data, x, scaling)
    corrected = _eiv_corrected(problem, noise, to_x @ split.excited_basis, to_x @ prior)
    y, reference = np.linalg.solve(*corrected), prior
    theta = reference + split.excited_basis @ y
    if not split.complete:
        weak = HALF_WIDTH_SIGMA * split.direction_errors >= 1.0
        reference = (
            prior + split.excited_basis[:, weak] @ (y / (1.0 + split.direction_errors**4))[weak]
        )
        corrected = _eiv_corrected(problem, noise, to_x @ split.identifiable, to_x @ reference)
        theta = reference + split.identifiable @ np.linalg.solve(*corrected)
    ridge_theta = prior + split.excited_basis @ (y / (1.0 + split.direction_errors**2))
    if not has_positive_masses(space, ridge_theta):
        ridge_theta = theta
    fit = LeastSquaresFit(
        data=data,
        weights=weights,
        problem=problem,
        noise_fraction=fraction,
        noise_moment=noise,
        score_excess=score_excess,
        scaling=scaling,
        identifiability=split,
        default_theta=prior,
        reference=reference,
        eiv_corrected=corrected,
        theta=theta,
        ridge_theta=ridge_theta,
    )
    errors = np.zeros(len(space))
    for number, body in enumerate(scaling.bodies):
        width = split.half_widths[10 * number]
        errors[10 * number] = body.mass * width if width < 1.0 else np.inf
    require_positive_masses(fit.x, errors, data)
    return fit


def _length_change(lengths: Sequence[float], fit: LeastSquaresFit) -> float:
    """Return the largest relative change of the bodies' lengths from those of a fit's scaling."""
    bodies = fit.scaling.bodies
    return max(abs(a / b.length - 1.0) for a, b in zip(lengths, bodies, strict=True))


def characteristic_lengths(fit: LeastSquaresFit, *, damped: bool) -> list[float]:
    """Compute the characteristic length of each body of a fit [m].

    That of a body with a default is the default's.

    If damped, the change is halved: shrinkage towards a larger body enlarges the estimate.
    """
    split = fit.identifiability
    theta = fit.theta
    if not split.complete:
        A, b = fit.eiv_corrected_along(split.excited_basis)
        theta = fit.reference + split.excited_basis @ np.linalg.solve(A, b)
    lengths: list[float] = []
    defaults = default_lengths(fit.data.space, fit.x)
    for number, (body, default) in enumerate(zip(fit.scaling.bodies, defaults, strict=True)):
        if fit.data.space.bodies[number] in fit.data.space.defaults:
            lengths.append(default)
            continue
        trace = float(INERTIA_TRACE @ theta[10 * number : 10 * number + 10])
        estimate = characteristic_length(trace, split.size_errors[number], body.length, default)
        lengths.append(float(np.sqrt(estimate * body.length)) if damped else estimate)
    return lengths


def _require_identifiable_mass_and_com(fit: LeastSquaresFit) -> None:
    """Raise unless masses and first moments of all bodies without a default are identifiable."""
    space, widths = fit.data.space, fit.identifiability.half_widths
    missing = [
        space.names[k]
        for body, name in enumerate(space.bodies)
        for k in range(10 * body, 10 * body + 4)
        if name not in space.defaults and not widths[k] < 1.0
    ]
    if missing:
        raise insufficient_excitation(missing, fit.data)


def score_covariance_root(root: Array, score_excess: Array) -> Array:
    """Return a root G of the score covariance GᵀG = H + X.

    X is estimated from residuals and need not be positive semidefinite, so that its eigenvalues
    relative to H are bounded from below.

    `root`: upper triangular root of the information H, shape (k, k); `score_excess`: X, shape (k,
    k).
    """
    if not score_excess.any():
        return root
    shares, U = np.linalg.eigh(whiten_moment(score_excess, root))
    return np.sqrt(1.0 + np.maximum(shares, _MIN_SCORE_EXCESS))[:, None] * (U.T @ root)


def _eiv_corrected(
    problem: LinearProblem, noise: Array, columns: Array, reference: Array
) -> tuple[Array, Array]:
    """Restrict a problem to x = reference + columns · y and correct it for noise in its columns.

    `noise` is the moment of the noise in the columns [A | b], shape (p + 1, p + 1).
    """
    change = change_of_variables(columns, reference)
    rows = np.concatenate((problem.A, problem.b[:, None]), axis=1)
    return subtract_noise_moment(rows @ change, _congruent(noise, change))


def _congruent(moment: Array, columns: Array) -> Array:
    """Return Tᵀ N T of a moment N in other unknowns; without noise there is nothing to multiply."""
    return columns.T @ moment @ columns if moment.any() else np.zeros((columns.shape[1],) * 2)


def _scalar_units(problem: LinearProblem, data: FitData) -> Array:
    """Return the scale of each scalar unknown: its value if it alone caused the data."""
    if not data.space.scalars:
        return np.zeros(0)
    columns = problem.A[:, data.space.scalar_slice]
    norms = np.linalg.norm(columns, axis=0)
    norm = float(np.hypot(np.linalg.norm(problem.b), problem.min_residual))
    return norm / np.where(norms > 0.0, norms, norm)

"""Weighted least squares in the ten parameters, with the weight taken from its own residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Mat66, Phi
from identify.errors import ProblemError
from identify.estimation.first_guess import (
    FitData,
    first_guess,
    require_positive_mass,
    too_little,
    wrench_scale_of,
)
from identify.estimation.identifiability import (
    TRACE,
    Identifiability,
    identifiability,
    noise_information,
)
from identify.estimation.scaling import Scaling
from identify.inertia import PHI, default_body
from identify.inertia.parameters import default_radius
from identify.regressors import Bias, LinearProblem, WrenchStatistics

FULL_COVARIANCE_FROM = 200.0
"""Effective samples from which all 21 entries of the residual covariance are estimated; with fewer,
one scale for force and one for torque: on seven still poses anything finer drifts."""

_MOST_ROUNDS = 10
_SETTLED = 1e-2
"""Standard errors a round may still move the estimate by when re-weighting stops."""

_LEAST_INDEPENDENT = 1e-8
"""Share of each axis' residual variance that is taken to be independent of the other axes."""

_SIZE_TOLD = 4.0
"""Standard errors by which a body's size has to stand out before its scale is taken from it."""

_FARTHEST = 10.0
"""Distance of the centre of mass from Bo, in body sizes, beyond which no scale is taken from it."""

_RESOLUTION = 1e-9
"""Residuals below this share of the wrench are rounding, and weigh no more than it."""

_MOST_UNEVEN = 1e-5
"""Least residual of an axis, as a share of its wrench, over the largest of the others: an exact
torque beside a noisy force would outweigh it by more than double precision holds, and hide what the
force alone tells, the mass."""


@dataclass(frozen=True, slots=True)
class LeastSquaresFit:
    """The unconstrained estimate and the problem it solves.

    Attributes:
        statistics: the data.
        bias: whose sensor bias was fitted.
        weight: W, the inverse residual covariance times the share of independent rows, so that
            (AᵀA)⁻¹ is the covariance of the parameters, shape (6, 6).
        problem: the whitened problem in phi.
        scaling: of the body found.
        identifiability: what the data tell, in scaled parameters.
        reference: scaled parameters of the default body (with the mass, where it is given), which
            hold in the directions the data do not tell.
        theta: scaled parameters of the estimate.
    """

    statistics: WrenchStatistics
    bias: Bias
    weight: Mat66
    problem: LinearProblem
    scaling: Scaling
    identifiability: Identifiability
    reference: Array
    theta: Array

    @property
    def phi(self) -> Phi:
        """Ten parameters of the estimate."""
        return self.scaling.phi(self.theta)

    @property
    def scaled_matrix(self) -> Array:
        """A of the whitened problem in scaled parameters."""
        return self.problem.A @ self.scaling.to_phi

    @property
    def completed(self) -> LinearProblem:
        """The problem in scaled parameters with what the data do not tell completed.

        Of the data it keeps what they say along the told directions. Along each other direction it
        asks for the default body with a standard error of the body's own scale, so that constraints
        move what is not known before they move what is.
        """
        split = self.identifiability
        A, b = self.scaled_matrix, self.problem.b
        if not split.untold.size:
            return replace(self.problem, A=A)
        told_of = np.linalg.pinv(np.concatenate((split.told, split.untold), axis=1))
        count = split.told.shape[1]
        along_told, along_untold = A @ split.told @ told_of[:count], told_of[count:]
        from_reference = b - A @ self.reference + along_told @ self.reference
        rows = np.concatenate((along_told, along_untold))
        target = np.concatenate((from_reference, along_untold @ self.reference))
        reduced = LinearProblem.from_rows(
            np.concatenate((rows, target[:, None]), axis=1),
            self.problem.equations,
            nuisances=self.problem.nuisances,
        )
        return replace(reduced, floor=float(np.hypot(reduced.floor, self.problem.floor)))


def weighted_least_squares(
    statistics: WrenchStatistics,
    feature_noise: Array,
    *,
    bias: Bias = "per_log",
    mass: float | None = None,
) -> LeastSquaresFit:
    """Least squares, re-weighted by the covariance of its own residuals until it settles.

    Directions of the parameters that the data do not tell are those of the default body.

    Args:
        statistics: of one or more logs.
        feature_noise: number of rows times noise variance, for each of the 12 features.
        bias: whose sensor bias is fitted.
        mass: known mass [kg], if any.

    Raises:
        NegativeMass: the mass comes out negative.
        TooLittleMotion: the data do not tell mass or centre of mass.
        ProblemError: the data are not worth as many equations as there are unknowns.
    """
    data = FitData(statistics, feature_noise, bias, mass, wrench_scale_of(statistics))
    phi = first_guess(data)
    fit = _solve(data, phi, default_length(float(phi[0])))
    for _ in range(_MOST_ROUNDS):
        before = fit
        fit = _solve(data, fit.phi, _length(fit))
        if _settled(before, fit):
            break
    _require_mass_and_com(fit)
    return fit


def ordinary_least_squares(statistics: WrenchStatistics, bias: Bias = "per_log") -> Phi:
    """Plain least squares, every component of the wrench weighted alike in its own SI unit.

    Raises:
        ProblemError: the data do not tell all ten parameters.
    """
    problem = statistics.problem(None, bias)
    norms = np.linalg.norm(problem.A, axis=0)
    if not (norms > 0.0).all() or np.linalg.cond(problem.A / norms) > 1e12:
        raise ProblemError(
            "the data do not tell all ten parameters; ordinary least squares needs it"
        )
    return np.linalg.solve(problem.A / norms, problem.b) / norms


def default_length(mass: float) -> float:
    """Root mean square distance of the default ball's mass from its centre [m]."""
    return float(np.sqrt(0.6)) * default_radius(mass)


def _solve(data: FitData, phi: Phi, length: float) -> LeastSquaresFit:
    """One round: weight, scaling and what is told from the last phi; then least squares."""
    com = phi[1:4] / phi[0]
    scaling = Scaling.of(float(phi[0]), length, com)
    weight = _residual_weight(data, phi)
    problem = data.statistics.problem(weight, data.bias)
    matrix = problem.A @ scaling.to_phi
    noise = noise_information(data.feature_noise, weight, scaling.to_phi)
    split = identifiability(matrix, noise, _body_units(scaling), known_mass=data.mass is not None)
    reference = scaling.theta(default_body(float(phi[0]), com))
    theta = _least_squares_along(split.told, matrix, problem.b, reference)
    require_positive_mass(scaling.phi(theta), scaling.mass * split.half_widths[0], data.bias)
    return LeastSquaresFit(
        statistics=data.statistics,
        bias=data.bias,
        weight=weight,
        problem=problem,
        scaling=scaling,
        identifiability=split,
        reference=reference,
        theta=theta,
    )


def _settled(before: LeastSquaresFit, after: LeastSquaresFit) -> bool:
    """Whether a round moved the estimate by less than a small part of its standard error.

    The unit of length has to settle too, where it decides what is told.
    """
    moved = np.linalg.norm(after.problem.A @ (after.phi - before.phi))
    grown = after.scaling.length / before.scaling.length - 1.0
    everything_told = all(fit.identifiability.untold.size == 0 for fit in (before, after))
    return bool(moved < _SETTLED and (everything_told or abs(grown) < _SETTLED))


def _residual_weight(data: FitData, phi: Phi) -> Mat66:
    """W from the residuals at phi: all 21 entries, or two scales where the data are few."""
    statistics = data.statistics
    effective = float(statistics.effective.sum())
    unknowns = (10 + statistics.nuisances(data.bias)) / 6.0
    moment = statistics.residual_moment(phi, data.bias)
    covariance = moment / max(effective - unknowns, 1.0)
    if effective < FULL_COVARIANCE_FROM:
        power = np.diag(covariance)
        covariance = np.diag(np.repeat([power[:3].mean(), power[3:].mean()], 3))
    # The wrench's own scale bounds a residual that is nothing but rounding.
    rounding = (_RESOLUTION * data.wrench_scale) ** 2 * statistics.samples.sum() / effective
    # Residuals of all axes that move as one would make the weight singular.
    rounding = rounding + _LEAST_INDEPENDENT * np.diag(covariance)
    relative = np.diag(covariance) / data.wrench_scale**2
    rounding = rounding + _MOST_UNEVEN**2 * relative.max() * data.wrench_scale**2
    covariance = covariance + np.diag(rounding)
    # Forces and torques differ by orders of magnitude: invert the correlation.
    sigma = np.sqrt(np.diag(covariance))
    inverse = np.linalg.inv(covariance / np.outer(sigma, sigma))
    return 0.5 * (inverse + inverse.T) / np.outer(sigma, sigma)


def _least_squares_along(columns: Array, A: Array, b: Array, reference: Array) -> Array:
    """The minimiser of ‖A theta − b‖ over reference + span of the columns."""
    if columns.shape == A.shape:  # every direction: the reference does not matter
        return np.linalg.solve(A, b)
    y = np.linalg.lstsq(A @ columns, b - A @ reference, rcond=None)[0]
    return reference + columns @ y


def _body_units(scaling: Scaling) -> Array:
    """The body's scale in each scaled parameter: one, but for the first moment.

    That is about Bo, and is known well if it is known to within the body's distance from there.
    """
    distance = min(float(np.linalg.norm(scaling.com)) / scaling.length, _FARTHEST)
    units = np.ones(10)
    units[1:4] = np.hypot(1.0, distance)
    return units


def _length(fit: LeastSquaresFit) -> float:
    """The body's size: from its inertia where the data tell that, else that of the default ball."""
    split = fit.identifiability
    theta = fit.theta
    if split.resolved.shape != split.told.shape:
        theta = _least_squares_along(
            split.resolved, fit.scaled_matrix, fit.problem.b, fit.reference
        )
    trace = float(TRACE @ theta)
    if trace > _SIZE_TOLD * split.size_error:
        return fit.scaling.length * float(np.sqrt(0.5 * trace))
    return default_length(float(fit.phi[0]))


def _require_mass_and_com(fit: LeastSquaresFit) -> None:
    """Raise unless mass and first moment are told."""
    widths = fit.identifiability.half_widths[:4]
    untold = [name for name, width in zip(PHI[:4], widths, strict=True) if not width < 1.0]
    if untold:
        raise too_little(untold, fit.bias)

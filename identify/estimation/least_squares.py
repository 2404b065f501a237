"""Weighted least squares in the unknowns, with the weights taken from its own residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import ProblemError
from identify.estimation.identifiability import (
    TRACE,
    Identifiability,
    free_directions,
    identifiability,
)
from identify.estimation.initial_estimate import (
    FitData,
    initial_estimate,
    measured_scales,
    require_positive_masses,
    too_little,
)
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.inertia import default_body
from identify.inertia.parameters import default_radius
from identify.regressors import LinearProblem, System
from identify.regressors.system import GroupEquations

FULL_COVARIANCE_FROM = 200.0
"""Effective samples from which all entries of the residual covariance are estimated; with fewer,
one scale for each kind of channel: on seven still poses anything finer drifts."""

_MOST_ROUNDS = 10
_SETTLED = 1e-2
"""Standard errors a round may still move the estimate by when re-weighting stops."""

_LEAST_INDEPENDENT = 1e-8
"""Share of each axis' residual variance that is taken to be independent of the other axes."""

_SIZE_RESOLVED = 4.0
"""Standard errors by which a body's size has to stand out before its scale is taken from it."""

_FARTHEST = 10.0
"""Distance of the centre of mass from Bo, in body sizes, beyond which no scale is taken from it."""

_RESOLUTION = 1e-9
"""Residuals below this share of what was measured are rounding, and weigh no more than it."""

_MOST_UNEVEN = 1e-5
"""Least residual of a channel, as a share of what it measured, over the largest of the others: an
exact torque beside a noisy force would outweigh it by more than double precision holds, and hide
what the force alone tells, the mass."""


@dataclass(frozen=True, slots=True)
class LeastSquaresFit:
    """The estimate without inequalities, and the problem it solves.

    Attributes:
        data: system and equalities.
        weights: W of each group, the inverse residual covariance times the share of independent
            rows, so that (AᵀA)⁻¹ is the covariance of the unknowns.
        problem: the whitened problem in x.
        scaling: of the bodies found.
        identifiability: what the data identify, in scaled unknowns.
        reference: scaled unknowns of the default bodies (with what is known exactly), which hold in
            the directions the data do not identify.
        theta: scaled unknowns of the estimate.
    """

    data: FitData
    weights: tuple[Array, ...]
    problem: LinearProblem
    scaling: Scaling
    identifiability: Identifiability
    reference: Array
    theta: Array

    @property
    def x(self) -> Array:
        """The unknowns in SI."""
        return self.scaling.x(self.theta)

    @property
    def scaled_matrix(self) -> Array:
        """A of the whitened problem in scaled unknowns."""
        return self.problem.A @ self.scaling.to_x

    @property
    def completed(self) -> LinearProblem:
        """The problem in scaled unknowns with what the data do not identify completed.

        Of the data it keeps what they say along the identifiable directions. Along each other
        direction it asks for the default body with a standard error of the body's own scale, so
        that constraints move what is not known before they move what is.
        """
        split = self.identifiability
        A, b = self.scaled_matrix, self.problem.b
        if split.complete:
            return replace(self.problem, A=A)
        inverse = np.linalg.pinv(np.concatenate((split.identifiable, split.unidentifiable), axis=1))
        count = split.identifiable.shape[1]
        by_data, by_default = A @ split.identifiable @ inverse[:count], inverse[count:]
        from_reference = b - A @ self.reference + by_data @ self.reference
        rows = np.concatenate((by_data, by_default))
        target = np.concatenate((from_reference, by_default @ self.reference))
        reduced = LinearProblem.from_rows(
            np.concatenate((rows, target[:, None]), axis=1),
            self.problem.equations,
            nuisances=self.problem.nuisances,
            names=self.problem.names,
        )
        return replace(reduced, floor=float(np.hypot(reduced.floor, self.problem.floor)))


def weighted_least_squares(system: System, terms: Sequence[Term] = ()) -> LeastSquaresFit:
    """Least squares, re-weighted by the covariance of its own residuals until it settles.

    Directions of the unknowns that the data do not identify are those of the default bodies. Of the
    terms it knows the equalities alone.

    Args:
        system: data and equations.
        terms: what is known besides.

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
    x = initial_estimate(data)
    masses = (float(x[space.of_body(body)][0]) for body in range(len(space.bodies)))
    fit = _solve(data, x, [default_length(mass) for mass in masses])
    for _ in range(_MOST_ROUNDS):
        before = fit
        fit = _solve(data, fit.x, _lengths(fit))
        if _settled(before, fit):
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


def _solve(data: FitData, x: Array, lengths: Sequence[float]) -> LeastSquaresFit:
    """One round: weights, scaling and what is identifiable from the last x; then least squares."""
    space = data.space
    weights = _residual_weights(data, x)
    problem = data.system.problem(weights)
    scaling = Scaling.of(space, x, lengths, _units_of_scalars(problem, data))
    matrix = problem.A @ scaling.to_x
    split = identifiability(
        matrix,
        data.system.noise_information(weights) @ scaling.to_x,
        _body_units(scaling),
        _free(data, scaling),
        len(space.bodies),
    )
    reference = _reference(data, x, scaling)
    theta = _least_squares_along(split.identifiable, matrix, problem.b, reference)
    found = scaling.x(theta)
    errors = np.zeros(len(space))
    for number, body in enumerate(scaling.bodies):
        errors[10 * number] = body.mass * split.half_widths[10 * number]
    require_positive_masses(found, errors, data)
    return LeastSquaresFit(
        data=data,
        weights=weights,
        problem=problem,
        scaling=scaling,
        identifiability=split,
        reference=reference,
        theta=theta,
    )


def _free(data: FitData, scaling: Scaling) -> Array:
    """Columns that span what equalities leave open, in scaled unknowns divided by their units."""
    if not len(data.values):
        return np.eye(len(data.space))
    return free_directions(data.equalities @ scaling.to_x * _body_units(scaling))


def _reference(data: FitData, x: Array, scaling: Scaling) -> Array:
    """Scaled unknowns of default bodies of these masses and centres; scalars as they are."""
    reference = np.zeros(len(x))
    reference[data.space.of_scalars] = x[data.space.of_scalars] / scaling.units
    for number, body in enumerate(scaling.bodies):
        block = data.space.of_body(number)
        reference[block] = default_body(body.mass, np.zeros(3)) / body.units
    if len(data.values):  # x meets the equalities; a default body of it need not
        scaled = data.equalities @ scaling.to_x
        missing = data.values - scaled @ reference
        if np.abs(missing).max() > 1e-12 * np.abs(data.values).max():
            return reference + np.linalg.lstsq(scaled, missing, rcond=None)[0]
    return reference


def _units_of_scalars(problem: LinearProblem, data: FitData) -> Array:
    """For each scalar the value that alone would explain everything: its scale."""
    columns = problem.A[:, data.space.of_scalars]
    norms = np.linalg.norm(columns, axis=0)
    whole = float(np.hypot(np.linalg.norm(problem.b), problem.floor))
    return whole / np.where(norms > 0.0, norms, whole)


def _settled(before: LeastSquaresFit, after: LeastSquaresFit) -> bool:
    """Whether a round moved the estimate by less than a small share of its standard error.

    The units of length have to settle too, where they decide what is identifiable.
    """
    moved = np.linalg.norm(after.problem.A @ (after.x - before.x))
    grown = [
        abs(new.length / old.length - 1.0)
        for new, old in zip(after.scaling.bodies, before.scaling.bodies, strict=True)
    ]
    complete = before.identifiability.complete and after.identifiability.complete
    return bool(moved < _SETTLED and (complete or max(grown) < _SETTLED))


def _residual_weights(data: FitData, x: Array) -> tuple[Array, ...]:
    """W of each group from the residuals at x."""
    system = data.system
    moments = system.residual_moments(x, [np.diag(scale**-2) for scale in data.scales])
    # Unknowns are taken off the groups' effective samples in proportion.
    unknowns = (len(data.space) + system.nuisances) / system.equations
    covariances = [
        _residual_covariance(group, moment, unknowns)
        for group, moment in zip(system.groups, moments, strict=True)
    ]
    pairs = list(zip(covariances, data.scales, strict=True))
    largest = max(float((np.diag(C) / scale**2).max()) for C, scale in pairs)
    weights = []
    for group, (covariance, scale) in zip(system.groups, pairs, strict=True):
        # What was measured bounds a residual that is nothing but rounding.
        rounding = (_RESOLUTION * scale) ** 2 * group.samples / group.effective_samples
        # Residuals of all channels that move as one would make the weight singular.
        rounding = rounding + _LEAST_INDEPENDENT * np.diag(covariance)
        rounding = rounding + _MOST_UNEVEN**2 * largest * scale**2
        weights.append(_inverse(covariance + np.diag(rounding)))
    return tuple(weights)


def _residual_covariance(group: GroupEquations, moment: Array, unknowns: float) -> Array:
    """The whole covariance of a group's residuals, or a scale for each kind where data are few.

    Args:
        group: the group.
        moment: Σ r rᵀ, shape (m, m).
        unknowns: share of the equations that the unknowns take.
    """
    covariance = moment / max(group.effective_samples * (1.0 - unknowns), 1.0)
    if group.effective_samples >= FULL_COVARIANCE_FROM:
        return covariance
    power, kinds = np.diag(covariance), np.array(group.group.kinds)
    return np.diag([power[kinds == kind].mean() for kind in kinds])


def _inverse(covariance: Array) -> Array:
    """Of a covariance whose entries differ by orders of magnitude: through the correlation."""
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
    """The body's scale in each scaled unknown: one, but for the first moment.

    That is about Bo, and is known well if it is known to within the body's distance from there.
    """
    units = np.ones(len(scaling.space))
    for number, body in enumerate(scaling.bodies):
        distance = min(float(np.linalg.norm(body.com)) / body.length, _FARTHEST)
        units[10 * number + 1 : 10 * number + 4] = np.hypot(1.0, distance)
    return units


def _lengths(fit: LeastSquaresFit) -> list[float]:
    """Each body's size: from its inertia where the data resolve that, else the default ball's."""
    split, theta = fit.identifiability, fit.theta
    if split.resolved.shape != split.identifiable.shape:
        theta = _least_squares_along(
            split.resolved, fit.scaled_matrix, fit.problem.b, fit.reference
        )
    lengths = []
    for number, body in enumerate(fit.scaling.bodies):
        trace = float(TRACE @ theta[10 * number : 10 * number + 10])
        if trace > _SIZE_RESOLVED * split.size_errors[number]:
            lengths.append(body.length * float(np.sqrt(0.5 * trace)))
        else:
            lengths.append(default_length(float(fit.x[10 * number])))
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

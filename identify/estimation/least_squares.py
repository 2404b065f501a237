"""Weighted least squares in the unknowns, with the weights taken from its own residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Term
from identify.inertia import default_body
from identify.inertia.parameters import default_radius
from identify.regressors import LinearProblem, System
from identify.regressors.system import GroupEquations

_PREDICTED = 100.0
"""Effective samples that the predicted covariance of a group's residuals is worth: what the noise
of its signals makes, at the size that is found. So many residuals count as much as it …"""

_KINDS = 30.0
"""… and so many, where nothing is predicted, as one size for each kind of channel."""

_SIZE_KNOWN, _SIZE_KNOWN_ALIKE = 3.0, 10.0
"""Degrees of freedom that the size common to all bands is worth, and in predictions where bands are
taken to be alike."""

_SURELY = 4.0
"""Standard errors by which the residuals have to be smaller than the noise that was read off the
signals for less of it to be there."""

_RAMP = 4
"""Rounds over which the correction for noise in the motion comes in: at once, it may lead away."""

_DAMPED_FROM = 8
"""Rounds after which bodies' sizes go half of the way."""

_MOST_ROUNDS = 30
_SETTLED = 1e-2
"""Standard errors a round may still move the estimate by when re-weighting stops."""

_LEAST_INDEPENDENT = 1e-8
"""Share of each axis' residual variance that is taken to be independent of the other axes."""

_SIZE_RESOLVED = (2.0, 6.0)
"""Standard errors by which a body's size stands out where its scale begins to be taken from it, and
where it is taken from it alone: a threshold would let rounds go to and fro."""

_FARTHEST = 10.0
"""Distance of the centre of mass from Bo, in body sizes, beyond which no scale is taken from it."""

_RESOLUTION = 1e-9
"""Residuals below this share of what was measured are rounding, and weigh no more than it."""

_MOST_UNEVEN = 1e-5
"""Least residual of a channel, as a share of what it measured, over the largest of the others: an
exact torque beside a noisy force would outweigh it by more than double precision holds, and hide
what the force alone tells, the mass."""


@dataclass(frozen=True)
class LeastSquaresFit:
    """The estimate without inequalities, and the problem it solves.

    Attributes:
        data: system and equalities.
        weights: W of each group, the inverse residual covariance times the share of independent
            rows, so that (AᵀA)⁻¹ is the covariance of the unknowns.
        problem: the whitened problem in x.
        noise: rows of the noise in the columns of that problem, [A | b], shape (n, p + 1).
        scatter: of its scores beyond AᵀA: from noise that meets noise, and from residuals that are
            larger or smaller in some bands than the weights say, shape (p, p).
        scaling: of the bodies found.
        identifiability: what the data identify, in scaled unknowns.
        reference: scaled unknowns of the default bodies (with what is known exactly), which hold in
            the directions the data do not identify.
        theta: scaled unknowns of the estimate.
        soft: the same with every direction free, if weakly drawn to the reference: what weights are
            taken from, as what is not identifiable yet may be so with better ones.
    """

    data: FitData
    weights: tuple[Array, ...]
    problem: LinearProblem
    noise: Array
    scatter: Array
    scaling: Scaling
    identifiability: Identifiability
    reference: Array
    theta: Array
    soft: Array

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
    def completed(self) -> LinearProblem:
        """The problem in scaled unknowns with what the data do not identify completed.

        Of the data it keeps what they say along the identifiable directions. Along each other
        direction it asks for the default body with a standard error of the body's own scale, so
        that constraints move what is not known before they move what is.
        """
        split = self.identifiability
        A, b = self.corrected
        floor = self.problem.residual_norm(self.scaling.x(self.solved))
        inverse = np.linalg.pinv(np.concatenate((split.identifiable, split.unidentifiable), axis=1))
        count = split.identifiable.shape[1]
        by_data, by_default = A @ inverse[:count], inverse[count:]
        rows = np.concatenate((by_data, by_default))
        target = np.concatenate((b + by_data @ self.reference, by_default @ self.reference))
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

    Directions of the unknowns that the data do not identify are those of the default bodies. Of the
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
    noisy = any(group.noise[..., 1:].any() for group in system.groups)
    ramped = 1 if start is None else _RAMP
    fit = _solve(data, x, [default_length(mass) for mass in masses], ramped / _RAMP, None)
    for number in range(ramped + 1, _MOST_ROUNDS):
        before, share = fit, min(1.0, number / _RAMP)
        lengths = _lengths(fit, damped=number > _DAMPED_FROM)
        fit = _solve(data, fit.scaling.x(fit.soft), lengths, share, fit)
        if (share == 1.0 or not noisy) and _settled(before, fit):
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
    taken = _taken(data, before)
    moments = data.system.residual_moments(x, [np.diag(scale**-2) for scale in data.scales])
    there = _noise_there(data, x, moments, taken)
    weights, spreads = _residual_weights(data, x, moments, taken, there)
    share = share * there
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
    fit = LeastSquaresFit(
        data=data,
        weights=weights,
        problem=problem,
        noise=noise,
        scatter=scatter,
        scaling=scaling,
        identifiability=split,
        reference=_reference(data, x, scaling),
        theta=np.zeros(len(space)),
        soft=np.zeros(len(space)),
    )
    A, b = fit.corrected_along(split.resolved)
    y = np.linalg.solve(A, b)
    soft = fit.reference + split.resolved @ (y / (1.0 + split.errors**2))
    little = HALF_WIDTH * split.errors >= 1.0
    drawn = split.resolved[:, little] @ (y / (1.0 + split.errors**4))[little]
    fit = replace(fit, reference=fit.reference + drawn)
    fit = replace(fit, theta=fit.solved)
    possible = (soft[: 10 * len(scaling.bodies) : 10] > 0.0).all()
    fit = replace(fit, soft=soft if possible else fit.theta)
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
    moved = after.scaling.x(after.soft) - before.scaling.x(before.soft)
    grown = [
        abs(new.length / old.length - 1.0)
        for new, old in zip(after.scaling.bodies, before.scaling.bodies, strict=True)
    ]
    complete = before.identifiability.complete and after.identifiability.complete
    near = np.linalg.norm(after.problem.A @ moved) < _SETTLED
    return bool(near and (complete or max(grown) < _SETTLED))


def _noise_there(
    data: FitData, x: Array, moments: Sequence[Array], taken: Sequence[float]
) -> float:
    """Share of the noise read off the signals that the residuals leave room for, at most one.

    A motion with fast parts of its own, and no noise, looks noisy; the residuals tell.
    """
    ratios: dict[str, list[tuple[float, float]]] = {}
    for group, moment, predicted, lost in zip(
        data.system.groups, moments, data.system.noise_moments(x), taken, strict=True
    ):
        left = group.effective_samples - lost
        kinds = np.array(group.group.kinds)
        for kind in dict.fromkeys(group.group.kinds):
            own = np.ix_(kinds == kind, kinds == kind)
            made = np.trace(predicted[own]) / group.effective_samples
            if made > 0.0 and left >= 1.0:
                ratio = float(np.trace(moment[own])) / left / float(made)
                ratios.setdefault(kind, []).append((ratio, left * float((kinds == kind).sum())))
    largest = 0.0
    for found in ratios.values():
        ratio, degrees = np.array(found).T
        mean = float(ratio @ degrees / degrees.sum())
        largest = max(largest, mean * (1.0 + _SURELY * float(np.sqrt(2.0 / degrees.sum()))))
    return min(1.0, largest) if ratios else 1.0


def _residual_weights(
    data: FitData, x: Array, moments: Sequence[Array], taken: Sequence[float], there: float
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """W of each group from the residuals at x, and from what noise of the signals makes there.

    Returns:
        The weights, and W (C − W⁻¹) W with the covariance C that each group has by itself: weights
        are cautious, intervals are to hold.
    """
    system = data.system
    predicted = [there * moment for moment in system.noise_moments(x)]
    covariances: list[Array] = [np.empty(0)] * len(system.groups)
    found = list(covariances)
    for sensor in (sensor for sensors in system.sensors for sensor in sensors):
        bands = [_Band.of(system.groups[g], moments[g], predicted[g], taken[g]) for g in sensor]
        sizes = zip(_sizes(bands, alike=True), _sizes(bands, alike=False), strict=True)
        for g, band, (size, own) in zip(sensor, bands, sizes, strict=True):
            covariances[g], found[g] = band.covariance(size), band.covariance(own)
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
    spreads = tuple(
        weight @ (own - covariance) @ weight
        for weight, own, covariance in zip(weights, found, covariances, strict=True)
    )
    return tuple(weights), spreads


def _taken(data: FitData, before: LeastSquaresFit | None) -> list[float]:
    """Effective samples of each group that the unknowns and offsets take."""
    system = data.system
    taken = [0.0] * len(system.groups)
    for rows in system.owners:
        constants = np.array([system.groups[g].constant[log] for g, log in rows])
        for (g, _), share in zip(rows, constants**2 / (constants @ constants), strict=True):
            taken[g] += float(share)
    if before is None:
        share = len(data.space) / system.equations
        return [n + share * g.effective_samples for n, g in zip(taken, system.groups, strict=True)]
    A, _ = before.corrected
    inverse = before.scaling.to_x @ before.identifiability.identifiable @ np.linalg.inv(A)
    for number, information in enumerate(system.moments(before.weights)):
        leverage = float(np.einsum("ij,ik,kj->", inverse, information, inverse))
        taken[number] += leverage / system.groups[number].channels
    return taken


@dataclass(frozen=True)
class _Band:
    """The residuals of a group: what was found of them, and what was to be expected.

    Attributes:
        found: their covariance, shape (m, m).
        predicted: what noise of the signals makes of it, likewise.
        effective_samples: how many they are.
        kinds: of the channels, shape (m,).
    """

    found: Array
    predicted: Array
    effective_samples: float
    kinds: NDArray[np.str_]

    @classmethod
    def of(cls, group: GroupEquations, moment: Array, predicted: Array, taken: float) -> _Band:
        n = group.effective_samples
        kinds = np.array(group.group.kinds)
        return cls(moment / max(n - taken, 1.0), predicted / n, n, kinds)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The kinds, each once."""
        return tuple(dict.fromkeys(self.kinds.tolist()))

    @cached_property
    def degrees(self) -> Array:
        """Numbers behind each kind's ratio, shape (kinds,)."""
        counts = [float((self.kinds == kind).sum()) for kind in self.names]
        return np.array(counts) * self.effective_samples

    @cached_property
    def ratios(self) -> Array:
        """What was found, in predictions, of each kind; NaN where nothing was predicted."""
        ratios = np.full(len(self.names), np.nan)
        for number, kind in enumerate(self.names):
            own = np.ix_(self.kinds == kind, self.kinds == kind)
            if np.trace(self.predicted[own]) > _RESOLUTION * np.trace(self.found[own]):
                whitened = np.linalg.lstsq(self.predicted[own], self.found[own], rcond=1e-9)[0]
                ratios[number] = np.trace(whitened) / len(whitened)
        return ratios

    def covariance(self, sizes: Array) -> Array:
        """What was found, drawn to what was predicted at the size it has, or to one size a kind."""
        n = self.effective_samples
        if np.isnan(self.ratios).any():
            power = np.diag(self.found)
            expected = np.diag([power[self.kinds == kind].mean() for kind in self.kinds])
            return (_KINDS * expected + n * self.found) / (_KINDS + n)
        scale = np.sqrt([sizes[self.names.index(kind)] for kind in self.kinds])
        expected = self.predicted * np.outer(scale, scale)
        return (_PREDICTED * expected + n * self.found) / (_PREDICTED + n)


def _sizes(bands: Sequence[_Band], *, alike: bool) -> Array:
    """Sizes of the residuals of each band, in predictions, by kind, shape (bands, kinds).

    What noise of the signals does not predict, drift and coloured noise, is slow: sizes do not grow
    with frequency. Bands that would have it otherwise share one.

    Args:
        bands: of one sensor, the mean of blocks first, then from slow to fast.
        alike: whether the bands are taken to be the more alike, the more there is that noise does
            not predict: it may be the model that fails, and then it fails in all of them.
    """
    ratios = np.array([band.ratios for band in bands])
    degrees = np.where(np.isnan(ratios), 0.0, [band.degrees for band in bands])
    ratios = np.nan_to_num(ratios)
    common = np.maximum((degrees * ratios).sum(axis=0) / np.maximum(degrees.sum(axis=0), 1.0), 1.0)
    known = _SIZE_KNOWN_ALIKE * common if alike else np.full(len(common), _SIZE_KNOWN)
    worth = known + degrees
    sizes = np.maximum((known * common + degrees * ratios) / worth, 1.0)
    for kind in range(len(common)):
        sizes[1:, kind] = _not_growing(sizes[1:, kind], worth[1:, kind])
    return sizes


def _not_growing(values: Array, weights: Array) -> Array:
    """Nearest values that do not grow, by pooling of neighbours (Ayer and others 1955)."""
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pool = (value, weight, 1)
        while pools and pools[-1][0] < pool[0]:
            last, w, n = pools.pop()
            total = w + pool[1]
            pool = ((last * w + pool[0] * pool[1]) / total, total, n + pool[2])
        pools.append(pool)
    return np.array([value for value, _, n in pools for _ in range(n)])


def _inverse(covariance: Array) -> Array:
    """Of a covariance whose entries differ by orders of magnitude: through the correlation."""
    sigma = np.sqrt(np.diag(covariance))
    inverse = np.linalg.inv(covariance / np.outer(sigma, sigma))
    return 0.5 * (inverse + inverse.T) / np.outer(sigma, sigma)


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

    Damped, half of the way is gone, as what is drawn to a larger body makes a larger one.
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

"""Gains of the joints' torques, fitted together with the links' deviations from the model.

    τ_j = g_j (Y_j (φ + L δ) + Y_load φ_load + friction_j),    g = ḡ + B u

Without a known load the links of the model tell the gains: their relative deviations δ from it are
random effects, and so are u. Load, friction and rotor inertias are free. The equation is bilinear
in g and all else and is solved by Gauss-Newton; each joint counts by what it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from typing import NamedTuple

import numpy as np

from identify.arms.equations import PAYLOAD, equations_of
from identify.arms.model import link_default
from identify.arms.torque_scale import ASSUMED_SCALE_ERROR, TorqueScale
from identify.arrays import Array, Flags, Indices, Phi, require_positive
from identify.errors import ProblemError
from identify.estimation.bootstrap import score_scatter_ratio
from identify.estimation.fit_data import MIN_RELATIVE_RESIDUAL
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.terms import Term
from identify.estimation.variance_components import RandomEffects, VarianceComponent, random_effects
from identify.inertia.matrices import phi_from_pseudo_inertia, pseudo_inertia
from identify.regressors import LinearSystem, Statistics
from identify.regressors.triangular import moment_root
from identify.significance import HALF_WIDTH_SIGMA, IMPOSSIBLE_SIGMA

LINK_ACCURACY = 0.15
"""Standard deviation of the links' relative deviations from the model where nothing else is known:
the links of URDFs leave 7 % of the moving torque of a UR10e, and 11 % of a TX40."""

MAX_DEVIATION_RATIO = 10.0**0.625
"""Ratio of the largest standard deviation of the links' deviations to the stated one."""

MAX_KNOWN_GAIN_SPREAD = 0.1
"""Largest standard deviation of the joints' gains at which their mean is known."""

_MAX_USUAL_GAIN = 0.1
"""Largest relative deviation of a joint's gain that is no finding."""

_MAX_LOG_GAIN = np.log(8.0)
"""Largest logarithm of a gain of torques: other units, or torques without the weight of the links,
differ by more."""

_MAX_LOAD_RATIO = 2.0
"""Ratio of the fitted mass to that of a known load, or its inverse, from which the mass or a unit
of the torques is wrong: no links of a model are off by as much."""

_NO_SIZE = 1e-100
"""Standard deviation of effects that do not exist."""

_COMMON_PRIOR_SIZE = 0.2
"""Prior standard deviation of a gain of all joints where a known load tells it."""

_MAX_GAIN_DEVIATION = 3.0
"""Largest standard deviation of gains: a motor's torque constant or gear is off by no more."""

_KNOWN_LOAD_ERROR = 1e-3
"""Relative standard error of the mass of a known load."""

_START_RATIO = 1.5
"""Ratio of a joint's torque to that of the model, or its inverse, from which its gain starts there
and not at the prior: nearer ones are found from either."""

_START_SIGMA = 8.0
"""Standard errors by which a joint's own torque must show its gain, or its sign, to start there."""

POSSIBLE_SCALE_SIGMA = 2.0
"""Standard errors of a gain of all joints by the links from which it is in doubt."""

_SLOPE_CONDITION = 1e-9
"""Relative eigenvalue of the columns of a joint below which they depend on each other."""

_MIN_POWER = 1e-30
_MAX_ITERATIONS = 40
_GAIN_TOLERANCE = 1e-6
_RELATIVE_RIDGE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class FittedGains:
    """Gains of the joints' torques by the logs.

    Attributes:
        scale: the gains with their errors.
        common: gain of all joints by the links of the model alone, taken as accurate to
            their stated accuracy, with its standard error; None if `are_free`.
        known_load: mass of the load that told the gains [kg], if it is known.
        has_unit: whether efforts are torques; gains of currents are [A/N m].
        are_free: whether the gains differ by so much that they say nothing about their mean.
        load_mass: mass of a load by least squares with these gains [kg]; None without one.
    """

    scale: TorqueScale
    common: tuple[float, float] | None
    known_load: float | None = None
    has_unit: bool = True
    are_free: bool = False
    load_mass: float | None = None

    @property
    def half_widths(self) -> Array:
        """Half-width of the 95 % interval of each relative gain; infinite from one on, (n,)."""
        half = HALF_WIDTH_SIGMA * np.sqrt(np.diag(self.scale.covariance))
        return np.where(half < 1.0, half, np.inf)

    def words(self, joints: Sequence[str]) -> list[str]:
        """Return what is known of the gain of each joint, with its 95 % interval."""
        widths = abs(self.scale.gains) * self.half_widths
        known = (f"{g:.3g} ± {w:.2g}" for g, w in zip(self.scale.gains, widths, strict=True))
        pairs = zip(joints, known, np.isfinite(widths), strict=True)
        return [
            f"{name} {text if is_known else 'not determined'}" for name, text, is_known in pairs
        ]

    @property
    def large(self) -> Flags:
        """Whether the gain of each joint differs from one by more than usual, shape (n,)."""
        gains, half = self.scale.gains, self.half_widths
        away = abs(gains - 1.0)
        least = np.maximum(_MAX_USUAL_GAIN, IMPOSSIBLE_SIGMA / HALF_WIDTH_SIGMA * abs(gains) * half)
        return away > least

    @property
    def are_large(self) -> bool:
        """Whether some gains are large, and not only of another sign."""
        return bool((self.large & (abs(abs(self.scale.gains) - 1.0) > _MAX_USUAL_GAIN)).any())

    @property
    def are_plausible(self) -> bool:
        """Whether some gains are large, and none is that of another unit."""
        return self.are_large and bool(abs(np.log(abs(self.scale.gains))).max() < _MAX_LOG_GAIN)

    @property
    def common_sigmas(self) -> float:
        """Difference of the gain of all joints from one in standard errors; zero if not known."""
        if self.common is None or self.known_load is not None:
            return 0.0
        gain, error = self.common
        return (gain - 1.0) / error


def calibrate(
    form: Callable[..., LinearSystem],
    statistics: Statistics,
    prior: TorqueScale | None,
    *,
    known_load: float | None = None,
    shown: FittedGains | None = None,
    link_accuracy: float = LINK_ACCURACY,
    has_unit: bool = True,
    terms: Sequence[Term] = (),
) -> FittedGains:
    """Fit the gains of the joints' torques, with samples that count by the scatter of blocks.

    Args:
        form: function that forms the system of statistics, with `scatter` and `gains`.
        statistics: of the logs.
        prior: gains with their errors; near one if not given, by as much as the logs say.
        known_load: mass of the load [kg]; it tells the gain of all joints.
        shown: gains without the known load, by which the logs show a mass; the fit starts as well
            from torques and links that are all off by the ratio of the masses.
        link_accuracy: standard deviation of the links' relative deviations from the model.
        has_unit: whether efforts are torques; currents without `gains` have no unit.
        terms: constraints of the load, for the scatter.

    Raises `NegativeMass`, `TooLittleMotion`: the logs do not show the load.
    """
    fit = partial(
        _fit_gains,
        prior=prior,
        known_load=known_load,
        link_accuracy=link_accuracy,
        has_unit=has_unit,
    )
    first = fit(form(statistics), shown=shown)
    fitted = form(statistics, gains=first.gains.scale.gains)
    least_squares = weighted_least_squares(fitted, terms)
    gains = fit(form(statistics, scatter=score_scatter_ratio(least_squares)), first=first).gains
    has_load = PAYLOAD in fitted.space.bodies
    return replace(gains, load_mass=float(least_squares.x[0]) if has_load else None)


class _GainsAndLinks(NamedTuple):
    """Gains, and the links' relative deviations δ beside them, shape (l,)."""

    gains: FittedGains
    links: Array


def _fit_gains(
    system: LinearSystem,
    prior: TorqueScale | None = None,
    known_load: float | None = None,
    link_accuracy: float = LINK_ACCURACY,
    has_unit: bool = True,
    first: _GainsAndLinks | None = None,
    shown: FittedGains | None = None,
) -> _GainsAndLinks:
    """Fit the gains of the joints' torques to logs of an arm; arguments as of `calibrate`.

    `system`: logs and equations of the arm, with gains of one; `first`: a fit of the same logs by
    other weights.
    """
    fit = _GainFit.of(system, prior, known_load, link_accuracy, has_unit=has_unit)
    if first is None:
        firsts = [fit.effects_at(fit.first_gain)]
        if prior is None and has_unit:
            firsts.append(fit.effects_at(fit.gains_by_own_torque()))
        if known_load is not None and shown is not None and shown.load_mass is not None:
            ratio = shown.load_mass / known_load
            lighter = np.zeros(fit.link_columns.shape[1])
            lighter[::10] = 1.0 / ratio - 1.0  # the first deviation of a link is of its mass
            firsts.append(fit.effects_at(ratio * shown.scale.gains, lighter))
    else:
        # Without a known load, gains of an implausible size would be as likely beside these links.
        links = None if known_load is None else first.links
        firsts = [fit.effects_at(first.gains.scale.gains, links)]
    is_unknown = not has_unit and prior is None
    near, are_free = None, is_unknown if first is None else first.gains.are_free
    if not are_free:
        near = fit.best(firsts, _Errors.NEAR).effects
        # Gains that differ by much say nothing about their mean: links or a known load tell it.
        are_free = prior is None and fit.gains(near.effects).std() > MAX_KNOWN_GAIN_SPREAD
        firsts.append(near.effects)
    k = fit.gain_columns.shape[1]
    if near is None or are_free:
        free = fit.best(firsts, _Errors.SINGLE).effects
        gains = FittedGains(
            fit.scale(free, _Errors.SINGLE), None, known_load, has_unit, are_free=True
        )
        return _GainsAndLinks(gains, free.effects[k:])
    by_links = fit.solve(near.effects, _Errors.COMMON).effects
    common = 1.0 + float(by_links.effects[0]), float(np.sqrt(by_links.covariance[0, 0]))
    gains = FittedGains(fit.scale(near, _Errors.NEAR), common, known_load, has_unit)
    return _GainsAndLinks(gains, near.effects[k:])


def require_plausible_load(mass: float, estimate: float) -> None:
    """Raise `ProblemError` unless a known load is above zero and near what the torques show."""
    require_positive(mass, "known load", "kg", ProblemError)
    if not mass / _MAX_LOAD_RATIO < estimate < mass * _MAX_LOAD_RATIO:
        raise ProblemError(
            f"known load of {mass:g} kg: the torques show {estimate:.3g} kg, more than a "
            f"factor of {_MAX_LOAD_RATIO:g} away; check the mass, the `effort_unit` and "
            "`gains` of [joints], and which log has the load"
        )


class _Solution(NamedTuple):
    """Effects, and −2 log of their posterior density up to a constant."""

    effects: RandomEffects
    cost: float


class _Errors(Enum):
    """Prior knowledge: gains are near, a gain of all joints may have any size, or single ones."""

    NEAR = auto()
    COMMON = auto()
    SINGLE = auto()


class _Equations(NamedTuple):
    """Linear equations near effects and unknowns, whitened and without the free unknowns.

    Attributes:
        T, t: of T η = t + N(0, 1), shapes (n, q) and (n,).
        free_unknowns: their map from [−η; 1], shape (f, q + 1).
    """

    T: Array
    t: Array
    free_unknowns: Array


@dataclass(frozen=True, slots=True, eq=False)
class _GainFit:
    """Normal equations of the gains, the links' deviations and all else.

    Effects η are those of the gains, of which the first is common to all, then the links'
    deviations.

    Attributes:
        moments: [A b]ᵀ[A b] of each group of rows, shape (G, p + 1, p + 1).
        joint: joint of each group, shape (G,).
        samples: effective samples of each group, shape (G,).
        links: unknowns of the links of the model, zero elsewhere, shape (p,).
        link_columns: change of the unknowns by the links' deviations, shape (p, l).
        free: numbers of the free unknowns, shape (f,).
        first_gain: ḡ, shape (n,).
        gain_columns: B, shape (n, k): a gain of all joints, then differences of single ones.
        prior_kind: description of gains whose errors are given; empty otherwise.
        known_load: mass of the load [kg], if it is known.
        link_accuracy: standard deviation of the links' relative deviations.
    """

    moments: Array
    joint: Indices
    samples: Array
    links: Array
    link_columns: Array
    free: Indices
    first_gain: Array
    gain_columns: Array
    prior_kind: str
    known_load: float | None
    link_accuracy: float

    @classmethod
    def of(
        cls,
        system: LinearSystem,
        prior: TorqueScale | None,
        known_load: float | None,
        link_accuracy: float,
        *,
        has_unit: bool,
    ) -> _GainFit:
        """Collect the moments of a system with gains of one."""
        robot, space = equations_of(system).columns.robot, system.space
        first = space.body_slice(robot.links[0]).start
        last = space.scalar_slice.start
        links, columns = np.zeros(len(space)), np.zeros((len(space), last - first))
        links[first:last] = robot.phi.ravel()
        for number, phi in enumerate(robot.phi):
            block = slice(10 * number, 10 * number + 10)
            columns[first + block.start : first + block.stop, block] = link_deviations(phi)
        n, G = len(robot.joints), len(system.group_index)
        gains = np.ones(n) if prior is None else prior.gains
        differences = np.eye(n) - 1.0 / n
        single = differences if prior is None else gains[:, None] * moment_root(prior.covariance).T
        fit = cls(
            moments=system.normal_matrices(np.ones((G, 1, 1))),
            joint=system.group_index[:, 1],
            samples=system.padded.effective_samples,
            links=links,
            link_columns=columns,
            free=np.array([*range(first), *range(last, len(space))]),
            first_gain=gains,
            gain_columns=np.column_stack((gains, single)),
            prior_kind="" if prior is None else prior.interval_kind,
            known_load=known_load,
            link_accuracy=link_accuracy,
        )
        if has_unit or prior is not None:
            return fit
        gains = fit.gains_by_own_torque(has_unit=False)
        return replace(
            fit, first_gain=gains, gain_columns=np.column_stack((gains, differences * abs(gains)))
        )

    def best(self, firsts: Iterable[Array], unknown: _Errors) -> _Solution:
        """Find the likeliest effects from several first ones."""
        return min((self.solve(eta, unknown) for eta in firsts), key=lambda each: each.cost)

    def solve(self, eta: Array, unknown: _Errors) -> _Solution:
        """Find the effects from first ones."""
        x = self.unknowns(eta, self.equations(eta, None).free_unknowns)
        components = self.components(unknown)
        number = 0
        while True:
            number, before = number + 1, self.gains(eta)
            equations = self.equations(eta, x)
            effects = random_effects(equations.T, equations.t, components)
            eta = effects.effects
            x = self.unknowns(eta, equations.free_unknowns)
            step = np.abs(self.gains(eta) - before).max()
            if step < _GAIN_TOLERANCE or number == _MAX_ITERATIONS:
                residual = self._residual_power(self.gains(eta), x)
                cost = float(self.samples @ np.log(residual)) + effects.laplace_penalty
                return _Solution(effects, cost)

    def components(self, unknown: _Errors) -> Sequence[VarianceComponent]:
        """Return the variance components of the effects."""
        k, accuracy = self.gain_columns.shape[1], self.link_accuracy
        of_joints, links = np.arange(1, k), np.arange(k, k + self.link_columns.shape[1])
        common = np.arange(1)
        of_links = fixed_size(links, accuracy)
        if unknown is _Errors.COMMON or (unknown is _Errors.SINGLE and self.known_load is None):
            every = fixed_size(common, _MAX_GAIN_DEVIATION)
        elif self.known_load is not None:
            every = VarianceComponent(common, _COMMON_PRIOR_SIZE, _MAX_GAIN_DEVIATION)
        else:
            every = fixed_size(common, _NO_SIZE)  # links would move it; `scale` adds its error
        if unknown is not _Errors.COMMON:
            most = accuracy * MAX_DEVIATION_RATIO
            of_links = VarianceComponent(links, accuracy, most, min_size=accuracy)
        if self.prior_kind:
            single = fixed_size(of_joints, 1.0)
        elif unknown is _Errors.SINGLE:
            single = fixed_size(of_joints, _MAX_GAIN_DEVIATION)
        else:
            single = VarianceComponent(of_joints, ASSUMED_SCALE_ERROR, _MAX_GAIN_DEVIATION)
        return every, single, of_links

    def gains(self, eta: Array) -> Array:
        """Return the gains at effects, shape (n,)."""
        return self.first_gain + self.gain_columns @ eta[: self.gain_columns.shape[1]]

    def scale(self, effects: RandomEffects, unknown: _Errors) -> TorqueScale:
        """Return the gains with their relative errors, and what told them."""
        gains, k = self.gains(effects.effects), self.gain_columns.shape[1]
        root = self.gain_columns / gains[:, None]
        covariance = root @ effects.covariance[:k, :k] @ root.T
        if unknown is _Errors.NEAR and not self.prior_kind and self.known_load is None:
            covariance = covariance + ASSUMED_SCALE_ERROR**2 / len(gains)  # of their mean
        return TorqueScale(gains, covariance, self._interval_kind(unknown))

    def _interval_kind(self, unknown: _Errors) -> str:
        if self.known_load is not None:
            return f"torque scale by a load of {self.known_load:g} kg"
        if self.prior_kind:
            return self.prior_kind
        if unknown is _Errors.SINGLE:
            return "gains of the torques by the links of the robot's model"
        assumed = f"{100.0 * ASSUMED_SCALE_ERROR:g} % (assumed)"
        return f"torque scale of each joint to {assumed}, gains of joints fitted"

    def effects_at(self, gains: Array, links: Array | None = None) -> Array:
        """Return effects with given gains, and deviations of links, none if not given."""
        of_gains = np.linalg.lstsq(self.gain_columns, gains - self.first_gain, rcond=1e-9)[0]
        none = np.zeros(self.link_columns.shape[1])
        return np.concatenate((of_gains, none if links is None else links))

    def gains_by_own_torque(self, *, has_unit: bool = True) -> Array:
        """Return the gain of each joint that its own torque shows with links of the model.

        One near the first gain stays there; where links are too light for one it is the first, or
        without a unit the median of the others.
        """
        slopes = np.full(len(self.first_gain), np.nan)
        for group, joint in enumerate(self.joint.tolist()):
            slope, error = self._slope_of(group)
            if abs(slope) > _START_SIGMA * error:
                slopes[joint] = slope
        if not has_unit:
            usual = float(np.nanmedian(abs(slopes))) if np.isfinite(slopes).any() else 1.0
            return np.where(np.isfinite(slopes), slopes, usual)
        ratio = slopes / self.first_gain
        is_far = (ratio > _START_RATIO) | (ratio < 1.0 / _START_RATIO)
        return np.where(is_far, slopes, self.first_gain)

    def _slope_of(self, group: int) -> tuple[float, float]:
        """Return the slope of a joint's torque by that of links of the model, with its error."""
        count = 1 + len(self.free)
        M = np.zeros((len(self.links) + 1, count + 1))
        M[: len(self.links), 0], M[-1, -1] = self.links, 1.0
        M[self.free, np.arange(1, count)] = 1.0
        gram = M.T @ self.moments[group] @ M
        norms = np.sqrt(np.diag(gram)[:-1])
        norms = np.where(norms > 0.0, norms, np.inf)
        scaled = gram[:-1, :-1] / np.outer(norms, norms)
        inverse = np.linalg.pinv(scaled, _SLOPE_CONDITION, hermitian=True)
        y = inverse @ (gram[:-1, -1] / norms)
        rest = max(float(gram[-1, -1] - y @ (gram[:-1, -1] / norms)), 0.0)
        error = np.sqrt(rest / self.samples[group] * inverse[0, 0]) / norms[0]
        return float(y[0] / norms[0]), float(error)

    def equations(self, eta: Array, x: Array | None) -> _Equations:
        """Return the equations near effects and unknowns; without these, near links alone."""
        gains, k = self.gains(eta), self.gain_columns.shape[1]
        p, f, q = len(self.links), len(self.free), len(eta)
        predicted = np.zeros(p) if x is None else x
        measured = self.moments[:, -1, -1] > 0.0  # an effort that is zero tells nothing
        weights = np.where(measured, self.samples / self._residual_power(gains, x), 0.0)
        H = np.zeros((f + q + 1, f + q + 1))
        for group, joint in enumerate(self.joint.tolist()):
            g, moments = gains[joint], self.moments[group]
            M = np.zeros((p + 1, f + q + 1))
            M[self.free, np.arange(f)] = g
            M[:p, f : f + k] = np.outer(predicted, self.gain_columns[joint])
            M[:p, f + k : f + q] = g * self.link_columns
            M[:p, -1] = predicted * (g - self.first_gain[joint]) - g * self.links
            M[p, -1] = 1.0
            H += weights[group] * M.T @ moments @ M
        if self.known_load is not None:  # the mass is the first of the free unknowns
            row = np.zeros(f + q + 1)
            row[0], row[-1] = 1.0, self.known_load
            H += np.outer(row, row) / (_KNOWN_LOAD_ERROR * self.known_load) ** 2
        norms = np.sqrt(np.diag(H)[:f])
        norms = np.where(norms > 0.0, norms, 1.0)
        of_free = H[:f, :f] / np.outer(norms, norms) + _RELATIVE_RIDGE * np.eye(f)
        back = np.linalg.solve(of_free, H[:f, f:] / norms[:, None])
        rest = H[f:, f:] - (H[:f, f:] / norms[:, None]).T @ back
        rest = 0.5 * (rest + rest.T)
        np.fill_diagonal(rest, np.maximum(np.diag(rest), 0.0))  # of what nothing shows
        root = moment_root(rest)
        return _Equations(root[:, :-1], root[:, -1], back / norms[:, None])

    def _residual_power(self, gains: Array, x: Array | None) -> Array:
        """Return what unknowns leave of each group's rows, squared; all of it without them."""
        measured = np.maximum(self.moments[:, -1, -1], _MIN_POWER)
        if x is None:
            return measured
        z = np.column_stack((-gains[self.joint, None] * x, np.ones(len(self.joint))))
        residual = np.einsum("ga,gab,gb->g", z, self.moments, z)
        return np.maximum(residual, MIN_RELATIVE_RESIDUAL**2 * measured)

    def unknowns(self, eta: Array, free_unknowns: Array) -> Array:
        """Return all unknowns at effects, shape (p,)."""
        x = self.links + self.link_columns @ eta[self.gain_columns.shape[1] :]
        x[self.free] = free_unknowns @ np.append(-eta, 1.0)
        return x


def fixed_size(columns: Indices, size: float) -> VarianceComponent:
    """Return a variance component of a given standard deviation."""
    return VarianceComponent(columns, size, size, min_size=size)


def link_deviations(phi: Phi) -> Array:
    """Return changes of a link's parameters by deviations of a relative size of one, (10, 10).

    Its mass; its centre of mass by half a side of a box of its second moments, along each of the
    box's axes; and these moments.
    """
    phi = link_default(phi)
    mass, com = phi[0], phi[1:4] / phi[0]
    second = pseudo_inertia(phi)[:3, :3] - mass * np.outer(com, com)
    values, axes = np.linalg.eigh(second)
    root = axes * np.sqrt(values)
    changes = [pseudo_inertia(phi)]
    for half_side in (root * np.sqrt(3.0 / mass)).T:
        moved = np.zeros((4, 4))
        moved[:3, :3] = mass * (np.outer(com, half_side) + np.outer(half_side, com))
        moved[:3, 3] = moved[3, :3] = mass * half_side
        changes.append(moved)
    for i, j in zip(*np.triu_indices(3), strict=True):
        E = np.zeros((4, 4))
        E[:3, :3] = np.outer(root[:, i], root[:, j])
        changes.append((E + E.T) / (2.0 if i == j else np.sqrt(2.0)))
    return np.array([phi_from_pseudo_inertia(change) for change in changes]).T

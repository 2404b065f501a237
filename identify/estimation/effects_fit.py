"""The body and the small faults of its sensor, fitted together.

With η the effects of `effects` and d the drift of the offsets, the residual of a row is

    r = z (B0 − B x) − J η − Φ d

Faults multiply the wrench that the fit predicts, as its measured noise is the residual's. A round
whitens the rows, takes the noise in the columns off, and estimates η and d beside the unknowns x
(`variance_components`); the statistics are then mapped by M(η), the drift is taken off, and weights
and body are fitted anew. The prior is of the total η.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from identify.arrays import Array, Indices
from identify.estimation.calibration import FROM_LOG, GIVEN
from identify.estimation.effects import DRIFT_GROUPS, SCALE_GROUPS, BodyScale, EffectModel
from identify.estimation.identifiability import of_triangle
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.posterior import Posterior
from identify.estimation.settings import EstimatorSettings
from identify.estimation.variance_components import Component, random_effects
from identify.estimation.wrench_system import body_system
from identify.logs import Recording
from identify.logs.effects import GroupSetting
from identify.regressors import WRENCH_LAYOUT, Statistics, System
from identify.regressors.statistics import add_up
from identify.regressors.system import whitener
from identify.regressors.triangular import solve_transposed, triangle, whitened
from identify.regressors.wrench import (
    DDW,
    DW,
    W,
    cells_of_means,
    shares_of_time,
    without_drift,
)
from identify.signals.transform import CONSTANT, band_middle

_ROUNDS = 4
"""Times that effects and weights are fitted anew at the most."""

_SETTLED = 0.1
"""Standard errors of an effect up to which a round's step is small."""

_MOST_COSINES, _MOST_COSINES_OF_POSES = 8, 16
"""Functions of time of the drift of a log, and of the order of still poses, at the most."""

_NEGLIGIBLE = 1e-3
"""Share of the largest sizes of effects by which rounding is kept from telling anything of them."""

_LEAST = 1e-12
"""Least of those, where a group is left out or the body weighs nothing."""

_DRIFT_COLUMNS = 400
"""Columns of the drift of all logs together, about: of many logs each has fewer."""


@dataclass(frozen=True, slots=True)
class LogDrift:
    """How the offset of one log goes with the share of its time that has passed.

    Attributes:
        amplitudes: of √2 cos(πkt) for k = 1 …, of each channel [N, N m], shape (k, 6).
    """

    amplitudes: Array

    def means(self, start: Array, stop: Array) -> Array:
        """Mean offset between shares of the log's time, shape (n, 6)."""
        return _cosines(start, stop, len(self.amplitudes)) @ self.amplitudes


@dataclass(frozen=True)
class FittedEffects:
    """Small faults as they were estimated, and what they leave open of the unknowns.

    Attributes:
        model: which there are.
        eta: of the maps [SI], shape (q,).
        errors: standard errors of them, shape (q,).
        units: of them: sizes are in these, shape (q,).
        drifts: of each log.
        sizes: of each group, by its name, in its own units.
        at_cap: names of the groups whose size is at its cap.
        covariance: of all effects, maps and drift, in SI, shape (e, e).
        scale_covariance: its part that the sensor's scale leaves open, shape (e, e).
        price: what they cost in the likelihood, as `RandomEffects.price`.
        shift: change of the unknowns by each effect, shape (p, e).
        fit: least squares of the corrected statistics.
    """

    model: EffectModel
    eta: Array
    errors: Array
    units: Array
    drifts: tuple[LogDrift, ...]
    sizes: dict[str, float]
    at_cap: tuple[str, ...]
    covariance: Array
    scale_covariance: Array
    price: float
    shift: Array
    fit: LeastSquaresFit

    @property
    def all_effects(self) -> Array:
        """Those of the maps, then of the drifts, log after log, shape (e,)."""
        return _all_effects(self.eta, self.drifts, self.drifts)

    @property
    def all_errors(self) -> Array:
        """Standard errors of all effects, shape (e,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def kind(self) -> str:
        """Sources that intervals count, in words."""
        given = (
            block.group.name == "gain" and block.deviations is not None
            for block in self.model.blocks
        )
        return GIVEN if any(given) else FROM_LOG

    def offset_of_readings(self, log: int, offset: Array) -> tuple[Array, Array]:
        """The offset of a log's readings by that of its corrected ones, and its further error.

        Args:
            log: its number.
            offset: of the corrected readings, shape (6,).

        Returns:
            The offset, and standard errors that gains, crosstalk and turns add, shape (6,) each.
        """
        M = self.model.maps(self.eta)[log][W, W]
        logged = np.linalg.solve(M.T, offset)
        moved = np.einsum("i,ijq->jq", logged, self.model.tangents[log][W, W])
        q = len(self.eta)
        variances = np.einsum("jq,qr,jr->j", moved, self.covariance[:q, :q], moved)
        return logged, np.sqrt(np.maximum(variances, 0.0))

    @property
    def covariance_of_unknowns(self) -> Array:
        """Covariance of the unknowns without a prior, from noise and all effects, shape (p, p)."""
        return covariance_of(self.fit) + self.shift @ self.covariance @ self.shift.T

    def covariances(self, posterior: Posterior) -> tuple[Array, Array]:
        """Covariance that the errors of all effects give the unknowns, and the scale's part of it.

        A prior of the body tells of the effects too: with C their covariance, L the scores of the
        unknowns for each effect, and D what the prior takes off the covariance of the unknowns, the
        information on the effects is C⁻¹ + Lᵀ D L.

        Args:
            posterior: of the corrected statistics.

        Returns:
            Both of shape (p, p); the second is no larger than the first.
        """
        C, scale, shift = self.covariance, self.scale_covariance, self.shift
        if posterior.weighing is not None:
            inverse = posterior.fit.information_inverse
            L = -np.linalg.pinv(inverse, hermitian=True) @ shift
            told = _root(inverse, posterior.gain) @ L
            gain = C @ told.T @ np.linalg.inv(np.eye(len(told)) + told @ C @ told.T)
            kept = np.eye(len(C)) - gain @ told
            C, scale, shift = kept @ C, kept @ scale @ kept.T, -posterior.gain @ L
        return shift @ C @ shift.T, shift @ scale @ shift.T


def _root(before: Array, after: Array) -> Array:
    """ν with νᵀν what is taken off a covariance, where anything is, shape (p, p)."""
    unit = np.sqrt(np.maximum(np.diag(before), np.diag(after)))
    unit = np.where(unit > 0.0, unit, 1.0)
    values, vectors = np.linalg.eigh((before - after) / np.outer(unit, unit))
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * unit


def fit_effects(
    logs: Sequence[Statistics],
    recordings: Sequence[Recording],
    settings: EstimatorSettings,
    model: EffectModel | None = None,
) -> FittedEffects | None:
    """Fit the small faults of logs together with their body.

    Args:
        logs: wide statistics, one for each log, those of the carrier alone last.
        recordings: the logs' own.
        settings: of the estimate.
        model: which effects there are; those of the schemas where not given.

    Returns:
        None where the schemas leave all effects out, or where no wrench acts, as in free flight.

    Raises:
        ProblemError: there is no fit of the logs as read.
        SchemaError: a schema says something of effects that cannot be.
    """
    model = EffectModel.of(recordings, logs) if model is None else model
    if not model.count and not any(model.drift):
        return None
    wrenches = [log.factors[..., W] for log in logs]
    if not all(w[..., :3].any() and w[..., 3:].any() for w in wrenches):  # there is no sensor
        return None
    reduced = [_with_blocks_of_means(log) for log in logs]

    def system_of(statistics: Sequence[Statistics]) -> System:
        return body_system(statistics, settings)

    terms = settings.all_terms
    fit = weighted_least_squares(system_of(reduced), terms)
    eta, drifts = np.zeros(model.count), tuple(LogDrift(np.zeros((0, 6))) for _ in logs)
    for _ in range(_ROUNDS):
        found = _EffectRows.of(fit, model).solve(model, eta, drifts)
        step = np.abs(found.all_effects - _all_effects(eta, drifts, found.drifts))
        eta, drifts = found.eta, found.drifts
        corrected = corrected_statistics(reduced, model.maps(eta), drifts)
        fit = weighted_least_squares(system_of(corrected), terms, start=fit.x)
        if (step <= _SETTLED * found.all_errors).all():
            break
    # Covariances are of the corrected logs.
    return replace(_EffectRows.of(fit, model).solve(model, eta, drifts), eta=eta, drifts=drifts)


def corrected_statistics(
    logs: Sequence[Statistics], maps: Array, drifts: Sequence[LogDrift]
) -> list[Statistics]:
    """Statistics of logs without the effects that were found.

    Args:
        logs: wide, of one log each.
        maps: M(η) of each, shape (logs, 43, 43).
        drifts: of each.
    """
    return [
        without_drift(log.mapped(M), drift.means)
        for log, M, drift in zip(logs, maps, drifts, strict=True)
    ]


def _with_blocks_of_means(statistics: Statistics) -> Statistics:
    """Statistics whose means alone are kept by blocks of time."""
    block = np.where(statistics.group == CONSTANT, statistics.block, 0)
    return add_up([replace(statistics, block=block)])


def _cosines(start: Array, stop: Array, count: int) -> Array:
    """Means of √2 cos(πkt) for k = 1 … between shares of time, shape (n, count)."""
    k = np.pi * np.arange(1, count + 1)
    ends = np.sin(np.outer(stop, k)) - np.sin(np.outer(start, k))
    return np.sqrt(2.0) * ends / (k * (stop - start)[:, None])


@dataclass(frozen=True)
class _EffectRows:
    """Equations in [y, η, d] at a fit, offsets eliminated; y is along its directions.

    Attributes:
        fit: which.
        scale: of its body.
        rows: triangular factor of [A | r], shape (k + 1, k + 1).
        noise: moment of what noise adds to them, likewise.
        cross_term: scatter of the scores from the noise cross term, shape (k, k).
        to_x: the unknowns for each of y, shape (p, y).
        cosines: how many functions of time each log has.
    """

    fit: LeastSquaresFit
    scale: BodyScale
    rows: Array
    noise: Array
    cross_term: Array
    to_x: Array
    cosines: tuple[int, ...]

    @classmethod
    def of(cls, fit: LeastSquaresFit, model: EffectModel) -> _EffectRows:
        """The equations of a fit of reduced statistics."""
        system = fit.data.system
        to_y = fit.scaling.to_x @ fit.directions
        logs = [
            (statistics, number, log)
            for number, (statistics, _) in enumerate(system.data)
            for log in range(len(statistics.logs))
        ]
        cosines = (0,) * len(logs)
        if any(model.drift):
            cosines = tuple(
                _count_of_cosines(statistics, len(cells_of_means(statistics, log)), len(logs))
                for statistics, _, log in logs
            )
        ends = np.cumsum([to_y.shape[1] + model.count, *(6 * k for k in cosines)])
        builder = _Builder(fit, to_y, int(ends[-1]) + 1)
        for own, (statistics, number, log) in enumerate(logs):
            columns = slice(int(ends[own]), int(ends[own + 1]))
            builder.add_log(statistics, (number, log), model.tangents[own], columns, own)
        rows, noise, cross = builder.finished()
        phi = fit.x[:10] + (fit.x[10:20] if len(fit.data.space.bodies) > 1 else 0.0)
        return cls(fit, BodyScale.of(phi), rows, noise, cross, to_y, cosines)

    def solve(self, model: EffectModel, eta: Array, drifts: Sequence[LogDrift]) -> FittedEffects:
        """Effects in all, where some were taken off already.

        Args:
            model: which there are.
            eta: of the maps, taken off, shape (q,).
            drifts: of each log, taken off.
        """
        units, components = self._components(model, eta)
        largest = units.copy()
        for _, component in components:
            largest[component.columns] *= component.cap
        R, A, b = self._without_noise(np.maximum(largest, _LEAST))
        T, t = self._marginal(R, A, b)
        before = np.concatenate(
            (eta, *(_padded(d, n) for d, n in zip(drifts, self.cosines, strict=True)))
        )
        found = random_effects(
            T * units, t + T @ before, [component for _, component in components]
        )
        total = units * found.effects
        q = model.count
        covariance = units[:, None] * found.covariance * units
        of_scale = found.prior_root[:, model.scale_columns]
        of_scale = of_scale @ of_scale.T
        for (name, _), added in zip(components, found.of_size_errors, strict=True):
            if name in SCALE_GROUPS:
                of_scale = of_scale + added
        edges = np.cumsum([q, *(6 * n for n in self.cosines)])
        named = [name for name, _ in components]
        return FittedEffects(
            model=model,
            eta=total[:q],
            errors=np.sqrt(np.maximum(np.diag(covariance)[:q], 0.0)),
            units=units[:q],
            drifts=tuple(
                LogDrift(total[start:stop].reshape(-1, 6))
                for start, stop in pairwise(edges.tolist())
            ),
            sizes=dict(zip(named, found.sizes.tolist(), strict=True)),
            at_cap=tuple(n for n, at in zip(named, found.at_cap, strict=True) if at),
            covariance=covariance,
            scale_covariance=units[:, None] * of_scale * units,
            price=found.price,
            shift=self._shift(A),
            fit=self.fit,
        )

    def _shift(self, A: Array) -> Array:
        """Change of the unknowns by each effect, shape (p, e).

        A is triangular: its first rows are those of the unknowns, with what the effects add.
        """
        k = self.to_x.shape[1]
        return -self.to_x @ np.linalg.solve(A[:k, :k], A[:k, k:])

    def _components(
        self, model: EffectModel, eta: Array
    ) -> tuple[Array, list[tuple[str, Component]]]:
        """Units of all columns, and the components of the maps and the drift."""
        units, components = [model.units(self.scale)], model.components(eta)
        start, of_drift = model.count, [list[int](), list[int]()]
        for count in self.cosines:
            for k in range(1, count + 1):
                size = np.sqrt(6.0) / (np.pi * k) * self.scale.weight
                units.append(size * np.repeat([1.0, self.scale.lever], 3))
                for part in (0, 1):
                    of_drift[part] += range(start + 3 * part, start + 3 * part + 3)
                start += 6
        for name, setting, own in zip(DRIFT_GROUPS, model.drift, of_drift, strict=True):
            if own:
                columns = np.array(own, dtype=np.intp)
                components.append((name, _component(setting, columns)))
        return np.concatenate(units), components

    def _without_noise(self, largest: Array) -> tuple[Array, Array, Array]:
        """Rows R, and A and b of them without the noise in the columns: H = RᵀR, H − N = AᵀA.

        Args:
            largest: sizes of the effects, shape (e,): what is told of them by far less than by
                these is told by rounding, and their equations get so much more.
        """
        if not self.noise.any():
            return self.rows[:-1, :-1], self.rows[:-1, :-1], self.rows[:-1, -1]
        least = np.zeros((len(largest), len(self.rows)))
        least[:, -1 - len(largest) : -1] = np.diag(_NEGLIGIBLE / largest)
        rows = triangle(np.concatenate((self.rows, least)))
        return rows[:-1, :-1], *of_triangle(rows, self.noise)

    def _marginal(self, R: Array, A: Array, b: Array) -> tuple[Array, Array]:
        """Equations T, t of the effects beside the unknowns, in root form.

        With B = AᵀA and V = RᵀR + X, the information on all is BᵀV⁻¹B: that of the rows
        (1 + R⁻ᵀXR⁻¹)^-½ (AR⁻¹)ᵀA.
        """
        k, rows = self.to_x.shape[1], np.concatenate((A, b[:, None]), axis=1)
        if self.noise.any():
            values, vectors = np.linalg.eigh(whitened(self.cross_term, R))
            root = vectors / np.sqrt(1.0 + np.maximum(values, 0.0))
            rows = triangle(root.T @ (solve_transposed(R, A.T) @ rows))
        return rows[k : len(A), k:-1], rows[k : len(A), -1]


def _component(setting: GroupSetting | None, columns: Indices) -> Component:
    if setting is None:
        return Component(columns, scale=1e-300, cap=1e-300)
    return Component(columns, setting.size, setting.cap)


def _all_effects(eta: Array, drifts: Sequence[LogDrift], like: Sequence[LogDrift]) -> Array:
    """Effects one after the other, drifts with as many functions of time as others."""
    counts = [len(drift.amplitudes) for drift in like]
    return np.concatenate((eta, *map(_padded, drifts, counts)))


def _padded(drift: LogDrift, count: int) -> Array:
    """Amplitudes of a drift for so many functions of time, one after the other."""
    whole = np.zeros((count, 6))
    whole[: len(drift.amplitudes)] = drift.amplitudes
    return whole.reshape(-1)


def _count_of_cosines(statistics: Statistics, n: int, logs: int) -> int:
    """How many functions of time the drift of a log has.

    Args:
        statistics: of the log, among others.
        n: its blocks of time, or still poses.
        logs: how many the fit has.
    """
    by_log = min(n // 3, _MOST_COSINES_OF_POSES)
    if not statistics.independent:
        by_log = min(n - 2, _MOST_COSINES)
    return max(0, min(by_log, max(1, _DRIFT_COLUMNS // (6 * logs))))


class _Builder:
    """Collects the whitened rows of a system's logs with the columns of their effects."""

    def __init__(self, fit: LeastSquaresFit, to_y: Array, width: int) -> None:
        self.fit, self.to_y, self.width = fit, to_y, width
        system = fit.data.system
        self.members = system.members
        self.lever = np.append(1.0, -fit.x)
        self.offsets = system.offsets(fit.x, fit.weights)
        self.weights = _with_weight_of_slowest(fit)
        groups, m = system.arrays.channels.shape
        self.R = np.zeros((width, width))
        self.noise = np.zeros((width, width))
        self.cross = np.zeros((groups, m, m, width - 1))
        self.shared: list[Array] = []

    def add_log(
        self,
        statistics: Statistics,
        which: tuple[int, int],
        tangent: Array,
        drift: slice,
        log_number: int,
    ) -> None:
        """Add the rows of one log."""
        number, log = which
        equations = self.fit.data.system.data[number][1]
        groups = np.flatnonzero(self.members[:, 0] == number)
        C = _coefficients(
            equations.residual(log, int(self.members[groups[0], 1])),
            self.lever,
            self.offsets[log_number],
            tangent,
            self.to_y,
        )
        narrow = C.shape[-1]
        places = np.append(np.arange(narrow - 1), self.width - 1)
        stacks = []
        for group in groups.tolist():
            own, root = int(self.members[group, 1]), whitener(self.weights[group])
            self._add_noise(statistics, (log, own), group, C, places)
            if own != CONSTANT:
                total = statistics.totals[log, own]
                rows = (root @ np.tensordot(total, C, axes=1)).reshape(-1, narrow)
                wide = np.zeros((len(rows), self.width))
                wide[:, places] = rows
                stacks.append(wide)
                continue
            stacks.append(self._rows_of_means(statistics, log, C, root, (drift, equations.offsets)))
        self.R = triangle(np.concatenate((self.R, *stacks)))

    def _add_noise(
        self,
        statistics: Statistics,
        which: tuple[int, int],
        group: int,
        C: Array,
        places: Indices,
    ) -> None:
        noise = np.sqrt(self.fit.noise_fraction) * statistics.noise_rows[which]
        noise = noise[noise.any(axis=1)]
        if not len(noise):
            return
        weight, narrow = self.weights[group], C.shape[-1]
        more, less = _coloured(statistics.totals[which], noise, C, which[1])
        for rows, sign in ((noise, 1.0), (more, 1.0), (less, -1.0)):
            noisy = np.tensordot(rows, C, axes=1)
            whitened = (whitener(weight) @ noisy).reshape(-1, narrow)
            self.noise[np.ix_(places, places)] += sign * (whitened.T @ whitened)
            cross = sign * np.tensordot(noisy[..., -1], noisy[..., :-1], axes=(0, 0))
            cross = weight @ cross.reshape(len(weight), -1)
            self.cross[group][..., places[:-1]] += cross.reshape(
                len(weight), len(weight), narrow - 1
            )

    def _rows_of_means(
        self,
        statistics: Statistics,
        log: int,
        C: Array,
        root: Array,
        of: tuple[slice, str],
    ) -> Array:
        """Rows of block means, one by one; offsets are eliminated, but for those of all logs."""
        drift, offsets = of
        cells = cells_of_means(statistics, log)
        z = statistics.factors[cells]
        kept = z.any(axis=2)
        owner, m, narrow = np.nonzero(kept)[0], C.shape[1], C.shape[-1]
        z = z[kept]
        count = (drift.stop - drift.start) // m
        acted = z[:, 0]
        wide = np.zeros((len(z), m, m + self.width))
        wide[..., :m] = -acted[:, None, None] * root
        own = root @ np.tensordot(z, C, axes=1)
        wide[..., m : m + narrow - 1], wide[..., -1] = own[..., :-1], own[..., -1]
        if count:
            shape = _cosines(*shares_of_time(len(cells)), count)[owner] * acted[:, None]
            of_drift = np.einsum("ck,mn->cmkn", shape, root).reshape(len(z), m, -1)
            wide[..., m + drift.start : m + drift.stop] = of_drift
        rows = wide.reshape(-1, m + self.width)
        if offsets == "none":
            return rows[:, m:]
        if offsets == "shared":
            self.shared.append(rows)
            return np.zeros((0, self.width))
        return triangle(rows)[m:, m:]

    def finished(self) -> tuple[Array, Array, Array]:
        """Triangular factor, moment of the noise, and scatter of its cross term."""
        split = self.fit.identifiability
        k = split.identifiable.shape[1]
        completed = np.zeros((split.unidentifiable.shape[1], self.width))
        completed[:, k : k + len(completed)] = np.eye(len(completed))
        stacks = [self.R, completed]
        if self.shared:
            m = self.shared[0].shape[1] - self.width
            stacks.append(triangle(np.concatenate(self.shared))[m:, m:])
        samples = self.fit.data.system.arrays.effective_samples[:, None, None, None]
        scatter = np.einsum("gmnp,gnmq->pq", self.cross, self.cross / samples)
        return triangle(np.concatenate(stacks)), self.noise, scatter


def _coloured(total: Array, noise: Array, C: Array, band: int) -> tuple[Array, Array]:
    """Rows of what the noise of the wrench and of its derivatives is more and less than white.

    Noise that was filtered with the wrench, or is slow, is in a band what the residuals are there:
    with E their moment beyond the white one's and ω of the band, that of ẇ is ω² E, that of ẅ
    ω⁴ E, and −ω² E with w.

    Args:
        total: of the rows of the band, shape (k, 43).
        noise: white, likewise.
        C: coefficients, of the residual last, shape (43, 6, n).
        band: which.

    Returns:
        Shape (k, 43) each.
    """
    if band == CONSTANT:
        return total[:0], total[:0]
    r, white = total @ C[..., -1], noise @ C[..., -1]
    values, vectors = np.linalg.eigh(r.T @ r - white.T @ white)
    root = np.sqrt(np.abs(values))[:, None] * vectors.T
    omega = band_middle(band)
    rows = np.zeros((6, 2, total.shape[1]))
    rows[:, 0, W], rows[:, 0, DDW], rows[:, 1, DW] = root, -(omega**2) * root, omega * root
    parts = rows[values > 0.0], rows[values < 0.0]
    return parts[0].reshape(-1, rows.shape[2]), parts[1].reshape(-1, rows.shape[2])


def _with_weight_of_slowest(fit: LeastSquaresFit) -> Array:
    """Weights of a fit, that of block means no less than that of the slowest band.

    A drift would hide in a weight of its own.
    """
    weights, members = fit.weights.copy(), fit.data.system.members
    for number in range(len(fit.data.system.data)):
        own = np.flatnonzero(members[:, 0] == number)
        means = own[members[own, 1] == CONSTANT]
        bands = own[members[own, 1] != CONSTANT]
        if len(means) and len(bands):
            weights[means[0]] = weights[bands[np.argmin(members[bands, 1])]]
    return weights


def _coefficients(C: Array, lever: Array, offset: Array, tangent: Array, to_y: Array) -> Array:
    """Coefficients [y | η | r] over the wide columns, shape (43, 6, k + q + 1).

    Where η multiplies the measured wrench, its effect is worked out with the one the fit predicts:
    the noise of the measured one is that of the residual.
    """
    fit = len(WRENCH_LAYOUT.columns)
    r = C @ lever
    J = -np.einsum("kfd,fm->kmd", tangent, r)
    predicted = np.zeros((fit, 6))
    predicted[:] = -r
    predicted[W] = 0.0
    predicted[0] += offset
    J[:fit] += np.einsum("kn,nmd->kmd", predicted, J[W])
    J[W] = 0.0
    whole = np.zeros((len(J), 6, to_y.shape[1] + J.shape[-1] + 1))
    whole[:fit, :, : to_y.shape[1]] = C[..., 1:] @ to_y
    whole[..., to_y.shape[1] : -1] = J
    whole[:fit, :, -1] = r
    return whole

"""Joint fit of a body and the small faults of its sensor, modelled as random effects.

With η the effects of a `random_effects_model` and d the drift of the offsets, a row's residual is

    r = z (B0 − B x) − J η − Φ d

Faults multiply the wrench that the fit predicts, as its measured noise is the residual's. An
iteration whitens the rows, subtracts the noise in the columns, and estimates η and d beside the
unknowns x (`variance_components`). It then maps the statistics by M(η), subtracts the drift, and
fits weights and body again. The prior is of the total η.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from identify.arrays import Array
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.posterior import Posterior
from identify.estimation.random_effect_equations import RandomEffectEquations, cosine_means
from identify.estimation.random_effects_model import DRIFT_FAULTS, SCALE_FAULTS, EffectModel
from identify.estimation.scale_accuracy import (
    GIVEN_SCALE_ALONE,
    WITH_GIVEN_SCALE,
    WITH_SCALE_FROM_LOG,
)
from identify.estimation.settings import EstimatorSettings, body_system
from identify.estimation.variance_components import VarianceComponent, random_effects
from identify.logs import Recording
from identify.regressors import LinearSystem, Statistics
from identify.regressors.statistics import sum_statistics
from identify.regressors.wrench import subtract_drift
from identify.signals.transform import CONSTANT_GROUP
from identify.spatial.columns import WRENCH

_MAX_ITERATIONS = 4
"""Largest number of alternations between estimating sensor faults and weights of the rows."""

_STEP_TOLERANCE = 0.1
"""Largest change of a sensor fault in the last iteration, in standard errors."""


@dataclass(frozen=True, slots=True)
class LogDrift:
    """Drift of the offset of one log over its time.

    Attributes:
        amplitudes: coefficients of √2 cos(πkt), k = 1 …, for each channel [N, N m], shape (k, 6).
    """

    amplitudes: Array

    def means(self, start: Array, stop: Array) -> Array:
        """Compute the mean drift over intervals of the log's time, shape (n, 6)."""
        return cosine_means(start, stop, len(self.amplitudes)) @ self.amplitudes


@dataclass(frozen=True)
class FittedEffects:
    """Estimated small faults of a sensor, and their part of the covariance of the unknowns.

    Attributes:
        model: effects that were fitted.
        eta: effects of the maps [SI], shape (q,).
        errors: standard errors of `eta` [SI], shape (q,).
        units: unit of each effect in which the sizes are given [SI], shape (q,).
        drifts: drift of each log.
        sizes: standard deviation of each group by its name, in the group's units.
        at_cap: names of the groups whose size is at its cap.
        covariance: covariance of all effects, maps and drift [SI], shape (e, e).
        scale_covariance: part of `covariance` from the unknown scale of the sensor, shape (e, e).
        laplace_penalty: penalty of the effects in the log-likelihood, see `RandomEffects`.
        shift: change of the unknowns by each effect, shape (p, e).
        fit: least squares of the corrected statistics.
        already_removed: effects of the maps removed from the logs before the fit [SI], shape (q,);
            None without any.
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
    laplace_penalty: float
    shift: Array
    fit: LeastSquaresFit
    already_removed: Array | None = None

    @property
    def eta_including_removed(self) -> Array:
        """Sizes of all faults but drift, including those removed before the fit [SI], (q,)."""
        return self.eta if self.already_removed is None else self.eta + self.already_removed

    @property
    def all_effects(self) -> Array:
        """Sizes of all faults [SI]: first all but drift, then drift log by log, shape (e,)."""
        return _concatenate_effects(self.eta, self.drifts, self.drifts)

    @property
    def all_errors(self) -> Array:
        """Standard errors of `all_effects` [SI], shape (e,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def interval_kind(self) -> str:
        """Description of intervals that include these faults, for `Estimate.interval_kind`."""
        blocks = self.model.blocks
        if not any(block.fault.name == "gain" and block.deviations is not None for block in blocks):
            return WITH_SCALE_FROM_LOG
        alone = all(block.deviations is not None for block in blocks) and not any(self.model.drift)
        return GIVEN_SCALE_ALONE if alone else WITH_GIVEN_SCALE

    def offset_as_logged(self, log: int, offset: Array) -> tuple[Array, Array]:
        """Convert a sensor offset from corrected to logged readings, with the standard error.

        Args:
            log: number of the log.
            offset: offset of the corrected readings [N, N m], shape (6,).

        Returns:
            The offset, and standard errors that gains, crosstalk and turns add, shape (6,) each.
        """
        M = self.model.maps(self.eta)[log][WRENCH, WRENCH]
        logged = np.linalg.solve(M.T, offset)
        J = np.einsum("i,ijq->jq", logged, self.model.tangents[log][WRENCH, WRENCH])
        q = len(self.eta)
        variances = np.einsum("jq,qr,jr->j", J, self.covariance[:q, :q], J)
        return logged, np.sqrt(np.maximum(variances, 0.0))

    @property
    def covariance_of_unknowns(self) -> Array:
        """Covariance of the unknowns from noise and sensor faults, without a prior, (p, p)."""
        return covariance_of(self.fit) + self.shift @ self.covariance @ self.shift.T

    def covariances(self, posterior: Posterior) -> tuple[Array, Array]:
        """Compute the unknowns' covariance from all sensor faults, and its part from scale errors.

        A prior of the body informs about the effects too: with C their covariance, L the scores of
        the unknowns for each effect, and D the reduction of the unknowns' covariance by the prior,
        the information on the effects is C⁻¹ + Lᵀ D L.

        Args:
            posterior: posterior of the unknowns from the corrected statistics.

        Returns:
            Both of shape (p, p); the second is no larger than the first.
        """
        C = self.covariance
        scale = self.scale_covariance
        shift = self.shift
        if posterior.agreement is not None:
            inverse = posterior.fit.information_inverse
            L = -np.linalg.pinv(inverse, hermitian=True) @ shift
            prior_root = _root_of_difference(inverse, posterior.score_gain) @ L
            gain = (
                C
                @ prior_root.T
                @ np.linalg.inv(np.eye(len(prior_root)) + prior_root @ C @ prior_root.T)
            )
            reduction = np.eye(len(C)) - gain @ prior_root
            C = reduction @ C
            scale = reduction @ scale @ reduction.T
            shift = -posterior.score_gain @ L
        return shift @ C @ shift.T, shift @ scale @ shift.T


def _root_of_difference(before: Array, after: Array) -> Array:
    """Return a square root of the positive part of a difference of covariances, shape (p, p)."""
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
    """Fit the small sensor faults of logs together with their body.

    Args:
        logs: wide statistics, one for each log, those of the carrier alone last.
        recordings: recording of each log.
        settings: settings of the estimate.
        model: effects to fit; by default those that the schemas allow.

    Returns:
        The fitted effects; None if the schemas exclude all effects. Without a force, as in free
        flight, only the gains that the schemas give count.

    Raises:
        ProblemError: the logs as read cannot be fitted.
        SchemaError: a schema has invalid effects.
    """
    model = EffectModel.of(recordings, logs) if model is None else model
    wrenches = [log.factors[..., WRENCH] for log in logs]
    if not all(w[..., :3].any() and w[..., 3:].any() for w in wrenches):  # there is no sensor
        model = model.given_alone.without_fault("crosstalk")
    if not model.effect_count and not any(model.drift):
        return None
    reduced = [_merge_band_blocks(log) for log in logs]

    def system_of_statistics(statistics: Sequence[Statistics]) -> LinearSystem:
        return body_system([log.fit_columns_only() for log in statistics], settings)

    terms = settings.all_terms
    corrected = reduced
    fit = weighted_least_squares(system_of_statistics(corrected), terms)
    eta, drifts = np.zeros(model.effect_count), tuple(LogDrift(np.zeros((0, 6))) for _ in logs)
    sizes: Array | None = None
    for _ in range(_MAX_ITERATIONS):
        fitted, sizes = _solve_effects(
            RandomEffectEquations.of(fit, corrected, model), model, eta, drifts, sizes
        )
        step = np.abs(fitted.all_effects - _concatenate_effects(eta, drifts, fitted.drifts))
        eta, drifts = fitted.eta, fitted.drifts
        corrected = corrected_statistics(reduced, model.maps(eta), drifts)
        fit = weighted_least_squares(system_of_statistics(corrected), terms, start=fit.x)
        if (step <= _STEP_TOLERANCE * fitted.all_errors).all():
            break
    # Covariances are of the corrected logs.
    rows = RandomEffectEquations.of(fit, corrected, model)
    fitted, _ = _solve_effects(rows, model, eta, drifts, sizes)
    return replace(fitted, eta=eta, drifts=drifts)


def corrected_statistics(
    logs: Sequence[Statistics], maps: Array, drifts: Sequence[LogDrift]
) -> list[Statistics]:
    """Remove estimated sensor faults from the sufficient statistics of logs.

    `maps`: M(η) of each log, shape (logs, 43, 43).
    """
    return [
        subtract_drift(log.mapped(M), drift.means)
        for log, M, drift in zip(logs, maps, drifts, strict=True)
    ]


def _merge_band_blocks(statistics: Statistics) -> Statistics:
    """Merge a log's blocks of time in each frequency band, but keep its block means separate."""
    block = np.where(statistics.group == CONSTANT_GROUP, statistics.block, 0)
    return sum_statistics([replace(statistics, block=block)])


def _solve_effects(
    rows: RandomEffectEquations,
    model: EffectModel,
    eta: Array,
    drifts: Sequence[LogDrift],
    sizes: Array | None,
) -> tuple[FittedEffects, Array]:
    """Estimate all sensor faults, including those already removed, and their variances.

    Removed are `eta` of the maps [SI], shape (q,), and `drifts` of each log; `sizes` are those
    of the previous iteration.
    """
    units, components = _variance_components(rows, model, eta)
    largest = units.copy()
    for _, component in components:
        largest[component.columns] *= component.max_size
        largest[component.tied] *= component.max_size
    T, t, shift = rows.equations(largest)
    before = np.concatenate(
        (eta, *(_padded_amplitudes(d, n) for d, n in zip(drifts, rows.cosines, strict=True)))
    )
    effects = random_effects(
        T * units, t + T @ before, [component for _, component in components], sizes
    )
    total = units * effects.effects
    q = model.effect_count
    covariance = units[:, None] * effects.covariance * units
    scale_covariance = effects.prior_root[:, model.scale_columns]
    scale_covariance = scale_covariance @ scale_covariance.T
    for (name, _), added in zip(components, effects.size_error_covariances, strict=True):
        if name in SCALE_FAULTS:
            scale_covariance = scale_covariance + added
    edges = np.cumsum([q, *(6 * n for n in rows.cosines)])
    named = [name for name, _ in components]
    fitted = FittedEffects(
        model=model,
        eta=total[:q],
        errors=np.sqrt(np.maximum(np.diag(covariance)[:q], 0.0)),
        units=units[:q],
        drifts=tuple(
            LogDrift(total[start:stop].reshape(-1, 6)) for start, stop in pairwise(edges.tolist())
        ),
        sizes=dict(zip(named, effects.sizes.tolist(), strict=True)),
        at_cap=tuple(n for n, at in zip(named, effects.at_cap, strict=True) if at),
        covariance=covariance,
        scale_covariance=units[:, None] * scale_covariance * units,
        laplace_penalty=effects.laplace_penalty,
        shift=shift,
        fit=rows.fit,
    )
    return fitted, effects.sizes


def _variance_components(
    rows: RandomEffectEquations, model: EffectModel, eta: Array
) -> tuple[Array, list[tuple[str, VarianceComponent]]]:
    """Return units and variance components of all effects: sensor faults, then drift."""
    units, components = [model.units(rows.scale)], model.variance_components(eta)
    start, drift_columns = model.effect_count, [list[int](), list[int]()]
    for count in rows.cosines:
        for k in range(1, count + 1):
            size = np.sqrt(6.0) / (np.pi * k) * rows.scale.weight
            units.append(size * np.repeat([1.0, rows.scale.lever], 3))
            for part in (0, 1):
                drift_columns[part] += range(start + 3 * part, start + 3 * part + 3)
            start += 6
    for name, setting, columns_of_part in zip(
        DRIFT_FAULTS, model.drift, drift_columns, strict=True
    ):
        if columns_of_part:
            columns = np.array(columns_of_part, dtype=np.intp)
            sizes = (1e-300, 1e-300) if setting is None else (setting.prior_size, setting.max_size)
            components.append((name, VarianceComponent(columns, *sizes)))
    return np.concatenate(units), components


def _concatenate_effects(
    eta: Array, drifts: Sequence[LogDrift], same_length_as: Sequence[LogDrift]
) -> Array:
    """Concatenate sensor faults and drifts, each padded as its partner in `same_length_as`."""
    counts = [len(drift.amplitudes) for drift in same_length_as]
    return np.concatenate((eta, *map(_padded_amplitudes, drifts, counts)))


def _padded_amplitudes(drift: LogDrift, count: int) -> Array:
    """Pad the amplitudes of a drift to a number of cosines, flattened."""
    padded = np.zeros((count, 6))
    padded[: len(drift.amplitudes)] = drift.amplitudes
    return padded.reshape(-1)

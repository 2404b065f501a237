"""Weights of frequency bands, from observed residuals and the predicted noise of the signals.

Fisher, "Theory of statistical estimation" (1925).
DerSimonian and Laird, "Meta-analysis in clinical trials" (1986).
Ayer, Brunk, Ewing, Reid and Silverman, "An empirical distribution function for sampling with
    incomplete information" (1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices
from identify.estimation.fit_data import MIN_RELATIVE_RESIDUAL, ChannelTypes, FitData
from identify.significance import SIGNIFICANT_SIGMA

_PREDICTED_DEGREES = 100.0
"""Prior degrees of freedom of the residual covariance predicted from the signals' noise: its weight
against the observed residuals."""

_ISOTROPIC_DEGREES = 30.0
"""Prior degrees of freedom of one variance of all forces and one of all torques, used if no noise
is predicted."""

_MIN_SHRINKAGE_DEGREES, _MAX_SHRINKAGE_DEGREES = 3.0, 100.0
"""Bounds of the degrees of freedom of the variance inflation that is common to all bands."""

_POOLED_DEGREES = 10.0
"""Prior degrees of freedom of the bands' common variance inflation, per unit of inflation."""

_SCORING_STEPS = 3
"""Number of Fisher-scoring steps; further steps change the inflation by less than its error."""

_MAX_EDGE_RATIO = 2.0
"""Largest ratio of the inflation at the lower edge of a band to that at its middle."""

_MIN_INDEPENDENT_FRACTION = 1e-8
"""Fraction of each axis' residual variance that is assumed independent of the other axes."""

_MIN_RESIDUAL_RATIO = 1e-4
"""Smallest relative residual of a channel, as a fraction of the largest of the other channels. An
exact torque with a noisy force would otherwise get a weight beyond double precision and hide the
mass, which the force alone identifies."""

_MIN_FLOAT = float(np.finfo(float).tiny)
"""Smallest normal number, against division by zero."""

_MAX_CONDITION = 1e9
"""Condition number of a predicted covariance above which small eigenvalues are ignored."""


class ResidualWeights(NamedTuple):
    """Weights of a fit from its residuals.

    Attributes:
        weights: weight matrix W of each group of rows, shape (G, m, m).
        noise_fraction: share of the noise estimated from the signals that the residuals confirm.
        excess_covariance: band-by-band residual covariance minus W⁻¹, shape (G, m, m).
    """

    weights: Array
    noise_fraction: float
    excess_covariance: Array


def compute_residual_weights(data: FitData, x: Array, leverage: Array) -> ResidualWeights:
    """Compute the weights of a fit from its residuals.

    `x`: unknowns, shape (p,); `leverage`: effective samples of each group used by unknowns and
    offsets, shape (G,).
    """
    padded = data.system.padded
    if data.noise_known:
        independent = padded.effective_samples / padded.samples
        weights = independent[:, None, None] * np.eye(data.scales.shape[1])
        return ResidualWeights(weights, 1.0, np.zeros_like(weights))
    moments = data.system.residual_moments(x, data.scale_weights)
    degrees = padded.effective_samples - leverage
    observed = moments / np.maximum(degrees, 1.0)[:, None, None]
    predicted = data.system.noise_moments(x) / padded.effective_samples[:, None, None]
    bands = BandCovariances(observed, predicted, data.wrench_noise, data.channel_types)
    fraction = _noise_fraction(padded.quantity_ids, bands, degrees)
    if fraction < 1.0:
        bands = replace(bands, predicted=fraction * predicted)
    weights, covariance = _invert_covariance(data, bands)
    excess = bands.band_covariance(padded.sensors) - covariance
    return ResidualWeights(weights, fraction, excess)


def _noise_fraction(quantity_ids: Indices, bands: BandCovariances, degrees: Array) -> float:
    """Estimate the ratio of the residuals' power to the predicted noise, at most one.

    A noise-free motion with fast components looks noisy; its residuals are then smaller than
    predicted.

    `quantity_ids`: as of `PaddedSystem`; `degrees`: effective samples of each group minus its
    leverage, shape (G,).
    """
    compared = (bands.predicted_power > 0.0) & (degrees >= 1.0)[:, None]
    if not bands.has_prediction or not compared.any():
        return 1.0
    number, names = np.maximum(quantity_ids, 0).ravel(), int(quantity_ids.max()) + 1
    kind_degrees = np.where(compared, degrees[:, None] * bands.types.counts, 0.0).ravel()
    ratios = (bands.observed_power / np.where(compared, bands.predicted_power, np.inf)).ravel()
    total = np.bincount(number, kind_degrees, names)
    kinds = total > 0.0
    mean = np.bincount(number, ratios * kind_degrees, names)[kinds] / total[kinds]
    upper = float((mean * (1.0 + SIGNIFICANT_SIGMA * np.sqrt(2.0 / total[kinds]))).max())
    return min(upper, 1.0)


def _invert_covariance(data: FitData, bands: BandCovariances) -> tuple[Array, Array]:
    """Compute the weight matrices of the groups of rows, and the covariances they invert.

    Returns weights, and covariances (without the terms against rounding), shape (G, m, m) each.
    """
    covariance = bands.pooled_covariance(data.system.padded.sensors)
    power, squares = covariance.diagonal(0, 1, 2), data.mean_squares
    # Fully correlated residuals of all channels would make the weight singular.
    rounding = data.rounding_variance + _MIN_INDEPENDENT_FRACTION * power
    rounding += _MIN_RESIDUAL_RATIO**2 * (power / squares).max() * squares
    power = np.where(data.system.padded.channels, power + rounding, 1.0)
    return _scaled_inverse(covariance, power), covariance


@dataclass(frozen=True)
class BandCovariances:
    """Observed and predicted residual covariance of each group of rows (frequency band of a log).

    Attributes:
        observed: covariance of the residuals, shape (G, m, m).
        predicted: covariance predicted from the noise of all signals, shape (G, m, m).
        wrench_predicted: part of it from the noise of the wrench alone, shape (G, m, m).
        types: channels of force and of torque.
    """

    observed: Array
    predicted: Array
    wrench_predicted: Array
    types: ChannelTypes

    @cached_property
    def has_prediction(self) -> bool:
        """Whether the signals' noise predicts any residual."""
        return bool(self.predicted.any())

    def pooled_covariance(self, sensors: Indices) -> Array:
        """Compute the residual covariance with a pooled inflation of the bands, shape (G, m, m)."""
        if not self.has_prediction:
            return self._isotropic_covariance
        inflation = _variance_inflation(
            self.variance_ratio, self.types.degrees, sensors, pooled=True
        )
        return self.shrunk_covariance(self.variance_ratio, _arrange_by_group(inflation, sensors))

    def band_covariance(self, sensors: Indices) -> Array:
        """Compute the residual covariance band by band, for intervals, shape (G, m, m)."""
        if not self.has_prediction:
            return self._isotropic_covariance
        at_middle = _variance_inflation(
            self.variance_ratio, self.types.degrees, sensors, pooled=False
        )
        inflation = _at_band_lower_edge(at_middle, (sensors >= 0).sum(axis=1))
        return self.shrunk_covariance(self.variance_ratio, _arrange_by_group(inflation, sensors))

    @cached_property
    def predicted_power(self) -> Array:
        """Predicted residual power of each channel type (force, torque), shape (G, K)."""
        return self.types.block_traces(self.predicted)

    @cached_property
    def observed_power(self) -> Array:
        """Observed residual power of each channel type (force, torque), shape (G, K)."""
        return self.types.block_traces(self.observed)

    @cached_property
    def excess_template(self) -> Array:
        """Covariance of unmodelled noise per unit of variance inflation, shape (G, m, m).

        Drift and coloured noise come from the sensor: the template has the shape of the wrench's
        noise as far as that dominates the prediction. Its power is that of the prediction, by kind.
        """
        power = np.where(self.predicted_power > 0.0, self.predicted_power, np.inf)
        share = self.types.block_traces(self.wrench_predicted) / power
        root = np.sqrt(self.types.by_channel(np.maximum(1.0 - share, 0.0)))
        return self.wrench_predicted + root[:, :, None] * root[:, None, :] * self.predicted

    @cached_property
    def variance_ratio(self) -> Array:
        """Maximum-likelihood ratio of observed to predicted variance; NaN without a prediction.

        Shape (G, K); one for kinds that a group does not have.
        """
        ratio = np.where(self.types.counts > 0.0, np.nan, 1.0)
        group, kind, channels, flags = self.types.blocks
        predicted = (self.predicted_power > MIN_RELATIVE_RESIDUAL * self.observed_power)[
            group, kind
        ]
        if not predicted.any():
            return ratio
        if not predicted.all():
            group, kind = group[predicted], kind[predicted]
            channels, flags = channels[predicted], flags[predicted]
        # Blocks of the kinds; one with fewer channels than others is padded on the diagonal.
        blocks = group[:, None, None], channels[:, :, None], channels[:, None, :]
        P, E, observed = (
            part[blocks] for part in (self.predicted, self.excess_template, self.observed)
        )
        padding = 0.0
        if not flags.all():
            mask = flags[:, :, None] * flags[:, None, :]
            P = mask * P
            E = mask * E
            observed = mask * observed
            power = self.predicted_power[group, kind][:, None] * (1.0 - flags)
            padding = power[:, :, None] * np.eye(flags.shape[1])
        P, terms = P + padding, np.array((observed - P, E))
        estimate = _fisher_scoring_step(P, terms)
        for _ in range(_SCORING_STEPS - 1):  # ratios up to one would repeat the same step
            larger = np.flatnonzero(estimate > 1.0)
            if not len(larger):
                break
            covariance = P[larger] + (estimate[larger] - 1.0)[:, None, None] * terms[1, larger]
            estimate[larger] = _fisher_scoring_step(covariance, terms[:, larger])
        ratio[group, kind] = np.maximum(estimate, 0.0)
        return ratio

    def shrunk_covariance(self, variance_ratio: Array, inflation: Array) -> Array:
        """Shrink the observed residual covariance towards the inflated prediction, (G, m, m).

        Without a prediction the target is one variance for each kind.

        `variance_ratio`: ratios of observed to predicted variance, shape (G, K); `inflation`:
        variance inflation of the prediction, at least one, shape (G, K).
        """
        n, channels = self.types.effective_samples[:, None, None], self.types.present
        factor = np.where(channels > 0.0, self.types.by_channel(inflation), 1.0)
        root = np.sqrt(factor - 1.0)
        expected = self.predicted + self.excess_template * (root[:, :, None] * root[:, None, :])
        # The smaller the predicted share, the less certain is the shape of the prediction.
        share = ((channels / factor).sum(axis=1) / self.types.counts.sum(axis=1))[:, None, None]
        degrees = _ISOTROPIC_DEGREES + (_PREDICTED_DEGREES - _ISOTROPIC_DEGREES) * share
        covariance = (degrees * expected + n * self.observed) / (degrees + n)
        unpredicted = np.isnan(variance_ratio).any(axis=1)
        if unpredicted.any():
            covariance[unpredicted] = self._isotropic_covariance[unpredicted]
        return covariance

    @cached_property
    def _isotropic_covariance(self) -> Array:
        """Observed covariance shrunk to equal variances of forces and of torques, (G, m, m)."""
        n = self.types.effective_samples[:, None, None]
        power = self.types.by_channel(self.observed_power / np.maximum(self.types.counts, 1.0))
        isotropic = power[:, :, None] * np.eye(power.shape[1])
        weighted = _ISOTROPIC_DEGREES * isotropic + n * self.observed
        return weighted / (_ISOTROPIC_DEGREES + n)


def _fisher_scoring_step(covariance: Array, moments: Array) -> Array:
    """Take a Fisher-scoring step for the ratio r in C(r) = P + (r − 1) E (Fisher 1925).

    r⁺ = 1 + tr(C⁻¹ (S − P) C⁻¹ E) / tr(C⁻¹ E C⁻¹ E), with the observed covariance S.

    `covariance`: C at the current ratio, shape (C, k, k); `moments`: S − P and E, shape
    (2, C, k, k).
    """
    solved = _pseudoinverse(covariance) @ moments
    score, information = (solved * solved[1].swapaxes(1, 2)).sum(axis=(2, 3))
    return 1.0 + score / information


def _variance_inflation(
    variance_ratio: Array, degrees: Array, sensors: Indices, *, pooled: bool
) -> Array:
    """Shrink the variance ratios of the bands of a sensor to inflations that fall with frequency.

    Unmodelled drift and coloured noise are slow, so that the inflation does not increase with
    frequency: isotonic regression.

    `variance_ratio`: ratio of observed to predicted variance; NaN if not predicted, (G, K);
    `degrees`: degrees of freedom of the ratios, shape (G, K); `sensors`: groups of each sensor,
    block means first, then from slow to fast; −1 where it has fewer, shape (sensors, bands).
    Shape (sensors, bands, K).
    """
    exists, ratios = (sensors >= 0)[..., None], variance_ratio[sensors]
    predicted = exists & ~np.isnan(ratios)
    if not predicted.any():
        return np.ones(ratios.shape)
    degrees, ratios = np.where(predicted, (degrees[sensors], ratios), 0.0)
    total = np.maximum(degrees.sum(axis=1), 1.0)
    common = np.maximum((degrees * ratios).sum(axis=1) / total, 1.0)[:, None]
    if pooled:
        common_degrees = _POOLED_DEGREES * common
    else:
        common_degrees = _shrinkage_degrees(ratios[:, 1:], degrees[:, 1:])[:, None]
    total = common_degrees + degrees
    inflation = np.maximum((common_degrees * common + degrees * ratios) / total, 1.0)
    increases = ((inflation[:, 2:] > inflation[:, 1:-1]) & exists[:, 2:]).any(axis=1)
    for sensor, kind in np.argwhere(increases).tolist():
        bands = sensor, slice(1, None), kind
        weights = np.where(exists[sensor, 1:, 0], total[bands], 0.0)
        decreasing = _isotonic_decreasing(inflation[bands].tolist(), weights.tolist())
        inflation[bands] = np.maximum(decreasing, 1.0)
    return np.where(predicted.any(axis=(1, 2), keepdims=True), inflation, 1.0)


def _arrange_by_group(values: Array, sensors: Indices) -> Array:
    """Rearrange values from sensors and bands to groups of rows, (sensors, bands, K) to (G, K)."""
    exists = sensors >= 0
    by_group = np.ones((int(exists.sum()), values.shape[-1]))
    by_group[sensors[exists]] = values[exists]
    return by_group


def _shrinkage_degrees(variance_ratio: Array, degrees: Array) -> Array:
    """Estimate the degrees of freedom of the common inflation from its spread between bands.

    The variance τ² between bands beyond chance (DerSimonian and Laird 1986), relative to the square
    of their mean, corresponds to 2 / τ² degrees of freedom.

    `variance_ratio`: ratio of observed to predicted variance, shape (sensors, bands, K); `degrees`:
    degrees of freedom of the ratios, shape (sensors, bands, K).
    Shape (sensors, K).
    """
    least, most = _MIN_SHRINKAGE_DEGREES, _MAX_SHRINKAGE_DEGREES
    weights, bands = 0.5 * degrees, (degrees > 0.0).sum(axis=1)
    total = weights.sum(axis=1)
    total = np.where(total > 0.0, total, 1.0)
    common = (weights * variance_ratio).sum(axis=1) / total
    compared = (bands > 1) & (common > 0.0)
    deviation = variance_ratio / np.where(compared, common, 1.0)[:, None] - 1.0
    tau_squared = (weights * deviation**2).sum(axis=1) - (bands - 1.0)
    scale = np.where(compared, total - (weights**2).sum(axis=1) / total, 1.0)
    tau_squared = tau_squared / scale
    return np.where(compared, 2.0 / np.clip(tau_squared, 2.0 / most, 2.0 / least), least)


def _at_band_lower_edge(inflation: Array, bands: Indices) -> Array:
    """Interpolate the inflation at the lower edges of the bands, where most of the motion is.

    Between the middles of bands the inflation falls geometrically; block means come first.
    """
    if inflation.shape[1] < 3:
        return inflation
    falls = inflation[:, 1:-1] / inflation[:, 2:]
    ratio = np.minimum(np.sqrt(np.concatenate((falls[:, :1], falls), axis=1)), _MAX_EDGE_RATIO)
    ratio = np.where((bands > 2)[:, None, None], ratio, 1.0)
    return np.concatenate((inflation[:, :1], inflation[:, 1:] * ratio), axis=1)


def _isotonic_decreasing(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Fit non-increasing values by pool adjacent violators (Ayer and others 1955).

    Values of zero weight must come last; they do not change the others.
    """
    pools: list[tuple[float, float, int]] = []
    last_mean = np.inf
    last_weight = 0.0
    last_count = 0
    for mean, weight in zip(values, weights, strict=True):
        count = 1
        while last_mean < mean:
            total = last_weight + weight
            mean = (last_weight * last_mean + weight * mean) / max(total, _MIN_FLOAT)
            weight, count = total, last_count + count
            last_mean, last_weight, last_count = pools.pop()
        pools.append((last_mean, last_weight, last_count))
        last_mean = mean
        last_weight = weight
        last_count = count
    pools.append((last_mean, last_weight, last_count))
    return [mean for mean, _, count in pools for _ in range(count)]


def _trace(matrices: Array) -> Array:
    return np.einsum("gmm->g", matrices)


def _pseudoinverse(matrices: Array) -> Array:
    """Return pseudo-inverses of symmetric matrices; eigenvalues far below the largest are zero."""
    try:
        inverse = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrices, 1.0 / _MAX_CONDITION, hermitian=True)
    ill_conditioned = ~(np.abs(_trace(matrices) * _trace(inverse)) < _MAX_CONDITION)
    if ill_conditioned.any():
        inverse[ill_conditioned] = np.linalg.pinv(
            matrices[ill_conditioned], 1.0 / _MAX_CONDITION, hermitian=True
        )
    return inverse


def _scaled_inverse(covariance: Array, power: Array) -> Array:
    """Invert covariances (G, m, m) of powers of many orders of magnitude, via the correlation."""
    sigma = np.sqrt(power)
    products = sigma[:, :, None] * sigma[:, None, :]
    correlation = covariance / products
    np.einsum("gmm->gm", correlation)[:] = 1.0
    inverse = np.linalg.inv(correlation)
    return 0.5 * (inverse + inverse.swapaxes(-1, -2)) / products

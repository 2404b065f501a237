"""Weights of residuals by band: of what a fit leaves, and what noise of the signals makes.

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
from identify.estimation.initial_estimate import RESOLUTION, Channels, FitData, Kinds
from identify.significance import SIGNIFICANT_SIGMA

_PREDICTED = 100.0
"""Degrees of freedom of the predicted covariance of a group's residuals: what the noise of its
signals makes, at the size that is found. So many residuals count as much as it …"""

_DEGREES_OF_KIND = 30.0
"""… and so many, where nothing is predicted, as one size for each kind of channel."""

_SIZE_KNOWN = (3.0, 100.0)
"""Least and most degrees of freedom of the size that is common to all bands …"""

_SIZE_KNOWN_ALIKE = 10.0
"""… and in predictions, where bands are taken to be alike."""

_SCORINGS = 3
"""Steps towards the likeliest size: the next ones move it by less than it is known to."""

_MOST_AT_EDGE = 2.0
"""By how much a size is larger at the lower edge of its band at the most."""

_LEAST_INDEPENDENT = 1e-8
"""Share of each axis' residual variance that is taken to be independent of the other axes."""

_MOST_UNEVEN = 1e-4
"""Least residual of a channel, as a share of what it measured, over the largest of the others: an
exact torque beside a noisy force would outweigh it by more than double precision holds, and hide
what the force alone tells, the mass."""


_TINY = float(np.finfo(float).tiny)

_CONDITION = 1e9
"""From where on directions of a predicted covariance count as nothing."""


class Weighted(NamedTuple):
    """Weights of a fit by its residuals.

    Attributes:
        weights: W of each group, shape (G, m, m).
        fraction: share of the noise read off the signals that was taken to be there.
        beyond: what the covariance of residuals of each group by itself has beyond W⁻¹, likewise.
    """

    weights: Array
    fraction: float
    beyond: Array


def weighted_by_residuals(data: FitData, x: Array, leverage: Array) -> Weighted:
    """Compute the weights that the residuals of a fit call for.

    Args:
        data: system and equalities.
        x: the unknowns, shape (p,).
        leverage: effective samples that unknowns and offsets take of each group, shape (G,).
    """
    of = data.channels
    moments = data.system.residual_moments(x, data.scale_weights)
    left = of.effective_samples - leverage
    found = moments / np.maximum(left, 1.0)[:, None, None]
    predicted = data.system.noise_moments(x) / of.effective_samples[:, None, None]
    bands = Bands(found, predicted, of.wrench_noise, of.of_kind)
    fraction = _noise_fraction(of, bands, left)
    if fraction < 1.0:
        bands = replace(bands, predicted=fraction * predicted)
    weights, covariance = _residual_weights(of, bands)
    return Weighted(weights, fraction, bands.own_covariance(of.sensors) - covariance)


def _noise_fraction(of: Channels, bands: Bands, left: Array) -> float:
    """Share of the noise read off the signals that residuals have room for.

    A motion with fast parts of its own, and no noise, looks noisy; the residuals tell.

    Args:
        of: the groups of a fit.
        bands: their residuals, with all of the noise predicted.
        left: effective samples of each group without those of unknowns and offsets, shape (G,).
    """
    compared = (bands.made > 0.0) & (left >= 1.0)[:, None]
    if not bands.predicts or not compared.any():
        return 1.0
    number, names = np.maximum(of.kind, 0).ravel(), int(of.kind.max()) + 1
    degrees = np.where(compared, left[:, None] * of.of_kind.counts, 0.0).ravel()
    ratios = (bands.seen / np.where(compared, bands.made, np.inf)).ravel()
    by_kind = np.bincount(number, degrees, names)
    kinds = by_kind > 0.0
    mean = np.bincount(number, ratios * degrees, names)[kinds] / by_kind[kinds]
    room = float((mean * (1.0 + SIGNIFICANT_SIGMA * np.sqrt(2.0 / by_kind[kinds]))).max())
    return min(room, 1.0)


def _residual_weights(of: Channels, bands: Bands) -> tuple[Array, Array]:
    """W of each group from its residuals, and from what noise of the signals makes of them.

    Returns:
        The weights, and the covariances of residuals that they are the inverse of but for
        rounding, shape (G, m, m) each.
    """
    covariance = bands.cautious_covariance(of.sensors)
    power, squares = covariance.diagonal(0, 1, 2), of.squares
    # Residuals of all channels that move as one would make the weight singular.
    rounding = of.rounding + _LEAST_INDEPENDENT * power
    rounding += _MOST_UNEVEN**2 * (power / squares).max() * squares
    return _inverse(covariance, np.where(of.channels, power + rounding, 1.0)), covariance


@dataclass(frozen=True)
class Bands:
    """The residuals of all groups: what was found of them, and what was to be expected.

    Attributes:
        found: their covariance, shape (G, m, m).
        predicted: what noise of the signals makes of it, likewise.
        of_wrench: the part of that which noise of the wrench alone makes, likewise.
        kinds: of the channels.
    """

    found: Array
    predicted: Array
    of_wrench: Array
    kinds: Kinds

    @cached_property
    def predicts(self) -> bool:
        """Whether anything is predicted."""
        return bool(self.predicted.any())

    def cautious_covariance(self, sensors: Indices) -> Array:
        """The covariance of residuals where bands are taken to be alike, shape (G, m, m)."""
        if not self.predicts:
            return self._of_kinds
        sizes = _sizes(self.ratios, self.kinds.degrees, sensors, alike=True)
        return self.covariance(self.ratios, _of_groups(sizes, sensors))

    def own_covariance(self, sensors: Indices) -> Array:
        """The covariance that each group has by itself: weights are cautious, intervals hold."""
        if not self.predicts:
            return self._of_kinds
        apart = _sizes(self.ratios, self.kinds.degrees, sensors, alike=False)
        sizes = _at_lower_edges(apart, (sensors >= 0).sum(axis=1))
        return self.covariance(self.ratios, _of_groups(sizes, sensors))

    @cached_property
    def made(self) -> Array:
        """Power that was predicted of each kind, shape (G, K)."""
        return self.kinds.traces(self.predicted)

    @cached_property
    def seen(self) -> Array:
        """Power that was found of each kind, shape (G, K)."""
        return self.kinds.traces(self.found)

    @cached_property
    def excess(self) -> Array:
        """What there may be more of than is predicted, for each prediction more: (G, m, m).

        Drift and coloured noise are the sensor's: the more of a prediction is its noise, the more
        the excess has that noise's shape. It has the power of the prediction, kind by kind.
        """
        share = self.kinds.traces(self.of_wrench) / np.where(self.made > 0.0, self.made, np.inf)
        root = np.sqrt(self.kinds.by_channel(np.maximum(1.0 - share, 0.0)))
        return self.of_wrench + root[:, :, None] * root[:, None, :] * self.predicted

    @cached_property
    def ratios(self) -> Array:
        """Size of what was found, in predictions, of each kind; NaN where nothing was predicted.

        Returns:
            Shape (G, K); one for kinds that a group does not have.
        """
        ratios = np.where(self.kinds.counts > 0.0, np.nan, 1.0)
        group, kind, channels, own = self.kinds.blocks
        told = (self.made > RESOLUTION * self.seen)[group, kind]
        if not told.any():
            return ratios
        if not told.all():
            group, kind, channels, own = group[told], kind[told], channels[told], own[told]
        # The channels of each kind alone, where it has fewer than others one on the diagonal.
        blocks = group[:, None, None], channels[:, :, None], channels[:, None, :]
        P, E, found = (of[blocks] for of in (self.predicted, self.excess, self.found))
        others = 0.0
        if not own.all():
            both = own[:, :, None] * own[:, None, :]
            P, E, found = both * P, both * E, both * found
            power = self.made[group, kind][:, None] * (1.0 - own)
            others = power[:, :, None] * np.eye(own.shape[1])
        P, compared = P + others, np.array((found - P, E))
        size = _scored(P, compared)
        for _ in range(_SCORINGS - 1):  # sizes of one and less score as they did
            larger = np.flatnonzero(size > 1.0)
            if not len(larger):
                break
            more = compared[:, larger]
            at = P[larger] + (size[larger] - 1.0)[:, None, None] * more[1]
            size[larger] = _scored(at, more)
        ratios[group, kind] = np.maximum(size, 0.0)
        return ratios

    def covariance(self, ratios: Array, sizes: Array) -> Array:
        """What was found, shrunk towards the prediction at the size it has, or one size a kind.

        Args:
            ratios: sizes found, shape (G, K).
            sizes: taken, likewise.
        """
        n, channels = self.kinds.effective_samples[:, None, None], self.kinds.channels
        size = np.where(channels > 0.0, self.kinds.by_channel(sizes), 1.0)
        more = np.sqrt(size - 1.0)
        expected = self.predicted + self.excess * (more[:, :, None] * more[:, None, :])
        # The less of it is predicted, the less is known of its shape.
        settled = (channels / size).sum(axis=1) / self.kinds.counts.sum(axis=1)
        known = _DEGREES_OF_KIND + (_PREDICTED - _DEGREES_OF_KIND) * settled[:, None, None]
        covariance = (known * expected + n * self.found) / (known + n)
        unpredicted = np.isnan(ratios).any(axis=1)
        if unpredicted.any():
            covariance[unpredicted] = self._of_kinds[unpredicted]
        return covariance

    @cached_property
    def _of_kinds(self) -> Array:
        """What was found, shrunk towards one size a kind, shape (G, m, m)."""
        n = self.kinds.effective_samples[:, None, None]
        power = self.kinds.by_channel(self.seen / np.maximum(self.kinds.counts, 1.0))
        alike = power[:, :, None] * np.eye(power.shape[1])
        return (_DEGREES_OF_KIND * alike + n * self.found) / (_DEGREES_OF_KIND + n)


def _scored(covariance: Array, compared: Array) -> Array:
    """A step towards the likeliest size of predictions, by its likelihood's score (Fisher 1925).

    Args:
        covariance: at the size that the step is from, shape (C, k, k).
        compared: what was found beyond the prediction, and what is more of it, (2, C, k, k).
    """
    turned = _pseudoinverse(covariance) @ compared
    beyond, each = (turned * turned[1].swapaxes(1, 2)).sum(axis=(2, 3))
    return 1.0 + beyond / each


def _sizes(ratios: Array, degrees: Array, sensors: Indices, *, alike: bool) -> Array:
    """Sizes of the residuals of each sensor's bands, in predictions, by kind.

    What noise of the signals does not predict, drift and coloured noise, is slow: sizes do not grow
    with frequency. Bands that would have it otherwise share one.

    Args:
        ratios: sizes found, in predictions; NaN where nothing was predicted, shape (G, K).
        degrees: of freedom behind them, likewise.
        sensors: groups of each, the mean of blocks first, then from slow to fast; −1 where a sensor
            has fewer, shape (sensors, bands).
        alike: whether the bands are taken to be the more alike, the more there is that noise does
            not predict: it may be the model that fails, and then it fails in all of them.

    Returns:
        Shape (sensors, bands, K).
    """
    there, ratios = (sensors >= 0)[..., None], ratios[sensors]
    predicted = there & ~np.isnan(ratios)
    if not predicted.any():
        return np.ones(ratios.shape)
    degrees, ratios = np.where(predicted, (degrees[sensors], ratios), 0.0)
    total = np.maximum(degrees.sum(axis=1), 1.0)
    common = np.maximum((degrees * ratios).sum(axis=1) / total, 1.0)[:, None]
    if alike:
        known = _SIZE_KNOWN_ALIKE * common
    else:
        known = _degrees_of_common(ratios[:, 1:], degrees[:, 1:])[:, None]
    total = known + degrees
    sizes = np.maximum((known * common + degrees * ratios) / total, 1.0)
    grow = ((sizes[:, 2:] > sizes[:, 1:-1]) & there[:, 2:]).any(axis=1)
    for sensor, kind in np.argwhere(grow).tolist():
        own = sensor, slice(1, None), kind
        weights = np.where(there[sensor, 1:, 0], total[own], 0.0)  # what is not there has none
        sizes[own] = np.maximum(_not_growing(sizes[own].tolist(), weights.tolist()), 1.0)
    return np.where(predicted.any(axis=(1, 2), keepdims=True), sizes, 1.0)


def _of_groups(sizes: Array, sensors: Indices) -> Array:
    """Sizes of each sensor's bands as those of each group, (sensors, bands, K) to (G, K)."""
    there = sensors >= 0
    found = np.ones((int(there.sum()), sizes.shape[-1]))
    found[sensors[there]] = sizes[there]
    return found


def _degrees_of_common(ratios: Array, degrees: Array) -> Array:
    """Degrees of freedom of the common size: the more, the less bands differ.

    Chance alone makes sizes differ. What they differ by beyond it is theirs (DerSimonian and Laird
    1986), and sizes that vary by τ² of their square are known as of 2 / τ² degrees of freedom.

    Args:
        ratios: sizes found, in predictions, shape (sensors, bands, K).
        degrees: of freedom behind them, likewise.

    Returns:
        Shape (sensors, K).
    """
    least, most = _SIZE_KNOWN
    weights, several = 0.5 * degrees, (degrees > 0.0).sum(axis=1)
    total = weights.sum(axis=1)
    total = np.where(total > 0.0, total, 1.0)
    common = (weights * ratios).sum(axis=1) / total
    compared = (several > 1) & (common > 0.0)
    away = ratios / np.where(compared, common, 1.0)[:, None] - 1.0
    own = (weights * away**2).sum(axis=1) - (several - 1.0)
    own = own / np.where(compared, total - (weights**2).sum(axis=1) / total, 1.0)
    return np.where(compared, 2.0 / np.clip(own, 2.0 / most, 2.0 / least), least)


def _at_lower_edges(sizes: Array, bands: Indices) -> Array:
    """Sizes of bands at their lower edges: what motion there is stands there.

    Between the middles of bands sizes fall as those of neighbours do.

    Args:
        sizes: of each sensor's bands, the mean of blocks first, shape (sensors, bands, K).
        bands: how many of them each sensor has, shape (sensors,).
    """
    if sizes.shape[1] < 3:
        return sizes
    falls = sizes[:, 1:-1] / sizes[:, 2:]
    grown = np.minimum(np.sqrt(np.concatenate((falls[:, :1], falls), axis=1)), _MOST_AT_EDGE)
    grown = np.where((bands > 2)[:, None, None], grown, 1.0)
    return np.concatenate((sizes[:, :1], sizes[:, 1:] * grown), axis=1)


def _not_growing(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Nearest values that do not grow: neighbours that do share their mean (Ayer and others 1955).

    Those of no weight stand last, and change nothing.
    """
    shared: list[tuple[float, float, int]] = []
    before, own, many = np.inf, 0.0, 0
    for mean, total in zip(values, weights, strict=True):
        count = 1
        while before < mean:
            mean = (own * before + total * mean) / max(own + total, _TINY)
            total, count = own + total, many + count
            before, own, many = shared.pop()
        shared.append((before, own, many))
        before, own, many = mean, total, count
    shared.append((before, own, many))
    return [mean for mean, _, count in shared for _ in range(count)]


def _trace(matrices: Array) -> Array:
    return np.einsum("gmm->g", matrices)


def _pseudoinverse(matrices: Array) -> Array:
    """Of symmetric matrices; directions far below the largest count as nothing."""
    try:
        inverse = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrices, 1.0 / _CONDITION, hermitian=True)
    poor = ~(np.abs(_trace(matrices) * _trace(inverse)) < _CONDITION)
    if poor.any():
        inverse[poor] = np.linalg.pinv(matrices[poor], 1.0 / _CONDITION, hermitian=True)
    return inverse


def _inverse(covariance: Array, power: Array) -> Array:
    """Of covariances whose entries differ by orders of magnitude: through the correlation.

    Args:
        covariance: but for the diagonal, shape (G, m, m).
        power: the diagonal, shape (G, m).
    """
    sigma = np.sqrt(power)
    products = sigma[:, :, None] * sigma[:, None, :]
    correlation = covariance / products
    np.einsum("gmm->gm", correlation)[:] = 1.0
    inverse = np.linalg.inv(correlation)
    return 0.5 * (inverse + inverse.swapaxes(-1, -2)) / products

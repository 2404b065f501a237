"""Weights of residuals by band: of what a fit leaves, and what noise of the signals makes.

Fisher, "Theory of statistical estimation" (1925).
DerSimonian and Laird, "Meta-analysis in clinical trials" (1986).
Ayer, Brunk, Ewing, Reid and Silverman, "An empirical distribution function for sampling with
    incomplete information" (1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array
from identify.estimation.initial_estimate import FitData
from identify.regressors.system import GroupEquations

_PREDICTED = 100.0
"""Degrees of freedom of the predicted covariance of a group's residuals: what the noise of its
signals makes, at the size that is found. So many residuals count as much as it …"""

_KINDS = 30.0
"""… and so many, where nothing is predicted, as one size for each kind of channel."""

_SIZE_KNOWN = (3.0, 100.0)
"""Least and most degrees of freedom of the size that is common to all bands …"""

_SIZE_KNOWN_ALIKE = 10.0
"""… and in predictions, where bands are taken to be alike."""

_SCORINGS = 3
"""Steps towards the likeliest size: the next ones move it by less than it is known to."""

_MOST_AT_EDGE = 2.0
"""By how much a size is larger at the lower edge of its band at the most."""

_SURELY = 4.0
"""Standard errors by which the residuals have to be smaller than the noise that was read off the
signals for less of it to be there."""

_LEAST_INDEPENDENT = 1e-8
"""Share of each axis' residual variance that is taken to be independent of the other axes."""

RESOLUTION = 1e-9
"""Residuals below this share of what was measured are rounding, and weigh no more than it."""

_MOST_UNEVEN = 1e-5
"""Least residual of a channel, as a share of what it measured, over the largest of the others: an
exact torque beside a noisy force would outweigh it by more than double precision holds, and hide
what the force alone tells, the mass."""


def noise_fraction(
    data: FitData, x: Array, moments: Sequence[Array], leverages: Sequence[float]
) -> float:
    """Share of the noise read off the signals that the residuals leave room for, at most one.

    A motion with fast parts of its own, and no noise, looks noisy; the residuals tell.
    """
    ratios: dict[str, list[tuple[float, float]]] = {}
    for group, moment, predicted, leverage in zip(
        data.system.groups, moments, data.system.noise_moments(x), leverages, strict=True
    ):
        left = group.effective_samples - leverage
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


def residual_weights(
    data: FitData,
    x: Array,
    moments: Sequence[Array],
    leverages: Sequence[float],
    fraction: float,
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """W of each group from the residuals at x, and from what noise of the signals makes there.

    Args:
        data: system and scales.
        x: unknowns, shape (p,).
        moments: Σ r rᵀ of each group at x, shape (m, m) each.
        leverages: effective samples of each group that unknowns and offsets take.
        fraction: of the noise read off the signals that is there.

    Returns:
        The weights, and W (C − W⁻¹) W with the covariance C that each group has by itself: weights
        are cautious, intervals are to hold.
    """
    system = data.system
    predicted = [fraction * moment for moment in system.noise_moments(x)]
    covariances: list[Array] = [np.empty(0)] * len(system.groups)
    found = list(covariances)
    for sensor in (sensor for sensors in system.sensors for sensor in sensors):
        bands = [_Band.of(system.groups[g], moments[g], predicted[g], leverages[g]) for g in sensor]
        own_sizes = _at_lower_edges(_sizes(bands, alike=False))
        sizes = zip(_sizes(bands, alike=True), own_sizes, strict=True)
        for g, band, (size, own) in zip(sensor, bands, sizes, strict=True):
            covariances[g], found[g] = band.covariance(size), band.covariance(own)
    pairs = list(zip(covariances, data.scales, strict=True))
    largest = max(float((np.diag(C) / scale**2).max()) for C, scale in pairs)
    weights = []
    for group, (covariance, scale) in zip(system.groups, pairs, strict=True):
        # What was measured bounds a residual that is nothing but rounding.
        rounding = (RESOLUTION * scale) ** 2 * group.samples / group.effective_samples
        # Residuals of all channels that move as one would make the weight singular.
        rounding = rounding + _LEAST_INDEPENDENT * np.diag(covariance)
        rounding = rounding + _MOST_UNEVEN**2 * largest * scale**2
        weights.append(_inverse(covariance + np.diag(rounding)))
    spreads = tuple(
        weight @ (own - covariance) @ weight
        for weight, own, covariance in zip(weights, found, covariances, strict=True)
    )
    return tuple(weights), spreads


@dataclass(frozen=True)
class _Band:
    """The residuals of a group: what was found of them, and what was to be expected.

    Attributes:
        found: their covariance, shape (m, m).
        predicted: what noise of the signals makes of it, likewise.
        of_wrench: what noise of the wrench alone makes of it, likewise.
        effective_samples: how many they are.
        kinds: of the channels, shape (m,).
    """

    found: Array
    predicted: Array
    of_wrench: Array
    effective_samples: float
    kinds: NDArray[np.str_]

    @classmethod
    def of(cls, group: GroupEquations, moment: Array, predicted: Array, leverage: float) -> _Band:
        n = group.effective_samples
        kinds = np.array(group.group.kinds)
        rows = group.noise[..., 0]
        return cls(moment / max(n - leverage, 1.0), predicted / n, rows.T @ rows / n, n, kinds)

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
    def excess(self) -> Array:
        """What there may be more of than is predicted, for each prediction more.

        Drift and coloured noise are the sensor's: the more of a prediction is its noise, the more
        the excess has that noise's shape. It has the power of the prediction, kind by kind.
        """
        left = np.ones(len(self.kinds))
        for kind in self.names:
            own = self.kinds == kind
            whole = float(np.trace(self.predicted[np.ix_(own, own)]))
            of_wrench = float(np.trace(self.of_wrench[np.ix_(own, own)]))
            left[own] = max(1.0 - of_wrench / whole, 0.0) if whole > 0.0 else 1.0
        return self.of_wrench + np.sqrt(np.outer(left, left)) * self.predicted

    @cached_property
    def ratios(self) -> Array:
        """Size of what was found, in predictions, of each kind; NaN where nothing was predicted."""
        ratios = np.full(len(self.names), np.nan)
        for number, kind in enumerate(self.names):
            own = np.ix_(self.kinds == kind, self.kinds == kind)
            P, found, E = self.predicted[own], self.found[own], self.excess[own]
            if np.trace(P) <= RESOLUTION * np.trace(found):
                continue
            size = 1.0
            for _ in range(_SCORINGS):  # of the likelihood of a size (Fisher 1925)
                V = P + max(size - 1.0, 0.0) * E
                per = np.linalg.lstsq(V, E, rcond=1e-9)[0]
                left = np.linalg.lstsq(V, found - P, rcond=1e-9)[0]
                size = 1.0 + float(np.trace(per @ left) / np.trace(per @ per))
            ratios[number] = max(size, 0.0)
        return ratios

    def covariance(self, sizes: Array) -> Array:
        """What was found, shrunk towards the prediction at the size it has, or one size a kind."""
        n = self.effective_samples
        if np.isnan(self.ratios).any():
            power = np.diag(self.found)
            expected = np.diag([power[self.kinds == kind].mean() for kind in self.kinds])
            return (_KINDS * expected + n * self.found) / (_KINDS + n)
        size = np.array([sizes[self.names.index(kind)] for kind in self.kinds])
        more = np.sqrt(size - 1.0)
        expected = self.predicted + self.excess * np.outer(more, more)
        # The less of it is predicted, the less is known of its shape.
        known = _KINDS + (_PREDICTED - _KINDS) * float(np.mean(1.0 / size))
        return (known * expected + n * self.found) / (known + n)


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
    if np.isnan(ratios).all():
        return np.ones(ratios.shape)
    degrees = np.where(np.isnan(ratios), 0.0, [band.degrees for band in bands])
    ratios = np.nan_to_num(ratios)
    common = np.maximum((degrees * ratios).sum(axis=0) / np.maximum(degrees.sum(axis=0), 1.0), 1.0)
    known = _SIZE_KNOWN_ALIKE * common if alike else _degrees_of_common(ratios[1:], degrees[1:])
    total = known + degrees
    sizes = np.maximum((known * common + degrees * ratios) / total, 1.0)
    for kind in range(len(common)):
        sizes[1:, kind] = _not_growing(sizes[1:, kind], total[1:, kind])
    return sizes


def _degrees_of_common(ratios: Array, degrees: Array) -> Array:
    """Degrees of freedom of the common size: the more, the less bands differ.

    Chance alone makes sizes differ. What they differ by beyond it is theirs (DerSimonian and Laird
    1986), and sizes that vary by τ² of their square are known as of 2 / τ² degrees of freedom.

    Args:
        ratios: sizes found, in predictions, shape (bands, kinds).
        degrees: of freedom behind them, likewise.

    Returns:
        Shape (kinds,).
    """
    least, most = _SIZE_KNOWN
    known = np.full(ratios.shape[1], least)
    for kind in np.flatnonzero((degrees > 0.0).sum(axis=0) > 1):
        weights, ratio = 0.5 * degrees[:, kind], ratios[:, kind]
        common = float(np.average(ratio, weights=weights))
        if common > 0.0:
            scatter = float(weights @ (ratio / common - 1.0) ** 2)
            own = scatter - float((weights > 0.0).sum() - 1)
            own /= float(weights.sum() - weights @ weights / weights.sum())
            known[kind] = 2.0 / np.clip(own, 2.0 / most, 2.0 / least)
    return known


def _at_lower_edges(sizes: Array) -> Array:
    """Sizes of bands at their lower edges: what motion there is stands there.

    Between the middles of bands sizes fall as those of neighbours do.

    Args:
        sizes: the mean of blocks first, shape (bands, kinds).
    """
    if len(sizes) < 3:
        return sizes
    falls = sizes[1:-1] / sizes[2:]
    grown = np.sqrt(np.concatenate((falls[:1], falls)))
    return np.concatenate((sizes[:1], sizes[1:] * np.minimum(grown, _MOST_AT_EDGE)))


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

"""How well one body explains a log: a likelihood by which readings of it are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from identify.arrays import Array, Phi, Vec3
from identify.inertia import pseudo_inertia
from identify.inertia.consistency import MAX_DENSITY, density_lower_bound
from identify.regressors import FEATURE_TENSOR, Statistics
from identify.signals.transform import CONSTANT
from identify.spatial.columns import (
    FIT_COLUMNS,
    FORCE_AXES,
    PSI,
    RT,
    TORQUE_AXES,
    W,
    without_constant,
)

_REWEIGHTINGS = 4
"""Times that weights are taken from the residuals: it settles to far less than what is compared."""

_RESOLUTION = 1e-5
"""Residuals below this share of what was measured are those of derivatives, not of a reading."""

_NOISY = 0.25
"""Share of noise in a band's motion from which on the band is left out: there a reading without the
motion would explain more than the right one."""

_IMPOSSIBLE = 100.0
"""Twice the log-likelihood that a body of surely more than that loses."""

_NEGATIVE = 15.0
"""And one with a negative moment, at the most: noise in the motion, which is not taken off here,
makes the moments of slender bodies so, and that alone is to decide nothing."""

_THIN = 0.02
"""Share of the mean second moment that one may be below zero, as a rod's may by any bias."""

_FEW_SAMPLES = 10.0
"""Effective samples of a band below which its noise is no less than that of the quietest of those
with more: a body and a fault have enough numbers to leave nothing of a few."""

_PRIOR_SAMPLES = 12.0
"""Weight of independent axes beside the samples of a residual's covariance: of fewer than some
twenty, as of still poses, its 21 numbers are known so badly that any fault seems likelier."""

_UNKNOWN = 1e-11
"""Share of an unknown's information below which it is rounding."""

_NO_INFORMATION = 1e-100
"""Information of a log in which nothing tells a body."""

_HALF = FORCE_AXES, TORQUE_AXES

_PSI, _W = without_constant(PSI), without_constant(W)
"""Columns of the features and of the wrench where the constant is left out."""


@dataclass(frozen=True, slots=True)
class BandRows:
    """Rows of one log, by band, as triangular factors, the sensor's offset eliminated.

    Attributes:
        bands: numbers of the groups.
        factors: of each, without the constant, shape (bands, K, K − 1).
        samples: effective ones of each, shape (bands,).
    """

    bands: tuple[int, ...]
    factors: Array
    samples: Array

    @classmethod
    def of(cls, statistics: Statistics, bands: Sequence[int] | None = None) -> BandRows:
        """Those of the statistics of a log, of all bands or of some."""
        (counts,) = statistics.sum_over_blocks(statistics.effective_samples)
        found = np.flatnonzero(counts) if bands is None else np.array(bands, dtype=np.intp)
        samples = counts[found] - (found == CONSTANT)
        found, samples = found[samples >= 1.0], samples[samples >= 1.0]
        factors = statistics.totals[0, found][:, :, 1:].copy()
        factors[found == CONSTANT, 0] = 0.0  # the row on which an offset acts
        return cls(tuple(found.tolist()), factors, samples)

    @property
    def measures_wrench(self) -> bool:
        """Whether force and torque are there to be explained: in free flight there is none."""
        return all(self.factors[:, :, _W][..., half].any() for half in _HALF)

    def shared(self, other: BandRows) -> BandRows:
        """Those of the bands that the other has too."""
        kept = [k for k, band in enumerate(self.bands) if band in other.bands]
        bands = tuple(self.bands[k] for k in kept)
        return BandRows(bands, self.factors[kept], self.samples[kept])

    def mapped(self, M: Array | None) -> BandRows:
        """Those of z M in place of z, M of shape (K, K′); as they are without one."""
        if M is None:
            return self
        own = M[1 : 1 + self.factors.shape[2], 1:]
        return BandRows(self.bands, self.factors @ own, self.samples)


def clear_bands(statistics: Statistics, gravity: Vec3) -> tuple[int, ...]:
    """The groups of a log whose motion is seen above its noise; all where none is.

    Args:
        statistics: wide, of the log.
        gravity: g in W [m/s²].
    """
    moving = np.zeros((len(statistics.layout.columns), 6))
    moving[PSI, :][:6] = np.eye(6)
    moving[RT, :3] = np.kron(np.eye(3), np.asarray(gravity)[:, None])
    (counts,) = statistics.sum_over_blocks(statistics.effective_samples)
    bands = [b for b in np.flatnonzero(counts).tolist() if b != CONSTANT]
    clear = []
    for band in bands:
        signal = np.sum((statistics.totals[0, band] @ moving) ** 2, axis=0)
        noise = np.sum((statistics.noise_rows[0, band] @ moving) ** 2, axis=0)
        if all(noise[part].sum() <= _NOISY * signal[part].sum() for part in _HALF):
            clear.append(band)
    return (*(CONSTANT,) * bool(counts[CONSTANT]), *(clear or bands))


@dataclass(frozen=True, slots=True)
class Misfit:
    """How well one body explains logs.

    Attributes:
        cost: minus twice the log-likelihood of the wrench as it is mapped, and what an impossible
            body costs.
        phi: the body, by weighted least squares.
        weights: inverse covariance of the residual of each band, log after log, shape (n, 6, 6).
        density: of the body at the least [kg/m³].
    """

    cost: float
    phi: Phi
    weights: Array
    density: float


def misfit(logs: Sequence[BandRows], *, scale: float = 1.0) -> Misfit:
    """Fit one body to logs, the residual of each with a covariance and a size in each band.

    Args:
        logs: their rows.
        scale: least factor by which the wrench, and with it the density, may be smaller; zero where
            its unit is unknown and the density says nothing.
    """
    Z = stacked(logs)[:, :, : FIT_COLUMNS - 1]
    n = np.concatenate([log.samples for log in logs])
    G = Z.swapaxes(1, 2) @ Z
    measured = G[:, _W, _W]
    power = np.diag(measured.sum(axis=0)) / n.sum()
    power = np.repeat([max(power[part].mean(), np.finfo(float).tiny) for part in _HALF], 3)
    floor = np.diag(_RESOLUTION**2 * power)
    covariances = np.broadcast_to(np.diag(power), (len(n), 6, 6))
    phi, covariance = np.zeros(10), np.eye(10)
    spread = np.empty_like(covariances)
    for _ in range(_REWEIGHTINGS):
        phi, covariance = _solved(G, np.linalg.inv(covariances))
        spread = _residuals(Z, phi) / n[:, None, None] + floor
        covariances = _covariances(spread, n)
    inverse = np.linalg.inv(covariances)
    cost = n @ (np.linalg.slogdet(covariances)[1] + np.einsum("bij,bji->b", inverse, spread))
    density = density_lower_bound(phi, covariance)
    # No number where the second moment is surely negative: so small is that of no body either.
    too_dense = scale > 0.0 and not scale * density <= MAX_DENSITY
    cost += _impossible(phi, covariance) + _IMPOSSIBLE * too_dense
    return Misfit(float(cost), phi, inverse, density)


def _solved(G: Array, weights: Array) -> tuple[Phi, Array]:
    """Weighted least squares, the shortest where it is not unique, and its covariance."""
    F = FEATURE_TENSOR.reshape(72, 10)
    weighted = np.matmul(weights[:, None], FEATURE_TENSOR)
    crossed = G[:, _PSI, _PSI] @ weighted.reshape(-1, 12, 60)
    N = F.T @ crossed.sum(axis=0).reshape(72, 10)
    b = G[:, _PSI, _W].reshape(-1) @ weighted.reshape(-1, 10)
    covariance = inverse_information(N)
    return covariance @ b, covariance


def inverse_information(N: Array) -> Array:
    """Of an information matrix; what it does not know is hardly known after it, and stays small."""
    scale = np.sqrt(np.maximum(np.diag(N), 1e-20 * max(N.max(), _NO_INFORMATION)))
    known = N / np.outer(scale, scale) + _UNKNOWN * np.eye(len(N))
    return np.linalg.inv(known) / np.outer(scale, scale)


def stacked(logs: Sequence[BandRows]) -> Array:
    """Factors of the bands of logs one after the other, padded to one height, (n, K, columns)."""
    factors = [log.factors for log in logs]
    height = max(each.shape[1] for each in factors)
    if all(each.shape[1] == height for each in factors):
        return np.concatenate(factors)
    return np.concatenate(
        [np.pad(each, ((0, 0), (0, height - each.shape[1]), (0, 0))) for each in factors]
    )


def _residuals(Z: Array, phi: Phi) -> Array:
    """Σ r rᵀ of each band, r = w − Y φ, shape (bands, 6, 6)."""
    r = Z @ np.concatenate((-FEATURE_TENSOR @ phi, np.eye(6)))
    return r.swapaxes(1, 2) @ r


def _covariances(spread: Array, n: Array) -> Array:
    """One correlation for all bands, and sizes of force and torque in each, by likelihood.

    The correlation is drawn to none by as much as few samples tell of it.
    """
    common = _shrunk((n @ spread.reshape(-1, 36)).reshape(6, 6) / n.sum(), n.sum())
    sizes, many = np.ones((len(n), 6)), n >= min(_FEW_SAMPLES, n.max())
    for _ in range(2):
        inverse = np.linalg.inv(np.array([common[part, part] for part in _HALF]))
        for part, own in zip(_HALF, inverse, strict=True):
            size = spread[:, part, part].reshape(-1, 9) @ own.T.reshape(9) / 3.0
            size[~many] = np.maximum(size[~many], size[many].min())
            sizes[:, part] = np.sqrt(size)[:, None]
        whitened = spread / sizes[:, :, None] / sizes[:, None, :]
        common = _shrunk((n @ whitened.reshape(-1, 36)).reshape(6, 6) / n.sum(), n.sum())
    return sizes[:, :, None] * common * sizes[:, None, :]


def _shrunk(covariance: Array, samples: float) -> Array:
    """A covariance of so many samples, drawn to that of independent axes of force and of torque."""
    independent = np.diag(np.repeat([np.mean(np.diag(covariance)[part]) for part in _HALF], 3))
    return (samples * covariance + _PRIOR_SAMPLES * independent) / (samples + _PRIOR_SAMPLES)


def _impossible(phi: Phi, covariance: Array) -> float:
    """z² of a negative mass or second moment."""
    worst = _squares_below_zero(phi[0], np.eye(10)[0], covariance)
    values, gradient = pseudo_spectrum(phi)
    short = float(values[0]) + _THIN * max(float(values.mean()), 0.0)
    return worst + min(_squares_below_zero(short, gradient, covariance), _NEGATIVE)


def pseudo_spectrum(phi: Phi) -> tuple[Array, Array]:
    """Eigenvalues of Π in units of the body's own length, and how φ changes the least of them.

    Args:
        phi: of any body, possible or not, shape (10,).

    Returns:
        Ascending, shape (4,), and the derivative of the first, shape (10,).
    """
    Pi = pseudo_inertia(phi)
    length = np.sqrt(max(np.trace(Pi[:3, :3]), 1e-12) / max(abs(phi[0]), 1e-12))
    units = np.array([1.0, 1.0, 1.0, length]) / length
    values, vectors = np.linalg.eigh(Pi * np.outer(units, units))
    v = vectors[:, 0] * units
    return values, _of_units() @ v @ v


@lru_cache(maxsize=1)
def _of_units() -> Array:
    """∂Π/∂φ, shape (10, 4, 4): the pseudo-inertia is linear in the parameters."""
    return pseudo_inertia(np.eye(10))


def _squares_below_zero(value: float, gradient: Array, covariance: Array) -> float:
    variance = float(gradient @ covariance @ gradient)
    return value**2 / max(variance, np.finfo(float).tiny) if value < 0.0 else 0.0

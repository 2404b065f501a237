"""The noise of a log's signals, read off their high band, and the roots of what it does to rows.

Welch, "The use of fast Fourier transform for the estimation of power spectra" (1967).
Wilson and Hilferty, "The distribution of chi-square" (1931).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Indices
from identify.signals.differentiator import Differentiator
from identify.signals.kinematics import Samples, SignalDerivative
from identify.signals.propagation import propagate
from identify.signals.transform import SAMPLE, BlockTransform, derivative_gains
from identify.spatial import quaternion_product
from identify.spatial.columns import FIRST_AXES, RATE_PRODUCTS, SECOND_AXES
from identify.spatial.rotations import normalised_quaternion, quaternion_conjugate

_MIN_ATTENUATION = 0.25
"""The noise is read where the differentiator takes this share of its power off, or more …"""

_NOISE_BAND_RATIO = 3.0
"""… up to so many times that frequency: a filtered signal has less noise far above its motion …"""

_MAX_NYQUIST_SHARE = 0.9
"""… and below this share of half the sampling rate."""

_SPECTRUM_SAMPLES = 1024

_SAMPLES_PER_BLOCK = 64
"""Samples of a block at which noise is propagated, at the most …"""

_BLOCKS_AT_ONCE = 16
"""… and blocks of which it is propagated at once."""


@dataclass(frozen=True, slots=True)
class SignalNoise:
    """White noise of the signals of a log, sample by sample.

    Attributes:
        names: of the signals; that of "quaternion" is a rotation vector in B [rad].
        covariance: of all their components, in SI, shape (3 · names, 3 · names).
    """

    names: tuple[str, ...]
    covariance: Array

    def of(self, ways: tuple[SignalDerivative, ...]) -> Array:
        """Covariance of the signals of some ways, shape (3 · ways, 3 · ways)."""
        columns = [3 * self.names.index(name) + axis for name, _ in ways for axis in range(3)]
        return self.covariance[np.ix_(columns, columns)]


def signal_noise(
    signals: Mapping[str, Array], rate_hz: float, differentiator: Differentiator
) -> SignalNoise:
    """Read the noise of evenly sampled signals off the band where nothing moves.

    What the differentiator's smoothing takes off a signal is its noise there. Sizes come from the
    median of its power spectrum, so that lines of vibration do not count. Of rows too few to have
    such a band it is zero: what a fit leaves is all there is to go by.

    Args:
        signals: by name, shape (n, 3), quaternions (n, 4).
        rate_hz: their rate.
        differentiator: its smoothing passes the motion.
    """
    edge, value = differentiator.half_window, differentiator.kernels[0]
    columns = []
    for name, signal in signals.items():
        inner, smooth = signal[edge : len(signal) - edge], differentiator.apply(signal, 0)
        if name == "quaternion":
            back = quaternion_conjugate(normalised_quaternion(smooth))
            columns.append(2.0 * quaternion_product(back, inner)[:, :3])
        else:
            columns.append(inner - smooth)
    rest = np.concatenate(columns, axis=1)
    frequency, power, averaged = power_spectrum(rest, rate_hz)
    taken_off = np.abs(1.0 - _real_response(value, frequency / rate_hz)) ** 2
    seen = (taken_off > _MIN_ATTENUATION) & (frequency <= _MAX_NYQUIST_SHARE * 0.5 * rate_hz)
    seen &= (
        frequency
        < _NOISE_BAND_RATIO * frequency[np.argmax(taken_off > _MIN_ATTENUATION)]
        + 0.5 * frequency[1]
    )
    if not seen.any():  # so few rows that no frequency is above the motion's
        width = rest.shape[1]
        return SignalNoise(tuple(signals), np.zeros((width, width)))
    # Averaged over few windows, a median is below the mean (Wilson and Hilferty 1931).
    level = np.median(power[seen] / taken_off[seen, None], axis=0)
    variance = level / (1.0 - 1.0 / (9.0 * averaged)) ** 3 * (0.5 * rate_hz)
    sigma = np.sqrt(np.mean(rest**2, axis=0))
    unit = rest / np.where(sigma > 0.0, sigma, 1.0)
    correlation = unit.T @ unit / len(unit)
    size = np.sqrt(variance)
    return SignalNoise(tuple(signals), correlation * np.outer(size, size))


def rate_product_bias(noise: SignalNoise, differentiator: Differentiator) -> Array:
    """What noise in ω adds to the mean of its six products, shape (6,)."""
    name, kernel = _rate_derivative(noise)
    of_rates = noise.of(((name, kernel),))
    power = 1.0 if kernel == SAMPLE else float(np.sum(differentiator.kernels[kernel] ** 2))
    return power * of_rates[FIRST_AXES, SECOND_AXES]


def noise_moments(
    samples: Samples, noise: SignalNoise, blocks: Sequence[tuple[BlockTransform, slice]]
) -> Iterator[dict[int, Array]]:
    """Covariance of the noise of [ψ, w] in a row of a block, by group of rows.

    Averaged over the time of the block and the rows of the group.

    Args:
        samples: of the segment, whose columns were formed.
        noise: of its signals.
        blocks: which of the samples each block has, with its transform.

    Yields:
        Of each block, shape (18, 18) each, or (42, 42) of wide columns.
    """
    of_products = _ProductNoiseMoments.of(noise, samples.differentiator)
    for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
        together = blocks[start : start + _BLOCKS_AT_ONCE]
        places = [
            np.unique(np.linspace(block.start, block.stop - 1, _SAMPLES_PER_BLOCK).astype(np.intp))
            for _, block in together
        ]
        ways, J = propagate(samples, np.concatenate(places))
        by_block = np.split(J, np.cumsum([len(of_block) for of_block in places])[:-1])
        orders = tuple(sorted({order for _, order in ways}))
        which = np.repeat([orders.index(order) for _, order in ways], 3)
        rates = orders.index(_rate_derivative(noise)[1])
        of_signals = noise.of(ways)
        for (transform, _), of_block in zip(together, by_block, strict=True):
            gains = derivative_gains(transform, samples.differentiator, orders)
            by_group = np.array(list(gains.values()))
            moments = _mean_moments(of_block, of_signals, which, by_group)
            power = of_products.power - of_products.twice * by_group[:, rates, rates]
            moments[:, RATE_PRODUCTS, RATE_PRODUCTS] += power[:, None, None] * of_products.shape
            yield dict(zip(gains, moments, strict=True))


def _mean_moments(J: Array, of_signals: Array, which: Indices, gains: Array) -> Array:
    """Mean of J C Jᵀ over the samples, by group, C the covariance of the signals with its gains.

    The gains are of pairs of derivatives: what each pair makes is summed once for all groups.

    Args:
        J: shape (t, columns, signals).
        of_signals: C without the gains, symmetric, shape (signals, signals).
        which: derivative that each signal is, shape (signals,).
        gains: shape (groups, derivatives, derivatives).

    Returns:
        Shape (groups, columns, columns).
    """
    count, columns, _ = J.shape
    of_orders = [np.flatnonzero(which == order) for order in range(gains.shape[1])]
    by_column = J.swapaxes(0, 1)
    parts = [by_column[..., own].reshape(-1, len(own)) for own in of_orders]
    pairs = np.empty((*gains.shape[1:], columns, columns))
    for one, (own, first) in enumerate(zip(of_orders, parts, strict=True)):
        for other in range(one + 1):
            through = first @ of_signals[np.ix_(own, of_orders[other])]
            pair = through.reshape(columns, -1) @ parts[other].reshape(columns, -1).T
            pairs[one, other], pairs[other, one] = pair, pair.T
    summed = gains.reshape(len(gains), -1) @ pairs.reshape(-1, columns * columns)
    return summed.reshape(-1, columns, columns) / count


def _rate_derivative(noise: SignalNoise) -> SignalDerivative:
    for name in ("gyro", "angular_velocity"):
        if name in noise.names:
            return name, SAMPLE
    return "quaternion", 1


@dataclass(frozen=True, slots=True)
class _ProductNoiseMoments:
    """Of the products of the noise of ω with itself in a slow row, (power − twice · gain) shape.

    For Gaussian noise of autocovariance c(τ) that of η_i η_j with η_k η_l sums to
    Σ c_ik c_jl + c_il c_jk over τ. Less what the noise in ω made of the first-order part, which was
    taken at the measured ω: twice the same with c(0) and the row's own gain.
    """

    shape: Array
    power: float
    twice: float

    @classmethod
    def of(cls, noise: SignalNoise, differentiator: Differentiator) -> _ProductNoiseMoments:
        name, kernel = _rate_derivative(noise)
        S = noise.of(((name, kernel),))
        taps = np.ones(1) if kernel == SAMPLE else differentiator.kernels[kernel]
        autocovariance = np.convolve(taps, taps[::-1])
        i, j = FIRST_AXES, SECOND_AXES
        shape = S[np.ix_(i, i)] * S[np.ix_(j, j)] + S[np.ix_(i, j)] * S[np.ix_(j, i)]
        return cls(shape, float(np.sum(autocovariance**2)), float(2.0 * autocovariance.max()))


def _real_response(taps: Array, frequency: Array) -> Array:
    """Response of a symmetric kernel at frequencies in cycles a sample."""
    offsets = np.arange(len(taps)) - len(taps) // 2
    return np.cos(2.0 * np.pi * np.outer(frequency, offsets)) @ taps


def power_spectrum(columns: Array, rate_hz: float) -> tuple[Array, Array, int]:
    """One-sided spectral density (Welch 1967): Hann windows that overlap by half, means removed.

    Written out here because importing `scipy.signal` takes as long as the whole fit.
    """
    length = min(len(columns), _SPECTRUM_SAMPLES)
    windows = np.lib.stride_tricks.sliding_window_view(columns, length, axis=0)
    windows = windows[:: max(1, length // 2)]
    taper = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(length) / length)
    centred = (windows - windows.mean(axis=-1, keepdims=True)) * taper
    power = (np.abs(np.fft.rfft(centred, axis=-1)) ** 2).mean(axis=0).T
    power *= 2.0 / (rate_hz * np.sum(taper**2))
    return np.fft.rfftfreq(length, 1.0 / rate_hz), power, len(windows)

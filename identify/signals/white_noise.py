"""White noise of a log's signals, estimated from their high band, and the noise of its rows.

Welch, "The use of fast Fourier transform for the estimation of power spectra" (1967).
Wilson and Hilferty, "The distribution of chi-square" (1931).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices
from identify.signals.differentiator import Differentiator
from identify.signals.noise_propagation import noise_jacobian
from identify.signals.segment_kinematics import Samples, SignalDerivative
from identify.signals.transform import UNSMOOTHED, BlockTransform, derivative_gains
from identify.spatial import quaternion_product
from identify.spatial.columns import PRODUCT_FIRST_AXES, PRODUCT_SECOND_AXES, RATE_PRODUCTS
from identify.spatial.rotations import normalised_quaternion, quaternion_conjugate

_MIN_ATTENUATION = 0.25
"""Smallest fraction of the noise power that the differentiator removes in the noise band."""

_NOISE_BAND_RATIO = 3.0
"""Ratio of the highest to the lowest frequency of the noise band; filters reduce noise above."""

_MAX_NYQUIST_FRACTION = 0.9
"""Highest frequency of the noise band, as a share of the Nyquist frequency."""

_SPECTRUM_SAMPLES = 1024
"""Longest window of a power spectrum [samples]."""

_SAMPLES_PER_BLOCK = 64
"""Largest number of samples per block at which noise is propagated to the columns."""

_BLOCKS_AT_ONCE = 16
"""Number of blocks whose noise is propagated at once."""


@dataclass(frozen=True, slots=True)
class SignalNoise:
    """Covariance of the white noise of a log's signals in one sample.

    Attributes:
        names: of the signals; that of "quaternion" is a rotation vector in B [rad].
        covariance: of all their components, in SI, shape (3 · names, 3 · names).
    """

    names: tuple[str, ...]
    covariance: Array

    def covariance_of(self, derivatives: tuple[SignalDerivative, ...]) -> Array:
        """Return the noise covariance of derivatives, shape (3 · derivatives, 3 · derivatives)."""
        columns = [
            3 * self.names.index(name) + axis for name, _ in derivatives for axis in range(3)
        ]
        return self.covariance[np.ix_(columns, columns)]


def signal_noise(
    signals: Mapping[str, Array], rate_hz: float, differentiator: Differentiator
) -> SignalNoise:
    """Estimate the noise of evenly sampled signals from the band above the motion.

    The residual of the differentiator's smoothing is noise there. Its level is the median of the
    power spectrum, so that lines of vibration do not count. With too few rows for such a band it
    is zero: only the residual of a fit shows the noise.

    `signals`: by name, shape (n, 3), quaternions (n, 4).
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
    residual = np.concatenate(columns, axis=1)
    frequency, power, averaged = power_spectrum(residual, rate_hz)
    attenuation = np.abs(1.0 - _frequency_response(value, frequency / rate_hz)) ** 2
    in_band = (attenuation > _MIN_ATTENUATION) & (
        frequency <= _MAX_NYQUIST_FRACTION * 0.5 * rate_hz
    )
    in_band &= (
        frequency
        < _NOISE_BAND_RATIO * frequency[np.argmax(attenuation > _MIN_ATTENUATION)]
        + 0.5 * frequency[1]
    )
    if not in_band.any():  # too few rows to have frequencies above the motion's
        width = residual.shape[1]
        return SignalNoise(tuple(signals), np.zeros((width, width)))
    # The median of an average over few windows is below its mean (Wilson and Hilferty 1931).
    level = np.median(power[in_band] / attenuation[in_band, None], axis=0)
    variance = level / (1.0 - 1.0 / (9.0 * averaged)) ** 3 * (0.5 * rate_hz)
    sigma = np.sqrt(np.mean(residual**2, axis=0))
    normalised = residual / np.where(sigma > 0.0, sigma, 1.0)
    correlation = normalised.T @ normalised / len(normalised)
    size = np.sqrt(variance)
    return SignalNoise(tuple(signals), correlation * np.outer(size, size))


def rate_product_bias(noise: SignalNoise, differentiator: Differentiator) -> Array:
    """Return the bias that noise in ω adds to the means of the six products ω_i ω_j, shape (6,)."""
    name, kernel = _angular_velocity_signal(noise)
    rate_covariance = noise.covariance_of(((name, kernel),))
    power = 1.0 if kernel == UNSMOOTHED else float(np.sum(differentiator.kernels[kernel] ** 2))
    return power * rate_covariance[PRODUCT_FIRST_AXES, PRODUCT_SECOND_AXES]


def noise_moments(
    samples: Samples, noise: SignalNoise, blocks: Sequence[tuple[BlockTransform, slice]]
) -> Iterator[dict[int, Array]]:
    """Yield the noise covariance of features and wrench in each block's rows, by frequency band.

    Averaged over the time of the block and the rows of the group.

    `noise`: of its signals.
    Yields for each block and group, shape (18, 18), or (42, 42) for wide columns.
    """
    product_noise = _RateProductNoise.of(noise, samples.differentiator)
    for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
        chunk = blocks[start : start + _BLOCKS_AT_ONCE]
        sample_indices = [
            np.unique(np.linspace(block.start, block.stop - 1, _SAMPLES_PER_BLOCK).astype(np.intp))
            for _, block in chunk
        ]
        derivatives, J = noise_jacobian(samples, np.concatenate(sample_indices))
        by_block = np.split(
            J, np.cumsum([len(block_jacobians) for block_jacobians in sample_indices])[:-1]
        )
        orders = tuple(sorted({order for _, order in derivatives}))
        order_of_signal = np.repeat([orders.index(order) for _, order in derivatives], 3)
        rates = orders.index(_angular_velocity_signal(noise)[1])
        signal_covariance = noise.covariance_of(derivatives)
        for (transform, _), block_jacobians in zip(chunk, by_block, strict=True):
            gains = derivative_gains(transform, samples.differentiator, orders)
            by_group = np.array(list(gains.values()))
            moments = _mean_moments(block_jacobians, signal_covariance, order_of_signal, by_group)
            power = (
                product_noise.power - product_noise.first_order_factor * by_group[:, rates, rates]
            )
            moments[:, RATE_PRODUCTS, RATE_PRODUCTS] += (
                power[:, None, None] * product_noise.covariance_products
            )
            yield dict(zip(gains, moments, strict=True))


def _mean_moments(
    J: Array, signal_covariance: Array, order_of_signal: Indices, gains: Array
) -> Array:
    """Compute the mean noise covariance J C Jᵀ over the samples, for each group of rows.

    C is the covariance of the signal derivatives, multiplied by the gains of the group.

    The gains are those of pairs of derivatives: each pair is summed once for all groups.

    `J`: shape (t, columns, signals); `signal_covariance`: C without the gains, symmetric, shape
    (signals, signals); `order_of_signal`: index of the derivative order of each signal, shape
    (signals,); `gains`: shape (groups, derivatives, derivatives).
    Shape (groups, columns, columns).
    """
    count, columns, _ = J.shape
    columns_of_order = [np.flatnonzero(order_of_signal == order) for order in range(gains.shape[1])]
    by_column = J.swapaxes(0, 1)
    parts = [by_column[..., signals].reshape(-1, len(signals)) for signals in columns_of_order]
    pairs = np.empty((*gains.shape[1:], columns, columns))
    for i, (signals, part) in enumerate(zip(columns_of_order, parts, strict=True)):
        for j in range(i + 1):
            weighted = part @ signal_covariance[np.ix_(signals, columns_of_order[j])]
            pair = weighted.reshape(columns, -1) @ parts[j].reshape(columns, -1).T
            pairs[i, j], pairs[j, i] = pair, pair.T
    summed = gains.reshape(len(gains), -1) @ pairs.reshape(-1, columns * columns)
    return summed.reshape(-1, columns, columns) / count


def _angular_velocity_signal(noise: SignalNoise) -> SignalDerivative:
    for name in ("gyro", "angular_velocity"):
        if name in noise.names:
            return name, UNSMOOTHED
    return "quaternion", 1


@dataclass(frozen=True, slots=True)
class _RateProductNoise:
    """Covariance of a row due to products of noise in ω: (power − factor · gain) · products.

    For Gaussian noise of autocovariance c(τ), that of η_i η_j and η_k η_l sums to
    Σ c_ik c_jl + c_il c_jk over τ. Subtracted is the noise contained in the first-order part, which
    was evaluated at the measured ω: twice the same with c(0) and the gain of the row.

    Attributes:
        covariance_products: products of covariances of ω, shape (6, 6).
        power: sum of the squared autocovariance of the filter.
        first_order_factor: factor of the gain, twice the largest autocovariance of the filter.
    """

    covariance_products: Array
    power: float
    first_order_factor: float

    @classmethod
    def of(cls, noise: SignalNoise, differentiator: Differentiator) -> _RateProductNoise:
        name, kernel = _angular_velocity_signal(noise)
        S = noise.covariance_of(((name, kernel),))
        taps = np.ones(1) if kernel == UNSMOOTHED else differentiator.kernels[kernel]
        autocovariance = np.convolve(taps, taps[::-1])
        i, j = PRODUCT_FIRST_AXES, PRODUCT_SECOND_AXES
        shape = S[np.ix_(i, i)] * S[np.ix_(j, j)] + S[np.ix_(i, j)] * S[np.ix_(j, i)]
        return cls(shape, float(np.sum(autocovariance**2)), float(2.0 * autocovariance.max()))


def _frequency_response(taps: Array, frequency: Array) -> Array:
    """Return the response of a symmetric kernel at frequencies in cycles per sample."""
    offsets = np.arange(len(taps)) - len(taps) // 2
    return np.cos(2.0 * np.pi * np.outer(frequency, offsets)) @ taps


class PowerSpectrum(NamedTuple):
    """One-sided spectral density of signals.

    Attributes:
        frequency: frequencies [Hz], shape (frequencies,).
        density: spectral densities, shape (frequencies, k).
        window_count: number of windows averaged.
    """

    frequency: Array
    density: Array
    window_count: int


def power_spectrum(columns: Array, rate_hz: float) -> PowerSpectrum:
    """Estimate the one-sided spectral density by Welch's method with half-overlapping Hann windows.

    Implemented here because importing `scipy.signal` takes as long as the whole fit.
    """
    length = min(len(columns), _SPECTRUM_SAMPLES)
    windows = np.lib.stride_tricks.sliding_window_view(columns, length, axis=0)
    windows = windows[:: max(1, length // 2)]
    taper = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(length) / length)
    centred = (windows - windows.mean(axis=-1, keepdims=True)) * taper
    power = (np.abs(np.fft.rfft(centred, axis=-1)) ** 2).mean(axis=0).T
    power *= 2.0 / (rate_hz * np.sum(taper**2))
    return PowerSpectrum(np.fft.rfftfreq(length, 1.0 / rate_hz), power, len(windows))

"""How noisy each column is after filtering, read off the band where nothing moves."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Indices
from identify.signals.kernels import Differentiator, LowPass

_FLOOR_FROM = 2.0
"""The floor is read above so many cut-offs …"""

_FLOOR_TO = 0.9
"""… and below this share of half the sampling rate."""

_WINDOW = 1024


def filtered_noise(
    columns: Array, orders: Indices, lowpass: LowPass, differentiator: Differentiator
) -> Array:
    """Noise variance that each column keeps after the low-pass.

    A column is taken as a motion in the low band plus white noise that went through the
    differentiator as often as the column says. The noise's level is the median of the power
    spectrum over that response in the high band, where no robot moves; lines of vibration do not
    count.

    Args:
        columns: unfiltered, shape (n, k).
        orders: how often each was differentiated (0 to 2; −1: not through the differentiator at
            all).
        lowpass: the filter they will go through.
        differentiator: the differentiator they came through.

    Returns:
        Variances, shape (k,).
    """
    frequency, power, averaged = _power_spectrum(columns, lowpass.rate_hz)
    # Averaged over few windows, a median is below the mean (Wilson and Hilferty 1931).
    power = power / (1.0 - 1.0 / (9.0 * averaged)) ** 3
    band = (frequency >= _FLOOR_FROM * lowpass.cutoff_hz) & (
        frequency <= _FLOOR_TO * 0.5 * lowpass.rate_hz
    )
    if band.sum() < 3:
        band = frequency >= 0.25 * lowpass.rate_hz
    passed = lowpass.response(frequency) ** 2
    step = frequency[1] - frequency[0]
    variances = np.empty(columns.shape[1])
    for order in np.unique(orders):
        gain = np.ones_like(frequency)
        if order >= 0:
            gain = differentiator.response(frequency, int(order)) ** 2
        # Where the differentiator itself passes nothing, the spectrum says nothing of the noise.
        seen = band & (gain > 1e-3 * gain.max())
        level = np.median(power[seen][:, orders == order] / gain[seen, None], axis=0)
        variances[orders == order] = level * float(np.sum(gain * passed) * step)
    return variances


def _power_spectrum(columns: Array, rate_hz: float) -> tuple[Array, Array, int]:
    """One-sided spectral density (Welch 1967): Hann windows that overlap by half, means removed.

    Written out here because importing `scipy.signal` takes as long as the whole fit.
    """
    length = min(len(columns), _WINDOW)
    windows = np.lib.stride_tricks.sliding_window_view(columns, length, axis=0)
    windows = windows[:: max(1, length // 2)]
    taper = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(length) / length)
    centred = (windows - windows.mean(axis=-1, keepdims=True)) * taper
    power = (np.abs(np.fft.rfft(centred, axis=-1)) ** 2).mean(axis=0).T
    power *= 2.0 / (rate_hz * np.sum(taper**2))
    return np.fft.rfftfreq(length, 1.0 / rate_hz), power, len(windows)

"""Savitzky-Golay differentiator and the default cut-off of a log.

Savitzky and Golay, "Smoothing and differentiation of data by simplified least squares procedures"
    (1964).
Schafer, "What is a Savitzky-Golay filter?" (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import legendre

from identify.arrays import Array

DEFAULT_CUTOFF_HZ = 5.0
"""Default cut-off [Hz]; limited to a tenth of the sampling rate."""

_POLYNOMIAL_DEGREE = 6
_PASS_BAND_PER_CUTOFF = 3.0
"""Approximate pass-band of the derivatives [cut-offs], wide enough for the products of ω."""

_MIN_OVERLAP_SAVE_SAMPLES = 2**14
"""Fewest samples that are correlated by fast Fourier transforms."""

_OVERLAP_SAVE_BLOCK = 2**12
"""Length of a Fourier transform in the overlap-save method [samples]."""


def default_cutoff_hz(rate_hz: float) -> float:
    """Return the default cut-off, min(5 Hz, rate / 10)."""
    return min(DEFAULT_CUTOFF_HZ, rate_hz / 10.0)


@dataclass(frozen=True, slots=True, eq=False)
class Differentiator:
    """Savitzky-Golay filters for the value and derivatives in the middle of a window.

    The local polynomials (Savitzky and Golay 1964) have degree six, so errors for slow motion are
    of sixth order in frequency; the pass-band is three cut-offs wide, which held rows, jitter and
    quantised encoders need before ω is squared.

    Attributes:
        kernels: coefficients of the value, first and second derivative, shape (3, taps).
        rate_hz: sampling rate [Hz].
    """

    kernels: Array
    rate_hz: float

    @classmethod
    @lru_cache(maxsize=64)
    def design(cls, rate_hz: float, cutoff_hz: float) -> Differentiator:
        """Design the differentiator for rows up to a cut-off."""
        half = int(cls.designed_half_window(rate_hz, cutoff_hz))
        return cls(_local_polynomial(half) * rate_hz ** np.arange(3)[:, None], rate_hz)

    @staticmethod
    def designed_half_window(rate_hz: float, cutoff_hz: float) -> float:
        """Return the half window that `design` would use [samples]; infinite at cut-off zero."""
        band = min(2.0 * _PASS_BAND_PER_CUTOFF * cutoff_hz / rate_hz, 0.9)
        if band == 0.0:
            return np.inf
        # −3 dB point of a local polynomial (Schafer 2011).
        half = ((_POLYNOMIAL_DEGREE + 1) / band + 4.6) / 3.2
        return max(float(np.rint(half)), _POLYNOMIAL_DEGREE // 2 + 1.0)

    @property
    def half_window(self) -> int:
        """Number of samples lost at each edge of a segment."""
        return self.kernels.shape[1] // 2

    def apply(self, columns: Array, order: int) -> Array:
        """Return the smoothed derivative, edges trimmed, (n, k) to (n − 2 half_window, k)."""
        return _correlate(columns, self.kernels[order])


def _correlate(columns: Array, kernel: Array) -> Array:
    """Correlate columns with a kernel, (n, k) to (n − taps + 1, k); long ones by overlap-save."""
    taps = len(kernel)
    count = len(columns) - taps + 1
    if len(columns) < _MIN_OVERLAP_SAVE_SAMPLES or taps > _OVERLAP_SAVE_BLOCK // 2:
        sums = np.empty((count, columns.shape[1]))
        for number, line in enumerate(np.ascontiguousarray(columns.T)):
            sums[:, number] = np.correlate(line, kernel, "valid")
        return sums
    from scipy.fft import irfft, rfft  # kept out of `import identify`

    step = _OVERLAP_SAVE_BLOCK - taps + 1
    blocks = -(-count // step)
    lines = np.zeros((columns.shape[1], (blocks - 1) * step + _OVERLAP_SAVE_BLOCK))
    lines[:, : len(columns)] = columns.T
    windows = np.lib.stride_tricks.sliding_window_view(lines, _OVERLAP_SAVE_BLOCK, axis=1)
    spectrum = rfft(windows[:, ::step], axis=-1) * np.conj(rfft(kernel, _OVERLAP_SAVE_BLOCK))
    sums = irfft(spectrum, _OVERLAP_SAVE_BLOCK, axis=-1)[..., :step]
    return np.ascontiguousarray(sums.reshape(columns.shape[1], -1)[:, :count].T)


def _local_polynomial(half: int) -> Array:
    """Return filters for value and two derivatives of a polynomial fitted to 2 half + 1 samples.

    Fitted in Legendre polynomials on [−1, 1]: powers of the index lose four digits for a window of
    150 samples.
    """
    x = np.arange(-half, half + 1) / half
    fit = np.linalg.pinv(legendre.legvander(x, _POLYNOMIAL_DEGREE))
    basis = np.eye(_POLYNOMIAL_DEGREE + 1)
    at_middle = [
        legendre.legval(0.0, legendre.legder(basis, order)) / half**order for order in range(3)
    ]
    return np.array(at_middle) @ fit

"""Local polynomials for values and derivatives, and the cut-off they go with.

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
"""Highest frequency of the rows where nothing else is said; never above a tenth of the rate."""

_SMOOTHING_ORDER = 6
_SMOOTHING_BAND = 3.0
"""Pass-band of the derivatives, in cut-offs, about: squaring ω after it then costs nothing."""

_LONG_SUM = 2**14
"""Samples from which sums go by Fourier transforms …"""

_TRANSFORMED = 2**12
"""… of so many samples at a time."""


def default_cutoff_hz(rate_hz: float) -> float:
    """min(5 Hz, rate / 10)."""
    return min(DEFAULT_CUTOFF_HZ, rate_hz / 10.0)


@dataclass(frozen=True, slots=True, eq=False)
class Differentiator:
    """Local polynomials (Savitzky and Golay 1964): value and derivatives in the middle of a window.

    Of sixth order, so exact for slow motion to sixth order of frequency; its pass-band is three
    cut-offs wide, which held rows, jitter and quantised encoders need before ω is squared.

    Attributes:
        kernels: coefficients of the value, first and second derivative, shape (3, taps).
        rate_hz: sampling rate [Hz].
    """

    kernels: Array
    rate_hz: float

    @classmethod
    @lru_cache(maxsize=64)
    def design(cls, rate_hz: float, cutoff_hz: float) -> Differentiator:
        """The differentiator that goes with rows up to the given cut-off."""
        half = int(cls.half_window_of(rate_hz, cutoff_hz))
        return cls(_local_polynomial(half) * rate_hz ** np.arange(3)[:, None], rate_hz)

    @staticmethod
    def half_window_of(rate_hz: float, cutoff_hz: float) -> float:
        """The half window that `design` would give, nothing made: a whole number, or infinite."""
        band = min(2.0 * _SMOOTHING_BAND * cutoff_hz / rate_hz, 0.9)
        if band == 0.0:
            return np.inf
        # −3 dB point of a local polynomial (Schafer 2011).
        half = ((_SMOOTHING_ORDER + 1) / band + 4.6) / 3.2
        return max(float(np.rint(half)), _SMOOTHING_ORDER // 2 + 1.0)

    @property
    def half_window(self) -> int:
        """Samples lost at each edge."""
        return self.kernels.shape[1] // 2

    def apply(self, columns: Array, order: int) -> Array:
        """Smoothed derivative, edges trimmed, (n, k) to (n − 2 half_window, k)."""
        return _correlated(columns, self.kernels[order])


def _correlated(columns: Array, kernel: Array) -> Array:
    """Sums of a kernel's length, (n, k) to (n − taps + 1, k); of long columns by overlap-save."""
    taps = len(kernel)
    count = len(columns) - taps + 1
    if len(columns) < _LONG_SUM or taps > _TRANSFORMED // 2:
        sums = np.empty((count, columns.shape[1]))
        for number, line in enumerate(np.ascontiguousarray(columns.T)):
            sums[:, number] = np.correlate(line, kernel, "valid")
        return sums
    from scipy.fft import irfft, rfft  # kept out of `import identify`

    step = _TRANSFORMED - taps + 1
    blocks = -(-count // step)
    lines = np.zeros((columns.shape[1], (blocks - 1) * step + _TRANSFORMED))
    lines[:, : len(columns)] = columns.T
    windows = np.lib.stride_tricks.sliding_window_view(lines, _TRANSFORMED, axis=1)[:, ::step]
    spectrum = rfft(windows, axis=-1) * np.conj(rfft(kernel, _TRANSFORMED))
    sums = irfft(spectrum, _TRANSFORMED, axis=-1)[..., :step]
    return np.ascontiguousarray(sums.reshape(columns.shape[1], -1)[:, :count].T)


def _local_polynomial(half: int) -> Array:
    """Value and two derivatives, per sample, of the polynomial fitted to 2 half + 1 samples.

    In Legendre polynomials on [−1, 1]: with powers of the index, a window of 150 samples loses four
    digits.
    """
    x = np.arange(-half, half + 1) / half
    fit = np.linalg.pinv(legendre.legvander(x, _SMOOTHING_ORDER))
    basis = np.eye(_SMOOTHING_ORDER + 1)
    at_middle = [
        legendre.legval(0.0, legendre.legder(basis, order)) / half**order for order in range(3)
    ]
    return np.array(at_middle) @ fit

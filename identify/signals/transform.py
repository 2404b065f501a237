"""Cosine transform of blocks of time to rows: one row per frequency, in fixed frequency bands.

A row is z_k = Σ_t u_k(t) z(t) with u_k a cosine (DCT-II) of frequency k · rate / 2n. It is linear
and the same for all columns, so the equation of motion, linear in z, holds for rows as it does for
samples, exactly; and rows of white noise are independent. Where something was differentiated, a
taper takes the cosines to zero at both ends, or else the edges would let fast noise into slow rows.

A Householder reflection of all rows maps the constant to the first row, so that sensor offsets
affect this row only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from identify.arrays import Array, Indices, seal
from identify.signals.differentiator import Differentiator

BAND_EDGES_HZ = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0, 56.0)
BAND_EDGES_HZ += (80.0, 112.0, 160.0, float("inf"))
"""Edges of the frequency bands of rows [Hz]; equal for all logs, so that their statistics add."""

_BAND_EDGE_FACTOR = 1.0 + 1e-6
"""Factor on a band edge that puts a frequency on the edge, up to rounding, into the lower band:
blocks of whole seconds have rows on every edge."""

CONSTANT_GROUP = 0
"""Group number of the row that carries the constant column; frequency band j has 1 + j."""

BLOCK_SECONDS = 10.0
"""Approximate length of a block of time [s]."""

_MIN_BLOCK_SAMPLES = 100
"""Approximate minimum length of a block [samples]."""

TAPER_SHARE = 0.05
"""Share of a block at each end over which the taper rises."""

UNSMOOTHED = 3
"""Order that denotes an unsmoothed signal; orders 0 to 2 are smoothed derivatives."""

_MAX_DIRECT_TERMS = 2**21
"""Largest number of cosines (samples times rows) of a direct transform."""

_ROWS_PROBED_PER_BAND = 16
"""Largest number of rows of a band whose noise gains are computed; they vary little within it."""


@dataclass(frozen=True)
class BlockTransform:
    """Cosine transform of a block of samples to rows, one for each frequency.

    Transforms of a length and sampling rate are cached by `block_transform`.

    Attributes:
        length: number of samples in the block, n.
        rate_hz: their rate.
        row_count: number of rows, those of the lowest frequencies.
        tapered: whether the cosines go to zero at both ends.
    """

    length: int
    rate_hz: float
    row_count: int
    tapered: bool

    @cached_property
    def window(self) -> Array:
        """Window applied to the cosines, mean square one, shape (n,)."""
        window = np.ones(self.length)
        rise = round(TAPER_SHARE * self.length) if self.tapered else 0
        if rise:
            window[:rise] = 0.5 - 0.5 * np.cos(np.pi * (np.arange(rise) + 0.5) / rise)
            window[-rise:] = window[:rise][::-1]
        return seal(window / np.sqrt(np.mean(window**2)), "window", (self.length,))

    @cached_property
    def effective_fraction(self) -> float:
        """Effective number of independent rows per row, below one as tapered cosines overlap."""
        return float(1.0 / np.mean(self.window**4))

    @cached_property
    def groups(self) -> Indices:
        """Group number of each row: `CONSTANT` for the first, else 1 + its band, shape (rows,)."""
        frequency = np.arange(self.row_count) * (self.rate_hz / (2 * self.length))
        groups = np.searchsorted(
            _BAND_EDGE_FACTOR * np.array(BAND_EDGES_HZ), frequency, side="left"
        )
        groups[0] = CONSTANT_GROUP
        return groups

    @cached_property
    def _householder(self) -> Array:
        """Householder vector that maps the constant to the first row, shape (rows,)."""
        constant = _cosine_transform(self.window[:, None].copy())[: self.row_count, 0]
        vector = constant / np.linalg.norm(constant)
        vector[0] -= 1.0
        size = np.linalg.norm(vector)
        return vector / size if size > 1e-12 else np.zeros(self.row_count)

    def apply(self, columns: Array, *, constant: bool = True) -> Array:
        """Transform a block of columns to rows, (n, k) to (rows, k).

        `constant`: whether the first column is the constant; otherwise the rows are the cosine
        transform without the reflection.
        """
        if self._uses_direct_dct:
            rows = self._direct_dct(columns)
        else:
            rows = _cosine_transform(columns * self.window[:, None])[: self.row_count]
        if constant:
            rows = self._apply_householder(rows)
            rows[1:, 0] = 0.0  # but for rounding
        return rows

    @cached_property
    def _uses_direct_dct(self) -> bool:
        """Whether the length has a large prime factor, which makes the fast transform slower."""
        from scipy.fft import next_fast_len  # kept out of `import identify`

        return (
            next_fast_len(self.length) > self.length
            and self.row_count * self.length <= _MAX_DIRECT_TERMS
        )

    def _direct_dct(self, columns: Array) -> Array:
        """Compute the cosine transform by sums over half a block, using the cosines' symmetry."""
        even, odd = self._half_cosines
        first, second = columns[: even.shape[1]], columns[::-1][: even.shape[1]]
        rows = np.empty((self.row_count, columns.shape[1]))
        rows[::2], rows[1::2] = even @ (first + second), odd @ (first - second)
        return rows

    @cached_property
    def _half_cosines(self) -> tuple[Array, Array]:
        half = self._cosine_basis(np.arange(self.row_count))[:, : (self.length + 1) // 2]
        if self.length % 2:
            half[:, -1] *= 0.5  # the middle is its own mirror image
        return half[::2].copy(), half[1::2].copy()

    def _apply_householder(self, rows: Array) -> Array:
        return rows - np.outer(2.0 * self._householder, self._householder @ rows)

    def cosines(self, rows: Sequence[int] | Indices) -> Array:
        """Return the cosines u_k of some rows, shape (len(rows), n)."""
        chosen = np.asarray(rows)
        return self._cosine_basis(chosen) - np.outer(
            2.0 * self._householder[chosen], self._along_householder
        )

    def _cosine_basis(self, rows: Indices) -> Array:
        phase = np.outer(rows, (np.arange(self.length) + 0.5) * (np.pi / self.length))
        size = np.where(rows == 0, 1.0, np.sqrt(2.0)) / np.sqrt(self.length)
        return size[:, None] * np.cos(phase) * self.window

    @cached_property
    def _along_householder(self) -> Array:
        """Inverse cosine transform of the Householder vector, shape (n,)."""
        padded = np.pad(self._householder, (0, self.length - self.row_count))
        from scipy.fft import idct

        return idct(padded, type=2, norm="ortho") * self.window

    def adjoint_filter(self, kernels: Array, rows: Sequence[int] | Indices) -> Array:
        """Apply the adjoint of filter kernels κ to the cosines u_k of rows: κᵀu_k.

        Σ_t u_k(t) (κ x)(t) = Σ_s (κᵀu_k)(s) x(s), with s over the block and half a kernel beyond
        both ends. With a κ that differentiates it is summation by parts: −κᵀu_k is du_k/dt.

        `kernels`: odd length, shape (c, taps), applied as `Differentiator` does.
        Shape (c, len(rows), n + taps − 1).
        """
        from scipy.fft import next_fast_len  # kept out of `import identify`

        width = self.length + kernels.shape[1] - 1
        adjoint = np.zeros((len(kernels), len(rows), width))
        fft_length = next_fast_len(width, real=True)
        spectrum = np.fft.rfft(self.cosines(rows), fft_length, axis=1)
        for number, kernel in enumerate(kernels):
            summed = np.fft.irfft(spectrum * np.fft.rfft(kernel, fft_length), fft_length, axis=1)
            adjoint[number] = summed[:, :width]
        return adjoint

    def gains(self, kernels: Array) -> dict[int, Array]:
        """Return the covariance of rows of kernel-filtered unit white noise, by frequency band.

        Unit white noise filtered by kernels κ_c and κ_d has in row k the covariance
        Σ_s (κ_cᵀ u_k)(s) (κ_dᵀ u_k)(s), including the edges.

        `kernels`: odd length, shape (c, taps), applied as `Differentiator` does.
        Returns for each group the mean over its rows, shape (c, c).
        """
        gains = {}
        for group in np.unique(self.groups).tolist():
            rows = np.flatnonzero(self.groups == group)
            if len(rows) > _ROWS_PROBED_PER_BAND:
                rows = rows[np.linspace(0, len(rows) - 1, _ROWS_PROBED_PER_BAND).astype(int)]
            adjoint = self.adjoint_filter(kernels, rows).reshape(len(kernels), -1)
            gains[group] = adjoint @ adjoint.T / len(rows)
        return gains


@lru_cache(maxsize=64)
def block_transform(length: int, rate_hz: float, top_hz: float, *, tapered: bool) -> BlockTransform:
    """Return the cached transform of blocks of a length, with rows up to a frequency."""
    rows = min(length, int(_BAND_EDGE_FACTOR * 2.0 * length * top_hz / rate_hz) + 1)
    return BlockTransform(length, rate_hz, rows, tapered)


@lru_cache(maxsize=64)
def band_middle(group: int) -> float:
    """Return the angular frequency in the middle of a band [rad/s]; zero for the constant."""
    if group == CONSTANT_GROUP:
        return 0.0
    low, high = BAND_EDGES_HZ[group - 1 : group + 1]
    return float(np.pi * (low + (high if np.isfinite(high) else low)))


def derivative_gains(
    transform: BlockTransform, differentiator: Differentiator, orders: tuple[int, ...]
) -> dict[int, Array]:
    """Return the covariance of rows of derivatives of unit white noise, by frequency band.

    `differentiator`: that of its signals.
    """
    if orders == (UNSMOOTHED,):
        return {group: np.ones((1, 1)) for group in np.unique(transform.groups).tolist()}
    identity = np.zeros((1, differentiator.kernels.shape[1]))
    identity[0, differentiator.half_window] = 1.0
    kernels = np.concatenate((differentiator.kernels, identity))[list(orders)]
    return _cached_gains(transform, kernels.tobytes(), len(kernels))


@lru_cache(maxsize=256)
def _cached_gains(transform: BlockTransform, kernels: bytes, count: int) -> dict[int, Array]:
    """Return the cached gains of a transform; logs with equal rate and cut-off share them."""
    gains = transform.gains(np.frombuffer(kernels).reshape(count, -1))
    for gain in gains.values():
        gain.flags.writeable = False
    return gains


def block_edges(length: int, rate_hz: float, seconds: float = BLOCK_SECONDS) -> list[int]:
    """Return the edges of blocks of about a duration [s] in a segment of a length [samples]."""
    blocks = max(1, round(length / max(seconds * rate_hz, _MIN_BLOCK_SAMPLES)))
    return [length * number // blocks for number in range(blocks + 1)]


def _cosine_transform(columns: Array) -> Array:
    from scipy.fft import dct  # kept out of `import identify`

    return dct(columns, type=2, norm="ortho", axis=0, overwrite_x=True)

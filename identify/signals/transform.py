"""Blocks of time become rows by cosine transform: one row a frequency, in bands of fixed edges.

A row is z_k = Σ_t u_k(t) z(t) with u_k a cosine (DCT-II) of frequency k · rate / 2n. It is linear
and the same for all columns, so the equation of motion, linear in z, holds for rows as it does for
samples, exactly; and rows of white noise are independent. Where something was differentiated, a
taper takes the cosines to zero at both ends, or else the edges would let fast noise into slow rows.

The constant is turned into a row of its own, the first, by one reflection of all rows: offsets of a
sensor act there alone, and the others do not know of them.
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
"""Edges of the bands that rows are grouped in; the same for every log, so that logs add up."""

_EDGE_FACTOR = 1.0 + 1e-6
"""A frequency on an edge is below it, whatever the rate was rounded to: blocks of whole seconds
have rows on every edge."""

CONSTANT = 0
"""Number of the group of the constant's row; band j is group 1 + j."""

BLOCK_SECONDS = 10.0
"""Length of a block of time, about …"""

_MIN_BLOCK_SAMPLES = 100
"""… or so many samples, where a log has fewer in that time."""

TAPER_SHARE = 0.05
"""Share of a block at each end over which the taper rises."""

SAMPLE = 3
"""Stands for a signal used as it is where 0 to 2 stand for its smoothed derivatives."""

_MAX_DIRECT_TERMS = 2**21
"""Samples times rows up to which cosines are kept."""

_ROWS_PROBED_PER_BAND = 16
"""Rows of a band whose gains are worked out, at the most: they hardly change within it."""


@dataclass(frozen=True)
class BlockTransform:
    """The rows of a block of some length at some rate; made by `block_transform`, which keeps them.

    Attributes:
        length: samples in the block, n.
        rate_hz: their rate.
        rows: how many rows there are, those of the lowest frequencies.
        tapered: whether the cosines go to zero at both ends.
    """

    length: int
    rate_hz: float
    rows: int
    tapered: bool

    @cached_property
    def window(self) -> Array:
        """What multiplies the cosines, mean square one, shape (n,)."""
        window = np.ones(self.length)
        rise = round(TAPER_SHARE * self.length) if self.tapered else 0
        if rise:
            window[:rise] = 0.5 - 0.5 * np.cos(np.pi * (np.arange(rise) + 0.5) / rise)
            window[-rise:] = window[:rise][::-1]
        return seal(window / np.sqrt(np.mean(window**2)), "window", (self.length,))

    @cached_property
    def effective_fraction(self) -> float:
        """Independent rows a row is worth: tapered cosines overlap."""
        return float(1.0 / np.mean(self.window**4))

    @cached_property
    def groups(self) -> Indices:
        """Group of each row: `CONSTANT` for the first, 1 + its band for another, shape (rows,)."""
        frequency = np.arange(self.rows) * (self.rate_hz / (2 * self.length))
        groups = np.searchsorted(_EDGE_FACTOR * np.array(BAND_EDGES_HZ), frequency, side="left")
        groups[0] = CONSTANT
        return groups

    @cached_property
    def _householder(self) -> Array:
        """The vector of the reflection that takes the constant to the first row, shape (rows,)."""
        constant = _cosine_transform(self.window[:, None].copy())[: self.rows, 0]
        mirror = constant / np.linalg.norm(constant)
        mirror[0] -= 1.0
        size = np.linalg.norm(mirror)
        return mirror / size if size > 1e-12 else np.zeros(self.rows)

    def apply(self, columns: Array) -> Array:
        """Rows of a block of columns, the constant first among them, (n, k) to (rows, k)."""
        if self._uses_direct_dct:
            rows = self._direct_dct(columns)
        else:
            rows = _cosine_transform(columns * self.window[:, None])[: self.rows]
        rows = self._apply_householder(rows)
        rows[1:, 0] = 0.0  # but for rounding
        return rows

    @cached_property
    def _uses_direct_dct(self) -> bool:
        """A large prime in its length makes the fast transform five times slower than sums are."""
        from scipy.fft import next_fast_len  # kept out of `import identify`

        return (
            next_fast_len(self.length) > self.length
            and self.rows * self.length <= _MAX_DIRECT_TERMS
        )

    def _direct_dct(self, columns: Array) -> Array:
        """Sums over half a block: the other half of a cosine is the same, or minus the same."""
        even, odd = self._half_cosines
        first, second = columns[: even.shape[1]], columns[::-1][: even.shape[1]]
        rows = np.empty((self.rows, columns.shape[1]))
        rows[::2], rows[1::2] = even @ (first + second), odd @ (first - second)
        return rows

    @cached_property
    def _half_cosines(self) -> tuple[Array, Array]:
        half = self._cosine_basis(np.arange(self.rows))[:, : (self.length + 1) // 2]
        if self.length % 2:
            half[:, -1] *= 0.5  # the middle is its own mirror image
        return half[::2].copy(), half[1::2].copy()

    def _apply_householder(self, rows: Array) -> Array:
        return rows - np.outer(2.0 * self._householder, self._householder @ rows)

    def cosines(self, rows: Sequence[int] | Indices) -> Array:
        """The functions u_k of some rows, shape (len(rows), n)."""
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
        """Σ_k mirror_k u_k(t): an inverse transform, shape (n,)."""
        padded = np.pad(self._householder, (0, self.length - self.rows))
        from scipy.fft import idct

        return idct(padded, type=2, norm="ortho") * self.window

    def adjoint_filter(self, kernels: Array, rows: Sequence[int] | Indices) -> Array:
        """κᵀu_k: the functions that sum a signal to what rows see of it through kernels.

        Σ_t u_k(t) (κ x)(t) = Σ_s (κᵀu_k)(s) x(s), with s over the block and half a kernel beyond
        both ends. With a κ that differentiates it is summation by parts: −κᵀu_k is du_k/dt.

        Args:
            kernels: odd length, shape (c, taps), applied as `Differentiator` does.
            rows: which.

        Returns:
            Shape (c, len(rows), n + taps − 1).
        """
        from scipy.fft import next_fast_len  # kept out of `import identify`

        width = self.length + kernels.shape[1] - 1
        through, fast = np.zeros((len(kernels), len(rows), width)), next_fast_len(width, real=True)
        spectrum = np.fft.rfft(self.cosines(rows), fast, axis=1)
        for number, kernel in enumerate(kernels):
            summed = np.fft.irfft(spectrum * np.fft.rfft(kernel, fast), fast, axis=1)
            through[number] = summed[:, :width]
        return through

    def gains(self, kernels: Array) -> dict[int, Array]:
        """What rows let through of white noise that came through kernels, by group.

        Noise e of unit variance that goes through kernels κ_c and κ_d and then into row k has there
        the covariance Σ_s (κ_cᵀ u_k)(s) (κ_dᵀ u_k)(s): the edges are counted.

        Args:
            kernels: odd length, shape (c, taps), applied as `Differentiator` does.

        Returns:
            For each group the mean over its rows, shape (c, c).
        """
        gains = {}
        for group in np.unique(self.groups).tolist():
            rows = np.flatnonzero(self.groups == group)
            if len(rows) > _ROWS_PROBED_PER_BAND:
                rows = rows[np.linspace(0, len(rows) - 1, _ROWS_PROBED_PER_BAND).astype(int)]
            flat = self.adjoint_filter(kernels, rows).reshape(len(kernels), -1)
            gains[group] = flat @ flat.T / len(rows)
        return gains


@lru_cache(maxsize=64)
def block_transform(length: int, rate_hz: float, top_hz: float, *, tapered: bool) -> BlockTransform:
    """The transform of blocks of a length, with rows up to a frequency.

    Args:
        length: samples in the block.
        rate_hz: their rate.
        top_hz: highest frequency, below half the rate.
        tapered: whether what they hold was differentiated.
    """
    rows = min(length, int(_EDGE_FACTOR * 2.0 * length * top_hz / rate_hz) + 1)
    return BlockTransform(length, rate_hz, rows, tapered)


@lru_cache(maxsize=64)
def band_middle(group: int) -> float:
    """Angular frequency in the middle of a group's band [rad/s]; zero of the constant's."""
    if group == CONSTANT:
        return 0.0
    low, high = BAND_EDGES_HZ[group - 1 : group + 1]
    return float(np.pi * (low + (high if np.isfinite(high) else low)))


def derivative_gains(
    transform: BlockTransform, differentiator: Differentiator, orders: tuple[int, ...]
) -> dict[int, Array]:
    """`BlockTransform.gains` of noise that is differentiated so often.

    Args:
        transform: of the block.
        differentiator: that of its signals.
        orders: of the derivatives; 0 is the smoothed value, `SAMPLE` the value as it is.
    """
    if orders == (SAMPLE,):
        return {group: np.ones((1, 1)) for group in np.unique(transform.groups).tolist()}
    identity = np.zeros((1, differentiator.kernels.shape[1]))
    identity[0, differentiator.half_window] = 1.0
    kernels = np.concatenate((differentiator.kernels, identity))[list(orders)]
    return _gains(transform, kernels.tobytes(), len(kernels))


@lru_cache(maxsize=256)
def _gains(transform: BlockTransform, kernels: bytes, count: int) -> dict[int, Array]:
    """The gains of a transform, which logs of one rate and cut-off share."""
    gains = transform.gains(np.frombuffer(kernels).reshape(count, -1))
    for gain in gains.values():
        gain.flags.writeable = False
    return gains


def block_edges(length: int, rate_hz: float) -> list[int]:
    """Edges of blocks of about `BLOCK_SECONDS` that a segment of so many samples is cut into."""
    blocks = max(1, round(length / max(BLOCK_SECONDS * rate_hz, _MIN_BLOCK_SAMPLES)))
    return [length * number // blocks for number in range(blocks + 1)]


def _cosine_transform(columns: Array) -> Array:
    from scipy.fft import dct  # kept out of `import identify`

    return dct(columns, type=2, norm="ortho", axis=0, overwrite_x=True)

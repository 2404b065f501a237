"""Periodic motions within limits of excursion, speed and acceleration, at rest at both ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import null_space

from identify.arrays import Array
from identify.errors import ProblemError

P_NORM = 30.0
"""Exponent of the p-norm that approximates a maximum over time: for a sine of 40 to 150
samples 6 to 11 % above it, and smooth enough for a quasi-Newton method."""

SAMPLES_PER_PERIOD = 8
"""Number of samples in a period of the highest harmonic; the regressor has twice its frequency."""


@dataclass(frozen=True, slots=True)
class AxisLimits:
    """Limits of each axis of a motion that starts at zero.

    Attributes:
        low, high: lowest and highest value, low < 0 < high, shape (n,) [rad or m].
        speed: largest absolute rate, shape (n,).
        acceleration: largest absolute second derivative, shape (n,).
        names: of the axes, for messages.
    """

    low: Array
    high: Array
    speed: Array
    acceleration: Array
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, low, high in zip(self.names, self.low, self.high, strict=True):
            if not low < 0.0 < high:
                raise ProblemError(
                    f"{name}: expected limits about the start, low < 0 < high (rad or m), got "
                    f"{low:g} and {high:g}"
                )
        for values, quantity in ((self.speed, "speed"), (self.acceleration, "acceleration")):
            for name, value in zip(self.names, values, strict=True):
                if not 0.0 < value < np.inf:
                    raise ProblemError(
                        f"{name}: expected a limit of the {quantity} above zero, got {value:g}"
                    )

    def shares(self, motion: Array) -> Array:
        """Return the share of each limit that a motion uses, (3, samples, n) for (3, samples, n).

        A share has the sign of the motion; |share| ≤ 1 is within the limit.
        """
        bound = np.where(motion[0] > 0.0, self.high, -self.low)
        value, rate, second = motion
        return np.stack((value / bound, rate / self.speed, second / self.acceleration))


@dataclass(frozen=True, slots=True)
class PeriodicBasis:
    """Fourier series of a period that start at zero with no speed and no acceleration.

    x(t) = Σ_k a_k (cos kωt − 1)/k + b_k sin(kωt)/k with Σ b_k = 0 and Σ k a_k = 0, in an
    orthonormal basis of the coefficients that satisfy both.

    Attributes:
        period: length of a period [s].
        harmonics: number of harmonics, at least 3.
    """

    period: float
    harmonics: int

    @property
    def size(self) -> int:
        """Number of coefficients of an axis."""
        return 2 * self.harmonics - 2

    def times(self, refinement: int = 1) -> Array:
        """Return the times of the samples of a period [s]."""
        count = SAMPLES_PER_PERIOD * self.harmonics * refinement
        return np.arange(count) * (self.period / count)

    def at(self, times: Array) -> Array:
        """Return value, rate and second derivative of each basis function, (3, times, size)."""
        k = np.arange(1, self.harmonics + 1)
        w = 2.0 * np.pi * k / self.period
        cosine, sine = np.cos(np.outer(times, w)), np.sin(np.outer(times, w))
        series = np.stack(
            (
                np.hstack((cosine - 1.0, sine)),
                np.hstack((-w * sine, w * cosine)),
                np.hstack((-(w**2) * cosine, -(w**2) * sine)),
            )
        ) / np.tile(k, 2)
        return series @ _at_rest(self.harmonics)


def _at_rest(harmonics: int) -> Array:
    """Return the coefficients whose series has no speed and no acceleration at the start."""
    k = np.arange(1.0, harmonics + 1)
    zero = np.zeros(harmonics)
    return null_space(np.stack((np.append(zero, np.ones(harmonics)), np.append(k, zero))))


def harmonics_within(limits: AxisLimits, period: float) -> int:
    """Return how many harmonics a motion needs to use all of its limits.

    They reach 2.2 times the frequency √(acceleration / excursion) / 2π of the fastest axis: with
    1.15 times this frequency the half-widths of an estimate were a tenth larger on wrist motions
    of ±45°.
    """
    excursion = 0.5 * (limits.high - limits.low)
    corner = np.sqrt(limits.acceleration / excursion).max() / (2.0 * np.pi)
    return max(3, int(np.ceil(2.2 * corner * period)))


Pullback: TypeAlias = Callable[[Array], Array]
"""Maps a gradient with respect to a motion to that with respect to its coefficients."""


def limited_motion(
    series: Array, coefficients: Array, limits: AxisLimits
) -> tuple[Array, Pullback]:
    """Scale each axis of a motion so that it uses its limits and keeps them.

    The largest share of a limit is taken by a p-norm, which is no smaller than the maximum.

    `series`: of `PeriodicBasis.at`, shape (3, samples, size); `coefficients`: shape (n, size);
    `limits`: of the n axes.
    Returns the motion, shape (3, samples, n), and the pullback of its gradients.
    """
    raw = series @ coefficients.T
    shares = limits.shares(raw)
    peak = np.abs(shares).max(axis=(0, 1))
    powers = np.abs(shares / peak) ** P_NORM
    total = powers.sum(axis=(0, 1))
    norm = peak * total ** (1.0 / P_NORM)
    motion = raw / norm

    def pullback(gradient: Array) -> Array:
        direct = np.einsum("otn,otk->nk", gradient, series)
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.where(raw == 0.0, 0.0, powers / raw) / total
        of_norm = np.einsum("otn,otk->nk", along, series)  # ∂ log(norm) / ∂c
        radial = np.einsum("otn,otn->n", gradient, motion)
        return direct / norm[:, None] - radial[:, None] * of_norm

    return motion, pullback


def scaled_coefficients(basis: PeriodicBasis, coefficients: Array, limits: AxisLimits) -> Array:
    """Scale coefficients so that each axis meets its first limit, between samples as well.

    A trigonometric polynomial of degree n exceeds its largest of M even samples by less than the
    factor 1 / cos(π n / M) (Ehlich and Zeller, 1964), here .08 %. Of a position with unequal
    limits the bound is about their middle, and leaves up to .08 % of the middle.
    """
    series = basis.at(basis.times(refinement=10))
    largest = np.abs(limits.shares(series @ coefficients.T)).max(axis=(0, 1))
    return coefficients * (np.cos(np.pi / (10 * SAMPLES_PER_PERIOD)) / largest[:, None])

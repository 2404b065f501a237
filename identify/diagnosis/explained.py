"""How much of the measured wrench a body leaves, beyond what the signals' noise makes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Vec6
from identify.regressors import System
from identify.relevance import SIGNAL_SHARE

MOST_LEFT = 0.1
"""Share of the signal above which what a body leaves is not explained, whatever it looks like:
right readings leave a tenth of that."""

_BY_NOISE = 2.0
"""What a body leaves is noise up to so many times what the signals' noise makes of it, and an axis
has a signal above so many times the noise of the wrench."""

_TINY = float(np.finfo(float).tiny)


class Left(NamedTuple):
    """What a body leaves of the measured wrench beyond noise, as shares of its variance.

    Attributes:
        axes: of fx, fy, fz, tx, ty, tz; zero for an axis without signal, shape (6,).
        worst: of all forces or of all torques, the larger.
    """

    axes: Vec6
    worst: float


def share_left(system: System, x: Array) -> Left:
    """What a body leaves of the measured wrench beyond noise.

    Args:
        system: of wrenches; offsets are those that suit the body best.
        x: the unknowns, shape (p,).
    """

    def of_axes(moments: Array) -> Array:
        return np.diagonal(moments, axis1=1, axis2=2).sum(axis=0)

    arrays = system.arrays
    left, signal = (of_axes(system.residual_moments(at)) for at in (x, np.zeros_like(x)))
    noise = of_axes(system.noise_moments(x))
    of_wrench = arrays.effective_samples @ np.diagonal(arrays.wrench_noise, axis1=1, axis2=2)
    largest = np.repeat([signal[:3].max(), signal[3:].max()], 3)
    has_signal = (signal > _BY_NOISE * of_wrench) & (signal > SIGNAL_SHARE**2 * largest)
    beyond = np.where(has_signal, np.maximum(left - _BY_NOISE * noise, 0.0), 0.0)
    whole = np.where(has_signal, signal, 0.0)
    halves = beyond.reshape(2, 3).sum(axis=1) / np.maximum(whole.reshape(2, 3).sum(axis=1), _TINY)
    return Left(beyond / np.maximum(whole, _TINY), float(halves.max()))

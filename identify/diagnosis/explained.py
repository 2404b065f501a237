"""Share of the measured wrench that a body does not explain, beyond noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Vec6
from identify.regressors import System
from identify.relevance import SIGNAL_SHARE

MAX_UNEXPLAINED = 0.1
"""Largest unexplained share of the signal of an explained log; correct readings have a tenth."""

_NOISE_FACTOR = 2.0
"""Ratio to the expected noise up to which a residual counts as noise, and above which an axis of
the wrench has a signal."""

_TINY = float(np.finfo(float).tiny)


class UnexplainedFraction(NamedTuple):
    """Unexplained share of the measured wrench's variance, beyond noise.

    Attributes:
        axes: shares of fx, fy, fz, tx, ty, tz; zero for an axis without signal, shape (6,).
        worst: the larger of the shares of all forces and of all torques.
    """

    axes: Vec6
    worst: float


def unexplained_fraction(system: System, x: Array) -> UnexplainedFraction:
    """Return the share of the measured wrench that a body does not explain, beyond noise.

    Args:
        system: of wrenches; offsets are those that fit the body best.
        x: the unknowns, shape (p,).
    """

    def of_axes(moments: Array) -> Array:
        return np.diagonal(moments, axis1=1, axis2=2).sum(axis=0)

    arrays = system.arrays
    residual, signal = (of_axes(system.residual_moments(at)) for at in (x, np.zeros_like(x)))
    noise = of_axes(system.noise_moments(x))
    of_wrench = arrays.effective_samples @ np.diagonal(arrays.wrench_noise, axis1=1, axis2=2)
    largest = np.repeat([signal[:3].max(), signal[3:].max()], 3)
    has_signal = (signal > _NOISE_FACTOR * of_wrench) & (signal > SIGNAL_SHARE**2 * largest)
    beyond = np.where(has_signal, np.maximum(residual - _NOISE_FACTOR * noise, 0.0), 0.0)
    total = np.where(has_signal, signal, 0.0)
    halves = beyond.reshape(2, 3).sum(axis=1) / np.maximum(total.reshape(2, 3).sum(axis=1), _TINY)
    return UnexplainedFraction(beyond / np.maximum(total, _TINY), float(halves.max()))

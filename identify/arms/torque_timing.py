"""Delay and low-pass of logged torques against the motion, by what free links leave of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from identify.arms.joint_fits import ArmPoints, fit_friction, fit_frictions
from identify.arrays import Array

_TRIED_DELAYS = np.linspace(-0.2, 0.2, 21)
"""Delays of the search [s], finer than which a fit changes little."""

_TRIED_LAGS = np.geomspace(0.005, 0.32, 10)
"""Time constants of each pole of a low-pass in the search [s]."""

_MIN_POINTS = 400
"""Smallest number of samples of a log that is searched."""


class TorqueTiming(NamedTuple):
    """Best delay and best low-pass of torques, with the residual power each leaves.

    Attributes:
        delay: time by which torques are later than the motion [s].
        delayed: residual power with that delay, relative to that without.
        lag: time constant of a low-pass of one or two equal poles, that of all poles together [s].
        lagged: residual power with that low-pass undone, relative to that without.
    """

    delay: float
    delayed: float
    lag: float
    lagged: float


def torque_timing(points: ArmPoints) -> TorqueTiming | None:
    """Estimate the timing of torques with delays and low-passes of a grid.

    Returns the timing; None if the log is too short.
    The points are of a log at its own rate.
    """
    m = points.motion
    dt = float(np.median(np.diff(m.time)))
    most = round(_TRIED_DELAYS[-1] / dt)
    if len(m.time) - 2 * most < _MIN_POINTS:
        return None
    few = points.at(slice(most, -most)).few
    samples = np.searchsorted(m.time, few.motion.time)
    effort = few.motion.effort
    rates = np.gradient(m.effort, dt, axis=0)
    curvature = np.gradient(rates, dt, axis=0)[samples]
    rates = rates[samples]
    power = fit_friction(few, links=True).power

    def costs(torques: Mapping[float, Array]) -> dict[float, float]:
        fits = fit_frictions(few, torques.values(), links=True)
        return {
            key: float(fit.errors**2 @ (fit.power / power))
            for key, fit in zip(torques, fits, strict=True)
        }

    def delayed(delays: Sequence[float]) -> dict[float, float]:
        return costs({d: m.effort[samples + round(d / dt)] for d in delays})

    delays = delayed(_TRIED_DELAYS.tolist())
    coarse = min(delays, key=lambda d: delays[d])
    near = (coarse - 0.01, coarse + 0.01)
    delays |= delayed([d for d in near if abs(d) < _TRIED_DELAYS[-1]])
    lags = costs(
        {T: effort + T * rates for T in _TRIED_LAGS.tolist()}
        | {2.0 * T: effort + T * (2.0 * rates + T * curvature) for T in _TRIED_LAGS.tolist()}
    )
    (plain,) = costs({0.0: effort}).values()
    delay, lag = (min(tried, key=lambda each: tried[each]) for tried in (delays, lags))
    return TorqueTiming(delay, delays[delay] / plain, lag, lags[lag] / plain)

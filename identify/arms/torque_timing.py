"""Delay and low-pass of logged torques against the motion, by what free links leave of them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arms.joint_fits import ArmPoints, fit_friction
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
    rates = np.gradient(m.effort, dt, axis=0)
    curvature = np.gradient(rates, dt, axis=0)
    inside, effort = points.at(slice(most, -most)), m.effort

    def cost(torque: Array) -> float:
        motion = inside.motion._replace(effort=torque[most:-most])
        fit = fit_friction(replace(inside, motion=motion).few, links=True)
        return float(fit.errors**2 @ (fit.power / power))

    power = fit_friction(inside.few, links=True).power
    delays = {d: cost(np.roll(effort, -round(d / dt), axis=0)) for d in _TRIED_DELAYS.tolist()}
    coarse = min(delays, key=lambda d: delays[d])
    for d in (coarse - 0.01, coarse + 0.01):
        if abs(d) < _TRIED_DELAYS[-1]:
            delays[d] = cost(np.roll(effort, -round(d / dt), axis=0))
    lags = {T: cost(effort + T * rates) for T in _TRIED_LAGS.tolist()}
    lags |= {
        2.0 * T: cost(effort + T * (2.0 * rates + T * curvature)) for T in _TRIED_LAGS.tolist()
    }
    plain = cost(effort)
    delay, lag = (min(costs, key=lambda each: costs[each]) for costs in (delays, lags))
    return TorqueTiming(delay, delays[delay] / plain, lag, lags[lag] / plain)

"""Delay and low-pass of logged torques against the motion, by least squares of free links."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arms.columns import JointMotion, joint_columns
from identify.arms.readings import ArmPoints
from identify.arrays import Array
from identify.robots import torque_regressor

MAX_DELAY = 0.2
"""Longest delay of the search [s]."""

_STEP = 0.01
"""Step of the delays of the search [s]."""

_LAGS = np.geomspace(0.005, 0.32, 19)
"""Time constants of each pole of a low-pass in the search [s]."""

_POINTS = 800
"""Approximate number of points that are used."""

_RIDGE = 1e-9
"""Share of a column's power that is added to it, as columns of a motion may depend."""


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

    Args:
        points: of a log at its own rate.

    Returns:
        The timing; None if the log is too short.
    """
    m = points.motion
    dt = float(np.median(np.diff(m.time)))
    step = max(1, round(_STEP / dt))
    most = step * int(MAX_DELAY / (step * dt))
    shifts = np.arange(-most, most + 1, step)
    indices = np.arange(most, len(m.time) - most, max(1, (len(m.time) - 2 * most) // _POINTS))
    if len(indices) < _POINTS // 2:
        return None
    rates = np.gradient(m.effort, dt, axis=0)
    delayed = m.effort[indices + shifts[:, None]]  # (shifts, s, n)
    T = _LAGS[:, None, None]
    undone = m.effort[indices] + T * rates[indices]
    twice = undone + T * (rates[indices] + T * np.gradient(rates, dt, axis=0)[indices])
    motion = JointMotion(*(values[indices] for values in m))
    power = _left(replace(points, motion=motion), np.concatenate((delayed, undone, twice)))
    plain = power[len(shifts) // 2]
    of_delays, of_lags = power[: len(shifts)] / plain, power[len(shifts) :] / plain
    best, lag = int(of_delays.argmin()), int(of_lags.argmin())
    return TorqueTiming(
        float(shifts[best] * dt),
        float(of_delays[best]),
        float(np.concatenate((_LAGS, 2.0 * _LAGS))[lag]),
        float(of_lags[lag]),
    )


def _left(points: ArmPoints, torques: Array) -> Array:
    """Compute the residual power of some torques, joints weighted by the power of theirs.

    Args:
        points: motion and torque of s points.
        torques: other torques at the same points, shape (k, s, n).

    Returns:
        Shape (k,).
    """
    m, columns = points.motion, points.columns
    Y = np.moveaxis(torque_regressor(points.robot, m.q, m.v, m.a), 0, -1)
    links, scalars = columns.links.stop, columns.torque - columns.links.stop
    p = links + len(columns.joints) * scalars
    gram, cross, total = np.zeros((p, p)), np.zeros((p, len(torques))), np.zeros(len(torques))
    for j in range(len(columns.joints)):
        moves = np.abs(m.v[:, j]) > points.still_below[j]
        norm = float(np.linalg.norm(m.effort[moves, j]))
        if not norm > 0.0:
            continue
        numbers, z = joint_columns(columns, Y, m, j)
        A, B = z[:-1, moves] / norm, torques[:, moves, j] / norm
        numbers = np.where(numbers < links, numbers, numbers + j * scalars)[:-1]
        gram[np.ix_(numbers, numbers)] += A @ A.T
        cross[numbers] += A @ B.T
        total += (B**2).sum(axis=1)
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    scaled = gram / np.outer(scale, scale) + _RIDGE * np.eye(p)
    explained = cross / scale[:, None]
    return total - (explained * np.linalg.solve(scaled, explained)).sum(axis=0)

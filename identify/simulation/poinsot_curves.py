"""Polhode and herpolhode as smooth curves, at any times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3
from identify.simulation.free_rotation import Regime, rotate_freely
from identify.simulation.poinsot import Poinsot
from identify.spatial.rotations import rotate, rotation_from_quaternion

MAX_PERIODS = 12
"""Maximum number of drawn periods of ω; more periods would fill the ring of the herpolhode."""

_MAX_DRAWN_TURNS = 96
"""Maximum number of drawn turns of the body, if periods are long or infinite."""

_POINTS_PER_PERIOD, _POINTS_PER_TURN = 240, 64
"""Minimum numbers of points per period of ω and per turn of the body."""

_MAX_POLHODE_STEP, _MAX_HALVINGS = 0.02, 20
"""Maximum distance between points of the polhode, relative to the largest semi-axis, and maximum
number of halvings of the time step."""

_MAX_DRAWN_PERIOD = 1e5
"""Longest period of which the polhode is drawn completely [rad of body rotation]."""


@dataclass(frozen=True, slots=True)
class HerpolhodeCurve:
    """Herpolhode as a smooth curve from the first time of a construction.

    Attributes:
        time: [s], increasing, shape (n,).
        points: r in W from the ellipsoid's centre [1/√(kg m²)], shape (n, 3).
        is_complete: whether it extends to the last time of the construction.
        periods: number of periods of ω that it covers; NaN without a period.
    """

    time: Array
    points: Vec3
    is_complete: bool
    periods: float


def polhode_curve(construction: Poinsot) -> Vec3:
    """Compute the polhode of a motion as a curve in principal axes [1/√(kg m²)].

    It is one period exactly, closed; for a steady spin one point, shape (1, 3). For a period that
    is infinite or longer than 10⁵ rad, it covers the times of the construction.
    """
    if construction.invariants.regime == Regime.STEADY:
        return (construction.polhode[0] @ construction.axes)[None]
    first, duration = construction.time.min(), float(np.ptp(construction.time))
    most = _MAX_DRAWN_PERIOD / _max_angular_speed(construction)
    period = float(construction.invariants.period)
    span = period if period <= most else min(duration, most)
    time = first + np.linspace(0.0, span, _POINTS_PER_PERIOD + 1)
    curve = _polhode(construction, time)
    # Near the separatrix a period is a long rest and a quick flip: more points there.
    for _ in range(_MAX_HALVINGS):
        long = (
            np.linalg.norm(np.diff(curve, axis=0), axis=1)
            > _MAX_POLHODE_STEP * construction.semi_axes.max()
        )
        if not long.any():
            break
        where = np.flatnonzero(long)
        between = 0.5 * (time[where] + time[where + 1])
        time = np.insert(time, where + 1, between)
        curve = np.insert(curve, where + 1, _polhode(construction, between), axis=0)
    return curve


def herpolhode_curve(construction: Poinsot) -> HerpolhodeCurve:
    """Compute the herpolhode over the times of a construction, for at most 12 periods of ω."""
    first, last = float(construction.time.min()), float(construction.time.max())
    period = float(construction.invariants.period)
    period = period if np.isfinite(period) else np.inf
    turn = 2.0 * np.pi / _max_angular_speed(construction)
    duration = min(last - first, MAX_PERIODS * period, _MAX_DRAWN_TURNS * turn)
    shares = _POINTS_PER_PERIOD * duration / period, _POINTS_PER_TURN * duration / turn
    time = first + np.linspace(0.0, duration, 2 + int(np.ceil(max(shares))))
    motion = rotate_freely(*construction.body_and_start, time)
    r = motion.angular_velocity / construction.root_of_twice_energy
    return HerpolhodeCurve(
        time=time,
        points=rotate(rotation_from_quaternion(motion.quaternion), r),
        is_complete=duration == last - first,
        periods=duration / period if np.isfinite(period) else np.nan,
    )


def _polhode(construction: Poinsot, time: Array) -> Vec3:
    """Return points of the polhode at times, in principal axes, shape (n, 3)."""
    w = rotate_freely(*construction.body_and_start, time).angular_velocity
    return w @ construction.axes / construction.root_of_twice_energy


def _max_angular_speed(construction: Poinsot) -> float:
    """Return the largest |ω| at the times of the construction [rad/s]."""
    lengths = np.linalg.norm(construction.polhode, axis=1)
    return construction.root_of_twice_energy * float(lengths.max())

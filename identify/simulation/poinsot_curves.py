"""Polhode and herpolhode as smooth curves, however sparse the times of the construction are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3
from identify.simulation.free_rotation import Regime, rotate_freely
from identify.simulation.poinsot import Poinsot
from identify.spatial.rotations import rotate, rotation_from_quaternion

MOST_PERIODS = 12
"""Of ω: more of them fill the ring of the herpolhode and tell nothing new."""

_MOST_TURNS = 96
"""Of the body, where a period has many of them or has no end."""

_OF_A_PERIOD, _OF_A_TURN = 240, 64
"""Points, at least."""

_POLHODE_STEP, _MOST_HALVINGS = 0.02, 20
"""Of the polhode, relative to the largest semi-axis."""

_LONGEST_PERIOD_DRAWN = 1e5
"""Of a period of which the polhode is drawn to its end."""


@dataclass(frozen=True, slots=True)
class HerpolhodeCurve:
    """The herpolhode from the first time of a construction on, in steps too small to be seen.

    Attributes:
        time: [s], increasing, shape (n,).
        points: r in W from the ellipsoid's centre [1/√(kg m²)], shape (n, 3).
        whole: whether it reaches to the last time of the construction.
        periods: of ω that it covers; NaN where there is none.
    """

    time: Array
    points: Vec3
    whole: bool
    periods: float


def polhode_curve(construction: Poinsot) -> Vec3:
    """The curve on the ellipsoid that a motion runs along, in principal axes [1/√(kg m²)].

    One period exactly, closed; of a steady spin its point, shape (1, 3). Where a period has no end,
    or more than 10⁵ rad, what is run along during the construction's times.
    """
    if construction.invariants.regime == Regime.STEADY:
        return (construction.polhode[0] @ construction.axes)[None]
    first, duration = construction.time.min(), float(np.ptp(construction.time))
    most = _LONGEST_PERIOD_DRAWN / _fastest(construction)
    period = float(construction.invariants.period)
    span = period if period <= most else min(duration, most)
    time = first + np.linspace(0.0, span, _OF_A_PERIOD + 1)
    curve = _polhode(construction, time)
    # Near the separatrix a period is a long rest and a quick flip: more points there.
    for _ in range(_MOST_HALVINGS):
        long = (
            np.linalg.norm(np.diff(curve, axis=0), axis=1)
            > _POLHODE_STEP * construction.semi_axes.max()
        )
        if not long.any():
            break
        where = np.flatnonzero(long)
        between = 0.5 * (time[where] + time[where + 1])
        time = np.insert(time, where + 1, between)
        curve = np.insert(curve, where + 1, _polhode(construction, between), axis=0)
    return curve


def herpolhode_curve(construction: Poinsot) -> HerpolhodeCurve:
    """The herpolhode over the times of a construction, but over 12 periods of ω at most."""
    first, last = float(construction.time.min()), float(construction.time.max())
    period = float(construction.invariants.period)
    period = period if np.isfinite(period) else np.inf
    turn = 2.0 * np.pi / _fastest(construction)
    duration = min(last - first, MOST_PERIODS * period, _MOST_TURNS * turn)
    shares = _OF_A_PERIOD * duration / period, _OF_A_TURN * duration / turn
    time = first + np.linspace(0.0, duration, 2 + int(np.ceil(max(shares))))
    motion = rotate_freely(*construction.given, time)
    r = motion.angular_velocity / construction.root_of_twice_energy
    return HerpolhodeCurve(
        time=time,
        points=rotate(rotation_from_quaternion(motion.quaternion), r),
        whole=duration == last - first,
        periods=duration / period if np.isfinite(period) else np.nan,
    )


def _polhode(construction: Poinsot, time: Array) -> Vec3:
    """Points of the polhode at times, in principal axes, shape (n, 3)."""
    w = rotate_freely(*construction.given, time).angular_velocity
    return w @ construction.axes / construction.root_of_twice_energy


def _fastest(construction: Poinsot) -> float:
    """About the largest |ω| of the motion [rad/s], from the times that are given."""
    lengths = np.linalg.norm(construction.polhode, axis=1)
    return construction.root_of_twice_energy * float(lengths.max())

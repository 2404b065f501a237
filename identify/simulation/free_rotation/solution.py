"""Free rotation of rigid bodies: attitude and angular velocity at any time, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Flags, Vec3, Vec4
from identify.inertia import InertialParameters
from identify.simulation.free_rotation.checks import (
    Start,
    checked_start,
    checked_time,
    require_known_angle,
)
from identify.simulation.free_rotation.double_double import DoubleDouble
from identify.simulation.free_rotation.regimes import Regime, ordered_spin
from identify.simulation.free_rotation.steady import SteadyRotation
from identify.simulation.free_rotation.swinging import SwingingRotation

_AT_A_TIME = 8192
"""Samples, or bodies, whose intermediate arrays stay in the cache."""

_MOST_RADIANS = 1e20


@dataclass(frozen=True, slots=True)
class FreeRotation:
    """Attitude and angular velocity of bodies on which no torque acts.

    Attributes:
        time: as it was asked for [s].
        quaternion: R_WB, shape (..., n, 4), continuous in time.
        angular_velocity: w_WB_B [rad/s], shape (..., n, 3).
    """

    time: Array
    quaternion: Vec4
    angular_velocity: Vec3


def free_rotation(
    body: ArrayLike | InertialParameters,
    quaternion: ArrayLike,
    angular_velocity: ArrayLike,
    time: ArrayLike,
) -> FreeRotation:
    """Motion of bodies about their centre of mass without torque, by Euler's equations solved.

        I dω/dt + ω × I ω = 0,    dq/dt = ½ q ⊗ ω

    ω in Jacobi's elliptic functions, the attitude by an elliptic integral of the third kind; any
    time, before or after zero, is reached at once. All inertias and spins are admitted: triaxial
    bodies about either axis, the separatrix between, symmetric tops, spheres, spins about an axis
    and none at all, and everything near them.

    The error of the attitude is a few 10⁻¹⁵ rad and does not grow with time (to 10¹² rad and
    farther), with the inputs taken as exact: rates and periods are formed in pairs of doubles, on
    every platform alike, so nothing is lost where a long double is but a double. Moments that
    differ by 10⁻¹³ leave 10⁻⁹ rad after 10⁴ of their periods, which is 10¹⁷ rad. A start within
    10⁻³¹ of the separatrix may be taken for one at 10⁻³¹ on either side.

    Args:
        body: inertia about the centre of mass I_BBcm_B [kg m²], shape (..., 3, 3), or ten
            parameters about Bo in B, shape (..., 10).
        quaternion: R_WB at time zero, shape (..., 4); scaled to unit norm.
        angular_velocity: w_WB_B at time zero [rad/s], shape (..., 3).
        time: [s], shape (n,) for all bodies alike, or (..., n) for each its own; or one number,
            and the motion then has no axis of time. The leading dimensions of all four broadcast.

    Raises:
        SimulationError: numbers that are not finite or of another shape, a tensor that is not
            symmetric, a body that no density realises, one without inertia about an axis, a
            quaternion of zeros, or a time so far away that turns cannot be counted.
    """
    times = checked_time(time)
    own = times.shape[:-1]
    start = checked_start(body, quaternion, angular_velocity, own)
    if own:
        rows = np.broadcast_to(times, (*start.batch, times.shape[-1]))
        rows = rows.reshape(-1, times.shape[-1])
    else:
        rows = np.broadcast_to(times.reshape(1, -1), (len(start.spin), times.size))
    q, w = _rotate(start, rows)
    shape = (*start.batch, *times.shape[-1:])
    return FreeRotation(times, q.reshape(*shape, 4), w.reshape(*shape, 3))


def _rotate(start: Start, time: Array) -> tuple[Vec4, Vec3]:
    """Quaternions (n, k, 4) and angular velocities (n, k, 3) at times (n, k), in chunks."""
    bodies, samples = time.shape
    q, w = np.empty((bodies, samples, 4)), np.empty((bodies, samples, 3))
    some = max(1, _AT_A_TIME // max(samples, 1))
    for first in range(0, bodies, some):
        part = slice(first, first + some)
        rotation = _Rotation.of(start.inertia[..., part], start.spin[part], start.quaternion[part])
        unit = start.unit_of_spin[part, None]
        for begin in range(0, samples, _AT_A_TIME):
            stretch = slice(begin, begin + _AT_A_TIME)
            scaled = _scaled(time[part, stretch], unit)
            q[part, stretch], w[part, stretch] = rotation.at(scaled)
        w[part] *= unit[..., None]
    return q, w


def _scaled(time: Array, unit: Array) -> Array:
    """Times in units of the inverse of the spin's."""
    with np.errstate(over="ignore"):
        scaled = time * unit
    require_known_angle(scaled, _MOST_RADIANS)
    return scaled


@dataclass(frozen=True, slots=True)
class _Rotation:
    """Bodies of a chunk: those whose ω is constant, and those whose ω moves.

    Attributes:
        steady: which have a constant ω, shape (n,).
        turning: of those.
        swinging: of the others.
    """

    steady: Flags
    turning: SteadyRotation | None
    swinging: SwingingRotation | None

    @classmethod
    def of(cls, inertia: DoubleDouble, spin: Vec3, quaternion: Vec4) -> _Rotation:
        ordered = ordered_spin(inertia, spin)
        steady = ordered.regime <= Regime.STEADY
        moving = ~steady
        return cls(
            steady,
            SteadyRotation.of(spin[steady], quaternion[steady]) if steady.any() else None,
            SwingingRotation.of(ordered[moving], quaternion[moving]) if moving.any() else None,
        )

    def at(self, time: Array) -> tuple[Vec4, Vec3]:
        q, w = np.empty((*time.shape, 4)), np.empty((*time.shape, 3))
        if self.turning is not None:
            q[self.steady], w[self.steady] = self.turning.at(time[self.steady])
        if self.swinging is not None:
            q[~self.steady], w[~self.steady] = self.swinging.at(time[~self.steady])
        return q, w

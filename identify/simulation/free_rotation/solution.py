"""Free motion of rigid bodies in closed form: attitude and angular velocity at any time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, PhiLike, Vec3, Vec4, as_array
from identify.errors import SimulationError
from identify.simulation.checks import broadcast_batches
from identify.simulation.free_rotation.attitude import PolhodeRotation
from identify.simulation.free_rotation.checks import (
    RotationStart,
    checked_start,
    require_known_angle,
)
from identify.simulation.free_rotation.polhode import Regime, ordered_spin
from identify.simulation.state import State, Trajectory
from identify.spatial import quaternion_product
from identify.spatial.rotations import cross, rotate, rotation_from_quaternion, vector_norms
from identify.spatial.vectors import GRAVITY_W

_CHUNK_SAMPLES = 8192
"""Number of samples, or of bodies, whose intermediate arrays fit into the cache."""

_MAX_ANGLE = 1e20
"""Maximum rotation angle [rad]; the attitude after a larger one is lost in rounding."""


@dataclass(frozen=True, slots=True)
class FreeRotation:
    """Attitude and angular velocity of bodies on which no torque acts.

    Attributes:
        time: the requested times [s].
        quaternion: R_WB, shape (..., n, 4), continuous in time.
        angular_velocity: w_WB_B [rad/s], shape (..., n, 3).
    """

    time: Array
    quaternion: Vec4
    angular_velocity: Vec3


def rotate_freely(
    body: ArrayLike, quaternion: ArrayLike, angular_velocity: ArrayLike, time: ArrayLike
) -> FreeRotation:
    """Compute torque-free rotation of bodies about their centre of mass in closed form.

        I dω/dt + ω × I ω = 0,    dq/dt = ½ q ⊗ ω

    ω is given by Jacobi's elliptic functions, the attitude by an elliptic integral of the third
    kind, directly at any time before or after zero. All inertias and spins are allowed: triaxial
    bodies about either axis, the separatrix, symmetric tops, spheres, spins about an axis, rest,
    and everything near these.

    For exact inputs the error of the attitude is about 2e-16 rad per radian of rotation, at most
    9e-16, since rates are rounded to doubles. Differences that would be lost in rounding (near the
    separatrix, thin rods, nearly equal moments) are computed to more digits. Components of ω below
    1e-40 of the largest are zero.

    Args:
        body: inertia about the centre of mass I_BBcm_B [kg m²], shape (..., 3, 3), or ten
            parameters about Bo in B, shape (..., 10).
        quaternion: R_WB at time zero, shape (..., 4); scaled to unit norm.
        angular_velocity: w_WB_B at time zero [rad/s], shape (..., 3).
        time: [s], shape (n,) for all bodies, or (..., n) for individual times; for a scalar the
            results have no time axis. The leading dimensions of all four broadcast.

    Raises:
        SimulationError: an argument is not finite or has a wrong shape, an inertia is not symmetric
            or not physically consistent, a body has no inertia about an axis, a quaternion is
            zero, or a time is so large that the angle is lost in rounding.
    """
    times = as_array(time, "time", (...,), SimulationError)
    start = checked_start(body, quaternion, angular_velocity, times.shape[:-1])
    rows = np.atleast_1d(times)
    rows = np.broadcast_to(rows, (*start.batch_shape, rows.shape[-1]))
    q, w = _rotate(start, rows.reshape(len(start.spin), rows.shape[-1]))
    shape = (*start.batch_shape, *times.shape[-1:])
    return FreeRotation(times, q.reshape(*shape, 4), w.reshape(*shape, 3))


def _rotate(start: RotationStart, time: Array) -> tuple[Vec4, Vec3]:
    """Compute quaternions (n, k, 4) and angular velocities (n, k, 3) at times (n, k), in chunks."""
    bodies, samples = time.shape
    q, w = np.empty((bodies, samples, 4)), np.empty((bodies, samples, 3))
    bodies_per_chunk = max(1, _CHUNK_SAMPLES // max(samples, 1))
    for first in range(0, bodies, bodies_per_chunk):
        chunk = slice(first, first + bodies_per_chunk)
        ordered = ordered_spin(start.inertia[chunk], start.spin[chunk])
        steady = ordered.regime <= Regime.STEADY
        for subset in (steady, ~steady):
            rows = first + np.flatnonzero(subset)
            if not rows.size:
                continue
            quaternion, unit = start.quaternion[rows], start.unit_of_spin[rows, None]
            if subset is steady:
                at = _steady_rotation(start.spin[rows], quaternion)
            else:
                at = PolhodeRotation(ordered.select(subset), quaternion).at
            for begin in range(0, samples, _CHUNK_SAMPLES):
                columns = slice(begin, begin + _CHUNK_SAMPLES)
                with np.errstate(over="ignore"):
                    angle = time[rows, columns] * unit  # time in units of 1 / unit_of_spin
                require_known_angle(angle, _MAX_ANGLE)
                q[rows, columns], w[rows, columns] = at(angle)
            w[rows] *= unit[..., None]
    return q, w


def _steady_rotation(w: Vec3, quaternion: Vec4) -> Callable[[Array], tuple[Vec4, Vec3]]:
    """Return a function that computes attitude and w of steady rotations at times (n, k)."""
    speed = vector_norms(w)[:, None]
    axis = w / np.where(speed > 0.0, speed, 1.0)

    def at(time: Array) -> tuple[Vec4, Vec3]:
        half = 0.5 * (speed * time)[..., None]
        rotation = np.concatenate((np.sin(half) * axis[:, None], np.cos(half)), axis=-1)
        attitude = quaternion_product(quaternion[:, None], rotation)
        return attitude, np.broadcast_to(w[:, None], (*time.shape, 3))

    return at


def free_motion(
    phi: PhiLike, start: State, time: ArrayLike, gravity: ArrayLike = GRAVITY_W
) -> Trajectory:
    """Compute the motion of bodies under gravity alone, in closed form at any times.

        p_C(t) = p_C + v_C t + ½ g t²,    p_Bo = p_C − R c,    v_Bo = v_C − R (ω × c)

    with c = h/m the centre of mass C from Bo; the rotation about C is `rotate_freely`.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10), broadcast with the batch of states.
        start: states at time zero, batch shape (...).
        time: [s], shape (n,); any order, before zero too.
        gravity: g in W [m/s²], shape (3,) or (..., 3).

    Raises:
        SimulationError: see `rotate_freely`; or `time` is not one-dimensional.
    """
    time = as_array(time, "time", (...,), SimulationError)
    if time.ndim != 1:
        raise SimulationError(f"time: expected shape (n,), got {time.shape}")
    phi = as_array(phi, "phi", (..., 10), SimulationError)
    g = as_array(gravity, "gravity", (..., 3), SimulationError)
    shapes = {"start": start.position.shape[:-1], "gravity": g.shape[:-1]}
    batch = broadcast_batches({"phi": phi.shape[:-1], **shapes})
    phi, g = np.broadcast_to(phi, (*batch, 10)), np.broadcast_to(g, (*batch, 3))[..., None, :]
    rotation = rotate_freely(phi, start.quaternion, start.angular_velocity, time)
    R, w = rotation_from_quaternion(rotation.quaternion), rotation.angular_velocity

    c = phi[..., 1:4] / phi[..., :1]
    R_0, w_0 = rotation_from_quaternion(start.quaternion), np.asarray(start.angular_velocity)
    position = (np.asarray(start.position) + rotate(R_0, c))[..., None, :]
    velocity = (np.asarray(start.velocity) + rotate(R_0, cross(w_0, c)))[..., None, :]
    c = c[..., None, :]
    t = time[:, None]
    return Trajectory(
        time=time,
        position=position + (velocity + 0.5 * g * t) * t - rotate(R, np.broadcast_to(c, w.shape)),
        quaternion=rotation.quaternion,
        velocity=velocity + g * t - rotate(R, cross(w, c)),
        angular_velocity=w,
    )

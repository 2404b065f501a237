"""Free motion of rigid bodies in closed form: attitude and angular velocity at any time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Flags, Mat33, Mat44, Phi, Vec3, Vec4
from identify.errors import SimulationError
from identify.inertia import InertialParameters
from identify.simulation.checks import as_numbers, broadcast_batches
from identify.simulation.free_rotation.attitude import PolhodeMotion
from identify.simulation.free_rotation.checks import (
    Start,
    checked_start,
    require_known_angle,
)
from identify.simulation.free_rotation.double_double import (
    PI,
    DoubleDouble,
    double_double,
    remainder,
    sqrt,
    total,
)
from identify.simulation.free_rotation.polhode import OrderedSpin, Regime, ordered_spin, polhode
from identify.simulation.state import State, Trajectory
from identify.spatial import quaternion_from_rotation, quaternion_product
from identify.spatial.rotations import cross, quaternion_conjugate, rotate, rotation_from_quaternion
from identify.spatial.vectors import GRAVITY_W


@dataclass(frozen=True, slots=True)
class SteadyRotation:
    """Bodies that turn about a fixed axis.

    Attributes:
        start: R_WB at time zero, shape (n, 4).
        angular_velocity: w_WB_B, shape (n, 3).
        speed: its length to twice the precision, shape (n,).
    """

    start: Vec4
    angular_velocity: Vec3
    speed: DoubleDouble

    @classmethod
    def of(cls, angular_velocity: Vec3, quaternion: Vec4) -> SteadyRotation:
        """Rotations from an attitude at a constant ω."""
        w = double_double(angular_velocity)
        return cls(quaternion, angular_velocity, sqrt(total(w * w, axis=1)))

    def at(self, time: Array) -> tuple[Vec4, Vec3]:
        """Quaternions (n, k, 4) and angular velocities (n, k, 3) at times (n, k)."""
        half = 0.5 * remainder(self.speed[:, None] * time, 4.0 * PI)
        speed = self.speed.value[:, None]
        axis = self.angular_velocity / np.where(speed > 0.0, speed, 1.0)
        turned = np.concatenate(
            (np.sin(half)[..., None] * axis[:, None], np.cos(half)[..., None]), axis=-1
        )
        w = np.broadcast_to(self.angular_velocity[:, None], (*time.shape, 3))
        return quaternion_product(self.start[:, None], turned), w


@dataclass(frozen=True, slots=True)
class SwingingRotation:
    """Bodies whose ω runs along a polhode.

    Attributes:
        axes: R_BP of the ordered principal axes, shape (n, 3, 3).
        motion: in those axes, relative to a frame N that has L as its third axis.
        frames: maps the quaternion of R_NP to that of R_WB, shape (n, 4, 4).
    """

    axes: Mat33
    motion: PolhodeMotion
    frames: Mat44

    @classmethod
    def of(cls, ordered: OrderedSpin, quaternion: Vec4) -> SwingingRotation:
        """Rotations from an attitude R_WB, shape (n, 4)."""
        motion = PolhodeMotion(polhode(ordered))
        first = motion.at(np.zeros((len(quaternion), 1)))[0][..., 0]
        q_PB = quaternion_conjugate(quaternion_from_rotation(ordered.axes))
        q_BN = quaternion_conjugate(quaternion_product(first, q_PB))
        q_WN = quaternion_product(quaternion, q_BN)
        return cls(ordered.axes, motion, _left(q_WN) @ _right(q_PB))

    def at(self, time: Array) -> tuple[Vec4, Vec3]:
        """Quaternions (n, k, 4) and angular velocities (n, k, 3) at times (n, k)."""
        q_NP, w = self.motion.at(time)
        return (self.frames @ q_NP).swapaxes(1, 2), (self.axes @ w).swapaxes(1, 2)


def _left(q: Vec4) -> Mat44:
    """The matrix of p ↦ q ⊗ p, shape (n, 4, 4)."""
    return quaternion_product(q[:, None, :], np.eye(4)).swapaxes(1, 2)


def _right(q: Vec4) -> Mat44:
    """The matrix of p ↦ p ⊗ q, shape (n, 4, 4)."""
    return quaternion_product(np.eye(4), q[:, None, :]).swapaxes(1, 2)


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


def rotate_freely(
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
    times = as_numbers(time, "time")
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
            columns = slice(begin, begin + _AT_A_TIME)
            scaled = _scaled(time[part, columns], unit)
            q[part, columns], w[part, columns] = rotation.at(scaled)
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


def free_motion(
    phi: Phi | InertialParameters,
    start: State,
    time: ArrayLike,
    gravity: ArrayLike = GRAVITY_W,
) -> Trajectory:
    """States of bodies under gravity alone, in closed form at any times.

        p_C(t) = p_C + v_C t + ½ g t²,    p_Bo = p_C − R c,    v_Bo = v_C − R (ω × c)

    with c = h/m the centre of mass C from Bo; the rotation about C is `rotate_freely`.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10), broadcast with the batch of states.
        start: states at time zero, batch shape (...).
        time: [s], shape (n,); any order, before zero too.
        gravity: g in W [m/s²], shape (3,) or (..., 3).

    Raises:
        SimulationError: as `rotate_freely`, or times that are not a list.
    """
    time = as_numbers(time, "time")
    if time.ndim != 1:
        raise SimulationError(f"time: expected shape (n,), got {time.shape}")
    phi = as_numbers(phi.phi if isinstance(phi, InertialParameters) else phi, "phi", 10)
    g = as_numbers(gravity, "gravity", 3)
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

"""The whole motion of a free body: a parabola of its centre of mass and the rotation about it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Phi
from identify.errors import SimulationError
from identify.inertia import InertialParameters
from identify.simulation.checks import broadcast_batches
from identify.simulation.free_rotation.checks import checked_numbers, checked_time
from identify.simulation.free_rotation.solution import free_rotation
from identify.simulation.state import State, Trajectory
from identify.spatial.rotations import cross, rotate, rotation_from_quaternion
from identify.spatial.vectors import GRAVITY_W


def free_motion(
    phi: Phi | InertialParameters,
    start: State,
    time: ArrayLike,
    gravity: ArrayLike = GRAVITY_W,
) -> Trajectory:
    """States of bodies under gravity alone, in closed form at any times.

        p_C(t) = p_C + v_C t + ½ g t²,    p_Bo = p_C − R c,    v_Bo = v_C − R (ω × c)

    with c = h/m the centre of mass C from Bo; the rotation about C is `free_rotation`.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10), broadcast with the batch of states.
        start: states at time zero, batch shape (...).
        time: [s], shape (n,); any order, before zero too.
        gravity: g in W [m/s²], shape (3,) or (..., 3).

    Raises:
        SimulationError: as `free_rotation`, or times that are not a list.
    """
    time = checked_time(time)
    if time.ndim != 1:
        raise SimulationError(f"time: expected shape (n,), got {time.shape}")
    phi = checked_numbers(phi.phi if isinstance(phi, InertialParameters) else phi, "phi", 10)
    g = checked_numbers(gravity, "gravity", 3)
    batch = broadcast_batches([phi.shape[:-1], start.vector.shape[:-1], g.shape[:-1]])
    phi, g = np.broadcast_to(phi, (*batch, 10)), np.broadcast_to(g, (*batch, 3))[..., None, :]
    rotation = free_rotation(phi, start.quaternion, start.angular_velocity, time)
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

"""Joint torques of a robot, linear in the inertial parameters of its links: τ = Y(q, q̇, q̈) φ.

The torque of joint j is the power per unit rate of the wrenches that all links need (virtual work):

    Y_ji = v_ji · F_i + u_ji · T_i

with [F_i; T_i] the Newton-Euler regressor of link i about its origin in its axes, and (v_ji, u_ji)
the twist of link i per unit rate of joint j, which is propagated from link to link for all joints
at once. Rotor inertias and friction are not part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Indices, PhiLike, as_array
from identify.robots.link_motion import (
    LinkMotion,
    cross,
    joint_arrays,
    link_motions,
    rotate_back,
)
from identify.robots.robot_model import BASE, MovingLink, RobotModel

_CHUNK_SAMPLES = 4096
"""Number of samples computed at a time: fewer cost more calls, more exceed the processor's
cache."""


class UnitTwists(NamedTuple):
    """Twists of a link per unit rate of the joints that move it, at the link's origin in its axes.

    Attributes:
        joints: indices of the joints, shape (k,).
        linear: linear part, shape (3, k, N).
        angular: angular part, shape (3, k, N).
    """

    joints: Indices
    linear: Array
    angular: Array


def torque_regressor(robot: RobotModel, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Compute the joint-torque regressor Y of each sample, τ = Y φ.

    Args:
        robot: with n joints and L moving links.
        q: joint positions [rad, or m for prismatic joints], shape (N, n).
        v: joint velocities, shape (N, n).
        a: joint accelerations, shape (N, n).

    Returns:
        Shape (N, n, 10 L): columns by link, each with its ten parameters in the order of phi. The
        samples are the last axis in memory.

    Raises:
        ModelError: another shape, or not finite.
    """
    q, v, a = joint_arrays(robot, q, v, a)
    columns, samples = 10 * len(robot.tree), q.shape[1]
    regressor = np.zeros((len(robot.joints), columns, samples))
    for start in range(0, samples, _CHUNK_SAMPLES):
        chunk = slice(start, start + _CHUNK_SAMPLES)
        _write_regressor(robot, q[:, chunk], v[:, chunk], a[:, chunk], regressor[..., chunk])
    return np.moveaxis(regressor, -1, 0)


def inverse_dynamics(
    robot: RobotModel, q: ArrayLike, v: ArrayLike, a: ArrayLike, phi: PhiLike | None = None
) -> Array:
    """Compute the joint torques of each sample, without friction and rotor inertias.

    Args:
        robot: with n joints and L moving links.
        q: joint positions [rad, or m for prismatic joints], shape (N, n).
        v: joint velocities, shape (N, n).
        a: joint accelerations, shape (N, n).
        phi: ten parameters of each link, shape (L, 10); by default those of the model.

    Returns:
        [N m, or N for prismatic joints], shape (N, n).

    Raises:
        ModelError: another shape, not finite, or no link of the model has a mass.
    """
    if phi is None:
        robot.require_inertias()
    phi = robot.phi if phi is None else as_array(phi, "phi", (len(robot.tree), 10))
    q, v, a = joint_arrays(robot, q, v, a)
    torque = np.empty((q.shape[1], len(robot.joints)))
    buffer = np.zeros((len(robot.joints), phi.size, min(q.shape[1], _CHUNK_SAMPLES)))
    for start in range(0, q.shape[1], _CHUNK_SAMPLES):
        chunk = slice(start, start + _CHUNK_SAMPLES)
        rows = buffer[..., : q[:, chunk].shape[1]]
        _write_regressor(robot, q[:, chunk], v[:, chunk], a[:, chunk], rows)
        torque[chunk] = np.einsum("jcn,c->nj", rows, phi.ravel())
    return torque


def _write_regressor(robot: RobotModel, q: Array, v: Array, a: Array, out: Array) -> None:
    """Write the regressor of a chunk of N samples into `out`, shape (n, 10 L, N)."""
    for index, (motion, twists) in enumerate(moving_links(robot, q, v, a)):
        write_link_columns(motion, twists, out[:, 10 * index : 10 * index + 10])


def moving_links(
    robot: RobotModel, q: Array, v: Array, a: Array, base: LinkMotion | None = None
) -> Iterator[tuple[LinkMotion, UnitTwists]]:
    """Yield motion and unit twists of each link, in the order of the tree; arrays (n, N).

    `base`: motion of a floating base, whose six unit twists then come before those of the joints.
    """
    twists = {BASE: base_twists(q.shape[1], floating=base is not None)}
    first = len(twists[BASE].joints)
    for index, motion in enumerate(link_motions(robot, q, v, a, base)):
        link = robot.tree[index]
        twists[index] = _next_unit_twists(link, motion, twists[link.parent], first)
        yield motion, twists[index]


def base_twists(samples: int, *, floating: bool = False) -> UnitTwists:
    """Return the unit twists of the base, which no joint moves, or six if it floats."""
    if floating:
        linear, angular = (np.eye(6)[part, :, None] for part in (slice(3), slice(3, 6)))
        shape = (3, 6, samples)
        return UnitTwists(
            np.arange(6), np.broadcast_to(linear, shape), np.broadcast_to(angular, shape)
        )
    return UnitTwists(np.zeros(0, dtype=np.intp), *np.zeros((2, 3, 0, samples)))


def _next_unit_twists(
    link: MovingLink, motion: LinkMotion, parent: UnitTwists, first: int
) -> UnitTwists:
    """Return the unit twists of a link from those of its parent and of the link's joint.

    `first`: number of the first joint's.
    """
    samples = motion.w.shape[-1]
    count = len(parent.joints)
    joints = parent.joints.tolist()
    joint = first + link.joint
    if joint not in joints:  # else it moves the parent already, as a mimic's leader
        joints.append(joint)
    row = joints.index(joint)
    v, u = np.zeros((2, 3, len(joints), samples))
    v[:, :count] = rotate_back(
        motion.R_PL, parent.linear + cross(parent.angular, motion.p_PL[:, None])
    )
    u[:, :count] = rotate_back(motion.R_PL, parent.angular)
    moved = v if link.prismatic else u
    moved[:, row] += link.multiplier * link.axis[:, None]
    return UnitTwists(np.array(joints), v, u)


def write_link_columns(motion: LinkMotion, twists: UnitTwists, out: Array) -> None:
    """Write the columns of a link into `out`, (n, 10, N), in the rows of joints that move it."""
    (ax, ay, az), (wx, wy, wz), (lx, ly, lz) = motion.a, motion.w, motion.alpha
    xx = wx * wx
    yy = wy * wy
    zz = wz * wz
    xy = wx * wy
    xz = wx * wz
    yz = wy * wz
    (v0, v1, v2), (u0, u1, u2) = twists.linear, twists.angular
    columns = (
        v0 * ax + v1 * ay + v2 * az,
        v0 * -(yy + zz) + v1 * (xy + lz) + v2 * (xz - ly) + u2 * ay - u1 * az,
        v0 * (xy - lz) + v1 * -(xx + zz) + v2 * (yz + lx) + u0 * az - u2 * ax,
        v0 * (xz + ly) + v1 * (yz - lx) + v2 * -(xx + yy) + u1 * ax - u0 * ay,
        u0 * lx + u1 * xz - u2 * xy,
        u0 * (ly - xz) + u1 * (lx + yz) + u2 * (xx - yy),
        u0 * (lz + xy) + u1 * (zz - xx) + u2 * (lx - yz),
        u1 * ly + u2 * xy - u0 * yz,
        u0 * (yy - zz) + u1 * (lz - xy) + u2 * (ly + xz),
        u0 * yz - u1 * xz + u2 * lz,
    )
    for column, values in enumerate(columns):
        out[twists.joints, column] = values

"""Forward recursion over the links of a robot, sample by sample, and the motion of its frames.

Arrays have the samples last: a vector is (3, N), a rotation (3, 3, N). The base is at rest, with a
proper acceleration of −g, unless its motion is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, as_array
from identify.robots.robot_model import BASE, MovingLink, RobotModel
from identify.spatial import BodyMotion, Pose


class LinkMotion(NamedTuple):
    """Motion of a link in axes of the link, samples last.

    Attributes:
        R_PL: rotation of the link in its parent, shape (3, 3, N).
        p_PL: position of its origin in its parent [m], shape (3, N), or (3, 1) if constant.
        w: angular velocity ω [rad/s], shape (3, N).
        alpha: angular acceleration α [rad/s²], shape (3, N).
        a: proper acceleration a' of its origin, classical less gravity [m/s²], shape (3, N).
    """

    R_PL: Array
    p_PL: Array
    w: Array
    alpha: Array
    a: Array


def joint_arrays(robot: RobotModel, *arrays: ArrayLike) -> Iterator[Array]:
    """Yield positions, velocities and accelerations of n joints with the samples last, (n, N).

    Raises `ModelError`: an array that is not finite numbers of shape (N, n), or of another N.
    """
    count = len(robot.joints)
    samples = len(as_array(arrays[0], "positions of the joints", (None, count)))
    names = ("positions", "velocities", "accelerations")[: len(arrays)]
    for values, name in zip(arrays, names, strict=True):
        array = as_array(values, f"{name} of the joints", (samples, count))
        yield np.ascontiguousarray(array.T)


def frame_pose(robot: RobotModel, frame: str, q: ArrayLike) -> Pose:
    """Compute the pose X_0F of a frame F in the robot's base at each sample.

    Args:
        robot: with n joints.
        frame: name of a link or joint of the model.
        q: joint positions [rad, or m for prismatic joints], shape (N, n).

    Returns:
        A batch of N poses.

    Raises:
        ModelError: the model has no such frame (names the nearest), or another shape of q.
    """
    index, X_LF = robot.frame(frame)
    if index == BASE:
        (q,) = joint_arrays(robot, q)
        shape = (q.shape[1], 3)
        return Pose(
            np.broadcast_to(X_LF.rotation, (*shape, 3)), np.broadcast_to(X_LF.position, shape)
        )
    X_0L = link_poses(robot, q)[index]
    return Pose(X_0L.rotation @ X_LF.rotation, X_0L.position + X_0L.rotation @ X_LF.position)


def link_poses(robot: RobotModel, q: ArrayLike) -> tuple[Pose, ...]:
    """Compute the pose of each moving link L in the robot's base, X_0L, at each sample.

    Args:
        robot: with n joints.
        q: joint positions [rad, or m for prismatic joints], shape (N, n).

    Returns:
        A batch of N poses for each link, in the order of the tree.

    Raises:
        ModelError: another shape of q, or not finite.
    """
    (q,) = joint_arrays(robot, q)
    poses: list[Pose] = []
    for link in robot.tree:
        R, p = _joint_transform(link, q[link.joint])
        R, p = np.moveaxis(R, -1, 0), np.broadcast_to(p, (3, q.shape[1])).T
        if link.parent != BASE:
            parent = poses[link.parent]
            p = parent.position + np.einsum("nij,nj->ni", parent.rotation, p)
            R = parent.rotation @ R
        poses.append(Pose(R, p))
    return tuple(poses)


def frame_motion(
    robot: RobotModel, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> BodyMotion:
    """Compute the motion of a frame F of a robot, in the axes of F.

    Args:
        robot: with n joints.
        frame: name of a link or joint of the model.
        q: joint positions [rad, or m for prismatic joints], shape (N, n).
        v: joint velocities, shape (N, n).
        a: joint accelerations, shape (N, n).

    Returns:
        Proper acceleration a_0Fo_F − g_F [m/s²], angular velocity w_0F_F [rad/s] and angular
        acceleration [rad/s²], shape (N, 3) each.

    Raises:
        ModelError: the model has no such frame (names the nearest), or another shape.
    """
    q, v, a = joint_arrays(robot, q, v, a)
    index, X_LF = robot.frame(frame)
    zero = np.zeros((3, q.shape[1]))
    w = zero
    alpha = zero
    acceleration = zero - robot.gravity[:, None]
    if index != BASE:
        motion = next(islice(link_motions(robot, q, v, a), index, None))
        w = motion.w
        alpha = motion.alpha
        acceleration = motion.a
    p = X_LF.position[:, None]
    acceleration = acceleration + cross(alpha, p) + cross(w, cross(w, p))
    return BodyMotion(*((vectors.T @ X_LF.rotation) for vectors in (acceleration, w, alpha)))


def link_motions(
    robot: RobotModel, q: Array, v: Array, a: Array, base: LinkMotion | None = None
) -> Iterator[LinkMotion]:
    """Yield the motion of each link, in the order of the tree.

    `q`: positions [rad or m], samples last, shape (n, N); `v`: velocities, shape (n, N); `a`:
    accelerations, shape (n, N); `base`: motion of the base, at rest if not given.
    """
    motions = {BASE: base_motion(robot) if base is None else base}
    for index, link in enumerate(robot.tree):
        k = link.joint
        motions[index] = _next_motion(link, motions[link.parent], q[k], v[k], a[k])
        yield motions[index]


def base_motion(robot: RobotModel) -> LinkMotion:
    """Return the motion of the base, which is at rest, with one sample."""
    zero = np.zeros((3, 1))
    return LinkMotion(np.eye(3)[..., None], zero, zero, zero, -robot.gravity[:, None])


def _next_motion(link: MovingLink, parent: LinkMotion, q: Array, v: Array, a: Array) -> LinkMotion:
    """Return the motion of a link from that of its parent and its joint, shape (N,) each."""
    v = link.multiplier * v
    a = link.multiplier * a
    axis = link.axis[:, None]
    R, p = _joint_transform(link, q)
    w = rotate_back(R, parent.w)
    alpha = rotate_back(R, parent.alpha)
    acceleration = rotate_back(
        R, parent.a + cross(parent.alpha, p) + cross(parent.w, cross(parent.w, p))
    )
    if link.prismatic:
        acceleration += axis * a + 2.0 * cross(w, axis * v)
    else:
        rate = axis * v
        alpha += axis * a + cross(w, rate)
        w += rate
    return LinkMotion(R, p, w, alpha, acceleration)


def _joint_transform(link: MovingLink, q: Array) -> tuple[Array, Array]:
    """Return rotation (3, 3, N) and position (3, N or 1) of a link in its parent."""
    position = link.multiplier * q + link.offset
    rotation, p = link.X_PL.rotation, link.X_PL.position[:, None]
    if link.prismatic:
        along = (rotation @ link.axis)[:, None]
        return np.broadcast_to(rotation[..., None], (3, 3, len(q))), p + along * position
    return _rotated_by_joint(rotation, link.axis, position), p


def _rotated_by_joint(rotation: Array, axis: Array, angle: Array) -> Array:
    """Return R exp(axis× angle) of each angle, shape (3, 3, N), by Rodrigues' formula."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    along = np.outer(axis, axis)
    constant, cosine, sine = (
        (rotation @ each)[..., None] for each in (along, np.eye(3) - along, skew)
    )
    return constant + cosine * np.cos(angle) + sine * np.sin(angle)


def rotate_back(R: Array, vectors: Array) -> Array:
    """Return Rᵀ u of each sample, R (3, 3, N) and u (3, ..., N)."""
    extra = (1,) * (vectors.ndim - 2)
    R = R.reshape(3, 3, *extra, -1)
    return R[0] * vectors[0] + R[1] * vectors[1] + R[2] * vectors[2]


def cross(u: Array, v: Array) -> Array:
    """Return u × v of each sample, components first."""
    following, last = (1, 2, 0), (2, 0, 1)
    return u.take(following, 0) * v.take(last, 0) - u.take(last, 0) * v.take(following, 0)

"""Equations of motion of a robot with a floating base, linear in the inertial parameters.

    Y φ = [0; τ] + Σ Jᵀ w

The first six rows are the wrench [f; t] on the whole robot at the base's origin in its axes, those
after them the torques of the joints. φ are the parameters of the base, then those of the links; w
are the wrenches on the robot at its contacts, J the Jacobians of these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array
from identify.errors import ModelError
from identify.robots.link_motion import LinkMotion, cross, joint_arrays
from identify.robots.regressor import UnitTwists, base_twists, moving_links, write_link_columns
from identify.robots.robot_model import BASE, RobotModel
from identify.spatial import BodyMotion


def floating_base_regressor(
    robot: RobotModel, base: BodyMotion, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> Array:
    """Compute the regressor Y of the base's six equations and those of n joints.

    Args:
        robot: with n joints and L moving links; its own base, with all that is fixed to it, floats.
        base: motion of the base at its origin in its axes, as an IMU there measures it.
        q: joint positions [rad, or m for prismatic joints], shape (N, n).
        v: joint velocities, shape (N, n).
        a: joint accelerations, shape (N, n).

    Returns:
        Shape (N, 6 + n, 10 (1 + L)): columns of the base, then by link, in the order of phi.

    Raises:
        ModelError: another shape, or not finite.
    """
    motion, q, v, a = _arrays(robot, base, q, v, a)
    samples = q.shape[1]
    regressor = np.zeros((6 + len(q), 10 * (1 + len(robot.tree)), samples))
    write_link_columns(motion, base_twists(samples, floating=True), regressor[:, :10])
    for index, (link, twists) in enumerate(moving_links(robot, q, v, a, motion), 1):
        write_link_columns(link, twists, regressor[:, 10 * index : 10 * index + 10])
    return np.moveaxis(regressor, -1, 0)


def contact_jacobian(robot: RobotModel, frame: str, q: ArrayLike) -> Array:
    """Compute the Jacobian J of a frame F, whose twist is J [twist of the base; joint velocities].

    Args:
        robot: with n joints and a floating base.
        frame: name of a link or joint of the model.
        q: joint positions [rad, or m for prismatic joints], shape (N, n).

    Returns:
        Shape (N, 6, 6 + n): linear part first, at the frame's origin in its axes; the base's twist
        is at its origin in its axes.

    Raises:
        ModelError: the model has no such frame (names the nearest), or another shape of q.
    """
    (q,) = joint_arrays(robot, q)
    index, X_LF = robot.frame(frame)
    samples, still = q.shape[1], np.zeros_like(q)
    zero = np.zeros((3, samples))
    motion = LinkMotion(np.eye(3)[..., None], zero, zero, zero, zero)
    twists = base_twists(samples, floating=True)
    if index != BASE:
        links = [twist for _, twist in moving_links(robot, q, still, still, motion)]
        twists = links[index]
    return _at_frame(twists, X_LF.rotation, X_LF.position, 6 + len(q))


def _at_frame(twists: UnitTwists, rotation: Array, position: Array, columns: int) -> Array:
    """Return the Jacobian of a frame from the unit twists of its link."""
    linear = twists.linear + cross(twists.angular, position[:, None, None])
    J = np.zeros((twists.linear.shape[-1], 6, columns))
    for rows, part in ((slice(3), linear), (slice(3, 6), twists.angular)):
        J[:, rows, twists.joints] = np.einsum("ji,jkn->nik", rotation, part)
    return J


def _arrays(
    robot: RobotModel, base: BodyMotion, *joints: ArrayLike
) -> tuple[LinkMotion, Array, Array, Array]:
    q, v, a = joint_arrays(robot, *joints)
    vectors = [
        np.asarray(each, dtype=np.float64)
        for each in (base.angular_velocity, base.angular_acceleration, base.proper_acceleration)
    ]
    if vectors[0].shape != (q.shape[1], 3):
        raise ModelError(
            f"motion of the base: expected {q.shape[1]} samples as of the joints, shape "
            f"({q.shape[1]}, 3), got {vectors[0].shape}"
        )
    w, alpha, acceleration = (np.ascontiguousarray(each.T) for each in vectors)
    return LinkMotion(np.eye(3)[..., None], np.zeros((3, 1)), w, alpha, acceleration), q, v, a

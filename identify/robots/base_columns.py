"""Base parameters of a robot: combinations of link parameters that joint torques depend on."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from identify.arrays import Array
from identify.inertia import PHI, BaseColumns, base_columns
from identify.robots.regressor import torque_regressor
from identify.robots.robot_model import RobotModel

_RANK_SAMPLES = 200
"""Number of random samples from which dependent columns are found: the equations of one joint alone
have more rows than a link has parameters, and their rank does not depend on the seed."""

_MAX_ANGLE, _MAX_TRAVEL = np.pi, 1.0
"""Largest position of revolute and prismatic joints in the random motion [rad, m]."""

_MAX_RATE, _MAX_ACCELERATION = 3.0, 10.0
"""Largest velocity [rad/s] and acceleration [rad/s²] of the random motion; torques by
gravity, inertia and Coriolis effects then have similar sizes."""


@lru_cache(maxsize=8)  # of a robot object: findings and fits of its logs need the columns
def robot_base_columns(robot: RobotModel) -> BaseColumns:
    """Find the linearly independent columns of a robot's torque regressor, from random motion.

    Positions are within the limits of the joints. Every regressor of the robot has these dependent
    columns: Y = Y[..., kept] @ dependence.

    Raises:
        ModelError: no torque depends on any parameter.
    """
    regressor = torque_regressor(robot, *random_motion(robot))
    return base_columns(regressor.reshape(-1, 10 * len(robot.links)))


def random_motion(robot: RobotModel) -> tuple[Array, Array, Array]:
    """Draw 200 random samples of joint motion within the limits, with a fixed seed.

    Returns:
        Positions, velocities and accelerations, independent of each other, shape (200, n) each.
    """
    rng = np.random.default_rng(0)
    reach = np.where(robot.prismatic, _MAX_TRAVEL, _MAX_ANGLE)
    low, high = np.clip(robot.position_limits.T, -reach, reach)
    shape = (_RANK_SAMPLES, len(robot.joints))
    q = rng.uniform(low, high, shape)
    v, a = (rng.uniform(-size, size, shape) for size in (_MAX_RATE, _MAX_ACCELERATION))
    return q, v, a


def parameter_names(robot: RobotModel) -> tuple[str, ...]:
    """Return the names of the columns of the torque regressor, such as "Ixx of upper_arm"."""
    return tuple(f"{name} of {link}" for link in robot.links for name in PHI)

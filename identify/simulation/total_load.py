"""All loads of a simulation as one wrench at Bo, along the motion they made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array, Vec6
from identify.simulation.loads import Load
from identify.simulation.state import Trajectory
from identify.spatial.rotations import cross, rotate_back, rotation_from_unit_quaternion


def total_wrench(loads: Sequence[Load], path: Trajectory) -> Vec6:
    """The sum of all loads at every time of a trajectory: what a sensor at Bo would measure.

    Gravity and impulses are not among them. A load counts from its start on and not at its end.

    Args:
        loads: those that made the motion.
        path: the motion, shape (..., n, ·).

    Returns:
        [f; t] on the body at Bo in B [N, N m], shape (..., n, 6).
    """
    R = rotation_from_unit_quaternion(path.quaternion)
    total = np.zeros((*path.quaternion.shape[:-1], 6))
    for load in loads:
        for k, time in enumerate(path.time):
            line = load.line(float(time))
            if line is not None:
                total[..., k, :] += _at_origin(load, line[0], R[..., k, :, :])
    return total


def _at_origin(load: Load, wrench: Vec6, R_WB: Array) -> Vec6:
    force, torque = wrench[..., :3], wrench[..., 3:]
    if load.frame == "world":
        force, torque = rotate_back(R_WB, force), rotate_back(R_WB, torque)
    torque = torque + cross(np.broadcast_to(load.point, force.shape), force)
    return np.concatenate((force, torque), axis=-1)

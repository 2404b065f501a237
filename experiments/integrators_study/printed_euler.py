"""Semi-implicit Euler step as printed in a text, for comparison only."""

from __future__ import annotations

import numpy as np

from experiments.integrators_study.cases import BODY, START
from identify.inertia import inertia_about_com
from identify.simulation import Trajectory
from identify.spatial import quaternion_product
from identify.spatial.rotations import rotate, rotation_from_quaternion

NAME = "Euler as printed"


def printed_euler(duration: float, step: float) -> Trajectory:
    """Simulate a free body: L from the last ω, and ω from L at the same attitude."""
    Ic = inertia_about_com(BODY)
    q = START.vector[3:7]
    w = rotation_from_quaternion(q) @ START.angular_velocity
    count = round(duration / step)
    quaternions, velocities = np.empty((count + 1, 4)), np.empty((count + 1, 3))
    for k in range(count + 1):
        R = rotation_from_quaternion(q)
        quaternions[k], velocities[k] = q, R.T @ w
        L = R @ Ic @ R.T @ w
        w = R @ np.linalg.solve(Ic, R.T @ L)
        q = q + 0.5 * step * quaternion_product(np.r_[w, 0.0], q)
        q = q / np.linalg.norm(q)
    lever = rotation_from_quaternion(quaternions) @ (BODY[1:4] / BODY[0])
    time = step * np.arange(count + 1)
    around = -np.cross(rotate(rotation_from_quaternion(quaternions), velocities), lever)
    v = around + (START.velocity - around[0])  # the centre of mass moves uniformly
    position = np.outer(time, START.velocity - around[0]) - (lever - lever[0])
    return Trajectory(time, position, quaternions, v, velocities)

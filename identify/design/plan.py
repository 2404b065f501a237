"""A designed motion as it is commanded: samples over time, and the conditions that hold for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Flags, Vec4
from identify.spatial.rotations import exp_rotation, quaternion_product

SUPERVISION = "A person stays at the stop button while the robot moves."
"""Sentence at the head of every file of a designed motion."""


@dataclass(frozen=True, slots=True)
class MotionPlan:
    """A motion to run on a robot, from rest to rest.

    Attributes:
        axes: names of the joints; or "rz", "ry", "rx", rotations of the tool about its axes z, y
            and x from its attitude at the start, R = R_z R_y R_x.
        times: from zero to the end, evenly spaced, shape (N,) [s].
        values: positions, velocities and accelerations of the axes, shape (3, N, n) [rad or m].
        of_joints: whether axes are joints of a robot.
        prismatic: whether each axis translates, shape (n,).
        remarks: which limits hold, and what was not checked, one sentence each.
    """

    axes: tuple[str, ...]
    times: Array
    values: Array
    of_joints: bool
    prismatic: Flags
    remarks: tuple[str, ...]

    @property
    def quaternions(self) -> Vec4:
        """Attitude of the tool relative to the start, [x, y, z, w], shape (N, 4); of a wrist."""
        attitude = np.tile([0.0, 0.0, 0.0, 1.0], (len(self.times), 1))
        for angle, axis in zip(self.values[0].T, np.eye(3)[::-1], strict=True):
            attitude = quaternion_product(attitude, exp_rotation(angle[:, None] * axis))
        return attitude

    def csv(self) -> str:
        """Return a table with remarks in its head: time, positions, velocities, accelerations.

        Columns are `t`, then `q[AXIS]`, `qd[AXIS]` and `qdd[AXIS]`, in SI, as `identify init`
        knows them; a log of the motion has `tau[AXIS]` besides.
        """
        names = [f"{kind}[{axis}]" for kind in ("q", "qd", "qdd") for axis in self.axes]
        table = np.column_stack((self.times, *self.values))
        lines = [f"# {remark}" for remark in self.remarks]
        lines.append(",".join(("t", *names)))
        lines += [",".join(f"{number:.9g}" for number in row) for row in table]
        return "\n".join(lines) + "\n"

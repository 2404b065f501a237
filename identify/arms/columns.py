"""Columns z of a joint's equation of motion, one layout for all joints of an arm.

    τ_j = Y_j φ + I_j q̈_j + v_j q̇_j + c_j sign q̇_j + o_j + what motors of several joints add

                 + further friction, where a log shows it (`FURTHER_FRICTION`)

Y_j is kept as its independent columns, Y = Y[kept] D. A motor that moves with several joints (a
coupled wrist) adds its own inertia and friction to each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.inertia import BaseColumns
from identify.regressors import ChannelGroup, RowLayout
from identify.robots import RobotModel, parameter_names, robot_base_columns
from identify.robots.robot_model import BASE

FRICTION = ("viscous", "coulomb", "offset")
"""Friction of a joint: coefficient of the velocity, of its sign, and a constant."""

FURTHER_FRICTION = (
    *("load_friction", "stribeck_slow", "stribeck_fast"),
    *("coulomb_change", "viscous_change"),
)
"""Friction that only some joints have: |τ| sign q̇, of a gear that carries the torque τ; the rise
sign q̇ exp(−(q̇ / v)²) at two speeds v (Stribeck); changes of friction from start to end of a log.

|τ| is of the model's links: of the measured torque friction is a part, so that |τ| sign q̇ would be
τ itself where friction is larger than the rest."""

FURTHER_OF_RUN = FURTHER_FRICTION[3:]
"""Further friction of which each run has its own."""

_STRIBECK_SPEEDS = np.array([[0.1], [0.3]])
"""Speeds v [rad/s]; a tenth of them in m/s."""

ROTOR_INERTIA = "rotor_inertia"
"""Inertia of a motor's rotor and gear, about the joint's axis."""


class JointMotion(NamedTuple):
    """Motion and torque of the joints of an arm on an even clock.

    Attributes:
        time: [s], shape (s,).
        q, v, a: positions, velocities and accelerations [rad or m], shape (s, n).
        effort: torque on the joints [N m or N], shape (s, n).
        phase: time from the middle of the log, relative to its duration, shape (s,).
    """

    time: Array
    q: Array
    v: Array
    a: Array
    effort: Array
    phase: Array


@dataclass(frozen=True, eq=False)
class ArmColumns:
    """Meaning of the columns z of the joints of an arm.

    Attributes:
        robot: kinematic tree with its links' parameters.
        base: independent columns of the torque regressor.
        motors: motors that move with several joints, by name: share of each joint in the motor's
            motion, one for the joint it belongs to, shape (n,).
    """

    robot: RobotModel
    base: BaseColumns
    motors: tuple[tuple[str, Array], ...] = ()

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the n joints."""
        return self.robot.joints

    @property
    def links(self) -> slice:
        """Columns of the independent parameters of the links."""
        return slice(0, len(self.base.independent))

    @property
    def friction(self) -> slice:
        """Columns [q̈_j, q̇_j, sign q̇_j, 1] of the joint itself."""
        return slice(self.links.stop, self.links.stop + 4)

    def motor(self, number: int) -> slice:
        """Return the columns [q̈_m, q̇_m, sign q̇_m] of a motor of several joints."""
        start = self.friction.stop + 3 * number
        return slice(start, start + 3)

    @property
    def further(self) -> slice:
        """Columns of `FURTHER_FRICTION`."""
        start = self.friction.stop + 3 * len(self.motors)
        return slice(start, start + len(FURTHER_FRICTION))

    @property
    def torque(self) -> int:
        """Column of the measured torque, the last one."""
        return self.further.stop

    def __len__(self) -> int:
        return self.torque + 1

    @cached_property
    def nonzero(self) -> tuple[Indices, ...]:
        """Numbers of the columns of each joint that are not zero throughout, torque last."""
        return tuple(self._nonzero(joint) for joint in range(len(self.joints)))

    def _nonzero(self, joint: int) -> Indices:
        moved = _moved_links(self.robot)[joint][self.base.independent // 10]
        numbers = [*np.flatnonzero(moved), *range(self.friction.start, self.friction.stop)]
        for number, (_, shares) in enumerate(self.motors):
            if shares[joint]:
                numbers += range(self.motor(number).start, self.motor(number).stop)
        return np.array([*numbers, *range(self.further.start, self.further.stop), self.torque])

    @property
    def layout(self) -> RowLayout:
        """Layout of the statistics: a group, and so one weight over all frequencies, by joint.

        Torques may be low-passed, so that weights by frequency would rest on the fast ones alone.
        """
        links = parameter_names(self.robot)
        names = [
            *(links[k] for k in self.base.independent),
            "acceleration",
            "velocity",
            "sign",
            "one",
        ]
        for motor, _ in self.motors:
            names += [f"{motor} acceleration", f"{motor} velocity", f"{motor} sign"]
        groups = tuple(
            ChannelGroup(joint, (joint,), ("force" if prismatic else "torque",))
            for joint, prismatic in zip(self.joints, self.robot.prismatic, strict=True)
        )
        return RowLayout(
            columns=(*names, *FURTHER_FRICTION, "torque"), groups=groups, fit=len(self)
        )

    @classmethod
    def of(cls, robot: RobotModel, coupling: Array | None = None) -> ArmColumns:
        """Find the columns of an arm.

        Args:
            robot: kinematic tree.
            coupling: matrix from joint positions to those of the motors, shape (n, n).
        """
        return cls(robot, robot_base_columns(robot), _motors(robot.joints, coupling))


def _moved_links(robot: RobotModel) -> Flags:
    """Return which links each joint moves, shape (n, L)."""
    moved = np.zeros((len(robot.joints), len(robot.tree)), dtype=np.bool_)
    for index, link in enumerate(robot.tree):
        if link.parent != BASE:
            moved[:, index] = moved[:, link.parent]
        moved[link.joint, index] = True
    return moved


def _motors(joints: tuple[str, ...], coupling: Array | None) -> tuple[tuple[str, Array], ...]:
    """Name the motors that several joints move, with the joints' shares."""
    motors = []
    for number, row in enumerate([] if coupling is None else coupling):
        if np.count_nonzero(row) > 1:
            lead = number if row[number] else int(np.abs(row).argmax())
            name = f"motor of {joints[number]}" if row[number] else f"motor {number + 1}"
            motors.append((name, row / row[lead]))
    return tuple(motors)


def joint_columns(
    columns: ArmColumns, Y: Array, motion: JointMotion, joint: int
) -> tuple[Indices, Array]:
    """Form the columns of a joint that are not zero throughout.

    `Y`: torque regressor of the motion, shape (n, 10 L, s).
    Returns their numbers, shape (k,), and values, shape (k, s).
    """
    nonzero = columns.nonzero[joint]
    v = motion.v.T
    a = motion.a.T
    links = nonzero[nonzero < columns.links.stop]
    z = np.empty((len(nonzero), len(motion.v)))
    z[: len(links)] = Y[joint, columns.base.independent[links]]
    friction = z[len(links) :]
    friction[0], friction[1], friction[2] = a[joint], v[joint], np.sign(v[joint])
    friction[3], friction[-1] = 1.0, motion.effort[:, joint]
    speeds = _STRIBECK_SPEEDS * (0.1 if columns.robot.prismatic[joint] else 1.0)
    further = friction[-1 - len(FURTHER_FRICTION) : -1]
    model = columns.robot.phi.ravel() @ Y[joint]
    further[0] = np.abs(model) * friction[2]
    further[1:3] = np.exp(-((v[joint] / speeds) ** 2)) * friction[2]
    further[3:] = motion.phase * friction[[2, 1]]
    moved = (shares for _, shares in columns.motors if shares[joint])
    for number, shares in enumerate(moved):
        velocity, first = shares @ v, 4 + 3 * number
        friction[first], friction[first + 1] = shares @ a, velocity
        friction[first + 2] = np.sign(velocity)
        friction[first : first + 3] *= shares[joint]
    return nonzero, z

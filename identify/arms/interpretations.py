"""Other interpretations of a log of an arm: signs, orders, units, zeros, types and mountings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from identify.arms.joint_fits import ArmPoints
from identify.arrays import Array, Indices
from identify.robots import RobotModel, robot_base_columns

_MIN_DEGREES = 7.0
"""Smallest position that may be in degrees: more than a turn in radians, little in degrees."""

_UNCHANGED_ORDER = slice(None)
"""Order of the joints as they are."""


class ArmInterpretation(NamedTuple):
    """Another interpretation of a log.

    Attributes:
        code: of the finding.
        text: what the log shows if the interpretation is right.
        remedy: line of the schema, or action.
        apply: function that interprets points so.
    """

    code: str
    text: str
    remedy: str
    apply: Callable[[ArmPoints], ArmPoints]


def interpretations(points: ArmPoints) -> Iterator[ArmInterpretation]:
    """Yield all other interpretations of a log, the simplest first."""
    robot = points.robot
    yield from _signs(robot)
    if np.abs(points.motion.q[:, ~robot.prismatic]).max(initial=0.0) > _MIN_DEGREES:
        yield ArmInterpretation(
            "joint_unit",
            "the positions of the joints are in degrees, not in radians",
            'In the schema, [joints], set `unit = "deg"`.',
            moved(position=np.where(robot.prismatic, 1.0, np.pi / 180.0)),
        )
    yield from _mountings(robot)
    yield from _types(robot)
    yield from _orders(robot)
    yield from _zeros(robot)


def moved(
    *,
    position: Array | float = 1.0,
    effort: Array | float = 1.0,
    zero: Array | float = 0.0,
    position_order: Indices | slice = _UNCHANGED_ORDER,
    effort_order: Indices | slice = _UNCHANGED_ORDER,
) -> Callable[[ArmPoints], ArmPoints]:
    """Return a function that reorders and scales positions and efforts, and shifts zeros."""

    def apply(points: ArmPoints) -> ArmPoints:
        m = points.motion
        q, v, a = (position * values[:, position_order] for values in (m.q, m.v, m.a))
        motion = m._replace(q=q + zero, v=v, a=a, effort=effort * m.effort[:, effort_order])
        return replace(points, motion=motion)

    return apply


def _with_model(points: ArmPoints, robot: RobotModel) -> ArmPoints:
    """Return the points of a log with another model of the arm."""
    base = robot_base_columns(robot)
    return replace(points, columns=replace(points.columns, robot=robot, base=base))


def _signs(robot: RobotModel) -> Iterator[ArmInterpretation]:
    yield ArmInterpretation(
        "effort_sign",
        "the efforts of all joints have the other sign",
        'In the schema, [joints], set `effort_acts_on = "motor"`; where it is "motor" already, '
        'write "joint" (the default).',
        moved(effort=-1.0),
    )
    signs = dict(zip(robot.joints, 1.0 - 2.0 * np.eye(len(robot.joints)), strict=True))
    for name, sign in signs.items():
        yield ArmInterpretation(
            "effort_sign",
            f"the effort of {name} has the other sign",
            f'In the schema, [joints] effort, write the column of {name} with a minus, "-…".',
            moved(effort=sign),
        )
    for name, sign in signs.items():
        for both in (False, True):
            yield ArmInterpretation(
                "joint_sign",
                f"{name} turns the other way than in the robot's model"
                + ", and its effort too" * both,
                f"In the schema, [joints], write the columns of position{' and' if both else ''} "
                f'{"effort " if both else ""}of {name} with a minus, "-…", and of its velocity.',
                moved(position=sign, effort=sign if both else 1.0),
            )


def _mountings(robot: RobotModel) -> Iterator[ArmInterpretation]:
    g = float(np.linalg.norm(robot.gravity))
    mountings = {"-z": "upright", "+z": "on a ceiling"}
    for axis, sign in zip("xxyyzz", (1.0, -1.0) * 3, strict=True):
        gravity = np.where(np.array(list("xyz")) == axis, sign * g, 0.0)
        direction = f"{'+' if sign > 0.0 else '-'}{axis}"
        if robot.gravity @ gravity >= 0.9 * g**2:
            continue
        values = [f"{value:g}" for value in gravity.round(5).tolist()]
        yield ArmInterpretation(
            "gravity_direction",
            f"gravity acts along {direction} of the robot's base: the base is "
            f"{mountings.get(direction, 'on a wall')}",
            f"In the schema, [world], set `gravity = [{', '.join(values)}]`; where it is given on "
            f"the command line, `--gravity {' '.join(values)}`.",
            lambda points, gravity=gravity: _with_model(
                points, replace(points.robot, gravity=gravity)
            ),
        )

    yield ArmInterpretation(
        "gravity_subtracted",
        "the efforts are without the weight of the links, as a controller gives that subtracts it",
        "Log the torques as measured: without its weight no torque tells a mass.",
        lambda points: _with_model(points, replace(points.robot, gravity=np.zeros(3))),
    )


def _types(robot: RobotModel) -> Iterator[ArmInterpretation]:
    for j, (name, prismatic) in enumerate(zip(robot.joints, robot.prismatic.tolist(), strict=True)):
        is_type, other = ("revolute", "prismatic") if prismatic else ("prismatic", "revolute")
        yield ArmInterpretation(
            "joint_type",
            f"{name} is {is_type}, not {other} as in the robot's model",
            f'In the URDF, set the type of {name} to "{is_type}".',
            lambda points, j=j: _with_model(points, _with_other_type(points.robot, j)),
        )


def _with_other_type(robot: RobotModel, joint: int) -> RobotModel:
    """Return a robot with a revolute joint as a prismatic one, or the reverse."""
    tree = (
        replace(link, prismatic=not link.prismatic) if link.joint == joint else link
        for link in robot.tree
    )
    return replace(robot, tree=tuple(tree))


def _orders(robot: RobotModel) -> Iterator[ArmInterpretation]:
    n, names = len(robot.joints), robot.joints
    plain = np.arange(n)
    orders: dict[str, Indices] = {}
    for i, j in combinations(range(n), 2):
        exchanged = np.where(plain == i, j, np.where(plain == j, i, plain))
        orders[f"those of {names[i]} and {names[j]} are exchanged"] = exchanged
    orders["they are those of the joints in reverse"] = plain[::-1]
    orders["they are shifted by 1 joint"] = np.roll(plain, 1)
    orders["they are shifted by 1 joint backwards"] = np.roll(plain, -1)
    for keys in (("position", "effort"), ("effort",), ("position",)):
        for text, order in orders.items():
            yield ArmInterpretation(
                "joint_order",
                f"the {'s and '.join(keys)}s are in another order than the joints: {text}",
                f"In the schema, [joints], list the columns of {' and '.join(keys)} in the order "
                "of names.",
                moved(
                    position_order=order if "position" in keys else _UNCHANGED_ORDER,
                    effort_order=order if "effort" in keys else _UNCHANGED_ORDER,
                ),
            )


def _zeros(robot: RobotModel) -> Iterator[ArmInterpretation]:
    for name, unit, prismatic in zip(
        robot.joints, np.eye(len(robot.joints)), robot.prismatic.tolist(), strict=True
    ):
        for degrees in () if prismatic else (90, -90, 180):
            zero = np.radians(degrees)
            yield ArmInterpretation(
                "joint_zero",
                f"{name} is {degrees:+d}° from its position in the robot's model",
                f"In the schema, [joints] offset, add {zero:+.4f} rad to {name}.",
                moved(zero=zero * unit),
            )

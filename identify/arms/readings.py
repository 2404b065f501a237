"""Readings of logs of an arm: other signs, orders, units, zeros, mountings, and what each leaves.

A reading is judged by the torque that the links of the robot's model leave, with friction of each
joint fitted and at least zero. Least squares of free links cannot: an arm on a ceiling is one of
negative masses to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from identify.arms.columns import ArmColumns, JointMotion
from identify.arms.rows import joint_segments
from identify.arrays import Array, Flags, Indices
from identify.inertia.frames import frame_map
from identify.logs import JointRecording
from identify.robots import (
    RobotModel,
    inverse_dynamics,
    robot_base_columns,
    torque_regressor,
)
from identify.signals.differentiator import Differentiator

_SAMPLES = 100_000
"""Largest number of samples of a log that are smoothed: a reading is that of the whole log."""

_POINTS = 300
"""Approximate number of points of a log; each joint has some ten unknowns."""

_LEAST_DEGREES = 7.0
"""Smallest position that may be in degrees: more than a turn in radians, little in degrees."""

_MIN_MOVING_SHARE = 0.05
"""Smallest share of points at which a joint moves; below it, a reading explains none of its torque,
as degrees that are read twice as such."""

_TINY = 1e-12
"""Least mean square of a torque [N² m²], for joints without one."""

_RIDGE = 1e-10
"""Share of a column's power that is added to it, as columns of a short motion may depend."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmPoints:
    """Points of a log of an arm.

    Attributes:
        columns: columns of the arm, with its model.
        motion: smoothed motion and torque.
        still_below: speed of each joint below which its rows do not count, shape (n,).
        judged: whether each joint moves; torques of others are not explained, shape (n,).
        load: frame of a load, or None.
    """

    columns: ArmColumns
    motion: JointMotion
    still_below: Array
    judged: Flags
    load: str | None = None

    @property
    def robot(self) -> RobotModel:
        """Model of the arm."""
        return self.columns.robot


def arm_points(
    log: JointRecording, columns: ArmColumns, cutoff_hz: float, load: str | None = None
) -> ArmPoints:
    """Smooth the longest segment of a log, at most its first samples.

    Raises:
        LogError: the log has no effort, or is too short.
    """
    segment = max(joint_segments(log), key=len)
    smooth = Differentiator.design(segment.rate_hz, cutoff_hz)
    half = smooth.half_window
    signals = {name: values[:_SAMPLES] for name, values in segment.signals.items()}
    q, v = signals["joint_position"], signals.get("joint_velocity")
    measured, order = (q, 1) if v is None else (v, 0)
    motion = JointMotion(
        segment.time[half : len(q) - half],
        smooth.apply(q, 0),
        smooth.apply(measured, order),
        smooth.apply(measured, order + 1),
        smooth.apply(signals["effort"], 0),
    )
    judged = _moving_shares(motion, log.still_below) >= _MIN_MOVING_SHARE
    return ArmPoints(columns, motion, log.still_below, judged, load)


def _moving_shares(motion: JointMotion, still_below: Array) -> Array:
    """Return the share of points at which each joint moves, shape (n,)."""
    return (np.abs(motion.v) > still_below).mean(axis=0)


def some_points(points: ArmPoints, most: int = _POINTS) -> ArmPoints:
    """Return points at even steps."""
    stride = max(1, len(points.motion.time) // most)
    return replace(points, motion=JointMotion(*(values[::stride] for values in points.motion)))


class JointFit(NamedTuple):
    """Fit of friction, and of what else is free, to the points of a log.

    Attributes:
        errors: torque that is left of each joint, relative to that measured, shape (n,).
        power: mean square of the measured torque of each joint while it moves, shape (n,).
        gains: of the torque of the model's links of each joint, shape (n,).
        shares: power of that torque, by that of the measured one, shape (n,).
    """

    errors: Array
    power: Array
    gains: Array
    shares: Array

    @property
    def total(self) -> float:
        """Relative error of all joints together."""
        return float(np.sqrt(self.errors**2 @ self.power / self.power.sum()))


def fit_friction(points: ArmPoints, *, links: bool = False, gains: bool = False) -> JointFit:
    """Fit friction and rotor inertias that are at least zero, with the links of the model.

    Args:
        points: of one log.
        links: whether the links are free, not those of the model.
        gains: whether the torque of the model's links has a gain for each joint.
    """
    robot, m = points.robot, points.motion
    n = len(robot.joints)
    free = _free_columns(points, links)
    rigid = np.zeros_like(m.q) if links else inverse_dynamics(robot, m.q, m.v, m.a)
    motors = _motors(points)
    # offsets of joints first, then links or a load, then unknowns that are at least zero
    start = n + free.shape[2]
    p = start + 3 * (n + len(motors)) + (n if gains else 0)
    grams, power = np.zeros((n, p + 1, p + 1)), np.full(n, _TINY)
    for j in np.flatnonzero(points.judged).tolist():
        moves = np.abs(m.v[:, j]) > points.still_below[j]
        if moves.mean() < _MIN_MOVING_SHARE:
            grams[j, p, p] = 1.0
            continue
        tau = m.effort[moves, j]
        power[j] = max(float(tau @ tau) / len(tau), _TINY)
        terms: list[tuple[Indices, Array]] = [(np.array([j]), np.ones((len(tau), 1)))]
        terms.append((np.arange(n, start), free[moves, j]))
        for number, (shares, a, v) in enumerate([(np.eye(n)[j], m.a[:, j], m.v[:, j]), *motors]):
            if number == 0 or shares[j]:
                first = start + 3 * (j if number == 0 else n + number - 1)
                columns = np.stack((a[moves], v[moves], np.sign(v[moves])), axis=1)
                terms.append((np.arange(first, first + 3), shares[j] * columns))
        if gains:
            terms.append((np.array([p - n + j]), rigid[moves, j, None]))
        else:
            tau = tau - rigid[moves, j]
        terms.append((np.array([p]), tau[:, None]))
        numbers = np.concatenate([each for each, _ in terms])
        z = np.concatenate([values for _, values in terms], axis=1)
        grams[j][np.ix_(numbers, numbers)] = z.T @ z / (power[j] * len(tau))
    x = _bounded_solution(grams.sum(axis=0), start)
    z = np.append(-x, 1.0)
    residual = np.maximum(np.einsum("a,jab,b->j", z, grams, z), 0.0)
    factors = x[p - n :] if gains else np.ones(n)
    shares = factors**2 * rigid.var(axis=0) / power
    return JointFit(np.sqrt(residual), power, factors, shares)


def _bounded_solution(gram: Array, free: int) -> Array:
    """Solve least squares by the moments [A b]ᵀ[A b]; all but the first `free` are at least 0."""
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0.0] = 1.0
    scaled = gram / np.outer(scale, scale)
    np.fill_diagonal(scaled, np.diag(scaled) + _RIDGE)
    R = np.linalg.cholesky(scaled + 1e-14 * np.eye(len(scaled))).T
    bounded, _ = nnls(R[free:, free:-1], R[free:, -1])
    rest = R[:free, -1] - R[:free, free:-1] @ bounded
    x = np.concatenate((solve_triangular(R[:free, :free], rest), bounded))
    return x * scale[-1] / scale[:-1]


def _free_columns(points: ArmPoints, links: bool) -> Array:
    """Return the columns of free links, or of a load on the model's links, shape (s, n, k)."""
    robot, m = points.robot, points.motion
    if not links and points.load is None:
        return np.zeros((*m.q.shape, 0))
    Y = torque_regressor(robot, m.q, m.v, m.a)
    if links:
        return Y[..., points.columns.base.kept]
    link, X_LF = robot.frame(str(points.load))
    return Y[..., 10 * link : 10 * link + 10] @ frame_map(X_LF)


def _motors(points: ArmPoints) -> list[tuple[Array, Array, Array]]:
    """Return shares of the joints, acceleration and velocity of each motor of several joints."""
    a, v = points.motion.a, points.motion.v
    return [(shares, a @ shares, v @ shares) for _, shares in points.columns.motors]


@dataclass(frozen=True, slots=True)
class ArmReading:
    """Another reading of a log.

    Attributes:
        code: of the finding.
        text: what the log shows if the reading is right.
        remedy: line of the schema, or action.
        apply: function that reads points so.
        joints: names of the joints that it concerns.
    """

    code: str
    text: str
    remedy: str
    apply: Callable[[ArmPoints], ArmPoints]
    joints: tuple[str, ...] = ()


def readings(points: ArmPoints) -> Iterator[ArmReading]:
    """Yield all readings but the plain one, the simplest first."""
    robot = points.robot
    yield from _signs(robot)
    if np.abs(points.motion.q[:, ~robot.prismatic]).max(initial=0.0) > _LEAST_DEGREES:
        yield from _units(robot)
    yield from _mountings(robot)
    yield from _types(robot)
    yield from _orders(robot)
    yield from _zeros(robot)


def moved(
    points: ArmPoints,
    *,
    position: Array | float = 1.0,
    effort: Array | float = 1.0,
    zero: Array | float = 0.0,
    position_order: Indices | slice = slice(None),
    effort_order: Indices | slice = slice(None),
) -> ArmPoints:
    """Return points with positions and efforts in another order, scaled, and with other zeros."""
    m = points.motion
    q, v, a = (position * values[:, position_order] for values in (m.q, m.v, m.a))
    motion = JointMotion(m.time, q + zero, v, a, effort * m.effort[:, effort_order])
    return replace(points, motion=motion)


def _mounted(points: ArmPoints, gravity: Array) -> ArmPoints:
    """Return the samples of an arm as if its base were mounted in another direction."""
    columns = points.columns
    return replace(points, columns=replace(columns, robot=replace(columns.robot, gravity=gravity)))


def _signs(robot: RobotModel) -> Iterator[ArmReading]:
    n = len(robot.joints)
    yield ArmReading(
        "effort_sign",
        "the efforts of all joints have the other sign",
        'In the schema, [joints], change `effort_acts_on` from "joint" (the default) to "motor", '
        "or back.",
        lambda points: moved(points, effort=-1.0),
        robot.joints,
    )
    for j, name in enumerate(robot.joints):
        sign = np.where(np.arange(n) == j, -1.0, 1.0)
        yield ArmReading(
            "effort_sign",
            f"the effort of {name} has the other sign",
            f'In the schema, [joints] effort, write the column of {name} with a minus, "-…".',
            lambda points, sign=sign: moved(points, effort=sign),
            (name,),
        )
    for j, name in enumerate(robot.joints):
        sign = np.where(np.arange(n) == j, -1.0, 1.0)
        for both in (False, True):
            also = ", and its effort too" if both else ""
            yield ArmReading(
                "joint_sign",
                f"{name} turns the other way than in the robot's model{also}",
                f"In the schema, [joints], write the columns of position{' and' if both else ''} "
                f'{"effort " if both else ""}of {name} with a minus, "-…", and of its velocity.',
                lambda points, sign=sign, both=both: moved(
                    points, position=sign, effort=sign if both else 1.0
                ),
                (name,),
            )


def _units(robot: RobotModel) -> Iterator[ArmReading]:
    factor = np.where(robot.prismatic, 1.0, np.pi / 180.0)
    yield ArmReading(
        "joint_unit",
        "the positions of the joints are in degrees, not in radians",
        'In the schema, [joints], set `unit = "deg"`.',
        lambda points: moved(points, position=factor),
        robot.joints,
    )


def _mountings(robot: RobotModel) -> Iterator[ArmReading]:
    g = float(np.linalg.norm(robot.gravity))
    for axis, direction in enumerate("xyz"):
        for sign, prefix in ((1.0, "+"), (-1.0, "-")):
            gravity = sign * g * np.eye(3)[axis]
            if robot.gravity @ gravity < 0.9 * g**2:
                values = [f"{value:g}" for value in (gravity + 0.0).round(5).tolist()]
                mounting = {"-z": "upright", "+z": "on a ceiling"}.get(
                    prefix + direction, "on a wall"
                )
                yield ArmReading(
                    "gravity_direction",
                    f"gravity acts along {prefix}{direction} of the robot's base: the base is "
                    f"{mounting}",
                    f"In the schema, [world], set `gravity = [{', '.join(values)}]`; where it is "
                    f"given on the command line, `--gravity {' '.join(values)}`.",
                    lambda points, gravity=gravity: _mounted(points, gravity),
                )


def _types(robot: RobotModel) -> Iterator[ArmReading]:
    for j, (name, prismatic) in enumerate(zip(robot.joints, robot.prismatic.tolist(), strict=True)):
        is_type, other = ("revolute", "prismatic") if prismatic else ("prismatic", "revolute")
        yield ArmReading(
            "joint_type",
            f"{name} is {is_type}, not {other} as in the robot's model",
            f'In the URDF, set the type of {name} to "{is_type}".',
            lambda points, j=j: _with_other_type(points, j),
            (name,),
        )


def _with_other_type(points: ArmPoints, joint: int) -> ArmPoints:
    """Return the samples of an arm with a revolute joint as a prismatic one, or the reverse."""
    columns, robot = points.columns, points.robot
    tree = (
        replace(link, prismatic=not link.prismatic) if link.joint == joint else link
        for link in robot.tree
    )
    robot = replace(robot, tree=tuple(tree))
    return replace(points, columns=replace(columns, robot=robot, base=robot_base_columns(robot)))


def _orders(robot: RobotModel) -> Iterator[ArmReading]:
    n, names = len(robot.joints), robot.joints
    orders = {}
    for i, j in combinations(range(n), 2):
        order = np.arange(n)
        order[[i, j]] = j, i
        orders[f"those of {names[i]} and {names[j]} are exchanged"] = (order, (names[i], names[j]))
    plain = np.arange(n)
    orders["they are those of the joints in reverse"] = (plain[::-1], names)
    for shift in (1, -1):
        orders[f"they are shifted by {abs(shift)} joint"] = (np.roll(plain, shift), names)
    kinds = (("positions and efforts", True, True), ("efforts", False, True))
    for of, positions, efforts in (*kinds, ("positions", True, False)):
        for text, (order, joints) in orders.items():
            keys = " and ".join(key for key in ("position", "effort") if f"{key}s" in of)
            yield ArmReading(
                "joint_order",
                f"the {of} are in another order than the joints: {text}",
                f"In the schema, [joints], list the columns of {keys} in the order of names.",
                lambda points, order=order, p=positions, e=efforts: moved(
                    points,
                    position_order=order if p else slice(None),
                    effort_order=order if e else slice(None),
                ),
                joints,
            )


def _zeros(robot: RobotModel) -> Iterator[ArmReading]:
    n = len(robot.joints)
    for j, name in enumerate(robot.joints):
        for degrees in () if robot.prismatic[j] else (90, -90, 180):
            zero = np.where(np.arange(n) == j, np.radians(degrees), 0.0)
            yield ArmReading(
                "joint_zero",
                f"{name} is {degrees:+d}° from its position in the robot's model",
                f"In the schema, [joints] offset, add {np.radians(degrees):+.4f} rad to {name}.",
                lambda points, zero=zero: moved(points, zero=zero),
                (name,),
            )

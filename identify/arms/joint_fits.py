"""Fits of friction to points of a log, with the links of the model or with free ones.

An interpretation of a log is judged by the torque that the links of the robot's model leave, with
friction of each joint at least zero. Least squares of free links cannot judge it: an arm on a
ceiling is one of negative masses to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from identify.arms.columns import ArmColumns, JointMotion, joint_columns
from identify.arms.equations import ArmEquations
from identify.arms.model import arm_space
from identify.arms.rows import first_segment, smooth_motion
from identify.arrays import Array, Flags
from identify.logs.log_file import header_of
from identify.regressors.log_scan import ReadableLog
from identify.robots import RobotModel, torque_regressor
from identify.signals.differentiator import Differentiator

_MAX_SMOOTHED_ROWS = 100_000
"""Largest number of rows of a log that are smoothed: a fault is that of the whole log."""

_POINTS_PER_LOG = 300
"""Approximate number of points of a log; each joint has some ten unknowns."""

_MIN_MOVING_SHARE = 0.05
"""Smallest share of points at which a joint moves; below it, an interpretation explains none of its
torque, as degrees that are converted twice."""

_MIN_POWER = 1e-12
"""Smallest mean square of a torque [N² m²], for joints without one."""

_RELATIVE_RIDGE = 1e-10
"""Share of a column's power that is added to it, as columns of a short motion may depend."""

_BLOCK_EXCHANGES = 3
"""Number of exchanges of all wrong unknowns at once that may fail to lower their number."""

_ROUNDING = 1e-13
"""Gradient of a scaled unknown that counts as zero."""


@dataclass(frozen=True, slots=True, eq=False)
class ArmPoints:
    """Points of a log of an arm.

    Attributes:
        name: of the log.
        columns: columns of the arm, with its model.
        motion: smoothed motion and torque.
        still_below: speed of each joint below which its rows do not count, shape (n,).
        moving_joints: whether each joint moves and has an effort that changes; torques of others
            are not explained, shape (n,).
        load: frame of a load, or None.
    """

    name: str
    columns: ArmColumns
    motion: JointMotion
    still_below: Array
    moving_joints: Flags
    load: str | None = None

    @property
    def robot(self) -> RobotModel:
        """Model of the arm."""
        return self.columns.robot

    def at(self, samples: slice) -> ArmPoints:
        """Return some of the points."""
        return replace(self, motion=JointMotion(*(values[samples] for values in self.motion)))

    @property
    def few(self) -> ArmPoints:
        """About 300 of the points, at even steps."""
        return self.at(slice(None, None, max(1, len(self.motion.time) // _POINTS_PER_LOG)))


def arm_points(
    log: ReadableLog, columns: ArmColumns, cutoff_hz: float, load: str | None = None
) -> ArmPoints:
    """Smooth the longest segment of the first rows of a log.

    Raises `LogError`: the log has no effort, or is too short.
    """
    segment, still_below = (
        first_segment(log, _MAX_SMOOTHED_ROWS),
        header_of(log).joint_axes.still_below,
    )
    cutoff_hz = min(cutoff_hz, segment.rate_hz / 10.0)
    smooth = Differentiator.design(segment.rate_hz, cutoff_hz)
    count, half = len(segment), smooth.half_window
    effort = smooth.apply(segment.signals["effort"], 0)
    motion = smooth_motion(segment, slice(half, count - half), cutoff_hz)._replace(effort=effort)
    moves = (np.abs(motion.v) > still_below).mean(axis=0) >= _MIN_MOVING_SHARE
    judged = moves & (np.ptp(effort, axis=0) > 0.0)
    return ArmPoints(log.name, columns, motion, still_below, judged, load)


class JointFit(NamedTuple):
    """Fit of friction, and of what else is free, to the points of a log.

    Attributes:
        errors: torque that is left of each joint, relative to that measured, shape (n,).
        power: mean square of the measured torque of each joint while it moves, shape (n,).
        gains: of the torque of the model's links of each joint, shape (n,).
        shares: power of that torque, by that of the measured one, shape (n,).
        friction: power of the torque of friction and rotors, likewise, shape (n,).
    """

    errors: Array
    power: Array
    gains: Array
    shares: Array
    friction: Array

    @property
    def total(self) -> float:
        """Relative error of all joints together."""
        return float(np.sqrt(self.errors**2 @ self.power / self.power.sum()))


class _JointRows(NamedTuple):
    """Rows of a joint while it moves.

    Attributes:
        moves: samples of the rows, shape (s,).
        A: coefficients of the unknowns, shape (rows, p).
        rigid: torque of the links of the model, shape (rows,).
    """

    moves: Flags
    A: Array
    rigid: Array


def fit_friction(points: ArmPoints, *, links: bool = False, gains: bool = False) -> JointFit:
    """Fit friction and rotor inertias that are at least zero, with the links of the model.

    With `links` they are free, not those of the model; with `gains` their torque has a gain for
    each joint.
    """
    return fit_frictions(points, [points.motion.effort], links=links, gains=gains)[0]


def fit_frictions(
    points: ArmPoints, efforts: Iterable[Array], *, links: bool = False, gains: bool = False
) -> list[JointFit]:
    """Fit, as `fit_friction`, the motion with each of several efforts, shape (s, n)."""
    columns = points.columns
    robot = points.robot
    m = points.motion
    loaded = points.load is not None
    space = arm_space(columns, payload=loaded)
    ones = np.ones(len(robot.joints))
    equations = ArmEquations(columns, space, (0,), (loaded,), ones, points.load)
    scalars, first_link = space.scalar_slice, space.body_slice(robot.links[0]).start
    low = np.array([scalar.low for scalar in space.scalars])
    # offsets first, then links or a load, then unknowns that are at least zero
    free = [*(scalars.start + np.flatnonzero(low < 0.0))]
    free += [*(first_link + columns.base.independent if links else np.arange(first_link))]
    numbers = 1 + np.array([*free, *(scalars.start + np.flatnonzero(low == 0.0))])
    model = np.zeros(len(space))
    model[first_link : scalars.start] = 0.0 if links else robot.phi.ravel()
    Y = np.moveaxis(torque_regressor(robot, m.q, m.v, m.a), 0, -1)
    rows: dict[int, _JointRows] = {}
    for j in np.flatnonzero(points.moving_joints).tolist():
        moves = np.abs(m.v[:, j]) > points.still_below[j]
        nonzero, z = joint_columns(columns, Y, m, j)
        values = z[:, moves].T @ equations.residual_coefficients(0, j)[nonzero, 0]
        rows[j] = _JointRows(moves, values[:, numbers], values[:, 1:] @ model)
    return [_fit_effort(rows, effort, len(free), len(numbers), gains) for effort in efforts]


def _fit_effort(
    rows: dict[int, _JointRows], effort: Array, free: int, unknowns: int, gains: bool
) -> JointFit:
    n = effort.shape[1]
    p = unknowns + n * gains
    grams = np.zeros((n, p + 1, p + 1))
    power = np.full(n, _MIN_POWER)
    rigid_power = np.zeros(n)
    for j, (moves, coefficients, rigid) in rows.items():
        if moves.mean() < _MIN_MOVING_SHARE:
            grams[j, p, p] = 1.0
            continue
        torque = effort[moves, j]
        A = np.zeros((len(torque), p + 1))
        power[j] = max(float(torque @ torque) / len(torque), _MIN_POWER)
        rigid_power[j] = rigid.var()
        A[:, :unknowns] = coefficients
        A[:, p] = torque if gains else torque - rigid
        if gains:
            A[:, unknowns + j] = rigid
        grams[j] = A.T @ A / (power[j] * len(torque))
    x = _bounded_solution(grams.sum(axis=0), free)
    z = np.append(-x, 1.0)
    residual = np.maximum(np.einsum("a,jab,b->j", z, grams, z), 0.0)
    factors = x[unknowns:] if gains else np.ones(n)
    bounded = np.where((np.arange(p + 1) >= free) & (np.arange(p + 1) < unknowns), z, 0.0)
    friction = np.einsum("a,jab,b->j", bounded, grams, bounded)
    shares = factors**2 * rigid_power / power
    return JointFit(np.sqrt(residual), power, factors, shares, friction)


def _bounded_solution(gram: Array, free: int) -> Array:
    """Solve least squares by the moments [A b]ᵀ[A b]; all but the first `free` are at least 0.

    Block principal pivoting (Kim and Park, "Fast nonnegative matrix factorization", 2011, sec. 4):
    unknowns are zero or solved for, and change sides while they or their gradients are negative.
    """
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0.0] = 1.0
    scaled = gram / np.outer(scale, scale)
    np.fill_diagonal(scaled, np.diag(scaled) + _RELATIVE_RIDGE)
    H, c = scaled[:-1, :-1], scaled[:-1, -1]
    bounded = np.arange(len(c)) >= free
    solved = np.full(len(c), fill_value=True)
    fewest, tries = len(c), _BLOCK_EXCHANGES
    while True:
        x = np.zeros(len(c))
        x[solved] = np.linalg.solve(H[np.ix_(solved, solved)], c[solved])
        wrong = np.flatnonzero(np.where(solved, bounded & (x < 0.0), H @ x - c < -_ROUNDING))
        if not len(wrong):
            return x * scale[-1] / scale[:-1]
        tries = _BLOCK_EXCHANGES if len(wrong) < fewest else tries - 1
        fewest = min(fewest, len(wrong))
        wrong = wrong if tries > 0 else wrong[-1:]  # one at a time ends always (Murty 1974)
        solved[wrong] ^= True

"""Motions of a robot's joints, designed to identify its payload or the arm itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from identify.arms import JointDynamics
from identify.arms.equations import payload_columns
from identify.arrays import Array, Phi
from identify.design.periodic import AxisLimits
from identify.design.problem import DesignRows, RowsPullback, no_proximity, used_at_start
from identify.design.self_collision import SelfCollision
from identify.design.workspace import ReachLimits, reach_limits
from identify.errors import ProblemError
from identify.inertia import BaseColumns, InertialParameters, base_columns
from identify.inertia.frames import frame_map
from identify.robots import (
    FramePlacement,
    RobotModel,
    robot_base_columns,
    torque_regressor,
)
from identify.robots.regressor_gradient import regressor_with_pullback
from identify.robots.robot_model import BASE

SIGN_SPEED = 0.05
"""Speed v₀ of the smooth Coulomb friction tanh(v/v₀) [rad/s or m/s]: a fit leaves out samples of
slower joints."""

_SECONDS_TO_FULL_SPEED = 0.4
"""Time in which a joint reaches its full speed, where no acceleration is given [s]."""

_TORQUE_NOISE_SHARE = 0.01
"""Noise of a joint's torque as a share of its limit, if no earlier fit gives it."""

_TORQUE_RATE_HZ = 2.0
"""Independent samples a second of a joint's torque: the residual of an arm is slow error of its
friction, and measured logs had 1 to 3 effective samples a second."""

_IMPLAUSIBLE_SHARE = 10.0
"""Share of a torque limit at rest beyond which the model may be in mm or g."""

_LEAST_REACH = 1e-6
"""Least distance of the start from the limits of a joint [rad or m]."""

_POSITION_STEP = 1e-6
"""Step of central differences with respect to positions [rad or m]."""


class TorqueNoise(NamedTuple):
    """Noise of the torques of joints.

    Attributes:
        sigma: standard deviation of a sample of each torque, shape (n,) [N m or N].
        rate_hz: independent samples a second.
    """

    sigma: Array
    rate_hz: float


@dataclass(frozen=True, slots=True)
class JointProblem:
    """Design problem of an arm: inertial parameters of its payload or links from joint torques.

    Of a payload the combinations of its ten parameters that motions show are wanted, and the links
    are known. Of an arm its base
    parameters and its viscous and Coulomb friction are wanted. Friction and offsets of the torques
    are fitted besides.

    Attributes:
        limits: of the positions less those at the start, of speed and acceleration.
        robot: the arm.
        start: positions at the start, shape (n,) [rad or m].
        noise: of the torques.
        torque_limits: shape (n,) [N m or N].
        space: limits in space, with the frame of the payload.
        payload: ten rough parameters of the payload about its frame; None if the arm is wanted.
        base_columns: independent columns of the regressor of the payload, or of the arm.
        collision: check of the arm with itself; None without shapes to check.
        prior_information: on the payload, from an earlier fit, for each second of the motion.
        dynamics: friction and rotors of the joints, which use torque too; None if unknown.
    """

    longest_period: ClassVar[float] = 10.0
    """Longest period of a motion [s]; longer ones have more local optima and no more gain."""

    limits: AxisLimits
    robot: RobotModel
    start: Array
    noise: TorqueNoise
    torque_limits: Array
    space: ReachLimits
    base_columns: BaseColumns
    payload: Phi | None = None
    collision: SelfCollision | None = None
    prior_information: Array | None = None
    dynamics: JointDynamics | None = None

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.robot.joints

    @property
    def rate_hz(self) -> float:
        """Independent samples a second of the torques."""
        return self.noise.rate_hz

    @property
    def wanted_count(self) -> int:
        """Number of unknowns to be identified."""
        count = len(self.base_columns.independent)
        return count if self.payload is not None else count + 2 * len(self.robot.joints)

    @property
    def limit_names(self) -> tuple[str, ...]:
        """Names of the limits in the order of `DesignRows.shares`."""
        return (*(f"the torque of {joint}" for joint in self.robot.joints), *self.space.names)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on limits that hold, and on what was not checked."""
        model, limits = self.robot.path.name, self.limits
        load = "" if self.payload is None else f" with a payload of {self.payload[0]:.3g} kg"
        low, high = self.start + limits.low, self.start + limits.high
        signals = (low, high, limits.speed, limits.acceleration, self.torque_limits)
        low, high, speed, acceleration, torque = (
            " ".join(f"{x:.4g}" for x in values) for values in signals
        )
        kept = ", ".join(f"{name} at {value:.4g}" for name, value in self.robot.locked.items())
        unchecked = "of the arm with itself" if self.collision is None else "of neighbouring links"
        carried = "" if self.payload is None else ", of the payload with the arm"
        return (
            f"Lowest positions of the joints, in SI: {low}.",
            f"Highest positions: {high}.",
            f"Largest speeds: {speed}.",
            f"Largest accelerations: {acceleration}.",
            f"Largest torques{load}, {self._friction_counted}: {torque}.",
            f"Positions are those of {model}: compare the sign and the zero of each joint with the "
            "controller before the first run.",
            *self.space.remarks(),
            *(
                (
                    f"Joints of {model} that are at rest, with torques not checked: {kept}. Log "
                    "them, too: a fit takes joints that the log lacks to be at zero.",
                )
                if kept
                else ()
            ),
            f"Not checked: collisions {unchecked}{carried}, and with the surroundings.",
        )

    @property
    def _friction_counted(self) -> str:
        return (
            "without friction, which `--after arm.json` counts"
            if self.dynamics is None
            else "with the friction of the earlier fit"
        )

    def _friction_torque(self, motion: Array) -> Array:
        """Torque of friction and rotors along a motion, zero if unknown, shape (samples, n)."""
        if self.dynamics is None:
            return np.zeros_like(motion[1])
        (_, v, a), of = motion, self.dynamics
        return of.damping * v + of.friction * np.tanh(v / SIGN_SPEED) + of.armature * a

    def describe_excess(self, limit: int, share: float) -> str:
        """Describe how the start exceeds a limit, and what to do."""
        joints = len(self.robot.joints)
        if limit >= joints:
            return self.space.describe_excess(limit - joints, share)
        units = "" if share < _IMPLAUSIBLE_SHARE else f", or check that {self.robot.path} is in SI"
        return f"{self.limit_names[limit]}: {used_at_start(share)}{units}"

    def contact(self, motion: Array) -> str:
        """Return a pair of shapes of the arm that touch along a motion; empty if none do."""
        return "" if self.collision is None else self.collision.first_pair(self.start + motion[0])

    def proximity(self, motion: Array) -> tuple[Array, Array]:
        """Return how much too close shapes of the arm come along a motion, and derivatives."""
        if self.collision is None:
            return no_proximity(motion)
        return self.collision.proximity(self.start + motion[0])

    def rows(self, motion: Array) -> DesignRows:
        """Return rows [Y, friction, 1] / σ of each sample, and shares of the torque limits."""
        q = self.start + motion[0]
        columns, torque = self._dynamics(torque_regressor(self.robot, q, *motion[1:]))
        torque = torque + self._friction_torque(motion)
        in_space = self.space.shares(self.robot, q)
        return self._rows(motion, columns, torque, in_space)

    def rows_with_pullback(self, motion: Array) -> tuple[DesignRows, RowsPullback]:
        """Return rows and shares, and the pullback of gradients to the motion of the joints."""
        q, v = self.start + motion[0], motion[1]
        full, pull_regressor = regressor_with_pullback(self.robot, q, v, motion[2])
        columns, torque = self._dynamics(full)
        torque = torque + self._friction_torque(motion)
        joints, p = np.arange(len(self.robot.joints)), columns.shape[-1]
        n = len(joints)

        def pullback(of: DesignRows) -> Array:
            of_regressor = of.regressor / self.noise.sigma[:, None]
            of_torque = of.shares[:, :n] * np.sign(torque) / self.torque_limits
            gradient = pull_regressor(self._pull_dynamics(of_regressor[..., :p], of_torque))
            of_sign = (1.0 - np.tanh(v / SIGN_SPEED) ** 2) / SIGN_SPEED
            gradient[1] += of_regressor[:, joints, p + joints]
            gradient[1] += of_regressor[:, joints, p + n + joints] * of_sign
            if self.dynamics is not None:
                damping, friction = self.dynamics.damping, self.dynamics.friction
                gradient[1] += of_torque * (damping + friction * of_sign)
                gradient[2] += of_torque * self.dynamics.armature
            gradient[0] += self._pull_space(q, of.shares[:, n:])
            return gradient

        in_space = self.space.shares(self.robot, q)
        return self._rows(motion, columns, torque, in_space), pullback

    def _pull_space(self, q: Array, of_shares: Array) -> Array:
        """Pull a gradient of the shares in space back to the positions, by central differences."""
        if not of_shares.any():
            return np.zeros_like(q)
        steps = _POSITION_STEP * np.eye(q.shape[1])
        moved = q + np.stack((steps, -steps))[:, :, None]
        shares = self.space.shares(self.robot, moved.reshape(-1, q.shape[1]))
        ahead, behind = shares.reshape(*moved.shape[:3], -1)
        return np.einsum("ntl,tl->tn", ahead - behind, of_shares / (2.0 * _POSITION_STEP))

    def _rows(self, motion: Array, columns: Array, torque: Array, in_space: Array) -> DesignRows:
        """Return rows with viscous and Coulomb friction and offsets, divided by the noise."""
        v, (samples, n, _) = motion[1], columns.shape
        terms = np.stack((v, np.tanh(v / SIGN_SPEED), np.ones_like(v)), axis=1)
        friction = (terms[:, None] * np.eye(n)[:, None]).reshape(samples, n, 3 * n)
        regressor = np.concatenate((columns, friction), axis=2) / self.noise.sigma[:, None]
        return DesignRows(regressor, np.hstack((np.abs(torque / self.torque_limits), in_space)))

    def _dynamics(self, full: Array) -> tuple[Array, Array]:
        """Return the wanted columns of a regressor, (N, n, p), and torques of arm and payload."""
        torque = full @ self.robot.phi.ravel()
        if self.payload is None:
            return full[..., self.base_columns.independent], torque
        link = 10 * self.space.tool.link
        on_link = full[..., link : link + 10] @ frame_map(self.space.tool.X_LF)
        return on_link[..., self.base_columns.independent], torque + on_link @ self.payload

    def _pull_dynamics(self, of_columns: Array, of_torque: Array) -> Array:
        """Pull gradients of columns and torques of `_dynamics` back to the regressor of the arm."""
        weights = of_torque[..., None] * self.robot.phi.ravel()
        if self.payload is None:
            weights[..., self.base_columns.independent] += of_columns
            return weights
        link = 10 * self.space.tool.link
        on_link = of_torque[..., None] * self.payload
        on_link[..., self.base_columns.independent] += of_columns
        weights[..., link : link + 10] += on_link @ frame_map(self.space.tool.X_LF).T
        return weights


def supporting_joints(robot: RobotModel, placement: FramePlacement) -> tuple[str, ...]:
    """Return the joints that move a frame, in the order of the robot."""
    moving: set[int] = set()
    link = placement.link
    while link != BASE:
        moving.add(robot.tree[link].joint)
        link = robot.tree[link].parent
    return tuple(robot.joints[joint] for joint in sorted(moving))


def joint_limits(
    robot: RobotModel,
    start: Array,
    *,
    excursion: float,
    shares: tuple[float, float],
    acceleration: Array | float | None = None,
) -> AxisLimits:
    """Return the limits of a robot's joints about a start.

    Args:
        robot: with limits of position and speed.
        start: positions at the start, shape (n,) [rad or m].
        excursion: largest angle from the start of a joint that turns [rad].
        shares: of the model's limits of position, about the middle of their range, and of speed.
        acceleration: largest acceleration [rad/s² or m/s²]; by default full speed in .4 s.

    Raises:
        ProblemError: the model has no limit of speed for a joint, or the start is not within the
            limits.
    """
    low, high = robot.position_limits.T
    middle, half = middle_of_range(robot), 0.5 * shares[0] * (high - low)
    _require_start_within(robot, start, middle - half, middle + half)
    reach = np.where(robot.prismatic, np.inf, excursion)
    low = np.maximum(middle - half - start, -reach)
    high = np.minimum(middle + half - start, reach)
    speed = shares[1] * _required_limit(robot, "velocity", robot.velocity_limits)
    accelerations = speed / _SECONDS_TO_FULL_SPEED
    if acceleration is not None:
        accelerations = np.broadcast_to(np.asarray(acceleration, dtype=float), speed.shape)
    return AxisLimits(low, high, speed, accelerations, robot.joints)


def _require_start_within(robot: RobotModel, start: Array, low: Array, high: Array) -> None:
    """Raise `ProblemError` unless the start is within shares of limits that leave a range."""
    for k, (name, slides) in enumerate(zip(robot.joints, robot.prismatic, strict=True)):
        factor, unit = (1.0, "m") if slides else (180.0 / np.pi, "deg")
        lower, upper = factor * robot.position_limits[k]
        if not lower < upper:
            raise ProblemError(
                f"{robot.path}: joint {name} has limits of position from {lower:g} to {upper:g} "
                f"{unit}; expected a lower below an upper. Correct them, or let the joint rest: "
                "--joints"
            )
        if not low[k] + _LEAST_REACH < start[k] < high[k] - _LEAST_REACH:
            raise ProblemError(
                f"{name}: the start, {factor * start[k]:g} {unit}, is not between "
                f"{factor * low[k]:g} and {factor * high[k]:g} {unit}, the share of its limits "
                "that may be used. Choose another start or a larger share (--shares)"
            )


def _required_limit(robot: RobotModel, quantity: str, limits: Array) -> Array:
    """Return limits of joints, or raise `ProblemError` where the model has none."""
    for name, limit in zip(robot.joints, limits, strict=True):
        if not 0.0 < limit < np.inf:
            raise ProblemError(
                f"{robot.path}: joint {name} has no limit of {quantity}; expected one in its "
                "<limit>"
            )
    return limits


def middle_of_range(robot: RobotModel) -> Array:
    """Return the middle of each joint's range, zero where it has none, shape (n,)."""
    low, high = robot.position_limits.T
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (low + high)
    return np.where(np.isfinite(middle), middle, 0.0)


def joint_problem(
    robot: RobotModel,
    limits: AxisLimits,
    start: Array,
    *,
    torque_share: float,
    placement: FramePlacement | None = None,
    body: InertialParameters | None = None,
    noise: TorqueNoise | None = None,
    box: Array | None = None,
    floor: float = -np.inf,
    dynamics: JointDynamics | None = None,
) -> JointProblem:
    """Return the design problem of a payload on a frame, or of the arm itself without a payload.

    Args:
        robot: with limits of effort.
        limits: of its joints about the start.
        start: positions at the start, shape (n,) [rad or m].
        torque_share: share of the limits of effort.
        placement: of the tool's frame; None for the last frame of the model.
        body: rough parameters of the payload; None where the arm itself is wanted.
        noise: of the torques; if not given, 1 % of the limit of each, 2 samples a second.
        box: lowest and highest position of the tool's origin in the base, shape (3, 2) [m].
        floor: lowest height of all moving links in the base [m].
        dynamics: friction and rotors of the joints, if known.

    Raises:
        ProblemError: the model has no limit of effort for a joint, or the box is crossed.
    """
    limit = _required_limit(robot, "effort", robot.effort_limits)
    tool = placement or list(robot.frames.values())[-1]
    base = robot_base_columns(robot)
    return JointProblem(
        limits,
        robot,
        start,
        noise or TorqueNoise(_TORQUE_NOISE_SHARE * limit, _TORQUE_RATE_HZ),
        torque_share * limit,
        reach_limits(robot, tool, box=box, floor=floor, payload=body),
        base if body is None else base_columns(payload_columns(base, tool)),
        None if body is None else body.phi,
        SelfCollision.of(robot),
        dynamics=dynamics,
    )

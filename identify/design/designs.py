"""Complete designs: of a wrist from a person's limits, and of a robot's joints from its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Vec3
from identify.design.d_optimal import (
    DesignedMotion,
    MotionProblem,
    design_motion,
    unplanned_motion,
)
from identify.design.joints import JointProblem, RoughPayload
from identify.design.periodic import AxisLimits, PeriodicBasis, harmonics_within
from identify.design.plan import MotionPlan, planned_motion
from identify.design.prediction import EarlierFit, PredictedPrecision, information_rate
from identify.design.result import MotionDesign, used_shares
from identify.design.self_collision import colliding_links
from identify.design.workspace import ReachLimits, workspace
from identify.design.wrist import WRIST_AXES, WristProblem
from identify.errors import ProblemError
from identify.inertia import InertialParameters
from identify.pipeline.required_precision import RequiredPrecision
from identify.robots import FramePlacement, RobotModel, robot_base_columns

WRIST_PERIOD, JOINT_PERIOD = 20.0, 10.0
"""Longest period of a motion [s]; a longer time repeats it. Longer periods have more coefficients
and local optima, and no smaller half-widths."""

PLAN_RATE_HZ, CURVE_RATE_HZ = 100.0, 20.0
"""Samples a second of a plan, and of the curves that are shown of it [Hz]."""

SECONDS_TO_FULL_SPEED = 0.4
"""Time in which a joint reaches its full speed, where no acceleration is given [s]."""

TORQUE_NOISE_SHARE = 0.01
"""Noise of a joint's torque as a share of its limit, if no earlier fit gives it."""

TORQUE_RATE_HZ = 2.0
"""Independent samples a second of a joint's torque: what an arm leaves is slow error of its
friction, and effective samples of measured logs were 1-3 a second."""


@dataclass(frozen=True, slots=True)
class Search:
    """Settings of the search for a motion.

    Attributes:
        seconds: duration of the motion [s].
        starts: number of random starts.
        seed: of the starts.
        finished: motions of starts of an earlier run, by number.
        on_start: called with each finished start.
    """

    seconds: float
    starts: int = 3
    seed: int = 0
    finished: Mapping[int, DesignedMotion] | None = None
    on_start: Callable[[int, DesignedMotion], None] | None = None

    def run(
        self, problem: MotionProblem, longest_period: float
    ) -> tuple[DesignedMotion, DesignedMotion]:
        """Return the best motion, and an unplanned one within the same limits."""
        period = self.seconds / np.ceil(self.seconds / longest_period)
        basis = PeriodicBasis(period, harmonics_within(problem.limits, period))
        motion = design_motion(
            problem,
            basis,
            starts=self.starts,
            seed=self.seed,
            finished=self.finished,
            on_start=self.on_start,
        )
        return motion, unplanned_motion(problem, basis, seed=self.seed)


def design_wrist_motion(
    problem: WristProblem,
    search: Search,
    *,
    body: InertialParameters,
    earlier: EarlierFit | None = None,
    needs: tuple[RequiredPrecision, ...] = (),
) -> MotionDesign:
    """Design a motion of a wrist with a force-torque sensor.

    Args:
        problem: with the wrist's limits.
        search: settings.
        body: rough parameters, to which relative needs refer.
        earlier: knowledge of the ten parameters from an earlier fit.
        needs: precision that is needed.
    """
    motion, unplanned = search.run(problem, WRIST_PERIOD)
    plan = planned_motion(
        motion,
        axes=tuple(f"r{axis}" for axis in WRIST_AXES),
        start=np.zeros(3),
        seconds=search.seconds,
        rate_hz=PLAN_RATE_HZ,
        remarks=wrist_remarks(problem),
        robot=False,
        prismatic=np.zeros(3, dtype=bool),
    )
    predictions = [
        _prediction(problem, each, body, earlier, problem.noise.rate_hz)
        for each in (motion, unplanned)
    ]
    return _design(problem, motion, unplanned, plan, predictions, search, needs)


def design_joint_motion(
    problem: JointProblem,
    search: Search,
    *,
    body: InertialParameters | None,
    earlier: EarlierFit | None = None,
    rate_hz: float,
    needs: tuple[RequiredPrecision, ...] = (),
    remarks: tuple[str, ...] = (),
) -> MotionDesign:
    """Design a motion of a robot's joints, for its payload or for the arm itself.

    Args:
        problem: with the arm and its limits.
        search: settings.
        body: rough parameters of the payload; None where the arm itself is wanted.
        earlier: knowledge of the payload's ten parameters from an earlier fit.
        rate_hz: independent samples a second of the torques.
        needs: precision of the payload that is needed.
        remarks: for the head of files: what holds and what was not checked.
    """
    motion, unplanned = search.run(problem, JOINT_PERIOD)
    plan = planned_motion(
        motion,
        axes=problem.robot.joints,
        start=problem.start,
        seconds=search.seconds,
        rate_hz=PLAN_RATE_HZ,
        remarks=(*remarks, _collision_remark(problem, motion)),
        robot=True,
        prismatic=problem.robot.prismatic,
    )
    predictions = [
        None if body is None else _prediction(problem, each, body, earlier, rate_hz)
        for each in (motion, unplanned)
    ]
    design = _design(problem, motion, unplanned, plan, predictions, search, needs)
    if problem.space is None:
        return design
    return replace(design, path=problem.space.tool_path(problem.robot, design.curves[0]))


def _collision_remark(problem: JointProblem, motion: DesignedMotion) -> str:
    """Return whether collisions were checked; raise `ProblemError` if the arm hits itself."""
    q = problem.start + motion.at(motion.basis.times(refinement=2))[0]
    pair = colliding_links(problem.robot, q)
    if pair:
        raise ProblemError(
            f"the arm collides with itself: {pair} touch along the designed motion. Choose another "
            "start, a smaller excursion, a box for the tool, or another seed"
        )
    unchecked = "" if pair == "" else "of the arm with itself, and "
    return f"Not checked: collisions {unchecked}with the surroundings."


def _prediction(
    problem: MotionProblem,
    motion: DesignedMotion,
    body: InertialParameters,
    earlier: EarlierFit | None,
    rate_hz: float,
) -> PredictedPrecision:
    rows = problem.rows(motion.at(motion.basis.times()))
    return PredictedPrecision(
        body, information_rate(rows.regressor, 10, rate_hz), *(earlier or EarlierFit.of(None))
    )


def _design(
    problem: MotionProblem,
    motion: DesignedMotion,
    unplanned: DesignedMotion,
    plan: MotionPlan,
    predictions: Sequence[PredictedPrecision | None],
    search: Search,
    needs: tuple[RequiredPrecision, ...],
) -> MotionDesign:
    limits = problem.limits
    start = plan.values[0, 0]
    times = np.linspace(0.0, motion.basis.period, 1 + round(motion.basis.period * CURVE_RATE_HZ))
    curves = motion.at(times)
    shares = problem.rows(curves).shares
    curves[0] += start
    bounds = (start + limits.low, start + limits.high, limits.speed, limits.acceleration)
    return MotionDesign(
        plan,
        search.seconds,
        motion.basis.period,
        np.stack(bounds),
        times,
        curves,
        problem.limit_names,
        shares,
        used_shares(problem, motion, plan.axes),
        predictions[0],
        predictions[1],
        float(np.exp(motion.criterion - unplanned.criterion)),
        needs=needs,
    )


def wrist_remarks(problem: WristProblem) -> tuple[str, ...]:
    """Return what holds for a wrist motion, and what was not checked."""
    limits = problem.limits
    angles, speeds, accelerations = (
        " ".join(f"{value:.4g}" for value in np.degrees(values))
        for values in (limits.high, limits.speed, limits.acceleration)
    )
    tilt = f", tilt {np.degrees(problem.tilt):.4g} deg" if problem.tilt < np.pi else ""
    return (
        "Rotations are about the origin of the sensor, R = Rz Ry Rx from the attitude at the "
        "start; set the tool point there, and move to the start by hand.",
        f"Limits that hold, about z, y, x: angle +-{angles} deg, speed {speeds} deg/s, "
        f"acceleration {accelerations} deg/s2{tilt}.",
        "Not checked: collisions, reach and singularities of the robot, and limits of its joints.",
    )


def joint_remarks(problem: JointProblem, shares: tuple[float, float, float]) -> tuple[str, ...]:
    """Return what holds for a motion of joints, and what was not checked.

    Args:
        problem: with the limits of the joints.
        shares: of the model's limits of position, speed and torque.
    """
    load = "" if problem.payload is None else f" with a payload of {problem.payload.phi[0]:.3g} kg"
    position, speed, torque = (f"{100.0 * share:.3g} %" for share in shares)
    accelerations = " ".join(f"{value:.3g}" for value in problem.limits.acceleration)
    return (
        f"Limits of {problem.robot.path.name} that hold: {position} of the range of position, "
        f"{speed} of the speed, {torque} of the torque{load}; acceleration {accelerations} per s2.",
        f"Positions are those of {problem.robot.path.name}: compare the sign and the zero of each "
        "joint with the controller before the first run.",
        *space_remarks(problem.space),
    )


def space_remarks(space: ReachLimits | None) -> Iterator[str]:
    """Yield which limits in space hold."""
    if space is None:
        return
    if np.isfinite(space.box).any():
        sides = ", ".join(
            f"{axis} {low:g} to {high:g}"
            for axis, (low, high) in zip("xyz", space.box, strict=True)
        )
        yield f"The origin of the tool stays within {sides} m of the base."
    if np.isfinite(space.floor):
        missing = "" if space.complete else ", of links without geometry only the origins of frames"
        yield f"All links stay above z = {space.floor:g} m of the base{missing}."


def joint_limits(
    robot: RobotModel,
    start: Array,
    *,
    excursion: float,
    shares: tuple[float, float],
    acceleration: float | None = None,
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
    with np.errstate(invalid="ignore"):
        middle, half = 0.5 * (low + high), 0.5 * shares[0] * (high - low)
        low, high = middle - half, middle + half
    reach = np.where(robot.prismatic, np.inf, excursion)
    low = np.fmax(np.where(np.isfinite(low), low - start, -np.inf), -reach)
    high = np.fmin(np.where(np.isfinite(high), high - start, np.inf), reach)
    for name, speed in zip(robot.joints, robot.velocity_limits, strict=True):
        if not 0.0 < speed < np.inf:
            raise ProblemError(
                f"{robot.path}: joint {name} has no limit of velocity; expected one in its <limit>"
            )
    speed = shares[1] * robot.velocity_limits
    accelerations = (
        speed / SECONDS_TO_FULL_SPEED
        if acceleration is None
        else np.full(len(speed), float(acceleration))
    )
    return AxisLimits(low, high, speed, accelerations, robot.joints)


def middle_of_range(robot: RobotModel) -> Array:
    """Return the middle of each joint's range, zero where it has none, shape (n,)."""
    low, high = robot.position_limits.T
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (low + high)
    return np.where(np.isfinite(middle), middle, 0.0)


def payload_problem(
    robot: RobotModel,
    limits: AxisLimits,
    start: Array,
    *,
    torque_share: float,
    placement: FramePlacement | None,
    body: InertialParameters | None,
    sigma: Array | None = None,
    box: Array | None = None,
    floor: float = -np.inf,
) -> JointProblem:
    """Return the problem of a payload on a frame, or of the arm itself without a payload.

    Args:
        robot: with limits of effort.
        limits: of its joints about the start.
        start: positions at the start, shape (n,) [rad or m].
        torque_share: share of the limits of effort.
        placement: of the tool's frame; None for the last frame of the model.
        body: rough parameters of the payload; None where the arm itself is wanted.
        sigma: standard deviation of a sample of each torque, shape (n,); by default 1 % of its
            limit.
        box: lowest and highest position of the tool's origin in the base, shape (3, 2) [m].
        floor: lowest height of all links in the base [m].

    Raises:
        ProblemError: the model has no limit of effort for a joint, or the box is crossed.
    """
    limit = robot.effort_limits
    if not np.isfinite(limit).all():
        names = [n for n, x in zip(robot.joints, limit, strict=True) if not np.isfinite(x)]
        raise ProblemError(
            f"{robot.path}: joint {names[0]} has no limit of effort; expected one in its <limit>"
        )
    tool = placement or list(robot.frames.values())[-1]
    payload = None if body is None else RoughPayload(body.phi, tool)
    return JointProblem(
        limits,
        robot,
        start,
        TORQUE_NOISE_SHARE * limit if sigma is None else sigma,
        torque_share * limit,
        payload,
        None if payload is not None else robot_base_columns(robot).independent,
        workspace(robot, tool, box=box, floor=floor, payload=body),
    )


def wrist_limits(angle: Vec3, speed: float, acceleration: float) -> AxisLimits:
    """Return the limits of a wrist about z, y and x.

    Args:
        angle: largest angle from the start about the tool's axes x, y and z [rad].
        speed: about each axis [rad/s].
        acceleration: about each axis [rad/s²].
    """
    high = np.asarray(angle, dtype=float)[::-1]
    return AxisLimits(
        -high,
        high,
        np.full(3, float(speed)),
        np.full(3, float(acceleration)),
        tuple(f"the angle about {axis}" for axis in WRIST_AXES),
    )

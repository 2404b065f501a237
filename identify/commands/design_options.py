"""Options of `identify design`: limits of a wrist and of an arm, and their checks."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from identify.commands.arm_options import changed, flag
from identify.commands.command import Command, Number, UsageError, number_parser, option

if TYPE_CHECKING:
    from identify.arms import SavedArm
    from identify.arrays import Array, Vec3
    from identify.design import JointProblem, WrenchNoise, WristProblem
    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters
    from identify.robots import RobotModel

_LOGGER = logging.getLogger("identify")


@dataclass(frozen=True, slots=True)
class WristLimits:
    """Limits of a wrist with a force-torque sensor (--wrist)."""

    angle: Annotated[
        tuple[float, float, float],
        number_parser(3, "45 45 45 [deg]"),
        option("X Y Z", "(default: 45 45 45)"),
    ] = (45.0, 45.0, 45.0)
    """Largest angle from the start about the tool's axes [deg]."""

    speed: Annotated[float, option("DEG/S", "(default: 90)")] = 90.0
    """Largest rate of each angle, R = Rz Ry Rx [deg/s]."""

    acceleration: Annotated[float, option("DEG/S2", "(default: 300)")] = 300.0
    """Largest second derivative of each angle [deg/s²]."""

    tilt: Annotated[float, option("DEG", "(default: any)")] = 180.0
    """Largest angle of the tool from its attitude at the start, against gravity [deg]."""

    sensor_range: Annotated[
        tuple[float, float] | None,
        number_parser(2, "100 5 [N, N m]"),
        option("N NM", "(default: any)"),
    ] = None
    """Largest force [N] and torque [N m] of the sensor on an axis."""

    noise: Annotated[
        tuple[float, float, float],
        number_parser(3, "0.05 0.005 100 [N, N m, Hz]"),
        option("N NM HZ", "(default: .05 .005 100)"),
    ] = (0.05, 0.005, 100.0)
    """Noise of force [N] and torque [N m], standard deviation, and samples a second."""

    poses: Annotated[int | None, option("N")] = None
    """Design N static poses in place of a motion."""

    def wrench_noise(self, earlier: SavedEstimate | SavedArm | None, path: str) -> WrenchNoise:
        """Return the noise of the sensor, by an earlier fit if there is one."""
        from identify.design import WrenchNoise
        from identify.design.prediction import noise_of_estimate

        if earlier is not None:
            return noise_of_estimate(earlier, path)
        force, torque, rate_hz = self.noise
        if min(force, torque, rate_hz) <= 0.0:
            raise UsageError(f"design: --noise: expected positive numbers, got {self.noise}")
        return WrenchNoise(force, torque, rate_hz)

    def problem(
        self,
        earlier: SavedEstimate | SavedArm | None,
        path: str,
        body: InertialParameters,
        gravity: Vec3,
    ) -> WristProblem:
        """Return the design problem of a body on the wrist.

        Raises `ProblemError`: a limit is out of its range, or the earlier fit is of something else.
        """
        import numpy as np

        from identify.design import WristProblem, wrist_limits

        _warn_of_radians("--angle", np.array(self.angle))
        return WristProblem(
            wrist_limits(
                np.radians(self.angle),
                float(np.radians(self.speed)),
                float(np.radians(self.acceleration)),
            ),
            gravity,
            self.wrench_noise(earlier, path),
            body.phi,
            float(np.radians(self.tilt)),
            self.sensor_range or (np.inf, np.inf),
        )


@dataclass(frozen=True, slots=True)
class RobotLimits:
    """Limits of a robot arm whose joint torques are logged (--robot)."""

    robot: Annotated[Path | None, option("arm.urdf")] = None
    """Model of the arm, with its limits."""

    payload_at: Annotated[str | None, option("FRAME")] = None
    """Frame of the payload on the arm; without it the arm itself is to be identified."""

    joints: Annotated[str | None, option('"J1 J2 ..."', "(default: those that move it)")] = None
    """Joints of the motion, in quotes; all others rest. Of an arm: all by default."""

    rest: Annotated[str | None, option('"J1=Q1 ..."', "(default: at zero)")] = None
    """Positions of joints that rest [deg, or m for prismatic joints], in quotes."""

    start: Annotated[str | None, option('"Q1 Q2 ..."', "(default: middle of the range)")] = None
    """Start position of the joints [deg, or m for prismatic joints], in quotes."""

    excursion: Annotated[float, option("DEG", "(default: 90)")] = 90.0
    """Largest angle of a joint from the start [deg]."""

    shares: Annotated[
        tuple[float, float, float],
        number_parser(3, "0.95 0.8 0.8 [of the limits]"),
        option("Q V TAU", "(default: .95 .8 .8)"),
    ] = (0.95, 0.8, 0.8)
    """Shares of the model's limits of position, speed and torque that the motion may use."""

    box: Annotated[
        tuple[float, float, float, float, float, float] | None,
        number_parser(6, "-0.5 0.5 -0.5 0.5 0 1 [m]"),
        option("X0 X1 Y0 Y1 Z0 Z1"),
    ] = None
    """Box of the base in which the origin of the tool's frame stays [m]."""

    floor: Annotated[Number, option("Z")] = None
    """Height z in the base's frame above which all moving links stay, by their geometry [m]."""

    joint_acceleration: Annotated[Number, option("DEG/S2", "(default: full speed in .4 s)")] = None
    """Largest acceleration of a joint [deg/s², or m/s²]."""

    def problem(
        self,
        earlier: SavedEstimate | SavedArm | None,
        path: str,
        body: InertialParameters | None,
        gravity: Vec3,
    ) -> JointProblem:
        """Return the design problem of a payload on the arm; of the arm itself without a body.

        Raises `ProblemError`: a limit is out of its range, or the earlier fit is of something else.
        """
        import numpy as np

        from identify.arms import JointDynamics, SavedArm
        from identify.arrays import require_positive
        from identify.design import joint_limits, joint_problem
        from identify.design.prediction import torque_noise_of, with_fitted_links
        from identify.exchange import SavedEstimate

        if not all(0.0 < share <= 1.0 for share in self.shares):
            raise UsageError(f"design: --shares: expected above 0 and up to 1, got {self.shares}")
        require_positive(self.excursion, "design: --excursion DEG", "deg", UsageError)
        moving = replace(self._moving_robot(earlier), gravity=gravity)
        robot = with_fitted_links(moving, earlier, path)
        start = _start_position(self.start, robot)
        acceleration = self.joint_acceleration
        fitted = earlier.provenance.get("robot") if isinstance(earlier, SavedEstimate) else None
        frame = fitted.get("frame") if isinstance(fitted, Mapping) else None
        if body is not None and frame not in (None, self.payload_at):
            raise UsageError(
                f"design: --payload-at {self.payload_at}: {path} is about {frame}; give this frame"
            )
        limits = joint_limits(
            robot,
            start,
            excursion=float(np.radians(self.excursion)),
            shares=(self.shares[0], self.shares[1]),
            acceleration=None
            if acceleration is None
            else np.where(robot.prismatic, acceleration, np.radians(acceleration)),
        )
        return joint_problem(
            robot,
            limits,
            start,
            torque_share=self.shares[2],
            placement=None if self.payload_at is None else robot.moving_frame(self.payload_at),
            body=body,
            noise=torque_noise_of(earlier, path, len(robot.joints), payload=body is not None),
            box=None if self.box is None else np.reshape(self.box, (3, 2)),
            floor=-np.inf if self.floor is None else self.floor,
            dynamics=JointDynamics.of(earlier) if isinstance(earlier, SavedArm) else None,
        )

    def _moving_robot(self, earlier: SavedEstimate | SavedArm | None) -> RobotModel:
        """Return the robot with the joints that are to move, and the others locked."""
        from identify.arms import SavedArm
        from identify.robots import read_robot

        assert self.robot is not None
        robot = read_robot(self.robot)
        names = self._default_joints(robot)
        if self.joints is not None:
            names = tuple(self.joints.replace(",", " ").split())
            if unknown := set(names).difference(robot.joints):
                raise UsageError(
                    f"design: --joints: expected names of {', '.join(robot.joints)}, got "
                    f"{', '.join(sorted(unknown))}"
                )
        elif isinstance(earlier, SavedArm):
            names = earlier.joints
        rest = _rest_positions(self.rest, robot, names)
        return robot if names == robot.joints else read_robot(self.robot, names, rest=rest)

    def _default_joints(self, robot: RobotModel) -> tuple[str, ...]:
        """Return the joints that carry the payload, or all of the arm itself."""
        from identify.design import supporting_joints

        if self.payload_at is None:
            return robot.joints
        return supporting_joints(robot, robot.moving_frame(self.payload_at))

    def require_joints_from_base(self, robot: RobotModel) -> None:
        """Raise `UsageError` unless the joints are those that a controller counts from the base."""
        from identify.robots import read_robot

        expected = self._default_joints(read_robot(robot.path))
        if robot.joints != expected:
            raise UsageError(
                "design: --program ur, kuka and abb count joints from the base of the arm: "
                f"expected {', '.join(expected)}, got {', '.join(robot.joints)}; leave out "
                "--joints, or use ros"
            )


MOTION_OPTIONS = frozenset(
    ("angle", "speed", "acceleration", "sensor_range", "time", "starts", "program", "need")
)
"""Options that --poses does not take."""

PAYLOAD_OPTIONS = frozenset(("mass", "com", "need", "box"))
"""Options of a design for an arm that need a payload."""


def require_defaults(
    options: Command | WristLimits | RobotLimits, needed: str, names: Collection[str] | None = None
) -> None:
    """Raise `UsageError` if an option, of some or all, was given without one that it needs."""
    for name in changed(options):
        if names is None or name in names:
            raise UsageError(f"design: {flag(name)} needs {needed}")


def require_numbers(options: Command | WristLimits | RobotLimits) -> None:
    """Raise `UsageError` if an option is nan."""
    import numpy as np

    for f in fields(options):
        value = getattr(options, f.name)
        numbers = value if isinstance(value, tuple) else (value,)
        if any(isinstance(number, float) and np.isnan(number) for number in numbers):
            raise UsageError(f"design: {flag(f.name)}: expected a number, got nan")


def _warn_of_radians(name: str, angles: Array) -> None:
    """Warn of small angles that are no whole degrees."""
    import numpy as np

    if np.abs(angles).max(initial=0.0) <= 2.0 * np.pi and np.any(angles % 1.0):
        _LOGGER.warning("%s is in degrees, and all its angles are below 7; are they radians?", name)


def _rest_positions(text: str | None, robot: RobotModel, moving: Sequence[str]) -> dict[str, float]:
    """Return positions of joints at rest [rad or m] from words such as "elbow=90".

    Raises `UsageError`: not a number for a joint that rests.
    """
    import numpy as np

    slides = dict(zip(robot.joints, robot.prismatic.tolist(), strict=True))
    rest: dict[str, float] = {}
    for word in (text or "").replace(",", " ").split():
        name, _, number = word.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = np.nan
        if name not in slides or name in moving or not np.isfinite(value):
            resting = ", ".join(name for name in robot.joints if name not in moving) or "none"
            raise UsageError(
                f'design: --rest: expected words such as "elbow=90" for joints that rest '
                f"({resting}), got {word!r}"
            )
        rest[name] = value if slides[name] else float(np.radians(value))
    return rest


def _start_position(text: str | None, robot: RobotModel) -> Array:
    """Return the start of the joints from degrees, or m for prismatic joints.

    Raises `UsageError`: not one number for each joint.
    """
    import numpy as np

    from identify.design import middle_of_range

    if text is None:
        return middle_of_range(robot)
    try:
        values = np.array([float(word) for word in text.replace(",", " ").split()])
    except ValueError:
        values = np.empty(0)
    if len(values) != len(robot.joints) or not np.isfinite(values).all():
        raise UsageError(
            f"design: --start: expected {len(robot.joints)} numbers in quotes, one for each of "
            f"{', '.join(robot.joints)}, got {text!r}"
        )
    _warn_of_radians("--start", values[~robot.prismatic])
    return np.where(robot.prismatic, values, np.radians(values))

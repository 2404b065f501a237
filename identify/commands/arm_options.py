"""Options of fits from joint torques, and the robots, logs and scales read from them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from identify.commands.command import Number, UsageError, option

if TYPE_CHECKING:
    from identify.arms import TorqueScale
    from identify.logs import Recording
    from identify.robots import RobotModel

_LOGGER = logging.getLogger(__name__)

_ROBOT_HELP = (
    "Fit the load of this arm (URDF) from the [joints] of the logs, without a force sensor; needs "
    "--frame, and --unloaded or --arm."
)
SCALE_HELP = (
    "Standard error of the scale of the torques, of all joints or of each (default: 0.02, which is "
    "2 %); counted in the intervals."
)


@dataclass(frozen=True, slots=True)
class Arm:
    """Load of a robot arm from joint positions and torques."""

    robot: Annotated[Path | None, option("ARM.urdf", help=_ROBOT_HELP)] = None

    frame: Annotated[str | None, option("NAME")] = None
    """Link or joint of the URDF that the load is fixed to; the estimate is about it."""

    arm: Annotated[Path | None, option("ARM.json")] = None
    """Fit of the arm without load by identify fit-arm, in place of --unloaded or with it."""

    friction: Annotated[Literal["own", "shared"] | None, option("RUNS", "(default: own)")] = None
    """Friction: own of each log, or shared by all logs."""

    torque_scale: Annotated[str, option("SHARE[,SHARE ...]", help=SCALE_HELP)] = ""

    known_load: Annotated[Number, option("KG")] = None
    """Known mass of this load: takes the torque scale from it."""

    def require_robot(self) -> None:
        """Raise `UsageError` if options of this group are given without `--robot`."""
        given = [_flag(name) for name in changed(self)]
        if self.robot is None and given:
            verb = "requires" if len(given) == 1 else "require"
            raise UsageError(f"fit: {' and '.join(given)} {verb} --robot ARM.urdf")

    def require_complete(self, unloaded: Sequence[Path]) -> None:
        """Raise `UsageError` if an option that `--robot` needs is missing."""
        if self.frame is None:
            raise UsageError(
                "fit: --robot needs --frame NAME, the link or joint of the URDF that the load is "
                "fixed to, such as tool0"
            )
        if not unloaded and self.arm is None:
            raise UsageError(
                "fit: --robot needs logs of the arm without the load: the torques of a loaded arm "
                "do not tell the load from the last link. Give --unloaded LOG, or --arm ARM.json "
                "of identify fit-arm"
            )
        parse_scale(self.torque_scale, "fit")
        if self.known_load is not None and not self.known_load > 0.0:
            raise UsageError(
                f"fit: --known-load {self.known_load:g}: expected a mass above zero [kg]"
            )


def parse_scale(text: str, command: str) -> tuple[float, ...]:
    """Return the relative errors that `--torque-scale` gives; none if the option is empty.

    Raises:
        UsageError: not shares from 0 to 1.
    """
    try:
        errors = tuple(map(float, text.split(","))) if text else ()
    except ValueError:
        errors = (-1.0,)
    if not all(0.0 <= error < 1.0 for error in errors):
        raise UsageError(
            f"{command}: --torque-scale {text}: expected shares from 0 to 1 separated by commas, "
            "such as 0.02 for 2 % of each joint"
        )
    return errors


def changed(group: object) -> Iterator[str]:
    """Yield the names of the options of a group that differ from their defaults."""
    for field in fields(group):  # pyright: ignore[reportArgumentType]
        if getattr(group, field.name) != field.default:
            yield field.name


def require_unused(groups: Sequence[object], allowed: frozenset[str], reason: str) -> None:
    """Raise `UsageError` that names the given options of some groups that are not allowed."""
    given = [_flag(name) for group in groups for name in changed(group) if name not in allowed]
    if given:
        raise UsageError(f"fit: {' and '.join(given)} cannot be combined with {reason}")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def read_joint_logs(logs: Sequence[Path], schema: Path) -> list[Recording]:
    """Read the joints of logs by the `[joints]` of a schema."""
    from identify.logs import load_schema, read_log

    loaded = load_schema(schema)
    recordings = []
    for log in logs:
        _LOGGER.info("reading %s", log)
        recordings.append(read_log(log, loaded, "joints"))
    return recordings


def read_robot_of(
    path: Path, recording: Recording, gravity: tuple[float, float, float] | None = None
) -> RobotModel:
    """Read the robot with the joints of a log, and its gravity unless another one is given.

    Raises:
        ModelError: not a URDF with these joints, or one without inertias.
    """
    from identify.robots import read_robot

    robot = read_robot(path, recording.joint_axes.names, gravity=gravity or recording.gravity)
    robot.require_inertias()
    return robot


def make_scale(errors: Sequence[float], joints: int) -> TorqueScale | None:
    """Return the torque scale with given errors; None for the default.

    Raises:
        UsageError: not one error, or one for each joint.
    """
    from identify.arms import TorqueScale

    if not errors:
        return None
    if len(errors) not in (1, joints):
        raise UsageError(
            f"--torque-scale: expected one number, or one for each of {joints} joints, got "
            f"{len(errors)}"
        )
    return TorqueScale.known(errors[0] if len(errors) == 1 else errors, joints)

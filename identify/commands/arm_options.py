"""Options of fits from joint torques."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from identify.commands.command import Number, UsageError, choice_parser, option

if TYPE_CHECKING:
    from identify.logs import Schema
    from identify.pipeline import JointSettings

_ROBOT_HELP = (
    "Fit the load of this arm (URDF) from the [joints] of the logs, without a force sensor; needs "
    "--frame, and --unloaded or --arm."
)
SCALE_HELP = (
    "Standard error of the scale of the torques, of all joints or of each, such as 0.02 for 2 %; "
    "by default a gain of each joint is fitted."
)
LINK_ACCURACY_HELP = (
    "Relative accuracy of the links of the URDF, which tell the gains of the torques (default: "
    "0.15)."
)


@dataclass(frozen=True, slots=True)
class Arm:
    """Load of a robot arm from joint positions and torques."""

    robot: Annotated[Path | None, option("ARM.urdf", help=_ROBOT_HELP)] = None

    frame: Annotated[str | None, option("NAME")] = None
    """Link or joint of the URDF that the load is fixed to; the estimate is about it."""

    arm: Annotated[Path | None, option("ARM.json")] = None
    """Fit of the arm without load by identify fit-arm, in place of --unloaded or with it."""

    friction: Annotated[
        Literal["own", "shared"] | None,
        choice_parser("own", "shared"),
        option("own|shared", "(default: own)"),
    ] = None
    """Friction: own of each log, or shared by all logs."""

    torque_scale: Annotated[str, option("SHARE[,SHARE ...]", help=SCALE_HELP)] = ""

    known_load: Annotated[Number, option("KG")] = None
    """Known mass of this load: takes the torque scale from it."""

    link_accuracy: Annotated[Number, option("SHARE", help=LINK_ACCURACY_HELP)] = None

    def settings(self) -> JointSettings:
        """Return the options of joint logs of a fit."""
        from identify.pipeline import JointSettings

        return JointSettings(
            robot=self.robot,
            frame=self.frame,
            arm=self.arm,
            friction=self.friction,
            torque_scale=parse_scale(self.torque_scale, "fit"),
            known_load=self.known_load,
            link_accuracy=self.link_accuracy,
        )

    def require_robot(self) -> None:
        """Raise `UsageError` if options of this group are given without `--robot`."""
        given = [flag(name) for name in changed(self)]
        if self.robot is None and given:
            verb = "requires" if len(given) == 1 else "require"
            raise UsageError(f"fit: {' and '.join(given)} {verb} --robot ARM.urdf")

    def require_complete(self, unloaded: Sequence[Path]) -> None:
        """Raise `UsageError` if an option that `--robot` needs is missing."""
        missing = []
        if self.frame is None:
            missing.append(
                "--frame NAME, the link or joint of the URDF that the load is fixed to, such as "
                "tool0"
            )
        if not unloaded and self.arm is None:
            missing.append(
                "logs of the arm without the load, as its torques do not tell the load from the "
                "last link: --unloaded LOG, or --arm ARM.json of identify fit-arm"
            )
        if missing:
            raise UsageError(f"fit: --robot needs {'; and '.join(missing)}")
        parse_scale(self.torque_scale, "fit")
        require_known_load(self.known_load, "fit")


def require_known_load(mass: float | None, command: str) -> None:
    """Raise `UsageError` unless a known load is above zero."""
    if mass is not None and not mass > 0.0:
        raise UsageError(f"{command}: --known-load {mass:g}: expected a mass above zero [kg]")


def sensor_of_logs(sensor: str, robot: Path | None, command: str) -> str:
    """Return the sensor of the logs of a command: that of the schema, or joints with `--robot`.

    Raises `UsageError`: the logs are of joints, and there is no `--robot`.
    """
    if robot is not None:
        return "joints"
    if sensor == "joints":
        raise UsageError(
            f"{command}: logs of joints, with [joints] and no [wrench], need --robot ARM.urdf, and "
            "--frame NAME of the load with --unloaded LOG or --arm ARM.json; identify fit-arm "
            "fits the arm itself"
        )
    return sensor


def require_joints(schema: Schema) -> None:
    """Raise `UsageError` if a schema has no joints, which `--robot` is for."""
    if schema.joints is None:
        raise UsageError(
            "--robot is for logs of joints, but the schema has no [joints]: give names, position "
            "and effort there, as `identify init` writes, or leave --robot out"
        )


def parse_scale(text: str, command: str) -> tuple[float, ...] | None:
    """Return the relative errors that `--torque-scale` gives; None if the option is empty.

    Raises `UsageError`: not shares from 0 to 1.
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
    return errors or None


def changed(group: object) -> Iterator[str]:
    """Yield the names of the options of a group that differ from their defaults."""
    for field in fields(group):  # pyright: ignore[reportArgumentType]
        if getattr(group, field.name) != field.default:
            yield field.name


def require_unused(groups: Sequence[object], allowed: frozenset[str], reason: str) -> None:
    """Raise `UsageError` that names the given options of some groups that are not allowed."""
    given = [flag(name) for group in groups for name in changed(group) if name not in allowed]
    if given:
        raise UsageError(f"fit: {' and '.join(given)} cannot be combined with {reason}")


def flag(name: str) -> str:
    """Return the option of a field."""
    return f"--{name.replace('_', '-')}"

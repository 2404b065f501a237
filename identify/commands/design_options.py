"""Options of `identify design`: limits of a wrist and of an arm, and their checks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from identify.commands.command import Command, Number, UsageError, number_parser, option


@dataclass(frozen=True, slots=True)
class WristLimits:
    """Limits of a wrist with a force-torque sensor (--wrist)."""

    angle: Annotated[
        tuple[float, float, float], number_parser(3), option("X Y Z", "(default: 45 45 45)")
    ] = (45.0, 45.0, 45.0)
    """Largest angle from the start about the tool's axes [deg]."""

    speed: Annotated[float, option("DEG/S", "(default: 90)")] = 90.0
    """Largest speed about each axis [deg/s]."""

    acceleration: Annotated[float, option("DEG/S2", "(default: 300)")] = 300.0
    """Largest acceleration about each axis [deg/s²]."""

    tilt: Annotated[float, option("DEG", "(default: any)")] = 180.0
    """Largest angle of the tool from its attitude at the start, against gravity [deg]."""

    gravity: Annotated[
        tuple[float, float, float], number_parser(3), option("X Y Z", "(default: 0 0 -9.80665)")
    ] = (0.0, 0.0, -9.80665)
    """Gravity in axes of the tool at the start [m/s²]."""

    sensor_range: Annotated[
        tuple[float, float] | None, number_parser(2), option("N NM", "(default: any)")
    ] = None
    """Largest force [N] and torque [N m] of the sensor on an axis."""

    noise: Annotated[
        tuple[float, float, float], number_parser(3), option("N NM HZ", "(default: .05 .005 100)")
    ] = (0.05, 0.005, 100.0)
    """Noise of force [N] and torque [N m], standard deviation, and samples a second."""

    poses: Annotated[int | None, option("N")] = None
    """Design N static poses in place of a motion."""


@dataclass(frozen=True, slots=True)
class RobotLimits:
    """Limits of a robot arm whose joint torques are logged (--robot)."""

    robot: Annotated[Path | None, option("arm.urdf")] = None
    """Model of the arm, with its limits."""

    payload_at: Annotated[str | None, option("FRAME")] = None
    """Frame of the payload on the arm; without it the arm itself is to be identified."""

    start: Annotated[str | None, option('"Q1 Q2 ..."', "(default: middle of the range)")] = None
    """Start position of the joints [deg, or m for prismatic joints], in quotes."""

    excursion: Annotated[float, option("DEG", "(default: 90)")] = 90.0
    """Largest angle of a joint from the start [deg]."""

    shares: Annotated[
        tuple[float, float, float], number_parser(3), option("Q V TAU", "(default: .95 .8 .8)")
    ] = (0.95, 0.8, 0.8)
    """Shares of the model's limits of position, speed and torque that the motion may use."""

    box: Annotated[
        tuple[float, float, float, float, float, float] | None,
        number_parser(6),
        option("X0 X1 Y0 Y1 Z0 Z1"),
    ] = None
    """Box of the base in which the origin of the tool's frame stays [m]."""

    floor: Annotated[Number, option("Z")] = None
    """Height z in the frame of the base above which all links stay, by their geometry [m]."""

    joint_acceleration: Annotated[Number, option("DEG/S2", "(default: full speed in .4 s)")] = None
    """Largest acceleration of a joint [deg/s², or m/s²]."""


def require_defaults(options: WristLimits | RobotLimits, needed: str) -> None:
    """Raise `UsageError` if an option was given that another one would have to go with."""
    for f in fields(options):
        if getattr(options, f.name) != f.default:
            raise UsageError(f"design: --{f.name.replace('_', '-')} needs {needed}")


def require_numbers(options: Command | WristLimits | RobotLimits) -> None:
    """Raise `UsageError` if an option is nan."""
    import numpy as np

    for f in fields(options):
        value = getattr(options, f.name)
        numbers = value if isinstance(value, tuple) else (value,)
        if any(isinstance(number, float) and np.isnan(number) for number in numbers):
            raise UsageError(f"design: --{f.name.replace('_', '-')}: expected a number, got nan")

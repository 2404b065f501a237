"""Figures of an arm's joints: torques measured and predicted over time, and friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from identify.arms import FittedArm, TorqueSeries
from identify.arrays import Array, Flags
from identify.errors import ProblemError
from identify.reporting import colors
from identify.reporting.canvas import LABEL_HEIGHT, Column, Panel, PanelAxes
from identify.reporting.result import residual_answer
from identify.reporting.rounding import format_significant

if TYPE_CHECKING:
    from identify.pipeline import Result

_FRICTION_POINTS = 400
"""Largest number of points of a joint and log in a figure of friction."""

_MIN_SECONDS_OF_CHANGE = 300.0
"""Shortest log of which friction is shown over time [s]."""

_SPANS_OF_CHANGE = 12
"""Number of spans of time in which it is shown."""

_MIN_VELOCITY_RANGE = 0.1
"""Smallest range of velocities of a figure, for a joint that does not move [rad/s, m/s]."""

_RUN_LOOKS = ((colors.ESTIMATE, "-"), (colors.OTHER_BODY, (0, colors.PREDICTED_DASHES)))
"""Colour and dashes of the friction curve of the first run, and of every other run."""


def torques_explained(result: Result) -> str:
    """Return whether the model explains the torques, with its errors."""
    words = {"fitted": "of the torques remain", "held out": "held out"}
    errors = fitted_arm(result).all_errors
    parts = [
        f"{format_significant(100.0 * errors[name].total, 2)} % {text}"
        for name, text in words.items()
        if name in errors
    ]
    return f"{residual_answer(result)} ({', '.join(parts)})"


def fitted_arm(result: Result) -> FittedArm:
    """Return the arm of a result.

    Raises `ProblemError`: its logs are not of the joints of an arm.
    """
    if result.arm is None:
        raise ProblemError(
            f"the result is of logs of {result.sensor.title}, not of an arm's joints"
        )
    return result.arm


def torque_columns(arm: FittedArm) -> tuple[Column, ...]:
    """Return the columns of measured and predicted torque over time, two for each log."""
    joints = range(len(arm.joints))
    return tuple(
        Column(
            f"Torques, {series.name}",
            "time [s]",
            tuple(_torque_panel(arm, number, joint) for joint in half),
            zoom_group="time",
        )
        for number, series in enumerate(arm.series)
        for half in _split(joints, (len(joints) + 1) // 2)
    )


def _split(joints: range, size: int) -> list[range]:
    """Split joints for columns of at most `size` panels, between which a print may break."""
    return [joints[start : start + size] for start in range(0, len(joints), size)]


def _torque_panel(arm: FittedArm, number: int, joint: int) -> Panel:
    series = arm.series[number]
    moving = _moving(series, joint)
    measured = series.measured[:, joint]
    predicted = np.where(moving, series.predicted[:, joint], np.nan)
    residual = (measured - predicted)[moving]

    def draw(axes: PanelAxes) -> None:
        axes.plot(series.time, measured, color=colors.MEASURED, ls="-", lw=2.0, label="measured")
        thin = {"ls": (0, colors.PREDICTED_DASHES), "lw": 0.9}
        axes.plot(series.time, predicted, color=colors.ESTIMATE, label="predicted", **thin)

    unit, note = arm.unit(joint), "at rest"
    if moving.any():
        note = f"residual {format_significant(float(np.sqrt(np.mean(residual**2))), 2)} {unit} RMS"
    label = f"{arm.joints[joint]} [{unit}]"
    return Panel(draw, label, note, height=max(0.8, LABEL_HEIGHT * len(label)))


def friction_columns(arm: FittedArm) -> tuple[Column, ...]:
    """Return the columns of friction over velocity: a panel for each joint, two a column."""
    return tuple(
        Column(
            "Friction" if number == 0 else "Friction, continued",
            "",
            tuple(_friction_panel(arm, joint) for joint in joints),
            shared_x=False,
        )
        for number, joints in enumerate(_split(range(len(arm.joints)), 2))
    )


def _friction_panel(arm: FittedArm, joint: int) -> Panel:
    runs = arm.runs
    curves = [arm.friction(joint, run) for run in dict.fromkeys(runs)]
    points = [_friction_points(arm, number, joint) for number in range(len(runs))]
    fastest = max(
        float(np.abs(velocity).max(initial=_MIN_VELOCITY_RANGE)) for velocity, _ in points
    )

    def draw(axes: PanelAxes) -> None:
        for velocity, torque in points:
            look = {"ls": "", "marker": "o", "ms": 2.0, "mew": 0.0}
            axes.plot(
                velocity, torque, color=colors.MEASURED, label="measured, less the links", **look
            )
        axes.axhline(0.0, color=colors.MUTED, lw=0.7)
        v = np.array([-fastest, -0.0, np.nan, 0.0, fastest])
        sign = np.array([-1.0, -1.0, np.nan, 1.0, 1.0])
        for run, (viscous, coulomb, offset) in enumerate(curves):
            color, dashes = _RUN_LOOKS[min(run, 1)]
            label = "fitted" if len(curves) == 1 else f"fitted, {arm.series[run].name}"
            axes.plot(v, viscous * v + coulomb * sign + offset, color=color, ls=dashes, label=label)

    speed = "m/s" if arm.robot.prismatic[joint] else "rad/s"
    name = arm.joints[joint]
    label = f"{name} [{arm.unit(joint)}]"
    height = max(1.3, LABEL_HEIGHT * len(label))
    return Panel(draw, label, height=height, xlabel=f"velocity of {name} [{speed}]")


def friction_changes(arm: FittedArm) -> tuple[Column, ...]:
    """Return the columns of friction over time, of the logs of some minutes: one for each."""
    joints = range(len(arm.joints))
    return tuple(
        Column(
            f"Friction over time, {series.name}",
            "time [s]",
            tuple(_change_panel(arm, series, joint) for joint in joints),
        )
        for series in arm.series
        if len(series.time) and np.ptp(series.time) > _MIN_SECONDS_OF_CHANGE
    )


def _change_panel(arm: FittedArm, series: TorqueSeries, joint: int) -> Panel:
    """Return the panel of the friction of a joint in spans of time, by that of the whole log."""
    moving, sign = _moving(series, joint), np.sign(series.velocity[:, joint])
    others = series.predicted[:, joint] - series.friction[:, joint]
    friction = np.where(moving, (series.measured[:, joint] - others) * sign, np.nan)
    spans = np.array_split(np.column_stack((series.time, friction)), _SPANS_OF_CHANGE)
    means = np.array([span[np.isfinite(span[:, 1])].sum(axis=0) for span in spans])
    counts = [max(np.isfinite(span[:, 1]).sum(), 1) for span in spans]
    time, values = (means / np.array(counts)[:, None]).T

    def draw(axes: PanelAxes) -> None:
        axes.plot(time, values, color=colors.MEASURED, ls="-", marker="o", ms=3.0, label="friction")

    label = f"{arm.joints[joint]} [{arm.unit(joint)}]"
    return Panel(draw, label, height=max(0.8, LABEL_HEIGHT * len(label)))


def _friction_points(arm: FittedArm, number: int, joint: int) -> tuple[Array, Array]:
    """Return velocities, and the torque that links and rotors leave, of some samples in motion."""
    series = arm.series[number]
    viscous, coulomb, offset = arm.friction(joint, arm.runs[number])
    v = series.velocity[:, joint]
    residual = series.measured[:, joint] - series.predicted[:, joint]
    torque = residual + viscous * v + coulomb * np.sign(v) + offset
    moving = np.flatnonzero(_moving(series, joint))
    chosen = moving[:: max(1, len(moving) // _FRICTION_POINTS)]
    return v[chosen], torque[chosen]


def _moving(series: TorqueSeries, joint: int) -> Flags:
    """Return the points of the series at which a joint moves, which count in its equation."""
    speed = np.abs(series.velocity[:, joint])
    return speed > np.quantile(speed, 1.0 - min(float(series.moving[joint]), 1.0))

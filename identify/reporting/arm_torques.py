"""Figures of an arm's joints: torques measured and predicted over time, and friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arms import (
    ArmFit,
    ArmLog,
    ArmSolution,
    PayloadFit,
    TorqueErrors,
    TorqueSeries,
    torque_series,
)
from identify.arms.columns import FRICTION
from identify.arms.equations import ArmEquations, equations_of, of_run
from identify.arrays import Array, Flags
from identify.reporting import colors
from identify.reporting.canvas import Column, Panel, PanelAxes
from identify.reporting.rounding import format_significant

_FRICTION_POINTS = 400
"""Largest number of points of a joint and log in a figure of friction."""

_LABEL_HEIGHT = 0.06
"""Height of a panel for each character of its vertical label [in], so that long names of joints do
not reach into the next panel."""

_MIN_VELOCITY_RANGE = 0.1
"""Smallest range of velocities of a figure, for a joint that does not move [rad/s, m/s]."""

_RUN_LOOKS = ((colors.ESTIMATE, "-"), (colors.OTHER_BODY, (0, colors.PREDICTED_DASHES)))
"""Colour and dashes of the friction curve of the first run, and of every other run."""


@dataclass(frozen=True, slots=True, eq=False)
class JointTorques:
    """Torques of the joints in the logs of a fit of an arm.

    Attributes:
        logs: summaries of the logs.
        titles: name of each log in figures.
        equations: equations of the fit.
        scalars: friction and rotor inertias by name, each with its standard error.
        series: torques of each log.
    """

    logs: tuple[ArmLog, ...]
    titles: tuple[str, ...]
    equations: ArmEquations
    scalars: Mapping[str, tuple[float, float]]
    series: tuple[TorqueSeries, ...]

    @classmethod
    def of(
        cls, logs: Sequence[ArmLog], solution: ArmSolution, loaded: int | None = None
    ) -> JointTorques:
        """Predict the torques of the logs of a fit; in a fit of a load, `loaded` logs have it."""
        equations, x = equations_of(solution.system), solution.x
        series = (torque_series(log, equations, x, k) for k, log in enumerate(logs))
        kinds = ("" if loaded is None or k < loaded else " (unloaded)" for k in range(len(logs)))
        titles = (f"{log.name}{kind}" for log, kind in zip(logs, kinds, strict=True))
        scalars = solution.estimate.scalars
        return cls(tuple(logs), tuple(titles), equations, scalars, tuple(series))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.equations.columns.joints

    @property
    def prismatic(self) -> Flags:
        """Whether each joint translates, shape (n,)."""
        return self.equations.columns.robot.prismatic

    def unit(self, joint: int) -> str:
        """Return the unit of a joint's torque or force."""
        return "N" if self.prismatic[joint] else "N m"

    def friction(self, joint: int, run: int) -> tuple[float, float, float]:
        """Return viscous and Coulomb friction and offset of a joint in a run."""
        names = (of_run(self.joints[joint], kind, run) for kind in FRICTION)
        viscous, coulomb, offset = (self.scalars[name][0] for name in names)
        return viscous, coulomb, offset


def arm_errors(fit: ArmFit) -> dict[str, TorqueErrors]:
    """Return relative torque errors of a fit of an arm: fitted, with the URDF's links, held out."""
    errors = {"fitted": fit.errors, "URDF": fit.model_errors}
    if fit.held_out:
        errors["held out"] = _pooled([each.consistent for each in fit.held_out])
        errors["held out, base parameters"] = _pooled([each.base for each in fit.held_out])
        errors["held out, URDF"] = _pooled([each.model for each in fit.held_out])
    return errors


def payload_errors(fit: PayloadFit) -> dict[str, TorqueErrors]:
    """Return relative torque errors of a fit of a load: fitted, and held out if known."""
    held_out = [each for _, each in fit.held_out]
    return {"fitted": fit.errors} | ({"held out": _pooled(held_out)} if held_out else {})


def _pooled(errors: Sequence[TorqueErrors]) -> TorqueErrors:
    """Return the root mean square of torque errors on several data."""
    joints = np.sqrt(np.mean([each.joints**2 for each in errors], axis=0))
    return TorqueErrors(joints, float(np.sqrt(np.mean([each.total**2 for each in errors]))))


def torque_columns(torques: JointTorques) -> tuple[Column, ...]:
    """Return the columns of measured and predicted torque over time.

    Several logs have a column each; the joints of a single log are in two columns.
    """
    every = range(len(torques.joints))
    columns = [(number, every) for number in range(len(torques.logs))]
    if len(columns) == 1:
        columns = [(0, joints) for joints in _halves(every)]
    return tuple(
        Column(
            f"Torques, {torques.titles[number]}",
            "time [s]",
            tuple(_torque_panel(torques, number, joint) for joint in joints),
            zoom_group="time",
        )
        for number, joints in columns
    )


def _halves(joints: range) -> list[range]:
    """Split joints for two columns."""
    middle = (len(joints) + 1) // 2
    return [half for half in (joints[:middle], joints[middle:]) if half]


def _torque_panel(torques: JointTorques, number: int, joint: int) -> Panel:
    log, series = torques.logs[number], torques.series[number]
    moving = _moving(log, series, joint)
    measured = series.measured[:, joint]
    predicted = np.where(moving, series.predicted[:, joint], np.nan)
    residual = (measured - predicted)[moving]

    def draw(axes: PanelAxes) -> None:
        axes.plot(log.time, measured, color=colors.MEASURED, ls="-", lw=2.0, label="measured")
        thin = {"ls": (0, colors.PREDICTED_DASHES), "lw": 0.9}
        axes.plot(log.time, predicted, color=colors.ESTIMATE, label="predicted", **thin)

    unit, note = torques.unit(joint), "at rest"
    if moving.any():
        note = f"residual {format_significant(float(np.sqrt(np.mean(residual**2))), 2)} {unit} RMS"
    label = f"{torques.joints[joint]} [{unit}]"
    return Panel(draw, label, note, height=max(0.8, _LABEL_HEIGHT * len(label)))


def friction_columns(torques: JointTorques) -> tuple[Column, ...]:
    """Return the columns of friction over velocity: a panel for each joint, in two columns."""
    return tuple(
        Column(
            "Friction" if number == 0 else "Friction, further joints",
            "",
            tuple(_friction_panel(torques, joint) for joint in joints),
            shared_x=False,
        )
        for number, joints in enumerate(_halves(range(len(torques.joints))))
    )


def _friction_panel(torques: JointTorques, joint: int) -> Panel:
    runs = torques.equations.runs[: len(torques.logs)]
    curves = [torques.friction(joint, run) for run in dict.fromkeys(runs)]
    points = [_friction_points(torques, number, joint) for number in range(len(runs))]
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
            label = "fitted" if len(curves) == 1 else f"fitted, {torques.titles[run]}"
            axes.plot(v, viscous * v + coulomb * sign + offset, color=color, ls=dashes, label=label)

    speed = "m/s" if torques.prismatic[joint] else "rad/s"
    name = torques.joints[joint]
    label = f"{name} [{torques.unit(joint)}]"
    height = max(1.3, _LABEL_HEIGHT * len(label))
    return Panel(draw, label, height=height, xlabel=f"velocity of {name} [{speed}]")


def _friction_points(torques: JointTorques, number: int, joint: int) -> tuple[Array, Array]:
    """Return velocities, and the torque that links and rotors leave, of some samples in motion."""
    log, series = torques.logs[number], torques.series[number]
    viscous, coulomb, offset = torques.friction(joint, torques.equations.runs[number])
    v = series.velocity[:, joint]
    residual = series.measured[:, joint] - series.predicted[:, joint]
    torque = residual + viscous * v + coulomb * np.sign(v) + offset
    moving = np.flatnonzero(_moving(log, series, joint))
    chosen = moving[:: max(1, len(moving) // _FRICTION_POINTS)]
    return v[chosen], torque[chosen]


def _moving(log: ArmLog, series: TorqueSeries, joint: int) -> Flags:
    """Return the points of the series at which a joint moves, which count in its equation."""
    speed = np.abs(series.velocity[:, joint])
    return speed > np.quantile(speed, 1.0 - min(float(log.moving[joint]), 1.0))

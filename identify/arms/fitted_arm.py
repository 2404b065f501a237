"""`FittedArm`: what a fit of joint logs tells of the arm, without the logs and the equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from identify.arms.base_parameters import BaseParameters
from identify.arms.columns import FRICTION
from identify.arms.equations import of_run
from identify.arms.gains import FittedGains
from identify.arms.prediction import TorqueErrors, TorqueSeries
from identify.arms.torque_scale import TorqueScale
from identify.errors import ProblemError
from identify.robots import RobotModel


class HeldOut(NamedTuple):
    """Torque errors on data that a fit has not used.

    Attributes:
        name: description of the data.
        consistent: error of the consistent bodies fitted to the other data.
        base: error of the base parameters fitted to them; None in a fit of a load.
        model: error of the links of the URDF, with friction fitted to them; None likewise.
        ordinary: error of the base parameters by ordinary least squares; None likewise.
    """

    name: str
    consistent: TorqueErrors
    base: TorqueErrors | None = None
    model: TorqueErrors | None = None
    ordinary: TorqueErrors | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FittedArm:
    """Arm of a fit of joint logs, with or without a load.

    Attributes:
        robot: model of the arm, as read.
        frame: frame of the URDF that the load is fixed to; None without a load.
        loaded: number of logs with the load; they come first.
        runs: number of the run of each log; each run has friction of its own.
        gains: of the torques, as fitted to the logs.
        scalars: rotor inertias and friction by name, each with its standard error.
        errors: torque errors of the estimate on the logs of the fit.
        held_out: torque errors on data that a fit has not used.
        model_errors: those of the URDF's links, with friction fitted; None with a load.
        ordinary, weighted: base parameters by ordinary and by weighted least squares; None with a
            load.
        series: torques of each log at the times of its series.
        report: of a fit without a load, what its arm.json says besides numbers, as plain values.
        digest: sha256 of that arm.json; empty if it is not known.
    """

    robot: RobotModel
    frame: str | None = None
    loaded: int = 0
    runs: tuple[int, ...]
    gains: FittedGains
    scalars: Mapping[str, tuple[float, float]]
    errors: TorqueErrors
    held_out: tuple[HeldOut, ...] = ()
    model_errors: TorqueErrors | None = None
    ordinary: BaseParameters | None = None
    weighted: BaseParameters | None = None
    series: tuple[TorqueSeries, ...] = field(default=(), repr=False)
    report: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    @property
    def scale(self) -> TorqueScale:
        """Gains of the torques with their errors."""
        return self.gains.scale

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.robot.joints

    @property
    def base_parameters(self) -> tuple[BaseParameters, BaseParameters]:
        """Base parameters by ordinary and by weighted least squares.

        Raises:
            ProblemError: the fit is of a load.
        """
        if self.ordinary is None or self.weighted is None:
            raise ProblemError("the fit of a load is no fit of the arm alone: see `fit_arm`")
        return self.ordinary, self.weighted

    @property
    def all_errors(self) -> dict[str, TorqueErrors]:
        """Relative torque errors by the data and the model that they are of."""
        errors = {"fitted": self.errors}
        if self.model_errors is not None:
            errors["URDF"] = self.model_errors
        pooled = {
            "held out": [each.consistent for each in self.held_out],
            "held out, base parameters": [each.base for each in self.held_out if each.base],
            "held out, URDF": [each.model for each in self.held_out if each.model],
        }
        return errors | {name: _pooled(each) for name, each in pooled.items() if each}

    def without_logs(self, digest: str) -> FittedArm:
        """Return the arm as it is kept for a report, with the sha256 of its arm.json."""
        kept = {each.name: getattr(self, each.name) for each in fields(FittedArm)}
        return FittedArm(**{**kept, "digest": digest})

    def record(self) -> dict[str, object]:
        """Return errors of the torques by joint, and friction, as plain values in SI."""
        errors = {"fitted": self.errors, **{each.name: each.consistent for each in self.held_out}}
        return {
            "torque_errors": {
                name: {
                    "total": each.total,
                    **dict(zip(self.joints, each.joints.tolist(), strict=True)),
                }
                for name, each in errors.items()
            },
            "joints": dict(self.scalars),
        }

    def unit(self, joint: int) -> str:
        """Return the unit of a joint's torque or force."""
        return "N" if self.robot.prismatic[joint] else "N m"

    def friction(self, joint: int, run: int) -> tuple[float, float, float]:
        """Return viscous and Coulomb friction and offset of a joint in a run."""
        names = (of_run(self.joints[joint], kind, run) for kind in FRICTION)
        viscous, coulomb, offset = (self.scalars[name][0] for name in names)
        return viscous, coulomb, offset


def _pooled(errors: Sequence[TorqueErrors]) -> TorqueErrors:
    """Return the root mean square of torque errors on several data."""
    joints = np.sqrt(np.mean([each.joints**2 for each in errors], axis=0))
    return TorqueErrors(joints, float(np.sqrt(np.mean([each.total**2 for each in errors]))))

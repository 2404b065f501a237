"""`fit_arm`: the parameters of an arm from its own motion, base and standard, with friction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from identify.arms.base_parameters import arm_base_columns, fit_base_parameters
from identify.arms.columns import ArmColumns
from identify.arms.contradicted_terms import contradicted_load
from identify.arms.equations import PAYLOAD, equations_of
from identify.arms.fitted_arm import FittedArm, HeldOut
from identify.arms.fitting import ArmSolution, consistent_unknowns, solve_arm
from identify.arms.further_friction import further_friction, lasting_friction
from identify.arms.gains import LINK_ACCURACY, FittedGains, calibrate, require_plausible_load
from identify.arms.load_default import first_load_default
from identify.arms.model import Friction, arm_system, runs_of
from identify.arms.prediction import torque_errors, torque_series, with_fitted_friction
from identify.arms.rows import ArmLog, scan_arm
from identify.arms.saved_arm import SavedArm, link_kinematics, with_saved_blocks
from identify.arms.torque_scale import TorqueScale
from identify.arrays import Phi
from identify.errors import LogError, ModelError, ProblemError
from identify.estimation.errors import NegativeMass, TooLittleMotion
from identify.estimation.estimate import Estimate
from identify.estimation.priors.prior import Prior
from identify.estimation.settings import IntervalRoute
from identify.findings import Finding
from identify.logs import LogFile, Recording
from identify.logs.log_file import header_of
from identify.regressors import LinearSystem, Statistics, join_logs
from identify.regressors.log_scan import ReadableLog
from identify.robots import RobotModel

_MIN_HALVED_BLOCKS = 4
"""Smallest number of time blocks of logs that are split in halves for a held-out error."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ArmFit(FittedArm):
    """Fit of joint logs: a `FittedArm` with its logs, equations and solution.

    Attributes:
        logs: summaries of the logs, those with the load first.
        solution: the load about its frame, if there is one; consistent links, rotor inertias and
            friction.
        contradicted: finding if the torques contradict what was given of the load, else None.
    """

    logs: tuple[ArmLog, ...]
    solution: ArmSolution
    contradicted: Finding | None = None

    @classmethod
    def of(
        cls, solution: ArmSolution, logs: Sequence[ArmLog], gains: FittedGains, **rest: Any
    ) -> ArmFit:
        """Return the fit of a solution, with errors and series of the torques of its logs."""
        equations = equations_of(solution.system)
        return cls(
            robot=equations.columns.robot,
            frame=equations.frame,
            loaded=sum(equations.loaded),
            runs=equations.runs[: len(logs)],
            gains=gains,
            scalars=solution.estimate.scalars,
            errors=torque_errors(solution.system, solution.x),
            series=tuple(
                torque_series(log, equations, solution.x, k) for k, log in enumerate(logs)
            ),
            logs=tuple(logs),
            solution=solution,
            **rest,
        )

    @property
    def estimate(self) -> Estimate:
        """Estimate of the load, or of the first link, with the other bodies and the scalars."""
        return self.solution.estimate

    @property
    def links(self) -> Phi:
        """Ten parameters of each link about its origin in its axes, shape (L, 10)."""
        bodies = self.estimate.bodies[1:] if self.loaded else self.estimate.bodies
        return np.array([body.parameters.phi for body in bodies])

    @property
    def saved(self) -> SavedArm:
        """The fit without a load as it is written to arm.json.

        Raises:
            ProblemError: it is of a load.
        """
        estimate, (ordinary, weighted) = self.estimate, self.base_parameters
        joint = estimate.joint_covariance
        base = np.stack((ordinary.values, weighted.values, weighted.errors), axis=1)
        return SavedArm(
            joints=self.robot.joints,
            links=dict(zip(self.robot.links, self.links, strict=True)),
            scalars={name: value for name, (value, _) in estimate.scalars.items()},
            covariance=estimate.covariance if joint is None else joint,
            statistics=with_saved_blocks(join_logs([log.statistics for log in self.logs])),
            kinematics=link_kinematics(self.robot),
            dependence=equations_of(self.solution.system).columns.base.dependence,
            scale=None if self.gains.known_load is None else self.scale,
            report={
                "model": str(self.robot.path),
                "has_torque": self.gains.has_unit,
                "gains": {
                    kind: gains.tolist()
                    for kind, gains in self.logs[0].recording.joint_axes.gains.items()
                },
                "logs": {log.name: log.sha256 for log in self.logs},
                "interval_kind": estimate.interval_kind,
                "torque_error": self.errors.total,
                "torque_error_of_model": self.all_errors["URDF"].total,
                "residual_rms": list(estimate.residual_rms),
                "effective_samples": estimate.effective_samples,
                "held_out": {held.name: held.consistent.total for held in self.held_out},
                "base_parameters_ols_wls_error": dict(
                    zip(weighted.names, base.tolist(), strict=True)
                ),
            },
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logs of an arm with a load of known mass, which tell the gains of its torques.

    Attributes:
        logs: with the load.
        frame: frame of the URDF that the load is fixed to.
        mass: of the load [kg].
    """

    logs: tuple[ReadableLog, ...]
    frame: str
    mass: float


def fit_arm(
    logs: ReadableLog | Sequence[ReadableLog],
    robot: RobotModel,
    *,
    cutoff_hz: float | None = None,
    friction: Friction = "shared",
    interval: IntervalRoute | None = None,
    scale: TorqueScale | None = None,
    link_accuracy: float = LINK_ACCURACY,
    calibration: Calibration | None = None,
    held_out: Sequence[ReadableLog] = (),
    priors: Mapping[str, Prior] | None = None,
) -> ArmFit:
    """Fit links, rotor inertias and friction of an arm to logs of its joints.

    Links are physically consistent, and near those of the URDF where the logs show nothing;
    friction and rotor inertias are at least zero.

    Args:
        logs: joint positions and torques of the arm without a load.
        robot: model of the arm, with the joints of the logs in their order.
        cutoff_hz: highest frequency that is used [Hz]; 8 Hz if not given.
        friction: whether each log has friction of its own, or all logs share it.
        interval: method of the intervals; bootstrap where there are ten blocks, if not given.
        scale: gains of the torques with their errors; if not given, as the logs and the links of
            the model show them.
        link_accuracy: standard deviation of the relative errors of the model's links.
        calibration: logs of the arm with a known load, which tell the gains of the torques.
        held_out: other logs of the arm, on which the fit is scored, with the friction of the first
            log; without any, each half of the logs is scored by a fit to the other.
        priors: of links, by name, about the link's origin; other links are completed by the model.

    Raises:
        ProblemError: no log, logs of other joints, or a motion that does not excite the base
            parameters.
        LogError: a log is given twice, is too short, or no joint moves in it.
        SolveError: the solver failed, or its solution is not proved.
    """
    used = [logs] if isinstance(logs, Recording | LogFile) else list(logs)
    weighed = () if calibration is None else tuple(calibration.logs)
    scale = scale or TorqueScale.by_schema([*weighed, *used])
    columns, every = scan_logs([*weighed, *used, *held_out], robot, cutoff_hz)
    scans = every[len(weighed) :]
    statistics = join_logs([scan.statistics for scan in scans[: len(used)]])
    count = len(weighed) + len(used)
    weighed_runs, runs = runs_of(count, friction), runs_of(len(used), friction)
    every_log = join_logs([scan.statistics for scan in every[:count]])
    weighed_form = partial(
        arm_system,
        columns=columns,
        runs=weighed_runs,
        further=further_friction(columns, every_log, weighed_runs),
        loaded=(True,) * len(weighed) + (False,) * len(used),
        frame=None if calibration is None else calibration.frame,
    )
    fit_gains = partial(
        calibrate,
        statistics=every_log,
        prior=scale,
        link_accuracy=link_accuracy,
        has_unit=header_of(used[0]).joint_axes.has_torque,
    )
    try:
        try:
            gains = fit_gains(weighed_form)
        except TooLittleMotion as error:
            if f"{PAYLOAD}.m" in error.unidentifiable:
                raise
            weighed_form = partial(weighed_form, load_default=first_load_default(columns))
            gains = fit_gains(weighed_form)
    except NegativeMass as error:
        raise ProblemError(
            f"calibration: the logs with the load show one of {error.mass:.3g} kg: the logs with "
            "and without the load are swapped, or efforts have the other sign"
        ) from error
    contradicted = None
    if calibration is not None and gains.load_mass is not None:
        require_plausible_load(calibration.mass, gains.load_mass)
        shown, gains = gains, fit_gains(weighed_form, known_load=calibration.mass, shown=gains)
        contradicted = contradicted_load(shown, gains, scale)
    further = further_friction(columns, statistics, runs)
    form = partial(arm_system, columns=columns, runs=runs, gains=gains.scale.gains, further=further)
    solution = solve_arm(
        lambda scatter: form(statistics, scatter=scatter), gains.scale, interval, priors=priors
    )
    system = form(statistics, scatter=solution.scatter, bounded=False)
    base = arm_base_columns(equations_of(system))
    lasting = partial(form, further=lasting_friction(further))
    return ArmFit.of(
        solution,
        scans[: len(used)],
        gains,
        contradicted=contradicted,
        ordinary=fit_base_parameters(system, base, weighted=False),
        weighted=fit_base_parameters(system, base),
        model_errors=torque_errors(system, with_fitted_friction(system, robot.phi)),
        held_out=tuple(
            _score(name, lasting(train, scatter=solution.scatter), lasting(test))
            for name, train, test in split_logs(statistics, scans[len(used) :])
        ),
    )


def scan_logs(
    logs: Sequence[ReadableLog],
    robot: RobotModel,
    cutoff_hz: float | None,
    arm: SavedArm | None = None,
) -> tuple[ArmColumns, list[ArmLog]]:
    """Summarise logs of one arm, by the columns of an earlier fit of it if there is one.

    Raises `ProblemError`: there is no log, or the joints of a log are not those of the robot;
    `ModelError`: the earlier fit is of another arm; `LogError`: a log is given twice, is too short,
    or no joint moves in it.
    """
    if not logs:
        raise ProblemError("a fit of an arm needs at least one log")
    for log in logs:
        names = header_of(log).joint_axes.names
        if names != robot.joints:
            raise ProblemError(
                f"{log.name}: its joints are {', '.join(names)}; those of the robot "
                f"{', '.join(robot.joints)}. Read the model with the joints of the log: "
                "read_robot(path, log.joints.names)"
            )
    require_distinct(logs)
    axes = header_of(logs[0]).joint_axes
    columns = ArmColumns.of(robot, axes.motor_per_joint)
    if arm is not None:
        columns = replace(columns, base=arm.base_of(robot))
        if arm.statistics.layout != columns.layout:
            raise ModelError(
                "the fitted arm has other motors than the logs: give the [joints.motor] that it "
                "was fitted with, or fit it again"
            )
        if arm.report.get("has_torque", axes.has_torque) != axes.has_torque:
            raise ModelError(
                "gains count once: of this log and the logs of the arm.json, one has `gains` or "
                "torques by its [joints], the other currents without; give the same, or fit again"
            )
    return columns, [scan_arm(log, columns, cutoff_hz) for log in logs]


def require_distinct(logs: Sequence[ReadableLog | ArmLog], fitted: Sequence[str] = ()) -> None:
    """Raise unless all logs differ, and from those of a fitted arm, by their sha256.

    Raises `LogError`: two logs have the same content, or the arm is fitted to a log.
    """
    names: dict[str, str] = {}
    for log in logs:
        if log.sha256 in names:
            raise LogError(
                f"{log.name} and {names[log.sha256]} have the same content: a log is with the load "
                "or without it, fitted or held out, and is given once"
            )
        if log.sha256 in fitted:
            raise LogError(
                f"{log.name}: the fitted arm includes this log, which would count twice: leave it "
                "out"
            )
        names[log.sha256] = log.name


def split_logs(
    statistics: Statistics, others: Sequence[ArmLog] = ()
) -> list[tuple[str, Statistics, Statistics]]:
    """Return names, training data and test data of held-out scores.

    Halves of the logs are none if a joint rests for a half of a log, as they cannot predict it.
    """
    if others:
        return [(log.name, statistics, log.statistics) for log in others]
    logs = range(len(statistics.logs))
    last = np.array([statistics.block[statistics.log == log].max() for log in logs])
    if last.min() + 1 < _MIN_HALVED_BLOCKS:
        return []
    later = 2 * statistics.block > last[statistics.log]
    pairs = np.stack((statistics.log, statistics.group), axis=-1)
    moving = statistics.samples > 0
    cells = (moving, moving & later, moving & ~later)
    every, *halves = (len(np.unique(pairs[each], axis=0)) for each in cells)
    if min(halves) < every:
        return []
    first, second = statistics.subset(~later), statistics.subset(later)
    return [("second half", first, second), ("first half", second, first)]


def _score(name: str, train: LinearSystem, test: LinearSystem) -> HeldOut:
    """Score fits to the training data on the test data."""
    equations = equations_of(train)
    base, ordinary = (
        torque_errors(test, fit_base_parameters(train, arm_base_columns(equations), weighted=w).x)
        for w in (True, False)
    )
    return HeldOut(
        name,
        consistent=torque_errors(test, consistent_unknowns(train)),
        base=base,
        model=torque_errors(test, with_fitted_friction(train, equations.columns.robot.phi)),
        ordinary=ordinary,
    )

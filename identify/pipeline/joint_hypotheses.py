"""Hypotheses on logs of an arm's joints: the list of what may be wrong with them.

None is corrected: positions and efforts read otherwise are known at a few points of a log only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from identify.arms.columns import ArmColumns
from identify.arms.deviation_findings import deviation_findings
from identify.arms.deviations import USUAL_SCATTER, ArmMoments, Deviation, likeliest_deviations
from identify.arms.findings import gain_findings, signal_findings
from identify.arms.gains import LINK_ACCURACY, MAX_KNOWN_GAIN_SPREAD, FittedGains
from identify.arms.interpretations import moved
from identify.arms.joint_fits import ArmPoints, arm_points
from identify.arms.model_findings import (
    POOR_MODEL_ERROR,
    JudgedLog,
    commanded_findings,
    log_least_explained,
    misread_findings,
    timing_findings,
    unexplained_torque_findings,
)
from identify.arms.rows import ARM_CUTOFF_HZ
from identify.arms.saved_arm import SavedArm
from identify.arrays import Array
from identify.findings import Finding
from identify.logs.log_file import header_of
from identify.pipeline.hypotheses import Hypothesis, Outcome
from identify.regressors.log_scan import ReadableLog
from identify.robots import RobotModel
from identify.significance import IMPOSSIBLE_SIGMA

_SLOW_CUTOFF_HZ = 3.0
"""Cut-off of the points by which logs are judged [Hz]: the weight of the links tells of them, and
noise of coarse encoders in the accelerations leaves much of the torques."""

_MIN_IMPROVEMENT_RATIO = 1.3
"""Ratio of the squared errors that a misreading leaves to those of a deviation from the model, from
which on it is the deviation; right links of a model are reached by either at the same size."""


@dataclass(frozen=True, kw_only=True)
class JointLogs:
    """Logs of an arm as they are judged by its model.

    Attributes:
        logs: those with a load first.
        robot: model of the arm, with the joints of the logs.
        loaded: number of logs with the load.
        frame: frame of the load; None without one.
        cutoff_hz: highest frequency that is used [Hz]; None for the default.
        gains: of the torques as fitted; None if the fit failed.
        link_accuracy: standard deviation of the relative errors of the model's links.
        scatter: variance of scores of time blocks, relative to that of independent residuals.
        arm: earlier fit of the arm, if it takes part in the fit.
    """

    logs: Sequence[ReadableLog]
    robot: RobotModel
    loaded: int = 0
    frame: str | None = None
    cutoff_hz: float | None = None
    gains: FittedGains | None = None
    link_accuracy: float = LINK_ACCURACY
    scatter: float = USUAL_SCATTER
    arm: SavedArm | None = None

    def points(self, most_hz: float) -> list[tuple[ArmPoints, ...]]:
        """Return points of each log by the ways to read the torques: as logged, by large gains.

        Currents without `gains` have no meaning as logged; gains of torques of a tenth have none.
        """
        loads = [self.frame] * self.loaded + [None] * (len(self.logs) - self.loaded)
        cutoff_hz = min(self.cutoff_hz or ARM_CUTOFF_HZ, most_hz)
        logged = tuple(
            arm_points(log, self.columns, cutoff_hz, load)
            for log, load in zip(self.logs, loads, strict=True)
        )
        return [tuple(map(moved(effort=1.0 / gains), logged)) for gains in self._tried_gains]

    @property
    def _tried_gains(self) -> list[Array]:
        """Gains by which torques are read, shape (n,) each."""
        gains, ones = self.gains, np.ones(len(self.robot.joints))
        if gains is None or (gains.has_unit and not (gains.are_plausible or self.by_load)):
            return [ones]
        return [ones, gains.scale.gains] if gains.has_unit else [gains.scale.gains]

    @cached_property
    def columns(self) -> ArmColumns:
        """Columns of the arm."""
        return ArmColumns.of(self.robot, header_of(self.logs[0]).joint_axes.motor_per_joint)

    @property
    def by_load(self) -> bool:
        """Whether a known load told the gains, of either sign."""
        return self.gains is not None and self.gains.known_load is not None

    @cached_property
    def least_explained(self) -> JudgedLog:
        """The log that the model's links explain worst, by gains of the fit if they explain it."""
        return self.judged(_SLOW_CUTOFF_HZ)

    def judged(self, most_hz: float) -> JudgedLog:
        """Return the log that the model's links explain worst up to a frequency [Hz]."""
        *logged, last = map(log_least_explained, self.points(most_hz))
        if not logged or last.is_right or (self.by_load and last.cost < logged[0].cost):
            return last
        return logged[0]

    @cached_property
    def deviations(self) -> list[Deviation]:
        """Deviations from the model by likelihood, as logged if no gains are needed beside it.

        None if gains that are large leave none.
        """
        by_gains = self._deviations_of(self.points(_SLOW_CUTOFF_HZ)[-1])
        for points in self.points(_SLOW_CUTOFF_HZ)[:-1] if by_gains else ():
            deviations = self._deviations_of(points)
            if deviations and deviations[0].gain_size < MAX_KNOWN_GAIN_SPREAD:
                return deviations
        return by_gains

    @property
    def names(self) -> tuple[str, str]:
        """Names of the logs with the load, and of the others."""
        with_load, others = self.logs[: self.loaded], self.logs[self.loaded :]
        return ", ".join(log.name for log in with_load), ", ".join(log.name for log in others)

    @property
    def load_left(self) -> list[Deviation]:
        """Deviations of the logs without the load alone if a load that is left on is among them."""
        if not 0 < self.loaded < len(self.logs):
            return []
        deviations = self._deviations_of(self.points(_SLOW_CUTOFF_HZ)[-1][self.loaded :])
        return deviations if any(each.kind.name == "load" for each in deviations[:1]) else []

    @property
    def scale_of_arm(self) -> list[Deviation]:
        """Scale of the torques by those of the earlier fit of the arm, if it is not one."""
        if self.arm is None:
            return []
        columns = replace(self.columns, base=self.arm.base_of(self.robot))
        points = [replace(each, columns=columns) for each in self.points(_SLOW_CUTOFF_HZ)[-1]]
        return self._deviations_of(
            points, ArmMoments.of(self.arm.statistics, self._tried_gains[-1])
        )

    def _deviations_of(
        self, points: Sequence[ArmPoints], arm: ArmMoments | None = None
    ) -> list[Deviation]:
        cutoff_hz = self.cutoff_hz or ARM_CUTOFF_HZ  # that of the scatter of slow errors
        few = [each.few for each in points]
        return likeliest_deviations(few, cutoff_hz, self.link_accuracy, self.scatter, arm)


def joint_hypotheses(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield what may be wrong with logs of an arm, in the order of `_KINDS`.

    Raises `LogError`: a log has no effort, or is too short.
    """
    for kind in _KINDS:
        yield from kind(logs)


def _wrong_signals(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield runs given twice, efforts that are constant, velocities of the other sign."""
    yield from _hypothesis(signal_findings(logs.logs, logs.loaded), "refuses")


def _misread_joints(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield what a log is read as wrongly, or how the arm deviates from its model.

    Signs, orders, units, zeros, types, scales or gravity, several at once; or a finer zero,
    mounting, length, frame or scale, whichever leaves less of the torques.
    """
    log = logs.least_explained
    misread = [*misread_findings(log)]
    if logs.by_load:  # it tells the scale
        misread = [finding for finding in misread if finding.code != "effort_scale"]
    heavy = logs.gains is not None and logs.gains.common_sigmas > IMPOSSIBLE_SIGMA
    deviating = [*deviation_findings(logs.deviations, logs.robot, logs.names, heavy=heavy)]
    if deviating and misread:
        improvement = log.cost / log.cost_with(logs.deviations[0].apply)
        deviates = improvement > _MIN_IMPROVEMENT_RATIO * float(str(misread[0].evidence["gain"]))
        misread = deviating if deviates else misread
    if not (misread or deviating):
        of_arm = logs.names[0], "the arm.json"
        deviating = [*deviation_findings(logs.scale_of_arm, logs.robot, of_arm)]
    if not (misread or deviating):
        deviating = [*deviation_findings(logs.load_left, logs.robot, ("", logs.names[1]))]
    yield from _hypothesis(misread or deviating, "refuses")


def _wrong_gains(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield gains of joints, or of all torques, that are part of the fit and large."""
    if logs.gains is not None and logs.least_explained.free.total < POOR_MODEL_ERROR:
        yield from _hypothesis(gain_findings(logs.gains, logs.robot.joints), "corrects")


def _mistimed_efforts(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield whether efforts are commanded, and their delay or low-pass."""
    yield from _hypothesis(commanded_findings(logs.least_explained), "notes")
    yield from _hypothesis(timing_findings(logs.judged(ARM_CUTOFF_HZ)), "notes")


def _unexplained_torques(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield the torques of which neither the model nor any links of its kinematics tell."""
    yield from _hypothesis(unexplained_torque_findings(logs.least_explained), "notes")


def _hypothesis(findings: Iterable[Finding], outcome: Outcome) -> Iterator[Hypothesis]:
    reasons = tuple(findings)
    if reasons:
        code = reasons[0].code
        yield Hypothesis(code=code, outcome=outcome, findings=reasons, explains_logs=True)


_KINDS: tuple[Callable[[JointLogs], Iterator[Hypothesis]], ...] = (
    _wrong_signals,  # rows are wrong under every reading
    _misread_joints,  # at points of one log, before its many samples are searched
    _wrong_gains,  # which a misread log may imitate
    _mistimed_efforts,  # little beside a log that is misread
    _unexplained_torques,  # only what no reading and no timing explains
)
"""Kinds of hypotheses in their order, each with the reason for its place."""

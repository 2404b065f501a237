"""Hypotheses on logs of an arm's joints: the list of what may be wrong with them.

None is corrected: positions and efforts read otherwise are known at a few points of a log only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from identify.arms.findings import gain_findings, signal_findings
from identify.arms.gains import FittedGains
from identify.arms.model_findings import (
    JudgedLog,
    log_least_explained,
    misread_findings,
    timing_findings,
    unexplained_torque_findings,
)
from identify.arrays import Array
from identify.findings import Finding
from identify.logs import Recording
from identify.pipeline.hypotheses import Hypothesis, Outcome
from identify.robots import RobotModel


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
    """

    logs: Sequence[Recording]
    robot: RobotModel
    loaded: int = 0
    frame: str | None = None
    cutoff_hz: float | None = None
    gains: FittedGains | None = None

    @cached_property
    def least_explained(self) -> JudgedLog:
        """The log that the model's links explain worst.

        With the gains of the fit if these are large and explain the logs, or give a unit.
        """
        gains = self.gains
        if gains is not None and (gains.are_large or not gains.has_unit):
            corrected = self._judge(gains.scale.gains)
            if corrected.is_right or not gains.has_unit:
                return corrected
        return self._judge(None)

    def _judge(self, gains: Array | None) -> JudgedLog:
        return log_least_explained(
            self.logs,
            self.robot,
            loaded=self.loaded,
            frame=self.frame,
            cutoff_hz=self.cutoff_hz,
            gains=gains,
        )


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
    """Yield other signs, orders, units, zeros, types, scales or gravity, several at once."""
    findings = misread_findings(logs.least_explained)
    if logs.gains is not None and logs.gains.known_load is not None:  # it tells the scale
        findings = (finding for finding in findings if finding.code != "effort_scale")
    yield from _hypothesis(findings, "refuses")


def _wrong_gains(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield gains of joints, or of all torques, that are part of the fit and large."""
    if logs.gains is not None:
        yield from _hypothesis(gain_findings(logs.gains, logs.robot.joints), "corrects")


def _mistimed_efforts(logs: JointLogs) -> Iterator[Hypothesis]:
    """Yield the delay or the low-pass of the efforts."""
    yield from _hypothesis(timing_findings(logs.least_explained), "notes")


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

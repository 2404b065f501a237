"""Findings on logs of an arm before it is fitted: wrong readings, timing, and impossible links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from identify.arms.columns import ArmColumns
from identify.arms.joint_fits import ArmPoints, JointFit, arm_points, fit_friction
from identify.arms.readings import readings
from identify.arms.rows import ARM_CUTOFF_HZ, joint_segments
from identify.arms.torque_timing import torque_timing
from identify.findings import Finding
from identify.inertia import check_consistency
from identify.logs import JointRecording
from identify.robots import RobotModel

_LARGE_ERROR = 0.1
"""Relative torque error of a joint with the model's links from which other readings are tried.
Joints of right logs leave .02 to .16."""

_EXCESS = 1.3
"""Ratio of a joint's error with the model's links to that with free links, from which other
readings are tried, where free links leave little."""

_READ_OTHERWISE = 0.6
"""Largest ratio of the squared errors with another reading to those without, at which a log is read
otherwise. For right logs of four arms the best is above .9."""

_FREE_READ_OTHERWISE = 0.35
"""Largest such ratio with free links, which take up part of every error."""

_AS_LIKELY = 1.05
"""Ratio of squared errors within which readings are equally likely; the simplest is then taken."""

_MAX_READINGS = 3
"""Largest number of readings that are combined."""

_OTHER_SCALE = 2.0
"""Gain of the torques from which, and below whose inverse, they are not torques in N m: links of
models and friction are right within half of it."""

_MIN_SHARE = 10.0
"""Smallest power of the torque of a joint's links, relative to that of its residual, for its gain
to count: wrists carry little but friction."""

_MIN_TIMING = 0.015
"""Smallest delay and time constant that are reported [s]: shorter ones change a fit little."""

_TIMED_OTHERWISE = 0.8
"""Largest ratio of the residual power with another timing to that without; .94 on right logs."""

_UNLIKE_MODEL = 0.3
"""Relative torque error of all joints with the model's links from which these are not the arm's."""

_IMPOSSIBLE = -1e-3
"""Largest scaled eigenvalue of an impossible link, below the rounding of the numbers of models."""

_CONSTANT = 1e-9
"""Largest range of a constant effort, relative to its size."""

_SAME_ROWS = 0.5
"""Smallest share of rows of one log in another at which both are of the same run."""


def arm_findings(
    logs: Sequence[JointRecording],
    robot: RobotModel,
    *,
    loaded: int = 0,
    frame: str | None = None,
    cutoff_hz: float | None = None,
) -> tuple[Finding, ...]:
    """Search logs of an arm for faults that a fit would not show, the likeliest first.

    Each joint's torque is explained with free links by least squares, and with the links of the
    model, with friction fitted and at least zero. Other interpretations are tried on the log that
    the model's links explain worst.

    Args:
        logs: those with a load first.
        robot: model of the arm, with the joints of the logs.
        loaded: number of logs with the load.
        frame: frame of the load.
        cutoff_hz: highest frequency that is used [Hz]; 8 Hz if not given.

    Raises:
        LogError: a log has no effort, or is too short.
    """
    findings = [*_same_run(logs, loaded), *(f for log in logs for f in _constant_efforts(log))]
    if not findings:
        findings = [*_model_findings(logs, robot, frame if loaded else None, loaded, cutoff_hz)]
    return (*findings, *_impossible_links(robot))


def _same_run(logs: Sequence[JointRecording], loaded: int) -> Iterator[Finding]:
    """Yield a finding for logs with and without the load that have rows in common."""
    rows = [_moving_rows(log) for log in logs]
    for i, j in product(range(loaded), range(loaded, len(logs))):
        few, many = sorted((rows[i], rows[j]), key=len)
        share = len(few & many) / max(len(few), 1)
        if share > _SAME_ROWS:
            yield Finding(
                "same_run",
                "error",
                f"{logs[i].name}, with the load, and {logs[j].name}, without it, are of the same "
                f"run: {100.0 * share:.0f} % of their rows are equal.",
                "Give the log of another run.",
                {"share": share},
                f"{logs[i].name}, {logs[j].name}",
            )


def _moving_rows(log: JointRecording) -> set[bytes]:
    """Return positions and efforts of the samples of a log that are not those before."""
    if log.effort is None:
        return set()
    rows = np.concatenate((log.position, log.effort), axis=1).astype(np.float32)
    moves = np.any(np.diff(rows[:, : len(log.names)], axis=0) != 0.0, axis=1)
    return {row.tobytes() for row in rows[1:][moves]}


def _constant_efforts(log: JointRecording) -> Iterator[Finding]:
    """Yield a finding for each joint whose effort does not change while it moves."""
    segment = max(joint_segments(log), key=len)
    effort, position = segment.signals["effort"], segment.signals["joint_position"]
    constant = np.ptp(effort, axis=0) <= _CONSTANT * np.abs(effort).max(axis=0)
    for j in np.flatnonzero(constant & (np.ptp(position, axis=0) > 0.0)).tolist():
        value = float(effort[0, j])
        yield Finding(
            "effort_constant",
            "error",
            f"the effort of {log.names[j]} is {value:.4g} in all rows while the joint moves.",
            "Name the columns of measured torques or currents in [joints] effort, or log again "
            "with a driver that fills them in.",
            {"effort": value},
            log.name,
        )


class _JudgedLog(NamedTuple):
    """Points of a log, with what the model's links and free links leave of its torques."""

    points: ArmPoints
    model: JointFit
    free: JointFit

    @property
    def excess(self) -> float:
        """Largest error of a joint relative to that of right logs; up to one for right logs."""
        of_model = np.minimum(
            self.model.errors / _LARGE_ERROR,
            self.model.errors / (_EXCESS * self.free.errors + 1e-9),
        )
        return float(np.maximum(of_model, self.free.errors / (2.0 * _LARGE_ERROR)).max())


def _model_findings(
    logs: Sequence[JointRecording],
    robot: RobotModel,
    frame: str | None,
    loaded: int,
    cutoff_hz: float | None,
) -> Iterator[Finding]:
    """Yield findings on the log that the model's links explain worst: misread, scaled or late."""
    columns, judged = ArmColumns.of(robot, logs[0].motor_per_joint), []
    for number, log in enumerate(logs):
        load = frame if number < loaded else None
        points = arm_points(log, columns, cutoff_hz or ARM_CUTOFF_HZ, load)
        few = points.few
        judged.append(_JudgedLog(points, fit_friction(few), fit_friction(few, links=True)))
    worst = max(judged, key=lambda each: each.excess)
    findings = [*_misread(worst.points)] if worst.excess > 1.0 else []
    findings = findings or [*_timing(worst.points)]
    yield from findings
    if not findings and worst.model.total > _UNLIKE_MODEL:
        yield _unexplained(worst)


def _misread(points: ArmPoints) -> Iterator[Finding]:
    """Yield findings on interpretations, the best at each step, with the points corrected by it."""
    few, remedies = points.few, set[str]()
    for _ in range(_MAX_READINGS):
        plain = fit_friction(few)
        best, scale = _best_reading(few, plain, links=False), _scale(few, plain)
        if scale is not None and (
            best is None or best[0].evidence["gain"] < scale.evidence["gain"]
        ):
            yield scale
            return
        if best is None and plain.total > _UNLIKE_MODEL:
            best = _best_reading(few, fit_friction(few, links=True), links=True)
        if best is None or best[0].remedy in remedies:
            return
        finding, few = best
        remedies.add(finding.remedy)
        yield finding


def _best_reading(
    points: ArmPoints, plain: JointFit, *, links: bool
) -> tuple[Finding, ArmPoints] | None:
    """Return the interpretation that leaves least, with its points; None if none is clearly better.

    Args:
        points: as read.
        plain: fit to them.
        links: whether the links are free.
    """
    tried = [(reading, reading.apply(points)) for reading in readings(points)]
    fits = [fit_friction(each, links=links) for _, each in tried]
    costs = np.array([fit.errors @ fit.errors for fit in fits])
    first = int(np.argmax(costs <= _AS_LIKELY * costs.min()))
    ratio = float(costs[first] / (plain.errors @ plain.errors))
    if ratio > (_FREE_READ_OTHERWISE if links else _READ_OTHERWISE):
        return None
    reading, corrected = tried[first]
    joint = int(plain.errors.argmax())
    before, after = float(plain.errors[joint]), float(fits[first].errors[joint])
    text = (
        f"{reading.text}: read so, {100.0 * after:.2g} % of the torque of "
        f"{points.robot.joints[joint]} is left, not {100.0 * before:.2g} %."
    )
    evidence = {"gain": 1.0 / max(ratio, 1e-12), "before": before, "after": after}
    return Finding(reading.code, "error", text, reading.remedy, evidence, points.name), corrected


def _scale(points: ArmPoints, plain: JointFit) -> Finding | None:
    """Return a finding if gravity torques in the log differ from the model's by a scale factor."""
    fit = fit_friction(points, gains=True)
    loaded = np.flatnonzero(fit.shares > _MIN_SHARE * fit.errors**2)
    gains = {points.robot.joints[j]: float(fit.gains[j]) for j in loaded.tolist()}
    ratio = float(fit.errors @ fit.errors / (plain.errors @ plain.errors))
    other = all(abs(np.log(gain)) > np.log(_OTHER_SCALE) for gain in gains.values())
    if not gains or ratio > _READ_OTHERWISE or fit.total > _UNLIKE_MODEL or not other:
        return None
    listed = ", ".join(f"{gain:.3g} on {name}" for name, gain in gains.items())
    inverse = ", ".join(f"{1.0 / gain:.3g} for {name}" for name, gain in gains.items())
    return Finding(
        "effort_scale",
        "error",
        f"the efforts are no torques in N m: they are {listed} of what the links of the robot's "
        "model need.",
        'If they are currents, set `effort_unit = "A"` and `gains` [N m/A] in [joints], with the '
        f"motors' gears in [joints.motor]; the model suggests, gears included, {inverse}. Wrists "
        "carry too little for such a value: take theirs from the maker.",
        {"gain": 1.0 / max(ratio, 1e-12), "scale": float(np.median(list(gains.values())))},
        points.name,
    )


def _unexplained(log: _JudgedLog) -> Finding:
    """Return the finding for torques that no interpretation explains with the model's links."""
    model, free = log.model.total, log.free.total
    if free < 0.5 * model:
        text = (
            f"the links of the robot's model leave {100.0 * model:.2g} % of the torques, others of "
            f"the same kinematics {100.0 * free:.2g} %: their inertias are not those of this arm, "
            "and do not show a base on a wall or a joint's wrong zero."
        )
        remedy = "Check gravity, zeros and units of the joints, or take a model with inertias."
    else:
        text = (
            f"the torques do not belong to the motion: any links leave {100.0 * free:.2g} % of "
            "them."
        )
        remedy = "Check the columns of [joints], and that no joint is in contact or held."
    evidence = {"model": model, "free_links": free}
    return Finding("torque_unexplained", "warning", text, remedy, evidence, log.points.name)


def _timing(points: ArmPoints) -> Iterator[Finding]:
    """Yield a finding if torques are later or earlier than the motion, or low-passed."""
    timing = torque_timing(points)
    if timing is None or min(timing.lagged, timing.delayed) > _TIMED_OTHERWISE:
        return
    evidence, low_passed = timing._asdict(), timing.lagged < timing.delayed
    if low_passed and timing.lag > _MIN_TIMING:
        corner = 1.0 / (2.0 * np.pi * timing.lag)
        for f in (0.5, 1, 2, 4, 8):
            evidence[f"gain_at_{f:g}_hz"] = float(1.0 / np.hypot(1.0, f / corner))
        yield Finding(
            "effort_low_passed",
            "warning",
            f"the torques are low-passed: by {1e3 * timing.lag:.0f} ms, a corner of "
            f"{corner:.2g} Hz, as seen against the motion.",
            "Log unfiltered torques or currents, or fit with a cut-off below the corner.",
            evidence,
            points.name,
        )
    elif not low_passed and abs(timing.delay) > _MIN_TIMING:
        late = "later" if timing.delay > 0.0 else "earlier"
        yield Finding(
            "effort_delay",
            "warning",
            f"the torques are {1e3 * abs(timing.delay):.0f} ms {late} than the motion.",
            "Log both with the clock of the controller, or give the effort a file and time of its "
            f"own, with `delay = {timing.delay:.3f}`.",
            evidence,
            points.name,
        )


def _impossible_links(robot: RobotModel) -> Iterator[Finding]:
    """Yield a finding on links of the model that no body can have."""
    verdicts = {
        name: check_consistency(phi) for name, phi in zip(robot.links, robot.phi, strict=True)
    }
    bad = {n: v for n, v in verdicts.items() if v.impossible and v.margin < _IMPOSSIBLE}
    if bad:
        name, worst = min(bad.items(), key=lambda item: item[1].margin)
        yield Finding(
            "impossible_links",
            "warning",
            f"links of the robot's model have inertias that no body can have: {', '.join(bad)}; "
            f"{name}: {worst.reasons[0]}.",
            "Check the model by `identify inspect`, and take the inertias from its maker.",
            {"links": len(bad), "margin": float(max(worst.margin, -1e9))},
        )

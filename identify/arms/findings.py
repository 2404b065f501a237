"""Findings on logs of an arm before it is fitted: wrong readings, timing, and impossible links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from identify.arms.columns import ArmColumns
from identify.arms.readings import (
    ArmPoints,
    ArmReading,
    JointFit,
    arm_points,
    fit_friction,
    readings,
    some_points,
)
from identify.arms.rows import ARM_CUTOFF_HZ, joint_segments
from identify.arms.torque_timing import torque_timing
from identify.findings import Finding
from identify.inertia import check
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
    model, with friction fitted and at least zero. Readings are tried on the log that the model's
    links explain worst.

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
        findings = [*_read_otherwise(logs, robot, frame if loaded else None, loaded, cutoff_hz)]
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


class _Search(NamedTuple):
    """Log that the model's links explain worst, with what they and free links leave of it."""

    log: JointRecording
    points: ArmPoints
    model: JointFit
    free: JointFit

    @property
    def excess(self) -> float:
        """Largest error of a joint beyond what right logs leave; none up to one."""
        of_model = np.minimum(
            self.model.errors / _LARGE_ERROR,
            self.model.errors / (_EXCESS * self.free.errors + 1e-9),
        )
        of_free = self.free.errors / (2.0 * _LARGE_ERROR)
        return float(np.maximum(of_model, of_free).max())


def _read_otherwise(
    logs: Sequence[JointRecording],
    robot: RobotModel,
    frame: str | None,
    loaded: int,
    cutoff_hz: float | None,
) -> Iterator[Finding]:
    """Yield findings on readings, scale and timing of the log that the model explains worst."""
    columns, searches = ArmColumns.of(robot, logs[0].motor_per_joint), []
    for number, log in enumerate(logs):
        points = arm_points(
            log, columns, cutoff_hz or ARM_CUTOFF_HZ, frame if number < loaded else None
        )
        few = some_points(points)
        searches.append(_Search(log, points, fit_friction(few), fit_friction(few, links=True)))
    search = max(searches, key=lambda each: each.excess)
    readings_found = list(_readings_of(search)) if search.excess > 1.0 else []
    yield from readings_found
    if not readings_found:
        timing = list(_timing(search.log, search.points))
        yield from timing
        if not timing and search.model.total > _UNLIKE_MODEL:
            yield _unexplained(search)


def _readings_of(search: _Search) -> Iterator[Finding]:
    """Yield findings on readings and the scale, the best at each step, the others read so."""
    few, known = some_points(search.points), set[str]()
    for _ in range(_MAX_READINGS):
        plain = fit_friction(few)
        scale = _scale(few, plain)
        if scale is not None:
            yield scale
            return
        best = _best_reading(few, plain, links=False)
        if best is None and plain.total > _UNLIKE_MODEL:
            best = _best_reading(few, fit_friction(few, links=True), links=True)
        if best is None or best[0].text in known:
            return
        reading, evidence = best
        known.add(reading.text)
        few = reading.apply(few)
        worst = few.robot.joints[int(plain.errors.argmax())]
        text = (
            f"{reading.text}: read so, {100.0 * evidence['after']:.2g} % of the torque of {worst} "
            f"is left, not {100.0 * evidence['before']:.2g} %."
        )
        finding = Finding(reading.code, "error", text, reading.remedy, evidence, search.log.name)
        yield finding


def _best_reading(
    points: ArmPoints, plain: JointFit, *, links: bool
) -> tuple[ArmReading, dict[str, float]] | None:
    """Return the reading that leaves least, with evidence; None if none leaves clearly less."""
    tried = [
        (reading, fit_friction(reading.apply(points), links=links)) for reading in readings(points)
    ]
    costs = np.array([fit.errors @ fit.errors for _, fit in tried])
    likely = np.flatnonzero(costs <= _AS_LIKELY * costs.min())
    reading, fit = tried[likely[0]]
    ratio = float(costs[likely[0]] / (plain.errors @ plain.errors))
    if ratio > (_FREE_READ_OTHERWISE if links else _READ_OTHERWISE):
        return None
    worst = int(plain.errors.argmax())
    return reading, {
        "gain": 1.0 / max(ratio, 1e-12),
        "before": float(plain.errors[worst]),
        "after": float(fit.errors[worst]),
        "as_likely": float(len(likely) - 1),
    }


def _scale(points: ArmPoints, plain: JointFit) -> Finding | None:
    """Return a finding if gravity torques in the log differ from the model's by a scale factor."""
    fit = fit_friction(points, gains=True)
    loaded = np.flatnonzero(fit.shares > _MIN_SHARE * fit.errors**2)
    gains, names = fit.gains[loaded], [points.robot.joints[j] for j in loaded.tolist()]
    ratio = float(fit.errors @ fit.errors / (plain.errors @ plain.errors))
    other = np.abs(np.log(gains)) > np.log(_OTHER_SCALE)
    if not len(loaded) or ratio > _READ_OTHERWISE or fit.total > _UNLIKE_MODEL or not other.all():
        return None
    listed = ", ".join(f"{g:.3g} on {name}" for g, name in zip(gains.tolist(), names, strict=True))
    return Finding(
        "effort_scale",
        "error",
        f"the efforts are no torques in N m: they are {listed} of what the links of the robot's "
        "model need.",
        'If they are currents, set `effort_unit = "A"` and `gains` [N m/A] in [joints], with the '
        "motors' gears in [joints.motor]; the model suggests, gears included, "
        + ", ".join(
            f"{1.0 / g:.3g} for {name}" for g, name in zip(gains.tolist(), names, strict=True)
        )
        + ". Wrists carry too little for such a value: take theirs from the maker.",
        {"gain": 1.0 / max(ratio, 1e-12), "scale": float(np.median(gains))},
    )


def _unexplained(search: _Search) -> Finding:
    """Return the finding for torques that the model's links do not explain with any reading."""
    model, free = search.model.total, search.free.total
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
    return Finding("torque_unexplained", "warning", text, remedy, evidence, search.log.name)


def _timing(log: JointRecording, points: ArmPoints) -> Iterator[Finding]:
    """Yield a finding if torques are later or earlier than the motion, or low-passed."""
    timing = torque_timing(points)
    if timing is None:
        return
    evidence = {"delay": timing.delay, "delayed": timing.delayed}
    evidence |= {"lag": timing.lag, "lagged": timing.lagged}
    lags = timing.lagged < timing.delayed
    if min(timing.lagged, timing.delayed) > _TIMED_OTHERWISE:
        return
    if lags and timing.lag > _MIN_TIMING:
        corner = 1.0 / (2.0 * np.pi * timing.lag)
        gains = {
            f"gain_at_{f:g}_hz": float(1.0 / np.hypot(1.0, f / corner)) for f in (0.5, 1, 2, 4, 8)
        }
        yield Finding(
            "effort_low_passed",
            "warning",
            f"the torques are low-passed: by {1e3 * timing.lag:.0f} ms, a corner of "
            f"{corner:.2g} Hz, as seen against the motion.",
            "Log unfiltered torques or currents, or fit with a cut-off below the corner.",
            evidence | gains,
            log.name,
        )
    elif not lags and abs(timing.delay) > _MIN_TIMING:
        late = "later" if timing.delay > 0.0 else "earlier"
        yield Finding(
            "effort_delay",
            "warning",
            f"the torques are {1e3 * abs(timing.delay):.0f} ms {late} than the motion.",
            "Log both with the clock of the controller, or give the effort a file and time of its "
            f"own, with `delay = {timing.delay:.3f}`.",
            evidence,
            log.name,
        )


def _impossible_links(robot: RobotModel) -> Iterator[Finding]:
    """Yield a finding on links of the model that no body can have."""
    verdicts = {name: check(phi) for name, phi in zip(robot.links, robot.phi, strict=True)}
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

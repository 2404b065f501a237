"""Findings on logs of an arm that another interpretation, scale or timing explains better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from identify.arms.interpretations import interpretations
from identify.arms.joint_fits import ArmPoints, JointFit, fit_friction
from identify.arms.torque_timing import torque_timing
from identify.findings import Finding

_LARGE_TORQUE_ERROR = 0.1
"""Relative torque error of a joint with the model's links from which other interpretations of a
log are tried. Joints of right logs leave .02 to .16."""

_MIN_ERROR_RATIO = 1.3
"""Ratio of a joint's error with the model's links to that with free links, from which other
interpretations are tried, where free links leave little."""

_MAX_COST_RATIO = 0.6
"""Largest ratio of the squared errors with another interpretation to those as read, at which that
is named. For right logs of four arms the best is above .9."""

_MAX_FREE_COST_RATIO = 0.35
"""Largest ratio of the squared errors with another interpretation to those as read if links are
free, which take up part of every error."""

_MAX_ERROR_LEFT = 0.5
"""Largest relative torque error that an interpretation leaves of a joint that it explains."""

_TIE_RATIO = 1.05
"""Ratio of squared errors within which interpretations are equally likely; the first is named."""

_MAX_COMBINED_INTERPRETATIONS = 3
"""Largest number of interpretations that are combined."""

_MIN_SCALE_FACTOR = 2.0
"""Smallest factor by which efforts differ from torques in N m, or its inverse: links of models and
friction are right within half of it."""

_MIN_LINK_TORQUE_RATIO = 10.0
"""Smallest power of the torque of a joint's links, relative to that of its residual, for its gain
to count: wrists carry little but friction."""

_MAX_LINKS_GAIN = 0.1
"""Largest gain of the torques of a model's links in efforts that are without them."""

_MAX_COMMANDED_ERROR = 0.03
"""Largest relative torque error with the model's links of torques that are its own; measured ones
leave .04 and more, as links are not those of a model."""

_MAX_COMMANDED_FRICTION = 0.01
"""Largest torque of friction and rotors in them, by the whole one."""

_MIN_NEEDED_POWER = 4.0
"""Power of the torque of a joint's links by that of its effort from which that is without them."""

_MIN_REPORTED_TIMING = 0.015
"""Smallest delay and time constant that are reported [s]: shorter ones change a fit little."""

_MAX_TIMING_RATIO = 0.8
"""Largest ratio of the residual power with another timing to that without; .94 on right logs."""

POOR_MODEL_ERROR = 0.3
"""Relative torque error of all joints with the model's links from which these are not the arm's,
and of a joint with free links from which friction and links do not explain it: right logs leave up
to .16."""


class JudgedLog(NamedTuple):
    """Points of a log, with what the model's links and free links leave of its torques.

    Attributes:
        points: points of the log.
        model: fit of friction with the links of the model.
        free: fit of friction and free links.
    """

    points: ArmPoints
    model: JointFit
    free: JointFit

    @property
    def excess(self) -> float:
        """Largest error of a joint relative to that of right logs; up to one for right logs."""
        of_model = np.minimum(
            self.model.errors / _LARGE_TORQUE_ERROR,
            self.model.errors / (_MIN_ERROR_RATIO * self.free.errors + 1e-9),
        )
        return float(np.maximum(of_model, self.free.errors / (2.0 * _LARGE_TORQUE_ERROR)).max())

    @property
    def cost(self) -> float:
        """Sum of squares of the joints' errors with the links of the model."""
        return float(self.model.errors @ self.model.errors)

    def cost_with(self, apply: Callable[[ArmPoints], ArmPoints]) -> float:
        """Return the cost of the log read otherwise."""
        errors = fit_friction(apply(self.points.few)).errors
        return float(errors @ errors)

    @property
    def is_right(self) -> bool:
        """Whether its torques are explained as those of right logs."""
        return self.excess <= 1.0


def log_least_explained(logs: Sequence[ArmPoints]) -> JudgedLog:
    """Return the log that the model's links explain worst.

    Each joint's torque is explained with free links by least squares, and with the links of the
    model, with friction fitted and at least zero.
    """
    every = (each.few for each in logs)
    judged = [
        JudgedLog(points, fit_friction(few), fit_friction(few, links=True))
        for points, few in zip(logs, every, strict=True)
    ]
    return max(judged, key=lambda each: each.excess)


def misread_findings(log: JudgedLog) -> Iterator[Finding]:
    """Yield findings on interpretations, the best at each step, with the points corrected by it."""
    if log.is_right:
        return
    few, remedies = log.points.few, set[str]()
    for _ in range(_MAX_COMBINED_INTERPRETATIONS):
        plain = fit_friction(few)
        best, scale = _best_interpretation(few, plain, links=False), _scale(few, plain)
        if scale is not None and (
            best is None or best[0].evidence["gain"] < scale.evidence["gain"]
        ):
            yield scale
            return
        if best is None and plain.total > POOR_MODEL_ERROR:
            best = _best_interpretation(few, fit_friction(few, links=True), links=True)
        if best is None and not remedies:
            yield from _torques_without_links(few, plain)
        if best is None or best[0].remedy in remedies:
            return
        finding, few = best
        remedies.add(finding.remedy)
        yield finding


def _best_interpretation(
    points: ArmPoints, plain: JointFit, *, links: bool
) -> tuple[Finding, ArmPoints] | None:
    """Return the interpretation that leaves least, with its points; None if none is better."""
    tried = [(each, each.apply(points)) for each in interpretations(points)]
    fits = [fit_friction(each, links=links) for _, each in tried]
    costs = np.array([fit.errors @ fit.errors for fit in fits])
    first = int(np.argmax(costs <= _TIE_RATIO * costs.min()))
    ratio = float(costs[first] / (plain.errors @ plain.errors))
    if ratio > (_MAX_FREE_COST_RATIO if links else _MAX_COST_RATIO):
        return None
    best, corrected = tried[first]
    joint = int(plain.errors.argmax())
    before, after = float(plain.errors[joint]), float(fits[first].errors[joint])
    if after > _MAX_ERROR_LEFT:
        return None
    text = (
        f"{best.text}: read so, {_percent(after)} of the torque of {points.robot.joints[joint]} "
        f"is left, not {_percent(before)}."
    )
    evidence = {"gain": 1.0 / max(ratio, 1e-12), "before": before, "after": after}
    return Finding(best.code, "error", text, best.remedy, evidence, points.name), corrected


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.1 else f"{100.0 * share:.0f} %"


def _scale(points: ArmPoints, plain: JointFit) -> Finding | None:
    """Return a finding if gravity torques in the log differ from the model's by a scale factor."""
    fit = fit_friction(points, gains=True)
    loaded = np.flatnonzero(fit.shares > _MIN_LINK_TORQUE_RATIO * fit.errors**2)
    gains = {points.robot.joints[j]: float(fit.gains[j]) for j in loaded.tolist()}
    ratio = float(fit.errors @ fit.errors / (plain.errors @ plain.errors))
    other = all(abs(np.log(gain)) > np.log(_MIN_SCALE_FACTOR) for gain in gains.values())
    if not gains or ratio > _MAX_COST_RATIO or fit.total > POOR_MODEL_ERROR or not other:
        return None
    listed = ", ".join(f"{gain:.3g} on {name}" for name, gain in gains.items())
    inverse = ", ".join(f"{1.0 / gain:.3g} for {name}" for name, gain in gains.items())
    return Finding(
        "effort_scale",
        "error",
        f"the efforts are {listed} of the torques that the links of the robot's model need: they "
        "are no torques in N m, or the masses of the model are not those of the arm.",
        "A weighed load, `--known-load KG`, tells which. If they are currents, set "
        '`effort_unit = "A"` and `gains` [N m/A] in [joints], with the motors\' gears in '
        f"[joints.motor]; the model suggests, gears included, {inverse}. If they are torques, "
        "correct the model's masses.",
        {"gain": 1.0 / max(ratio, 1e-12), "scale": float(np.median(list(gains.values())))},
        points.name,
    )


def _torques_without_links(points: ArmPoints, plain: JointFit) -> Iterator[Finding]:
    """Yield a finding if efforts are small beside the torques of the model's links, and not them.

    Such are estimates of external torques, in which only a load is left.
    """
    fit = fit_friction(points, gains=True)
    heavy = points.moving_joints & (plain.shares > _MIN_NEEDED_POWER)
    of_links = abs(fit.gains[heavy])
    most = of_links.max(initial=0.0)
    if heavy.any() and most < _MAX_LINKS_GAIN and fit.shares[heavy].max() < 0.5:
        yield Finding(
            "gravity_subtracted",
            "error",
            "the efforts are without the torques of the links, as those of external forces that a "
            f"controller estimates: {_percent(float(most))} of what the links need is in them.",
            "Log the torques as measured, not external ones.",
            {"gain": float(most)},
            points.name,
        )


def commanded_findings(log: JudgedLog) -> Iterator[Finding]:
    """Yield a finding if torques are exactly those of the model's links, without any friction."""
    fit = log.model
    friction = float(np.sqrt(fit.friction @ fit.power / fit.power.sum()))
    if fit.total < _MAX_COMMANDED_ERROR and friction < _MAX_COMMANDED_FRICTION:
        yield Finding(
            "effort_commanded",
            "warning",
            f"the torques are those of the model's links, all but {_percent(fit.total)}, without "
            "friction: commanded by the controller's model, or simulated. A load in them is the "
            "one that is set in the controller.",
            "Name the columns of measured torques or currents in [joints] effort.",
            {"model": fit.total, "friction": friction},
            log.points.name,
        )


def unexplained_torque_findings(log: JudgedLog) -> Iterator[Finding]:
    """Yield a finding if no interpretation of a log explains its torques."""
    if log.model.total > POOR_MODEL_ERROR:
        yield _unexplained(log)
    elif log.free.errors.max() > POOR_MODEL_ERROR:
        yield _unexplained_joints(log)


def _unexplained(log: JudgedLog) -> Finding:
    """Return the finding for torques that no interpretation explains with the model's links."""
    model, free = log.model.total, log.free.total
    if free < min(0.5 * model, _MAX_ERROR_LEFT):
        text = (
            f"the links of the robot's model leave {_percent(model)} of the torques, others of "
            f"the same kinematics {_percent(free)}: their inertias are not those of this arm, "
            "and do not show a base on a wall or a joint's wrong zero."
        )
        remedy = "Check gravity, zeros and units of the joints, or take a model with inertias."
    else:
        text = f"the torques do not belong to the motion: any links leave {_percent(free)} of them."
        remedy = "Check the columns of [joints], and that no joint is in contact or held."
    evidence = {"model": model, "free_links": free}
    severity = "error" if free > _MAX_ERROR_LEFT else "warning"
    return Finding("torque_unexplained", severity, text, remedy, evidence, log.points.name)


def _unexplained_joints(log: JudgedLog) -> Finding:
    """Return the finding for joints whose torques no links and no friction of theirs explain."""
    errors = dict(zip(log.points.robot.joints, log.free.errors.tolist(), strict=True))
    poor = {name: error for name, error in errors.items() if error > POOR_MODEL_ERROR}
    listed = " and ".join(f"{_percent(error)} of that of {name}" for name, error in poor.items())
    return Finding(
        "torque_unexplained",
        "warning",
        "any links, with friction of each joint, leave much of the torque of some joints: "
        f"{listed}.",
        "Check their columns in [joints], and that nothing touches the arm; in a wrist whose "
        "motors turn several joints, give [joints.motor].",
        {"free_links": max(poor.values())},
        log.points.name,
    )


def timing_findings(log: JudgedLog) -> Iterator[Finding]:
    """Yield a finding if torques are later or earlier than the motion, or low-passed."""
    points = log.points
    timing = torque_timing(points)
    if timing is None or min(timing.lagged, timing.delayed) > _MAX_TIMING_RATIO:
        return
    evidence, low_passed = timing._asdict(), timing.lagged < timing.delayed
    if low_passed and timing.lag > _MIN_REPORTED_TIMING:
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
    elif not low_passed and abs(timing.delay) > _MIN_REPORTED_TIMING:
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

"""`fit_joint_logs`: from logs of an arm's joints to a `Result`: its load, or the arm itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from identify.arms import ArmFit, SavedArm, TorqueScale, arm_text, fit_arm, fit_payload, read_arm
from identify.arms.columns import FRICTION
from identify.arms.equations import equations_of, of_run
from identify.arms.findings import (
    friction_changes,
    gains_that_differ,
    impossible_links,
    nothing_learnt,
)
from identify.arms.gains import LINK_ACCURACY
from identify.arms.load_default import shown_combinations
from identify.errors import ProblemError, SchemaError, SolveError
from identify.estimation import Estimate, NegativeMass
from identify.estimation.terms import KnownMass
from identify.exchange import SavedBias
from identify.files import digest
from identify.findings import Finding
from identify.inertia import InertialParameters
from identify.logs.log_file import header_of
from identify.pipeline.hypotheses import findings_of, reported
from identify.pipeline.joint_hypotheses import JointLogs, joint_hypotheses
from identify.pipeline.misread_error import MisreadLog, reason_without_advice
from identify.pipeline.result import Result
from identify.pipeline.settings import FitSettings, JointSettings
from identify.robots import RobotModel, read_robot
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial import BodyFrame, Pose

if TYPE_CHECKING:
    from identify.regressors.log_scan import ReadableLog

_LOGGER = logging.getLogger(__name__)

_FLANGE_FRAME = "tool0"
"""Name of the flange frame in URDFs by the conventions of ROS-Industrial."""


def fit_joint_logs(
    loaded: Sequence[ReadableLog],
    unloaded: Sequence[ReadableLog],
    settings: FitSettings,
    truth: InertialParameters | None,
) -> Result:
    """Fit the load of an arm, or links and friction of the arm itself, to logs of its joints.

    `loaded`: logs of the arm with the load; of the arm itself if no frame of a load is given.
    Raises `SchemaError`: an option is missing, or contradicts another; `MisreadLog`: the fit
    failed, and the logs have an error; `IdentifyError`: as `fit_arm` and `fit_payload`.
    """
    options = settings.joints
    _require_complete(settings, has_unloaded=bool(unloaded))
    logs = [*loaded, *unloaded]
    robot = _robot_of(options.robot, loaded[0], settings.gravity)
    arm = _earlier_fit(options.arm)
    _LOGGER.info("estimating")
    try:
        fit = _fit(loaded, unloaded, robot, arm, settings)
    except (ProblemError, SolveError) as error:
        likeliest = _likeliest_fault(error, logs, robot, len(loaded), settings)
        if likeliest is None:
            raise
        raise likeliest from error
    estimate = fit.estimate if options.frame is None else _estimate_of_load(fit)
    findings = [
        *(() if options.frame is None else _findings_of_load(fit)),
        *_errors_of_earlier_fit(arm),
        *filter(None, (fit.contradicted,)),
        *_findings_of_logs(fit, logs, options, arm),
    ]
    return Result(
        estimate=replace(
            estimate,
            others={name: replace(body, findings=()) for name, body in estimate.others.items()},
            provenance={"robot": _robot_record(fit)},
            findings=tuple(findings),
        ),
        logs=fit.logs,
        settings=settings,
        arm=fit if options.frame else replace(fit, report=fit.saved.report),
    )


def _require_complete(settings: FitSettings, *, has_unloaded: bool) -> None:
    """Raise `SchemaError` unless the options of joint logs are complete and go together."""
    options = settings.joints
    if options.robot is None:
        raise SchemaError(
            "logs of joints need the model of the arm (--robot ARM.urdf; in Python, robot), and "
            "for a load the link or joint of the URDF that it is fixed to (--frame NAME; frame)"
        )
    if options.frame is not None:
        if options.held_out:
            raise SchemaError(
                "held-out logs (--held-out; in Python, held_out) score a fit of the arm itself: "
                "leave the frame of a load out"
            )
        return
    given = {
        "logs without it": has_unloaded,
        "a fit of the arm": options.arm is not None,
        "a known load": options.known_load is not None,
        "a known mass": settings.mass is not None,
        "bounds of the body": bool(settings.terms),
        "a needed precision": bool(settings.needs),
    }
    if names := [name for name, is_given in given.items() if is_given]:
        raise SchemaError(
            f"{', '.join(names)}: given for a load, so give the link or joint of the URDF that it "
            "is fixed to as well (--frame NAME, such as tool0; in Python, frame)"
        )


def _robot_of(
    robot: RobotModel | Path | str | None,
    log: ReadableLog,
    gravity: tuple[float, float, float] | None,
) -> RobotModel:
    """Return the robot with the joints of a log, and its gravity unless another one is given.

    Raises `ModelError`: not a URDF with these joints, or one without inertias.
    """
    if not isinstance(robot, RobotModel):
        path = Path(str(robot))
        header = header_of(log)
        robot = read_robot(path, header.joint_axes.names, gravity=gravity or header.gravity)
    robot.require_inertias()
    return robot


def _fit(
    loaded: Sequence[ReadableLog],
    unloaded: Sequence[ReadableLog],
    robot: RobotModel,
    arm: SavedArm | None,
    settings: FitSettings,
) -> ArmFit:
    options = settings.joints
    scale = _torque_scale(options, robot)
    if options.frame is None:
        return fit_arm(
            loaded,
            robot,
            cutoff_hz=settings.cutoff_hz,
            friction=options.friction or "shared",
            interval=settings.interval,
            scale=scale,
            link_accuracy=options.link_accuracy or LINK_ACCURACY,
            calibration=options.calibration,
            held_out=options.held_out,
        )
    return fit_payload(
        loaded,
        unloaded,
        robot=robot,
        frame=options.frame,
        arm=arm,
        cutoff_hz=settings.cutoff_hz,
        friction=options.friction or "own",
        interval=settings.interval,
        scale=scale,
        known_load=options.known_load,
        link_accuracy=options.link_accuracy or LINK_ACCURACY,
        terms=(*settings.terms, *(() if settings.mass is None else (KnownMass(settings.mass),))),
    )


def _earlier_fit(arm: object) -> SavedArm | None:
    """Return an earlier fit of the arm from its result, what is saved of it, or its file.

    Raises `SchemaError`: it is something else.
    """
    if isinstance(arm, Result):
        return saved_arm(arm)
    if isinstance(arm, SavedArm | None):
        return arm
    if not isinstance(arm, str | Path):
        raise SchemaError(
            "arm: expected the result of a fit of the arm or its arm.json, got "
            f"{type(arm).__name__}"
        )
    return read_arm(arm)


def _errors_of_earlier_fit(arm: SavedArm | None) -> Iterator[Finding]:
    """Yield the errors of the fit that an arm.json is of, such as of a wrong known load."""
    for record in () if arm is None else arm.report.get("findings", ()):
        if record["severity"] == "error":
            yield Finding(
                record["code"],
                "error",
                f"the fit of the arm must not be used: {record['text']}",
                record["remedy"] or "Fit the arm again, from other logs.",
            )


def _torque_scale(options: JointSettings, robot: RobotModel) -> TorqueScale | None:
    """Return the gains of the torques as given; None for the default.

    Raises `SchemaError`: not one error, or one for each joint.
    """
    scale = options.torque_scale
    if isinstance(scale, TorqueScale | None):
        return scale
    errors = [scale] if isinstance(scale, int | float) else list(scale)
    count = len(robot.joints)
    if len(errors) not in (1, count):
        raise SchemaError(
            f"torque_scale: expected one number, or one for each of {count} joints, got "
            f"{len(errors)}"
        )
    return TorqueScale.known(errors[0] if len(errors) == 1 else errors, count)


def _likeliest_fault(
    error: ProblemError | SolveError,
    logs: Sequence[ReadableLog],
    robot: RobotModel,
    loaded: int,
    settings: FitSettings,
) -> MisreadLog | None:
    """Return the error of the likeliest fault of logs whose fit failed, or of torques unexplained.

    None if none is found.
    """
    frame = settings.joints.frame
    if isinstance(error, NegativeMass) and error.finding.code == "logs_swapped":
        logs, loaded = [*logs[loaded:], *logs[:loaded]], len(logs) - loaded
    judged = JointLogs(
        logs=logs,
        robot=robot,
        loaded=loaded if frame else 0,
        frame=frame,
        cutoff_hz=settings.cutoff_hz,
    )
    for hypothesis in reported(joint_hypotheses(judged)):
        if hypothesis.outcome == "refuses" or hypothesis.code == "torque_unexplained":
            return MisreadLog(reason_without_advice(error), hypothesis.findings[0])
    return None


def _estimate_of_load(fit: ArmFit) -> Estimate:
    """Return the estimate of the load by itself, with its frame and the offsets of the torques."""
    joint = fit.estimate
    bodies, alone = 4 * len(joint.bodies), joint.certificate.eigenvalues[:4]
    certificate = joint.certificate
    if len(certificate.eigenvalues) == bodies:
        certificate = replace(certificate, eigenvalues=alone)
    return replace(
        joint,
        others={},
        joint_covariance=None,
        region=None,
        certificate=certificate,
        frames=BodyFrame(name=fit.frame, flange=_flange_pose(fit.robot, str(fit.frame))),
        bias=tuple(_torque_offsets(fit)),
    )


def _findings_of_load(fit: ArmFit) -> Iterator[Finding]:
    """Yield the findings of the estimate; with what the mechanism shows if not of the mass."""
    for finding in fit.estimate.findings:
        if (finding.code, finding.severity) == ("mechanism", "warning"):
            columns = equations_of(fit.solution.system).columns
            shown = "; ".join(shown_combinations(columns, str(fit.frame), fit.estimate))
            text = f"{finding.text} What it shows [SI]: {shown}."
            finding = replace(finding, text=text)
        yield finding


def _flange_pose(robot: RobotModel, frame: str) -> Pose | None:
    """Return the pose of the flange in a frame, None unless the URDF has one on the same link."""
    flange, body = robot.frames.get(_FLANGE_FRAME), robot.frame(frame)
    if flange is None or flange.link != body.link:
        return None
    return body.X_LF.inverse() @ flange.X_LF


def _torque_offsets(fit: ArmFit) -> Iterator[SavedBias]:
    """Yield the offset of each joint's torque in each log [N m or N]."""
    for log, run in zip(fit.logs, fit.runs, strict=True):
        names = [of_run(joint, FRICTION[2], run) for joint in fit.joints]
        values, errors = np.array([fit.scalars[name] for name in names]).T
        yield SavedBias(log.sha256, values, HALF_WIDTH_SIGMA * errors)


def _findings_of_logs(
    fit: ArmFit, logs: Sequence[ReadableLog], options: JointSettings, arm: SavedArm | None
) -> Iterator[Finding]:
    """Yield the findings on the logs of a fit, and on reading them."""
    judged = JointLogs(
        logs=logs,
        robot=fit.robot,
        loaded=fit.loaded,
        frame=fit.frame,
        cutoff_hz=fit.logs[0].cutoff_hz,
        gains=fit.gains,
        link_accuracy=options.link_accuracy or LINK_ACCURACY,
        scatter=fit.solution.scatter,
        arm=arm,
    )
    yield from findings_of(joint_hypotheses(judged))
    yield from gains_that_differ(logs, arm)
    if fit.frame is None:
        yield from nothing_learnt(fit)
    yield from friction_changes(fit, [log.duration for log in fit.logs])
    yield from impossible_links(fit.robot)
    for recording in (log.recording for log in fit.logs):
        yield from (replace(finding, where=recording.name) for finding in recording.findings)
        if recording.dropped.total:
            yield Finding(
                "rows_dropped",
                "info",
                f"{recording.dropped.total} of {recording.rows} rows dropped.",
                evidence={"dropped": recording.dropped.total, "rows": recording.rows},
                where=recording.name,
            )


def _robot_record(fit: ArmFit) -> dict[str, object]:
    """Return the arm of a fit as plain values, for the provenance."""
    robot, scale = fit.robot, fit.scale
    return {
        "model": robot.path.name,
        "sha256": digest(robot.path),
        "frame": fit.frame,
        "joints": list(robot.joints),
        "locked": dict(robot.locked),
        "torque_scale": scale.interval_kind,
        "gains": scale.gains.tolist(),
        "scalars": {name: list(pair) for name, pair in fit.scalars.items()},
    }


def saved_arm_text(result: Result) -> str:
    """Return the text of the arm.json of a fit of an arm without a load.

    Raises `ProblemError`: see `saved_arm`.
    """
    return arm_text(saved_arm(result))


def saved_arm(result: Result) -> SavedArm:
    """Return the fit of an arm without a load as it is written to arm.json.

    Raises:
        ProblemError: the result is of a load, or was read from a file without its logs.
    """
    if not isinstance(result.arm, ArmFit):
        raise ProblemError(
            "only a fit of an arm from its logs makes an arm.json, not a result read from a file"
        )
    return replace(result.arm.saved, report=result.arm_report())

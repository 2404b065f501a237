"""`PayloadResult`: the load of an arm from joint torques, with findings, verdict and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from identify.arms import ArmFit, ArmLog, PayloadFit, arm_findings
from identify.arms.columns import FRICTION
from identify.arms.equations import equations_of, of_run
from identify.estimation import Estimate
from identify.exchange import SavedBias
from identify.files import digest
from identify.findings import UNIDENTIFIED_SOURCES, Finding, Verdict, sort_findings
from identify.inertia import PHI
from identify.logs import Recording
from identify.logs.schema import schema_as_written
from identify.pipeline.provenance import versions
from identify.pipeline.required_precision import (
    ARM_LIMITS,
    precision_findings,
    required_precision_met,
)
from identify.robots import RobotModel
from identify.signals.stream_resampling import on_one_clock
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial import BodyFrame, Pose

_FLANGE_FRAME = "tool0"
"""Name of the flange frame in URDFs by the conventions of ROS-Industrial."""


@dataclass(frozen=True, slots=True, repr=False)
class PayloadResult:
    """Load of an arm with its findings, the input of its report.

    Attributes:
        estimate: the load about the frame, as it is written to estimate.json; the links and the
            friction are in `fit`.
        fit: of load, links and friction.
        recordings: the fitted logs, those with the load first.
    """

    estimate: Estimate
    fit: PayloadFit
    recordings: tuple[Recording, ...]

    @property
    def logs(self) -> tuple[ArmLog, ...]:
        """Summaries of the fitted logs, those with the load first."""
        return self.fit.logs

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings, the most severe first."""
        return self.estimate.findings

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Findings, as a load is the only body of its result."""
        return self.findings

    @property
    def verdict(self) -> Verdict:
        """Verdict of the findings."""
        return self.estimate.verdict

    def to_dict(self) -> dict[str, object]:
        """Return plain data in SI: the estimate.json, logs, errors of the torque and friction."""
        joints, fit = self.fit.robot.joints, self.fit
        errors = {"fitted": fit.errors, **dict(fit.held_out)}
        return {
            "estimate": self.estimate.to_dict(),
            "logs": log_records(self.recordings, self.logs),
            "torque_errors": {
                name: {"total": each.total, **dict(zip(joints, each.joints.tolist(), strict=True))}
                for name, each in errors.items()
            },
            "joints": dict(fit.estimate.scalars),
        }


def payload_result(
    fit: PayloadFit,
    recordings: Sequence[Recording],
    *,
    needs: str = "",
    options: Mapping[str, object] | None = None,
    command: str | None = None,
) -> PayloadResult:
    """Add findings, needs, offsets and provenance to the fit of a load.

    Args:
        fit: of the load.
        recordings: the fitted logs, those with the load first.
        needs: needed precision, such as "mass 5%, com 10mm".
        options: of the fit as plain values, for the provenance.
        command: the command line, if known.

    Raises:
        SchemaError: the needs are invalid.
    """
    joint = fit.estimate
    bodies, alone = 4 * len(joint.bodies), joint.certificate.eigenvalues[:4]
    certificate = joint.certificate
    if len(certificate.eigenvalues) == bodies:
        certificate = replace(certificate, eigenvalues=alone)
    frames = BodyFrame(name=fit.frame, flange=_flange_pose(fit.robot, fit.frame))
    estimate = replace(
        joint,
        others={},
        joint_covariance=None,
        region=None,
        certificate=certificate,
        frames=frames,
        bias=tuple(_torque_offsets(fit)),
        dropped_rows=sum(each.dropped.total for each in recordings),
        needs=required_precision_met(needs, joint),
        provenance=_provenance(fit, recordings, options or {}, command),
    )
    findings = [
        *_findings_with_expected_inertia(joint),
        *filter(None, (fit.contradicted,)),
        *arm_fit_findings(fit, recordings),
        *precision_findings(estimate, needs, ARM_LIMITS),
    ]
    estimate = replace(estimate, findings=sort_findings(findings))
    return PayloadResult(estimate, fit, tuple(recordings))


def _flange_pose(robot: RobotModel, frame: str) -> Pose | None:
    """Return the pose of the flange in a frame, None unless the URDF has one on the same link."""
    flange, body = robot.frames.get(_FLANGE_FRAME), robot.frame(frame)
    if flange is None or flange.link != body.link:
        return None
    return body.X_LF.inverse() @ flange.X_LF


def _findings_with_expected_inertia(estimate: Estimate) -> list[Finding]:
    """Return findings on a load; those on default values of its inertia are marked as expected.

    Joint torques identify mass and centre of mass, and seldom the inertia of a load.
    """
    default = {name for name, by in estimate.decided_by.items() if by in UNIDENTIFIED_SOURCES}
    if default & set(PHI[:4]):
        return list(estimate.findings)
    return [
        replace(finding, evidence={**finding.evidence, "expected": True})
        if finding.code == "completed"
        else finding
        for finding in estimate.findings
    ]


def arm_fit_findings(
    fit: PayloadFit | ArmFit, recordings: Sequence[Recording]
) -> Iterator[Finding]:
    """Yield the findings on a fit of a robot arm or its load, and on reading its logs."""
    payload = isinstance(fit, PayloadFit)
    yield from arm_findings(
        recordings,
        fit.robot,
        loaded=fit.loaded if payload else 0,
        frame=fit.frame if payload else None,
        cutoff_hz=fit.logs[0].cutoff_hz,
    )
    for log in map(on_one_clock, recordings):
        yield from (replace(finding, where=log.name) for finding in log.findings)
        if log.dropped.total:
            yield Finding(
                "rows_dropped",
                "info",
                f"{log.dropped.total} of {log.rows} rows dropped.",
                evidence={"dropped": log.dropped.total, "rows": log.rows},
                where=log.name,
            )


def log_records(recordings: Sequence[Recording], logs: Sequence[ArmLog]) -> list[dict[str, object]]:
    """Return the provenance of each joint log as plain values."""
    return [
        {
            "name": recording.name,
            "sha256": recording.sha256,
            "files": [
                {"name": source.path.name, "sha256": source.sha256} for source in recording.sources
            ],
            "rows": recording.rows,
            "dropped_rows": asdict(recording.dropped),
            "duration": recording.end_time,
            "rate_hz": log.rate_hz,
            "cutoff_hz": log.cutoff_hz,
            "gravity": recording.gravity.tolist(),
            "schema": schema_as_written(recording.schema),
        }
        for recording, log in zip(recordings, logs, strict=True)
    ]


def _torque_offsets(fit: PayloadFit) -> Iterator[SavedBias]:
    """Yield the offset of each joint's torque in each log [N m or N]."""
    scalars, runs = fit.estimate.scalars, equations_of(fit.solution.system).runs
    for log, run in zip(fit.logs, runs, strict=False):
        names = [of_run(joint, FRICTION[2], run) for joint in fit.robot.joints]
        values, errors = np.array([scalars[name] for name in names]).T
        yield SavedBias(log.sha256, values, HALF_WIDTH_SIGMA * errors)


def _provenance(
    fit: PayloadFit,
    recordings: Sequence[Recording],
    options: Mapping[str, object],
    command: str | None,
) -> dict[str, object]:
    robot, scale = fit.robot, fit.scale
    loaded = [number < fit.loaded for number in range(len(recordings))]
    records = log_records(recordings, fit.logs)
    return {
        "command": command,
        "options": dict(options),
        "logs": [
            {**record, "loaded": has_load} for record, has_load in zip(records, loaded, strict=True)
        ],
        "robot": {
            "model": robot.path.name,
            "sha256": digest(robot.path),
            "frame": fit.frame,
            "joints": list(robot.joints),
            "locked": dict(robot.locked),
            "torque_scale": scale.interval_kind,
            "gains": scale.gains.tolist(),
            "scalars": {name: list(pair) for name, pair in fit.estimate.scalars.items()},
        },
        "versions": versions(),
    }

"""`ArmResult`: fitted links and friction of a robot arm, with findings and provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from identify.arms import ArmFit, SavedArm
from identify.files import digest
from identify.findings import Finding, sort_findings
from identify.logs import Recording
from identify.pipeline.payload import arm_fit_findings, log_records
from identify.pipeline.provenance import versions


@dataclass(frozen=True, slots=True, repr=False)
class ArmResult:
    """Fitted links and friction of a robot arm with findings, the input of its report.

    Attributes:
        fit: of links, rotors and friction.
        recordings: the fitted logs.
        saved_arm: content of arm.json, with findings and provenance.
        findings: the most severe first.
    """

    fit: ArmFit
    recordings: tuple[Recording, ...]
    saved_arm: SavedArm
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, object]:
        """Return plain data in SI: links, friction, base parameters, errors and provenance."""
        return {
            "links": {name: phi.tolist() for name, phi in self.saved_arm.links.items()},
            "joints": dict(self.fit.estimate.scalars),
            **self.saved_arm.report,
        }


def arm_result(
    fit: ArmFit, recordings: Sequence[Recording], *, command: str | None = None
) -> ArmResult:
    """Add findings and provenance to the fitted links and friction of a robot arm.

    Args:
        fit: of the arm.
        recordings: the fitted logs.
        command: the command line, if known.
    """
    findings = sort_findings(arm_fit_findings(fit, recordings))
    saved, robot = fit.saved, fit.robot
    report = {
        **saved.report,
        "model_sha256": digest(robot.path),
        "locked": dict(robot.locked),
        "torque_scale": fit.scale.interval_kind,
        "findings": [finding.record() for finding in findings],
        "provenance": {
            "command": command,
            "logs": log_records(recordings, fit.logs),
            "versions": versions(),
        },
    }
    return ArmResult(fit, tuple(recordings), replace(saved, report=report), findings)

"""`identify check`: find faults of logs and wrong entries of their schema."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction

from identify.commands.arm_options import require_joints, sensor_of_logs
from identify.commands.bodies import UNUSABLE_STATUS
from identify.commands.command import (
    Command,
    GravityVector,
    Number,
    Outcome,
    UsageError,
    defer_unused_numpy_modules,
    option,
)
from identify.commands.drafting import schema_path
from identify.commands.look import require_page, write_log_page
from identify.commands.output import stages_on_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from identify.pipeline import LogCheck


@dataclass(frozen=True, slots=True)
class Check(Command):
    """Check logs for wrong signs, units, frames, delays, drift and contact.

    Alternative interpretations of the logs, and faults such as a delayed wrench, are compared with
    the schema. Findings are printed, causes before symptoms, each with the schema line to change
    and the estimate after that change; nothing is corrected. Exit status: 0 without findings,
    4 if a finding is a warning or an error.
    """

    logs: Annotated[tuple[Path, ...], Positional, option("LOG [LOG ...]", "(required)")]
    """Logs of the same body, see `identify fit`."""

    schema: Annotated[Path | None, option("S.toml", "(default: schema.toml, or a draft)")] = None
    """Schema that names columns, units and frames."""

    unloaded: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """Log without the payload; repeat the option for several logs."""

    mass: Annotated[Number, option("KG")] = None
    """Known mass; required for a body in free flight, where no force is measured."""

    gravity: Annotated[GravityVector, option("X Y Z", "(default: the schema's)")] = None
    """Gravity in world axes [m/s²]."""

    robot: Annotated[Path | None, option("ARM.urdf")] = None
    """URDF of the arm, for logs of its joints; without --frame they are of the arm itself."""

    frame: Annotated[str | None, option("NAME")] = None
    """Link or joint of the URDF that a load is fixed to, with --robot."""

    arm: Annotated[Path | None, option("ARM.json")] = None
    """Fit of the arm without load by identify fit-arm, in place of --unloaded or with it."""

    need: Annotated[str, option("NEEDS")] = ""
    """Required precision, see `identify fit`; by default mass, centre of mass and inertia count."""

    output: Annotated[Path | None, option("PAGE.html", short="-o")] = None
    """Page of the logs, as of `identify look`, with the findings at their times."""

    def run(self, invocation: str) -> Outcome:
        """Check the logs and return the findings."""
        defer_unused_numpy_modules()
        from identify.logs import load_schema
        from identify.logs.log_file import open_runs
        from identify.pipeline import FitSettings, JointSettings, check_logs

        require_page(self.output, "check")
        if self.robot is None and (self.frame is not None or self.arm is not None):
            raise UsageError("check: --frame and --arm require --robot ARM.urdf")
        path = schema_path(self.schema, self.logs, "check", robot=self.robot, asks=not self.json)
        schema = load_schema(path)
        if self.robot is not None:
            require_joints(schema)
        sensor = sensor_of_logs(schema.sensor, self.robot, "check")
        joints = JointSettings(robot=self.robot, frame=self.frame, arm=self.arm)
        with stages_on_terminal():
            check = check_logs(
                [run for log in self.logs for run in open_runs(log, schema, sensor)],
                FitSettings(mass=self.mass, gravity=self.gravity, joints=joints, needs=self.need),
                unloaded=[run for log in self.unloaded for run in open_runs(log, schema, sensor)],
            )
        if self.output is not None:
            write_log_page(self.output, (*self.logs, *self.unloaded), path, check)
        return Outcome(
            lines=check_lines(check),
            document=check.record,
            files=None if self.output is None else [self.output],
            status=0 if check.passed else UNUSABLE_STATUS,
        )


def check_lines(check: LogCheck) -> Iterator[str]:
    """Format the findings of a check and the estimate as lines of text."""
    from identify.commands.summary import finding_lines, log_line, verdict_lines

    if check.fit_error:
        reason = "none is possible with this schema." if check.findings else check.fit_error
        yield f"No estimate: {reason}"
    for finding in check.findings:
        yield from finding_lines([finding])
        if equivalent := finding.evidence.get("equivalent"):
            yield f"  equally likely: {', '.join(equivalent)}"
    if check.result is not None:
        yield from map(log_line, check.result.logs)
        if check.result.body_fitted:
            parameters = check.result.estimate.parameters
            yield f"Estimate: {parameters!r}."
            yield from verdict_lines(check.result)
        yield from check.result.checks.motion_advice
    if check.conclusion:
        yield check.conclusion

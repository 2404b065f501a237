"""`identify fit-arm`: the links, rotors and friction of an arm from its joint torques."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, UseAppendAction

from identify.commands.arm_options import (
    SCALE_HELP,
    make_scale,
    parse_scale,
    read_joint_logs,
    read_robot_of,
)
from identify.commands.bodies import UNUSABLE_STATUS
from identify.commands.command import Command, Flag, Number, Outcome, UsageError, Vector, option
from identify.commands.output import (
    ARM,
    REPORT,
    require_writable,
    require_writable_file,
    stages_on_terminal,
    write_folder,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from identify.pipeline.arm_results import ArmResult

_LOGGER = logging.getLogger(__name__)

_PRECISE_SHARE = 0.1
"""Half-width of the interval of a base parameter, as a share of it, that counts as precise."""


@dataclass(frozen=True, slots=True)
class FitArm(Command):
    """Fit the links, rotors and friction of a robot arm to logs of its joints without a load.

    Prints the torque errors and the friction, and writes OUT/arm.json, which the fit of a load
    takes in place of logs without the load, and OUT/report.html with the base parameters. Links are
    physically consistent, and those of the URDF where the logs show nothing. Exit status: 2 for bad
    use or bad input; 3 if the motion does not excite the arm or the problem cannot be solved; 4 if
    the fit must not be used (all files are written).
    """

    logs: Annotated[tuple[Path, ...], Positional, option("LOG [LOG ...]", "(required)")]
    """Logs of the arm without a load, in any supported format."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """Schema with [joints]; `identify init LOG` drafts one."""

    robot: Annotated[Path, option("ARM.urdf", "(required)")]
    """URDF of the arm."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Result folder, created if it does not exist; results of an earlier fit are replaced."""

    held_out: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """Log that scores the fit (repeatable); default: halves of the logs, by fits to the others."""

    export: Annotated[Path | None, option("FIXED.urdf")] = None
    """Write the URDF with the fitted links, and all else as it is."""

    friction: Annotated[Literal["own", "shared"], option("RUNS", "(default: shared)")] = "shared"
    """Friction: own of each log, or shared by all logs."""

    torque_scale: Annotated[str, option("SHARE[,SHARE ...]", help=SCALE_HELP)] = ""

    cutoff: Annotated[Number, option("HZ", "(default: 8 Hz or rate/10)")] = None
    """Highest frequency that is used."""

    gravity: Annotated[Vector, option("X Y Z", "(default: the schema's)")] = None
    """Gravity in axes of the robot's base [m/s²]."""

    interval: Annotated[
        Literal["formula", "bootstrap"] | None, option("ROUTE", "(default: bootstrap)")
    ] = None
    """Method for the intervals, as of identify fit."""

    no_report: Flag = False
    """Skip report.html."""

    quiet: Flag = False
    """Print nothing but errors."""

    def with_extra_positionals(self, words: Sequence[str]) -> FitArm:
        """Add logs that follow an option."""
        return replace(self, logs=(*self.logs, *map(Path, words)))

    def run(self, invocation: str) -> Outcome:
        """Fit the arm, and write all files."""
        names = (ARM, *(REPORT,) * (not self.no_report))
        self._require_usable(names)
        from identify.arms import arm_text, fitted_model

        with stages_on_terminal(shown=not self.quiet):
            result = self._fit(invocation)
            files, stale = {}, [self.output / REPORT] * self.no_report
            if not self.no_report:
                from identify.reporting.arm_page import arm_report_html

                _LOGGER.info("writing the report")
                html = arm_report_html(result)
                files[self.output / REPORT] = html.encode("utf-8", errors="backslashreplace")
            files[self.output / ARM] = arm_text(result.saved_arm).encode()
            if self.export is not None:
                model = fitted_model(result.fit.robot, result.fit.links)
                files[self.export] = model.content
            write_folder(self.output, files, stale)
        codes = [finding.code for finding in result.findings if finding.severity == "error"]
        status = UNUSABLE_STATUS if codes else 0
        messages = [f"error: this fit must not be used ({', '.join(codes)})"] if codes else []
        exported = () if self.export is None else (self.export,)
        return Outcome(
            lines=_lines(result),
            messages=messages,
            document=result.to_dict,
            files=[*(self.output / name for name in names), *exported],
            status=status,
            quiet=self.quiet,
        )

    def _require_usable(self, names: Sequence[str]) -> None:
        if not self.logs:
            raise UsageError("fit-arm: missing LOG [LOG ...]; see identify fit-arm --help")
        parse_scale(self.torque_scale, "fit-arm")
        require_writable(self.output, names)
        require_writable_file(self.export)
        export = self.export
        if export is not None and export.exists() and export.samefile(self.robot):
            raise UsageError(f"fit-arm: --export {export} is the model itself; give another file")

    def _fit(self, invocation: str) -> ArmResult:
        from identify.arms import fit_arm
        from identify.pipeline.arm_failures import raise_likeliest_fault
        from identify.pipeline.arm_results import arm_result

        recordings = read_joint_logs(self.logs, self.schema)
        others = read_joint_logs(self.held_out, self.schema)
        robot = read_robot_of(self.robot, recordings[0], self.gravity)
        _LOGGER.info("estimating")
        with raise_likeliest_fault(recordings, robot, cutoff_hz=self.cutoff):
            fit = fit_arm(
                recordings,
                robot,
                cutoff_hz=self.cutoff,
                friction=self.friction,
                interval=self.interval,
                scale=make_scale(parse_scale(self.torque_scale, "fit-arm"), len(robot.joints)),
                held_out=others,
            )
        return arm_result(fit, recordings, command=invocation)


def _lines(result: ArmResult) -> Iterator[str]:
    from identify.commands.fit_payload import log_lines
    from identify.commands.summary import finding_lines
    from identify.reporting.arm_sections import error_table, friction_table
    from identify.reporting.arm_torques import JointTorques, arm_errors
    from identify.reporting.content import terminal_lines

    fit = result.fit
    yield from terminal_lines(error_table(fit.robot.joints, arm_errors(fit)))
    yield ""
    yield from terminal_lines(friction_table(JointTorques.of(fit.logs, fit.solution)))
    yield "± 95 %; rotor inertia [kg m²], viscous [N m s/rad] and Coulomb friction, offset [N m]"
    yield ""
    yield from log_lines(result.recordings, fit.logs, fit.robot)
    yield f"Torque scale: {fit.scale.interval_kind}."
    values, half_widths = fit.weighted.values, fit.weighted.half_widths
    count, precise = len(values), int((half_widths < _PRECISE_SHARE * abs(values)).sum())
    yield f"Base parameters: {count}, {precise} of them with a 95 % interval below 10 %."
    yield from finding_lines(result.findings)

"""`identify fit-arm`: the links, rotors and friction of an arm from its joint torques."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, UseAppendAction

from identify.commands.arm_options import (
    LINK_ACCURACY_HELP,
    SCALE_HELP,
    parse_scale,
    require_known_load,
)
from identify.commands.bodies import exit_status
from identify.commands.command import (
    SCHEMA_OPTION,
    Command,
    Flag,
    GravityVector,
    Number,
    Outcome,
    UsageError,
    choice_parser,
    option,
)
from identify.commands.drafting import schema_path
from identify.commands.fit import read_logs
from identify.commands.output import (
    ARM,
    REPORT,
    RESULT,
    require_writable,
    require_writable_file,
    stages_on_terminal,
    write_results,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from identify.arms import Calibration
    from identify.logs import Schema
    from identify.pipeline import Result

_LOGGER = logging.getLogger(__name__)


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

    robot: Annotated[Path, option("ARM.urdf", "(required)")]
    """URDF of the arm."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Result folder, created if it does not exist; results of an earlier fit are replaced."""

    schema: Annotated[Path | None, SCHEMA_OPTION] = None
    """Schema with [joints]."""

    held_out: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """Log that scores the fit; by default halves of the logs, predicted by fits to the others."""

    export: Annotated[Path | None, option("FIXED.urdf|ARM.xml")] = None
    """URDF to write with the fitted links and friction, or MJCF, with inertias of rotors too."""

    friction: Annotated[
        Literal["own", "shared"],
        choice_parser("own", "shared"),
        option("own|shared", "(default: shared)"),
    ] = "shared"
    """Friction: own of each log, or shared by all logs."""

    torque_scale: Annotated[str, option("SHARE[,SHARE ...]", help=SCALE_HELP)] = ""

    link_accuracy: Annotated[Number, option("SHARE", help=LINK_ACCURACY_HELP)] = None

    calibration: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """Log with a load of --known-load KG on --frame, which tells the gains for OUT/arm.json."""

    frame: Annotated[str | None, option("NAME")] = None
    """Link or joint of the URDF that the load of --calibration is fixed to."""

    known_load: Annotated[Number, option("KG")] = None
    """Mass of the load of --calibration."""

    cutoff: Annotated[Number, option("HZ", "(default: 8 Hz or rate/10)")] = None
    """Highest frequency that is used."""

    gravity: Annotated[GravityVector, option("X Y Z", "(default: the schema's)")] = None
    """Gravity in axes of the robot's base [m/s²]."""

    interval: Annotated[
        Literal["formula", "bootstrap"] | None,
        choice_parser("formula", "bootstrap"),
        option("formula|bootstrap", "(default: bootstrap)"),
    ] = None
    """Method for the intervals, as of identify fit."""

    no_report: Flag = False
    """Skip report.html and result.npz."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Fit the arm, and write all files."""
        from identify.commands.summary import summary

        self._require_usable((ARM, *(RESULT, REPORT) * (not self.no_report)))
        with stages_on_terminal(shown=not self.quiet):
            result = self._fit(invocation)
            _LOGGER.info("writing the report")
            exported, notes = ({}, []) if self.export is None else _exported(result, self.export)
            files = write_results(
                self.output, result, None, report=not self.no_report, others=exported
            )
        codes = [finding.code for finding in result.findings if finding.severity == "error"]
        messages = [f"error: this fit must not be used ({', '.join(codes)})"] if codes else []
        messages += notes
        return Outcome(
            lines=summary(result, None),
            messages=messages,
            document=result.to_dict,
            files=files,
            status=exit_status(result.verdict),
            quiet=self.quiet,
        )

    def _require_usable(self, names: Sequence[str]) -> None:
        if not self.logs:
            raise UsageError("fit-arm: missing LOG [LOG ...]; see identify fit-arm --help")
        parse_scale(self.torque_scale, "fit-arm")
        require_known_load(self.known_load, "fit-arm")
        given = [bool(self.calibration), self.frame is not None, self.known_load is not None]
        if any(given) and not all(given):
            raise UsageError(
                "fit-arm: a calibration of the torques needs all of --calibration LOG (with the "
                "load), --frame NAME and --known-load KG"
            )
        require_writable(self.output, names)
        require_writable_file(self.export)
        export = self.export
        if export is not None and export.exists() and export.samefile(self.robot):
            raise UsageError(f"fit-arm: --export {export} is the model itself; give another file")

    def _fit(self, invocation: str) -> Result:
        from identify.logs import load_schema
        from identify.pipeline import fit

        path = schema_path(
            self.schema,
            self.logs,
            "fit-arm",
            self.output,
            self.robot,
            asks=not self.json,
            quiet=self.quiet,
        )
        schema = load_schema(path)
        return fit(
            read_logs(self.logs, schema, "joints"),
            command=invocation,
            cutoff_hz=self.cutoff,
            gravity=self.gravity,
            interval=self.interval,
            robot=self.robot,
            friction=self.friction,
            torque_scale=parse_scale(self.torque_scale, "fit-arm"),
            link_accuracy=self.link_accuracy,
            calibration=self._calibration(schema),
            held_out=read_logs(self.held_out, schema, "joints"),
        )

    def _calibration(self, schema: Schema) -> Calibration | None:
        if self.frame is None or self.known_load is None:
            return None
        from identify.arms import Calibration

        logs = read_logs(self.calibration, schema, "joints")
        return Calibration(tuple(logs), self.frame, self.known_load)


def _exported(result: Result, path: Path) -> tuple[dict[Path, bytes], list[str]]:
    """Return the fitted arm as a URDF, or as MJCF if the file is a .xml, and what it leaves out."""
    import numpy as np

    from identify.arms import JointDynamics, fitted_mjcf, fitted_model
    from identify.reporting.arm_torques import fitted_arm

    arm, bodies = fitted_arm(result), result.estimate.bodies
    links, dynamics = np.array([link.parameters.phi for link in bodies]), JointDynamics.of(arm)
    left_out = dynamics.left_out
    if path.suffix == ".xml":
        content = fitted_mjcf(arm.robot, links, dynamics)
    else:
        content = fitted_model(arm.robot, links, dynamics).content
        left_out = (*left_out, "rotor inertias, which an .xml (MJCF) has")
    notes = f"note: {path.name} has no place for {', '.join(left_out)}"
    return {path: content}, [notes] if left_out else []

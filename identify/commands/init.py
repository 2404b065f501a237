"""`identify init`: draft the schema of a log."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.check import check_lines
from identify.commands.command import Command, Flag, Outcome, UsageError, error_record, option
from identify.commands.drafting import make_draft, require_answers, settle
from identify.commands.output import stages_on_terminal
from identify.errors import IdentifyError, ProblemError

if TYPE_CHECKING:
    from identify.logs import Recording
    from identify.pipeline.log_check import LogCheck

_ZERO_POSE_LINE = "pose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"

_TCP_NOTE = (
    "The tool point in [body.tcp] is set to zeros. Enter its position and rotation from the "
    "pendant: a log does not contain its pose in the flange, and an export needs it."
)


_UNDECODED = re.compile(r"# The log has .*\\u00[89a-f]")
"""Pattern of a list of names that were read as Latin-1, since they are not UTF-8."""

_ENCODING_LINE = (
    "If names of columns look wrong, the file has another encoding: convert it first, such as "
    "`iconv -f GBK -t UTF-8 LOG > UTF8.csv`, then enter the names."
)


@dataclass(frozen=True, slots=True)
class Init(Command):
    """Draft a schema from column or topic names, and check the log with it.

    Each line states its origin; lines marked (?) must be reviewed. Exit status: 0 if the log can be
    read with the schema, 2 if an entry is missing or the output file exists already, 3 if there is
    no estimate with it.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """The log: a file of any supported format, or the folder of a bag."""

    preset: Annotated[str | None, option("NAME", "(default: by column names)")] = None
    """Robot or sensor of the log: ur_rtde, franka, kuka_rsi, ros_wrench, ati, robotiq, px4."""

    sensor: Annotated[str | None, option("NAME", "(default: asked for, or unknown)")] = None
    """Type of the force-torque sensor, such as ur5e: `gain_accuracy` by its data sheet."""

    robot: Annotated[Path | None, option("ARM.urdf")] = None
    """URDF of the arm whose joints are logged: the schema takes their names from it."""

    output: Annotated[Path, option("S.toml", short="-o")] = Path("schema.toml")
    """Schema file to write (schema.toml by default); an existing file is not overwritten."""

    yes: Flag = False
    """Ask no questions, and write zeros for unknown values."""

    def run(self, invocation: str) -> Outcome:
        """Draft the schema, write it, and check the log with it."""
        from identify.files import write_bytes
        from identify.logs.draft_lines import UNNAMED_LINE, drafted_log_name

        if self.output.exists():
            name = drafted_log_name(self.output.read_text(encoding="utf-8", errors="replace"))
            of = f", drafted for {name}" if name else ""
            raise UsageError(f"init: {self.output} exists{of}; give another name with -o")
        asks = not self.yes and sys.stdin.isatty() and not self.json
        draft = make_draft(
            self.log, self.output, self.preset, self.robot, asks=asks, sensor=self.sensor
        )
        require_answers(draft, self.output)
        draft = settle(draft, self.log, self.output, self.robot)
        write_bytes(self.output, draft.schema.text.encode())
        marked, missing = len(draft.uncertain), draft.schema.missing_signals
        notes = [*draft.notes, f"Wrote {self.output}; {_review_request(marked)}."]
        if not asks and _ZERO_POSE_LINE in draft.schema.text:
            notes.append(_TCP_NOTE)
        if missing:
            lines = [f"No columns of the log look like {', '.join(missing)}: enter them."]
            lines += [f"{UNNAMED_LINE}."] * (UNNAMED_LINE in draft.schema.text)
            lines += [_ENCODING_LINE] * (_UNDECODED.search(draft.schema.text) is not None)
            check = Outcome(lines=lines, status=UsageError.exit_code)
        elif draft.settled is not None:
            notes += [f"Chosen by the log: {key}" for key in draft.settled.changes]
            check = _checked(draft.settled.check)
        else:
            check = self._read(draft.problem)
        record = {"unsure": marked, "missing": missing}
        return replace(
            check,
            lines=[*notes, *check.lines],
            document=lambda: {**record, **check.document()},
            files=[self.output],
        )

    def _read(self, problem: IdentifyError | None) -> Outcome:
        """Read a log that is not of a wrench, or that cannot be checked, with its schema."""
        from identify.logs import open_log, read_log
        from identify.logs.log_file import header_of
        from identify.pipeline import FitSettings, JointSettings, check_logs

        action = "read"
        try:
            with stages_on_terminal():
                log = open_log(self.log, self.output)
                action = "checked"
                if problem is not None:
                    raise problem
                axes = header_of(log).joints
                if axes and self.robot is None:
                    known = {"joints": axes.names, "rows": len(log)}
                    whole = read_log(self.log, self.output)
                    return Outcome(lines=_joint_lines(whole), document=lambda: known)
                joints = JointSettings(robot=self.robot)
                check = check_logs([log], FitSettings(joints=joints))
        except IdentifyError as error:
            failure = {"error": error_record(error)}
            line = f"The log cannot be {action} with it yet: {error}"
            return Outcome(lines=[line], document=lambda: failure, status=error.exit_code)
        return _checked(check)


def _checked(check: LogCheck) -> Outcome:
    status = ProblemError.exit_code if check.fit_error else 0
    return Outcome(lines=check_lines(check), document=check.record, status=status)


def _review_request(marked: int) -> str:
    from identify.logs.draft_lines import NEEDS_REVIEW

    if not marked:
        return "the log confirms its choices"
    return f"review the {marked} line{'s' * (marked > 1)} marked {NEEDS_REVIEW}"


def _joint_lines(log: Recording) -> Iterator[str]:
    """Format rows and rate of a log of joints, and the range of each joint."""
    from identify.reporting.content import make_table, terminal_lines

    names, rate = log.joint_axes.names, (len(log) - 1) / (log.end_time or math.inf)
    yield (
        f"Read: {log.name}, {log.rows} rows, {log.end_time:.3g} s at {rate:.4g} Hz; "
        f"{len(names)} joint{'s' * (len(names) > 1)}, with "
        f"{', '.join(log.signals).replace('joint_', '')}."
    )
    heads = {"joint_position": "Position [rad, m]", "effort": "Effort [N m, N]"}
    shown = [(log.signals[name], head) for name, head in heads.items() if name in log.signals]
    rows = [
        (name, *(f"{values[:, k].min():.3g} … {values[:, k].max():.3g}" for values, _ in shown))
        for k, name in enumerate(names)
    ]
    yield from terminal_lines(make_table(("Joint", *(head for _, head in shown)), rows))
    yield "Fit it with the model of the arm: `identify fit --robot`, or `identify fit-arm`."

"""`identify init`: draft the schema of a log."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Flag, Outcome, UsageError, error_record, option
from identify.commands.output import stages_on_terminal
from identify.errors import IdentifyError

if TYPE_CHECKING:
    from identify.logs import Recording
    from identify.robots import RobotModel

_TCP_QUESTION = (
    "Tool point as shown on the pendant, X Y Z [mm or m] RX RY RZ [rad] (empty: zeros): "
)

_ROTATION_QUESTION = (
    "Rotation of the tool point as shown on the pendant, RX RY RZ [rad] (empty: unknown): "
)

_PAYLOAD_QUESTION = (
    "Payload set on the pendant, mass [kg] and centre of mass X Y Z [mm or m] (empty: none): "
)

_MAX_METRES = 2.0
"""Maximum distance of tool point or payload from the flange [m]; a larger number is in mm."""

_ZERO_POSE_LINE = "pose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"

_TCP_NOTE = (
    "The tool point in [body.tcp] is set to zeros. Enter its position and rotation from the "
    "pendant: a log does not contain its pose in the flange, and an export needs it."
)

_ROTATION_NOTE = (
    "The rotation of the tool point in [body.tcp] is unknown and set to zeros. If the pendant "
    "shows another, the centre of mass is rotated by this error about the tool point."
)


@dataclass(frozen=True, slots=True)
class Init(Command):
    """Draft a schema from column or topic names, and check the log with it.

    Each line states its origin; lines marked (?) must be reviewed. Exit status: 0 if the log can be
    read with the schema, 2 if an entry is missing or the output file exists already.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """The log: a file of any supported format, or the folder of a bag."""

    preset: Annotated[str | None, option("NAME", "(default: by column names)")] = None
    """Robot or sensor of the log: ur_rtde, franka, kuka_rsi, ros_wrench, ati, robotiq, px4."""

    robot: Annotated[Path | None, option("ARM.urdf")] = None
    """URDF of the arm whose joints are logged: the schema takes their names from it."""

    output: Annotated[Path, option("S.toml", short="-o")] = Path("schema.toml")
    """Schema file to write (schema.toml by default); an existing file is not overwritten."""

    yes: Flag = False
    """Ask no questions, and write zeros for unknown values."""

    def run(self, invocation: str) -> Outcome:
        """Draft the schema, write it, and check the log with it."""
        from identify.files import write_bytes
        from identify.logs.draft_schema import NEEDS_REVIEW, draft_schema

        if self.output.exists():
            raise UsageError(f"init: {self.output} exists; give another name with -o")
        asks = not self.yes and sys.stdin.isatty() and not self.json
        robot = None if self.robot is None else _read_robot(self.robot, self.output.parent)
        draft, notes = draft_schema(self.log, self.preset, robot=robot), list[str]()
        if asks and "[body.tcp]" in draft.text:
            tcp = _ask_numbers(_TCP_QUESTION, 6, 3) or [0.0] * 6
            rotation = tcp[3:] or _ask_numbers(_ROTATION_QUESTION, 3)
            payload = _ask_numbers(_PAYLOAD_QUESTION, 4) or [0.0] * 4
            tcp = [*_in_metres(tcp[:3], "tool point"), *(rotation or [0.0] * 3)]
            payload = [payload[0], *_in_metres(payload[1:], "centre of mass")]
            if not rotation:
                notes.append(_ROTATION_NOTE)
            draft = draft_schema(self.log, self.preset, tcp, payload, robot)
        write_bytes(self.output, draft.text.encode())
        marked = draft.text.count(NEEDS_REVIEW) - 1
        notes.append(f"Wrote {self.output}; review the {marked} lines marked {NEEDS_REVIEW}.")
        if not asks and _ZERO_POSE_LINE in draft.text:
            notes.append(_TCP_NOTE)
        if draft.missing_signals:
            line = (
                f"No columns of the log look like {', '.join(draft.missing_signals)}: enter them."
            )
            check = Outcome(lines=[line], status=UsageError.exit_code)
        else:
            check = self._check()
        record = {"unsure": marked, "missing": draft.missing_signals}
        return replace(
            check,
            lines=[*notes, *check.lines],
            document=lambda: {**record, **check.document()},
            files=[self.output],
        )

    def _check(self) -> Outcome:
        """Read the log with the drafted schema, and check it."""
        from identify.commands.check import check_lines
        from identify.logs import Recording, open_log
        from identify.pipeline import FitSettings, JointSettings, check_logs

        action = "read"
        try:
            with stages_on_terminal():
                log = open_log(self.log, self.output)
                if isinstance(log, Recording) and log.joints and self.robot is None:
                    known = {"joints": log.joints.names, "rows": len(log)}
                    return Outcome(lines=_joint_lines(log), document=lambda: known)
                action = "checked"
                of_joints = isinstance(log, Recording) and log.joints is not None
                joints = JointSettings(robot=self.robot if of_joints else None)
                check = check_logs([log], FitSettings(joints=joints))
        except IdentifyError as error:
            failure = {"error": error_record(error)}
            line = f"The log cannot be {action} with it yet: {error}"
            return Outcome(lines=[line], document=lambda: failure, status=error.exit_code)
        return Outcome(lines=check_lines(check), document=check.record)


def _read_robot(path: Path, folder: Path) -> RobotModel:
    """Read the model of a robot, with its path relative to a folder."""
    from identify.robots import read_robot

    return replace(read_robot(path), path=Path(relpath(path, folder)))


def _joint_lines(log: Recording) -> Iterator[str]:
    """Format rows and rate of a log of joints, and the range of each joint."""
    from identify.reporting.content import make_table, terminal_lines

    names, rate = log.joint_axes.names, (len(log) - 1) / (log.end_time or math.inf)
    yield (
        f"Read: {log.name}, {log.rows} rows, {log.end_time:.3g} s at {rate:.4g} Hz; "
        f"{len(names)} joints, with {', '.join(log.signals).replace('joint_', '')}."
    )
    heads = {"joint_position": "Position [rad, m]", "effort": "Effort [N m, N]"}
    shown = [(log.signals[name], head) for name, head in heads.items() if name in log.signals]
    rows = [
        (name, *(f"{values[:, k].min():.3g} … {values[:, k].max():.3g}" for values, _ in shown))
        for k, name in enumerate(names)
    ]
    yield from terminal_lines(make_table(("Joint", *(head for _, head in shown)), rows))
    yield "Fit it with the model of the arm: `identify fit --robot`, or `identify fit-arm`."


def _ask_numbers(question: str, *counts: int) -> list[float]:
    """Ask for numbers separated by spaces or commas; an empty answer gives an empty list.

    Raises:
        UsageError: three answers do not have one of the expected counts of numbers.
    """
    refusal = ""
    for _ in range(3):
        answer = input(f"{refusal}{question}").strip()
        try:
            numbers = [float(word) for word in answer.replace(",", " ").split()]
        except ValueError:
            numbers = [0.0]
        if len(numbers) in (0, *counts):
            return numbers
        refusal = f"expected {counts[0]} numbers, got {answer!r}"
        refusal += "; the other answers are kept. "
    raise UsageError(f"init: {refusal.partition(';')[0]}")


def _in_metres(point: list[float], name: str) -> list[float]:
    """Convert a point to metres if it is in millimetres, and print the assumed unit."""
    in_millimetres = max(map(abs, point)) > _MAX_METRES
    if any(point):
        print(f"The {name} is taken to be in {'millimetres' if in_millimetres else 'metres'}.")
    return [round(1e-3 * x, 12) if in_millimetres else x for x in point]

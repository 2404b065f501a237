"""`identify init`: a first schema of a log."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Flag, Outcome, UsageError, error_record, option
from identify.commands.output import shown_stages
from identify.errors import IdentifyError

_TCP = "The tool point as the pendant shows it, X Y Z [mm or m] RX RY RZ [rad] (empty: zeros): "

_TURN = "The rotation of that tool point, RX RY RZ [rad] as the pendant shows it (empty: unknown): "

_HELD = "The payload that was set there, mass [kg], centre of mass X Y Z [mm or m] (empty: none): "

_FARTHEST_IN_METRES = 2.0
"""Of a tool point or a payload from the flange [m]; larger numbers are millimetres."""

_NO_TOOL = "pose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"

_TOOL_UNKNOWN = (
    "The tool point in [body.tcp] is written as zeros. Give its place and rotation as the pendant "
    "shows them: where it is in the flange no log tells, and an export would be off by as much."
)

_TURN_UNKNOWN = (
    "The rotation of the tool point in [body.tcp] is not known and written as zeros: if the "
    "pendant shows another, the centre of mass is turned by as much about the tool point."
)


@dataclass(frozen=True, slots=True)
class Init(Command):
    """Write a first schema of a log, guessed from its columns or topics, and check the log with it.

    Each line says what it was guessed from; those with (?) are for a person to check. Exit status:
    0 where the log was read with it, 2 where something is missing that has to be filled in, or
    the file is there already.
    """

    log: Annotated[Path, Positional, option("LOG", "(required)")]
    """The log: a file of any format that is read, or the folder of a bag."""

    preset: Annotated[str | None, option("NAME", "(default: found by the columns)")] = None
    """Robot or sensor that wrote it: ur_rtde, franka, kuka_rsi, ros_wrench, ati, robotiq, px4."""

    output: Annotated[Path, option("S.toml", short="-o")] = Path("schema.toml")
    """The schema to write; an existing file is left alone."""

    yes: Flag = False
    """Ask nothing, and write zeros for what only a person knows."""

    def run(self, invocation: str) -> Outcome:
        """Guess, write, and check."""
        from identify.files import write_bytes
        from identify.logs.first_schema import UNSURE, first_schema

        if self.output.exists():
            raise UsageError(f"init: {self.output} exists; give another name with -o")
        asks = not self.yes and sys.stdin.isatty() and not self.json
        found, notes = first_schema(self.log, self.preset), list[str]()
        if asks and "[body.tcp]" in found.text:
            tcp = _asked(_TCP, 6, 3) or [0.0] * 6
            turn = tcp[3:] or _asked(_TURN, 3)
            held = _asked(_HELD, 4) or [0.0] * 4
            tcp = [*_in_metres(tcp[:3], "tool point"), *(turn or [0.0] * 3)]
            held = [held[0], *_in_metres(held[1:], "centre of mass")]
            if not turn:
                notes.append(_TURN_UNKNOWN)
            found = first_schema(self.log, self.preset, tcp, held)
        write_bytes(self.output, found.text.encode())
        marked = found.text.count(UNSURE) - 1
        notes.append(f"Wrote {self.output}; {marked} lines in it are marked {UNSURE}: check them.")
        if not asks and _NO_TOOL in found.text:
            notes.append(_TOOL_UNKNOWN)
        if found.missing:
            line = f"Nothing in the log looks like {', '.join(found.missing)}: fill that in."
            checked = Outcome(lines=[line], status=UsageError.exit_code)
        else:
            checked = self._checked()
        record = {"unsure": marked, "missing": found.missing}
        return replace(
            checked,
            lines=[*notes, *checked.lines],
            document=lambda: {**record, **checked.document()},
            files=[self.output],
        )

    def _checked(self) -> Outcome:
        """Read the log with it, and check it."""
        from identify.commands.check import lines_of
        from identify.logs import open_log
        from identify.pipeline import check_logs

        step = "read"
        try:
            with shown_stages():
                log = open_log(self.log, self.output)
                step = "checked"
                checked = check_logs([log])
        except IdentifyError as error:
            failure = {"error": error_record(error)}
            line = f"With it the log is not {step} yet: {error}"
            return Outcome(lines=[line], document=lambda: failure, status=error.exit_code)
        return Outcome(lines=lines_of(checked), document=checked.record)


def _asked(question: str, *counts: int) -> list[float]:
    """One of so many numbers that a person gives, however separated; none for an empty answer.

    Raises:
        UsageError: they are not so many numbers, three times over.
    """
    refused = ""
    for _ in range(3):
        words = input(f"{refused}{question}").strip()
        try:
            numbers = [float(word) for word in words.replace(",", " ").split()]
        except ValueError:
            numbers = [0.0]
        if len(numbers) in (0, *counts):
            return numbers
        refused = f"expected {counts[0]} numbers, got {words!r}"
        refused += "; the other answers are kept. "
    raise UsageError(f"init: {refused.partition(';')[0]}")


def _in_metres(point: list[float], what: str) -> list[float]:
    """A point in metres, as it is or from millimetres, and the word which."""
    in_millimetres = max(map(abs, point)) > _FARTHEST_IN_METRES
    if any(point):
        print(f"The {what} is taken in {'millimetres' if in_millimetres else 'metres'}.")
    return [round(1e-3 * x, 12) if in_millimetres else x for x in point]

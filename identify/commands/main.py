"""`identify` on the command line.

Exit status: 0 when it worked (for `fit`: only with an estimate that is proved possible and
optimal), 1 for what `doctor` found or a bug, 2 for bad use or bad input, 3 when the problem cannot
be solved, 4 when there is an estimate and a finding says not to use it, 130 when interrupted, 141
when whoever read the output went away.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NoReturn

from tyro.extras import SubcommandApp

from identify.commands.add import Add
from identify.commands.answer import JSON, answer, answering, asks_for_json, document_text, is_asked
from identify.commands.check import Check
from identify.commands.command import PARSING, Command, UsageError, parse_command
from identify.commands.compare import Compare
from identify.commands.compensate import Compensate
from identify.commands.datasets import DatasetsFetch, DatasetsList, DatasetsPath
from identify.commands.doctor import Doctor, own_version
from identify.commands.export import ExportCommand
from identify.commands.fit import Fit
from identify.commands.init import Init
from identify.commands.inspect import Inspect
from identify.commands.replay import ReplayCommand
from identify.commands.report import Report
from identify.commands.shape import ShapeCommand
from identify.commands.simulate import Simulate
from identify.commands.stages import shown_warnings
from identify.commands.study_results import StudyCompare, StudyTable
from identify.commands.study_run import StudyCheck, StudyRun
from identify.commands.subtract import Subtract
from identify.commands.terminal import escape_what_cannot_be_encoded, say
from identify.errors import IdentifyError, did_you_mean

COMMANDS: Mapping[str, type[Command]] = MappingProxyType(
    {
        "fit": Fit,
        "init": Init,
        "check": Check,
        "report": Report,
        "compare": Compare,
        "replay": ReplayCommand,
        "compensate": Compensate,
        "simulate": Simulate,
        "inspect": Inspect,
        "export": ExportCommand,
        "add": Add,
        "subtract": Subtract,
        "shape": ShapeCommand,
        "study check": StudyCheck,
        "study run": StudyRun,
        "study table": StudyTable,
        "study compare": StudyCompare,
        "datasets list": DatasetsList,
        "datasets fetch": DatasetsFetch,
        "datasets path": DatasetsPath,
        "doctor": Doctor,
    }
)
"""The subcommands by name, in the order of the help; a name may be two words."""

_BUG, _REFUSED, _INTERRUPTED, _BROKEN_PIPE = 1, 2, 130, 141
_HELP = ("-h", "--help", "help")
_COMPLETION, _SHELLS = ("--tyro-write-completion", "--tyro-print-completion"), "bash, fish, zsh"
_FRAME = re.compile(r"[╭╮╰╯─│]|-{3,}")
"""What the parser draws around its messages."""

_ISSUES = "please report it with the lines above and, if you may, the log"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; what goes wrong is a message on standard error and an exit status.

    Args:
        argv: the words after the program's name; those of the process by default.
    """
    escape_what_cannot_be_encoded()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _answered(words) if asks_for_json(words) else _run(words)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001 - it hides nothing
        return _failed(error)
    return status


def _failed(error: BaseException) -> int:
    """Say on standard error what went wrong, and the exit status of that."""
    status, message = _outcome(error)
    if isinstance(error, OSError) and not isinstance(error, IdentifyError):
        _abandon_broken_output()
    if status == _BUG and isinstance(error, Exception):
        traceback.print_exception(error)
    return _say(message, status) if message else status


def _outcome(error: BaseException) -> tuple[int, str]:
    """The exit status that an exception ends with, and what is said of it."""
    match error:
        case IdentifyError():
            return error.exit_code, f"error: {error}"
        case KeyboardInterrupt():
            return _INTERRUPTED, "interrupted"
        case BrokenPipeError():
            return _BROKEN_PIPE, ""
        case OSError():  # such as a disk that is full, at whatever was written last
            where = "" if error.filename is None else f"{error.filename}: "
            return _REFUSED, f"error: {where}{error.strerror or error}"
        case SystemExit():  # of the parser: help was printed
            return (error.code if isinstance(error.code, int) else 0), ""
        case _:
            return _BUG, f"error: this is a bug ({type(error).__name__}); {_ISSUES}"


def _answered(words: list[str]) -> int:
    """Run a subcommand and print its document, or the help that was asked for instead."""
    words = words[1:] if words[0] == JSON else words
    failure: dict[str, str] | None = None
    with answering() as (document, text):
        try:
            status = _run(words)
        except SystemExit as leaving:
            status, document = _failed(leaving), None
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - it is said
            status, message = _failed(error), _outcome(error)[1].removeprefix("error: ")
            failure = {"type": type(error).__name__, "message": message}
    if document is None:
        print(text.getvalue(), end="")
        return status
    names = (" ".join(words[:2]), *words[:1])
    named = next((name for name in names if name in COMMANDS), None)
    print(document_text({"command": named, "status": status, "error": failure, **document}))
    return status


def _run(argv: list[str]) -> int:
    if not argv:
        raise UsageError(f"no command given; {_known(_heads())}; see identify --help")
    if argv[0] in ("-V", "--version"):
        print(f"identify {own_version()}")
        answer(lambda: {"version": own_version()})
        return 0
    if argv[0] in _COMPLETION:
        _complete(argv)
    if "" in argv:  # as a path it would be the working directory, and results would go there
        raise UsageError(
            "one of the words is empty, as where a shell variable is not set: give it a value"
        )
    name, words = _named(argv)
    if name not in COMMANDS:
        print(_help(name), flush=True)
        raise SystemExit(0)
    _require_working_directory()
    with shown_warnings():
        return _parsed(words, name).run(shlex.join(["identify", *argv]))


def _parsed(words: list[str], name: str) -> Command:
    """The command of its words; where a document is asked for, what the parser says is an error."""
    if not is_asked():
        return parse_command(COMMANDS[name], words, name)
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            return parse_command(COMMANDS[name], words, name)
        except SystemExit as leaving:
            if not leaving.code:
                raise
    raise UsageError(" ".join(_FRAME.sub(" ", said.getvalue()).split()))


def _require_working_directory() -> None:
    """Raise where the folder that relative paths begin in was removed."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(
            f"the working directory is gone ({error.strerror}); cd to a folder that exists"
        ) from error


def _complete(argv: list[str]) -> NoReturn:
    """Let tyro write what completes the commands and their options in a shell."""
    if len(argv) < 2 or argv[1] not in _SHELLS.split(", "):
        raise UsageError(f"{argv[0]} takes a shell, one of {_SHELLS}, and a file")
    app = SubcommandApp()
    groups = {name: SubcommandApp() for name in _heads() if _members(name)}
    for name, group in groups.items():
        app.command(group, name=name)
    for name, kind in COMMANDS.items():
        head, _, tail = name.partition(" ")
        groups.get(head, app).command(name=tail or head)(kind)
    app.cli(prog="identify", args=argv, config=PARSING)
    raise SystemExit(0)


def _named(argv: list[str]) -> tuple[str, list[str]]:
    """The command that the first words name and the rest, or the group to print the help of."""
    name, *words = argv
    if name in _HELP:
        return "", []
    if name in COMMANDS:
        return name, words
    members = _members(name)
    if not members:
        what = "option" if name.startswith("-") else "command"
        known = (*_heads(), "--help", "--version")
        hint = did_you_mean(name, known) or f"; {_known(_heads())}"
        raise UsageError(f"unknown {what} {name!r}{hint}")
    if not words or words[0] in _HELP:
        return name, []
    if words[0] not in members:
        hint = did_you_mean(words[0], members) or f"; {_known(members)}"
        raise UsageError(f"{name}: unknown command {words[0]!r}{hint}")
    return f"{name} {words[0]}", words[1:]


def _heads() -> tuple[str, ...]:
    """The first words of the commands, each once."""
    return tuple(dict.fromkeys(name.split()[0] for name in COMMANDS))


def _members(group: str) -> list[str]:
    """Second words of the commands whose first word is that of a group."""
    return [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]


def _known(names: Iterable[str]) -> str:
    return f"commands: {', '.join(names)}"


def _help(group: str) -> str:
    """The help on all commands, or on those of a group."""
    kinds = {name: kind for name, kind in COMMANDS.items() if name.startswith(group)}
    width = max(map(len, kinds)) + 2
    first = {name: (kind.__doc__ or "").splitlines()[0] for name, kind in kinds.items()}
    lines = [
        f"usage: identify {group or '[--help] [--version]'} COMMAND ...",
        "",
        "Physically consistent identification of rigid-body inertia from robot logs.",
        "",
        "commands:",
        *(f"  {name:<{width}}{summary.rstrip('.')}" for name, summary in first.items()),
        "",
        "identify COMMAND --help lists the options of a command.",
    ]
    return "\n".join(lines)


def _say(message: str, status: int) -> int:
    with contextlib.suppress(BrokenPipeError):  # nobody may be left to read it
        say(f"identify: {message}", file=sys.stderr)
    return status


def _abandon_broken_output() -> None:
    """Let Python's own flush at exit go nowhere, where it would only fail once more."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

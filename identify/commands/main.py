"""`identify` on the command line.

Exit status: 0 when it worked (for `fit`: only with an estimate that is proved possible and
optimal), 1 for what `doctor` found or a bug, 2 for bad use or bad input, 3 when the problem cannot
be solved, 4 when there is an estimate and a finding says not to use it, 130 when interrupted, 141
when whoever read the output went away.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NoReturn

from tyro.extras import SubcommandApp

from identify.commands.add import Add
from identify.commands.check import Check
from identify.commands.command import PARSING, Command, UsageError, parse_command
from identify.commands.compare import Compare
from identify.commands.compensate import Compensate
from identify.commands.datasets import DatasetsFetch, DatasetsList, DatasetsPath
from identify.commands.doctor import Doctor, own_version
from identify.commands.export import Export
from identify.commands.fit import Fit
from identify.commands.init import Init
from identify.commands.inspect import Inspect
from identify.commands.replay import Replay
from identify.commands.report import Report
from identify.commands.shape import Shape
from identify.commands.simulate import Simulate
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
        "replay": Replay,
        "compensate": Compensate,
        "simulate": Simulate,
        "inspect": Inspect,
        "export": Export,
        "add": Add,
        "subtract": Subtract,
        "shape": Shape,
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
_ISSUES = "please report it with the lines above and, if you may, the log"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; what goes wrong is a message on standard error and an exit status.

    Args:
        argv: the words after the program's name; those of the process by default.
    """
    escape_what_cannot_be_encoded()
    try:
        status = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except IdentifyError as error:
        return _say(f"error: {error}", error.exit_code)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        _abandon_broken_output()
        return _BROKEN_PIPE
    except OSError as error:  # such as a disk that is full, at whatever was written last
        _abandon_broken_output()
        where = "" if error.filename is None else f"{error.filename}: "
        return _say(f"error: {where}{error.strerror or error}", _REFUSED)
    except SystemExit as leaving:  # of the parser: help was printed
        return leaving.code if isinstance(leaving.code, int) else 0
    except Exception as error:  # noqa: BLE001 - the last line of defence, and it hides nothing
        traceback.print_exc()
        return _say(f"error: this is a bug ({type(error).__name__}); {_ISSUES}", _BUG)
    return status


def _run(argv: list[str]) -> int:
    if not argv:
        raise UsageError(f"no command given; {_known(_heads())}; see identify --help")
    if argv[0] in ("-V", "--version"):
        print(f"identify {own_version()}")
        return 0
    if argv[0] in _COMPLETION:
        _complete(argv)
    name, words = _named(argv)
    if name not in COMMANDS:
        print(_help(name))
        return 0
    _require_working_directory()
    command = parse_command(COMMANDS[name], words, name)
    return command.run(shlex.join(["identify", *argv]))


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

"""Entry point of the `identify` command line.

Exit status: 0 for success (of `fit`: only with an estimate that is proved physically consistent and
optimal), 1 for a problem found by `doctor` or a bug, 2 for bad use or bad input, 3 if the problem
cannot be solved, 4 if there is an estimate that must not be used, 130 when interrupted, 141 if the
reader of the output closed its pipe.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from identify.commands.command import (
    PARSER_SETTINGS,
    Command,
    Outcome,
    UsageError,
    error_record,
    parse_command,
)
from identify.commands.output import error_lines, print_text, warnings_on_stderr, wrapped_lines
from identify.errors import IdentifyError, did_you_mean
from identify.texts import to_json_value

if TYPE_CHECKING:
    from rich.table import Table


class _LazyCommands(Mapping[str, type[Command]]):
    """Classes of the subcommands by name, each loaded when it is looked up."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> type[Command]:
        module, _, kind = self._places[name].partition(":")
        return getattr(import_module(f"identify.commands.{module}"), kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


COMMANDS: Mapping[str, type[Command]] = _LazyCommands(
    {
        "fit": "fit:Fit",
        "fit-arm": "fit_arm:FitArm",
        "look": "look:Look",
        "init": "init:Init",
        "check": "check:Check",
        "report": "report:Report",
        "compare": "compare:Compare",
        "design": "design:Design",
        "replay": "replay:ReplayCommand",
        "compensate": "compensate:Compensate",
        "simulate": "simulate:Simulate",
        "inspect": "inspect:Inspect",
        "body": "body:BodyCommand",
        "export": "export:ExportCommand",
        "add": "combine:Add",
        "subtract": "combine:Subtract",
        "shape": "shape:ShapeCommand",
        "study check": "study:StudyCheck",
        "study run": "study:StudyRun",
        "study table": "study:StudyTable",
        "study compare": "study:StudyCompare",
        "benchmark": "benchmark:Benchmark",
        "benchmark check": "benchmark:BenchmarkCheck",
        "datasets list": "datasets:DatasetsList",
        "datasets fetch": "datasets:DatasetsFetch",
        "datasets path": "datasets:DatasetsPath",
        "doctor": "doctor:Doctor",
    }
)
"""Subcommands by name, in the order of the help; a name may consist of two words."""

_BUG = 1
_BAD_INPUT = 2
_INTERRUPTED = 130
_BROKEN_PIPE = 141
_HELP_OPTIONS = ("-h", "--help", "help")
_JSON_OPTION = "--json"
_COMPLETION, _SHELLS = "--completion", ("bash", "fish", "zsh")

_MAX_TABLE_WIDTH = 10_000
"""Upper limit of the width of a table [characters]."""

_BUG_REPORT_REQUEST = "please report it with the lines above and, if you may, the log"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; turn exceptions into a message on standard error and an exit status.

    `argv`: the arguments after the program's name; by default those of the process.
    """
    for stream in (sys.stdout, sys.stderr):  # their encoding may lack some characters
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if argv is None else argv)
    as_json_document = _JSON_OPTION in (words[: words.index("--")] if "--" in words else words)
    words = words[1:] if words[:1] == [_JSON_OPTION] else words
    try:
        outcome = _run(words, progress=as_json_document and not sys.stderr.isatty())
        if as_json_document:
            _print_document(words, outcome)
        elif not outcome.quiet:
            sys.stdout.write(outcome.text)
            _print_lines([*outcome.lines, *map(str, outcome.files or ())])
        messages = [f"identify: {message}" for message in outcome.messages]
        print_text(*wrapped_lines(messages, sys.stderr), file=sys.stderr)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001 - it hides nothing
        return _report_error(error, words, as_json_document=as_json_document)
    return outcome.status


def _report_error(error: BaseException, words: Sequence[str], *, as_json_document: bool) -> int:
    """Print an error on standard error, and return its exit status."""
    status, message = _status_and_message(error)
    if isinstance(error, OSError) and not isinstance(error, IdentifyError):
        _discard_stdout()
    if status == _BUG and isinstance(error, Exception):
        traceback.print_exception(error)
    with contextlib.suppress(BrokenPipeError):  # nobody may be left to read it
        lines = [message] * bool(message)
        if isinstance(error, IdentifyError):
            lines = error_lines(error)
            lines[0] = f"error: {lines[0]}"
        lines[:1] = [f"identify: {line}" for line in lines[:1]]
        print_text(*wrapped_lines(lines, sys.stderr), file=sys.stderr)
        if as_json_document and status not in (0, _BROKEN_PIPE):
            record = error_record(error) | {"message": message.removeprefix("error: ")}
            if isinstance(error, SystemExit):  # the parser has printed the reason
                record = error_record(UsageError("invalid arguments; see standard error"))
            failure = Outcome(document=lambda: {"error": record}, status=status)
            _print_document(words, failure)
    return status


def _status_and_message(error: BaseException) -> tuple[int, str]:
    match error:
        case IdentifyError():
            return error.exit_code, f"error: {error}"
        case KeyboardInterrupt():
            return _INTERRUPTED, "; ".join(filter(None, ("interrupted", str(error))))
        case BrokenPipeError():
            return _BROKEN_PIPE, ""
        case OSError():  # such as a full disk
            file = "" if error.filename is None else f"{error.filename}: "
            return _BAD_INPUT, f"error: {file}{error.strerror or error}"
        case SystemExit():  # of the parser: help was printed, or a mistake
            return (error.code if isinstance(error.code, int) else 0), ""
        case _:
            return _BUG, f"error: this is a bug ({type(error).__name__}); {_BUG_REPORT_REQUEST}"


def _print_lines(lines: Iterable[str | Table]) -> None:
    """Print text and tables; tables are not truncated to the width of the terminal."""
    for line in lines:
        if isinstance(line, str):
            for part in wrapped_lines([line], sys.stdout):
                print_text(part)
            continue
        from rich.console import Console
        from rich.measure import Measurement

        console = Console(file=sys.stdout, highlight=False, markup=False)  # names may contain [ ]
        unbounded = console.options.update_width(_MAX_TABLE_WIDTH)
        console.width = max(console.width, Measurement.get(console, unbounded, line).minimum)
        with console.capture() as text:  # rich would turn a broken pipe into an exit of its own
            console.print(line)
        print(text.get().rstrip("\n"))


def _print_document(words: Sequence[str], outcome: Outcome) -> None:
    names = (" ".join(words[:2]), *words[:1])
    named = next((name for name in names if name in COMMANDS), None)
    document = {"command": named, "status": outcome.status, "error": None, **outcome.document()}
    if outcome.files is not None:
        document["files"] = outcome.files
    print(document_text(document))


def document_text(document: Mapping[str, object]) -> str:
    """Return a document as ASCII JSON, with null for numbers that are not finite."""
    text = json.dumps(document, default=to_json_value)
    return json.dumps(json.loads(text, parse_constant=lambda name: None), indent=2)


def _run(argv: list[str], *, progress: bool) -> Outcome:
    if not argv:
        raise UsageError(
            f"no command given; {_command_list(_command_groups())}; see identify --help"
        )
    if argv[0] in ("-V", "--version"):
        from identify.commands.doctor import package_version

        version = package_version()
        return Outcome(lines=[f"identify {version}"], document=lambda: {"version": version})
    if argv[0] == _COMPLETION:
        _print_completion(argv[1:])
    if "" in argv:  # as a path it would be the working directory
        raise UsageError("an argument is empty, perhaps an unset shell variable: give it a value")
    name, words = _resolve_command(argv)
    if name not in COMMANDS:
        print(_help(name), flush=True)
        raise SystemExit(0)
    _require_working_directory()
    progress = progress or (name == "init" and not sys.stderr.isatty())  # it checks a log often
    with warnings_on_stderr(progress=progress):
        command = parse_command(COMMANDS[name], words, name)
        return command.run(shlex.join(["identify", *argv]))


def _require_working_directory() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(
            f"the working directory was removed ({error.strerror}); cd to an existing folder"
        ) from error


def _print_completion(words: list[str]) -> NoReturn:
    """Print the completion script of the commands and options for a shell."""
    if len(words) != 1 or words[0] not in _SHELLS:
        raise UsageError(f"{_COMPLETION}: expected one of {', '.join(_SHELLS)}")
    from tyro.extras import SubcommandApp

    app = SubcommandApp()
    groups = {name: SubcommandApp() for name in _command_groups() if _group_members(name)}
    for name, group in groups.items():
        app.command(group, name=name)
    for name, kind in COMMANDS.items():
        head, _, tail = name.partition(" ")
        groups.get(head, app).command(name=tail or head)(kind)
    app.cli(prog="identify", args=["--tyro-write-completion", *words, "-"], config=PARSER_SETTINGS)
    raise SystemExit(0)


def _resolve_command(argv: list[str]) -> tuple[str, list[str]]:
    """Return the command named by the first words, and its arguments; or a group for help."""
    name, *words = argv
    if name in _HELP_OPTIONS:
        return "", []
    if (both := " ".join(argv[:2])) in COMMANDS:
        return both, words[1:]
    if name in COMMANDS:
        return name, words
    members = _group_members(name)
    if not members:
        kind = "option" if name.startswith("-") else "command"
        known = (*_command_groups(), "--help", "--version")
        hint = did_you_mean(name, known) or f"; {_command_list(_command_groups())}"
        raise UsageError(f"unknown {kind} {name!r}{hint}")
    if not words or words[0] in _HELP_OPTIONS:
        return name, []
    hint = did_you_mean(words[0], members) or f"; {_command_list(members)}"
    raise UsageError(f"{name}: unknown command {words[0]!r}{hint}")


def _command_groups() -> tuple[str, ...]:
    """Return the first words of the commands, each once."""
    return tuple(dict.fromkeys(name.split()[0] for name in COMMANDS))


def _group_members(group: str) -> list[str]:
    """Return the second words of the commands that begin with a group's name."""
    return [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]


def _command_list(names: Iterable[str]) -> str:
    return f"commands: {', '.join(names)}"


def _help(group: str) -> str:
    """Return the help text of all commands, or of those in a group."""
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


def _discard_stdout() -> None:
    """Redirect stdout to devnull after a broken pipe, so that Python's final flush succeeds."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

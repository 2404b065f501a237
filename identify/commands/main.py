"""`identify` on the command line.

Exit status: 0 when it worked (for `fit`: only with a certified estimate), 1 for what `doctor` found
or a bug, 2 for bad use or bad input, 3 when the problem cannot be solved, 130 when interrupted, 141
when whoever read the output went away.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import traceback
from collections.abc import Sequence

from identify.commands.arguments import parse_command
from identify.commands.command import Command
from identify.commands.doctor import Doctor
from identify.commands.errors import UsageError
from identify.commands.fit import Fit
from identify.commands.installation import own_version
from identify.commands.terminal import escape_what_cannot_be_encoded, printable
from identify.errors import IdentifyError, did_you_mean

COMMANDS: tuple[type[Command], ...] = (Fit, Doctor)
"""The subcommands, in the order of the help."""

_BUG, _REFUSED, _INTERRUPTED, _BROKEN_PIPE = 1, 2, 130, 141
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
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        _abandon_broken_output()
        return _BROKEN_PIPE
    except OSError as error:  # such as a disk that is full, at whatever was written last
        _abandon_broken_output()
        where = "" if error.filename is None else f"{error.filename}: "
        return _fail(where + (error.strerror or str(error)), _REFUSED)
    except SystemExit as leaving:  # of the parser: help was printed
        return leaving.code if isinstance(leaving.code, int) else 0
    except Exception as error:  # noqa: BLE001 - the last line of defence, and it hides nothing
        traceback.print_exc()
        return _fail(f"this is a bug ({type(error).__name__}); {_ISSUES}", _BUG)
    return status


def _run(argv: list[str]) -> int:
    kinds = {kind.__name__.lower(): kind for kind in COMMANDS}
    if not argv:
        raise UsageError(f"no command given; {_known(kinds)}; see identify --help")
    name, *words = argv
    if name in ("-h", "--help", "help"):
        print(_help(kinds))
        return 0
    if name in ("-V", "--version"):
        print(f"identify {own_version()}")
        return 0
    if name not in kinds:
        what = "option" if name.startswith("-") else "command"
        known = (*kinds, "--help", "--version")
        hint = did_you_mean(name, known) or f"; {_known(kinds)}"
        raise UsageError(f"unknown {what} {name!r}{hint}")
    command = parse_command(kinds[name], words, name)
    return command.run(shlex.join(["identify", *argv]))


def _known(kinds: dict[str, type[Command]]) -> str:
    return f"commands: {', '.join(kinds)}"


def _help(kinds: dict[str, type[Command]]) -> str:
    lines = [
        "usage: identify [--help] [--version] COMMAND ...",
        "",
        "Physically consistent identification of rigid-body inertia from robot logs.",
        "",
        "commands:",
        *(f"  {name:<10}{_summary(kind)}" for name, kind in kinds.items()),
        "",
        "identify COMMAND --help lists the options of a command.",
    ]
    return "\n".join(lines)


def _summary(kind: type[Command]) -> str:
    return (kind.__doc__ or "").splitlines()[0].rstrip(".")


def _fail(message: str, status: int) -> int:
    return _say(f"error: {message}", status)


def _say(message: str, status: int) -> int:
    with contextlib.suppress(BrokenPipeError):  # nobody may be left to read it
        print(f"identify: {printable(message)}", file=sys.stderr, flush=True)
    return status


def _abandon_broken_output() -> None:
    """Let Python's own flush at exit go nowhere, where it would only fail once more."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

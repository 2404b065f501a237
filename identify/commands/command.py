"""`Command`: what every subcommand is, and how it comes out of words; tyro reads them.

A field of a command is an option, or a word in its place where it is `Positional`; `option` says
how the help shows it. A field that is a dataclass itself is a group of options in the help.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar, get_type_hints

import tyro
from tyro.constructors import PrimitiveConstructorSpec

from identify.errors import IdentifyError, did_you_mean
from identify.lazy import defer

if TYPE_CHECKING:
    from rich.table import Table

C = TypeVar("C", bound="Command")

PARSING = (
    tyro.conf.FlagCreatePairsOff,
    tyro.conf.DisallowNone,
    tyro.conf.OmitArgPrefixes,
)
"""No `--no-quiet` beside `--quiet`, a file may be called None, and groups are no part of names."""


class UsageError(IdentifyError, ValueError):
    """The command was called with words it does not understand, or without some it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command did; `main` prints it, as text or as the document of `--json`.

    Attributes:
        text: for standard output, as it is.
        lines: lines and tables for standard output, what is not printable escaped.
        messages: lines for standard error, in both cases.
        document: makes the document's own keys; `main` adds command, status, error and files.
        files: what was written, which is printed too; None of a command that writes nothing.
        status: the exit status.
        quiet: whether lines and files are not printed.
    """

    text: str = ""
    lines: Iterable[str | Table] = ()
    messages: Iterable[str] = ()
    document: Callable[[], Mapping[str, object]] = dict
    files: Iterable[Path] | None = None
    status: int = 0
    quiet: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(ABC):
    """A subcommand: a frozen dataclass; its fields are the options, its docstring the help.

    Its name on the command line is that of its line in `main.COMMANDS`.
    """

    json: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    """Print one JSON document in place of text, an error too; docs/commands.md has its keys."""

    @abstractmethod
    def run(self, invocation: str) -> Outcome:
        """Do it.

        Raises:
            IdentifyError: with the message to show and the exit status.
        """

    @classmethod
    def words(cls, argv: Sequence[str]) -> Sequence[str]:
        """The words after its name as they are parsed; those of an option may be joined to one."""
        return argv

    def with_more(self: C, words: Sequence[str]) -> C:
        """The command with words that stand after an option, where it takes any number of them.

        Raises:
            UsageError: it does not.
        """
        raise UsageError(f"unexpected {' '.join(words)}; see --help")


def parse_command(kind: type[C], argv: Sequence[str], name: str) -> C:
    """Make a command out of the words after its name, options and others in any order.

    Raises:
        UsageError: an unknown option (the nearest one is named), or a word too many.
        SystemExit: help was asked for and printed; or, with status 2, a value is missing or wrong,
            and that was printed on standard error.
    """
    try:
        argv = kind.words(argv)
        _require_one_schema(argv)
        with _colors_as_wanted():
            command, others = tyro.cli(
                kind,
                prog=f"identify {name}",
                args=argv,
                config=PARSING,
                return_unknown_args=True,
            )
        plain = argv[argv.index("--") :] if "--" in argv else ()
        for word in others:
            if word.startswith("-") and word not in plain:
                option = word.partition("=")[0]
                hint = did_you_mean(option, _options(kind)) or f"; see identify {name} --help"
                raise UsageError(f"unknown option {option!r}{hint}")
        return command.with_more(others) if others else command
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def _options(kind: type) -> list[str]:
    """The options of a command, those of its groups too."""
    hints = get_type_hints(kind, include_extras=False)
    names = []
    for field in fields(kind):
        group = hints[field.name]
        names += (
            _options(group)
            if isinstance(group, type) and is_dataclass(group)
            else [f"--{field.name.strip('_')}"]
        )
    return [name.replace("_", "-") for name in names]


@contextmanager
def _colors_as_wanted() -> Iterator[None]:
    """Have tyro print no colors where NO_COLOR is set (no-color.org): it looks at TERM alone."""
    if not os.environ.get("NO_COLOR"):
        yield
        return
    before = os.environ.get("TERM")
    os.environ["TERM"] = "dumb"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TERM"]
        else:
            os.environ["TERM"] = before


def _require_one_schema(argv: Sequence[str]) -> None:
    words = argv[: argv.index("--")] if "--" in argv else argv
    if sum(word.partition("=")[0] == "--schema" for word in words) > 1:
        raise UsageError(
            "--schema is given more than once, and one schema is of all logs of a command: logs "
            "with schemas of their own go together in Python, identify.fit([identify.read_log(log, "
            "schema), …]); one schema names several files of a log in [streams.*]"
        )


def error_record(error: BaseException) -> dict[str, str]:
    """An error as the document of `--json` has it."""
    return {"type": type(error).__name__, "message": str(error)}


def interrupted(output: Path) -> KeyboardInterrupt:
    """The interrupt of a run that keeps what was done."""
    return KeyboardInterrupt(f"{output} keeps what was done, and the same command takes it up")


def require_workers(workers: int | None, command: str) -> None:
    """Raise `UsageError` where `--workers` is no number of processes."""
    if workers is not None and workers < 0:
        raise UsageError(f"{command}: --workers N: expected 0 or more, got {workers}")


def require_time_limit(seconds: float | None, command: str) -> None:
    """Raise `UsageError` where `--timeout` is no time."""
    if seconds is not None:
        from identify.arrays import positive

        positive(seconds, f"{command}: --timeout S", "s", UsageError)


def defer_what_no_fit_uses() -> None:
    """Keep modules of NumPy out that SciPy imports and that take long to load."""
    defer("numpy.f2py", "numpy.testing", "numpy.polynomial", "numpy.ctypeslib")


def option(
    metavar: str | None = None,
    hint: str = "",
    *,
    short: str | None = None,
    name: str | None = None,
    help: str | None = None,
) -> object:
    """How the help shows an option.

    Args:
        metavar: what stands for its value.
        hint: what is said of its default; nothing as a rule.
        short: its other name, as `-o`.
        name: on the command line, where that is no name of a field.
        help: what it means, where that is not the docstring of the field (of one line: tyro breaks
            the line where a docstring does).
    """
    aliases = (short,) if short else None
    return tyro.conf.arg(
        name=name, metavar=metavar, help_behavior_hint=hint, aliases=aliases, help=help
    )


def numbers(count: int) -> object:
    """That an option takes so many numbers and leaves the words after them alone."""

    def read(words: list[str]) -> float | tuple[float, ...]:
        try:
            values = tuple(map(float, words))
        except ValueError:
            raise ValueError(f"expected numbers, got {' '.join(map(repr, words))}") from None
        return values[0] if count == 1 else values

    return PrimitiveConstructorSpec(
        nargs=count,
        metavar="NUMBER",
        instance_from_str=read,
        is_instance=lambda value: True,
        str_from_instance=lambda value: [str(value)],
    )


Flag: TypeAlias = Annotated[bool, option()]
Number: TypeAlias = Annotated[float | None, numbers(1)]
Vector: TypeAlias = Annotated[tuple[float, float, float] | None, numbers(3)]
Repeated: TypeAlias = Annotated[tuple[str, ...], tyro.conf.UseAppendAction]
"""Every value of an option that may be given more than once."""

"""`Command`: what every subcommand is, and how it comes out of words; tyro reads them.

A field of a command is an option, or a word in its place where it is `Positional`; `option` says
how the help shows it.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar

import tyro
from tyro.constructors import PrimitiveConstructorSpec

from identify.errors import IdentifyError, did_you_mean
from identify.lazy import defer

C = TypeVar("C", bound="Command")

PARSING = (tyro.conf.FlagCreatePairsOff, tyro.conf.DisallowNone)
"""No `--no-quiet` beside `--quiet`, and a file may be called None."""


class UsageError(IdentifyError, ValueError):
    """The command was called with words it does not understand, or without some it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(ABC):
    """A subcommand: a frozen dataclass; its fields are the options, its docstring the help.

    Its name on the command line is that of its line in `main.COMMANDS`.

    Attributes:
        removed: options it had, and what to use instead.
    """

    removed: ClassVar[Mapping[str, str]] = {}

    json: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    """Print one JSON document in place of text, an error too; docs/commands.md has its keys."""

    @abstractmethod
    def run(self, invocation: str) -> int:
        """Do it, and return the exit status.

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
        UsageError: an unknown option (the nearest one is named) or one that was removed, or a word
            too many.
        SystemExit: help was asked for and printed; or, with status 2, a value is missing or wrong,
            and that was printed.
    """
    try:
        argv = kind.words(argv)
        _require_one_schema(argv)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None
    if os.environ.get("NO_COLOR"):  # https://no-color.org, which tyro does not look at
        tyro._experimental_options["ansi_codes"] = False
    with _unchecked_defaults():
        command, left = tyro.cli(
            kind,
            prog=f"identify {name}",
            args=argv,
            config=PARSING,
            return_unknown_args=True,
        )
    plain = argv[argv.index("--") :] if "--" in argv else ()
    for word in left:
        if word.startswith("-") and word not in plain:
            option = word.partition("=")[0]
            if option in kind.removed:
                raise UsageError(f"{name}: {option} was removed; {kind.removed[option]}")
            known = ["--" + field.name.rstrip("_").replace("_", "-") for field in fields(kind)]  # pyright: ignore[reportArgumentType]
            hint = did_you_mean(option, known) or f"; see identify {name} --help"
            raise UsageError(f"{name}: unknown option {option!r}{hint}")
    try:
        return command.with_more(left) if left else command
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def _require_one_schema(argv: Sequence[str]) -> None:
    words = argv[: argv.index("--")] if "--" in argv else argv
    if sum(word.partition("=")[0] == "--schema" for word in words) > 1:
        raise UsageError(
            "--schema is given more than once, and one schema is of all logs of a command: logs "
            "with schemas of their own go together in Python, identify.fit([identify.read_log(log, "
            "schema), …]); one schema names several files of a log in [streams.*]"
        )


@contextmanager
def _unchecked_defaults() -> Iterator[None]:
    """Keep tyro from holding the default of each option against its type, which a test does.

    It would load typeguard for that, which takes longer than to parse the words.
    """
    name = "typeguard"
    if name in sys.modules:
        yield
        return
    stand_in = sys.modules[name] = ModuleType(name)
    stand_in.__dict__.update(check_type=lambda value, kind: value, TypeCheckError=TypeError)
    try:
        yield
    finally:
        del sys.modules[name]


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
) -> Any:
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


def numbers(count: int) -> Any:
    """That an option takes so many numbers and leaves the words after them alone."""

    def read(words: list[str]) -> Any:
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

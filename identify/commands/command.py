"""Base class of the subcommands, and their construction from command-line arguments by tyro.

A field of a command is an option, or a positional argument if it is `Positional`; `option` holds
its text in the help. A field that is a dataclass is a group of options in the help.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar, get_args, get_type_hints

import tyro
from tyro.conf import Positional
from tyro.constructors import PrimitiveConstructorSpec

from identify.errors import IdentifyError, did_you_mean
from identify.lazy import defer_imports

if TYPE_CHECKING:
    from rich.table import Table

    from identify.studies.progress import Progress

CommandT = TypeVar("CommandT", bound="Command")

PARSER_SETTINGS = (
    tyro.conf.FlagCreatePairsOff,
    tyro.conf.DisallowNone,
    tyro.conf.OmitArgPrefixes,
    tyro.conf.HelptextFromCommentsOff,
)
"""Settings of tyro: no `--no-quiet` flags, "None" is an ordinary value, no group prefixes.

Without help texts from comments it tokenizes no source code, most of the time of parsing.
"""


class UsageError(IdentifyError, ValueError):
    """Invalid or missing command-line arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Result of a command, which `main` prints as text or as the document of `--json`.

    Attributes:
        text: raw text for standard output.
        lines: lines and tables for standard output; unprintable characters are escaped.
        messages: lines for standard error, with and without `--json`.
        document: returns the command's own keys; `main` adds command, status, error and files.
        files: the files written, which are printed too; None for a command that writes none.
        status: the exit status.
        quiet: whether lines and files are suppressed.
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
    """Subcommand: its fields are the options, and its docstring is the help text.

    Its name on the command line is its key in `main.COMMANDS`.
    """

    json: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    """Print one JSON document instead of text, also for an error (keys: docs/commands.md)."""

    @abstractmethod
    def run(self, invocation: str) -> Outcome:
        """Run the command.

        Raises `IdentifyError`: with the message to show and the exit status.
        """

    @classmethod
    def preprocess_argv(cls, argv: Sequence[str]) -> Sequence[str]:
        """Change the arguments after the command's name before they are parsed."""
        return argv

    def with_extra_positionals(self: CommandT, words: Sequence[str]) -> CommandT:
        """Return the command with the positional arguments that followed an option.

        Raises `UsageError`: the command takes a fixed number of arguments.
        """
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            if Positional in get_args(hint) and isinstance(given := getattr(self, name), tuple):
                kind = Path if isinstance(next(iter(given), None), Path) else str
                return replace(self, **{name: (*given, *map(kind, words))})
        raise UsageError(f"unexpected {' '.join(words)}; see --help")


def parse_command(kind: type[CommandT], argv: Sequence[str], name: str) -> CommandT:
    """Parse the arguments after a command's name, options and positionals in any order.

    Raises `UsageError`: an unknown option (the nearest one is named), or an unexpected argument;
    `SystemExit`: help was printed; or, with status 2, a value is missing or invalid, which was
    reported on standard error.
    """
    try:
        argv = kind.preprocess_argv(argv)
        _reject_repeated_schema(argv)
        end = argv.index("--") if "--" in argv else len(argv)
        _reject_unknown_options(argv[:end], kind, name)
        _require_counts(argv[:end], kind, name)
        with _respect_no_color():
            command, others = tyro.cli(
                kind,
                prog=f"identify {name}",
                args=argv,
                config=PARSER_SETTINGS,
                return_unknown_args=True,
            )
        for word in others:
            if word.startswith("-") and word not in argv[end:]:
                raise _unknown_option(word, kind, name)
        return command.with_extra_positionals(others) if others else command
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def _reject_unknown_options(words: Sequence[str], kind: type, name: str) -> None:
    """Raise for the first long option that a command does not have.

    The parser would report a missing argument before it.
    """
    known = [*dict(_options(kind)), "--help"]
    for word in words:
        if word.startswith("--") and word.partition("=")[0].replace("_", "-") not in known:
            raise _unknown_option(word, kind, name)


def _unknown_option(word: str, kind: type, name: str) -> UsageError:
    option = word.partition("=")[0]
    hint = did_you_mean(option, [*dict(_options(kind))]) or f"; see identify {name} --help"
    return UsageError(f"unknown option {option!r}{hint}")


def _require_counts(words: Sequence[str], kind: type, name: str) -> None:
    """Raise for an option of several numbers that has too few, too many, or another word."""
    parsers = _number_parsers(kind)
    for index, word in enumerate(words):
        if (parser := parsers.get(word.replace("_", "-"))) is None:
            continue
        after = list(
            takewhile(lambda w: _is_number(w) or not w.startswith("-"), words[index + 1 :])
        )
        numbers = list(takewhile(_is_number, after))
        extra = after[len(numbers) :][: max(0, parser.count - len(numbers))]
        surplus = len(numbers) > parser.count and not Path(numbers[parser.count]).exists()
        if len(numbers) < parser.count or surplus:
            values = " ".join((*numbers, *extra)) or "nothing"
            raise UsageError(
                f"{word}: expected {parser.count} numbers, as in {word} {parser.example}; got "
                f"{len(numbers)}: {values}; see identify {name} --help"
            )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _number_parsers(kind: type) -> dict[str, NumberParser]:
    """Return the parsers of the options of several numbers."""
    return {
        name: parser
        for name, annotations in _options(kind)
        for parser in annotations
        if isinstance(parser, NumberParser) and parser.count != 1
    }


def _options(kind: type) -> Iterator[tuple[str, list[object]]]:
    """Yield the options of a command, including those of its groups, with their annotations."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        annotations = [*_annotations(hints[field.name])]
        groups = [each for each in annotations if isinstance(each, type) and is_dataclass(each)]
        if groups:
            yield from _options(groups[0])
        else:
            yield f"--{field.name.strip('_').replace('_', '-')}", annotations


def _annotations(hint: object) -> Iterator[object]:
    """Yield a type with its metadata and those of the types that it contains."""
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for inner in get_args(hint):
        yield from _annotations(inner)


@contextmanager
def _respect_no_color() -> Iterator[None]:
    """Make tyro obey NO_COLOR (no-color.org); by itself it looks only at TERM."""
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


def _reject_repeated_schema(argv: Sequence[str]) -> None:
    words = argv[: argv.index("--")] if "--" in argv else argv
    if sum(word.partition("=")[0] == "--schema" for word in words) > 1:
        raise UsageError(
            "--schema is given more than once, but a command takes one schema for all its logs. To "
            "fit logs with different schemas together, use Python: identify.fit([identify.read_log("
            "log, schema), …]). For one log in several files, use one schema with [streams.*]"
        )


def error_record(error: BaseException) -> dict[str, str]:
    """Return the entry of an error in the document of `--json`."""
    return {"type": type(error).__name__, "message": str(error)}


@contextmanager
def progress_of_run(output: Path, *, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show the progress of a run; if it is interrupted, say how to resume it."""
    from identify.studies.progress import display_progress

    try:
        with nullcontext() if quiet else display_progress() as progress:
            yield progress
    except KeyboardInterrupt:
        raise interrupted_run_error(output) from None


def interrupted_run_error(output: Path) -> KeyboardInterrupt:
    """Return the error for an interrupted run whose partial results are kept."""
    return KeyboardInterrupt(
        f"partial results are kept in {output}; run the same command to resume"
    )


def require_workers(workers: int | None, command: str) -> None:
    """Raise `UsageError` if `--workers` is negative."""
    if workers is not None and workers < 0:
        raise UsageError(f"{command}: --workers N: expected 0 or more, got {workers}")


def require_time_limit(seconds: float | None, command: str) -> None:
    """Raise `UsageError` if `--timeout` is not a positive number."""
    if seconds is not None:
        from identify.arrays import require_positive

        require_positive(seconds, f"{command}: --timeout S", "s", UsageError)


def defer_unused_numpy_modules() -> None:
    """Defer the import of slow NumPy modules that SciPy imports and no fit uses."""
    defer_imports("numpy.f2py", "numpy.testing", "numpy.polynomial", "numpy.ctypeslib")


def option(
    metavar: str | None = None,
    hint: str = "",
    *,
    short: str | None = None,
    name: str | None = None,
    help: str | None = None,
) -> object:
    """Return the metadata by which `--help` describes an option.

    `hint`: note on its default value, usually empty; `name`: its long name, if it differs from the
    name of the field; `help`: its description, if that is too long for a docstring of one line
    (tyro would keep the line breaks of the docstring).
    """
    aliases = (short,) if short else None
    return tyro.conf.arg(
        name=name, metavar=metavar, help_behavior_hint=hint, aliases=aliases, help=help
    )


@dataclass(frozen=True)
class NumberParser(PrimitiveConstructorSpec[float | tuple[float, ...]]):
    """Parser of an option with a fixed number of numbers.

    Attributes:
        count: of the numbers.
        example: numbers of the option, with their units.
    """

    count: int = 1
    example: str = ""


def number_parser(count: int, example: str = "") -> NumberParser:
    """Return the parser of an option with exactly `count` numbers as its value.

    `example`: such numbers with their units, for errors: "1.2 1.4 [kg]".
    """

    def read(words: list[str]) -> float | tuple[float, ...]:
        try:
            values = tuple(map(float, words))
        except ValueError:
            raise ValueError(f"expected numbers, got {' '.join(map(repr, words))}") from None
        return values[0] if count == 1 else values

    return NumberParser(
        nargs=count,
        metavar="NUMBER",
        instance_from_str=read,
        is_instance=lambda value: True,
        str_from_instance=lambda value: [str(value)],
        count=count,
        example=example,
    )


SCHEMA_OPTION = option("S.toml", "(default: OUT/schema.toml, schema.toml, or a draft)")
"""Metadata of the option for the schema of logs; `drafting.schema_path` has its default."""


def choice_parser(*choices: str) -> object:
    """Return the parser of an option whose value is one of some words; errors name the nearest."""

    def read(words: list[str]) -> str:
        (word,) = words
        if word not in choices:
            hint = did_you_mean(word, choices)
            expected = " or ".join(choices)
            raise ValueError(f"expected {expected}, got {word!r}{hint}")
        return word

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="|".join(choices),
        instance_from_str=read,
        is_instance=lambda value: True,
        str_from_instance=lambda value: [str(value)],
    )


Flag: TypeAlias = Annotated[bool, option()]
Number: TypeAlias = Annotated[float | None, number_parser(1)]
Vector: TypeAlias = tuple[float, float, float] | None
GravityVector: TypeAlias = Annotated[Vector, number_parser(3, "0 0 -9.81 [m/s²]")]
Repeated: TypeAlias = Annotated[tuple[str, ...], tyro.conf.UseAppendAction]
"""All values of an option that may be given more than once."""

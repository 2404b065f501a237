"""From words on the command line to a `Command`.

tyro makes the values and the help out of the dataclass. The words are sorted before, so that logs
and options may stand in any order, and so that a mistake is named in one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, TypeVar, get_args, get_type_hints

import tyro

from identify.commands.command import Command
from identify.commands.errors import UsageError
from identify.errors import did_you_mean

C = TypeVar("C", bound=Command)

_HELP = ("-h", "--help")


@dataclass(frozen=True, slots=True)
class _Option:
    """How an option is written: its names, the long one last, and what stands after it.

    One that may be repeated keeps the values of every time; of the others the last time counts.
    """

    names: tuple[str, ...]
    metavar: str
    numeric: bool
    required: bool
    repeated: bool

    @property
    def values(self) -> int:
        return len(self.metavar.split())

    @property
    def usage(self) -> str:
        return f"{self.names[-1]} {self.metavar}".strip()


@dataclass(frozen=True, slots=True)
class _Place:
    """A word, or the last words, that stand without a name: how the help writes them."""

    metavar: str
    numeric: bool
    required: bool
    many: bool


def parse_command(kind: type[C], argv: Sequence[str], name: str) -> C:
    """Make a command out of the words after its name.

    Args:
        kind: the command.
        argv: the words.
        name: its name.

    Raises:
        UsageError: an unknown option (the nearest one is named), a missing or a wrong value.
        SystemExit: help was asked for and printed.
    """
    sorting = _Sorting(name, _options(kind), _places(kind))
    return tyro.cli(
        kind,
        prog=f"identify {name}",
        args=sorting.words(list(argv)),
        config=(tyro.conf.FlagCreatePairsOff,),
    )


@dataclass(frozen=True, slots=True)
class _Sorting:
    """Puts the words after a command's name in order, or says what is wrong with them."""

    command: str
    options: Sequence[_Option]
    places: Sequence[_Place]

    def words(self, argv: list[str]) -> list[str]:
        """The options, each once, then what is not one."""
        if any(word in _HELP for word in argv[: argv.index("--") if "--" in argv else None]):
            return ["--help"]
        given: dict[_Option, list[str]] = {}
        rest: list[str] = []
        while argv:
            word = argv.pop(0)
            if word == "--":
                rest += argv
                break
            if word.startswith("-") and word != "-" and not _is_number(word):
                option, values = self._option(word, argv)
                given[option] = [*given.get(option, []), *values] if option.repeated else values
            else:
                rest.append(word)
        self._require(given, rest)
        return [*_spell(given), "--", *rest] if rest else _spell(given)

    def _option(self, word: str, argv: list[str]) -> tuple[_Option, list[str]]:
        """An option and its values, which are taken off the words that follow."""
        known = {name: option for option in self.options for name in option.names}
        name, has_value, value = word.partition("=")
        if name not in known:
            raise self._error(f"unknown option {name!r}{_hint(name, known)}")
        option, values = known[name], [value] if has_value else []
        while not has_value and argv and len(values) < option.values:
            if argv[0] in (*known, "--"):
                break
            values.append(argv.pop(0))
        if len(values) != option.values:
            counts = {0: "no value", 1: "one value"}
            wanted = counts.get(option.values, f"{option.values} values")
            usage = f": {option.usage}" if option.values else ""
            raise self._error(f"{name} takes {wanted}{usage}; got {' '.join(values) or 'none'}")
        if option.numeric and (wrong := [value for value in values if not _is_number(value)]):
            raise self._error(f"{option.usage}: expected a number, got {wrong[0]!r}")
        return option, values

    def _require(self, given: dict[_Option, list[str]], rest: list[str]) -> None:
        self._require_places(rest)
        missing = [place.metavar for place in self.places[len(rest) :] if place.required]
        missing += [
            option.usage for option in self.options if option.required and option not in given
        ]
        if missing:
            raise self._error(f"missing {', '.join(missing)}; see identify {self.command} --help")

    def _require_places(self, rest: list[str]) -> None:
        """Refuse words that have no place, or that are no numbers where numbers stand."""
        if rest and not self.places:
            raise self._error(f"takes options only, got {' '.join(rest)}")
        many = bool(self.places) and self.places[-1].many
        if len(rest) > len(self.places) and not many:
            wanted = " ".join(place.metavar for place in self.places)
            raise self._error(f"takes {wanted}; got {' '.join(rest)}")
        for index, word in enumerate(rest):
            place = self.places[min(index, len(self.places) - 1)]
            if place.numeric and not _is_number(word):
                raise self._error(f"{place.metavar}: expected a number, got {word!r}")

    def _error(self, message: str) -> UsageError:
        return UsageError(f"{self.command}: {message}")


def _spell(given: dict[_Option, list[str]]) -> list[str]:
    words: list[str] = []
    for option, values in given.items():
        name = option.names[-1]
        # With "=", a value that begins with a dash is still a value.
        words += [f"{name}={values[0]}"] if len(values) == 1 else [name, *values]
    return words


def _hint(name: str, known: dict[str, _Option]) -> str:
    """The option that a mistyped or abbreviated one may mean."""
    longer = [other for other in known if name.startswith("--") and other.startswith(name)]
    if len(longer) == 1:
        return f"; did you mean {longer[0]!r}?"
    return did_you_mean(name, known) or f"; known: {', '.join((*known, '--help'))}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _options(kind: type[Command]) -> list[_Option]:
    """The options of a command, read off its fields; what is positional is not one."""
    options: list[_Option] = []
    for field, hint, notes in _annotated_fields(kind):
        if tyro.conf.Positional in notes:
            continue
        given = [note for note in notes if hasattr(note, "metavar")]
        aliases = tuple(name for note in given for name in note.aliases or ())
        options.append(
            _Option(
                names=(*aliases, "--" + field.name.replace("_", "-")),
                metavar=_metavar(given),
                numeric="float" in str(hint),
                required=field.default is MISSING,
                repeated=Ellipsis in get_args(get_args(hint)[0]),
            )
        )
    return options


def _places(kind: type[Command]) -> list[_Place]:
    """What stands without a name, in its order."""
    return [
        _Place(
            metavar=_metavar(notes),
            numeric="float" in str(hint),
            required=field.default is MISSING,
            many=Ellipsis in get_args(get_args(hint)[0]),
        )
        for field, hint, notes in _annotated_fields(kind)
        if tyro.conf.Positional in notes
    ]


def _metavar(notes: Sequence[object]) -> str:
    return " ".join(getattr(note, "metavar", None) or "" for note in notes).strip()


def _annotated_fields(kind: type[Command]) -> list[tuple[Field[object], object, Sequence[Any]]]:
    """The fields with their types and what the types are annotated with."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        (field, hints[field.name], getattr(hints[field.name], "__metadata__", ()))
        for field in fields(kind)  # pyright: ignore[reportArgumentType]
    ]

"""Reading and validation of TOML files, with messages that suggest corrections of names."""

from __future__ import annotations

import math
import re
import reprlib
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from identify.errors import IdentifyError, SchemaError, did_you_mean
from identify.files import read_bytes

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

ModelT = TypeVar("ModelT", bound=BaseModel)
EntryT = TypeVar("EntryT")

_MAX_DOCUMENT_BYTES = 16 * 2**20
"""Maximum size of a TOML file [bytes]; parsing needs some hundred times its size in memory."""

_MAX_LISTED_PROBLEMS = 20
"""Maximum number of problems of one file that a message lists."""


class InvalidKeyValue(ValueError):
    """Invalid value of a key, found by a check that compares several keys of its table."""

    def __init__(self, key: str, message: str) -> None:
        self.key, self.message = key, message
        super().__init__(f"{key}: {message}")


class DocumentTable(BaseModel):
    """Base of the models of TOML tables: unknown keys are rejected, values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _ShortRepr(reprlib.Repr):
    """Representation of bounded length for values of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlist = self.maxtuple = 12

    def repr_int(self, x: int, level: int) -> str:
        """Describe integers of more digits than Python converts to text, which TOML allows."""
        digits = int(abs(x).bit_length() * math.log10(2.0)) + 1
        return repr(x) if digits <= 40 else f"an integer of about {digits} digits"


def short_repr(value: object) -> str:
    """Return a representation of a value for messages: one line of bounded length."""
    text = _SHORT_REPR.repr(value)
    return text if len(text) <= _MAX_REPR_CHARS else f"{text[:_MAX_REPR_CHARS]}…"


_SHORT_REPR, _MAX_REPR_CHARS = _ShortRepr(), 300


def finite_number(value: object) -> float:
    """Validate that a value is a finite number, and return it as a float; booleans are rejected.

    Raises `ValueError`: not a finite number.
    """
    limit = sys.float_info.max
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= limit:
        return float(value)
    raise ValueError(f"expected a finite number, got {short_repr(value)}")


def numbers_validator(*shape: int) -> Callable[[object], Any]:
    """Return a validator for nested lists of finite numbers with a given shape."""
    if not shape:
        return finite_number
    count, *rest = shape
    expected = f"{count} rows of {rest[0]} numbers" if rest else f"a list of {count} numbers"

    def check(value: object) -> tuple[object, ...]:
        if isinstance(value, list | tuple) and len(value) == count:
            return tuple(map(numbers_validator(*rest), value))
        got = short_repr(value)
        if isinstance(value, list | tuple):
            got = f"{len(value)}: {got}"
        raise ValueError(f"expected {expected}, got {got}")

    return check


def unit_quaternion(value: object) -> tuple[float, ...]:
    """Validate a quaternion [x, y, z, w] of unit norm up to rounding, and normalise it.

    Raises `ValueError`: not four numbers, or not of unit norm.
    """
    quaternion = numbers_validator(4)(value)
    norm = math.hypot(*quaternion)
    if abs(norm - 1.0) > 1e-2:
        raise ValueError(
            f"expected a unit quaternion [x, y, z, w], got {list(quaternion)} of norm {norm:.3g}"
        )
    return tuple(component / norm for component in quaternion)


@dataclass(frozen=True, slots=True)
class WordCheck:
    """Check that a value is a word of a list.

    Attributes:
        known: the words.
        ignoring: pattern of characters that are ignored.
    """

    known: tuple[str, ...]
    ignoring: str = ""

    def __call__(self, value: object) -> str:
        """Return the word; raise `ValueError` for any other value."""
        word = value
        if self.ignoring and isinstance(value, str):
            word = re.sub(self.ignoring, "", value)
        if isinstance(word, str) and word in self.known:
            return word
        hint = did_you_mean(value, self.known) if isinstance(value, str) else ""
        raise ValueError(
            f"expected one of {', '.join(map(repr, self.known))}, got {short_repr(value)}{hint}"
        )


def word_validator(known: Collection[str], *, ignoring: str = "") -> BeforeValidator:
    """Return a validator for a word of a list; `ignoring` is a pattern of ignored characters."""
    return BeforeValidator(WordCheck(tuple(known), ignoring))


Number: TypeAlias = Annotated[float, BeforeValidator(finite_number)]
Vector: TypeAlias = Annotated[tuple[float, ...], BeforeValidator(numbers_validator(3))]
Quaternion: TypeAlias = Annotated[tuple[float, ...], BeforeValidator(unit_quaternion)]


def read_toml(path: Path, error: type[IdentifyError] = SchemaError) -> dict[str, Any]:
    """Read a TOML file.

    `error`: class of the error that is raised if it is not TOML.
    Raises `MissingFile`: the file does not exist; `LogError`: the file cannot be read.
    """
    content = read_bytes(path)
    if len(content) > _MAX_DOCUMENT_BYTES:
        raise error(
            f"{path}: not a TOML file: {len(content)} bytes, expected at most {_MAX_DOCUMENT_BYTES}"
        )
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not a TOML file: {problem}; save it as UTF-8") from problem
    except (ValueError, RecursionError) as problem:  # also a number of thousands of digits
        raise error(f"{path}: not a TOML file: {problem}") from problem


def _to_builtin(value: object) -> object:
    """Convert arrays and numbers of NumPy to lists and numbers of Python."""
    if isinstance(value, Mapping):
        return {key: _to_builtin(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_builtin(each) for each in value]
    tolist = getattr(value, "tolist", None)
    return value if tolist is None else tolist()


def validate(
    model: type[ModelT],
    content: Mapping[str, object],
    source: str,
    error: type[IdentifyError] = SchemaError,
) -> ModelT:
    """Validate the content of a TOML file, or of one of its tables, against a model.

    Args:
        model: model of the whole file, or of one table.
        content: the parsed TOML.
        source: file (and table) at the beginning of messages.
        error: class of the error for invalid keys or values; the message names the location of
            each, and for an unknown key the nearest known one or the table it belongs in.
    """
    try:
        return model.model_validate(_to_builtin(content))
    except ValidationError as invalid:
        details = invalid.errors(include_url=False)
        messages = (_describe_problem(detail, model) for detail in details[:_MAX_LISTED_PROBLEMS])
        problems = list(dict.fromkeys(messages))
        if len(details) > _MAX_LISTED_PROBLEMS:
            problems.append(f"{len(details) - _MAX_LISTED_PROBLEMS} more")
        raise error(f"{source}: " + "; and ".join(problems)) from invalid


def lookup(
    registry: Mapping[str, EntryT], name: str, kind: str, error: type[IdentifyError] = SchemaError
) -> EntryT:
    """Return the entry of a registry by its name; unknown names raise `error` with a suggestion.

    `kind` is that of the entries for the message: "shape", "estimator", ….
    """
    if name in registry:
        return registry[name]
    hint = did_you_mean(str(name), registry)
    raise error(f"no {kind} {short_repr(name)} among {', '.join(registry)}{hint}")


def table_prefix(location: tuple[str | int, ...]) -> str:
    """Format the heading of a TOML table for messages, as `[body] ` or `[[loads]] 2: `."""
    match location:
        case ():
            return ""
        case (str(name), int(index), *_):
            return f"[[{name}]] {index + 1}: "
        case _:
            return f"[{'.'.join(map(str, location))}] "


def _describe_problem(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """Describe a validation error for a message; an unknown key gets a suggestion."""
    location, context = detail["loc"], detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            table, _, table_model = _resolve_location(location[:-1], model)
            key = str(location[-1])
            hint = _suggest_key(key, table_model, model)
            return f"{table_prefix(table)}unknown key {short_repr(key)}{hint}"
        case "missing":
            table, _, table_model = _resolve_location(location[:-1], model)
            if _table_model_of(table_model, location[-1]) is not None:
                return f"the table [{'.'.join(map(str, location))}] is missing"
            return f"{table_prefix(table)}the key {location[-1]!r} is missing"
        case "tuple_type" | "list_type" if _resolve_location(location, model)[1] == "":
            return f"expected tables [[{location[-1]}]], got {short_repr(detail['input'])}"
        case "value_error" if isinstance(wrong := context["error"], InvalidKeyValue):
            table, _, _ = _resolve_location(location, model)
            return f"{table_prefix(table)}{wrong.key}: {wrong.message}"
        case "value_error":
            message = str(context["error"])
        case "model_type" | "model_attributes_type" | "dict_type":
            message = f"expected a table, got {short_repr(detail['input'])}"
        case _:
            text, got = detail["msg"], short_repr(detail["input"])
            message = f"{text[:1].lower()}{text[1:]}, got {got}"
    table, key, _ = _resolve_location(location, model)
    return f"{table_prefix(table)}{f'{key}: ' if key else ''}{message}"


def _resolve_location(
    location: tuple[str | int, ...], model: type[BaseModel]
) -> tuple[tuple[str | int, ...], str, type[BaseModel]]:
    """Split a location into its table, the key in it ("" for the table itself) and its model."""
    table: tuple[str | int, ...] = ()
    for part in location:
        if isinstance(part, int):
            table = (*table, part)
            continue
        inner = _table_model_of(model, part)
        if inner is None:
            return table, part, model
        table, model = (*table, part), inner
    return table, "", model


def _suggest_key(key: str, table_model: type[BaseModel], file_model: type[BaseModel]) -> str:
    """Return the nearest known key of the same table, or the other table that has the key."""
    known = _key_names(table_model)
    if hint := did_you_mean(key, known):
        return hint
    for place, other in iterate_tables(file_model):
        if key in _key_names(other):
            return f"; it belongs in {place}" if place else "; it belongs on top"
    return f"; known keys are {', '.join(known) or 'none'}"


def _key_names(model: type[BaseModel]) -> list[str]:
    """Return the names of a model's keys as users write them."""
    fields = model.model_fields.items()
    return [field.alias or name for name, field in fields if not field.exclude]


def iterate_tables(
    model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield every table of the file with its heading, the whole file first."""
    yield table_prefix(path).strip(), model
    for key in _key_names(model):
        if (inner := _table_model_of(model, key)) is not None:
            yield from iterate_tables(inner, (*path, key))


def _table_model_of(model: type[BaseModel], key: str | int) -> type[BaseModel] | None:
    """Return the model of the table, or of the list of tables, of a key; None if it has none."""
    for name, field in model.model_fields.items():
        if key == (field.alias or name):
            kinds = [field.annotation]
            while kinds:
                kind = kinds.pop()
                if isinstance(kind, type) and issubclass(kind, BaseModel):
                    return kind
                kinds.extend(get_args(kind))
    return None

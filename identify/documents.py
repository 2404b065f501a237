"""Files that people write (TOML), checked key by key, and names that they may mistype."""

from __future__ import annotations

import math
import re
import reprlib
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from identify.errors import IdentifyError, SchemaError, did_you_mean
from identify.files import read_bytes

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

_LARGEST_DOCUMENT = 16 * 2**20
"""Bytes of a file that a person writes; reading TOML takes some hundred times its size."""

_MOST_SAID = 20
"""Problems of one file that a message names."""


Spell: TypeAlias = Callable[[tuple[str | int, ...], str], str]
"""What a message calls a key of a table, or, with an empty key, what it begins with there."""


class WrongValue(ValueError):
    """What is wrong with one key of a table; raised by a check of the whole table."""

    def __init__(self, key: str, message: str) -> None:
        self.key, self.message = key, message
        super().__init__(f"{key}: {message}")


class Table(BaseModel):
    """A table of a document: its keys are known ones and its values do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Short(reprlib.Repr):
    """Values as messages show them: a file may hold anything of any length."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlist = self.maxtuple = 12

    def repr_int(self, x: int, level: int) -> str:
        """Python does not spell integers of thousands of digits, which TOML has in hexadecimal."""
        digits = int(abs(x).bit_length() * math.log10(2.0)) + 1
        return repr(x) if digits <= 40 else f"an integer of about {digits} digits"


def shown(value: object) -> str:
    """A value as a message shows it: on one line, cut where it is long."""
    text = _SHORT.repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


_SHORT, _LONGEST_SHOWN = _Short(), 300


def finite(value: object) -> float:
    """A finite number, and no boolean or text that looks like one.

    Raises:
        ValueError: it is another thing.
    """
    most = sys.float_info.max
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= most:
        return float(value)
    raise ValueError(f"expected a finite number, got {shown(value)}")


def numbers(*shape: int) -> Callable[[object], Any]:
    """A check of lists of a shape, rows first, and of each of their numbers; it gives tuples."""
    if not shape:
        return finite
    count, *rest = shape
    what = f"{count} rows of {rest[0]} numbers" if rest else f"a list of {count} numbers"

    def check(value: object) -> tuple[object, ...]:
        if isinstance(value, list | tuple) and len(value) == count:
            return tuple(map(numbers(*rest), value))
        got = shown(value)
        if isinstance(value, list | tuple):
            got = f"{len(value)}: {got}"
        raise ValueError(f"expected {what}, got {got}")

    return check


def unit_quaternion(value: object) -> tuple[float, ...]:
    """Four numbers [x, y, z, w] of norm one but for rounding, brought to it.

    Raises:
        ValueError: they are not.
    """
    quaternion = numbers(4)(value)
    norm = math.hypot(*quaternion)
    if abs(norm - 1.0) > 1e-2:
        raise ValueError(
            f"expected a unit quaternion [x, y, z, w], got {list(quaternion)} of norm {norm:.3g}"
        )
    return tuple(component / norm for component in quaternion)


def one_of(known: Collection[str], *, ignoring: str = "") -> BeforeValidator:
    """A check for one of a few words; `ignoring` is a pattern of characters that do not matter."""

    def check(value: object) -> str:
        word = re.sub(ignoring, "", value) if ignoring and isinstance(value, str) else value
        if isinstance(word, str) and word in known:
            return word
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise ValueError(f"expected one of {', '.join(map(repr, known))}, got {shown(value)}{hint}")

    return BeforeValidator(check)


Number: TypeAlias = Annotated[float, BeforeValidator(finite)]
Vector: TypeAlias = Annotated[tuple[float, ...], BeforeValidator(numbers(3))]
Quaternion: TypeAlias = Annotated[tuple[float, ...], BeforeValidator(unit_quaternion)]


def read_toml(path: Path, error: type[IdentifyError] = SchemaError) -> dict[str, Any]:
    """The tables of a TOML file.

    Args:
        path: the file, in UTF-8.
        error: what is raised where it is not TOML.

    Raises:
        MissingFile: there is no such file.
        LogError: it cannot be read.
    """
    content = read_bytes(path)
    if len(content) > _LARGEST_DOCUMENT:
        raise error(
            f"{path}: not a TOML file: {len(content)} bytes, and {_LARGEST_DOCUMENT} are the most"
        )
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not a TOML file: {problem}; save it as UTF-8") from problem
    except (ValueError, RecursionError) as problem:  # also a number of thousands of digits
        raise error(f"{path}: not a TOML file: {problem}") from problem


def _plain(value: object) -> object:
    """A value as TOML gives it: an array or a number of NumPy as Python's own."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    tolist = getattr(value, "tolist", None)
    return value if tolist is None else tolist()


def validate(
    model: type[M],
    content: Mapping[str, object],
    where: str,
    error: type[IdentifyError] = SchemaError,
    spell: Spell | None = None,
) -> M:
    """The document in a mapping of its keys.

    Args:
        model: of the whole file, or of one table.
        content: as TOML gives it.
        where: the file (and table), which begin the message.
        error: what is raised where a key or a value is wrong; the message names each with its
            place, and for an unknown key the nearest known one or the table it belongs in.
        spell: what messages call keys that are no TOML's; checks of `model` get it as context.
    """
    try:
        return model.model_validate(_plain(content), context=spell)
    except ValidationError as found:
        details = found.errors(include_url=False)
        said = (_explain(detail, model, spell or spell_key) for detail in details[:_MOST_SAID])
        problems = list(dict.fromkeys(said))
        if len(details) > _MOST_SAID:
            problems.append(f"{len(details) - _MOST_SAID} more")
        raise error(f"{where}: " + "; and ".join(problems)) from found


def lookup(
    registry: Mapping[str, T], name: str, what: str, error: type[IdentifyError] = SchemaError
) -> T:
    """The entry of a registry.

    Args:
        registry: entries by name.
        name: as a person wrote it.
        what: "shape", "estimator", …, for the message.
        error: what is raised where there is none of that name; the nearest is named.
    """
    if name in registry:
        return registry[name]
    raise error(
        f"no {what} {shown(name)} among {', '.join(registry)}{did_you_mean(str(name), registry)}"
    )


def spell_place(location: tuple[str | int, ...]) -> str:
    """The place of a table as it stands in the file: `[body] `, or `[[loads]] 2: `, from one on."""
    match location:
        case ():
            return ""
        case (str(name), int(index), *_):
            return f"[[{name}]] {index + 1}: "
        case _:
            return f"[{'.'.join(map(str, location))}] "


def spell_key(table: tuple[str | int, ...], key: str) -> str:
    """A key as it stands in the file, `[body] name`; without one as `spell_place`."""
    return spell_place(table) + key


def _explain(detail: ErrorDetails, model: type[BaseModel], spell: Spell) -> str:
    location, context = detail["loc"], detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            table, _, here = _resolve(location[:-1], model)
            key = str(location[-1])
            return f"{spell(table, '')}unknown key {shown(key)}{_nearest(key, here, model)}"
        case "missing":
            table, _, here = _resolve(location[:-1], model)
            if _table_in(here, location[-1]) is not None:
                return f"the table [{'.'.join(map(str, location))}] is missing"
            return f"{spell(table, '')}the key {location[-1]!r} is missing"
        case "tuple_type" | "list_type" if _resolve(location, model)[1] == "":
            return f"expected tables [[{location[-1]}]], got {shown(detail['input'])}"
        case "value_error" if isinstance(wrong := context["error"], WrongValue):
            return f"{spell(_resolve(location, model)[0], wrong.key)}: {wrong.message}"
        case "value_error":
            message = str(context["error"])
        case "model_type" | "model_attributes_type" | "dict_type":
            message = f"expected a table, got {shown(detail['input'])}"
        case _:
            said, got = detail["msg"], shown(detail["input"])
            message = f"{said[:1].lower()}{said[1:]}, got {got}"
    table, key, _ = _resolve(location, model)
    return f"{spell(table, key)}: {message}" if key else f"{spell(table, '')}{message}"


def _resolve(
    location: tuple[str | int, ...], model: type[BaseModel]
) -> tuple[tuple[str | int, ...], str, type[BaseModel]]:
    """The table that a location is in, the key in it ("" for the table itself), its model."""
    table: tuple[str | int, ...] = ()
    for part in location:
        if isinstance(part, int):
            table = (*table, part)
            continue
        inner = _table_in(model, part)
        if inner is None:
            return table, part, model
        table, model = (*table, part), inner
    return table, "", model


def _nearest(key: str, here: type[BaseModel], whole: type[BaseModel]) -> str:
    """The nearest known key of the same table, or else the other table that has it."""
    known = _keys(here)
    if hint := did_you_mean(key, known):
        return hint
    for place, other in _tables(whole):
        if key in _keys(other):
            return f"; it belongs in {place}" if place else "; it belongs on top"
    return f"; known keys are {', '.join(known) or 'none'}"


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _tables(
    model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[str, type[BaseModel]]]:
    """Every table of the file with its place as written, the whole file first."""
    yield spell_place(path).strip(), model
    for key in _keys(model):
        if (inner := _table_in(model, key)) is not None:
            yield from _tables(inner, (*path, key))


def _table_in(model: type[BaseModel], key: str | int) -> type[BaseModel] | None:
    """The model of the table, or of each of the tables, that a key holds."""
    for name, field in model.model_fields.items():
        if key == (field.alias or name):
            kinds = [field.annotation]
            while kinds:
                kind = kinds.pop()
                if isinstance(kind, type) and issubclass(kind, BaseModel):
                    return kind
                kinds.extend(get_args(kind))
    return None

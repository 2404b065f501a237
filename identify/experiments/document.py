"""The study file as it is written: TOML, its tables checked key by key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from identify.errors import LogError, StudyError, did_you_mean
from identify.experiments.grids import expand
from identify.experiments.options import Options
from identify.experiments.registries import by_name
from identify.files import read_bytes

O = TypeVar("O", bound=Options)
T = TypeVar("T")

Entry: TypeAlias = dict[str, Any] | str
"""A table with its `kind`, or the kind alone where there is nothing to add."""

_MOST_COMBINATIONS = 100_000
"""Entries one table may expand to: more is most likely a slip."""


class StudyDocument(BaseModel):
    """A study file.

    Attributes:
        name: of the study.
        seed: from which all that is random is made.
        seeds: how many noises for each log and corruption, or their numbers.
        metrics: names; all where not given.
        cutoff_hz: of the low-pass [Hz]; chosen for each log where not given.
        logs, corruptions, estimators: tables, expanded elsewhere.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[StrictStr, Field(min_length=1)]
    seed: Annotated[StrictInt, Field(ge=0)]
    seeds: (
        Annotated[StrictInt, Field(ge=1, le=1_000_000)] | list[Annotated[StrictInt, Field(ge=0)]]
    ) = 1
    metrics: list[StrictStr] | None = None
    cutoff_hz: Annotated[float, Field(strict=True, gt=0.0, allow_inf_nan=False)] | None = None
    logs: list[Entry]
    corruptions: list[Entry] = ["none"]
    estimators: list[Entry]


def read_document(path: Path) -> StudyDocument:
    """The study file, its top level checked.

    Raises:
        StudyError: no such file, not TOML, or a key or value that is not one of a study.
    """
    try:
        content = tomllib.loads(read_bytes(path).decode("utf-8-sig"))
    except LogError as error:
        raise StudyError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path}: not a TOML file: {error}") from error
    return parse_document(content, str(path))


def parse_document(content: Mapping[str, Any], where: str) -> StudyDocument:
    """The document from TOML's dictionaries.

    Raises:
        StudyError: a key or value that is not one of a study.
    """
    try:
        return StudyDocument.model_validate(dict(content))
    except ValidationError as error:
        raise StudyError(f"{where}: {explain(error, StudyDocument)}") from error


def tables(entries: list[Entry], key: str, where: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Each entry as a table, with the words that say where it stands.

    Raises:
        StudyError: there is none.
    """
    if not entries:
        raise StudyError(f"{where}: {key} = []: an empty grid; a study needs at least one")
    for number, entry in enumerate(entries, 1):
        table = {"kind": entry} if isinstance(entry, str) else dict(entry)
        yield table, f"{where}: [[{key}]] no. {number}"


def settings_of(
    table: Mapping[str, Any], registry: Mapping[str, type[O]], what: str, where: str
) -> list[O]:
    """Every combination of the options in one table.

    Args:
        table: with the key `kind`.
        registry: of the concept.
        what: the concept's name, for messages.
        where: file and table, for messages.

    Raises:
        StudyError: unknown kind or key (the nearest is named), wrong value, empty list.
    """
    options = dict(table)
    kind = options.pop("kind", None)
    if not isinstance(kind, str):
        raise StudyError(f"{where}: the key 'kind' is missing; one of {', '.join(registry)}")
    model = located(lambda: by_name(registry, kind, what), where)
    found: list[O] = []
    for combination in located(lambda: list(bounded(expand(options, model))), where):
        try:
            found.append(model.model_validate(combination))
        except ValidationError as error:
            raise StudyError(f"{where} ({kind}): {explain(error, model)}") from error
    return found


def located(act: Callable[[], T], where: str) -> T:
    """What `act` returns; its `StudyError` begins with where in the file it arose.

    Raises:
        StudyError: as `act` does.
    """
    try:
        return act()
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from error


def bounded(combinations: Iterator[T]) -> Iterator[T]:
    """The combinations, as long as they are not too many to be meant.

    Raises:
        StudyError: they are.
    """
    for number, combination in enumerate(combinations):
        if number == _MOST_COMBINATIONS:
            raise StudyError(f"the lists make more than {_MOST_COMBINATIONS} combinations")
        yield combination


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """What pydantic found, in words: each key with what was got and expected."""
    return "; and ".join(dict.fromkeys(_one(detail, model) for detail in error.errors()))


def _one(detail: Any, model: type[BaseModel]) -> str:
    key = str(detail["loc"][0]) if detail["loc"] else ""
    known = [field.alias or name for name, field in model.model_fields.items()]
    match detail["type"]:
        case "extra_forbidden" if len(detail["loc"]) == 1:
            hint = did_you_mean(key, known) or f"; known keys are {', '.join(known) or 'none'}"
            return f"unknown key {key!r}{hint}"
        case "missing" if len(detail["loc"]) == 1:
            return f"the key {key!r} is missing"
        case "value_error":
            return f"{key}: {detail['ctx']['error']}"
        case _:
            message = detail["msg"][:1].lower() + detail["msg"][1:]
            return f"{key}: {message}, got {detail['input']!r}"

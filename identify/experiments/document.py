"""The study file as it is written: TOML, its tables checked key by key, its lists expanded.

A list where one value is expected is a list of alternatives, and several lists make every
combination:

    [[logs]]
    kind = "synthetic"
    mass = [0.1, 1.0, 10.0]      # three
    duration = [5.0, 20.0]       # times two: six combinations

An option that is a vector itself (three numbers, a list of names) takes a list of lists as its
alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from identify.documents import lookup, read_toml, validate
from identify.errors import LogError, StudyError
from identify.experiments.options import Options

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
        seeds: how many noises for each log and perturbation, or their numbers.
        metrics: names; all where not given.
        cutoff_hz: of the low-pass [Hz]; chosen for each log where not given.
        logs, perturbations, estimators: tables, expanded elsewhere.
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
    perturbations: list[Entry] = ["none"]
    estimators: list[Entry]


def read_document(path: Path) -> StudyDocument:
    """The study file, its top level checked.

    Raises:
        StudyError: no such file, not TOML, or a key or value that is not one of a study.
    """
    try:
        return parse_document(read_toml(path, StudyError), str(path))
    except LogError as error:  # it cannot be read
        raise StudyError(str(error)) from error


def parse_document(content: Mapping[str, Any], where: str) -> StudyDocument:
    """The document from TOML's dictionaries; `corruptions`, the older name, is read as well.

    Raises:
        StudyError: a key or value that is not one of a study.
    """
    tables = dict(content)
    if "corruptions" in tables:
        if "perturbations" in tables:
            raise StudyError(
                f"{where}: has perturbations, and corruptions, which is their older name; keep one"
            )
        tables["perturbations"] = tables.pop("corruptions")
    return validate(StudyDocument, tables, where, StudyError)


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
    """Every combination of the options in one table, the last key moving fastest.

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
    model = located(lambda: lookup(registry, kind, what, StudyError), where)
    axes = [located(lambda k=k, v=v: _alternatives(k, v, model), where) for k, v in options.items()]
    found = [dict(zip(options, each, strict=True)) for each in combinations(axes, where)]
    return [validate(model, each, f"{where} ({kind})", StudyError) for each in found]


def located(act: Callable[[], T], where: str) -> T:
    """What `act` returns; its `StudyError` begins with where in the file it arose.

    Raises:
        StudyError: as `act` does.
    """
    try:
        return act()
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from error


def combinations(axes: Iterable[Iterable[T]], where: str) -> list[tuple[T, ...]]:
    """Every combination of the alternatives, as long as they are not too many to be meant.

    Raises:
        StudyError: they are.
    """
    found: list[tuple[T, ...]] = []
    for combination in product(*axes):
        if len(found) == _MOST_COMBINATIONS:
            raise StudyError(f"{where}: the lists make more than {_MOST_COMBINATIONS} combinations")
        found.append(combination)
    return found


def _alternatives(key: str, value: Any, model: type[Options]) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    field = model.model_fields.get(key)
    is_vector = field is not None and _holds_a_tuple(field.annotation)
    if is_vector and not any(isinstance(entry, list) for entry in value):
        return [tuple(value)]
    if not value:
        raise StudyError(f"{key} = []: an empty grid; give it a value, or leave the key out")
    return [tuple(entry) if isinstance(entry, list) else entry for entry in value]


def _holds_a_tuple(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return any(map(_holds_a_tuple, get_args(annotation)))
    return annotation is tuple or get_origin(annotation) is tuple

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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from math import prod
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from identify.documents import lookup, validate
from identify.errors import StudyError
from identify.experiments.options import Options, Positive

O = TypeVar("O", bound=Options)
T = TypeVar("T")

Entry: TypeAlias = dict[str, Any] | str
"""A table with its `kind`, or the kind alone where there is nothing to add."""

Seed: TypeAlias = Annotated[StrictInt, Field(ge=0, lt=2**64)]

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
        timeout: seconds that a cell may take; any time where not given.
        logs, perturbations, estimators: tables, expanded elsewhere.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[StrictStr, Field(min_length=1)]
    seed: Seed
    seeds: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | list[Seed] = 1
    metrics: list[StrictStr] | None = None
    cutoff_hz: Positive | None = None
    timeout: Positive | None = None
    logs: list[Entry]
    perturbations: list[Entry] = ["none"]
    estimators: list[Entry]


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
    with located(where):
        model = lookup(registry, kind, what, StudyError)
        axes = [_alternatives(key, value, model) for key, value in options.items()]
    return [
        validate(model, dict(zip(options, each, strict=True)), f"{where} ({kind})", StudyError)
        for each in combinations(axes, where)
    ]


@contextmanager
def located(where: str) -> Iterator[None]:
    """A `StudyError` that arises within begins with where in the file it did."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from error


def combinations(axes: Sequence[Sequence[T]], where: str) -> list[tuple[T, ...]]:
    """Every combination of the alternatives, as long as they are not too many to be meant.

    Raises:
        StudyError: they are.
    """
    if prod(map(len, axes)) > _MOST_COMBINATIONS:
        raise StudyError(f"{where}: the lists make more than {_MOST_COMBINATIONS} combinations")
    return list(product(*axes))


def _alternatives(key: str, value: Any, model: type[Options]) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    if not any(isinstance(entry, list) for entry in value) and key in model.model_fields:
        kind = model.model_fields[key].annotation
        if any(get_origin(each) is tuple for each in (kind, *get_args(kind))):
            return [tuple(value)]
    if not value:
        raise StudyError(f"{key} = []: an empty grid; give it a value, or leave the key out")
    return [tuple(entry) if isinstance(entry, list) else entry for entry in value]

"""Grids of a study file: a list where one value is expected is a list of alternatives.

    [[logs]]
    kind = "synthetic"
    mass = [0.1, 1.0, 10.0]      # three
    duration = [5.0, 20.0]       # times two: six combinations

An option that is a vector itself (three numbers, a list of names) takes a list of lists as its
alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from types import UnionType
from typing import Any, Union, get_args, get_origin

from identify.errors import StudyError
from identify.experiments.options import Options


def expand(settings: Mapping[str, Any], model: type[Options]) -> Iterator[dict[str, Any]]:
    """Every combination of the alternatives, the last key of the table moving fastest.

    Args:
        settings: keys and values of one table of the study file.
        model: what they are options of.

    Raises:
        StudyError: a list is empty.
    """
    axes = [_alternatives(key, value, model) for key, value in settings.items()]
    for combination in product(*axes):
        yield dict(zip(settings, combination, strict=True))


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

"""Sizes of shapes: fields of a dataclass that say their meaning and unit, and are checked."""

from __future__ import annotations

from dataclasses import MISSING, Field, field, fields
from typing import Any, NamedTuple

from identify.errors import ModelError

_SMALLEST, _LARGEST = 1e-60, 1e60
"""Sizes whose fifth powers are still ordinary numbers."""

UNIT = "m"
"""Every size of a shape is a length."""


class Size(NamedTuple):
    """A size that a shape is built from, in the order it is given.

    Attributes:
        name: name of the field.
        meaning: what it measures.
        unit: its unit.
    """

    name: str
    meaning: str
    unit: str


def size(meaning: str) -> Any:
    """A dataclass field that holds a length [m], positive and finite."""
    return field(metadata={"meaning": meaning})


def sizes_of(shape: Any) -> tuple[Size, ...]:
    """The sizes of a shape or of a class of shapes, in the order of its constructor."""
    return tuple(
        Size(entry.name, entry.metadata["meaning"], UNIT)
        for entry in fields(shape)
        if _is_size(entry)
    )


def check_sizes(shape: Any) -> None:
    """Makes every size of a new shape a float.

    Raises:
        ModelError: a size is no number, not finite, not positive, or beyond 1e±60 m.
    """
    for name, meaning, unit in sizes_of(shape):
        where = f"{type(shape).__name__}: {name} ({meaning})"
        value = positive(getattr(shape, name), where, unit)
        if not _SMALLEST < value < _LARGEST:
            raise ModelError(
                f"{where}: expected a length from {_SMALLEST:g} to {_LARGEST:g} m, got {value:g}"
            )
        object.__setattr__(shape, name, value)


def positive(value: Any, what: str, unit: str) -> float:
    """The value as a float.

    Raises:
        ModelError: no number, not finite, or not positive.
    """
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: expected a number [{unit}], got {value!r}") from error
    if not 0.0 < number < float("inf"):
        raise ModelError(f"{what}: expected a positive, finite number [{unit}], got {number:g}")
    return number


def _is_size(entry: Field[Any]) -> bool:
    return "meaning" in entry.metadata and entry.default is MISSING

"""Types of the values in a schema, with messages that say what was expected."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from identify.errors import did_you_mean


class Section(BaseModel):
    """A table of the schema: its keys are known ones and its values do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Column: TypeAlias = Annotated[str | int, BeforeValidator(lambda value: _column(value))]
"""A column by name or by zero-based number."""


def _column(value: object) -> str | int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError(f"expected a column's name or its zero-based number, got {value!r}")


def _columns(*counts: int) -> BeforeValidator:
    """A list of as many different columns as one of `counts`."""
    wanted = " or ".join(map(str, counts))

    def check(value: object) -> tuple[str | int, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"expected a list of {wanted} columns, got {value!r}")
        if len(value) not in counts:
            raise ValueError(f"expected {wanted} columns, got {len(value)}: {list(value)}")
        columns = tuple(_column(item) for item in value)
        twice = [column for i, column in enumerate(columns) if column in columns[:i]]
        if twice:
            raise ValueError(f"column {twice[0]!r} is named twice in {list(columns)}")
        return columns

    return BeforeValidator(check)


ColumnsX3: TypeAlias = Annotated[tuple[str | int, ...], _columns(3)]
ColumnsX4: TypeAlias = Annotated[tuple[str | int, ...], _columns(4)]
ColumnsUpTo3: TypeAlias = Annotated[tuple[str | int, ...], _columns(1, 2, 3)]
ColumnsMatrix: TypeAlias = Annotated[tuple[str | int, ...], _columns(9, 16)]

Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _numbers(count: int) -> BeforeValidator:
    def check(value: object) -> tuple[float, ...]:
        if not isinstance(value, list | tuple) or len(value) != count:
            raise ValueError(f"expected {count} numbers, got {value!r}")
        return tuple(map(_finite, value))

    return BeforeValidator(check)


def _finite(value: object) -> float:
    most = sys.float_info.max
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= most:
        return float(value)
    raise ValueError(f"expected finite numbers, got {value!r} among them")


def _unit(value: tuple[float, ...]) -> tuple[float, ...]:
    norm = math.hypot(*value)
    if abs(norm - 1.0) > 1e-2:
        raise ValueError(
            f"expected a unit quaternion [x, y, z, w], got {list(value)} of norm {norm:.3g}"
        )
    return tuple(component / norm for component in value)


Vector: TypeAlias = Annotated[tuple[float, float, float], _numbers(3)]
Quaternion: TypeAlias = Annotated[
    tuple[float, float, float, float], BeforeValidator(_unit), _numbers(4)
]


def choice(known: Collection[str], *, ignoring: str = "") -> BeforeValidator:
    """One of a few words; `ignoring` is a pattern of characters that do not matter."""

    def check(value: object) -> str:
        word = re.sub(ignoring, "", value) if ignoring and isinstance(value, str) else value
        if isinstance(word, str) and word in known:
            return word
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise ValueError(f"expected one of {', '.join(map(repr, known))}, got {value!r}{hint}")

    return BeforeValidator(check)

"""Types of the values in a simulation's file, with messages that say what was expected."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from identify.errors import did_you_mean

SIX = ("xx", "xy", "xz", "yy", "yz", "zz")
"""Entries of a symmetric 3×3 matrix, by name."""


class Table(BaseModel):
    """A table of the file: its keys are known ones and its values do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def finite(value: object) -> float:
    """A finite number, and no boolean or text that looks like one."""
    most = sys.float_info.max
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= most:
        return float(value)
    raise ValueError(f"expected a finite number, got {value!r}")


def _numbers(value: object, count: int) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or len(value) != count:
        got = f"{len(value)}: {value!r}" if isinstance(value, list | tuple) else repr(value)
        raise ValueError(f"expected a list of {count} numbers, got {got}")
    return tuple(map(finite, value))


def _rows(value: object, count: int) -> tuple[tuple[float, ...], ...]:
    if not isinstance(value, list | tuple) or len(value) != count:
        got = f"{len(value)} entries" if isinstance(value, list | tuple) else repr(value)
        raise ValueError(f"expected {count} rows of {count} numbers, got {got}")
    return tuple(_numbers(row, count) for row in value)


def _unit(value: object) -> tuple[float, ...]:
    quaternion = _numbers(value, 4)
    norm = math.hypot(*quaternion)
    if abs(norm - 1.0) > 1e-2:
        raise ValueError(
            f"expected a unit quaternion [x, y, z, w], got {list(quaternion)} of norm {norm:.3g}"
        )
    return tuple(component / norm for component in quaternion)


def _inertia(value: object) -> tuple[tuple[float, ...], ...]:
    """Three rows, or a table of the six entries by name: a bare list of six has many orders."""
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in SIX]
        if unknown:
            raise ValueError(
                f"unknown entry {unknown[0]!r}; expected {', '.join(SIX)}"
                f"{did_you_mean(str(unknown[0]), SIX)}"
            )
        missing = [key for key in SIX if key not in value]
        if missing:
            raise ValueError(f"no entry {missing[0]!r}; expected {', '.join(SIX)}")
        xx, xy, xz, yy, yz, zz = (finite(value[key]) for key in SIX)
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    if isinstance(value, list | tuple) and len(value) == 6:
        raise ValueError(
            "six numbers have no order that all agree on; write three rows of three, or name them: "
            "{ xx = ..., xy = ..., xz = ..., yy = ..., yz = ..., zz = ... }"
        )
    return _rows(value, 3)


Number: TypeAlias = Annotated[float, BeforeValidator(finite)]
Mass: TypeAlias = Annotated[float, Field(gt=0.0), BeforeValidator(finite)]
Vector: TypeAlias = Annotated[tuple[float, ...], BeforeValidator(lambda value: _numbers(value, 3))]
TenNumbers: TypeAlias = Annotated[
    tuple[float, ...], BeforeValidator(lambda value: _numbers(value, 10))
]
Quaternion: TypeAlias = Annotated[tuple[float, ...], BeforeValidator(_unit)]
Inertia: TypeAlias = Annotated[tuple[tuple[float, ...], ...], BeforeValidator(_inertia)]
SixRows: TypeAlias = Annotated[
    tuple[tuple[float, ...], ...], BeforeValidator(lambda value: _rows(value, 6))
]


def word(*known: str) -> BeforeValidator:
    """One of a few words."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in known:
            return value
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise ValueError(f"expected one of {', '.join(map(repr, known))}, got {value!r}{hint}")

    return BeforeValidator(check)


FrameWord: TypeAlias = Annotated[str, word("body", "world")]
"""The axes in which components are given."""

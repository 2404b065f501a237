"""Columns as a schema names them, with messages that say what was expected."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

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

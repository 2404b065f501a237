"""Types of schema fields for columns and accuracies, with their error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, StrictStr

from identify.documents import Number, finite_number, short_repr

Column: TypeAlias = Annotated[str | int, BeforeValidator(lambda value: _column(value))]
"""A column by name or zero-based number."""


def _column(value: object) -> str | int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError(f"expected a column's name or its zero-based number, got {value!r}")


def without_sign(column: str | int) -> tuple[str | int, float]:
    """Split a column of the schema into the column without a minus sign and the factor ±1.

    What is named "-fx" is the column fx times −1; "-3" is column number 3 times −1; "+-fx" is a
    column that is named "-fx" in the log.
    """
    if isinstance(column, str) and column.startswith("+-"):
        return column[1:], 1.0
    if not isinstance(column, str) or not column.startswith("-") or not column[1:].strip():
        return column, 1.0
    name = column[1:].strip()
    return (int(name) if name.isdecimal() else name), -1.0


def negate_column(column: str | int) -> str | int:
    """Return the column times −1, in schema notation."""
    name, factor = without_sign(column)
    if factor > 0.0:
        return f"-{name}"
    return name if isinstance(name, int) else as_schema_column(name)


def as_schema_column(name: str) -> str:
    """Return the column of a log in schema notation: a minus in its name is no sign."""
    return f"+{name}" if name.startswith("-") else name


def column_names(columns: Iterable[str | int]) -> tuple[str | int, ...]:
    """Return the columns without minus signs, as a file names them."""
    return tuple(without_sign(column)[0] for column in columns)


_COLUMN_RANGE_PATTERN = re.compile(r"(?P<name>.+)\[(?P<first>\d+):(?P<stop>\d+)\]")


def _columns_of_range(value: str, counts: tuple[int, ...]) -> list[str | int]:
    """Return the columns of an array `"pose[0:3]"`, end exclusive; all without a range."""
    if (match := _COLUMN_RANGE_PATTERN.fullmatch(value.strip())) is None:
        return [f"{value.strip()}[{k}]" for k in range(max(counts, default=1))]
    first, stop = int(match["first"]), int(match["stop"])
    if not first < stop <= first + 1000:
        raise ValueError(f"expected a range such as [0:3], whose end is exclusive, got {value!r}")
    return [f"{match['name']}[{k}]" for k in range(first, stop)]


def _columns_validator(*counts: int) -> BeforeValidator:
    """Return the validator of a list of distinct columns with an allowed length; a minus negates.

    A single name in place of the list stands for the columns of an array, `name[0]` and so on.
    Without `counts` the list has any length but zero.
    """
    wanted = " or ".join(map(str, counts)) or "one or more"

    def check(value: object) -> tuple[str | int, ...]:
        if isinstance(value, str) and value.strip():
            value = _columns_of_range(value, counts)
        if not isinstance(value, list | tuple):
            raise ValueError(
                f"expected a list of {wanted} columns, or a range of them, got {value!r}"
            )
        if len(value) not in (counts or (len(value) or 1,)):
            raise ValueError(f"expected {wanted} columns, got {len(value)}: {list(value)}")
        columns = tuple(_column(item) for item in value)
        names = column_names(columns)
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise ValueError(f"column {twice[0]!r} is named twice in {list(columns)}")
        return columns

    return BeforeValidator(check)


ThreeColumns: TypeAlias = Annotated[tuple[str | int, ...], _columns_validator(3)]
FourColumns: TypeAlias = Annotated[tuple[str | int, ...], _columns_validator(4)]
UpToThreeColumns: TypeAlias = Annotated[tuple[str | int, ...], _columns_validator(1, 2, 3)]
MatrixColumns: TypeAlias = Annotated[tuple[str | int, ...], _columns_validator(9, 16)]
JointArrayColumns: TypeAlias = Annotated[tuple[str | int, ...], _columns_validator()]

Label: TypeAlias = Annotated[
    StrictStr, Field(min_length=1, max_length=80), AfterValidator(lambda text: _one_line(text))
]
"""One-line name given by the user."""


def _one_line(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError(f"expected one line of text, got {text!r}")
    return text


_EXPECTED_ACCURACY = (
    "a number, two (of force and of torque), six (of fx fy fz tx ty tz), or six rows of six with "
    "the cross-talk; one sigma as a share, as 0.01 for 1 %"
)

MAX_SCALE_SIGMA = 0.5
"""Maximum σ of a scale; larger values are probably percentages."""

RelativeSigma: TypeAlias = Annotated[Number, Field(ge=0.0, le=MAX_SCALE_SIGMA)]
"""One sigma of a relative error."""

GainAccuracy: TypeAlias = Annotated[Any, BeforeValidator(lambda value: _gain_accuracy(value))]
"""One sigma of the errors of a sensor's gains, relative"""


def _gain_accuracy(value: object) -> float | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        return _relative_sigma(value)
    rows = [row for row in value if isinstance(row, list | tuple)]
    if rows and (len(value) != 6 or any(len(row) != 6 for row in rows) or len(rows) != 6):
        raise ValueError(f"expected {_EXPECTED_ACCURACY}; got {short_repr(value)}")
    if rows:
        return tuple(tuple(_relative_sigma(each, 1.0) for each in row) for row in rows)
    if len(value) not in (2, 6):
        raise ValueError(f"expected {_EXPECTED_ACCURACY}; got {len(value)}: {short_repr(value)}")
    return tuple(map(_relative_sigma, value))


def _relative_sigma(value: object, limit: float = MAX_SCALE_SIGMA) -> float:
    try:
        number = finite_number(value)
    except ValueError as error:
        raise ValueError(f"expected {_EXPECTED_ACCURACY}; got {short_repr(value)}") from error
    if not 0.0 <= number <= limit:
        raise ValueError(f"expected shares from 0 to {limit:g}, as 0.01 for 1 %; got {number:g}")
    return number


_MAX_NOISE = 1e30
"""Maximum noise of a signal in any unit (its square would overflow)."""

NoiseSigma: TypeAlias = Annotated[
    Number, Field(ge=0.0), AfterValidator(lambda value: _noise_sigma(value))
]
"""Standard deviation of a signal's noise, white from row to row, on each axis."""


def _noise_sigma(value: float) -> float:
    if value > _MAX_NOISE:
        raise ValueError(f"expected a noise of at most {_MAX_NOISE:g}, got {value:g}")
    return value

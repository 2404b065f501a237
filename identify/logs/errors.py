"""Errors of reading that carry more than `LogError` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from identify.errors import LogError, MissingColumn, did_you_mean


class MissingNumberedColumn(MissingColumn):
    """The schema names a column by a number past the last one."""

    def __init__(self, path: Path, column: int, count: int, remedy: str = "") -> None:
        self.number = column
        self.known = tuple(str(number) for number in range(count))
        LogError.__init__(
            self,
            f"{path}: no column {column}: it has {count} columns, numbered from 0{remedy}",
            path=path,
            column=column,
        )


class MisnamedColumns(MissingColumn):
    """The line that should hold the names of the columns does not hold those of the schema."""

    def __init__(
        self, path: Path, line: int, missing: Sequence[str], known: Sequence[str], remedy: str
    ) -> None:
        self.known = tuple(known)
        hint = remedy or did_you_mean(missing[0], known)
        LogError.__init__(
            self,
            f"{path}: line {line} should name the columns, but has no "
            f"{', '.join(map(repr, missing))} among {shorten(known)}{hint}",
            path=path,
            column=missing[0],
            row=line,
        )


class BadValue(LogError):
    """A value that is not a number stands where the schema says a number is.

    Attributes:
        value: what was got.
    """

    def __init__(
        self, path: Path, row: int, column: str | int, value: str, remedy: str = ""
    ) -> None:
        self.value = value
        super().__init__(
            f"{path}: line {row}, column {column!r}: expected a number, got {value!r}"
            + (remedy or "; fix the line, or set drop_bad_rows = true in [log] to leave it out"),
            path=path,
            column=column,
            row=row,
        )


class RaggedRow(LogError):
    """A row of a text file has another number of fields than the rest."""

    def __init__(self, path: Path, row: int, got: int, expected: int, remedy: str = "") -> None:
        self.got, self.expected = got, expected
        super().__init__(
            f"{path}: line {row}: expected {expected} fields as in the other rows, got {got}"
            + (remedy or "; fix the line, or set drop_bad_rows = true in [log] to leave it out"),
            path=path,
            row=row,
        )


class TooManyBadRows(LogError):
    """More rows than a share of the log are unusable."""

    def __init__(self, path: Path, bad: int, rows: int, share: float, remedy: str) -> None:
        self.bad, self.rows, self.share = bad, rows, share
        super().__init__(
            f"{path}: {bad} of {rows} rows are unusable, more than {share:.0%}{remedy}", path=path
        )


def shorten(names: Sequence[str], most: int = 30) -> str:
    """The names as a list, the first few of very many."""
    spelled = ", ".join(repr(name[:60]) for name in names[:most])
    return f"[{spelled}{', …' if len(names) > most else ''}]"

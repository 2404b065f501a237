"""Rows that every file of a log has whole; the others are counted, or there are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array
from identify.errors import LogError
from identify.logs.errors import TooManyBadRows
from identify.logs.parts import DroppedRows
from identify.logs.schema_fields import Column
from identify.logs.table import Flaw, Stamps, Table

_SHARE, _SHARE_IF_DROPPED = 0.1, 0.5
"""The share of unusable rows past which a log is refused, by default and with drop_bad_rows."""

_ABSURD = 1e30
"""No quantity of a log is as large, in whatever unit; its powers leave double precision."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows kept of one table.

    Attributes:
        table: the table.
        kept: the indices of the rows kept, in order.
    """

    table: Table
    kept: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.kept)

    def columns(self, names: Sequence[Column]) -> Array:
        """Some columns side by side, shape (n, len(names))."""
        whole = len(self.kept) == len(self.table)
        columns = (self.table.columns[name] for name in names)
        return np.stack([c if whole else c[self.kept] for c in columns], axis=-1)

    @property
    def stamps(self) -> Stamps | None:
        """The time stamps of the rows kept."""
        stamps = self.table.stamps
        return None if stamps is None else stamps[self.kept]

    def fault(self, index: int, message: str, column: Column | None = None) -> LogError:
        """A `LogError` about the row kept at `index`."""
        return self.table.fault(int(self.kept[index]), message, column)


def select_rows(
    tables: Sequence[Table], *, drop_bad_rows: bool
) -> tuple[list[Selection], DroppedRows]:
    """The rows kept of each table of a log, and the account of those that any has flawed.

    Raises:
        LogError: the tables have different numbers of rows, no row is whole, or a number in a
            whole row is absurd.
        TooManyBadRows: more rows are flawed than a share.
    """
    tables, cut = same_length(tables)
    flaws = np.max([table.flaws for table in tables], axis=0)
    account = Account.of(flaws, tables)
    account = replace(account, dropped=account.dropped + DroppedRows(cut_short=cut))
    kept = np.flatnonzero(flaws == Flaw.NONE)
    account.require_most(tables[0].path, len(kept), drop_bad_rows=drop_bad_rows)
    selections = [Selection(table, kept) for table in tables]
    for selection in selections:
        require_sane(selection)
    return selections, account.dropped


@dataclass(frozen=True, slots=True)
class Account:
    """What is wrong with some rows of a log; accounts of its parts add up.

    Attributes:
        dropped: rows left out, by reason.
        not_finite: numbers that are not finite, by file and column.
    """

    dropped: DroppedRows = field(default_factory=DroppedRows)
    not_finite: Mapping[tuple[Path, Column], int] = field(default_factory=dict)

    @classmethod
    def of(cls, flaws: NDArray[np.uint8], tables: Sequence[Table]) -> Account:
        """The account of rows of some tables, of which each has its worst flaw."""
        counts = np.bincount(flaws, minlength=len(Flaw)).tolist()
        dropped = DroppedRows(
            not_finite=counts[Flaw.NOT_FINITE],
            cut_short=counts[Flaw.CUT_SHORT],
            not_numbers=counts[Flaw.NOT_NUMBERS],
        )
        if not dropped.total:
            return cls()
        not_finite = {
            (table.path, column): int(
                np.count_nonzero(~np.isfinite(values[table.flaws != Flaw.ELSEWHERE]))
            )
            for table in tables
            for column, values in table.columns.items()
        }
        return cls(dropped, not_finite)

    def __add__(self, other: Account) -> Account:
        """The account of the rows of both."""
        total = Counter(self.not_finite)
        total.update(other.not_finite)
        return Account(self.dropped + other.dropped, dict(total))

    def require_most(self, path: Path, kept: int, *, drop_bad_rows: bool) -> None:
        """Raise unless most rows of a log can be used, and one at the least.

        Raises:
            TooManyBadRows: more rows are flawed than a share.
            LogError: none is left.
        """
        dropped, rows = self.dropped, kept + self.dropped.total
        bad = dropped.not_finite + dropped.not_numbers
        share = _SHARE_IF_DROPPED if drop_bad_rows else _SHARE
        if _is_too_many(bad, rows, share):
            (worst, column), count = max(self.not_finite.items(), key=lambda item: item[1])
            remedy = f": {describe(dropped)}"
            if count:
                remedy += f"; column {column!r} of {worst.name} is the worst"
            if not drop_bad_rows:
                remedy += f"; drop_bad_rows = true in [log] admits up to {_SHARE_IF_DROPPED:.0%}"
            else:
                remedy += "; fix the file, or name other columns"
            raise TooManyBadRows(worst, bad, rows, share, remedy)
        if not kept:
            raise LogError(f"{path}: no row can be used; of {rows}, {describe(dropped)}", path=path)


def describe(dropped: DroppedRows) -> str:
    """The account of the rows left out, in words."""
    return (
        f"{dropped.not_finite} with NaN, infinite or empty fields, "
        f"{dropped.cut_short} cut short, {dropped.not_numbers} with text instead of numbers"
    )


def require_sane(selection: Selection) -> None:
    """Raise where a number of the rows kept is absurd."""
    for column in selection.table.columns:
        values = selection.columns([column])[:, 0]
        if max(values.max(), -values.min()) >= _ABSURD:
            i = int(np.argmax(np.abs(values)))
            raise selection.fault(
                i,
                f"column {column!r} is {values[i]:g}, which is no measurement; correct it, or "
                "leave it empty, so that the row is left out",
                column,
            )


def same_length(tables: Sequence[Table]) -> tuple[Sequence[Table], int]:
    """The tables, less a last row that is cut short in one and absent in another, and its count.

    Raises:
        LogError: they have different numbers of rows.
    """
    if len({len(table) for table in tables}) == 1:
        return tables, 0
    whole = [
        table.without_last() if table.flaws[-1] == Flaw.CUT_SHORT else table for table in tables
    ]
    if len({len(table) for table in whole}) == 1:
        return whole, 1
    first = tables[0]
    other = next(table for table in tables if len(table) != len(first))
    raise LogError(
        f"{first.path} has {len(first)} rows, but {other.path} has {len(other)}; the files of one "
        "log need the same rows (does header_lines differ?), or a clock each: a column "
        "time in both, or rate_hz in [streams.*]",
        path=other.path,
    )


def is_too_many(flaws: NDArray[np.uint8], *, drop_bad_rows: bool) -> bool:
    """Whether a log with such rows is refused."""
    bad = int(np.count_nonzero((flaws == Flaw.NOT_FINITE) | (flaws == Flaw.NOT_NUMBERS)))
    return _is_too_many(bad, len(flaws), _SHARE_IF_DROPPED if drop_bad_rows else _SHARE)


def _is_too_many(bad: int, rows: int, share: float) -> bool:
    return bad > max(1, share * rows)

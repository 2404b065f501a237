"""Selection of the rows that are valid in every file of a log, and counts of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identify.errors import LogError
from identify.logs.recording_parts import DroppedRows
from identify.logs.schema_fields import Column
from identify.logs.table import RowFault, Table

_MAX_UNUSABLE_FRACTION, _MAX_DROPPED_FRACTION = 0.1, 0.5
"""Maximum share of unusable rows of an accepted log, by default and with drop_bad_rows."""

_MAX_MAGNITUDE = 1e30
"""Maximum magnitude of any value (squares would overflow)."""


def select_rows(tables: Sequence[Table], *, drop_bad_rows: bool) -> tuple[list[Table], DroppedRows]:
    """Return the valid rows of each table, and the number of rows with a defect in any.

    Raises `LogError`: the tables have different numbers of rows, no row is whole, or a number in a
    whole row is absurd; `LogError`: more rows are faulty than a share.
    """
    tables, cut = cut_to_same_length(tables)
    faults = np.max([table.faults for table in tables], axis=0)
    counts = RowCounts.of(faults, tables)
    counts = replace(counts, dropped=counts.dropped + DroppedRows(cut_short=cut))
    kept = np.flatnonzero(faults == RowFault.NONE)
    counts.require_enough_rows(tables[0].path, len(kept), drop_bad_rows=drop_bad_rows)
    valid_rows = [table.select_rows(kept) for table in tables]
    for valid in valid_rows:
        require_plausible_magnitudes(valid)
    return valid_rows, counts.dropped


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Counts of defective rows of a log; the counts of its parts add up.

    Attributes:
        dropped: rows left out, by reason.
        not_finite: numbers that are not finite, by file and column.
    """

    dropped: DroppedRows = field(default_factory=DroppedRows)
    not_finite: Mapping[tuple[Path, Column], int] = field(default_factory=dict)

    @classmethod
    def of(cls, faults: NDArray[np.uint8], tables: Sequence[Table]) -> RowCounts:
        """Count the rows of tables of equal length by the worst defect of each row."""
        counts = np.bincount(faults, minlength=len(RowFault)).tolist()
        dropped = DroppedRows(
            not_finite=counts[RowFault.NOT_FINITE],
            cut_short=counts[RowFault.CUT_SHORT],
            not_numbers=counts[RowFault.NOT_NUMBERS],
        )
        if not dropped.total:
            return cls()
        not_finite = {
            (table.path, column): int(
                np.count_nonzero(~np.isfinite(values[table.faults != RowFault.OTHER_STREAM]))
            )
            for table in tables
            for column, values in table.columns.items()
        }
        return cls(dropped, not_finite)

    def __add__(self, other: RowCounts) -> RowCounts:
        """Return the sum of the counts."""
        total = Counter(self.not_finite)
        total.update(other.not_finite)
        return RowCounts(self.dropped + other.dropped, dict(total))

    def require_enough_rows(self, path: Path, kept: int, *, drop_bad_rows: bool) -> None:
        """Raise unless at least one row, and most rows of a log, can be used.

        Raises `LogError`: more rows are faulty than a share, or none is left.
        """
        dropped, rows = self.dropped, kept + self.dropped.total
        bad = dropped.not_finite + dropped.not_numbers
        share = _MAX_DROPPED_FRACTION if drop_bad_rows else _MAX_UNUSABLE_FRACTION
        if _exceeds_fraction(bad, rows, share):
            (worst, column), count = max(self.not_finite.items(), key=lambda item: item[1])
            remedy = f": {describe_dropped_rows(dropped)}"
            if count:
                remedy += f"; column {column!r} of {worst.name} is the worst"
            if not drop_bad_rows and not _exceeds_fraction(bad, rows, _MAX_DROPPED_FRACTION):
                remedy += (
                    f"; drop_bad_rows = true in [log] admits up to {_MAX_DROPPED_FRACTION:.0%}"
                )
            else:
                remedy += "; fix the file, or name other columns"
            raise LogError(
                f"{worst}: {bad} of {rows} rows are unusable, more than {share:.0%}{remedy}",
                path=worst,
            )
        if not kept:
            raise LogError(
                f"{path}: no row can be used; of {rows}, {describe_dropped_rows(dropped)}",
                path=path,
            )


def describe_dropped_rows(dropped: DroppedRows) -> str:
    """Format the counts of dropped rows."""
    return (
        f"{dropped.not_finite} with NaN, infinite or empty fields, "
        f"{dropped.cut_short} cut short, {dropped.not_numbers} with text instead of numbers"
    )


def require_plausible_magnitudes(valid: Table) -> None:
    """Raise for values of implausible magnitude in the valid rows."""
    for column, values in valid.columns.items():
        if max(values.max(), -values.min()) >= _MAX_MAGNITUDE:
            i = int(np.argmax(np.abs(values)))
            raise valid.error_at(
                i,
                f"column {column!r} is {values[i]:g}, which is implausible; correct it, or "
                "leave it empty to drop the row",
                column,
            )


def cut_to_same_length(tables: Sequence[Table]) -> tuple[Sequence[Table], int]:
    """Return the tables without a truncated last row that others lack, and the number dropped.

    Raises `LogError`: they have different numbers of rows.
    """
    if len({len(table) for table in tables}) == 1:
        return tables, 0
    whole = [
        table.select_rows(np.arange(len(table) - 1))
        if table.faults[-1] == RowFault.CUT_SHORT
        else table
        for table in tables
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


def has_too_many_defects(faults: NDArray[np.uint8], *, drop_bad_rows: bool) -> bool:
    """Return whether a log has too many defective rows to be accepted."""
    bad = int(np.count_nonzero((faults == RowFault.NOT_FINITE) | (faults == RowFault.NOT_NUMBERS)))
    return _exceeds_fraction(
        bad,
        len(faults),
        _MAX_DROPPED_FRACTION if drop_bad_rows else _MAX_UNUSABLE_FRACTION,
    )


def _exceeds_fraction(bad: int, rows: int, share: float) -> bool:
    return bad > max(1, share * rows)

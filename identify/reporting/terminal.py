"""The table of the parameters for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from identify.inertia import InertialParameters
from identify.reporting.parameter_table import ABOUT_COM, Group, ParameterRow, parameter_rows

if TYPE_CHECKING:
    from rich.table import Table

    from identify.estimation import Estimate
    from identify.exchange import SavedEstimate


def parameter_rich_table(
    estimate: Estimate | SavedEstimate,
    truth: InertialParameters | None = None,
    groups: Sequence[Group] = ABOUT_COM,
) -> Table:
    """The parameters with, where known, their intervals, what decided each, truth and error.

    It fits a terminal of 80 columns. What is not identifiable is dim and says so; a truth outside
    its interval is marked by a star.

    Args:
        estimate: the estimate, or one read from its file.
        truth: the true body, if it is known.
        groups: which parameters: `ABOUT_COM` (where not given), `ABOUT_ORIGIN`, or others.
    """
    from rich import box
    from rich.table import Table

    rows = parameter_rows(estimate, truth, groups)
    table = Table(
        box=box.SIMPLE_HEAD,
        caption=_caption(estimate, rows),
        caption_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("estimate", justify="right", no_wrap=True)
    known = any(row.shown.interval or row.decided_by for row in rows)
    if known:
        table.add_column("95 %", justify="right", no_wrap=True)
        table.add_column("decided by", no_wrap=True)
    if truth is not None:
        table.add_column("truth", justify="right", no_wrap=True)
        table.add_column("error", justify="right", no_wrap=True)
    for index, row in enumerate(rows):
        last = index + 1 == len(rows) or rows[index + 1].group != row.group
        table.add_row(
            *_cells(row, known, truth is not None),
            style=None if row.measured else "dim",
            end_section=last and len(groups) > 3,
        )
    return table


def _cells(row: ParameterRow, known: bool, compared: bool) -> list[str]:
    shown = row.shown
    cells = [row.name, shown.unit, shown.value]
    if known:
        cells += [shown.interval, row.decided_by]
    if compared:
        cells += [shown.truth, shown.error + ("*" if row.outside else " ")]
    return cells


def _caption(estimate: Estimate | SavedEstimate, rows: Sequence[ParameterRow]) -> str | None:
    lines = []
    if estimate.interval_kind:
        lines.append(f"± {estimate.interval_kind}")
    if estimate.default_body and not all(row.measured for row in rows):
        lines.append(f"default: not identifiable from this log; {estimate.default_body}")
    if any(row.outside for row in rows):
        lines.append("* truth outside the interval")
    return "\n".join(lines) or None

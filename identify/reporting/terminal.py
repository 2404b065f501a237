"""The table of the parameters for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from identify.inertia import InertialParameters
from identify.reporting.parameter_table import ABOUT_COM, ABOUT_ORIGIN, Group, parameter_rows
from identify.texts import printable

if TYPE_CHECKING:
    from rich.table import Table

    from identify.estimation import Estimate
    from identify.exchange import SavedEstimate


def parameter_rich_table(
    estimate: Estimate | SavedEstimate,
    truth: InertialParameters | None = None,
    groups: Sequence[Group] = ABOUT_COM,
    title: str | None = None,
) -> Table:
    """The parameters with, where known, their intervals, what decided each, truth and error.

    It fits a terminal of 80 columns. What is not identifiable is dim and says so; a truth outside
    its interval is marked by a star.

    Args:
        estimate: the estimate, or one read from its file.
        truth: the true body, if it is known.
        groups: which parameters: `ABOUT_COM` (where not given), `ABOUT_ORIGIN`, or others.
        title: what stands above.
    """
    from rich import box
    from rich.table import Table

    rows = parameter_rows(estimate, truth, groups)
    caption = [f"± {estimate.interval_kind}"] if estimate.interval_kind else []
    about_origin = "c, h and I are" if set(ABOUT_ORIGIN[1:]) & set(groups) else "c is"
    caption.append(
        f"{estimate.frame_in_words}: {about_origin} about its origin, Ic about the centre of mass, "
        "all in its axes"
    )
    if estimate.default_body and not all(row.measured for row in rows):
        caption.append(f"default: not identifiable from this log; {estimate.default_body}")
    if any(row.outside for row in rows):
        caption.append("* truth outside the interval")
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        caption=printable("\n".join(caption)) or None,
        caption_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    known = any(row.shown.interval or row.decided_by for row in rows)
    heads = ["", "unit", "estimate", *["95 %", "decided by"] * known]
    heads += ["truth", "error"] * (truth is not None)
    for head in heads:
        numbers = head not in ("", "unit", "decided by")
        table.add_column(head, justify="right" if numbers else "left", no_wrap=True)
    for index, row in enumerate(rows):
        shown = row.shown
        cells = [row.name, shown.unit, shown.value, *[shown.interval, row.decided_by] * known]
        if truth is not None:
            cells += [shown.truth, shown.error + ("*" if row.outside else " ")]
        last = index + 1 == len(rows) or rows[index + 1].group != row.group
        style = None if row.measured else "dim"
        table.add_row(*cells, style=style, end_section=last and len(groups) > 3)
    return table

"""What panels have in common: logs one after another, and rows that have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.reporting.canvas import INK, MUTED
from identify.reporting.timeline import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 24
_ROOM = 0.14


def room_for_numbers(timeline: Timeline) -> float:
    """Height above the first panel that the numbers of several logs take [in]."""
    return _ROOM if len(timeline.spans) > 1 else 0.0


def mark_logs(axes: Axes, timeline: Timeline, *, numbered: bool) -> None:
    """Set the horizontal limits, and part several logs by lines.

    Args:
        axes: to draw on.
        timeline: of the logs.
        numbered: whether to write the numbers of the logs above, as on the first panel of a column.
    """
    begin, end = timeline.spans[0][1], timeline.spans[-1][2]
    axes.set_xlim(begin, end if end > begin else begin + 1.0)
    if timeline.still:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    if len(timeline.spans) == 1:
        return
    for _, first, _ in timeline.spans[1:]:
        axes.axvline(first, color=MUTED, lw=0.7, dashes=(2, 2))
    if numbered:
        step = -(-len(timeline.spans) // _MOST_NUMBERS)
        for index, first, last in timeline.spans[::step]:
            axes.annotate(
                f"log {index + 1}" if len(timeline.spans) <= 6 else f"{index + 1}",
                (0.5 * (first + last), 1.0),
                xytext=(0.0, 14.0),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="bottom",
                color=MUTED,
                size=7.5,
                annotation_clip=False,
            )


def name_rows(axes: Axes, names: Sequence[str], remarks: Sequence[str]) -> Array:
    """Turn the vertical axis into rows with a name to the left and a remark to the right.

    Args:
        axes: to draw on.
        names: from the top.
        remarks: one each.

    Returns:
        Where the rows are, from the top.
    """
    places = np.arange(len(names), dtype=np.float64)[::-1]
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0.0)
    for place, remark in zip(places, remarks, strict=True):
        axes.annotate(
            remark,
            (1.0, place),
            xytext=(4.0, 0.0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            size=7.5,
            color=INK,
            annotation_clip=False,
        )
    return places

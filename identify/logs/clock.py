"""The time of each row, from stamps or from a rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.logs.rows import Selection
from identify.logs.schema_tables import LogTable
from identify.logs.table import Stamps
from identify.logs.units import TICKS_PER_SECOND

_FASTEST_HZ, _LONGEST_S = 1e9, 1e11
"""Beyond every log: so many rows a second, or three thousand years."""


def read_time(selections: Sequence[Selection], layouts: Sequence[LogTable]) -> Array | None:
    """Seconds since the first row kept; None where every row is a still pose.

    Stamps in whole numbers (nanoseconds since 1970 have nineteen digits) lose nothing: the first is
    taken off before they become float64. With a rate, dropped rows leave their gap.

    Args:
        selections: the tables of the log, of which the first with stamps gives the time.
        layouts: the layout of each.

    Raises:
        LogError: the stamps decrease or never advance, there is one sample only, the unit or the
            rate makes a time that no log takes, or the stamps of two files differ.
    """
    layout = layouts[0]
    if layout.still:
        return None
    if layout.rate_hz is not None:
        _require_two(selections[0])
        kept = selections[0].kept
        with np.errstate(over="ignore"):
            time = (kept - kept[0]) / layout.rate_hz
        _require_plausible(selections[0], time, layout)
        return time
    clocks = [
        (selection, _seconds(selection, stamps, layout))
        for selection, layout in zip(selections, layouts, strict=True)
        if (stamps := selection.stamps) is not None
    ]
    if not clocks:
        path = selections[0].table.path
        raise LogError(
            f"{path}: no file of the log has the column {layout.time!r} of time stamps; name it in "
            "[log] time, or give rate_hz",
            path=path,
            column=layout.time,
        )
    first, time = clocks[0]
    for other, stamps in clocks[1:]:
        _require_agreement(first, time, other, stamps)
    return time


def _seconds(selection: Selection, stamps: Stamps, layout: LogTable) -> Array:
    _require_two(selection)
    require_order(selection, stamps, layout)
    if stamps[0] == stamps[-1]:
        raise LogError(
            f"{selection.table.path}: time never advances: all {len(stamps)} rows are stamped "
            f"{stamps[0]}; name another column, or give rate_hz",
            path=selection.table.path,
            column=layout.time,
        )
    time = since(stamps[0].item(), selection, stamps, layout)
    _require_plausible(selection, time, layout)
    return time


def require_order(selection: Selection, stamps: Stamps, layout: LogTable) -> None:
    """Raise where the stamps of the rows kept decrease."""
    back = np.flatnonzero(stamps[1:] < stamps[:-1])
    if back.size:
        i = int(back[0]) + 1
        raise selection.fault(
            i,
            f"time goes back from {stamps[i - 1]} to {stamps[i]}; stamps must not decrease: split "
            "the log where its clock was set back, or name another column",
            layout.time,
        )


def since(start: float, selection: Selection, stamps: Stamps, layout: LogTable) -> Array:
    """Seconds since a stamp (whole where the stamps are), of rows whose stamps are in order."""
    ticks = selection.table.ticks_per_second or TICKS_PER_SECOND[layout.time_unit]
    whole = len(stamps) > 0 and stamps.dtype == np.int64
    if whole and int(stamps[-1]) - int(start) > np.iinfo(np.int64).max:
        stamps, start = stamps.astype(np.float64), float(start)
    with np.errstate(over="ignore"):
        return np.asarray(stamps - start, dtype=np.float64) / ticks


def _require_two(selection: Selection) -> None:
    if len(selection) < 2:
        raise LogError(
            f"{selection.table.path}: has one sample only; a motion needs more. If each row is a "
            "still pose, say still = true in [log]",
            path=selection.table.path,
        )


def _require_plausible(selection: Selection, time: Array, layout: LogTable) -> None:
    span, rows = float(time[-1]), len(time)
    if (rows - 1) / _FASTEST_HZ <= span <= _LONGEST_S:
        return
    if layout.rate_hz is not None:
        key, said = "rate_hz", f"rate_hz = {layout.rate_hz:g}"
    elif selection.table.ticks_per_second is None:
        key, said = layout.time, f'column {layout.time!r} with time_unit = "{layout.time_unit}"'
    else:
        key, said = layout.time, f"column {layout.time!r}"
    raise LogError(
        f"{selection.table.path}: {said}: {rows} rows would be {span:.3g} s, which no log is; "
        "check [log]",
        path=selection.table.path,
        column=key,
    )


def _require_agreement(first: Selection, time: Array, other: Selection, stamps: Array) -> None:
    """The rows of two files that both have stamps were taken at the same time."""
    step = time[-1] / (len(time) - 1)
    apart = np.flatnonzero(np.abs(stamps - time) > step)
    if apart.size:
        i = int(apart[0])
        raise other.fault(
            i,
            f"is stamped {stamps[i]:.6g} s after the first row, but the same row of "
            f"{first.table.path} {time[i]:.6g} s; the files of one log need the same rows",
        )

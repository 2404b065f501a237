"""The time of each row, from stamps or from a rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import LogError
from identify.findings import Finding
from identify.logs.schema_tables import LogTable
from identify.logs.table import Stamps, Table
from identify.logs.units import TICKS_PER_SECOND

_FASTEST_HZ, _LONGEST_S = 1e9, 1e11
"""Beyond every log: so many rows a second, or three thousand years."""

_SAME_STAMP = 0.1
"""Share of a step by which rows of two tables may be stamped apart and still be the same."""

COUNTERS = (2**16, 2**24, 10**6, 10**9, 2**31, 2**32)
"""Ticks after which counters of time start again: in 16 to 32 bits, or in parts of a second."""

_FEW_STEPS, _SMALL_SHARE = 5.5, 0.1
"""Steps that a counter may have gone on by where it started again; far fewer than its range."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of the rows of a stream.

    Attributes:
        time: seconds since its first row kept, shape (n,).
        start: the stamp of that row [s], exactly; None of rows at a rate.
        lead: of rows at a rate, how long after the first row that one was [s].
        findings: what had to be made of the stamps.
        ticks: of the stamps in a second.
    """

    time: Array
    start: Fraction | None = None
    lead: float = 0.0
    findings: tuple[Finding, ...] = ()
    ticks: int = 1

    @property
    def end(self) -> Fraction | None:
        """The stamp of its last row [s]; None of rows at a rate."""
        return None if self.start is None else self.start + Fraction(float(self.time[-1]))


def wrapped_before(clocks: Sequence[Clock]) -> tuple[int, list[int]] | None:
    """Which of some clocks are counters that started again before their first row.

    Args:
        clocks: that have no time in common; those of rows at a rate tell nothing.

    Returns:
        After how many ticks they start again, and their numbers, if all clocks then have time in
        common; None where no counter does it.
    """
    told = [
        (number, clock, clock.start, clock.end)
        for number, clock in enumerate(clocks)
        if clock.start is not None and clock.end is not None
    ]
    if len(told) < 2:
        return None
    if any((start * clock.ticks).denominator != 1 or start < 0 for _, clock, start, _ in told):
        return None
    latest = max(start for _, _, start, _ in told)
    for count in COUNTERS:
        turns = [Fraction(count, clock.ticks) for _, clock, _, _ in told]
        behind = [
            latest - start > turn / 2 for (_, _, start, _), turn in zip(told, turns, strict=True)
        ]
        if any(start >= turn for (_, _, start, _), turn in zip(told, turns, strict=True)):
            continue  # it counts further
        late = max(s + b * t for (_, _, s, _), t, b in zip(told, turns, behind, strict=True))
        early = min(e + b * t for (_, _, _, e), t, b in zip(told, turns, behind, strict=True))
        if any(behind) and late < early:
            return count, [one[0] for one, is_behind in zip(told, behind, strict=True) if is_behind]
    return None


def read_clock(valid_rows: Sequence[Table], layouts: Sequence[LogTable]) -> Clock | None:
    """The time of each row; None where every row is a still pose.

    Stamps in whole numbers (nanoseconds since 1970 have nineteen digits) lose nothing: the first is
    taken off before they become float64. With a rate, dropped rows leave their gap.

    Args:
        valid_rows: tables of the same rows, of which the first with stamps gives the time.
        layouts: the layout of each.

    Raises:
        LogError: the stamps decrease or never advance, there is one sample only, or the unit or the
            rate makes a time that no log takes.
    """
    layout = layouts[0]
    if layout.still:
        return None
    if layout.rate_hz is not None:
        _require_two(valid_rows[0])
        kept = valid_rows[0].numbers
        with np.errstate(over="ignore"):
            time = (kept - kept[0]) / layout.rate_hz
        _require_plausible(valid_rows[0], time, layout)
        return Clock(time, lead=float(kept[0] / layout.rate_hz))
    for valid, own in zip(valid_rows, layouts, strict=True):
        if valid.stamps is not None:
            return _read_stamps(valid, valid.stamps, own)
    path = valid_rows[0].path
    raise LogError(
        f"{path}: no file of the log has the column {layout.time!r} of time stamps; name it in "
        "[log] time, or give rate_hz",
        path=path,
        column=layout.time,
    )


def same_clock(first: Table, layout: LogTable, other: Table, its_layout: LogTable) -> bool:
    """Whether the stamps of two tables of as many rows say that their rows are the same.

    They may start at zeros of their own; but where they run at the same time, it is the same zero.
    """
    one, two = first.stamps, other.stamps
    if one is None or two is None or len(one) < 2:
        return True
    ticks = _ticks(first, layout), _ticks(other, its_layout)
    with np.errstate(over="ignore", invalid="ignore"):
        time, its_time = _since_first(one, ticks[0]), _since_first(two, ticks[1])
        step = time[-1] / (len(time) - 1)
        if not (np.abs(its_time - time) <= step).all():
            return False
    apart = float(_exactly(two[0], ticks[1]) - _exactly(one[0], ticks[0]))
    together = -its_time[-1] < apart < time[-1]
    return not together or abs(float(np.median(its_time - time)) + apart) <= _SAME_STAMP * step


def _read_stamps(valid: Table, stamps: Stamps, layout: LogTable) -> Clock:
    _require_two(valid)
    stamps, findings = unwrapped(valid, stamps, layout)
    require_order(valid, stamps, layout)
    if stamps[0] == stamps[-1]:
        raise LogError(
            f"{valid.path}: time never advances: all {len(stamps)} rows are stamped "
            f"{stamps[0]}; name another column, or give rate_hz",
            path=valid.path,
            column=layout.time,
        )
    ticks = _ticks(valid, layout)
    with np.errstate(over="ignore"):
        time = _since_first(stamps, ticks)
    _require_plausible(valid, time, layout)
    return Clock(time, _exactly(stamps[0], ticks), findings=findings, ticks=ticks)


def require_order(valid: Table, stamps: Stamps, layout: LogTable) -> None:
    """Raise where the stamps of the rows kept decrease."""
    back = np.flatnonzero(stamps[1:] < stamps[:-1]) + 1
    if back.size:
        i = int(back[0])
        raise valid.error_at(
            i,
            f"time goes back from {stamps[i - 1]} to {stamps[i]}; stamps must not decrease: split "
            "the log where its clock was set back, or name another column",
            layout.time,
        )


def unwrapped(valid: Table, stamps: Stamps, layout: LogTable) -> tuple[Stamps, tuple[Finding, ...]]:
    """Stamps of a counter that started again go on, which is told; others are as they were."""
    back = np.flatnonzero(stamps[1:] < stamps[:-1]) + 1
    count = _range_of_counter(stamps, back) if back.size else None
    if count is None:
        return stamps, ()
    turns = np.zeros(len(stamps), dtype=stamps.dtype)
    turns[back] = count
    return stamps + np.cumsum(turns), (_wrapped(valid, stamps, back, count, layout),)


def _ticks(valid: Table, layout: LogTable) -> int:
    return valid.ticks_per_second or TICKS_PER_SECOND[layout.time_unit]


def _since_first(stamps: Stamps, ticks: int) -> Array:
    return _since(stamps[0].item(), stamps, ticks)


def _since(start: float, stamps: Stamps, ticks: int) -> Array:
    whole = len(stamps) > 0 and stamps.dtype == np.int64
    if whole and int(stamps[-1]) - int(start) > np.iinfo(np.int64).max:
        stamps, start = stamps.astype(np.float64), float(start)
    return np.asarray(stamps - start, dtype=np.float64) / ticks


def _exactly(stamp: np.generic, ticks: int) -> Fraction:
    return Fraction(stamp.item()) / ticks


def _range_of_counter(stamps: Stamps, back: Indices) -> int | None:
    """After how many ticks a counter starts again, where that is why all stamps fall that do.

    They are whole numbers in a counter's range, and with it added the stamps go on as before.
    """
    if not np.array_equal(stamps, np.rint(stamps)):
        return None
    steps = np.diff(stamps)
    forward = steps[steps > 0]
    if not forward.size:
        return None
    usual = _FEW_STEPS * float(np.median(forward))
    for count in COUNTERS:
        across = steps[back - 1] + count
        within = float(stamps.max()) - float(stamps.min()) < count
        if within and usual < _SMALL_SHARE * count and ((across > 0) & (across <= usual)).all():
            return count
    return None


def _wrapped(valid: Table, stamps: Stamps, back: Indices, count: int, layout: LogTable) -> Finding:
    i = int(back[0])
    fall = valid.error_at(i, f"time falls from {stamps[i - 1]} to {stamps[i]}", layout.time)
    return Finding(
        "counter_wrapped",
        "info",
        f"{fall} and goes on: a counter of {count} ticks that started again, "
        f"{'once' if len(back) == 1 else f'{len(back)} times'}.",
        evidence={"ticks": count, "times": len(back)},
    )


def since(start: float, valid: Table, stamps: Stamps, layout: LogTable) -> Array:
    """Seconds since a stamp (whole where the stamps are), of rows whose stamps are in order."""
    with np.errstate(over="ignore"):
        return _since(start, stamps, _ticks(valid, layout))


def _require_two(valid: Table) -> None:
    if len(valid) < 2:
        raise LogError(
            f"{valid.path}: has one sample only; a motion needs more. If each row is a "
            "still pose, say still = true in [log]",
            path=valid.path,
        )


def _require_plausible(valid: Table, time: Array, layout: LogTable) -> None:
    span, rows = float(time[-1]), len(time)
    if (rows - 1) / _FASTEST_HZ <= span <= _LONGEST_S:
        return
    if layout.rate_hz is not None:
        key, said = "rate_hz", f"rate_hz = {layout.rate_hz:g}"
    elif valid.ticks_per_second is None:
        key, said = layout.time, f'column {layout.time!r} with time_unit = "{layout.time_unit}"'
    else:
        key, said = layout.time, f"column {layout.time!r}"
    raise LogError(
        f"{valid.path}: {said}: {rows} rows would be {span:.3g} s, which no log is; check [log]",
        path=valid.path,
        column=key,
    )

"""Times of the rows of a log, from stamps or from a sampling rate."""

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
from identify.logs.units import SECONDS_PER_DAY, TICKS_PER_SECOND

_MAX_RATE_HZ, _MAX_DURATION_S = 1e9, 1e11
"""Upper limits of sampling rate [Hz] and duration [s] of a plausible log."""

_MAX_STAMP_DIFFERENCE = 0.1
"""Maximum difference of two stamps that count as equal, relative to the time step."""

COUNTER_PERIODS = (2**16, 2**24, 10**6, 10**9, 2**31, 2**32)
"""Periods of time counters [ticks], of 16 to 32 bits or of parts of a second."""

_DATETIME_UNITS = {1: "s", 10**3: "ms", 10**6: "us", 10**9: "ns"}
"""NumPy's unit of datetime values, by ticks per second."""

_MIN_RUN_ROWS, _MIN_RESTART = 10, 0.9
"""Minimum number of rows of a run, and fall of the time where a new one begins, relative to the
duration of the run before."""

_RUN_GAP_S, _RUN_GAP_STEPS = 1.0, 100.0
"""Time between runs that are appended in one file [s], and in steps, at least."""

_MAX_WRAP_STEPS, _MAX_WRAP_FRACTION = 5.5, 0.1
"""Maximum step of a counter across a wrap, in median steps and relative to its period."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Times of the rows of a stream.

    Attributes:
        time: seconds since the first valid row, shape (n,).
        start: exact stamp of the first valid row [s]; None for rows at a sampling rate.
        time_before_start: for rows at a sampling rate, time from the first row to the first valid
            row [s].
        findings: corrections of the stamps.
        ticks_per_second: ticks of the stamps per second.
    """

    time: Array
    start: Fraction | None = None
    time_before_start: float = 0.0
    findings: tuple[Finding, ...] = ()
    ticks_per_second: int = 1

    @property
    def end(self) -> Fraction | None:
        """Stamp of the last row [s]; None for rows at a rate."""
        return None if self.start is None else self.start + Fraction(float(self.time[-1]))


def wrap_before_start(clocks: Sequence[Clock]) -> tuple[int, list[int]] | None:
    """Find counters that wrapped before their first row.

    Returns After how many ticks they start again, and their numbers, if all clocks then have time
    in common; None where no counter does it.
    """
    stamped = [
        (number, clock, clock.start, clock.end)
        for number, clock in enumerate(clocks)
        if clock.start is not None and clock.end is not None
    ]
    if len(stamped) < 2:
        return None
    if any(
        (start * clock.ticks_per_second).denominator != 1 or start < 0
        for _, clock, start, _ in stamped
    ):
        return None
    latest = max(start for _, _, start, _ in stamped)
    for count in COUNTER_PERIODS:
        periods = [Fraction(count, clock.ticks_per_second) for _, clock, _, _ in stamped]
        behind = [
            latest - start > period / 2
            for (_, _, start, _), period in zip(stamped, periods, strict=True)
        ]
        if any(start >= period for (_, _, start, _), period in zip(stamped, periods, strict=True)):
            continue  # it counts further
        late = max(s + b * t for (_, _, s, _), t, b in zip(stamped, periods, behind, strict=True))
        early = min(e + b * t for (_, _, _, e), t, b in zip(stamped, periods, behind, strict=True))
        if any(behind) and late < early:
            return count, [
                one[0] for one, is_behind in zip(stamped, behind, strict=True) if is_behind
            ]
    return None


def read_clock(valid_rows: Sequence[Table], layouts: Sequence[LogTable]) -> Clock | None:
    """Compute the time of each row; None if every row is a static pose.

    Stamps in whole numbers (nanoseconds since 1970 have nineteen digits) lose nothing: the first is
    taken off before they become float64. With a rate, dropped rows leave their gap.

    `valid_rows`: tables of the same rows, of which the first with stamps gives the time.
    Raises `LogError`: the stamps decrease or never advance, there is one sample only, or the unit
    or the rate makes a time that no log takes.
    """
    layout = layouts[0]
    if layout.still:
        return None
    if layout.rate_hz is not None:
        _require_two_rows(valid_rows[0])
        kept = valid_rows[0].row_numbers
        with np.errstate(over="ignore"):
            time = (kept - kept[0]) / layout.rate_hz
        _require_plausible_duration(valid_rows[0], time, layout)
        return Clock(time, time_before_start=float(kept[0] / layout.rate_hz))
    for valid, layout in zip(valid_rows, layouts, strict=True):
        if valid.stamps is not None:
            return _read_stamps(valid, valid.stamps, layout)
    path = valid_rows[0].path
    raise LogError(
        f"{path}: no file of the log has the column {layout.time!r} of time stamps; name it in "
        "[log] time, or give rate_hz",
        path=path,
        column=layout.time,
    )


def have_equal_stamps(first: Table, layout: LogTable, other: Table, other_layout: LogTable) -> bool:
    """Return whether the stamps of two tables with equally many rows are the same.

    Two clocks may have different zeros of time, unless their time spans overlap.
    """
    stamps, other_stamps = first.stamps, other.stamps
    if stamps is None or other_stamps is None or len(stamps) < 2:
        return True
    ticks = _ticks_per_second(first, layout), _ticks_per_second(other, other_layout)
    with np.errstate(over="ignore", invalid="ignore"):
        time = _seconds_since_first(stamps, ticks[0])
        other_time = _seconds_since_first(other_stamps, ticks[1])
        step = time[-1] / (len(time) - 1)
        if not (np.abs(other_time - time) <= step).all():
            return False
    apart = float(_exact_seconds(other_stamps[0], ticks[1]) - _exact_seconds(stamps[0], ticks[0]))
    together = -other_time[-1] < apart < time[-1]
    return (
        not together
        or abs(float(np.median(other_time - time)) + apart) <= _MAX_STAMP_DIFFERENCE * step
    )


def _read_stamps(valid: Table, stamps: Stamps, layout: LogTable) -> Clock:
    _require_two_rows(valid)
    stamps, findings = unwrap_counter(valid, stamps, layout)
    starts = _run_starts(valid, stamps, layout)
    if starts.size:
        stamps, findings = _joined_runs(valid, stamps, starts, layout)
    require_ordered_stamps(valid, stamps, layout)
    if stamps[0] == stamps[-1]:
        raise LogError(
            f"{valid.path}: time never advances: all {len(stamps)} rows have the stamp "
            f"{stamps[0]}; name another column, or give rate_hz",
            path=valid.path,
            column=layout.time,
        )
    ticks = _ticks_per_second(valid, layout)
    with np.errstate(over="ignore"):
        time = _seconds_since_first(stamps, ticks)
    _require_plausible_duration(valid, time, layout)
    return Clock(time, _exact_seconds(stamps[0], ticks), findings=findings, ticks_per_second=ticks)


def require_ordered_stamps(valid: Table, stamps: Stamps, layout: LogTable) -> None:
    """Raise if the stamps of the kept rows decrease."""
    back = np.flatnonzero(stamps[1:] < stamps[:-1]) + 1
    if back.size:
        i = int(back[0])
        before, after = (_format_stamp(valid, stamp, layout) for stamp in stamps[i - 1 : i + 1])
        remedy = "split the log where its clock was set back, or name another column"
        time_of_day = "T" not in before and ":" in before
        if (
            time_of_day
            and stamps[i - 1] - stamps[i] > _ticks_per_second(valid, layout) * SECONDS_PER_DAY // 2
        ):
            remedy = (
                "a time of day must not pass midnight: write the date before it in the same "
                "column, or split the log there"
            )
        raise valid.error_at(
            i,
            f"time goes back from {before} to {after}; stamps must not decrease: {remedy}",
            layout.time,
        )


def _format_stamp(valid: Table, stamp: np.generic, layout: LogTable) -> str:
    """Format a stamp as the log has it: a number, a date, or a time of day without date."""
    ticks = valid.ticks_per_second or 0
    unit = _DATETIME_UNITS.get(ticks)
    if layout.time_unit == "d" and ticks:
        return f"{stamp.item() / ticks / SECONDS_PER_DAY:.15g} d"
    if unit is None or layout.time_fraction is not None:
        return str(stamp)
    date, _, time_of_day = str(np.datetime64(stamp.item(), unit)).partition("T")
    return time_of_day if date == "1970-01-01" else f"{date}T{time_of_day}"


def unwrap_counter(
    valid: Table, stamps: Stamps, layout: LogTable
) -> tuple[Stamps, tuple[Finding, ...]]:
    """Unwrap the stamps of a counter, with a finding if it wrapped; other stamps are unchanged."""
    back = np.flatnonzero(stamps[1:] < stamps[:-1]) + 1
    count = _counter_period(stamps, back) if back.size else None
    if count is None:
        return stamps, ()
    periods = np.zeros(len(stamps), dtype=stamps.dtype)
    periods[back] = count
    return stamps + np.cumsum(periods), (_wrap_finding(valid, stamps, back, count, layout),)


def _run_starts(valid: Table, stamps: Stamps, layout: LogTable) -> Indices:
    """Return the rows at which the clock starts anew; none if time goes back in another way."""
    back = np.flatnonzero(stamps[1:] < stamps[:-1]) + 1
    none = back[:0]
    edges = np.concatenate(([0], back, [len(stamps)]))
    if not back.size or np.diff(edges).min() < _MIN_RUN_ROWS:
        return none
    durations = (stamps[back - 1] - stamps[edges[:-2]]).astype(np.float64)
    falls = (stamps[back - 1] - stamps[back]).astype(np.float64)
    of_day = "T" not in _format_stamp(valid, stamps[0], layout) and valid.ticks_per_second
    midnight = SECONDS_PER_DAY / 2 * _ticks_per_second(valid, layout) if of_day else np.inf
    anew = (durations > 0.0) & (falls >= _MIN_RESTART * durations) & (falls < midnight)
    return back if anew.all() else none


def _joined_runs(
    valid: Table, stamps: Stamps, starts: Indices, layout: LogTable
) -> tuple[Stamps, tuple[Finding, ...]]:
    """Return stamps with each run after the one before it, and a finding with their starts."""
    ticks = _ticks_per_second(valid, layout)
    step = float(np.median(np.diff(stamps[: starts[0]])))
    gap = max(_RUN_GAP_S * ticks, _RUN_GAP_STEPS * step)
    shift = np.zeros(len(stamps), dtype=stamps.dtype)
    shift[starts] = (stamps[starts - 1] - stamps[starts] + gap).astype(stamps.dtype)
    joined = stamps + np.cumsum(shift)
    times = [_seconds_since(joined[0].item(), joined[[k]], ticks)[0].item() for k in starts]
    first = valid.error_at(int(starts[0]), "the clock starts anew", layout.time)
    text = f"{first}: the file holds {len(starts) + 1} runs, which are read as logs of their own."
    return joined, (Finding("runs_appended", "info", text, evidence={"starts": times}),)


def _ticks_per_second(valid: Table, layout: LogTable) -> int:
    return valid.ticks_per_second or TICKS_PER_SECOND[layout.time_unit]


def _seconds_since_first(stamps: Stamps, ticks: int) -> Array:
    return _seconds_since(stamps[0].item(), stamps, ticks)


def _seconds_since(start: float, stamps: Stamps, ticks: int) -> Array:
    whole = len(stamps) > 0 and stamps.dtype == np.int64
    if whole and int(stamps[-1]) - int(start) > np.iinfo(np.int64).max:
        stamps, start = stamps.astype(np.float64), float(start)
    return np.asarray(stamps - start, dtype=np.float64) / ticks


def _exact_seconds(stamp: np.generic, ticks: int) -> Fraction:
    return Fraction(stamp.item()) / ticks


def _counter_period(stamps: Stamps, decreases: Indices) -> int | None:
    """Return the period of a time counter [ticks] if its wraps explain all decreasing stamps.

    The stamps are then whole numbers in the range of the counter, and with the period added they
    continue at the usual step; else None.
    """
    if not np.array_equal(stamps, np.rint(stamps)):
        return None
    steps = np.diff(stamps)
    forward = steps[steps > 0]
    if not forward.size:
        return None
    usual = _MAX_WRAP_STEPS * float(np.median(forward))
    for count in COUNTER_PERIODS:
        across = steps[decreases - 1] + count
        within = float(stamps.max()) - float(stamps.min()) < count
        if (
            within
            and usual < _MAX_WRAP_FRACTION * count
            and ((across > 0) & (across <= usual)).all()
        ):
            return count
    return None


def _wrap_finding(
    valid: Table, stamps: Stamps, decreases: Indices, count: int, layout: LogTable
) -> Finding:
    i = int(decreases[0])
    fall = valid.error_at(i, f"time falls from {stamps[i - 1]} to {stamps[i]}", layout.time)
    return Finding(
        "counter_wrapped",
        "info",
        f"{fall} and continues: a counter of {count} ticks wrapped around "
        f"{'once' if len(decreases) == 1 else f'{len(decreases)} times'}.",
        evidence={"ticks": count, "times": len(decreases)},
    )


def seconds_since(start: float, valid: Table, stamps: Stamps, layout: LogTable) -> Array:
    """Return the seconds from a start stamp to each stamp (an integer start for integer stamps)."""
    with np.errstate(over="ignore"):
        return _seconds_since(start, stamps, _ticks_per_second(valid, layout))


def _require_two_rows(valid: Table) -> None:
    if len(valid) < 2:
        raise LogError(
            f"{valid.path}: has only one sample; a motion needs more. For static "
            "poses, set still = true in [log] in place of time or rate_hz",
            path=valid.path,
        )


def _require_plausible_duration(valid: Table, time: Array, layout: LogTable) -> None:
    span, rows = float(time[-1]), len(time)
    if (rows - 1) / _MAX_RATE_HZ <= span <= _MAX_DURATION_S:
        return
    if layout.rate_hz is not None:
        key, description = "rate_hz", f"rate_hz = {layout.rate_hz:g}"
    elif valid.ticks_per_second is None:
        key = layout.time
        description = f'column {layout.time!r} with time_unit = "{layout.time_unit}"'
    else:
        key, description = layout.time, f"column {layout.time!r}"
    raise LogError(
        f"{valid.path}: {description}: {rows} rows would last {span:.3g} s, which is implausible; "
        "check [log]",
        path=valid.path,
        column=key,
    )

"""The table of separate fits for a terminal of 80 columns, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from identify.reporting.comparison.fits import Comparison, FittedLog, shortened
from identify.reporting.comparison.wording import answer, reasons
from identify.reporting.study.terminal import WIDTH, grouped_lines

_SHOWN = ("m", "cx", "cy", "cz", "Icxx", "Icyy", "Iczz")
"""Products of inertia are in the files."""

_MOST_LOGS = 40
"""That are listed; the files have all of them."""

_LONGEST_NAME = 22


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Fitted logs with mass, centre of mass and moments of inertia; those that failed; verdict."""
    fitted = comparison.of_status("fitted")
    if fitted:
        yield from _table(comparison, fitted)
    for status, title in (("failed", "Failed"), ("duplicate", "Not fitted")):
        logs = comparison.of_status(status)
        for log in logs[:_MOST_LOGS]:
            yield from wrap(f"{title}: {log.name}: {log.error}", WIDTH, subsequent_indent="  ")
        if len(logs) > _MOST_LOGS:
            yield f"{title}: {len(logs) - _MOST_LOGS} more, see table.csv"
    said = f"{answer(comparison).capitalize()}. {' '.join(reasons(comparison))}"
    yield from wrap(said, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _table(comparison: Comparison, fitted: tuple[FittedLog, ...]) -> Iterator[str]:
    units, pooled = comparison.units, comparison.pooled
    heads = [*_SHOWN, "usable"]
    # Those that somebody has to look at are among the listed.
    first = [log for log in fitted if log.name in pooled.differing or log.usable == "no"]
    kept = [*dict.fromkeys(log.name for log in (*first, *fitted))][:_MOST_LOGS]
    lines = [
        (
            shortened(log.name, _LONGEST_NAME) + "*" * (log.name in pooled.differing),
            [*(comparison.shown(log.parameters[name]) for name in _SHOWN), log.usable],
        )
        for log in fitted
        if log.name in kept
    ]
    if any(pooled.intervals.values()):
        values = []
        for name in _SHOWN:
            interval = pooled.intervals[name]
            half = None if interval is None else 0.5 * (interval[1] - interval[0])
            value = pooled.values[name]
            values.append("–" if half is None else comparison.with_half_width(name, value, half))
        lines.append(("pooled", [*values, ""]))
    yield from grouped_lines(heads, [""] * len(lines), lines)
    if len(fitted) > len(kept):
        yield f"… and {len(fitted) - _MOST_LOGS} more logs in table.csv"
    said = f"m in {units['m'].name}, c in {units['cx'].name}, Ic in {units['Icxx'].name}"
    marks = "; * differs from the rest" * bool(pooled.differing)
    yield from wrap(f"{said}; ± half of the 95 % interval{marks}", WIDTH)

"""Separate fits side by side: what came of each log, and in words whether they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from identify.estimation.calibration import NOT_INCLUDED
from identify.exchange import SavedEstimate
from identify.reporting.content import TERMINAL_WIDTH, make_table, row, terminal_lines
from identify.reporting.parameter_table import (
    ABOUT_COM,
    Group,
    ParameterRow,
    display_unit,
    parameter_rows,
)
from identify.reporting.rounding import Unit, decimals_for, fixed, plus_minus, significant
from identify.validation import PooledEstimates, pool_estimates

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FittedLog:
    """What came of a log that was fitted for itself.

    Attributes:
        name: of the log, and of its folder.
        file: its path.
        status: "duplicate" where it has the data of an earlier one, and was not fitted.
        estimate: where it is fitted.
        rows: of the log.
        duration: of the log [s]; None for still poses.
        error_type: kind of the error, where it failed.
        error: its message, or which log it is a duplicate of.
        exit_code: what `identify fit` of this log alone ends with.
        report: whether it has a report.
        link: from the page to its report or estimate; else they are in the folder of its name.
    """

    name: str
    file: str
    status: Literal["fitted", "failed", "duplicate"]
    estimate: SavedEstimate | None = None
    rows: int | None = None
    duration: float | None = None
    error_type: str = ""
    error: str = ""
    exit_code: int = 0
    report: bool = False
    link: str = ""

    @property
    def usable(self) -> str:
        """What the verdict says; empty where there is no estimate."""
        if self.estimate is None or self.estimate.verdict is None:
            return ""
        return self.estimate.verdict.usable

    @property
    def findings(self) -> tuple[str, ...]:
        """Codes of the errors and warnings."""
        if self.estimate is None or self.estimate.verdict is None:
            return ()
        return self.estimate.verdict.reasons

    @property
    def r_squared(self) -> float | None:
        """The least of the axes that have a signal, on data held out."""
        scores = () if self.estimate is None else self.estimate.r_squared or ()
        return min((score for score in scores if score is not None), default=None)

    @cached_property
    def parameters(self) -> dict[str, ParameterRow]:
        """Mass, centre of mass and inertia about it, by name; none where it is not fitted."""
        if self.estimate is None:
            return {}
        return {one.name: one for one in parameter_rows(self.estimate, None, ABOUT_COM)}


@dataclass(frozen=True)
class Comparison:
    """Logs that were fitted each for itself, sorted by name, and whether their estimates agree.

    Those that a finding says not to use are not compared.

    Attributes:
        logs: all of them.
        dropped: names of folders with estimates of earlier runs, whose logs are not among these.
        notes: what else is to know of them, a sentence each.
    """

    logs: tuple[FittedLog, ...]
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def pooled(self) -> PooledEstimates:
        """The estimates that may be used, together."""
        return pool_estimates(
            {
                log.name: log.estimate
                for log in self.logs
                if log.estimate is not None and log.usable != "no"
            }
        )

    def of_status(self, status: str) -> tuple[FittedLog, ...]:
        """The logs of a status."""
        return tuple(log for log in self.logs if log.status == status)

    @cached_property
    def units(self) -> dict[str, Unit]:
        """The unit that each parameter is shown in, by name."""
        compared = [log for log in self.logs if log.name in self.pooled.by_name]
        rows = [one for log in compared or self.logs for one in log.parameters.values()]
        largest: dict[Group, float] = {}
        for one in rows:
            largest[one.group] = max(abs(one.value), largest.get(one.group, 0.0))
        return {one.name: display_unit(one.group, largest[one.group]) for one in rows}

    def shown(self, one: ParameterRow) -> str:
        """A parameter of a log as text, rounded to what its interval supports."""
        if not one.from_data:
            return "–"
        if one.decided_by == "given":
            return f"{self.units[one.name].of(one.value):g} given"
        return self.with_half_width(one.name, one.value, one.half_width)

    def with_half_width(self, name: str, value: float, half_width: float | None) -> str:
        """A value of a parameter with half of its interval's width as text, in its unit."""
        unit = self.units[name]
        value, half = unit.of(value), None if half_width is None else unit.of(half_width)
        decimals = decimals_for(half, abs(value))
        text = fixed(value, decimals)
        return text if half is None else f"{text} {plus_minus(half, decimals)}"

    def pooled_text(self, name: str) -> str:
        """The pooled value of a parameter as text; a dash where there is none."""
        interval = self.pooled.intervals[name]
        if interval is None:
            return "–"
        half = 0.5 * (interval[1] - interval[0])
        return self.with_half_width(name, self.pooled.values[name], half)

    def frame(self) -> pd.DataFrame:
        """The table: one row a log, in SI; empty where a log has no such value."""
        import pandas as pd

        return pd.DataFrame([dict(self._record(log)) for log in self.logs]).astype(_TYPES)

    def _record(self, log: FittedLog) -> Iterator[tuple[str, object]]:
        yield from (("log", log.name), ("file", log.file), ("status", log.status))
        yield from (("usable", log.usable or None), ("findings", " ".join(log.findings) or None))
        yield from (("rows", log.rows), ("duration", log.duration))
        for name in _NAMES:
            found = log.parameters.get(name)
            low, high = (found.interval if found else None) or (None, None)
            yield name, found and found.value
            yield from ((f"{name}_low", low), (f"{name}_high", high))
            yield f"{name}_decided_by", (found and found.decided_by) or None
        yield "r_squared_least", log.r_squared
        beside = self.pooled.by_name.get(log.name)
        yield "compared", beside is not None
        yield "p_same", beside and beside.p
        yield "differs", log.name in self.pooled.differing
        yield "error_type", log.error_type or None
        yield "error", log.error or None


_NAMES = ("m", "cx", "cy", "cz", "Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
_NUMBERS = (*(f"{name}{end}" for name in _NAMES for end in ("", "_low", "_high")), "duration")
_TEXTS = ("log", "file", "status", "usable", "findings", "error_type", "error")
_TYPES = {
    **dict.fromkeys((*_NUMBERS, "r_squared_least", "p_same"), "float64"),
    **dict.fromkeys((*_TEXTS, *(f"{name}_decided_by" for name in _NAMES)), "string"),
    **dict.fromkeys(("compared", "differs"), "bool"),
    "rows": "Int64",
}


def shortened(names: Sequence[str], most: int) -> dict[str, str]:
    """Names with their middle left out where they are longer, or what they have in common.

    They stay different: where nothing else helps, by their numbers.
    """
    short = {name: _without_middle(name, most) for name in names}
    if len(set(short.values())) == len(short):
        return short
    begin = len(commonprefix(names))  # noqa: RUF071 - of characters
    end = len(commonprefix([name[begin:][::-1] for name in names]))  # noqa: RUF071
    for name in short:
        own = f"…{name[begin:]}" if begin else name
        short[name] = _without_middle(f"{own[: len(own) - end]}…" if end else own, most)
    if len(set(short.values())) == len(short):
        return short
    return {name: _without_middle(f"{number} {name}", most) for number, name in enumerate(short, 1)}


def _without_middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    return f"{name[: most // 2 - 1]}…{name[len(name) - most + most // 2 :]}"


def listed(words: Sequence[str], most: int) -> str:
    """Some words, and how many more there are."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


_MOST_LOGS_NAMED = 8
"""Logs that are named in a sentence."""


def answer(comparison: Comparison) -> str:
    """The verdict in a few words."""
    pooled = comparison.pooled
    if pooled.verdict == "cannot be told":
        return "undecided"
    if pooled.verdict == "agree":
        return f"the {len(pooled.by_name)} estimates agree"
    if pooled.differing:
        return f"{len(pooled.differing)} of {len(pooled.by_name)} estimates differ from the rest"
    return f"the {len(pooled.by_name)} estimates differ"


def reasons(comparison: Comparison) -> Iterator[str]:
    """What it rests on, a sentence each."""
    pooled = comparison.pooled
    if pooled.verdict == "cannot be told":
        yield f"Whether the logs agree is undecided: {pooled.why}."
    spread = (
        f"They scatter {significant(pooled.scatter or 0.0, 3)} times as much as their intervals "
        f"predict; were the body the same, p {chance_text(pooled.p)} is the probability of that."
    )
    if pooled.verdict == "agree":
        yield spread
        yield _noticed(comparison)
    if pooled.verdict == "differ":
        yield from _which(comparison, spread)
    if not pooled.calibrated:
        yield f"Intervals, and those of the pooled values, are of {NOT_INCLUDED}."
    unusable = [log.name for log in comparison.logs if log.usable == "no"]
    if unusable:
        are = "is" if len(unusable) == 1 else "are"
        yield (
            f"{listed(unusable, _MOST_LOGS_NAMED)} {are} not compared: findings say not to use "
            f"{'it' if len(unusable) == 1 else 'them'}."
        )
    yield from comparison.notes
    if comparison.dropped:
        yield (
            f"Folders of earlier runs whose logs are not among these: "
            f"{listed(comparison.dropped, _MOST_LOGS_NAMED)}."
        )


def _which(comparison: Comparison, spread: str) -> Iterator[str]:
    pooled = comparison.pooled
    if pooled.differing:
        said = [
            f"{name} ({', '.join(beside.parameters)}; p {chance_text(beside.p)})"
            for name in pooled.differing
            for beside in [pooled.by_name[name]]
        ]
        yield f"These differ from the rest: {listed(said, _MOST_LOGS_NAMED)}."
        yield spread
        yield "The pooled values are those of the rest."
        return
    tested = {name: p for name, p in pooled.by_parameter.items() if p is not None}
    least = min(tested, key=lambda name: tested[name])
    names = list(pooled.by_name)
    yield spread
    if len(names) > 2:
        yield "No small group of logs differs from the majority."
    yield f"The parameter that differs most is {least}, p {chance_text(tested[least])}."
    yield "There are no pooled values, as most logs do not agree on one body."


def _noticed(comparison: Comparison) -> str:
    """What a log would have to differ by."""
    noticed, parts = comparison.pooled.detectable, []
    for what, names in _GROUPS.items():
        known = [(size, name) for name in names if (size := noticed[name]) is not None]
        if known:
            size, name = max(known)
            unit = comparison.units[name]
            parts.append(f"{_with_unit(significant(unit.of(size)), unit.name)} in {what}")
    return f"A typical log is noticed if it differs by {', by '.join(parts)}."


_GROUPS = {
    "mass": ("m",),
    "a coordinate of the centre of mass": ("cx", "cy", "cz"),
    "an entry of the inertia": ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz"),
}


def chance_text(value: float | None) -> str:
    """A probability of a difference by chance, behind its sign: = 0.2, < 1e-12."""
    if value is None:
        return "unknown"
    if value < 1e-12:
        return "< 1e-12"
    return f"= {value:.2f}" if value >= 0.095 else f"= {value:.1g}"


def _with_unit(number: str, unit: str) -> str:
    """A number and its unit, a power of ten set off: 0.42 · 10⁻³ kg m²."""
    return f"{number} · {unit}" if unit.startswith("10") else f"{number} {unit}"


_SHOWN = ("m", "cx", "cy", "cz", "Icxx", "Icyy", "Iczz")
"""Products of inertia are in the files."""

_MOST_LOGS = 40
"""That are listed; the files have all of them."""

_LONGEST_LISTED_NAME = 22


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Fitted logs with mass, centre of mass and moments of inertia; those that failed; verdict."""
    fitted = comparison.of_status("fitted")
    if fitted:
        yield from _table(comparison, fitted)
    for status, title in (("failed", "Failed"), ("duplicate", "Not fitted")):
        logs = comparison.of_status(status)
        for log in logs[:_MOST_LOGS]:
            yield from wrap(
                f"{title}: {log.name}: {log.error}", TERMINAL_WIDTH, subsequent_indent="  "
            )
        if len(logs) > _MOST_LOGS:
            yield f"{title}: {len(logs) - _MOST_LOGS} more, see table.csv"
    said = f"{answer(comparison).capitalize()}. {' '.join(reasons(comparison))}"
    yield from wrap(said, TERMINAL_WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _table(comparison: Comparison, fitted: tuple[FittedLog, ...]) -> Iterator[str]:
    units, pooled = comparison.units, comparison.pooled
    heads = ["", *_SHOWN, "usable"]
    # Those that somebody has to look at are among the listed.
    first = [log for log in fitted if log.name in pooled.differing or log.usable == "no"]
    kept = [*dict.fromkeys(log.name for log in (*first, *fitted))][:_MOST_LOGS]
    names = shortened([log.name for log in fitted], _LONGEST_LISTED_NAME)
    lines = [
        row(
            names[log.name] + "*" * (log.name in pooled.differing),
            *(comparison.shown(log.parameters[name]) for name in _SHOWN),
            log.usable,
        )
        for log in fitted
        if log.name in kept
    ]
    if any(pooled.intervals.values()):
        lines.append(row("pooled", *map(comparison.pooled_text, _SHOWN), ""))
    yield from terminal_lines(make_table(heads, lines))
    if len(fitted) > len(kept):
        yield f"… and {len(fitted) - _MOST_LOGS} more logs in table.csv"
    said = f"m in {units['m'].name}, c in {units['cx'].name}, Ic in {units['Icxx'].name}"
    marks = "; * differs from the rest" * bool(pooled.differing)
    yield from wrap(f"{said}; ± half of the 95 % interval{marks}", TERMINAL_WIDTH)

"""Comparison of separate fits: a table of the logs, and the agreement of estimates in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
from identify.exchange import SavedEstimate
from identify.reporting.content import TERMINAL_WIDTH, make_row, make_table, terminal_lines
from identify.reporting.parameter_table import (
    GROUPS_ABOUT_COM,
    ParameterGroup,
    ParameterRow,
    display_unit,
    parameter_rows,
)
from identify.reporting.rounding import (
    Unit,
    decimals_for,
    format_fixed,
    format_half_width,
    format_significant,
)
from identify.validation import PooledEstimates, pool_estimates

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FittedLog:
    """Outcome of the separate fit of one of several logs.

    Attributes:
        name: of the log, and of its folder.
        file: its path.
        status: "duplicate" if it has the data of an earlier log and was not fitted.
        estimate: if it was fitted.
        rows: number of rows of the log.
        duration: of the log [s]; None for static poses.
        error_type: kind of the error, if it failed.
        error: its message, or the log of which it is a duplicate.
        exit_code: exit status of `identify fit` for this log.
        report: whether it has a report.
        link: from the page to its report or estimate; by default in the folder of its name.
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
        """Verdict "yes", "with care" or "no"; empty if the log has no estimate."""
        if self.estimate is None or self.estimate.verdict is None:
            return ""
        return self.estimate.verdict.usable

    @property
    def findings(self) -> tuple[str, ...]:
        """Codes of the fit's errors and warnings."""
        if self.estimate is None or self.estimate.verdict is None:
            return ()
        return self.estimate.verdict.reasons

    @property
    def r_squared(self) -> float | None:
        """Lowest held-out R² of the axes that have a signal."""
        scores = () if self.estimate is None else self.estimate.r_squared or ()
        return min((score for score in scores if score is not None), default=None)

    @cached_property
    def parameters(self) -> dict[str, ParameterRow]:
        """Parameters about the centre of mass by name; empty if the log was not fitted."""
        if self.estimate is None:
            return {}
        return {line.name: line for line in parameter_rows(self.estimate, None, GROUPS_ABOUT_COM)}


@dataclass(frozen=True)
class Comparison:
    """Separately fitted logs, sorted by name, and the agreement of their estimates.

    Unusable estimates are not compared.

    Attributes:
        logs: all of them.
        stale_folders: names of folders with estimates of earlier runs of other logs.
        notes: further remarks, one sentence each.
    """

    logs: tuple[FittedLog, ...]
    stale_folders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def pooled(self) -> PooledEstimates:
        """Usable estimates of all logs, pooled to one estimate."""
        return pool_estimates(
            {
                log.name: log.estimate
                for log in self.logs
                if log.estimate is not None and log.usable != "no"
            }
        )

    def logs_with_status(self, status: str) -> tuple[FittedLog, ...]:
        """Return the logs whose fit has a given status: fitted, failed or duplicate."""
        return tuple(log for log in self.logs if log.status == status)

    @cached_property
    def units(self) -> dict[str, Unit]:
        """Display unit of each parameter, by name."""
        compared = [log for log in self.logs if log.name in self.pooled.by_name]
        rows = [line for log in compared or self.logs for line in log.parameters.values()]
        largest: dict[ParameterGroup, float] = {}
        for line in rows:
            largest[line.group] = max(abs(line.value), largest.get(line.group, 0.0))
        return {line.name: display_unit(line.group, largest[line.group]) for line in rows}

    def parameter_text(self, parameter: ParameterRow) -> str:
        """Format a parameter of a log, rounded to the digits that its interval supports."""
        if not parameter.from_data:
            return "–"
        if parameter.decided_by == "given":
            return f"{self.units[parameter.name].of(parameter.value):g} given"
        return self.with_half_width(parameter.name, parameter.value, parameter.half_width)

    def with_half_width(self, name: str, value: float, half_width: float | None) -> str:
        """Format a value of a parameter and its half-width, in the parameter's display unit."""
        unit = self.units[name]
        value, half = unit.of(value), None if half_width is None else unit.of(half_width)
        decimals = decimals_for(half, abs(value))
        text = format_fixed(value, decimals)
        return text if half is None else f"{text} {format_half_width(half, decimals)}"

    def pooled_text(self, name: str) -> str:
        """Format the pooled value of a parameter; a dash if there is none."""
        interval = self.pooled.intervals[name]
        if interval is None:
            return "–"
        half = 0.5 * (interval[1] - interval[0])
        return self.with_half_width(name, self.pooled.values[name], half)

    def frame(self) -> pd.DataFrame:
        """Return a table of the fits with one row per log, in SI; missing values are empty."""
        import pandas as pd

        return pd.DataFrame([dict(self._record(log)) for log in self.logs]).astype(_COLUMN_TYPES)

    def _record(self, log: FittedLog) -> Iterator[tuple[str, object]]:
        yield from (("log", log.name), ("file", log.file), ("status", log.status))
        yield from (("usable", log.usable or None), ("findings", " ".join(log.findings) or None))
        yield from (("rows", log.rows), ("duration", log.duration))
        for name in _PARAMETER_NAMES:
            parameter = log.parameters.get(name)
            low, high = (parameter.interval if parameter else None) or (None, None)
            yield name, parameter and parameter.value
            yield from ((f"{name}_low", low), (f"{name}_high", high))
            yield f"{name}_decided_by", (parameter and parameter.decided_by) or None
        yield "r_squared_least", log.r_squared
        test = self.pooled.by_name.get(log.name)
        yield "compared", test is not None
        yield "p_same", test and test.p
        yield "differs", log.name in self.pooled.differing
        yield "error_type", log.error_type or None
        yield "error", log.error or None


_PARAMETER_NAMES = ("m", "cx", "cy", "cz", "Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
_NUMBER_COLUMNS = (
    *(f"{name}{end}" for name in _PARAMETER_NAMES for end in ("", "_low", "_high")),
    "duration",
)
_TEXT_COLUMNS = ("log", "file", "status", "usable", "findings", "error_type", "error")
_COLUMN_TYPES = {
    **dict.fromkeys((*_NUMBER_COLUMNS, "r_squared_least", "p_same"), "float64"),
    **dict.fromkeys(
        (*_TEXT_COLUMNS, *(f"{name}_decided_by" for name in _PARAMETER_NAMES)), "string"
    ),
    **dict.fromkeys(("compared", "differs"), "bool"),
    "rows": "Int64",
}


def shorten_names(names: Sequence[str], max_length: int) -> dict[str, str]:
    """Shorten names of logs by omitting their middle, or else their common parts.

    They stay distinct: if necessary, they are numbered.
    """
    short = {name: _without_middle(name, max_length) for name in names}
    if len(set(short.values())) == len(short):
        return short
    begin = len(commonprefix(names))  # noqa: RUF071 - of characters
    end = len(commonprefix([name[begin:][::-1] for name in names]))  # noqa: RUF071
    for name in short:
        distinct = f"…{name[begin:]}" if begin else name
        distinct = f"{distinct[: len(distinct) - end]}…" if end else distinct
        short[name] = _without_middle(distinct, max_length)
    if len(set(short.values())) == len(short):
        return short
    return {
        name: _without_middle(f"{number} {name}", max_length)
        for number, name in enumerate(short, 1)
    }


def _without_middle(name: str, max_length: int) -> str:
    """Shorten a name by replacing its middle with an ellipsis."""
    if len(name) <= max_length:
        return name
    return f"{name[: max_length // 2 - 1]}…{name[len(name) - max_length + max_length // 2 :]}"


def join_first(words: Sequence[str], count: int) -> str:
    """Join the first words of a list, and state the number of further words."""
    more = f" and {len(words) - count} more" if len(words) > count else ""
    return ", ".join(words[:count]) + more


_MAX_LOGS_NAMED = 8
"""Maximum number of logs that are named in a sentence."""


def verdict_text(comparison: Comparison) -> str:
    """Return the verdict on whether the fits agree, in a few words."""
    pooled = comparison.pooled
    if pooled.verdict == "undecided":
        return "undecided"
    if pooled.verdict == "agree":
        return f"the {len(pooled.by_name)} estimates agree"
    if pooled.differing:
        return f"{len(pooled.differing)} of {len(pooled.by_name)} estimates differ from the rest"
    return f"the {len(pooled.by_name)} estimates differ"


def verdict_explanations(comparison: Comparison) -> Iterator[str]:
    """Explain whether separate fits agree, one sentence for each reason."""
    pooled = comparison.pooled
    if pooled.verdict == "undecided":
        yield f"Whether the logs agree is undecided: {pooled.undecided_reason}."
    spread = (
        f"They scatter {format_significant(pooled.scatter or 0.0, 3)} times as much as their "
        f"intervals predict; p {p_value_text(pooled.p)} under the hypothesis of one body."
    )
    if pooled.verdict == "agree":
        yield spread
        yield _detectable_sentence(comparison)
    if pooled.verdict == "differ":
        yield from _difference_sentences(comparison, spread)
    if not pooled.calibrated:
        yield f"All intervals, also those of the pooled values: {WITHOUT_SENSOR_FAULTS}."
    unusable = [log.name for log in comparison.logs if log.usable == "no"]
    if unusable:
        are = "is" if len(unusable) == 1 else "are"
        yield (
            f"{join_first(unusable, _MAX_LOGS_NAMED)} {are} not compared: findings say not to use "
            f"{'it' if len(unusable) == 1 else 'them'}."
        )
    yield from comparison.notes
    if comparison.stale_folders:
        yield (
            f"Folders of earlier runs whose logs are not among these: "
            f"{join_first(comparison.stale_folders, _MAX_LOGS_NAMED)}."
        )


def _difference_sentences(comparison: Comparison, spread: str) -> Iterator[str]:
    pooled = comparison.pooled
    if pooled.differing:
        tests = [(name, pooled.by_name[name]) for name in pooled.differing]
        differing = [
            f"{name} ({', '.join(test.parameters)}; p {p_value_text(test.p)})"
            for name, test in tests
        ]
        yield f"These differ from the rest: {join_first(differing, _MAX_LOGS_NAMED)}."
        yield spread
        yield "The pooled values are those of the other logs."
        return
    tested = {name: p for name, p in pooled.by_parameter.items() if p is not None}
    parameter = min(tested, key=lambda name: tested[name])
    names = list(pooled.by_name)
    yield spread
    if len(names) > 2:
        yield "No small group of logs differs from the majority."
    yield f"The parameter that differs most is {parameter}, p {p_value_text(tested[parameter])}."
    yield "There are no pooled values, because most logs do not agree on one body."


def _detectable_sentence(comparison: Comparison) -> str:
    """State how much the body of a typical log must differ for the test to detect it."""
    detectable, parts = comparison.pooled.detectable, []
    for group, names in _PARAMETERS_OF_QUANTITY.items():
        sizes = [(size, name) for name in names if (size := detectable[name]) is not None]
        if sizes:
            size, name = max(sizes)
            unit = comparison.units[name]
            times = " ·" if unit.name.startswith("10") else ""  # 0.42 · 10⁻³ kg m²
            parts.append(f"{format_significant(unit.of(size))}{times} {unit.name} in {group}")
    return f"A typical log is detected if it differs by {', by '.join(parts)}."


_PARAMETERS_OF_QUANTITY = {
    "mass": ("m",),
    "a coordinate of the centre of mass": ("cx", "cy", "cz"),
    "an entry of the inertia": ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz"),
}


def p_value_text(value: float | None) -> str:
    """Format a p-value with its relation sign: = 0.2, < 1e-12."""
    if value is None:
        return "unknown"
    if value < 1e-12:
        return "< 1e-12"
    return f"= {value:.2f}" if value >= 0.095 else f"= {value:.1g}"


_TERMINAL_PARAMETERS = ("m", "cx", "cy", "cz", "Icxx", "Icyy", "Iczz")
"""Parameters shown in the terminal; products of inertia are only in files."""

_MAX_TERMINAL_LOGS = 40
"""Maximum number of logs printed in the terminal; files contain all logs."""

_MAX_NAME_LENGTH = 22


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """Format the table of fitted logs, the failed logs and the verdict for a terminal."""
    fitted = comparison.logs_with_status("fitted")
    if fitted:
        yield from _table_lines(comparison, fitted)
    for status, title in (("failed", "Failed"), ("duplicate", "Not fitted")):
        logs = comparison.logs_with_status(status)
        for log in logs[:_MAX_TERMINAL_LOGS]:
            yield from wrap(
                f"{title}: {log.name}: {log.error}", TERMINAL_WIDTH, subsequent_indent="  "
            )
        if len(logs) > _MAX_TERMINAL_LOGS:
            yield f"{title}: {len(logs) - _MAX_TERMINAL_LOGS} more, see table.csv"
    summary = (
        f"{verdict_text(comparison).capitalize()}. {' '.join(verdict_explanations(comparison))}"
    )
    yield from wrap(summary, TERMINAL_WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _table_lines(comparison: Comparison, fitted: tuple[FittedLog, ...]) -> Iterator[str]:
    units, pooled = comparison.units, comparison.pooled
    heads = ["", *_TERMINAL_PARAMETERS, "usable"]
    # Logs that need attention are always listed.
    first = [log for log in fitted if log.name in pooled.differing or log.usable == "no"]
    kept = [*dict.fromkeys(log.name for log in (*first, *fitted))][:_MAX_TERMINAL_LOGS]
    names = shorten_names([log.name for log in fitted], _MAX_NAME_LENGTH)
    lines = [
        make_row(
            names[log.name] + "*" * (log.name in pooled.differing),
            *(comparison.parameter_text(log.parameters[name]) for name in _TERMINAL_PARAMETERS),
            log.usable,
        )
        for log in fitted
        if log.name in kept
    ]
    if any(pooled.intervals.values()):
        lines.append(make_row("pooled", *map(comparison.pooled_text, _TERMINAL_PARAMETERS), ""))
    yield from terminal_lines(make_table(heads, lines))
    if len(fitted) > len(kept):
        yield f"… and {len(fitted) - _MAX_TERMINAL_LOGS} more logs in table.csv"
    legend = f"m in {units['m'].name}, c in {units['cx'].name}, Ic in {units['Icxx'].name}"
    footnote = "; * differs from the rest" * bool(pooled.differing)
    yield from wrap(f"{legend}; ± half of the 95 % interval{footnote}", TERMINAL_WIDTH)

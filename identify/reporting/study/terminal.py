"""Scores and comparisons as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from identify.experiments import Results, table
from identify.experiments.results import BY, default_metrics, in_order
from identify.reporting.study.rows import (
    counted,
    failures_counted,
    partial_metrics,
)
from identify.reporting.study.wording import heading, percent

WIDTH = 80
_GAP = 2
_FIXED = "\N{NO-BREAK SPACE}"
_LONGEST_NAME = 24
"""A longer name has a line of its own."""


def scores_text(
    results: Results, metrics: Sequence[str] | None = None, by: Sequence[str] = BY
) -> str:
    """Means of the metrics, grouped by all but the last of `by`; wide tables come in several.

    A failed fit counts as not consistent; a mean that not all estimates enter has their number
    beside it.

    Args:
        results: rows of one code.
        metrics: columns; where not given, those of a single column that have any value.
        by: columns that make a line.

    Raises:
        StudyError: a column that the results do not have; the nearest is named.
    """
    frame: Any = results.frame
    if metrics is None:
        names = default_metrics(results)
        metrics = [name for name in names if frame[name].notna().any()] or names[:1]
    frame = failures_counted(frame)
    results = replace(results, frame=frame)
    means: Any = table(results, metrics, by=by)
    records = means.to_dict("records")
    counts: Any = frame.groupby(list(by), sort=False, dropna=False)[list(metrics)].count()
    numbers = in_order(counts.reset_index(), results.info, by).to_dict("records")
    partial = partial_metrics(frame, metrics)
    lines, groups = [], []
    cells: dict[str, list[int]] = {}
    for record, number in zip(records, numbers, strict=True):
        shown = {name: heading(name).narrowly(record[name]) for name in metrics}
        shown |= {name: counted(shown[name], number[name]) for name in partial}
        lines.append((_text(record[by[-1]]), [*shown.values(), str(record["failed"])]))
        groups.append(", ".join(_text(record[column]) for column in by[:-1]))
        cells.setdefault(groups[-1], []).append(record["cells"])
    titles = {group: _counted(group, min(of), max(of)) for group, of in cells.items()}
    heads = [*(heading(name).narrow for name in metrics), "failed"]
    text = [*grouped_lines(heads, [titles[group] for group in groups], lines)]
    if partial:
        text.append("(n …): mean of so many fits; the other estimates have no such value")
    if means["failed"].any() and "consistent" in metrics:
        text.append("cons.%: of all fits that were tried; one that failed is not consistent")
    return "\n".join([*text, *_legend(metrics)])


def _counted(group: str, low: int, high: int) -> str:
    """The name of a group with how many cells a line of it has."""
    count = f"{low} cells each" if low == high else f"{low} to {high} cells each"
    return f"{group} ({count})" if group else f"({count})"


def comparison_text(frame: Any, first: str, second: str) -> str:
    """The table of `compare`: means, difference, its interval, and how often the second is less.

    Args:
        frame: of `identify.experiments.compare`.
        first: label of the estimator A.
        second: label of the estimator B.
    """
    heads = ["A", "B", "B − A", "low", "high ", "B < A", "pairs"]
    groups, lines = [], []
    for record in frame.to_dict("records"):
        words = heading(record["metric"])
        numbers = [record[key] for key in ("first", "second", "difference", "low", "high")]
        cells = [words.narrowly(value) for value in numbers]
        cells[-1] += "*" if record["low"] > 0.0 or record["high"] < 0.0 else " "
        better = percent(record["better"])
        cells += [better if better == "–" else f"{better} %", str(record["pairs"])]
        groups.append(str(record["perturbation"]))
        lines.append((words.narrow, cells))
    return "\n".join(
        [f"A: {first}", f"B: {second}", *grouped_lines(heads, groups, lines), *_notes(frame)]
    )


def _notes(frame: Any) -> Iterator[str]:
    logs = int(frame["logs"].max())
    units = f"the {logs} logs, each averaged over its seeds" if logs > 1 else "the seeds"
    yield "low, high: 95 % interval of the difference; * zero is outside"
    yield f"           over {units}"
    yield "B < A: share of the pairs in which B has the smaller value"
    if left := int(frame["unpaired"].max()):
        yield f"pairs: up to {left} noisy logs lack a value of A or B, and do not count"
    yield from _legend(list(frame["metric"].unique()))


def _legend(names: Sequence[str]) -> list[str]:
    """What the short headings stand for, where they are not the metric's own name."""
    short = {name: heading(name).narrow for name in names}
    said = [f"{words}: {name}" for name, words in short.items() if words.split()[0] != name]
    whole = "; ".join(text.replace(" ", _FIXED) for text in said)
    return [line.replace(_FIXED, " ") for line in wrap(whole, WIDTH, break_long_words=False)]


def grouped_lines(
    heads: Sequence[str], groups: Sequence[str], lines: Sequence[tuple[str, list[str]]]
) -> Iterator[str]:
    """Lines under the name of their group, the columns in as many pieces as the width needs."""
    indent = "  " if any(groups) else ""
    names = [indent + name for name, _ in lines]
    short = [len(name) for name in names if len(name) <= _LONGEST_NAME]
    first = max([8, *short])
    widths = [
        max(len(head), *(len(cells[place]) for _, cells in lines))
        for place, head in enumerate(heads)
    ]
    for index, piece in enumerate(_pieces(widths, WIDTH - first)):
        if index:
            yield ""
        yield _line("", first, ((heads[place], widths[place]) for place in piece))
        group = ""
        for own, name, (_, cells) in zip(groups, names, lines, strict=True):
            if own != group:
                group = own
                yield own
            shown = [(cells[place], widths[place]) for place in piece]
            if len(name) > first:
                yield name
            yield _line(name if len(name) <= first else "", first, shown)


def _pieces(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Places of the columns, as many together as there is room for."""
    piece: list[int] = []
    used = 0
    for place, width in enumerate(widths):
        if piece and used + _GAP + width > room:
            yield piece
            piece, used = [], 0
        piece.append(place)
        used += _GAP + width
    yield piece


def _line(name: str, first: int, cells: Iterable[tuple[str, int]]) -> str:
    numbers = "".join(" " * _GAP + cell.rjust(width) for cell, width in cells)
    return (name.ljust(first) + numbers).rstrip()


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}" if value == value else "–"
    return str(value)

"""How often the 95 % intervals hold the truth, and how wide they are beside the errors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.reporting.canvas import BAND, ESTIMATE, INK, MUTED, Column, Panel, compose
from identify.reporting.content import markdown, table_of
from identify.reporting.study.accuracy import (
    NOTE_ROOM,
    TITLE_ROOM,
    StudyFigure,
    clipped,
    fitted,
    key,
)
from identify.reporting.study.rows import StudyRows, code, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WANTED = (92.0, 98.0)
"""Pooled coverage of a parameter that 95 % intervals should have [%]."""

LEAST_OF_A_LOG = 85.0
"""Coverage of a parameter that they should have on every log [%]."""

_NORMAL = 1.959964
_NOTE = (
    "Covered: of the intervals given, how many hold the true value. Worst log: the lowest share of "
    "one log with at least {fewest} intervals. Given: share of the estimates that have an "
    "interval. Pooled: of all intervals together, whatever they are of. Width: median half-width "
    "over 1.96 × the RMS error of the same trials, for each log, then the median over the logs: 1 "
    "is a width that suits the errors."
)
_FEWEST = 5
_JUDGED = (
    "perturbation",
    "pooled",
    "least parameter",
    f"parameters covered {WANTED[0]:g} to {WANTED[1]:g} %",
    f"log × parameter covered ≥ {LEAST_OF_A_LOG:g} %",
    "worst log × parameter",
    "given",
    "median width",
)


def coverage(rows: StudyRows) -> str:
    """A table for each estimator that gives intervals: four lines a perturbation."""
    names = rows.interval_names
    tables = []
    for estimator, ours in rows.parts("estimator"):
        parts = [(label, ours[ours["perturbation"] == label]) for label in rows.noisy]
        judged = [_judged(part, label, names) for label, part in parts]
        lines = [line for label, part in parts for line in _lines(part, label, names)]
        if lines:
            text = markdown(table_of(_JUDGED, [line for line in judged if line]))
            tables.append(f"Estimator {code(estimator)}:\n\n{text}")
            tables.append(markdown(table_of(("perturbation", "", *names), lines, words=2)))
    if not tables:
        return ""
    note = _NOTE.format(fewest=_FEWEST)
    return "\n\n".join(["## Coverage of the 95 % intervals [%]", *tables, note])


def _judged(part: Any, perturbation: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """How all intervals together cover, how many as they should, and how wide they are."""
    given = [name for name in names if part[f"covered_{name}"].notna().any()]
    if not given:
        return ()
    worked = part[part["error_type"].isna()][[f"covered_{name}" for name in names]]
    every = worked.to_numpy(dtype=np.float64, na_value=np.nan)
    of_one = 100.0 * np.array([pooled(part, name) for name in given])
    within = int(((of_one >= WANTED[0]) & (of_one <= WANTED[1])).sum())
    logs = 100.0 * np.concatenate([by_log(part, name).to_numpy() for name in given])
    least = int((logs >= LEAST_OF_A_LOG).sum())
    widths = np.array([_width(part, name) for name in given])
    return (
        code(perturbation),
        number(100.0 * float(np.nanmean(every))),
        number(float(of_one.min())),
        f"{within} of {len(given)}",
        f"{least} of {len(logs)}",
        number(float(logs.min()) if len(logs) else float("nan")),
        number(100.0 * float(np.isfinite(every).mean())),
        number(float(np.nanmedian(widths)) if np.isfinite(widths).any() else float("nan"), 2),
    )


def pooled(part: Any, name: str) -> float:
    """Share of the intervals of a parameter that hold the truth; NaN without any."""
    return float(part[f"covered_{name}"].mean())


def by_log(part: Any, name: str) -> Any:
    """The same for each log that has enough intervals to say."""
    groups = part.groupby("log")[f"covered_{name}"]
    return groups.mean()[groups.count() >= _FEWEST]


def _lines(part: Any, perturbation: str, names: tuple[str, ...]) -> list[list[str]]:
    if part.empty or not part[[f"covered_{name}" for name in names]].notna().any(axis=None):
        return []
    worked = part[part["error_type"].isna()]
    lines = {
        "covered": [number(100.0 * pooled(worked, name)) for name in names],
        "worst log": [number(100.0 * by_log(worked, name).min()) for name in names],
        "given": [number(100.0 * worked[f"covered_{name}"].notna().mean()) for name in names],
        "width": [number(_width(worked, name), 2) for name in names],
    }
    return [[code(perturbation), what, *cells] for what, cells in lines.items()]


def _width(part: Any, name: str) -> float:
    columns = [f"half_width_{name}", f"error_{name}"]
    if not set(columns) <= set(part.columns):
        return float("nan")
    ratios = [
        float(log[columns[0]].median() / (_NORMAL * np.sqrt((log[columns[1]] ** 2).mean())))
        for _, log in part.dropna(subset=columns).groupby("log")
        if len(log) >= _FEWEST and log[columns[1]].any()
    ]
    return float(np.median(ratios)) if ratios else float("nan")


_MOST_PANELS = 8
_MOST_ESTIMATORS = 6


def coverage_figures(rows: StudyRows) -> list[StudyFigure]:
    """One figure: a column for each estimator with intervals, a panel for each perturbation."""
    names = rows.interval_names
    if not names:
        return []
    given = rows.frame[[f"covered_{name}" for name in names]].notna().any(axis=1)
    frame = rows.frame[given]
    there = set(frame["perturbation"])
    notes = fitted([label for label in rows.noisy if label in there], NOTE_ROOM)
    by_estimator = dict(iter(frame.groupby("estimator")))
    estimators = [label for label in rows.labels("estimator") if label in by_estimator]
    columns = []
    for estimator in estimators[:_MOST_ESTIMATORS]:
        parts = dict(iter(by_estimator[estimator].groupby("perturbation")))
        shown = [(note, parts[label]) for label, note in notes.items() if label in parts]
        panels = tuple(
            Panel(partial(_draw, part=part, names=names), "covered [%]", note, height=1.25)
            for note, part in shown[:_MOST_PANELS]
        )
        columns.append(Column(clipped(f"Coverage, {estimator}", TITLE_ROOM), "", panels))
    listed = ", ".join(map(code, estimators[:_MOST_ESTIMATORS]))
    caption = (
        "Bars: share of the intervals that hold the true value, over logs and seeds; lines: from "
        "the log that is covered least to the one that is covered most (those with five intervals "
        f"or more); shaded: {WANTED[0]:g} to {WANTED[1]:g} %. From the left: {listed}.{key(notes)}"
    )
    title = "Coverage of the 95 % intervals"
    return [StudyFigure("coverage", title, caption, compose(columns, across=2))]


def _draw(axes: Axes, part: Any, names: tuple[str, ...]) -> None:
    places = np.arange(len(names), dtype=np.float64)
    shares = 100.0 * np.array([pooled(part, name) for name in names])
    logs = [by_log(part, name) for name in names]
    low = 100.0 * np.array([each.min() if len(each) else np.nan for each in logs])
    high = 100.0 * np.array([each.max() if len(each) else np.nan for each in logs])
    axes.set_xlim(-0.7, len(names) - 0.3)
    axes.set_ylim(0.0, 104.0)
    axes.grid(visible=False, axis="x")
    axes.axhspan(*WANTED, color=BAND, lw=0.0)
    axes.axhline(95.0, color=MUTED, lw=0.7, dashes=(3, 2))
    axes.bar(places, shares, width=0.5, color=ESTIMATE, alpha=0.75)
    axes.vlines(places, low, high, color=INK, lw=1.0)
    axes.set_xticks(places, names, rotation=60.0)
    axes.tick_params(axis="x", labelsize=7.0, length=0.0)

"""How often the intervals hold the truth, as bars by parameter."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.reporting.canvas import BAND, ESTIMATE, INK, MUTED, Column, Panel, compose
from identify.reporting.study.figures.study_figure import (
    NOTE_ROOM,
    TITLE_ROOM,
    StudyFigure,
    clipped,
    fitted,
    key,
)
from identify.reporting.study.rows import StudyRows
from identify.reporting.study.sections.intervals import WANTED, by_log, pooled
from identify.reporting.study.wording import code

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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

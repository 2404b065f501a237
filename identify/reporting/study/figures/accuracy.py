"""Errors against what the study sweeps over: noise, duration, excitation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.arrays import Array
from identify.reporting.canvas import ESTIMATE, INK, OTHER, Column, Panel, compose, decades
from identify.reporting.study.figures.labels import (
    TITLE_ROOM,
    Legend,
    fitted,
    key,
    legend,
)
from identify.reporting.study.figures.spread import Spread, exact_note, quantiles, share
from identify.reporting.study.figures.study_figure import StudyFigure
from identify.reporting.study.markdown import code
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.swept import of_logs
from identify.reporting.study.wording import heading, setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = (
    "mass_error",
    "first_moment_error",
    "relative_inertia_error",
    "inertia_error",
    "riemannian",
    "consistent",
)
"""Metrics that are drawn, from the top, where the rows have them."""

LOOKS = (
    (ESTIMATE, "o"),
    (OTHER, "s"),
    ("#17866b", "^"),
    ("#8a5a00", "D"),
    ("#7b3fa0", "v"),
    (INK, "P"),
)
"""Colour and marker of the estimators in their order, the last of the study first."""

_MOST_COLUMNS = 4
_MOST_CATEGORIES = 8
_LONGEST_LEGEND = 40
"""Characters of all labels together; longer ones are numbered and told in the caption."""

_LOGARITHMIC = 8.0
"""Ratio of largest to least from which the horizontal axis is logarithmic."""


_CAPTION = (
    "Median, and bars from the 10th to the 90th percentile, over logs and seeds; hollow: fewer "
    "than half of the cells have the value, so that it is of selected ones; *consistent* is "
    "the share of all fits that were tried: one that failed is not consistent."
)


@dataclass(frozen=True, slots=True)
class _Axis:
    """The horizontal axis: a swept option, or the corruptions one beside the other.

    Attributes:
        column: of the results.
        label: of the axis.
        places: value of the column → where it is drawn.
    """

    column: str
    label: str
    places: dict[Any, float]

    @property
    def categories(self) -> bool:
        return self.column == "perturbation"

    @property
    def logarithmic(self) -> bool:
        values = np.array(list(self.places.values()))
        return not self.categories and values.min() > 0.0 and _spans(values)

    def beside(self, index: int, count: int) -> Array:
        """Places of one of several estimators, each a little beside the others."""
        values = np.array(list(self.places.values()))
        shift = index - 0.5 * (count - 1)
        if self.logarithmic:
            return values * np.exp(shift * 0.01 * np.log(values.max() / values.min()))
        return values + shift * (0.12 if self.categories else 0.012 * np.ptp(values))


def accuracy_figures(rows: StudyRows) -> list[StudyFigure]:
    """One figure for each option that varies; over the corruptions where none does."""
    if not any(name in rows.metrics for name in PANELS):
        return []
    axes = [_swept(rows, column) for column in rows.swept] or _over_corruptions(rows)
    return [_figure(rows, axis) for axis in axes]


def _swept(rows: StudyRows, column: str) -> _Axis:
    values = sorted(rows.frame[column].dropna().unique())
    return _Axis(column, setting(column), {value: float(value) for value in values})


def _over_corruptions(rows: StudyRows) -> list[_Axis]:
    labels = rows.noisy
    if not 1 < len(labels) <= _MOST_CATEGORIES or sum(map(len, labels)) > 60:
        return []
    return [
        _Axis("perturbation", "perturbation", {name: float(i) for i, name in enumerate(labels)})
    ]


def _figure(rows: StudyRows, axis: _Axis) -> StudyFigure:
    facets = _facets(rows, axis)
    estimators = rows.labels("estimator")
    numbered = sum(map(len, estimators)) > _LONGEST_LEGEND
    names = {label: str(i + 1) if numbered else label for i, label in enumerate(estimators)}
    titles = fitted([facet or "Accuracy" for facet in facets], TITLE_ROOM)
    placed = legend(list(names.values()), list(titles.values()))
    columns = [
        _column(rows, axis, facet, title, names, placed)
        for facet, title in zip(facets, titles.values(), strict=True)
    ]
    caption = _CAPTION + key(titles)
    if numbered:
        caption += " " + ", ".join(f"{short}: {code(label)}" for label, short in names.items())
    words = axis.label.split(" [")[0]
    return StudyFigure(
        name=f"accuracy_{axis.column}",
        title=f"Accuracy against {words}",
        caption=caption,
        figure=compose(columns, across=2),
    )


def _facets(rows: StudyRows, axis: _Axis) -> list[str | None]:
    """Corruptions with a column each, where the axis is an option of the logs and they are few."""
    labels = rows.labels("perturbation")
    if of_logs(axis.column) and 1 < len(labels) <= _MOST_COLUMNS:
        return list(labels)
    return [None]


def _column(
    rows: StudyRows,
    axis: _Axis,
    facet: str | None,
    title: str,
    names: dict[str, str],
    placed: Legend,
) -> Column:
    frame = rows.frame if facet is None else rows.frame[rows.frame["perturbation"] == facet]
    metrics = [name for name in PANELS if name in rows.metrics]
    return Column(
        title=title,
        xlabel=axis.label,
        panels=tuple(_panel(frame, axis, name, names) for name in metrics),
        above=placed.above,
        legend_columns=placed.columns,
    )


def _panel(frame: Any, axis: _Axis, metric: str, names: dict[str, str]) -> Panel:
    spread = share if metric == "consistent" else quantiles
    places = list(axis.places)
    spreads = {
        shown: spread(frame[frame["estimator"] == label], axis.column, places, metric)
        for label, shown in names.items()
    }
    return Panel(
        draw=lambda axes: _draw(axes, axis, spreads, shares=spread is share),
        ylabel=heading(metric).text,
        note=exact_note(list(spreads.values())),
        height=0.7 if spread is share else 1.25,
    )


def _draw(axes: Axes, axis: _Axis, spreads: dict[str, Spread], *, shares: bool) -> None:
    _scale_across(axes, axis)
    if not shares:
        axes.set_yscale("log")
    for index, (shown, spread) in enumerate(spreads.items()):
        color, marker = LOOKS[(len(spreads) - 1 - index) % len(LOOKS)]
        places = axis.beside(index, len(spreads))
        drawn = spread.drawn()
        if not shares:
            axes.vlines(places, drawn.low, drawn.high, color=color, lw=1.6, alpha=0.45)
        axes.plot(
            places, drawn.middle, marker, ls="-", color=color, ms=4.0, mew=0.0, label=shown, lw=0.9
        )
        if spread.few.any():
            few = spread.few
            axes.plot(places[few], drawn.middle[few], marker, color=color, mfc="white", ms=4.0)
    if shares:
        axes.set_ylim(-4.0, 104.0)
    elif any(np.isfinite(spread.drawn().middle).any() for spread in spreads.values()):
        _decades_up(axes)
    else:
        axes.set_yticks([])
        axes.set_yticks([], minor=True)


def _scale_across(axes: Axes, axis: _Axis) -> None:
    values = np.array(list(axis.places.values()))
    if axis.categories:
        axes.set_xlim(-0.5, len(values) - 0.5)
        axes.set_xticks(values, list(axis.places))
        return
    if axis.logarithmic:
        axes.set_xlim(values.min() / 1.2, values.max() * 1.2)
        decades(axes)
        return
    margin = 0.06 * float(np.ptp(values))
    axes.set_xlim(values.min() - margin, values.max() + margin)


def _decades_up(axes: Axes) -> None:
    """Few, plain labels on the logarithmic vertical axis."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axes.get_ylim()
    steps: Sequence[float] = (1.0, 2.0, 5.0) if high < 60.0 * low else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(subs=steps, numticks=6))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _spans(values: Array) -> bool:
    return bool(values.max() >= _LOGARITHMIC * values.min())

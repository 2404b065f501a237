"""Errors against what the study sweeps over: noise, duration, excitation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.arrays import Array, Flags
from identify.reporting.canvas import ESTIMATE, INK, OTHER, Column, Panel, compose, decades
from identify.reporting.study.figures.study_figure import TITLE_ROOM, StudyFigure, fitted, key
from identify.reporting.study.rows import PERTURBATION, StudyRows, of_logs
from identify.reporting.study.wording import code, heading, setting

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

EXACT = 1e-6
"""A median error below it, in the unit of its axis, is rounding: without noise, or nearly so. On a
logarithmic axis it would leave no room for the others."""

_LOGARITHMIC = 8.0
"""Ratio of largest to least from which the horizontal axis is logarithmic."""


_CAPTION = (
    "Median, and bars from the 10th to the 90th percentile, over logs and seeds; hollow: fewer "
    "than half of the cells have the value, so that it is of selected ones; *consistent* is "
    "the share of all fits that were tried: one that failed is not consistent."
)


@dataclass(frozen=True, slots=True)
class _Axis:
    """The horizontal axis: a swept option, or the perturbations one beside the other.

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
        return self.column == PERTURBATION

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
    """One figure for each option that varies; over the perturbations where none does."""
    if not any(name in rows.metrics for name in PANELS):
        return []
    axes = [_swept(rows, column) for column in rows.swept] or _over_perturbations(rows)
    return [_figure(rows, axis) for axis in axes]


def _swept(rows: StudyRows, column: str) -> _Axis:
    values = sorted(rows.frame[column].dropna().unique())
    return _Axis(column, setting(column), {value: float(value) for value in values})


def _over_perturbations(rows: StudyRows) -> list[_Axis]:
    labels = rows.noisy
    if not 1 < len(labels) <= _MOST_CATEGORIES or sum(map(len, labels)) > 60:
        return []
    return [_Axis(PERTURBATION, "perturbation", {name: float(i) for i, name in enumerate(labels)})]


def _figure(rows: StudyRows, axis: _Axis) -> StudyFigure:
    facets = _facets(rows, axis)
    estimators = rows.labels("estimator")
    numbered = sum(map(len, estimators)) > _LONGEST_LEGEND
    names = {label: str(i + 1) if numbered else label for i, label in enumerate(estimators)}
    titles = fitted([facet or "Accuracy" for facet in facets], TITLE_ROOM)
    columns = [
        _column(rows, axis, facet, title, names)
        for facet, title in zip(facets, titles.values(), strict=True)
    ]
    caption = _CAPTION + key(titles)
    if facets != [None] and (exact := _exact(rows)):
        left_out = ", ".join(map(code, exact))
        caption += f" Without a column, as all errors are exact (below 10⁻⁶): {left_out}."
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
    """Perturbations with a column each, where the axis is an option of the logs; else None."""
    labels = [label for label in rows.labels(PERTURBATION) if label not in _exact(rows)]
    if of_logs(axis.column) and 1 < len(labels) <= _MOST_COLUMNS:
        return list(labels)
    return [None]


def _exact(rows: StudyRows) -> list[str]:
    """Perturbations, of several, whose errors are all rounding: a column would show nothing."""
    metrics = [name for name in PANELS if name in rows.metrics and name != "consistent"]
    medians = rows.frame.groupby([PERTURBATION, "estimator"])[metrics].median().groupby(level=0)
    largest = medians.max().max(axis=1)
    return [label for label in rows.labels(PERTURBATION) if largest[label] < EXACT]


def _column(
    rows: StudyRows,
    axis: _Axis,
    facet: str | None,
    title: str,
    names: dict[str, str],
) -> Column:
    frame = rows.frame if facet is None else rows.frame[rows.frame[PERTURBATION] == facet]
    metrics = [name for name in PANELS if name in rows.metrics]
    return Column(
        title=title,
        xlabel=axis.label,
        panels=tuple(_panel(frame, axis, name, names) for name in metrics),
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
        decades(axes, upward=True)
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


def _spans(values: Array) -> bool:
    return bool(values.max() >= _LOGARITHMIC * values.min())


@dataclass(frozen=True, slots=True)
class Spread:
    """One estimator's values of a metric, in the unit shown; arrays have an entry a place.

    Attributes:
        low: 10th percentile.
        middle: median, or the share.
        high: 90th percentile.
        few: whether fewer than half of the cells have the metric.
        exact: whether the median is below `EXACT`; it is not drawn.
    """

    low: Array
    middle: Array
    high: Array
    few: Flags
    exact: Flags

    @property
    def points(self) -> int:
        """How many places have a value, drawn or not."""
        return int(np.isfinite(self.middle).sum())

    def drawn(self) -> Spread:
        """The same with NaN for what is not drawn."""
        low, middle, high = (
            np.where(self.exact, np.nan, values) for values in (self.low, self.middle, self.high)
        )
        return Spread(low, middle, high, self.few, self.exact)


def share(part: Any, column: str, places: Sequence[Hashable], metric: str) -> Spread:
    """The mean of a metric that is 0 or 1, at each value of a column."""
    means = _numbers(part.groupby(column)[metric].mean(), places)
    no = np.zeros(len(places), dtype=bool)
    values = heading(metric).factor * means
    return Spread(values, values, values, no, no)


def quantiles(part: Any, column: str, places: Sequence[Hashable], metric: str) -> Spread:
    """Median and percentiles of an error, at each value of a column."""
    groups = part.groupby(column)[metric]
    factor = heading(metric).factor
    low, middle, high = (
        factor * _numbers(groups.quantile(level), places) for level in (0.1, 0.5, 0.9)
    )
    few = _numbers(2 * groups.count() < groups.size(), places) == 1.0
    return Spread(low, middle, high, few, np.asarray(middle < EXACT))


def exact_note(spreads: Sequence[Spread]) -> str:
    """How many medians a panel leaves out; empty where it has all."""
    exact = sum(int(spread.exact.sum()) for spread in spreads)
    points = sum(spread.points for spread in spreads)
    return f"exact (below 10⁻⁶), not drawn: {exact} of {points} medians" if exact else ""


def _numbers(values: Any, places: Sequence[Hashable]) -> Array:
    return np.asarray(values.reindex(list(places)).astype(float), dtype=np.float64)

"""Figures of errors over the options that a study varies, such as noise and duration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array, Flags
from identify.reporting import colors
from identify.reporting.canvas import Column, Panel, PanelAxes, make_figure, set_log_scale
from identify.reporting.study.rows import StudyRows, describe_option, inline_code
from identify.studies.metrics import Heading, find_heading

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from pandas.core.groupby import SeriesGroupBy


MAX_NOTE_LENGTH = 44
"""Maximum length of a panel's note [characters]."""

MAX_TITLE_LENGTH = 34
"""Maximum length of the bold title of a column [characters]."""


@dataclass(frozen=True, slots=True)
class StudyFigure:
    """Figure in the summary of a study.

    Attributes:
        name: name of its file, without suffix.
        title: short title, also the alternative text.
        caption: caption in Markdown.
        columns: columns of panels.
    """

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]

    @property
    def figure(self) -> Figure:
        """Matplotlib figure of the columns."""
        return make_figure(self.columns, columns_per_row=2)


def clip_text(text: str, length: int) -> str:
    """Clip a text to at most `length` characters, with an ellipsis at the end."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def short_labels(labels: Sequence[str], length: int) -> dict[str, str]:
    """Return a short form of each label, numbered and clipped if any label is too long."""
    if all(len(label) <= length for label in labels):
        return {label: label for label in labels}
    return {label: clip_text(f"{i}: {label}", length) for i, label in enumerate(labels, start=1)}


def label_legend(short: dict[str, str]) -> str:
    """Return the full labels by number for a caption; empty if no label is clipped."""
    if all(label == text for label, text in short.items()):
        return ""
    return (
        " "
        + ", ".join(f"{i}: {inline_code(label)}" for i, label in enumerate(short, start=1))
        + "."
    )


ESTIMATOR_MARKERS = (
    (colors.ESTIMATE, "o"),
    (colors.OTHER_BODY, "s"),
    ("#17866b", "D"),
    ("#8a5a00", "<"),
    ("#7b3fa0", ">"),
    (colors.TEXT, "x"),
)
"""Colour and marker of each estimator, from the last estimator of the study to the first."""

_MAX_PANEL_COLUMNS = 4
_MAX_CATEGORIES = 8
_MAX_LEGEND_LENGTH = 40
"""Maximum total length of the labels of a legend [characters]; longer labels are numbered."""

EXACT_ERROR = 1e-6
"""Median error below which an estimate counts as exact, in the unit of the axis: such errors are
rounding, and would dominate a logarithmic axis."""

_LOG_SCALE_RATIO_OF_OPTION = 8.0
"""Ratio of maximum to minimum option above which the horizontal axis is logarithmic."""

_CAPTION = (
    "Median, and bars from the 10th to the 90th percentile, over logs and seeds; crossed out: "
    "fewer than half of the trials have the value; *consistent*: share of all attempted fits; a "
    "failed fit counts as not consistent."
)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Horizontal axis of a study's figure: values of an option, or perturbations.

    Attributes:
        column: column of the results.
        label: label of the axis.
        column_values: values of the column.
        positions: their positions on the axis.
    """

    column: str
    label: str
    column_values: list[str] | list[float]
    positions: Array

    @property
    def categories(self) -> bool:
        return self.column == "perturbation"

    @property
    def logarithmic(self) -> bool:
        low, high = self.positions.min(), self.positions.max()
        return bool(not self.categories and low > 0.0 and high >= _LOG_SCALE_RATIO_OF_OPTION * low)

    def offset_positions(self, index: int, count: int) -> Array:
        """Return the x positions of an estimator, offset so that markers do not overlap."""
        values, shift = self.positions, index - 0.5 * (count - 1)
        if self.logarithmic:
            return values * np.exp(shift * 0.01 * np.log(values.max() / values.min()))
        return values + shift * (0.12 if self.categories else 0.012 * np.ptp(values))


def accuracy_figures(rows: StudyRows) -> list[StudyFigure]:
    """Return figures of the errors over each option that varies, or over perturbations."""
    if not rows.plotted_metrics:
        return []
    options = {
        column: sorted(rows.frame[column].dropna().unique()) for column in rows.varied_options
    }
    axes = [
        _Axis(column, describe_option(column), values, np.array(values, dtype=np.float64))
        for column, values in options.items()
    ]
    labels = rows.perturbation_labels
    if not axes and 1 < len(labels) <= _MAX_CATEGORIES and sum(map(len, labels)) <= 60:
        positions = np.arange(len(labels), dtype=np.float64)
        axes = [_Axis("perturbation", "perturbation", labels, positions)]
    return [_figure(rows, axis) for axis in axes]


def _figure(rows: StudyRows, axis: _Axis) -> StudyFigure:
    exact = _perturbations_without_error(rows)
    # One column per perturbation if the axis is an option of the logs.
    facets = [label for label in rows.labels("perturbation") if label not in exact]
    single = not (axis.column.startswith("log_") and 1 < len(facets) <= _MAX_PANEL_COLUMNS)
    titles = short_labels(["Accuracy"] if single else facets, MAX_TITLE_LENGTH)
    estimators = rows.labels("estimator")
    numbered = sum(map(len, estimators)) > _MAX_LEGEND_LENGTH
    names = {label: str(i + 1) if numbered else label for i, label in enumerate(estimators)}
    columns = []
    for facet, title in titles.items():
        frame = rows.frame if single else rows.frame[rows.frame["perturbation"] == facet]
        panels = tuple(_panel(frame, axis, name, names) for name in rows.plotted_metrics)
        columns.append(Column(title, axis.label, panels))
    caption = _CAPTION + label_legend(titles)
    if exact and not single:
        omitted = ", ".join(map(inline_code, exact))
        caption += f" Not shown, since all errors are exact (below 10⁻⁶): {omitted}."
    if numbered:
        caption += " " + ", ".join(
            f"{short}: {inline_code(label)}" for label, short in names.items()
        )
    return StudyFigure(
        name=f"accuracy_{axis.column}",
        title=f"Accuracy against {axis.label.split(' [')[0]}",
        caption=caption,
        columns=tuple(columns),
    )


def _perturbations_without_error(rows: StudyRows) -> list[str]:
    """Return the perturbations for which all errors are zero up to rounding."""
    metrics = [name for name in rows.plotted_metrics if find_heading(name).has_percentiles]
    medians = rows.frame.groupby(["perturbation", "estimator"])[metrics].median()
    largest = medians.groupby(level=0).max().max(axis=1)
    return [label for label in rows.labels("perturbation") if largest[label] < EXACT_ERROR]


def _panel(frame: pd.DataFrame, axis: _Axis, metric: str, names: dict[str, str]) -> Panel:
    spreads = {
        shown: _percentiles(frame[frame["estimator"] == label].groupby(axis.column)[metric], axis)
        for label, shown in names.items()
    }
    exact = sum(spread.exact for spread in spreads.values())
    points = sum(spread.points for spread in spreads.values())
    heading = find_heading(metric)
    return Panel(
        draw=partial(_draw, axis=axis, spreads=spreads, heading=heading),
        ylabel=heading.text,
        note=f"exact (below 10⁻⁶), not drawn: {exact} of {points} medians" if exact else "",
        height=1.25 if heading.has_percentiles else 0.7,
    )


def _draw(axes: PanelAxes, axis: _Axis, spreads: dict[str, _Percentiles], heading: Heading) -> None:
    _scale_horizontal_axis(axes, axis)
    if heading.has_percentiles:
        axes.set_yscale("log")
    for index, (shown, spread) in enumerate(spreads.items()):
        color, marker = ESTIMATOR_MARKERS[(len(spreads) - 1 - index) % len(ESTIMATOR_MARKERS)]
        positions, few = axis.offset_positions(index, len(spreads)), spread.has_few_trials
        style = {"marker": marker, "ms": 4.5, "mew": 1.0 if marker == "x" else 0.0}
        axes.plot(positions, spread.median, label=shown, color=color, lw=0.6, **style)
        if heading.has_percentiles:
            gap = np.full(len(positions), np.nan)
            x, y = (positions, positions, gap), (spread.p10, spread.p90, gap)
            axes.plot(np.ravel(x, order="F"), np.ravel(y, order="F"), color=color, lw=1.4)
        if few.any():
            axes.plot(positions[few], spread.median[few], "x", color=colors.TEXT, ms=8.0)
    if not heading.has_percentiles:
        axes.set_ylim(-0.04 * heading.display_factor, 1.04 * heading.display_factor)
    elif any(np.isfinite(spread.median).any() for spread in spreads.values()):
        set_log_scale(axes, vertical=True)
    else:
        axes.set_yticks([])
        axes.set_yticks([], minor=True)


def _scale_horizontal_axis(axes: PanelAxes, axis: _Axis) -> None:
    values = axis.positions
    if axis.categories:
        axes.set_xlim(-0.5, len(values) - 0.5)
        axes.set_xticks(values, list(map(str, axis.column_values)))
    elif axis.logarithmic:
        axes.set_xlim(values.min() / 1.2, values.max() * 1.2)
        set_log_scale(axes)
    else:
        margin = 0.06 * float(np.ptp(values))
        axes.set_xlim(values.min() - margin, values.max() + margin)


@dataclass(frozen=True, slots=True)
class _Percentiles:
    """Percentiles of a metric over trials of one estimator, at each value of an axis.

    Attributes:
        p10: 10th percentile, NaN if it is not drawn.
        median: median, or the share.
        p90: 90th percentile.
        has_few_trials: whether fewer than half of the trials have the metric.
        points: number of values of the axis with data, drawn or not.
        exact: number of medians below `EXACT_ERROR`; they are not drawn.
    """

    p10: Array
    median: Array
    p90: Array
    has_few_trials: Flags
    points: int
    exact: int


def _percentiles(groups: SeriesGroupBy, axis: _Axis) -> _Percentiles:
    """Compute the percentiles of a metric, grouped by the column of the axis."""

    def along_axis(values: pd.Series) -> Array:
        return np.asarray(values.reindex(axis.column_values).astype(float), dtype=np.float64)

    heading = find_heading(groups.obj.name)
    if not heading.has_percentiles:
        values = heading.display_factor * along_axis(groups.mean())
        few = np.zeros(len(values), dtype=bool)
        return _Percentiles(values, values, values, few, int(np.isfinite(values).sum()), 0)
    spread = heading.display_factor * np.array(
        [along_axis(groups.quantile(level)) for level in (0.1, 0.5, 0.9)]
    )
    few = along_axis(2 * groups.count() < groups.size()) == 1.0
    exact = spread[1] < EXACT_ERROR
    points = int(np.isfinite(spread[1]).sum())
    low, middle, high = np.where(exact, np.nan, spread)
    return _Percentiles(low, middle, high, few, points, int(exact.sum()))

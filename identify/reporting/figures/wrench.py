"""Measured wrench against the one that the estimate predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from identify.reporting.canvas import ESTIMATE, MEASURED, Column, Panel, compose
from identify.reporting.marks import mark_logs, room_for_numbers
from identify.reporting.prediction import Prediction, predict
from identify.reporting.rounding import prefixed
from identify.reporting.timeline import Timeline, timelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from identify.pipeline import FitResult

KINDS = (("force", "Force", "N", slice(0, 3)), ("torque", "Torque", "N m", slice(3, 6)))
"""The two halves of a wrench: name, title, unit and columns."""


def wrench(result: FitResult, log: int | None = None) -> Figure:
    """Measured wrench, bias removed, and predicted one on six axes over time, both filtered alike.

    Args:
        result: of a fit.
        log: index of the only log to show; all, one after another, where not given.
    """
    return compose(wrench_columns(result, log))


def wrench_columns(result: FitResult, log: int | None = None) -> tuple[Column, ...]:
    """The columns of `wrench`: force and torque."""
    predictions = predict(result)
    return tuple(
        _column(timeline, predictions, title, unit, columns)
        for timeline in timelines(result.logs, log)
        for _, title, unit, columns in KINDS
    )


def _column(
    timeline: Timeline,
    predictions: tuple[Prediction, ...],
    title: str,
    unit: str,
    columns: slice,
) -> Column:
    return Column(
        title=timeline.titled(title),
        xlabel=timeline.label,
        above=room_for_numbers(timeline),
        panels=tuple(
            _panel(timeline, predictions, name, unit, axis)
            for name, axis in zip("xyz", range(columns.start, columns.stop), strict=True)
        ),
    )


def _panel(
    timeline: Timeline, predictions: tuple[Prediction, ...], name: str, unit: str, axis: int
) -> Panel:
    shown = [predictions[index] for index, _, _ in timeline.spans]
    scale = prefixed(unit, max(float(np.abs(one.measured[:, axis]).max()) for one in shown))
    return Panel(
        draw=lambda axes: _draw(axes, timeline, predictions, axis, scale.factor),
        ylabel=f"{name} [{scale.name}]",
    )


def _draw(
    axes: Axes,
    timeline: Timeline,
    predictions: tuple[Prediction, ...],
    axis: int,
    factor: float,
) -> None:
    measured = timeline.trace([one.measured[:, axis] / factor for one in predictions])
    predicted = timeline.trace([one.predicted[:, axis] / factor for one in predictions])
    if timeline.still:
        axes.plot(*measured, "o", color=MEASURED, ms=8.0, mew=0.0, label="measured, bias removed")
        axes.plot(*predicted, "x", color=ESTIMATE, ms=5.0, mew=1.4, label="predicted")
    else:
        axes.plot(*measured, color=MEASURED, lw=2.0, label="measured, bias removed")
        axes.plot(*predicted, color=ESTIMATE, lw=0.9, label="predicted")
    mark_logs(axes, timeline, numbered=axis % 3 == 0)

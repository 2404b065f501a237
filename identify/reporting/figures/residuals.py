"""What the prediction leaves of the measured wrench: over time, and how it is distributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.reporting.canvas import AXES, BAND, ESTIMATE, MUTED, Column, Panel, compose
from identify.reporting.figures.wrench import KINDS
from identify.reporting.marks import mark_logs, room_for_numbers
from identify.reporting.prediction import predict
from identify.reporting.rounding import prefixed, significant
from identify.reporting.timeline import Timeline, timelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from identify.pipeline import FitResult

_FEWEST_FOR_HISTOGRAM = 100
_EDGES = np.linspace(-5.2, 5.2, 27)


def residuals(result: FitResult, log: int | None = None) -> Figure:
    """Residual wrench on six axes over time, with its root mean square, and its distribution.

    Args:
        result: of a fit.
        log: index of the only log to show; all, one after another, where not given.
    """
    return compose(residual_columns(result, log))


def residual_columns(result: FitResult, log: int | None = None) -> tuple[Column, ...]:
    """The columns of `residuals`: force, torque and, where there are enough rows, histograms."""
    values = [prediction.residual for prediction in predict(result)]
    shown = timelines(result.logs, log)
    columns = [
        _over_time(timeline, values, title, unit, picked)
        for timeline in shown
        for _, title, unit, picked in KINDS
    ]
    moving = [values[index] for line in shown if not line.still for index, _, _ in line.spans]
    if sum(map(len, moving)) >= _FEWEST_FOR_HISTOGRAM:
        together = np.concatenate(moving)
        columns += [_distribution(together[:, picked], title) for _, title, _, picked in KINDS]
    return tuple(columns)


def _over_time(
    timeline: Timeline, values: Sequence[Array], title: str, unit: str, picked: slice
) -> Column:
    return Column(
        title=timeline.titled(f"{title} residual"),
        xlabel=timeline.label,
        above=room_for_numbers(timeline),
        panels=tuple(
            _panel(timeline, values, name, unit, axis)
            for name, axis in zip("xyz", range(picked.start, picked.stop), strict=True)
        ),
    )


def _panel(timeline: Timeline, values: Sequence[Array], name: str, unit: str, axis: int) -> Panel:
    shown = np.concatenate([values[index][:, axis] for index, _, _ in timeline.spans])
    scale = prefixed(unit, float(np.abs(shown).max()))
    level = scale.of(float(np.sqrt(np.mean(shown**2))))
    return Panel(
        draw=lambda axes: _draw(
            axes, timeline, [one[:, axis] / scale.factor for one in values], level, axis
        ),
        ylabel=f"{name} [{scale.name}]",
        note=f"RMS {significant(level, 3)} {scale.name}",
    )


def _draw(axes: Axes, timeline: Timeline, values: Sequence[Array], level: float, axis: int) -> None:
    axes.axhspan(-level, level, color=BAND, lw=0.0, label="± RMS")
    axes.axhline(0.0, color=MUTED, lw=0.7)
    x, y = timeline.trace(values)
    if timeline.still:
        axes.plot(x, y, "o", color=ESTIMATE, ms=4.5, mew=0.0, label="measured − predicted")
    else:
        axes.plot(x, y, color=ESTIMATE, lw=0.7, label="measured − predicted")
    largest = max(float(np.nanmax(np.abs(y))), level, np.finfo(float).tiny)
    axes.set_ylim(-1.12 * largest, 1.12 * largest)
    mark_logs(axes, timeline, numbered=axis % 3 == 0)


def _distribution(values: Array, title: str) -> Column:
    rms = np.sqrt(np.mean(values**2, axis=0))
    scaled = values / np.where(rms > 0.0, rms, 1.0)
    return Column(
        title=f"{title}, distribution",
        xlabel="residual over its RMS [–]",
        panels=(
            Panel(
                draw=lambda axes: _histogram(axes, scaled),
                ylabel="density [–]",
                height=1.5,
            ),
        ),
    )


def _histogram(axes: Axes, values: Array) -> None:
    width = _EDGES[1] - _EDGES[0]
    middles = 0.5 * (_EDGES[:-1] + _EDGES[1:])
    fine = np.linspace(_EDGES[0], _EDGES[-1], 101)
    bell = np.exp(-0.5 * fine**2) / np.sqrt(2.0 * np.pi)
    axes.fill_between(fine, bell, color=BAND, lw=0.0, label="normal")
    for (name, color, dashes), column in zip(AXES, values.T, strict=True):
        # What lies beyond the axis is counted at its ends.
        inside = np.clip(column, _EDGES[0], _EDGES[-1])
        density = np.histogram(inside, _EDGES)[0] / (width * len(column))
        axes.plot(middles, density, color=color, ls=dashes, lw=1.3, label=name)
    axes.set_ylim(bottom=0.0)

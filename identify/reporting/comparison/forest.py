"""The forest plot: each parameter of every log with its interval, and the pooled value."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.reporting.canvas import BAND, ESTIMATE, MEASURED, OTHER, Column, Panel, name_rows
from identify.reporting.comparison.fits import Comparison, FittedLog, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 60
"""Logs that have a name and numbers beside them; of more, those that differ have a name."""

_ROW, _LEAST_ROW, _HIGHEST = 0.19, 0.006, 7.0
"""Height of a row, of one of very many, and of the rows of many logs together [in]."""

_LONGEST_NAME = 18
_WIDEST = 4.0
"""Half-widths of a typical log that are drawn at the most: a wide interval is cut off."""


def forest_columns(comparison: Comparison) -> tuple[Column, ...]:
    """A column for each parameter, the logs in rows from the top, sorted by name."""
    fitted = comparison.of_status("fitted")
    if not fitted:
        return ()
    count = len(fitted)
    row = _ROW if count <= _MOST_NAMED else max(_LEAST_ROW, _HIGHEST / count)
    columns = []
    for name in fitted[0].parameters:
        draw = partial(_draw, comparison=comparison, fitted=fitted, name=name)
        label = f"{name} [{comparison.units[name].name}]"
        columns.append(Column(name, label, (Panel(draw, height=0.2 + row * count),)))
    return tuple(columns)


def _draw(axes: Axes, comparison: Comparison, fitted: tuple[FittedLog, ...], name: str) -> None:
    pooled, unit = comparison.pooled, comparison.units[name]
    rows = [log.parameters[name] for log in fitted]
    values = np.array([unit.of(row.value) if row.measured else np.nan for row in rows])
    halves = np.array([np.nan if (h := row.half_width) is None else unit.of(h) for row in rows])
    halves[[row.decided_by == "given" for row in rows]] = np.nan
    compared = np.array([log.name in pooled.by_name for log in fitted])
    differs = np.array([log.name in pooled.differing for log in fitted])
    low, high = _limits(values, halves, compared)
    axes.set_xlim(low, high)
    axes.locator_params(axis="x", nbins=5)  # numbers of many digits in half a column
    places = _named(axes, comparison, fitted, name)
    interval = pooled.intervals[name]
    if interval is not None:
        axes.axvspan(*map(unit.of, interval), color=BAND, lw=0.0, label="pooled, 95 %")
        axes.axvline(unit.of(pooled.values[name]), color=ESTIMATE, lw=0.7)
    size, faint = (4.5, 1.0) if len(fitted) <= _MOST_NAMED else (2.0, 0.4)
    kinds = (
        ("estimate", ESTIMATE, "o", compared & ~differs),
        ("differs", OTHER, "D", differs),
        ("not to be used", MEASURED, "s", ~compared),
    )
    for label, color, marker, which in kinds:
        if not which.any():
            continue
        there = which & np.isfinite(values)
        bounds = np.clip([values - halves, values + halves], low, high)
        spread = which & np.isfinite(halves) & (bounds[1] > bounds[0])
        look = {"color": color, "lw": 0.4 * size, "alpha": 1.0 if marker == "D" else faint}
        axes.hlines(places[spread], *bounds[:, spread], **look)
        inside = there & (values >= low) & (values <= high)
        axes.plot(values[inside], places[inside], marker, color=color, ms=size, mew=0, label=label)
        for side, sign, edge in (("<", values < low, low), (">", values > high, high)):
            off = there & sign
            if off.any():
                axes.plot(
                    np.full(int(off.sum()), edge),
                    places[off],
                    side,
                    color=color,
                    ms=size,
                    mew=0,
                    clip_on=False,
                )


def _limits(values: np.ndarray, halves: np.ndarray, compared: np.ndarray) -> tuple[float, float]:
    """What is drawn: all values that are compared, with intervals where these are not very wide."""
    which = compared & np.isfinite(values)
    if not which.any():
        which = np.isfinite(values)
    if not which.any():
        return 0.0, 1.0
    known = np.where(np.isfinite(halves), halves, 0.0)[which]
    most = _WIDEST * float(np.median(known))
    reach = np.minimum(known, most)
    low, high = float((values[which] - reach).min()), float((values[which] + reach).max())
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _named(
    axes: Axes, comparison: Comparison, fitted: tuple[FittedLog, ...], name: str
) -> np.ndarray:
    """Rows with the names of the logs, or of few of very many; where they are."""
    if len(fitted) <= _MOST_NAMED:
        return name_rows(
            axes,
            [shortened(log.name, _LONGEST_NAME) for log in fitted],
            [comparison.shown(log.parameters[name]) for log in fitted],
        )
    places = np.arange(len(fitted), dtype=np.float64)[::-1]
    apart = 0.16 * len(fitted) / max(_LEAST_ROW * len(fitted), _HIGHEST)
    marked: dict[float, str] = {}
    for place, log in zip(places.tolist(), fitted, strict=True):
        if log.name in comparison.pooled.differing:
            last = min(marked, default=np.inf)
            if last - place >= apart:
                marked[place] = shortened(log.name, _LONGEST_NAME)
            else:  # no room for another name
                marked[last] = marked[last].removesuffix(" …") + " …"
    axes.set_yticks(list(marked), list(marked.values()))
    axes.set_ylim(-1.0, len(fitted))
    axes.grid(visible=False, axis="y")
    return places

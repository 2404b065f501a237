"""How well each parameter is known, relative to the body's own scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.arrays import Array
from identify.inertia import InertialParameters
from identify.reporting.canvas import (
    ESTIMATE,
    GRID,
    OTHER,
    Column,
    Panel,
    Place,
    compose,
    decades,
    name_rows,
)
from identify.reporting.parameter_table import ABOUT_COM, ParameterRow, parameter_rows
from identify.reporting.rounding import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from identify.estimation import Estimate
    from identify.pipeline import FitResult

_LEAST = 1e-6
"""Least relative width that is drawn [%]."""

_MOST = 1e5
"""Largest relative width or error that is drawn [%]."""

_SMALLEST = 1e-20
"""Square of the length of a body without extent [m²]."""

_SHADE = "#f3efe6"
_MARKS = {"data": ("o", ESTIMATE), "constraint": ("D", "#8a5a00")}
"""Marker and colour of what is drawn, by what decided it."""


def parameters(
    result: FitResult, truth: InertialParameters | None = None, *, ax: Place | None = None
) -> Any:
    """95 % half-width of each parameter relative to the body's own scale, and its error if known.

    The scales are m for the mass, L for the centre of mass and m L² for the inertia about it, with
    L² = tr(I_c) / (2 m).

    Args:
        result: of a fit.
        truth: the true body, if it is known.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(parameter_columns(result, truth), ax=ax)


def parameter_columns(
    result: FitResult, truth: InertialParameters | None = None
) -> tuple[Column, ...]:
    """The column of `parameters`, and one of the carrier where there is one."""
    title = f"Parameters{result.estimate.of_body}"
    columns = (_column(result.estimate, truth, title),)
    if result.carrier is None:
        return columns
    carrier = result.carrier.estimate
    return (*columns, _column(carrier, None, f"Parameters{carrier.of_body}"))


def _column(estimate: Estimate, truth: InertialParameters | None, title: str) -> Column:
    rows = parameter_rows(estimate, truth, ABOUT_COM)
    panel = Panel(
        partial(_draw, rows=rows, scales=body_scales(estimate)),
        note="shaded: no better than the body's own scale",
        height=0.12 + 0.26 * len(rows),
    )
    xlabel = "95 % half-width over the body's own scale (m, L, m L²) [%]"
    return Column(title, xlabel, (panel,))


def body_scales(estimate: Estimate) -> dict[str, float]:
    """The body's own scale of mass [kg], length [m] and inertia [kg m²], by group of parameters."""
    body = estimate.parameters
    square = max(float(np.trace(body.inertia_about_com)) / (2.0 * body.mass), _SMALLEST)
    return {
        "mass": body.mass,
        "com": float(np.sqrt(square)),
        "inertia_about_com": body.mass * square,
    }


def _draw(axes: Axes, rows: Sequence[ParameterRow], scales: Mapping[str, float]) -> None:
    widths = _relative(rows, scales, [row.half_width for row in rows])
    errors = _relative(rows, scales, [row.error for row in rows])
    low = float(np.nanmin([*widths, *errors, 1.0])) / 3.0
    high = 2.0 * float(np.nanmax([*widths, *errors, 150.0]))
    axes.set_xlim(low, high)
    decades(axes)
    remarks = [_remark(row, float(width)) for row, width in zip(rows, widths, strict=True)]
    places = name_rows(axes, [row.name for row in rows], remarks)
    axes.axvspan(100.0, high, color=_SHADE, lw=0.0)
    axes.hlines(places, low, np.nan_to_num(widths, nan=low), color=GRID, lw=5.0)
    for decided_by, (marker, color) in _MARKS.items():
        there = np.array([row.decided_by == decided_by for row in rows])
        if there.any():
            look = {"color": color, "ms": 5.5, "mew": 0.0, "label": decided_by}
            axes.plot(widths[there], places[there], marker, **look)
    if np.isfinite(errors).any():
        axes.plot(errors, places, "|", color=OTHER, ms=9.0, mew=2.0, label="true error")


def _relative(
    rows: Sequence[ParameterRow], scales: Mapping[str, float], values: Sequence[float | None]
) -> Array:
    """Magnitudes over the scales, within what is drawn [%]; NaN where there is nothing to draw."""
    shares = [
        np.nan
        if value is None or row.decided_by not in _MARKS
        else 100.0 * abs(value) / scales[row.group]
        for row, value in zip(rows, values, strict=True)
    ]
    return np.clip(shares, _LEAST, _MOST)


def _remark(row: ParameterRow, width: float) -> str:
    if row.decided_by == "given":
        return "given"
    if not np.isfinite(width):
        return "unidentifiable"
    return "< 10⁻⁶ %" if width <= _LEAST else f"{significant(width)} %"

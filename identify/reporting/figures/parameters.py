"""How well each parameter is known, relative to the body's own scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.inertia import InertialParameters
from identify.reporting.canvas import (
    ESTIMATE,
    GRID,
    OTHER,
    Column,
    Panel,
    compose,
    decades,
    name_rows,
)
from identify.reporting.parameter_table import ABOUT_COM, ParameterRow, parameter_rows
from identify.reporting.rounding import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from identify.estimation import Estimate
    from identify.pipeline import FitResult

_LEAST = 1e-6
"""Least relative width that is drawn [%]."""

_MOST = 1e5
"""Largest relative width or error that is drawn [%]."""

_SMALLEST = 1e-20
"""Square of the length of a body without extent [m²]."""

_SHADE = "#f3efe6"
_MARKS = (
    ("data", "o", ESTIMATE, "data"),
    ("constraint", "D", "#8a5a00", "constraint"),
)


def parameters(result: FitResult, truth: InertialParameters | None = None) -> Figure:
    """95 % half-width of each parameter relative to the body's own scale, and its error if known.

    The scales are m for the mass, L for the centre of mass and m L² for the inertia about it, with
    L² = tr(I_c) / (2 m).

    Args:
        result: of a fit.
        truth: the true body, if it is known.
    """
    return compose(parameter_columns(result, truth))


def parameter_columns(
    result: FitResult, truth: InertialParameters | None = None
) -> tuple[Column, ...]:
    """The column of `parameters`."""
    rows = parameter_rows(result.estimate, truth, ABOUT_COM)
    scales = body_scales(result.estimate)
    return (
        Column(
            title="Parameters",
            xlabel="95 % half-width over the body's own scale (m, L, m L²) [%]",
            panels=(
                Panel(
                    draw=lambda axes: _draw(axes, rows, [scales[row.group] for row in rows]),
                    note="shaded: no better than the body's own scale",
                    height=0.12 + 0.26 * len(rows),
                ),
            ),
        ),
    )


def body_scales(estimate: Estimate) -> dict[str, float]:
    """The body's own scale of mass [kg], length [m] and inertia [kg m²], by group of parameters."""
    body = estimate.parameters
    square = max(float(np.trace(body.inertia_about_com)) / (2.0 * body.mass), _SMALLEST)
    return {
        "mass": body.mass,
        "com": float(np.sqrt(square)),
        "inertia_about_com": body.mass * square,
    }


def _draw(axes: Axes, rows: Sequence[ParameterRow], scales: Sequence[float]) -> None:
    known = np.array([row.decided_by in ("data", "constraint") for row in rows])
    widths = _relative([row.half_width for row in rows], scales, known)
    errors = _relative([row.error for row in rows], scales, known)
    low = float(min(np.nanmin(widths, initial=1.0), np.nanmin(errors, initial=1.0))) / 3.0
    high = 2.0 * float(max(np.nanmax(widths, initial=150.0), np.nanmax(errors, initial=150.0)))
    axes.set_xlim(low, high)
    decades(axes)
    remarks = [_remark(row, float(width)) for row, width in zip(rows, widths, strict=True)]
    places = name_rows(axes, [row.name for row in rows], remarks)
    axes.axvspan(100.0, high, color=_SHADE, lw=0.0)
    axes.hlines(places, low, np.nan_to_num(widths, nan=low), color=GRID, lw=5.0)
    for decided_by, marker, color, label in _MARKS:
        there = np.array([row.decided_by == decided_by for row in rows])
        if there.any():
            axes.plot(
                widths[there], places[there], marker, color=color, ms=5.5, mew=0.0, label=label
            )
    if np.isfinite(errors).any():
        axes.plot(errors, places, "|", color=OTHER, ms=9.0, mew=2.0, label="true error")


def _relative(values: Sequence[float | None], scales: Sequence[float], known: Array) -> Array:
    """Magnitudes over the scales, within what is drawn [%]; NaN where there is nothing to draw."""
    shares = [
        np.nan if value is None else 100.0 * abs(value) / scale
        for value, scale in zip(values, scales, strict=True)
    ]
    return np.where(known, np.clip(shares, _LEAST, _MOST), np.nan)


def _remark(row: ParameterRow, width: float) -> str:
    if row.decided_by == "given":
        return "given"
    return _percent(width) if np.isfinite(width) else "unidentifiable"


def _percent(width: float) -> str:
    return "< 10⁻⁶ %" if width <= _LEAST else f"{significant(width)} %"

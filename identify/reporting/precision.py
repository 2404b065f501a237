"""What decided each parameter, how well it is known and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.estimation import Estimate
from identify.estimation.correlation import correlations_of
from identify.estimation.variance import SOURCES
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters
from identify.reporting.canvas import (
    AXES,
    CONSTRAINT,
    ESTIMATE,
    GRID,
    INK,
    MEASURED,
    OTHER,
    SHADE,
    Column,
    Panel,
    PlaceT,
    compose,
    decades,
    name_rows,
)
from identify.reporting.content import (
    Block,
    BulletList,
    Cell,
    Pictures,
    Row,
    Section,
    Text,
    row,
    table_of,
)
from identify.reporting.parameter_table import ABOUT_COM, PRINCIPAL, ParameterRow, parameter_rows
from identify.reporting.rounding import fixed, significant, typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from identify.pipeline import FitResult

_SHARES = (
    "Share of each source in the variance of an estimate; the width of its interval goes with the "
    "root of the variance."
)
_OF_SOURCES = {
    "wrench": "Wrench noise: read off the signals, or given, and propagated to the estimate.",
    "motion": "Motion noise: that of the signals of the motion, propagated to the estimate too.",
    "rest": (
        "Drift, model: by how much residuals, or blocks of time, differ beyond noise, because of "
        "drift, vibration, or equations that do not hold."
    ),
    "prior": "Prior: what the prior of the body leaves open.",
    "completion": "Completion: what the data do not identify.",
    "calibration": (
        "Calibration: errors of scale of the sensor and of gravity, as far as the schema gives "
        "them; a longer log does not reduce them."
    ),
    "fault": "Faults: how far what was found wrong with the logs may have moved the estimate.",
}
_MEANINGS = {
    "data": "data: identifiable from the logs.",
    "constraint": (
        "constraint: physical consistency, or a bound that was given, moved it by more than one "
        "standard error; its interval is that of the logs alone."
    ),
    "given": "given: the user fixed it.",
    "prior": "prior: most of what is known of it is what was said of the body besides the logs.",
    "nothing": "nothing: the logs do not identify it, and it has no number.",
}


def decided_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """What decided each parameter, where its variance comes from, and what it goes with."""
    bodies = result.estimate.bodies
    present = {by for body in bodies for by in body.decided_by.values()}
    blocks: list[Block] = []
    if present != {"data"}:
        blocks.append(BulletList(tuple(said for by, said in _MEANINGS.items() if by in present)))
    columns = (*parameter_columns(result, truth), *source_columns(result))
    shares = [of for one in bodies for of in one.variance_shares.values()]
    shown = [source for source in SOURCES if any(of.get(source) for of in shares)]
    table, caption = None, _WIDTHS
    if shown:
        caption = " ".join((_WIDTHS, _SHARES, *(_OF_SOURCES[source] for source in shown)))
        heads = ("Parameter", *(f"{SOURCE_NAMES[source]} [%]" for source in shown))
        table = table_of(heads, [line for body in bodies for line in _share_rows(body, shown)])
    blocks.append(Pictures(columns, caption, table))
    for body in bodies:
        blocks += _correlated(body)
    return Section("decided", "What decided each parameter", tuple(blocks))


_WIDTHS = (
    "Parameters: how narrow each interval is; L is the body's radius of gyration, "
    "L² = tr(I_c) / (2 m)."
)
_WORTH, _MOST_PAIRS = 0.5, 3
"""Correlation from which a pair is named, and how many are."""


def _correlated(estimate: Estimate) -> list[Block]:
    """Correlations of mass, centre of mass and inertia about it: in words, and as a map."""
    names, matrix = correlations_of(estimate)
    if len(names) < 2:
        return []
    rows, columns = np.triu_indices(len(names), 1)
    order = np.argsort(-np.abs(matrix[rows, columns]))
    pairs = [
        f"{names[rows[k]]} and {names[columns[k]]} "
        f"({typeset(fixed(float(matrix[rows[k], columns[k]]), 2))})"
        for k in order[:_MOST_PAIRS]
        if abs(matrix[rows[k], columns[k]]) >= _WORTH
    ]
    said = (
        f"Most correlated{estimate.of_body}: {', '.join(pairs)}. Where a correlation is positive, "
        "an error of one comes with an error of the other to the same side; a log that moves "
        "otherwise tells them apart."
        if pairs
        else f"No two parameters{estimate.of_body} are correlated by {_WORTH:g} or more: what is "
        "said of one stands by itself."
    )
    cells = [
        row(
            name,
            *(
                Cell(fixed(100.0 * float(value), 0), shade=round(4.0 * float(value)))
                if column < place
                else Cell("")
                for column, value in enumerate(values[:-1])
            ),
        )
        for place, (name, values) in enumerate(zip(names, matrix, strict=True))
        if place
    ]
    grid = table_of(("", *names[:-1]), cells, "Correlation of the errors of two parameters [%].")
    return [Text(said), replace(grid, look="dense")]


def _share_rows(estimate: Estimate, sources: Sequence[str]) -> list[Row]:
    names = [one.name for one in parameter_rows(estimate, None, (*ABOUT_COM, *PRINCIPAL))]
    shares = [(name, estimate.variance_shares.get(name)) for name in names]
    return [
        row(
            name,
            *(fixed(100.0 * of.get(source, 0.0), 0) for source in sources),
            heading=estimate.of_body.strip() if number == 0 else "",
        )
        for number, (name, of) in enumerate(shares)
        if of is not None
    ]


_LEAST_WIDTH = 1e-6
"""Least relative width that is drawn [%]."""

_LARGEST_WIDTH = 1e5
"""Largest relative width or error that is drawn [%]."""

_LEAST_SQUARED_LENGTH = 1e-20
"""Square of the length of a body without extent [m²]."""

_MARKS = {"data": ("o", ESTIMATE), "prior": ("s", MEASURED), "constraint": ("D", CONSTRAINT)}
"""Marker and colour of what is drawn, by what decided it."""


def parameters(
    result: FitResult | SavedEstimate,
    truth: InertialParameters | None = None,
    *,
    ax: PlaceT | None = None,
) -> Figure | PlaceT:
    """95 % half-width of each parameter relative to the body's own scale, and its error if known.

    The scales are m for the mass, L for the centre of mass and m L² for the inertia about it, with
    L² = tr(I_c) / (2 m).

    Args:
        result: of a fit, or an estimate.
        truth: the true body, if it is known.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(parameter_columns(result, truth), ax=ax)


def parameter_columns(
    result: FitResult | SavedEstimate, truth: InertialParameters | None = None
) -> tuple[Column, ...]:
    """The column of `parameters`, and one of the carrier where there is one."""
    return tuple(
        _widths_column(estimate, truth if number == 0 else None, f"Parameters{of_body}")
        for number, (estimate, of_body) in enumerate(_bodies(result))
    )


def _bodies(result: FitResult | SavedEstimate) -> list[tuple[SavedEstimate, str]]:
    """The estimates of all bodies, and what follows the name of a quantity of each."""
    estimate = result if isinstance(result, SavedEstimate) else result.estimate
    if not isinstance(estimate, Estimate):
        return [(estimate, "")]
    return [(body, body.of_body) for body in estimate.bodies]


def _widths_column(estimate: SavedEstimate, truth: InertialParameters | None, title: str) -> Column:
    rows = parameter_rows(estimate, truth, ABOUT_COM)
    panel = Panel(
        partial(_draw_widths, rows=rows, scales=body_scales(estimate)),
        note="shaded: no better than the body's own scale",
        height=0.12 + 0.26 * len(rows),
    )
    xlabel = "95 % half-width over the body's own scale (m, L, m L²) [%]"
    return Column(title, xlabel, (panel,))


def body_scales(estimate: SavedEstimate) -> dict[str, float]:
    """The body's own scale of mass [kg], length [m] and inertia [kg m²], by group of parameters."""
    body = estimate.parameters
    square = max(float(np.trace(body.inertia_about_com)) / (2.0 * body.mass), _LEAST_SQUARED_LENGTH)
    return {
        "mass": body.mass,
        "com": float(np.sqrt(square)),
        "inertia_about_com": body.mass * square,
    }


def _draw_widths(axes: Axes, rows: Sequence[ParameterRow], scales: Mapping[str, float]) -> None:
    widths = _relative(rows, scales, [row.half_width for row in rows])
    errors = _relative(rows, scales, [row.error for row in rows])
    low = float(np.nanmin([*widths, *errors, 1.0])) / 3.0
    high = 2.0 * float(np.nanmax([*widths, *errors, 150.0]))
    axes.set_xlim(low, high)
    decades(axes)
    remarks = [_remark(row, float(width)) for row, width in zip(rows, widths, strict=True)]
    places = name_rows(axes, [row.name for row in rows], remarks)
    axes.axvspan(100.0, high, color=SHADE, lw=0.0)
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
    return np.clip(shares, _LEAST_WIDTH, _LARGEST_WIDTH)


def _remark(row: ParameterRow, width: float) -> str:
    if row.decided_by == "given":
        return "given"
    if not np.isfinite(width):
        return "unidentifiable"
    return "< 10⁻⁶ %" if width <= _LEAST_WIDTH else f"{significant(width)} %"


SOURCE_NAMES = dict(
    zip(
        SOURCES,
        (
            *("wrench noise", "motion noise", "drift, model", "prior"),
            *("completion", "calibration", "faults"),
        ),
        strict=True,
    )
)
_COLORS = dict(
    zip(SOURCES, (ESTIMATE, OTHER, MEASURED, CONSTRAINT, GRID, AXES[2][1], INK), strict=True)
)


def sources(result: FitResult | SavedEstimate, *, ax: PlaceT | None = None) -> Figure | PlaceT:
    """Shares of each parameter's variance: noise, the rest, completion, calibration.

    Args:
        result: of a fit, or an estimate.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(source_columns(result), ax=ax)


def source_columns(result: FitResult | SavedEstimate) -> tuple[Column, ...]:
    """The column of `sources`, and one of the carrier; none where no noise was found."""
    return tuple(
        _shares_column(estimate, f"Variance by source{of_body}")
        for estimate, of_body in _bodies(result)
        if estimate.variance_shares
    )


def _shares_column(estimate: SavedEstimate, title: str) -> Column:
    names = [row.name for row in parameter_rows(estimate, None, (*ABOUT_COM, *PRINCIPAL))]
    names = [name for name in names if name in estimate.variance_shares]
    panel = Panel(
        partial(_draw_shares, names=names, estimate=estimate),
        height=0.12 + 0.22 * max(1, len(names)),
    )
    return Column(title, "share of the variance [%]", (panel,))


def _draw_shares(axes: Axes, names: list[str], estimate: SavedEstimate) -> None:
    axes.set_xlim(0.0, 100.0)
    shares = [estimate.variance_shares[name] for name in names]
    largest = [max(one, key=one.__getitem__) for one in shares]
    places = name_rows(axes, names, [SOURCE_NAMES[source] for source in largest])
    left = np.zeros(len(names))
    for source in SOURCES:
        width = np.array([100.0 * one.get(source, 0.0) for one in shares])
        if width.any():
            look = {"color": _COLORS[source], "label": SOURCE_NAMES[source], "lw": 0.0}
            axes.barh(places, width, left=left, height=0.6, **look)
        left = left + width

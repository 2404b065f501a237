"""Report section on what determines each parameter: data, noise, priors and constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.estimation import Estimate
from identify.estimation.variance_shares import VARIANCE_SOURCES, correlations_of
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters
from identify.reporting import colors
from identify.reporting.canvas import (
    AxesT,
    Column,
    Panel,
    PanelAxes,
    label_rows,
    make_figure,
    set_log_scale,
)
from identify.reporting.content import (
    Block,
    BulletList,
    Cell,
    Pictures,
    Row,
    Section,
    Text,
    make_row,
    make_table,
)
from identify.reporting.parameter_table import (
    GROUPS_ABOUT_COM,
    MECHANISM_MEANING,
    PRINCIPAL_MOMENTS,
    ParameterRow,
    parameter_rows,
)
from identify.reporting.rounding import format_fixed, format_significant, typeset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from identify.pipeline import Result

_VARIANCE_CAPTION = (
    "Variance by source: share of each source in the variance of an estimate; the width of its "
    "interval is proportional to the root of the variance."
)
_SOURCE_MEANINGS = {
    "wrench": "Wrench noise: estimated from the signals, or given, and propagated to the estimate.",
    "motion": "Motion noise: noise of the motion signals, propagated to the estimate.",
    "rest": (
        "Drift, model: variation of the residuals, or of blocks of time, beyond noise, due to "
        "drift, vibration, or a model that does not fit."
    ),
    "prior": "Prior: uncertainty of the prior of the body.",
    "completion": "Completion: directions that the data do not identify.",
    "calibration": (
        "Calibration: scale errors of the sensor and of gravity, if the schema gives them; a "
        "longer log does not reduce them."
    ),
    "fault": "Faults: possible effect of the faults of the logs on the estimate.",
}
"""Explanation of each source of variance."""

_DECIDED_BY_MEANINGS = {
    "constraint": (
        "constraint: physical consistency, or a given bound, moved the parameter by more than one "
        "standard error; its interval is that of the logs without the constraint."
    ),
    "prior": "prior: the prior contributes more information than the logs.",
    "mechanism": f"mechanism: {MECHANISM_MEANING}; the number is that of a default body.",
    "nothing": "nothing: not identifiable from the logs, and without a value.",
}
"""Explanation of each source that determines a parameter (`decided_by`), unless it is plain."""


def precision_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the report section on what determines each parameter: variances, correlations."""
    bodies = result.estimate.bodies
    present = {by for body in bodies for by in body.decided_by.values()}
    blocks: list[Block] = []
    if meanings := tuple(text for by, text in _DECIDED_BY_MEANINGS.items() if by in present):
        blocks.append(BulletList(meanings))
    columns = (*parameter_columns(result, truth), *source_columns(result))
    shares = [by_source for body in bodies for by_source in body.variance_shares.values()]
    sources = [source for source in VARIANCE_SOURCES if any(by.get(source) for by in shares)]
    table, caption = None, _WIDTHS_CAPTION
    if sources:
        meanings = (_SOURCE_MEANINGS[source] for source in sources)
        caption = " ".join((_WIDTHS_CAPTION, _VARIANCE_CAPTION, *meanings))
        heads = ("Parameter", *(f"{SOURCE_NAMES[source]} [%]" for source in sources))
        table = make_table(
            heads, [line for body in bodies for line in _variance_share_rows(body, sources)]
        )
    blocks.append(Pictures(columns, caption, table))
    for body in bodies:
        blocks += _correlation_blocks(body, result.sensor.scale)
    return Section("decided", "What determines each parameter", tuple(blocks))


_WIDTHS_CAPTION = (
    "Parameters: width of each interval relative to the body's own scale, where L is the radius of "
    "gyration, L² = tr(I_c) / (2 m)."
)
_MIN_CORRELATION, _MAX_PAIRS = 0.5, 3
"""Minimum correlation of a named pair of parameters, and maximum number of named pairs."""


def _correlation_blocks(estimate: Estimate, scale_name: str) -> list[Block]:
    """Return the correlations of the ten parameters about the centre of mass: text and table."""
    names, matrix = correlations_of(estimate)
    if len(names) < 2:
        return []
    repeatable = matrix
    if estimate.calibration is not None:
        without_scale = replace(estimate, covariance=estimate.repeatability, calibration=None)
        repeatable_names, correlations = correlations_of(without_scale)
        repeatable = correlations if repeatable_names == names else matrix
    rows, columns = np.triu_indices(len(names), 1)
    order = np.argsort(-np.abs(matrix[rows, columns]))
    of_motion, of_scale = list[str](), list[str]()
    for row, column in zip(rows[order], columns[order], strict=True):
        total, alone = float(matrix[row, column]), float(repeatable[row, column])
        if abs(total) < _MIN_CORRELATION:
            break
        pair, value = f"{names[row]} and {names[column]}", _correlation_text(total)
        if alone * np.sign(total) >= _MIN_CORRELATION:
            of_motion.append(f"{pair} ({value})")
        else:
            of_scale.append(f"{pair} ({value}, without that error {_correlation_text(alone)})")
    summary = []
    if of_motion:
        summary.append(
            f"Most correlated{estimate.body_suffix}: {', '.join(of_motion[:_MAX_PAIRS])}; a "
            "different motion separates them."
        )
    if of_scale:
        summary.append(
            f"Correlated{estimate.body_suffix} by the error of {scale_name}, which they share: "
            f"{', '.join(of_scale[:_MAX_PAIRS])}; no motion separates them, but a better "
            "calibration does."
        )
    if not summary:
        summary.append(
            f"No two parameters{estimate.body_suffix} have a correlation above "
            f"{_MIN_CORRELATION:g}."
        )
    cells = (
        (
            name,
            *(
                Cell(format_fixed(100.0 * float(value), 0), shade=round(4.0 * float(value)))
                if column < number
                else Cell("")
                for column, value in enumerate(values[:-1])
            ),
        )
        for number, (name, values) in enumerate(zip(names, matrix, strict=True))
        if number
    )
    grid = make_table(
        ("", *names[:-1]),
        cells,
        "Correlation of the errors of two parameters [%]; if positive, they tend to have the same "
        "sign.",
        look="dense",
    )
    return [*map(Text, summary), grid]


def _correlation_text(value: float) -> str:
    return typeset(format_fixed(value, 2))


def _variance_share_rows(estimate: Estimate, sources: Sequence[str]) -> list[Row]:
    return [
        make_row(
            name,
            *(format_fixed(100.0 * by_source.get(source, 0.0), 0) for source in sources),
            heading=estimate.body_suffix.strip() if name == "m" else "",
        )
        for name, by_source in _variance_shares(estimate).items()
    ]


def _variance_shares(estimate: SavedEstimate) -> dict[str, Mapping[str, float]]:
    """Return the variance shares by source of each parameter that has them, in table order."""
    rows = parameter_rows(estimate, None, (*GROUPS_ABOUT_COM, *PRINCIPAL_MOMENTS))
    shares = estimate.variance_shares
    return {row.name: shares[row.name] for row in rows if row.name in shares}


_MIN_DRAWN_PERCENT = 1e-6
"""Minimum drawn relative width [%]; narrower intervals are drawn at this width."""

_MAX_DRAWN_PERCENT = 1e5
"""Maximum drawn relative width or error [%]; larger values are drawn at this value."""

_MIN_SQUARED_LENGTH = 1e-20
"""Minimum squared radius of gyration [m²], for bodies without extent."""

_MARKERS = {
    "data": ("o", colors.ESTIMATE),
    "prior": ("s", colors.MEASURED),
    "constraint": ("D", colors.CONSTRAINT),
}
"""Marker and colour of a parameter in the figure, by `decided_by`."""


def parameters(
    result: Result | SavedEstimate,
    truth: InertialParameters | None = None,
    *,
    ax: AxesT | None = None,
) -> Figure | AxesT:
    """Plot each parameter's 95 % half-width relative to the body's scale, and its error.

    The scales are m for the mass, L for the centre of mass and m L² for the inertia about it, with
    L² = tr(I_c) / (2 m).

    Args:
        result: of a fit, or an estimate.
        truth: the reference body, if there is one, for the errors.
        ax: axes to draw on instead of a new figure, see `identify.plot`.
    """
    return make_figure(parameter_columns(result, truth), ax=ax)


def parameter_columns(
    result: Result | SavedEstimate, truth: InertialParameters | None = None
) -> tuple[Column, ...]:
    """Return the columns of the figure `parameters`, with one for a carrier."""
    return tuple(
        _widths_column(estimate, truth if number == 0 else None, f"Parameters{of_body}")
        for number, (estimate, of_body) in enumerate(_bodies(result))
    )


def _bodies(result: Result | SavedEstimate) -> list[tuple[SavedEstimate, str]]:
    """Return the estimates of all bodies, each with a suffix for titles that names the body."""
    estimate = result if isinstance(result, SavedEstimate) else result.estimate
    if not isinstance(estimate, Estimate):
        return [(estimate, "")]
    return [(body, body.body_suffix) for body in estimate.bodies]


def _widths_column(estimate: SavedEstimate, truth: InertialParameters | None, title: str) -> Column:
    rows = parameter_rows(estimate, truth, GROUPS_ABOUT_COM)
    panel = Panel(
        partial(_draw_widths, rows=rows, scales=body_scales(estimate)),
        note="shaded: no better than the body's own scale",
        height=0.12 + 0.26 * len(rows),
    )
    xlabel = "95 % half-width over the body's own scale (m, L, m L²) [%]"
    return Column(title, xlabel, (panel,))


def body_scales(estimate: SavedEstimate) -> dict[str, float]:
    """Return a body's mass [kg], radius of gyration [m] and m L² [kg m²], by parameter group."""
    body = estimate.parameters
    squared_length = max(
        float(np.trace(body.inertia_about_com)) / (2.0 * body.mass), _MIN_SQUARED_LENGTH
    )
    return {
        "mass": body.mass,
        "com": float(np.sqrt(squared_length)),
        "inertia_about_com": body.mass * squared_length,
    }


def _draw_widths(
    axes: PanelAxes, rows: Sequence[ParameterRow], scales: Mapping[str, float]
) -> None:
    widths = _relative_sizes(rows, scales, [row.half_width for row in rows])
    errors = _relative_sizes(rows, scales, [row.error for row in rows])
    low = float(np.nanmin([*widths, *errors, 1.0])) / 3.0
    high = 2.0 * float(np.nanmax([*widths, *errors, 150.0]))
    axes.set_xlim(low, high)
    set_log_scale(axes)
    remarks = [_row_remark(row, float(width)) for row, width in zip(rows, widths, strict=True)]
    heights = label_rows(axes, [row.name for row in rows], remarks)
    axes.axvspan(100.0, high, color=colors.IMPRECISE, lw=0.0)
    axes.hlines(heights, low, np.nan_to_num(widths, nan=low), color=colors.GRID, lw=5.0)
    for decided_by, (marker, color) in _MARKERS.items():
        selected = np.array([row.decided_by == decided_by for row in rows])
        if selected.any():
            look = {"color": color, "ms": 5.5, "mew": 0.0, "label": decided_by}
            axes.plot(widths[selected], heights[selected], marker, **look)
    if np.isfinite(errors).any():
        axes.plot(
            errors, heights, "|", color=colors.OTHER_BODY, ms=9.0, mew=2.0, label="true error"
        )


def _relative_sizes(
    rows: Sequence[ParameterRow], scales: Mapping[str, float], values: Sequence[float | None]
) -> Array:
    """Return magnitudes relative to the body's scales, clipped [%]; NaN if not drawn."""
    percentages = [
        np.nan
        if value is None or row.decided_by not in _MARKERS
        else 100.0 * abs(value) / scales[row.group]
        for row, value in zip(rows, values, strict=True)
    ]
    return np.clip(percentages, _MIN_DRAWN_PERCENT, _MAX_DRAWN_PERCENT)


def _row_remark(row: ParameterRow, width: float) -> str:
    if row.decided_by == "given":
        return "given"
    if not np.isfinite(width):
        return "unidentifiable"
    return "< 10⁻⁶ %" if width <= _MIN_DRAWN_PERCENT else f"{format_significant(width)} %"


SOURCE_NAMES = {
    "wrench": "wrench noise",
    "motion": "motion noise",
    "rest": "drift, model",
    "prior": "prior",
    "completion": "completion",
    "calibration": "calibration",
    "fault": "faults",
}
"""Name of each source of variance in texts and legends."""

_SOURCE_COLORS = {
    "wrench": colors.ESTIMATE,
    "motion": colors.OTHER_BODY,
    "rest": colors.MEASURED,
    "prior": colors.CONSTRAINT,
    "completion": colors.GRID,
    "calibration": colors.AXIS_STYLES[2][1],
    "fault": colors.TEXT,
}


def sources(result: Result | SavedEstimate, *, ax: AxesT | None = None) -> Figure | AxesT:
    """Plot the fraction of each parameter's variance from each source (noise, drift, prior …).

    Args:
        result: of a fit, or an estimate.
        ax: axes to draw on instead of a new figure, see `identify.plot`.
    """
    return make_figure(source_columns(result), ax=ax)


def source_columns(result: Result | SavedEstimate) -> tuple[Column, ...]:
    """Return the columns of the figure `sources`, one for each body with variance shares."""
    return tuple(
        _variance_shares_column(estimate, f"Variance by source{of_body}")
        for estimate, of_body in _bodies(result)
        if estimate.variance_shares
    )


def _variance_shares_column(estimate: SavedEstimate, title: str) -> Column:
    shares = _variance_shares(estimate)
    panel = Panel(
        partial(_draw_variance_shares, shares=shares), height=0.12 + 0.22 * max(1, len(shares))
    )
    return Column(title, "share of the variance [%]", (panel,))


def _draw_variance_shares(axes: PanelAxes, shares: Mapping[str, Mapping[str, float]]) -> None:
    axes.set_xlim(0.0, 100.0)
    largest = [max(by_source, key=by_source.__getitem__) for by_source in shares.values()]
    heights = label_rows(axes, list(shares), [SOURCE_NAMES[source] for source in largest])
    starts = np.zeros(len(shares))
    for source in VARIANCE_SOURCES:
        width = np.array([100.0 * by_source.get(source, 0.0) for by_source in shares.values()])
        if width.any():
            look = {"color": _SOURCE_COLORS[source], "label": SOURCE_NAMES[source], "lw": 0.0}
            axes.barh(heights, width, 0.6, starts, **look)
        starts = starts + width

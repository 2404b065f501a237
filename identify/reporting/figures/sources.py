"""What the variance of each parameter is made of, as bars."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.estimation.variance import SOURCES
from identify.reporting.canvas import (
    ESTIMATE,
    GRID,
    MEASURED,
    OTHER,
    Column,
    Panel,
    Place,
    compose,
    name_rows,
)
from identify.reporting.parameter_table import ABOUT_COM, PRINCIPAL, parameter_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from identify.estimation import Estimate
    from identify.pipeline import FitResult

SOURCE_NAMES = dict(
    zip(SOURCES, ("wrench noise", "motion noise", "drift, model", "completion"), strict=True)
)
_COLORS = dict(zip(SOURCES, (ESTIMATE, OTHER, MEASURED, GRID), strict=True))


def sources(result: FitResult, *, ax: Place | None = None) -> Any:
    """Shares of each parameter's variance: noise of wrench and motion, the rest, completion.

    Args:
        result: of a fit.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(source_columns(result), ax=ax)


def source_columns(result: FitResult) -> tuple[Column, ...]:
    """The column of `sources`, and one of the carrier; none where no noise was found."""
    return tuple(
        _column(estimate, f"Variance by source{estimate.of_body}")
        for estimate in result.estimate.bodies
        if estimate.variance_shares
    )


def _column(estimate: Estimate, title: str) -> Column:
    names = [row.name for row in parameter_rows(estimate, None, (*ABOUT_COM, *PRINCIPAL))]
    names = [name for name in names if name in estimate.variance_shares]
    panel = Panel(
        partial(_draw, names=names, estimate=estimate), height=0.12 + 0.22 * max(1, len(names))
    )
    return Column(title, "share of the variance [%]", (panel,))


def _draw(axes: Axes, names: list[str], estimate: Estimate) -> None:
    axes.set_xlim(0.0, 100.0)
    shares = [estimate.variance_shares[name] for name in names]
    largest = [max(one, key=lambda source: one[source]) for one in shares]
    places = name_rows(axes, names, [SOURCE_NAMES[source] for source in largest])
    left = np.zeros(len(names))
    for source in SOURCES:
        width = np.array([100.0 * one[source] for one in shares])
        if width.any():
            look = {"color": _COLORS[source], "label": SOURCE_NAMES[source], "lw": 0.0}
            axes.barh(places, width, left=left, height=0.6, **look)
        left = left + width

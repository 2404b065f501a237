"""Figures, tables and the HTML report of a `FitResult`."""

from identify.reporting import plot
from identify.reporting.parameter_rows import (
    ABOUT_COM,
    ABOUT_ORIGIN,
    ParameterRow,
    parameter_rows,
)
from identify.reporting.report import report
from identify.reporting.terminal import parameter_rich_table

__all__ = [
    "ABOUT_COM",
    "ABOUT_ORIGIN",
    "ParameterRow",
    "parameter_rich_table",
    "parameter_rows",
    "plot",
    "report",
]

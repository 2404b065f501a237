"""Figures, tables and the HTML report of a `FitResult`.

Names are loaded when first used: who prints a table needs no figure.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.reporting import plot
    from identify.reporting.page import report
    from identify.reporting.parameter_table import (
        ABOUT_COM,
        ABOUT_ORIGIN,
        ParameterRow,
        parameter_rows,
    )
    from identify.reporting.terminal import parameter_rich_table

_SOURCES = {
    "ABOUT_COM": "parameter_table",
    "ABOUT_ORIGIN": "parameter_table",
    "ParameterRow": "parameter_table",
    "parameter_rich_table": "terminal",
    "parameter_rows": "parameter_table",
    "report": "page",
}

__all__ = [
    "ABOUT_COM",
    "ABOUT_ORIGIN",
    "ParameterRow",
    "parameter_rich_table",
    "parameter_rows",
    "plot",
    "report",
]


def __getattr__(name: str) -> object:
    if name == "plot":
        return import_module("identify.reporting.plot")
    if name not in _SOURCES:
        raise AttributeError(f"module 'identify.reporting' has no attribute {name!r}")
    value = getattr(import_module(f"identify.reporting.{_SOURCES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

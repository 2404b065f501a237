"""Figures, tables and the HTML report of a `FitResult`.

Names are loaded when first used: who prints a table needs no figure.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.reporting.page import report as report
    from identify.reporting.parameter_table import ABOUT_COM as ABOUT_COM
    from identify.reporting.parameter_table import ABOUT_ORIGIN as ABOUT_ORIGIN
    from identify.reporting.parameter_table import ParameterRow as ParameterRow
    from identify.reporting.parameter_table import parameter_rows as parameter_rows
    from identify.reporting.terminal import parameter_rich_table as parameter_rich_table
else:
    _load, __dir__, __all__ = attach(
        __name__,
        {
            "page": ("report",),
            "parameter_table": ("ABOUT_COM", "ABOUT_ORIGIN", "ParameterRow", "parameter_rows"),
            "terminal": ("parameter_rich_table",),
        },
    )

    def __getattr__(name: str) -> object:
        return import_module("identify.reporting.plot") if name == "plot" else _load(name)
